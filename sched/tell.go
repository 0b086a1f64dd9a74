package sched

import (
	"math/bits"

	"heddle"
	"heddle/policy"
)

// newsSorts is the maximum number of kinds of [policy.News].
const newsSorts = 32

// sortOf returns the number of the first kind of change in a set.
func sortOf(what policy.News) int { return bits.TrailingZeros32(uint32(what)) & (newsSorts - 1) }

// tellNode tells listeners what happened to a node.
func (c *Core) tellNode(what policy.News, n *policy.Node) {
	for _, l := range c.listeners[sortOf(what)] {
		l.Hear(c.v, policy.Effect{What: what, Node: n})
	}
}

// tellApp tells listeners what happened to an application.
func (c *Core) tellApp(what policy.News, a *policy.App) {
	for _, l := range c.listeners[sortOf(what)] {
		l.Hear(c.v, policy.Effect{What: what, App: a})
	}
}

// tell tells listeners what happened to a container.
func (c *Core) tell(what policy.News, x *policy.Container) {
	for _, l := range c.listeners[sortOf(what)] {
		l.Hear(c.v, policy.Effect{What: what, App: x.App(), Node: x.Node(), Container: x})
	}
}

// tellForced tells listeners that a container has a new limit about which no policy was asked.
func (c *Core) tellForced(x *policy.Container) {
	for _, l := range c.listeners[sortOf(policy.Resized)] {
		l.Hear(c.v, policy.Effect{What: policy.Resized, App: x.App(), Node: x.Node(), Container: x, Forced: true})
	}
}

// tellEnd tells listeners that a container ended.
func (c *Core) tellEnd(x *policy.Container, status heddle.ExitStatus) {
	for _, l := range c.listeners[sortOf(policy.Ended)] {
		l.Hear(c.v, policy.Effect{What: policy.Ended, App: x.App(), Node: x.Node(), Container: x, Status: status})
	}
}
