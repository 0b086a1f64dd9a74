package rm

import (
	"strings"

	"heddle"
	"heddle/yarn/ids"
)

// An AppReport is everything there is to tell about an application at one moment. Times are milliseconds
// since 1970, 0 for not yet.
type AppReport struct {
	ID          ids.App     `json:"id"`
	Name        string      `json:"name"`
	Type        string      `json:"type"`
	User        string      `json:"user"`
	Queue       string      `json:"queue"` // full path
	Tags        []string    `json:"tags"`
	Priority    int32       `json:"priority"`
	State       AppState    `json:"state"`
	Internal    string      `json:"internal_state"` // the state machine's own: FINAL_SAVING, FINISHING, KILLING too
	Final       FinalStatus `json:"final_status"`
	Diagnostics string      `json:"diagnostics"`
	Progress    Fraction    `json:"progress_percent"`
	Submitted   int64       `json:"submitted_ms"` // by the client's call
	Started     int64       `json:"started_ms"`   // taken in
	Launched    int64       `json:"launched_ms"`  // the first master's container
	Finished    int64       `json:"finished_ms"`
	Elapsed     int64       `json:"elapsed_ms"` // from Started to Finished, or to the moment

	Attempt     int32         `json:"attempt"`               // number of the current attempt, 0 before the first
	Host        string        `json:"master_host"`           // as the master registered, "" for not yet
	RPCPort     int32         `json:"master_rpc_port"`       // likewise, −1 for not yet
	TrackingURL string        `json:"tracking_url"`          // what clients are sent to: the proxy, or the application's page here
	OriginalURL string        `json:"original_tracking_url"` // what the master said; "" for nothing
	Master      ids.Container `json:"master_container"`
	MasterNode  ids.Node      `json:"master_node"`
	MasterHTTP  string        `json:"master_node_http_address"` // host:port of the NodeManager's pages
	MasterLogs  string        `json:"master_logs"`              // where they are shown

	Live         bool    `json:"live"`        // there is an attempt that holds containers: the eight below count
	MasterSize   Amount  `json:"master_size"` // of a live master's container
	Containers   int     `json:"containers"`
	Reservations int     `json:"reservations"`
	Used         Amount  `json:"used"`
	Reserved     Amount  `json:"reserved"`
	Pending      Amount  `json:"pending"`
	QueueShare   float32 `json:"queue_percent"` // of the queue's capacity in use by it
	ClusterShare float32 `json:"cluster_percent"`

	MemorySeconds    int64 `json:"memory_mib_seconds"`
	VcoreSeconds     int64 `json:"vcore_seconds"`
	PreemptedMemory  int64 `json:"preempted_memory_mib_seconds"`
	PreemptedVcores  int64 `json:"preempted_vcore_seconds"`
	PreemptedWorkers int   `json:"preempted_workers"` // containers but for masters
	PreemptedMasters int   `json:"preempted_masters"`

	// Viewers are who may look at it beside its owner and administrators, where access is checked: whom it names,
	// and those who administer its queue or one above.
	Viewers []ACL `json:"-"`
	// Memo is a place for what readers make of the report: what [Options] Memo returned when the application was shown anew. All
	// reports that views tell of it until it changes have the same one. It is nil where a report is not of a view.
	Memo any `json:"-"`

	LogAggregation string `json:"log_aggregation"`   // DISABLED, NOT_START, RUNNING, SUCCEEDED, FAILED, TIME_OUT, RUNNING_WITH_FAILURE
	Lifetime       int64  `json:"lifetime_until_ms"` // when it is killed; 0 for never
	Masked         bool   `json:"masked,omitzero"`   // the one who asks may know no more of it: see [AppReport.Mask]

	// Requests and Attempts are in the report of one application alone.
	Requests []RequestReport `json:"requests,omitzero"`
	Attempts []AttemptReport `json:"attempts,omitzero"` // the first first
}

// Mask is what everybody may know of an application where access is checked: that it is there and how it fares, and nothing
// of where it runs, what it holds and what it says.
func (a *AppReport) Mask() AppReport {
	return AppReport{
		ID: a.ID, Name: a.Name, Type: a.Type, User: a.User, Queue: a.Queue, Tags: a.Tags, Priority: a.Priority,
		State: a.State, Internal: a.Internal, Final: a.Final, Submitted: a.Submitted, Started: a.Started, Launched: a.Launched,
		Finished: a.Finished, Elapsed: a.Elapsed, RPCPort: -1, Lifetime: a.Lifetime, Masked: true,
	}
}

// Apps are applications as they are sent and printed, oldest first.
type Apps struct {
	List []AppReport `json:"applications"`
}

// A RequestReport is one row of an application's request table.
type RequestReport struct {
	Priority  int32  `json:"priority"`
	AllocID   int64  `json:"allocation_id"`
	Place     string `json:"place"` // *, a rack or a host
	Count     int32  `json:"count"`
	Size      Amount `json:"size"`
	Relax     bool   `json:"relax_locality"`
	Enforce   bool   `json:"enforce_execution_type"` // it must be what was asked for
	Guarantee bool   `json:"guaranteed"`             // GUARANTEED; OPPORTUNISTIC otherwise
}

// An AttemptReport is one run of an application's master.
type AttemptReport struct {
	ID          ids.Attempt   `json:"id"`
	State       string        `json:"state"` // YARN's RMAppAttemptState
	Started     int64         `json:"started_ms"`
	Finished    int64         `json:"finished_ms"`
	Master      ids.Container `json:"container"`
	Node        ids.Node      `json:"node"`
	NodeHTTP    string        `json:"node_http_address"`
	Logs        string        `json:"logs"` // where they are shown
	Host        string        `json:"master_host"`
	RPCPort     int32         `json:"master_rpc_port"`
	TrackingURL string        `json:"tracking_url"`
	OriginalURL string        `json:"original_tracking_url"`
	Diagnostics string        `json:"diagnostics"`
	Blacklisted []string      `json:"blacklisted"` // hosts on which it wants nothing
	User        string        `json:"-"`
}

// A ContainerReport is one container.
type ContainerReport struct {
	ID          ids.Container
	Node        ids.Node
	NodeHTTP    string
	User        string
	Size        heddle.Resource // that its master was told
	Limit       heddle.Resource // that its node is to enforce, or to account for
	Suspended   bool            // its processors are lent to others
	Parked      bool            // its node keeps it from using what others want
	Frozen      heddle.Span     // … and from running at all, for so long at the most; 0 for not
	FrozenUntil int64           // milliseconds since 1970: when it runs again at the latest; 0 for one that is not frozen
	Weight      int64           // milli-vcores: its part of busy processors; 0 where it was not weighed
	Bound       int64           // thousandths of a processor that it uses at the most; 0 for no bound
	Unconfirmed bool            // its node has yet to confirm the limit
	Changed     int64           // milliseconds since 1970: the last change of limit, parking or weight; 0 for none
	Policy      string          // that wanted it, as slot and name; "" where it is not known
	Priority    int32
	Kind        heddle.Kind
	Created     int64
	Finished    int64
	Diagnostics string
	Exit        int32
	Complete    bool
	Running     bool   // seen running on its node
	Logs        string // where they are shown
}

// Sized says in a word how the container's limit differs from its size: shrunk, grown, or changed where it has less of one
// resource and more of another. It is "" where they are the same.
func (c *ContainerReport) Sized() string {
	more := c.Limit.Minus(c.Size)
	switch {
	case more.IsZero():
		return ""
	case !more.AnyNegative():
		return "grown"
	case more.Max(heddle.Resource{}).IsZero():
		return "shrunk"
	}
	return "changed"
}

// Row is the container as it is sent and printed; extra names the cluster's further resources.
func (c *ContainerReport) Row(extra ...string) ContainerRow {
	return ContainerRow{
		ID: c.ID, App: c.ID.Attempt.App, User: c.User, Kind: c.Kind.String(), Running: c.Running, Created: c.Created,
		Size: AmountOf(c.Size, extra...), Limit: AmountOf(c.Limit, extra...), Sized: c.Sized(), Unconfirmed: c.Unconfirmed,
		Suspended: c.Suspended, Parked: c.Parked, Frozen: int64(c.Frozen / heddle.Millisecond), FrozenUntil: c.FrozenUntil,
		Weight: float64(c.Weight) / 1000, Bound: float64(c.Bound) / 1000, Changed: c.Changed, Policy: c.Policy,
	}
}

// A ContainerRow is a container on a node as it is sent and printed.
type ContainerRow struct {
	ID          ids.Container `json:"id"`
	App         ids.App       `json:"application"`
	User        string        `json:"user"`
	Kind        string        `json:"kind"`
	Running     bool          `json:"running"` // seen running on its node
	Created     int64         `json:"created_ms"`
	Size        Amount        `json:"size"`        // that its master was told
	Limit       Amount        `json:"limit"`       // that its node is to enforce, or to account for
	Sized       string        `json:"sized"`       // as [ContainerReport.Sized] says
	Unconfirmed bool          `json:"unconfirmed"` // its node has yet to confirm the limit
	Suspended   bool          `json:"suspended"`   // its processors are lent to others
	Parked      bool          `json:"parked"`      // its node keeps it from using what others want
	Frozen      int64         `json:"frozen_ms"`   // … and from running at all, for so long at the most; 0 for not
	FrozenUntil int64         `json:"frozen_until_ms"`
	Weight      float64       `json:"weight"`     // vcores: its part of busy processors; 0 where it was not weighed
	Bound       float64       `json:"bound"`      // processors that it uses at the most; 0 for no bound
	Changed     int64         `json:"changed_ms"` // the last change of limit, parking or weight; 0 for none
	Policy      string        `json:"policy"`     // that wanted it, as slot and name; "" where it is not known
}

// NodeContainers are the containers on a node, by id, as they are sent and printed.
type NodeContainers struct {
	List   []ContainerRow `json:"containers"`
	Masked int            `json:"masked,omitzero"` // how many more there are, of applications that the one who asks may not look at
}

// LogsURL is where the logs of a user's container are shown: by its NodeManager, whose pages are at http, or, of an
// ended one, by a log server where there is one. It is "" where neither is known.
func LogsURL(server, http string, n ids.Node, c ids.Container, user string) string {
	switch {
	case c.IsZero():
		return ""
	case server != "" && !n.IsZero():
		return server + "/" + n.String() + "/" + c.String() + "/" + c.String() + "/" + user
	case http == "":
		return ""
	}
	return "http://" + http + "/node/containerlogs/" + c.String() + "/" + user
}

// A NodeReport is one NodeManager.
type NodeReport struct {
	ID          ids.Node
	HTTP        string // host:port of its pages
	Rack        string
	State       string // NEW RUNNING UNHEALTHY DECOMMISSIONED LOST REBOOTED DECOMMISSIONING SHUTDOWN
	Version     string
	Health      string
	HealthAt    int64
	Can         heddle.Caps // do to containers beside starting and ending them
	Total       heddle.Resource
	Physical    heddle.Resource // of the machine; zero where it does not say
	Used        heddle.Resource
	Containers  int
	Utilization Utilization // of the node
	Aggregate   Utilization // of its containers together
	BeatAt      int64       // last report
	BeatEvery   heddle.Span
	Agent       *AgentReport // nil for none
	Deadline    int64        // of a graceful decommission, milliseconds since 1970; 0 for none
}

// A NodeRow is a NodeManager as it is sent and printed.
type NodeRow struct {
	ID         string    `json:"id"`
	Rack       string    `json:"rack"`
	State      string    `json:"state"`
	HTTP       string    `json:"http_address"`
	Version    string    `json:"version"`
	Health     string    `json:"health_report"`
	Reported   int64     `json:"reported_ms"` // its health
	Containers int       `json:"containers"`
	Used       Amount    `json:"used"`
	Total      Amount    `json:"total"`
	Measured   Measured  `json:"measured"`
	OfTasks    Measured  `json:"measured_containers"`
	Labels     []string  `json:"labels"`
	Can        []string  `json:"can"`   // do to containers beside starting and ending them, by the names of [heddle.Caps]
	Agent      *AgentRow `json:"agent"` // nil for none
}

// An AgentRow is a node's agent as it is sent and printed.
type AgentRow struct {
	Can    []string `json:"can"`    // what it adds to what its node can do, by the names of [heddle.Caps]
	Age    int64    `json:"age_ms"` // since it was last heard
	Behind bool     `json:"behind"` // it has yet to do what it was told, or to be told
	Failed []string `json:"failed"` // what it could not do, as "container: why"
	// DiskBusy is the part of the time that the node's disks were busy lately; below 0 where that is not known, or no policy
	// goes by it.
	DiskBusy Fraction `json:"disk_busy_percent"`
}

// Nodes are the nodes of a cluster, by id, as they are sent and printed.
type Nodes struct {
	List []NodeRow `json:"nodes"`
}

// A Measured is what a node says is in use.
type Measured struct {
	PhysicalMiB int64   `json:"physical_mib"`
	VirtualMiB  int64   `json:"virtual_mib"`
	Vcores      float64 `json:"vcores"` // to three digits behind the point
}

// A Utilization is what was measured on a node.
type Utilization struct {
	Physical, Virtual int32   // MiB
	CPU               float32 // vcores
}

// FindQueue finds a queue by its path or by its last part, nil where there is none or more than one.
func FindQueue(queues []QueueReport, name string) *QueueReport {
	var found *QueueReport
	for i := range queues {
		q := &queues[i]
		if q.Path == name {
			return q
		}
		if strings.HasSuffix(q.Path, "."+name) {
			if found != nil {
				return nil
			}
			found = q
		}
	}
	return found
}

// Leaves are the paths of the leaf queues in and below a queue. Where there are none it is the queue's own: no application is
// in it, while to restrict by no queue at all would let in those of all.
func Leaves(queues []QueueReport, q *QueueReport) []string {
	var out []string
	for i := range queues {
		if p := queues[i].Path; queues[i].Leaf && (p == q.Path || strings.HasPrefix(p, q.Path+".")) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return []string{q.Path}
	}
	return out
}

// A QueueReport is a queue as it is.
type QueueReport struct {
	QueueInfo
	ID           heddle.QueueID   `json:"-"`
	ParentPath   string           `json:"parent"`                // "" of the root
	UsedOfOwn    Fraction         `json:"used_capacity_percent"` // of its own capacity; −1 where it has none of its own
	UsedShare    Fraction         `json:"cluster_used_percent"`  // of the cluster
	Used         Amount           `json:"used"`
	Reserved     Amount           `json:"reserved"`
	Pending      Amount           `json:"pending"`
	Masters      Amount           `json:"masters"` // the part of Used that masters hold
	Containers   int              `json:"containers"`
	Reservations int              `json:"reservations"`
	Waiting      int              `json:"pending_containers"`
	Active       int              `json:"applications_running"`   // with a running master
	Inactive     int              `json:"applications_waiting"`   // for one
	Submitted    int              `json:"applications_submitted"` // all time, as the next three
	Completed    int              `json:"applications_completed"`
	Killed       int              `json:"applications_killed"`
	Failed       int              `json:"applications_failed"`
	Children     []heddle.QueueID `json:"-"`
	Users        []UserReport     `json:"users"`
	Asking       int              `json:"-"` // applications that ask for containers
	AskingUsers  int              `json:"-"` // who have one, counted in each queue
}

// Queues are the queues of a cluster, the root first and parents before children, as they are sent and printed.
type Queues struct {
	List []QueueReport `json:"queues"`
}

// A UserReport is a user's part of a queue.
type UserReport struct {
	Name     string `json:"name"`
	Used     Amount `json:"used"`
	Masters  Amount `json:"masters"`
	Active   int    `json:"applications_running"`
	Inactive int    `json:"applications_waiting"`
	Asking   int    `json:"-"` // applications that ask for containers
}

// A ClusterReport is the cluster in figures.
type ClusterReport struct {
	ClusterID string
	Started   int64
	Profile   string
	Order     string // of the profile's lanes, by name
	Scheduler string // capacity or fair
	Minimum   heddle.Resource
	Maximum   heddle.Resource

	Off        []string // mechanisms of the profile that are off, as "what: why"
	MemoryOnly bool     // shares are of memory alone

	Submitted, Completed, PendingApps, RunningApps, FailedApps, KilledApps int
	Total, Used, Reserved, Pending                                         heddle.Resource
	Containers, Reservations, Waiting                                      int
	Utilized                                                               heddle.Resource // by all that runs on the nodes

	Active, Lost, Unhealthy, Decommissioning, Decommissioned, Rebooted, Shutdown int
	New                                                                          int // nodes of before the start that have not come back

	Steps       uint64 // events the core took
	Grants      uint64
	Updates     UpdateCounts
	Deeds       DeedCounts
	Agents      AgentCounts
	Agented     int                    // nodes that have a node agent
	Parked      int                    // containers that their nodes keep from using what others want
	Weighed     int                    // containers whose part of busy processors is not that of their size
	Undone      [heddle.NumCaps]uint64 // what policies wanted done to containers and nodes cannot do, by what they cannot
	BusyPercent float64                // of the last seconds the loop was working
	Queue       int                    // calls waiting for the loop
	BeatEvery   heddle.Span            // what nodes are told now
}

// UpdateCounts says how often nodes were told of another size for a running container, or whether it gives way to others,
// and what became of it. A node that is told again counts again.
type UpdateCounts struct {
	Sent      uint64
	Confirmed uint64 // the node accounts for the size
	Refused   uint64 // it went on with another size, however often it was told
}

// An AppFilter says which applications are wanted; what is empty does not restrict.
type AppFilter struct {
	States       []AppState
	Final        FinalStatus
	Users        []string
	Queues       []string // by their paths
	Types, Tags  []string
	Name         string
	StartedFrom  int64 // milliseconds since 1970, inclusive; 0 for no bound
	StartedTo    int64
	FinishedFrom int64
	FinishedTo   int64
	Before       ids.App               // only those with lower ids; zero for no bound
	Sees         func(*AppReport) bool // lets only those through that it is true of; nil for all
	Limit        int                   // the newest so many; 0 for all
}
