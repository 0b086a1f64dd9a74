package policy

import "heddle"

// News is a kind of change in the state, or a set of kinds, such as those that a [Listener] wants to hear of.
type News uint32

// The kinds of change. Each is told after the state has changed, and before any policy is asked for a decision or an
// order key that could depend on it.
const (
	NodeUp       News = 1 << iota // a node joined, or came back
	NodeDown                      // a node is lost; the ends of its containers were told before
	NodeResized                   // a node that is up offers another total
	NodeReported                  // a node reported, and has been offered to waiting applications

	AppAdded         // an application was accepted; if it wants a master, it already asks for one
	AppDone          // an application has ended and holds nothing; it can be read until Hear returns
	AppMoved         // an application is in another queue
	AppReprioritised // an application has another priority
	AppRetried       // an application wants another master: its last attempt is over
	AppAsked         // an application's asks, or the size of a waiting master, have changed for a reason other than a grant
	AppExcluded      // an application has changed the nodes it excludes

	Reserved   // a node is reserved
	Unreserved // a reservation was given up; a fulfilled one is told only as Granted
	Recounted  // a reservation counts for more or less than before: see [Container.Reserves]
	Granted    // a container was granted; [Container.Fulfils] says whether it was a reservation
	Adopted    // a container was found running: no ask was charged, no limit was checked, and its start time may be unknown
	Started    // a node runs a container
	Resized    // a running container has another limit; like the next two, told once a whole plan is carried out
	Suspended  // a running container lends its processors
	Resumed    // a running container no longer lends them
	Ended      // a container ended, for whatever reason; not used for reservations

	TaskProgress // there is news of a container's progress
	TaskUsage    // there is news of a container's use of its node
	NodeUsage    // there is news of how a node's machine is used
	NodeDisks    // there is news of how busy a node's disks are
)

// NodesChanged are the changes in what the cluster offers.
const NodesChanged = NodeUp | NodeDown | NodeResized

// An Effect is one change in the state. A listener must not keep its pointers.
type Effect struct {
	What News // exactly one kind
	App  *App // the application concerned; nil for nodes
	Node *Node
	// Container is nil for nodes and applications. One that ended, or was given up, can be read until Hear returns: its
	// node, application and kind, what it held, and its final state.
	Container *Container
	Status    heddle.ExitStatus // of Ended
	Forced    bool              // of Resized: the container has that limit in any case, and no policy was asked
}
