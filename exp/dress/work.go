package dress

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"heddle"
	"heddle/conf"
	"heddle/sim"
	"heddle/workload"
)

// DRESS's testbed: five machines of two E5-2660 v3 (ten cores each) and 160 GB, two 10k rpm disks and
// 10 Gb/s. Of the memory an eighth is left to the system; what small means (fewer than ten containers,
// θ = 10 %) says that there are about a hundred containers, so there is one a core.
const (
	nodes     = 5
	cores     = 20
	container = 7   // GiB
	speed     = 0.5 // of a core against the reference core, by single-thread benchmarks
	disk      = 400 // MB/s of both disks
)

// A mix says which jobs one of DRESS's experiments draws.
type mix struct {
	small            int   // of jobs
	ids              []int // which, from 1, where that is published; else they are drawn
	mapReduce, spark bool
}

const jobs = 20

// A program is one of HiBench's, with what a container takes for it on the reference core, in seconds
// per MiB of input.
type program struct {
	name       string
	iterations int // of Spark, HiBench's default
	cost       float64
}

// Spark's cost is the first pass and the passes over the cached data; programs the world has no figures
// of get the mean of those it has. Of maps it is the processor time of WordCount, K-means and PageRank, and
// for all others, which compute less, three passes over their share of a busy node's disk, 20 MB/s.
var (
	sparkPrograms = []program{
		{"kmeans", 5, 0.0262 + 4*0.0041},
		{"logistic", 10, 0.133 + 9*0.0141},
		{"bayes", 2, 0.133 + 0.0141},
		{"pagerank", 3, 0.344 + 2*0.0516},
		{"nweight", 3, 0.133 + 2*0.0141},
	}
	mapReducePrograms = []program{
		{"wordcount", 0, 0.0934},
		{"sort", 0, 0.075},
		{"terasort", 0, 0.075},
		{"kmeans", 0, 0.0303},
		{"logistic", 0, 0.075},
		{"bayes", 0, 0.075},
		{"scan", 0, 0.075},
		{"join", 0, 0.075},
		{"pagerank", 0, 0.344},
		{"nweight", 0, 0.075},
	}
)

// The lengths of jobs are the two figures that are fitted to the baseline, over twenty seeds: Spark's to
// Capacity's makespan, mean wait and mean JCT of Table II, MapReduce's to the JCT of Capacity's small
// jobs with 10 % small ones, 484.5 and 540.3 s.
const (
	sparkLength     = 0.8
	mapReduceLength = 0.6
)

// work draws the jobs of a mix: which are small, their programs, containers and sizes of input.
func (m mix) work(seed uint64) (string, error) {
	rng := rand.New(rand.NewPCG(seed, 0xd4e55))
	var b strings.Builder
	fmt.Fprintf(&b, "name: dress\ncluster:\n  nodes:\n    - {count: %d, memory: %dGiB, vcores: %d, disk_mb_s: %dMB/s, nic_mb_s: 10Gb/s, speed: %g}\nworkload:\n  jobs:\n",
		nodes, cores*container, cores, disk, speed)
	isSmall := make([]bool, jobs)
	for _, i := range rng.Perm(jobs)[:m.small] {
		isSmall[i] = m.ids == nil
	}
	for _, id := range m.ids {
		isSmall[id-1] = true
	}
	for i := range jobs {
		size, containers := "large", 16+rng.IntN(21)
		if isSmall[i] {
			size, containers = "small", 3+rng.IntN(6)
		}
		seconds := (160 + 200*rng.Float64()) * speed
		spark := m.spark && (!m.mapReduce || rng.IntN(2) == 0)
		fmt.Fprintf(&b, "    - {id: %s-%02d, submit: %ds, master: {memory: 2GiB, vcores: 1}, ", size, i+1, 5*i)
		if spark {
			p := sparkPrograms[rng.IntN(len(sparkPrograms))]
			input := sparkLength * seconds / p.cost * float64(containers)
			fmt.Fprintf(&b, "program: %s, framework: spark, input: %dMiB, maps: %d, output: 0, spark: {executors: %d, executor: {memory: %dGiB, vcores: 1}, iterations: %d, cache: true}}\n",
				programOf(p.name), int(input), 3*containers, containers, container, p.iterations)
			continue
		}
		p := mapReducePrograms[rng.IntN(len(mapReducePrograms))]
		input := mapReduceLength * seconds / p.cost * float64(containers)
		fmt.Fprintf(&b, "program: %s, input: %dMiB, maps: %d, reduces: %d, map: {memory: %dGiB, vcores: 1}, reduce: {memory: %dGiB, vcores: 1}}\n",
			programOf(p.name), int(input), containers, max(1, containers/5), container, container)
	}
	return b.String(), nil
}

// programOf is how a scenario names a program: other, where nothing is known of it.
func programOf(name string) string {
	if _, known := workload.Program(name); !known {
		return workload.OtherProgram
	}
	return name
}

// site is Hadoop 2.7.4's CapacityScheduler as it comes: memory alone counts.
func site() *conf.Hadoop {
	h := conf.Default()
	h.Capacity.MemoryOnly = true
	return h
}

// Small chooses the small jobs of a mix, by their ids.
func Small(j *sim.JobResult) bool { return strings.HasPrefix(j.ID, "small") }
func large(j *sim.JobResult) bool { return !Small(j) }

// fourWork are the four jobs of Fig. 1. Each is one container of so many times 8 GiB, so that it gets all
// it wants at once or nothing; there is room for the masters beside the six.
func fourWork(uint64) (string, error) {
	var b strings.Builder
	b.WriteString("name: dress-four\ncluster:\n  nodes:\n    - {count: 1, memory: 52GiB, vcores: 16}\nworkload:\n  jobs:\n")
	for i, j := range []struct{ containers, seconds int }{{3, 10}, {4, 20}, {3, 10}, {2, 10}} {
		fmt.Fprintf(&b, "    - {id: job%d, submit: %ds, maps: 1, map_time: %ds, map: {memory: %dGiB, vcores: 1}, master: {memory: 1GiB, vcores: 1}}\n",
			i+1, i, j.seconds, 8*j.containers)
	}
	return b.String(), nil
}

// fourSite lets containers and masters be as large as the node, and nodes and masters report ten times a
// second: the figure knows no delays.
func fourSite() *conf.Hadoop {
	h := site()
	h.Site.Maximum = heddle.Of(52<<10, 16000)
	h.Site.NodeHeartbeat, h.Site.MasterHeartbeat = heddle.Second/10, heddle.Second/10
	h.Capacity.Maximum = h.Site.Maximum
	for i := range h.Capacity.Queues {
		h.Capacity.Queues[i].MaxAMShare = 1
	}
	return h
}
