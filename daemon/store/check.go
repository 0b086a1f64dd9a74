package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// bbolt trusts a file's structure: it overwrites a page that is both free and in use, and reads a page that is above
// itself for ever. So the structure is checked before bbolt sees the file. The layout, version 2, has never changed.
// Numbers are in the machine's native byte order.
const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaSize    = 64 // with its checksum in the last 8 bytes

	pageHeader   = 16
	leafElement  = 16
	bucketHeader = 16 // of a bucket in its parent's element
	minPageSize  = 1 << 10
	maxPageSize  = 1 << 24
	maxDepth     = 64 // of pages above each other; a tree of billions of records has ten
	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10
	flagBucket   = 0x01 // of an element: it has a bucket below it
	manyFree     = 0xFFFF
	noFreelist   = ^uint64(0)
)

var order = binary.NativeEndian

// A checker walks the pages of a file. It notes damage and continues with whatever is intact.
type checker struct {
	file     io.ReaderAt
	pageSize int64
	pages    uint64 // number of pages in the file; no reference may be beyond
	seen     []use
	damage   []Damage
	gaps     []gap
	leaves   map[string]int                   // how deep the leaf pages of each bucket are: all are equally deep
	list     uint64                           // the page with the free list
	listed   bool                             // the free list is intact
	found    func(bucket, key, record []byte) // called for every record; may be nil
}

// Damage is a page that cannot be read, or is not as it was written.
type Damage struct {
	Page   uint64
	Bucket string // "" if the page is in none
	// The range of keys that were in the page or below it: from From up to but without To, if To is not "". Both are ""
	// if nothing is known.
	From, To string
	Reason   string
}

func (d Damage) Error() string { return fmt.Sprintf("page %d is damaged: %s", d.Page, d.Reason) }

// A spot is a page's place in a tree.
type spot struct {
	bucket   []byte
	from, to []byte
	depth    int
}

// A gap is where pages may be missing from the tree that are in the file: at a page, or below it, or in place of it.
type gap struct {
	page uint64
	spot
}

// holds reports whether a record may be on a page that is missing there.
func (g gap) holds(bucket, key []byte) bool {
	return (g.bucket == nil || bytes.Equal(g.bucket, bucket)) && bytes.Compare(key, g.from) >= 0 && (g.to == nil || bytes.Compare(key, g.to) < 0)
}

// A use is how a page is used, as far as it has been met.
type use uint8

const (
	unmet use = iota
	inUse
	free
)

// A header is a valid meta page.
type header struct {
	pageSize              int64
	root, freelist, pages uint64
	tx                    uint64
}

// An unfit is the error for a file that is not as a Heddle process left it. It is not read unless asked for.
type unfit struct{ error }

// check checks the structure of a whole file of size bytes. It reports whether both meta pages are intact: the library
// uses one of them, and with it the last commit or the one before. If the error is a [Damage], it is the first one.
func check(file io.ReaderAt, size int64) (both bool, err error) {
	h, both, err := findMeta(file, size)
	if err != nil {
		return false, err
	}
	if err := h.fits(size); err != nil {
		return both, err
	}
	if c := inspect(file, h, nil); len(c.damage) > 0 {
		return both, c.damage[0]
	}
	return both, nil
}

// fits checks that a file has as many bytes as it should.
func (h header) fits(size int64) error {
	need := h.pages * uint64(h.pageSize)
	switch {
	case h.pages > uint64(size) || need > uint64(size):
		return unfit{fmt.Errorf("the file is cut off: it has %d bytes of %d", size, need)}
	case h.pages < 2:
		return unfit{errors.New("the file is damaged: it has no pages")}
	}
	return nil
}

// inspect walks all pages that can be reached from a meta page.
func inspect(file io.ReaderAt, h header, found func(bucket, key, record []byte)) *checker {
	c := &checker{
		file: file, pageSize: h.pageSize, pages: h.pages, seen: make([]use, h.pages), leaves: map[string]int{}, list: h.freelist, found: found,
	}
	c.seen[0], c.seen[1] = inUse, inUse
	if err := c.freelist(h.freelist); err != nil {
		c.note(h.freelist, spot{}, err)
		c.unlist()
	} else {
		c.listed = h.freelist != noFreelist
	}
	c.page(h.root, spot{})
	return c
}

// unlist forgets which pages the free list names.
func (c *checker) unlist() {
	c.listed = false
	for i, u := range c.seen {
		if u == free {
			c.seen[i] = unmet
		}
	}
}

func (c *checker) note(page uint64, at spot, err error) {
	c.damage = append(c.damage, Damage{Page: page, Bucket: string(at.bucket), From: string(at.from), To: string(at.to), Reason: err.Error()})
}

// findMeta returns the newer of the two meta pages that is intact, and whether both are.
func findMeta(file io.ReaderAt, size int64) (h header, both bool, err error) {
	if h, ok := readMeta(file, 0); ok {
		other, ok := readMeta(file, h.pageSize)
		if ok = ok && other.pageSize == h.pageSize; ok && other.tx > h.tx {
			h = other
		}
		return h, ok, nil
	}
	for at := int64(minPageSize); at <= maxPageSize && at < size; at *= 2 {
		if h, ok := readMeta(file, at); ok && h.pageSize == at {
			return h, false, nil
		}
	}
	return header{}, false, unfit{errors.New("the file is not a store, or its first two pages are damaged")}
}

func readMeta(file io.ReaderAt, at int64) (header, bool) {
	var b [metaSize]byte
	if _, err := file.ReadAt(b[:], at+pageHeader); err != nil {
		return header{}, false
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSize-8]) // a hash never returns an error
	h := header{
		pageSize: int64(order.Uint32(b[8:])), root: order.Uint64(b[16:]), freelist: order.Uint64(b[32:]),
		pages: order.Uint64(b[40:]), tx: order.Uint64(b[48:]),
	}
	ok := order.Uint32(b[0:]) == metaMagic && order.Uint32(b[4:]) == metaVersion && order.Uint64(b[metaSize-8:]) == sum.Sum64() &&
		h.pageSize >= minPageSize && h.pageSize <= maxPageSize
	return h, ok
}

// read returns a page with its overflow pages, and marks them as in use. If its header claims more pages than what is in
// it needs, it returns and marks only those that it needs, and an error.
func (c *checker) read(id uint64) ([]byte, error) {
	if id < 2 || id >= c.pages {
		return nil, fmt.Errorf("there are only %d pages", c.pages)
	}
	b := make([]byte, c.pageSize)
	if _, err := c.file.ReadAt(b, int64(id)*c.pageSize); err != nil {
		return nil, err
	}
	if got := order.Uint64(b); got != id {
		return nil, fmt.Errorf("its header says page %d", got)
	}
	run := uint64(order.Uint32(b[12:])) + 1
	need, wrong := c.needed(id, b, run), error(nil)
	if need < run {
		wrong = fmt.Errorf("it spans %d pages, and what is in it needs %d", run, need)
		run = need
	}
	if run > c.pages-id {
		return nil, fmt.Errorf("it spans %d pages, but the file has %d", run, c.pages)
	}
	for i := id; i < id+run; i++ {
		switch c.seen[i] {
		case inUse:
			return nil, fmt.Errorf("page %d is used twice", i)
		case free: // the parent is right: see [checker.elements]
			c.note(c.list, spot{}, fmt.Errorf("page %d is both free and in use", i))
			c.unlist()
		default:
		}
	}
	for i := id; i < id+run; i++ {
		c.seen[i] = inUse
	}
	if run > 1 {
		b = make([]byte, int64(run)*c.pageSize)
		if _, err := c.file.ReadAt(b, int64(id)*c.pageSize); err != nil {
			return nil, err
		}
	}
	return b, wrong
}

// needed returns how many of the pages that a page claims it needs, by what the first of them says: all of them if that
// says nothing.
func (c *checker) needed(id uint64, b []byte, claimed uint64) uint64 {
	size, end, spare := uint64(len(b)), extent(b), uint64(0)
	if id == c.list { // its room is allocated before the pages for that are taken from the list
		n, at := freeCount(b)
		end, spare = uint64(at)+8*n, 8*(claimed+1)
	}
	if end == 0 || claimed <= (end+spare)/size+1 { // older versions of the library allocate a page more if the last is full
		return claimed
	}
	return (end + size - 1) / size
}

// extent returns how many bytes a page of a tree takes, by what is on its first page, or 0 if that says nothing.
func extent(b []byte) (end uint64) {
	kind, n := order.Uint16(b[8:]), uint64(order.Uint16(b[10:]))
	end = pageHeader + n*leafElement
	if kind != flagBranch && kind != flagLeaf || end > uint64(len(b)) {
		return 0
	}
	for at := uint64(pageHeader); at < pageHeader+n*leafElement; at += leafElement {
		pos, keyLen, valueLen := layout(kind, b[at:])
		end = max(end, at+pos+keyLen+valueLen)
	}
	return end
}

// layout returns where an element's key is, from the element on, and how long the key and the value after it are.
func layout(kind uint16, b []byte) (pos, keyLen, valueLen uint64) {
	if kind == flagBranch {
		return uint64(order.Uint32(b)), uint64(order.Uint32(b[4:])), 0
	}
	return uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:])), uint64(order.Uint32(b[12:]))
}

// freelist marks the free pages.
func (c *checker) freelist(id uint64) error {
	if id == noFreelist {
		return nil
	}
	b, err := c.read(id)
	if err != nil {
		return err
	}
	n, at := freeCount(b)
	list := b[at:]
	if order.Uint16(b[8:]) != flagFreelist || n > uint64(len(list)/8) {
		return errors.New("no list of free pages")
	}
	for i := range n {
		f := order.Uint64(list[8*i:])
		if f < 2 || f >= c.pages || c.seen[f] != unmet || i > 0 && f <= order.Uint64(list[8*(i-1):]) {
			return fmt.Errorf("page %d of the free list is in use, out of order, or missing", f)
		}
		c.seen[f] = free
	}
	return nil
}

// freeCount returns how many pages a list of free pages has, and where it begins in its page.
func freeCount(b []byte) (n uint64, at int) {
	if n := order.Uint16(b[10:]); n != manyFree {
		return uint64(n), pageHeader
	}
	return order.Uint64(b[pageHeader:]), pageHeader + 8
}

// page checks a page of a tree and all pages below it.
func (c *checker) page(id uint64, at spot) {
	if at.depth > maxDepth {
		c.note(id, at, fmt.Errorf("it is nested %d pages deep", at.depth))
		c.gaps = append(c.gaps, gap{id, at})
		return
	}
	b, err := c.read(id)
	if err != nil {
		c.note(id, at, err)
	}
	switch {
	case b != nil:
		c.elements(b, id, at, err == nil)
	case id < c.pages && c.seen[id] == inUse: // one of two references is wrong, and the page that it led to may be anywhere
		c.gaps = append(c.gaps, gap{page: id})
	default:
		c.gaps = append(c.gaps, gap{id, at})
	}
}

// An element is an entry of a page: a record or a reference to what is below.
type element struct {
	flags      uint32
	child      uint64 // of a branch
	key, value []byte
}

// elements checks the structure of a page's elements: that their keys are in order, and what is below them. After an
// error it goes on where possible, and notes only the first one. If the page does not span the pages that its header
// says, all is false: its own elements are damaged then, and no other page should be in its place.
func (c *checker) elements(b []byte, id uint64, at spot, all bool) {
	list, branch, err := parse(b)
	said := false
	wrong := func(err error) {
		if !said {
			c.note(id, at, err)
		}
		said = true
	}
	leaf := order.Uint16(b[8:]) == flagLeaf
	if leaf {
		c.leaves[string(at.bucket)] = at.depth
	}
	if err != nil {
		wrong(err)
		if !leaf || at.bucket == nil {
			c.gaps = append(c.gaps, gap{id, at})
		}
	}
	for i, e := range list {
		if bytes.Compare(e.key, at.from) < 0 || at.to != nil && bytes.Compare(e.key, at.to) >= 0 { // of another page
			wrong(fmt.Errorf("element %d is outside the key range of its parent page", i))
			if all {
				c.gaps = append(c.gaps, gap{id, spot{bucket: at.bucket}})
			}
			continue
		}
		below := at
		below.depth++
		switch {
		case branch:
			below.from = e.key
			if i+1 < len(list) {
				below.to = list[i+1].key
			}
			c.page(e.child, below)
		case at.bucket == nil, e.flags == flagBucket && !sealed(e): // everything in the root is a bucket
			if e.flags != flagBucket {
				wrong(fmt.Errorf("element %d is no bucket", i))
			}
			below.bucket, below.from, below.to = e.key, nil, nil
			if err := c.bucket(e.value, id, below); err != nil {
				wrong(err)
				c.gaps = append(c.gaps, gap{id, below})
			}
		default:
			if e.flags == flagBucket {
				wrong(fmt.Errorf("element %d is a record, not a bucket", i))
			}
			if c.found != nil { // a record of another kind too: its checksum says whether it is one
				c.found(at.bucket, e.key, e.value)
			}
		}
	}
}

// sealed reports whether an element is a record with an intact checksum, which no bucket has.
func sealed(e element) bool {
	_, err := body(e.key, e.value)
	return err == nil
}

// parse returns the readable elements of a page, whether it is a branch page, and the first error. An element of an
// unknown kind is an error, and is returned all the same.
func parse(b []byte) (list []element, branch bool, first error) {
	kind := order.Uint16(b[8:])
	if kind != flagBranch && kind != flagLeaf {
		return nil, false, fmt.Errorf("it has the unknown type %#x", kind)
	}
	wrong := func(format string, args ...any) {
		if first == nil {
			first = fmt.Errorf(format, args...)
		}
	}
	n := int(order.Uint16(b[10:]))
	if most := (len(b) - pageHeader) / leafElement; n > most {
		wrong("it has no room for %d elements", n)
		n = most
	}
	var last []byte
	for i := range n {
		at := b[pageHeader+i*leafElement:]
		var e element
		if kind == flagLeaf {
			e.flags = order.Uint32(at)
		} else {
			e.child = order.Uint64(at[8:])
		}
		pos, keyLen, valueLen := layout(kind, at)
		if pos+keyLen+valueLen > uint64(len(at)) {
			wrong("element %d is outside the page", i)
			continue
		}
		e.key, e.value = at[pos:pos+keyLen], at[pos+keyLen:pos+keyLen+valueLen]
		if i > 0 && bytes.Compare(last, e.key) >= 0 {
			wrong("element %d is out of order", i)
		}
		if e.flags > flagBucket {
			wrong("element %d is of kind %#x", i, e.flags)
		}
		last = e.key
		list = append(list, e)
	}
	return list, kind == flagBranch, first
}

// bucket checks the bucket in an element of its parent. The element holds the number of its first page or, if the
// bucket is small, the page itself.
func (c *checker) bucket(value []byte, id uint64, at spot) error {
	if len(value) < bucketHeader {
		return errors.New("a bucket is cut off")
	}
	if root := order.Uint64(value); root != 0 {
		c.page(root, at)
		return nil
	}
	if len(value) < bucketHeader+pageHeader {
		return errors.New("a small bucket is cut off")
	}
	if at.depth >= maxDepth {
		return errors.New("buckets are nested too deeply")
	}
	c.elements(value[bucketHeader:], id, at, true)
	return nil
}
