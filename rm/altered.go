package rm

import (
	"slices"

	"heddle"
)

// sayEvery is how often the log hears at the most that containers of a node are weighed, or that they are resized.
const sayEvery = heddle.Second

// unsaid is what the log has yet to hear of a node, by what may be many.
type unsaid struct {
	waits bool // the node is among those with something that the log has yet to hear
	of    [numAlterations - Weighed]struct {
		said heddle.Time // when it heard last
		Altered
	}
}

// altered has the log told what is to be made of a container. A shell with agents of its own watches decisions instead.
func (m *Machine) altered(c *container, what Alteration, agent bool) {
	if m.cfg.Agent {
		return
	}
	n := c.node
	e := Altered{Node: n.id, What: what, Agent: agent, Containers: 1, Container: c.id(), User: c.attempt.app.user, Policy: c.deed.by}
	if what < Weighed {
		m.emit(&e)
		return
	}
	if n.unsaid == nil {
		n.unsaid = &unsaid{}
	}
	u := &n.unsaid.of[what-Weighed]
	if !n.unsaid.waits {
		n.unsaid.waits = true
		m.unsaid = append(m.unsaid, n)
	}
	e.Containers += u.Containers
	u.Altered = e
	m.sayAt = min(m.sayAt, u.said.Plus(sayEvery))
}

// say tells the log what it has yet to hear and is due.
func (m *Machine) say() {
	m.sayAt = never
	m.unsaid = slices.DeleteFunc(m.unsaid, func(n *node) bool {
		n.unsaid.waits = false
		for i := range n.unsaid.of {
			u := &n.unsaid.of[i]
			due := u.said.Plus(sayEvery)
			switch {
			case u.Containers == 0:
			case m.now < due:
				m.sayAt, n.unsaid.waits = min(m.sayAt, due), true
			default:
				m.emit(new(u.Altered))
				u.said, u.Containers = m.now, 0
			}
		}
		return !n.unsaid.waits
	})
}
