// Package adaptcont has the experiments of Feedback-Based Resource Allocation in MapReduce-Based Systems, which calls
// its system AdaptCont.
//
// Ten jobs of ten users run under three schedulers, each with YARN's masters and with both of the paper's. The jobs
// come at once or one per wave, with different sizes or the same. A tenth of the nodes fails in the fifth wave. One
// experiment has no published counterpart: many small jobs with a limit on what masters hold. They run with
//
//	heddle exp run adaptcont
//	go test ./exp/adaptcont
package adaptcont

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"heddle"
	"heddle/conf"
	"heddle/exp"
)

// System is AdaptCont.
var System = exp.System{
	Name:  "adaptcont",
	Title: "AdaptCont",
	What: "AdaptCont gives each ApplicationMaster a container sized for its job, instead of one size for all. It computes the size from the number of tasks that " +
		"the master will manage, or takes the nearest size of a pool, and repeats this when the cluster changes.",
	Paper:       "B. Memishi, M. S. Pérez and G. Antoniu, *Feedback-Based Resource Allocation in MapReduce-Based Systems*.",
	Headline:    "adaptcont-random-mixed",
	SetUp:       decisions,
	Experiments: experiments,
}

// The cluster of AdaptCont's experiments: 250 worker containers of 1 GiB and 1 vcore, five to a node. Beside them every
// node has room for a master, which workers cannot use.
const (
	nodes   = 50
	perNode = 5
	users   = 10
	workers = nodes * perNode / users // a user's part
	// unitWave is Ω_min.
	unitWave = 100
	// first is the index of the job that comes first if they come in random order (4.2: "one of the biggest workloads
	// (9)").
	first = 8
	// wave is how long a wave takes, in seconds: the time under FIFO with YARN's masters from giving a container to one
	// map until giving it to the next.
	wave = 7
)

var (
	mixed = []string{"500MiB", "3.5GiB", "7GiB", "15GiB", "30GiB", "45GiB", "60GiB", "75GiB", "90GiB", "105GiB"}
	same  = slices.Repeat([]string{"10GiB"}, users)
)

// schedulers lists the paper's three schedulers, by profile and by name in tables.
var schedulers = [][2]string{{"fifo", "FIFO"}, {"fair", "Fair"}, {"capacity", "Capacity"}}

// decisions lists what determined the set-up.
var decisions = []exp.Decision{
	{What: "jobs", Chosen: "ten, each of its own user: 0.5, 3.5, 7, 15, 30, 45, 60, 75, 90 and 105 GB, or 10 GB each; splits of 64 MB", By: "4.1, Workload; 4.2, Wave Behavior"},
	{What: "program", Chosen: "WordCount", By: "assumed: \"the type of application does not affect the resource allocation decision\" (3.2)"},
	{What: "workers", Chosen: "250 containers of 1024 MB and 1 vcore", By: "4.1, Setup; the number is missing from our copy of the text. 8 + 56 + 112 leave some containers for the fourth job, and the rest of its 240 come in the next wave: so 177 to 415"},
	{What: "Ω_min, M_min", Chosen: "100 containers, 256 MB", By: "M_min: 4.2. Ω_min is missing too. It and the number of workers are derived from the 6144 MB of Fig. 6(a). That is a figure of the system itself, so it is no evidence. Every pair with this total also gives 16 vcores there, 2560 MB under Fair and 5120 MB for one job of 10 GB per wave, 2816 to 3328 MB under Capacity, and 4096 to 5120 MB for FIFO's ten jobs of 10 GB (checked by a test)"},
	{What: "pool", Chosen: "512 MB up to 250 containers, 1024 up to 500, 2048 above; 1, 2 and 4 vcores; threshold 512 MB", By: "4.2. The bounds are missing: the small container serves the job for which Dynamic's master has 768 MB. So 5120 MB is no evidence either"},
	{What: "nodes", Chosen: "50 with five workers each, 2.5 cores", By: "assumed: the paper names none. Two vcores per core: 4.1, Setup"},
	{What: "masters' room", Chosen: "2048 MB and 4 vcores on each node, closed to workers; one master per node", By: "4.1, Setup: \"an isolated set of resources oriented only to application masters\""},
	{What: "YARN's master", Chosen: "1024 MB, 1 vcore", By: "4.2. It counts as two vcores in the CPU comparison, as in the paper"},
	{What: "smallest container", Chosen: "256 MB for every arm", By: "assumed: with Hadoop's 1024 MB no smaller master is possible"},
	{What: "tasks", Chosen: "all alike: no noise, skew, contention, slow nodes, remote reads or start-up", By: "4.1, Setup: \"every map and reduce container is the same\"; the paper's own experiments are simulated waves. This yields the waves that its text describes: 74 and then 166 containers for the fourth job, and a tenth less from the fifth wave on"},
	{What: "reduces", Chosen: "n for the n-th job, after its maps", By: "4.1, Constraints: one phase after the other, fewer than maps; the number is assumed"},
	{What: "random arrivals", Chosen: "one job per wave of 7 s, the ninth first, the others in an order drawn from the seed", By: "4.2: \"In every wave, a job arrives\" (of Fig. 5(d)); \"now one of the biggest workloads (9) appears in first place\" (of Fig. 5(b)). 7 s: the time after which a container goes to the next map under FIFO with YARN's masters"},
	{What: "failure", Chosen: "a tenth of the nodes, in the fifth wave (28 s), in all four experiments; noticed after ten heartbeats", By: "4.1, Constraints. Hadoop's ten minutes would pass after most jobs have ended"},
	{What: "what a master needs", Chosen: "179 MiB, and 15.5 kB for each task that it has run", By: "measured with Hadoop's own master; the simulator uses these figures in every experiment"},
	{What: "limit on masters", Chosen: "10 nodes of 16 GiB, 60 jobs of 500 MB at once, Hadoop's 10 % for masters and its default of counting only memory", By: "not from the paper. The job is the paper's smallest"},
}

const method = `Ten jobs of one user each, splits of 64 MB, workers of 1024 MB and 1 vcore; the table at the top of this page lists the sources.

* Masters have resources of their own, as in the paper: each node has room for one master beside its five workers, and a separate lane
  (` + "`per_node`" + `) keeps workers out of it. So a smaller master frees no room for others here, and the mean JCT can only stay the same.
* All tasks are alike, as in the paper, so that they run in clear waves. The sweep in the whole simulated world shows what is left if they are not.
* FIFO: one queue. Capacity: Hadoop's scheduler with a queue for each user, which has a tenth and may grow to the whole cluster.
  Fair: Hadoop's scheduler with a queue for each user, which is always limited to a tenth of the workers; the paper calls this fair.
* A saving counts only if the master suffices, according to the paper's own rule for the largest wave that its job really had: 256 MB for every 100 workers
  at once, and a vcore for every two such steps. For Pool it depends on what its containers serve. A smaller master counts as YARN's. In the paper every master suffices by construction.
  That all of them suffice does not count as a figure, because YARN's also suffice, whatever the job.
  A master that is resized while it runs counts with its final size.
* Feedback corrects running masters both ways: larger when a wave does not fit, smaller when a wave that was planned for no longer comes, never below what the
  largest wave so far needs. By default the policy only enlarges masters, because a Java heap keeps its initial size (sweep ablation).
* The null arm gives all masters of a run one size: whichever of 256, 512 and 768 MB saves most, in hindsight. So a figure counts only if it comes from telling jobs apart.
* The ResourceManager notices a lost node after ten missed heartbeats. A master on one of the five nodes is lost with it, in every arm.
* With 225 containers no master would have another size: k stays the same. Feedback changes what jobs get before it is known that others will come, and what a job gets when its share grows.
* In the simulated world a master needs 179 MiB and 15.5 kB for each task that it has run. That is less than 256 MiB for every job here, so no master of any size dies.
* CPU is counted as in the paper: YARN's master holds a physical core, which is two vcores. Counted as requested, it holds one vcore. Separate rows below show that, and nothing is saved there.`

// plainly says what the figures amount to.
const plainly = `
Of all published results, these depend on the rule: how much memory is saved under FIFO with jobs of different sizes, that this is a little less than Pool saves,
and that processors are the exception there. The other results do not depend on it:

* Under Fair all users have the same small share, and if all jobs are alike, so are all masters: one size for all does the same. The same holds for
  Pool, which uses its small container in every cell.
* The CPU saving comes from counting YARN's vcore twice: one vcore for every master, whatever the job, saves as much or more. Counted as requested, Dynamic holds more vcores than YARN.
* The largest total saving, under Fair, comes from giving every job the smallest master.
* If tasks are not all alike (sweep one-size-whole), waves overlap and the later jobs have fewer workers at once than the rule plans for: under FIFO one size of
  512 MB for all masters saves no less than the rule.
`

// A setUp is the environment that the ten jobs run in.
type setUp struct {
	sizes  []string // of their inputs; one per user
	random bool     // one per wave, the ninth first, the others in an order drawn from the seed; else all at once in this order
	whole  bool     // the whole world; else tasks are all alike, as in the paper
	among  bool     // masters have no room of their own
	vcores int64    // of the room beside the workers if masters have none of their own
}

// work writes the ten jobs. A tenth of the nodes fails in the fifth wave.
func (x setUp) work() exp.Work {
	room := heddle.Of(2048, 4000)
	if x.among {
		room = heddle.Of(0, 1000*x.vcores)
	}
	sizes := x.sizes
	return func(seed uint64) (string, error) {
		var b strings.Builder
		fmt.Fprintf(&b, "name: adaptcont\ncluster:\n  nodes:\n    - {count: %d, memory: %dMiB, vcores: %d, cores: %g}\n",
			nodes, perNode*1024+room[heddle.Memory], perNode+room[heddle.CPU]/1000, perNode/2.0)
		order := make([]int, len(sizes))
		for i := range order {
			order[i] = i
		}
		gap := 0
		if x.random {
			gap = wave
			rand.New(rand.NewPCG(seed, 4)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			at := slices.Index(order, first)
			order[0], order[at] = order[at], order[0]
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
		if !x.whole {
			b.WriteString("effects: {locality: false, contention: false, skew: false, noise: false, launch_delay: false, slow_nodes: false}\n")
		}
		b.WriteString("faults:\n")
		for i := range nodes / 10 {
			fmt.Fprintf(&b, "  - {kind: node_loss, at: %ds, node: n%d}\n", 4*wave, nodes-i)
		}
		return b.String(), nil
	}
}

// hadoop returns Hadoop's configuration with three differences: the smallest container is 256 MiB, the loss of a node
// is noticed after ten heartbeats, and each of the ten users has a queue. In the capacity scheduler the queue has a
// tenth and may grow to the whole; in the fair scheduler it has no more than a tenth of the workers, and a master.
func hadoop() *conf.Hadoop {
	h := smallMasters()
	h.Site.NodeExpiry = 10 * heddle.Second
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

// smallMasters returns Hadoop's configuration, except that the smallest container is 256 MiB.
func smallMasters() *conf.Hadoop {
	h := conf.Default()
	least := heddle.Of(256, 1000)
	h.Site.Minimum, h.Capacity.Minimum, h.Fair.Minimum, h.Fair.Increment = least, least, least, least
	return h
}

// arm is a scheduler with a way to size masters: dynamic, pool, or empty for YARN's. options are further options of the
// sizer.
func arm(name, scheduler, master string, options ...string) exp.Arm {
	set := []string{fmt.Sprintf("lanes=[{kinds: [am], order: %s, per_node: 1}, {kinds: [map, reduce, executor, other], order: %s, per_node: %d}]",
		scheduler, scheduler, perNode)}
	if master != "" {
		o := append([]string{"queue: " + scheduler, fmt.Sprintf("per_node: %d", perNode)}, options...)
		set = append(set, fmt.Sprintf("size.am={adaptcont.%s: {%s}}", master, strings.Join(o, ", ")))
	}
	return exp.Arm{Name: name, Profile: scheduler, Set: set, Hadoop: hadoop}
}

// dynamic is an arm with Dynamic's masters. Feedback corrects running masters both ways, as in the paper.
func dynamic(name, scheduler string, options ...string) exp.Arm {
	return arm(name, scheduler, "dynamic", append([]string{"shrink: true"}, options...)...)
}

// oneSize is an arm in which all masters have the given memory in MiB and one vcore, whatever their job.
func oneSize(name, scheduler string, mib int) exp.Arm {
	return arm(name, scheduler, "dynamic", fmt.Sprintf("unit_wave: %d, unit_memory: %d, unit_tasks: 0", 1<<30, mib))
}

// arms returns the nine arms of Table 1: three schedulers, three masters.
func arms() []exp.Arm {
	var out []exp.Arm
	for _, s := range schedulers {
		out = append(out, arm(s[1]+", YARN", s[0], ""), dynamic(s[1]+", Dynamic", s[0]), arm(s[1]+", Pool", s[0], "pool"))
	}
	return out
}
