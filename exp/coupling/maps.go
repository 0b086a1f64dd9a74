package coupling

import (
	"fmt"
	"math"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

const beta1, beta5 = "Coupling, β = 0.1", "Coupling, β = 0.5"

// fixed returns the arms with a fixed β.
func fixed() []exp.Arm {
	return []exp.Arm{arm(beta1, "coupling", fmt.Sprintf(peekOptions, "beta: 0.1")), arm(beta5, "coupling", fmt.Sprintf(peekOptions, "beta: 0.5"))}
}

// The null arm of experiments on maps, for every arm with random peeking.
const anywhereIs = "maps start on any node with a free slot as soon as it reports"

func everywhere(names ...string) (arms []exp.Arm) {
	for _, name := range names {
		arms = append(arms, arm(name, "coupling", anywhere))
	}
	return arms
}

// betas has fixed and adaptive β, other readings of Alg. 3, and one rack.
func betas(on nodes, jobs []job, columns ...exp.Column) exp.Sweep {
	s := exp.Sweep{Name: "beta", Title: "Random peeking: β fixed and adaptive, other readings of Alg. 3, one rack", Base: fair, Columns: columns, Plot: true}
	for _, o := range []struct{ name, option string }{
		{"β = 0.1", "beta: 0.1"},
		{"β = 0.3", "beta: 0.3"},
		{"β = 0.5", "beta: 0.5"},
		{"β = 1", "beta: 1"},
		{"adaptive", ""},
		{"adaptive, other nodes' slots", "others: true"},
		{"adaptive, a draw for every free slot", "once: false"},
	} {
		s.Arms = append(s.Arms, arm(o.name, "coupling", fmt.Sprintf(peekOptions, o.option)))
	}
	on.flat = true
	for _, o := range []struct{ name, option string }{{"one rack, β = 0.1", "beta: 0.1"}, {"one rack, β = 0.5", "beta: 0.5"}, {"one rack, adaptive", ""}} {
		a := arm(o.name, "coupling", fmt.Sprintf(peekOptions, o.option))
		a.Work = work(on, jobs...)
		s.Arms = append(s.Arms, a)
	}
	s.Arms = append(s.Arms, arm("any node at once", "coupling", anywhere))
	return s
}

func wordCount() exp.Experiment {
	jobs := []job{{id: "wordcount", program: "wordcount", maps: 427, reduces: 1}}
	const less, more = "JCT with β = 0.1, reduction", "JCT with β = 0.5, reduction"
	return exp.Experiment{
		System: "coupling", Name: "coupling-wordcount", Title: "One WordCount whose data lies on seven of fifteen nodes", Source: "Fig. 10, 11 and Eq. 2",
		Method: method + `* One reduce, Hadoop's default; the paper names none.
* A larger gain is not better, because β trades speed for locality. So the gain with β = 0.1 must match the published one within 20 %.
`,
		LivesOff: []string{"noise", "slow_nodes"}, // maps that do not end in step, as in Eq. 2
		Work:     work(setB, jobs...),
		Arms:     append(both(), fixed()...), Null: everywhere(coupling, beta1, beta5), NullIs: anywhereIs,
		Metrics: []exp.Metric{
			{Name: more, Unit: "%", Published: 38.7, Of: exp.ReducedJCT(fair, beta5, nil)},
			{
				Name: less, Unit: "%", Kind: exp.Level, Published: 18.3, Of: exp.ReducedJCT(fair, beta1, nil),
				Why: "Whether and when a timer expires under Fair differs by seed (Eq. 2), and so does Fair's time.",
			},
			{Name: "maps that run most of the time under Fair", Kind: exp.SetUp, Published: 28, Of: exp.Under(fair, mostMapsFor)},
			{
				Name: "probability that all maps start where their data is (Eq. 2), by the map time under Fair", Unit: "%", Kind: exp.SetUp, Published: 92.9,
				Of: func(r exp.Runs) float64 {
					const s, T, N = 28, 15, 427
					return 100 * math.Pow(-math.Expm1(-s*T/exp.MeanTask(r.Arm(fair), heddle.Map, nil)), N)
				},
			},
			{
				Name: "map time under Fair", Unit: "s", Kind: exp.SetUp, Published: 48.5, Text: "48.5; the core speed is derived from it",
				Of: exp.Under(fair, func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) }),
			},
		},
		Plots: []exp.Plot{
			{Kind: exp.RunningOverTime, Title: "Fair (Fig. 10)", Arms: []string{fair}},
			{Kind: exp.RunningOverTime, Title: "β = 0.5 (Fig. 11)", Arms: []string{beta5}},
			{Kind: exp.RunningOverTime, Title: "β = 0.1 (Fig. 11)", Arms: []string{beta1}},
		},
		Sweeps: []exp.Sweep{betas(setB, jobs, jctColumn, localColumn)},
	}
}

func mapOnly() exp.Experiment {
	return exp.Experiment{
		System: "coupling", Name: "coupling-map-only", Title: "Ten jobs without reduces, whose data lies on seven of fifteen nodes", Source: "Table III and Fig. 13",
		Method: method, Work: work(setB, table3...), Arms: both(), Null: everywhere(coupling), NullIs: anywhereIs,
		Metrics: []exp.Metric{{Name: "mean JCT, reduction", Unit: "%", Published: 24, Of: exp.ReducedJCT(fair, coupling, nil)}},
		Plots: []exp.Plot{
			{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 13a)"},
			{Kind: exp.RunningOverTime, Title: "Fair (Fig. 13b)", Arms: []string{fair}},
			{Kind: exp.RunningOverTime, Title: "Coupling (Fig. 13b)", Arms: []string{coupling}},
		},
	}
}

func locality() exp.Experiment {
	local := func(arm string) func(exp.Runs) float64 {
		return exp.Under(arm, func(x *sim.Result) float64 { return float64(x.LocalMaps) })
	}
	intake := func(arm string) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			w := r.Work[arm]
			return peakIntake(r.Arm(arm), func(job int, task int32) int64 { return w.Jobs[job].Maps[task].Input })
		}
	}
	const between = "local maps under Fair, between those with β = 0.1 and 0.5"
	return exp.Experiment{
		System: "coupling", Name: "coupling-locality", Title: "Local maps and the busiest node's network, ten jobs without reduces", Source: "Fig. 14 and 15",
		Method: method + "* The busiest node's traffic is the map input that it receives over the network, as the mean over time.\n",
		Work:   work(setB, table3...),
		Arms:   append(both(), fixed()...), Null: everywhere(coupling, beta1, beta5), NullIs: anywhereIs,
		Mutations: chanceMutations(between),
		Metrics: []exp.Metric{
			{
				Name: between, Kind: exp.Shape, Text: "Fair lies between β = 0.1 (more) and β = 0.5 (fewer)",
				Of: local(fair),
				Holds: func(all []exp.Runs) bool {
					than := exp.MedianOf(all, local(fair))
					return exp.MedianOf(all, local(beta1)) >= than && than >= exp.MedianOf(all, local(beta5))
				},
			},
			{
				Name: "busiest node's intake, Coupling ÷ Fair", Kind: exp.Shape, Text: "higher with Coupling",
				Of: func(r exp.Runs) float64 { return intake(coupling)(r) / intake(fair)(r) },
				Holds: func(all []exp.Runs) bool {
					return exp.MedianOf(all, intake(coupling)) > exp.MedianOf(all, intake(fair))
				},
			},
		},
		Plots:  []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of each job"}},
		Sweeps: []exp.Sweep{betas(setB, table3, localColumn, jctColumn)},
	}
}
