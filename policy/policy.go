// Package policy defines where schedulers may differ: one small interface for each slot, the verdicts that policies
// answer with, and the set that puts one policy in each slot. It contains no policies itself.
//
// To write one:
//
//   - Choose the slot by the question the policy answers: [Order] (who goes first), [Share] (how much may be taken),
//     [Gate] (may it start more now), [Size] and [Trim] (how large), [Place] (on this node), [Book] (reserve the node),
//     [Control] (what becomes of running containers), [Remaining] and [Release] (estimates that other policies use).
//   - Implement the slot's methods. For methods in which the policy has no say, embed the neutral policy, such as
//     [Unshared]. A refusal is a [Verdict] with the reason that users are told.
//   - Add a power if it must do more than answer: hear of changes ([Listener]), work something out periodically
//     ([Ticker]), have applications looked at again ([Waker]), name a node itself ([Pick]), act on running containers
//     ([Control], in any slot), explain itself ([Limiter], [Gauged]), check itself ([Checker]).
//   - Declare with [Needer] what it cannot work without: measurements of running tasks, or a node agent.
//   - Write a maker, New(Args), that decodes its options and reports errors in them, and add it to the table of package
//     policies. Profiles can then name it.
//   - Test it with package policytest, which checks the following rules.
//
// A hook gets a read-only [View] and answers. It never changes the state, reads no clock, and draws random numbers only
// from [Args.Rand]: the same events give the same answers. It does not allocate when it refuses. It keeps its own data
// in slices indexed by the small numbers of applications, nodes and containers ([Container.Slot]), and updates them
// when it hears of changes.
package policy

import (
	"math/rand/v2"

	"heddle"
	"heddle/cluster"
)

// What policies look at, under the names they use.
type (
	// View is the whole cluster, read-only.
	View = cluster.View

	// Queue is a queue with its applications and sums.
	Queue = cluster.Queue

	// User is a user in one leaf queue.
	User = cluster.User

	// App is an application.
	App = cluster.App

	// Ask is what an application asks for under one key.
	Ask = cluster.Ask

	// Node is a node with what it holds.
	Node = cluster.Node
	// Slots say how many containers a node takes at most.
	Slots = cluster.Slots

	// Container is a container granted or reserved.
	Container = cluster.Container
)

// Skip is how much of an offer's walk is skipped after a refusal.
type Skip uint8

// How far a refusal reaches.
const (
	SkipAsk   Skip = iota // the application's next ask is tried
	SkipApp               // the next application
	SkipQueue             // the next queue

	// SkipKind, from a [Place], ends the walk for all asks of the kind: no application that could ask would be given a
	// container of that kind on this node now.
	SkipKind
)

// A Verdict is yes, or no with a reason. It is small: refusing costs no allocation.
type Verdict struct {
	Why  heddle.Why // Fine means yes
	Skip Skip

	// Unbook, with a yes, makes the yes depend on the application first giving up a reservation elsewhere, of at least
	// the size that [Share.Unbook] returns.
	Unbook bool

	// Far, with a Place's yes, records the grant as off-switch although the ask named the node or its rack: a nearer
	// container would have to wait longer.
	Far bool
}

// Yes is the verdict that accepts.
var Yes = Verdict{}

// No refuses an ask.
func No(w heddle.Why) Verdict { return Verdict{Why: w} }

// NoApp refuses everything the application asks for.
func NoApp(w heddle.Why) Verdict { return Verdict{Why: w, Skip: SkipApp} }

// NoQueue refuses everything the queue asks for.
func NoQueue(w heddle.Why) Verdict { return Verdict{Why: w, Skip: SkipQueue} }

// OK reports whether the verdict is yes.
func (v Verdict) OK() bool { return v.Why == heddle.Fine }

// A Key orders queues or applications: smaller goes first, compared field by field; ties are broken by id.
type Key [3]int64

// The slots. v is read-only and cheap to copy.
type (
	// Size decides the size of a container when its ask arrives (the sizing of masters). What it adds to the requested
	// size is bounded by the largest container and the largest node.
	Size interface {
		Size(v View, a *App, k heddle.Kind, asked heddle.Resource) heddle.Resource
	}

	// Order decides which queue goes first among its siblings, and which application in a leaf. A key is computed again
	// when an event touches something that could have changed it, and after every [Ticker.Tick] that reports so.
	Order interface {
		Queue(v View, q *Queue) Key
		App(v View, a *App) Key
		// Steady reports whether the application's key stays the same as long as its queue and its priority do. If so,
		// the key is not computed again while the application waits. [Unsteady] reports false.
		Steady(a *App) bool
	}

	// Share decides how much more a queue or an application may take. Several may be given: all must agree, and the
	// application is told the smallest headroom in each dimension. [Unshared] limits nothing.
	Share interface {
		// Enter is called when an offer's walk reaches q, parents before children, the root first.
		Enter(v View, q *Queue) Verdict
		// Allow is called before the application takes need more, after Enter of its queues.
		Allow(v View, a *App, k heddle.Kind, need heddle.Resource) Verdict
		// Headroom returns what the application is told it could still get.
		Headroom(v View, a *App) heddle.Resource
		// Unbook returns how much must be freed by a reservation given up for need, if a verdict of Allow sets Unbook.
		Unbook(v View, a *App, need heddle.Resource) heddle.Resource
		// Admit returns why an application that is submitted, or comes from another queue, is refused altogether.
		Admit(v View, e *heddle.Submit) heddle.Why
	}

	// Gate decides whether an application may start another container of a kind now, or says why not. Several may be
	// given: all must say yes. Only the reason in the verdict counts; the application's next ask is tried. An
	// application that waits only behind closed gates is not looked at again before an event of its own, a node's
	// arrival or departure, or until a [Waker] names it.
	Gate interface {
		Open(v View, a *App, k heddle.Kind) Verdict
	}

	// Trim decides what the node enforces for a container that is about to start.
	Trim interface {
		// Trim returns the limit; room is what the application may take on the node. The limit may be below the ask's
		// size and must fit room.
		Trim(v View, k *Ask, n *Node, room heddle.Resource) heddle.Resource
		// Floor returns the least room in which a container may start if no ask is smaller than smallest: fuller nodes
		// are not offered.
		Floor(smallest heddle.Resource) heddle.Resource
	}

	// Place judges whether a container of the ask may go on this node now; at is the best locality it would have there.
	// Judge is called once per offer and ask, even for a node that is reserved for the ask.
	Place interface {
		Judge(v View, k *Ask, n *Node, at heddle.Locality) Verdict
	}

	// Book decides on reservations for asks that the node could hold if it were emptier.
	Book interface {
		// Reserve reports whether to reserve the node.
		Reserve(v View, k *Ask, n *Node) bool
		// Beside reports whether the ask may be given a container in addition to the reservations it holds; otherwise
		// one of them is given up for it.
		Beside(v View, k *Ask) bool
		// Keep reports whether a reservation of the node for the ask is still wanted; otherwise it is given up. A node
		// that a [Pick] names is not reserved if the reservation would be given up at once.
		Keep(v View, k *Ask, n *Node) bool
		// Floor returns the least room with which a node could be reserved if no ask is larger than largest: fuller
		// nodes are not offered.
		Floor(v View, largest heddle.Resource) heddle.Resource
	}

	// Control acts on running containers at intervals. A policy in any other slot may be a Control too.
	Control interface {
		Every() heddle.Span
		Run(v View, p *Plan)
	}
)

// Powers that a policy may have besides its slot. They are found by type assertion when a core is built.
type (
	// Pick is a Place that names its node: its asks are served as they arrive, and they reserve the named node if it is
	// full.
	Pick interface {
		Pick(v View, k *Ask) (heddle.NodeID, bool)
	}

	// Filler is a Book that lets other applications run in the free part of a reserved node if they are expected to be
	// gone in time.
	Filler interface {
		// Until returns the time by which containers beside a reservation must be gone; ok is false if none may run
		// there.
		Until(v View, reservation *Container) (by heddle.Time, ok bool)
		// Fill reports whether a container of the ask that starts now is expected to be gone by then.
		Fill(v View, k *Ask, by heddle.Time) bool
	}

	// A Listener hears of changes in the state. Changes it does not ask for cost it nothing.
	Listener interface {
		// Hears returns the changes it wants to hear of; it is called once, when a core is built.
		Hears() News
		Hear(v View, e Effect)
	}

	// Ticker does periodic arithmetic of its own. Ticks are lazy: Tick is called before the first event at or after
	// each time given by Ticks, and must give the same result whether or not ticks without an event between them were
	// left out. It reports whether order keys may have changed.
	Ticker interface {
		// Ticks returns the interval, and the offset after each multiple of it.
		Ticks() (every, phase heddle.Span)
		Tick(v View) bool
	}

	// Waker names applications to look at again for a reason that was no event of their own. It is called after every
	// step. A Gate names those it may have opened for. A Size names those whose size it would now decide differently;
	// their masters, if they still wait, are sized again from the size first requested.
	Waker interface {
		// Woken appends the applications named since the last call to ids.
		Woken(v View, ids []heddle.AppID) []heddle.AppID
	}

	// Holder is a Gate of masters that holds back applications which would not have been submitted yet on a real
	// cluster. A scheduler that limits how many applications run does not count them.
	Holder interface {
		// Holds reports whether an application is held back.
		Holds(a *App) bool
	}

	// Needer declares what a policy cannot work without.
	Needer interface {
		Needs() Needs
	}

	// Limiter goes with a Gate or a Share that can put a refusal in figures. It is used only for explaining.
	Limiter interface {
		// Limit returns the limit behind the refusal of the ask, given the reason from the policy; ok is false if there
		// is none to tell.
		Limit(v View, k *Ask, why heddle.Why) (l Limit, ok bool)
	}

	// Checker recounts the policy's own books and the limits it enforces, and returns every one that is broken as
	// "name: what". Core.Check calls it after the cluster's own checks.
	Checker interface {
		Check(v View) []string
	}

	// Gauged shows numbers of its own that are worth watching over time (dress: δ). They are read now and then and
	// decide nothing.
	Gauged interface {
		// Gauges calls emit for each number, always the same names in the same order.
		Gauges(v View, emit func(name string, value float64))
		// GaugeWords returns a sentence that says what the number of that name is.
		GaugeWords(name string) string
	}
)

// A Limit is a refusal in figures: how much of something there may be, and how much there is.
type Limit struct {
	What  string         // what is limited, in the plural: masters, running applications
	Of    Scope          // whose use is counted together
	Queue heddle.QueueID // counted in this queue and below; NoQueue: in all

	// Most is the maximum and Used the current use, as an amount or, with Counted, as the numbers MostN and UsedN. With
	// Least, the gate opens once there are MostN.
	Most, Used   heddle.Resource
	Counted      bool
	MostN, UsedN int
	Least        bool

	By   []string // what sets it, each as "name = value": properties of Hadoop's files, or options of the policy
	Note string   // a sentence on what the figures do not show; usually empty

	// Place is the application's place, from 1, among the Line applications that this policy admits one after the
	// other; 0 if it keeps no such line.
	Place, Line int

	// Holds returns how much of the limit an application uses; ok is false for an application that does not count.
	// Holds is nil if that is not known.
	Holds func(a *App) (held heddle.Resource, ok bool)
}

// Scope says whose use a limit is about.
type Scope uint8

// The scopes.
const (
	OfAll  Scope = iota // all users' together
	OfUser              // that of the application's user
	OfApp               // the application's own
)

// Estimates that mechanisms get from each other without importing each other.
type (
	// Remaining estimates how much longer a running container will hold its resources.
	Remaining interface {
		Remaining(v View, x *Container) (heddle.Span, bool)
	}

	// Release estimates how many containers an application gives back between now and now + within.
	Release interface {
		Release(v View, a *App, within heddle.Span) float64
	}
)

// A Plan is what controllers want done to running containers. If several want to act on a container in the same
// instant, the first wins; likewise for weighing it.
type Plan struct {
	Steps []Step
}

// A Step is one action that a controller wants.
type Step struct {
	Container heddle.ContainerID
	Do        Deed
	Limit     heddle.Resource // of a Resize
	Weight    int64           // of a Weigh, in milli-vcores
	Bound     int64           // of a Weigh, in thousandths of a processor; 0 for none
	Freeze    heddle.Span     // of a Suspend: for how long it does not run at all; 0 for not frozen
}

// Deed is an action on a running container.
type Deed uint8

// The deeds.
const (
	Resize Deed = iota
	Suspend
	Resume
	Kill
	Weigh // may accompany another deed on the same container
)

// Resize asks for another limit.
func (p *Plan) Resize(c heddle.ContainerID, limit heddle.Resource) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Resize, Limit: limit})
}

// Weigh asks for another weight on a busy processor, in milli-vcores; see [heddle.Weigh].
func (p *Plan) Weigh(c heddle.ContainerID, weight int64) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Weigh, Weight: weight})
}

// Bound is Weigh, and also asks that the container use no more than bound thousandths of a processor if its node can
// enforce that.
func (p *Plan) Bound(c heddle.ContainerID, weight, bound int64) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Weigh, Weight: weight, Bound: bound})
}

// Suspend asks that a container lend its processors.
func (p *Plan) Suspend(c heddle.ContainerID) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Suspend})
}

// Freeze is Suspend, and also asks that the container not run at all for at most length. Only maps and reduces are
// frozen, on nodes that can do it; other containers are suspended.
func (p *Plan) Freeze(c heddle.ContainerID, length heddle.Span) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Suspend, Freeze: length})
}

// Resume asks to end a suspension.
func (p *Plan) Resume(c heddle.ContainerID) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Resume})
}

// Kill asks to end a container.
func (p *Plan) Kill(c heddle.ContainerID) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Kill})
}

// Args are the arguments from which a policy is made.
type Args struct {
	// Decode fills in the options of a mechanism from its profile; unknown keys are errors. Options that the profile
	// does not set keep the defaults in the value.
	Decode func(into any) error
	// Rand is the mechanism's own random stream, derived from the run's seed and the mechanism's name.
	Rand *rand.Rand
	// Remaining and Release are the profile's estimates, or nil.
	Remaining Remaining
	Release   Release
	// Book is the profile's, or nil. It is passed to places because one that names its node skips nodes whose
	// reservation would not be kept.
	Book Book
	// Shared returns the scheduler of that name, which fills several slots at once from one configuration of queues.
	Shared func(name string) (any, error)
}

// A Maker makes a policy for one slot.
type Maker[H any] func(Args) (H, error)

// A Table is the available makers by slot and name.
type Table struct {
	Size    map[string]Maker[Size]
	Order   map[string]Maker[Order]
	Share   map[string]Maker[Share]
	Gate    map[string]Maker[Gate]
	Trim    map[string]Maker[Trim]
	Place   map[string]Maker[Place]
	Book    map[string]Maker[Book]
	Control map[string]Maker[Control]
	Remain  map[string]Maker[Remaining]
	Release map[string]Maker[Release]
}
