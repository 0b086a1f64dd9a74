package sched_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"heddle"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// byNumber serves applications by number, highest first.
type byNumber struct{ policytest.Submitted }

func (byNumber) App(_ policy.View, a *policy.App) policy.Key { return policy.Key{-int64(a.ID())} }

// turns lets one application have a master at a time, with the others in line behind it, and explains that.
type turns struct{}

func (turns) Open(_ policy.View, a *policy.App, _ heddle.Kind) policy.Verdict {
	if a.ID() > 0 {
		return policy.NoQueue(heddle.AppLimit)
	}
	return policy.Yes
}

func (turns) Limit(v policy.View, k *policy.Ask, why heddle.Why) (policy.Limit, bool) {
	return policy.Limit{
		What: "turns", Queue: heddle.NoQueue, Counted: true, MostN: 1, UsedN: 1, By: []string{why.String()},
		Place: int(k.App().ID()), Line: v.Alive() - 1,
		Holds: func(a *policy.App) (heddle.Resource, bool) { return heddle.Of(7, 0), a.ID() == 0 },
	}, true
}

// halfGiB limits maps to 512 MiB and explains that.
type halfGiB struct{ policy.Unshared }

func (halfGiB) Allow(_ policy.View, _ *policy.App, k heddle.Kind, _ heddle.Resource) policy.Verdict {
	if k == heddle.Map {
		return policy.No(heddle.ShareLimit)
	}
	return policy.Yes
}

func (halfGiB) Limit(policy.View, *policy.Ask, heddle.Why) (policy.Limit, bool) {
	return policy.Limit{What: "maps", Queue: heddle.NoQueue, Most: heddle.Of(1536, 9000), Used: heddle.Of(1024, 0)}, true
}

// odd refuses every second node.
type odd struct{}

func (odd) Judge(_ policy.View, _ *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	if n.ID()%2 == 1 {
		return policy.No(heddle.NodeCrowded)
	}
	return policy.Yes
}

// A refusal is told with the policy that gave it, by its name in the profile, its figures, and the application's place.
func TestExplainNames(t *testing.T) {
	set := policytest.Base(byNumber{})
	set.Gate[heddle.AM] = []policy.Gate{policy.AlwaysOpen{}, turns{}}
	set.Share = []policy.Share{policy.Unshared{}, halfGiB{}}
	set.Veto[heddle.Reduce] = []policy.Place{odd{}}
	set.Names.Order = []string{"backwards"}
	set.Names.Gate[heddle.AM] = []string{"open", "turns"}
	set.Names.Share = []string{"whole", "half"}
	set.Names.Veto[heddle.Reduce] = []string{"odd"}
	c := sched.New(set)
	for n := range 3 {
		c.Step(0, heddle.NodeUp{Node: heddle.NodeID(n), Total: heddle.Of(4096, 4000), Can: heddle.AllCaps})
	}
	for a := range 3 {
		c.Step(0, heddle.Submit{App: heddle.AppID(a), Queue: 1, Master: heddle.Of(1024, 1000)})
	}
	c.Step(0, heddle.Heartbeat{Node: 0})
	pending := func(app heddle.AppID, kind heddle.Kind) sched.PendingAsk {
		e, _ := c.Explain(app)
		for i := range e.Pending {
			if e.Pending[i].Kind == kind {
				return e.Pending[i]
			}
		}
		t.Fatalf("%d waits for no %v", app, kind)
		return sched.PendingAsk{}
	}

	p := pending(2, heddle.AM)
	want := sched.PendingAsk{
		Kind: heddle.AM, Count: 1, Size: heddle.Of(1024, 1000), Need: heddle.Of(1024, 1000), Why: heddle.AppLimit, Policy: "gate.am: turns",
		Limit: &policy.Limit{What: "turns", Queue: heddle.NoQueue, Counted: true, MostN: 1, UsedN: 1, By: []string{"app-limit"}, Place: 2, Line: 2},
		Place: 2, Of: 2, Order: "gate.am: turns", Holders: []sched.Holder{{App: 0, Used: heddle.Of(7, 0)}},
		Nodes: []sched.NodeGroup{{Why: heddle.Fine, Nodes: 3, Most: heddle.Of(4096, 4000)}},
	}
	if d := cmp.Diff(want, p, cmpopts.IgnoreFields(policy.Limit{}, "Holds")); d != "" {
		t.Errorf("behind a gate:\n%s", d)
	}
	if e, _ := c.Explain(2); e.History[heddle.AppLimit] == 0 || e.History[heddle.GateClosed] != 0 {
		t.Errorf("the gate's reason is not what was counted: %v", e.History)
	}

	for a := range 3 { // those behind the gate wait too, and their maps are not behind it
		c.Step(0, heddle.Ask{App: heddle.AppID(a), Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, 1, heddle.Of(1024, 1000))}})
	}
	p = pending(0, heddle.Map)
	if p.Why != heddle.ShareLimit || p.Policy != "share: half" || p.Order != "order: backwards" || p.Place != 3 || p.Of != 3 {
		t.Errorf("held to a share: %v by %q, %d of %d in %q", p.Why, p.Policy, p.Place, p.Of, p.Order)
	}
	if p.Have != heddle.Of(512, 9000) || p.Short != heddle.Of(512, 0) {
		t.Errorf("the limit leaves %v, and %v is short", p.Have, p.Short)
	}

	c.Step(0, heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(10, heddle.Reduce, 1, heddle.Of(1024, 1000))}})
	p = pending(0, heddle.Reduce)
	groups := []sched.NodeGroup{
		{Why: heddle.Fine, Nodes: 2, Most: heddle.Of(4096, 4000)},
		{Why: heddle.NodeCrowded, Policy: "place.reduce: odd", Nodes: 1, Most: heddle.Of(4096, 4000)},
	}
	if d := cmp.Diff(groups, p.Nodes); d != "" || p.Why != heddle.Fine || p.Policy != "" {
		t.Errorf("%v by %q:\n%s", p.Why, p.Policy, d)
	}
}

// The shortage reported is that of the node that lacks least, in the dimensions that count.
func TestExplainShort(t *testing.T) {
	for _, x := range []struct {
		name              string
		nodes             []heddle.Resource
		memoryOnly        bool
		need, have, short heddle.Resource
	}{
		{"memory on one, vcores on the other", []heddle.Resource{heddle.Of(8192, 1000), heddle.Of(3072, 8000)}, false, heddle.Of(4096, 4000), heddle.Of(3072, 8000), heddle.Of(1024, 0)},
		{"vcores alone", []heddle.Resource{heddle.Of(8192, 1000)}, false, heddle.Of(1024, 2000), heddle.Of(8192, 1000), heddle.Of(0, 1000)},
		{"vcores do not count", []heddle.Resource{heddle.Of(1024, 1000)}, true, heddle.Of(2048, 2000), heddle.Of(1024, 1000), heddle.Of(1024, 0)},
	} {
		t.Run(x.name, func(t *testing.T) {
			set := policytest.Base(policytest.Submitted{})
			set.MemoryOnly = x.memoryOnly
			c := sched.New(set)
			for n, total := range x.nodes {
				c.Step(0, heddle.NodeUp{Node: heddle.NodeID(n), Total: total, Can: heddle.AllCaps})
			}
			c.Step(0, heddle.Submit{App: 0, Queue: 1, Master: x.need})
			e, _ := c.Explain(0)
			if p := e.Pending[0]; p.Have != x.have || p.Short != x.short {
				t.Errorf("there is %v, short %v; want %v, short %v", p.Have, p.Short, x.have, x.short)
			}
		})
	}
}

// halved starts maps with half of what they ask for.
type halved struct{ policy.Whole }

func (halved) Trim(_ policy.View, k *policy.Ask, _ *policy.Node, _ heddle.Resource) heddle.Resource {
	return k.Size().Part(0.5)
}

func (halved) Floor(smallest heddle.Resource) heddle.Resource { return smallest.Part(0.5) }

// If containers start with less than was asked for, a node with room for that is not one with too little.
func TestExplainTrimmed(t *testing.T) {
	set := policytest.Base(policytest.Submitted{})
	set.Trim[heddle.Map] = halved{}
	c := sched.New(set)
	c.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(6144, 6000), Can: heddle.AllCaps})
	c.Step(0, heddle.NodeUp{Node: 1, Total: heddle.Of(3072, 6000), Can: heddle.AllCaps})
	c.Step(0, heddle.NodeUp{Node: 2, Total: heddle.Of(1024, 6000), Can: heddle.AllCaps})
	c.Step(0, heddle.Submit{App: 0, Queue: 1, Master: heddle.Of(3072, 1000)})
	c.Step(0, heddle.Heartbeat{Node: 0})
	c.Step(0, heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, 3, heddle.Of(4096, 1000))}})
	e, _ := c.Explain(0)
	p := e.Pending[0]
	groups := []sched.NodeGroup{
		{Why: heddle.Fine, Nodes: 2, Most: heddle.Of(3072, 6000)},
		{Why: heddle.NodeTooSmall, Nodes: 1, Most: heddle.Of(1024, 6000)},
	}
	if d := cmp.Diff(groups, p.Nodes); d != "" || !p.Short.IsZero() {
		t.Errorf("short of %v:\n%s", p.Short, d)
	}
	for n := range 2 {
		if out := c.Step(0, heddle.Heartbeat{Node: heddle.NodeID(n)}); len(out) != 1 {
			t.Errorf("node %d is given %v", n, out)
		}
	}
}
