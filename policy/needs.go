package policy

import "heddle"

// Needs is what a policy cannot work without, beyond what every cluster has.
type Needs struct {
	// Feeds are measurements of running tasks and of nodes. They are made only for policies that need them.
	Feeds
	// Can is what nodes must be able to do to containers.
	Can heddle.Caps
	// Option is the option that needs all this, if the policy works without it when the option is left out; "" means
	// that the policy as a whole needs it.
	Option string
}

// WithoutAgent says which of the needs cannot be met if NodeManagers run without an agent, or "" if all can. Such
// NodeManagers can do what [heddle.Stock] lists, and masters report over REST the progress of tasks and what ended
// tasks used.
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
