package sim

import (
	"math"
	"testing"

	"heddle"
	"heddle/policies/fifo"
	"heddle/policy"
)

// control is a small policy that does one thing to running containers: it emits Suspend, Resume, Resize and Kill at
// fixed times.
type control struct {
	deeds []deed
}

type deed struct {
	at float64
	do func(v policy.View, p *policy.Plan)
}

func (*control) Every() heddle.Span { return second }

func (c *control) Run(v policy.View, p *policy.Plan) {
	for len(c.deeds) > 0 && v.Now() >= at(c.deeds[0].at) {
		c.deeds[0].do(v, p)
		c.deeds = c.deeds[1:]
	}
}

// oldestMap returns the running map with the lowest id.
func oldestMap(v policy.View) (id heddle.ContainerID) {
	v.App(0).Each(func(x *policy.Container) bool {
		if x.Kind() == heddle.Map {
			id = x.ID()
		}
		return true
	})
	return id
}

// trim enforces the given percentage of what is asked for: Limit < Told.
type trim struct{ percent int64 }

func (p trim) Trim(_ policy.View, k *policy.Ask, _ *policy.Node, _ heddle.Resource) heddle.Resource {
	return p.Floor(k.Size())
}

func (p trim) Floor(r heddle.Resource) heddle.Resource {
	for d := range r {
		r[d] = r[d] * p.percent / 100
	}
	return r
}

// on places containers only on nodes from lo to hi, and none on bad once it is set.
type on struct {
	lo, hi heddle.NodeID
	bad    *heddle.NodeID
}

func (p on) Judge(_ policy.View, _ *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	if n.ID() < p.lo || n.ID() > p.hi || p.bad != nil && n.ID() == *p.bad {
		return policy.No(heddle.NotPicked)
	}
	return policy.Yes
}

// bare returns a set with first come, first served and nothing else, to which tests add their own policies.
func bare() policy.Set {
	return policy.Set{
		Name:   "test",
		Lanes:  []policy.Lane{{Kinds: []heddle.Kind{heddle.AM, heddle.Map, heddle.Reduce, heddle.Executor, heddle.Other}, Order: fifo.Order{}}},
		Queues: []heddle.QueueID{heddle.NoQueue, 0},
		Feeds:  policy.Feeds{Starts: true},
	}
}

// under runs options under a set built by hand, with nodes that call often so that ends are known soon.
func under(t testing.TB, set policy.Set, o Options) *Result {
	t.Helper()
	o.Set, o.Check, o.KeepTasks, o.NodeBeat = set, true, true, 10*heddle.Millisecond
	o.Queues, o.Users = make([]heddle.QueueID, len(o.Workload.Jobs)), make([]heddle.UserID, len(o.Workload.Jobs))
	for i := range o.Queues {
		o.Queues[i] = 1
	}
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// near compares times in seconds; nodes report within a hundredth of one.
func near(t *testing.T, what string, got, want, off float64) {
	t.Helper()
	if !(math.Abs(got-want) <= off) {
		t.Errorf("%s: %.3f, want %.3f", what, got, want)
	}
}

// thirty returns a job whose maps compute for thirty seconds, on a node with room for its master and the given number
// of maps at a time.
func thirty(maps, slots int) Options {
	return fullWorld(nodes(1, 1, heddle.Of(16384, int64(1000*(slots+1)))), mapReduce("j", 0, lasting(maps, 30), nil))
}

func with(deeds ...deed) policy.Set {
	s := bare()
	s.Control = []policy.Control{&control{deeds}}
	return s
}

func suspend(v policy.View, p *policy.Plan) { p.Suspend(oldestMap(v)) }
func resume(v policy.View, p *policy.Plan)  { p.Resume(oldestMap(v)) }
func kill(v policy.View, p *policy.Plan)    { p.Kill(oldestMap(v)) }

func TestUndisturbed(t *testing.T) {
	r := under(t, bare(), thirty(1, 1))
	states(t, r, Succeeded)
	near(t, "a map left alone", longs(kept(r, 0, heddle.Map))[0], 30, 0.02)
}

// A master that is killed takes its process with it, even one that its node took on when the run began.
func TestKilledMastersEnd(t *testing.T) {
	o := thirty(1, 1)
	o.Queues, o.Users, o.Stock = []heddle.QueueID{1}, []heddle.UserID{0}, false
	o.Set = with(deed{15, func(v policy.View, p *policy.Plan) { p.Kill(v.App(0).Master().ID()) }})
	s, err := newSim(o)
	if err != nil {
		t.Fatal(err)
	}
	s.loop()
	states(t, s.finish(), Succeeded)
	if _, memory := s.phys.consumed(s.now, &container{id: 1}); memory > 0 {
		t.Errorf("the first of two masters, which was killed, holds %d MiB at the end", memory)
	}
}

// A suspended task takes longer by the time it is suspended and the 2.7 s it costs to resume.
func TestSuspendResume(t *testing.T) {
	r := under(t, with(deed{15, suspend}, deed{23, resume}), thirty(1, 1))
	states(t, r, Succeeded)
	near(t, "suspended for 8 s", longs(kept(r, 0, heddle.Map))[0], 30+8+2.7, 0.02)

	free := thirty(1, 1)
	free.Effects.LaunchDelay = false
	r = under(t, with(deed{15, suspend}, deed{23, resume}), free)
	near(t, "suspended for 8 s at no cost", longs(kept(r, 0, heddle.Map))[0], 30+8, 0.02)

	g := thirty(1, 1)
	g.Given = true
	r = under(t, with(deed{15, suspend}, deed{23, resume}), g)
	near(t, "suspended for 8 s in the given world", longs(kept(r, 0, heddle.Map))[0], 30+8, 0.02)
}

// Another map of the job runs on what a suspended task does not use; the suspended task keeps its memory.
func TestSuspensionLendsProcessors(t *testing.T) {
	third := func(set policy.Set, memory int64) (granted, firstEnd float64) {
		o := thirty(3, 2)
		o.Nodes[0].Total[heddle.Memory] = memory
		r := under(t, set, o)
		states(t, r, Succeeded)
		maps := kept(r, 0, heddle.Map)
		return maps[2].Granted.Seconds(), min(maps[0].Ended, maps[1].Ended).Seconds()
	}
	lend := func() policy.Set { return with(deed{12, suspend}, deed{60, resume}) }
	if granted, end := third(bare(), 16384); granted < end {
		t.Errorf("the third map was granted at %.2f s, before the first ended at %.2f s, on two processors", granted, end)
	}
	granted, end := third(lend(), 16384)
	near(t, "the third map is granted at the suspension", granted, 12, 0.02)
	if end < 30 {
		t.Errorf("a map ended at %.2f s already", end)
	}
	// Without memory for a third map, the processors alone are of no use.
	if granted, end := third(lend(), 1536+2*1024); granted < end {
		t.Errorf("the third map was granted at %.2f s, before the first ended at %.2f s, without memory", granted, end)
	}
}

// A smaller limit caps the processor time from 50 ms later on; a larger one releases it again.
func TestResize(t *testing.T) {
	to := func(percent int64) func(policy.View, *policy.Plan) {
		return func(v policy.View, p *policy.Plan) {
			p.Resize(oldestMap(v), heddle.Of(1024, 10*percent))
		}
	}
	r := under(t, with(deed{15, to(50)}), thirty(1, 1))
	x := kept(r, 0, heddle.Map)[0]
	before := 15.05 - x.Started.Seconds()
	near(t, "halved at 15 s", longs([]TaskResult{x})[0], before+2*(30-before), 0.02)
	if x.Limit != heddle.Of(1024, 500) || x.Size != heddle.Of(1024, 1000) {
		t.Errorf("told %v, limit %v", x.Size, x.Limit)
	}
	r = under(t, with(deed{15, to(50)}, deed{25, to(100)}), thirty(1, 1))
	near(t, "halved for ten seconds", longs(kept(r, 0, heddle.Map))[0], 30+5, 0.02)
}

// A killed map is run again, here on another node. What it had done is lost, and it does not count as a failure.
func TestKill(t *testing.T) {
	bad := heddle.NoNode
	s := with(deed{15, func(v policy.View, p *policy.Plan) {
		bad = v.Container(oldestMap(v)).Node().ID()
		kill(v, p)
	}})
	s.Place[heddle.Map] = on{0, 1, &bad}
	o := thirty(1, 1)
	o.Nodes = nodes(2, 1, heddle.Of(16384, 4000))
	r := under(t, s, o)
	states(t, r, Succeeded)
	maps := kept(r, 0, heddle.Map)
	if len(maps) != 2 {
		t.Fatalf("%d containers for one map, want 2", len(maps))
	}
	first, again := maps[0], maps[1]
	if first.Status != heddle.Preempted || again.Status != heddle.Success || first.Node == again.Node || again.Granted < first.Ended {
		t.Errorf("first %+v, then %+v", first, again)
	}
	near(t, "killed at", first.Ended.Seconds(), 15, 0.001)
	near(t, "all of it again", longs(maps)[1], 30, 0.02)
}

// A node that enforces less than the master was told slows the map by the cap and nothing else; the master assumes that
// the container has what it asked for.
func TestLimitBelowTold(t *testing.T) {
	s := bare()
	s.Trim[heddle.Map] = trim{80}
	r := under(t, s, thirty(2, 2))
	states(t, r, Succeeded)
	for _, x := range kept(r, 0, heddle.Map) {
		near(t, "at four fifths of a processor", longs([]TaskResult{x})[0], 30/0.8, 0.02)
		if x.Size != heddle.Of(1024, 1000) || x.Limit != heddle.Of(819, 800) || x.Status != heddle.Success {
			t.Errorf("told %v, limit %v, ended %v", x.Size, x.Limit, x.Status)
		}
	}
	// The rest of a processor is available to others: two and a half maps fit instead of two.
	o := thirty(5, 2)
	o.Nodes[0].Total[heddle.CPU] = 5000
	s.Trim[heddle.Map] = trim{80}
	r = under(t, s, o)
	if late := kept(r, 0, heddle.Map)[4].Granted.Seconds(); late > 5 {
		t.Errorf("the fifth map at 0.8 of a processor was granted at %.2f s beside four on four", late)
	}
}
