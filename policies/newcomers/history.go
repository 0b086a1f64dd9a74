package newcomers

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/policy"
)

const (
	lately     = 100 // so many applications of any user and name are remembered; the oldest goes first
	leastAsked = 5   // of these there must be for the next one to be expected to ask for as much
)

// usually is the part of the applications that asked lately that did not ask for more than the next one is expected to.
const usually = 0.9

// A history is what applications asked for first that asked lately. It begins anew with the process, and when the
// configuration is read again: it only says how much is usual, and five applications are enough to say so.
type history struct {
	recent []heddle.Resource
	next   int // the oldest of recent, once these are as many as lately

	sorted []heddle.Resource // room for usual to work in
}

// expects is what an application will ask for first: nothing where nobody knows.
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

// usual is what no more than a tenth of the applications that asked lately asked more than, by the dominant share.
func (h *history) usual(total heddle.Resource) heddle.Resource {
	if len(h.recent) < leastAsked {
		return heddle.Resource{}
	}
	h.sorted = append(h.sorted[:0], h.recent...)
	slices.SortStableFunc(h.sorted, func(x, y heddle.Resource) int { return cmp.Compare(x.Share(total), y.Share(total)) })
	return h.sorted[int(usually*float64(len(h.sorted)))]
}

// note remembers what an application asks for now, which is the first that it asks for.
func (h *history) note(a *policy.App) {
	first := a.Pending()
	if len(h.recent) < lately {
		h.recent = append(h.recent, first)
	} else {
		h.recent[h.next] = first
		h.next = (h.next + 1) % lately
	}
}
