package policy

import "heddle"

// News is a sort of change in the state, or several: a set of those a [Listener] wants to hear of.
type News uint32

// The sorts of change. Each is told after the state has changed, and before anybody is asked for a decision or an
// order key that could depend on it.
const (
	NodeUp       News = 1 << iota // a node joined, or came back
	NodeDown                      // a node is lost; what it held has ended, and been told, before
	NodeResized                   // a node that is up offers another total
	NodeReported                  // a node reported in, and has been offered to who waits

	AppAdded         // an application was taken in; if it wants a master, it asks for one already
	AppDone          // an application is over and holds nothing; it can be read until Hear returns
	AppMoved         // an application is in another queue
	AppReprioritised // an application has another priority
	AppRetried       // another master is wanted for an application: its last attempt is over
	AppAsked         // an application asks for something else than before, for another reason than a grant
	AppExcluded      // an application wants nothing on other nodes than before

	Reserved   // a node is reserved
	Unreserved // a reservation was given up; what fulfils one is Granted alone
	Recounted  // a reservation counts for more or less than before: see [Container.Reserves]
	Granted    // a container was granted; [Container.Fulfils] says whether it was a reservation
	Adopted    // a container was found running: no ask paid for it, no limit was asked, and when it began may not be known
	Started    // a node runs a container
	Resized    // a running container has another limit; told, as the next two, when a whole plan is carried out
	Suspended  // a running container lends its processors
	Resumed    // … and no longer
	Ended      // a container ended, for whatever reason; not told of reservations

	TaskProgress // a container's progress is known anew
	TaskUsage    // a container's use of its node is known anew
	NodeUsage    // who uses a node's machine is known anew
	NodeDisks    // how busy a node's disks are is known anew
)

// NodesChanged are the changes of what the cluster offers.
const NodesChanged = NodeUp | NodeDown | NodeResized

// An Effect is one change in the state. A listener must not keep its pointers.
type Effect struct {
	What News // one sort
	App  *App // whose; nil of nodes
	Node *Node
	// Container is nil of nodes and applications. One that ended, or was given up, can be read until Hear returns:
	// where it was, whose and of what kind, what it held, and in which state it ended.
	Container *Container
	Status    heddle.ExitStatus // of Ended
	Forced    bool              // of Resized: the container has that limit in any case, and nobody was asked
}
