package rm

import (
	"strings"

	"heddle"
	"heddle/yarn/ids"
)

// An AppReport is everything there is to report about an application at one moment. Times are milliseconds since 1970,
// 0 if not yet.
type AppReport struct {
	ID          ids.App     `json:"id"`
	Name        string      `json:"name"`
	Type        string      `json:"type"`
	User        string      `json:"user"`
	Queue       string      `json:"queue"` // full path
	Tags        []string    `json:"tags"`
	Priority    int32       `json:"priority"`
	State       AppState    `json:"state"`
	Internal    string      `json:"internal_state"` // of the state machine: also FINAL_SAVING and FINISHING
	Final       FinalStatus `json:"final_status"`
	Diagnostics string      `json:"diagnostics"`
	Progress    Fraction    `json:"progress_percent"`
	Submitted   int64       `json:"submitted_ms"` // time of the client's call
	Started     int64       `json:"started_ms"`   // accepted
	Launched    int64       `json:"launched_ms"`  // first master's container
	Finished    int64       `json:"finished_ms"`
	Elapsed     int64       `json:"elapsed_ms"` // from Started to Finished, or to the moment of the report

	Attempt     int32         `json:"attempt"`               // number of the current attempt, 0 before the first
	Host        string        `json:"master_host"`           // from the master's registration, "" before it
	RPCPort     int32         `json:"master_rpc_port"`       // likewise, −1 before it
	TrackingURL string        `json:"tracking_url"`          // where clients are sent: the proxy, or the application's page here
	OriginalURL string        `json:"original_tracking_url"` // from the master; "" for none
	Master      ids.Container `json:"master_container"`
	MasterNode  ids.Node      `json:"master_node"`
	MasterHTTP  string        `json:"master_node_http_address"` // web address (host:port) of the NodeManager
	MasterLogs  string        `json:"master_logs"`              // where to view them

	Live         bool    `json:"live"`        // an attempt holds containers: the eight fields below are valid
	MasterSize   Amount  `json:"master_size"` // of a live master's container
	Containers   int     `json:"containers"`
	Reservations int     `json:"reservations"`
	Used         Amount  `json:"used"`
	Reserved     Amount  `json:"reserved"`
	Pending      Amount  `json:"pending"`
	QueueShare   float32 `json:"queue_percent"` // share of the queue's capacity that it uses
	ClusterShare float32 `json:"cluster_percent"`

	MemorySeconds    int64 `json:"memory_mib_seconds"`
	VcoreSeconds     int64 `json:"vcore_seconds"`
	PreemptedMemory  int64 `json:"preempted_memory_mib_seconds"`
	PreemptedVcores  int64 `json:"preempted_vcore_seconds"`
	PreemptedWorkers int   `json:"preempted_workers"` // containers other than masters
	PreemptedMasters int   `json:"preempted_masters"`

	// Viewers may view it beside its owner and administrators, if access is checked: the people that it names itself,
	// and the administrators of its queue or of a queue above.
	Viewers []ACL `json:"-"`
	// Memo is a place for what readers derive from the report: what [Options] Memo returned when the application was
	// last updated in the views. All reports of it from views share it until the application changes. It is nil if a
	// report is not from a view.
	Memo any `json:"-"`

	LogAggregation string `json:"log_aggregation"`   // DISABLED, NOT_START, RUNNING, SUCCEEDED, FAILED, TIME_OUT, RUNNING_WITH_FAILURE
	Lifetime       int64  `json:"lifetime_until_ms"` // when it will be killed; 0 for never
	Masked         bool   `json:"masked,omitzero"`   // the requester may know no more of it: see [AppReport.Mask]

	// Requests and Attempts are only in the report of a single application.
	Requests []RequestReport `json:"requests,omitzero"`
	Attempts []AttemptReport `json:"attempts,omitzero"` // oldest first
}

// Mask returns what everybody may know of an application if access is checked: that it exists and how it fares, but not
// where it runs, what it holds and what it says.
func (a *AppReport) Mask() AppReport {
	return AppReport{
		ID: a.ID, Name: a.Name, Type: a.Type, User: a.User, Queue: a.Queue, Tags: a.Tags, Priority: a.Priority,
		State: a.State, Internal: a.Internal, Final: a.Final, Submitted: a.Submitted, Started: a.Started, Launched: a.Launched,
		Finished: a.Finished, Elapsed: a.Elapsed, RPCPort: -1, Lifetime: a.Lifetime, Masked: true,
	}
}

// Apps is the form in which applications are sent and printed, oldest first.
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
	Enforce   bool   `json:"enforce_execution_type"` // the execution type must be as requested
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
	Logs        string        `json:"logs"` // where to view them
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
	Size        heddle.Resource // told to its master
	Limit       heddle.Resource // enforced or accounted for by its node
	Suspended   bool            // its processors are lent to others
	Parked      bool            // its node keeps it from using what others want
	Frozen      heddle.Span     // … and from running at all, for at most so long; 0 for not frozen
	FrozenUntil int64           // milliseconds since 1970: when it runs again at the latest; 0 if it is not frozen
	Weight      int64           // milli-vcores: its weight on busy processors; 0 if it was not weighed
	Bound       int64           // most that it may use, in thousandths of a processor; 0 for no bound
	Unconfirmed bool            // its node has yet to confirm the limit
	Changed     int64           // milliseconds since 1970: last change of limit, parking or weight; 0 for none
	Policy      string          // policy that wanted it, as slot and name; "" if unknown
	Priority    int32
	Kind        heddle.Kind
	Created     int64
	Finished    int64
	Diagnostics string
	Exit        int32
	Complete    bool
	Running     bool   // seen running on its node
	Logs        string // where to view them
}

// Sized returns a word for how the container's limit differs from its size: shrunk, grown, or, if it has less of one
// resource and more of another, changed. It returns "" if they are equal.
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

// Row returns the container in the form in which it is sent and printed; extra names the cluster's further resources.
func (c *ContainerReport) Row(extra ...string) ContainerRow {
	return ContainerRow{
		ID: c.ID, App: c.ID.Attempt.App, User: c.User, Kind: c.Kind.String(), Running: c.Running, Created: c.Created,
		Size: AmountOf(c.Size, extra...), Limit: AmountOf(c.Limit, extra...), Sized: c.Sized(), Unconfirmed: c.Unconfirmed,
		Suspended: c.Suspended, Parked: c.Parked, Frozen: int64(c.Frozen / heddle.Millisecond), FrozenUntil: c.FrozenUntil,
		Weight: float64(c.Weight) / 1000, Bound: float64(c.Bound) / 1000, Changed: c.Changed, Policy: c.Policy,
	}
}

// A ContainerRow is the form in which a container on a node is sent and printed.
type ContainerRow struct {
	ID          ids.Container `json:"id"`
	App         ids.App       `json:"application"`
	User        string        `json:"user"`
	Kind        string        `json:"kind"`
	Running     bool          `json:"running"` // seen running on its node
	Created     int64         `json:"created_ms"`
	Size        Amount        `json:"size"`        // told to its master
	Limit       Amount        `json:"limit"`       // enforced or accounted for by its node
	Sized       string        `json:"sized"`       // see [ContainerReport.Sized]
	Unconfirmed bool          `json:"unconfirmed"` // its node has yet to confirm the limit
	Suspended   bool          `json:"suspended"`   // its processors are lent to others
	Parked      bool          `json:"parked"`      // its node keeps it from using what others want
	Frozen      int64         `json:"frozen_ms"`   // … and from running at all, for at most so long; 0 for not frozen
	FrozenUntil int64         `json:"frozen_until_ms"`
	Weight      float64       `json:"weight"`     // vcores: its weight on busy processors; 0 if it was not weighed
	Bound       float64       `json:"bound"`      // most processors that it may use; 0 for no bound
	Changed     int64         `json:"changed_ms"` // last change of limit, parking or weight; 0 for none
	Policy      string        `json:"policy"`     // policy that wanted it, as slot and name; "" if unknown
}

// NodeContainers is the form in which the containers on a node are sent and printed, by id.
type NodeContainers struct {
	List   []ContainerRow `json:"containers"`
	Masked int            `json:"masked,omitzero"` // number of further containers, of applications that the requester may not view
}

// LogsURL returns where the logs of a user's container can be viewed: at its NodeManager, whose web address is http,
// or, for an ended container, at a log server if there is one. It returns "" if neither is known.
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
	HTTP        string // web address (host:port)
	Rack        string
	State       string // NEW RUNNING UNHEALTHY DECOMMISSIONED LOST REBOOTED DECOMMISSIONING SHUTDOWN
	Version     string
	Health      string
	HealthAt    int64
	Can         heddle.Caps // what it can do to containers beside starting and ending them
	Total       heddle.Resource
	Physical    heddle.Resource // of the machine; zero if unknown
	Used        heddle.Resource
	Containers  int
	Utilization Utilization // of the node
	Aggregate   Utilization // of all its containers together
	BeatAt      int64       // last heartbeat
	BeatEvery   heddle.Span
	Agent       *AgentReport // nil for none
	Deadline    int64        // of a graceful decommission, milliseconds since 1970; 0 if there is none
}

// Beats reports whether the node's state is one in which it sends heartbeats: it has registered, and is not gone.
func (n *NodeReport) Beats() bool {
	return n.State == "RUNNING" || n.State == "UNHEALTHY" || n.State == "DECOMMISSIONING"
}

// A NodeRow is the form in which a NodeManager is sent and printed.
type NodeRow struct {
	ID         string    `json:"id"`
	Rack       string    `json:"rack"`
	State      string    `json:"state"`
	HTTP       string    `json:"http_address"`
	Version    string    `json:"version"`
	Health     string    `json:"health_report"`
	Reported   int64     `json:"reported_ms"` // time of its health report
	Containers int       `json:"containers"`
	Used       Amount    `json:"used"`
	Total      Amount    `json:"total"`
	Measured   Measured  `json:"measured"`
	OfTasks    Measured  `json:"measured_containers"`
	Labels     []string  `json:"labels"`
	Can        []string  `json:"can"`   // what it can do to containers beside starting and ending them, by the names of [heddle.Caps]
	Agent      *AgentRow `json:"agent"` // nil for none
}

// An AgentRow is the form in which a node's agent is sent and printed.
type AgentRow struct {
	Can    []string `json:"can"`    // what it adds to its node's capabilities, by the names of [heddle.Caps]
	Age    int64    `json:"age_ms"` // since it was last heard from
	Behind bool     `json:"behind"` // it has yet to do what it was told, or to be told
	Failed []string `json:"failed"` // what it could not do, as "container: why"
	// DiskBusy is how much of the time the node's disks were busy lately; below 0 if unknown or if no policy uses it.
	DiskBusy Fraction `json:"disk_busy_percent"`
	Masked   int      `json:"masked,omitzero"` // how many more it could not do, to containers of applications that the requester may not view
}

// Nodes is the form in which the nodes of a cluster are sent and printed, by id.
type Nodes struct {
	List []NodeRow `json:"nodes"`
}

// A Measured is a node's own measurement of its use.
type Measured struct {
	PhysicalMiB int64   `json:"physical_mib"`
	VirtualMiB  int64   `json:"virtual_mib"`
	Vcores      float64 `json:"vcores"` // to three decimals
}

// A Utilization is a measurement of a node's use.
type Utilization struct {
	Physical, Virtual int32   // MiB
	CPU               float32 // vcores
}

// FindQueue finds a queue by its path or by the last part of it; it returns nil if there is none or more than one.
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

// Leaves returns the paths of the leaf queues in and below a queue. If there are none it returns the queue's own path:
// no application is in it, while a filter by no queue at all would let all applications through.
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

// A QueueReport is the current state of a queue.
type QueueReport struct {
	QueueInfo
	ID           heddle.QueueID   `json:"-"`
	ParentPath   string           `json:"parent"`                // "" for the root
	UsedOfOwn    Fraction         `json:"used_capacity_percent"` // share of its own capacity; −1 if it has none
	UsedShare    Fraction         `json:"cluster_used_percent"`  // share of the cluster
	Used         Amount           `json:"used"`
	Reserved     Amount           `json:"reserved"`
	Pending      Amount           `json:"pending"`
	Masters      Amount           `json:"masters"` // part of Used that masters hold
	Containers   int              `json:"containers"`
	Reservations int              `json:"reservations"`
	Waiting      int              `json:"pending_containers"`
	Active       int              `json:"applications_running"`   // with a running master
	Inactive     int              `json:"applications_waiting"`   // waiting for one
	Submitted    int              `json:"applications_submitted"` // in total, like the next three
	Completed    int              `json:"applications_completed"`
	Killed       int              `json:"applications_killed"`
	Failed       int              `json:"applications_failed"`
	Children     []heddle.QueueID `json:"-"`
	Users        []UserReport     `json:"users"`
	Asking       int              `json:"-"` // applications that ask for containers
	AskingUsers  int              `json:"-"` // users of such applications, counted in each queue
}

// Queues is the form in which the queues of a cluster are sent and printed, the root first and parents before children.
type Queues struct {
	List []QueueReport `json:"queues"`
}

// A UserReport is a user's share of a queue.
type UserReport struct {
	Name     string `json:"name"`
	Used     Amount `json:"used"`
	Masters  Amount `json:"masters"`
	Active   int    `json:"applications_running"`
	Inactive int    `json:"applications_waiting"`
	Asking   int    `json:"-"` // applications that ask for containers
}

// A ClusterReport describes the cluster in figures.
type ClusterReport struct {
	ClusterID string
	Started   int64
	Profile   string
	Order     string // of the profile's lanes, by name
	Scheduler string // capacity or fair
	Minimum   heddle.Resource
	Maximum   heddle.Resource

	Off        []string // mechanisms of the profile that are off, as "what: why"
	MemoryOnly bool     // shares count only memory

	Submitted, Completed, PendingApps, RunningApps, FailedApps, KilledApps int
	Total, Used, Reserved, Pending                                         heddle.Resource
	Containers, Reservations, Waiting                                      int
	Utilized                                                               heddle.Resource // by everything that runs on the nodes

	Active, Lost, Unhealthy, Decommissioning, Decommissioned, Rebooted, Shutdown int
	New                                                                          int // nodes from before the restart that have not come back

	Steps       uint64 // events that the core processed
	Grants      uint64
	Updates     UpdateCounts
	Deeds       DeedCounts
	Agents      AgentCounts
	Agented     int                    // nodes that have a node agent
	Parked      int                    // containers that their nodes keep from using what others want
	Weighed     int                    // containers whose weight on busy processors is not that of their size
	Undone      [heddle.NumCaps]uint64 // what policies wanted done to containers but nodes cannot do, by capability
	BusyPercent float64                // part of the last seconds in which the loop was working
	Queue       int                    // calls waiting for the loop
	BeatEvery   heddle.Span            // heartbeat interval that nodes are told now
}

// UpdateCounts counts how often nodes were told to change a running container's size, or whether it yields to others,
// and what came of it. Repeated attempts count again.
type UpdateCounts struct {
	Sent      uint64
	Confirmed uint64 // the node accounts for the size
	Refused   uint64 // it kept another size, however often it was told
}

// An AppFilter selects applications; empty fields do not restrict.
type AppFilter struct {
	States       []AppState
	Final        FinalStatus
	Users        []string
	Queues       []string // full paths
	Types, Tags  []string
	Name         string
	StartedFrom  int64  // milliseconds since 1970, inclusive
	StartedTo    *int64 // likewise; nil for no bound
	FinishedFrom int64  // an application that is not over finished at 0
	FinishedTo   *int64
	Before       ids.App               // only those with lower ids; zero for no bound
	Sees         func(*AppReport) bool // lets through only applications for which it returns true; nil for all
	Limit        int                   // only so many, the newest; 0 for all
}
