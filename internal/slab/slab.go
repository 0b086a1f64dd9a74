// Package slab provides tables indexed by numbers that are assigned in order and mostly dropped soon: an [Index] of
// small values, and a [Table] that stores its values and reuses their places, the last freed first. [Bits] is a set of
// such numbers.
package slab

import (
	"iter"
	"slices"
)

// An Index is a table of small values. The zero Index is empty, and the zero value of T means no value.
type Index[T comparable] struct {
	first int64 // number of the first page
	pages []*page[T]
	n     int
}

const pageSize = 64

type page[T comparable] struct {
	at [pageSize]T
	n  int
}

// Get returns the value at a number, or the zero value if there is none.
func (d *Index[T]) Get(i int64) (v T) {
	p := uint64(i/pageSize - d.first)
	if i < 0 || p >= uint64(len(d.pages)) || d.pages[p] == nil {
		return v
	}
	return d.pages[p].at[i%pageSize]
}

// Set stores a value at a number, replacing any there. A number below all numbers in use takes longer.
func (d *Index[T]) Set(i int64, v T) {
	var none T
	if d.n == 0 {
		d.first, d.pages = i/pageSize, d.pages[:0]
	}
	if lower := d.first - i/pageSize; lower > 0 {
		d.pages = slices.Insert(d.pages, 0, make([]*page[T], lower)...)
		d.first -= lower
	}
	if i/pageSize >= d.first+int64(len(d.pages)) {
		d.trim(len(d.pages) - 1)
	}
	p := int(i/pageSize - d.first)
	for p >= len(d.pages) {
		d.pages = append(d.pages, nil)
	}
	if d.pages[p] == nil {
		d.pages[p] = &page[T]{}
	}
	at := &d.pages[p].at[i%pageSize]
	if *at == none {
		d.pages[p].n++
		d.n++
	}
	*at = v
}

// Len returns the number of values.
func (d *Index[T]) Len() int { return d.n }

// Drop removes the value at a number.
func (d *Index[T]) Drop(i int64) {
	var none T
	if d.Get(i) == none {
		return
	}
	p := int(i/pageSize - d.first)
	page := d.pages[p]
	page.at[i%pageSize] = none
	d.n--
	if page.n--; p < len(d.pages)-1 { // the last page is still being filled
		d.trim(p)
	}
}

// trim releases a page that is empty.
func (d *Index[T]) trim(p int) {
	if p < 0 || d.pages[p] == nil || d.pages[p].n > 0 {
		return
	}
	d.pages[p] = nil
	for len(d.pages) > 1 && d.pages[0] == nil {
		d.pages = d.pages[1:]
		d.first++
	}
}

// All calls a function with all values in order of their numbers. The function may drop the value it is given.
func (d *Index[T]) All(yield func(int64, T) bool) { d.from(0, yield) }

// From is like All for the numbers from least on.
func (d *Index[T]) From(least int64) iter.Seq2[int64, T] {
	return func(yield func(int64, T) bool) { d.from(least, yield) }
}

func (d *Index[T]) from(least int64, yield func(int64, T) bool) {
	var none T
	skip := min(max(least/pageSize-d.first, 0), int64(len(d.pages)))
	first := d.first + skip
	for p, page := range d.pages[skip:] {
		if page == nil {
			continue
		}
		for i, v := range page.at {
			if at := (first+int64(p))*pageSize + int64(i); v != none && at >= least && !yield(at, v) {
				return
			}
		}
	}
}

const chunkSize = 256

// A Table stores values. The zero Table is empty.
type Table[T any] struct {
	at     Index[int32] // places, from 1 on
	chunks []*[chunkSize]T
	used   int32
	free   []int32
}

// Add makes a place for a number that is not below all numbers in use. The place still has its previous content.
func (t *Table[T]) Add(i int64) *T {
	var p int32
	if n := len(t.free); n > 0 {
		p, t.free = t.free[n-1], t.free[:n-1]
	} else {
		if t.used%chunkSize == 0 {
			t.chunks = append(t.chunks, new([chunkSize]T))
		}
		t.used++
		p = t.used
	}
	t.at.Set(i, p)
	return t.place(p)
}

func (t *Table[T]) place(p int32) *T {
	return &t.chunks[uint32(p-1)/chunkSize][uint32(p-1)%chunkSize]
}

// Get returns the value at a number, or nil if there is none.
func (t *Table[T]) Get(i int64) *T {
	if p := t.at.Get(i); p != 0 {
		return t.place(p)
	}
	return nil
}

// Drop removes the value at a number. Its place is reused next.
func (t *Table[T]) Drop(i int64) {
	if p := t.at.Get(i); p != 0 {
		t.at.Drop(i)
		t.free = append(t.free, p)
	}
}

// Len returns the number of values.
func (t *Table[T]) Len() int { return t.at.n }

// All yields all values in order of their numbers.
func (t *Table[T]) All(yield func(int64, *T) bool) {
	for i, p := range t.at.All {
		if !yield(i, t.place(p)) {
			return
		}
	}
}
