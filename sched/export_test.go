package sched

// ServesPicks walks all waiting applications once more for asks whose policies name their nodes, if nothing has
// happened since that was last done or found to be in vain, and the core is not due to be woken to try again. It
// reports whether any of them was served.
func (c *Core) ServesPicks() bool {
	if c.pickTry != c.version && c.anyPick() || c.retry > 0 && c.v.Now() >= c.retry {
		return false
	}
	return c.round(&offer{}) != nothing
}
