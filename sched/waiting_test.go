package sched_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// A crowdJob has tasks of one size, all at once, and for MapReduce half as many reduces.
type crowdJob struct {
	Kind   heddle.Kind
	Tasks  int
	Size   heddle.Resource
	Length int // maximum seconds a task runs; the shortest runs half as long
	Local  bool
	User   int
}

// A crowd is more small jobs than the cluster has room for, each followed by another when it ends, and a few large
// ones, followed likewise, that the small ones keep waiting.
type crowd struct {
	Nodes        int
	Small, Large []crowdJob
	Alive        int // small jobs at a time
	Seed         uint64
}

// half is half a node of a crowd's cluster.
var half = heddle.Of(8192, 8000)

func drawJob(t *rapid.T, large bool) crowdJob {
	j := crowdJob{
		Kind:   rapid.SampledFrom([]heddle.Kind{heddle.Map, heddle.Map, heddle.Reduce, heddle.Executor, heddle.Other}).Draw(t, "kind"),
		Tasks:  rapid.IntRange(1, 4).Draw(t, "tasks"),
		Length: rapid.IntRange(1, 6).Draw(t, "length"),
		Local:  rapid.Bool().Draw(t, "local"),
		User:   rapid.IntRange(0, 1).Draw(t, "user"),
	}
	n := int64(rapid.IntRange(1, 3).Draw(t, "size"))
	if large {
		n, j.Tasks = 8/n, j.Tasks*3 // 8, 4 or 2 of a node's 16
	}
	j.Size = heddle.Of(1024*n, 1000*n)
	return j
}

var crowds = rapid.Custom(func(t *rapid.T) crowd {
	c := crowd{Nodes: rapid.IntRange(2, 5).Draw(t, "nodes"), Seed: rapid.Uint64().Draw(t, "seed")}
	c.Alive = rapid.IntRange(2, 5).Draw(t, "alive") * c.Nodes
	for range rapid.IntRange(1, 4).Draw(t, "small jobs") {
		c.Small = append(c.Small, drawJob(t, false))
	}
	for range rapid.IntRange(1, 4).Draw(t, "large jobs") {
		c.Large = append(c.Large, drawJob(t, true))
	}
	return c
})

// A waiting drives a core with a crowd as a cluster would, and checks how long applications are passed over.
type waiting struct {
	crowd
	set    policy.Set
	core   *sched.Core
	rand   *rand.Rand
	now    heddle.Time
	jobs   []*liveJob // by AppID
	small  int        // alive
	born   int        // small jobs submitted so far
	run    []runningTask
	hold   heddle.Span // the longest time a task has held its room
	broken string
}

type liveJob struct {
	crowdJob
	large  int // index in crowd.Large, or −1
	asked  bool
	left   int
	over   bool
	since  heddle.Time // since when it asks with an open gate; −1 means it does not
	ahead  int         // applications ahead of it when its patience ended; −1 means it has not ended
	passed heddle.Time // PassedOver when last looked at
}

type runningTask struct {
	id      heddle.ContainerID
	app     heddle.AppID
	granted heddle.Time
	left    heddle.Span // time left to run
}

// patience is that of the sets under test, look is how often the order checks whether it is over, reports is how often
// a node reports, and longest is how long a task holds its room at most: it runs for up to 6 s, and starts at its
// master's next heartbeat but one.
const (
	patience = 10 * heddle.Second
	look     = 5 * heddle.Second
	reports  = heddle.Second
	longest  = 7500 * heddle.Millisecond
	tickStep = 250 * heddle.Millisecond
)

func newWaiting(c crowd, set policy.Set) *waiting {
	w := &waiting{crowd: c, set: set, core: sched.New(set), rand: rand.New(rand.NewPCG(c.Seed, 1))}
	for n := range c.Nodes {
		w.step(heddle.NodeUp{Node: heddle.NodeID(n), Rack: heddle.RackID(n % 2), Total: heddle.Of(16384, 16000), Can: heddle.AllCaps})
	}
	for i := range c.Large {
		w.submit(c.Large[i], i)
	}
	return w
}

func (w *waiting) submit(j crowdJob, large int) {
	id := heddle.AppID(len(w.jobs))
	w.jobs = append(w.jobs, &liveJob{crowdJob: j, large: large, since: -1, ahead: -1})
	facts := heddle.Facts{Maps: int32(j.Tasks)}
	framework := heddle.MapReduce
	switch j.Kind {
	case heddle.Executor:
		facts, framework = heddle.Facts{}, heddle.Spark
	case heddle.Reduce:
		facts.Reduces = int32((j.Tasks + 1) / 2)
	default:
	}
	if large < 0 {
		w.small++
	}
	w.step(heddle.Submit{
		App: id, Queue: 1, User: heddle.UserID(j.User), Framework: framework,
		Master: heddle.Of(1024, 1000), Facts: facts,
	})
}

// ask sends what a job's master asks for when it starts.
func (w *waiting) ask(id heddle.AppID) {
	j := w.jobs[id]
	j.asked, j.left = true, j.Tasks
	kind := j.Kind
	if kind == heddle.Reduce {
		kind = heddle.Map
	}
	rows := []heddle.Row{heddle.Anywhere(20, kind, int32(j.Tasks), j.Size)}
	if j.Local && kind == heddle.Map {
		n := heddle.NodeID(w.rand.IntN(w.Nodes))
		host, rack := rows[0], rows[0]
		host.Host, rack.Rack = n, heddle.RackID(n%2)
		rows = append(rows, host, rack)
	}
	if j.Kind == heddle.Reduce {
		n := (j.Tasks + 1) / 2
		j.left += n
		rows = append(rows, heddle.Anywhere(10, heddle.Reduce, int32(n), j.Size))
	}
	w.step(heddle.Ask{App: id, Rows: rows})
}

func (w *waiting) step(ev heddle.Event) {
	for _, d := range w.core.Step(w.now, ev) {
		switch d := d.(type) {
		case *heddle.Launch:
			w.judge(d.App)
			if d.Kind != heddle.AM {
				j := w.jobs[d.App]
				length := heddle.Span(j.Length) * heddle.Second * heddle.Span(50+w.rand.IntN(51)) / 100
				w.run = append(w.run, runningTask{id: d.Container, app: d.App, granted: w.now, left: length})
			}
		case *heddle.Kill:
			w.run = slices.DeleteFunc(w.run, func(r runningTask) bool { return r.id == d.Container })
		default:
		}
	}
}

// quarter simulates a quarter of a second: masters ask, tasks run and end, a node reports in every fourth quarter, and
// waiting applications are checked.
func (w *waiting) quarter(i int) {
	w.now = w.now.Plus(tickStep)
	for w.small < w.Alive {
		w.submit(w.Small[w.born%len(w.Small)], -1)
		w.born++
	}
	if at, ok := w.core.Deadline(); ok && w.now >= at {
		w.step(heddle.Wake{})
	}
	w.tasks(i)
	for n := range w.Nodes {
		if (i+n)%4 == 0 {
			w.step(heddle.Heartbeat{Node: heddle.NodeID(n)})
		}
	}
	for id, j := range w.jobs {
		a := w.core.View().App(heddle.AppID(id))
		switch {
		case j.over:
		case !j.asked && a.Master() != nil:
			w.ask(a.ID())
		case j.asked && i%4 == 0:
			w.step(heddle.Acquire{App: a.ID()})
		}
	}
	w.look()
}

// tasks makes running tasks progress, report and end.
func (w *waiting) tasks(i int) {
	for _, r := range slices.Clone(w.run) {
		x := w.core.View().Container(r.id)
		if x == nil {
			continue
		}
		at := slices.IndexFunc(w.run, func(o runningTask) bool { return o.id == r.id })
		switch x.State() {
		case cluster.Acquired:
			w.step(heddle.Started{Container: r.id})
			continue
		case cluster.Running:
		default:
			continue
		}
		if !x.Suspended() {
			w.run[at].left -= tickStep
		}
		switch {
		case w.run[at].left <= 0:
			w.run = slices.Delete(w.run, at, at+1)
			w.hold = max(w.hold, w.now.Since(r.granted))
			w.step(heddle.Exit{Container: r.id})
			if x.Kind() == heddle.Map {
				w.step(heddle.Output{App: r.app, Node: heddle.NodeID(int(r.id) % w.Nodes), Bytes: 1 << 20})
			}
			w.ended(r.app)
		case i%8 == 0:
			w.step(heddle.Profile{Container: r.id, CPU: int64(w.rand.IntN(1001)), Memory: x.Limit()[heddle.Memory] / 2})
			phase := heddle.MapRead
			if x.Kind() == heddle.Reduce {
				phase = heddle.ReduceCopy
			}
			w.step(heddle.Progress{Container: r.id, Phase: phase, Fraction: 0.3})
		}
	}
}

// ended counts a task's end; if it was a job's last, another job of the same size class follows.
func (w *waiting) ended(id heddle.AppID) {
	j := w.jobs[id]
	if j.left--; j.left > 0 {
		return
	}
	j.over, j.since = true, -1
	w.step(heddle.AppDone{App: id})
	if j.large < 0 {
		w.small--
	} else {
		w.submit(j.crowdJob, j.large)
	}
}

// look updates since when every application has been asking with an open gate.
func (w *waiting) look() {
	v := w.core.View()
	for id, j := range w.jobs {
		a := v.App(heddle.AppID(id))
		if a == nil {
			continue
		}
		w.judge(a.ID())
		if a.PassedOver() != j.passed {
			j.passed, j.ahead = a.PassedOver(), -1
		}
		switch open := w.open(a); {
		case !open:
			j.since, j.ahead = -1, -1
		case j.since < 0:
			j.since = w.now
		}
		if j.ahead < 0 && j.since >= 0 && w.now.Since(a.PassedOver()) > patience {
			j.ahead = w.before(a)
		}
	}
}

// open reports whether the application asks for anything that no gate holds back.
func (w *waiting) open(a *policy.App) bool {
	for _, k := range a.Asks() {
		if k.Count() == 0 {
			continue
		}
		open := true
		for _, g := range w.set.Gate[k.Kind()] {
			open = open && g.Open(w.core.View(), a, k.Kind()).OK()
		}
		if open {
			return true
		}
	}
	return false
}

// before counts the applications that ask for something and have been passed over for longer.
func (w *waiting) before(a *policy.App) (n int) {
	v := w.core.View()
	for id := range v.AppIDs() {
		b := v.App(heddle.AppID(id))
		if b == nil || b == a || b.Pending().IsZero() {
			continue
		}
		if p := b.PassedOver(); p < a.PassedOver() || p == a.PassedOver() && b.ID() < a.ID() {
			n++
		}
	}
	return n
}

// judge compares the wait of an application that is being checked, or has just been given something, with the bound.
func (w *waiting) judge(id heddle.AppID) {
	j := w.jobs[id]
	if j.since < 0 || j.ahead < 0 {
		return
	}
	waited := w.now.Since(max(j.since, j.passed))
	bound := patience + look + heddle.Span(j.ahead+1)*2*(longest+reports) + heddle.Second/4 // it is checked every quarter of a second
	if waited > bound && w.broken == "" {
		w.broken = fmt.Sprintf("at %v application %d (%+v) has been passed over for %v; %d were ahead of it, the bound is %v", w.now, id, j.crowdJob, waited, j.ahead, bound)
	}
}

// spans are the patience, in seconds, of every policy in heddle that has one.
type spans struct{ order, share, node, executor int }

func (p spans) set() policy.Set {
	q := leafQueue("root.a", 0, 1)
	q.MaxAMShare, q.UserLimitFactor, q.MinimumUserLimit = 0.3, -1, 1
	changes := fmt.Sprintf(`
lanes:
  - {kinds: [am, map, reduce, executor, other], order: {shortest: {patience: %d}}}
share: [{dress: {cap: last, keep: jobs, delta_max: 0.1, patience: %d}}, capacity]
place:
  map: [any, {uncrowded: {patience: %[3]d}}]
  reduce: [any, {uncrowded: {busy: 0.9, patience: %[3]d}}]
  executor: {ikayak.executor: {patience: %[4]d}}
`, p.order, p.share, p.node, p.executor)
	return scheduler{name: "heddle", profile: "heddle", changes: changes, capacity: capacityConfig(nil, q)}.set()
}

// passedOver runs five minutes of a crowd.
func (c crowd) passedOver(p spans) *waiting {
	w := newWaiting(c, p.set())
	for i := 0; i < 1200 && w.broken == ""; i++ {
		w.quarter(i)
	}
	if w.hold > longest {
		panic(fmt.Sprintf("a task held its room for %v", w.hold))
	}
	return w
}

const (
	short = int(patience / heddle.Second)
	ever  = 86400
)

// executors returns a crowd of executors only, for which no estimate says when they end.
func executors(seed int) crowd {
	nodes := 2 + seed%4
	return crowd{
		Nodes: nodes, Alive: 8 * nodes, Seed: uint64(seed),
		Small: []crowdJob{{Kind: heddle.Executor, Tasks: 2 + seed%3, Size: heddle.Of(1024, 1000), Length: 2 + seed%5}},
		Large: []crowdJob{{Kind: heddle.Executor, Tasks: 1, Size: half, Length: 6}},
	}
}

// No application with an open gate is passed over for longer than the bound that package shortest states.
func TestNobodyIsPassedOverForEver(t *testing.T) {
	all := spans{short, short, short, short}
	for seed := range 10 {
		if w := executors(seed).passedOver(all); w.broken != "" {
			t.Errorf("executors, %d: %s", seed, w.broken)
		}
	}
	policytest.Streams(t, func(t *rapid.T) {
		if w := crowds.Draw(t, "crowd").passedOver(all); w.broken != "" {
			t.Fatal(w.broken)
		}
	})
}

// Without the patience of one of the policies that have one, some crowd keeps an application waiting for longer.
func TestWhoWouldBePassedOver(t *testing.T) {
	for _, c := range []struct {
		name  string
		spans spans
		crowd func(seed int) crowd
	}{
		{"order", spans{ever, short, short, short}, func(seed int) crowd { return crowds.Example(seed) }},
		{"share", spans{short, ever, short, short}, executors},
		{"executor", spans{short, short, short, 0}, executors},
	} {
		n := 0
		for seed := range 10 {
			if c.crowd(seed).passedOver(c.spans).broken != "" {
				n++
			}
		}
		if t.Logf("%s: %d of 10 crowds", c.name, n); n == 0 {
			t.Errorf("%s: the bound holds without its patience: the driver cannot tell", c.name)
		}
	}
}
