package search

import (
	"errors"
	"maps"
	"slices"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// A node is a NodeManager and what runs beside it.
type node struct {
	machine
	link
	i          int
	port       int32
	up         bool
	told       bool // told to leave: it stays away until it is started again
	life       int  // number of earlier processes
	hung       heddle.Time
	registered bool
	epoch      int64 // of the ResourceManager with which it registered
	resp       int32
	sick       bool
	every      heddle.Span
	works      map[ids.Container]*work
	apps       map[ids.App]bool
}

// work is a container on a node.
type work struct {
	rm.ContainerNews
	version int32   // of the token that last changed it
	master  *master // master in it; nil for a task
}

func (n *node) id() ids.Node { return ids.Node{Host: n.host, Port: n.port} }

// addNode starts the NodeManager of a machine.
func (s *sim) addNode(i int) {
	n := &node{machine: s.setup.nodes[i], i: i, port: 1, link: link{name: s.setup.nodes[i].host, key: uint64(100 + i)}}
	s.nodes = append(s.nodes, n)
	s.startNode(n)
}

// startNode starts a NodeManager, which does not know what ran before.
func (s *sim) startNode(n *node) {
	if n.up {
		return
	}
	n.up, n.told, n.registered, n.resp, n.upset = true, false, false, 0, s.now
	n.works, n.apps = map[ids.Container]*work{}, map[ids.App]bool{}
	s.later(n, mix(s.seed, 5, uint64(n.i), uint64(n.life)).span(0, heddle.Second), func() { s.beat(n) })
}

// stopNode ends a NodeManager, and everything that ran there with it.
func (s *sim) stopNode(n *node) {
	for _, w := range n.works {
		w.Over = true
	}
	n.up, n.works, n.apps, n.upset = false, nil, nil, s.now
	n.life++
}

// restart restarts a NodeManager: its containers continue, and it remembers all of them except for what is lost.
func (s *sim) restart(n *node, away heddle.Span, lost bool) {
	n.life++
	n.registered, n.resp, n.upset = false, 0, s.now
	n.hung = s.now.Plus(away)
	if list := n.sorted(); lost && len(list) > 0 {
		w := pick(mix(s.seed, 10, uint64(n.i), uint64(n.life)), list...)
		n.end(w, -100, "it was forgotten")
		delete(n.works, w.ID)
	}
	s.later(n, 0, func() { s.beat(n) })
}

// later makes a NodeManager do something once it does not hang, if it lives that long.
func (s *sim) later(n *node, d heddle.Span, do func()) {
	life := n.life
	s.after(d, func() {
		switch {
		case !n.up || n.life != life:
		case s.now < n.hung:
			n.upset = s.now
			s.later(n, min(n.hung.Since(s.now), 5*heddle.Second), do)
		default:
			do()
		}
	})
}

// sorted returns a node's containers in a fixed order.
func (n *node) sorted() []*work {
	return slices.SortedFunc(maps.Values(n.works), func(a, b *work) int { return a.ID.Compare(b.ID) })
}

// news returns what a registering node says about its containers: running ones, and ended ones not to be forgotten yet.
func (n *node) news() []rm.ContainerNews {
	var out []rm.ContainerNews
	for _, w := range n.sorted() {
		out = append(out, w.ContainerNews)
	}
	return out
}

// reports returns what it says about them in its heartbeats.
func (n *node) reports() (running []rm.ContainerRun, ended []rm.ContainerEnd) {
	for _, w := range n.sorted() {
		if w.Over {
			ended = append(ended, w.ContainerEnd)
		} else {
			running = append(running, rm.ContainerRun{ID: w.ID, Size: w.Size, Parked: w.Parked})
		}
	}
	return running, ended
}

func (n *node) health(now heddle.Time) rm.Health {
	return rm.Health{Said: true, Sick: n.sick, Report: "as its script says", At: firstDay + int64(now)/1e6}
}

// beat is one round of a NodeManager: it registers or sends a heartbeat, and schedules the next round.
func (s *sim) beat(n *node) {
	if !n.registered {
		s.register(n)
		return
	}
	q := rm.BeatNode{Node: n.id(), Last: n.resp, Health: n.health(s.now)}
	q.Running, q.Ended = n.reports()
	q.OfAll.CPU = float32(len(q.Running)) * float32(n.resp%8) / 8
	q.OfNode.CPU = float32(n.resp % 5)
	life := n.life
	s.call(&n.link, func(c rm.Call) rm.Message { m := q; m.Call = c; return &m }, func(v any, _ error) {
		s.ofLife(n, life, func() { s.beaten(n, v.(*rm.NodeBeat)) })
	}, func() {
		s.later(n, heddle.Second, func() { s.beat(n) })
	})
}

// ofLife handles an answer if the process that waits for it still exists; a hanging process reads it later.
func (s *sim) ofLife(n *node, life int, do func()) {
	if n.life == life {
		s.later(n, 0, do)
	}
}

func (s *sim) register(n *node) {
	q := rm.RegisterNode{
		Node: n.id(), Names: []string{n.host}, Rack: n.rack, HTTPPort: 2, Version: "3.4.2", Total: n.total, Physical: n.total, Can: n.can, Health: n.health(s.now),
		Containers: n.news(), Apps: slices.SortedFunc(maps.Keys(n.apps), ids.App.Compare),
	}
	life, epoch := n.life, int64(0)
	s.call(&n.link, func(c rm.Call) rm.Message {
		m := q
		m.Call, epoch = c, s.disk.epoch()
		return &m
	}, func(v any, _ error) {
		s.ofLife(n, life, func() {
			if v.(*rm.NodeRegistered).Refused != "" {
				s.sendAway(n)
				return
			}
			n.registered, n.resp, n.epoch, n.upset = true, 0, epoch, s.now
			s.beat(n)
		})
	}, func() {
		s.later(n, heddle.Second, func() { s.beat(n) })
	})
}

// sendAway handles a NodeManager that was told to leave.
func (s *sim) sendAway(n *node) {
	s.note("   %s goes", n.id())
	s.stopNode(n)
	n.told = true
}

// beaten handles the answer to a heartbeat.
func (s *sim) beaten(n *node, p *rm.NodeBeat) {
	switch p.Action {
	case rm.Resync:
		n.registered, n.upset = false, s.now
		s.beat(n)
		return
	case rm.ShutDown:
		s.sendAway(n)
		return
	case rm.GoOn:
	}
	n.resp = p.ID
	n.every = p.Every
	for _, id := range p.Cleanup {
		s.killWork(n, id, -106)
	}
	for _, id := range p.Forget {
		if w := n.works[id]; w != nil && w.Over {
			delete(n.works, id)
		}
	}
	for _, app := range p.CleanApp {
		for _, w := range n.sorted() {
			if w.ID.Attempt.App == app {
				s.killWork(n, w.ID, -107)
			}
		}
		delete(n.apps, app)
	}
	s.updated(n, p.Updates)
	if p.Total != nil {
		n.total = *p.Total
	}
	s.later(n, p.Every, func() { s.beat(n) })
}

// killWork ends a container on its node, after a moment.
func (s *sim) killWork(n *node, id ids.Container, exit int32) {
	w := n.works[id]
	if w == nil || w.Over {
		return
	}
	s.later(n, mix(s.seed, 6, uint64(id.ID), uint64(id.Attempt.App.Seq)).span(0, 2*heddle.Second), func() { n.end(w, exit, "killed") })
}

// end ends a container.
func (n *node) end(w *work, exit int32, diagnostics string) {
	if !w.Over {
		w.Over, w.Exit, w.Diagnostics = true, exit, diagnostics
	}
}

var errUnreached = errors.New("connection refused")

// begin starts a container on a node, as requested by a master or the ResourceManager.
func (s *sim) begin(n *node, g rm.Granted, expires heddle.Time) (*work, error) {
	switch {
	case !n.up || s.now < n.hung || n.id() != g.Node:
		return nil, errUnreached
	case !n.registered || n.epoch != g.ID.ID>>ids.EpochShift:
		return nil, errors.New("the container was granted by another ResourceManager")
	case s.now > expires:
		return nil, errors.New("the container's token has expired")
	case n.works[g.ID] != nil:
		return nil, errors.New("the container was started already")
	}
	s.stats.Containers++
	w := &work{ContainerNews: rm.ContainerNews{
		ContainerEnd: rm.ContainerEnd{ID: g.ID, Size: g.Limit.Whole()}, Priority: g.Priority, AllocID: g.AllocID, Created: g.Created,
	}}
	n.works[g.ID] = w
	n.apps[g.ID.Attempt.App] = true
	return w, nil
}

// at returns the NodeManager at an address.
func (s *sim) at(id ids.Node) *node {
	i := slices.IndexFunc(s.nodes, func(n *node) bool { return n.host == id.Host })
	return s.nodes[i]
}

// expiry returns when a container granted now can no longer be started.
func (s *sim) expiry(g *rm.Granted) heddle.Time {
	return s.shell.began.Plus(heddle.Span(g.Expires-s.shell.date) * heddle.Millisecond)
}

// launch starts a master on its node, as the shell's launcher does, and reports the result.
func (s *sim) launch(e *rm.StartMaster) {
	d := mix(s.seed, 7, uint64(e.App.Seq), uint64(e.ID.Attempt.N), uint64(e.ID.ID))
	g, n, expires := e.Granted, s.at(e.Node), s.expiry(&e.Granted)
	fault := s.launchFault
	s.launchFault = launchWell
	try := 0
	var attempt func()
	say := func(failed string) {
		s.after1(d.span(heddle.Millisecond, 100*heddle.Millisecond), func() { s.step(&rm.Started{Container: g.ID, Failed: failed}) })
	}
	attempt = func() {
		w, err := (*work)(nil), error(nil)
		if fault != launchRefused {
			w, err = s.begin(n, g, expires)
		}
		switch {
		case fault == launchRefused:
			say("refused")
		case errors.Is(err, errUnreached) && try < 3:
			try++
			s.after1(5*heddle.Second, attempt)
		case err != nil:
			say(err.Error())
		default:
			s.startMaster(n, w, g)
			if fault == launchUnheard {
				s.after1(d.span(heddle.Second, 30*heddle.Second), func() { say("the connection broke") })
				return
			}
			say("")
		}
	}
	delay := d.span(heddle.Millisecond, 300*heddle.Millisecond)
	if fault == launchLate || d.in(6) {
		delay += d.span(heddle.Second, 30*heddle.Second)
	}
	s.after1(delay, attempt)
}

// Faults of a master's start.
const (
	launchWell = iota
	launchRefused
	launchUnheard
	launchLate
)

// stopMaster ends a master on its node, if the node can be reached.
func (s *sim) stopMaster(e *rm.StopMaster) {
	n := s.at(e.Node)
	s.after(50*heddle.Millisecond, func() {
		if n.up && s.now >= n.hung && n.id() == e.Node {
			s.killWork(n, e.Container, -105)
		}
	})
}
