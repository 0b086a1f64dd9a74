package ikayak

import (
	"errors"
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// never is the end of a reduce of which nothing is known: later than all predicted ends.
const never = heddle.Time(math.MaxInt64)

// A running is a running reduce: the resources u it holds, and the time y at which it is predicted to give them back.
// The paper's y is the remaining time; end times can be compared without a clock.
type running struct {
	id heddle.ContainerID
	u  heddle.Resource
	y  heddle.Time
}

// wait is Alg. 2, lines 4 to 8, for one node. It returns the time at which reduces, in order of their ends, will have
// given back need, which is R_executor − (R_free + R_map). ok is false if all of them together hold less than need.
// fits compares in the dimensions that count.
func wait(need heddle.Resource, reduces []running, fits func(need, room heddle.Resource) bool) (y heddle.Time, ok bool) {
	var sum heddle.Resource
	for i := range reduces {
		sum = sum.Plus(reduces[i].u)
		if fits(need, sum) {
			return reduces[i].y, true
		}
	}
	return 0, false
}

// sortEnds is Alg. 2, line 4: the earliest end first, ties by id.
func sortEnds(reduces []running) {
	slices.SortFunc(reduces, func(a, b running) int {
		switch {
		case a.y < b.y, a.y == b.y && a.id < b.id:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
}

// A gauge measures what nodes would have left after placing R. It must be cheap, since ten thousand nodes are scanned.
type gauge struct {
	r    heddle.Resource
	dims []heddle.Dim // in which R must fit
	per  [heddle.NumDims]float64
}

// set sets the gauge to R in a cluster of the given total size.
func (g *gauge) set(r, total heddle.Resource, counts func(heddle.Dim) bool) {
	g.r, g.dims, g.per = r, g.dims[:0], [heddle.NumDims]float64{}
	for d, n := range total {
		if counts(heddle.Dim(d)) {
			g.dims = append(g.dims, heddle.Dim(d))
		}
		if n > 0 {
			g.per[d] = 1 / float64(n)
		}
	}
}

// left returns the dominant share, in the cluster's total, of what is left of have after placing R; it is below 0 if R
// does not fit.
func (g *gauge) left(have *heddle.Resource) float64 {
	s := 0.0
	for _, d := range g.dims {
		n := have[d] - g.r[d]
		if n < 0 {
			return -1
		}
		s = max(s, float64(n)*g.per[d])
	}
	return s
}

// fits reports whether R fits into have.
func (g *gauge) fits(have *heddle.Resource) bool {
	for _, d := range g.dims {
		if have[d] < g.r[d] {
			return false
		}
	}
	return true
}

// ExecutorOptions are the options of executor placement.
type ExecutorOptions struct {
	// Patience is how long, in seconds, an application must have been passed over before its executor may reserve a
	// node on which maps and reduces do not hold what is missing. Other executors and masters may keep what they hold
	// for ever. But if all nodes are full of them, waiting for one of them to end is the only way, and applications
	// that ask for less take the room first. The paper has no such bound; 0 = none.
	Patience float64 `yaml:"patience"`
	// Stay makes an executor wait on the node that was reserved for it, whatever becomes free elsewhere before. The
	// paper's executor is "placed on the selected node", and a wrong estimate there costs it "additional … waiting
	// time"; false = the executor takes what is free first.
	Stay bool `yaml:"stay"`
}

// An Executor is the place policy of Spark's executors: reservation-aware executor placement. An executor goes
//
//	to the node with the most free, if one has enough free;
//	else to the one with the most free or in maps, which end soon, if that is enough somewhere;
//	else to the one whose reduces are predicted to have given back what is missing first.
//
// In the last two cases the node is reserved. Unless it is to stay, a reserved executor still takes a node that becomes
// free before; one of its application's reservations is then given up.
type Executor struct {
	books
	book     policy.Book // says which reservations would be kept; nil = all
	patience heddle.Span // 0 = no bound
	stay     bool
	gauge    gauge
	none     [8]refused // the last needs for which no node could be reserved
	nones    int
	passed   bool // a node was passed over that another application could have reserved, or this one could later
}

// refused is a need for which no node could be reserved, and the state in which that was found.
type refused struct {
	need   heddle.Resource
	stamp  uint64
	booked heddle.Resource
}

// NewExecutor returns the place. If the profile does not estimate remaining times, all reduces are assumed to end at
// the same time.
func NewExecutor(a policy.Args) (policy.Place, error) {
	var o ExecutorOptions
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if !(o.Patience >= 0) || o.Patience > math.MaxInt32 {
		return nil, errors.New("ikayak.executor: patience must be 0 s, for none, or more")
	}
	return &Executor{patience: heddle.Seconds(o.Patience), stay: o.Stay, book: a.Book, books: books{rest: a.Remaining}}, nil
}

// Judge implements [policy.Place]; it is called for reservations only.
func (*Executor) Judge(policy.View, *policy.Ask, *policy.Node, heddle.Locality) policy.Verdict {
	return policy.Yes
}

// Pick implements [policy.Pick]: Alg. 1.
func (e *Executor) Pick(v policy.View, k *policy.Ask) (heddle.NodeID, bool) {
	e.drain(v)
	if e.stay && k.Bookings() >= k.Count() {
		return heddle.NoNode, false
	}
	e.gauge.set(k.Size(), v.Total(), v.Counts)
	if _, ok := v.MostFree(k.App(), k.Size()); ok { // the index knows at once if there is none
		if n := e.most(v, k, &e.free, usable); n != heddle.NoNode {
			return n, true
		}
	}
	if k.Bookings() >= k.Count() {
		return heddle.NoNode, false
	}
	late := e.patience > 0 && v.Now().Since(k.App().PassedOver()) > e.patience
	now := refused{k.Size(), e.stamp, v.Root().Booked()}
	if !late && slices.Contains(e.none[:], now) {
		return heddle.NoNode, false
	}
	e.passed = false
	n := e.most(v, k, &e.maps, e.reservable)
	if n == heddle.NoNode {
		n = e.soonest(v, k)
	}
	if n == heddle.NoNode && !e.passed {
		e.none[e.nones%len(e.none)] = now
		e.nones++
	}
	if n == heddle.NoNode && late {
		n = e.last(v, k)
	}
	return n, n != heddle.NoNode
}

// last returns the node on which an executor waits that has waited too long. Of the nodes as large as it asks for, it
// is the one with the most free or in maps and reduces, by the smallest of its dimensions; ties go to the lower id.
func (e *Executor) last(v policy.View, k *policy.Ask) heddle.NodeID {
	best, most := heddle.NoNode, -1.0
	for i := range e.all.of {
		n := v.Node(heddle.NodeID(i))
		if n == nil || !n.Up() || !v.Fits(k.Size(), n.Total()) {
			continue
		}
		part := 1.0
		for _, d := range e.gauge.dims {
			if e.gauge.r[d] > 0 {
				part = min(part, float64(e.all.of[i][d])*e.gauge.per[d])
			}
		}
		if part > most && e.reservable(v, k, n.ID()) {
			best, most = n.ID(), part
		}
	}
	return best
}

// most is Alg. 1, lines 4 to 11: of the nodes that have enough and that do accepts, it returns the one with the most
// left; ties go to the lower id.
func (e *Executor) most(v policy.View, k *policy.Ask, have *column, do func(policy.View, *policy.Ask, heddle.NodeID) bool) heddle.NodeID {
	best, share := heddle.NoNode, -1.0
	for b := range have.top {
		if e.gauge.left(have.upTo(b)) <= share {
			continue
		}
		nodes := have.nodes(b)
		for i := range nodes {
			id := heddle.NodeID(b*block + i)
			if s := e.gauge.left(&nodes[i]); s > share && do(v, k, id) {
				best, share = id, s
			}
		}
	}
	return best
}

// soonest is Alg. 2: it returns the node with the smallest estimated wait. A reduce that should have ended counts as no
// wait.
func (e *Executor) soonest(v policy.View, k *policy.Ask) heddle.NodeID {
	best := heddle.NoNode
	var least heddle.Time
	r, now := k.Size(), v.Now()
	for i := range e.all.of {
		if best != heddle.NoNode && e.first[i] >= least || !e.gauge.fits(&e.all.of[i]) {
			continue
		}
		y, ok := wait(r.Minus(e.maps.of[i]), e.reduces[i], v.Fits)
		if y = max(y, now); !ok || best != heddle.NoNode && y >= least {
			continue
		}
		if e.reservable(v, k, heddle.NodeID(i)) {
			best, least = heddle.NodeID(i), y
		}
	}
	return best
}

// reservable reports whether a node can be reserved for the ask, and would stay reserved. If it cannot because the
// application accepts nothing there, because the node is silent, or because the reservation would not stay, that may
// soon change.
func (e *Executor) reservable(v policy.View, k *policy.Ask, id heddle.NodeID) bool {
	if usable(v, k, id) && (e.book == nil || e.book.Keep(v, k, v.Node(id))) {
		return true
	}
	e.passed = e.passed || v.Node(id).Booked() == nil
	return false
}

// usable reports whether a node can be given to the ask, or reserved for it.
func usable(v policy.View, k *policy.Ask, id heddle.NodeID) bool {
	n := v.Node(id)
	if n.Silent() || n.Booked() != nil || k.App().Excludes(id) {
		return false
	}
	_, allowed := k.Nearest(n)
	return allowed
}
