package ikayak

import (
	"math"
	"time"

	"heddle"
	"heddle/exp"
	"heddle/policies"
	"heddle/policy"
	"heddle/scenario"
	"heddle/sim/world"
)

// cost is the experiment on the cost of placing an executor, the one cost in the paper that comes from our own code.
// The costs of suspending, resuming and resizing are constants of the world.
func cost() exp.Experiment {
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-cost", Title: "What placing an executor costs", Source: "Section 5.7",
		Method: method + "* Wall time of the placement's decisions, in a separate run on the machine that made this page. BenchmarkPlacement measures it on 10,000 nodes.\n",
		Work:   msd.work,
		Arms:   []exp.Arm{arm(iKayak, "ikayak")},
		Metrics: []exp.Metric{{
			Name: "placing an executor", Unit: "µs", Kind: exp.Measured, Published: 135_000, Text: "120 to 150 ms",
			Of: func(r exp.Runs) float64 { return 1e6 * placementTime(r.Seed) },
		}},
	}
}

// placementTime returns the mean time of a decision of iKayak's placement that named a node, in seconds; NaN if it
// cannot be run.
func placementTime(seed uint64) float64 {
	text, err := msd.work(seed)
	if err != nil {
		return math.NaN()
	}
	s, err := scenario.Parse("ikayak-cost.yaml", []byte(text))
	if err != nil {
		return math.NaN()
	}
	w, err := s.Build(seed)
	if err != nil {
		return math.NaN()
	}
	p, err := policies.Load("ikayak", nil)
	if err != nil {
		return math.NaN()
	}
	var place *timed
	plan := exp.Plan{
		Stock:    true,
		Workload: w, Profiles: []*policies.Profile{p}, Seeds: []uint64{seed}, Conf: hadoop(),
		Nodes: exp.Nodes(s), UplinkBps: s.Uplink, Effects: world.Effects(s.Effects), Workers: 1,
		Prepare: func(_ int, set *policy.Set) {
			place = &timed{of: set.Place[heddle.Executor].(placement)}
			set.Place[heddle.Executor] = place
		},
	}
	_, err = plan.Run()
	if err != nil || place.named == 0 {
		return math.NaN()
	}
	return place.spent.Seconds() / float64(place.named)
}

// placement has all the interfaces of iKayak's placement.
type placement interface {
	policy.Place
	policy.Pick
	policy.Listener
}

// timed is a placement with a stopwatch.
type timed struct {
	of    placement
	spent time.Duration
	named int
}

// Judge implements [policy.Place].
func (t *timed) Judge(v policy.View, k *policy.Ask, n *policy.Node, at heddle.Locality) policy.Verdict {
	return t.of.Judge(v, k, n, at)
}

// Pick implements [policy.Pick]. The time of decisions in vain, and of bookkeeping, is charged to decisions that name a
// node.
func (t *timed) Pick(v policy.View, k *policy.Ask) (heddle.NodeID, bool) {
	began := time.Now()
	n, ok := t.of.Pick(v, k)
	t.spent += time.Since(began)
	if ok {
		t.named++
	}
	return n, ok
}

// Hears implements [policy.Listener].
func (t *timed) Hears() policy.News { return t.of.Hears() }

// Hear implements [policy.Listener].
func (t *timed) Hear(v policy.View, e policy.Effect) {
	began := time.Now()
	t.of.Hear(v, e)
	t.spent += time.Since(began)
}
