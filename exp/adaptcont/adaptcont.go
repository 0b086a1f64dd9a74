// Package adaptcont has the experiments of Feedback-Based Resource Allocation in MapReduce-Based Systems, which calls
// its system AdaptCont.
//
// Ten jobs of ten users under three schedulers, each with YARN's masters and with both of the paper's: at once or one a
// wave, of different sizes or of one, and once more with the loss of nodes. They run with
//
//	heddle exp run adaptcont
//	go test ./exp/adaptcont
package adaptcont

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"heddle"
	"heddle/conf"
	"heddle/exp"
	"heddle/sim"
)

// System is AdaptCont.
var System = exp.System{
	Name:  "adaptcont",
	Title: "AdaptCont",
	What: "AdaptCont gives each ApplicationMaster a container sized to its job instead of the same for all. " +
		"It works the size out from how many tasks the master will look after, or takes the nearest of a pool of sizes, and does so again when the cluster changes.",
	Paper:       "B. Memishi, M. S. Pérez and G. Antoniu, *Feedback-Based Resource Allocation in MapReduce-Based Systems*.",
	Experiments: experiments,
}

// The cluster of AdaptCont's experiments: 250 worker containers of 1 GiB and 1 vcore, five to a node, and
// on every node room for a master beside them that workers do not get.
const (
	nodes   = 50
	perNode = 5
	users   = 10
	workers = nodes * perNode / users // a user's part
	// wave is how long a wave takes, in seconds: a job of 10 GB that is alone under FIFO with YARN's master
	// has its 160 maps done 20.3 s after submission.
	wave = 21
)

var (
	mixed = []string{"500MiB", "3.5GiB", "7GiB", "15GiB", "30GiB", "45GiB", "60GiB", "75GiB", "90GiB", "105GiB"}
	same  = slices.Repeat([]string{"10GiB"}, users)
)

// schedulers are the paper's three: profile, name in tables.
var schedulers = [][2]string{{"fifo", "FIFO"}, {"fair", "Fair"}, {"capacity", "Capacity"}}

const method = `Ten jobs of one user each (WordCount; the paper's sizing does not look at the program), splits of 64 MB,
workers of 1024 MB and 1 vcore. The figures the paper's text has lost are recovered from its totals: 250 worker containers
(8 + 56 + 112 leave 74 for the fourth job), Ω_min = 100, M_min = 256 MB.

* Cluster: 50 nodes with five workers each; how many nodes there were is not said. Half a physical core a vcore, as the paper takes it.
  Masters have resources of their own, as in the paper: each node has room for one beside its five workers, and a lane of its own
  (` + "`per_node`" + `) keeps workers out of it. So a smaller master leaves no room to anybody here, and the mean JCT can only stay.
* FIFO: one queue. Capacity: Hadoop's scheduler, a queue of a tenth for each user that may grow to the whole. Fair: Hadoop's scheduler,
  a queue for each user that is held to a tenth of the workers all its life, which is what the paper calls fair.
* The smallest container is 256 MB (yarn.scheduler.minimum-allocation-mb), for every arm; YARN's master asks for 1024 MB and 1 vcore.
* Reduces begin when a job's maps are done (the paper's two phases run one after the other); the n-th job has n of them, which the paper does not say.
* Random arrivals: one job a wave, in an order drawn from the seed. A wave is 21 s: what a job of one wave needs here.
* What a master needs comes from the simulator's own measured figures: 179 MiB, and 15.5 kB for each task it has run. One with less dies.
* CPU as the paper counts it: YARN's master holds a physical core, which is two vcores. As asked for, it holds one: that row stands below.`

// work writes ten jobs of these sizes, one a user: all at once in this order, or in an order drawn from
// the seed, one a wave. With loss a tenth of the nodes fails in the fifth wave.
func work(sizes []string, random, loss bool) exp.Work {
	return workBeside(heddle.Of(2048, 4000), sizes, random, loss)
}

// workBeside is work with so much room on each node beside its workers.
func workBeside(room heddle.Resource, sizes []string, random, loss bool) exp.Work {
	return func(seed uint64) (string, error) {
		var b strings.Builder
		fmt.Fprintf(&b, "name: adaptcont\ncluster:\n  nodes:\n    - {count: %d, memory: %dMiB, vcores: %d, cores: %g}\n",
			nodes, perNode*1024+room[heddle.Memory], perNode+room[heddle.CPU]/1000, perNode/2.0)
		order := make([]int, len(sizes))
		for i := range order {
			order[i] = i
		}
		gap := 0
		if random {
			gap = wave
			rand.New(rand.NewPCG(seed, 4)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		b.WriteString("queues:\n")
		for i := range users {
			fmt.Fprintf(&b, "  - {name: u%d, capacity: %d, user-limit-factor: %d, maxResources: \"%d mb, %d vcores\"}\n",
				i+1, 100/users, users, 1024*(workers+1), workers+4)
		}
		b.WriteString("workload:\n  jobs:\n")
		for i, n := range order {
			fmt.Fprintf(&b, "    - {id: job%d, queue: u%d, user: u%d, program: wordcount, submit: %ds, input: %s, split: 64MiB, reduces: %d, slow_start: 1, "+
				"master: {memory: 1GiB, vcores: 1}, map: {memory: 1GiB, vcores: 1}, reduce: {memory: 1GiB, vcores: 1}}\n",
				n+1, n+1, n+1, i*gap, sizes[n], n+1)
		}
		if loss {
			b.WriteString("faults:\n")
			for i := range nodes / 10 {
				fmt.Fprintf(&b, "  - {kind: node_loss, at: %ds, node: n%d}\n", 4*wave, nodes-i)
			}
		}
		return b.String(), nil
	}
}

// hadoop is Hadoop's configuration but for the smallest container, 256 MiB, and a queue for each of the
// ten users: in the capacity scheduler a tenth that may grow to the whole, in the fair scheduler no more
// than a tenth of the workers, and a master.
func hadoop() *conf.Hadoop {
	h := conf.Default()
	least := heddle.Of(256, 1000)
	h.Site.Minimum, h.Capacity.Minimum, h.Fair.Minimum, h.Fair.Increment = least, least, least, least
	c, f := h.Capacity, h.Fair
	elastic, held := c.Queues[1], f.Queues[1]
	elastic.Capacity, elastic.MaxCapacity, elastic.UserLimitFactor = 1.0/users, 1, users
	held.Max.Set, held.Max.Fixed = true, heddle.Of(1024*(workers+1), 1000*(workers+4))
	c.Queues, f.Queues, f.Rules = c.Queues[:1], f.Queues[:1], nil
	for i := range users {
		elastic.Path = fmt.Sprintf("root.u%d", i+1)
		held.Path = elastic.Path
		c.Queues, f.Queues = append(c.Queues, elastic), append(f.Queues, held)
	}
	h.CapacityPlacement, h.FairPlacement = conf.NewCapacityPlacement(c), conf.NewFairPlacement(f)
	return h
}

// quickHadoop is the same where the loss of a node is noticed after ten heartbeats instead of Hadoop's ten
// minutes, by when most of the jobs would be over.
func quickHadoop() *conf.Hadoop {
	h := hadoop()
	h.Site.NodeExpiry = 10 * heddle.Second
	return h
}

// arm is a scheduler with a way to size masters: dynamic, pool, or empty for YARN's. options are more of
// the sizer's.
func arm(name, scheduler, master string, options ...string) exp.Arm {
	set := []string{fmt.Sprintf("lanes=[{kinds: [am], order: %s, per_node: 1}, {kinds: [map, reduce, executor, other], order: %s, per_node: %d}]",
		scheduler, scheduler, perNode)}
	if master != "" {
		o := append([]string{"queue: " + scheduler, fmt.Sprintf("per_node: %d", perNode)}, options...)
		set = append(set, fmt.Sprintf("size.am={adaptcont.%s: {%s}}", master, strings.Join(o, ", ")))
	}
	return exp.Arm{Name: name, Profile: scheduler, Set: set, Hadoop: hadoop}
}

// arms are the nine of Table 1: three schedulers, three masters.
func arms() []exp.Arm {
	var out []exp.Arm
	for _, s := range schedulers {
		out = append(out, arm(s[1]+", YARN", s[0], ""), arm(s[1]+", Dynamic", s[0], "dynamic"), arm(s[1]+", Pool", s[0], "pool"))
	}
	return out
}

func experiments() []exp.Experiment {
	allMixed := experiment("adaptcont-all-mixed", "Ten jobs of 0.5 to 105 GB, all at once", "Fig. 5(a), 6(a), 7(a)", work(mixed, false, false), []cell{
		{arm: "FIFO, Dynamic", memory: 40, total: 6144, cpu: 15},
		{arm: "FIFO, Pool", memory: 50, total: 5120, cpu: 50},
		{arm: "Fair, Dynamic", memory: 75, text: rangeTop, cpu: 50},
		{arm: "Capacity, Dynamic", memory: 40, text: rangeBottom, cpu: 50},
	})
	allMixed.Sweeps = append(sweeps(), shared(), wide())
	allSame := experiment("adaptcont-all-same", "Ten jobs of 10 GB, all at once", "Fig. 5(c), 6(c), 7(c)", work(same, false, false), []cell{
		{arm: "FIFO, Dynamic", memory: 40, text: rangeBottom, cpu: 50},
		{arm: "Fair, Dynamic", memory: 75, text: rangeTop, cpu: 50},
		{arm: "Capacity, Dynamic", memory: 75, text: rangeTop, cpu: 50},
	})
	randomMixed := experiment("adaptcont-random-mixed", "Ten jobs of 0.5 to 105 GB in random order, one a wave", "Fig. 5(b), 6(b), 7(b)", work(mixed, true, false), []cell{
		{arm: "FIFO, Dynamic", memory: 40, text: rangeBottom, cpu: 15},
		{arm: "Fair, Dynamic", memory: 75, text: rangeTop, cpu: 50},
		{arm: "Capacity, Dynamic", memory: 40, text: rangeBottom, cpu: 15},
	})
	randomSame := experiment("adaptcont-random-same", "Ten jobs of 10 GB, one a wave", "Fig. 5(d), 6(d), 7(d)", work(same, true, false), []cell{
		{arm: "FIFO, Dynamic", memory: 40, text: rangeBottom, cpu: 50},
		{arm: "Fair, Dynamic", memory: 75, text: rangeTop, cpu: 50},
		{arm: "Capacity, Dynamic", memory: 40, text: rangeBottom, cpu: 50},
	})
	return []exp.Experiment{allMixed, allSame, randomMixed, randomSame, loss()}
}

// loss is the first experiment with a tenth of the cluster lost in the fifth wave.
func loss() exp.Experiment {
	e := experiment("adaptcont-failure", "Ten jobs of 0.5 to 105 GB, all at once; a tenth of the nodes fails in the fifth wave", "4.1, Constraints; Fig. 5(a)",
		work(mixed, false, true), []cell{
			{arm: "FIFO, Dynamic", memory: 40, total: 6144, cpu: 15},
			{arm: "FIFO, Pool", memory: 50, total: 5120, cpu: 50},
			{arm: "Fair, Dynamic", memory: 75, text: rangeTop, cpu: 50},
			{arm: "Capacity, Dynamic", memory: 40, text: rangeBottom, cpu: 50},
		})
	e.Method += "\n* Every master runs by the fifth wave, and with 225 containers none would be of another size: k stays. What feedback changes here is what the first jobs get before it is known that others come.\n* The ResourceManager notices a lost node after ten missed heartbeats, not after Hadoop's ten minutes. A master on one of the five nodes is lost with it, in every arm."
	for i := range e.Arms {
		e.Arms[i].Hadoop = quickHadoop
	}
	sweep := exp.Sweep{Name: "feedback", Title: "Feedback on the loss of nodes", Base: "Capacity, YARN", Columns: columns(), Arms: []exp.Arm{
		arm("Capacity, Dynamic, running masters enlarged", "capacity", "dynamic"),
		arm("… and made smaller", "capacity", "dynamic", "shrink: true"),
		arm("… no feedback", "capacity", "dynamic", "feedback: false"),
	}}
	for i := range sweep.Arms {
		sweep.Arms[i].Hadoop = quickHadoop
	}
	e.Sweeps = []exp.Sweep{sweep}
	return e
}

// What is shown where only the range of all cells was published.
const (
	rangeBottom = "40 to 75 over all cells"
	rangeTop    = "75, the top of the range"
)

// An cell is what was published of one of the nine: reductions in percent, the total in MiB where the text
// has it, and what to show instead of the reduction where it only follows from the published range.
type cell struct {
	arm         string
	memory, cpu float64
	total       float64
	text        string
}

// yarn is the arm a cell is held against.
func (c *cell) yarn() string { return strings.SplitN(c.arm, ",", 2)[0] + ", YARN" }

func experiment(name, title, source string, work exp.Work, cells []cell) exp.Experiment {
	e := exp.Experiment{System: "adaptcont", Name: name, Title: title, Source: source, Method: method, Work: work, Arms: arms()}
	for i := range cells {
		e.Metrics = append(e.Metrics, cells[i].metrics()...)
	}
	e.Metrics = append(e.Metrics,
		exp.Metric{Name: "Dynamic's memory below Pool's, mean of Fair and Capacity", Kind: exp.Shape, Text: "Dynamic is the best there on average", Holds: dynamicBest},
		exp.Metric{Name: "mean JCT of Dynamic and Pool within 1 % of YARN's", Kind: exp.Shape, Text: "masters have resources of their own", Holds: noLater},
		exp.Metric{Name: "masters too small for the largest wave that came, Dynamic", Kind: exp.Measured, Of: over("Dynamic", func(_, x *sim.Result) float64 { return tooSmall(x) })},
		exp.Metric{Name: "failed attempts, Dynamic and Pool, beyond YARN's", Kind: exp.Measured, Of: func(r exp.Runs) float64 {
			more := func(base, x *sim.Result) float64 { return float64(x.FailedAttempts - base.FailedAttempts) }
			return over("Dynamic", more)(r) + over("Pool", more)(r)
		}},
		exp.Metric{Name: "master vcores as asked for, FIFO, Dynamic, increase", Unit: "%", Kind: exp.Measured, Of: exp.Increased("FIFO, YARN", "FIFO, Dynamic", vcores)},
	)
	e.Plots = []exp.Plot{
		{Kind: exp.RunningOverTime, Title: "Waves: running maps and reduces", Arms: []string{"FIFO, Dynamic", "Fair, Dynamic", "Capacity, Dynamic"}},
		{Kind: exp.GaugeOverTime, Title: "Memory of all masters, MiB", Arms: []string{"FIFO, Dynamic", "FIFO, Pool", "Fair, Dynamic", "Capacity, Dynamic"}, Gauge: "masters, MiB"},
		{Kind: exp.BarsPerJob, Title: "JCT of each job", Arms: []string{"FIFO, YARN", "FIFO, Dynamic", "FIFO, Pool"}},
	}
	return e
}

func (c cell) metrics() []exp.Metric {
	out := []exp.Metric{{
		Name: "master memory, " + c.arm + ", reduction", Unit: "%", Kind: exp.Gain, Published: c.memory, Text: c.text,
		Of: exp.Reduced(c.yarn(), c.arm, MasterMemory),
	}}
	if c.total > 0 {
		out = append(out, exp.Metric{
			Name: "master memory, " + c.arm, Unit: "MiB", Kind: exp.Level, Published: c.total,
			Of: exp.Under(c.arm, MasterMemory),
		})
	}
	return append(out, exp.Metric{
		Name: "master CPU, " + c.arm + ", reduction", Unit: "%", Kind: exp.Gain, Published: c.cpu, Text: "15 to 50 over all cells",
		Of: func(r exp.Runs) float64 { return exp.Reduction(2*vcores(r.Arm(c.yarn())), vcores(r.Arm(c.arm))) },
	})
}

// MasterMemory is what the masters of all jobs were given, in MiB; a job's last master counts.
func MasterMemory(r *sim.Result) float64 {
	sum := int64(0)
	for i := range r.Jobs {
		sum += r.Jobs[i].MasterMemory
	}
	return float64(sum)
}

// vcores is the same of their processors.
func vcores(r *sim.Result) float64 {
	sum := int64(0)
	for i := range r.Jobs {
		sum += r.Jobs[i].MasterCPU
	}
	return float64(sum) / 1000
}

// over sums a figure over the three schedulers with a kind of master, each beside YARN's.
func over(master string, of func(base, x *sim.Result) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		sum := 0.0
		for _, s := range schedulers {
			sum += of(r.Arm(s[1]+", YARN"), r.Arm(s[1]+", "+master))
		}
		return sum
	}
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

// tooSmall counts the jobs whose master is smaller than the rule, 256 MiB for every 100 workers at once,
// gives for the largest wave the job really had.
func tooSmall(r *sim.Result) float64 {
	n := 0
	for i, wave := range waves(r) {
		if int64(max(1, (wave+99)/100))*256 > r.Jobs[i].MasterMemory {
			n++
		}
	}
	return float64(n)
}

// waves is how many workers each job had running at once at most.
func waves(r *sim.Result) []int {
	type edge struct {
		at heddle.Time
		by int
	}
	edges := make([][]edge, len(r.Jobs))
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Kind != heddle.AM && t.Started > 0 && t.Ended > t.Started {
			edges[t.Job] = append(edges[t.Job], edge{t.Started, 1}, edge{t.Ended, -1})
		}
	}
	out := make([]int, len(r.Jobs))
	for j, e := range edges {
		slices.SortFunc(e, func(x, y edge) int { return cmp.Or(cmp.Compare(x.at, y.at), x.by-y.by) }) // ends first
		now := 0
		for i := range e {
			now += e[i].by
			out[j] = max(out[j], now)
		}
	}
	return out
}
