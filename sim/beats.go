package sim

import (
	"math/rand/v2"
	"slices"

	"heddle"
	"heddle/internal/slab"
	"heddle/rm"
	"heddle/yarn/ids"
)

// nextBeat returns the next heartbeat that can matter: of a node with something to report, of a node with room while
// some application waits, or of any node when a policy's own calculation is due.
func (s *Sim) nextBeat() (heddle.Time, int32, bool) {
	w := s.wheel
	if s.o.EveryBeat {
		return s.nextOf(s.now, w.up, s.none)
	}
	who, quiet := w.roomy, s.core().Quiet()
	switch {
	case quiet:
		who = s.none
	case s.core().AnyNode():
		who = w.up
	}
	var at heddle.Time
	var rank int32
	var ok bool
	if w.telling > 0 || !quiet {
		at, rank, ok = s.nextOf(s.now, w.reports, who)
	}
	if tick, due := s.core().NextTick(); due {
		if t, r, k := s.nextOf(max(tick, s.now), w.up, s.none); k && (!ok || t < at) {
			return t, r, k
		}
	}
	return at, rank, ok
}

// nextOf returns the next heartbeat, at or after from, of a node in a or b.
func (s *Sim) nextOf(from heddle.Time, a, b slab.Bits) (heddle.Time, int32, bool) {
	if s.pace == nil {
		return s.wheel.next(from, a, b)
	}
	if from > s.now { // which node beats first then is not known yet
		return from, -1, true
	}
	return s.pace.next(a, b)
}

// newBeats sets up the times of the nodes' heartbeats.
func (s *Sim) newBeats(cfg *rm.Config) {
	turn := cfg.Beat
	if !cfg.Stock {
		turn = cfg.FastBeat
	}
	rng := rand.New(rand.NewPCG(s.o.Seed, 0xbea7))
	s.wheel = newWheel(len(s.o.Nodes), turn, rng)
	if cfg.Stock {
		return
	}
	s.pace = newPace(s.wheel, cfg)
	for i := range s.o.Nodes {
		s.pace.join(int32(i), rng.Int64N(s.pace.calm))
	}
}

// beat makes a node's heartbeat: the node reports, and the answer says which containers it must end.
func (s *Sim) beat(id heddle.NodeID) (every heddle.Span) {
	n, q := &s.nodes[id], &s.report
	*q = rm.BeatNode{
		Node: n.name, Number: n.number, Last: n.last, Answer: &s.beaten,
		Running: q.Running[:0], Ended: q.Ended[:0], Partial: true, OfAll: n.used, OfNode: n.whole,
	}
	if s.hears {
		q.Running = s.running(q.Running, n)
		n.starts = n.starts[:0]
	}
	for i := range n.exits {
		q.Ended = append(q.Ended, rm.ContainerEnd{ID: n.exits[i].name, Exit: int32(n.exits[i].status)})
	}
	s.tells(id, false)
	answer, _ := s.ask(q)
	for _, x := range n.exits {
		if c := s.container(x.c); c != nil && !c.known {
			s.exitKnown(c, x.status)
		}
	}
	n.exits = n.exits[:0]
	p := answer.(*rm.NodeBeat)
	n.last = p.ID
	for _, id := range p.Cleanup {
		if c := s.containerOf(id); c != nil && c.known {
			s.reap(c)
		}
	}
	s.room(id)
	return p.Every
}

// running appends the names of the containers that run on a node and that it has not reported. For a container that has
// ended in the meantime, only its end is reported.
func (s *Sim) running(to []rm.ContainerRun, n *nodeState) []rm.ContainerRun {
	for _, id := range n.starts {
		if c := s.container(id); c != nil && !c.known && !c.over {
			to = append(to, rm.ContainerRun{ID: c.name})
		}
	}
	return to
}

// begun appends the names of a node's containers that began before a time and that it has not reported.
func (s *Sim) begun(to []ids.Container, n *nodeState, before heddle.Time) []ids.Container {
	for _, id := range n.starts {
		if c := s.container(id); c != nil && !c.known && c.taken < before {
			to = append(to, c.name)
		}
	}
	return to
}

// tellEnds makes the heartbeat of the first node on which a container has just ended.
func (s *Sim) tellEnds() {
	slices.Sort(s.reports)
	id := s.reports[0]
	s.reports = slices.Delete(s.reports, 0, 1)
	if n := &s.nodes[id]; len(n.exits) > 0 && !n.silent {
		s.outOfTurn(id)
	}
}

// outOfTurn makes a heartbeat that a node sends because a container on it has ended, as NodeManagers do. The next
// heartbeat follows after the usual interval.
func (s *Sim) outOfTurn(id heddle.NodeID) {
	every := s.beat(id)
	if s.pace != nil {
		s.pace.join(s.wheel.rank[id], s.pace.turns(every))
	}
}

// hurry updates what the pace knows of a node.
func (s *Sim) hurry(id heddle.NodeID) {
	if n := &s.nodes[id]; s.pace != nil {
		s.pace.fast.Set(s.wheel.rank[id], n.waits > 0 || s.rm.Ordered(s.now, n.number))
	}
}

// room updates what the wheel knows of a node.
func (s *Sim) room(id heddle.NodeID) {
	n := s.core().View().Node(id)
	least := s.o.Set.Minimum
	if least.IsZero() {
		least = heddle.Of(1, 0)
	}
	up := n.Up() && !s.nodes[id].silent
	r := s.wheel.rank[id]
	s.hurry(id)
	s.wheel.up.Set(r, up)
	if s.pace != nil {
		s.pace.changed = true
	}
	s.wheel.roomy.Set(r, up && (n.Booked() != nil || n.Lends() || s.core().View().Fits(least, n.Free())))
}
