package rm

import "heddle"

// A census holds a view's counts of applications and nodes. It is updated as these change: in a large cluster few of
// them change between two views.
type census struct {
	running, pending, reservations, waiting int // of applications
	nodes                                   [len(nodeNames)]int
	agented, parked, weighed                int             // of nodes
	utilized                                heddle.Resource // likewise, of those that run
	beats                                   map[heddle.Span]int
}

// app adds an application to the counts, or removes it if by is −1.
func (c *census) app(a *appView, by int) {
	switch a.State {
	case AppRunning:
		c.running += by
	case AppNew, AppSaving, AppSubmitted, AppAccepted:
		c.pending += by
	case AppFinished, AppFailed, AppKilled: // counted when they ended, and kept longer than the applications are
	}
	c.reservations += by * a.Reservations
	c.waiting += by * a.waiting
}

// node adds a node to the counts, or removes it if by is −1.
func (c *census) node(n *nodeView, by int) {
	c.nodes[n.state] += by
	c.agented += by * one(n.Agent != nil)
	if n.Can.Has(heddle.Parks) {
		c.parked += by * n.parked
	}
	if n.Can.Has(heddle.Weighs) {
		c.weighed += by * n.weighed
	}
	if n.state != nodeRunning {
		return
	}
	c.utilized[heddle.Memory] += int64(by) * int64(n.Utilization.Physical)
	c.utilized[heddle.CPU] += int64(by) * int64(1000*n.Utilization.CPU)
	if n.BeatEvery <= 0 {
		return
	}
	if c.beats == nil {
		c.beats = map[heddle.Span]int{}
	}
	if c.beats[n.BeatEvery] += by; c.beats[n.BeatEvery] == 0 {
		delete(c.beats, n.BeatEvery)
	}
}

// report adds the counts to the cluster's figures.
func (c *census) report(p *ClusterReport) {
	p.RunningApps, p.PendingApps, p.Reservations, p.Waiting = c.running, c.pending, c.reservations, c.waiting
	p.Agented, p.Parked, p.Weighed, p.Utilized = c.agented, c.parked, c.weighed, c.utilized
	p.New, p.Active, p.Unhealthy = c.nodes[nodeNew], c.nodes[nodeRunning], c.nodes[nodeUnhealthy]
	p.Decommissioning, p.Decommissioned = c.nodes[nodeDecommissioning], c.nodes[nodeDecommissioned]
	p.Lost, p.Rebooted, p.Shutdown = c.nodes[nodeLost], c.nodes[nodeRebooted], c.nodes[nodeShutdown]
	for every := range c.beats { // order: the shortest is taken
		p.BeatEvery = min(p.BeatEvery, every)
	}
}
