package rm

import (
	"heddle"
	"heddle/yarn/ids"
)

// A Call numbers a message that somebody waits for: the [Answer] repeats it. The shell gives the numbers.
type Call uint64

// A Message is something that was said to the ResourceManager. The set is closed.
//
//sumtype:decl
type Message interface{ message() }

// What NodeManagers say.
type (
	// RegisterNode says that a NodeManager started, or that it starts anew after it was told to. It is answered
	// with a [NodeRegistered].
	RegisterNode struct {
		Call       Call
		Node       ids.Node
		Names      []string // what lists of hosts may call it: its name and its addresses
		From       string   // the address of the call
		Rack       string   // "" where the script should have told it and did not
		HTTPPort   int32
		Version    string
		Total      heddle.Resource
		Physical   heddle.Resource // what the machine has, where it says
		Can        heddle.Caps     // what the node can do to containers
		Health     Health
		Containers []ContainerNews // all that it runs, and those that ended and that it was not told to forget
		Apps       []ids.App       // that have files there
		Logs       []LogNews       // what it said of logs before
	}

	// BeatNode is a NodeManager's report. It is answered with a [NodeBeat].
	BeatNode struct {
		Call    Call
		Node    ids.Node
		Number  heddle.NodeID // as its registration was told, where the shell has kept it: it saves a search
		Last    int32         // the number of the last answer that it has
		Health  Health
		Running []ContainerRun // all that run
		Ended   []ContainerEnd
		Partial bool // Running has those alone that began since the last report
		Logs    []LogNews
		Keys    [NumRings]int32 // that it has; of masters' it has none
		OfNode  Utilization
		OfAll   Utilization // of its containers together
		Answer  *NodeBeat   // where the answer goes, until the next report; nil for a new one
	}

	// UnregisterNode says that a NodeManager stops. It is answered with nil.
	UnregisterNode struct {
		Call Call
		Node ids.Node
	}
)

// Health is what a NodeManager says of its own disks and scripts.
type Health struct {
	Said   bool // there is such news
	Sick   bool
	Report string
	At     int64 // milliseconds since 1970
}

// A ContainerRun is a container that runs.
type ContainerRun struct {
	ID   ids.Container
	Size heddle.Resource // as its node accounts for it; zero where it does not say
	// Parked says that it gets what nobody else wants, as YARN's opportunistic containers do.
	Parked bool
}

// A ContainerEnd is the end of a container.
type ContainerEnd struct {
	ID          ids.Container
	Exit        int32
	Diagnostics string
	Size        heddle.Resource // as the node has it; zero where it does not say
}

// A ContainerNews is what a NodeManager that registers says of one container.
type ContainerNews struct {
	ContainerEnd // what there is of it before
	Over         bool
	Priority     int32
	AllocID      int64
	Created      int64 // milliseconds since 1970, by the clock of the ResourceManager that granted it
	Parked       bool  // as of a [ContainerRun]
}

// A LogNews is how far a NodeManager is with collecting an application's logs.
type LogNews struct {
	App    ids.App
	Status string
}

// A Caller is the master behind a call: the attempt that its token was made for, and the key of the token.
type Caller struct {
	Attempt ids.Attempt
	Key     int32
}

// What ApplicationMasters say.
type (
	// RegisterMaster says that a master is at work. It is answered with a [MasterRegistered].
	RegisterMaster struct {
		Call     Call
		Who      Caller
		Host     string
		Port     int32
		Tracking string
	}

	// Allocate is a master's call: what it asks for and gives back. It is answered with an [Allocated].
	Allocate struct {
		Call     Call
		Who      Caller
		Last     int32 // the number of the last answer that it has
		Progress float32
		Tracking *string // nil for the same as before
		Ask      []Request
		Release  []ids.Container
		Avoid    []string   // hosts and racks that it wants nothing on
		Accept   []string   // those that it does want something on again
		Updates  int        // containers that it wants changed, which is not supported
		Answer   *Allocated // where the answer goes, until this master's next call; nil for a new one
		Placed   bool       // it sent scheduling requests, which are not supported
	}

	// FinishMaster says that a master is done, and how its application ended. It is answered with nil once that is
	// stored.
	FinishMaster struct {
		Call        Call
		Who         Caller
		Final       FinalStatus
		Diagnostics string
		Tracking    *string // nil for the same as before
	}
)

// A Request is a row of a master's request table: so many containers at a place.
type Request struct {
	Priority int32
	AllocID  int64
	Place    string // *, a rack or a host
	Size     heddle.Resource
	Count    int32
	Strict   bool   // nowhere else
	Enforce  bool   // the execution type must be what was asked for
	Label    string // node label expression; there are no labels
}

// What clients say.
type (
	// NewApp asks for an id for an application that is to be submitted, by the same user. It is answered with a
	// [NewAppID].
	NewApp struct {
		Call Call
		User string
	}

	// SubmitApp hands an application in, with an id that was given to its user. It is answered with nil once that is
	// stored. Submitting one again that is there does nothing: its client did not hear the first answer.
	SubmitApp struct {
		Call      Call
		Who       Person
		Queue     string // where placement rules put it
		Misplaced string // why they put it nowhere; "" where they did
		Wrong     string // what it says of its master's container that cannot be; "" for nothing
		Unwritten int    // bytes that wait for the disk
		App       Submission
	}

	// KillApp ends an application. It is answered with nil once its end is stored.
	KillApp struct {
		Call        Call
		Who         Person
		App         ids.App
		Diagnostics string
	}

	// FailAttempt ends an attempt as if its master had failed. It is answered with nil.
	FailAttempt struct {
		Call    Call
		Who     Person
		Attempt ids.Attempt
	}

	// MoveApp takes an application to another leaf queue. It is answered with nil once that is stored.
	MoveApp struct {
		Call  Call
		Who   Person
		App   ids.App
		Queue string // in full, or its last part
	}

	// SetPriority gives an application another priority. It is answered with an int32, what it came to, once that
	// is stored.
	SetPriority struct {
		Call     Call
		Who      Person
		App      ids.App
		Priority int32
	}

	// SetLifetime says when an application is killed that is not over by then. It is answered with nil once that is
	// stored.
	SetLifetime struct {
		Call  Call
		Who   Person
		App   ids.App
		Until int64 // milliseconds since 1970
	}

	// SignalContainer has a node signal a container with its next report. It is answered with nil.
	SignalContainer struct {
		Call      Call
		Who       Person
		Container ids.Container
		Command   int32 // YARN's SignalContainerCommand
	}
)

// A Person is somebody who asks, with the groups where access depends on them. Addr is empty over REST.
type Person struct {
	User, Addr string
	Groups     []string
}

// A Submission is what a client says of its application.
type Submission struct {
	ID            ids.App
	Name, Type    string
	Tags          []string
	Priority      *int32 // nil for none
	Master        heddle.Resource
	Label         string       // node label expression of its master; there are no labels
	MaxAttempts   int32        // 0 for none said
	FailureWindow heddle.Span  // failures older than that are not counted; 0: all are
	Lifetimes     []int64      // seconds
	Access        []Access     // who may do what with it beside its owner
	Unmanaged     bool         // its master runs outside the cluster
	Facts         heddle.Facts // what is known of the job; a stock client says nothing but its name, and the command of its master
	Context       []byte       // the submission as its client encoded it, for the store and the master's start
	Rest          []byte       // the same without what starts masters, for the store once it is over
	LogContext    []byte       // how logs are collected, for the tokens of its containers
}

// Access is an access list of an application.
type Access struct {
	Change bool // to change it; to look at it otherwise
	List   ACL
}

// What administrators say.
type (
	// Refresh goes on with another scheduler: queues, limits, profile. It is answered with nil.
	Refresh struct {
		Call      Call
		Scheduler *Scheduler
	}

	// RefreshNodes goes on with other lists of hosts. NodeManagers that may no longer be there go: at once or,
	// where graceful, when what runs there has ended or the timeout has passed; none if the timeout is negative. It
	// is answered with nil.
	RefreshNodes struct {
		Call     Call
		Lists    HostLists
		Graceful bool
		Timeout  heddle.Span
	}

	// ResizeNode changes what a node offers. Its NodeManager is told with its next report. It is answered with nil.
	ResizeNode struct {
		Call  Call
		Node  ids.Node
		Total heddle.Resource
	}
)

// What the shell says.
type (
	// Stored says that a [Store] is durable.
	Stored struct{ Seq uint64 }

	// StoreShort says that the disk of the store is full, and with "" that it has room again. What is to be stored is kept
	// and stored when there is room, so that no [Store] is lost: but less should come.
	StoreShort struct{ Why string }

	// Started says that a master's container was started on its node, or why not.
	Started struct {
		Container ids.Container
		Failed    string // "" for started
	}

	// KeyMade says that the key that a [MakeKey] asked for is there, and durable where it has to be, or why not.
	KeyMade struct {
		Ring   Ring
		Failed string // "" for made
	}

	// Tick says that time has passed; see [Machine.Deadline].
	Tick struct{}
)

func (*RegisterNode) message()    {}
func (*BeatNode) message()        {}
func (*UnregisterNode) message()  {}
func (*RegisterMaster) message()  {}
func (*Allocate) message()        {}
func (*FinishMaster) message()    {}
func (*NewApp) message()          {}
func (*SubmitApp) message()       {}
func (*KillApp) message()         {}
func (*FailAttempt) message()     {}
func (*MoveApp) message()         {}
func (*SetPriority) message()     {}
func (*SetLifetime) message()     {}
func (*SignalContainer) message() {}
func (*Refresh) message()         {}
func (*RefreshNodes) message()    {}
func (*ResizeNode) message()      {}
func (Stored) message()           {}
func (StoreShort) message()       {}
func (*Started) message()         {}
func (*KeyMade) message()         {}
func (Tick) message()             {}
