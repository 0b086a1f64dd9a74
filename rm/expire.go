package rm

import (
	"fmt"
	"maps"
	"time"

	"heddle"
	"heddle/yarn/ids"
)

// expire looks at everything that may be silent or stay unused for so long only.
func (r *RM) expire(now time.Time) {
	for _, n := range r.nodes {
		maps.DeleteFunc(n.killed, func(_ ids.Container, at time.Time) bool { return now.Sub(at) > r.cfg.ContainerExpiry })
		switch {
		case n.state.active() && now.Sub(n.seen) > r.cfg.NodeExpiry:
			r.log.Warn("NodeManager lost", "node", n.id, "silent", now.Sub(n.seen).Round(time.Second))
			r.nodeDown(n, nodeLost)
		case n.state == nodeDecommissioning && !n.deadline.IsZero() && now.After(n.deadline):
			r.nodeDown(n, nodeDecommissioned)
		}
	}
	for a, t := range r.current() {
		r.expireApp(a, t, now)
	}
	r.roll(now)
	r.release(now)
}

func (r *RM) expireApp(a *app, t *attempt, now time.Time) {
	if a.lifetime > 0 && now.UnixMilli() >= a.lifetime && !a.public().Final() {
		r.end(a, string(AppKilled), Killed, fmt.Sprintf("Application %s was killed: it was to live until %s", a.id, time.UnixMilli(a.lifetime).Format(time.RFC3339)))
		return
	}
	if t.isOver() {
		return
	}
	if !r.recovering() { // a node that comes so late is not waited for
		t.releases = nil
	}
	if now.Sub(t.seen) > r.cfg.MasterExpiry {
		switch {
		case a.state == stateFinishing: // it said it was done, and stays: it is ended
			r.stopMaster(t, int32(heddle.KilledByRM))
			r.close(a)
			return
		case t.state == attemptLaunched, t.state == attemptRunning:
			r.failAttempt(t, exitInvalid, fmt.Sprintf("ApplicationMaster for attempt %s timed out", t.id))
			return
		}
	}
	for _, c := range t.conts {
		if c.kind != heddle.AM && !c.running && !c.fetched.IsZero() && now.Sub(c.fetched) > r.cfg.ContainerExpiry {
			c.node.kill(c.id)
			r.exited(c, int32(heddle.Aborted), textExpired)
		}
	}
}
