package policy

import "heddle"

// A Lane is a list of kinds served in one order. Lanes are served in the order in which they are listed.
type Lane struct {
	Kinds []heddle.Kind
	Order Order
	Slots // limit on the containers of the lane on a node
}

// A Set is a whole scheduler: a policy, or none, for every slot.
type Set struct {
	Name  string
	Lanes []Lane

	Size      [heddle.NumKinds]Size
	Share     []Share
	Gate      [heddle.NumKinds][]Gate
	Trim      [heddle.NumKinds]Trim
	Place     [heddle.NumKinds]Place   // nil means any node
	Veto      [heddle.NumKinds][]Place // all must accept an offered node before Place is asked
	Book      Book                     // nil means no reservations
	Control   []Control
	Remaining Remaining // nil means no estimates
	Release   Release   // likewise

	// Queues holds each queue's parent, parents before children, NoQueue for the root.
	Queues []heddle.QueueID

	Beat       Beat
	MemoryOnly bool            // fits consider memory alone
	Names      Names           // for explaining only
	Minimum    heddle.Resource // smallest container; requests are rounded up to multiples of Step
	Maximum    heddle.Resource // largest container; zero means no bound
	Step       heddle.Resource
	Feeds      Feeds
}

// Names are the names that a profile gives to the policies of a set, at the same positions as the policies. Lists may
// be shorter than the lists of policies, and names may be empty.
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

// Beat limits what one node heartbeat may bring.
type Beat struct {
	Containers   int  // maximum number of grants; 0 means no limit
	OffSwitch    int  // maximum number of grants to asks served off their rack or without a place; 0 means no limit
	HalfFree     bool // no further grant once half of what was free is granted
	StopAtBook   bool // a reservation ends the offer
	Applications int  // maximum number of applications tried; 0 means DefaultTries
}

// DefaultTries bounds the applications one offer looks at.
const DefaultTries = 100_000

// Feeds says which measurements of running tasks the set wants, and how often; 0 means none.
type Feeds struct {
	Progress heddle.Span
	Of       Kinds // … of these kinds only; 0 means of all
	Profile  heddle.Span
	Nodes    bool // what nodes measure of their containers together and of their machines, as every NodeManager does
	Disks    bool // how busy nodes' disks are, if agents report it
	Starts   bool // starts are reported at the node's next heartbeat, even if nothing else makes them matter
	Output   bool // where map output is stored
	Peaks    bool // how much memory ended tasks used
	Heaps    bool // masters' live heaps are measured, for the next run of the same user and name
	Sizes    bool // how large jobs are when they are submitted: how many tasks, and what they will ask for
	Splits   bool // every job's splits and their hosts
}

// Kinds is a set of container kinds.
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

// And returns the feeds that satisfy both: the shorter span of each measurement.
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
