package rm

import (
	"heddle"
	"heddle/internal/slab"
	"heddle/sched"
	"heddle/yarn/ids"
)

// What a shell says and hears beyond YARN's protocol: one that measures tasks, that carries out decisions at once, or
// that leaves out reports of which it knows that they would change nothing.

// Noted is a decision of the core, for a shell that watches them (see [Options]): the application that it is about, and
// the container where it is about one. It is good until the watcher returns. A container that is taken for ended without
// a decision of the core is noted as a [heddle.Kill]. The core's own numbers stay what they are as long as
// [Scheduler.Rebuild] is nil.
type Noted struct {
	Decision  heddle.Decision
	App       ids.App
	Container ids.Container
}

// What a node agent measures.
type (
	// Progress says how far a running task is.
	Progress struct {
		Container ids.Container
		Phase     heddle.Phase
		Fraction  float64 // of the whole task, 0 to 1
	}

	// Profile says what a running container used lately.
	Profile struct {
		Container ids.Container
		CPU       int64 // thousandths of a processor of the machine, mean since the last profile
		Memory    int64 // MiB, at this moment
	}

	// TaskUsed says how much memory the task in a container that ends used at most, in MiB.
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

// LeftOut says that nodes and masters were heard of though nothing was said: their shell left out what would have
// changed nothing but that. Last is a time up to which it did.
type LeftOut struct {
	Nodes   []heddle.NodeID // by the numbers that their registrations were told
	Others  bool            // all nodes but these were heard of
	Running []ids.Container // that run there: they do not expire, though the core hears of them as they are reported
	Masters []ids.Attempt
	Last    heddle.Time
}

func (*Progress) message() {}
func (*Profile) message()  {}
func (*Output) message()   {}
func (*TaskUsed) message() {}
func (*LeftOut) message()  {}

// Core is the scheduler core, which nobody but the machine may step: it is to be looked at. Another one may take its
// place with any message.
func (m *Machine) Core() *sched.Core { return m.core }

// HasNews reports whether a master's next call would bring it containers, or ends of containers.
func (m *Machine) HasNews(id ids.Attempt) bool {
	t := m.liveAttempt(id)
	return t != nil && len(t.granted)+len(t.finished) > 0
}

// Ordered reports whether a node, by its number, has at a time something to do that it is to hear of soon: a shell that
// leaves out reports asks. It says nothing of what waits for room there, and of containers that begin.
func (m *Machine) Ordered(at heddle.Time, number heddle.NodeID) bool {
	return m.nodes[number].ordered(at)
}

// note tells the shell of a decision, if it watches.
func (m *Machine) note(d heddle.Decision, app ids.App, c ids.Container) {
	if m.watch != nil {
		m.noted = Noted{d, app, c}
		m.watch(&m.noted)
	}
}

// A measurement is what the core hears of one.
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

// measured hands a measurement of a container that there is to the core.
func (m *Machine) measured(id ids.Container, q measurement) {
	if c := m.container(id); c != nil {
		m.step(q.event(c))
	}
}

// leftOut takes note of those who would have said something.
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

// othersSeen takes note of all nodes but those that are named.
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

// heard notes that a node was heard of at a time.
func (n *node) heard(at heddle.Time) {
	if n.state.active() {
		n.seen = max(n.seen, at)
	}
}
