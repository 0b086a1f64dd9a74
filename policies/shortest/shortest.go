// Package shortest serves the application with the least left to do first, and lets nobody be passed
// over for ever: one that has asked for longer than patience without being given anything goes before all
// that have not, the longest waiting first.
//
// What is left is what the application holds and still asks for, so it needs neither a job's history nor
// the length of its tasks. The package knows nothing of nodes.
package shortest

import (
	"errors"
	"math"

	"heddle"
	"heddle/policy"
)

// Options are the order's.
type Options struct {
	// Patience is how many seconds an application is passed over at most before it goes first: with n
	// applications ahead of it in their own patience, it is served with the (n+1)-th container that comes free.
	Patience float64 `yaml:"patience"`
}

// Default is the order's default.
var Default = Options{Patience: 600}

// An Order serves the least remaining work first.
type Order struct {
	queues   policy.Order // orders queues; nil = as listed
	patience heddle.Span
	overdue  []bool // by application, as its key was last given
}

// New returns the order for a flat list of queues.
func New(a policy.Args) (policy.Order, error) { return Within(a, nil) }

// Within returns the order for the applications of a leaf, where another one orders the queues.
func Within(a policy.Args, queues policy.Order) (policy.Order, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if !(o.Patience > 0) || o.Patience > math.MaxInt32 {
		return nil, errors.New("shortest: patience must be above 0 s")
	}
	return &Order{queues: queues, patience: heddle.Seconds(o.Patience)}, nil
}

// Queue implements [policy.Order].
func (s *Order) Queue(v policy.View, q *policy.Queue) policy.Key {
	if s.queues == nil {
		return policy.Key{}
	}
	return s.queues.Queue(v, q)
}

// App implements [policy.Order]: by patience, then priority, then what is left.
func (s *Order) App(v policy.View, a *policy.App) policy.Key {
	late := s.late(v, a)
	*s.at(a.ID()) = late
	if late {
		return policy.Key{math.MinInt64, int64(a.PassedOver())}
	}
	return policy.Key{-int64(a.Priority()), left(a.Pending().Plus(a.Used()), v.Total())}
}

// left is the dominant share of work in a cluster, in billionths.
func left(work, total heddle.Resource) int64 { return int64(work.Share(total) * 1e9) }

func (s *Order) late(v policy.View, a *policy.App) bool {
	return !a.Pending().IsZero() && v.Now().Since(a.PassedOver()) > s.patience
}

func (s *Order) at(id heddle.AppID) *bool {
	for int(id) >= len(s.overdue) {
		s.overdue = append(s.overdue, false)
	}
	return &s.overdue[id]
}

// lookEvery is how often it is looked whether somebody's patience is over.
const lookEvery = 5 * heddle.Second

// Every implements [policy.Ticker].
func (s *Order) Every() heddle.Span { return lookEvery }

// Tick implements [policy.Ticker]: keys change when somebody's patience is over.
func (s *Order) Tick(v policy.View) bool { return s.look(v, v.Root()) }

func (s *Order) look(v policy.View, q *policy.Queue) bool {
	if !q.Waiting() {
		return false
	}
	for _, kid := range q.Children() {
		if s.look(v, kid) {
			return true
		}
	}
	for _, a := range q.Apps() {
		if s.late(v, a) != *s.at(a.ID()) {
			return true
		}
	}
	return false
}
