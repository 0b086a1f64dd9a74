package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"heddle"
	"heddle/policy"
	"heddle/rm"
	"heddle/sim/apps"
	"heddle/sim/world"
)

// FaultKind says what breaks.
type FaultKind uint8

// The faults.
const (
	NodeLoss      FaultKind = iota // the node dies at At; it returns after For, or never
	SlowNode                       // the node runs at Factor of its speed from At, for For or for good
	SilentNode                     // the node works on, but its heartbeats are lost from At, for For
	MasterFailure                  // the master of job Job, if it is running, ends at At with exit code 1
	TaskFailure                    // a fraction Rate of the tasks that would succeed fails instead
	AgentLoss                      // the node agent of a node ends at At; another starts after For, or never
)

// A Fault is something that goes wrong. If a node has several at once, each lasts as long as it says.
type Fault struct {
	Kind   FaultKind
	At     heddle.Time
	For    heddle.Span // 0 = for good
	Node   heddle.NodeID
	Job    int // index into the workload
	Factor float64
	Rate   float64
}

// The stages of a fault, kept in its entry's generation.
const (
	strikes uint32 = iota
	mends
)

// plan checks the faults and puts them on the heap.
func (s *Sim) plan(fs []Fault) error {
	s.faults = map[heddle.NodeID][]*Fault{}
	for i, f := range fs {
		switch {
		case (f.Kind <= SilentNode || f.Kind == AgentLoss) && (f.Node < 0 || int(f.Node) >= len(s.o.Nodes)):
			return fmt.Errorf("fault %d: node %d; there are nodes 0 to %d", i, f.Node, len(s.o.Nodes)-1)
		case f.At < 0 || f.For < 0:
			return fmt.Errorf("fault %d: at %g s for %g s; neither may be negative", i, f.At.Seconds(), f.For.Seconds())
		case f.Kind == SlowNode && !(f.Factor > 0 && f.Factor <= 1):
			return fmt.Errorf("fault %d: speed factor %v; it must be above 0 and at most 1", i, f.Factor)
		case f.Kind == MasterFailure && (f.Job < 0 || f.Job >= len(s.apps)):
			return fmt.Errorf("fault %d: job %d; there are jobs 0 to %d", i, f.Job, len(s.apps)-1)
		case f.Kind == TaskFailure:
			if !(f.Rate >= 0 && f.Rate < 1) {
				return fmt.Errorf("fault %d: rate %v; it must be at least 0 and below 1", i, f.Rate)
			}
			s.failRate = f.Rate
			continue
		}
		s.heap.push(entry{at: f.At, what: fault, gen: strikes, id: int64(i)})
		if f.Kind != MasterFailure {
			s.faults[f.Node] = append(s.faults[f.Node], &fs[i])
		}
	}
	return nil
}

// fails reports whether a task that reaches its end fails there, either by chance or because there is nobody to report
// to. Chance decides for each attempt of a task by itself, so that the same ones fail whatever ends before them.
func (s *Sim) fails(w apps.Work) bool {
	c := s.container(w.Container)
	if c != nil && (c.app.master == nil || c.known) {
		return true
	}
	if c == nil || s.failRate == 0 {
		return false
	}
	attempt := uint64(w.Kind)<<60 ^ uint64(w.Stage)<<44 ^ uint64(w.Attempt)<<28 ^ uint64(w.Index)
	return rand.New(rand.NewPCG(s.o.Seed^uint64(c.app.id)<<20^streamFails, attempt)).Float64() < s.failRate
}

// streamFails distinguishes the draws of [Sim.fails] from others of the same seed.
const streamFails = 0xfa << 56

// strike makes a fault happen, end, or be noticed.
func (s *Sim) strike(f *Fault, stage uint32) {
	later := func(span heddle.Span, st uint32) {
		for i := range s.o.Faults {
			if &s.o.Faults[i] == f {
				s.heap.push(entry{at: s.now.Plus(span), what: fault, gen: st, id: int64(i)})
			}
		}
	}
	if stage == strikes && f.For > 0 {
		later(f.For, mends)
	}
	switch f.Kind {
	case NodeLoss, SilentNode:
		n := &s.nodes[f.Node]
		switch stage {
		case strikes:
			if !n.silent {
				s.fallsSilent(f.Node)
				n.silent = true
				s.silent++
			}
			if f.Kind == NodeLoss {
				n.dead = true
				s.crash(f.Node)
				s.stopAgent(f.Node)
			}
		case mends:
			if n.silent && !s.lasts(f.Node, NodeLoss) && !s.lasts(f.Node, SilentNode) {
				s.comeBack(f.Node)
			}
		}
		s.hasNews(f.Node)
		s.room(f.Node)
	case SlowNode:
		factor := 1.0
		for _, o := range s.faults[f.Node] {
			if s.strikes(o, SlowNode) {
				factor = min(factor, o.Factor)
			}
		}
		s.phys.setSpeed(s.now, f.Node, factor)
	case MasterFailure:
		a := s.apps[f.Job]
		if c := s.container(a.masterAt); c != nil && c.up && a.done == apps.Running {
			s.exit(c, 1)
		}
	case AgentLoss:
		if s.agents == nil {
			return
		}
		if s.agents[f.Node].broken = s.lasts(f.Node, AgentLoss); stage == strikes {
			s.stopAgent(f.Node)
		} else {
			s.startAgent(f.Node)
		}
	case TaskFailure:
	}
}

// lasts reports whether a fault of kind k is in effect on a node.
func (s *Sim) lasts(n heddle.NodeID, k FaultKind) bool {
	return slices.ContainsFunc(s.faults[n], func(f *Fault) bool { return s.strikes(f, k) })
}

// strikes reports whether a fault is of kind k and in effect.
func (s *Sim) strikes(f *Fault, k FaultKind) bool {
	return f.Kind == k && f.At <= s.now && (f.For == 0 || s.now < f.At.Plus(f.For))
}

// crash ends every process on a node. Nobody hears of it yet.
func (s *Sim) crash(id heddle.NodeID) {
	for i, c := range s.conts.All {
		if c.node == id {
			if s.stopProcess(c); c.known {
				s.conts.Drop(i)
			}
		}
	}
	s.nodes[id].starts, s.nodes[id].exits = nil, nil
	s.phys.nodeDown(s.now, id)
}

// lookForLost ends what is still running on silent nodes that the ResourceManager has given up: it counts for nobody.
func (s *Sim) lookForLost() {
	if s.silent == 0 {
		return
	}
	for i := range s.nodes {
		if n := &s.nodes[i]; n.silent && !n.lost && !s.core().View().Node(heddle.NodeID(i)).Up() {
			s.crash(heddle.NodeID(i))
			s.lose(heddle.NodeID(i))
		}
	}
}

// lose tells the masters of a node that was lost or had to start anew.
func (s *Sim) lose(id heddle.NodeID) {
	if s.nodes[id].lost {
		return
	}
	s.nodes[id].lost = true
	if s.agents != nil {
		s.agents[id].outputs = nil
	}
	for _, a := range s.apps {
		switch {
		case a.over:
		case a.master != nil:
			a.lost = append(a.lost, id)
			s.wake(a)
		default:
			a.loseOutput(id)
		}
	}
	s.room(id)
}

// comeBack handles a node's heartbeats arriving again. A node that died or was given up registers anew: what ran on it
// is over, even if it was never missed.
func (s *Sim) comeBack(id heddle.NodeID) {
	n := &s.nodes[id]
	if n.silent {
		n.silent = false
		s.silent--
	}
	if n.dead || n.lost {
		s.lose(id)
		n.lost, n.dead = false, false
		s.startAgent(id)
		n.used, n.whole = rm.Utilization{}, rm.Utilization{}
		n.worked, _ = s.phys.nodeUsed(s.now, id)
		s.phys.nodeUp(s.now, id)
		s.register(id)
		return
	}
	s.outOfTurn(id) // its last call gets through
}

// register registers a NodeManager that starts.
func (s *Sim) register(id heddle.NodeID) {
	spec := &s.o.Nodes[id]
	can := heddle.AllCaps
	if s.o.NoAgents {
		can = heddle.Stock
	}
	answer, _ := s.ask(&rm.RegisterNode{
		Can:  can,
		Node: s.nodes[id].name, Rack: s.rackNames[spec.Rack], Total: spec.Total,
		Physical: heddle.Of(spec.Total[heddle.Memory], int64(coresOfNode(spec)*1000)),
	})
	p := answer.(*rm.NodeRegistered)
	if p.Refused != "" && s.err == nil {
		s.err = fmt.Errorf("node %d is refused: %s", id, p.Refused)
		return
	}
	s.nodes[id].last, s.nodes[id].number = 0, p.Number
	if s.pace != nil && s.now > 0 { // it reports at once
		s.pace.join(s.wheel.rank[id], 1)
	}
	s.room(id)
}

// monitor makes every node measure the total use of its containers and the use of its machine. A container counts from
// its second measurement on.
func (s *Sim) monitor() {
	v := s.core().View()
	for i := range s.nodes {
		n := &s.nodes[i]
		node := v.Node(n.number)
		if node == nil {
			continue
		}
		sum := 0.0
		node.Each(func(x *policy.Container) bool {
			c := s.container(x.ID())
			if c == nil || !c.exists() {
				return true
			}
			used, _ := s.phys.consumed(s.now, c)
			if c.monitored {
				sum += (used - c.counted) / world.MonitorInterval.Seconds()
			}
			c.counted, c.monitored = used, true
			return true
		})
		whole, used := n.whole.CPU, n.used.CPU
		if worked, ok := s.phys.nodeUsed(s.now, heddle.NodeID(i)); ok {
			n.whole.CPU = thousandths((worked - n.worked) / world.MonitorInterval.Seconds())
			n.worked = worked
		}
		if n.used.CPU = thousandths(sum); n.used.CPU != used || n.whole.CPU != whole {
			s.hasNews(heddle.NodeID(i))
		}
	}
}

// thousandths rounds a value as it is reported.
func thousandths(x float64) float32 { return float32(math.Round(x*1000) / 1000) }

// feed sends measurements of running tasks to the core.
func (s *Sim) feed(every heddle.Span) {
	v := s.core().View()
	for _, a := range s.apps {
		if a.over || v.App(a.aid) == nil {
			continue
		}
		var ids []heddle.ContainerID
		v.App(a.aid).Each(func(x *policy.Container) bool {
			ids = append(ids, x.ID())
			return true
		})
		for _, id := range slices.Backward(ids) {
			c := s.container(id)
			if c == nil || !c.up || c.over {
				continue
			}
			if every == s.o.Set.Feeds.Progress {
				ph, f := s.phys.progress(s.now, c)
				s.say(&rm.Progress{Container: c.name, Phase: ph, Fraction: f})
				if s.tracer != nil {
					s.tracer.reported(s, c)
				}
			}
			if every == s.o.Set.Feeds.Profile {
				cpu, mem := s.phys.usage(s.now, c)
				s.say(&rm.Profile{Container: c.name, CPU: int64(math.Round(float64(cpu) * s.vcore(c.node))), Memory: mem})
			}
		}
	}
}
