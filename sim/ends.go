package sim

import "heddle"

// An end is when a run of the given world ends, unless the run has moved on to another generation.
type end struct {
	at  heddle.Time
	run int32
	gen uint32
}

// before orders ends by time, and ends at the same time by run.
func (e end) before(o end) bool { return e.at < o.at || e.at == o.at && e.run < o.run }

// endings is a four-way heap with the soonest end first. It is separate from [heap] because it has an end for every
// running task: the four ends that are compared with one another are read from memory together.
type endings []end

func (q *endings) push(e end) {
	*q = append(*q, e)
	h := *q
	i := len(h) - 1
	for ; i > 0 && e.before(h[(i-1)/4]); i = (i - 1) / 4 {
		h[i] = h[(i-1)/4]
	}
	h[i] = e
}

func (q *endings) pop() end {
	h := *q
	top, last := h[0], len(h)-1
	e := h[last]
	h = h[:last]
	*q = h
	i := 0
	for c := 1; c < last; c = 4*i + 1 {
		least := c
		for j := c + 1; j < min(c+4, last); j++ {
			if h[j].before(h[least]) {
				least = j
			}
		}
		if !h[least].before(e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	if last > 0 {
		h[i] = e
	}
	return top
}
