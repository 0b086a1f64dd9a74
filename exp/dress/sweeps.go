package dress

import (
	"slices"
	"strings"

	"heddle"
	"heddle/exp"
	"heddle/policy"
	"heddle/sim"
)

// sweep returns a table of arms compared with Capacity.
func sweep(name, title string, arms ...exp.Arm) exp.Sweep {
	return exp.Sweep{Name: name, Title: title, Base: "capacity", Arms: arms, Columns: []exp.Column{
		{Name: "JCT of small jobs, mean reduction", Unit: "%", Of: func(base, x *sim.Result) float64 { return exp.Mean(rates(base, x, jct, Small)) }},
		{Name: "JCT of large jobs, mean increase", Unit: "%", Of: func(base, x *sim.Result) float64 { return -exp.Mean(rates(base, x, jct, large)) }},
		{Name: "worst increase", Unit: "%", Of: func(base, x *sim.Result) float64 { return worstOf(rates(base, x, jct, large)) }},
		exp.Reductions("mean wait, reduction", all(exp.Mean, wait)),
		exp.Reductions("mean JCT, reduction", exp.JCTs(nil)),
		exp.Increases("makespan, increase", exp.Makespan),
	}}
}

// over returns a sweep over one option, or a few options together, in the paper's symbols.
func over(name, title string, options ...string) exp.Sweep {
	symbols := strings.NewReplacer("theta: ", "θ = ", "delta_min: ", "δ_min = ", "delta_max: ", "δ_max = ", "delta: ", "δ = ", "adjust: false", "fixed", "patience: -1", "none", "patience: ", "", "[", "", "]", "")
	s := sweep(name, title)
	for _, o := range options {
		s.Arms = append(s.Arms, arm(symbols.Replace(o), o))
	}
	return s
}

// plotted returns the sweep with its first column drawn.
func plotted(s exp.Sweep) exp.Sweep {
	s.Plot = true
	return s
}

// sweeps returns what the paper's text and its listing leave open, the ablations, and the parameters whose analysis the
// paper omits for lack of space.
func sweeps() []exp.Sweep {
	return []exp.Sweep{
		sweep("readings", "the listing, and what the text says about its runs",
			arm("as it comes", ""),
			arm("the reserve is kept while there are small jobs", "keep: jobs"),
			arm("… and is 30 % at most", "keep: jobs, delta_max: 0.3"),
			arm("10 % at least", "delta_min: 0.1"),
			arm("the cumulative form of Eq. 9, as printed", "release: true, estimate: cumulative"),
			arm("classified against what is available", "classify_against: available"),
			arm("three categories, θ = 5 and 10 %", "theta: [0.05, 0.10], delta: 0.05"),
		),
		sweep("ablation", "each mechanism alone, and each left out",
			arm("all", ""),
			arm("categories alone", "reserve: false"),
			arm("fixed reservation (no Alg. 3)", "adjust: false"),
			arm("with the release estimate (Alg. 1 and 2)", "release: true"),
			arm("… adjusting every 10 s", "release: true, interval: 10"),
			arm("adjusting every 10 s, without it", "interval: 10"),
			arm("… with t_s = t_e = 1", "release: true, t_s: 1, t_e: 1"),
			lying("demand not known at submission", unknown),
			lying("small jobs are told as large ones, and large ones as small", turned),
			arm("what comes free is divided at the next interval", "prompt: false"),
			arm("large jobs begin with what there is", "serve: order"),
			arm("a small job begins when all that it asks for fits", "lend: whole"),
			exp.Arm{Name: "in the queue's order", Profile: "dress", Hadoop: site, Set: []string{"lanes=[{kinds: [am, map, reduce, executor, other], order: capacity}]"}},
			arm("without the bound on waiting", "patience: -1"),
			exp.Arm{Name: "behind Capacity's own limits", Profile: "dress", Hadoop: site, Set: []string{"share=[capacity, dress]"}},
		),
		plotted(over("theta", "the bound between small and large", "theta: [0.02]", "theta: [0.05]", "theta: [0.10]", "theta: [0.15]", "theta: [0.20]", "theta: [0.30]")),
		plotted(over("fixed", "the reserve ratio, never adjusted", "delta: 0.05, adjust: false", "delta: 0.10, adjust: false", "delta: 0.20, adjust: false", "delta: 0.30, adjust: false", "delta: 0.40, adjust: false")),
		plotted(over("interval", "seconds between adjustments", "interval: 0.2", "interval: 1", "interval: 5", "interval: 10")),
	}
}

// patience is the sweep over the bound on waiting, which is not in the paper.
func patience() exp.Sweep {
	return over("patience", "seconds after which a large job waits for no other", "patience: -1", "patience: 30", "patience: 100", "patience: 150", "patience: 300", "patience: 600")
}

// A liar reports a different demand for each application than its facts do, before any other policy hears of it.
type liar struct {
	policy.Unshared
	seed   uint64
	demand lie
}

// Hears implements [policy.Listener].
func (liar) Hears() policy.News { return policy.AppAdded }

// Hear implements [policy.Listener].
func (l liar) Hear(_ policy.View, e policy.Effect) {
	f := e.App.Facts()
	f.Demand = l.demand(l.seed, e.App.ID(), f.Demand)
}

// A lie returns the demand that a run with this seed reports for an application whose demand is d.
type lie func(seed uint64, id heddle.AppID, d heddle.Demand) heddle.Demand

// lying is DRESS that is told false demands.
func lying(name string, demand lie) exp.Arm { return told(arm(name, ""), demand) }

// told is an arm that is told false demands.
func told(a exp.Arm, demand lie) exp.Arm {
	a.Prepare = func(seed uint64, set *policy.Set) {
		set.Share = slices.Insert(slices.Clone(set.Share), 0, policy.Share(liar{seed: seed, demand: demand}))
	}
	return a
}

func unknown(uint64, heddle.AppID, heddle.Demand) heddle.Demand { return heddle.Demand{} }

// turned presents large jobs as small ones and small ones as large.
func turned(_ uint64, _ heddle.AppID, d heddle.Demand) heddle.Demand {
	if d.Containers > mostSmall {
		d.Containers = 1
	} else {
		d.Containers = nodes * cores
	}
	return d
}

func one(_ uint64, _ heddle.AppID, d heddle.Demand) heddle.Demand {
	d.Containers = 1
	return d
}

// least presents each of the four jobs as one container.
func least(_ uint64, _ heddle.AppID, d heddle.Demand) heddle.Demand {
	d.Each = heddle.Of(8<<10, 1000)
	return d
}

// atRandom presents half of the jobs, drawn by the seed, as small and the others as large. Ids count the jobs.
func atRandom(seed uint64, id heddle.AppID, d heddle.Demand) heddle.Demand {
	if d.Containers = 1; exp.Chance(seed).Perm(jobs)[id] < jobs/2 {
		d.Containers = nodes * cores
	}
	return d
}

// null is DRESS that reserves nothing.
func null() exp.Arm { return arm("dress", "reserve: false") }

// mutations returns mistakes in DRESS. They must lose the mean of the small jobs. With MapReduce single jobs gain as
// much by chance.
func mutations() []exp.Mutation {
	return []exp.Mutation{
		{Name: "constant: every job is reported as asking for one container", Arms: []exp.Arm{lying("dress", one)}, Loses: []string{smallMean}},
		{Name: "random: half of the jobs are reported as small, half as large", Arms: []exp.Arm{lying("dress", atRandom)}, Loses: []string{smallMean}},
	}
}
