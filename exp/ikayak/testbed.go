package ikayak

import (
	"fmt"
	"strings"

	"heddle/exp"
)

// A machine is one kind of machine in the paper's testbed (section 4.2).
type machine struct {
	name        string
	count       int
	gib, vcores int     // the system keeps an eighth of the memory, as in the world
	cores       float64 // what its processors amount to, counting each physical core with both of its threads as 1.25
	turbo       float64 // GHz
}

// machines are the workers; a sixteenth machine, a desktop, is the master. Of the models that Dell sold, only one
// generation has the published numbers of threads: T110, 4 cores (Xeon E3-1230, 3.6 GHz at most); T420 and T320, two
// and one of 6 cores (E5-2420, 2.4 GHz); T620, two of 6 cores (E5-2620, 2.5 GHz); desktops, 4 cores (i7-2600, 3.8 GHz).
// All are Sandy Bridge with two threads a core, so their cores differ only by their clocks. Two threads of a core do up
// to 1.3 times what one does (Marr et al., Hyper-Threading Technology Architecture and Microarchitecture, Intel
// Technology Journal, 2002): 1.25 here.
var machines = []machine{
	{"t110", 3, 14, 8, 5, 3.6},
	{"t420", 2, 28, 24, 15, 2.4},
	{"t320", 1, 21, 12, 7.5, 2.4},
	{"t620", 2, 28, 24, 15, 2.5},
	{"desktop", 7, 14, 8, 5, desktopGHz},
}

// desktopGHz is the clock of a core as fast as the reference, according to the case study's reduces: see [problem].
const desktopGHz = 3.8

// testbed is iKayak's cluster without its master.
var testbed = workers(1, 1)

// workers returns the testbed with cores speed times as fast, and memory times the memory.
func workers(speed float64, memory int) string {
	var b strings.Builder
	b.WriteString("cluster:\n  nodes:\n")
	for _, m := range machines {
		fmt.Fprintf(&b, "    - {name: %s, count: %d, memory: %dGiB, vcores: %d, cores: %g, speed: %.3f, nic_mb_s: 1Gb/s}\n",
			m.name, m.count, m.gib*memory, m.vcores, m.cores, speed*m.turbo/desktopGHz)
	}
	return b.String()
}

// memoryGiB returns what the workers offer together.
func memoryGiB() (sum int) {
	for _, m := range machines {
		sum += m.count * m.gib
	}
	return sum
}

// setUp lists what determined the workload and the world.
var setUp = []exp.Decision{
	{
		What: "processors of the testbed", Chosen: "Sandy Bridge, two threads per core: 4, 12, 6, 12 and 4 physical cores (T110, T420, T320, T620, desktop), with at most 3.6, 2.4, 2.4, 2.5 and 3.8 GHz; the two threads of a core together do 1.25 times the work of one",
		By: "models and threads in section 4.2; Intel's data sheets, for the only processors with that many threads that Dell sold in these models; Marr et al. " +
			"(Intel Technology Journal, 2002) on two threads per core: up to 1.3. Measurements confirm that they differ only by clock rate: HardLIMIT's database " +
			"of processors has 18.8 k for one thread of the E5-2620 and 28.7 k for one of the i7-2600, a ratio of 0.66, and 2.5/3.8 GHz is 0.66",
	},
	{
		What: "speed of a desktop's core", Chosen: "that of the reference core; the others scale with their clock rates",
		By: "the baseline of the case study: reduces are held 120 s alone and 300 s with Spark. Public single-thread ratings put a core of that generation at about half of a 2024 server's. At that speed the reduces are held twice as long as published. The sweep load shows what changes",
	},
	{What: "the case study's replicas and reduces", Chosen: "one, four", By: "\"HDFS usually has three … which may improve\" locality (section 2.2), so it had fewer; local maps 95 and 68 %, five and ten waves of maps"},
	{
		What: "Spark's part of the work, its input and executors", Chosen: "half; 10 GB; executors that ask for four ninths of the memory",
		By: "\"at a ratio of 1:1\" (section 4.3); the application of the case study (2.2): 10 GB from Wikipedia, and \"half of the cluster resource\", which is executors of 8 GB on four of six nodes with 12 GB",
	},
	{
		What: "time between MapReduce jobs", Chosen: "160 s",
		By: "a search over 5 to 250 s on seeds from 1001 on, for the ratios between baselines that the paper publishes: Spark 0.70/0.50 = 1.4, MapReduce 0.81/0.86 = " +
			"0.94, processors 1.15/1.22 = 0.94, dynamic allocation 1.09 times YARN-cluster's processors. At 160 s they are 1.41, 0.94, 0.97 and 1.01 (medians of 16 " +
			"seeds). In a fuller cluster YARN-client leaves more to MapReduce: its ratio is 0.6 at 60 s and 0.85 at 20 s; there dynamic allocation comes to 1.08, and " +
			"processors to 0.8 to 0.9. Other inputs (16 to 30 GB) and executors (a fifth to a half of the memory) come no nearer to all four. The search preceded the " +
			"system's figures in this set-up",
	},
	{What: "sizes of MapReduce jobs", Chosen: "log-normal, median 14 GB, 90 % below 100 GB, without the largest 10 % and the smallest 20 %", By: "Rowstron et al. (HotCDP 2012), for clusters like the one that the paper's reference 13 describes; section 4.3"},
	{What: "reduces of a job", Chosen: "one per eight maps", By: "tables of the same jobs in the authors' later papers: 16 to 1600 maps, 4 to 128 reduces"},
	{What: "experiments per program (Fig. 10 to 13a)", Chosen: "one job of 300 GB beside Spark applications that hold half of the memory", By: "300 GB in section 5.3; \"half of the cluster resource is allocated for the Spark application\" (2.2)"},
	{What: "experiment with wrong estimates (Fig. 9b)", Chosen: "three jobs of 300 GB at once, twelve Spark applications of the mix within half an hour", By: "section 5.3's jobs; the time when Spark comes is assumed, such that reduces hold most of the memory"},
	{What: "kind of increase of a rate", Chosen: "relative", By: "\"increases the local data access by 27 %\", \"12 %-15 %\": the paper does not mention points"},
}
