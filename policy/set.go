package policy

import "heddle"

// A Lane is a list of kinds served in one order. Lanes are served in the order they are listed.
type Lane struct {
	Kinds []heddle.Kind
	Order Order
	Slots // at most so many containers of the lane on a node
}

// A Set is a whole scheduler: a policy, or none, for every slot.
type Set struct {
	Name  string
	Lanes []Lane

	Size      [heddle.NumKinds]Size
	Share     []Share
	Gate      [heddle.NumKinds][]Gate
	Trim      [heddle.NumKinds]Trim
	Place     [heddle.NumKinds]Place   // nil = any node
	Veto      [heddle.NumKinds][]Place // all must say yes to an offered node before Place is asked
	Book      Book                     // nil = nothing is reserved
	Control   []Control
	Remaining Remaining // nil = nobody estimates
	Release   Release   // likewise

	// Queues holds each queue's parent, parents before children, NoQueue for the root.
	Queues []heddle.QueueID

	Beat       Beat
	MemoryOnly bool            // fits look at memory alone
	Names      Names           // for explaining alone
	Minimum    heddle.Resource // smallest container; requests are rounded up to multiples of Step
	Maximum    heddle.Resource // largest container; zero = no bound
	Step       heddle.Resource
	Feeds      Feeds
}

// Names are what a profile calls the policies of a set, each where the policy is in the set; lists may be shorter
// than the policies' and names empty.
type Names struct {
	Order []string // by lane
	Share []string
	Gate  [heddle.NumKinds][]string
	Place [heddle.NumKinds]string
	Veto  [heddle.NumKinds][]string
	Book  string
	// Control has the names of Set.Control.
	Control []string
}

// Beat is how much one node heartbeat may bring.
type Beat struct {
	Containers   int  // at most so many grants; 0 = no limit
	OffSwitch    int  // at most so many grants to asks served off their rack or without a place; 0 = no limit
	HalfFree     bool // no further grant once half of what was free is given
	StopAtBook   bool // a reservation ends the offer
	Applications int  // at most so many applications tried; 0 = DefaultTries
}

// DefaultTries bounds the applications one offer looks at.
const DefaultTries = 100_000

// Feeds says which measurements of running tasks the set wants, and how often; 0 = none.
type Feeds struct {
	Progress heddle.Span
	Of       Kinds // … of these kinds alone; 0 = of all
	Profile  heddle.Span
	Nodes    bool // hear what nodes measure of their containers together and of their machines, as every NodeManager does
	Disks    bool // hear how busy nodes' disks are, where agents say so
	Starts   bool // hear of starts at the node's next heartbeat, even if nothing else makes it matter
	Output   bool // hear where map output lies
	Peaks    bool // hear how much memory tasks used that have ended
	Heaps    bool // have what masters' heaps hold measured, for the next run of the same user and name
	Sizes    bool // know how large jobs are when they are submitted: how many tasks, and what they will ask for
	Splits   bool // know every job's splits and their hosts
}

// Kinds is a set of kinds of containers.
type Kinds uint8

// KindSet returns the set of these kinds.
func KindSet(kinds ...heddle.Kind) (s Kinds) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether a kind is in the set.
func (s Kinds) Has(k heddle.Kind) bool { return s>>k&1 == 1 }

// And returns what satisfies both: the shorter span of each measurement.
func (f Feeds) And(o Feeds) Feeds {
	shorter := func(a, b heddle.Span) heddle.Span {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	of := f.Of | o.Of
	if f.Progress > 0 && f.Of == 0 || o.Progress > 0 && o.Of == 0 {
		of = 0
	}
	return Feeds{
		Of: of, Heaps: f.Heaps || o.Heaps,
		Progress: shorter(f.Progress, o.Progress), Profile: shorter(f.Profile, o.Profile),
		Nodes: f.Nodes || o.Nodes, Disks: f.Disks || o.Disks, Starts: f.Starts || o.Starts, Output: f.Output || o.Output, Peaks: f.Peaks || o.Peaks, Sizes: f.Sizes || o.Sizes, Splits: f.Splits || o.Splits,
	}
}
