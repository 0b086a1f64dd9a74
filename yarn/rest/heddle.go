package rest

// Amounts is an amount of resources in our own answers: MiB, milli-vcores, and others by name.
type Amounts struct {
	MemoryMB   int64   `json:"memoryMB"`
	MilliCores int64   `json:"milliVcores"`
	Extra      Entries `json:"extra,omitempty"`
}

// Queues answers GET /ws/v1/heddle/queues, under the root "queues": root first, parents before children.
type Queues struct {
	List []Queue `json:"queue"`
}

// A Queue is a queue, whatever the scheduler.
type Queue struct {
	Path         string      `json:"path"`
	Parent       string      `json:"parent"` // "" of the root
	Leaf         bool        `json:"leaf"`
	State        string      `json:"state"`    // RUNNING or STOPPED
	Capacity     float64     `json:"capacity"` // fractions of the parent, as the next
	Max          float64     `json:"maxCapacity"`
	Absolute     float64     `json:"absoluteCapacity"` // fractions of the cluster, as the next
	AbsoluteMax  float64     `json:"absoluteMaxCapacity"`
	Weight       float64     `json:"weight"` // −1 for a queue with a capacity
	MaxApps      int         `json:"maxApplications"`
	AMShare      float64     `json:"amShare"`
	UserLimit    float64     `json:"userLimitPercent"`
	UserFactor   float64     `json:"userLimitFactor"`
	Order        string      `json:"order"`           // that serves: the profile's
	Configured   string      `json:"configuredOrder"` // what the queue's configuration says
	Preemptable  bool        `json:"preemptable"`
	UsedShare    float64     `json:"usedShare"` // of the cluster, 0 to 1
	Used         Amounts     `json:"used"`
	Reserved     Amounts     `json:"reserved"`
	Masters      Amounts     `json:"masters"`
	Pending      Amounts     `json:"pending"`
	Containers   int         `json:"containers"`
	Reservations int         `json:"reservations"`
	Waiting      int         `json:"waitingContainers"`
	Active       int         `json:"activeApplications"`
	Inactive     int         `json:"pendingApplications"`
	Submitted    int         `json:"submitted"`
	Completed    int         `json:"completed"`
	Killed       int         `json:"killed"`
	Failed       int         `json:"failed"`
	Users        []QueueUser `json:"users"`
}

// A QueueUser is a user's part of a [Queue].
type QueueUser struct {
	Name     string  `json:"name"`
	Used     Amounts `json:"used"`
	Masters  Amounts `json:"masters"`
	Active   int     `json:"activeApplications"`
	Inactive int     `json:"pendingApplications"`
}

// An Info answers GET /ws/v1/heddle/info, under the root "info".
type Info struct {
	Version     string   `json:"version"`
	ClusterID   string   `json:"clusterId"`
	Started     int64    `json:"started"`
	Ready       bool     `json:"ready"`
	Profile     string   `json:"profile"`
	Order       string   `json:"order"`     // of the profile's lanes
	Scheduler   string   `json:"scheduler"` // capacity or fair: the shape of the queues
	Off         []string `json:"off"`       // mechanisms of the profile that are off, as "what: why"
	Steps       uint64   `json:"steps"`     // events the scheduler took
	Grants      uint64   `json:"grants"`
	BusyPercent float64  `json:"busyPercent"`
	Queue       int      `json:"callsWaiting"`
	BeatMillis  int64    `json:"heartbeatMillis"` // what nodes are told now
	// ClientAddress is where the protocol of YARN's clients is served, host:port as the daemon listens.
	ClientAddress string `json:"clientAddress,omitempty"`
	RESTChanges   bool   `json:"restChanges"` // changes of the one who asks this are taken over REST
}
