// Package heddle is the vocabulary of every other package: resources, times, ids, what happens ([Event]), what is to be
// done about it ([Decision]) and why something was refused ([Why]).
//
// It knows nothing of clusters, policies or clocks, and imports no other package of the project.
package heddle

// Time is nanoseconds since the run began; only drivers know the calendar date.
type Time int64

// Span is a length of time in nanoseconds.
type Span int64

// Common spans.
const (
	Millisecond Span = 1e6
	Second      Span = 1e9
	Minute           = 60 * Second
	Hour             = 60 * Minute
)

// Plus returns the time s after t.
func (t Time) Plus(s Span) Time { return t + Time(s) }

// Since returns the span from o to t.
func (t Time) Since(o Time) Span { return Span(t - o) }

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / 1e9 }

// Seconds returns s in seconds.
func (s Span) Seconds() float64 { return float64(s) / 1e9 }

// Seconds returns the span of s seconds, rounded to the nanosecond.
func Seconds(s float64) Span { return Span(s*1e9 + 0.5) }

// The ids are dense and serve as slice indices; names live in the drivers. A constant No… means none.
type (
	NodeID      int32
	RackID      int32
	AppID       int32
	QueueID     int32
	UserID      int32
	ContainerID int64 // strictly increasing, never repeated; 0 is none
)

// The ids that mean none.
const (
	NoNode  NodeID  = -1
	NoRack  RackID  = -1
	NoApp   AppID   = -1
	NoQueue QueueID = -1
)

// Kind is what a container is for. It covers both MapReduce and Spark.
type Kind uint8

// The kinds of container.
const (
	AM Kind = iota
	Map
	Reduce
	Executor
	Other

	NumKinds = 5
)

// String returns the kind's name as used in profiles and reports.
func (k Kind) String() string {
	return [NumKinds]string{"am", "map", "reduce", "executor", "other"}[k]
}

// Framework is an application's type as submitted.
type Framework uint8

// The frameworks whose requests Heddle recognises; everything else is Plain.
const (
	Plain Framework = iota
	MapReduce
	Spark
)

// String returns the framework's name as used in reports.
func (f Framework) String() string { return [...]string{"other", "mapreduce", "spark"}[f] }

// Locality is how near a container is to where it was asked for.
type Locality uint8

// The localities, nearest first. Their distances in hops of a two-level tree are 0, 2 and 4.
const (
	NodeLocal Locality = iota
	RackLocal
	OffSwitch
)

// String returns the locality's name as used in reports.
func (l Locality) String() string { return [...]string{"node", "rack", "any"}[l] }

// Hops returns the network distance: 0 on the node, 2 inside the rack, 4 across racks.
func (l Locality) Hops() int { return 2 * int(l) }
