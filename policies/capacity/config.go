package capacity

import "heddle"

// A Config holds the settings of capacity-scheduler.xml, with Hadoop's defaults filled in.
type Config struct {
	Queues []QueueConfig // parents before children; the first is root

	MemoryOnly                bool // DefaultResourceCalculator; false = DominantResourceCalculator
	NodeLocalityDelay         int  // 40; ≤ 0 disables the wait for a node
	RackLocalityAdditional    int  // −1
	RackLocalityFullReset     bool // true
	ContinueLooking           bool // reservations-continue-look-all-nodes, true
	MultipleAssignments       bool // true
	MaxAssignments            int  // 100; −1 = no limit
	MaxOffSwitch              int  // 1
	MaxApplications           int  // 10000, of the whole system
	GlobalQueueMaxApplication int  // −1 = unset
	Minimum                   heddle.Resource
	Maximum                   heddle.Resource
}

// A QueueConfig is one queue. Fractions are 0–1 of the parent.
type QueueConfig struct {
	Path   string // root.a.b
	Parent int    // index into Queues; −1 for root

	// Capacity is the guaranteed share of the parent, as a fraction. With Weight > 0 the parent's share is divided by
	// weight instead; with a non-zero Absolute the guarantee is that amount.
	Capacity float64
	Weight   float64
	Absolute heddle.Resource

	MaxCapacity float64 // fraction of the parent's maximum, 1
	MaxAbsolute heddle.Resource

	MinimumUserLimit float64 // 1 = 100 %
	UserLimitFactor  float64 // 1; −1 = no factor limit
	UserWeights      map[string]float64
	MaxAMShare       float64 // 0.1
	MaxApplications  int     // −1 = derived; 0 accepts none
	MaxParallelApps  int     // 0 = unlimited
	Fair             bool    // leaf ordering-policy fair instead of fifo
	SizeBasedWeight  bool
	Priority         int32
	ByPriority       bool // parent ordering-policy priority-utilization
	DefaultPriority  int32
	Stopped          bool
	Maximum          heddle.Resource // largest container; zero = the cluster's

	Own []string // the properties set for this queue itself, of those that can be set for all queues at once
}

// MostApps returns how many applications a leaf accepts; abs is its part of the cluster. It is the leaf's own number,
// even if 0, else the number for all queues, else its part of the system's number. For a queue given as an amount, the
// number for all queues is divided too.
func (c *Config) MostApps(q *QueueConfig, abs float32) int {
	if q.MaxApplications >= 0 {
		return q.MaxApplications
	}
	most := c.MaxApplications
	if c.GlobalQueueMaxApplication > 0 {
		if most = min(most, c.GlobalQueueMaxApplication); q.Absolute.IsZero() {
			return most
		}
	}
	return int(float32(most) * abs)
}
