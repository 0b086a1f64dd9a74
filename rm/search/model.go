package search

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// A model is what must hold for the machine, maintained beside it from what it is told and what it answers.
type model struct {
	s        *sim
	acked    []ids.App // submissions that their clients were told are stored
	ends     map[ids.App]end
	lines    map[ids.App]int        // lines about their ends in the audit log
	granted  map[ids.Container]bool // ids of all containers ever granted
	attempts map[ids.Attempt]*attempt
	open     map[rm.Call]rm.Message // of this process, unanswered
	met      map[ids.Node]int       // how often each node registered, or keys were renewed, with this process
	strange  map[stranger]heddle.Time
	heard    map[ids.Node]heddle.Time    // time of each node's last heartbeat
	beats    map[ids.Node]*rm.NodeBeat   // last answer to each
	said     map[ids.Attempt]heddle.Time // time of the last answer to each master
	looked   heddle.Time                 // time of the last check for silence
	back     comeback
	most     map[ids.App]int32 // containers that each has asked this process for

	// State before the current message.
	refused   *rm.Scheduler
	fresh     bool          // the registering node was not there
	elsewhere []ids.Attempt // running attempts whose masters are on other nodes
}

// end is how an application ended.
type end struct {
	state rm.AppState
	final rm.FinalStatus
}

// A stranger is a container that runs on a node without the machine knowing it there.
type stranger struct {
	node ids.Node
	id   ids.Container
}

// An attempt is an attempt as this process knows it.
type attempt struct {
	last    *rm.Allocated
	told    map[ids.Container]heddle.Time // held by its master, and when the master was told
	ended   map[ids.Container]bool        // ends that its master was told
	back    map[ids.Container]bool        // released by its master
	tokens  map[ids.Node]int
	owed    map[int32]int32 // how many more containers it may be granted, by priority
	waiting map[int32]int32 // how many were waiting for the current call
	seen    heddle.Time
}

func (m *model) init(s *sim) {
	*m = model{s: s, ends: map[ids.App]end{}, lines: map[ids.App]int{}, granted: map[ids.Container]bool{}}
}

// started begins the model of a new process.
func (m *model) started() {
	m.attempts, m.open, m.met, m.strange = map[ids.Attempt]*attempt{}, map[rm.Call]rm.Message{}, map[ids.Node]int{}, map[stranger]heddle.Time{}
	m.most = map[ids.App]int32{}
	m.heard, m.beats, m.said = map[ids.Node]heddle.Time{}, map[ids.Node]*rm.NodeBeat{}, map[ids.Attempt]heddle.Time{}
	m.books()
	m.recalled()
	m.returning()
	m.views()
	m.finals()
}

// of returns what is known of an attempt.
func (m *model) of(id ids.Attempt) *attempt {
	t := m.attempts[id]
	if t == nil {
		t = &attempt{seen: m.s.now}
		t.join()
		m.attempts[id] = t
	}
	return t
}

// join resets an attempt for a master that is new to this process.
func (t *attempt) join() {
	t.last, t.told, t.ended, t.back = nil, map[ids.Container]heddle.Time{}, map[ids.Container]bool{}, map[ids.Container]bool{}
	t.tokens, t.owed = map[ids.Node]int{}, map[int32]int32{}
}

// before records what a message is about to change.
func (m *model) before(msg rm.Message) {
	switch q := msg.(type) {
	case *rm.Allocate:
		t := m.of(q.Who.Attempt)
		t.waiting = map[int32]int32{}
		list, _ := m.s.reports().Containers(q.Who.Attempt, 0, math.MaxInt)
		for _, c := range list {
			if _, told := t.told[c.ID]; !told && !c.Running {
				t.waiting[c.Priority]++
			}
		}
	case *rm.Refresh:
		m.refused = m.s.shell.m.Scheduler()
	case *rm.RegisterNode:
		m.joining(q)
	default:
	}
}

// after checks the results of a message.
func (m *model) after(msg rm.Message, effects []rm.Effect) {
	m.calls(msg, effects)
	m.books()
	m.lives(effects)
	m.returned(msg)
	switch q := msg.(type) {
	case *rm.BeatNode:
		m.beat(q, answer[*rm.NodeBeat](effects))
	case *rm.RegisterNode:
		if p := answer[*rm.NodeRegistered](effects); p != nil && p.Refused == "" {
			m.met[q.Node]++
			m.heard[q.Node] = m.s.now
			m.joined(q)
		}
	case *rm.RegisterMaster:
		if answer[*rm.MasterRegistered](effects) != nil {
			t := m.of(q.Who.Attempt)
			t.join()
			t.seen, m.said[q.Who.Attempt] = m.s.now, m.s.now
		}
	case *rm.Allocate:
		m.of(q.Who.Attempt).seen = m.s.now // whatever it said
		if p := answer[*rm.Allocated](effects); p != nil {
			m.said[q.Who.Attempt] = m.s.now
			m.allocated(q, p)
		}
	case *rm.FinishMaster:
		m.of(q.Who.Attempt).seen = m.s.now
	case *rm.Started:
		m.of(q.Container.Attempt).seen = m.s.now
	case rm.Tick:
		m.early(effects)
		m.silences()
	case rm.Stored:
		m.finals()
	default:
	}
	m.s.shell.m.Publish(m.s.stats.Steps % 4) // views are being made while other things happen
	if m.s.stats.Steps%16 == 0 {
		m.views()
		m.finals()
	}
}

// lives checks the ends of applications, and drops forgotten ones: if one of these is submitted again it is a new one.
func (m *model) lives(effects []rm.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case *rm.Ended:
			m.s.progress = m.s.now
			m.ranOnce(e.App, effects)
			if m.lines[e.App]++; m.lines[e.App] > 1 {
				m.s.fail("ended twice", "%s", e.App)
			}
		case *rm.Store:
			for _, c := range e.Changes {
				if id := c.Drop; !id.IsZero() {
					m.over(id)
					m.acked = slices.DeleteFunc(m.acked, func(a ids.App) bool { return a == id })
					delete(m.ends, id)
					delete(m.lines, id)
					delete(m.most, id)
				}
			}
		case rm.UseKey:
			if e.Ring == rm.NodeRing {
				for _, n := range nodesOf(m.s.view()) {
					m.met[n.ID]++
				}
			}
		default:
		}
	}
}

// answer returns the immediate answer to a message, or the zero value if there is none or it is an error.
func answer[T any](effects []rm.Effect) (none T) {
	for _, e := range effects {
		if a, ok := e.(*rm.Answer); ok {
			if v, ok := a.Value.(T); ok {
				return v
			}
		}
	}
	return none
}

// books makes the machine recount.
func (m *model) books() {
	if wrong := m.s.shell.m.Check(); len(wrong) > 0 {
		slices.Sort(wrong)
		m.s.fail("books", "%q", wrong)
	}
}

// calls checks that calls are answered once: at once, or when something is stored.
func (m *model) calls(msg rm.Message, effects []rm.Effect) {
	c, waits := callOf(msg)
	if c != 0 {
		m.open[c] = msg
	}
	for _, e := range effects {
		a, ok := e.(*rm.Answer)
		if !ok {
			continue
		}
		q := m.open[a.Call]
		if q == nil {
			m.s.fail("answers", "call %d is answered twice, or was never made", a.Call)
		}
		delete(m.open, a.Call)
		if a.Err == nil {
			m.promised(q, a.Value)
		} else if q, ok := q.(*rm.Refresh); ok && m.s.shell.m.Scheduler() != m.refused {
			m.s.fail("refresh", "%v, and another scheduler is at work all the same", a.Err)
		} else if q != nil && a.Value != nil {
			m.s.fail("answers", "call %d is answered with an error and a value", a.Call)
		}
	}
	if m.open[c] != nil && !waits {
		m.s.fail("answers", "%s is not answered", describe(msg))
	}
}

// promised checks that what an answer says is on the disk.
func (m *model) promised(msg rm.Message, value any) {
	disk := &m.s.disk
	switch q := msg.(type) {
	case *rm.SubmitApp:
		if _, ok := disk.apps[q.App.ID]; !ok && m.lines[q.App.ID] == 0 {
			m.s.fail("promise", "%s is taken in and not stored", q.App.ID)
		}
		for _, j := range m.s.jobs {
			earlier := j.id.Cluster != m.s.shell.date // to whom earlier starts gave their ids is not kept
			if j.id == q.App.ID && user(j) != q.Who.User && !earlier {
				m.s.fail("owner", "%s, which was given to %s, is taken from %s", j.id, user(j), q.Who.User)
			}
		}
		if !slices.Contains(m.acked, q.App.ID) {
			m.acked = append(m.acked, q.App.ID)
			for _, j := range m.s.jobs {
				j.acked = j.acked || j.id == q.App.ID
				j.over = j.over && j.id != q.App.ID
			}
		}
	case *rm.KillApp:
		m.isOver(q.App)
	case *rm.FinishMaster:
		m.isOver(q.Who.Attempt.App)
	case *rm.MoveApp:
		m.stands(q, q.App, func(r *rm.AppRecord) bool { return strings.HasSuffix(r.Queue, "."+q.Queue) })
	case *rm.SetPriority:
		m.stands(q, q.App, func(r *rm.AppRecord) bool { return r.Priority == value })
	case *rm.SetLifetime:
		m.stands(q, q.App, func(r *rm.AppRecord) bool { return r.Lifetime == q.Until })
	default:
	}
}

// stands fails unless an application is on the disk as requested, and is shown as it is there.
func (m *model) stands(q rm.Message, id ids.App, wanted func(*rm.AppRecord) bool) {
	p, err := m.s.reports().App(id)
	if err != nil {
		return
	}
	for _, o := range m.open { // order: any will do
		if reflect.TypeOf(o) == reflect.TypeOf(q) {
			return // what that message wants may be on the disk by now
		}
	}
	r := m.s.disk.apps[id]
	if !wanted(&r) {
		m.s.fail("promise", "%s is answered, and stored are queue %s, priority %d and lifetime %d", describe(q), r.Queue, r.Priority, r.Lifetime)
	}
	if shown := (rm.AppRecord{Queue: p.Queue, Priority: p.Priority, Lifetime: p.Lifetime}); !wanted(&shown) {
		m.s.fail("promise", "%s is answered, and shown are queue %s, priority %d and lifetime %d", describe(q), p.Queue, p.Priority, p.Lifetime)
	}
}

// isOver fails unless the end of an application is on the disk.
func (m *model) isOver(id ids.App) {
	if rec, ok := m.s.disk.apps[id]; ok && rec.State == "" {
		m.s.fail("promise", "%s is over and not stored so", id)
	}
}

// starting checks a master that is being started: its location must be on the disk.
func (m *model) starting(e *rm.StartMaster) {
	m.grant(e.ID)
	m.of(e.ID.Attempt).seen = m.s.now
	m.s.progress = m.s.now
	if m.s.disk.attempts[e.ID.Attempt].MasterID != e.ID.ID {
		m.s.fail("promise", "%s is started and not stored", e.ID)
	}
	if want := m.s.disk.contexts[e.App].Context; string(e.Context) != string(want) {
		m.s.fail("context", "%s is started with %q; submitted with %q", e.ID, e.Context, want)
	}
	m.sized(e)
}

// sized fails if a master gets less than it asks for although an earlier master that got less failed by its own fault.
func (m *model) sized(e *rm.StartMaster) {
	for _, j := range m.s.jobs {
		if j.id != e.App || e.Size[heddle.Memory] >= j.sub.Master[heddle.Memory] {
			continue
		}
		m.s.stats.Cut++
		for id, k := range m.s.disk.attempts { // order: any will do
			if id.App == e.App && k.Heap > 0 && k.State == "FAILED" && !slices.Contains(lostStatuses, k.Exit) {
				m.s.fail("too small again", "%s has %d MiB, and %s failed in a heap of %d", e.ID, e.Size[heddle.Memory], id, k.Heap)
			}
		}
	}
}

// lostStatuses are the exit statuses of masters that did not fail by their own fault.
var lostStatuses = []int32{int32(heddle.Preempted), int32(heddle.Aborted), int32(heddle.DisksFailed), int32(heddle.KilledByRM)}

// grant records the id of a granted container.
func (m *model) grant(id ids.Container) {
	if m.granted[id] {
		m.s.fail("container id", "%s is given out twice", id)
	}
	m.granted[id] = true
	m.held(id)
}

// allocated checks the answer to a master's call.
func (m *model) allocated(q *rm.Allocate, p *rm.Allocated) {
	t := m.of(q.Who.Attempt)
	if t.last != nil && p.ID == t.last.ID {
		again := *p
		again.NewToken = t.last.NewToken // keys may have changed meanwhile
		if !reflect.DeepEqual(&again, t.last) {
			m.s.fail("repeated call", "%s is answered differently when it calls again", q.Who.Attempt)
		}
		return
	}
	t.last = new(*p) // as it was sent
	t.last.Granted, t.last.Completed, t.last.Tokens = slices.Clone(p.Granted), slices.Clone(p.Completed), slices.Clone(p.Tokens)
	app, _ := m.s.reports().App(q.Who.Attempt.App)
	if app.Internal != string(rm.AppRunning) { // while it ends it is owed nothing
		return
	}
	for _, k := range q.Ask {
		if k.Place == "*" {
			t.owed[k.Priority] = max(k.Count, t.waiting[k.Priority])
		}
	}
	for _, id := range q.Release {
		t.back[id] = true
	}
	m.given(q, p, t)
	m.ended(p, t)
	m.holds(q.Who.Attempt, t)
	m.asks(q.Who.Attempt, t)
	m.wants(q.Who.Attempt.App, t)
}

// asks checks that what a master waits for is asked for, or is granted and not yet told.
func (m *model) asks(id ids.Attempt, t *attempt) {
	if !m.s.shell.m.Ready() {
		return
	}
	has := map[int32]int32{}
	list, _ := m.s.reports().Containers(id, 0, math.MaxInt)
	for _, c := range list {
		if _, told := t.told[c.ID]; !told && c.Kind != heddle.AM {
			has[c.Priority]++
		}
	}
	app, _ := m.s.reports().App(id.App)
	for _, r := range app.Requests {
		if r.Place == "*" && r.AllocID >= 0 {
			has[r.Priority] += r.Count
		}
	}
	for _, p := range slices.Sorted(maps.Keys(t.owed)) {
		if t.owed[p] != has[p] {
			m.s.fail("asks", "%s waits for %d at priority %d; %d are asked for or on their way", id, t.owed[p], p, has[p])
		}
	}
}

// given checks the containers that a master is told of.
func (m *model) given(q *rm.Allocate, p *rm.Allocated, t *attempt) {
	for _, n := range p.Tokens {
		t.tokens[n] = m.met[n]
	}
	for i := range p.Granted {
		g := &p.Granted[i]
		m.grant(g.ID)
		t.told[g.ID] = m.s.now
		if t.owed[g.Priority] <= 0 {
			m.s.fail("too many", "%s is one more at priority %d than was asked for", g.ID, g.Priority)
		}
		t.owed[g.Priority]--
		if at, has := t.tokens[g.Node]; !has || at != m.met[g.Node] {
			m.s.fail("token", "%s comes without a token for %s, which has registered since", g.ID, g.Node)
		}
		if g.ID.Attempt != q.Who.Attempt {
			m.s.fail("whose", "%s is told of %s", q.Who.Attempt, g.ID)
		}
	}
}

// ended checks the ends that a master is told.
func (m *model) ended(p *rm.Allocated, t *attempt) {
	for _, c := range p.Completed {
		if t.ended[c.ID] {
			m.s.fail("end twice", "the end of %s is told twice", c.ID)
		}
		t.ended[c.ID] = true
		delete(t.told, c.ID)
		if c.ID.Attempt != p.Attempt {
			m.s.fail("whose", "%s is told the end of %s", p.Attempt, c.ID)
		}
	}
}

// holds checks that a master knows what became of everything it was told of, and that what it released is released.
func (m *model) holds(id ids.Attempt, t *attempt) {
	list, _ := m.s.reports().Containers(id, 0, math.MaxInt)
	here := map[ids.Container]bool{}
	for _, c := range list {
		here[c.ID] = true
		if _, told := t.told[c.ID]; !told && c.Running && c.Kind != heddle.AM { // from before the restart
			t.told[c.ID] = m.s.now
		}
		if t.back[c.ID] && (m.s.disk.epoch() == c.ID.ID>>ids.EpochShift || m.s.now.Since(m.s.shell.began) < m.s.cfg.NodeExpiry) {
			m.s.fail("release", "%s was given back and is held", c.ID)
		}
		if t.ended[c.ID] {
			m.s.fail("end", "%s has ended, its master was told, and it is held", c.ID)
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(t.told), ids.Container.Compare) {
		if !here[c] {
			m.s.fail("end untold", "%s has ended, and its master is not told", c)
		}
	}
}
