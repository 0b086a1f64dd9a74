package mrorchestrator

import (
	"heddle/exp"
	"heddle/sim"
)

const aboutXen = "Twelve machines with two virtual machines each, and one task in each virtual machine. A node is a machine with one slot for maps and one " +
	"for reduces, each with half of its processors and memory; the hypervisor may move both between the slots. (A map and a reduce that shared one slot would " +
	"deadlock.) "

const (
	twoOnTwo   = "Two single-threaded tasks on two processors never wait for each other. " + ideallyIs
	withoutXen = " The overheads of Xen that the paper names are not simulated."

	whyVirtualAlone = twoOnTwo + " Only Sort ends earlier there, by a tenth of its time, and the memory that its tasks hold cannot be taken from them." + withoutXen
	whyVirtualUsed  = twoOnTwo + " The six jobs together end a hundredth earlier there on average. A job's work is the same in all arms, so processors are used more only " +
		"as the last job ends earlier." + withoutXen
	whyVirtualTogether = whyVirtualUsed + " Serving the jobs one after the other, the shortest first, gains more " +
		"than published, but which tasks start is not for the mechanism to say."
)

// virtual is an arm on virtual machines.
func virtual(name, control string) exp.Arm { return onSlots(name, 1, vm, control) }

// virtualMachines is the number of machines, each of which runs two virtual ones.
const virtualMachines = 12

func virtualTogether() exp.Experiment {
	ids := idsOf(suite)
	best := ideal(virtual("", ""), idealVirtual, work(virtualMachines, suite))
	arms := append(modeArms(virtual), best)
	pairs := []pair{{"slots", "REGRESSION CPU+Memory"}}
	s := scene{
		reduced: func(r exp.Runs, arm string) []float64 { return together(r, "slots", arm, ids) },
		base:    func(r exp.Runs, _ string) *sim.Result { return r.Arm("slots") },
		why:     whyVirtualTogether, whyUniform: whyVirtualTogether,
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
	e.Metrics = append(e.Metrics, utilisation(pairs, "increase", 14.1, 13.1, whyVirtualUsed)...)
	e.Metrics = append(e.Metrics, gained(ideally, bestTogether([]exp.Arm{best}, "slots"))...)
	return e
}

func virtualSingle() exp.Experiment {
	s := alone6()
	s.why, s.whyUniform = whyVirtualAlone, whyVirtualAlone
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
	e.Metrics = append(e.Metrics, gained(ideally, bestAlone)...)
	return e
}
