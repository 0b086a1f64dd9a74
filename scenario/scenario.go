// Package scenario reads scenario files in YAML: a cluster, the work it is given, what goes wrong, and which physical
// effects count.
//
// It knows what a file says, not what a policy or the simulated world makes of it: a profile is passed on as it is, and
// physical parameters cannot be set here, so that the results of two scenarios can be compared.
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
	Name    string // the file's name if the file states none
	About   string
	Cluster []NodeGroup
	Uplink  float64 // bytes/s of each rack's uplink, each way; 0 = never the bottleneck
	World   string  // full, given or "" = not said
	Seeds   int     // runs wanted; 0 = not said
	Effects Effects
	Queues  []Queue // below the root; nil = the file defines none

	// Profile is what the file has under profile: a string, a mapping (map[string]any), or nil. ProfileNode is the same
	// as parsed, for callers with their own reader of profiles.
	Profile     any
	ProfileNode ast.Node

	faults     []rawFault
	jobs       []rawJob
	trace      *workload.Workload
	factor     float64 // for the trace's gaps
	nodes      []Node
	indexes    map[string]int
	effectsSet bool
}

// A NodeGroup is a number of identical nodes. Zero means the simulated world's default.
type NodeGroup struct {
	Name  string
	Count int
	Size  heddle.Resource // what each node offers
	Cores float64         // physical; 0 = one per vcore offered
	RAM   int64           // MiB of the machine
	Disk  float64         // bytes/s of sequential transfer
	Seek  heddle.Span     // one movement of the disk's heads
	Run   int64           // bytes of one stream that the disk serves before the next
	NIC   float64         // bytes/s on the wire, each way
	Speed float64         // of a core relative to the reference core
	Racks []string        // assigned to its nodes in turn
}

// A Node is a node of the cluster. Workload.Hosts refers to nodes by their index in [Scenario.Nodes].
type Node struct {
	Name  string
	Rack  string
	Group int // index into Scenario.Cluster
}

// Nodes returns the nodes of all groups in order, named n1, n2, ….
func (s *Scenario) Nodes() []Node { return s.nodes }

// Files returns the files it was read from: its own and those of its trace.
func (s *Scenario) Files() []string {
	files := []string{s.Path}
	if s.trace != nil {
		files = append(files, s.trace.Files...)
	}
	return files
}

// Effects are the physical effects that count, with the same fields as in the simulated world.
type Effects struct {
	Locality    bool // remote reads cost network and the source's disk
	Contention  bool // stages on a node share it
	Skew        bool // partitions are uneven
	Noise       bool // like tasks need different amounts of processor time
	Memory      bool // too little memory slows tasks, makes nodes swap and fails masters
	LaunchDelay bool // process starts take processor time and a wait
	SlowNodes   bool // node speeds vary around their specification
	MemoryKill  bool // a task that demands more than it was told is killed; off unless switched on
	PageCache   bool // unused memory keeps what was read and written last; off unless switched on
}

// Replays reports whether the scenario is a trace and nothing else: it has no jobs of its own, no faults and no
// effects.
func (s *Scenario) Replays() bool {
	return s.trace != nil && len(s.jobs) == 0 && len(s.faults) == 0 && !s.effectsSet
}

// QueueAt returns where in the file a job first names a queue, or "" if no listed job names it.
func (s *Scenario) QueueAt(queue string) string {
	for i := range s.jobs {
		if q := &s.jobs[i].Queue; q.value == queue && queue != "" {
			return fmt.Sprintf("%s:%d:%d", s.Path, q.line, q.column)
		}
	}
	return ""
}

// ProfileAt returns where in the file the profile is; the file must have one.
func (s *Scenario) ProfileAt() string {
	at := positionOf(s.ProfileNode)
	return fmt.Sprintf("%s:%d:%d", s.Path, at.line, at.column)
}

// Streams of randomness, each with its own numbers, so that an additional job does not change the others.
const (
	streamBlocks uint64 = (iota + 1) << 32
	streamArrivals
	streamFaults
)

func stream(seed, purpose uint64, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose|uint64(uint32(index))))
}

// Build returns the work of the scenario for a seed: the trace's jobs, which are the same for every seed, and the
// listed ones, whose arrivals and blocks are drawn. If blocks were placed, Workload.Hosts are the nodes in order; a
// trace without hosts gets none here.
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

// addTrace adds the trace's jobs to the listed ones. If both have hosts, the trace's hosts come after the others.
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
