package search

import (
	"cmp"
	"fmt"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// onTheWay is the longest time, in milliseconds, that an answer is under way.
const onTheWay = 40

// An agent is a node agent: it asks what to do, does it, and gives everything back when it hears nothing for too long.
type agent struct {
	link
	node    *node
	life    int // number of earlier processes
	up      bool
	hung    heddle.Time
	applied uint64
	lease   heddle.Time
	parked  map[ids.Container]bool
	frozen  map[ids.Container]int64 // frozen until then, in milliseconds since 1970
	bound   map[ids.Container]int64
	weight  map[ids.Container]int64
	outputs []rm.OutputsOf  // to report
	heaps   []ids.Container // likewise
	cpu     heddle.Span
	moved   heddle.Time // when it was last told another version, or had nothing left to do
}

// addAgent starts an agent beside a node, in some of the clusters and there on most nodes.
func (s *sim) addAgent(n *node) {
	d := mix(s.seed, 24)
	if !d.in(2) || mix(s.seed, 25, uint64(n.i)).in(4) {
		return
	}
	a := &agent{node: n, link: link{name: "agent of " + n.host, key: uint64(5000 + n.i)}}
	s.agents = append(s.agents, a)
	s.startAgent(a)
}

// startAgent starts an agent, which does not know what the last one did: everything was given back.
func (s *sim) startAgent(a *agent) {
	if !a.up {
		a.up, a.applied, a.upset = true, 0, s.now
		a.giveBack()
		s.syncLater(a, mix(s.seed, 26, uint64(a.node.i), uint64(a.life)).span(0, heddle.Second))
	}
}

// stopAgent ends an agent: its warden gives everything back.
func (s *sim) stopAgent(a *agent) {
	a.up, a.upset = false, s.now
	a.life++
	a.giveBack()
}

func (a *agent) giveBack() {
	a.parked, a.weight = map[ids.Container]bool{}, map[ids.Container]int64{}
	a.frozen, a.bound = map[ids.Container]int64{}, map[ids.Container]int64{}
}

// process returns the name of the agent's process.
func (a *agent) process() string { return fmt.Sprint(a.life) }

func (s *sim) syncLater(a *agent, d heddle.Span) {
	life := a.life
	s.after(d, func() {
		switch {
		case !a.up || a.life != life:
		case s.now < a.hung:
			a.upset = s.now
			s.syncLater(a, a.hung.Since(s.now))
		default:
			s.sync(a)
		}
	})
}

// sync makes one call of an agent.
func (s *sim) sync(a *agent) {
	if s.now > a.lease {
		a.applied = 0
		a.giveBack()
	}
	q := rm.AgentSync{Node: a.node.id(), Agent: a.process(), Can: heddle.Parks | heddle.Weighs | heddle.Freezes | heddle.Bounds | heddle.Reclaims, Applied: a.applied}
	if mix(s.seed, 27, uint64(a.node.i)).in(4) {
		q.Can = heddle.Parks
	}
	a.cpu += 500 * heddle.Millisecond
	q.DiskBusy = a.cpu
	for _, w := range a.node.sorted() {
		q.Used = append(q.Used, rm.Used{Container: w.ID, CPU: a.cpu, Memory: 100})
	}
	for i, w := range a.node.sorted() {
		d := mix(s.seed, 30, uint64(a.node.i), uint64(s.now), uint64(i))
		q.Tasks = append(q.Tasks, rm.TaskIn{Container: w.ID, Task: rm.Task{Kind: pick(d, heddle.Map, heddle.Reduce), Index: int32(d.n(20)) - 1}})
	}
	for i, of := range a.outputs {
		d := mix(s.seed, 28, uint64(a.node.i), uint64(s.now), uint64(i))
		q.Outputs = append(q.Outputs, rm.MapOutput{App: of.App, Map: int32(d.n(20)) - 1, Bytes: int64(d.n(1 << 20))})
	}
	for _, id := range a.heaps {
		q.Heaps = append(q.Heaps, rm.MasterHeap{Container: id, HeapNews: rm.HeapNews{Live: int64(mix(s.seed, 29, uint64(s.now)).n(500)) - 50, Outside: 100}})
	}
	life, asked := a.life, s.now
	s.call(&a.link, func(c rm.Call) rm.Message {
		m := q
		m.Call = c
		return &m
	}, func(v any, err error) {
		switch {
		case a.life != life || !a.up:
		case err != nil: // a message of an earlier process arrived after one of this process
			a.upset = s.now
			s.syncLater(a, 5*heddle.Second)
		default:
			s.wished(a, asked, v.(*rm.AgentWish))
			s.syncLater(a, heddle.Millisecond)
		}
	}, func() {
		if a.life == life {
			s.syncLater(a, heddle.Second)
		}
	})
}

// wished makes an agent do what it was told when it asked.
func (s *sim) wished(a *agent, asked heddle.Time, p *rm.AgentWish) {
	if s.now < a.hung {
		return
	}
	s.stats.Wishes++
	if a.applied != p.Version {
		a.moved = s.now
	}
	a.lease, a.applied = asked.Plus(p.Lease), p.Version
	a.outputs, a.heaps = p.Outputs, p.Heaps
	a.giveBack()
	for _, w := range p.Want {
		a.parked[w.Container], a.weight[w.Container] = w.Parked, w.Weight
		a.bound[w.Container] = w.Bound
		if w.Frozen > 0 {
			a.frozen[w.Container] = s.today() + int64(w.Frozen/heddle.Millisecond)
		}
	}
}

// agents checks that agents have done what the core wants, if the machine assumes that they have, and that silent
// agents are given up.
func (m *model) agents() {
	s := m.s
	for _, a := range s.agents {
		var p *rm.NodeReport // report of its node
		for _, n := range nodesOf(s.view()) {
			if n.ID == a.node.id() {
				p = &n
			}
		}
		switch {
		case p == nil:
			continue
		case p.Agent == nil:
			if p.Can.Has(heddle.Weighs) {
				s.fail("agent", "%s has no agent, and can %s", p.ID, p.Can)
			}
			continue
		case p.Agent.Behind && s.now.Since(max(a.moved, a.upset, a.hung, a.node.upset, s.shell.began, s.thawed)) > heddle.Minute:
			s.fail("agent", "the agent of %s has yet to do what it was told", p.ID)
		case s.today()-p.Agent.Seen > 31_000:
			s.fail("agent", "the agent of %s was silent since %d", p.ID, p.Agent.Seen)
		case p.Agent.Behind || !a.up || p.Agent.Name != a.process() || s.now > a.lease || s.now < a.hung:
			continue
		}
		a.moved = s.now
		for id := range a.node.works { // order: of findings alone
			c, err := s.reports().Container(id)
			if err != nil || !c.Running || c.Node != p.ID {
				continue
			}
			if can := p.Agent.Can.Has(heddle.Parks); c.Suspended != a.parked[id] && can {
				s.fail("agent", "%s is suspended %v, and parked %v by an agent that has nothing left to do", id, c.Suspended, a.parked[id])
			}
			want, until := max(c.FrozenUntil, s.today()), max(a.frozen[id], s.today())
			if p.Agent.Can.Has(heddle.Freezes) && (until < want-1 || until > want+onTheWay) {
				s.fail("agent", "%s is to be frozen until %d, and is until %d", id, want, until)
			}
			if p.Agent.Can.Has(heddle.Bounds) && c.Bound != a.bound[id] {
				s.fail("agent", "%s is to be bounded to %d, and is to %d", id, c.Bound, a.bound[id])
			}
			const plain = 1000 // of a container of one vcore, which an agent is not told
			weight := cmp.Or(c.Weight, max(c.Size[heddle.CPU], c.Limit[heddle.CPU]))
			if w := cmp.Or(a.weight[id], plain); w != weight && p.Agent.Can.Has(heddle.Weighs) {
				s.fail("agent", "%s has the weight %d and not %d", id, w, weight)
			}
		}
	}
}

// actAgentDies ends an agent for a while.
func (s *sim) actAgentDies(d *dice) string {
	away := pick(d, heddle.Second, 20*heddle.Second, 2*heddle.Minute)
	if len(s.agents) == 0 {
		return ""
	}
	a := pick(d, s.agents...)
	if !a.up {
		return ""
	}
	s.stopAgent(a)
	s.after(away, func() { s.startAgent(a) })
	return fmt.Sprintf("%s for %d s", a.name, away/heddle.Second)
}

// actAgentHangs makes an agent do nothing for a while, and spoils its messages.
func (s *sim) actAgentHangs(d *dice) string {
	still, lose, mute, twice, late := pick(d, 0, 5*heddle.Second, 40*heddle.Second), d.n(2), d.n(2), d.n(2), d.n(2)
	if len(s.agents) == 0 {
		return ""
	}
	a := pick(d, s.agents...)
	a.hung = s.now.Plus(still)
	a.lose, a.mute, a.twice, a.late = lose, mute, twice, late
	return fmt.Sprintf("%s until %s", a.name, clock(a.hung))
}
