package sim

import (
	"math/rand/v2"
	"slices"

	"heddle"
	"heddle/sim/apps"
	"heddle/sim/world"
	"heddle/workload"
)

// replicas is HDFS's dfs.replication.
const replicas = 3

// place decides where the blocks of a job's input are if its trace does not say. It does so as HDFS does: the first
// replica is on any node, the others are together on another rack. In the given world it places nothing: a task that
// names no place there takes any.
func (a *app) place(s *Sim) {
	a.placed = !s.o.Given || slices.ContainsFunc(a.job.Maps, func(t workload.Task) bool { return len(t.Hosts) > 0 })
	if s.o.Given {
		return
	}
	n := len(a.job.Maps)
	if a.job.Spark != nil {
		for i := range a.job.Spark.Stages {
			if st := &a.job.Spark.Stages[i]; st.Input {
				n += len(st.Tasks)
			}
		}
	}
	a.reps = min(replicas, len(s.o.Nodes))
	a.hosts = make([]heddle.NodeID, 0, n*a.reps)
	rng := rand.New(rand.NewPCG(s.o.Seed, 0xb10c<<32|uint64(a.id)))
	for range n {
		a.hosts = appendReplicas(a.hosts, s.o.Nodes, a.reps, rng)
	}
}

// tries bounds the draws for a replica on the wanted rack, which a cluster may not have.
const tries = 32

func appendReplicas(dst []heddle.NodeID, nodes []world.NodeSpec, reps int, rng *rand.Rand) []heddle.NodeID {
	from := len(dst)
	taken := func(n heddle.NodeID) bool {
		return slices.Contains(dst[from:], n)
	}
	for len(dst)-from < reps {
		var n heddle.NodeID
		for t := range tries {
			n = heddle.NodeID(rng.IntN(len(nodes)))
			if taken(n) {
				continue
			}
			k := len(dst) - from
			if k == 0 || t == tries-1 {
				break
			}
			sameAsFirst := nodes[n].Rack == nodes[dst[from]].Rack
			if k == 1 && !sameAsFirst || k >= 2 && nodes[n].Rack == nodes[dst[from+1]].Rack {
				break
			}
		}
		for taken(n) {
			n = heddle.NodeID((int(n) + 1) % len(nodes))
		}
		dst = append(dst, n)
	}
	return dst
}

// hostsOf returns the nodes that hold the input of a piece of work, or none if they are not known.
func (s *Sim) hostsOf(a *app, w apps.Work) []heddle.NodeID {
	if w.Kind == heddle.Map && !a.placed {
		return nil
	}
	t := a.task(w)
	if t == nil {
		return nil
	}
	if len(t.Hosts) > 0 {
		out := make([]heddle.NodeID, 0, len(t.Hosts))
		for _, h := range t.Hosts { // two hosts of a trace may be the same node here
			if n := s.hostNode(h); !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
		return out
	}
	if a.reps == 0 || t.Input == 0 {
		return nil
	}
	at := int(w.Index)
	switch {
	case w.Kind == heddle.Executor:
		at += len(a.job.Maps)
		for i := range w.Stage {
			if st := &a.job.Spark.Stages[i]; st.Input {
				at += len(st.Tasks)
			}
		}
		if !a.job.Spark.Stages[w.Stage].Input {
			return nil
		}
	case w.Kind != heddle.Map:
		return nil
	}
	return a.hosts[at*a.reps : (at+1)*a.reps]
}

// hostNode maps a host of a trace to a node: the one with its name, or else by index.
func (s *Sim) hostNode(h int32) heddle.NodeID {
	if s.byName == nil {
		s.byName = map[string]heddle.NodeID{}
		for i := range s.o.Nodes {
			s.byName[s.o.Nodes[i].Name] = heddle.NodeID(i)
		}
	}
	if int(h) < len(s.o.Workload.Hosts) {
		if n, ok := s.byName[s.o.Workload.Hosts[h].Name]; ok {
			return n
		}
	}
	return heddle.NodeID(int(h) % len(s.o.Nodes))
}

// task returns what the workload says of a piece of work, or nil if it is not a task.
func (a *app) task(w apps.Work) *workload.Task {
	switch w.Kind {
	case heddle.Map:
		return &a.job.Maps[w.Index]
	case heddle.Reduce:
		return &a.job.Reduces[w.Index]
	case heddle.Other:
		return &a.job.Other[w.Index]
	case heddle.Executor:
		return &a.job.Spark.Stages[w.Stage].Tasks[w.Index]
	default:
		return nil
	}
}

func (s *Sim) durationOf(a *app, w apps.Work) heddle.Span { return a.task(w).Duration }

// coresOf returns how much processor a piece of work occupies in the given world: what its container has, or what a
// task occupies of an executor.
func (s *Sim) coresOf(c *container, w apps.Work) int64 {
	if w.Kind == heddle.Executor {
		return c.app.job.Spark.CoresOfTask()
	}
	return c.limit[heddle.CPU]
}

func coresOfNode(n *world.NodeSpec) float64 {
	if n.Cores > 0 {
		return n.Cores
	}
	return float64(n.Total[heddle.CPU]) / 1000
}

// countLocality records how near a map ran to its split when it first ended.
func (s *Sim) countLocality(a *app, c *container, w apps.Work) {
	if !a.placed {
		return
	}
	hosts := s.hostsOf(a, w)
	if len(hosts) == 0 {
		return
	}
	a.localised++
	near := false
	for _, h := range hosts {
		if h == c.node {
			a.localMaps++
			return
		}
		near = near || s.racks[h] == s.racks[c.node]
	}
	if near {
		s.res.RackMaps++
	}
}
