package rm

import "slices"

// A shelf is a list ordered by key, in pages. Readers get the pages themselves: a page that was handed out is no longer
// changed, but copied before a change. So a copy of a shelf costs its list of pages, not their contents, and another
// copy after a few changes costs the pages that changed.
type shelf[K interface{ Compare(K) int }, T interface{ key() K }] struct {
	pages [][]T
	own   []bool // by page: it was not handed out
}

// pageSize is the most items on a page, and the most that is copied for one change.
const pageSize = 128

// look returns a snapshot of the shelf for a reader to keep.
func (s *shelf[K, T]) look() shelf[K, T] {
	clear(s.own)
	return shelf[K, T]{pages: slices.Clone(s.pages)}
}

// find returns where the item with a key is or would be: its page, and its index there.
func (s *shelf[K, T]) find(k K) (page, at int, found bool) {
	page, found = slices.BinarySearchFunc(s.pages, k, func(p []T, k K) int { return p[0].key().Compare(k) })
	if found {
		return page, 0, true
	}
	if page == 0 {
		return 0, 0, false
	}
	page--
	at, found = slices.BinarySearchFunc(s.pages[page], k, func(x T, k K) int { return x.key().Compare(k) })
	return page, at, found
}

// get returns the item with a key.
func (s *shelf[K, T]) get(k K) (x T, ok bool) {
	page, at, ok := s.find(k)
	if ok {
		x = s.pages[page][at]
	}
	return x, ok
}

// put puts an item on the shelf, replacing the one with its key, if there is one.
func (s *shelf[K, T]) put(x T) (old T, had bool) {
	if len(s.pages) == 0 {
		s.pages, s.own = [][]T{{x}}, []bool{true}
		return old, false
	}
	page, at, found := s.find(x.key())
	switch p := s.write(page); {
	case found:
		old = p[at]
		p[at] = x
	case len(p) < pageSize:
		s.pages[page] = slices.Insert(p, at, x)
	case at == pageSize: // the last item opens a page: most come in order
		s.insert(page+1, []T{x})
	default:
		half := slices.Clone(p[pageSize/2:])
		s.pages[page] = p[:pageSize/2]
		s.insert(page+1, half)
		s.put(x)
	}
	return old, found
}

// drop removes the item with a key, if there is one.
func (s *shelf[K, T]) drop(k K) (old T, had bool) {
	page, at, found := s.find(k)
	if !found {
		return old, false
	}
	old = s.pages[page][at]
	p := slices.Delete(s.write(page), at, at+1)
	if s.pages[page] = p; len(p) == 0 {
		s.pages, s.own = slices.Delete(s.pages, page, page+1), slices.Delete(s.own, page, page+1)
	}
	return old, true
}

// write returns a page that may be changed.
func (s *shelf[K, T]) write(page int) []T {
	if !s.own[page] {
		s.pages[page], s.own[page] = append(make([]T, 0, pageSize), s.pages[page]...), true
	}
	return s.pages[page]
}

func (s *shelf[K, T]) insert(page int, p []T) {
	s.pages, s.own = slices.Insert(s.pages, page, p), slices.Insert(s.own, page, true)
}

// all yields the items in order.
func (s *shelf[K, T]) all(yield func(T) bool) {
	for _, p := range s.pages {
		for _, x := range p {
			if !yield(x) {
				return
			}
		}
	}
}

// backward yields the items before a key, the last first; all items if to is nil.
func (s *shelf[K, T]) backward(to *K, yield func(T) bool) {
	page, at := len(s.pages), 0
	if to != nil {
		page, at, _ = s.find(*to)
	}
	if page < len(s.pages) && !back(s.pages[page][:at], yield) {
		return
	}
	for _, p := range slices.Backward(s.pages[:page]) {
		if !back(p, yield) {
			return
		}
	}
}

func back[T any](p []T, yield func(T) bool) bool {
	for _, x := range slices.Backward(p) {
		if !yield(x) {
			return false
		}
	}
	return true
}

// len returns the number of items.
func (s *shelf[K, T]) len() (n int) {
	for _, p := range s.pages {
		n += len(p)
	}
	return n
}
