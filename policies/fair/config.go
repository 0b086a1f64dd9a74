package fair

import (
	"slices"
	"strings"

	"heddle"
)

// A Config holds the settings of fair-scheduler.xml and yarn.scheduler.fair.*, with Hadoop's defaults filled in.
type Config struct {
	Queues []QueueConfig // parents before children; the first is root

	UpdateInterval       heddle.Span // 500 ms
	UpdatePhase          heddle.Span // how long after each multiple of the interval demand is updated
	AssignMultiple       bool        // false
	DynamicMaxAssign     bool        // true: at most half of what is free, when AssignMultiple
	MaxAssign            int         // −1
	NodeThreshold        float64     // locality.threshold.node, −1 = no wait
	RackThreshold        float64
	Continuous           bool        // delays count time instead of offers
	NodeDelay            heddle.Span // locality-delay-node-ms, −1
	RackDelay            heddle.Span
	SizeBasedWeight      bool
	ReservableNodes      float64 // 0.05
	ReservationThreshold int64   // reservation-threshold.increment-multiple, 2
	Increment            heddle.Resource
	Minimum              heddle.Resource
	Maximum              heddle.Resource
	UserMaxApps          map[string]int // 0 = unlimited, below 0 = none
	UserMaxAppsDefault   int            // the same

	// Placement, in order; empty = the defaults of the switches below.
	Rules              []Rule
	AllowUndeclared    bool // true
	UserAsDefaultQueue bool // true
}

// A QueueConfig is one queue.
type QueueConfig struct {
	Path        string // root.a.b
	Parent      int    // index into Queues; −1 for root
	Weight      float64
	Min         Amount
	Max         Amount
	MaxChild    Amount  // of queues that are created below it
	MaxApps     int     // 0 = unlimited, below 0 = none
	MaxAMShare  float64 // 0.5; −1 = off
	Policy      Policy
	MaxResource heddle.Resource // maxContainerAllocation; zero = the cluster's
	Own         []string        // those of maxRunningApps and maxAMShare that are set for this queue itself
}

// An Amount is a fixed resource or a percentage of the cluster, per dimension. An unset Amount means no bound for a
// maximum, and nothing for a minimum.
type Amount struct {
	Set      bool
	Fixed    heddle.Resource
	Fraction [heddle.NumDims]float64 // used instead of Fixed if > 0
}

// A Policy is how a queue shares among its children or applications.
type Policy uint8

// The policies of a queue.
const (
	FairShare Policy = iota
	DRF
	FIFO
)

// A Rule places an application into a queue.
type Rule struct {
	Name   string // specified, user, primaryGroup, secondaryGroupExistingQueue, nestedUserQueue, default, reject
	Create bool
	Queue  string // of default
	Nested *Rule
}

// SortQueues sorts the queues in the order in which Hadoop breaks ties, by path with parents first, and renumbers their
// parents.
func (c *Config) SortQueues() {
	old := make([]string, len(c.Queues))
	for i := range c.Queues {
		old[i] = c.Queues[i].Path
	}
	slices.SortFunc(c.Queues, func(a, b QueueConfig) int {
		return slices.Compare(strings.Split(a.Path, "."), strings.Split(b.Path, "."))
	})
	for i := range c.Queues {
		if p := c.Queues[i].Parent; p >= 0 {
			c.Queues[i].Parent = slices.IndexFunc(c.Queues, func(q QueueConfig) bool { return q.Path == old[p] })
		}
	}
}
