package rm

import (
	"heddle"
	"heddle/internal/slab"
	"heddle/sched"
	"heddle/yarn/ids"
)

// Messages beyond YARN's protocol, for shells that measure tasks, that carry out decisions at once, or that leave out
// heartbeats known to change nothing.

// Noted is a decision of the core, for a shell that watches decisions (see [Options]): the application that it
// concerns, and the container if it concerns one. It is valid until the watcher returns. A container that is assumed to
// have ended without a decision of the core is noted as a [heddle.Kill]. The core's own numbers stay the same as long
// as [Scheduler.Rebuild] is nil.
type Noted struct {
	Decision  heddle.Decision
	App       ids.App
	Container ids.Container
}

// Measurements by node agents.
type (
	// Progress is the progress of a running task.
	Progress struct {
		Container ids.Container
		Phase     heddle.Phase
		Fraction  float64 // of the whole task, 0 to 1
	}

	// Profile is what a running container used lately.
	Profile struct {
		Container ids.Container
		CPU       int64 // thousandths of a processor of the machine, average since the last profile
		Memory    int64 // MiB, now
	}

	// TaskUsed is the peak memory, in MiB, of the task in a container that is ending.
	TaskUsed struct {
		Container ids.Container
		Memory    int64
	}

	// Output says that a container left map output of its application on its node.
	Output struct {
		Container ids.Container
		Bytes     int64
	}
)

// LeftOut says that nodes and masters were heard from although no message came: their shell left out messages that
// would have changed nothing else. Last is the time up to which it did so.
type LeftOut struct {
	Nodes   []heddle.NodeID // by the numbers given at their registrations
	Others  bool            // all nodes except these were heard from
	Running []ids.Container // running there: they do not expire, though the core hears of them only when they are reported
	Masters []ids.Attempt
	Last    heddle.Time
}

func (*Progress) message() {}
func (*Profile) message()  {}
func (*Output) message()   {}
func (*TaskUsed) message() {}
func (*LeftOut) message()  {}

// Core returns the scheduler core for inspection; only the machine may step it. Any message may replace it.
func (m *Machine) Core() *sched.Core { return m.core }

// HasNews reports whether a master's next call would bring it containers, or ends of containers.
func (m *Machine) HasNews(id ids.Attempt) bool {
	t := m.liveAttempt(id)
	return t != nil && len(t.granted)+len(t.finished) > 0
}

// Ordered reports whether a node, by its number, has something to do at a time of which it should hear soon: a shell
// that leaves out heartbeats asks. It does not cover requests that wait for room there, or containers that begin.
func (m *Machine) Ordered(at heddle.Time, number heddle.NodeID) bool {
	return m.nodes[number].ordered(at)
}

// note tells the shell about a decision, if it watches.
func (m *Machine) note(d heddle.Decision, app ids.App, c ids.Container) {
	if m.watch != nil {
		m.noted = Noted{d, app, c}
		m.watch(&m.noted)
	}
}

// A measurement can be turned into an event for the core.
type measurement interface {
	event(c *container) heddle.Event
}

func (q *Progress) event(c *container) heddle.Event {
	return heddle.Progress{Container: c.cid, Phase: q.Phase, Fraction: q.Fraction}
}

func (q *Profile) event(c *container) heddle.Event {
	return heddle.Profile{Container: c.cid, CPU: q.CPU, Memory: q.Memory}
}

func (q *TaskUsed) event(c *container) heddle.Event {
	return heddle.TaskUsed{App: c.attempt.app.aid, Kind: c.kind, Memory: q.Memory}
}

func (q *Output) event(c *container) heddle.Event {
	return heddle.Output{App: c.attempt.app.aid, Node: c.node.nid, Bytes: q.Bytes}
}

// measured passes a measurement of an existing container to the core.
func (m *Machine) measured(id ids.Container, q measurement) {
	if c := m.container(id); c != nil {
		m.step(q.event(c))
	}
}

// leftOut notes the nodes, containers and masters whose messages were left out.
func (m *Machine) leftOut(q *LeftOut) {
	if q.Others {
		m.othersSeen(q)
	} else {
		for _, number := range q.Nodes {
			m.nodes[number].heard(q.Last)
		}
	}
	for _, id := range q.Running {
		if c := m.container(id); c != nil && c.state == containerAcquired {
			c.begun = true
		}
	}
	for _, id := range q.Masters {
		if t := m.liveAttempt(id); t != nil {
			t.seen = max(t.seen, q.Last)
		}
	}
}

// othersSeen notes that all nodes except the named ones were heard from.
func (m *Machine) othersSeen(q *LeftOut) {
	silent := slab.NewBits(len(m.nodes))
	for _, number := range q.Nodes {
		silent.Set(int32(number), true)
	}
	for i, n := range m.nodes {
		if !silent.Has(int32(i)) {
			n.heard(q.Last)
		}
	}
}

// heard notes that a node was heard from at a time.
func (n *node) heard(at heddle.Time) {
	if n.state.active() {
		n.seen = max(n.seen, at)
	}
}
