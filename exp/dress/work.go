package dress

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"heddle"
	"heddle/conf"
	"heddle/sim"
	"heddle/workload"
)

// DRESS's testbed: five machines with two E5-2660 v3 (ten cores each), 160 GB, two 10k rpm disks and 10 Gb/s. An eighth
// of the memory is left to the system. The meaning of small (fewer than ten containers, θ = 10 %) implies about a
// hundred containers, so there is one per core.
const (
	nodes     = 5
	cores     = 20
	container = 7   // GiB
	speed     = 0.5 // of a core relative to the reference core, by single-thread benchmarks
	disk      = 400 // MB/s of both disks
)

// room is the number of containers that fit beside twenty masters of 1 GiB.
const room = 95

// The containers of small and large jobs, beside the master. A job with fewer than ten containers is small, and two
// executors are Spark's minimum by default. A large job asks for more than a tenth, and at most for so many that six
// jobs fill the cluster, four of them large, like the first six of Fig. 7.
const (
	leastSmall, mostSmall = 2, 8
	leastLarge, mostLarge = 11, 28
)

// The parameters that Capacity's published figures determine; System.SetUp says which figure determines which. Times
// are in seconds.
const (
	startUp              = 26       // of a Spark job's master
	shortest, longest    = 20, 420  // of an executor's work, on a node that is not busy
	soonest, latest      = 335, 345 // when the first of the first six Spark jobs ends
	firstJobs            = 6        // they begin at once
	leastMaps, mostMaps  = 90, 270
	programs, sparkShare = 15, 5 // of the paper's list, if frameworks are mixed: ten run on MapReduce, five on Spark
)

// mostInput is the most that an executor reads, in MiB: the input of HiBench's "huge" K-means, 20 GB, divided by twenty
// executors. A job that works longer makes more passes over it.
const mostInput = 1024

// A mix says which jobs one of DRESS's experiments draws.
type mix struct {
	small            int   // number of small jobs
	ids              []int // which jobs are small, counting from 1, if that is published; else they are drawn
	mapReduce, spark bool
}

const (
	jobs   = 20
	gap    = 5  // s, between submissions
	inIdle = 35 // s, for which a Spark job waits in an idle cluster
)

// A program is one of HiBench's on Spark. It has the time that an executor needs on the reference core, in seconds per
// MiB of input, for the first pass and for each pass over the cached data. Programs that the world has no figures for
// get the mean of those it has.
type program struct {
	name        string
	iterations  int // HiBench's default
	first, pass float64
}

var sparkPrograms = []program{
	{"kmeans", 5, 0.0262, 0.0041},
	{"logistic", 10, 0.133, 0.0141},
	{"bayes", 2, 0.133, 0.0141},
	{"pagerank", 3, 0.344, 0.0516},
	{"nweight", 3, 0.133, 0.0141},
}

// input returns how many MiB an executor reads, and in how many passes, to take so many seconds on the reference core.
func (p *program) input(work float64) (mib float64, iterations int) {
	iterations = p.iterations
	if most := p.first + float64(iterations-1)*p.pass; work > mostInput*most {
		iterations = 1 + int(math.Round((work/mostInput-p.first)/p.pass))
	}
	return work / (p.first + float64(iterations-1)*p.pass), iterations
}

// mapReducePrograms lists HiBench's programs on MapReduce. The world's figures for PageRank are for Spark.
var mapReducePrograms = []string{
	"wordcount", "sort", "terasort", "kmeans", workload.OtherProgram, workload.OtherProgram, workload.OtherProgram,
	workload.OtherProgram, workload.OtherProgram, workload.OtherProgram,
}

// work draws the jobs of a mix: which are small, and their programs, containers and input sizes.
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
	containers := m.containers(rng, isSmall)
	lengths := m.lengths(rng)
	for i := range jobs {
		size := "large"
		if isSmall[i] {
			size = "small"
		}
		fmt.Fprintf(&b, "    - {id: %s-%02d, submit: %ds, ", size, i+1, gap*i)
		if m.spark && (!m.mapReduce || rng.IntN(programs) < sparkShare) {
			sparkJob(&b, rng, containers[i], lengths[i])
		} else {
			mapReduceJob(&b, rng, containers[i], isSmall[i])
		}
	}
	return b.String(), nil
}

// containers draws what the jobs ask for. With Spark alone it draws again until the first six jobs fill the cluster: by
// Fig. 7 there is room for them, but not for the seventh.
func (m mix) containers(rng *rand.Rand, isSmall []bool) []int {
	out := make([]int, jobs)
	for {
		first := 0
		for i := range out {
			out[i] = leastLarge + rng.IntN(mostLarge-leastLarge+1)
			if isSmall[i] {
				out[i] = leastSmall + rng.IntN(mostSmall-leastSmall+1)
			}
			if i < firstJobs {
				first += out[i]
			}
		}
		if m.mapReduce || room <= first && first <= room+2 {
			return out
		}
	}
}

// lengths draws how many seconds each executor of a job works. With Spark alone it draws the first six again until the
// first of them ends when the seventh begins: by V-B1 it waits 304.7 s, and so until 334.7 s.
func (m mix) lengths(rng *rand.Rand) []int {
	draw := func() int { return shortest + rng.IntN(longest-shortest+1) }
	out := make([]int, jobs)
	if !m.spark {
		return out
	}
	for i := range out {
		out[i] = draw()
	}
	for first := 0; !m.mapReduce && (first < soonest || first > latest); {
		first = latest + 1
		for i := range firstJobs {
			out[i] = draw()
			if first = min(first, gap*i+inIdle+out[i]); first < soonest {
				break
			}
		}
	}
	return out
}

func sparkJob(b *strings.Builder, rng *rand.Rand, executors, seconds int) {
	p := &sparkPrograms[rng.IntN(len(sparkPrograms))]
	name := p.name
	if _, known := workload.Program(name); !known {
		name = workload.OtherProgram
	}
	input, iterations := p.input(float64(seconds) * speed)
	fmt.Fprintf(b, "framework: spark, program: %s, start_up: %ds, input: %dMiB, maps: %d, output: 0, spark: {client: true, executors: %d, executor: {memory: %dGiB, vcores: 1}, iterations: %d, cache: true}}\n",
		name, startUp, int(input*float64(executors)), 3*executors, executors, container, iterations)
}

// mapReduceJob writes a job with one reduce per five maps, as in Fig. 2.
func mapReduceJob(b *strings.Builder, rng *rand.Rand, containers int, small bool) {
	maps := containers
	if !small {
		maps = leastMaps + rng.IntN(mostMaps-leastMaps+1)
	}
	fmt.Fprintf(b, "program: %s, maps: %d, split: 128MiB, reduces: %d, map: {memory: %dGiB, vcores: 1}, reduce: {memory: %dGiB, vcores: 1}}\n",
		mapReducePrograms[rng.IntN(len(mapReducePrograms))], maps, max(1, maps/5), container, container)
}

// site returns Hadoop 2.7.4's CapacityScheduler with its defaults: only memory counts.
func site() *conf.Hadoop {
	h := conf.Default()
	h.Capacity.MemoryOnly = true
	return h
}

// Small chooses the small jobs of a mix, by their ids.
func Small(j *sim.JobResult) bool { return strings.HasPrefix(j.ID, "small") }
func large(j *sim.JobResult) bool { return !Small(j) }

// four has the jobs of Fig. 1: containers and seconds. They come a second apart.
var four = [4]struct{ containers, seconds int }{{3, 10}, {4, 20}, {3, 10}, {2, 10}}

const fourRoom = 6

// fourWork writes the four jobs of Fig. 1. Each is one container of so many times 8 GiB, so it gets all it wants at
// once or nothing; there is room for the masters beside the six.
func fourWork(uint64) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "name: dress-four\ncluster:\n  nodes:\n    - {count: 1, memory: %dGiB, vcores: 16}\nworkload:\n  jobs:\n", 8*fourRoom+4)
	for i, j := range four {
		fmt.Fprintf(&b, "    - {id: job%d, submit: %ds, maps: 1, map_time: %ds, map: {memory: %dGiB, vcores: 1}, master: {memory: 1GiB, vcores: 1}}\n",
			i+1, i, j.seconds, 8*j.containers)
	}
	return b.String(), nil
}

// fourSite lets containers and masters be as large as the node. Nodes and masters report ten times a second, since the
// figure has no delays.
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

// fourEnds returns the earliest time at which the four jobs can be over, in seconds from the first submission. It tries
// all orders in which each job begins as soon as it has come and its containers are free beside the jobs before it in
// the order. One of these orders is as good as any schedule, since no schedule gets shorter by making a job wait
// longer.
func fourEnds() int {
	best := 1 << 30
	var place func(order []int, starts [len(four)]int, used [1 << 8]int)
	place = func(order []int, starts [len(four)]int, used [1 << 8]int) {
		if len(order) == len(four) {
			end := 0
			for i, j := range four {
				end = max(end, starts[i]+j.seconds)
			}
			best = min(best, end)
			return
		}
		for i, j := range four {
			if slices.Contains(order, i) {
				continue
			}
			at, then := i, used
			for t := at; t < at+j.seconds; t++ {
				if used[t]+j.containers > fourRoom {
					at = t + 1
				}
			}
			for t := at; t < at+j.seconds; t++ {
				then[t] += j.containers
			}
			next := starts
			next[i] = at
			place(append(slices.Clip(order), i), next, then)
		}
	}
	place(nil, [len(four)]int{}, [1 << 8]int{})
	return best
}
