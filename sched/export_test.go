package sched

// ServesPicks has everybody who waits walked once more for those whose policy names their node, where nothing has
// happened since that was last done or found to be in vain. It reports whether any of them was served.
func (c *Core) ServesPicks() bool {
	if c.pickTry != c.version && c.anyPick() {
		return false
	}
	return c.round(&offer{}) != nothing
}
