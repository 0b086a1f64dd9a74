package adaptcont_test

import (
	"testing"

	"heddle"
	"heddle/policies/adaptcont"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// cluster returns a core with a size policy for masters, room for 400 workers and containers of any size.
func cluster(t *testing.T, maker policy.Maker[policy.Size], options string) *sched.Core {
	t.Helper()
	s, err := maker(policytest.Args(options))
	if err != nil {
		t.Fatal(err)
	}
	set := put(s)
	set.Minimum, set.Step = heddle.Of(1, 1000), heddle.Resource{}
	c := sched.New(set)
	for i := range heddle.NodeID(4) {
		c.Step(0, heddle.NodeUp{Node: i, Total: heddle.Of(100*1024, 100_000), Can: heddle.Stock})
	}
	return c
}

// The sizes of a master that asks for 1536 MiB if its heap is cut to fit. Beside the heap it gets 176 MiB, or what was
// measured if that is more.
func TestSizesThatARealMasterLivesIn(t *testing.T) {
	can := func(f heddle.Facts) heddle.Facts { f.MasterHeap = 1024; return f }
	last := func(heap, outside int64, maps int32, tooSmall int64) heddle.LastRun {
		return heddle.LastRun{Heap: heap, Outside: outside, Maps: maps, TooSmall: tooSmall}
	}
	for _, x := range []struct {
		name  string
		facts heddle.Facts
		want  int64
	}{
		{"its command cannot be changed", heddle.Facts{Maps: 24}, 1536},
		{"nobody knows how many maps it has", can(heddle.Facts{}), 1536},
		{"nothing is measured", can(heddle.Facts{Maps: 24}), 384},
		{"a wave of 250, by the paper's rule", can(heddle.Facts{Maps: 250}), 768},
		{"never above what was asked for", can(heddle.Facts{Maps: 60_000}), 1536},
		{"many tasks", can(heddle.Facts{Maps: 100, Reduces: 9900}), 512},
		{"22 MiB live: 48 more, but never below the smallest master", can(heddle.Facts{Maps: 24, Last: last(22, 0, 24, 0)}), 256},
		{"60 MiB live: 48 more and 176", can(heddle.Facts{Maps: 24, Last: last(60, 0, 24, 0)}), 285},
		{"120 MiB live: half as much again and 176", can(heddle.Facts{Maps: 250, Last: last(120, 0, 250, 0)}), 357},
		{"more is used beside the heap", can(heddle.Facts{Maps: 250, Last: last(120, 220, 250, 0)}), 401},
		{"four times the maps: 98.5 MiB for each 250 above 21.5", can(heddle.Facts{Maps: 1000, Last: last(120, 0, 250, 0)}), 800},
		{"a fifth of the maps: 19.7 MiB above 21.5", can(heddle.Facts{Maps: 50, Last: last(120, 0, 250, 0)}), 266},
		{"ten times the maps, each of which took less than it can", can(heddle.Facts{Maps: 1000, Last: last(22, 0, 100, 0)}), 260},
		{"nobody knows how many maps the last one had", can(heddle.Facts{Maps: 1000, Last: last(120, 0, 0, 0)}), 357},
		{"a heap of 208 MiB was too small, and nothing is measured", can(heddle.Facts{Maps: 24, Last: last(0, 0, 0, 208)}), 1536},
		{"a heap of 208 MiB was too small, though 60 live", can(heddle.Facts{Maps: 24, Last: last(60, 0, 24, 208)}), 593},
		{"more was measured than was asked for", can(heddle.Facts{Maps: 24, Last: last(2000, 0, 24, 0)}), 1536},
	} {
		c := cluster(t, adaptcont.NewDynamic, "queue: capacity")
		c.Step(0, heddle.Submit{App: 0, Queue: 1, Framework: heddle.MapReduce, Master: heddle.Of(1536, 1000), Facts: x.facts})
		if got := c.View().App(0).Asks()[0].Size(); got != heddle.Of(x.want, 1000) {
			t.Errorf("%s: a master of %v, want %d MiB and what it asked for of processors", x.name, got, x.want)
		}
	}
}

// Masters of predefined sizes have room to live, and no more than what was asked for.
func TestPoolThatARealMasterLivesIn(t *testing.T) {
	for asked, want := range map[int64]int64{1536: 384, 300: 300} { // order: each by itself
		c := cluster(t, adaptcont.NewPool, "{queue: capacity, pool: [{memory: 200, vcores: 1}]}")
		c.Step(0, heddle.Submit{App: 0, Queue: 1, Framework: heddle.MapReduce, Master: heddle.Of(asked, 1000), Facts: heddle.Facts{Maps: 24, MasterHeap: 1024}})
		if got := c.View().App(0).Asks()[0].Size(); got != heddle.Of(want, 1000) {
			t.Errorf("a master of %v, want %d MiB", got, want)
		}
	}
}

// A waiting master is resized as other jobs come and go; a running one stays as it is.
func TestRealMastersAreRevisedWhileTheyWait(t *testing.T) {
	c := cluster(t, adaptcont.NewDynamic, "{queue: capacity, unit_tasks: 0}")
	master := heddle.Of(4096, 4000)
	submit := func(id heddle.AppID) {
		c.Step(0, heddle.Submit{App: id, Queue: 1, Framework: heddle.MapReduce, Master: master, Facts: heddle.Facts{Maps: 400, MasterHeap: 4096}})
	}
	size := func() heddle.Resource { return c.View().App(0).Asks()[0].Size() }
	if submit(0); size() != heddle.Of(1024, 2000) {
		t.Errorf("alone on 400 containers: a master of %v", size())
	}
	if submit(1); size() != heddle.Of(512, 1000) {
		t.Errorf("one of two on 400 containers: a master of %v", size())
	}
}

// After a master that was made smaller fails, the next one gets what was asked for, whatever changes.
func TestFullAfterAFailure(t *testing.T) {
	c := cluster(t, adaptcont.NewDynamic, "queue: capacity")
	asked := heddle.Of(1536, 1000)
	c.Step(0, heddle.Submit{App: 0, Queue: 1, Framework: heddle.MapReduce, Master: asked, Facts: heddle.Facts{Maps: 24, MasterHeap: 1024}})
	c.Step(0, heddle.Heartbeat{Node: 0})
	x := c.View().App(0).Master()
	if x == nil || x.Limit() != heddle.Of(384, 1000) {
		t.Fatalf("the first master: %v", x)
	}
	c.Step(1, heddle.Exit{Container: x.ID(), Status: 255})
	c.Step(1, heddle.Attempt{App: 0, Master: asked, Full: true})
	size := func() heddle.Resource { return c.View().App(0).Asks()[0].Size() }
	if size() != asked {
		t.Errorf("the second master: %v, want %v", size(), asked)
	}
	c.Step(2, heddle.Submit{App: 1, Queue: 1, Framework: heddle.MapReduce, Master: asked, Facts: heddle.Facts{Maps: 24, MasterHeap: 1024}})
	c.Step(2, heddle.NodeDown{Node: 3})
	if size() != asked {
		t.Errorf("the second master after a change: %v, want %v", size(), asked)
	}
}

// A running master whose job has more workers to come is made larger if its heap follows, and only then.
func TestRunningMastersGrowWithTheirHeaps(t *testing.T) {
	for can, want := range map[heddle.Caps]int{heddle.Stock: 0, heddle.AllCaps: 1} { // order: each by itself
		s, err := adaptcont.NewDynamic(policytest.Args("{queue: capacity, unit_tasks: 0, unit_memory: 512}"))
		if err != nil {
			t.Fatal(err)
		}
		set := put(s)
		set.Minimum, set.Step = heddle.Of(1, 1000), heddle.Resource{}
		c := sched.New(set)
		c.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(400*1024, 400_000), Can: can})
		for id := range heddle.AppID(2) {
			c.Step(0, heddle.Submit{App: id, Queue: 1, Framework: heddle.MapReduce, Master: heddle.Of(4096, 4000), Facts: heddle.Facts{Maps: 400, MasterHeap: 4096}})
		}
		c.Step(0, heddle.Heartbeat{Node: 0})
		x := c.View().App(0).Master()
		c.Step(0, heddle.Acquire{App: 0})
		c.Step(0, heddle.Started{Container: x.ID()})
		c.Step(0, heddle.Exit{Container: c.View().App(1).Master().ID()})
		c.Step(0, heddle.AppDone{App: 1})
		resized := 0
		for _, d := range c.Step(heddle.Time(5*heddle.Second), heddle.Wake{}) {
			if _, is := d.(*heddle.Resize); is {
				resized++
			}
		}
		if resized != want {
			t.Errorf("where nodes can %v: %d resized, want %d", can, resized, want)
		}
	}
}
