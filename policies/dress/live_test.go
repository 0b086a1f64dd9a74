package dress_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/policies/dress"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// Whatever is reserved for whom, every job gets all it asks for in the end: no reserve makes a job of another category
// wait for ever.
func TestNobodyWaitsForEver(t *testing.T) {
	policytest.Streams(t, func(t *rapid.T) {
		num := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
		flag := func(what string) bool { return rapid.Bool().Draw(t, what) }
		theta := float64(num(1, 60, "theta")) / 100
		least := float64(num(0, 40, "delta_min")) / 100
		options := fmt.Sprintf("{theta: [%g], delta_min: %g, delta: %g, delta_max: %g, adjust: %v, release: %v, patience: %d, keep: %s, prompt: %v, serve: %s, lend: %s, few: %d}",
			theta, least, least, math.Max(least, float64(num(0, 100, "delta_max"))/100), flag("adjust"), flag("release"),
			num(-1, 20, "patience"), rapid.SampledFrom([]string{"never", "jobs"}).Draw(t, "keep"), flag("prompt"),
			rapid.SampledFrom([]string{"listed", "order"}).Draw(t, "serve"), rapid.SampledFrom([]string{"part", "whole"}).Draw(t, "lend"), num(0, 4, "few"))
		s, err := dress.New(policytest.Args(options))
		if err != nil {
			t.Fatal(err)
		}
		set := put(s)
		if flag("order") {
			set = ordered(s)
		}
		c := sched.New(set)
		nodes := num(1, 2, "nodes")
		for n := range nodes {
			c.Step(0, heddle.NodeUp{Node: heddle.NodeID(n), Total: heddle.Of(16<<10, 64000), Can: heddle.AllCaps})
		}
		left := make([]int, num(1, 6, "jobs"))
		ends := map[heddle.Time][]heddle.ContainerID{}
		now := heddle.Time(0)
		take := func(out []heddle.Decision) {
			var launched []heddle.Launch // decisions are valid until the next step
			for _, d := range out {
				if l, ok := d.(*heddle.Launch); ok {
					launched = append(launched, *l)
				}
			}
			for _, l := range launched {
				if l.Kind == heddle.AM {
					left[l.App] = num(1, 8, "tasks")
					size := heddle.Of(int64(num(1, 8, "size"))<<10, 1000)
					c.Step(now, heddle.Ask{App: l.App, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, int32(left[l.App]), size)}})
					continue
				}
				left[l.App]--
				c.Step(now, heddle.Acquire{App: l.App}) // a container that ends before it is fetched is asked for again
				c.Step(now, heddle.Started{Container: l.Container})
				at := now.Plus(heddle.Span(num(1, 9, "length")) * heddle.Second)
				ends[at] = append(ends[at], l.Container)
			}
		}
		for a := range left {
			left[a] = 1 // the request of its master
			c.Step(now, heddle.Submit{App: heddle.AppID(a), Queue: 1, Master: heddle.Of(1024, 1000), Facts: heddle.Facts{
				// Zero means unknown; and what is known may be wrong.
				Demand: heddle.Demand{Containers: int32(num(0, 9, "demand")), Each: heddle.Of(int64(num(1, 8, "each"))<<10, 1000)},
				Last:   heddle.LastRun{Containers: int32(num(0, 9, "last")), Most: heddle.Of(int64(num(0, 16, "most"))<<10, 3000)},
			}})
		}
		// There are 48 tasks at most, one after the other: each waits for nine seconds of work or for its patience.
		for ; now < heddle.Time(48*40*heddle.Second); now = now.Plus(heddle.Second) {
			for _, x := range ends[now] {
				c.Step(now, heddle.Exit{Container: x})
			}
			for n := range nodes {
				take(c.Step(now, heddle.Heartbeat{Node: heddle.NodeID(n)}))
			}
			if slices.Max(left) == 0 {
				return
			}
		}
		t.Fatalf("%s: containers that were never granted, by job: %v", options, left)
	})
}

// shut is a gate for masters that lets only the first application in, as a limit on masters may.
type shut struct{}

// Open implements [policy.Gate].
func (shut) Open(_ policy.View, a *policy.App, _ heddle.Kind) policy.Verdict {
	if a.ID() > 0 {
		return policy.No(heddle.AMLimit)
	}
	return policy.Yes
}

// A large job whose reduces wait for its maps gets these maps even if as much as possible is reserved for small jobs
// whose masters are kept from starting by something else: otherwise nothing would ever end.
func TestReducesThatWaitDoNotCountAsRunning(t *testing.T) {
	s, err := dress.New(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	set := put(s)
	set.Gate[heddle.AM] = []policy.Gate{shut{}}
	c := sched.New(set)
	now, size := heddle.Time(0), heddle.Of(1024, 1000)
	step := func(ev heddle.Event) {
		t.Helper()
		c.Step(now, ev)
		if broken := c.Check(); len(broken) > 0 {
			t.Fatalf("after %T%+v: %v", ev, ev, broken)
		}
	}
	pass := func(seconds int) {
		for range seconds {
			now = now.Plus(heddle.Second)
			step(heddle.Heartbeat{Node: 0})
			step(heddle.Acquire{App: 0})
		}
	}
	submit := func(a heddle.AppID, demand int32) {
		step(heddle.Submit{App: a, Queue: 1, Master: size, Facts: heddle.Facts{Demand: heddle.Demand{Containers: demand, Each: size}}})
	}
	large := func(k heddle.Kind) int { return c.View().App(0).Running(k) }
	step(heddle.NodeUp{Node: 0, Total: heddle.Of(16<<10, 64000), Can: heddle.AllCaps})
	submit(0, 20)
	pass(2)
	step(heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(10, heddle.Reduce, 7, size)}})
	pass(2)
	for a := range heddle.AppID(8) {
		submit(1+a, 1)
	}
	pass(5)
	step(heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, 4, size)}})
	pass(5)
	if large(heddle.Reduce) != 7 || large(heddle.Map) != 1 {
		t.Errorf("%d reduces and %d maps run, want 7 and 1: the others wait until it ends", large(heddle.Reduce), large(heddle.Map))
	}
}
