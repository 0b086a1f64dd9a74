package heddle

// An Event is something that happened. The set of types is closed.
//
//sumtype:decl
type Event interface{ event() }

type (
	// NodeUp says that a node joined, or came back, and offers Total.
	NodeUp struct {
		Node  NodeID
		Rack  RackID
		Total Resource
		Can   Caps
	}

	// NodeCan says what a node that is up can do from now on. Whatever relied on an ability that it has lost is undone.
	NodeCan struct {
		Node NodeID
		Can  Caps
	}

	// NodeDown says that a node is lost. Every container on it has ended (Aborted).
	NodeDown struct{ Node NodeID }

	// NodeResized says that a node that is up offers another total from now on. The total may be less than its
	// containers hold: none is ended, and nothing starts there until they fit again.
	NodeResized struct {
		Node  NodeID
		Total Resource
	}

	// NodeSilent says that a node that is up has not reported for several times its heartbeat interval or since it
	// registered, or is being decommissioned, so that nothing more should start there; or that it is back to normal.
	// What runs there goes on.
	NodeSilent struct {
		Node   NodeID
		Silent bool
	}

	// Heartbeat says that a node reported and may be given work. The exits that it reports come first, as events of
	// their own.
	Heartbeat struct{ Node NodeID }

	// Found says that a node which registered already runs a container of an application, started before the scheduler
	// knew of either. The container is held from now on, whatever the limits say. The event has no effect if the node
	// or the application does not exist, or if it would be a second master.
	Found struct {
		App      AppID
		Node     NodeID
		Kind     Kind
		Priority int32 // of the ask it once answered
		AllocID  int64
		Size     Resource
		Age      Span  // for how long it has been held; 0 if unknown
		Ref      int64 // the sender's own number; returned in Adopt
		Handed   bool  // a former core held it, and knew what else the application had done; see [Past]
	}

	// Submit says that a user submitted an application and wants a container for its master.
	Submit struct {
		App       AppID
		Queue     QueueID
		User      UserID
		Priority  int32 // higher goes first
		Framework Framework
		Master    Resource // size of its container; zero if none is wanted: it runs already, and no limit rejects it
		Facts     Facts
		Past      Past
	}

	// Attempt says that an application whose master failed is to have another one. The nodes excluded by the failed one
	// are forgotten.
	Attempt struct {
		App    AppID
		Master Resource // zero as in Submit
		Full   bool     // this master and later ones are not made smaller, because a shrunk one failed; see [Facts.MasterHeap]
	}

	// Move says that an application goes to another leaf queue with all it holds and asks for. Its reservations are
	// given up. If the queue cannot take it, the answer is a Reject and it stays where it is.
	Move struct {
		App   AppID
		Queue QueueID
	}

	// Reprioritise says that an application has another priority from now on; higher goes first.
	Reprioritise struct {
		App      AppID
		Priority int32
	}

	// Ask replaces rows of an application's request table. Without rows it says that the master asks for nothing more than
	// is known.
	Ask struct {
		App  AppID
		Rows []Row
	}

	// Offer says that nodes are to be offered at once for what an application asks for, without waiting for their
	// heartbeats: first those it names, then those with the most room. The usual order decides which application is
	// served first, and no application waiting for a place loses patience because of these offers.
	Offer struct{ App AppID }

	// Exclude replaces the list of nodes on which an application wants nothing.
	Exclude struct {
		App   AppID
		Nodes []NodeID
	}

	// Release says that a master returns a container it does not want.
	Release struct {
		App       AppID
		Container ContainerID
	}

	// Acquire says that a master fetched the containers granted to it since its last call.
	Acquire struct{ App AppID }

	// Started says that a node runs the container.
	Started struct{ Container ContainerID }

	// Progress says how far a running task is. A zero Phase means unknown.
	Progress struct {
		Container ContainerID
		Phase     Phase
		Fraction  float64 // of the whole task, 0 to 1
	}

	// Profile says what a running container used recently.
	Profile struct {
		Container ContainerID
		CPU       int64 // thousandths of a processor of the machine, on average since the last profile
		Memory    int64 // MiB, at this moment
	}

	// NodeUsed says how the processors of a node's machine are used, as its NodeManager last measured. It is sent when
	// what the node's containers use, or what is unused, has changed. All values are in thousandths of a processor of
	// the machine.
	NodeUsed struct {
		Node   NodeID
		CPU    int64 // all containers of the node together
		Others int64 // everything else that runs there, such as another NodeManager's containers
		Idle   int64 // unused; negative if unknown
	}

	// NodeDisks says how busy a node's disks were recently.
	NodeDisks struct {
		Node NodeID
		Busy int64 // thousandths of the time, averaged over its disks; negative if unknown
	}

	// TaskUsed gives the peak memory of a task that ended, in MiB.
	TaskUsed struct {
		App    AppID
		Kind   Kind
		Memory int64
	}

	// Output says that a node now holds map output of an application.
	Output struct {
		App   AppID
		Node  NodeID
		Bytes int64
	}

	// Exit says that a container ended on its node.
	Exit struct {
		Container ContainerID
		Status    ExitStatus
	}

	// AppDone says that an application has ended, in whatever way.
	AppDone struct{ App AppID }

	// Refused says that a node did not carry out a Resize: the container has another limit, Has, there.
	Refused struct {
		Container ContainerID
		Has       Resource
	}

	// Unable says that a node cannot do to one container what it can do to others. Anything lent in reliance on it is
	// taken back.
	Unable struct {
		Container ContainerID
		What      Caps
	}

	// Able says that a node can do to a container what an Unable said that it cannot.
	Able struct {
		Container ContainerID
		What      Caps
	}

	// Wake says that the time given by Deadline has come.
	Wake struct{}
)

func (NodeUp) event()       {}
func (NodeCan) event()      {}
func (NodeDown) event()     {}
func (NodeResized) event()  {}
func (NodeSilent) event()   {}
func (Heartbeat) event()    {}
func (Found) event()        {}
func (Submit) event()       {}
func (Attempt) event()      {}
func (Move) event()         {}
func (Reprioritise) event() {}
func (Ask) event()          {}
func (Offer) event()        {}
func (Exclude) event()      {}
func (Release) event()      {}
func (Acquire) event()      {}
func (Started) event()      {}
func (Progress) event()     {}
func (Profile) event()      {}
func (NodeUsed) event()     {}
func (NodeDisks) event()    {}
func (TaskUsed) event()     {}
func (Output) event()       {}
func (Exit) event()         {}
func (AppDone) event()      {}
func (Refused) event()      {}
func (Unable) event()       {}
func (Able) event()         {}
func (Wake) event()         {}

// A Row is one row of an application's request table: the number of containers of a size wanted at a place. Count is
// absolute and replaces the previous one; 0 deletes the row. The row for anywhere (neither Host nor Rack) gives the
// number wanted; the others only name places.
type Row struct {
	Priority int32 // lower is served first
	AllocID  int64 // the requester's own number for this key; 0 when unused
	Kind     Kind
	Host     NodeID // NoNode unless the row names a host
	Rack     RackID // NoRack unless the row names a rack
	Count    int32
	Size     Resource
	Strict   bool // relaxLocality=false: only as far as rows that name a place allow
}

// Anywhere returns the row for count containers of a size anywhere.
func Anywhere(priority int32, k Kind, count int32, size Resource) Row {
	return Row{Priority: priority, Kind: k, Host: NoNode, Rack: NoRack, Count: count, Size: size}
}

// Facts are what is known of a job besides its requests. Zero means unknown.
type Facts struct {
	Name       string // of the application, as submitted: most programs run under a name of their own
	InputBytes int64
	Maps       int32 // total wanted
	Reduces    int32
	Splits     []Split // input of each map, in task order
	Demand     Demand
	Last       LastRun // of the same user and name

	// Timeout is how long a task may report nothing before it is killed; 0 if unknown.
	Timeout Span

	// MasterHeap is the Java heap in MiB that the master's command sets, if it can be cut to fit a container smaller
	// than requested. 0 means that the master's size must stay as requested.
	MasterHeap int64
}

// A Past is what a former core counted of an application that it hands over. The zero value stands for an application of
// which nothing has run, or nothing is known.
type Past struct {
	Lost  bool            // it has done more than is counted here, and nobody knows how much
	Begun bool            // it has had a container for a task
	Ended [NumKinds]Tally // of its containers that ended well
	Found [NumKinds]int32 // … how many of these were found running, and not handed over
}

// A Tally is a number of containers, and how long they were held in total.
type Tally struct {
	Count int64
	Held  Span
}

// besideHeap is how many MiB an MRAppMaster process uses outside its Java heap: 150 to 190 were measured.
const besideHeap = 176

// BesideHeap returns how many MiB of a master's container are not for its Java heap: what the last run's master was
// measured to use there, but never less than the usual amount.
func (f *Facts) BesideHeap() int64 { return max(f.Last.Outside, besideHeap) }

// A LastRun is what was recorded about the last applications of a user and name. Zero means that none is remembered, or
// that the value was not measured.
type LastRun struct {
	First      Resource // what the last one asked for first, not counting its master
	Most       Resource // the most that either of the last two held and asked for at once, not counting their masters
	Containers int32    // the same, as a number of containers
	Heap       int64    // MiB: the largest live heap measured in the last one's master
	Outside    int64    // MiB: what that master's process used outside its heap
	Maps       int32    // of the master with this heap
	TooSmall   int64    // MiB: the largest heap, cut to fit a shrunk container, in which a master failed by itself
}

// Demand is what a job's tasks would hold at once if it had all that it will ask for: a number of containers of one
// size. For MapReduce these are its maps, or its reduces if they come to more; for Spark, its executors. The master is
// not counted.
type Demand struct {
	Containers int32
	Each       Resource
}

// Total returns the size of the containers together.
func (d Demand) Total() Resource { return d.Each.Times(int64(d.Containers)) }

// A Split is the input of one map and the nodes that store it.
type Split struct {
	Bytes int64
	Hosts []NodeID
}

// Phase is what a task is doing.
type Phase uint8

// The phases of tasks.
const (
	NoPhase     Phase = iota
	MapRead           // a map reads, computes and spills
	ReduceCopy        // a reduce copies map output
	ReduceSort        // … merges it
	ReduceWrite       // … runs the reduce function and writes
	Holding           // an executor or master that lives until told otherwise
)

// ExitStatus is how a container ended: the process's own exit code, or one of YARN's.
type ExitStatus int32

// YARN's exit statuses.
const (
	Success               ExitStatus = 0
	Aborted               ExitStatus = -100 // released, lost with its node, expired
	DisksFailed           ExitStatus = -101
	Preempted             ExitStatus = -102
	KilledOverVirtual     ExitStatus = -103
	KilledOverPhysical    ExitStatus = -104
	KilledByMaster        ExitStatus = -105
	KilledByRM            ExitStatus = -106
	KilledAfterCompletion ExitStatus = -107
)
