package sched

import (
	"math/bits"

	"heddle"
	"heddle/policy"
)

// newsSorts is how many sorts of [policy.News] there can be.
const newsSorts = 32

// sortOf is the number of the first sort of change in a set.
func sortOf(what policy.News) int { return bits.TrailingZeros32(uint32(what)) & (newsSorts - 1) }

// tellNode tells who wants to hear it what became of a node.
func (c *Core) tellNode(what policy.News, n *policy.Node) {
	for _, l := range c.listeners[sortOf(what)] {
		l.Hear(c.v, policy.Effect{What: what, Node: n})
	}
}

// tellApp tells who wants to hear it what became of an application.
func (c *Core) tellApp(what policy.News, a *policy.App) {
	for _, l := range c.listeners[sortOf(what)] {
		l.Hear(c.v, policy.Effect{What: what, App: a})
	}
}

// tell tells who wants to hear it what became of a container.
func (c *Core) tell(what policy.News, x *policy.Container) {
	for _, l := range c.listeners[sortOf(what)] {
		l.Hear(c.v, policy.Effect{What: what, App: x.App(), Node: x.Node(), Container: x})
	}
}

// tellForced tells who wants to hear it that a container has a limit that nobody was asked for.
func (c *Core) tellForced(x *policy.Container) {
	for _, l := range c.listeners[sortOf(policy.Resized)] {
		l.Hear(c.v, policy.Effect{What: policy.Resized, App: x.App(), Node: x.Node(), Container: x, Forced: true})
	}
}

// tellEnd tells who wants to hear it that a container ended.
func (c *Core) tellEnd(x *policy.Container, status heddle.ExitStatus) {
	for _, l := range c.listeners[sortOf(policy.Ended)] {
		l.Hear(c.v, policy.Effect{What: policy.Ended, App: x.App(), Node: x.Node(), Container: x, Status: status})
	}
}
