package mrorchestrator

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// mesos is an arm on Mesos: slots of 1 core and 1 GiB, the default of its Hadoop framework, shared among the jobs by
// dominant resources.
func mesos(name, control string) exp.Arm { return onProfile("fair", name, nil, gigabyte, control) }

// ngm is an arm on Hadoop 0.23: containers of 1 GiB, shared by the capacity scheduler.
func ngm(name, control string) exp.Arm { return onProfile("capacity", name, nil, gigabyte, control) }

// small returns two arms with containers of another size. They show the best that controlling limits could reach if
// every task had no more than it needs from the start: once as the manager schedules, and once with the job that ends
// soonest first.
func small(profile string, mib, milli int64) []exp.Arm {
	name := fmt.Sprintf("tasks of %d MiB and %d milli-vcores", mib, milli)
	a := onProfile(profile, name, nil, heddle.Of(mib, milli), "")
	return []exp.Arm{a, first(name+", soonest job first", a)}
}

// A manager is a resource manager on top of which the orchestrator runs.
type manager struct {
	name, title, method, base string
	arm                       func(name, control string) exp.Arm
	sizes                     []exp.Arm // with tasks of the size that they need
	mean, largest             float64   // reductions of JCT, published
	cpu, memory               float64   // increases of utilisation, published
	why                       string
}

// experiment runs the orchestrator on top of the manager.
func (m *manager) experiment() exp.Experiment {
	ids := idsOf(suite)
	ours, other := "MROrchestrator + "+m.base, "UNIFORM + "+m.base
	arms := []exp.Arm{m.arm(m.base, ""), m.arm(ours, orchestrate("regression", "")), m.arm(other, orchestrate("uniform", ""))}
	arms = slices.Concat(arms, knowing(m.arm), m.sizes)
	reduced := func(fold func([]float64) float64) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 { return fold(together(r, m.base, ours, ids)) }
	}
	base := func(r exp.Runs, _ string) *sim.Result { return r.Arm(m.base) }
	e := exp.Experiment{
		System: "mrorchestrator", Name: m.name, Title: m.title, Source: "IV-C, Fig. 9d",
		Method: m.method + aboutWorld + bestIs + "Four more arms give tasks containers of the size that they need from the start, so that as many tasks run at once as " +
			"memory control could ever make room for.",
		Work: work(workers, suite),
		Arms: arms,
		Metrics: []exp.Metric{
			{Name: "JCT, mean reduction", Published: m.mean, Of: reduced(exp.Mean), Bound: mostReduced(base, exp.Mean)},
			{Name: "JCT, largest reduction", Published: m.largest, Of: reduced(slices.Max[[]float64]), Bound: mostReduced(base, slices.Max[[]float64])},
		},
		Null: null(m.arm, ours, other), NullIs: nullIs,
		Plots: []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of the six jobs together", Arms: []string{m.base, ours, other, "soonest job first"}}},
	}
	for i := range e.Metrics {
		k := &e.Metrics[i]
		k.Unit, k.Kind, k.BoundIs, k.Why = "%", exp.Gain, mostReducedIs, m.why
	}
	pairs := []pair{{m.base, ours}}
	e.Metrics = append(e.Metrics, utilisation(pairs, "increase", m.cpu, m.memory, m.why)...)
	e.Metrics = append(e.Metrics, gained(bestFound, bestTogether(arms, m.base))...)
	e.Sweeps = []exp.Sweep{{
		Name: "ablation", Title: "What the gain comes from", Base: m.base,
		Arms: []exp.Arm{
			m.arm(m.base, ""), m.arm(ours, orchestrate("regression", "")),
			m.arm("CPU", orchestrate("regression", "mode: cpu")),
			m.arm("Memory", orchestrate("regression", "mode: memory")),
			m.arm("memory lowered always (Alg. 1 as printed)", orchestrate("regression", "lower_memory: always")),
			m.arm("memory lowered always, half again above use", orchestrate("regression", "lower_memory: always, room: 0.5")),
			m.arm("flagged tasks only", orchestrate("regression", "scope: flagged")),
		},
		Columns: columns(),
	}}
	return e
}

const whyAtop = "Lowering a limit frees memory in the scheduler's accounts, so more containers start, but the heap stays as large as it was: a reduce grows as it " +
	"copies, and a reduce that outgrows its limit swaps until the next epoch. If limits are lowered as printed in Algorithm 1, jobs take longer than without " +
	"control (ablation), so this is off by default."

func onMesos() exp.Experiment {
	m := manager{
		name: "mrorchestrator-mesos", title: "MROrchestrator on Mesos with dominant resource fairness", base: "Mesos", arm: mesos,
		method: "Mesos is the fair scheduler with DRF among the jobs, on slots of 1 core and 1 GiB (the defaults of Mesos' Hadoop framework). A node has processors for two of them. ",
		sizes:  slices.Concat(small("fair", 512, 500), small("fair", 312, 250)),
		mean:   12.8, largest: 17, cpu: 11.7, memory: 8.2,
		why: "A node runs two single-threaded tasks with a processor each, so weights change nothing, and a lower memory limit makes no room if processors are scarce. " + whyAtop,
	}
	return m.experiment()
}

func onNGM() exp.Experiment {
	m := manager{
		name: "mrorchestrator-ngm", title: "MROrchestrator on the next generation of MapReduce (YARN)", base: "NGM", arm: ngm,
		method: "NGM is the capacity scheduler of Hadoop 0.23, which counts only memory, with its default containers of 1 GiB. ",
		sizes:  slices.Concat(small("capacity", 512, 1000), small("capacity", 312, 1000)),
		mean:   16.6, largest: 23.1, cpu: 19.2, memory: 13.1,
		why: "Three tasks share two processors. A schedule that knows which job ends soonest and also runs more, smaller tasks gains more (“JCT with " + bestFound + "”); the mechanism's rules do neither. " + whyAtop,
	}
	return m.experiment()
}

func against() exp.Experiment {
	ids := idsOf(suite)
	ours := append([]exp.Arm{native("MROrchestrator", orchestrate("regression", ""))}, knowing(native)...)
	gain := func(arm string) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 { return exp.Mean(together(r, "slots", arm, ids)) }
	}
	base := func(r exp.Runs, _ string) *sim.Result { return r.Arm("slots") }
	beyond := func(of func(exp.Runs) float64, than string) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 { return of(r) - gain(than)(r) }
	}
	mine, best, most := gain("MROrchestrator"), bestTogether(ours, "slots")(exp.Mean), mostReduced(base, exp.Mean)
	why := "The three differ here in how many tasks run at once on a node of two cores (ten, two or three) and in whether the tasks have the memory that they want; MROrchestrator changes little of that."
	const mostBeyondIs = mostReducedIs + " The mean of that, less what the other manager reduces."
	return exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-against",
		Title:  "MROrchestrator, Mesos and NGM, each against slots under the fair scheduler",
		Source: "IV-C, Fig. 9c",
		Method: "Slots, Mesos and NGM are as in their own experiments. Slots alone have most of MROrchestrator's lead over Mesos (the null " +
			"arm). " + aboutWorld + bestIs,
		Work: work(workers, suite),
		Arms: slices.Concat([]exp.Arm{native("slots", "")}, ours, []exp.Arm{mesos("Mesos", ""), ngm("NGM", "")}),
		Null: []exp.Arm{native("MROrchestrator", "")}, NullIs: "slots alone, without control",
		Metrics: []exp.Metric{
			{Name: "mean reduction of JCT, beyond Mesos'", Unit: "points", Kind: exp.Gain, Published: 17.5, Of: beyond(mine, "Mesos"), Bound: beyond(most, "Mesos"), BoundIs: mostBeyondIs, Why: why},
			{Name: "mean reduction of JCT, beyond NGM's", Unit: "points", Kind: exp.Gain, Published: 8.4, Of: beyond(mine, "NGM"), Bound: beyond(most, "NGM"), BoundIs: mostBeyondIs, Why: why},
			{
				Name: "jobs for which MROrchestrator is best", Kind: exp.Shape, Text: "all but PiEst", Why: why,
				Holds: func(all []exp.Runs) bool {
					for _, id := range ids {
						best := exp.MedianOf(all, func(r exp.Runs) float64 {
							return math.Min(exp.JCT(r.Arm("Mesos"), id), exp.JCT(r.Arm("NGM"), id)) - exp.JCT(r.Arm("MROrchestrator"), id)
						}) > 0
						if best == (id == "PiEst") {
							return false
						}
					}
					return true
				},
			},
			{
				Name: "mean reduction of JCT, NGM's beyond Mesos'", Unit: "points", Kind: exp.SetUp, Published: 9.1, Of: beyond(gain("NGM"), "Mesos"),
			},
			{Name: "mean reduction of JCT with " + bestFound + ", beyond Mesos'", Unit: "points", Kind: exp.Measured, Of: beyond(best, "Mesos")},
			{Name: "mean reduction of JCT with " + bestFound + ", beyond NGM's", Unit: "points", Kind: exp.Measured, Of: beyond(best, "NGM")},
		},
		Plots: []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of the six jobs together", Arms: []string{"slots", "MROrchestrator", "Mesos", "NGM"}}},
	}
}

func cost() exp.Experiment {
	cost := func(arm string) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			base, ours := r.Arm("slots"), r.Arm(arm)
			return 1000 * (ours.Wall - base.Wall) / (ours.Makespan.Seconds() / 20)
		}
	}
	return exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-cost",
		Title:  "What profiling, detection, models and resolution cost in each epoch of 20 s",
		Source: "IV-D",
		Method: "Four times the cluster and four of each job, so that there is something to measure (920 tasks at once). The figure is the extra " +
			"time of a run on this machine compared with a run without MROrchestrator, divided by the number of epochs. It includes the simulator's " +
			"part in measuring every task each 5 s, and it varies with the machine's other load.",
		Work: func(seed uint64) (string, error) {
			text, err := work(4*workers, suite)(seed)
			return strings.ReplaceAll(text, "program:", "count: 4, program:"), err
		},
		Arms: []exp.Arm{native("slots", ""), native("REGRESSION", orchestrate("regression", "")), native("UNIFORM", orchestrate("uniform", ""))},
		Metrics: []exp.Metric{
			{Name: "an epoch with REGRESSION", Unit: "ms", Kind: exp.Measured, Published: 2000, Text: "models below 10 % of 20 s, resolution below 4 %, detection tens of ms", Of: cost("REGRESSION")},
			{Name: "an epoch with UNIFORM", Unit: "ms", Kind: exp.Measured, Published: 200, Text: "models below 1 % of 20 s", Of: cost("UNIFORM")},
		},
	}
}
