package mrorchestrator

import (
	"slices"

	"heddle/exp"
)

const aboutXen = "Twelve machines with two virtual machines each, and one task in each virtual machine. A node is a machine with one slot for maps and one " +
	"for reduces, each with half of its processors and memory; the hypervisor may move both between the slots. (A map and a reduce that shared one slot would " +
	"deadlock.) "

const whyVirtual = "Two single-threaded tasks on two processors never wait for each other. If a machine used all of its memory for files, only Sort alone would end " +
	"earlier, by an eighth of its time, and the memory that its tasks hold cannot be taken from them. The overheads of Xen that the paper names are not simulated."

// virtual is an arm on virtual machines.
func virtual(name, control string) exp.Arm { return onSlots(name, 1, vm, control) }

// virtualMachines is the number of machines, each of which runs two virtual ones.
const virtualMachines = 12

func virtualTogether() exp.Experiment {
	ids := idsOf(suite)
	arms := append(modeArms(virtual), ideal(virtual("", ""), idealVirtual, work(virtualMachines, suite)))
	pairs := []pair{{"slots", "REGRESSION CPU+Memory"}}
	s := scene{
		reduced: func(r exp.Runs, arm string) []float64 { return together(r, "slots", arm, ids) },
		mean:    bestTogether(arms, "slots", exp.Mean), largest: bestTogether(arms, "slots", slices.Max[[]float64]),
		boundIs: idealIs, why: whyVirtual, whyUniform: whyVirtual,
	}
	e := exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-virtual-together",
		Title:   "Six jobs together on virtual machines",
		Source:  "IV-B, Fig. 7c, 7d, 8c, 8d",
		Method:  aboutXen + aboutWorld,
		Work:    work(virtualMachines, suite),
		Arms:    arms,
		Metrics: s.metrics(figures{21.5, 31.4, 8.5, 10.8}),
		Null:    null(virtual, names(modeArms(virtual))[1:]...), NullIs: nullIs,
		Plots: []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of the six jobs together", Arms: []string{"slots", "REGRESSION CPU+Memory", "UNIFORM CPU+Memory"}}},
	}
	e.Metrics = append(e.Metrics, utilisation(pairs, "increase",
		limited{14.1, endsEarlier(arms, "slots"), idealIs + "The work is the same in all arms, so utilisation rises only as the last job ends earlier."},
		limited{13.1, allFull(pairs), allFullIs}, whyVirtual)...)
	return e
}

func virtualSingle() exp.Experiment {
	s := alone6()
	s.why, s.whyUniform = whyVirtual, whyVirtual
	e := exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-virtual-single",
		Title:   "Each of the six jobs alone on virtual machines",
		Source:  "IV-B, Fig. 8a, 8b",
		Method:  aboutXen + aboutWorld,
		Work:    work(virtualMachines, suite),
		Metrics: s.metrics(figures{15.6, 22.6, 7.8, 9.6}),
		NullIs:  nullIs,
	}
	addAlone(&e, virtualMachines, virtual, idealVirtual)
	return e
}

// endsEarlier computes the most by which the use of processors can rise because the last job ends earlier, under any
// schedule of the experiment.
func endsEarlier(arms []exp.Arm, base string) func(exp.Runs) float64 {
	list := names(arms)
	return func(r exp.Runs) float64 {
		most := 0.0
		for _, name := range list {
			most = max(most, 100*(exp.Makespan(r.Arm(base))/exp.Makespan(r.Arm(name))-1))
		}
		return most
	}
}
