package search

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// shell is the ResourceManager's process, if there is one.
type shell struct {
	up, frozen bool
	m          *rm.Machine
	run        int         // number of earlier processes
	began      heddle.Time // when this process began
	date       int64       // likewise, in milliseconds since 1970
	last       rm.Call
	calls      map[rm.Call]waiting
	admitted   map[ids.Attempt]bool
	inbox      []func() // work held while the process stands still
	fuse       int      // effects until it crashes; −1 for no crash
	kept       uint64   // chooses how many of the records on their way to the disk survive the crash, from none to all
	down       heddle.Span
}

// waiting is a waiting caller.
type waiting struct {
	reply func(any, error)
	lost  func()
}

// firstDay is the date at which simulations begin.
const firstDay = 1_700_000_000_000

// start starts the process from what is on the disk.
func (s *sim) start() {
	if s.shell.up {
		return
	}
	sch, err := s.scheduler(s.shape)
	if err != nil {
		panic(err)
	}
	sh := &s.shell
	*sh = shell{
		up: true, run: sh.run, began: s.now, date: firstDay + int64(s.now.Plus(s.wall))/1e6,
		calls: map[rm.Call]waiting{}, admitted: map[ids.Attempt]bool{}, fuse: -1,
	}
	s.disk.starts++
	var effects []rm.Effect
	sh.m, effects = rm.New(rm.Options{
		Config: s.cfg, Scheduler: sch, Began: sh.date, Epoch: s.disk.epoch(), Lists: s.lists, State: s.disk.state(), Runs: s.disk.runsKept(), Nodes: s.disk.nodesKept(), Starts: s.disk.dates,
	})
	s.disk.dates = append(s.disk.dates, sh.date)
	s.note("the ResourceManager starts, number %d", sh.run)
	s.stats.Starts++
	s.model.started()
	s.carry(effects)
}

// after1 makes this process do something later, if it lives that long.
func (s *sim) after1(d heddle.Span, do func()) {
	run := s.shell.run
	s.after(d, func() {
		switch {
		case !s.shell.up || s.shell.run != run:
		case s.shell.frozen:
			s.shell.inbox = append(s.shell.inbox, func() {
				if s.shell.up && s.shell.run == run {
					do()
				}
			})
		default:
			do()
		}
	})
}

// hear handles a call that arrives at the process: reply gets the answer, lost is called if there is none.
func (s *sim) hear(what func(rm.Call) rm.Message, reply func(any, error), lost func()) {
	sh := &s.shell
	if !sh.up {
		lost()
		return
	}
	if sh.frozen {
		sh.inbox = append(sh.inbox, func() { s.hear(what, reply, lost) })
		return
	}
	sh.last++
	c := sh.last
	msg := what(c)
	if msg == nil { // the shell itself rejected it
		lost()
		return
	}
	sh.calls[c] = waiting{reply, lost}
	s.step(msg)
}

// step passes a message to the machine, checks the result, and carries out the effects.
func (s *sim) step(msg rm.Message) {
	s.stats.Steps++
	s.model.before(msg)
	effects := s.shell.m.Step(heddle.Time(s.now.Since(s.shell.began)), msg)
	if !dull(msg, effects) {
		s.note("%s", describe(msg))
	}
	s.model.after(msg, effects)
	s.carry(effects)
}

// carry carries out effects, unless the process crashes first.
func (s *sim) carry(effects []rm.Effect) {
	sh := &s.shell
	for _, e := range effects {
		if s.effects++; s.effects == s.o.Crash {
			sh.fuse, sh.kept, sh.down = 0, uint64(s.o.Kept), 10*heddle.Second
		}
		if sh.fuse == 0 {
			s.crash(sh.kept, sh.down)
			return
		}
		if sh.fuse > 0 {
			sh.fuse--
		}
		switch e := e.(type) {
		case *rm.Answer:
			if text := answered(e); text != "" {
				s.note("  answer %d: %s", e.Call, text)
			}
			w := sh.calls[e.Call]
			delete(sh.calls, e.Call)
			w.reply(e.Value, e.Err)
		case *rm.Store:
			s.write(e)
		case *rm.StartMaster:
			s.note("  start %s on %s", e.ID, e.Node)
			s.model.starting(e)
			s.launch(e)
		case *rm.StopMaster:
			s.note("  stop %s on %s", e.Container, e.Node)
			s.stopMaster(e)
		case rm.AdmitMaster:
			sh.admitted[e.Attempt] = true
		case rm.DropMaster:
			delete(sh.admitted, e.Attempt)
		case rm.MakeKey:
			s.makeKey(e)
		case rm.UseKey:
			s.note("  use the key %d of %s", e.ID, e.Ring)
		case *rm.ReadJob:
			s.readJob(e)
		case *rm.AskMaster:
			s.askMaster(e)
		case *rm.Log:
			s.note("  log: %s %v", e.Text, e.Args)
		case *rm.Ended:
			s.note("  %s ended as %s: %s", e.App, e.State, e.Diagnostics)
		case *rm.Altered:
		}
	}
}

// makeKey makes a key after a while, or fails to.
func (s *sim) makeKey(e rm.MakeKey) {
	s.note("  make the key %d of %s", e.ID, e.Ring)
	m, life := &rm.KeyMade{Ring: e.Ring}, s.shell.began
	if e.ID%5 == 0 {
		m.Failed = "no randomness"
	}
	s.after(heddle.Span(e.ID)*heddle.Second, func() {
		if s.shell.up && s.shell.began == life {
			s.step(m)
		}
	})
}

// crash ends the process at once. Of the records on their way to the disk, some survive: kept chooses how many.
func (s *sim) crash(kept uint64, down heddle.Span) {
	sh := &s.shell
	if !sh.up {
		return
	}
	n := int(kept % uint64(len(s.disk.pending)+1))
	s.note("the ResourceManager crashes; %d of %d records on their way to the disk are found again", n, len(s.disk.pending))
	for _, w := range s.disk.pending[:n] {
		s.disk.apply(w.changes)
	}
	s.disk.pending = nil
	calls := sh.calls
	inbox := sh.inbox
	sh.up, sh.frozen, sh.m, sh.calls, sh.inbox = false, false, nil, nil, nil
	sh.run++
	for _, c := range slices.Sorted(maps.Keys(calls)) {
		calls[c].lost()
	}
	for _, do := range inbox { // nobody is there: callers notice
		do()
	}
	s.after(down, s.start)
}

// overdue reports whether the machine's deadline has passed.
func (s *sim) overdue() bool {
	return heddle.Time(s.now.Since(s.shell.began)) >= s.shell.m.Deadline()
}

// freeze makes the process stand still for a while.
func (s *sim) freeze(d heddle.Span, tick bool) {
	sh := &s.shell
	sh.frozen = true
	run := sh.run
	s.after(d, func() {
		if !sh.up || sh.run != run {
			return
		}
		sh.frozen, s.thawed = false, s.now
		inbox := sh.inbox
		sh.inbox = nil
		if tick && s.overdue() {
			s.step(rm.Tick{})
		}
		for _, do := range inbox {
			do()
		}
	})
}

// disk is the store.
type disk struct {
	starts   int64
	dates    []int64 // of the starts
	apps     map[ids.App]rm.AppRecord
	attempts map[ids.Attempt]rm.AttemptRecord
	runs     map[rm.RunKey]rm.RunRecord
	nodes    map[ids.Node]rm.NodeRecord
	pending  []*write
	slow     heddle.Span // extra time that a write takes
	full     bool        // the next write fails
	contexts map[ids.App]rm.Submission
}

// write is a write on its way to the disk.
type write struct {
	seq     uint64
	changes []rm.Change
}

func (d *disk) init() {
	d.apps, d.attempts = map[ids.App]rm.AppRecord{}, map[ids.Attempt]rm.AttemptRecord{}
	d.nodes = map[ids.Node]rm.NodeRecord{}
	d.contexts, d.runs = map[ids.App]rm.Submission{}, map[rm.RunKey]rm.RunRecord{}
}

// write writes records, in order, each Store as a whole.
func (s *sim) write(e *rm.Store) {
	w := &write{e.Seq, copied(e.Changes)}
	s.disk.pending = append(s.disk.pending, w)
	d := mix(s.seed, 3, uint64(s.shell.run), e.Seq)
	run := s.shell.run
	s.after(d.span(heddle.Millisecond, 30*heddle.Millisecond)+s.disk.slow, func() {
		if !s.shell.up || s.shell.run != run {
			return
		}
		if s.disk.full { // the process ends as soon as it learns of it
			s.disk.full = false
			s.crash(0, 20*heddle.Second)
			return
		}
		for len(s.disk.pending) > 0 && s.disk.pending[0].seq <= w.seq {
			p := s.disk.pending[0]
			s.disk.pending = s.disk.pending[1:]
			s.disk.apply(p.changes)
			s.after1(heddle.Millisecond, func() { s.step(rm.Stored{Seq: p.seq}) })
		}
	})
}

// copied returns the changes as they are now: later changes by the machine are not on the disk.
func copied(list []rm.Change) []rm.Change {
	out := slices.Clone(list)
	for i := range out {
		if a := out[i].App; a != nil {
			out[i].App = new(*a)
		}
		if t := out[i].Attempt; t != nil {
			out[i].Attempt = new(*t)
		}
		if r := out[i].Run; r != nil {
			out[i].Run = new(*r)
		}
		if n := out[i].Node; n != nil {
			out[i].Node = new(*n)
		}
	}
	return out
}

// runsKept returns the last runs that a new process finds.
func (d *disk) runsKept() []rm.RunRecord { return slices.Collect(maps.Values(d.runs)) }

// nodesKept returns the nodes that a new process finds.
func (d *disk) nodesKept() []rm.NodeRecord { return slices.Collect(maps.Values(d.nodes)) }

// epoch returns the number of earlier processes on this disk.
func (d *disk) epoch() int64 { return d.starts - 1 }

func (d *disk) apply(changes []rm.Change) {
	for _, c := range changes {
		switch {
		case c.App != nil:
			a := *c.App
			if was, there := d.apps[a.ID]; c.SameContext && there {
				a.Context = was.Context
			} else if c.SameContext {
				panic(fmt.Sprintf("%s changes, and is not in the store", a.ID)) // the store would refuse the commit
			}
			d.apps[a.ID] = a
		case c.Attempt != nil:
			d.attempts[c.Attempt.ID] = *c.Attempt
		case c.Run != nil:
			d.runs[c.Run.RunKey] = *c.Run
		case c.DropAttempt != nil:
			delete(d.attempts, *c.DropAttempt)
		case c.DropRun != nil:
			delete(d.runs, *c.DropRun)
		case c.Node != nil:
			d.nodes[c.Node.ID] = *c.Node
		case c.DropNode != nil:
			delete(d.nodes, *c.DropNode)
		default:
			delete(d.apps, c.Drop)
			maps.DeleteFunc(d.attempts, func(id ids.Attempt, _ rm.AttemptRecord) bool { return id.App == c.Drop })
		}
	}
}

// state returns the applications that a new process finds.
func (d *disk) state() []rm.Recovered {
	var out []rm.Recovered
	for _, id := range slices.SortedFunc(maps.Keys(d.apps), ids.App.Compare) {
		sub := d.contexts[id]
		sub.Context = d.apps[id].Context
		r := rm.Recovered{AppRecord: d.apps[id], Submission: sub}
		for _, t := range d.attempts { // order: they are sorted below
			if t.ID.App == id {
				r.Attempts = append(r.Attempts, t)
			}
		}
		slices.SortFunc(r.Attempts, func(a, b rm.AttemptRecord) int { return cmp.Compare(a.ID.N, b.ID.N) })
		out = append(out, r)
	}
	return out
}
