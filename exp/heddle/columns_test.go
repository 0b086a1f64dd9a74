package heddle

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"heddle/conf"
	"heddle/exp"
	"heddle/policies"
	"heddle/scenario"
	"heddle/sim"
	"heddle/sim/world"
)

// columns are the limits for the profile heddle, relative to the better of fair and capacity.
var columns = []struct {
	name string
	of   func(r *sim.Result) float64
}{
	{"mean JCT", func(r *sim.Result) float64 { return exp.MeanJCT(r, nil) }},
	{"JCT p50", func(r *sim.Result) float64 { return quantile(r, 0.5, jct) }},
	{"JCT p95", func(r *sim.Result) float64 { return quantile(r, 0.95, jct) }},
	{"JCT p99", func(r *sim.Result) float64 { return quantile(r, 0.99, jct) }},
	{"waiting p95", func(r *sim.Result) float64 { return quantile(r, 0.95, wait) }},
	{"waiting p99", func(r *sim.Result) float64 { return quantile(r, 0.99, wait) }},
	{"makespan", func(r *sim.Result) float64 { return r.Makespan.Seconds() }},
}

func jct(j *sim.JobResult) float64  { return j.JCT.Seconds() }
func wait(j *sim.JobResult) float64 { return j.Wait.Seconds() }

func quantile(r *sim.Result, q float64, of func(*sim.JobResult) float64) float64 {
	var all []float64
	for i := range r.Jobs {
		all = append(all, of(&r.Jobs[i]))
	}
	slices.SortFunc(all, cmp.Compare[float64])
	return all[int(q*float64(len(all)-1)+0.5)]
}

// No column may be worse than 1.1 times the better of fair and capacity, with a node agent and without. The longest
// waits were 16 times as long when applications that had run nothing waited behind large jobs for a master or for a
// first task.
func TestHeddleInEveryColumn(t *testing.T) {
	s, err := scenario.Read(filepath.Join("..", "..", "scenarios", "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var profiles []*policies.Profile
	for _, name := range []string{"fair", "capacity", "heddle"} {
		p, err := policies.Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		profiles = append(profiles, p)
	}
	bare, _ := profiles[2].WithoutAgent()
	plan := exp.Plan{
		Profiles: append(profiles, bare), Seeds: []uint64{11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, Conf: conf.Default(),
		Rebuild: s.Build, Nodes: exp.Nodes(s), UplinkBps: s.Uplink, Effects: world.Effects(s.Effects),
	}
	runs, err := plan.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		var means [4]float64
		for i := range means {
			for _, r := range runs[i] {
				means[i] += c.of(r) / float64(len(runs[i]))
			}
		}
		best := min(means[0], means[1])
		for i, name := range []string{"heddle", "heddle without an agent"} {
			if means[2+i] > 1.1*best {
				t.Errorf("%s: %s %.1f s, the better of fair and capacity %.1f s", name, c.name, means[2+i], best)
			}
		}
	}
}
