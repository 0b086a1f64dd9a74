package sched_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/policies"
	"heddle/policies/capacity"
	"heddle/policies/fair"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// capacityConfig returns Hadoop's defaults over a small tree.
func capacityConfig(change func(*capacity.Config), queues ...capacity.QueueConfig) *capacity.Config {
	c := &capacity.Config{
		NodeLocalityDelay: 40, RackLocalityAdditional: -1, RackLocalityFullReset: true, ContinueLooking: true,
		MultipleAssignments: true, MaxAssignments: 100, MaxOffSwitch: 1, MaxApplications: 10000, GlobalQueueMaxApplication: -1,
		Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 8000),
	}
	c.Queues = append([]capacity.QueueConfig{{Path: "root", Parent: -1, Capacity: 1, MaxCapacity: 1}}, queues...)
	if change != nil {
		change(c)
	}
	return c
}

func leafQueue(path string, parent int, share float64) capacity.QueueConfig {
	return capacity.QueueConfig{
		Path: path, Parent: parent, Capacity: share, MaxCapacity: 1, MinimumUserLimit: 0.5, UserLimitFactor: 2,
		MaxAMShare: 0.5, MaxApplications: -1,
	}
}

func tree() []capacity.QueueConfig {
	a, b, x, y := leafQueue("root.a", 0, 0.5), leafQueue("root.p", 0, 0.5), leafQueue("root.p.x", 2, 0.7), leafQueue("root.p.y", 2, 0.3)
	a.MaxCapacity, y.MaxCapacity = 0.8, 0.5
	return []capacity.QueueConfig{a, b, x, y}
}

func fairConfig(change func(*fair.Config), queues ...fair.QueueConfig) *fair.Config {
	c := &fair.Config{
		UpdateInterval: 500 * heddle.Millisecond, DynamicMaxAssign: true, MaxAssign: -1, NodeThreshold: -1, RackThreshold: -1,
		NodeDelay: -1, RackDelay: -1, ReservableNodes: 0.3, ReservationThreshold: 2, Increment: heddle.Of(1024, 1000),
		Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 8000),
	}
	c.Queues = append([]fair.QueueConfig{{Path: "root", Parent: -1, Weight: 1, MaxAMShare: 0.5}}, queues...)
	if change != nil {
		change(c)
	}
	return c
}

func fairTree(p fair.Policy) []fair.QueueConfig {
	min := fair.Amount{Set: true, Fixed: heddle.Of(4096, 2000)}
	max := fair.Amount{Set: true, Fixed: heddle.Of(10240, 9000)}
	return []fair.QueueConfig{
		{Path: "root.a", Weight: 2, MaxAMShare: 0.5, Min: min, Policy: p},
		{Path: "root.b", Weight: 1, MaxAMShare: -1, Max: max, MaxApps: 2, Policy: p},
		{Path: "root.p", Weight: 1, Policy: p},
		{Path: "root.p.x", Parent: 3, Weight: 1, MaxAMShare: 0.5, Policy: p},
		{Path: "root.p.y", Parent: 3, Weight: 3, MaxAMShare: 0.5, Policy: fair.FIFO},
	}
}

// A scheduler is a profile with its queues.
type scheduler struct {
	name, profile, changes string
	bare                   bool // without a node agent
	capacity               *capacity.Config
	fair                   *fair.Config
}

func (s scheduler) set() policy.Set {
	p, err := policies.Parse(s.name, []byte("profile: "+s.profile+"\n"+s.changes))
	if err != nil {
		panic(err)
	}
	if s.bare {
		p, _ = p.WithoutAgent()
	}
	b, err := policies.Build(p, policies.Env{Capacity: s.capacity, Fair: s.fair, Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 8000), Users: []string{"ann", "bob"}, Seed: 3})
	if err != nil {
		panic(err)
	}
	return b.Set
}

// hasty is heddle with spans so short that random streams exceed them.
const hasty = `
lanes:
  - {kinds: [am, map, reduce, executor, other], order: {shortest: {patience: 3, gather: true}}}
share: [{dress: {cap: last, keep: jobs, delta_max: 0.1, patience: 3}}, capacity]
place:
  map: [coupling.peek, {uncrowded: {share: 0.1, patience: 3}}]
  reduce: [any, {uncrowded: {share: 0.1, busy: 0.9, patience: 3}}]
  executor: {ikayak.executor: {patience: 3}}
trim: {map: {ikayak.shrink: {sample: 2}}}
control: [{ikayak.suspend: {interval: 2, epsilon: 0, slack: 1}}, {mrorchestrator.regression: {lower_memory: needed, epoch: 2, profile: 1}}]
`

var schedulers = []scheduler{
	{name: "fifo", profile: "fifo"},
	{name: "spread", profile: "fifo", changes: "place: {am: spread, executor: spread, other: pack}"},
	{name: "lanes", profile: "fifo", changes: "lanes:\n  - {kinds: [am, map, executor, other], order: fifo}\n  - {kinds: [reduce], order: fifo, per_node: 2}\ngate: {reduce: slowstart}"},
	{name: "delay", profile: "fifo", changes: "place: {map: {delay: {node_wait: 2, rack_wait: 1}}, reduce: {delay: {node_wait: -1, rack_wait: -1, node_fraction: 0.5, rack_fraction: 0.7}}}"},
	{name: "capacity", profile: "capacity", capacity: capacityConfig(nil, tree()...)},
	{name: "capacity, memory only", profile: "capacity", capacity: capacityConfig(func(c *capacity.Config) {
		c.MemoryOnly, c.MaxOffSwitch, c.Queues[0].ByPriority, c.Queues[1].Fair = true, 3, true, true
	}, tree()...)},
	{name: "capacity, not looking", profile: "capacity", capacity: capacityConfig(func(c *capacity.Config) {
		c.ContinueLooking, c.RackLocalityAdditional = false, 2
	}, tree()...)},
	{name: "capacity, backfill", profile: "capacity", changes: "book: {backfill: {slack: 10}}", capacity: capacityConfig(nil, tree()...)},
	{name: "capacity with spread", profile: "capacity", changes: "place: {am: spread, executor: spread}", capacity: capacityConfig(nil, tree()...)},
	{name: "ikayak", profile: "ikayak", changes: "trim: {map: {ikayak.shrink: {sample: 2}}}\ncontrol: [{ikayak.suspend: {interval: 2, epsilon: 0, slack: 1}}]", capacity: capacityConfig(nil, tree()...)},
	{name: "YARN-client", profile: "yarn-client", capacity: capacityConfig(nil, tree()...)},
	{name: "heddle", profile: "heddle", capacity: capacityConfig(nil, tree()...)},
	{name: "heddle, hasty", profile: "heddle", changes: hasty, capacity: capacityConfig(nil, tree()...)},
	{name: "dress", profile: "dress", capacity: capacityConfig(nil, tree()...)},
	{name: "coupling", profile: "coupling"},
	{name: "mrorchestrator", profile: "mrorchestrator", changes: "control: [{mrorchestrator.regression: {epoch: 2, profile: 1}}]"},
	{name: "adaptcont", profile: "adaptcont", capacity: capacityConfig(nil, tree()...)},
	{name: "fair", profile: "fair", fair: fairConfig(nil, fairTree(fair.FairShare)...)},
	{name: "fair, drf", profile: "fair", fair: fairConfig(func(c *fair.Config) {
		c.AssignMultiple, c.NodeThreshold, c.RackThreshold, c.Queues[0].Policy = true, 0.5, 0.5, fair.DRF
	}, fairTree(fair.DRF)...)},
	{name: "fair, backfill", profile: "fair", changes: "book: {backfill: {slack: 10}}", fair: fairConfig(nil, fairTree(fair.FairShare)...)},
	{name: "fair with spread", profile: "fair", changes: "place: {executor: spread, other: pack}", fair: fairConfig(func(c *fair.Config) { c.SizeBasedWeight = true }, fairTree(fair.FairShare)...)},
}

func each(t *testing.T, f func(t *rapid.T, s scheduler)) {
	for _, s := range schedulers {
		t.Run(s.name, func(t *testing.T) { policytest.Streams(t, func(t *rapid.T) { f(t, s) }) })
	}
}

// Two cores that are fed the same events give the same answers, byte for byte; the books and the model hold throughout.
func TestTwins(t *testing.T) {
	each(t, func(t *rapid.T, s scheduler) { policytest.NewStream(t, 2, s.set).Run(policytest.Steps) })
}

// A core that does not get the heartbeats it does not want makes the same decisions as one that gets all of them.
func TestWantedHeartbeats(t *testing.T) {
	each(t, func(t *rapid.T, s scheduler) { policytest.Wanted(t, s.set) })
}

// A driver that, like the simulator, goes by Quiet, AnyNode, NextTick and the free room of nodes also gets the same
// schedule.
func TestSparedHeartbeats(t *testing.T) {
	each(t, func(t *rapid.T, s scheduler) {
		st := policytest.NewStream(t, 2, s.set)
		least := heddle.Of(1024, 1000)
		st.Beat = func(core int, c *sched.Core, id heddle.NodeID, now heddle.Time) bool {
			if core == 0 {
				return true
			}
			if tick, due := c.NextTick(); due && now >= tick {
				return true
			}
			n := c.View().Node(id)
			if c.Quiet() || n == nil || !n.Up() {
				return false
			}
			return c.AnyNode() || n.Booked() != nil || n.Lends() || c.View().Fits(least, n.Free())
		}
		st.Run(policytest.Steps)
	})
}

// Explaining does not change any decision.
func TestExplainChangesNothing(t *testing.T) {
	each(t, func(t *rapid.T, s scheduler) {
		st := policytest.NewStream(t, 2, s.set)
		st.Beat = func(core int, c *sched.Core, _ heddle.NodeID, _ heddle.Time) bool {
			if core == 1 {
				for id := range c.View().AppIDs() {
					c.Explain(heddle.AppID(id))
				}
			}
			return true
		}
		st.Run(60)
	})
}

// Offered nodes have no identity: relabelled nodes get relabelled decisions. If a policy names its node, or one of
// several reservations is given up, ties are broken by id.
func TestRelabelledNodes(t *testing.T) {
	for _, s := range []scheduler{schedulers[0], schedulers[2], schedulers[3]} {
		t.Run(s.name, func(t *testing.T) {
			policytest.Streams(t, func(t *rapid.T) {
				st := policytest.NewStream(t, 2, s.set)
				st.Beats = true // nodes offered without reporting are listed by id
				to := rapid.Permutation([]heddle.NodeID{0, 1, 2, 3, 4, 5}).Draw(t, "labels")
				from := make([]heddle.NodeID, len(to))
				for i, n := range to {
					from[n] = heddle.NodeID(i)
				}
				st.Node = func(core int, n heddle.NodeID) heddle.NodeID {
					if core == 0 || int(n) >= len(to) {
						return n
					}
					return to[n]
				}
				st.Back = func(core int, n heddle.NodeID) heddle.NodeID {
					if core == 0 {
						return n
					}
					return from[n]
				}
				st.Run(policytest.Steps)
			})
		})
	}
}

// Once nothing more happens, no ask is left that a free node could hold and that every limit allows.
func TestWorkConservation(t *testing.T) {
	one := leafQueue("root.default", 0, 1)
	one.MaxAMShare, one.UserLimitFactor, one.MinimumUserLimit = 1, -1, 1
	for _, s := range []scheduler{
		schedulers[0], schedulers[1], schedulers[3],
		{name: "capacity, one queue", profile: "capacity", capacity: capacityConfig(nil, one)},
	} {
		t.Run(s.name, func(t *testing.T) {
			policytest.Streams(t, func(t *rapid.T) {
				st := policytest.NewStream(t, 1, s.set)
				st.Steady, st.Users = true, 1
				st.Run(policytest.Steps)
				for range 60 {
					st.Wait(heddle.Second)
					st.BeatAll()
				}
				st.Step(heddle.Wake{}) // makes the core look at asks that name their nodes
				if left := idle(st.Core(0), s.capacity != nil); left != "" {
					t.Fatal(left)
				}
			})
		})
	}
}

// Stock NodeManagers can carry out what remains of a profile without a node agent.
func TestWithoutAgent(t *testing.T) {
	all := slices.Clone(schedulers)
	for _, name := range policies.Names() {
		if !slices.ContainsFunc(all, func(s scheduler) bool { return s.profile == name }) {
			all = append(all, scheduler{name: name, profile: name, capacity: capacityConfig(nil, tree()...), fair: fairConfig(nil, fairTree(fair.DRF)...)})
		}
	}
	for _, s := range all {
		s.bare = true
		t.Run(s.name, func(t *testing.T) {
			policytest.Streams(t, func(t *rapid.T) {
				st := policytest.NewStream(t, 1, s.set)
				st.Stock = true
				st.Run(policytest.Steps)
			})
		})
	}
}

// idle describes an application whose first ask could be served now; its later asks may wait. With headOfLine, as in
// Hadoop's leaf queues, an application whose first ask does not fit the queue holds up the others.
func idle(c *sched.Core, headOfLine bool) (left string) {
	v := c.View()
	open := v.Total().Minus(v.Root().Used()).Minus(v.Root().Booked())
	for id := range v.AppIDs() {
		a := v.App(heddle.AppID(id))
		if a == nil {
			continue
		}
		k := first(a)
		if k != nil && !v.Fits(k.Size(), open) && headOfLine {
			return ""
		}
		if k == nil || k.Bookings() > 0 || !v.Fits(k.Size(), open) || headOfLine && k.Kind() == heddle.AM {
			continue // masters have a separate limit
		}
		for i := range v.NodeIDs() {
			n := v.Node(heddle.NodeID(i))
			if n != nil && n.Up() && n.Booked() == nil && v.Fits(k.Size(), n.Room(a)) {
				left = fmt.Sprintf("application %d waits for %d of %v and node %d has %v free: %+v", id, k.Count(), k.Size(), i, n.Free(), explained(c, a.ID()))
			}
		}
	}
	return left
}

func first(a *policy.App) *policy.Ask {
	for _, k := range a.Asks() {
		if k.Count() > 0 {
			return k
		}
	}
	return nil
}

func explained(c *sched.Core, id heddle.AppID) sched.Explanation {
	e, _ := c.Explain(id)
	return e
}
