package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// pagesOf returns the numbers of a file's pages of a kind that are in use.
func pagesOf(t *testing.T, content []byte, kind uint16) []uint64 {
	t.Helper()
	h, _, err := findMeta(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	c := inspect(bytes.NewReader(content), h, nil)
	if len(c.damage) > 0 {
		t.Fatal(c.damage)
	}
	var out []uint64
	for id, u := range c.seen {
		if u == inUse && order.Uint64(content[id*4096:]) == uint64(id) && order.Uint16(content[id*4096+8:]) == kind {
			out = append(out, uint64(id))
		}
	}
	return out
}

// The check finds what the library would trust.
func TestStructure(t *testing.T) {
	path, content := filled(t)
	needsUsualPages(t, content)
	branch := pagesOf(t, content, flagBranch)[0]
	leaf := pagesOf(t, content, flagLeaf)[0]
	fewer := func(b []byte, id uint64) { order.PutUint16(b[id*4096+10:], order.Uint16(b[id*4096+10:])-1) }
	// two returns a page of at least two records that has the given number of pages, without its last record too or not.
	two := func(pages, without uint64) uint64 {
		for _, id := range pagesOf(t, content, flagLeaf) {
			b := slices.Clone(content)
			fewer(b, id)
			list, _, err := parse(content[id*4096:])
			must(t, err)
			if len(list) > 1 && list[0].flags == 0 && uint64(order.Uint32(b[id*4096+12:]))+1 == pages && extent(b[id*4096:][:4096])/4096+1 == without {
				return id
			}
		}
		t.Fatalf("no page of records has %d pages", pages)
		return 0
	}
	short, long := two(1, 1), two(2, 1)
	list := pagesOf(t, content, flagFreelist)[0]
	tests := []struct {
		name string
		edit func(b []byte)
		want string
	}{
		{"a page above itself", func(b []byte) { order.PutUint64(b[branch*4096+pageHeader+8:], branch) }, "is used twice"},
		{"a page twice", func(b []byte) { copy(b[branch*4096+pageHeader+8:][:8], b[branch*4096+pageHeader+leafElement+8:]) }, "is outside the key range of its parent page"},
		{"a page that is not there", func(b []byte) { order.PutUint64(b[branch*4096+pageHeader+8:], 1<<40) }, "is damaged: there are"},
		{"free and in use", func(b []byte) {
			order.PutUint16(b[list*4096+10:], 1)
			order.PutUint64(b[list*4096+pageHeader:], leaf)
		}, "is both free and in use"},
		{"too many free", func(b []byte) { order.PutUint16(b[list*4096+10:], 60000) }, "no list of free pages"},
		{"another number", func(b []byte) { order.PutUint64(b[leaf*4096:], leaf+1) }, "its header says page"},
		{"endless", func(b []byte) { order.PutUint32(b[leaf*4096+12:], 1<<31) }, "it spans"},
		{"another kind", func(b []byte) { order.PutUint16(b[leaf*4096+8:], flagFreelist) }, "it has the unknown type 0x10"},
		{"too many elements", func(b []byte) { order.PutUint16(b[leaf*4096+10:], 60000) }, "no room for 60000 elements"},
		{"outside", func(b []byte) { order.PutUint32(b[branch*4096+pageHeader:], 1<<30) }, "is outside the page"},
		{"out of order", func(b []byte) {
			a, z := b[branch*4096+pageHeader:][:leafElement], b[branch*4096+pageHeader+leafElement:][:leafElement]
			order.PutUint32(a, order.Uint32(z)+leafElement) // the first element's key is the second's
		}, "element 1 is out of order"},
		{"no meta page", func(b []byte) { b[pageHeader], b[4096+pageHeader] = 0, 0 }, "its first two pages are damaged"},
		{"one meta page", func(b []byte) { b[pageHeader+50] ^= 1 }, ""},
		{"a lost record", func(b []byte) { fewer(b, short) }, ""},
		{"a lost record of several pages", func(b []byte) { fewer(b, long) }, "and what is in it needs 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := slices.Clone(content)
			tt.edit(b)
			must(t, os.WriteFile(path, b, fileMode))
			db, state, err := read(path)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				return
			}
			if err != nil || len(state.Bad) == 0 {
				t.Fatalf("%+v, %v; want it read, and something said", state, err)
			}
			must(t, db.Close())
		})
	}
	must(t, os.WriteFile(path, content, fileMode))
	if both, err := checkFile(path); !both || err != nil {
		t.Errorf("the file as it was: %t, %v", both, err)
	}
}

// wantAll checks that a file is taken for damaged on one page, and that everything in it is read all the same.
func wantAll(t *testing.T, content []byte, page uint64, want map[string]map[string][]byte, what string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy")
	must(t, os.WriteFile(path, content, fileMode))
	w, err := readWreck(path)
	must(t, err)
	if len(w.Damage) != 1 || w.Damage[0].Page != page || len(w.Lost) > 0 || w.Older || !reflect.DeepEqual(w.records, want) {
		t.Errorf("page %d, %s: damage %v, older %t, %d lost, %v of %v", page, what, w.Damage, w.Older, len(w.Lost), sizes(w.records), sizes(want))
	}
	if db, _, err := read(path); !errors.As(err, &Damage{}) {
		t.Errorf("page %d, %s: it is opened with %v", page, what, err)
		if err == nil {
			must(t, db.Close())
		}
	}
}

func sizes(records map[string]map[string][]byte) map[string]int {
	out := map[string]int{}
	for bucket, list := range records {
		out[bucket] = len(list)
	}
	return out
}

// A page whose header claims pages after it is damaged, and what is on these is read.
func TestClaimedPages(t *testing.T) {
	path, content := realistic(t)
	needsUsualPages(t, content)
	whole, err := readWreck(path)
	must(t, err)
	for _, id := range slices.Concat(pagesOf(t, content, flagLeaf), pagesOf(t, content, flagBranch), pagesOf(t, content, flagFreelist)) {
		for _, bit := range []uint32{1, 2, 4, 32, 1 << 31} {
			broken := slices.Clone(content)
			overflow := broken[id*4096+12:]
			if order.Uint32(overflow)&bit != 0 || extent(broken[id*4096:][:4096])%4096 == 0 {
				continue
			}
			order.PutUint32(overflow, order.Uint32(overflow)|bit)
			wantAll(t, broken, id, whole.records, fmt.Sprintf("bit %d", bit))
		}
	}
}

// The library allocates as many pages as the last element needs; older versions allocated one more if it filled the last.
func TestNeededPages(t *testing.T) {
	c := &checker{list: noFreelist}
	for _, x := range []struct{ end, claimed, want uint64 }{
		{100, 1, 1}, {100, 2, 1}, {4095, 2, 1}, {4096, 1, 1}, {4096, 2, 2}, {4096, 3, 1}, {4097, 2, 2}, {4097, 3, 2}, {8192, 3, 3}, {8192, 1 << 32, 2},
	} {
		b := make([]byte, 4096)
		order.PutUint16(b[8:], flagLeaf)
		order.PutUint16(b[10:], 1)
		order.PutUint32(b[pageHeader+4:], leafElement)
		order.PutUint32(b[pageHeader+12:], uint32(x.end-pageHeader-leafElement))
		if got := c.needed(2, b, x.claimed); got != x.want {
			t.Errorf("%d bytes need %d pages of %d, want %d", x.end, got, x.claimed, x.want)
		}
	}
}

// wantAnyKind checks that everything is read whichever bit of an element's kind is flipped.
func wantAnyKind(t *testing.T, content []byte, page uint64, at int, want map[string]map[string][]byte, what string) {
	t.Helper()
	for bit := range 32 {
		broken := slices.Clone(content)
		order.PutUint32(broken[at:], order.Uint32(broken[at:])^1<<bit)
		wantAll(t, broken, page, want, fmt.Sprintf("%s, bit %d", what, bit))
	}
}

// needsUsualPages skips a test that damages a store at offsets of pages of 4096 bytes if this machine's are of another size.
func needsUsualPages(t testing.TB, content []byte) {
	t.Helper()
	if order.Uint32(content[pageHeader+8:]) != 4096 {
		t.Skip("pages of this machine are not 4096 bytes long")
	}
}

// intact returns a store, what is read of it, and its header.
func intact(t *testing.T) (content []byte, whole *wreck, h header) {
	t.Helper()
	path, content := realistic(t)
	whole, err := readWreck(path)
	must(t, err)
	h, _, err = findMeta(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	return content, whole, h
}

// Everything in the root page is a bucket, whatever it says.
func TestRootElements(t *testing.T) {
	content, whole, h := intact(t)
	root := int(int64(h.root) * h.pageSize)
	for i := range int(order.Uint16(content[root+10:])) {
		wantAnyKind(t, content, h.root, root+pageHeader+i*leafElement, whole.records, fmt.Sprintf("element %d", i))
	}
}

// A record is one, whatever it says, in a page of its bucket or in a small bucket in the root page.
func TestRecordElements(t *testing.T) {
	content, whole, h := intact(t)
	pages := pagesOf(t, content, flagLeaf)
	leaf := pages[slices.IndexFunc(pages, func(id uint64) bool { return id != h.root })]
	wantAnyKind(t, content, leaf, int(int64(leaf)*h.pageSize)+pageHeader, whole.records, "a record")
	root := int(int64(h.root) * h.pageSize)
	found := false
	for i := range int(order.Uint16(content[root+10:])) {
		at := root + pageHeader + i*leafElement
		pos, keyLen, _ := layout(flagLeaf, content[at:])
		bucket := at + int(pos+keyLen)
		if bytes.Equal(content[at+int(pos):bucket], tokens) && order.Uint64(content[bucket:]) == 0 {
			found = true
			wantAnyKind(t, content, h.root, bucket+bucketHeader+pageHeader, whole.records, "the keys of tokens")
		}
	}
	if !found {
		t.Error("the keys of tokens have a page of their own")
	}
}

func BenchmarkOpen(b *testing.B) {
	path := place(b)
	s, _ := mustOpen(b, path)
	for n := range int32(10000) {
		s.Commit(nil, PutApp(App{ID: app(n), User: "ann", Context: make([]byte, 2000)}), PutAttempt(Attempt{ID: attempt(n, 1)}))
	}
	must(b, s.Close())
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			_, err := checkFile(path)
			must(b, err)
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			db, _, err := read(path)
			must(b, err)
			must(b, db.Close())
		}
	})
}
