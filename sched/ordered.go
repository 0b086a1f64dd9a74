package sched

import "heddle/policy"

// blockSize bounds how many entries an insertion moves; a block splits when it reaches this size.
const blockSize = 128

// ordered is a list sorted by (key, id), in blocks of at most blockSize entries, so that the next entry is adjacent in
// memory and an insertion moves few entries.
type ordered struct {
	blocks [][]entry
}

type entry struct {
	key policy.Key
	id  int32
}

func (e *entry) before(key *policy.Key, id int32) bool {
	switch k := &e.key; {
	case k[0] != key[0]:
		return k[0] < key[0]
	case k[1] != key[1]:
		return k[1] < key[1]
	case k[2] != key[2]:
		return k[2] < key[2]
	}
	return e.id < id
}

// block returns the first block whose last entry is not before (key, id), or the last block.
func (o *ordered) block(key *policy.Key, id int32) int {
	lo, hi := 0, len(o.blocks)-1
	for lo < hi {
		mid := (lo + hi) / 2
		b := o.blocks[mid]
		if b[len(b)-1].before(key, id) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func search(b []entry, key *policy.Key, id int32) int {
	lo, hi := 0, len(b)
	for lo < hi {
		mid := (lo + hi) / 2
		if b[mid].before(key, id) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (o *ordered) insert(key policy.Key, id int32) {
	if len(o.blocks) == 0 {
		o.blocks = append(o.blocks, make([]entry, 0, blockSize))
	}
	bi := o.block(&key, id)
	b := o.blocks[bi]
	i := search(b, &key, id)
	b = append(b, entry{})
	copy(b[i+1:], b[i:])
	b[i] = entry{key, id}
	o.blocks[bi] = b
	if len(b) == blockSize {
		right := make([]entry, blockSize/2, blockSize)
		copy(right, b[blockSize/2:])
		o.blocks[bi] = b[:blockSize/2]
		o.blocks = append(o.blocks, nil)
		copy(o.blocks[bi+2:], o.blocks[bi+1:])
		o.blocks[bi+1] = right
	}
}

func (o *ordered) remove(key policy.Key, id int32) {
	if len(o.blocks) == 0 {
		panic("sched: removed from an empty order")
	}
	bi := o.block(&key, id)
	b := o.blocks[bi]
	i := search(b, &key, id)
	if i == len(b) || b[i].id != id || b[i].key != key {
		panic("sched: removed what is not in the order")
	}
	copy(b[i:], b[i+1:])
	b = b[:len(b)-1]
	o.blocks[bi] = b
	if len(b) == 0 && len(o.blocks) > 1 {
		o.blocks = append(o.blocks[:bi], o.blocks[bi+1:]...)
	}
}

// has reports whether the order holds (key, id).
func (o *ordered) has(key policy.Key, id int32) bool {
	if len(o.blocks) == 0 {
		return false
	}
	b := o.blocks[o.block(&key, id)]
	i := search(b, &key, id)
	return i < len(b) && b[i] == entry{key, id}
}

// len returns the number of entries.
func (o *ordered) len() (n int) {
	for _, b := range o.blocks {
		n += len(b)
	}
	return n
}

// move changes the key of an entry. Most moves are short.
func (o *ordered) move(from, to policy.Key, id int32) {
	if len(o.blocks) == 1 && len(o.blocks[0]) <= scanned {
		slide(o.blocks[0], &to, id)
		return
	}
	bi := o.block(&from, id)
	b := o.blocks[bi]
	i := search(b, &from, id)
	if i == len(b) || b[i].id != id || b[i].key != from {
		panic("sched: moved what is not in the order")
	}
	j := search(b, &to, id)
	switch {
	case j > i && j < len(b):
		copy(b[i:], b[i+1:j])
		b[j-1] = entry{to, id}
	case j > i && bi == len(o.blocks)-1:
		copy(b[i:], b[i+1:])
		b[len(b)-1] = entry{to, id}
	case j <= i && (j > 0 || bi == 0):
		copy(b[j+1:i+1], b[j:i])
		b[j] = entry{to, id}
	default:
		o.remove(from, id)
		o.insert(to, id)
	}
}

// scanned is the number of entries up to which a linear scan is used instead of a search.
const scanned = 32

// slide changes the key of the entry with an id and moves it past its neighbours into place.
func slide(b []entry, to *policy.Key, id int32) {
	i := 0
	for b[i].id != id {
		i++
	}
	for ; i > 0 && !b[i-1].before(to, id); i-- {
		b[i] = b[i-1]
	}
	for ; i < len(b)-1 && b[i+1].before(to, id); i++ {
		b[i] = b[i+1]
	}
	b[i] = entry{*to, id}
}
