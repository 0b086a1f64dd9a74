package rm

import (
	"strings"

	"heddle"
	"heddle/policy"
)

// A Config is what a machine is told beside its scheduler. Every field has YARN's property in its comment.
type Config struct {
	ClusterID string // yarn.resourcemanager.cluster-id; shown in reports, "" for the start time
	// WebHost is host:port as clients reach the web pages, for tracking URLs.
	WebHost string

	NodeExpiry      heddle.Span // yarn.nm.liveness-monitor.expiry-interval-ms
	MasterExpiry    heddle.Span // yarn.am.liveness-monitor.expiry-interval-ms
	ContainerExpiry heddle.Span // yarn.resourcemanager.rm.container-allocation.expiry-interval-ms
	KeyRolling      heddle.Span // yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs
	NodeKeyRolling  heddle.Span // yarn.resourcemanager.container-tokens.…, nm-tokens.master-key-rolling-interval-secs: the shorter
	MaxAttempts     int32       // yarn.resourcemanager.am.max-attempts: of applications that do not say
	GlobalAttempts  int32       // yarn.resourcemanager.am.global.max-attempts: none has more
	MaxCompleted    int         // yarn.resourcemanager.max-completed-applications kept
	MaxPriority     int32       // yarn.cluster.max-application-priority
	SchedulingWait  heddle.Span // yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms
	WorkPreserving  bool        // yarn.resourcemanager.work-preserving-recovery.enabled
	ACLs            bool        // yarn.acl.enable
	Admins          ACL         // yarn.admin.acl
	Owner           string      // the user it runs as, who may do what Admins may; "" for nobody
	LogAggregation  bool        // yarn.log-aggregation-enable: nodes collect logs, and say how far they are
	LogServer       string      // yarn.log.server.url: where logs of ended containers are shown; "" for their NodeManagers
	ExtraResources  []string    // names of the resources counted in heddle.Extra1 and Extra2
	PortInNodeName  bool        // yarn.scheduler.include-port-in-node-name

	// How much one caller may have, and all of them; 0 for no limit.
	NodesPer  int // NodeManagers that registered from one address and are on no list of hosts
	AppsPer   int // applications of a user that are not over
	StoredPer int // bytes of a user's submissions that are not over
	Stored    int // bytes of all users' submissions that are not over

	// How often nodes report in. The ResourceManager sets it: Beat while nothing waits or runs short
	// (yarn.resourcemanager.nodemanagers.heartbeat-interval-ms), as fast as FastBeat while something does,
	// as slow as IdleBeat while the cluster is empty, and never more than BeatLoad reports a second in all.
	Beat, FastBeat, IdleBeat heddle.Span
	BeatLoad                 int

	// Silence is for how long a node may not report before nothing more starts there; three times as long as it was told
	// to wait, where that is longer. 0: until it is lost.
	Silence heddle.Span

	// Stock has everything happen when it does under a stock ResourceManager: nothing is given away for what is asked
	// for before nodes report in, a call is answered by what was decided before it, containers that its master did not
	// know of as it asked are not taken off what it asks for, what it asks for stands until it is gone, and nodes report
	// in every Beat.
	Stock bool
	// Agent says that the shell, which watches, has nodes carry out at once what is to be done to running containers, and
	// tells by itself how far tasks are: nobody is asked.
	Agent bool
	// AskNobody says that no master is asked how far its tasks are, and what they use.
	AskNobody bool
	// ReadJobs says that what clients leave beside their submissions is read before these go to the scheduler.
	ReadJobs bool
}

// How often nodes report in where nothing says otherwise. defaultBeatLoad is what YARN's own interval comes to with
// so many nodes: a larger cluster reports less often.
const (
	defaultFastBeat = 100 * heddle.Millisecond
	defaultIdleBeat = 2 * heddle.Second
	defaultBeatLoad = 5000
)

// DefaultSilence is what [Config].Silence is where nodes report by themselves.
const DefaultSilence = 10 * heddle.Second

// DefaultBeats sets FastBeat, IdleBeat and BeatLoad to what they are where nothing says otherwise, beside a Beat.
func (c *Config) DefaultBeats() {
	c.FastBeat, c.IdleBeat, c.BeatLoad = min(defaultFastBeat, c.Beat), max(defaultIdleBeat, c.Beat), defaultBeatLoad
}

// A Scheduler is a policy set, the queues it was built for, and who goes where.
type Scheduler struct {
	Set policy.Set
	// Type is the shape in which the queues are shown: "capacity" or "fair".
	Type    string
	Profile string
	Order   string      // of the profile's lanes, by name: shortest; or each with its kinds
	Off     []string    // mechanisms of the profile that need a node agent, as "what: why"
	Queues  []QueueInfo // by QueueID
	Minimum heddle.Resource
	Maximum heddle.Resource
	// Place says which leaf an application goes to: its path in Queues, or one for Rebuild, or an error for the user.
	Place func(Placement) (queue string, err error)
	// Rebuild returns the scheduler new, as it was configured, and with those of these leaves that placement rules
	// can create. Where it is nil there are no such queues, and nothing is numbered anew.
	Rebuild func(leaves []string) (*Scheduler, error)
	// Groups are a user's groups, the primary one first; none for somebody this machine does not know. Access
	// lists ask it. It may be called from everywhere.
	Groups func(user string) []string
	// UserName is told the name of every user, in the order of UserIDs, before the user's first application.
	UserName func(id heddle.UserID, name string)
}

// Numbers are the queues' numbers by path.
func (s *Scheduler) Numbers() map[string]heddle.QueueID {
	ids := make(map[string]heddle.QueueID, len(s.Queues))
	for i := range s.Queues {
		ids[s.Queues[i].Path] = heddle.QueueID(i)
	}
	return ids
}

// A Placement is what placement rules look at.
type Placement struct {
	User  string
	Queue string // as submitted; "default" where nothing was said
	Tags  []string
	Name  string
}

// A QueueState says whether a queue takes applications, by YARN's names.
type QueueState string

// The states of a queue.
const (
	QueueRunning QueueState = "RUNNING"
	QueueStopped QueueState = "STOPPED" // those in it go on
)

// A QueueInfo is a queue as it was configured. Fractions are of the parent's or the cluster's capacity.
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
	AMShare      Fraction        `json:"max_am_share_percent"`         // of the queue for masters; below 0 for no limit
	UserLimit    float64         `json:"user_limit_percent"`           // a user is guaranteed while others want their share
	UserFactor   float64         `json:"user_limit_factor"`            // of the queue's capacity that a user may have; −1: no limit
	Order        string          `json:"order"`                        // in which applications, or the queues below, are served: shortest, fifo, …
	Configured   string          `json:"configured_order"`             // … and what the configuration says of it, for answers in stock's shapes: fifo, fair, drf, …
	Preemptable  bool            `json:"preemptable"`
	MinShare     heddle.Resource `json:"-"` // of a fair queue, or the capacity of one that has an amount; zero for none
	MaxShare     heddle.Resource `json:"-"` // likewise; heddle.Unbounded for none
	SubmitACL    string          `json:"-"` // users, a blank, groups, with commas between; "*" for everybody. A right holds below too
	AdminACL     string          `json:"-"` // likewise
	Largest      heddle.Resource `json:"-"` // container; zero: the cluster's
	Priority     int32           `json:"-"` // of applications that name none
	DefaultLabel string          `json:"-"`

	// MinParts and MaxParts are of a fair queue: where they are above 0, MinShare and MaxShare are such parts of the cluster.
	MinParts Parts `json:"-"`
	MaxParts Parts `json:"-"`

	// Amounts says that MinShare or MaxShare is of a queue with a capacity. What they come to in the cluster as it is, is told in reports:
	// the parts above, MaxApps, and what the queue is guaranteed and may have at most.
	Amounts     bool            `json:"-"`
	AppsOfAll   int             `json:"-"` // of one without a number of its own: what a queue as large as the cluster takes
	Least, Most heddle.Resource `json:"-"` // see [QueueInfo.Guaranteed] and [QueueInfo.Ceiling]
}

// Name is the last part of the queue's path.
func (q *QueueInfo) Name() string { return q.Path[strings.LastIndexByte(q.Path, '.')+1:] }

// Parts are parts of the cluster, 0 to 1, of each resource.
type Parts [heddle.NumDims]float64

// of is an amount with those parts of total in it.
func (p Parts) of(total, a heddle.Resource) heddle.Resource {
	for d, part := range p {
		if part > 0 {
			a[d] = int64(float64(total[d]) * part)
		}
	}
	return a
}

// Bounds are MinShare and MaxShare where the cluster has so much, which is the most there can be.
func (q *QueueInfo) Bounds(total heddle.Resource) (least, most heddle.Resource) {
	return q.MinParts.of(total, q.MinShare), q.MaxParts.of(total, q.MaxShare).Min(total)
}

// Guaranteed is what the queue is guaranteed where the cluster has so much.
func (q *QueueInfo) Guaranteed(total heddle.Resource) heddle.Resource {
	if q.Amounts {
		return q.Least
	}
	return q.Absolute.Of(total)
}

// Ceiling is what the queue may have at most where the cluster has so much.
func (q *QueueInfo) Ceiling(total heddle.Resource) heddle.Resource {
	if q.Amounts {
		return q.Most
	}
	return q.AbsoluteMax.Of(total)
}

// GivenAs is the amounts that the configuration gives as the queue's capacity and as its maximum, zero for none.
func (q *QueueInfo) GivenAs() (least, most heddle.Resource) {
	if !q.Amounts {
		return least, most
	}
	if q.MaxShare != heddle.Unbounded {
		most = q.MaxShare
	}
	return q.MinShare, most
}

// LargestOf is the largest container of the queue where the cluster's is most.
func (q *QueueInfo) LargestOf(most heddle.Resource) heddle.Resource {
	if q.Largest.IsZero() {
		return most
	}
	return most.Min(q.Largest)
}
