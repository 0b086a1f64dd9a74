package rm

import (
	"slices"

	"heddle"
)

// sayEvery is the least time between two log entries about weighed, or about resized, containers of a node.
const sayEvery = heddle.Second

// unsaid is what is still to be logged about a node, for each alteration that can be frequent.
type unsaid struct {
	waits bool // the node is in Machine.unsaid
	of    [numAlterations - Weighed]struct {
		said heddle.Time // time of the last entry
		Altered
	}
}

// altered logs an alteration of a container. A shell with its own agents watches decisions instead.
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

// say logs what is due.
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
