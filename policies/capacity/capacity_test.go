package capacity_test

import (
	"strings"
	"testing"

	"heddle"
	"heddle/policies/capacity"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

func config() capacity.Config {
	c := capacity.Config{
		NodeLocalityDelay: 40, RackLocalityAdditional: -1, RackLocalityFullReset: true, ContinueLooking: true,
		MultipleAssignments: true, MaxAssignments: 100, MaxOffSwitch: 1, MaxApplications: 10000, GlobalQueueMaxApplication: -1,
		Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 8000),
	}
	c.Queues = []capacity.QueueConfig{{Path: "root", Parent: -1, Capacity: 1, MaxCapacity: 1}}
	for _, path := range []string{"root.a", "root.b"} {
		c.Queues = append(c.Queues, capacity.QueueConfig{
			Path: path, Capacity: 0.5, MaxCapacity: 1, MinimumUserLimit: 0.5,
			UserLimitFactor: 3, MaxAMShare: 1, MaxApplications: -1,
		})
	}
	return c
}

func put(s *capacity.Scheduler) policy.Set {
	set := policytest.Base(s)
	set.Share, set.Book = []policy.Share{s}, s
	set.Gate[heddle.AM] = []policy.Gate{s}
	d := capacity.NewDelay(s.Config())
	for k := range set.Place {
		set.Place[k] = d
	}
	set.Queues = []heddle.QueueID{heddle.NoQueue, 0, 0}
	set.Beat, set.Maximum = s.Config().Beat(), s.Config().Maximum
	return set
}

func maker(change func(*capacity.Config)) policy.Maker[*capacity.Scheduler] {
	return func(a policy.Args) (*capacity.Scheduler, error) {
		if err := a.Decode(&struct{}{}); err != nil {
			return nil, err
		}
		c := config()
		if change != nil {
			change(&c)
		}
		return capacity.New(c, []string{"ann", "bob"})
	}
}

func TestSuite(t *testing.T) { policytest.Run(t, maker(nil), "", put) }

func TestSuiteWithWeights(t *testing.T) {
	policytest.Run(t, maker(func(c *capacity.Config) {
		c.MemoryOnly, c.Queues[1].Fair, c.Queues[1].SizeBasedWeight = true, true, true
		c.Queues[1].UserWeights = map[string]float64{"bob": 2}
		c.Queues[1].Weight, c.Queues[2].Weight = 3, 1
		c.Queues[2].MaxParallelApps = 2
	}), "", put)
}

func TestSuiteWithAbsoluteQueues(t *testing.T) {
	policytest.Run(t, maker(func(c *capacity.Config) {
		c.Queues[1].Absolute, c.Queues[1].MaxAbsolute = heddle.Of(8192, 8000), heddle.Of(16384, 16000)
		c.Queues[2].Absolute, c.RackLocalityAdditional = heddle.Of(4096, 2000), 1
		c.Queues[1].MaxApplications = 1000 // otherwise none are admitted in a cluster so much larger
	}), "", put)
}

func TestTreesThatAreNone(t *testing.T) {
	for name, change := range map[string]func(*capacity.Config){
		"no queues":     func(c *capacity.Config) { c.Queues = nil },
		"no root":       func(c *capacity.Config) { c.Queues = c.Queues[1:] },
		"parent behind": func(c *capacity.Config) { c.Queues[1].Parent = 2 },
	} {
		if _, err := maker(change)(policytest.Args("")); err == nil || !strings.HasPrefix(err.Error(), "capacity: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A container that its queue has no room for until masters end does not block applications that these masters may be
// waiting for. A container that waits for tasks does block those behind it.
func TestMastersThatWaitKeepNobodyWaiting(t *testing.T) {
	s, err := maker(nil)(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	core := sched.New(put(s))
	now := heddle.Time(0)
	launched := map[heddle.AppID]heddle.ContainerID{}
	step := func(ev heddle.Event) {
		t.Helper()
		now = now.Plus(heddle.Second)
		for _, d := range core.Step(now, ev) {
			if l, ok := d.(*heddle.Launch); ok {
				launched[l.App] = l.Container
			}
		}
		if broken := core.Check(); len(broken) > 0 {
			t.Fatalf("after %T%+v: %v", ev, ev, broken)
		}
	}
	ask := func(app heddle.AppID, mem int64, n int32) {
		step(heddle.Ask{App: app, Rows: []heddle.Row{heddle.Anywhere(1, heddle.Other, n, heddle.Of(mem, 1000))}})
		for range 5 {
			step(heddle.Heartbeat{Node: 0})
		}
		step(heddle.Acquire{App: app})
	}
	runs := func(app heddle.AppID) int { return core.View().App(app).Running(heddle.Other) }
	step(heddle.NodeUp{Node: 0, Total: heddle.Of(8192, 8000), Can: heddle.AllCaps})
	for app := range heddle.AppID(3) {
		step(heddle.Submit{App: app, Queue: heddle.QueueID(1 + app%2), Master: heddle.Of(1024, 1000)})
		step(heddle.Heartbeat{Node: 0})
	}
	ask(0, 7168, 1) // everything that is left beside its master
	ask(1, 4096, 1)
	ask(2, 1024, 1)
	if runs(0) != 0 || runs(1) != 1 || runs(2) != 1 {
		t.Fatalf("%d of the first, %d of the second and %d of the third run; their masters hold what the first lacks", runs(0), runs(1), runs(2))
	}
	step(heddle.Submit{App: 3, Queue: 1, Master: heddle.Of(1024, 1000)})
	step(heddle.Exit{Container: launched[1], Status: heddle.Success})
	ask(0, 7168, 1)
	if core.View().App(3).Master() != nil {
		t.Error("one that comes is let in before the first, though the others wait for nothing and will end")
	}
	step(heddle.AppDone{App: 1})
	step(heddle.AppDone{App: 2})
	ask(0, 7168, 1)
	if runs(0) != 1 {
		t.Error("the first does not run where nobody else does")
	}
}

// As in Hadoop, a user's weight scales how much the user's masters may hold, up to what one who is alone may have.
func TestWeightOfUsersMasters(t *testing.T) {
	for _, tc := range []struct {
		ann, bob         float64
		wantAnn, wantBob int
	}{
		{1, 1, 2, 2}, // the queue is guaranteed 4 GiB; each of two users may have half
		{0.5, 1, 1, 2},
		{0.5, 1.5, 1, 3},
		{0.5, 9, 1, 4},
	} {
		s, err := maker(func(c *capacity.Config) {
			c.Queues[1].UserLimitFactor, c.Queues[1].UserWeights = 1, map[string]float64{"ann": tc.ann, "bob": tc.bob}
		})(policytest.Args(""))
		if err != nil {
			t.Fatal(err)
		}
		core := sched.New(put(s))
		core.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(8192, 8000), Can: heddle.AllCaps})
		for app := range heddle.AppID(10) {
			core.Step(0, heddle.Submit{App: app, Queue: 1, User: heddle.UserID(app % 2), Master: heddle.Of(1024, 1000)})
		}
		for range 10 {
			core.Step(0, heddle.Heartbeat{Node: 0})
		}
		var runs [2]int
		for app := range heddle.AppID(10) {
			if core.View().App(app).Master() != nil {
				runs[app%2]++
			}
		}
		if runs != [2]int{tc.wantAnn, tc.wantBob} {
			t.Errorf("weights %v and %v: %v masters run, want %d and %d", tc.ann, tc.bob, runs, tc.wantAnn, tc.wantBob)
		}
		e, _ := core.Explain(8)
		if l := e.Pending[0].Limit; e.Pending[0].Why != heddle.UserAMLimit || l.Most != heddle.Of(int64(tc.wantAnn)<<10, int64(tc.wantAnn)*1000) {
			t.Errorf("weight %v: %v, limit %+v", tc.ann, e.Pending[0].Why, l)
		}
	}
}

// A growth is a size policy that gives all masters another size as soon as there is a node.
type growth struct {
	to   heddle.Resource
	done bool
}

func (g *growth) Size(v policy.View, _ *policy.App, _ heddle.Kind, asked heddle.Resource) heddle.Resource {
	if v.Live() == 0 {
		return asked
	}
	return g.to
}

func (g *growth) Woken(v policy.View, ids []heddle.AppID) []heddle.AppID {
	if g.done || v.Live() == 0 {
		return ids
	}
	g.done = true
	for _, a := range v.Queue(1).Apps() {
		ids = append(ids, a.ID())
	}
	return ids
}

// A holder holds all applications, and counts how often it is asked.
type holder struct{ asked int }

func (h *holder) Holds(*policy.App) bool { h.asked++; return true }

// However many waiting masters get another size at once, the applications of their queue are considered only once more.
// Those for which there is room then are let in in the same step.
func TestAllMastersAreSizedAgain(t *testing.T) {
	const waiting = 1000
	for name, hold := range map[string]*holder{"held": {}, "free": nil} {
		s, err := maker(nil)(policytest.Args(""))
		if err != nil {
			t.Fatal(err)
		}
		if hold != nil {
			s.Hold(hold)
		}
		set := put(s)
		set.Size[heddle.AM] = &growth{to: heddle.Of(1024, 1000)}
		core := sched.New(set)
		for app := range heddle.AppID(waiting) {
			core.Step(0, heddle.Submit{App: app, Queue: 1, Master: heddle.Of(2048, 1000)})
		}
		core.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(8192, 8000), Can: heddle.AllCaps})
		if n := len(core.MastersResized()); n != waiting {
			t.Errorf("%s: %d masters were sized again, want all %d", name, n, waiting)
		}
		if broken := core.Check(); len(broken) > 0 {
			t.Errorf("%s: %v", name, broken)
		}
		if hold != nil {
			if hold.asked > 10*waiting {
				t.Errorf("%s: %d applications were considered %d times", name, waiting, hold.asked)
			}
			continue
		}
		in := 0
		for app := range heddle.AppID(waiting) {
			if e, _ := core.Explain(app); len(e.Pending) > 0 && e.Pending[0].Why != heddle.AMLimit {
				in++
			}
		}
		if in != 8 {
			t.Errorf("%s: %d masters of 1 GiB are let in, want as many as fit the node, 8", name, in)
		}
	}
}
