package main

import (
	"slices"
	"strconv"

	"heddle/policies"

	"heddle/bench/internal/measure"
)

// A contest measures others against a base: with goals or, if it has columns instead, for a table of them.
type contest struct {
	name    string
	base    side
	others  []side
	goals   []goal
	columns []string // names of figures
	once    bool     // in one round, because it has many sides
}

// A side is a program to run and its name in the result. A side without a program is a limit that was set: its figures
// are fixed.
type side struct {
	name    string
	program string
	args    []string
	fixed   measure.Figures
	beside  bool // printed for comparison, without a goal
}

// A goal is what the ratio other ÷ base must reach, or stay below, in one of the programs' figures. The names of
// figures end in their unit.
type goal struct {
	figure string
	ratio  float64
	below  bool
}

func (g goal) met(ratio float64) bool {
	if g.below {
		return ratio <= g.ratio
	}
	return ratio >= g.ratio
}

func (g goal) String() string {
	sign := "≥"
	if g.below {
		sign = "≤"
	}
	return sign + " " + strconv.FormatFloat(g.ratio, 'g', -1, 64)
}

const (
	rate = "allocations_per_s"
	life = "allocation_and_release_ns"
	wall = "wall_s"
	pace = "simulated_per_wall"
)

// peerAsks is the most that the peer is asked for: ten thousand is where it does best, and it is done in half a minute.
const peerAsks = 10_000

// contests are all comparisons, in the order in which they run.
var contests = list()

func list() []contest {
	var all []contest
	for _, s := range measure.Shapes {
		asks := strconv.Itoa(min(s.Asks, peerAsks))
		all = append(all, contest{
			name: "peer " + s.Name, goals: []goal{{figure: rate, ratio: 500}},
			base:   side{name: "kube-scheduler, " + asks + " pods", program: "peer-kube", args: []string{"-nodes", strconv.Itoa(s.Nodes), "-asks", asks}},
			others: []side{core("node by node", s, "beat"), core("spreading", s, "spread")},
		})
	}
	for _, s := range measure.Shapes {
		all = append(all, contest{
			name: "floor " + s.Name, goals: []goal{{figure: life, ratio: 8, below: true}},
			base:   side{name: "floor", program: "floor", args: []string{"-shape", s.Name}},
			others: []side{core("node by node", s, "beat"), core("spreading", s, "spread")},
		})
	}
	for _, s := range measure.Shapes[:2] {
		all = append(all, contest{
			name: "cliffs " + s.Name, goals: []goal{{figure: rate, ratio: 0.8}},
			base: core("spreading", s, "spread"),
			others: []side{
				core("2 applications", s, "spread", "-apps", "2"),
				core("packing", s, "pack"),
				core("10 × the nodes", s, "spread", "-nodes", strconv.Itoa(10*s.Nodes)),
			},
		})
	}
	return append(append(all, simulators()...), profiles()...)
}

// profileTasks is how many tasks the simulator gets under each profile.
const profileTasks = 24_000

// profiles returns the contests of every built-in profile against the CapacityScheduler's.
func profiles() []contest {
	var all []contest
	every := func(name string, columns []string, with func(profile string) side) {
		c := contest{name: "profiles, " + name, base: with("capacity"), columns: columns, once: true}
		for _, p := range policies.Names() {
			if p != "capacity" {
				c.others = append(c.others, with(p))
			}
		}
		all = append(all, c)
	}
	onCore := func(name string, s measure.Shape, place, kind string) {
		every(name, []string{rate, life}, func(profile string) side {
			c := core("", s, place, "-profile", profile, "-kind", kind)
			c.name = profile
			return c
		})
	}
	for _, s := range append(slices.Clip(measure.Shapes), measure.Crowd) {
		onCore(s.Name, s, "beat", "map")
	}
	onCore("A spreading", measure.Shapes[0], "spread", "map")
	onCore("A packing", measure.Shapes[0], "pack", "map")
	onCore("A executors", measure.Shapes[0], "beat", "executor")
	for _, load := range []string{"farm", "day"} {
		every("simulator, "+load, []string{wall, pace}, func(profile string) side {
			return side{name: profile, program: "sim", args: []string{"-load", load, "-profile", profile, "-tasks", strconv.Itoa(profileTasks)}}
		})
	}
	return all
}

// simulators returns the contests on 10,000 nodes with a million tasks.
func simulators() []contest {
	given := func(load string) side {
		return side{name: "heddle sim, given world", program: "sim", args: []string{"-load", load}}
	}
	full := func(load string) side {
		return side{name: "heddle sim, full world", program: "sim", args: []string{"-load", load, "-full"}, beside: true}
	}
	return []contest{
		{
			name:   "simulator, farm",
			goals:  []goal{{wall, 1, true}, {measure.PeakMemory, 1, true}},
			base:   side{name: "limit", fixed: measure.Figures{wall: 30, measure.PeakMemory: 2048}},
			others: []side{given("farm"), full("farm")},
		},
		{
			name:   "simulator, day",
			goals:  []goal{{figure: pace, ratio: 1500}, {measure.PeakMemory, 1, true}},
			base:   side{name: "real time", fixed: measure.Figures{pace: 1, measure.PeakMemory: 2048}},
			others: []side{given("day"), full("day")},
		},
		{
			name:   "simulator, farm beside SimGrid",
			goals:  []goal{{wall, 0.5, true}, {measure.PeakMemory, 0.5, true}},
			base:   side{name: "SimGrid, deciding nothing", program: simgrid, args: []string{"10000", "1000000"}},
			others: []side{given("farm")},
		},
	}
}

func core(name string, s measure.Shape, place string, more ...string) side {
	return side{name: "heddle, " + name, program: "core", args: append([]string{"-shape", s.Name, "-place", place}, more...)}
}
