// Package scenario reads scenario files: a cluster, the work it is given, what goes wrong, and which
// physical effects count, in YAML.
//
// It knows what a file says, not what a policy or the simulated world makes of it: a profile is handed
// on as it stands, and physical parameters cannot be set here, so that results of two scenarios compare.
package scenario

import (
	"fmt"
	"math/rand/v2"

	"github.com/goccy/go-yaml/ast"

	"heddle"
	"heddle/workload"
)

// A Scenario is one file. It does not change after Read and may be used from many goroutines.
type Scenario struct {
	Path    string // as given to Read
	Name    string // the file's name when it says none
	About   string
	Cluster []NodeGroup
	Uplink  float64 // bytes/s of each rack's uplink, each way; 0 = never the bottleneck
	World   string  // full, given or "" = not said
	Seeds   int     // runs wanted; 0 = not said
	Effects Effects
	Queues  []Queue // below the root; nil = the file defines none

	// Profile is what stands under profile: a string, a mapping (map[string]any), or nil.
	// ProfileNode is the same as it was parsed, for a reader of profiles of its own.
	Profile     any
	ProfileNode ast.Node

	faults     []rawFault
	jobs       []rawJob
	trace      *workload.Workload
	factor     float64 // of the trace's gaps
	nodes      []Node
	indexes    map[string]int
	effectsSet bool
}

// A NodeGroup is a number of like nodes. Zero means the simulated world's default.
type NodeGroup struct {
	Name  string
	Count int
	Size  heddle.Resource // what each offers
	Cores float64         // physical; 0 = one per vcore offered
	RAM   int64           // MiB of the machine
	Disk  float64         // bytes/s of sequential transfer
	Seek  heddle.Span     // one move of the disk's heads
	Run   int64           // bytes that the disk serves of one stream before the next
	NIC   float64         // bytes/s on the wire, each way
	Speed float64         // of a core against the reference core
	Racks []string        // dealt to its nodes in turn
}

// A Node is a node of the cluster. Its index in [Scenario.Nodes] is what Workload.Hosts refers to.
type Node struct {
	Name  string
	Rack  string
	Group int // index into Scenario.Cluster
}

// Nodes returns the nodes of all groups in order, named n1, n2, ….
func (s *Scenario) Nodes() []Node { return s.nodes }

// Files are those that it was read from: its own and those of its trace.
func (s *Scenario) Files() []string {
	files := []string{s.Path}
	if s.trace != nil {
		files = append(files, s.trace.Files...)
	}
	return files
}

// Effects are the physical effects that count, with the fields of the simulated world's own.
type Effects struct {
	Locality    bool // remote reads cost network and the source's disk
	Contention  bool // what runs on a node shares it
	Skew        bool // partitions are uneven
	Noise       bool // like tasks need unlike amounts of processor time
	Memory      bool // too little memory slows tasks, swaps nodes and fails masters
	LaunchDelay bool // processes take processor time and waits to start
	SlowNodes   bool // node speeds vary around their specification
	MemoryKill  bool // a task that demands more than it was told is killed; off unless switched on
	PageCache   bool // memory that nobody holds keeps what was read and written last; off unless switched on
}

// Replays reports whether the scenario is a trace and nothing else: no jobs of its own, no faults, no effects.
func (s *Scenario) Replays() bool {
	return s.trace != nil && len(s.jobs) == 0 && len(s.faults) == 0 && !s.effectsSet
}

// QueueAt returns where in the file a queue is named first by a job; empty where no listed job names it.
func (s *Scenario) QueueAt(queue string) string {
	for i := range s.jobs {
		if q := &s.jobs[i].Queue; q.value == queue && queue != "" {
			return fmt.Sprintf("%s:%d:%d", s.Path, q.line, q.column)
		}
	}
	return ""
}

// ProfileAt returns where in the file the profile stands, which it must have.
func (s *Scenario) ProfileAt() string {
	at := positionOf(s.ProfileNode)
	return fmt.Sprintf("%s:%d:%d", s.Path, at.line, at.column)
}

// Streams of randomness, each with numbers of its own, so that a job more does not change the others.
const (
	streamBlocks uint64 = (iota + 1) << 32
	streamArrivals
	streamFaults
)

func stream(seed, purpose uint64, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose|uint64(uint32(index))))
}

// Build returns the work of the scenario for a seed: the trace's jobs, which are the same for every
// seed, and the listed ones with their arrivals and their blocks drawn. Workload.Hosts are the nodes in
// order when blocks were placed; a trace without hosts gets none here.
func (s *Scenario) Build(seed uint64) (*workload.Workload, error) {
	w := &workload.Workload{Name: s.Name, Format: "scenario"}
	b := builder{s: s, w: w, seed: seed}
	for i := range s.jobs {
		if err := b.group(i); err != nil {
			return nil, err
		}
	}
	if b.placed {
		for _, n := range s.nodes {
			w.Hosts = append(w.Hosts, workload.Host{Name: n.Name, Rack: n.Rack})
		}
	}
	if s.trace != nil {
		if err := b.addTrace(); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	for i := range w.Jobs {
		if id := w.Jobs[i].ID; seen[id] {
			return nil, fmt.Errorf("%s: two jobs have the id %q; ids must differ", s.Path, id)
		} else {
			seen[id] = true
		}
	}
	w.Sort()
	return w, nil
}

// addTrace puts the trace's jobs beside the listed ones. Where both have hosts the trace's come behind.
func (b *builder) addTrace() error {
	t := *b.s.trace
	t.Jobs = append([]workload.Job(nil), t.Jobs...)
	if err := t.Scale(b.s.factor); err != nil {
		return fmt.Errorf("%s: workload.gaps: %w", b.s.Path, err)
	}
	if shift := int32(len(b.w.Hosts)); shift > 0 && len(t.Hosts) > 0 {
		for i := range t.Jobs {
			shiftHosts(&t.Jobs[i], shift)
		}
	}
	b.w.Jobs = append(b.w.Jobs, t.Jobs...)
	b.w.Hosts = append(b.w.Hosts, t.Hosts...)
	b.w.Lines, b.w.Skipped, b.w.Cut, b.w.Filled = t.Lines, t.Skipped, t.Cut, t.Filled
	if len(b.s.jobs) == 0 {
		b.w.Format = t.Format
	}
	return nil
}

// shiftHosts renumbers the hosts of a job's tasks, in copies.
func shiftHosts(j *workload.Job, by int32) {
	shift := func(tasks []workload.Task) []workload.Task {
		out := append([]workload.Task(nil), tasks...)
		for i := range out {
			hosts := make([]int32, len(out[i].Hosts))
			for k, h := range out[i].Hosts {
				hosts[k] = h + by
			}
			out[i].Hosts = hosts
		}
		return out
	}
	j.Maps, j.Reduces, j.Other = shift(j.Maps), shift(j.Reduces), shift(j.Other)
	if j.Spark == nil {
		return
	}
	s := *j.Spark
	s.Stages = append([]workload.Stage(nil), s.Stages...)
	for i := range s.Stages {
		s.Stages[i].Tasks = shift(s.Stages[i].Tasks)
	}
	j.Spark = &s
}
