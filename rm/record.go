package rm

import (
	"heddle"
	"heddle/yarn/ids"
)

// An AppRecord is what is stored of an application. Times are milliseconds since 1970, 0 if not yet.
type AppRecord struct {
	ID        ids.App
	User      string
	Context   []byte `json:",omitempty"` // as submitted; see [Submission]
	Queue     string // full path
	Priority  int32
	Submitted int64
	Started   int64 `json:",omitempty"`
	Launched  int64 `json:",omitempty"` // first master's container
	Finished  int64 `json:",omitempty"`
	Lifetime  int64 `json:",omitempty"` // when it is killed, milliseconds since 1970; 0 for never
	Taken     int32 `json:",omitempty"` // attempt numbers up to this one are taken, also by attempts whose records may be lost

	// How it ended, in YARN's terms. State is "" while the application is alive.
	State       string `json:",omitempty"`
	Final       string `json:",omitempty"`
	Diagnostics string `json:",omitempty"`
	Tracking    string `json:",omitempty"` // from the last master's registration or end

	// What it used, once it is over.
	MemorySeconds          float64 `json:",omitempty"` // MiB·s
	VcoreSeconds           float64 `json:",omitempty"`
	PreemptedMemorySeconds float64 `json:",omitempty"`
	PreemptedVcoreSeconds  float64 `json:",omitempty"`
}

// An AttemptRecord is what is stored of one run of a master. Times are milliseconds since 1970, 0 if not yet.
type AttemptRecord struct {
	ID       ids.Attempt
	MasterID int64    `json:",omitempty"` // number of the master's container; 0 before it was granted
	Node     ids.Node // of that container
	NodeHTTP string   `json:",omitempty"` // web address (host:port) of that NodeManager
	Heap     int64    `json:",omitempty"` // MiB to which its master's Java heap was cut; 0 if it has the container it asked for
	Started  int64    `json:",omitempty"`
	Finished int64    `json:",omitempty"`
	Maps     int32    `json:",omitempty"` // of its job, if they were known when the attempt was stored
	Reduces  int32    `json:",omitempty"`

	Host     string `json:",omitempty"` // from the master's registration
	RPCPort  int32  `json:",omitempty"`
	Tracking string `json:",omitempty"`

	// How it ended, in YARN's terms. State is "" while the attempt is alive.
	State       string `json:",omitempty"`
	Final       string `json:",omitempty"`
	Diagnostics string `json:",omitempty"`
	Exit        int32  `json:",omitempty"` // of the master's container
}

// LostAttempt returns a stand-in for an attempt whose record was lost, so that no other attempt gets its number: it
// failed through no fault of its own when its application was submitted.
func LostAttempt(id ids.Attempt, submitted int64) AttemptRecord {
	return AttemptRecord{
		ID: id, Started: submitted, Finished: submitted, Host: noName, RPCPort: -1, State: attemptFailed.String(),
		Exit: int32(heddle.Aborted), Diagnostics: "The record of this attempt was lost.",
	}
}

// A RunRecord is what is stored of the last applications of a user and name: [heddle.LastRun] and what it is made from.
// Unmeasured values are zero.
type RunRecord struct {
	RunKey  `json:"-"`
	Ended   int64    // end of the last one, milliseconds since 1970
	First   Amount   `json:",omitzero"`
	Asked   [2]Asked // the last two, the later first
	Heap    int64    `json:",omitempty"` // MiB
	Outside int64    `json:",omitempty"` // MiB
	Maps    int32    `json:",omitempty"`

	TooSmall int64 `json:",omitempty"` // MiB
}

// Asked is the most that an application held and asked for at once, beside its master.
type Asked struct {
	Most       Amount
	Containers int32
}

// A NodeRecord is what is stored of a node that registered and has not left.
type NodeRecord struct {
	ID   ids.Node `json:"-"`
	Rack string
	HTTP string // web address (host:port)
	Lost int64  `json:",omitempty"` // when it was lost, milliseconds since 1970; 0 if it was not
}

// A Change is one record written or dropped: exactly one of its fields is set, beside SameContext.
type Change struct {
	App         *AppRecord
	SameContext bool // the Context of App is stored already, and is not written again
	Attempt     *AttemptRecord
	Run         *RunRecord
	Node        *NodeRecord
	Drop        ids.App // with all its attempts
	DropAttempt *ids.Attempt
	DropRun     *RunKey
	DropNode    *ids.Node
}

// A Recovered is an application found in the store.
type Recovered struct {
	AppRecord
	Attempts   []AttemptRecord
	Submission Submission // decoded from Context
}
