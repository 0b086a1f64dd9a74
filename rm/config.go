package rm

import (
	"math"
	"strings"

	"heddle"
	"heddle/policy"
)

// A Config configures a machine, apart from its scheduler. Each field's comment names YARN's property.
type Config struct {
	ClusterID string // yarn.resourcemanager.cluster-id; shown in reports, "" for the start time
	// WebHost is the host:port at which clients reach the web pages, for tracking URLs.
	WebHost string
	// WebProxy is the host:port of another proxy to masters' pages, yarn.web-proxy.address; "" for the one at WebHost.
	WebProxy string

	NodeExpiry      heddle.Span // yarn.nm.liveness-monitor.expiry-interval-ms
	MasterExpiry    heddle.Span // yarn.am.liveness-monitor.expiry-interval-ms
	ContainerExpiry heddle.Span // yarn.resourcemanager.rm.container-allocation.expiry-interval-ms
	KeyRolling      heddle.Span // yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs
	NodeKeyRolling  heddle.Span // yarn.resourcemanager.container-tokens.…, nm-tokens.master-key-rolling-interval-secs: the shorter
	MaxAttempts     int32       // yarn.resourcemanager.am.max-attempts: for applications that do not say
	GlobalAttempts  int32       // yarn.resourcemanager.am.global.max-attempts: the most any application may have
	MaxCompleted    int         // yarn.resourcemanager.max-completed-applications kept
	MaxPriority     int32       // yarn.cluster.max-application-priority
	MaxTags         int         // yarn.resourcemanager.application.max-tags of one application
	MaxTagLength    int         // yarn.resourcemanager.application.max-tag.length in bytes
	SchedulingWait  heddle.Span // yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms
	WorkPreserving  bool        // yarn.resourcemanager.work-preserving-recovery.enabled
	ACLs            bool        // yarn.acl.enable
	Admins          ACL         // yarn.admin.acl
	Owner           string      // the user it runs as, who may do what Admins may; "" for nobody
	LogAggregation  bool        // yarn.log-aggregation-enable: nodes collect logs and report their progress
	LogServer       string      // yarn.log.server.url: where logs of ended containers are shown; "" for their NodeManagers
	ExtraResources  []string    // names of the resources counted in heddle.Extra1 and Extra2
	ExtraUnits      []string    // theirs: yarn.resource-types.….units
	PortInNodeName  bool        // yarn.scheduler.include-port-in-node-name

	// Limits for one caller, and for all; 0 for no limit.
	NodesPer  int // NodeManagers that registered from one address and are on no host list
	AppsPer   int // unfinished applications of a user
	StoredPer int // bytes of a user's unfinished submissions
	Stored    int // bytes of all users' unfinished submissions

	// The heartbeat intervals of nodes. The ResourceManager sets each node's: Beat while nothing waits or runs short
	// (yarn.resourcemanager.nodemanagers.heartbeat-interval-ms), down to FastBeat while something does, up to IdleBeat
	// while the cluster is empty, and never more than BeatLoad heartbeats a second in total.
	Beat, FastBeat, IdleBeat heddle.Span
	BeatLoad                 int

	// Silence is how long a node may miss its heartbeats before nothing more starts there, or three times its heartbeat
	// interval if that is longer. 0: until it is lost.
	Silence heddle.Span
	// Keyed says that nodes check tokens with keys that they get in the answer to their registration: nothing starts on
	// a node before its first heartbeat after that, since only then is it known to have them.
	Keyed bool

	// Stock makes everything happen when it does under a stock ResourceManager: requests are granted only as nodes
	// report, a call is answered with what was decided before it, containers that the master did not know of when it
	// asked are not subtracted from what it asks for, its requests stand until it is gone, and nodes report every Beat.
	Stock bool
	// Agent says that the shell watches decisions, has nodes act on running containers at once, and reports the
	// progress of tasks itself: no master is asked.
	Agent bool
	// AskNobody says that masters are not asked how far their tasks are or what they use.
	AskNobody bool
	// ReadJobs says that what clients leave beside a submission is read before the scheduler gets the application.
	ReadJobs bool
}

// Default heartbeat intervals. defaultBeatLoad is what YARN's own interval amounts to with so many nodes: in a larger
// cluster each node reports less often.
const (
	defaultFastBeat = 100 * heddle.Millisecond
	defaultIdleBeat = 2 * heddle.Second
	defaultBeatLoad = 5000
)

// DefaultSilence is the default of [Config].Silence if nodes report by themselves.
const DefaultSilence = 10 * heddle.Second

// DefaultBeats sets FastBeat, IdleBeat and BeatLoad to their defaults for the given Beat.
func (c *Config) DefaultBeats() {
	c.FastBeat, c.IdleBeat, c.BeatLoad = min(defaultFastBeat, c.Beat), max(defaultIdleBeat, c.Beat), defaultBeatLoad
}

// A Scheduler is a policy set, the queues it was built for, and the placement of applications.
type Scheduler struct {
	Set policy.Set
	// Type is the form in which the queues are shown: "capacity" or "fair".
	Type    string
	Profile string
	Order   string      // of the profile's lanes, by name: shortest; or each order with its kinds
	Off     []string    // mechanisms of the profile that need a node agent, as "what: why"
	Queues  []QueueInfo // by QueueID
	Minimum heddle.Resource
	Maximum heddle.Resource
	// Place chooses an application's leaf: its path in Queues or one to pass to Rebuild, or an error for the user. If it
	// depends on groups, an error of Groups is returned as it is.
	Place func(Placement) (queue string, err error)
	// Rebuild returns the scheduler as configured, with those of the given leaves that placement rules can create. If
	// it is nil, there are no such queues and queue numbers never change.
	Rebuild func(leaves []string) (*Scheduler, error)
	// Groups returns a user's groups, the primary one first; none for a user unknown on this host. The error says that
	// they are not known now. Access lists use it. It may be called from any goroutine.
	Groups func(user string) ([]string, error)
	// ForgetGroups has Groups look every user up again; nil if it remembers nobody. It may be called from any goroutine.
	ForgetGroups func()
	// UserName is called with each user's name, in the order of UserIDs, before the user's first application.
	UserName func(id heddle.UserID, name string)
}

// Numbers returns the queues' numbers by path.
func (s *Scheduler) Numbers() map[string]heddle.QueueID {
	ids := make(map[string]heddle.QueueID, len(s.Queues))
	for i := range s.Queues {
		ids[s.Queues[i].Path] = heddle.QueueID(i)
	}
	return ids
}

// A Placement is the input of placement rules.
type Placement struct {
	User  string
	Queue string // as submitted; "default" if none was given
	Tags  []string
	Name  string
}

// A QueueState says whether a queue accepts applications, in YARN's terms.
type QueueState string

// The states of a queue.
const (
	QueueRunning QueueState = "RUNNING"
	QueueStopped QueueState = "STOPPED" // its applications continue
)

// A QueueInfo is a configured queue. Fractions are of the parent's or the cluster's capacity.
type QueueInfo struct {
	Path         string          `json:"path"` // from the root down: root.a.b
	Parent       heddle.QueueID  `json:"-"`
	Leaf         bool            `json:"leaf"`
	State        QueueState      `json:"state"`
	Capacity     Fraction        `json:"capacity_percent"`             // of the parent
	Max          Fraction        `json:"max_capacity_percent"`         // of the parent
	Absolute     Fraction        `json:"cluster_capacity_percent"`     // of the cluster
	AbsoluteMax  Fraction        `json:"cluster_max_capacity_percent"` // of the cluster
	Weight       float64         `json:"weight"`                       // of a fair queue; −1 for one with a capacity
	MaxApps      int             `json:"max_applications"`             // −1: no limit
	AMShare      Fraction        `json:"max_am_share_percent"`         // share of the queue for masters; below 0 for no limit
	UserLimit    float64         `json:"user_limit_percent"`           // guaranteed to a user while others want their share
	UserFactor   float64         `json:"user_limit_factor"`            // multiple of the queue's capacity that a user may have; −1: no limit
	Order        string          `json:"order"`                        // in which applications, or the queues below, are served: shortest, fifo, …
	Configured   string          `json:"configured_order"`             // as configured, for answers in stock's format: fifo, fair, drf, …
	Preemptable  bool            `json:"preemptable"`
	MinShare     heddle.Resource `json:"-"` // of a fair queue, or the capacity of a queue that is given as an amount; zero for none
	MaxShare     heddle.Resource `json:"-"` // likewise; heddle.Unbounded for none
	SubmitACL    string          `json:"-"` // users, a blank, groups, comma-separated; "*" for everybody. A right also holds below
	AdminACL     string          `json:"-"` // likewise
	Largest      heddle.Resource `json:"-"` // largest container; zero: the cluster's
	Priority     int32           `json:"-"` // of applications that give none
	DefaultLabel string          `json:"-"`
	MaxRunning   int             `json:"-"` // applications that may run at a time in it and below; 0: no limit

	// MinParts and MaxParts apply to fair queues: if above 0, MinShare and MaxShare are these parts of the cluster.
	MinParts Parts `json:"-"`
	MaxParts Parts `json:"-"`

	// Amounts says that MinShare or MaxShare belong to a queue whose capacity is given as an amount. Reports work out
	// what they come to in the current cluster: the fractions above, MaxApps, and the queue's guarantee and ceiling.
	Amounts     bool            `json:"-"`
	AppsOfAll   int             `json:"-"` // if the queue sets no limit itself: applications in a queue as large as the cluster
	Least, Most heddle.Resource `json:"-"` // see [QueueInfo.Guaranteed] and [QueueInfo.Ceiling]
}

// Name returns the last part of the queue's path.
func (q *QueueInfo) Name() string { return q.Path[strings.LastIndexByte(q.Path, '.')+1:] }

// ParallelApps returns MaxRunning in YARN's terms, in which no limit is Java's largest int.
func (q *QueueInfo) ParallelApps() int32 {
	if q.MaxRunning == 0 {
		return math.MaxInt32
	}
	return int32(min(q.MaxRunning, math.MaxInt32))
}

// Parts are fractions of the cluster, 0 to 1, for each resource.
type Parts [heddle.NumDims]float64

// of returns a with its fractional parts set from total.
func (p Parts) of(total, a heddle.Resource) heddle.Resource {
	for d, part := range p {
		if part > 0 {
			a[d] = int64(float64(total[d]) * part)
		}
	}
	return a
}

// Bounds returns MinShare and MaxShare in a cluster of this size, which also limits MaxShare.
func (q *QueueInfo) Bounds(total heddle.Resource) (least, most heddle.Resource) {
	return q.MinParts.of(total, q.MinShare), q.MaxParts.of(total, q.MaxShare).Min(total)
}

// Guaranteed returns the queue's guarantee in a cluster of this size.
func (q *QueueInfo) Guaranteed(total heddle.Resource) heddle.Resource {
	if q.Amounts {
		return q.Least
	}
	return q.Absolute.Of(total)
}

// Ceiling returns the most that the queue may have in a cluster of this size.
func (q *QueueInfo) Ceiling(total heddle.Resource) heddle.Resource {
	if q.Amounts {
		return q.Most
	}
	return q.AbsoluteMax.Of(total)
}

// GivenAs returns the amounts configured as the queue's capacity and maximum, zero for none.
func (q *QueueInfo) GivenAs() (least, most heddle.Resource) {
	if !q.Amounts {
		return least, most
	}
	if q.MaxShare != heddle.Unbounded {
		most = q.MaxShare
	}
	return q.MinShare, most
}

// LargestOf returns the largest container of the queue, given the cluster's.
func (q *QueueInfo) LargestOf(most heddle.Resource) heddle.Resource {
	if q.Largest.IsZero() {
		return most
	}
	return most.Min(q.Largest)
}
