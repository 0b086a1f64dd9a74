package apps

import (
	"cmp"
	"slices"

	"heddle"
)

// A table is a master's own copy of its request table. It hands out only the rows that changed, as absolute numbers,
// including 0.
type table struct {
	at      map[place]int32 // index into rows
	rows    []heddle.Row
	isDirty []bool
	dirty   []int32
	scratch []heddle.RackID

	last    int32 // the row changed last: most changes are to the same one again
	lastKey place
}

// A place is the key of a row: YARN allows one size per priority and allocation id.
type place struct {
	priority int32
	alloc    int64
	host     heddle.NodeID
	rack     heddle.RackID
}

// A want is what one container is asked for with, apart from its places.
type want struct {
	priority int32
	alloc    int64
	kind     heddle.Kind
	size     heddle.Resource
}

// add changes the rows of n containers (negative: takes them back) that may run on any of hosts, on their racks, and
// anywhere.
func (t *table) add(c *Config, w want, hosts []heddle.NodeID, n int32) {
	t.row(w, heddle.NoNode, heddle.NoRack, n)
	if len(hosts) == 0 {
		return
	}
	t.scratch = c.racks(t.scratch[:0], hosts)
	for _, r := range t.scratch {
		t.row(w, heddle.NoNode, r, n)
	}
	for i, h := range hosts {
		if !slices.Contains(hosts[:i], h) {
			t.row(w, h, heddle.NoRack, n)
		}
	}
}

func (t *table) row(w want, host heddle.NodeID, rack heddle.RackID, n int32) {
	key := place{w.priority, w.alloc, host, rack}
	i, ok := t.last, true
	if len(t.rows) == 0 || key != t.lastKey {
		i, ok = t.at[key]
	}
	if !ok {
		if t.at == nil {
			t.at = map[place]int32{}
		}
		i = int32(len(t.rows))
		t.at[key] = i
		t.rows = append(t.rows, heddle.Row{Priority: w.priority, AllocID: w.alloc, Kind: w.kind, Host: host, Rack: rack})
		t.isDirty = append(t.isDirty, false)
	}
	t.last, t.lastKey = i, key
	r := &t.rows[i]
	r.Size = w.size
	if r.Count += n; r.Count < 0 {
		panic("apps: a request table went below zero")
	}
	if !t.isDirty[i] {
		t.isDirty[i] = true
		t.dirty = append(t.dirty, i)
	}
}

// flush appends the rows that changed since the last flush to dst, ordered by priority, then any-host rows before racks
// before hosts, as Hadoop's clients order them.
func (t *table) flush(dst []heddle.Row) []heddle.Row {
	slices.SortFunc(t.dirty, func(a, b int32) int {
		x, y := &t.rows[a], &t.rows[b]
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.AllocID, y.AllocID),
			cmp.Compare(x.Host, y.Host), cmp.Compare(x.Rack, y.Rack))
	})
	for _, i := range t.dirty {
		dst = append(dst, t.rows[i])
		t.isDirty[i] = false
	}
	t.dirty = t.dirty[:0]
	return dst
}

// flushed reports whether no row has changed since the last flush.
func (t *table) flushed() bool { return len(t.dirty) == 0 }

// clean discards the record of changed rows.
func (t *table) clean() {
	for _, i := range t.dirty {
		t.isDirty[i] = false
	}
	t.dirty = t.dirty[:0]
}

// A fifo is a queue that also accepts entries at its front.
type fifo[T any] struct {
	items []T
	head  int
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(x T) {
	if q.head > 64 && q.head > len(q.items)/2 {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, x)
}

func (q *fifo[T]) pushFront(x T) {
	if q.head == 0 {
		q.items = slices.Insert(q.items, 0, x)
		return
	}
	q.head--
	q.items[q.head] = x
}

func (q *fifo[T]) front() T { return q.items[q.head] }

func (q *fifo[T]) pop() T {
	x := q.items[q.head]
	q.head++
	return x
}
