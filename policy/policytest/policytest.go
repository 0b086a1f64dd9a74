// Package policytest is the suite that every mechanism must pass: two instances answer alike, nothing they do changes
// the state, refusing costs no allocation, no stream of events breaks the books, and unknown options are refused.
//
// It knows no mechanism: the caller says how one is made and where in a policy set it belongs.
package policytest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"heddle"
	"heddle/policy"
	"heddle/sched"
)

// Steps is the maximum length of a random stream.
const Steps = 120

// Args returns arguments for makers: options in YAML, and a stream of random numbers.
func Args(options string) policy.Args {
	return policy.Args{
		Decode: func(into any) error {
			if strings.TrimSpace(options) == "" {
				return nil
			}
			return yaml.NewDecoder(bytes.NewReader([]byte(options)), yaml.Strict()).Decode(into)
		},
		Rand:   rand.New(rand.NewPCG(1, 2)),
		Shared: func(name string) (any, error) { return nil, fmt.Errorf("there is no %s here", name) },
	}
}

// Base returns a complete set with one queue, first come first served, into which a policy can be put.
func Base(order policy.Order) policy.Set {
	return policy.Set{
		Lanes:  []policy.Lane{{Kinds: []heddle.Kind{heddle.AM, heddle.Map, heddle.Reduce, heddle.Executor, heddle.Other}, Order: order}},
		Queues: []heddle.QueueID{heddle.NoQueue, 0}, Minimum: heddle.Of(1024, 1000), Step: heddle.Of(1024, 1000),
	}
}

// Submitted is an order by submission, for sets whose test is about something else.
type Submitted struct{}

// Queue returns the same key for every queue.
func (Submitted) Queue(policy.View, *policy.Queue) policy.Key { return policy.Key{} }

// App returns the same key for every application.
func (Submitted) App(policy.View, *policy.App) policy.Key { return policy.Key{} }

// Steady returns true.
func (Submitted) Steady(*policy.App) bool { return true }

// Run tests a mechanism with everything in this package. put builds a fresh set around what maker makes with the
// options given in YAML.
func Run[H any](t *testing.T, maker policy.Maker[H], options string, put func(H) policy.Set) {
	t.Helper()
	set := func() policy.Set {
		h, err := maker(Args(options))
		if err != nil {
			t.Fatalf("options %q: %v", options, err)
		}
		return put(h)
	}
	t.Run("unknown options", func(t *testing.T) {
		if _, err := maker(Args("no_such_option: 1")); err == nil {
			t.Error("an option that does not exist was taken")
		}
	})
	t.Run("twins", func(t *testing.T) {
		Streams(t, func(t *rapid.T) { NewStream(t, 2, set).Run(Steps) })
	})
	t.Run("view unchanged", func(t *testing.T) { unchanged(t, set) })
	t.Run("refusing", func(t *testing.T) {
		n, offers := RefusalAllocs(set(), 1000)
		if n != 0 {
			t.Errorf("a heartbeat in vain costs %v allocations", n)
		}
		if offers == 0 {
			t.Error("heartbeats in vain ask nothing")
		}
	})
	t.Run("verdicts", func(t *testing.T) { verdicts(t, set) })
	t.Run("wanted heartbeats", func(t *testing.T) { Streams(t, func(t *rapid.T) { Wanted(t, set) }) })
}

// Wanted runs a core that gets every heartbeat beside one that gets only those it wants; their decisions must be alike.
func Wanted(t *rapid.T, set func() policy.Set) {
	s := NewStream(t, 2, set)
	s.Beat = func(core int, c *sched.Core, n heddle.NodeID, now heddle.Time) bool {
		tick, due := c.NextTick()
		return core == 0 || c.Wants(n) || due && now >= tick
	}
	s.Run(Steps)
}

// Refusing returns a core with apps applications that wait for containers no node could ever hold, and a node to offer
// in vain.
func Refusing(set policy.Set, apps int) *sched.Core {
	c := sched.New(set)
	c.Step(0, heddle.NodeUp{Node: 0, Rack: 0, Total: heddle.Of(4096, 1000*1000), Can: heddle.AllCaps})
	leaf := leaves(set.Queues)[0]
	for n := range apps { // room for the masters, and for the limits to allow every ask
		c.Step(0, heddle.NodeUp{Node: heddle.NodeID(n + 1), Rack: 0, Total: heddle.Of(1<<20, 1000*1000), Can: heddle.AllCaps})
	}
	for i := range apps {
		a := heddle.AppID(i)
		at := heddle.Time(i) * heddle.Time(heddle.Second)
		c.Step(at, heddle.Submit{App: a, Queue: leaf, Master: heddle.Of(1024, 1000)})
		c.Step(at.Plus(heddle.Second), heddle.Heartbeat{Node: heddle.NodeID(i + 1)})
	}
	now := heddle.Time(apps+1) * heddle.Time(heddle.Second)
	for i := range apps {
		c.Step(now, heddle.Ask{App: heddle.AppID(i), Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, 3, heddle.Of(8192, 1000))}})
	}
	c.Step(now.Plus(heddle.Second), heddle.Started{Container: 1})
	return c
}

// RefusalAllocs returns how many allocations a heartbeat costs at which every waiting application is refused, and at
// how many heartbeats any was asked for at all. The applications ask for every kind that no policy finds a node for.
// If the set reserves no nodes, a policy that would is added, so that the node is offered although no ask fits it.
func RefusalAllocs(set policy.Set, apps int) (allocs float64, offers uint64) {
	if set.Book == nil {
		set.Book = anyRoom{}
	}
	c := Refusing(set, apps)
	now := heddle.Time(apps+10) * heddle.Time(heddle.Second)
	var rows []heddle.Row
	for k := heddle.Reduce; k < heddle.NumKinds; k++ {
		if _, picks := set.Place[k].(policy.Pick); !picks {
			rows = append(rows, heddle.Anywhere(20+int32(k), k, 3, heddle.Of(8192, 1000)))
		}
	}
	for i := range apps {
		c.Step(now, heddle.Ask{App: heddle.AppID(i), Rows: rows})
	}
	// Something has to happen in between: what was refused to all is not asked for again at once.
	var changed, reports heddle.Event = heddle.Output{App: 0, Node: 0}, heddle.Heartbeat{Node: 0}
	before := c.Counts().Offers
	allocs = testing.AllocsPerRun(20, func() {
		c.Step(now, changed)
		c.Step(now, reports)
	})
	return allocs, c.Counts().Offers - before
}

// anyRoom is a Book that reserves no node, but has every node offered.
type anyRoom struct{}

func (anyRoom) Reserve(policy.View, *policy.Ask, *policy.Node) bool        { return false }
func (anyRoom) Beside(policy.View, *policy.Ask) bool                       { return false }
func (anyRoom) Keep(policy.View, *policy.Ask, *policy.Node) bool           { return false }
func (anyRoom) Floor(policy.View, heddle.Resource) (least heddle.Resource) { return least }

// inStates calls check in random states of a core with the set.
func inStates(t *testing.T, set func() policy.Set, check func(t *rapid.T, made policy.Set, v policy.View)) {
	Streams(t, func(t *rapid.T) {
		made := set()
		s := NewStream(t, 1, func() policy.Set { return made })
		s.Run(40)
		check(t, made, s.Core(0).View())
	})
}

// verdicts checks that no answer about what may be given costs an allocation, in random states.
func verdicts(t *testing.T, set func() policy.Set) {
	inStates(t, set, func(t *rapid.T, made policy.Set, v policy.View) {
		if n := testing.AllocsPerRun(1, func() { judged(made, v) }); n != 0 {
			t.Fatalf("answers cost %v allocations in the state\n%s", n, strings.Join(Picture(v), "\n"))
		}
	})
}

// judged asks every policy of a set that gives verdicts about all that is asked for.
func judged(set policy.Set, v policy.View) {
	for q := range v.Queues() {
		for _, s := range set.Share {
			s.Enter(v, v.Queue(heddle.QueueID(q)))
		}
	}
	for id := range v.AppIDs() {
		a := v.App(heddle.AppID(id))
		if a == nil {
			continue
		}
		for _, k := range a.Asks() {
			for _, s := range set.Share {
				s.Allow(v, a, k.Kind(), k.Size())
			}
			for _, g := range set.Gate[k.Kind()] {
				g.Open(v, a, k.Kind())
			}
			for i := range v.NodeIDs() {
				if n := v.Node(heddle.NodeID(i)); n != nil && n.Up() {
					judge(set, v, k, n)
				}
			}
		}
	}
}

// judge asks every policy that may refuse an ask a node.
func judge(set policy.Set, v policy.View, k *policy.Ask, n *policy.Node) {
	at, _ := k.Nearest(n)
	for _, p := range set.Veto[k.Kind()] {
		p.Judge(v, k, n, at)
	}
	if p := set.Place[k.Kind()]; p != nil {
		p.Judge(v, k, n, at)
	}
}

// unchanged calls every hook of the set on random states and compares everything visible before and after.
func unchanged(t *testing.T, set func() policy.Set) {
	inStates(t, set, func(t *rapid.T, made policy.Set, v policy.View) {
		before := Picture(v)
		call(made, v)
		if after := Picture(v); !reflect.DeepEqual(before, after) {
			t.Fatalf("the state changed from\n%v\nto\n%v", before, after)
		}
	})
}

// call asks every policy of a set about everything in the view.
func call(set policy.Set, v policy.View) {
	for q := range v.Queues() {
		for _, l := range set.Lanes {
			l.Order.Queue(v, v.Queue(heddle.QueueID(q)))
		}
		for _, s := range set.Share {
			s.Enter(v, v.Queue(heddle.QueueID(q)))
		}
	}
	for _, c := range set.Control {
		var p policy.Plan
		c.Run(v, &p)
	}
	for id := range v.AppIDs() {
		a := v.App(heddle.AppID(id))
		if a == nil {
			continue
		}
		for _, l := range set.Lanes {
			l.Order.App(v, a)
		}
		for _, s := range set.Share {
			s.Headroom(v, a)
		}
		for _, k := range a.Asks() {
			ask(set, v, a, k)
		}
	}
}

func ask(set policy.Set, v policy.View, a *policy.App, k *policy.Ask) {
	if s := set.Size[k.Kind()]; s != nil {
		s.Size(v, a, k.Kind(), k.Size())
	}
	for _, s := range set.Share {
		limit(v, s, k, s.Allow(v, a, k.Kind(), k.Size()))
	}
	for _, g := range set.Gate[k.Kind()] {
		limit(v, g, k, g.Open(v, a, k.Kind()))
	}
	if p, ok := set.Place[k.Kind()].(policy.Pick); ok {
		p.Pick(v, k)
	}
	if set.Book != nil {
		set.Book.Beside(v, k)
		set.Book.Floor(v, k.Size())
	}
	for i := range v.NodeIDs() {
		n := v.Node(heddle.NodeID(i))
		if n == nil || !n.Up() {
			continue
		}
		judge(set, v, k, n)
		if t := set.Trim[k.Kind()]; t != nil {
			t.Trim(v, k, n, n.Room(a))
		}
		if set.Book != nil {
			set.Book.Reserve(v, k, n)
			set.Book.Keep(v, k, n)
			if x := n.Booked(); x != nil {
				if f, ok := set.Book.(policy.Filler); ok {
					by, _ := f.Until(v, x)
					f.Fill(v, k, by)
				}
			}
		}
	}
}

// limit asks a policy that refused for its figures.
func limit(v policy.View, h any, k *policy.Ask, d policy.Verdict) {
	x, ok := h.(policy.Limiter)
	if d.OK() || !ok {
		return
	}
	if l, ok := x.Limit(v, k, d.Why); ok && l.Holds != nil {
		l.Holds(k.App())
	}
}

// Picture returns everything visible in a state, as lines.
func Picture(v policy.View) (lines []string) {
	add := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
	add("now %v total %v used %v largest %v live %d alive %d", v.Now(), v.Total(), v.Used(), v.Largest(), v.Live(), v.Alive())
	for i := range v.NodeIDs() {
		if n := v.Node(heddle.NodeID(i)); n != nil {
			add("node %d up %v total %v used %v free %v booked %v", i, n.Up(), n.Total(), n.Used(), n.Free(), n.Booked() != nil)
			n.Each(func(x *policy.Container) bool {
				add(" container %d %v %v told %v limit %v at %v suspended %v", x.ID(), x.State(), x.Kind(), x.Told(), x.Limit(), x.At(), x.Suspended())
				return true
			})
		}
	}
	for i := range v.Queues() {
		q := v.Queue(heddle.QueueID(i))
		add("queue %d used %v booked %v masters %v pending %v waiting %v", i, q.Used(), q.Booked(), q.Masters(), q.Pending(), q.Waiting())
		for _, u := range q.Users() {
			add(" user %d nth %d used %v booked %v apps %d waiting %v", u.ID(), u.Nth(), u.Used(), u.Booked(), u.Apps(), u.Waiting())
		}
		for _, a := range q.Apps() {
			add(" app %d used %v booked %v pending %v bookings %d outputs %v", a.ID(), a.Used(), a.Booked(), a.Pending(), a.Bookings(), a.Outputs())
			for _, k := range a.Asks() {
				add("  ask %d priority %d kind %v size %v count %d places %d bookings %d rebooked %d since %v",
					k.ID(), k.Priority(), k.Kind(), k.Size(), k.Count(), k.Places(), k.Bookings(), k.Rebooked(), k.Since())
			}
		}
	}
	return lines
}
