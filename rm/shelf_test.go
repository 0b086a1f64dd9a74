package rm

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A book is an item on a shelf.
type book struct{ n, version int }

type title int

func (n book) key() title           { return title(n.n) }
func (k title) Compare(o title) int { return int(k - o) }

// A shelf has the items put there, in order, and an earlier snapshot keeps the items of its time.
func TestShelf(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	var s shelf[title, book]
	has := map[int]int{}
	type seen struct {
		shelf shelf[title, book]
		want  []book
	}
	var looks []seen
	for step := 1; step <= 20_000; step++ {
		n := dice.IntN(1000)
		if step%3000 < 1500 && dice.IntN(3) > 0 || dice.IntN(3) == 0 {
			old, had := s.put(book{n, step})
			if old.version != has[n] || had != (has[n] != 0) {
				t.Fatalf("step %d: %d was %v, %v; want %d", step, n, old, had, has[n])
			}
			has[n] = step
		} else {
			old, had := s.drop(title(n))
			if old.version != has[n] || had != (has[n] != 0) {
				t.Fatalf("step %d: %d was %v, %v; want %d", step, n, old, had, has[n])
			}
			delete(has, n)
		}
		if x, ok := s.get(title(n)); ok != (has[n] != 0) || ok && x.version != has[n] {
			t.Fatalf("step %d: %d is %v, %v; want %d", step, n, x, ok, has[n])
		}
		if step%500 == 0 {
			looks = append(looks, seen{s.look(), sortedBooks(has)})
		}
	}
	for _, l := range looks {
		if got := slices.Collect(l.shelf.all); !slices.Equal(got, l.want) || l.shelf.len() != len(l.want) {
			t.Fatalf("%v\nwant %v", got, l.want)
		}
		for _, p := range l.shelf.pages {
			if len(p) == 0 || len(p) > pageSize {
				t.Fatalf("a page has %d", len(p))
			}
		}
		for _, before := range []title{-1, 0, 1, 499, 500, 998, 2000} {
			var got []book
			l.shelf.backward(&before, func(n book) bool { got = append(got, n); return true })
			slices.Reverse(got)
			at, _ := slices.BinarySearchFunc(l.want, before, func(n book, k title) int { return n.key().Compare(k) })
			if !slices.Equal(got, l.want[:at]) {
				t.Fatalf("before %d: %v\nwant %v", before, got, l.want[:at])
			}
		}
	}
}

func sortedBooks(has map[int]int) (out []book) {
	for n, version := range has { // order: sorted below
		out = append(out, book{n, version})
	}
	slices.SortFunc(out, func(a, b book) int { return a.n - b.n })
	return out
}
