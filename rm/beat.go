package rm

import "time"

// interval is when a node is wanted again: soon while something waits or is about to begin or end, late while
// nobody wants anything, and never so soon that all nodes together are more than the load that was set.
func (r *RM) interval(n *node) time.Duration {
	d := r.cfg.Beat
	switch {
	case r.restless(n):
		d = r.cfg.FastBeat
	case len(n.conts) == 0 && len(n.apps) == 0 && r.core.View().Alive() == 0:
		d = r.cfg.IdleBeat
	}
	if r.cfg.BeatLoad > 0 {
		d = max(d, time.Duration(r.core.View().Live())*time.Second/time.Duration(r.cfg.BeatLoad))
	}
	return d
}

// killTime is how long a kill is waited for: what a node never started it does not report either.
const killTime = 10 * time.Second

// restless reports whether news of a node would be of use soon: somebody waits for room, or a container there
// was given away and has not begun, or was killed and has not ended.
func (r *RM) restless(n *node) bool {
	if n.up && r.core.Wants(n.nid) || len(n.cleanup) > 0 || len(n.cleanApp) > 0 {
		return true
	}
	for _, at := range n.killed {
		if time.Since(at) < killTime {
			return true
		}
	}
	for _, c := range n.conts {
		if !c.running {
			return true
		}
	}
	return false
}
