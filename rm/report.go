package rm

import (
	"strings"

	"heddle"
	"heddle/yarn/ids"
)

// An AppReport is everything there is to tell about an application at one moment. Times are milliseconds
// since 1970, 0 for not yet.
type AppReport struct {
	ID       ids.App
	User     string
	Queue    string // full path
	Name     string
	Type     string
	Tags     []string
	Priority int32

	State       AppState
	Internal    string // the state machine's own state: FINAL_SAVING, FINISHING, KILLING too
	Final       FinalStatus
	Diagnostics string
	Progress    float32 // 0 to 1
	Submitted   int64   // by the client's call
	Started     int64   // taken in
	Launched    int64   // the first master's container
	Finished    int64

	Attempt      int32 // number of the current attempt, 0 before the first
	Host         string
	RPCPort      int32
	TrackingURL  string // what clients are sent to: the proxy, or the application's page here
	OriginalURL  string // what the master said; "" for nothing
	MasterNode   ids.Node
	MasterHTTP   string // host:port of the master's NodeManager's pages
	Master       ids.Container
	MasterSize   heddle.Resource // of a live master's container
	Live         bool            // there is an attempt that holds containers: the five below count
	Containers   int
	Reservations int
	Used         heddle.Resource
	Reserved     heddle.Resource
	Pending      heddle.Resource
	QueueShare   float32 // per cent of the queue's capacity in use by it
	ClusterShare float32 // per cent of the cluster

	MemorySeconds    int64 // MiB·s
	VcoreSeconds     int64
	PreemptedMemory  int64 // MiB·s
	PreemptedVcores  int64
	PreemptedWorkers int
	PreemptedMasters int

	// Viewers are who may look at it beside its owner and administrators, where access is checked: whom it names,
	// and those who administer its queue or one above.
	Viewers []ACL

	LogAggregation string // DISABLED, NOT_START, RUNNING, SUCCEEDED, FAILED, TIME_OUT, RUNNING_WITH_FAILURE
	Lifetime       int64  // when it is killed, milliseconds since 1970; 0 for never
	Requests       []RequestReport
}

// A RequestReport is one row of an application's request table.
type RequestReport struct {
	Priority  int32
	AllocID   int64
	Place     string // *, a rack or a host
	Size      heddle.Resource
	Count     int32
	Relax     bool
	Enforce   bool // the execution type must be what was asked for
	Guarantee bool // GUARANTEED; OPPORTUNISTIC otherwise
}

// An AttemptReport is one run of an application's master.
type AttemptReport struct {
	ID          ids.Attempt
	State       string // YARN's RMAppAttemptState
	Host        string
	RPCPort     int32
	TrackingURL string
	OriginalURL string
	Diagnostics string
	Master      ids.Container
	Node        ids.Node
	NodeHTTP    string
	User        string
	Started     int64
	Finished    int64
	Blacklisted []string
}

// A ContainerReport is one container.
type ContainerReport struct {
	ID          ids.Container
	Node        ids.Node
	NodeHTTP    string
	User        string
	Size        heddle.Resource
	Priority    int32
	Kind        heddle.Kind
	Created     int64
	Finished    int64
	Diagnostics string
	Exit        int32
	Complete    bool
	Running     bool // seen running on its node
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
	Total       heddle.Resource
	Physical    heddle.Resource // of the machine; zero where it does not say
	Used        heddle.Resource
	Containers  int
	Utilization Utilization // of the node
	Aggregate   Utilization // of its containers together
	Apps        []ids.App   // with containers on it
	BeatAt      int64       // last report
	BeatEvery   heddle.Span
	Deadline    int64 // of a graceful decommission, milliseconds since 1970; 0 for none
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

// Leaves are the paths of the leaf queues in and below a queue.
func Leaves(queues []QueueReport, q *QueueReport) []string {
	var out []string
	for i := range queues {
		if p := queues[i].Path; queues[i].Leaf && (p == q.Path || strings.HasPrefix(p, q.Path+".")) {
			out = append(out, p)
		}
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

	Submitted, Completed, PendingApps, RunningApps, FailedApps, KilledApps int
	Total, Used, Reserved, Pending                                         heddle.Resource
	Containers, Reservations, Waiting                                      int
	Utilized                                                               Utilization // sum over nodes

	Active, Lost, Unhealthy, Decommissioning, Decommissioned, Rebooted, Shutdown int

	Steps       uint64 // events the core took
	Grants      uint64
	BusyPercent float64     // of the last seconds the loop was working
	Queue       int         // calls waiting for the loop
	BeatEvery   heddle.Span // what nodes are told now
}

// An AppFilter says which applications are wanted; what is empty does not restrict.
type AppFilter struct {
	States        []AppState
	Final         FinalStatus
	Users, Queues []string
	Types, Tags   []string
	Name          string
	StartedFrom   int64 // milliseconds since 1970, inclusive; 0 for no bound
	StartedTo     int64
	FinishedFrom  int64
	FinishedTo    int64
	Limit         int // the newest so many; 0 for all
}
