package ikayak

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"heddle/sim/world"
)

// A mix is a workload on the paper's fifteen workers.
type mix struct {
	jobs      int      // number of MapReduce jobs
	maps      []string // their programs
	spark     []string // programs of the Spark applications
	share     float64  // MapReduce's share of all work
	gap       float64  // mean seconds between two MapReduce jobs
	inputGB   float64  // of every MapReduce job; 0 = drawn
	slowStart float64
	replicas  int  // of each block
	dynamic   bool // Spark's dynamic allocation
	nodes     string
}

// msd is the mix of section 4.3: 87 jobs like those of a production month, and as much work of Spark beside them. With
// this gap YARN-client and YARN-cluster are to each other as published: see [setUp].
var msd = mix{
	jobs: 87, maps: []string{"wordcount", "grep", "terasort"}, spark: []string{"kmeans", "pagerank", "index"}, share: 0.5, gap: 160,
	slowStart: 0.05, replicas: 3, nodes: testbed,
}

// The sizes of the production jobs. Their median is 14 GB, and 90 % are below 100 GB (Rowstron et al., Nobody ever got
// fired for using Hadoop on a cluster, HotCDP 2012, on clusters at Microsoft and Facebook); a log-normal distribution
// has both. The paper leaves out the largest 10 % and the smallest 20 %.
var (
	medianGB = 14.0 // GB
	spread   = math.Log(100/medianGB) / normalQuantile(0.9)
)

const lowest, highest = 0.2, 0.9

// normalQuantile is the inverse of the standard normal distribution function.
func normalQuantile(u float64) float64 { return math.Sqrt2 * math.Erfinv(2*u-1) }

// A Spark application of the mix is like that of section 2.2: it reads 10 GB from Wikipedia, and its executors hold 32
// of 72 GB of the memory.
const (
	sparkGB   = 10.0
	sparkPart = 32. / 72
)

const (
	blockMiB      = 256.0
	iterations    = 10 // passes after the first: the default of Spark's own PageRank
	mapsPerReduce = 8  // maps per reduce, as in tables of the same jobs in the authors' later papers: 16 to 1600 maps, 4 to 128 reduces
)

// executors are the sizes of Table 3.
var executors = map[string]struct{ cores, gb int }{"kmeans": {4, 4}, "pagerank": {2, 8}, "index": {4, 6}}

// taskGB are the sizes of Table 2; each task has one core.
var taskGB = map[string]int{"wordcount": 1, "grep": 2, "terasort": 2}

// blocks returns the number of blocks of so many GB.
func blocks(gb float64) float64 { return math.Ceil(gb * 1e9 / (blockMiB * (1 << 20))) }

// reduces returns the number of reduces of a job with so many GB.
func reduces(gb float64) float64 { return math.Ceil(blocks(gb) / mapsPerReduce) }

// work writes the scenario.
func (m mix) work(seed uint64) (string, error) {
	rng := rand.New(rand.NewPCG(seed, 0x1ca7a4))
	var b strings.Builder
	b.WriteString("name: ikayak\n" + m.nodes + "workload:\n  jobs:\n")
	at, done := 0.0, 0.0
	order := rng.Perm(m.jobs)
	for i := range m.jobs {
		program := m.maps[order[i]%len(m.maps)]
		gb := m.inputGB
		if gb == 0 { // one from each of as many equal parts of the distribution: seeds differ in order but little in sum
			u := lowest + (float64(order[i])+rng.Float64())/float64(m.jobs)*(highest-lowest)
			gb = medianGB * math.Exp(spread*normalQuantile(u))
		}
		m.mapReduce(&b, fmt.Sprintf("%s-%d", program, i+1), program, at, gb)
		done += mapReduceWork(program, gb)
		at += rng.ExpFloat64() * m.gap
	}
	if m.share < 1 {
		m.applications(&b, rng, at, done*(1-m.share)/m.share)
	}
	return b.String(), nil
}

// applications writes Spark applications that amount to the wanted work, spread evenly at random over the span in
// seconds.
func (m mix) applications(b *strings.Builder, rng *rand.Rand, span, wanted float64) {
	var programs []string
	for sum := 0.0; ; {
		p := m.spark[len(programs)%len(m.spark)]
		w := sparkWork(p, sparkGB)
		if len(programs) > 0 && sum+w/2 > wanted {
			break
		}
		programs, sum = append(programs, p), sum+w
	}
	gap, at := span/float64(len(programs)), 0.0
	rng.Shuffle(len(programs), func(i, j int) { programs[i], programs[j] = programs[j], programs[i] })
	for i, p := range programs {
		at += rng.ExpFloat64() * gap
		m.application(b, fmt.Sprintf("%s-%d", p, i+1), p, min(at, span))
	}
}

func (m mix) mapReduce(b *strings.Builder, id, program string, at, gb float64) {
	mem := taskGB[program]
	fmt.Fprintf(b, "    - {id: %s, program: %s, submit: %.3fs, input: %.0fMB, split: 256MiB, reduces: %.0f, slow_start: %g, "+
		"map: {memory: %dGiB, vcores: 1}, reduce: {memory: %dGiB, vcores: 1}, master: {memory: 2GiB, vcores: 1}, data: {replicas: %d}}\n",
		id, program, at, gb*1000, reduces(gb), m.slowStart, mem, mem, m.replicas)
}

// application writes one Spark application.
func (m mix) application(b *strings.Builder, id, program string, at float64) {
	x := executors[program]
	n := int(sparkPart * float64(memoryGiB()) / float64(x.gb))
	p := world.DefaultParams().Programs[program]
	fmt.Fprintf(b, "    - id: %s\n      program: %s\n      framework: spark\n      submit: %.3fs\n      input: %.0fMB\n      split: 256MiB\n      master: {memory: 2GiB, vcores: 1}\n      data: {replicas: %d}\n",
		id, program, at, sparkGB*1000, m.replicas)
	if program != "index" {
		fmt.Fprintf(b, "      shuffle: %.4f\n      output: 1MB\n", p.Ratio)
	}
	fmt.Fprintf(b, "      spark:\n        executor: {memory: %dGiB, vcores: %d}\n", x.gb, x.cores)
	if m.dynamic {
		fmt.Fprintf(b, "        dynamic: {max: %d}\n", n)
	} else {
		fmt.Fprintf(b, "        executors: %d\n", n)
	}
	if program == "index" {
		fmt.Fprintf(b, "        stages:\n          - {reads: hdfs, output: %.3f}\n          - {parents: [0], input: %.3f, output: %.3f}\n",
			p.Ratio, p.Ratio, p.Ratio)
	} else {
		fmt.Fprintf(b, "        iterations: %d\n        cache: true\n        in_memory: %.3f\n", iterations+1, p.Grow)
	}
}

// mapReduceWork returns the processor time of a job in core-seconds of the reference core, by the world's figures.
func mapReduceWork(program string, gb float64) float64 {
	p := world.DefaultParams().Programs[program]
	return gb * 1e9 / (1 << 20) * (p.Map + p.Ratio*p.Reduce)
}

// sparkWork returns the same for a Spark application.
func sparkWork(program string, gb float64) float64 {
	p := world.DefaultParams().Programs[program]
	mib := gb * 1e9 / (1 << 20)
	if program == "index" {
		return mib * (p.First + p.Ratio*p.Shuffle)
	}
	return mib * (p.First + iterations*p.Grow*p.Cached)
}

// besideGB is the input of a MapReduce job that runs beside Spark: that of section 5.3, the only size of a single job
// on this testbed that the paper states.
const besideGB = 300

// A beside is one MapReduce job beside Spark applications that hold half of the cluster's memory, as in section 2.2, a
// third of it each. The applications come first and stay: "executors stick around for the lifetime of the application".
type beside struct {
	program   string
	slowStart float64
	dynamic   bool
}

// rounds is how often each application passes over what it keeps in memory. That takes each about as long as the
// longest of the MapReduce jobs. Their inputs are 5 partitions of 1 GB: they compute little, and what they hold is what
// counts.
var rounds = map[string]int{"kmeans": 500, "pagerank": 45, "index": 500}

func (w beside) work(uint64) (string, error) {
	var b strings.Builder
	b.WriteString("name: ikayak-beside\n" + testbed + "workload:\n  jobs:\n")
	for i, p := range sparkPrograms {
		x := executors[p]
		n := memoryGiB() / 2 / len(sparkPrograms) / x.gb
		many := fmt.Sprintf("executors: %d", n)
		if w.dynamic {
			many = fmt.Sprintf("dynamic: {min: %d, max: %d}", n, n)
		}
		fmt.Fprintf(&b, "    - {id: %s-1, program: %s, framework: spark, submit: %ds, input: 5GB, split: 1GiB, shuffle: 0.0001, output: 1MB, "+
			"master: {memory: 2GiB, vcores: 1}, spark: {executor: {memory: %dGiB, vcores: %d}, %s, iterations: %d, cache: true}}\n",
			p, p, 5*i, x.gb, x.cores, many, rounds[p])
	}
	m := msd
	m.slowStart = w.slowStart
	m.mapReduce(&b, w.program+"-1", w.program, 60, besideGB)
	return b.String(), nil
}
