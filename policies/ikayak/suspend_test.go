package ikayak

import (
	"slices"
	"testing"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
	"heddle/policy/policytest"
)

// lagging returns a cluster of one node. A Spark application holds half of the node and a job the other half: a master
// and three reduces that have copied all there is, while maps wait.
func lagging(t *testing.T) (c *cluster.Cluster, reduces []*cluster.Container) {
	t.Helper()
	c = cluster.New([]heddle.QueueID{heddle.NoQueue, 0}, false)
	n := c.AddNode(0, 0, heddle.Of(16384, 8000))
	c.SetCan(n, heddle.AllCaps)
	s := c.Submit(heddle.Submit{App: 0, Queue: 1, Framework: heddle.Spark})
	j := c.Submit(heddle.Submit{App: 1, Queue: 1, Framework: heddle.MapReduce, Facts: heddle.Facts{Maps: 10}})
	size := heddle.Of(1024, 1000)
	grant := func(a *cluster.App, k heddle.Kind, size heddle.Resource) *cluster.Container {
		x := c.Grant(c.SetRow(a, heddle.Anywhere(1, k, 1, size)), n, heddle.OffSwitch, size, size)
		c.Acquire(a)
		c.Start(x)
		return x
	}
	grant(s, heddle.Executor, heddle.Of(4096, 4000))
	grant(j, heddle.Other, size)
	for range 3 {
		x := grant(j, heddle.Reduce, size)
		c.SetProgress(x, heddle.ReduceCopy, 0)
		reduces = append(reduces, x)
	}
	c.SetRow(j, heddle.Anywhere(20, heddle.Map, 5, size))
	return c, reduces
}

// run lets a control act at a time, in seconds, and carries out its plan.
func run(c *cluster.Cluster, s policy.Control, at float64) []policy.Step {
	c.SetNow(heddle.Time(heddle.Seconds(at)))
	var p policy.Plan
	s.Run(c.View(), &p)
	for _, step := range p.Steps {
		switch x := c.View().Container(step.Container); step.Do {
		case policy.Suspend:
			c.Suspend(x)
			if step.Freeze > 0 {
				c.Freeze(x)
			}
		case policy.Resume:
			c.Resume(x)
		case policy.Resize:
			c.SetLimit(x, step.Limit)
		default:
			panic("suspension does none of these")
		}
	}
	return p.Steps
}

// Reduces are suspended at every multiple of T, and resumed 0.35 · T later. A reduce that ended or was resumed by
// others in between is left alone.
//
// Reference: section 3.2, "The length of suspension is dependent on the delay factor γ".
func TestSuspendedAreResumed(t *testing.T) {
	s, err := NewSuspend(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	if s.Every() != 5*heddle.Second {
		t.Fatalf("looks every %v s", s.Every().Seconds())
	}
	c, reduces := lagging(t)
	for _, at := range []float64{5, 150, 295} {
		if steps := run(c, s, at); len(steps) > 0 {
			t.Fatalf("%v s: %v", at, steps)
		}
	}
	if steps := run(c, s, 300); len(steps) != 3 {
		t.Fatalf("at T: %v", steps)
	}
	c.End(reduces[0], cluster.Killed, heddle.Preempted)
	c.Resume(reduces[1])
	if steps := run(c, s, 400); len(steps) > 0 {
		t.Fatalf("100 s later: %v", steps)
	}
	want := []policy.Step{{Container: reduces[2].ID(), Do: policy.Resume}}
	if steps := run(c, s, 405); !slices.Equal(steps, want) {
		t.Fatalf("105 s later: %v, want %v", steps, want)
	}
	if steps := run(c, s, 595); len(steps) > 0 {
		t.Fatalf("before 2·T: %v", steps)
	}
	if steps := run(c, s, 600); len(steps) != 2 {
		t.Fatalf("at 2·T: %v", steps)
	}
}

// If no map waits, nothing could run on the processors, and if Spark holds nothing γ is 0: nothing is suspended.
//
// Reference: section 3.2, "due to the delay of their map task execution".
func TestSuspendOnlyWhatLags(t *testing.T) {
	for name, change := range map[string]func(c *cluster.Cluster){
		"no map waits": func(c *cluster.Cluster) {
			c.SetRow(c.View().App(1), heddle.Anywhere(20, heddle.Map, 0, heddle.Of(1024, 1000)))
		},
		"no Spark": func(c *cluster.Cluster) {
			var x *cluster.Container
			c.View().App(0).Each(func(y *cluster.Container) bool { x = y; return false })
			c.End(x, cluster.Completed, heddle.Success)
		},
	} {
		s, err := NewSuspend(policytest.Args(""))
		if err != nil {
			t.Fatal(err)
		}
		c, _ := lagging(t)
		change(c)
		if steps := run(c, s, 300); len(steps) > 0 {
			t.Errorf("%s: %v", name, steps)
		}
	}
}

// A suspended reduce lends three quarters of its memory if the options say so, and gets it back once it is resumed.
//
// Reference: section 3.2, "swapped out by the operating system with overhead".
func TestSuspendedLendMemory(t *testing.T) {
	s, err := NewSuspend(policytest.Args("lend_memory: 0.75"))
	if err != nil {
		t.Fatal(err)
	}
	c, reduces := lagging(t)
	run(c, s, 300)
	run(c, s, 305)
	for _, x := range reduces {
		if !x.Suspended() || x.Limit()[heddle.Memory] != 256 {
			t.Errorf("a suspended reduce holds %v", x.Limit())
		}
	}
	for _, at := range []float64{405, 410, 415} {
		run(c, s, at)
	}
	for _, x := range reduces {
		if x.Suspended() || x.Limit() != x.Told() {
			t.Errorf("a resumed reduce holds %v of %v", x.Limit(), x.Told())
		}
	}
}

// A resume that is not carried out, because something else is done to the container in the same instant, is requested
// again: no reduce stays suspended for ever.
func TestResumeAgain(t *testing.T) {
	s, err := NewSuspend(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	c, reduces := lagging(t)
	run(c, s, 300)
	for _, at := range []float64{405, 410} {
		c.SetNow(heddle.Time(heddle.Seconds(at)))
		var p policy.Plan
		if s.Run(c.View(), &p); len(p.Steps) != len(reduces) || p.Steps[0].Do != policy.Resume {
			t.Fatalf("%v s: %v", at, p.Steps)
		}
	}
}

// With a γ for each job, a job that holds little is suspended for longer. Spark holds half of the processors, the job
// four eighths, three of them in reduces; another job's share does not shorten its suspension.
//
// Reference: section 3.2, the delay factor γ.
func TestSuspendByJob(t *testing.T) {
	length := func(options string) (resumed float64) {
		s, err := NewSuspend(policytest.Args(options))
		if err != nil {
			t.Fatal(err)
		}
		c, reduces := lagging(t)
		n := c.AddNode(1, 0, heddle.Of(16384, 8000))
		other := c.Submit(heddle.Submit{App: 2, Queue: 1, Framework: heddle.MapReduce})
		half := heddle.Of(8192, 8000)
		c.Grant(c.SetRow(other, heddle.Anywhere(1, heddle.Other, 1, half)), n, heddle.OffSwitch, half, half)
		run(c, s, 300)
		for at := 305.0; at < 600; at += 5 {
			if run(c, s, at); !reduces[0].Suspended() {
				return at - 300
			}
		}
		return 300
	}
	// γ = 4/16: 0.1 · 300 s; of the job alone 4/8: 0.35 · 300 s.
	if all, own := length(""), length("per_job: true"); all != 30 || own != 105 {
		t.Errorf("suspended for %v s by the γ of all, %v s by that of the job", all, own)
	}
}

// Once all maps of a job have ended, or one of its reduces has, its suspended reduces continue at the next check.
func TestSuspendedHaveWhatTheyWaitedFor(t *testing.T) {
	for name, happens := range map[string]func(c *cluster.Cluster, reduces []*cluster.Container){
		"the maps end": func(c *cluster.Cluster, _ []*cluster.Container) {
			c.SetRow(c.View().App(1), heddle.Anywhere(20, heddle.Map, 0, heddle.Of(1024, 1000)))
		},
		"a reduce ends": func(c *cluster.Cluster, reduces []*cluster.Container) {
			c.Resume(reduces[0])
			c.End(reduces[0], cluster.Completed, heddle.Success)
		},
		"nothing": func(*cluster.Cluster, []*cluster.Container) {},
	} {
		s, err := NewSuspend(policytest.Args(""))
		if err != nil {
			t.Fatal(err)
		}
		c, reduces := lagging(t)
		run(c, s, 300)
		happens(c, reduces)
		steps := run(c, s, 305)
		if name == "nothing" {
			if len(steps) > 0 {
				t.Errorf("nothing happened: %v", steps)
			}
			continue
		}
		if len(steps) < 2 || steps[0].Do != policy.Resume {
			t.Errorf("%s: %v", name, steps)
		}
	}
}

// With freeze, a reduce that copies is frozen: for less than half of the job's timeout without a report, and until its
// suspension is over.
func TestFreeze(t *testing.T) {
	for name, of := range map[string]struct {
		options string
		timeout heddle.Span
		can     heddle.Caps
		freeze  heddle.Span // 0: it is only suspended
		until   float64     // seconds
	}{
		"as long as it is suspended":  {"", 0, heddle.AllCaps, 105 * heddle.Second, 405},
		"never for longer than 240 s": {"interval: 900", 0, heddle.AllCaps, 240 * heddle.Second, 1140},
		"a short timeout":             {"", 100 * heddle.Second, heddle.AllCaps, 40 * heddle.Second, 340},
		"a timeout as short as 5 s":   {"", 5 * heddle.Second, heddle.AllCaps, 0, 405},
		"memory is lent":              {"lend_memory: 0.5", 0, heddle.AllCaps &^ heddle.Elastic, 110 * heddle.Second, 405},
		"a node that cannot":          {"", 0, heddle.AllCaps &^ heddle.Freezes, 0, 405},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := NewSuspend(policytest.Args(of.options + "\nfreeze: true"))
			if err != nil {
				t.Fatal(err)
			}
			s := made.(*Suspend)
			if s.Every() != 5*heddle.Second {
				t.Errorf("looks every %v s", s.Every().Seconds())
			}
			c, reduces := lagging(t)
			c.SetCan(reduces[0].Node(), of.can)
			for _, x := range reduces {
				c.SetUsage(x, 0, 1024) // it holds all of its memory, and has none to lend
			}
			reduces[0].App().Facts().Timeout = of.timeout
			steps := run(c, s, s.t.Seconds())
			if want := (policy.Step{Container: reduces[0].ID(), Do: policy.Suspend, Freeze: of.freeze}); len(steps) != 3 || steps[2] != want {
				t.Fatalf("at T: %v, want %v", steps, want)
			}
			if steps := run(c, s, of.until-1); len(steps) > 0 {
				t.Errorf("before %v s: %v", of.until, steps)
			}
			if steps := run(c, s, of.until); len(steps) != 3 || steps[0].Do != policy.Resume {
				t.Errorf("at %v s: %v", of.until, steps)
			}
		})
	}
}

// A reduce that was frozen runs for 5 s before it is frozen again; until then it is only suspended.
func TestFreezeAgain(t *testing.T) {
	s, err := NewSuspend(policytest.Args("freeze: true\ninterval: 10\nepsilon: 0"))
	if err != nil {
		t.Fatal(err)
	}
	c, reduces := lagging(t)
	var frozen []bool
	for at := 10.0; at <= 30; at++ {
		for _, step := range run(c, s, at) {
			if step.Do == policy.Suspend && step.Container == reduces[0].ID() {
				frozen = append(frozen, step.Freeze > 0)
			}
		}
	}
	if want := []bool{true, false, true}; !slices.Equal(frozen, want) {
		t.Errorf("frozen %v, want %v", frozen, want)
	}
}

// If a process keeps its memory, a reduce lends none unless it is frozen and was measured, and even then not what it
// holds.
func TestFrozenLendMemory(t *testing.T) {
	for name, of := range map[string]struct {
		options string
		uses    int64
		limit   int64
	}{
		"parked":             {"", 100, 1024},
		"not measured":       {"freeze: true", 0, 1024},
		"holds little":       {"freeze: true", 100, 256},
		"holds more":         {"freeze: true", 600, 600},
		"holds all it asked": {"freeze: true", 1100, 1024},
	} {
		s, err := NewSuspend(policytest.Args("lend_memory: 0.75\n" + of.options))
		if err != nil {
			t.Fatal(err)
		}
		c, reduces := lagging(t)
		c.SetCan(reduces[0].Node(), heddle.AllCaps&^heddle.Elastic)
		c.SetUsage(reduces[0], 10, of.uses)
		run(c, s, 300)
		run(c, s, 305)
		if got := reduces[0].Limit()[heddle.Memory]; got != of.limit {
			t.Errorf("%s: it has %d MiB, want %d", name, got, of.limit)
		}
	}
}
