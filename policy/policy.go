// Package policy says where schedulers may differ: one small interface per slot, the verdicts they
// answer with, and the set that puts one policy in each slot. No policy lives here.
//
// To write one:
//
//   - Choose the slot by the question the policy answers: [Order] (who goes first), [Share] (how much may be taken),
//     [Gate] (may it start more now), [Size] and [Trim] (how large), [Place] (on this node), [Book] (reserve the node),
//     [Control] (what becomes of running containers), [Remaining] and [Release] (estimates that others ask for).
//   - Implement the slot's methods. A policy that has nothing to say to some of them embeds the neutral one, such as
//     [Unshared]. A refusal is a [Verdict] with the reason that people are told.
//   - Add a power where it must do more than answer: hear of changes ([Listener]), work something out periodically
//     ([Ticker]), have applications looked at again ([Waker]), name a node itself ([Pick]), act on running containers
//     ([Control], in any slot), explain itself ([Limiter], [Gauged]), check itself ([Checker]).
//   - Say with [Needer] what it does nothing without: measurements of running tasks, or a node agent.
//   - Write a maker, New(Args), that decodes its options and says what is wrong with them, and add it to the table of
//     package policies. Profiles can then name it.
//   - Test it with package policytest, which holds it to what is said next.
//
// A hook gets a read-only [View] and answers. It never changes the state, reads no clock, and draws from [Args.Rand]
// alone: the same events give the same answers. It allocates nothing where it refuses. What it remembers it keeps in
// slices of its own, by the small numbers that applications, nodes and containers ([Container.Slot]) have, and brings up
// to date when it hears of changes.
package policy

import (
	"math/rand/v2"

	"heddle"
	"heddle/cluster"
)

// What policies look at, under the names they know it by.
type (
	// View is the whole cluster, to be read only.
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

// Skip is how much of an offer's walk a refusal ends.
type Skip uint8

// How far a refusal reaches.
const (
	SkipAsk   Skip = iota // the application's next ask is tried
	SkipApp               // the next application
	SkipQueue             // the next queue

	// SkipKind, from a [Place], ends the walk for all asks of the kind: nobody who could ask would be given a
	// container of it on this node now.
	SkipKind
)

// A Verdict is yes, or why not. It is small: refusing costs no allocation.
type Verdict struct {
	Why  heddle.Why // Fine = yes
	Skip Skip

	// Unbook, with a yes, makes it depend on the application giving up a reservation elsewhere first:
	// one of at least what [Share.Unbook] says.
	Unbook bool

	// Far, with a Place's yes, has the container granted as one far from its data although the ask
	// named the node or its rack: nearer would have to wait still.
	Far bool
}

// Yes is the verdict that refuses nothing.
var Yes = Verdict{}

// No refuses an ask.
func No(w heddle.Why) Verdict { return Verdict{Why: w} }

// NoApp refuses whatever the application asks for.
func NoApp(w heddle.Why) Verdict { return Verdict{Why: w, Skip: SkipApp} }

// NoQueue refuses whatever the queue asks for.
func NoQueue(w heddle.Why) Verdict { return Verdict{Why: w, Skip: SkipQueue} }

// OK reports whether the verdict is yes.
func (v Verdict) OK() bool { return v.Why == heddle.Fine }

// A Key orders queues or applications: smaller first, compared field by field; ties end in the id.
type Key [3]int64

// The slots. v is read-only and cheap to copy.
type (
	// Size decides the size of a container as its ask arrives (the sizing of masters). What it adds to what is
	// asked for is bounded by the largest container and the largest node.
	Size interface {
		Size(v View, a *App, k heddle.Kind, asked heddle.Resource) heddle.Resource
	}

	// Order says which queue goes first among its siblings, and which application in a leaf. A key is
	// asked for again when what an event touched could have changed it, and after every [Ticker.Tick]
	// that says so.
	Order interface {
		Queue(v View, q *Queue) Key
		App(v View, a *App) Key
		// Steady reports whether the application's key is the same as long as its queue and its priority are: it is
		// not asked for again while the application waits then. [Unsteady] says no.
		Steady(a *App) bool
	}

	// Share says how much more a queue or an application may take. Several may be given: all must
	// agree, and the application is told the smallest headroom, per dimension. [Unshared] limits nothing.
	Share interface {
		// Enter is asked when an offer's walk reaches q, parents before children, the root first.
		Enter(v View, q *Queue) Verdict
		// Allow is asked before the application takes need more, after Enter of its queues.
		Allow(v View, a *App, k heddle.Kind, need heddle.Resource) Verdict
		// Headroom is what the application is told it could still get.
		Headroom(v View, a *App) heddle.Resource
		// Unbook is how much a reservation must free that is given up for need, where a verdict of Allow sets Unbook.
		Unbook(v View, a *App, need heddle.Resource) heddle.Resource
		// Admit says why an application that is submitted, or comes from another queue, is refused altogether.
		Admit(v View, e *heddle.Submit) heddle.Why
	}

	// Gate says whether an application may start another container of a kind now, or why not. Several may be
	// given: all must say yes. Of the verdict only the reason counts; the application's next ask is tried. An
	// application that only waits behind closed gates is not looked at again before an event of its own, a
	// node's coming or going, or a [Waker] names it.
	Gate interface {
		Open(v View, a *App, k heddle.Kind) Verdict
	}

	// Trim decides what the node enforces for a container that is about to start.
	Trim interface {
		// Trim returns the limit: room is what the application may take on the node. It may be below the ask's size
		// and must fit room.
		Trim(v View, k *Ask, n *Node, room heddle.Resource) heddle.Resource
		// Floor is the least room in which a container may start when no ask is smaller than smallest: fuller nodes
		// are not offered.
		Floor(smallest heddle.Resource) heddle.Resource
	}

	// Place judges whether a container of the ask may go on this node now; at is the best locality it
	// would have there. Judge is asked once per offer and ask, of a node that is reserved for the ask too.
	Place interface {
		Judge(v View, k *Ask, n *Node, at heddle.Locality) Verdict
	}

	// Book decides on reservations: for an ask that the node could hold if it were emptier.
	Book interface {
		// Reserve reports whether to reserve the node.
		Reserve(v View, k *Ask, n *Node) bool
		// Beside reports whether the ask may be given a container beside the reservations it holds; one
		// of them is given up for it otherwise.
		Beside(v View, k *Ask) bool
		// Keep reports whether a reservation of the node for the ask is still wanted; it is given up otherwise. A node that
		// a [Pick] names is not reserved where it would be given up at once.
		Keep(v View, k *Ask, n *Node) bool
		// Floor is the least room of a node that an offer could reserve, when no ask is larger than
		// largest: offers of fuller nodes are not made.
		Floor(v View, largest heddle.Resource) heddle.Resource
	}

	// Control acts on running containers, every so often. Whatever stands in another slot may be one too.
	Control interface {
		Every() heddle.Span
		Run(v View, p *Plan)
	}
)

// Powers, which a policy may have beside its slot. They are found by assertion when a core is built.
type (
	// Pick is a Place that names its node: its asks are served as they arrive, and book the node that
	// was named when it is full.
	Pick interface {
		Pick(v View, k *Ask) (heddle.NodeID, bool)
	}

	// Filler is a Book that lets others run on what is free of a node that is reserved, where they are expected to be gone
	// in time.
	Filler interface {
		// Until says by when what runs beside a reservation has to be gone; ok is false where nobody may run there.
		Until(v View, reservation *Container) (by heddle.Time, ok bool)
		// Fill reports whether a container of the ask that starts now is expected to be gone by then.
		Fill(v View, k *Ask, by heddle.Time) bool
	}

	// A Listener hears of what has changed in the state. What it does not ask for costs it nothing.
	Listener interface {
		// Hears says of which changes; it is asked once, when a set is built.
		Hears() News
		Hear(v View, e Effect)
	}

	// Ticker does periodic arithmetic of its own. Ticks are lazy: Tick is called before the first event at or after
	// each time that Ticks says, and must come out the same whether or not ticks without an event between them were
	// left out. It reports whether order keys may have changed.
	Ticker interface {
		// Ticks says how often, and how long after each multiple of that.
		Ticks() (every, phase heddle.Span)
		Tick(v View) bool
	}

	// Waker names applications that are to be looked at again for a reason that was no event of their own. It is asked
	// after every step. A Gate names those it may have opened for; a Size those it has changed its mind about, whose
	// masters, if they still wait, are sized anew from what was asked for first.
	Waker interface {
		// Woken appends the applications named since the last call to ids.
		Woken(v View, ids []heddle.AppID) []heddle.AppID
	}

	// Holder is a Gate of masters that holds applications back which on a real cluster would not have been submitted yet.
	// A scheduler that limits how many applications run does not count them.
	Holder interface {
		// Holds reports whether an application is held back.
		Holds(a *App) bool
	}

	// Needer says what a policy does nothing without.
	Needer interface {
		Needs() Needs
	}

	// Limiter goes with a Gate or a Share that can put a refusal in figures. Explaining alone asks it.
	Limiter interface {
		// Limit returns the limit that the ask is refused for, with the reason the policy gave; ok is false
		// where there is none to tell.
		Limit(v View, k *Ask, why heddle.Why) (l Limit, ok bool)
	}

	// Checker recounts what the policy keeps and the limits it stands for, and returns every one that is
	// broken as "name: what". Core.Check asks it after the cluster's own checks.
	Checker interface {
		Check(v View) []string
	}

	// Gauged shows numbers of its own that are worth watching over time (dress: δ). They are read now and
	// then and decide nothing.
	Gauged interface {
		// Gauges calls emit for each number, always the same names in the same order.
		Gauges(v View, emit func(name string, value float64))
		// GaugeWords says in a sentence what a number is, by its name.
		GaugeWords(name string) string
	}
)

// A Limit is a refusal in figures: of something there may be so much, and so much there is.
type Limit struct {
	What  string         // what is limited, in the plural: masters, applications that run
	Of    Scope          // whose count together
	Queue heddle.QueueID // in which queue and below; NoQueue: in all

	// Most there may be and Used there is, as an amount or, with Counted, as numbers. With Least the gate
	// opens once there are MostN.
	Most, Used   heddle.Resource
	Counted      bool
	MostN, UsedN int
	Least        bool

	By   []string // what sets it, each as "name = value": properties of Hadoop's files, or options of the policy
	Note string   // a sentence on what the figures do not say; mostly empty

	// Place is the application's among the Line of those that this policy lets in one after the other, from 1;
	// 0 where it keeps no such line.
	Place, Line int

	// Holds returns what of the limit an application holds; ok is false for one that counts for nothing. Nil
	// where that is not told.
	Holds func(a *App) (held heddle.Resource, ok bool)
}

// Scope is whose use a limit is about.
type Scope uint8

// The scopes.
const (
	OfAll  Scope = iota // everybody's
	OfUser              // those of the application's user
	OfApp               // the application's own
)

// What mechanisms ask each other for without importing each other.
type (
	// Remaining estimates how long a running container will still hold what it holds.
	Remaining interface {
		Remaining(v View, x *Container) (heddle.Span, bool)
	}

	// Release estimates how many containers an application gives back between now and now + within.
	Release interface {
		Release(v View, a *App, within heddle.Span) float64
	}
)

// A Plan is what controllers want done to running containers. The first to touch a container in an
// instant wins; so does the first to weigh it.
type Plan struct {
	Steps []Step
}

// A Step is one wish of a controller.
type Step struct {
	Container heddle.ContainerID
	Do        Deed
	Limit     heddle.Resource // of a Resize
	Weight    int64           // of a Weigh, in milli-vcores
	Bound     int64           // of a Weigh, in thousandths of a processor; 0 for none
	Freeze    heddle.Span     // of a Suspend: for how long it does not run at all; 0 for as its node can
}

// Deed is what may be done to a running container.
type Deed uint8

// The deeds.
const (
	Resize Deed = iota
	Suspend
	Resume
	Kill
	Weigh // beside another deed on the same container
)

// Resize wishes for another limit.
func (p *Plan) Resize(c heddle.ContainerID, limit heddle.Resource) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Resize, Limit: limit})
}

// Weigh wishes for another weight on a busy processor, in milli-vcores; see [heddle.Weigh].
func (p *Plan) Weigh(c heddle.ContainerID, weight int64) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Weigh, Weight: weight})
}

// Bound is Weigh, and wishes that the container uses no more than so many thousandths of a processor where its node can
// see to that.
func (p *Plan) Bound(c heddle.ContainerID, weight, bound int64) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Weigh, Weight: weight, Bound: bound})
}

// Suspend wishes that a container lends its processors.
func (p *Plan) Suspend(c heddle.ContainerID) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Suspend})
}

// Freeze wishes the same, and that the container does not run at all for so long at the most. That is done to maps and
// reduces, on nodes that can; others are suspended.
func (p *Plan) Freeze(c heddle.ContainerID, length heddle.Span) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Suspend, Freeze: length})
}

// Resume wishes the end of that.
func (p *Plan) Resume(c heddle.ContainerID) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Resume})
}

// Kill wishes a container ended.
func (p *Plan) Kill(c heddle.ContainerID) {
	p.Steps = append(p.Steps, Step{Container: c, Do: Kill})
}

// Args is what a policy is made from.
type Args struct {
	// Decode fills the options of a mechanism from its profile; unknown keys are errors. It leaves the
	// defaults that the value holds where the profile says nothing.
	Decode func(into any) error
	// Rand is a stream of the mechanism's own, derived from the run's seed and its name.
	Rand *rand.Rand
	// Remaining and Release are the estimates of the profile, or nil.
	Remaining Remaining
	Release   Release
	// Book is the profile's, or nil. Places know it: one that names its node passes over those whose reservation would not stay.
	Book Book
	// Shared returns the scheduler of that name that fills several slots at once from one
	// configuration of queues.
	Shared func(name string) (any, error)
}

// A Maker makes a policy for one slot.
type Maker[H any] func(Args) (H, error)

// A Table is what there is to choose from, per slot, by name.
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
