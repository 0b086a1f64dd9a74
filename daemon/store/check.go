package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The library below takes a file's structure on trust: a page that is free and in use is overwritten, one that
// is above itself is read for ever. So the structure is checked before the library sees the file. The layout,
// version 2, has not changed for as long as the library is there; numbers are in the machine's own order.
const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaSize    = 64 // with its checksum in the last 8 bytes

	pageHeader   = 16
	leafElement  = 16
	minPageSize  = 1 << 10
	maxPageSize  = 1 << 24
	maxDepth     = 64 // of pages above each other; a tree of billions of records has ten
	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10
	flagBucket   = 0x01 // of an element: a bucket is below it
	manyFree     = 0xFFFF
	noFreelist   = ^uint64(0)
)

var order = binary.NativeEndian

// A checker walks the pages of a file.
type checker struct {
	file     io.ReaderAt
	pageSize int64
	pages    uint64 // there are so many; none is named beyond
	seen     []use
}

// A use is what a page was met as.
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

// check reads the structure of a whole file, size bytes long. It reports whether both meta pages are whole: the
// library goes on with one of them, and then with the last commit or the one before.
func check(file io.ReaderAt, size int64) (both bool, err error) {
	h, both, err := findMeta(file, size)
	if err != nil {
		return false, err
	}
	if need := h.pages * uint64(h.pageSize); h.pages > uint64(size) || need > uint64(size) {
		return both, fmt.Errorf("the file is cut off: it has %d bytes of %d", size, need)
	}
	if h.pages < 2 {
		return both, errors.New("the file is damaged: it has no pages")
	}
	c := &checker{file: file, pageSize: h.pageSize, pages: h.pages, seen: make([]use, h.pages)}
	c.seen[0], c.seen[1] = inUse, inUse
	if err := c.freelist(h.freelist); err != nil {
		return both, err
	}
	return both, c.page(h.root, 0)
}

// findMeta returns the newer of the two meta pages that is whole, and whether both are.
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
	return header{}, false, errors.New("it is no store, or its first pages are damaged")
}

func readMeta(file io.ReaderAt, at int64) (header, bool) {
	var b [metaSize]byte
	if _, err := file.ReadAt(b[:], at+pageHeader); err != nil {
		return header{}, false
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSize-8]) // a hash takes everything
	h := header{
		pageSize: int64(order.Uint32(b[8:])), root: order.Uint64(b[16:]), freelist: order.Uint64(b[32:]),
		pages: order.Uint64(b[40:]), tx: order.Uint64(b[48:]),
	}
	ok := order.Uint32(b[0:]) == metaMagic && order.Uint32(b[4:]) == metaVersion && order.Uint64(b[metaSize-8:]) == sum.Sum64() &&
		h.pageSize >= minPageSize && h.pageSize <= maxPageSize
	return h, ok
}

// read returns a page with those that continue it, and notes that they are in use.
func (c *checker) read(id uint64) ([]byte, error) {
	damaged := func(format string, args ...any) error {
		return fmt.Errorf("page %d is damaged: %s", id, fmt.Sprintf(format, args...))
	}
	if id < 2 || id >= c.pages {
		return nil, damaged("there are %d", c.pages)
	}
	var head [pageHeader]byte
	if _, err := c.file.ReadAt(head[:], int64(id)*c.pageSize); err != nil {
		return nil, err
	}
	if got := order.Uint64(head[:]); got != id {
		return nil, damaged("it says it is page %d", got)
	}
	run := uint64(order.Uint32(head[12:])) + 1
	if run > c.pages-id {
		return nil, damaged("it goes on for %d pages, and there are %d", run, c.pages)
	}
	for i := id; i < id+run; i++ {
		if c.seen[i] != unmet {
			return nil, fmt.Errorf("page %d is damaged: it belongs to two places, or is free and in use", i)
		}
		c.seen[i] = inUse
	}
	b := make([]byte, int64(run)*c.pageSize)
	_, err := c.file.ReadAt(b, int64(id)*c.pageSize)
	return b, err
}

// freelist notes the pages that are free.
func (c *checker) freelist(id uint64) error {
	if id == noFreelist {
		return nil
	}
	b, err := c.read(id)
	if err != nil {
		return err
	}
	n, list := uint64(order.Uint16(b[10:])), b[pageHeader:]
	if n == manyFree && len(list) >= 8 {
		n, list = order.Uint64(list), list[8:]
	}
	if order.Uint16(b[8:]) != flagFreelist || n > uint64(len(list)/8) {
		return fmt.Errorf("page %d is damaged: no list of free pages", id)
	}
	for i := range n {
		f := order.Uint64(list[8*i:])
		if f < 2 || f >= c.pages || c.seen[f] != unmet {
			return fmt.Errorf("page %d is damaged: page %d is free and in use, or not there", id, f)
		}
		c.seen[f] = free
	}
	return nil
}

// page checks a page of a tree and all below it.
func (c *checker) page(id uint64, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("page %d is damaged: %d pages are above it", id, depth)
	}
	b, err := c.read(id)
	if err != nil {
		return err
	}
	if err := c.elements(b, depth); err != nil {
		return fmt.Errorf("page %d is damaged: %w", id, err)
	}
	return nil
}

// elements checks what a page has, as far as it says where things are: their keys in order, and what is below.
func (c *checker) elements(b []byte, depth int) error {
	kind := order.Uint16(b[8:])
	if kind != flagBranch && kind != flagLeaf {
		return fmt.Errorf("it is of kind %#x", kind)
	}
	n := int(order.Uint16(b[10:]))
	if len(b) < pageHeader+n*leafElement {
		return fmt.Errorf("it has no room for %d elements", n)
	}
	var last []byte
	for i := range n {
		at := pageHeader + i*leafElement
		e := b[at:]
		flags, pos, keyLen, valueLen := uint32(0), order.Uint32(e), order.Uint32(e[4:]), uint32(0)
		if kind == flagLeaf {
			flags, pos, keyLen, valueLen = order.Uint32(e), order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:])
		}
		if uint64(pos)+uint64(keyLen)+uint64(valueLen) > uint64(len(e)) {
			return fmt.Errorf("element %d is outside of it", i)
		}
		key, value := e[pos:pos+keyLen], e[pos+keyLen:pos+keyLen+valueLen]
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return fmt.Errorf("element %d is out of order", i)
		}
		last = key
		var err error
		switch {
		case kind == flagBranch:
			err = c.page(order.Uint64(e[8:]), depth+1)
		case flags == flagBucket:
			err = c.bucket(value, depth)
		case flags != 0:
			err = fmt.Errorf("element %d is of kind %#x", i, flags)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket checks a bucket in its parent's element: the number of its first page, or the page itself where it is
// small.
func (c *checker) bucket(value []byte, depth int) error {
	const bucketHeader = 16
	if len(value) < bucketHeader {
		return errors.New("a bucket is cut off")
	}
	if root := order.Uint64(value); root != 0 {
		return c.page(root, depth+1)
	}
	if len(value) < bucketHeader+pageHeader {
		return errors.New("a small bucket is cut off")
	}
	if depth >= maxDepth {
		return errors.New("buckets are too deep in each other")
	}
	return c.elements(value[bucketHeader:], depth+1)
}
