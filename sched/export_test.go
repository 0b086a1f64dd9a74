package sched

// ServesPicks has everybody who waits walked once more for those whose policy names their node, where nothing has
// happened since that was last done or found to be in vain. It reports whether any of them was served. Where the core
// wants to be woken to try again, that is not in vain.
func (c *Core) ServesPicks() bool {
	if c.pickTry != c.version && c.anyPick() || c.retry > 0 && c.v.Now() >= c.retry {
		return false
	}
	return c.round(&offer{}) != nothing
}
