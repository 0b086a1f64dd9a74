package store

import (
	"bytes"
	"cmp"
	"os"
)

// dig reads a file whose current root is unknown. It looks for the root pages of trees of the past and takes the tree
// whose records are the latest: that of the last commit or of one before. If there is none, it returns why.
func dig(file *os.File, size int64, why error) (best *wreck, err error) {
	for _, h := range beginnings(file, size) {
		w := &wreck{records: map[string]map[string][]byte{}}
		w.Older = true
		w.Damage = inspect(file, h, w.take).damage
		if w.judge() == nil && (best == nil || w.compare(best) > 0) {
			best = w
		}
	}
	if best == nil {
		return nil, why
	}
	best.Epoch = min(best.Epoch+epochJump, maxEpoch-1) // it is unknown how many commits are missing, and how many of those were starts
	return best, nil
}

// compare says which of two trees is more likely to be the last one.
func (w *wreck) compare(o *wreck) int {
	wrong := func(w *wreck) int { return len(w.Damage) + len(w.Lost) }
	return cmp.Or(cmp.Compare(w.Epoch, o.Epoch), cmp.Compare(w.latest(), o.latest()), cmp.Compare(wrong(o), wrong(w)))
}

// latest returns the last date in the tree's records.
func (w *wreck) latest() (ms int64) {
	for _, a := range w.apps {
		ms = max(ms, a.Submitted, a.Launched, a.Finished)
	}
	for _, t := range w.tries {
		ms = max(ms, t.Started, t.Finished)
	}
	return ms
}

// beginnings returns the pages of a file that have the store's buckets.
func beginnings(file *os.File, size int64) (out []header) {
	h := header{pageSize: int64(os.Getpagesize()), freelist: noFreelist}
	h.pages = uint64(size / h.pageSize)
	b := make([]byte, h.pageSize)
	for id := uint64(2); id < h.pages; id++ {
		if _, err := file.ReadAt(b, int64(id)*h.pageSize); err != nil || order.Uint64(b) != id || order.Uint16(b[8:]) != flagLeaf {
			continue
		}
		list, _, _ := parse(b)
		for _, e := range list {
			if e.flags == flagBucket && bytes.Equal(e.key, meta) {
				h.root = id
				out = append(out, h)
			}
		}
	}
	return out
}
