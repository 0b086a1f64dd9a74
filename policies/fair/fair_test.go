package fair_test

import (
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/policies/fair"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

func config() fair.Config {
	c := fair.Config{
		UpdateInterval: 500 * heddle.Millisecond, MaxAssign: -1, NodeThreshold: -1, RackThreshold: -1, NodeDelay: -1, RackDelay: -1,
		ReservableNodes: 0.3, ReservationThreshold: 2, Increment: heddle.Of(1024, 1000), Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 8000),
	}
	c.Queues = []fair.QueueConfig{
		{Path: "root", Parent: -1, Weight: 1, MaxAMShare: 0.5},
		{Path: "root.a", Weight: 2, MaxAMShare: -1},
		{Path: "root.b", Weight: 1, MaxAMShare: 0.5, MaxApps: 3},
	}
	return c
}

func put(s *fair.Scheduler) policy.Set {
	set := policytest.Base(s)
	set.Share, set.Book = []policy.Share{s}, s
	set.Gate[heddle.AM] = []policy.Gate{s}
	set.Queues = []heddle.QueueID{heddle.NoQueue, 0, 0}
	set.Beat, set.Maximum = s.Config().Beat(), s.Config().Maximum
	return set
}

func maker(change func(*fair.Config)) policy.Maker[*fair.Scheduler] {
	return func(a policy.Args) (*fair.Scheduler, error) {
		if err := a.Decode(&struct{}{}); err != nil {
			return nil, err
		}
		c := config()
		if change != nil {
			change(&c)
		}
		return fair.New(c, []string{"ann", "bob"})
	}
}

func TestSuite(t *testing.T) { policytest.Run(t, maker(nil), "", put) }

func TestSuiteWithShares(t *testing.T) {
	policytest.Run(t, maker(func(c *fair.Config) {
		c.AssignMultiple, c.DynamicMaxAssign, c.SizeBasedWeight = true, true, true
		c.Queues[0].Policy, c.Queues[1].Policy, c.Queues[2].Policy = fair.DRF, fair.DRF, fair.FIFO
		c.Queues[1].Max = fair.Amount{Set: true, Fraction: [heddle.NumDims]float64{0.8, 0.7}}
		c.Queues[1].Min = fair.Amount{Set: true, Fixed: heddle.Of(4096, 4000)}
		c.UserMaxApps, c.UserMaxAppsDefault = map[string]int{"bob": 2}, 4
	}), "", put)
}

func TestTreesThatAreNone(t *testing.T) {
	for name, change := range map[string]func(*fair.Config){
		"no queues":     func(c *fair.Config) { c.Queues = nil },
		"no root":       func(c *fair.Config) { c.Queues = c.Queues[1:] },
		"parent behind": func(c *fair.Config) { c.Queues[1].Parent = 2 },
		"no interval":   func(c *fair.Config) { c.UpdateInterval = 0 },
	} {
		if _, err := maker(change)(policytest.Args("")); err == nil || !strings.HasPrefix(err.Error(), "fair: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestQueuesAreSortedByPath(t *testing.T) {
	c := fair.Config{Queues: []fair.QueueConfig{{Path: "root", Parent: -1}, {Path: "root.z"}, {Path: "root.a"}, {Path: "root.z.y", Parent: 1}, {Path: "root.a.x", Parent: 2}}}
	c.SortQueues()
	for i, want := range []struct {
		path   string
		parent int
	}{{"root", -1}, {"root.a", 0}, {"root.a.x", 1}, {"root.z", 0}, {"root.z.y", 3}} {
		if q := c.Queues[i]; q.Path != want.path || q.Parent != want.parent {
			t.Errorf("queue %d is %s under %d, want %s under %d", i, q.Path, q.Parent, want.path, want.parent)
		}
	}
}

// crowded returns a core with a node of 16 GiB and a changed configuration, in whose queue 2 so many masters of 6 GiB wait,
// and a small one behind them.
func crowded(t *testing.T, large heddle.AppID, change func(*fair.Config)) *sched.Core {
	t.Helper()
	s, err := maker(change)(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	core := sched.New(put(s))
	core.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(16384, 16000), Can: heddle.AllCaps})
	for id := range large + 1 {
		size := heddle.Of(6144, 1000)
		if id == large {
			size = heddle.Of(1024, 1000)
		}
		core.Step(0, heddle.Submit{App: id, Queue: 2, Master: size})
	}
	return core
}

// launched returns whose masters begin while the node reports once a second.
func launched(core *sched.Core, from, to heddle.Time) (began []heddle.AppID) {
	for at := from; at < to; at = at.Plus(heddle.Second) {
		for _, d := range core.Step(at, heddle.Heartbeat{Node: 0}) {
			if l, ok := d.(*heddle.Launch); ok {
				began = append(began, l.App)
			}
		}
	}
	return began
}

// A limit of created queues does not hold for one of the configuration.
func TestLimitOfCreatedQueues(t *testing.T) {
	core := crowded(t, 1, func(c *fair.Config) {
		c.Queues[0].MaxChild, c.Queues[2].MaxAMShare = fair.Amount{Set: true, Fixed: heddle.Of(2048, 2000)}, -1
	})
	if began := launched(core, 0, heddle.Time(3*heddle.Second)); !slices.Equal(began, []heddle.AppID{0, 1}) {
		t.Errorf("masters of %v begin, want both", began)
	}
}

// Masters that are larger than the queue's share for masters wait, however many they are. A smaller one behind them
// goes on.
func TestLargeMastersLetSmallOnesPass(t *testing.T) {
	const large = 40
	core := crowded(t, large, func(c *fair.Config) { c.Queues[2].MaxAMShare, c.Queues[2].MaxApps = 0.25, 0 })
	if began := launched(core, 0, heddle.Time(5*heddle.Second)); !slices.Equal(began, []heddle.AppID{large}) {
		t.Errorf("masters of %v begin, want that of %d alone", began, large)
	}
}

// Sixteen masters that fitted when they were asked for, but no longer do because the queue's fair share has become
// smaller, keep no smaller one behind them waiting.
func TestMastersThatNoLongerFitLetSmallOnesPass(t *testing.T) {
	const large = 16
	core := crowded(t, large, func(c *fair.Config) { c.Queues[1].Weight, c.Queues[2].MaxApps = 1, 0 })            // 8 of 16 GiB are for masters
	core.Step(heddle.Time(heddle.Second), heddle.Submit{App: large + 1, Queue: 1, Master: heddle.Of(1024, 1000)}) // now 4 of 8
	began := launched(core, heddle.Time(2*heddle.Second), heddle.Time(6*heddle.Second))
	slices.Sort(began)
	if !slices.Equal(began, []heddle.AppID{large, large + 1}) {
		t.Errorf("masters of %v begin, want those of %d and %d", began, large, large+1)
	}
}

// As in Hadoop, a running application is not moved to a queue in which it could not run because the queue has as many
// as it may, or would exceed its maximum. Queues above both do not count, and an application that waits to run may
// always move.
func TestMovesWithinLimits(t *testing.T) {
	s, err := maker(func(c *fair.Config) {
		c.Queues[0].MaxApps = 3
		c.Queues[2].MaxApps, c.Queues[2].Max = 1, fair.Amount{Set: true, Fixed: heddle.Of(4096, 4000)}
	})(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	core := sched.New(put(s))
	now := heddle.Time(0)
	step := func(ev heddle.Event) (why heddle.Why) {
		t.Helper()
		now = now.Plus(heddle.Second)
		for _, d := range core.Step(now, ev) {
			if r, ok := d.(*heddle.Reject); ok {
				why = r.Why
			}
		}
		if broken := core.Check(); len(broken) > 0 {
			t.Fatalf("after %T%+v: %v", ev, ev, broken)
		}
		return why
	}
	beat := func() {
		for range 8 {
			step(heddle.Heartbeat{Node: 0})
		}
	}
	step(heddle.NodeUp{Node: 0, Total: heddle.Of(16384, 16000), Can: heddle.AllCaps})
	for id, q := range []heddle.QueueID{1, 1, 2, 1} { // the last one waits: root may have three
		step(heddle.Submit{App: heddle.AppID(id), Queue: q, Master: heddle.Of(1024, 1000)})
	}
	step(heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(1, heddle.Other, 4, heddle.Of(1024, 1000))}})
	beat()
	move := func(app heddle.AppID, to heddle.QueueID, want heddle.Why) {
		t.Helper()
		if why := step(heddle.Move{App: app, Queue: to}); why != want || (core.View().App(app).Queue().ID() == to) != (want == heddle.Fine) {
			t.Errorf("application %d to queue %d: %v, want %v; it is in %d", app, to, why, want, core.View().App(app).Queue().ID())
		}
	}
	move(1, 2, heddle.AppLimit)
	move(3, 2, heddle.Fine)
	step(heddle.AppDone{App: 3})
	step(heddle.AppDone{App: 2})
	move(0, 2, heddle.QueueLimit)
	move(1, 2, heddle.Fine)
}

// A limit below 0 lets nothing run, in a queue or of a user. 0 is no limit.
func TestNoneMayRun(t *testing.T) {
	for name, change := range map[string]func(*fair.Config){
		"a queue": func(c *fair.Config) { c.Queues[2].MaxApps = -1 },
		"a user":  func(c *fair.Config) { c.UserMaxApps, c.UserMaxAppsDefault = map[string]int{"ann": 0, "bob": -1}, -1 },
	} {
		s, err := maker(change)(policytest.Args(""))
		if err != nil {
			t.Fatal(err)
		}
		core := sched.New(put(s))
		core.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(16384, 16000), Can: heddle.AllCaps})
		core.Step(0, heddle.Submit{App: 0, Queue: 1, User: 0, Master: heddle.Of(1024, 1000)})
		core.Step(0, heddle.Submit{App: 1, Queue: 2, User: 1, Master: heddle.Of(1024, 1000)})
		var began []heddle.AppID
		for i := range 8 {
			for _, d := range core.Step(heddle.Time(i)*heddle.Time(heddle.Second), heddle.Heartbeat{Node: 0}) {
				if l, ok := d.(*heddle.Launch); ok {
					began = append(began, l.App)
				}
			}
		}
		if !slices.Equal(began, []heddle.AppID{0}) {
			t.Errorf("%s: masters of %v begin, want that of 0 alone", name, began)
		}
		l, ok := s.Limit(core.View(), core.View().App(1).Asks()[0], heddle.AppLimit)
		if !ok || l.MostN != 0 || !strings.HasSuffix(l.By[0], " = 0") {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// The smallest container may be nothing: requests are rounded up to the increment.
func TestSmallestIsNothing(t *testing.T) {
	s, err := maker(func(c *fair.Config) { c.Minimum = heddle.Resource{} })(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	set := put(s)
	set.Minimum, set.Step = heddle.Resource{}, s.Config().Increment
	core := sched.New(set)
	core.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(4096, 4000), Can: heddle.AllCaps})
	core.Step(0, heddle.Submit{App: 0, Queue: 1, Master: heddle.Of(100, 1000)})
	core.Step(0, heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(1, heddle.Other, 9, heddle.Of(100, 0))}})
	for i := range 20 {
		core.Step(heddle.Time(i)*heddle.Time(heddle.Second), heddle.Heartbeat{Node: 0})
		if broken := core.Check(); len(broken) > 0 {
			t.Fatal(broken)
		}
	}
	if used := core.View().App(0).Used(); used != heddle.Of(4096, 1000) {
		t.Errorf("%v is used", used)
	}
}
