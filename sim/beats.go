package sim

import (
	"math/rand/v2"
	"slices"

	"heddle"
	"heddle/internal/slab"
	"heddle/rm"
	"heddle/yarn/ids"
)

// nextBeat is the next heartbeat that can matter: of a node with something to report, of one with room
// while somebody waits, or of any at the time a policy's own arithmetic is due.
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

// nextOf is the next heartbeat from a time on of a node in a or b.
func (s *Sim) nextOf(from heddle.Time, a, b slab.Bits) (heddle.Time, int32, bool) {
	if s.pace == nil {
		return s.wheel.next(from, a, b)
	}
	if from > s.now { // it is not known yet who beats first then
		return from, -1, true
	}
	return s.pace.next(a, b)
}

// newBeats sets out when nodes report in.
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

// beat is a node's heartbeat: what it has to report and, in the answer, what it is to end.
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

// running appends the names of the containers that run on a node and that it has not reported. Those that have ended
// since they began are reported as that alone.
func (s *Sim) running(to []rm.ContainerRun, n *nodeState) []rm.ContainerRun {
	for _, id := range n.starts {
		if c := s.container(id); c != nil && !c.known && !c.over {
			to = append(to, rm.ContainerRun{ID: c.name})
		}
	}
	return to
}

// begun appends the names of the containers of a node that began before a time and that it has not reported.
func (s *Sim) begun(to []ids.Container, n *nodeState, before heddle.Time) []ids.Container {
	for _, id := range n.starts {
		if c := s.container(id); c != nil && !c.known && c.taken < before {
			to = append(to, c.name)
		}
	}
	return to
}

// tellEnds has the first of the nodes report where something ended just now.
func (s *Sim) tellEnds() {
	slices.Sort(s.reports)
	id := s.reports[0]
	s.reports = slices.Delete(s.reports, 0, 1)
	if n := &s.nodes[id]; len(n.exits) > 0 && !n.silent {
		s.outOfTurn(id)
	}
}

// outOfTurn is a heartbeat that a node makes because a container there has ended, as NodeManagers do. The next one
// follows as long after it as after any other.
func (s *Sim) outOfTurn(id heddle.NodeID) {
	every := s.beat(id)
	if s.pace != nil {
		s.pace.join(s.wheel.rank[id], s.pace.turns(every))
	}
}

// hurry brings the pace's idea of a node up to date.
func (s *Sim) hurry(id heddle.NodeID) {
	if n := &s.nodes[id]; s.pace != nil {
		s.pace.fast.Set(s.wheel.rank[id], n.waits > 0 || s.rm.Ordered(s.now, n.number))
	}
}

// room brings the wheel's idea of a node up to date.
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
