package policy

import "heddle"

// Needs is what a policy does nothing without, beside what every cluster has.
type Needs struct {
	// Feeds are measurements of running tasks and of nodes. Nobody else pays for them.
	Feeds
	// Can is what nodes must be able to do to containers.
	Can heddle.Caps
	// Option is the option that needs all this, where the policy does without if the option is left out; "" = the
	// policy as a whole does.
	Option string
}

// WithoutAgent says what of the needs is missing where NodeManagers have no agent beside them, "" where nothing is. They
// do what [heddle.Stock] has, and masters tell over REST how far tasks are and what those used that have ended.
func (n Needs) WithoutAgent() string {
	switch {
	case n.Can.Has(heddle.Weighs):
		return "changing what a running task gets of a processor needs a node agent"
	case n.Can.Has(heddle.Freezes):
		return "keeping a task from running needs a node agent"
	case n.Profile > 0:
		return "only a node agent tells how much a task computes"
	}
	return ""
}
