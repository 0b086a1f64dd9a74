package heddle

// An Event is something that happened. The set is closed.
//
//sumtype:decl
type Event interface{ event() }

type (
	// NodeUp says that a node joined, or came back, with so much to offer.
	NodeUp struct {
		Node  NodeID
		Rack  RackID
		Total Resource
		Can   Caps
	}

	// NodeCan says what a node that is up can do from now on. What was done by what it can do no more is taken back.
	NodeCan struct {
		Node NodeID
		Can  Caps
	}

	// NodeDown says that a node is lost; every container on it is over (Aborted).
	NodeDown struct{ Node NodeID }

	// NodeResized says that a node that is up offers another total from now on. It may be less than its
	// containers hold: none is ended, and nothing starts there until they fit again.
	NodeResized struct {
		Node  NodeID
		Total Resource
	}

	// NodeSilent says that a node that is up has not reported for several times as long as it should, or is on its way out, so
	// that nothing more is to start there, or that it is as others again. What runs there goes on.
	NodeSilent struct {
		Node   NodeID
		Silent bool
	}

	// Heartbeat says that a node reported in and may be given work. Exits it reports come as events of
	// their own, before it.
	Heartbeat struct{ Node NodeID }

	// Found says that a node which registered runs a container of an application already, started before
	// the scheduler knew of either. It is held from now on, whatever the limits say. Nothing comes of it
	// where the node or the application is not there, or a second master is found.
	Found struct {
		App      AppID
		Node     NodeID
		Kind     Kind
		Priority int32 // of the ask it once answered
		AllocID  int64
		Size     Resource
		Age      Span  // for how long it has been held; 0 where nobody knows
		Ref      int64 // the sender's own; comes back in Adopt
	}

	// Submit says that a user handed in an application and wants a container for its master.
	Submit struct {
		App       AppID
		Queue     QueueID
		User      UserID
		Priority  int32 // higher is sooner
		Framework Framework
		Master    Resource // wanted for the ApplicationMaster; zero where none is: it runs already, and no limit turns it away
		Facts     Facts
	}

	// Attempt says that an application whose master failed is to have another one. What the failed one
	// excluded is forgotten.
	Attempt struct {
		App    AppID
		Master Resource // zero as in Submit
		Full   bool     // this master and those after it are not made smaller: one failed that was; see [Facts.MasterHeap]
	}

	// Move says that an application goes to another leaf queue with all it holds and asks for. What it has
	// reserved is given up. It is answered with a Reject, and stays, where the queue cannot take it.
	Move struct {
		App   AppID
		Queue QueueID
	}

	// Reprioritise says that an application has another priority from now on; higher is sooner.
	Reprioritise struct {
		App      AppID
		Priority int32
	}

	// Ask replaces rows of an application's request table.
	Ask struct {
		App  AppID
		Rows []Row
	}

	// Offer says that nodes are to be offered at once for what an application asks for, without waiting for
	// them to report: first those it names, then those with the most room. Who goes first is served first,
	// and nobody who waits for a place loses patience over it.
	Offer struct{ App AppID }

	// Exclude replaces an application's list of nodes it wants nothing on.
	Exclude struct {
		App   AppID
		Nodes []NodeID
	}

	// Release says that a master gives back a container it does not want.
	Release struct {
		App       AppID
		Container ContainerID
	}

	// Acquire says that a master fetched the containers granted to it since its last call.
	Acquire struct{ App AppID }

	// Started says that a node runs the container.
	Started struct{ Container ContainerID }

	// Progress says how far a running task is. Zero Phase means unknown.
	Progress struct {
		Container ContainerID
		Phase     Phase
		Fraction  float64 // of the whole task, 0 to 1
	}

	// Profile says what a running container used lately.
	Profile struct {
		Container ContainerID
		CPU       int64 // thousandths of a processor of the machine, mean since the last profile
		Memory    int64 // MiB, at this moment
	}

	// NodeUsed says who uses the processors of a node's machine, as its NodeManager measured it last. It is told when
	// what the node's containers use has changed. All are in thousandths of a processor of the machine.
	NodeUsed struct {
		Node   NodeID
		CPU    int64 // the node's containers together
		Others int64 // whatever else runs there, such as another NodeManager's containers
		Idle   int64 // nobody; negative where that is unknown
	}

	// NodeDisks says how busy a node's disks were lately.
	NodeDisks struct {
		Node NodeID
		Busy int64 // thousandths of the time, the mean over its disks; negative where that is unknown
	}

	// TaskUsed says how much memory a task that ended used at most, in MiB.
	TaskUsed struct {
		App    AppID
		Kind   Kind
		Memory int64
	}

	// Output says that map output of an application now lies on a node.
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

	// AppDone says that an application is over, however it ended.
	AppDone struct{ App AppID }

	// Refused says that a node did not carry out a Resize: the container has another limit there.
	Refused struct {
		Container ContainerID
		Has       Resource
	}

	// Unable says that a node cannot do to a container what it does to others. What was lent on the strength of it is taken
	// back.
	Unable struct {
		Container ContainerID
		What      Caps
	}

	// Wake says that it is as late as Deadline wanted.
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
func (Wake) event()         {}

// A Row is one line of an application's request table: so many containers of a size at a place.
// Count is absolute and replaces what was asked before; 0 deletes. The row for anywhere (Host and
// Rack none) is the one that counts; the others only say where.
type Row struct {
	Priority int32 // lower is served first
	AllocID  int64 // the requester's own number for this key; 0 when unused
	Kind     Kind
	Host     NodeID // NoNode unless the row names a host
	Rack     RackID // NoRack unless the row names a rack
	Count    int32
	Size     Resource
	Strict   bool // relaxLocality=false: no farther than rows that name a place
}

// Anywhere returns the row for count containers of a size at any place.
func Anywhere(priority int32, k Kind, count int32, size Resource) Row {
	return Row{Priority: priority, Kind: k, Host: NoNode, Rack: NoRack, Count: count, Size: size}
}

// Facts are what is known of a job beside its requests. Zero means unknown.
type Facts struct {
	Name       string // of the application, as it was submitted: most programs run under a name of their own
	InputBytes int64
	Maps       int32 // wanted in all
	Reduces    int32
	Splits     []Split // input of each map, in task order
	Demand     Demand
	Last       LastRun // of the same user and name

	// Timeout is after how long a task that reports nothing is killed; 0 where it is not known.
	Timeout Span

	// MasterHeap is how many MiB of Java heap the command of its master gives it, where that can be cut to fit a
	// container that is smaller than what was asked for. 0 says that the master is to be left as it was asked for.
	MasterHeap int64
}

// besideHeap is how many MiB the process of an MRAppMaster uses beside its Java heap: 150 to 190 were measured.
const besideHeap = 176

// BesideHeap returns how many MiB of a master's container are not for its Java heap: what the last run's master was
// measured to use there, and never less than is usual.
func (f *Facts) BesideHeap() int64 { return max(f.Last.Outside, besideHeap) }

// A LastRun is what the last applications of a user and name came to. Zero means that none is remembered, or that it was
// not measured.
type LastRun struct {
	First      Resource // what the last one asked for first, beside its master
	Most       Resource // the most that one of the last two held and asked for at once, beside their masters
	Containers int32    // likewise, in number
	Heap       int64    // MiB: the most live heap that the last one's master was measured to have
	Outside    int64    // MiB: what the process of that master used beside its heap
	Maps       int32    // that the master with this heap had
	TooSmall   int64    // MiB: the largest heap, cut to a container smaller than what was asked for, in which a master failed by itself
}

// Demand is what a job's tasks would hold at once if it had all that it will ask for: so many containers of a size. Of
// MapReduce these are its maps, or its reduces where they are more in all; of Spark its executors. The master is not
// among them.
type Demand struct {
	Containers int32
	Each       Resource
}

// Total returns what the containers are together.
func (d Demand) Total() Resource { return d.Each.Times(int64(d.Containers)) }

// A Split is the input of one map and the nodes that hold it.
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

// ExitStatus is how a container ended: the process's own code, or one of YARN's.
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
