package rm

import (
	"fmt"
	"maps"
	"time"

	"heddle"
	"heddle/yarn/ids"
)

// expire looks at what may have been silent or unused for too long, and returns how much that is. Whatever has a
// deadline has a timer that ends no later; those of nodes and masters are left as they are while these report, and
// set to the true deadline when they end.
func (r *RM) expire(now time.Time) (looked int) {
	due := r.timers.due(r.at(now))
	for _, t := range due {
		r.watch(t, t.of, t.of.expire(r, now))
	}
	r.roll(now)
	r.release(now)
	return len(due)
}

// watch has something looked at by its deadline; zero for none.
func (r *RM) watch(t *timer, of expiring, deadline time.Time) {
	if !deadline.IsZero() {
		r.timers.by(t, of, r.at(deadline))
	}
}

// watchNode has a node looked at when it, or a kill on it, may have taken too long.
func (r *RM) watchNode(n *node) { r.watch(&n.timer, n, n.next(&r.cfg)) }

// next is a node's next deadline, zero for none.
func (n *node) next(cfg *Config) (next time.Time) {
	sooner := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if n.state.active() {
		sooner(n.seen.Add(cfg.NodeExpiry))
	}
	if n.state == nodeDecommissioning && !n.deadline.IsZero() {
		sooner(n.deadline)
	}
	for _, at := range n.killed { // order: the soonest is taken
		sooner(at.Add(cfg.ContainerExpiry))
	}
	return next
}

func (n *node) expire(r *RM, now time.Time) time.Time {
	maps.DeleteFunc(n.killed, func(_ ids.Container, at time.Time) bool { return now.Sub(at) > r.cfg.ContainerExpiry })
	switch {
	case n.state.active() && now.Sub(n.seen) > r.cfg.NodeExpiry:
		r.log.Warn("NodeManager lost", "node", n.id, "silent", now.Sub(n.seen).Round(time.Second))
		r.nodeDown(n, nodeLost)
	case n.state == nodeDecommissioning && !n.deadline.IsZero() && now.After(n.deadline):
		r.nodeDown(n, nodeDecommissioned)
	}
	return n.next(&r.cfg)
}

// expire kills an application that has lived for as long as it was to.
func (a *app) expire(r *RM, now time.Time) time.Time {
	switch {
	case a.lifetime <= 0 || a.aid == heddle.NoApp || a.current() == nil || a.public().Final():
		return time.Time{}
	case now.UnixMilli() < a.lifetime:
		return time.UnixMilli(a.lifetime)
	}
	r.end(a, string(AppKilled), Killed, fmt.Sprintf("Application %s was killed: it was to live until %s", a.id, time.UnixMilli(a.lifetime).Format(time.RFC3339)))
	return time.Time{}
}

// watchLife has an application looked at when it has lived for as long as it is to.
func (r *RM) watchLife(a *app) {
	if a.lifetime > 0 && !a.ended {
		r.watch(&a.timer, a, time.UnixMilli(a.lifetime))
	}
}

// watchMaster has an attempt looked at when its master may have been silent for too long.
func (r *RM) watchMaster(t *attempt) { r.watch(&t.timer, t, t.seen.Add(r.cfg.MasterExpiry)) }

// expire gives up an attempt whose master is silent.
func (t *attempt) expire(r *RM, now time.Time) time.Time {
	a := t.app
	switch {
	case t.isOver() || t != a.current() || a.aid == heddle.NoApp:
	case now.Sub(t.seen) <= r.cfg.MasterExpiry:
		return t.seen.Add(r.cfg.MasterExpiry)
	case a.state == stateFinishing: // it said it was done, and stays: it is ended
		r.stopMaster(t, int32(heddle.KilledByRM))
		r.close(a)
	case t.state == attemptLaunched, t.state == attemptRunning:
		r.failAttempt(t, exitInvalid, fmt.Sprintf("ApplicationMaster for attempt %s timed out", t.id))
	}
	return time.Time{}
}

// expire gives up a container that its master was told of and no node runs.
func (c *container) expire(r *RM, now time.Time) time.Time {
	switch {
	case c.over || c.running || c.attempt.isOver():
	case now.Sub(c.fetched) <= r.cfg.ContainerExpiry:
		return c.fetched.Add(r.cfg.ContainerExpiry)
	default:
		r.kill(c.node, c.id)
		r.exited(c, int32(heddle.Aborted), textExpired)
	}
	return time.Time{}
}

// comingBack is the time after a start in which nodes are waited for.
type comingBack struct{}

// expire forgets what was given back of nodes that had not come: one that comes so late is not waited for.
func (comingBack) expire(r *RM, _ time.Time) time.Time {
	for _, t := range r.current() {
		t.releases = nil
	}
	return time.Time{}
}
