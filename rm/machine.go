package rm

import (
	"cmp"
	"math"

	"heddle"
	"heddle/internal/slab"
	"heddle/sched"
	"heddle/yarn/ids"
)

// A Machine is a ResourceManager without clock, goroutines or I/O: messages go in through [Machine.Step], and what to
// do comes out.
type Machine struct {
	cfg   Config
	sch   *Scheduler
	began int64 // milliseconds since 1970 at time 0: part of the ids it gives
	epoch int64
	now   heddle.Time

	core     *sched.Core
	watch    func(*Noted) // called with the core's decisions; nil for nobody
	memo     func() any   // makes a place for what readers derive from an application; nil for none
	noted    Noted        // argument of watch
	stepping bool
	events   []heddle.Event // arrived while the core's decisions were carried out
	ending   string         // reason of the kills being carried out, as told to the master
	telling  bool           // a new core is being told what the last one knew
	finding  foundOne
	back     comeback
	keeping  keeping
	hold     heddle.Time // nothing is granted before; never for no hold

	effects   []Effect
	answers   [4]Answer // the first answers of a step
	answered  int
	commits   map[uint64]func() // what to do once a Store is durable, by its number
	commitSeq uint64            // number of the last Store
	short     string            // why less should be stored; "" if there is room

	apps   []*app // by heddle.AppID
	byApp  map[ids.App]*app
	recent recent // of byApp: applications with ids that this machine gave, which is nearly all
	seq    int32
	given  given   // of the ids that this machine gave: the unused ones
	starts []int64 // dates of earlier starts: part of the ids they gave
	over   []*app  // of byApp: completed applications, oldest first
	past   history
	conts  slab.Index[*container] // by the core's numbers
	unused unused
	dead   []*container // ended in this step
	free   []*container // reused for the next containers
	names               // numbers by which the core knows things
	nodes  []*node      // by heddle.NodeID
	byNode map[ids.Node]*node
	listed HostLists

	shares    map[string]share    // by user
	submitted int                 // bytes of all unfinished submissions
	quarters  map[string]*quarter // by address

	timers  timers
	silence heddle.Time // no node will have been silent for too long before; never for no node
	lull    heddle.Time // before this time no node will have been silent for so long that nothing more starts there; likewise
	rings   [NumRings]ring
	tidyAt  int // how many numbers may be given before renumbering
	counts  tally
	wishes  uint64      // told to agents
	owing   []*agent    // to be answered at the end of the step
	unsaid  []*node     // with something still to be logged
	sayAt   heddle.Time // when to log it; never for nothing
	steps   uint64      // of previous cores
	grants  uint64      // likewise
	reports uint64      // heartbeats taken: marks what the current one names
	shown   shown
}

// foundOne is the container being reported to the core as found, and when it was created.
type foundOne struct {
	id ids.Container
	at heddle.Time
}

// never is a time that never comes.
const never = heddle.Time(math.MaxInt64)

// Options configures a new machine.
type Options struct {
	Config    Config
	Scheduler *Scheduler
	Began     int64   // milliseconds since 1970 of time 0
	Epoch     int64   // number of earlier starts on the same store
	Starts    []int64 // dates of those starts, milliseconds since 1970
	Lists     HostLists
	Keys      [NumRings]KeyState
	State     []Recovered
	Runs      []RunRecord  // from the store, in any order
	Nodes     []NodeRecord // likewise
	Users     []string     // already have UserIDs, from 0 on; policies know their names
	Watch     func(*Noted) // called with the core's decisions as they are carried out, and must not call the machine; may be nil
	Memo      func() any   // makes a place for what readers derive from an application; may be nil
}

// New returns a machine that has recovered what a store holds, and the resulting effects.
func New(o Options) (*Machine, []Effect) {
	m := &Machine{
		cfg: o.Config, sch: o.Scheduler, began: o.Began, epoch: o.Epoch, core: sched.New(o.Scheduler.Set), hold: never, silence: never, lull: never, sayAt: never,
		commits: map[uint64]func(){}, byApp: map[ids.App]*app{}, byNode: map[ids.Node]*node{}, shares: map[string]share{}, quarters: map[string]*quarter{},
		listed: o.Lists, tidyAt: tidyAt,
		names: newNames(o.Scheduler, o.Users), watch: o.Watch, memo: o.Memo, past: newHistory(), given: newGiven(), starts: o.Starts,
	}
	m.recall(o.Runs)
	overlaps := [NumRings]heddle.Span{m.cfg.MasterExpiry * 3 / 2, m.cfg.NodeExpiry * 3 / 2, m.cfg.NodeExpiry * 3 / 2}
	every := [NumRings]heddle.Span{m.cfg.KeyRolling, m.cfg.NodeKeyRolling, m.cfg.NodeKeyRolling}
	for i, k := range o.Keys {
		m.rings[i] = newRing(k, every[i], overlaps[i], m.timeOf(k.Made))
	}
	m.recallNodes(o.Nodes)
	if len(o.State) > 0 || o.Epoch > 0 {
		m.recover(o.State)
	}
	return m, m.done()
}

// Step handles a message at a time, which never goes back, and returns what to do. The slice and every [Answer] in it
// are valid until the next Step; the values in answers remain valid.
func (m *Machine) Step(at heddle.Time, msg Message) []Effect {
	m.now = at
	if m.now > m.lull {
		m.passOver()
	}
	m.hear(msg)
	m.tidy()
	m.tellOwed()
	if m.now >= m.sayAt {
		m.say()
	}
	return m.done()
}

// done returns the effects.
func (m *Machine) done() []Effect {
	out := m.effects
	m.effects, m.answered = m.effects[:0], 0
	m.free = append(m.free, m.dead...)
	m.dead = m.dead[:0]
	return out
}

func (m *Machine) hear(msg Message) {
	switch q := msg.(type) {
	case *BeatNode:
		m.answer(q.Call, m.beat(q), nil)
	case *Allocate:
		p, err := m.allocate(q)
		m.answer(q.Call, p, err)
	case *RegisterNode:
		m.answer(q.Call, m.register(q), nil)
	case *UnregisterNode:
		m.unregisterNode(q.Node)
		m.answer(q.Call, nil, nil)
	case *RegisterMaster:
		p, err := m.registerMaster(q)
		m.answer(q.Call, p, err)
	case *AgentSync:
		m.agentSync(q)
	case *FinishMaster:
		m.finishMaster(q)
	case Stored:
		m.stored(q.Seq)
	case StoreShort:
		m.storeShort(q.Why)
	case *Started:
		m.launchDone(q)
	case *KeyMade:
		m.keyMade(q)
	case Tick:
		m.tick()
	case *LeftOut:
		m.leftOut(q)
	case *Progress:
		m.measured(q.Container, q)
	case *Profile:
		m.measured(q.Container, q)
	case *Output:
		m.measured(q.Container, q)
	case *TaskUsed:
		m.measured(q.Container, q)
	case *JobRead:
		m.jobRead(q)
	case *MasterTold:
		m.told(q)
	case *NewApp:
		id, err := m.newID(q)
		m.answer(q.Call, id, err)
	case *SubmitApp:
		m.submit(q)
	case *KillApp:
		m.killApp(q)
	case *FailAttempt:
		m.answer(q.Call, nil, m.failByUser(q))
	case *MoveApp:
		m.move(q)
	case *SetPriority:
		m.setPriority(q)
	case *SetLifetime:
		m.setLifetime(q)
	case *SignalContainer:
		m.answer(q.Call, nil, m.signal(q))
	case *Refresh:
		m.answer(q.Call, nil, m.rebuild(q.Scheduler))
	case *RefreshNodes:
		m.refreshNodes(q)
		m.answer(q.Call, nil, nil)
	case *ResizeNode:
		m.answer(q.Call, nil, m.resize(q))
	default:
		panic("rm: a message that is not known")
	}
}

// Deadline returns when the machine needs a [Tick] at the latest.
func (m *Machine) Deadline() heddle.Time {
	at := min(m.timers.next(), m.unused.next(m.cfg.ContainerExpiry), m.hold, m.keyDue())
	if m.silence < at {
		at = m.silence + 1
	}
	if t, ok := m.core.Deadline(); ok && t < at {
		at = t
	}
	return at
}

// newTokens has every master given new node tokens with its next containers.
func (m *Machine) newTokens() {
	for _, t := range m.current() {
		t.tokens = nil
	}
}

// tick does what is due.
func (m *Machine) tick() {
	if at, ok := m.core.Deadline(); ok && m.now >= at {
		m.step(heddle.Wake{})
	}
	m.expire()
	m.roll()
}

// Scheduler returns the current scheduler: as it was given, or extended by queues that placement created.
func (m *Machine) Scheduler() *Scheduler { return m.sch }

// ServedAt sets the host:port at which clients reach the web pages, unless the configuration does.
func (m *Machine) ServedAt(web string) { m.cfg.WebHost = cmp.Or(m.cfg.WebHost, web) }

// Ready reports whether recovery is over: everything that ran before the restart was found or given up.
func (m *Machine) Ready() bool { return m.hold == never }

// date returns a time as milliseconds since 1970.
func (m *Machine) date(t heddle.Time) int64 { return m.began + int64(t)/1e6 }

// today returns the current date.
func (m *Machine) today() int64 { return m.date(m.now) }

// timeOf converts a date to a time; never if it is later than times can express, some centuries after the start.
func (m *Machine) timeOf(ms int64) heddle.Time {
	if ms-m.began > math.MaxInt64/1_000_000 {
		return never
	}
	return heddle.Time((ms - m.began) * 1e6)
}

func (m *Machine) emit(e Effect) { m.effects = append(m.effects, e) }

func (m *Machine) answer(c Call, v any, err error) {
	if err != nil {
		v = nil
	}
	if m.answered == len(m.answers) {
		m.emit(&Answer{c, v, err})
		return
	}
	a := &m.answers[m.answered]
	m.answered++
	*a = Answer{c, v, err}
	m.emit(a)
}

func (m *Machine) log(l Level, text string, args ...any) { m.emit(&Log{l, text, args}) }

// commit has changes stored; then is called once they are durable.
func (m *Machine) commit(then func(), changes ...Change) {
	m.commitSeq++
	m.commits[m.commitSeq] = then
	m.emit(&Store{m.commitSeq, changes})
}

// storeShort notes whether the store has room.
func (m *Machine) storeShort(why string) {
	switch {
	case why != "" && m.short == "":
		m.log(Error, "the store has no disk space: submissions, moves and changes of priorities and lifetimes are refused; everything else continues", "reason", why)
	case why == "" && m.short != "":
		m.log(Info, "the store has disk space again")
	}
	m.short = why
}

// hasRoom returns an error if the store is short of room, for calls that must not use up the rest.
func (m *Machine) hasRoom(what string, id ids.App) error {
	if m.short == "" {
		return nil
	}
	return invalid(classYarn, "%s %s: %s; try again when there is disk space", id, what, m.short)
}

func (m *Machine) stored(seq uint64) {
	then := m.commits[seq]
	delete(m.commits, seq)
	if then != nil {
		then()
	}
}

// step passes an event to the core and carries out its decisions. Events that arise meanwhile are processed afterwards.
func (m *Machine) step(ev heddle.Event) {
	m.events = append(m.events, ev)
	if m.stepping {
		return
	}
	m.stepping = true
	for i := 0; i < len(m.events); i++ { //nolint:intrange // carrying out adds to them
		decisions := m.core.Step(m.now, m.events[i])
		switch e := m.events[i].(type) {
		case heddle.Ask:
			m.grew(e.App)
		case heddle.Found:
			m.grew(e.App)
		case heddle.Attempt:
			m.grew(e.App)
		default:
		}
		for _, id := range m.core.MastersResized() {
			m.stale(m.apps[id])
		}
		for _, d := range decisions {
			m.carry(d)
		}
		if e, ok := m.events[i].(heddle.AppDone); ok { // not earlier: it may have had reservations to give up
			m.apps[e.App] = nil
		}
	}
	m.events = m.events[:0]
	m.stepping = false
}
