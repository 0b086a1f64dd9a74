package ikayak_test

import (
	"testing"

	"heddle"
	"heddle/policies/ikayak"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// estimated returns a core with one node, and iKayak's model of how long its containers still take.
func estimated(t testing.TB, options string) (*sched.Core, policy.Remaining) {
	rest, err := ikayak.NewRemaining(policytest.Args(options))
	if err != nil {
		t.Fatal(err)
	}
	set := policytest.Base(policytest.Submitted{})
	set.Remaining = rest
	c := sched.New(set)
	c.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(16384, 16000), Can: heddle.AllCaps})
	return c, rest
}

// life runs a terasort of four maps and a reduce that reports every 3 s, until the reduce writes. The maps end 30 s
// apart, the copy ends with them, and the sort lasts 60 s.
func life(t testing.TB, options string) (*sched.Core, policy.Remaining, heddle.Time) {
	c, rest := estimated(t, options)
	c.Step(0, heddle.Submit{App: 0, Queue: 1, Framework: heddle.MapReduce, Master: heddle.Of(1024, 1000), Facts: heddle.Facts{
		Name: "TeraSort", InputBytes: 8 << 30, Maps: 4, Reduces: 1,
	}})
	c.Step(0, heddle.Heartbeat{Node: 0}) // container 1
	c.Step(0, heddle.Ask{App: 0, Rows: []heddle.Row{
		heddle.Anywhere(20, heddle.Map, 4, heddle.Of(1024, 1000)), heddle.Anywhere(30, heddle.Reduce, 1, heddle.Of(1024, 1000)),
	}})
	c.Step(0, heddle.Heartbeat{Node: 0}) // containers 2 to 5, and 6
	c.Step(0, heddle.Acquire{App: 0})
	for id := heddle.ContainerID(2); id <= 6; id++ {
		c.Step(0, heddle.Started{Container: id})
	}
	at := heddle.Time(0)
	for s := 3; s < 180; s += 3 {
		at = heddle.Time(heddle.Span(s) * heddle.Second)
		p := heddle.Progress{Container: 6, Phase: heddle.ReduceCopy, Fraction: float64(s/30) / 12}
		if s >= 120 {
			p = heddle.Progress{Container: 6, Phase: heddle.ReduceSort, Fraction: 1./3 + float64(s-120)/180}
		}
		if s%30 == 0 && s <= 120 {
			c.Step(at, heddle.Exit{Container: heddle.ContainerID(1 + s/30)})
		}
		c.Step(at, p)
	}
	return c, rest, at
}

// Without training there is only the stage's pace: the sort of 60 s, reported 57 s in, has 3 s left, and a second later
// 2.
func TestRemainingByPace(t *testing.T) {
	c, rest, at := life(t, "{offline: false, online: false}")
	x := c.View().Container(6)
	if got, ok := rest.Remaining(c.View(), x); !ok || got < 2900*heddle.Millisecond || got > 3100*heddle.Millisecond {
		t.Errorf("%v s %v, want 3 s", got.Seconds(), ok)
	}
	c.Step(at.Plus(heddle.Second), heddle.Heartbeat{Node: 0})
	if got, ok := rest.Remaining(c.View(), x); !ok || got < 1900*heddle.Millisecond || got > 2100*heddle.Millisecond {
		t.Errorf("%v s %v, want 2 s", got.Seconds(), ok)
	}
	if _, ok := rest.Remaining(c.View(), c.View().Container(1)); ok {
		t.Error("something is said of a master")
	}
}

// Trained rules know that writing comes after sorting. Once the reduce has ended there is no estimate of it.
func TestRemainingTrained(t *testing.T) {
	c, rest, at := life(t, "")
	x := c.View().Container(6)
	got, ok := rest.Remaining(c.View(), x)
	if !ok || got < 4*heddle.Second || got > 600*heddle.Second {
		t.Errorf("%v s %v, want more than the 3 s that the sort takes", got.Seconds(), ok)
	}
	id := *x
	c.Step(at.Plus(60*heddle.Second), heddle.Exit{Container: 6})
	if _, ok := rest.Remaining(c.View(), &id); ok {
		t.Error("something is said of a reduce that ended")
	}
}

// A reduce that does not report for its first minute is as fast as it was since its start, not as fast as if it had
// done all of that since its first report.
func TestRemainingOfReducesHeardOfLate(t *testing.T) {
	c, rest := estimated(t, "{offline: false, online: false}")
	c.Step(0, heddle.Submit{App: 0, Queue: 1, Framework: heddle.MapReduce, Master: heddle.Of(1024, 1000), Facts: heddle.Facts{Reduces: 1}})
	c.Step(0, heddle.Heartbeat{Node: 0}) // container 1
	c.Step(0, heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(30, heddle.Reduce, 1, heddle.Of(1024, 1000))}})
	c.Step(0, heddle.Heartbeat{Node: 0}) // container 2
	c.Step(0, heddle.Acquire{App: 0})
	at := func(s int) heddle.Time { return heddle.Time(heddle.Span(s) * heddle.Second) }
	c.Step(at(1), heddle.Started{Container: 2})
	for _, report := range []struct {
		at       int
		fraction float64
		want     heddle.Span // at the mean pace since the start
	}{{61, 0.5, 20 * heddle.Second}, {66, 0.5078125, 20 * heddle.Second}} {
		c.Step(at(report.at), heddle.Progress{Container: 2, Phase: heddle.ReduceSort, Fraction: report.fraction})
		got, ok := rest.Remaining(c.View(), c.View().Container(2))
		if off := got - report.want; !ok || off < -heddle.Second || off > heddle.Second {
			t.Errorf("%d s after the first report: %.1f s %v, want about %.0f s", report.at-61, got.Seconds(), ok, report.want.Seconds())
		}
	}
}

// A forced error multiplies the estimate, always by the same factor.
func TestRemainingErring(t *testing.T) {
	c, rest, _ := life(t, "")
	d, wrong, _ := life(t, "error: 0.35")
	right, _ := rest.Remaining(c.View(), c.View().Container(6))
	a, ok := wrong.Remaining(d.View(), d.View().Container(6))
	b, _ := wrong.Remaining(d.View(), d.View().Container(6))
	if f := a.Seconds() / right.Seconds(); !ok || a != b || f < 0.3 || f > 1.7 || a == right {
		t.Errorf("%v s, then %v s, of %v s", a.Seconds(), b.Seconds(), right.Seconds())
	}
}

func TestRemainingSuite(t *testing.T) {
	for _, options := range []string{"", "error: 0.2"} {
		policytest.Run(t, ikayak.NewRemaining, options, func(r policy.Remaining) policy.Set {
			s := policytest.Base(policytest.Submitted{})
			s.Remaining = r
			return s
		})
	}
}

// BenchmarkRemainingReport measures a report of a reduce: a sample and its prediction.
func BenchmarkRemainingReport(b *testing.B) {
	c, rest, _ := life(b, "")
	o := rest.(policy.Listener)
	v := c.View()
	c.Step(v.Now(), heddle.Progress{Container: 6, Phase: heddle.ReduceSort, Fraction: 0.65})
	e := policy.Effect{What: policy.TaskProgress, Container: v.Container(6)}
	b.ReportAllocs()
	for b.Loop() {
		o.Hear(v, e)
	}
}

// BenchmarkRemainingAsked measures one query.
func BenchmarkRemainingAsked(b *testing.B) {
	c, rest, _ := life(b, "")
	v, x := c.View(), c.View().Container(6)
	b.ReportAllocs()
	for b.Loop() {
		rest.Remaining(v, x)
	}
}
