package rm

import (
	"heddle"
	"heddle/yarn/ids"
)

// A Call numbers a message that needs an answer: the [Answer] repeats it. The shell assigns the numbers.
type Call uint64

// A Message is something that is said to the ResourceManager. The set is closed.
//
//sumtype:decl
type Message interface{ message() }

// Messages from NodeManagers.
type (
	// RegisterNode says that a NodeManager started or, as told, registers again. The answer is a [NodeRegistered].
	RegisterNode struct {
		Call       Call
		Node       ids.Node
		Names      []string // its name and addresses, any of which host lists may use
		From       string   // the address of the call
		Rack       string   // "" if the script failed to tell it
		HTTPPort   int32
		Version    string
		Total      heddle.Resource
		Physical   heddle.Resource // of the machine, if reported
		Can        heddle.Caps     // what the node can do to containers
		Health     Health
		Containers []ContainerNews // all running containers, and ended ones that it was not told to forget
		Apps       []ids.App       // with files there
		Logs       []LogNews       // what it said about logs before
	}

	// BeatNode is a NodeManager's heartbeat. The answer is a [NodeBeat].
	BeatNode struct {
		Call    Call
		Node    ids.Node
		Number  heddle.NodeID // from the answer to its registration, if the shell kept it: saves a lookup
		Last    int32         // number of the last answer that it received
		Health  Health
		Running []ContainerRun // all running containers
		Ended   []ContainerEnd
		Partial bool // Running has only containers that began since the last heartbeat
		Logs    []LogNews
		Keys    [NumRings]int32 // that it has; it has no master key
		OfNode  Utilization
		OfAll   Utilization // of all its containers together
		Answer  *NodeBeat   // place for the answer, valid until the next heartbeat; nil for a new one
	}

	// UnregisterNode says that a NodeManager stops. The answer is nil.
	UnregisterNode struct {
		Call Call
		Node ids.Node
	}
)

// Health is what a NodeManager says about its disks and scripts.
type Health struct {
	Said   bool // the report is present
	Sick   bool
	Report string
	At     int64 // milliseconds since 1970
}

// A ContainerRun is a running container.
type ContainerRun struct {
	ID   ids.Container
	Size heddle.Resource // as its node accounts for it; zero if unknown
	// Parked says that it gets only what nobody else wants, like YARN's opportunistic containers.
	Parked bool
}

// A ContainerEnd is the end of a container.
type ContainerEnd struct {
	ID          ids.Container
	Exit        int32
	Diagnostics string
	Size        heddle.Resource // as known to the node; zero if unknown
}

// A ContainerNews is what a registering NodeManager says about a container.
type ContainerNews struct {
	ContainerEnd // as far as it is known before the end
	Over         bool
	Priority     int32
	AllocID      int64
	Created      int64 // milliseconds since 1970, by the clock of the ResourceManager that granted it
	Parked       bool  // as in [ContainerRun]
}

// A LogNews is a NodeManager's progress in collecting an application's logs.
type LogNews struct {
	App    ids.App
	Status string
}

// A Caller is the master that makes a call: the attempt that its token was made for, and the token's key.
type Caller struct {
	Attempt ids.Attempt
	Key     int32
}

// Messages from ApplicationMasters.
type (
	// RegisterMaster says that a master is running. The answer is a [MasterRegistered].
	RegisterMaster struct {
		Call     Call
		Who      Caller
		Host     string
		Port     int32
		Tracking string
	}

	// Allocate is a master's allocate call: what it asks for and releases. The answer is an [Allocated].
	Allocate struct {
		Call     Call
		Who      Caller
		Last     int32 // number of the last answer that it received
		Progress float32
		Tracking *string // nil if unchanged
		Ask      []Request
		Release  []ids.Container
		Avoid    []string   // hosts and racks on which it wants nothing
		Accept   []string   // hosts and racks to remove from the blacklist
		Updates  int        // containers that it wants changed, which is not supported
		Answer   *Allocated // place for the answer, valid until this master's next call; nil for a new one
		Placed   bool       // it sent scheduling requests, which are not supported
	}

	// FinishMaster says that a master is done, and how its application ended. The answer is nil, once that is stored.
	FinishMaster struct {
		Call        Call
		Who         Caller
		Final       FinalStatus
		Diagnostics string
		Tracking    string // where the application's pages are from now on; "" for nowhere
	}
)

// A Request is a row of a master's request table: a number of containers at a place.
type Request struct {
	Priority int32
	AllocID  int64
	Place    string // *, a rack or a host
	Size     heddle.Resource
	Count    int32
	Strict   bool   // nowhere else
	Enforce  bool   // the execution type must be as requested
	Label    string // node label expression; there are no labels
}

// Messages from clients.
type (
	// NewApp asks for an id for an application that the same user will submit. The answer is a [NewAppID].
	NewApp struct {
		Call Call
		User string
	}

	// SubmitApp submits an application, with an id that was given to its user. The answer is nil, once the submission
	// is stored. Submitting an existing application again does nothing: its client did not receive the first answer.
	SubmitApp struct {
		Call      Call
		Who       Person
		Queue     string // chosen by placement rules
		Misplaced string // why they chose none; "" if they did
		Wrong     string // what is impossible about its master's container; "" for nothing
		Unwritten int    // bytes waiting for the disk
		App       Submission
	}

	// KillApp ends an application. The answer is nil, once its end is stored.
	KillApp struct {
		Call        Call
		Who         Person
		App         ids.App
		Diagnostics string
	}

	// FailAttempt ends an attempt as if its master had failed. The answer is nil.
	FailAttempt struct {
		Call    Call
		Who     Person
		Attempt ids.Attempt
	}

	// MoveApp moves an application to another leaf queue. The answer is nil, once that is stored.
	MoveApp struct {
		Call  Call
		Who   Person
		App   ids.App
		Queue string // full path, or its last part
	}

	// SetPriority changes an application's priority. The answer is the resulting priority as an int32, once stored.
	SetPriority struct {
		Call     Call
		Who      Person
		App      ids.App
		Priority int32
	}

	// SetLifetime sets when an unfinished application is killed. The answer is nil, once that is stored.
	SetLifetime struct {
		Call  Call
		Who   Person
		App   ids.App
		Until int64 // milliseconds since 1970
	}

	// SignalContainer has a node signal a container at its next heartbeat. The answer is nil.
	SignalContainer struct {
		Call      Call
		Who       Person
		Container ids.Container
		Command   int32 // YARN's SignalContainerCommand
	}
)

// A Person is a user who makes a request, with the user's groups if access depends on them. Addr is empty over REST.
type Person struct {
	User, Addr string
	Groups     []string
}

// A Submission is what a client says about its application.
type Submission struct {
	ID            ids.App
	Name, Type    string
	Tags          []string
	Priority      *int32 // nil for none
	Master        heddle.Resource
	Label         string       // node label expression of its master; there are no labels
	MaxAttempts   int32        // 0 if not given
	FailureWindow heddle.Span  // older failures do not count; 0: all failures count
	Lifetimes     []int64      // seconds
	Access        []Access     // what others than its owner may do with it
	Unmanaged     bool         // its master runs outside the cluster
	Facts         heddle.Facts // what is known of the job; a stock client gives only its name and its master's command
	Context       []byte       // the submission as encoded by its client, for the store and the start of the master
	Rest          []byte       // the same without what starts masters, for the store after the application's end
	LogContext    []byte       // how to collect logs, for the tokens of its containers
}

// Access is an access list of an application.
type Access struct {
	Change bool // right to change it; otherwise to view it
	List   ACL
}

// Messages from administrators.
type (
	// Refresh replaces the scheduler: queues, limits, profile. The answer is nil.
	Refresh struct {
		Call      Call
		Scheduler *Scheduler
	}

	// RefreshNodes replaces the host lists. NodeManagers that are no longer admitted leave: at once, or if graceful,
	// when what runs there has ended or the timeout has passed; a negative timeout means none. The answer is nil.
	RefreshNodes struct {
		Call     Call
		Lists    HostLists
		Graceful bool
		Timeout  heddle.Span
	}

	// ResizeNode changes what a node offers. Its NodeManager is told at its next heartbeat. The answer is nil.
	ResizeNode struct {
		Call  Call
		Node  ids.Node
		Total heddle.Resource
	}
)

// Messages from the shell.
type (
	// Stored says that a [Store] is durable.
	Stored struct{ Seq uint64 }

	// StoreShort says that the store's disk is full, or with "" that it has room again. Changes are kept until there is
	// room, so no [Store] is lost, but fewer should be made.
	StoreShort struct{ Why string }

	// Started says that a master's container was started on its node, or why it was not.
	Started struct {
		Container ids.Container
		Failed    string // "" if it was started
	}

	// KeyMade says that the key requested by a [MakeKey] exists, and is durable if it has to be, or why not.
	KeyMade struct {
		Ring   Ring
		Failed string // "" if it was made
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
