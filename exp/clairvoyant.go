package exp

import (
	"math"
	"slices"

	"heddle"
	"heddle/policies"
	"heddle/policy"
	"heddle/sim"
)

// Alone returns a plan that runs each job of p with the cluster to itself, once for each seed: in one run under the
// profile fifo, each job once the one before has ended, in one queue and without faults. It runs as a stock
// ResourceManager only if p runs all its profiles so. The jobs of its results are those of p, in the same order.
func (p *Plan) Alone() (*Plan, error) {
	fifo, err := policies.Load("fifo", nil)
	if err != nil {
		return nil, err
	}
	fifo.Stock = !slices.ContainsFunc(p.Profiles, func(f *policies.Profile) bool { return !f.Stock })
	q := *p
	q.Profiles, q.apart, q.KeepTasks = []*policies.Profile{fifo}, true, true
	q.Faults, q.Loads, q.Trace, q.MaxTime = nil, nil, false, 0
	memoryOnly := !p.countCPU()
	q.Prepare = func(_ int, set *policy.Set) { set.MemoryOnly = memoryOnly }
	return &q, nil
}

// Clairvoyant returns a plan that differs from p only in the order of applications within their queues: the one with
// the least work left goes first. An application's work is what its containers held of the cluster when it ran alone,
// as a dominant share, times how long they held it. Work counts as done as containers end. Everything else of a profile
// stays: limits, gates and places. alone holds the results of [Plan.Alone], by seed.
//
// The result is an estimate of what ordering could reach. It is not a bound: other orders may be better.
func (p *Plan) Clairvoyant(alone []*sim.Result) *Plan {
	var total heddle.Resource
	for i := range p.Nodes {
		total = total.Plus(p.Nodes[i].Total)
	}
	q := *p
	q.needs, q.KeepTasks, q.Trace = nil, false, false
	for _, r := range alone {
		q.needs = append(q.needs, needs(r, total))
	}
	return &q
}

// SetAlone records in the jobs of runs, indexed by profile and then by seed, how long each takes with the cluster to
// itself. alone holds the results of [Plan.Alone].
func SetAlone(runs [][]*sim.Result, alone []*sim.Result) {
	for _, of := range runs {
		for s, r := range of {
			if r == nil || alone[s] == nil {
				continue
			}
			for i := range r.Jobs {
				if j := &alone[s].Jobs[i]; j.State == sim.Succeeded {
					r.Jobs[i].Alone = j.JCT
				}
			}
		}
	}
}

// A need is what a job's containers used when it ran alone.
type need struct {
	work  [heddle.NumKinds]float64 // dominant share × seconds
	count [heddle.NumKinds]int
	never bool // it did not succeed alone: its needs are unknown
}

func needs(r *sim.Result, total heddle.Resource) []need {
	out := make([]need, len(r.Jobs))
	for i := range r.Jobs {
		out[i].never = r.Jobs[i].State != sim.Succeeded
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if t.Ended < t.Granted { // the run was cut short before
			continue
		}
		n := &out[t.Job]
		n.work[t.Kind] += t.Size.Share(total) * t.Ended.Since(t.Granted).Seconds()
		n.count[t.Kind]++
	}
	return out
}

// A knowing order serves the application with the least work left first. Another order orders the queues.
type knowing struct {
	policy.Order
	*knowledge
}

// knowledge is the total need of each application of a run.
type knowledge struct {
	needs      []need
	submitting int     // the job that is being submitted
	of         []*need // by application
}

// know makes the orders of a set know what jobs need.
func know(set *policy.Set, needs []need) *knowledge {
	k := &knowledge{needs: needs}
	for i := range set.Lanes {
		set.Lanes[i].Order = &knowing{set.Lanes[i].Order, k}
	}
	return k
}

// Hears implements [policy.Listener].
func (k *knowledge) Hears() policy.News { return policy.AppAdded }

// Hear implements [policy.Listener]: the application is the job that is being submitted.
func (k *knowledge) Hear(_ policy.View, e policy.Effect) {
	for int(e.App.ID()) >= len(k.of) {
		k.of = append(k.of, &need{})
	}
	k.of[e.App.ID()] = &k.needs[k.submitting]
}

// Steady implements [policy.Order]: work left changes as containers end.
func (o *knowing) Steady(*policy.App) bool { return false }

// App implements [policy.Order]: by priority, then by work left. Applications whose work is unknown come last.
func (o *knowing) App(_ policy.View, a *policy.App) policy.Key {
	n, left := o.of[a.ID()], 0.0
	if n.never {
		left = math.Inf(1)
	}
	for k := heddle.AM + 1; k < heddle.NumKinds; k++ {
		if n.count[k] > 0 {
			left += n.work[k] * max(0, 1-float64(a.Finished(k))/float64(n.count[k]))
		}
	}
	return policy.Key{-int64(a.Priority()), int64(math.Min(left*1e9, math.MaxInt64/2))}
}
