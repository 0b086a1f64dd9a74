package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"heddle"
	"heddle/policy"
	"heddle/rm"
)

// NodeAgents are node agents as they are: the ResourceManager tells them what it wants of containers, and they park, freeze
// and weigh them, and measure them where it asks for that. They neither bound containers nor drop caches.
type NodeAgents struct {
	Lag     heddle.Span // from an answer until it is carried out; 0 = [AgentLag]
	Without float64     // part of the nodes that have no agent
}

// AgentLag is from the ResourceManager's answer until an agent has carried it out, where nothing else is said: a round
// trip, and a few writes to control groups at up to 5 ms each.
const AgentLag = 20 * heddle.Millisecond

// agentLook is how often an agent looks for containers.
const agentLook = heddle.Second

// What containers weigh under an agent, in milli-vcores.
const (
	parkedWeight = 2    // as 2 of 1024 cpu.shares, the least there is
	plainWeight  = 1000 // where the ResourceManager says nothing
)

// An agent is a node agent.
type agent struct {
	none    bool        // its node never has one
	up      bool        // it runs
	broken  bool        // it does not start with its node
	life    uint32      // how many there were before
	look    heddle.Span // of every agentLook, when it looks for containers
	looks   heddle.Time // the next look that is planned
	call    rm.Call
	wish    *rm.AgentWish // the last answer
	heard   heddle.Time   // when it reached the agent
	applied uint64
	outputs []rm.MapOutput // that lie on its node, of applications that go on
}

// addAgents starts agents beside nodes.
func (s *Sim) addAgents() {
	o := s.o.NodeAgents
	if o == nil {
		return
	}
	n := len(s.nodes)
	s.agents = make([]agent, n)
	without := int(math.Round(o.Without * float64(n)))
	for _, i := range rand.New(rand.NewPCG(s.o.Seed, 0xa6e27)).Perm(n)[:without] {
		s.agents[i].none = true
	}
	rng := rand.New(rand.NewPCG(s.o.Seed, 0x100c5))
	for i := range s.agents {
		s.agents[i].look = heddle.Span(rng.Int64N(int64(agentLook)))
		s.startAgent(heddle.NodeID(i))
	}
}

// startAgent starts a node's agent, where it has one and its machine runs.
func (s *Sim) startAgent(id heddle.NodeID) {
	if s.agents == nil {
		return
	}
	if a := &s.agents[id]; !a.none && !a.up && !a.broken && !s.nodes[id].dead {
		a.up, a.wish, a.applied, a.looks = true, nil, 0, 0
		s.find(id)
		s.heap.push(entry{at: s.now, what: deeds, gen: a.life, id: int64(id)})
	}
}

// stopAgent ends a node's agent. What it did is undone at once by who watches over it.
func (s *Sim) stopAgent(id heddle.NodeID) {
	if s.agents == nil || !s.agents[id].up {
		return
	}
	a := &s.agents[id]
	a.up, a.call = false, 0
	a.life++
	s.runningOn(id, func(c *container) {
		c.found = false
		s.weigh(c, 0)
		s.freeze(c, 0)
	})
}

// looksFor has the agent of a container's node find it, whose process begins.
func (s *Sim) looksFor(c *container) {
	if s.agents == nil || !s.agents[c.node].up {
		return
	}
	a := &s.agents[c.node]
	ago := (heddle.Span(s.now) - a.look + agentLook) % agentLook // since it looked last
	if next := s.now.Plus(agentLook - ago); next != a.looks {
		a.looks = next
		s.heap.push(entry{at: next, what: looks, gen: a.life, id: int64(c.node)})
	}
}

// find has an agent find the containers that are on its node, and do to them what it was told last.
func (s *Sim) find(id heddle.NodeID) {
	s.runningOn(id, func(c *container) { c.found = true })
	s.carry(id)
}

// wished is an answer on its way to the agent that waits for it; an earlier one is gone.
func (s *Sim) wished(call rm.Call, p *rm.AgentWish) {
	id := int64(call-1) % int64(len(s.agents))
	a := &s.agents[id]
	if a.call != call {
		return
	}
	a.call, a.wish = 0, p
	after := orSpan(s.o.NodeAgents.Lag, AgentLag)
	if !s.core().View().Node(heddle.NodeID(id)).Up() { // nothing can be wanted there
		after = max(after, p.Every)
	}
	a.heard = s.now.Plus(after)
	s.heap.push(entry{at: a.heard, what: deeds, gen: a.life, id: id})
}

// carry has an agent do to the containers that it has found what it was told last.
func (s *Sim) carry(id heddle.NodeID) {
	p := s.agents[id].wish
	if p == nil {
		return
	}
	want := p.Want
	weights, frozen := make(map[heddle.ContainerID]int64, len(want)), map[heddle.ContainerID]heddle.Time{}
	for i := range want {
		if c := s.containerOf(want[i].Container); c != nil {
			weights[c.id] = want[i].Weight
			if want[i].Parked {
				weights[c.id] = parkedWeight
			}
			if want[i].Frozen > 0 {
				frozen[c.id] = s.agents[id].heard.Plus(want[i].Frozen)
			}
		}
	}
	s.foundOn(id, func(c *container) {
		weight, named := weights[c.id]
		if !named {
			weight = plainWeight
		}
		s.weigh(c, weight)
		s.freeze(c, frozen[c.id])
	})
}

// act has an agent do what it was told last, and say so.
func (s *Sim) act(id heddle.NodeID) {
	s.carry(id)
	a, cores := &s.agents[id], s.vcore(id)
	q := &rm.AgentSync{Node: s.nodes[id].name, Agent: strconv.Itoa(int(a.life)), Can: heddle.Parks | heddle.Weighs | heddle.Freezes}
	p := a.wish
	s.foundOn(id, func(c *container) {
		if c.runsTask() {
			q.Tasks = append(q.Tasks, rm.TaskIn{Container: c.name, Task: c.task()})
		}
		if p != nil && p.Measure {
			vcores, memory := s.phys.consumed(s.now, c)
			q.Used = append(q.Used, rm.Used{Container: c.name, CPU: heddle.Seconds(vcores * cores), Memory: memory})
		}
	})
	if p != nil {
		if p.Disks {
			q.DiskBusy = s.phys.diskBusy(s.now, id)
		}
		a.applied = p.Version
		a.outputs = slices.DeleteFunc(a.outputs, func(o rm.MapOutput) bool { return s.appOf(o.App).over })
		for _, of := range p.Outputs {
			for _, o := range a.outputs {
				if o.App == of.App {
					q.Outputs = append(q.Outputs, o)
				}
			}
		}
	}
	s.syncs++
	a.call = (s.syncs-1)*rm.Call(len(s.agents)) + rm.Call(id) + 1
	q.Call, q.Applied = a.call, a.applied
	s.say(q)
}

// vcore is how many processors of a node's machine a vcore there is.
func (s *Sim) vcore(id heddle.NodeID) float64 {
	n := &s.o.Nodes[id]
	return coresOfNode(n) * 1000 / float64(n.Total[heddle.CPU])
}

// runningOn calls for every container of a node that has a process.
func (s *Sim) runningOn(id heddle.NodeID, do func(*container)) {
	node := s.core().View().Node(s.nodes[id].number)
	if node == nil {
		return
	}
	node.Each(func(x *policy.Container) bool {
		if c := s.container(x.ID()); c != nil && c.exists() {
			do(c)
		}
		return true
	})
}

// foundOn calls for every container of a node that its agent has found and that has a process.
func (s *Sim) foundOn(id heddle.NodeID, do func(*container)) {
	s.runningOn(id, func(c *container) {
		if c.found {
			do(c)
		}
	})
}

// freeze keeps a container from running until a time, or lets it run: 0. No later answer makes a freeze longer.
func (s *Sim) freeze(c *container, thaws heddle.Time) {
	switch {
	case thaws > s.now && c.thaw == 0:
		c.frozen, c.thaw = true, thaws
		s.phys.suspend(s.now, c)
		s.heap.push(entry{at: c.thaw, what: looks, gen: s.agents[c.node].life, id: int64(c.node)})
	case c.frozen && (thaws == 0 || s.now >= c.thaw):
		c.frozen = false
		s.phys.resume(s.now, c)
	}
	if thaws == 0 {
		c.thaw = 0
	}
}

// weigh gives a container another weight against others of its node; 0 = that of its size, as without agent.
func (s *Sim) weigh(c *container, weight int64) {
	if c.weight == weight {
		return
	}
	c.weight = weight
	if weight == 0 {
		weight = max(1, c.told[heddle.CPU])
	}
	s.phys.setWeight(s.now, c, weight)
}
