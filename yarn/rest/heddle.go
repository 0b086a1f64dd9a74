package rest

// A Why answers GET /ws/v1/heddle/apps/{id}/why, under the root "why": what an application waits for.
type Why struct {
	App     string    `json:"app"`
	Name    string    `json:"name"`
	User    string    `json:"user"`
	Queue   string    `json:"queue"`
	State   string    `json:"state"`
	Final   string    `json:"finalStatus"`
	Pending []WhyAsk  `json:"pending"`
	History []WhyPast `json:"history"` // the most frequent first
}

// A WhyAsk is containers that were asked for and are not there.
type WhyAsk struct {
	Priority int32      `json:"priority"`
	Kind     string     `json:"kind"` // am, map, reduce, …
	Count    int        `json:"count"`
	Since    int64      `json:"since"`
	Size     Amounts    `json:"size"`
	Why      string     `json:"why"`    // code
	Policy   string     `json:"policy"` // who says so, by slot and name as in the profile; "" where no policy does
	Text     string     `json:"text"`   // sentences
	Stock    string     `json:"stock"`  // what a stock ResourceManager says then; "" where it says nothing of the kind
	Limit    *WhyLimit  `json:"limit,omitempty"`
	Order    string     `json:"order"` // by what those who wait are in line, as policy
	Place    int        `json:"place"` // in that line, from 1; 0 where there is none
	Of       int        `json:"of"`    // … of so many
	Need     Amounts    `json:"need"`
	Have     Amounts    `json:"have"`
	Short    Amounts    `json:"short"`
	Holders  []Holder   `json:"holders"` // who holds what is missing, most first
	Nodes    []WhyNodes `json:"nodes"`   // nodes by the reason they were passed over
}

// A WhyLimit is the limit that a policy held an ask to. Of amounts the numbers are −1, of numbers the amounts 0.
type WhyLimit struct {
	What       string   `json:"what"` // what is limited: masters
	Of         string   `json:"of"`   // of whom or where
	Used       Amounts  `json:"used"`
	Most       Amounts  `json:"most"`
	UsedNumber int      `json:"usedNumber"`
	MostNumber int      `json:"mostNumber"`
	Least      bool     `json:"atLeast"` // there must be so many, where there else may be at most
	By         []string `json:"setBy"`   // properties and options, as "name = value"
	Note       string   `json:"note"`    // a sentence on what the figures do not say
}

// Amounts is an amount of resources in our own answers: MiB, milli-vcores, and others by name.
type Amounts struct {
	MemoryMB   int64   `json:"memoryMB"`
	MilliCores int64   `json:"milliVcores"`
	Extra      Entries `json:"extra,omitempty"`
}

// A Holder is an application that holds resources.
type Holder struct {
	App  string  `json:"app"`
	Name string  `json:"name"`
	User string  `json:"user"`
	Used Amounts `json:"used"`
}

// WhyNodes counts the nodes that were passed over for one reason.
type WhyNodes struct {
	Why    string  `json:"why"`
	Policy string  `json:"policy"`
	Nodes  int     `json:"nodes"`
	Most   Amounts `json:"mostFree"` // on the node of them that has the most
}

// A WhyPast counts how often a reason was given.
type WhyPast struct {
	Why   string `json:"why"`
	Times uint32 `json:"times"`
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
