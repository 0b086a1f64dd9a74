package rm

import (
	"heddle"
	"heddle/yarn/ids"
)

// An Effect is something for the shell to do. Effects are carried out in order. The set is closed.
//
//sumtype:decl
type Effect interface{ effect() }

type (
	// Answer answers a call. Err is an [*Invalid], a [*NotFound] or a [*Denied]; Value is what the message's comment
	// says.
	Answer struct {
		Call  Call
		Value any
		Err   error
	}

	// Store has records written. Once they are durable the machine expects a [Stored] with the number. The records of
	// one Store become durable together, and no later Store before an earlier one.
	Store struct {
		Seq     uint64
		Changes []Change
	}

	// StartMaster has a master's container started on its node. The machine expects a [Started].
	StartMaster struct {
		Granted
		App       ids.App
		User      string
		Submitted int64  // milliseconds since 1970
		Context   []byte // as submitted
		Heap      int64  // MiB: the most Java heap that its command may give it; 0: the command stays as it is
	}

	// StopMaster has a master's container stopped on its node at once. It may fail, because the node is also told at
	// its next heartbeat.
	StopMaster struct {
		Container ids.Container
		Node      ids.Node
		User      string
	}

	// AdmitMaster lets the master of an attempt call from now on; DropMaster ends this.
	AdmitMaster struct{ Attempt ids.Attempt }

	// DropMaster ends what AdmitMaster began.
	DropMaster struct{ Attempt ids.Attempt }

	// MakeKey has a ring's next key made. The machine expects a [KeyMade].
	MakeKey struct {
		Ring Ring
		ID   int32
	}

	// UseKey makes a ring's next key the current one.
	UseKey struct {
		Ring Ring
		ID   int32
	}

	// Log is a line for the log: a text, then alternating keys and values.
	Log struct {
		Level Level
		Text  string
		Args  []any
	}

	// Ended says how an application ended, for the audit log.
	Ended struct {
		App         ids.App
		User        string
		State       AppState
		Diagnostics string
		Why         heddle.Why // why the scheduler refused it; Fine if it did not
	}

	// Altered says how a node is to change running containers, for the audit log: each container that it is to park or
	// resume, and, at most once a second per node, how many it is to weigh and how many to resize.
	Altered struct {
		Node       ids.Node
		What       Alteration
		Agent      bool          // done by its node agent; otherwise by its NodeManager
		Containers int           // a container weighed or resized more than once counts each time
		Container  ids.Container // the last of them
		User       string        // owner of that one
		Policy     string        // policy that wants it for that one, as slot and name; "" if unknown
	}
)

// An Alteration is a change to a running container.
type Alteration uint8

// The alterations. Frequent ones come last.
const (
	Parked   Alteration = iota // kept from using what others want
	Unparked                   // no longer parked
	Weighed                    // given another weight on busy processors
	Resized                    // given another limit
	numAlterations
)

// A Level is the severity of a log line.
type Level uint8

// The levels.
const (
	Info Level = iota
	Warn
	Error
)

func (*Answer) effect()      {}
func (*Store) effect()       {}
func (*StartMaster) effect() {}
func (*StopMaster) effect()  {}
func (AdmitMaster) effect()  {}
func (DropMaster) effect()   {}
func (MakeKey) effect()      {}
func (UseKey) effect()       {}
func (*Log) effect()         {}
func (*Ended) effect()       {}
func (*Altered) effect()     {}

// A NodeRegistered answers a [RegisterNode].
type NodeRegistered struct {
	Refused string        // why it must leave; "" if it was accepted
	Number  heddle.NodeID // for its reports; it may change, so nothing depends on it
}

// An Action is what a NodeManager is to do.
type Action uint8

// The actions.
const (
	GoOn     Action = iota
	Resync          // register again
	ShutDown        // exit
)

// A NodeBeat answers a [BeatNode].
type NodeBeat struct {
	Action   Action
	Text     string // reason for the action; "" for GoOn
	ID       int32  // of this answer
	Every    heddle.Span
	Cleanup  []ids.Container // to end
	Forget   []ids.Container // ended containers of which nobody has to hear any more
	CleanApp []ids.App       // to clean up after
	Signals  []Signal
	Updates  []Update
	NewKeys  []Ring           // rings whose next key it lacks
	Total    *heddle.Resource // what it offers from now on; nil if unchanged
}

// A Signal is a signal to a container.
type Signal struct {
	Container ids.Container
	Command   int32 // YARN's SignalContainerCommand
}

// A MasterRegistered answers a [RegisterMaster].
type MasterRegistered struct {
	Largest heddle.Resource // largest possible container
	Access  []Access
	Queue   string
}

// An Allocated answers an [Allocate].
type Allocated struct {
	Attempt    ids.Attempt
	User       string
	NewToken   bool  // its own token is signed with a key that is about to be retired
	ID         int32 // of this answer
	Granted    []Granted
	Tokens     []ids.Node // nodes for which it is to have a token
	Completed  []ContainerEnd
	Nodes      []NodeNews
	Headroom   heddle.Resource
	LiveNodes  int
	Total      heddle.Resource // of the cluster
	Pending    int             // containers it is waiting for
	Priority   int32
	Updates    int // containers that it wanted changed
	LogContext []byte
}

// A Granted is a container as told to its master.
type Granted struct {
	ID       ids.Container
	Node     ids.Node
	NodeHTTP string
	Size     heddle.Resource
	Limit    heddle.Resource // enforced by its node: at most Size
	Priority int32
	AllocID  int64
	Master   bool
	User     string
	Created  int64 // milliseconds since 1970
	Expires  int64 // likewise: from then on its node refuses to start it
	Logs     []byte
}

// A NodeNews tells masters about a change of a node.
type NodeNews struct {
	Change NodeChange
	NodeReport
}

// A NodeChange is what happened to a node.
type NodeChange uint8

// The changes.
const (
	Usable NodeChange = iota
	Unusable
	Decommissioning
)

// A NewAppID answers a [NewApp]: the id, and the largest possible container.
type NewAppID struct {
	ID      ids.App
	Largest heddle.Resource
}
