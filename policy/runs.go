package policy

import "heddle"

// A Run is whose and of what name an application is: the next application of the same user and name will probably ask
// for as much.
type Run struct {
	User heddle.UserID
	Name string // as it was submitted; see [Run.Named]
}

// Named reports whether the application was given a name. YARN calls one that was not "N/A".
func (r Run) Named() bool { return r.Name != "" && r.Name != "N/A" }

// RunOf returns whose and of what name an application is.
func RunOf(a *App) Run { return Run{a.User().ID(), a.Facts().Name} }

// MostRuns bounds what is remembered of users and names.
const MostRuns = 4096

// Runs remembers something of users and names: of [MostRuns] at most, those that came first are forgotten first. The zero
// value remembers nothing.
type Runs[T any] struct {
	last  map[Run]T
	order []Run // as they first came, in a circle once there are as many as may be
	next  int   // the oldest of a full circle
}

// Of returns what is remembered of a user and name.
func (r *Runs[T]) Of(k Run) (v T, ok bool) {
	v, ok = r.last[k]
	return v, ok
}

// Len returns of how many users and names something is remembered.
func (r *Runs[T]) Len() int { return len(r.last) }

// Note remembers something in place of what was remembered of a user and name.
func (r *Runs[T]) Note(k Run, v T) {
	if r.last == nil {
		r.last = map[Run]T{}
	}
	if _, ok := r.last[k]; !ok {
		if len(r.order) < MostRuns {
			r.order = append(r.order, k)
		} else {
			delete(r.last, r.order[r.next])
			r.order[r.next] = k
			r.next = (r.next + 1) % MostRuns
		}
	}
	r.last[k] = v
}
