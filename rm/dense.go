package rm

// A dense is a table by numbers that are given in order, of which most are forgotten soon. Its zero value is empty.
type dense[T comparable] struct {
	first int64 // number of the first page
	pages []*densePage[T]
	n     int
}

const densePageSize = 64

type densePage[T comparable] struct {
	at [densePageSize]T
	n  int
}

// get is what stands under a number, nothing where there is none.
func (d *dense[T]) get(i int64) (v T) {
	p := uint64(i/densePageSize - d.first)
	if i < 0 || p >= uint64(len(d.pages)) || d.pages[p] == nil {
		return v
	}
	return d.pages[p].at[i%densePageSize]
}

// set puts something under a number that is not below all that are in use, in place of what stands there.
func (d *dense[T]) set(i int64, v T) {
	var none T
	if d.n == 0 {
		d.first, d.pages = i/densePageSize, d.pages[:0]
	}
	if i/densePageSize >= d.first+int64(len(d.pages)) {
		d.trim(len(d.pages) - 1)
	}
	p := int(i/densePageSize - d.first)
	for p >= len(d.pages) {
		d.pages = append(d.pages, nil)
	}
	if d.pages[p] == nil {
		d.pages[p] = &densePage[T]{}
	}
	at := &d.pages[p].at[i%densePageSize]
	if *at == none {
		d.pages[p].n++
		d.n++
	}
	*at = v
}

// drop forgets what stands under a number.
func (d *dense[T]) drop(i int64) {
	var none T
	if d.get(i) == none {
		return
	}
	p := int(i/densePageSize - d.first)
	page := d.pages[p]
	page.at[i%densePageSize] = none
	d.n--
	if page.n--; p < len(d.pages)-1 { // the last one goes on being filled
		d.trim(p)
	}
}

// trim lets go of a page that holds nothing any more.
func (d *dense[T]) trim(p int) {
	if p < 0 || d.pages[p] == nil || d.pages[p].n > 0 {
		return
	}
	d.pages[p] = nil
	for len(d.pages) > 1 && d.pages[0] == nil {
		d.pages = d.pages[1:]
		d.first++
	}
}

// all calls a function with all that there is, in the order of the numbers.
func (d *dense[T]) all(yield func(int64, T) bool) {
	var none T
	for p, page := range d.pages {
		if page == nil {
			continue
		}
		for i, v := range page.at {
			if v != none && !yield((d.first+int64(p))*densePageSize+int64(i), v) {
				return
			}
		}
	}
}

// bits is a set of small numbers.
type bits []uint64

func (b bits) has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 == 1 }

func (b *bits) add(i int) {
	for i/64 >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b bits) remove(i int) {
	if i/64 < len(b) {
		b[i/64] &^= 1 << (i % 64)
	}
}
