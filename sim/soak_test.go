package sim

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/sim/world"
)

// drawn lets rapid draw, so that failing cases are shrunk.
func drawn(t *rapid.T) draw {
	ints := map[[2]int]*rapid.Generator[int]{}
	return func(lo, hi int) int {
		k := [2]int{lo, hi}
		if ints[k] == nil {
			ints[k] = rapid.IntRange(lo, hi)
		}
		return ints[k].Draw(t, "n")
	}
}

// drawFaults draws what goes wrong in the first minutes; all faults end.
func drawFaults(d draw, nodes, jobs int) []Fault {
	var fs []Fault
	for range d(0, 4) {
		f := Fault{
			Kind: FaultKind(d(0, 4)), At: at(float64(d(0, 90))), For: heddle.Span(d(1, 60)) * second,
			Node: heddle.NodeID(d(0, nodes-1)), Job: d(0, jobs-1), Factor: float64(d(1, 4)) / 4, Rate: float64(d(0, 20)) / 100,
		}
		fs = append(fs, f)
	}
	return fs
}

// anything draws a run: work, faults if wanted, and a cluster on each of whose nodes all masters and one more container
// fit, so that masters cannot wait for each other for ever.
func anything(d draw, faults bool) Options {
	n := d(1, 4)
	o := fullWorld(nodes(n, d(1, min(n, 3)), heddle.Of(int64(1024*d(16, 20)), int64(1000*d(9, 12)))))
	o.Seed, o.Given, o.Expiry = uint64(d(0, 1000)), d(0, 1) == 0, heddle.Span(d(5, 40))*second
	if d(0, 1) == 0 {
		o.Effects = world.AllEffects()
	}
	o.Workload, o.Stock = mixed(d, d(1, 6)), d(0, 1) == 0
	if faults {
		o.Faults = drawFaults(d, n, len(o.Workload.Jobs))
	}
	return o
}

// Whatever happens, every job ends once nothing breaks any more, the state is sound after every step, no node ever
// holds more than it has, and what succeeded was done completely.
func TestSoak(t *testing.T) {
	for _, p := range allProfiles {
		t.Run(p.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				o := anything(drawn(rt), true)
				rt.Log(show(&o))
				r := p.run(t, o)
				for i := range r.Jobs {
					if s := r.Jobs[i].State; s != Succeeded && (s != Failed || len(o.Faults) == 0) {
						rt.Fatalf("job %s: %v", r.Jobs[i].ID, s)
					}
				}
				sound(rt, &o, r, p.name == "memory")
			})
		})
	}
}

// show describes a run.
func show(o *Options) string {
	s := fmt.Sprintf("seed %d, given %v, stock %v, expiry %v, all effects %v\n", o.Seed, o.Given, o.Stock, o.Expiry.Seconds(), o.Effects.Noise)
	for i := range o.Nodes {
		s += fmt.Sprintf("node %d in %d: %v\n", i, o.Nodes[i].Rack, o.Nodes[i].Total)
	}
	for _, f := range o.Faults {
		s += fmt.Sprintf("fault %+v\n", f)
	}
	for i := range o.Workload.Jobs {
		j := &o.Workload.Jobs[i]
		s += fmt.Sprintf("%+v\n", *j)
		if j.Spark != nil {
			s += fmt.Sprintf("  %+v\n", *j.Spark)
		}
	}
	return s
}

// sound recounts a run from its containers.
func sound(t *rapid.T, o *Options, r *Result, memoryOnly bool) {
	type change struct {
		at   heddle.Time
		by   heddle.Resource
		node heddle.NodeID
		nth  int
	}
	var changes []change
	well := map[string]int{}
	for i, x := range r.Tasks {
		if x.Ended < x.Started || x.Started > 0 && x.Started < x.Granted || x.Granted < r.Jobs[x.Job].Submit {
			t.Fatalf("container %d of job %d: granted %d, started %d, ended %d", x.Container, x.Job, x.Granted, x.Started, x.Ended)
		}
		if x.Ended > x.Granted {
			changes = append(changes, change{x.Granted, x.Limit, x.Node, 2*i + 1}, change{x.Ended, heddle.Resource{}.Minus(x.Limit), x.Node, 2 * i})
		}
		if x.Status == heddle.Success {
			well[fmt.Sprint(x.Job, x.Kind, x.Index)]++
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.nth%2, b.nth%2), cmp.Compare(a.nth, b.nth))
	})
	held := make([]heddle.Resource, len(o.Nodes))
	for _, c := range changes {
		held[c.node] = held[c.node].Plus(c.by)
		h := held[c.node]
		if memoryOnly {
			h[heddle.CPU] = 0
		}
		if !h.Fits(o.Nodes[c.node].Total) || h.AnyNegative() {
			t.Fatalf("node %d holds %v at %v", c.node, h, c.at)
		}
	}
	for i := range o.Workload.Jobs {
		j := &o.Workload.Jobs[i]
		if r.Jobs[i].State != Succeeded {
			continue
		}
		for kind, n := range map[heddle.Kind]int{heddle.Map: len(j.Maps), heddle.Reduce: len(j.Reduces), heddle.Other: len(j.Other)} {
			for k := range n {
				// A map whose output was lost after the last reduce had fetched it is not run again.
				if well[fmt.Sprint(i, kind, k)] == 0 {
					t.Fatalf("job %s succeeded, and %v %d never ended well", j.ID, kind, k)
				}
			}
		}
		if r.Jobs[i].JCT < r.Jobs[i].Bound {
			t.Fatalf("job %s took %v, its bound is %v", j.ID, r.Jobs[i].JCT, r.Jobs[i].Bound)
		}
	}
}

// The same seed gives the same run, whatever else runs in the process.
func TestSameSeedSameRun(t *testing.T) {
	for _, p := range allProfiles {
		for seed := range uint64(4) {
			d := seeded(seed)
			o := anything(d, true)
			first, second := p.run(t, o), p.run(t, o)
			if a, b := fmt.Sprintf("%+v", first), fmt.Sprintf("%+v", second); a != b {
				t.Errorf("%s, seed %d: two runs differ", p.name, seed)
			}
		}
	}
}
