package search

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// Priorities of masters' requests.
const (
	priorityExecutor  = 1
	priorityFailedMap = 5
	priorityReduce    = 10
	priorityMap       = 20
)

// A master is an ApplicationMaster: MapReduce's asks for maps and then for reduces, each of which runs and ends;
// Spark's asks for executors, which run until it has had enough of them.
type master struct {
	link
	id         ids.Attempt
	job        *job
	cont       ids.Container
	node       *node
	work       *work
	hung       heddle.Time
	registered bool
	done       bool // everything is done, and it says so
	resp       int32
	tasks      []*task
	rows       map[place]int32 // last request, if it still stands
	fresh      bool            // everything has to be requested again
	holds      map[ids.Container]*held
	release    []ids.Container
	avoid      []string // to be sent
	accept     bool     // to be sent: nothing is avoided any more
	avoided    map[string]heddle.Time
	enough     heddle.Time // when Spark's job is done; 0 before its first executor
}

// A place is what a row of a master's table is for.
type place struct {
	priority int32
	name     string
}

// A task is what a container is wanted for.
type task struct {
	priority int32
	host     int // index of its preferred node; −1 for anywhere
	took     heddle.Span
	cont     *held
	done     bool
}

// held is a container as its master knows it.
type held struct {
	rm.Granted
	task  *task
	work  *work // nil before it is started
	since heddle.Time
}

// epoch returns which process of the ResourceManager granted a container.
func (h *held) epoch() int64 { return h.ID.ID >> ids.EpochShift }

// startMaster starts the master of an attempt in its container.
func (s *sim) startMaster(n *node, w *work, g rm.Granted) {
	i := slices.IndexFunc(s.jobs, func(j *job) bool { return j.given && j.id == g.ID.Attempt.App })
	m := &master{
		link: link{name: g.ID.Attempt.String(), key: uint64(1000*g.ID.Attempt.App.Seq + g.ID.Attempt.N)}, id: g.ID.Attempt, job: s.jobs[i],
		cont: g.ID, node: n, work: w, rows: map[place]int32{}, holds: map[ids.Container]*held{}, avoided: map[string]heddle.Time{},
	}
	w.master = m
	s.masters = append(s.masters, m)
	s.plan(m)
	s.think(m, s.dice(m, 0).span(heddle.Second, 4*heddle.Second), func() { s.round(m) })
}

// dice returns the dice for a master's choice.
func (s *sim) dice(m *master, n uint64) *dice { return mix(s.seed, 8, m.key, n) }

// plan chooses what a master has to run.
func (s *sim) plan(m *master) {
	d := s.dice(m, 1)
	add := func(n int, priority int32, from, to heddle.Span) {
		for range n {
			t := &task{priority: priority, host: -1, took: d.span(from, to)}
			if d.in(2) {
				t.host = d.n(len(s.nodes))
			}
			m.tasks = append(m.tasks, t)
		}
	}
	add(m.job.maps, priorityMap, 5*heddle.Second, 60*heddle.Second)
	add(m.job.reduces, priorityReduce, 10*heddle.Second, 90*heddle.Second)
	add(m.job.executors, priorityExecutor, 0, 0)
}

// alive reports whether the master's process exists.
func (m *master) alive() bool { return !m.work.Over }

// think makes a master do something once it does not hang, if it lives that long.
func (s *sim) think(m *master, d heddle.Span, do func()) {
	s.after(d, func() {
		switch {
		case !m.alive():
		case s.now < m.hung:
			s.think(m, min(m.hung.Since(s.now), 5*heddle.Second), do)
		default:
			do()
		}
	})
}

// say makes one call of a master. The master handles the result once it does not hang.
func (s *sim) say(m *master, what func(rm.Call) rm.Message, done func(any), failed func(class string)) {
	s.call(&m.link, func(c rm.Call) rm.Message {
		if !s.shell.admitted[m.id] {
			return nil
		}
		return what(c)
	}, func(v any, err error) {
		s.think(m, 0, func() {
			if bad := (*rm.Invalid)(nil); errors.As(err, &bad) {
				failed(bad.Class[strings.LastIndexByte(bad.Class, '.')+1:])
				return
			}
			done(v)
		})
	}, func() {
		s.think(m, heddle.Second, func() {
			if s.shell.up && !s.shell.admitted[m.id] { // its token is no longer valid
				m.node.end(m.work, 1, "not let in")
				return
			}
			failed("")
		})
	})
}

// round is what a master does about every second.
func (s *sim) round(m *master) {
	switch {
	case !m.registered:
		s.join(m)
	case m.done:
		s.finish(m)
	default:
		s.ask(m)
	}
}

func (s *sim) caller(m *master) rm.Caller { return rm.Caller{Attempt: m.id, Key: 1} }

func (s *sim) join(m *master) {
	s.say(m, func(c rm.Call) rm.Message {
		return &rm.RegisterMaster{Call: c, Who: s.caller(m), Host: m.node.host, Port: 7, Tracking: "http://" + m.node.host}
	}, func(any) {
		m.registered, m.resp, m.fresh = true, 0, true
		if list := slices.SortedFunc(maps.Keys(m.holds), ids.Container.Compare); len(list) > 0 && s.dice(m, m.calls).in(3) {
			m.lost(m.holds[list[0]]) // it has changed its mind
		}
		s.round(m)
	}, func(class string) {
		if class == "" {
			s.round(m)
			return
		}
		m.node.end(m.work, 1, "not wanted: "+class)
	})
}

// finish says that a master is done, sometimes more than once and with another call in between.
func (s *sim) finish(m *master) {
	if s.dice(m, 3).in(3) && s.shell.admitted[m.id] {
		last := m.resp
		s.order(func(c rm.Call) rm.Message { return &rm.FinishMaster{Call: c, Who: s.caller(m), Final: rm.Succeeded} })
		s.order(func(c rm.Call) rm.Message { return &rm.Allocate{Call: c, Who: s.caller(m), Last: last} })
	}
	s.say(m, func(c rm.Call) rm.Message {
		return &rm.FinishMaster{Call: c, Who: s.caller(m), Final: rm.Succeeded, Diagnostics: "done"}
	}, func(any) {
		s.think(m, s.dice(m, 2).span(heddle.Second, 6*heddle.Second), func() { m.node.end(m.work, 0, "") })
	}, func(class string) { s.refused(m, class) })
}

// refused handles a call that was answered with an exception or not at all.
func (s *sim) refused(m *master, class string) {
	switch class {
	case "":
		s.round(m) // repeat
	case notRegistered:
		m.registered = false
		s.round(m)
	default:
		m.node.end(m.work, 1, "its call was refused: "+class)
	}
}

// ask makes an allocate call. If there is no answer the same call is repeated, as Hadoop's clients do.
func (s *sim) ask(m *master) {
	q := rm.Allocate{Who: s.caller(m), Last: m.resp, Progress: 0.5, Ask: m.table(s), Release: m.release, Avoid: m.avoid}
	if m.accept {
		q.Accept = slices.Sorted(maps.Keys(m.avoided))
		clear(m.avoided)
	}
	m.release, m.avoid, m.accept = nil, nil, false
	for _, host := range q.Avoid {
		m.avoided[host] = never
	}
	s.send(m, &q)
}

// never is a time that never comes.
const never = heddle.Time(1<<63 - 1)

func (s *sim) send(m *master, q *rm.Allocate) {
	s.say(m, func(c rm.Call) rm.Message { k := *q; k.Call = c; return &k }, func(v any) {
		p := v.(*rm.Allocated)
		m.resp = p.ID
		for _, host := range q.Avoid {
			m.avoided[host] = s.now
		}
		s.hearMaster(m, p)
		s.think(m, s.every, func() { s.round(m) })
	}, func(class string) {
		if class == "" {
			s.send(m, q)
			return
		}
		m.release = append(m.release, q.Release...) // sent again to another ResourceManager
		s.refused(m, class)
	})
}

// table returns what has changed in a master's requests since it last sent them, or all of them.
func (m *master) table(s *sim) []rm.Request {
	want := map[place]int32{}
	for _, t := range m.tasks {
		if t.done || t.cont != nil || t.priority == priorityReduce && !m.half() {
			continue
		}
		want[place{t.priority, "*"}]++
		if t.host >= 0 {
			n := s.nodes[t.host]
			name := n.host
			if s.cfg.PortInNodeName {
				name = n.id().String()
			}
			want[place{t.priority, name}]++
			want[place{t.priority, n.rack}]++
		}
	}
	for k := range m.rows { // order: into a map
		want[k] += 0
	}
	var out []rm.Request
	for _, k := range slices.SortedFunc(maps.Keys(want), comparePlaces) {
		if n, said := m.rows[k]; said && n == want[k] && !m.fresh {
			continue
		}
		m.rows[k] = want[k]
		out = append(out, rm.Request{Priority: k.priority, Place: k.name, Size: heddle.Of(m.job.size, m.job.vcores), Count: want[k]})
	}
	m.fresh = false
	return out
}

// half reports whether half of the maps are done, so that reduces may begin.
func (m *master) half() bool {
	n, done := 0, 0
	for _, t := range m.tasks {
		if t.priority == priorityMap || t.priority == priorityFailedMap {
			n++
			if t.done {
				done++
			}
		}
	}
	return 2*done >= n
}

// hearMaster handles an answer to a master.
func (s *sim) hearMaster(m *master, p *rm.Allocated) {
	for i := range p.Completed {
		s.completed(m, &p.Completed[i])
	}
	for i := range p.Granted {
		s.given(m, &p.Granted[i])
	}
	for _, id := range slices.SortedFunc(maps.Keys(m.holds), ids.Container.Compare) {
		if h := m.holds[id]; s.now.Since(h.since) > 5*heddle.Minute && (h.work == nil || h.work.Over) && h.epoch() != s.disk.epoch() {
			m.lost(h) // perhaps nobody will ever tell what happened to it
		}
	}
	if m.enough > 0 && s.now >= m.enough || !slices.ContainsFunc(m.tasks, func(t *task) bool { return !t.done }) {
		m.done = true
	}
}

// lost gives up a container of a master.
func (m *master) lost(h *held) {
	delete(m.holds, h.ID)
	m.release = append(m.release, h.ID)
	h.task.cont = nil
}

// completed handles the end of a container that its master is told.
func (s *sim) completed(m *master, c *rm.ContainerEnd) {
	s.progress = s.now
	h := m.holds[c.ID]
	if h == nil {
		return
	}
	delete(m.holds, c.ID)
	t := h.task
	if t.cont = nil; c.Exit == 0 && h.work != nil {
		t.done = true
		return
	}
	if t.priority == priorityMap {
		t.priority = priorityFailedMap
	}
}

// given handles a container granted to a master: it starts the container, or releases it if nothing is left to run.
func (s *sim) given(m *master, g *rm.Granted) {
	s.progress = s.now
	for k := range m.rows { // order: all of them
		if k.priority == g.Priority {
			m.rows[k] = -1 // sent again with the next call
		}
	}
	i := slices.IndexFunc(m.tasks, func(t *task) bool { return t.priority == g.Priority && !t.done && t.cont == nil })
	if i < 0 {
		m.release = append(m.release, g.ID)
		return
	}
	h := &held{Granted: *g, task: m.tasks[i], since: s.now}
	h.task.cont, m.holds[g.ID] = h, h
	if m.enough == 0 && g.Priority == priorityExecutor {
		m.enough = s.now.Plus(m.job.took)
	}
	d := mix(s.seed, 9, uint64(g.ID.ID), uint64(g.ID.Attempt.App.Seq))
	n, expires := s.at(g.Node), s.now.Plus(s.cfg.ContainerExpiry)
	slow := 2 * heddle.Second
	if d.in(20) {
		slow = 40 * heddle.Second
	}
	s.after(d.span(heddle.Millisecond, slow), func() { // it continues without its master
		if m.holds[g.ID] != h {
			return
		}
		w, err := s.begin(n, h.Granted, expires)
		switch {
		case err == nil:
			h.work = w
			s.run(n, w, h.task, d)
		case d.in(2) || h.epoch() != s.disk.epoch(): // otherwise it waits until told that nobody started it
			m.lost(h)
		}
	})
}

// run makes a task end after its time, successfully or not.
func (s *sim) run(n *node, w *work, t *task, d *dice) {
	if t.took == 0 {
		return
	}
	exit := int32(0)
	if d.in(20) {
		exit = 1
	}
	s.after(t.took, func() { n.end(w, exit, "as the node says") })
}
