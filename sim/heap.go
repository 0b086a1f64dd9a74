package sim

import "heddle"

// happening says what an entry of the event heap stands for.
type happening uint8

const (
	arrival    happening = iota // a job is submitted
	fault                       // something breaks, or is mended
	started                     // a container's process runs
	masterUp                    // a master's process runs
	missed                      // a master could not be started: its node did not answer
	leaving                     // a master has unregistered
	gone                        // a master that unregistered is gone: the last kind that certainly changes something
	calms                       // a node that was told to kill is no longer waited for
	progressed                  // a task reports its progress to its master
	told                        // a master's answer to a question arrives
	looks                       // a node agent looks for containers, or resumes one
	deeds                       // a node agent does what it was told and asks again
	feed                        // running tasks are measured
	monitor                     // NodeManagers measure their containers
	alarm                       // an alarm a master asked for
	beat                        // a master's allocate call
)

// entry is a future event: what happens, and to whom.
type entry struct {
	at   heddle.Time
	seq  uint64
	what happening
	gen  uint32 // of the app, if an entry can be out of date
	id   int64
}

// before orders entries by time; at the same time by what happens, with masters' calls last; then by whom it happens
// to, so that the order does not depend on calls that were left out; then by order of insertion.
func (e *entry) before(o *entry) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	if e.what != o.what {
		return e.what < o.what
	}
	if e.id != o.id {
		return e.id < o.id
	}
	return e.seq < o.seq
}

// heap is a four-way heap of values.
type heap struct {
	es   []entry
	seq  uint64
	sure int // entries that certainly change something, up to gone; the others may go on for ever
}

func (h *heap) push(e entry) {
	h.seq++
	e.seq = h.seq
	if e.what <= gone {
		h.sure++
	}
	h.es = append(h.es, e)
	i := len(h.es) - 1
	for i > 0 {
		p := (i - 1) / 4
		if !e.before(&h.es[p]) {
			break
		}
		h.es[i] = h.es[p]
		i = p
	}
	h.es[i] = e
}

func (h *heap) pop() entry {
	top := h.es[0]
	if top.what <= gone {
		h.sure--
	}
	n := len(h.es) - 1
	e := h.es[n]
	h.es = h.es[:n]
	i := 0
	for n > 0 {
		c := 4*i + 1
		if c >= n {
			break
		}
		m := c
		for j := c + 1; j < c+4 && j < n; j++ {
			if h.es[j].before(&h.es[m]) {
				m = j
			}
		}
		if !h.es[m].before(&e) {
			break
		}
		h.es[i] = h.es[m]
		i = m
	}
	if n > 0 {
		h.es[i] = e
	}
	return top
}
