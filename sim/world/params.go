package world

import (
	"heddle"
	"heddle/workload"
)

// Params holds the physical constants of the world: this file has all of them, each with its source.
//
// "Measured" means: Hadoop 3.4.2's own examples and Spark 3.5.9 on a JDK 17 with the serial collector, one task at a
// time, on one core of a 2024 server processor (AMD EPYC 9005). For MapReduce, the figure is the CPU_MILLISECONDS
// counter over the bytes of input, for the first map of a fresh JVM, as YARN starts one for each, and for the reduce
// after it; for Spark, it is executorCpuTime in one executor. That core is the reference: NodeSpec.Speed says how fast
// another core is. "Derived" says from what.
type Params struct {
	// Disks. A 7200 rpm SATA disk: Seagate Constellation ES.3 product manual, table "General performance
	// characteristics": 83 to 175 MB/s from the inside to the outside, 4.16 ms average rotational latency. DiskBps is
	// derived from the first figure: for a rate that falls linearly with the radius, the mean over the outer half of
	// the capacity (a half-full disk) is 157 MB/s, rounded down.
	DiskBps float64
	// SeekSeconds is one head movement between streams: 8.2 ms average read seek (HGST Ultrastar 7K4000 specification,
	// table 6) plus the latency above.
	SeekSeconds float64
	// SliceSeconds is how long a disk serves one stream before the next: slice_sync of Linux CFQ, 100 ms.
	SliceSeconds float64
	// RequestBytes is the size of one request to the disk, for await and svctm: the Linux default max_sectors_kb of 512
	// for SATA.
	RequestBytes float64

	// Network. 1 Gb/s Ethernet; of each 1538 bytes on the wire (1500 MTU, Ethernet header, preamble, gap), 1448 are the
	// payload of a TCP segment with timestamps.
	NICBps        float64
	NetEfficiency float64
	// NetCPU is core-seconds per byte received over the network: the "1 GHz per 1 Gb/s" rule of thumb examined by Foong
	// et al., TCP Performance Re-Visited (ISPASS 2003), on the reference core's 2.6 GHz.
	NetCPU float64
	// Fetchers is mapreduce.reduce.shuffle.parallelcopies, default 5.
	Fetchers float64

	// HDFS: dfs.replication, default 3.
	Replicas int
	// FreeOutput is the size, 1 MiB, up to which a file's replicas cost nothing: a numerical limit.
	FreeOutput float64

	// MapReduce memory. SortBuffer is mapreduce.task.io.sort.mb (100 MiB), SpillPercent
	// mapreduce.map.sort.spill.percent (0.80), HeapRatio mapreduce.job.heap.memory-mb.ratio (0.8),
	// ShuffleBuffer mapreduce.reduce.shuffle.input.buffer.percent (0.70), MergePercent
	// mapreduce.reduce.shuffle.merge.percent (0.66), SortFactor mapreduce.task.io.sort.factor (10).
	SortBuffer    int64 // MiB
	SpillPercent  float64
	HeapRatio     float64
	ShuffleBuffer float64
	MergePercent  float64
	SortFactor    float64
	// TaskBase is the resident memory of a task's JVM without its buffers. Measured: 189 MiB (sort without reduces,
	// whose maps neither buffer nor cache).
	TaskBase int64 // MiB
	// SortCPU is the part of a map's processor time spent on sorting and spilling, per MiB of its output, and SortShare
	// the largest share it can have. Measured: sort takes 2.49 s for 128.7 MiB with a reduce to follow, 0.95 s without
	// one.
	SortCPU, SortShare float64
	// MergeShare is the share of its processor time that a reduce spends on merging. Derived from MapReduce's own
	// weights: after the copy, sort and reduce count alike.
	MergeShare float64
	// ReducePerInput is the memory a reduce wants in addition to TaskBase, per byte of its partition. Measured: 740 MiB
	// resident for 387 MiB (terasort), less the base.
	ReducePerInput float64
	// ReduceWants limits what a reduce wants in addition to TaskBase: a partition larger than any heap is merged from
	// disk by design. Derived: Params.HeapRatio · ShuffleBuffer of twice the default container, 2 GiB.
	ReduceWants int64 // MiB

	// SlowAtTenth is the factor by which a task slows down with a tenth of the memory it would like. Iorgulescu et al.,
	// Don't Cry over Spilled Records (USENIX ATC 2017): reducers with 10 % of their ideal memory are 1.2 and 1.75 times
	// (PageRank) and 1.08 times (NutchIndexing) slower; this is the mean. Linear between 1 and that, and extended below
	// it.
	SlowAtTenth float64
	// A map that sorts keeps its whole sort buffer live. Measured on WordCount with a split of 100 MB: 62 full
	// collections in a heap of 170 MB, and none that matter from 250 MB on. Between and below these, the line through
	// both applies. FullGC is one such collection, in core-seconds: 7.6 ms with 100 MiB of buffer live (measured,
	// serial collector).
	GCHeap, GCNone float64 // MB of heap
	GCs, GCSplit   float64 // collections with GCHeap, per GCSplit MB of split
	FullGC         float64
	// SwapPasses is how often a JVM goes over its memory in a second of work. Derived: once per young collection, of
	// which terasort made 15 in 22.7 s (measured, 820 MiB heap). A node with o bytes too many then slows down by a factor
	// of 1 + 2·o·SwapPasses/DiskBps: each pass writes o out and reads o in.
	SwapPasses float64
	// DirtyRatio is the fraction of the memory available to files that may wait to be written back; a process that
	// writes more is throttled to the disk's write rate: vm.dirty_ratio, default 20.
	DirtyRatio float64
	// ReservedMemory is the fraction of a machine that is not offered to YARN: Hortonworks' recommended reserved memory
	// (HDP manual, "Determine YARN and MapReduce memory configuration"): 2 of 16 GB, 8 of 64.
	ReservedMemory float64

	// Masters. Measured on MRAppMaster after a full collection: with few tasks, 219 MiB are resident, of which 61 MiB
	// are heap and 21 MiB live objects, so that 179 MiB is the least it can live in. Live objects grow by 15.5 kB for
	// each task that has run (60 of them; one that still waits takes 1.6 kB).
	MasterBase    int64   // MiB
	MasterPerTask float64 // bytes

	// Spark. SparkReserved is the 300 MiB that Spark sets aside, SparkFraction spark.memory.fraction (0.6),
	// SparkOverhead spark.executor.memoryOverheadFactor (0.10), at least SparkMinOverhead (384 MiB).
	SparkReserved    int64 // MiB
	SparkFraction    float64
	SparkOverhead    float64
	SparkMinOverhead int64 // MiB

	// Skew. PartitionZipf is the exponent of a job's partition sizes. Derived: words with a Zipf(1) distribution over a
	// million keys, hashed to ten reduces, give the largest partition 16 % of the data; so do ten sizes that fall with
	// exponent 0.35.
	PartitionZipf float64
	// Noise is the standard deviation of the logarithm of the processor time of like tasks. Measured: 0.070, over eight
	// wordcount maps of equal size. What production clusters show beyond it (Mantri, OSDI 2010: tasks of one phase that
	// take 1.5 times the median and more) comes from skew, contention and slow nodes, which are modelled separately.
	Noise float64
	// NodeSpread is the same for the speed of nodes of one specification. It is an assumption, because there are no
	// published figures on private clusters: as much as between tasks. Use SetSpeed for real stragglers.
	NodeSpread float64

	// Process starts. Measured on jobs that ran alone, see test/hadoop/truth/bed.go. For a task: what starting its
	// process takes beyond what its counter says, less what its end takes. For a master: from its grant until it can
	// ask for containers, with Spark's driver in it and outside. For an executor: from its launch until it has
	// registered. Compared with another measurement, from the master's call to the task's first request: 1.4 s on an
	// idle machine, 3.4 s with four JVMs starting on its two cores; these figures give 1.2 and 3.3 s. They are
	// core-seconds of the node's own cores: a slower node also stands for older software, and in Hadoop 0.20 a task's
	// JVM took around a second to start on the machines of its time (White, Hadoop: The Definitive Guide, Task JVM
	// Reuse).
	TaskStart, MasterStart, SparkMasterStart, DriverStart, ExecutorStart Start

	// Costs of actions. SuspendCost is iKayak's 2.7 s for suspending and resuming a JVM, charged at the resume;
	// ResizeCost is its 45 to 55 ms for a reconfiguration.
	SuspendCost, ResizeCost heddle.Span

	// Shuffle batches (DESIGN.md). These are numerical, not physical: they trade exactness for time.
	BatchFloor, BatchOfRest float64     // a batch of map output is fetched when it is this fraction of all, or of what is to come
	PullDrift               float64     // a job's load on its sources is set anew when its readers come or go, and when it has moved by this fraction …
	PullEvery               heddle.Span // … but not more often than this for each source

	Programs map[string]Program
	Mean     Program // for unknown programs: the mean of the measured ones per byte
}

// A Start is what starting a process takes: processor time, then a wait.
type Start struct {
	CPU   float64 // core-seconds of the node's own cores
	Width float64 // cores it keeps busy if it has them
	Rest  heddle.Span
}

// Alone returns how long the start takes on idle cores.
func (s *Start) Alone() heddle.Span { return heddle.Seconds(s.CPU/s.Width) + s.Rest }

// A Program is what a piece of software needs. The units are core-seconds of the reference core per
// MiB, and bytes out per byte in.
type Program struct {
	Map    float64 // per MiB read
	Reduce float64 // per MiB copied
	Fixed  float64 // core-seconds of each map, whatever it reads
	Ratio  float64 // map output per input, after combining
	Result float64 // reduce output per copied byte

	First   float64 // Spark: per MiB of the pass that reads HDFS
	Shuffle float64 // Spark: per MiB of shuffled input
	Cached  float64 // Spark: per MiB of input that is in memory
	Grow    float64 // Spark: bytes in memory per byte of the input that was cached
}

// DefaultParams returns the constants with the sources above.
func DefaultParams() Params {
	return Params{
		DiskBps: 150e6, SeekSeconds: 0.0082 + 0.00416, SliceSeconds: 0.1, RequestBytes: 512 << 10,
		NICBps: 125e6, NetEfficiency: 1448.0 / 1538, NetCPU: 8 / 2.6e9, Fetchers: 5,
		Replicas: 3, FreeOutput: 1 << 20,
		SortBuffer: 100, SpillPercent: 0.8, HeapRatio: 0.8, ShuffleBuffer: 0.7, MergePercent: 0.66, SortFactor: 10,
		TaskBase: 189, SortCPU: (2.49 - 0.95) / 128.7, SortShare: (2.49 - 0.95) / 2.49, MergeShare: 0.5,
		ReducePerInput: (740.0 - 189) / 387, ReduceWants: 1147,
		SlowAtTenth: (1.2 + 1.75 + 1.08) / 3, SwapPasses: 15 / 22.7, GCHeap: 170, GCNone: 250, GCs: 62, GCSplit: 100, FullGC: 0.0076,
		ReservedMemory: 0.125, DirtyRatio: 0.2,
		MasterBase: 179, MasterPerTask: 15500,
		SparkReserved: 300, SparkFraction: 0.6, SparkOverhead: 0.1, SparkMinOverhead: 384,
		PartitionZipf: 0.35, Noise: 0.07, NodeSpread: 0.07,
		TaskStart: Start{1.85 - 0.3, 1.5, 170 * heddle.Millisecond}, MasterStart: Start{2.9, 1.5, 600 * heddle.Millisecond},
		SparkMasterStart: Start{2.4, 1.5, 500 * heddle.Millisecond}, DriverStart: Start{3.5, 1.5, 500 * heddle.Millisecond},
		ExecutorStart: Start{2.4, 1.2, 500 * heddle.Millisecond},
		SuspendCost:   2700 * heddle.Millisecond, ResizeCost: 50 * heddle.Millisecond,
		BatchFloor: 0.05, BatchOfRest: 0.1, PullDrift: 0.25, PullEvery: 1 * heddle.Millisecond,
		Programs: programs(), Mean: mean(programs()),
	}
}

// programs returns what each known program needs. Every figure is measured unless it says otherwise. A program that is
// only measured on MapReduce needs the mean of those measured on Spark when it runs there; pi, which reads nothing,
// needs its Fixed under both.
func programs() map[string]Program {
	const sortReduce = 1.63 / 129.4 // core-seconds per MiB; also for reduces too small to measure
	all := map[string]Program{
		// 12.08 s for 129.4 MiB of random text. Ratio is derived, because random text has only a thousand words: Heaps'
		// law for English gives 44·n^0.49 distinct words (Manning et al., Introduction to Information Retrieval, 5.1.1)
		// of a split's 22 million, at 12 bytes each.
		"wordcount": {Map: 12.08 / 129.4, Reduce: sortReduce, Ratio: 0.016, Result: 1},
		// 1.14 s for 129.4 MiB; 28 bytes of map output.
		"grep": {Map: 1.14 / 129.4, Reduce: sortReduce, Ratio: 1e-6, Result: 1},
		// 2.49 s to read, sort and spill 129.4 MiB, 1.63 s to reduce them.
		"sort": {Map: 2.49 / 129.4, Reduce: sortReduce, Ratio: 1, Result: 1},
		// 5.32 s for 129.0 MiB with two spills and their merge; 7.13 s to reduce 387 MiB.
		"terasort": {Map: 5.32 / 129.0, Reduce: 7.13 / 387, Ratio: 1.032, Result: 0.969},
		// 0.95 s to write 129.4 MiB.
		"randomwriter": {Map: 0.95 / 129.4, Reduce: sortReduce, Ratio: 1, Result: 1},
		// Derived: Coupling's job 3 (QuasiMonteCarlo, 5 maps) took 0.8 min at its fastest, of which about 20 s go to
		// starting the master and containers. The rest is the map, on cores of 0.12 times the reference speed (a
		// WordCount map of 62.5 MiB took 48.5 s there).
		"pi": {Fixed: 3, Reduce: sortReduce, Ratio: 1e-6, Result: 1},
		// MLlib, 20 dimensions as text, 10 centres: 1.68 s for 64.1 MiB of text, 68.7 MiB in memory, 0.26 s an
		// iteration over them. A MapReduce iteration reads the text each time.
		"kmeans": {Map: (1.68 + 0.26) / 64.1, Reduce: sortReduce, Ratio: 1e-4, Result: 1, First: 1.68 / 64.1, Shuffle: sortReduce, Cached: 0.26 / 68.7, Grow: 68.7 / 64.1},
		// Spark's example, half a million pages: 22.06 s for 64.1 MiB of edges, 32.5 MiB shuffled, 4.45 s to
		// group them, 194.4 MiB in memory, 3.31 s an iteration.
		"pagerank": {Map: 22.06 / 64.1, Reduce: 4.45 / 32.5, Ratio: 32.5 / 64.1, Result: 1, First: 22.06 / 64.1, Shuffle: 4.45 / 32.5, Cached: 3.31 / 194.4, Grow: 194.4 / 64.1},
		// An inverted index in Spark: 3.64 s for 129.6 MiB of text, 84.6 MiB shuffled, 2.37 s to group them.
		"index": {Map: 3.64 / 129.6, Reduce: 2.37 / 84.6, Ratio: 84.6 / 129.6, Result: 1, First: 3.64 / 129.6, Shuffle: 2.37 / 84.6, Cached: 0.26 / 68.7, Grow: 68.7 / 64.1},
	}
	m := mean(all)
	for name, p := range all {
		if p.First == 0 && p.Fixed == 0 {
			p.First, p.Shuffle, p.Cached, p.Grow = m.First, m.Shuffle, m.Cached, m.Grow
			all[name] = p
		}
	}
	return all
}

// mean averages the programs that read input; for Spark's figures, those measured on Spark.
func mean(all map[string]Program) Program {
	var m Program
	for _, name := range [...]string{"wordcount", "grep", "sort", "terasort"} {
		p := all[name]
		m.Map += p.Map / 4
		m.Reduce += p.Reduce / 4
		m.Ratio += p.Ratio / 4
		m.Result += p.Result / 4
	}
	for _, name := range [...]string{"kmeans", "pagerank", "index"} {
		p := all[name]
		m.First += p.First / 3
		m.Shuffle += p.Shuffle / 3
		m.Cached += p.Cached / 3
		m.Grow += p.Grow / 3
	}
	return m
}

// program returns what a job's program needs; for an unknown one, the mean.
func (p *Params) program(name string) Program {
	known, _ := workload.Program(name)
	if q, ok := p.Programs[known]; ok {
		return q
	}
	if q, ok := p.Programs[name]; ok {
		return q
	}
	return p.Mean
}
