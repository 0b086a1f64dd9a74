package scenario

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"heddle"
	"heddle/internal/near"
	"heddle/workload"
)

// FaultKind says what breaks.
type FaultKind uint8

// The faults, in the same order as in the simulator.
const (
	NodeLoss      FaultKind = iota // the node dies; it returns after For, or never
	SlowNode                       // the node runs at Speed of its own speed, for For or for good
	SilentNode                     // the node works on, but its heartbeats are lost, for For
	MasterFailure                  // the master of job Job, if it is running, fails
	TaskFailure                    // a fraction Rate of the tasks that would succeed fails
	AgentLoss                      // the node agent of the node ends; another starts after For, or never
)

var faultKinds = []string{"node_loss", "slow_node", "silent_node", "master_failure", "task_failure", "agent_loss"}

// String returns the kind as written in files.
func (k FaultKind) String() string { return faultKinds[k] }

// A Fault is something that goes wrong once. Fields that do not apply are 0.
type Fault struct {
	Kind  FaultKind
	At    heddle.Time
	For   heddle.Span // 0 = for good
	Node  int         // index of a node of the cluster
	Job   int         // index into the jobs of the workload given to Faults
	Speed float64     // above 0 and at most 1
	Rate  float64
}

// maxFaults is how many faults a scenario may have after the random ones are drawn.
const maxFaults = 100_000

// Faults returns the faults for a seed, ordered by time, on a cluster with the given number of nodes: the scenario's or
// another. What the file leaves open is drawn: the times of recurring faults, and nodes and jobs that are not named. w
// is the scenario's own workload for the same seed. A node that is named and that the cluster does not have is an error.
func (s *Scenario) Faults(seed uint64, w *workload.Workload, nodes int) ([]Fault, error) {
	byID := make(map[string]int, len(w.Jobs))
	for i := range w.Jobs {
		byID[w.Jobs[i].ID] = i
	}
	var out []Fault
	for n := range s.faults {
		r := &s.faults[n]
		rng := stream(seed, streamFaults, n)
		kind := FaultKind(slices.Index(faultKinds, r.Kind.value))
		at := heddle.Time(r.At.value)
		for {
			if r.Every.set {
				at = at.Plus(max(1, exponential(r.Every.value, rng)))
				if at > heddle.Time(r.Until.value) || len(out) >= maxFaults {
					break
				}
			}
			f := Fault{Kind: kind, At: at, For: r.For.value, Speed: r.Speed.value, Rate: r.Rate.value}
			switch {
			case kind == MasterFailure && r.Job.value != "":
				f.Job = byID[r.Job.value]
			case kind == MasterFailure:
				f.Job = rng.IntN(max(1, len(w.Jobs)))
			case kind != TaskFailure && r.Node.value != "":
				if f.Node, _ = s.node(r.Node.value); f.Node >= nodes {
					return nil, s.at(r.Node.errorf("a %s hits its node %d, and the cluster has %d", kind, f.Node+1, nodes))
				}
			case kind != TaskFailure:
				f.Node = rng.IntN(nodes)
			}
			out = append(out, f)
			if !r.Every.set {
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return out, nil
}

// Has reports whether the file lists a fault of a kind.
func (s *Scenario) Has(kind FaultKind) bool {
	return slices.ContainsFunc(s.faults, func(r rawFault) bool { return r.Kind.value == kind.String() })
}

// node returns the index of a node given by name (n3) or by number (3); the first is 1.
func (s *Scenario) node(name string) (int, bool) {
	if i, ok := s.indexes[name]; ok {
		return i, true
	}
	i, err := strconv.Atoi(name)
	return i - 1, err == nil && i >= 1 && i <= len(s.nodes)
}

func (s *Scenario) checkFaults(ids map[string]bool) error {
	for i := range s.faults {
		if err := s.faults[i].check(s, ids); err != nil {
			return err
		}
	}
	return nil
}

func (r *rawFault) check(s *Scenario, ids map[string]bool) error {
	kind := slices.Index(faultKinds, r.Kind.value)
	if kind < 0 {
		at := r.Kind.position
		if r.Kind.value == "" {
			at = r.position
		}
		return at.errorf("%s: no such kind of fault; %s", clip(r.Kind.value), near.Names(r.Kind.value, faultKinds))
	}
	if FaultKind(kind) == TaskFailure {
		if !r.Rate.set || r.Rate.value >= 1 {
			return r.errorf("task_failure: wanted rate, the fraction of tasks that fail, from 0 and below 1")
		}
		return r.only("rate")
	}
	if r.At.set == r.Every.set {
		return r.errorf("%s: wanted one of at, a time, and every, a mean time between", r.Kind.value)
	}
	if r.At.set && r.Until.set {
		return r.Until.errorf("until with at: wanted until with every, or for")
	}
	if r.Every.set && (!r.Until.set || r.Every.value == 0 || int64(r.Until.value/r.Every.value) > maxFaults/2) {
		return r.Every.errorf("every: wanted until with it, a mean above 0, and at most %d faults", maxFaults/2)
	}
	switch FaultKind(kind) {
	case NodeLoss, AgentLoss:
		return cmp.Or(r.checkNode(s), r.only("at", "every", "until", "for", "node"))
	case SlowNode:
		if !r.Speed.set {
			return r.errorf("slow_node: wanted speed, a factor above 0 and at most 1")
		}
		if r.Speed.value == 0 || r.Speed.value > 1 {
			return r.Speed.errorf("slow_node: speed %g: wanted a factor above 0 and at most 1", r.Speed.value)
		}
		return cmp.Or(r.checkNode(s), r.only("at", "every", "until", "for", "node", "speed"))
	case SilentNode:
		if r.For.value == 0 {
			return r.errorf("silent_node: wanted for, how long its heartbeats are lost")
		}
		return cmp.Or(r.checkNode(s), r.only("at", "every", "until", "for", "node"))
	default: // MasterFailure
		if r.Job.value != "" && !ids[r.Job.value] {
			return r.Job.errorf("%s: no job has this id", clip(r.Job.value))
		}
		return r.only("at", "every", "until", "job")
	}
}

func (r *rawFault) checkNode(s *Scenario) error {
	if _, ok := s.node(r.Node.value); r.Node.value != "" && !ok {
		return r.Node.errorf("%s: wanted a node from n1 to n%d", clip(r.Node.value), len(s.nodes))
	}
	return nil
}

// only refuses keys that do not apply to a kind of fault.
func (r *rawFault) only(keys ...string) error {
	for _, k := range []struct {
		key string
		set bool
		at  position
	}{
		{"at", r.At.set, r.At.position},
		{"every", r.Every.set, r.Every.position},
		{"until", r.Until.set, r.Until.position},
		{"for", r.For.set, r.For.position},
		{"node", r.Node.value != "", r.Node.position},
		{"job", r.Job.value != "", r.Job.position},
		{"speed", r.Speed.set, r.Speed.position},
		{"rate", r.Rate.set, r.Rate.position},
	} {
		if k.set && !slices.Contains(keys, k.key) {
			return k.at.errorf("%s does not use %s; it uses %s", r.Kind.value, k.key, strings.Join(keys, ", "))
		}
	}
	return nil
}
