package store

import (
	"bytes"
	"os"
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
	if order.Uint32(content[pageHeader+8:]) != 4096 {
		t.Skip("pages of this machine are not 4096 bytes long")
	}
	branch := pagesOf(t, content, flagBranch)[0]
	leaf := pagesOf(t, content, flagLeaf)[0]
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
		{"a lost record", func(b []byte) { order.PutUint16(b[leaf*4096+10:], order.Uint16(b[leaf*4096+10:])-1) }, ""},
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
