package newcomers

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/policy"
)

const (
	lately     = 100 // number of applications of any user and name that are remembered; the oldest is dropped first
	leastAsked = 5   // number of these from which on the next application is expected to ask for as much
)

// usually is the part of the applications that asked lately that did not exceed what the next one is expected to ask
// for.
const usually = 0.9

// A history records what applications that asked lately asked for first. It starts empty with the process, and when the
// configuration is read again: it only tells how much is usual, and five applications are enough for that.
type history struct {
	recent []heddle.Resource
	next   int // the oldest of recent, once recent holds as many as lately

	sorted []heddle.Resource // scratch space of usual
}

// expects returns what an application is expected to ask for first: nothing if unknown.
func (h *history) expects(a *policy.App, total heddle.Resource) heddle.Resource {
	f := a.Facts()
	if f.Demand.Containers > 0 {
		return f.Demand.Total()
	}
	if !f.Last.First.IsZero() {
		return f.Last.First
	}
	return h.usual(total)
}

// usual returns what only a tenth of the applications that asked lately exceeded, by dominant share.
func (h *history) usual(total heddle.Resource) heddle.Resource {
	if len(h.recent) < leastAsked {
		return heddle.Resource{}
	}
	h.sorted = append(h.sorted[:0], h.recent...)
	slices.SortStableFunc(h.sorted, func(x, y heddle.Resource) int { return cmp.Compare(x.Share(total), y.Share(total)) })
	return h.sorted[int(usually*float64(len(h.sorted)))]
}

// note remembers what an application asks for now, which is its first request.
func (h *history) note(a *policy.App) {
	first := a.Pending()
	if len(h.recent) < lately {
		h.recent = append(h.recent, first)
	} else {
		h.recent[h.next] = first
		h.next = (h.next + 1) % lately
	}
}
