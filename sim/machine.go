package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"heddle"
	"heddle/rm"
	"heddle/sim/apps"
	"heddle/sim/world"
	"heddle/yarn/ids"
)

// began is when a run begins, in milliseconds since 1970. It is only used in ids.
const began = 1

// nodePort is the port of every simulated NodeManager.
const nodePort = 8041

// rackNames returns the names of racks in messages, by rack.
func rackNames(nodes []world.NodeSpec) (names []string) {
	for i := range nodes {
		for int(nodes[i].Rack) >= len(names) {
			names = append(names, "/rack"+strconv.Itoa(len(names)))
		}
	}
	return names
}

// nodeName returns the name of a node.
func nodeName(i int) ids.Node { return ids.Node{Host: "n" + strconv.Itoa(i), Port: nodePort} }

// place returns the name of the place in a row of a master's request table.
func (s *Sim) place(r *heddle.Row) string {
	switch {
	case r.Host != heddle.NoNode:
		return s.nodes[r.Host].name.Host
	case r.Rack != heddle.NoRack:
		return s.rackNames[r.Rack]
	}
	return "*"
}

func userName(u heddle.UserID) string { return "u" + strconv.Itoa(int(u)) }

// queuePath returns a queue's path. A queue that does not exist has one too.
func queuePath(parents []heddle.QueueID, q heddle.QueueID) string {
	switch {
	case q < 0 || int(q) >= len(parents):
		return "root.none"
	case parents[q] == heddle.NoQueue:
		return "root"
	}
	return queuePath(parents, parents[q]) + ".q" + strconv.Itoa(int(q))
}

// scheduler returns the policy set with its queues by name.
func scheduler(o *Options) *rm.Scheduler {
	sch := &rm.Scheduler{Set: o.Set, Type: "capacity", Profile: o.Profile, Maximum: o.Set.Maximum}
	if sch.Maximum.IsZero() {
		sch.Maximum = heddle.Unbounded
	}
	for q, parent := range o.Set.Queues {
		sch.Queues = append(sch.Queues, rm.QueueInfo{
			Path: queuePath(o.Set.Queues, heddle.QueueID(q)), Parent: parent, State: rm.QueueRunning, MaxApps: -1,
			Leaf: !slices.Contains(o.Set.Queues, heddle.QueueID(q)),
		})
	}
	return sch
}

const (
	// containerExpiry is yarn.resourcemanager.rm.container-allocation.expiry-interval-ms.
	containerExpiry = 600 * heddle.Second
	// listens is how many times within the shortest expiry the ResourceManager is told of the heartbeats that were left
	// out.
	listens = 3
)

// config returns the configuration of heddle rm, or one that does everything when a stock ResourceManager does it.
func config(o *Options) rm.Config {
	cfg := rm.Config{
		NodeExpiry: o.Expiry, MasterExpiry: o.Expiry * 3 / 2, ContainerExpiry: containerExpiry, // in the same ratio as Hadoop's
		MaxAttempts: int32(o.Attempts), GlobalAttempts: int32(o.Attempts), MaxPriority: math.MaxInt32,
		Beat: o.NodeBeat, Stock: o.Stock, Agent: !o.NoAgents,
	}
	cfg.DefaultBeats()
	if !o.Stock && slices.ContainsFunc(o.Faults, func(f Fault) bool { return f.Kind == NodeLoss || f.Kind == SilentNode }) {
		// What nodes were last told is not known here if their heartbeats are left out.
		every := max(cfg.IdleBeat, heddle.Span(len(o.Nodes))*heddle.Second/heddle.Span(cfg.BeatLoad))
		cfg.Silence = max(rm.DefaultSilence, 3*every)
	}
	return cfg
}

func newMachine(o *Options, cfg *rm.Config, watch func(*rm.Noted)) *rm.Machine {
	var users []string
	for _, u := range o.Users {
		for len(users) <= int(u) {
			users = append(users, userName(heddle.UserID(len(users))))
		}
	}
	m, _ := rm.New(rm.Options{Config: *cfg, Scheduler: scheduler(o), Began: began, Users: users, Watch: watch})
	return m
}

// say sends the ResourceManager a message whose answer carries nothing, and does what it wants done. Messages in
// reaction have to wait: see later.
func (s *Sim) say(msg rm.Message) { _, _ = s.ask(msg) }

// ask is like say, for messages that are answered at once.
func (s *Sim) ask(msg rm.Message) (answer any, err error) {
	for _, e := range s.rm.Step(s.now, msg) {
		switch e := e.(type) {
		case *rm.Answer:
			if wish, ok := e.Value.(*rm.AgentWish); ok { // possibly the answer to another call that was waiting
				s.wished(e.Call, wish)
				continue
			}
			answer, err = e.Value, e.Err
		case *rm.Store:
			s.later(func() { s.say(rm.Stored{Seq: e.Seq}) })
		case *rm.StartMaster:
			s.startMaster(e.ID)
		case *rm.StopMaster:
			s.stopMaster(e.Container)
		case *rm.AskMaster:
			s.askMaster(e)
		case *rm.Ended:
			s.closed(s.appOf(e.App), e.Why)
		case rm.AdmitMaster, rm.DropMaster, rm.MakeKey, rm.UseKey, *rm.Log, *rm.ReadJob, *rm.Altered:
		}
	}
	if s.o.Check {
		s.checked++
		if broken := s.rm.Check(); len(broken) > 0 && s.err == nil {
			s.err = fmt.Errorf("at %.3f s, after %T: %v", s.now.Seconds(), msg, broken)
		}
	}
	return answer, err
}

// later schedules f after the current event, at the same time.
func (s *Sim) later(f func()) { s.todo = append(s.todo, f) }

// appOf returns the job behind an application's id.
func (s *Sim) appOf(id ids.App) *app { return s.apps[s.jobs[id.Seq-1]] }

// containerOf returns a container by its name, or nil if it has been forgotten.
func (s *Sim) containerOf(id ids.Container) *container {
	a := s.appOf(id.Attempt.App)
	return s.container(a.numbers[id.Attempt.N-1][id.ID-1])
}

// newKeeper sets how often the ResourceManager is told of the heartbeats that were left out.
func (s *Sim) newKeeper(cfg *rm.Config) {
	s.nodesBeat, s.mastersBeat = s.o.NodeBeat, max(s.o.MasterBeat, sparkInterval)
	if s.pace != nil {
		s.nodesBeat = max(s.nodesBeat, heddle.Span(len(s.pace.due))*s.wheel.interval)
	}
	s.keepEvery = min(s.o.Expiry, containerExpiry) / listens
	for _, most := range []heddle.Span{s.o.Expiry - max(s.nodesBeat, s.mastersBeat), cfg.Silence - s.nodesBeat} {
		if most > 0 { // otherwise nothing can be silent for so long, or nodes are lost between two heartbeats
			s.keepEvery = min(s.keepEvery, most)
		}
	}
	s.keepAt = heddle.Time(s.keepEvery)
}

// keepAlive tells the ResourceManager of the heartbeats left out since it was last told, so that no node or master that
// would have sent one counts as lost.
func (s *Sim) keepAlive() {
	s.keepAt = s.now.Plus(s.keepEvery)
	out := &s.leftOut
	*out = rm.LeftOut{
		Others: true, Last: s.now - heddle.Time(s.nodesBeat),
		Nodes: out.Nodes[:0], Running: out.Running[:0], Masters: out.Masters[:0],
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.silent {
			out.Nodes = append(out.Nodes, n.number)
			continue
		}
		if len(n.starts) == 0 {
			continue
		}
		out.Running = s.begun(out.Running, n, s.now+1)
		if !s.hears { // then heartbeats do not report them either
			n.starts = n.starts[:0]
		}
	}
	s.say(out)
	*out = rm.LeftOut{Last: s.now - heddle.Time(s.mastersBeat), Nodes: out.Nodes[:0], Running: out.Running[:0], Masters: out.Masters[:0]}
	for _, a := range s.apps {
		if a.master != nil && a.done == apps.Running {
			out.Masters = append(out.Masters, a.attempt)
		}
	}
	s.say(out)
}

// fallsSilent tells the ResourceManager when it would last have heard of a node if no heartbeat had been left out.
func (s *Sim) fallsSilent(id heddle.NodeID) {
	offset, every := heddle.Time(s.wheel.offset[s.wheel.rank[id]]), heddle.Time(s.o.NodeBeat)
	if s.now <= offset {
		return
	}
	last := offset + (s.now-offset-1)/every*every // heartbeats of this instant come later
	if s.pace != nil {
		last = s.pace.before(s.wheel.rank[id])
	}
	n := &s.nodes[id]
	s.say(&rm.LeftOut{Nodes: []heddle.NodeID{n.number}, Running: s.begun(nil, n, last), Last: last})
}
