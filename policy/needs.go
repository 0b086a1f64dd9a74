package policy

// Needs is what a policy does nothing without, beside what every cluster has.
type Needs struct {
	// Feeds are measurements of running tasks and of nodes. Nobody else pays for them.
	Feeds
	// Agent is what a node agent must be able to do.
	Agent Agent
	// Option is the option that needs all this, where the policy does without if the option is left out; "" = the
	// policy as a whole does.
	Option string
	// Why says what is missing where there is no node agent, instead of the usual words.
	Why string
}

// Agent is what only a node agent does to containers: a set. A NodeManager alone starts and ends them, kills one that
// uses more than the size it was launched with, and changes nothing of one that runs.
type Agent uint8

// What a node agent does.
const (
	Freezes Agent = 1 << iota // it stops a running container, and has it go on
	Shrinks                   // it runs a task in less than was asked for
	Weighs                    // it changes what a running task may use
	Masters                   // it runs a master in less than it asked for, and has its heap grow with its container
)

// WithoutAgent says what of the needs is missing where there is no node agent, "" where nothing is.
func (n Needs) WithoutAgent() string {
	why := ""
	switch {
	case n.Agent&Masters != 0:
		why = "a master in less than it asked for is killed, and its heap does not grow with its container"
	case n.Agent&Freezes != 0:
		why = "freezing a container needs a node agent"
	case n.Agent&Weighs != 0:
		why = "changing what a running task may use needs a node agent"
	case n.Agent&Shrinks != 0:
		why = "running a task in less than was asked for needs a node agent"
	case n.Progress > 0:
		why = "only a node agent tells how far a task is"
	case n.Profile > 0:
		why = "only a node agent tells how much a task computes"
	case n.Output:
		why = "only a node agent tells where map output lies"
	}
	if why != "" && n.Why != "" {
		return n.Why
	}
	return why
}
