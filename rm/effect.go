package rm

import (
	"heddle"
	"heddle/yarn/ids"
)

// An Effect is something that is to be done. Effects are carried out in the order in which they come. The set is
// closed.
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

	// Store has records written. Once they are durable the machine wants to hear a [Stored] with the number. Records
	// of one Store become durable together, and no later Store before an earlier one.
	Store struct {
		Seq     uint64
		Changes []Change
	}

	// StartMaster has a master's container started on its node. The machine wants to hear a [Started].
	StartMaster struct {
		Granted
		App       ids.App
		User      string
		Submitted int64  // milliseconds since 1970
		Context   []byte // as submitted
		Heap      int64  // MiB of Java heap that its command may give it at the most; 0: the command is left as it is
	}

	// StopMaster has a master's container stopped on its node at once. Its node is told with its next report too, so
	// that it may fail.
	StopMaster struct {
		Container ids.Container
		Node      ids.Node
		User      string
	}

	// AdmitMaster lets the master of an attempt call from now on, and DropMaster lets it call no more.
	AdmitMaster struct{ Attempt ids.Attempt }

	// DropMaster is the end of what AdmitMaster began.
	DropMaster struct{ Attempt ids.Attempt }

	// MakeKey has a ring's next key made. The machine wants to hear a [KeyMade].
	MakeKey struct {
		Ring Ring
		ID   int32
	}

	// UseKey makes a ring's next key the current one.
	UseKey struct {
		Ring Ring
		ID   int32
	}

	// Log is a line for the log: a text, then keys and values in turn.
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
		Why         heddle.Why // the scheduler turned it down; Fine where it did not
	}

	// Altered says what a node is to make of running containers, for the audit log: each one that it is to park or to let
	// go on, and at most once a second of a node how many it is to weigh, and how many are to have another size.
	Altered struct {
		Node       ids.Node
		What       Alteration
		Agent      bool          // by its node agent; otherwise by its NodeManager
		Containers int           // one that is weighed or resized more than once counts each time
		Container  ids.Container // the last of them
		User       string        // who owns that one
		Policy     string        // that wants it of that one, as slot and name; "" where it is not known
	}
)

// Alteration is what is made of a running container.
type Alteration uint8

// The alterations. Those that may be many come last.
const (
	Parked   Alteration = iota // it is kept from using what others want
	Unparked                   // no more
	Weighed                    // it has another part of busy processors
	Resized                    // it has another limit
	numAlterations
)

// Level says how much a line of the log matters.
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
	Refused string        // why it has to go; "" where it was taken in
	Number  heddle.NodeID // for its reports; it may change, so that nothing depends on it
}

// Action is what a NodeManager is to do.
type Action uint8

// The actions.
const (
	GoOn     Action = iota
	Resync          // register again
	ShutDown        // go
)

// A NodeBeat answers a [BeatNode].
type NodeBeat struct {
	Action   Action
	Text     string // why it is to do that; "" to go on
	ID       int32  // of this answer
	Every    heddle.Span
	Cleanup  []ids.Container // to end
	Forget   []ids.Container // that ended and that nobody has to hear of any more
	CleanApp []ids.App       // to clean up after
	Signals  []Signal
	Updates  []Update
	NewKeys  []Ring           // whose next key it does not have
	Total    *heddle.Resource // what it offers from now on; nil for the same
}

// A Signal is for a container.
type Signal struct {
	Container ids.Container
	Command   int32 // YARN's SignalContainerCommand
}

// A MasterRegistered answers a [RegisterMaster].
type MasterRegistered struct {
	Largest heddle.Resource // container there can be
	Access  []Access
	Queue   string
}

// An Allocated answers an [Allocate].
type Allocated struct {
	Attempt    ids.Attempt
	User       string
	NewToken   bool  // its own is signed with a key that is about to go
	ID         int32 // of this answer
	Granted    []Granted
	Tokens     []ids.Node // nodes that it is to have a token for
	Completed  []ContainerEnd
	Nodes      []NodeNews
	Headroom   heddle.Resource
	LiveNodes  int
	Total      heddle.Resource // of the cluster
	Pending    int             // containers it waits for
	Priority   int32
	Updates    int // containers that it wanted changed
	LogContext []byte
}

// A Granted is a container as its master is told of it.
type Granted struct {
	ID       ids.Container
	Node     ids.Node
	NodeHTTP string
	Size     heddle.Resource
	Limit    heddle.Resource // that its node goes by: at most Size
	Priority int32
	AllocID  int64
	Master   bool
	User     string
	Created  int64 // milliseconds since 1970
	Expires  int64 // likewise: from then on its node does not start it
	Logs     []byte
}

// A NodeNews is what became of a node.
type NodeNews struct {
	Change NodeChange
	NodeReport
}

// NodeChange is what became of a node, for masters.
type NodeChange uint8

// The changes.
const (
	Usable NodeChange = iota
	Unusable
	Decommissioning
)

// A NewAppID answers a [NewApp]: the id, and the largest container there can be.
type NewAppID struct {
	ID      ids.App
	Largest heddle.Resource
}
