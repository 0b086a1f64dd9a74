package search

import (
	"container/heap"
	"fmt"
	"runtime/debug"
	"strings"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// A Failure is a rule that was broken.
type Failure struct {
	Rule  string // its name
	Text  string
	At    heddle.Time
	Trace []string // last messages, if the run was traced
}

// Error says what was broken and when.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %s: %s", clock(f.At), f.Rule, f.Text) }

// Stats counts what was simulated.
type Stats struct {
	Steps, Faults, Jobs, Starts, Containers int
	Cut                                     int // masters started in smaller containers
	Updates                                 int // changes of running containers that nodes made
	Wishes                                  int // carried out by node agents
	Effects                                 int // until all jobs were over
	Time                                    heddle.Span
}

// Add adds the counts of another run.
func (s *Stats) Add(o Stats) {
	s.Steps, s.Faults, s.Jobs, s.Starts = s.Steps+o.Steps, s.Faults+o.Faults, s.Jobs+o.Jobs, s.Starts+o.Starts
	s.Containers, s.Updates, s.Cut, s.Wishes, s.Time = s.Containers+o.Containers, s.Updates+o.Updates, s.Cut+o.Cut, s.Wishes+o.Wishes, s.Time+o.Time
}

// Options configure how a plan is run.
type Options struct {
	Trace int // number of trace lines that a failure includes, the last ones; 0 for none
	// Crash is the effect, counted from the start, before which the process crashes once; 0 for none. Kept is how many
	// of the records then on their way to the disk survive.
	Crash, Kept int
}

// A sim is a cluster in simulated time.
type sim struct {
	*setup
	seed     uint64
	o        Options
	now      heddle.Time
	queue    events
	seq      uint64
	failure  *Failure
	stats    Stats
	trace    []string
	progress heddle.Time // last time that jobs got something they wait for
	effects  int

	launchFault int  // fault of the next start of a master
	sameQueues  bool // queues are not reloaded when faults end, which would build another core
	reread      bool // queues were reloaded

	shape   shape
	lists   rm.HostLists
	wall    heddle.Span // how far the wall clock has jumped
	thawed  heddle.Time // when the process last continued after standing still
	shell   shell
	disk    disk
	nodes   []*node
	agents  []*agent
	masters []*master
	jobs    []*job
	client  link
	model   model
}

// An event is something that happens at a time.
type event struct {
	at  heddle.Time
	seq uint64
	do  func()
}

// events is a heap, the earliest first.
type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = event{}
	*q = (*q)[:last]
	return e
}

// broken ends a run: nothing continues in it.
type broken struct{}

// Run plays a plan and returns the first rule that was broken, or nil.
func Run(p *Plan, o Options) (Stats, *Failure) {
	s := &sim{setup: newSetup(p.Seed), seed: p.Seed, o: o}
	s.play(p)
	s.stats.Time = heddle.Span(s.now)
	if s.failure != nil {
		s.failure.Trace = s.trace
	}
	return s.stats, s.failure
}

// build starts the ResourceManager, the nodes and their agents.
func (s *sim) build() {
	s.model.init(s)
	s.client.name = "client"
	s.disk.init()
	s.start()
	for i := range s.setup.nodes {
		s.addNode(i)
		s.addAgent(s.nodes[i])
	}
}

// play starts the cluster, does what the plan says, repairs everything and waits until nothing is left.
func (s *sim) play(p *Plan) {
	defer func() {
		if why := recover(); why != nil {
			if _, ok := why.(broken); !ok {
				s.failure = &Failure{Rule: "panic", Text: fmt.Sprint(why) + "\n" + panicked(), At: s.now}
			}
		}
	}()
	s.build()
	for _, op := range p.Ops {
		s.runUntil(op.At)
		if what := acts[op.Kind].do(s, mix(op.Dice)); what != "" {
			s.note("-- %d %s: %s", op.I, acts[op.Kind].name, what)
			if !acts[op.Kind].job {
				s.stats.Faults++
			}
		}
	}
	s.settle()
}

// panicked returns where in package rm, or below it, a panic came from.
func panicked() string {
	var out []string
	for line := range strings.Lines(string(debug.Stack())) {
		if strings.HasPrefix(line, "heddle") && !strings.Contains(line, "/search.") {
			out = append(out, "\t"+strings.TrimSpace(line))
		}
	}
	return strings.Join(out[:min(len(out), 8)], "\n")
}

// fail ends the run because a rule was broken.
func (s *sim) fail(rule, format string, args ...any) {
	s.failure = &Failure{Rule: rule, Text: fmt.Sprintf(format, args...), At: s.now}
	panic(broken{})
}

// note adds a line to the trace.
func (s *sim) note(format string, args ...any) {
	if s.o.Trace == 0 {
		return
	}
	if s.trace = append(s.trace, clock(s.now)+" "+fmt.Sprintf(format, args...)); len(s.trace) > 2*s.o.Trace {
		s.trace = append(s.trace[:0], s.trace[len(s.trace)-s.o.Trace:]...)
	}
}

// after schedules something for later.
func (s *sim) after(d heddle.Span, do func()) {
	s.seq++
	heap.Push(&s.queue, event{s.now.Plus(d), s.seq, do})
}

// runUntil advances simulated time.
func (s *sim) runUntil(until heddle.Time) {
	for ticks := 0; ; {
		at, tick := s.due()
		if at > until {
			s.now = max(s.now, until)
			return
		}
		if at > s.now {
			s.now, ticks = at, 0
		}
		if !tick {
			heap.Pop(&s.queue).(event).do()
			continue
		}
		if ticks++; ticks > 100 {
			s.fail("ticks", "the machine wants to be told that time has passed although it has not")
		}
		s.step(rm.Tick{})
	}
}

// due returns when the next thing happens, and whether it is a tick.
func (s *sim) due() (at heddle.Time, tick bool) {
	at = 1<<63 - 1
	if len(s.queue) > 0 {
		at = s.queue[0].at
	}
	if s.shell.up && !s.shell.frozen {
		if d := s.shell.m.Deadline(); d < 1<<62 && s.shell.began.Plus(heddle.Span(d)) <= at {
			return max(s.shell.began.Plus(heddle.Span(d)), s.now), true
		}
	}
	return at, false
}

// settle repairs everything, waits until all jobs are over, and then for everything that may take a while.
func (s *sim) settle() {
	for range 2 { // earlier messages may arrive late
		s.heal()
		s.runUntil(s.now.Plus(heddle.Minute))
	}
	longest := max(s.cfg.NodeExpiry, s.cfg.MasterExpiry, s.cfg.ContainerExpiry)
	patience := 2*longest + 15*heddle.Minute
	s.progress = s.now
	for !s.over() {
		s.runUntil(s.now.Plus(20 * heddle.Second))
		if s.now.Since(s.progress) > patience {
			s.stuck()
		}
	}
	s.o.Crash, s.stats.Effects = 0, s.effects
	s.runUntil(s.now.Plus(longest + 2*heddle.Minute))
	s.leftovers()
}

// over reports whether every job has ended and its client knows the outcome.
func (s *sim) over() bool {
	if !s.shell.up {
		return false
	}
	for _, j := range s.jobs {
		if j.given && !j.over {
			return false
		}
	}
	return true
}

// stuck fails: nothing has happened for too long although nothing is wrong any more.
func (s *sim) stuck() {
	for _, j := range s.jobs {
		if !j.given || j.over {
			continue
		}
		p, err := s.reports().App(j.id)
		if err != nil {
			s.fail("stuck", "%s: %v; submitted %v", j.id, err, j.acked)
		}
		why, _ := s.reports().Why(j.id)
		s.fail("stuck", "%s is %s (%s), attempt %d, asks for %v, holds %d containers, %s: %+v", j.id, p.State, p.Internal, p.Attempt, p.Requests, p.Containers, s.masterText(p.Master), why)
	}
}

func (s *sim) masterText(id ids.Container) string {
	for _, m := range s.masters {
		if m.cont == id {
			return fmt.Sprintf("its master alive %v, registered %v, done %v", m.alive(), m.registered, m.done)
		}
	}
	return "no master was ever started"
}

func (s *sim) reports() rm.Reports { return s.shell.m.Reports() }

func (s *sim) view() *rm.View { return s.shell.m.View() }

func noPause(int) error { return nil }

// appsOf and nodesOf are the lists of a view, without pauses, which cannot fail.
func appsOf(v *rm.View, f *rm.AppFilter, at heddle.Time) []rm.AppReport {
	list, _ := v.Apps(f, at, noPause)
	return list
}

func nodesOf(v *rm.View) []rm.NodeReport {
	list, _ := v.Nodes(noPause)
	return list
}

// apps returns all applications.
func (s *sim) apps() []rm.AppReport {
	v := s.view()
	return appsOf(v, &rm.AppFilter{}, v.At())
}
