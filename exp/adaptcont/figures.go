package adaptcont

import (
	"cmp"
	"slices"
	"strings"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// What is shown if only the range of all cells was published, or a word about most of them.
const (
	rangeText  = "40 to 75 over all cells"
	rangeTop   = "75, the top of the range"
	rangeLow   = "40, the bottom of the range"
	mostCells  = "50, in most of the cases"
	cpuAtWorst = "15, the bottom of the range: FIFO with different sizes is the exception"
)

// The figures that depend on Dynamic's rule.
const (
	fifoMemory  = "master memory, FIFO, Dynamic, reduction"
	besidePools = "FIFO: Dynamic's memory beside Pool's"
	cpuLikePool = "Dynamic's processors are Pool's, but under FIFO more"
)

// whyCapacity explains why Capacity's masters hold more processors than Pool's if one job comes per wave.
const whyCapacity = "Under Capacity the first job has all workers until the next one comes, and the last job has them again: for more than 200 workers the rule gives 768 MB and 2 vcores."

// The range of reductions of memory over all cells, in percent.
const lowest, highest = 40, 75

// A cell holds what was published for a scheduler with a kind of master: reductions in percent, and what to show
// instead of the number.
type cell struct {
	arm        string
	memory     float64 // 0 = the range of all cells
	memoryText string
	cpu        float64
	cpuText    string
	setUp      bool // the memory determined a parameter
}

// yarn returns the name of the arm that a cell is compared with.
func (c *cell) yarn() string { return strings.SplitN(c.arm, ",", 2)[0] + ", YARN" }

func (c cell) metrics() []exp.Metric {
	n := need(byRule)
	if strings.HasSuffix(c.arm, "Pool") {
		n = byPool
	}
	memory := exp.Metric{Name: "master memory, " + c.arm + ", reduction", Unit: "%", Published: c.memory, Text: c.memoryText, Of: c.saved(n.memorySaved)}
	switch {
	case c.setUp:
		memory.Kind = exp.SetUp
	case c.memory == 0:
		memory.Kind, memory.Text = exp.Shape, rangeText
		memory.Holds = func(all []exp.Runs) bool {
			x := exp.MedianOf(all, memory.Of)
			return x >= 0.8*lowest && x <= highest
		}
	}
	cpu := exp.Metric{Name: "master CPU, " + c.arm + ", reduction", Unit: "%", Kind: exp.Gain, Published: c.cpu, Text: c.cpuText, Of: c.saved(n.cpuSaved)}
	return []exp.Metric{memory, cpu}
}

// saved computes a share of what YARN's masters are given, in percent.
func (c *cell) saved(of func(yarn, x *sim.Result) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 { return of(r.Arm(c.yarn()), r.Arm(c.arm)) }
}

// shared returns the figures that every experiment of the paper has.
func shared(different, random bool) []exp.Metric {
	out := []exp.Metric{
		{Name: "Dynamic's memory below Pool's, mean of Fair and Capacity", Kind: exp.Shape, Text: "Dynamic is the best there on average", Holds: dynamicBest},
		{Name: "mean JCT of Dynamic and Pool within 1 % of YARN's", Kind: exp.Shape, Text: "masters have resources of their own", Holds: noLater},
		{Name: "master memory, YARN, every scheduler", Unit: "MiB", Kind: exp.SetUp, Published: 10240, Of: func(r exp.Runs) float64 {
			return over("YARN", func(_, x *sim.Result) float64 { return MasterMemory(x) })(r) / float64(len(schedulers))
		}},
		{Name: "largest wave, Fair, YARN", Kind: exp.SetUp, Published: workers, Of: exp.Under("Fair, YARN", largestWave(""))},
		{Name: "masters too small for the largest wave that came, Dynamic", Kind: exp.Measured, Text: "none: sufficient resources for every master", Of: tooSmallOf},
		{Name: "failed attempts, Dynamic and Pool, beyond YARN's", Kind: exp.Measured, Of: func(r exp.Runs) float64 {
			more := func(base, x *sim.Result) float64 { return float64(x.FailedAttempts - base.FailedAttempts) }
			return over("Dynamic", more)(r) + over("Pool", more)(r)
		}},
	}
	if different {
		out = slices.Insert(out, 0, exp.Metric{
			Name: cpuLikePool, Kind: exp.Shape, Text: "both behave similarly, except there", Holds: likePool, Why: whyCapacity,
		})
	}
	if different && random {
		out = slices.Insert(out, 0, exp.Metric{
			Name: besidePools, Kind: exp.Shape, Text: "close to and slightly worse", Holds: slightlyWorse, Of: besidePool,
		})
	}
	for _, s := range schedulers {
		out = append(out, exp.Metric{
			Name: "master vcores as asked for, " + s[1] + ", Dynamic, increase", Unit: "%", Kind: exp.Measured, Of: exp.Increased(s[1]+", YARN", s[1]+", Dynamic", vcores),
		})
	}
	return out
}

// masters returns what the last master of each job had in the end: if one is enlarged while it runs, its new size
// counts.
func masters(r *sim.Result) []heddle.Resource {
	out := make([]heddle.Resource, len(r.Jobs))
	last := make([]heddle.Time, len(r.Jobs))
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Kind == heddle.AM && t.Ran() && t.Ended >= last[t.Job] {
			out[t.Job], last[t.Job] = t.Limit, t.Ended
		}
	}
	return out
}

// MasterMemory returns how much memory the masters of all jobs were given, in MiB. A job's last master counts, with its
// final size.
func MasterMemory(r *sim.Result) float64 {
	sum := int64(0)
	for _, m := range masters(r) {
		sum += m[heddle.Memory]
	}
	return float64(sum)
}

// vcores returns the same for their processors.
func vcores(r *sim.Result) float64 {
	sum := int64(0)
	for _, m := range masters(r) {
		sum += m[heddle.CPU]
	}
	return float64(sum) / 1000
}

// A need returns what a master with so many workers at once must have by the paper's rules, in MiB and vcores.
type need func(wave int) (mib, vcores int64)

// byRule is Dynamic's need: 256 MiB for every 100 workers, and a vcore for every two such steps.
func byRule(wave int) (mib, vcores int64) {
	k := int64(max(1, (wave+unitWave-1)/unitWave))
	return 256 * k, (k + 1) / 2
}

// byPool is Pool's need: the small container serves as many workers as there are.
func byPool(int) (mib, vcores int64) { return 512, 1 }

// memorySaved returns how much of YARN's memory is saved by masters that suffice for the largest wave of their jobs, in
// percent.
func (n need) memorySaved(yarn, x *sim.Result) float64 {
	sum, theirs, ours := int64(0), masters(yarn), masters(x)
	for i, wave := range waves(x) {
		if least, _ := n(wave); ours[i][heddle.Memory] >= least {
			sum += theirs[i][heddle.Memory] - ours[i][heddle.Memory]
		}
	}
	return 100 * float64(sum) / MasterMemory(yarn)
}

// cpuSaved returns the same for processors, with YARN's masters counted as in the paper: a physical core each.
func (n need) cpuSaved(yarn, x *sim.Result) float64 {
	sum, theirs, ours := int64(0), masters(yarn), masters(x)
	for i, wave := range waves(x) {
		if _, least := n(wave); ours[i][heddle.CPU] >= 1000*least {
			sum += 2*theirs[i][heddle.CPU] - ours[i][heddle.CPU]
		}
	}
	return 100 * float64(sum) / (2000 * vcores(yarn))
}

// tooSmall counts the masters that are smaller in the end than Dynamic's rule gives for the largest wave that they had.
// Each attempt counts by itself: a master started after its node was lost is sized for what is left.
func tooSmall(r *sim.Result) float64 {
	n := 0
	for i := range r.Tasks {
		x := &r.Tasks[i]
		if x.Kind != heddle.AM || !x.Ran() {
			continue
		}
		var its []edge
		for k := range r.Tasks {
			if t := &r.Tasks[k]; t.Job == x.Job && t.Started >= x.Started && t.Started < x.Ended {
				its = append(its, edges(t)...)
			}
		}
		if least, _ := byRule(atOnce(its)); least > x.Limit[heddle.Memory] {
			n++
		}
	}
	return float64(n)
}

// largestWave computes the largest wave of a job, or of any job if the id is empty.
func largestWave(id string) func(*sim.Result) float64 {
	return func(r *sim.Result) float64 {
		most := 0
		for i, wave := range waves(r) {
			if id == "" || r.Jobs[i].ID == id {
				most = max(most, wave)
			}
		}
		return float64(most)
	}
}

// waves returns the most workers that each job had running at once.
func waves(r *sim.Result) []int {
	of := make([][]edge, len(r.Jobs))
	for i := range r.Tasks {
		t := &r.Tasks[i]
		of[t.Job] = append(of[t.Job], edges(t)...)
	}
	out := make([]int, len(r.Jobs))
	for j := range of {
		out[j] = atOnce(of[j])
	}
	return out
}

// An edge is the start or the end of a task.
type edge struct {
	at heddle.Time
	by int
}

// edges returns the start and the end of a worker that ran.
func edges(t *sim.TaskResult) []edge {
	if t.Kind == heddle.AM || !t.Ran() || t.Ended <= t.Started {
		return nil
	}
	return []edge{{t.Started, 1}, {t.Ended, -1}}
}

// atOnce returns the most tasks that run at once. A task that begins as another ends does not run beside it.
func atOnce(edges []edge) int {
	slices.SortFunc(edges, func(x, y edge) int { return cmp.Or(cmp.Compare(x.at, y.at), x.by-y.by) })
	now, most := 0, 0
	for _, e := range edges {
		now += e.by
		most = max(most, now)
	}
	return most
}

// over sums a figure over the three schedulers with one kind of master, each compared with YARN's.
func over(master string, of func(base, x *sim.Result) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		sum := 0.0
		for _, s := range schedulers {
			sum += of(r.Arm(s[1]+", YARN"), r.Arm(s[1]+", "+master))
		}
		return sum
	}
}

// tooSmallOf computes how many of Dynamic's masters are too small, under all three schedulers.
var tooSmallOf = over("Dynamic", func(_, x *sim.Result) float64 { return tooSmall(x) })

// besidePool returns Dynamic's memory relative to Pool's, under FIFO.
func besidePool(r exp.Runs) float64 {
	return MasterMemory(r.Arm("FIFO, Dynamic")) / MasterMemory(r.Arm("FIFO, Pool"))
}

// slightlyWorse reads "slightly" as up to a third.
func slightlyWorse(all []exp.Runs) bool {
	x := exp.MedianOf(all, besidePool)
	return x > 1 && x <= 4.0/3
}

// likePool reports whether Dynamic's processors are Pool's to within a fifth, except under FIFO, where they are more.
func likePool(all []exp.Runs) bool {
	for _, s := range schedulers {
		more := exp.MedianOf(all, func(r exp.Runs) float64 { return vcores(r.Arm(s[1]+", Dynamic")) / vcores(r.Arm(s[1]+", Pool")) })
		if (more > 1.2) != (s[0] == "fifo") {
			return false
		}
	}
	return true
}

func dynamicBest(all []exp.Runs) bool {
	for _, r := range all {
		if MasterMemory(r.Arm("Fair, Dynamic"))+MasterMemory(r.Arm("Capacity, Dynamic")) >= MasterMemory(r.Arm("Fair, Pool"))+MasterMemory(r.Arm("Capacity, Pool")) {
			return false
		}
	}
	return true
}

func noLater(all []exp.Runs) bool {
	for _, r := range all {
		for _, s := range schedulers {
			for _, m := range []string{", Dynamic", ", Pool"} {
				if !(exp.Increase(exp.MeanJCT(r.Arm(s[1]+", YARN"), nil), exp.MeanJCT(r.Arm(s[1]+m), nil)) <= 1) {
					return false
				}
			}
		}
	}
	return true
}
