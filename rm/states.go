package rm

// Each kind of life has its states, a table of the allowed transitions, and one method become that makes all changes. A
// transition that the table lacks is a bug in this package, and panics.

// next is the set of states that may follow a state, one bit each.
type next uint16

func to[S ~uint8](states ...S) (n next) {
	for _, s := range states {
		n |= 1 << s
	}
	return n
}

// follows panics unless the second state may follow the first.
func follows[S interface {
	~uint8
	String() string
}](table []next, what string, from, to S) {
	if from != to && table[from]>>to&1 == 0 {
		panic("rm: " + what + " that is " + from.String() + " cannot become " + to.String())
	}
}

// An appState is the state of an application, by YARN's names.
type appState uint8

const (
	appSaving      appState = iota // its submission is being stored
	appSubmitted                   // waits for the core to accept it
	appAccepted                    // waits for its master
	appRunning                     // its master has registered
	appFinalSaving                 // its end is being stored
	appFinishing                   // its end is stored; its master is still there
	appFinished
	appFailed
	appKilled
)

var appNames = [...]string{"NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINAL_SAVING", "FINISHING", "FINISHED", "FAILED", "KILLED"}

// String returns YARN's name.
func (s appState) String() string { return appNames[s] }

var appNext = []next{
	appSaving:      to(appSubmitted),
	appSubmitted:   to(appAccepted, appFinalSaving),
	appAccepted:    to(appRunning, appFinalSaving),
	appRunning:     to(appAccepted, appFinalSaving), // accepted: its next attempt
	appFinalSaving: to(appFinishing, appFailed, appKilled),
	appFinishing:   to(appFinished),
	appKilled:      0,
}

func (a *app) become(s appState) {
	follows(appNext, "an application", a.state, s)
	a.state = s
}

// isOver reports whether the application is over for the machine, masters included.
func (s appState) isOver() bool { return s >= appFinished }

// ending reports whether the application's outcome is known but it has not ended yet.
func (s appState) ending() bool { return s == appFinalSaving || s == appFinishing }

// An attemptState is the state of an attempt, by YARN's names.
type attemptState uint8

const (
	attemptScheduled attemptState = iota // waits for its master's container
	attemptSaving                        // that container is being stored
	attemptAllocated                     // the master is being started
	attemptLaunched                      // it was started
	attemptRunning                       // it has registered
	attemptFinishing                     // it has unregistered
	attemptFinished
	attemptFailed
	attemptKilled
)

var attemptNames = [...]string{"SCHEDULED", "ALLOCATED_SAVING", "ALLOCATED", "LAUNCHED", "RUNNING", "FINISHING", "FINISHED", "FAILED", "KILLED"}

// String returns YARN's name.
func (s attemptState) String() string { return attemptNames[s] }

var attemptNext = []next{
	attemptScheduled: to(attemptSaving, attemptFailed, attemptKilled),
	attemptSaving:    to(attemptAllocated, attemptFailed, attemptKilled),
	attemptAllocated: to(attemptLaunched, attemptRunning, attemptFailed, attemptKilled),
	attemptLaunched:  to(attemptRunning, attemptFailed, attemptKilled),
	attemptRunning:   to(attemptFinishing, attemptFailed, attemptKilled),
	attemptFinishing: to(attemptFinished),
	attemptKilled:    0,
}

func (t *attempt) become(s attemptState) {
	follows(attemptNext, "an attempt", t.state, s)
	t.state = s
}

func (s attemptState) isOver() bool { return s >= attemptFinished }

// A nodeState is the state of a NodeManager, by YARN's names.
type nodeState uint8

const (
	nodeNew nodeState = iota // known from before the restart; otherwise only within a Step
	nodeRunning
	nodeUnhealthy
	nodeDecommissioning
	nodeDecommissioned
	nodeLost
	nodeRebooted
	nodeShutdown
)

var nodeNames = [...]string{"NEW", "RUNNING", "UNHEALTHY", "DECOMMISSIONING", "DECOMMISSIONED", "LOST", "REBOOTED", "SHUTDOWN"}

// String returns YARN's name.
func (s nodeState) String() string { return nodeNames[s] }

// gone holds the states that any known node may enter.
var gone = to(nodeDecommissioned, nodeLost, nodeRebooted, nodeShutdown)

var nodeNext = []next{
	nodeNew:             gone | to(nodeRunning, nodeUnhealthy),
	nodeRunning:         gone | to(nodeUnhealthy, nodeDecommissioning),
	nodeUnhealthy:       gone | to(nodeRunning),
	nodeDecommissioning: gone | to(nodeRunning, nodeUnhealthy),
	// A node that is gone may register again.
	nodeDecommissioned: gone | to(nodeRunning, nodeUnhealthy),
	nodeLost:           gone | to(nodeRunning, nodeUnhealthy),
	nodeRebooted:       gone | to(nodeRunning, nodeUnhealthy),
	nodeShutdown:       gone | to(nodeRunning, nodeUnhealthy),
}

func (n *node) become(s nodeState) {
	follows(nodeNext, "a node", n.state, s)
	n.state = s
}

// active reports whether a node in this state sends heartbeats.
func (s nodeState) active() bool {
	return s == nodeRunning || s == nodeUnhealthy || s == nodeDecommissioning
}

// A containerState is the state of a container, by YARN's names.
type containerState uint8

const (
	containerAllocated containerState = iota // its master has not heard of it
	containerAcquired                        // its master was told
	containerRunning                         // its node reported it
	containerCompleted
)

var containerNames = [...]string{"ALLOCATED", "ACQUIRED", "RUNNING", "COMPLETED"}

// String returns YARN's name.
func (s containerState) String() string { return containerNames[s] }

var containerNext = []next{
	containerAllocated: to(containerAcquired, containerRunning, containerCompleted),
	containerAcquired:  to(containerRunning, containerCompleted),
	containerRunning:   to(containerCompleted),
	containerCompleted: 0,
}

func (c *container) become(s containerState) {
	follows(containerNext, "a container", c.state, s)
	c.state = s
}

// over reports whether the container has ended.
func (c *container) over() bool { return c.state == containerCompleted }

// running reports whether the container's node has reported it.
func (c *container) running() bool { return c.state == containerRunning }

// An AppState is the state of an application as clients see it, by YARN's names.
type AppState string

// The states of applications as clients see them.
const (
	AppNew       AppState = "NEW"
	AppSaving    AppState = "NEW_SAVING"
	AppSubmitted AppState = "SUBMITTED"
	AppAccepted  AppState = "ACCEPTED"
	AppRunning   AppState = "RUNNING"
	AppFinished  AppState = "FINISHED"
	AppFailed    AppState = "FAILED"
	AppKilled    AppState = "KILLED"
)

// Final reports whether the application is over for its clients.
func (s AppState) Final() bool { return s == AppFinished || s == AppFailed || s == AppKilled }

// public returns the state as clients see it: an application whose end is being stored still shows its previous state.
func (a *app) public() AppState {
	switch a.state {
	case appFinalSaving:
		return a.before
	case appFinishing:
		return AppFinished
	default:
		return AppState(a.state.String())
	}
}

// A FinalStatus is the outcome of an application, by YARN's names.
type FinalStatus string

// The final statuses.
const (
	Undefined FinalStatus = "UNDEFINED"
	Succeeded FinalStatus = "SUCCEEDED"
	Failed    FinalStatus = "FAILED"
	Killed    FinalStatus = "KILLED"
	Stopped   FinalStatus = "ENDED"
)

// finalStatus returns the outcome of the application as clients see it.
func (a *app) finalStatus() FinalStatus {
	switch {
	case a.state == appFinalSaving || !a.state.isOver() && a.state != appFinishing:
		return Undefined
	case a.final != "":
		return a.final
	case a.state == appKilled:
		return Killed
	}
	return Failed
}

// stateOf finds a state by its name in a table of names; ok is false if there is none.
func stateOf[S ~uint8](names []string, name string) (s S, ok bool) {
	for i, n := range names {
		if n == name {
			return S(i), true
		}
	}
	return 0, false
}
