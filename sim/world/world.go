package world

import (
	"math/rand/v2"

	"heddle"
)

// A NodeSpec describes one machine. Zero values take the defaults of Params.
type NodeSpec struct {
	Name    string
	Rack    heddle.RackID
	Total   heddle.Resource // what its NodeManager offers
	Cores   float64         // physical; 0 = one per vcore offered
	Memory  int64           // physical MiB; 0 = what is offered plus Params.ReservedMemory
	DiskBps float64         // bytes/s of sequential transfer; 0 = Params.DiskBps
	Seek    heddle.Span     // one movement of the disk's heads; 0 = Params.SeekSeconds
	Run     float64         // bytes of one stream that the disk serves before the next; 0 = as many as in Params.SliceSeconds
	NICBps  float64         // bytes/s on the wire, each way; 0 = Params.NICBps
	Speed   float64         // of a core relative to the reference core; 0 = 1
}

// Config is a cluster to simulate.
type Config struct {
	Nodes     []NodeSpec
	UplinkBps float64 // bytes/s of each rack's uplink, each way; 0 = never the bottleneck
	Params    Params
	Effects   Effects
	Seed      uint64

	// Fails is called for every task that reaches its end; if it returns true, the task fails there and leaves nothing.
	// Nil = no task fails.
	Fails func(Work) bool
}

// Effects are the physical effects that a scenario can switch on and off. The zero value has none of them; AllEffects
// is the normal world.
type Effects struct {
	Locality    bool // remote reads cost network and the source's disk; without it every read is local
	Contention  bool // stages on a node share it; without it, each runs as if alone
	Skew        bool // partitions are uneven
	Noise       bool // like tasks need different amounts of processor time
	Memory      bool // too little memory slows tasks, makes nodes swap and fails masters
	LaunchDelay bool // process starts take processor time and a wait; resizes and resumes take time to take effect
	SlowNodes   bool // node speeds vary around their specification
	MemoryKill  bool // a task that demands more than it was told is killed, as by a stock NodeManager
	PageCache   bool // unused memory keeps what was read and written last
}

// AllEffects returns every effect except MemoryKill and PageCache: what a task demands is what it would like to have,
// and a JVM whose heap follows its container makes do with less.
func AllEffects() Effects {
	return Effects{Locality: true, Contention: true, Skew: true, Noise: true, Memory: true, LaunchDelay: true, SlowNodes: true}
}

// JobID names a job inside a World; it indexes slices.
type JobID int32

// Work names a piece of work: a whole map or reduce, one Spark task, one plain task. Its fields are those of apps.Work,
// in the same order, so that one can be converted to the other.
type Work struct {
	Container heddle.ContainerID
	Kind      heddle.Kind
	Stage     int32 // of a Spark task: index into the job's stages
	Index     int32
	Attempt   int32
}

// Outcome says how work ended.
type Outcome uint8

// The outcomes.
const (
	Finished    Outcome = iota
	OutOfMemory         // a master whose tasks need more memory than it has; the process ends itself
	OverLimit           // demanded more memory than told, under Effects.MemoryKill
	Failed              // Config.Fails said so; its container lives on
	Started             // not an end: a container's process runs from Done.At on, possibly in the future; Work has only Container and Kind
)

// Done says that a piece of work has ended, or that a container has failed. A failed container is closed, with all work
// in it. For a master, Work has only Container and Kind.
type Done struct {
	At      heddle.Time
	Work    Work
	Node    heddle.NodeID
	Outcome Outcome
	Read    heddle.Locality // how far the input of a map or a Spark task was
	Output  int64           // bytes of map output that reduces can now fetch from Node
}

// A World is a cluster at work. It is not safe for concurrent use. The times passed to its methods never go backwards,
// and everything that ends up to a time must be collected with Advance before anything is changed at a later time. Ids
// that are unknown or over are ignored, because a decision may cross an end on its way.
type World struct {
	p     Params
	fx    Effects
	seed  uint64
	fails func(Work) bool
	now   heddle.Time

	resident int64   // MiB held by processes, on all nodes
	filled   float64 // MiB·s of that, until filledAt
	filledAt heddle.Time
	memory   int64   // MiB of all nodes
	cached   float64 // bytes in page caches, of all nodes
	kept     float64 // byte·s of that, until keptAt
	keptAt   heddle.Time

	nodes   []node
	racks   []rack
	bounds  bounds
	jobs    []*job
	conts   []container
	freeC   []int32
	byID    map[heddle.ContainerID]int32
	tasks   []task
	freeT   []int32
	acts    []act
	freeA   []int32
	byNode  timeHeap // nodes by the earliest end of a stage there
	timers  timerHeap
	pending []Done // failures at the time of a call, for the next Advance

	// What flush has to look at: nodes to divide anew, in use while it does so; nodes to allow anew; nodes whose limits
	// changed; stages whose rate may change; pools to pull, and pools pulled.
	dirty, finals, open, stale, moved []int32
	pulls, pulling                    []*pool
	fill                              fill
	ending, woken                     []int32
	seq                               int64 // of stages and timers

	pcg    *rand.PCG // seeded anew for each draw that belongs to an item
	rng    *rand.Rand
	launch *rand.Rand
}

// New returns a new cluster. It panics without nodes, or if a node has no processors or memory, which no configuration
// reader lets through.
func New(c Config) *World {
	w := &World{p: c.Params, fx: c.Effects, seed: c.Seed, fails: c.Fails, byID: map[heddle.ContainerID]int32{}}
	w.pcg = rand.NewPCG(0, 0)
	w.rng = rand.New(w.pcg)
	w.launch = rand.New(rand.NewPCG(c.Seed, streamLaunch))
	w.addNodes(c)
	return w
}

// Next returns the time of the next thing that happens by itself, and false if nothing will. Usually it is the end of
// some work; sometimes an Advance to it returns nothing because only rates changed.
func (w *World) Next() (heddle.Time, bool) {
	w.flush()
	if len(w.pending) > 0 {
		return w.now, true
	}
	t, ok := w.byNode.min()
	if len(w.timers) > 0 && (!ok || w.timers[0].at < t) {
		return w.timers[0].at, true
	}
	return t, ok
}

// Advance moves the world to now and appends what ended on the way to done, ordered by time; ends at the same time are
// ordered by node and by start.
func (w *World) Advance(now heddle.Time, done []Done) []Done {
	for {
		w.flush()
		done = append(done, w.pending...)
		w.pending = w.pending[:0]
		t, ok := w.byNode.min()
		if len(w.timers) > 0 && (!ok || w.timers[0].at <= t) {
			t, ok = w.timers[0].at, true
		}
		if !ok || t > now {
			break
		}
		w.now = t
		for len(w.timers) > 0 && w.timers[0].at == t {
			w.fire(w.timers.pop())
		}
		for {
			n, at, ok := w.byNode.top()
			if !ok || at > t {
				break
			}
			done = w.endStages(n, done)
		}
	}
	w.now = now
	return done
}

// at moves the clock to the time of a call, after settling what earlier calls changed.
func (w *World) at(now heddle.Time) {
	if now > w.now {
		w.flush()
		w.now = now
	}
}
