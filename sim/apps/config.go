package apps

import (
	"math/rand/v2"

	"heddle"
)

// Config is what a master is told besides its job. The zero value of a field means its default; the defaults are those
// of Hadoop 3.4 and Spark 3.5.
type Config struct {
	// Rack is the rack of each node, by node; nodes beyond its end have none.
	Rack []heddle.RackID

	// Hosts returns the nodes that hold the input of a piece of work, by its Kind, Stage and Index. If it is nil or
	// returns nil, nothing is known: such work is asked for anywhere.
	Hosts func(w Work) []heddle.NodeID

	// Submitted is when the application was submitted. The load simulator's heartbeats are at whole intervals after it;
	// a Spark driver outside the cluster started then.
	Submitted heddle.Time

	// StartUp is how long the master takes to register once its process is running.
	StartUp heddle.Span

	// HeartbeatInterval is the time between allocate calls of MapReduce and of the load simulator; 0 = 1 s. Spark has
	// its own two intervals: 0.2 s, doubling up to 3 s.
	HeartbeatInterval heddle.Span

	// MasterAttempt is 0 for an application's first master. MapReduce numbers its task attempts from 1000 times this
	// number.
	MasterAttempt int32

	// MaxAttempts is how many failures of one task end the job; 0 = 4. Attempts that were killed do not count.
	MaxAttempts int

	// For MapReduce and the load simulator.

	MapSize, ReduceSize heddle.Resource // of tasks that state no size; zero = 1024 MiB, 1 vcore

	// SlowStart is the fraction of maps that must be done before reduces are asked for, if the job states none;
	// 0 = 0.05.
	SlowStart float64

	RampUpLimit float64 // largest fraction of the job's resources that reduces are ramped up to; 0 = 0.5

	// PreemptDelay is how long a map must have waited without room before reduces are killed for it; 0 = at once.
	// UnconditionalPreempt is the same regardless of the headroom; 0 = 300 s, negative = never.
	PreemptDelay, UnconditionalPreempt heddle.Span

	// CountCPU says that the scheduler counts vcores, so that headroom is compared in both dimensions and not in memory
	// alone.
	CountCPU bool

	// AllReducesAtOnce makes the master ask for all reduces together with its maps and never take them back, as masters
	// of slot clusters do: a policy's gate then decides when they start.
	AllReducesAtOnce bool

	// Progress returns the progress of a running reduce, from 0 to 1: the reduce with the least progress is preempted
	// first. Nil = the one launched last.
	Progress func(w Work) float64

	// Done is what an earlier master of the job finished; nil = nothing. See [Recoverer].
	Done *Done

	// For Spark.

	// PreferInput makes an application without dynamic allocation ask for its executors near the input of its first
	// stages. Stock Spark does that only with dynamic allocation.
	PreferInput bool

	// Cached returns the executor that has the input of a task in memory, for a stage that reads a cache; 0 if none has
	// it. Nil = the executor that ran the task that produced it.
	Cached func(w Work) heddle.ContainerID

	// Rand shuffles the executors before tasks are offered to all of them; nil = in order of registration.
	Rand *rand.Rand
}

const (
	defaultInterval      = heddle.Second
	defaultSlowStart     = 0.05
	defaultRampUpLimit   = 0.5
	defaultUnconditional = 300 * heddle.Second
	defaultMaxAttempts   = 4
)

// filled returns c with its defaults filled in.
func (c Config) filled() Config {
	size := heddle.Of(1024, 1000)
	if c.HeartbeatInterval <= 0 {
		c.HeartbeatInterval = defaultInterval
	}
	if c.MapSize.IsZero() {
		c.MapSize = size
	}
	if c.ReduceSize.IsZero() {
		c.ReduceSize = size
	}
	if c.SlowStart <= 0 {
		c.SlowStart = defaultSlowStart
	}
	if c.RampUpLimit <= 0 {
		c.RampUpLimit = defaultRampUpLimit
	}
	if c.UnconditionalPreempt == 0 {
		c.UnconditionalPreempt = defaultUnconditional
	}
	if c.MaxAttempts <= 0 {
		c.MaxAttempts = defaultMaxAttempts
	}
	return c
}

// hosts returns where the input of a piece of work is.
func (c *Config) hosts(w Work) []heddle.NodeID {
	if c.Hosts == nil {
		return nil
	}
	return c.Hosts(w)
}

// rack returns the rack of a node, or NoRack if it is not known.
func (c *Config) rack(n heddle.NodeID) heddle.RackID {
	if n < 0 || int(n) >= len(c.Rack) {
		return heddle.NoRack
	}
	return c.Rack[n]
}

// racks appends the distinct racks of hosts to dst.
func (c *Config) racks(dst []heddle.RackID, hosts []heddle.NodeID) []heddle.RackID {
next:
	for _, h := range hosts {
		r := c.rack(h)
		if r == heddle.NoRack {
			continue
		}
		for _, o := range dst {
			if o == r {
				continue next
			}
		}
		dst = append(dst, r)
	}
	return dst
}
