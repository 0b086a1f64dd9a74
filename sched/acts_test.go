package sched_test

import (
	"reflect"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// acts is a policy that does everything a policy may do to running containers, once a second, and limits maps to half
// of what they asked for.
type acts struct {
	turn []func(v policy.View, p *policy.Plan)
}

func (*acts) Every() heddle.Span { return heddle.Second }

func (a *acts) Run(v policy.View, p *policy.Plan) {
	if len(a.turn) > 0 {
		a.turn[0](v, p)
		a.turn = a.turn[1:]
	}
}

func (a *acts) Trim(_ policy.View, k *policy.Ask, _ *policy.Node, _ heddle.Resource) heddle.Resource {
	return a.Floor(k.Size())
}

func (*acts) Floor(s heddle.Resource) heddle.Resource {
	return heddle.Of(s[heddle.Memory]/2, s[heddle.CPU]/2)
}

func TestActsOnRunningContainers(t *testing.T) {
	half, whole := heddle.Of(1024, 1000), heddle.Of(2048, 2000)
	a := &acts{turn: []func(policy.View, *policy.Plan){
		func(_ policy.View, p *policy.Plan) { p.Suspend(2); p.Kill(2); p.Suspend(99) }, // the first step wins
		func(_ policy.View, p *policy.Plan) { p.Resume(2); p.Resize(3, whole); p.Resume(3) },
		func(_ policy.View, p *policy.Plan) { p.Resize(2, heddle.Of(9999, 1000)); p.Kill(3) }, // no room for the first
		func(_ policy.View, p *policy.Plan) { p.Kill(1) },                                     // the end of the master ends the attempt
	}}
	set := policytest.Base(policytest.Submitted{})
	set.Share = []policy.Share{newLedger()} // hears of everything
	set.Control = []policy.Control{a}
	set.Trim[heddle.Map] = a
	c := sched.New(set)
	step := func(at heddle.Time, ev heddle.Event) []heddle.Decision {
		t.Helper()
		d := c.Step(at, ev)
		if broken := c.Check(); len(broken) > 0 {
			t.Fatalf("after %T%+v: %v", ev, ev, broken)
		}
		return d
	}
	step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(4096, 4000), Can: heddle.AllCaps})
	step(0, heddle.Submit{App: 0, Queue: 1, Master: heddle.Of(1024, 1000)})
	step(0, heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, 2, whole)}})
	got := step(1, heddle.Heartbeat{Node: 0})
	want := []heddle.Decision{
		&heddle.Launch{Container: 1, Kind: heddle.AM, At: heddle.OffSwitch, Told: half, Limit: half},
		&heddle.Launch{Container: 2, Kind: heddle.Map, Priority: 20, At: heddle.OffSwitch, Told: whole, Limit: half},
		&heddle.Launch{Container: 3, Kind: heddle.Map, Priority: 20, At: heddle.OffSwitch, Told: whole, Limit: half},
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("granted %v, want %v", got, want)
	}
	step(2, heddle.Acquire{App: 0})
	for id := range heddle.ContainerID(3) {
		step(3, heddle.Started{Container: id + 1})
	}
	n := c.View().Node(0)
	for _, turn := range []struct {
		want       []heddle.Decision
		used, free heddle.Resource
		lends      bool
	}{
		{[]heddle.Decision{&heddle.Suspend{Container: 2}}, heddle.Of(3072, 3000), heddle.Of(1024, 1000), true},
		{[]heddle.Decision{&heddle.Resume{Container: 2}, &heddle.Resize{Container: 3, Limit: whole}}, heddle.Of(4096, 4000), heddle.Of(0, 0), false},
		{[]heddle.Decision{&heddle.Kill{Container: 3, Status: heddle.Preempted}}, heddle.Of(2048, 2000), heddle.Of(2048, 2000), false},
		{[]heddle.Decision{&heddle.Kill{Container: 1, Status: heddle.Preempted}, &heddle.Kill{Container: 2, Status: heddle.Aborted}}, heddle.Of(0, 0), heddle.Of(4096, 4000), false},
	} {
		at, ok := c.Deadline()
		if !ok {
			t.Fatal("no deadline although a controller waits")
		}
		if got := step(at, heddle.Wake{}); !reflect.DeepEqual(got, turn.want) {
			t.Fatalf("at %v: %v, want %v", at, got, turn.want)
		}
		if n.Used() != turn.used || n.Free() != turn.free || n.Lends() != turn.lends {
			t.Fatalf("at %v: used %v free %v lends %v, want %v %v %v", at, n.Used(), n.Free(), n.Lends(), turn.used, turn.free, turn.lends)
		}
	}
	if c.View().App(0).Master() != nil || c.View().Root().Waiting() {
		t.Error("something is left of the attempt whose master was killed")
	}
}

// Incomplete sets are rejected when the core is made, not when the first container is.
func TestSetsThatAreNotWhole(t *testing.T) {
	all := policytest.Base(policytest.Submitted{}).Lanes[0].Kinds
	for name, lanes := range map[string][]policy.Lane{
		"no lane":          nil,
		"a kind in none":   {{Kinds: all[1:], Order: policytest.Submitted{}}},
		"a kind in two":    {{Kinds: all, Order: policytest.Submitted{}}, {Kinds: all[:1], Order: policytest.Submitted{}}},
		"lane of no order": {{Kinds: all}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was taken")
				}
			}()
			set := policytest.Base(policytest.Submitted{})
			set.Lanes = lanes
			sched.New(set)
		})
	}
}
