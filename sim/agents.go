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

// NodeAgents configures realistic node agents: the ResourceManager tells them what it wants of containers, and they
// park, freeze, weigh and, on request, measure them. They neither limit containers nor drop caches.
type NodeAgents struct {
	Lag     heddle.Span // from an answer until it is carried out; 0 = [AgentLag]
	Without float64     // fraction of the nodes that have no agent
}

// AgentLag is the default time from the ResourceManager's answer until an agent has carried it out: a round trip, and a
// few writes to control groups at up to 5 ms each.
const AgentLag = 20 * heddle.Millisecond

// agentLook is how often an agent looks for containers.
const agentLook = heddle.Second

// Weights of containers under an agent, in milli-vcores.
const (
	parkedWeight = 2    // like 2 of 1024 cpu.shares, the minimum
	plainWeight  = 1000 // if the ResourceManager says nothing
)

// An agent is a node agent.
type agent struct {
	none    bool        // its node never has one
	up      bool        // it runs
	broken  bool        // it does not start together with its node
	life    uint32      // how many agents the node had before
	look    heddle.Span // offset within every agentLook at which it looks for containers
	looks   heddle.Time // the next planned look
	call    rm.Call
	wish    *rm.AgentWish // the last answer
	heard   heddle.Time   // when the answer reached the agent
	applied uint64
	outputs []rm.MapOutput // on its node, of applications that are still running
}

// addAgents starts the agents of the nodes.
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

// startAgent starts a node's agent if the node has one and its machine is running.
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

// stopAgent ends a node's agent. Its supervisor undoes at once what it did.
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

// looksFor plans when the agent of a container's node finds the container, whose process is starting.
func (s *Sim) looksFor(c *container) {
	if s.agents == nil || !s.agents[c.node].up {
		return
	}
	a := &s.agents[c.node]
	ago := (heddle.Span(s.now) - a.look + agentLook) % agentLook // since its last look
	if next := s.now.Plus(agentLook - ago); next != a.looks {
		a.looks = next
		s.heap.push(entry{at: next, what: looks, gen: a.life, id: int64(c.node)})
	}
}

// find makes an agent find the containers on its node and apply the last answer to them.
func (s *Sim) find(id heddle.NodeID) {
	s.runningOn(id, func(c *container) { c.found = true })
	s.carry(id)
}

// wished sends an answer on its way to the agent that waits for it. It drops the answer to an earlier call.
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

// carry makes an agent apply the last answer to the containers it has found.
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

// act makes an agent apply the last answer and report back.
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

// vcore returns how many processors of a node's machine one vcore stands for.
func (s *Sim) vcore(id heddle.NodeID) float64 {
	n := &s.o.Nodes[id]
	return coresOfNode(n) * 1000 / float64(n.Total[heddle.CPU])
}

// runningOn calls do for every container of a node that has a process.
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

// foundOn calls do for every container of a node that its agent has found and that has a process.
func (s *Sim) foundOn(id heddle.NodeID, do func(*container)) {
	s.runningOn(id, func(c *container) {
		if c.found {
			do(c)
		}
	})
}

// freeze suspends a container until thaws, or resumes it if thaws is 0. A later answer never extends a freeze.
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

// weigh gives a container a new weight relative to the others on its node. 0 means the weight of its size, as without
// an agent.
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
