package apps

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"heddle"
	"heddle/workload"
)

// A chaos is a cluster that grants, ends and loses containers at random around one master. It checks that the master
// never asks for a negative number, runs no task twice at once, and runs no task again that is done and whose output
// still exists.
type chaos struct {
	t     *rapid.T
	rng   *rand.Rand
	m     Master
	c     Config
	nodes int
	evil  int // bad things still to happen
	now   heddle.Time
	beat  heddle.Time
	alarm heddle.Time
	over  Finish

	rows     map[place]heddle.Row
	inbox    Response
	last     heddle.ContainerID
	live     map[heddle.ContainerID]*chaosContainer
	runs     map[Work]heddle.ContainerID // by task: Container and Attempt unset
	done     map[Work]heddle.ContainerID
	on       map[heddle.ContainerID]heddle.NodeID
	ever     map[Work]bool
	failed   map[Work]int
	told     bool // the master hears of ends from the ResourceManager only
	badExits int
	park     bool // leave out the heartbeats of an idle master
	interval heddle.Span
	trace    []string
}

type chaosContainer struct {
	grant    Grant
	fetched  bool
	launched bool
	up       bool
	work     []Work
}

func taskOf(w Work) Work { return Work{Kind: w.Kind, Stage: w.Stage, Index: w.Index} }

func (x *chaos) ids() []heddle.ContainerID { return slices.Sorted(maps.Keys(x.live)) }

func (x *chaos) do(f func(out *Actions)) {
	var out Actions
	idle := x.m.(Idler).Idle()
	f(&out)
	if idle && !x.m.(Idler).Idle() && out.Beat == 0 {
		x.t.Fatal("is no longer idle and does not say when it calls")
	}
	if did := show(&out); did != "" {
		x.trace = append(x.trace, fmt.Sprintf("%.3f %s", x.now.Seconds(), did))
	}
	for _, r := range out.Rows {
		if r.Count < 0 {
			x.t.Fatalf("asks for %d", r.Count)
		}
		x.rows[place{r.Priority, r.AllocID, r.Host, r.Rack}] = r
	}
	for _, c := range out.Release {
		if x.live[c] != nil {
			x.end(c, heddle.Aborted)
		}
	}
	for _, c := range out.Launch {
		if k := x.live[c]; k != nil {
			if k.launched || !k.fetched {
				x.t.Fatalf("container %d launched twice or unfetched", c)
			}
			k.launched = true
		}
	}
	for _, w := range out.Work {
		x.startWork(w)
	}
	for _, c := range out.Stop {
		if x.live[c] == nil {
			continue
		}
		x.end(c, heddle.KilledByMaster)
	}
	if out.Beat != 0 {
		x.beat = out.Beat
	}
	if out.Alarm != 0 {
		x.alarm = out.Alarm
	}
	if (out.Beat != 0 && out.Beat < x.now) || (out.Alarm != 0 && out.Alarm < x.now) {
		x.t.Fatalf("asks for a call in the past")
	}
	x.over = out.Finish
}

func (x *chaos) startWork(w Work) {
	if c, on := x.runs[taskOf(w)]; on {
		x.t.Fatalf("%+v started while it runs in %d", w, c)
	}
	if c, ok := x.done[taskOf(w)]; ok {
		x.t.Fatalf("%+v started though done in %d", w, c)
	}
	k := x.live[w.Container]
	if k == nil {
		return // it died in the meantime: the master will hear of it
	}
	if !k.launched {
		x.t.Fatalf("%+v started in a container that was not launched", w)
	}
	k.work = append(k.work, w)
	x.runs[taskOf(w)] = w.Container
}

// end ends a container.
func (x *chaos) end(c heddle.ContainerID, status heddle.ExitStatus) {
	k := x.live[c]
	delete(x.live, c)
	for _, w := range k.work {
		delete(x.runs, taskOf(w))
	}
	if k.grant.Kind == heddle.Executor && status != heddle.Success {
		maps.DeleteFunc(x.done, func(_ Work, on heddle.ContainerID) bool { return on == c })
	}
	if k.fetched {
		x.inbox.Completed = append(x.inbox.Completed, Completed{c, status})
		return
	}
	// Its request is restored, as the ResourceManager does.
	x.inbox.Granted = slices.DeleteFunc(x.inbox.Granted, func(g Grant) bool { return g.Container == c })
	key := place{k.grant.Priority, k.grant.AllocID, heddle.NoNode, heddle.NoRack}
	r := x.rows[key]
	r.Count++
	x.rows[key] = r
}

func (x *chaos) grant() {
	keys := slices.SortedFunc(maps.Keys(x.rows), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.alloc, b.alloc), cmp.Compare(a.host, b.host), cmp.Compare(a.rack, b.rack))
	})
	keys = slices.DeleteFunc(keys, func(p place) bool {
		return p.host != heddle.NoNode || p.rack != heddle.NoRack || x.rows[p].Count <= 0
	})
	if len(keys) == 0 {
		return
	}
	key := keys[x.rng.IntN(len(keys))]
	n := heddle.NodeID(x.rng.IntN(x.nodes))
	r := x.rows[key]
	for _, p := range []place{key, {key.priority, key.alloc, heddle.NoNode, x.c.rack(n)}, {key.priority, key.alloc, n, heddle.NoRack}} {
		if row := x.rows[p]; row.Count > 0 {
			row.Count--
			x.rows[p] = row
		}
	}
	x.last++
	g := Grant{Container: x.last, Node: n, Priority: r.Priority, Kind: r.Kind, Size: r.Size, AllocID: r.AllocID}
	x.live[x.last] = &chaosContainer{grant: g}
	x.on[x.last] = n
	x.inbox.Granted = append(x.inbox.Granted, g)
}

// finish ends a piece of work, sometimes with a failure.
func (x *chaos) finish() {
	var busy []heddle.ContainerID
	for _, c := range x.ids() {
		if k := x.live[c]; len(k.work) > 0 && (k.up || k.grant.Kind != heddle.Executor) {
			busy = append(busy, c)
		}
	}
	if len(busy) == 0 {
		return
	}
	c := busy[x.rng.IntN(len(busy))]
	k := x.live[c]
	w := k.work[0]
	k.work = k.work[1:]
	delete(x.runs, taskOf(w))
	limit := 3
	if k.grant.Kind == heddle.Executor {
		limit = 1 // the failures of two executors may count too
	}
	ok := x.evil == 0 || x.failed[taskOf(w)] == limit || x.rng.IntN(4) > 0
	if ok {
		x.done[taskOf(w)] = c
		x.ever[taskOf(w)] = true
	} else {
		x.evil--
		x.failed[taskOf(w)]++
	}
	x.do(func(out *Actions) { x.m.WorkDone(x.now, w, ok, out) })
	if k.grant.Kind == heddle.Executor {
		return
	}
	status := heddle.Success
	if !ok {
		status = 1
	}
	if x.live[c] != nil {
		x.end(c, status)
	}
}

// harm kills a container or loses a node.
func (x *chaos) harm() {
	if x.evil == 0 {
		return
	}
	x.evil--
	ids := x.ids()
	if x.rng.IntN(3) > 0 {
		if len(ids) > 0 {
			statuses := []heddle.ExitStatus{heddle.Aborted, heddle.Preempted}
			c := ids[x.rng.IntN(len(ids))]
			if x.live[c].grant.Kind == heddle.Executor && x.badExits < 2 {
				statuses = append(statuses, 1)
			}
			status := statuses[x.rng.IntN(len(statuses))]
			if status == 1 {
				x.badExits++
			}
			x.end(c, status)
		}
		return
	}
	n := heddle.NodeID(x.rng.IntN(x.nodes))
	for _, c := range ids {
		if x.live[c].grant.Node == n {
			x.end(c, heddle.Aborted)
		}
	}
	if !x.told {
		maps.DeleteFunc(x.done, func(w Work, c heddle.ContainerID) bool { return w.Kind != heddle.Reduce && x.on[c] == n })
	}
	x.inbox.LostNodes = append(x.inbox.LostNodes, n)
}

func (x *chaos) up() {
	for _, c := range x.ids() {
		if k := x.live[c]; k != nil && k.launched && !k.up && x.rng.IntN(2) == 0 {
			k.up = true
			x.do(func(out *Actions) { x.m.Up(x.now, c, out) })
		}
	}
}

func (x *chaos) run() {
	x.do(func(out *Actions) { x.m.Start(x.now, out) })
	for step := 0; x.over == Running; step++ {
		if step == 20000 {
			x.t.Fatalf("still running at %v s: %d live, %d running, %d done, rows %v",
				x.now.Seconds(), len(x.live), len(x.runs), len(x.ever), x.rows)
		}
		for range x.rng.IntN(6) {
			next := x.beat
			if x.alarm != 0 {
				next = min(next, x.alarm)
			}
			if next <= x.now+8 {
				break
			}
			x.now += (next - x.now) / 8 // between the calls, never at the same instant
			switch k := x.rng.IntN(10); {
			case k < 4:
				x.grant()
			case k < 8:
				x.finish()
			case k < 9:
				x.up()
			default:
				x.harm()
			}
			if x.over != Running {
				x.t.Fatal("finished between its beats")
			}
		}
		if x.alarm != 0 && x.alarm <= x.beat {
			x.now, x.alarm = max(x.now, x.alarm), 0
			x.do(func(out *Actions) { x.m.Alarm(x.now, out) })
			continue
		}
		x.now = max(x.now, x.beat)
		in := x.inbox
		in.Nodes = x.nodes
		in.Headroom = heddle.Of(int64(x.rng.IntN(8))*1024, 8000)
		x.inbox = Response{}
		for _, g := range in.Granted {
			x.live[g.Container].fetched = true
		}
		idle := x.m.(Idler).Idle() && len(in.Granted)+len(in.Completed)+len(in.LostNodes) == 0
		if idle && x.park {
			x.beat = x.now.Plus(x.interval)
			continue
		}
		x.do(func(out *Actions) {
			beat(x.m, x.now, &in, out)
			if did := show(out); idle && did != "" {
				x.t.Fatalf("was idle and does %s", did)
			}
		})
	}
}

// twice runs a master with and without the heartbeats at which it is idle, which must not make a difference, and
// returns the second run.
func twice(t *rapid.T, build func(x *chaos) Master) *chaos {
	nodes, evil := rapid.IntRange(1, 8).Draw(t, "nodes"), rapid.IntRange(0, 60).Draw(t, "evil")
	seed, hosts := rapid.Uint64().Draw(t, "seed"), rapid.Bool().Draw(t, "hosts")
	var runs [2]*chaos
	for i := range runs {
		x := newChaos(t, nodes, evil, seed, hosts)
		x.park = i == 0
		x.m = build(x)
		x.run()
		runs[i] = x
	}
	if d := gocmp.Diff(runs[1].trace, runs[0].trace); d != "" {
		t.Fatalf("with idle beats left out (+):\n%s", d)
	}
	return runs[1]
}

func newChaos(t *rapid.T, nodes, evil int, seed uint64, hosts bool) *chaos {
	x := &chaos{
		t: t, nodes: nodes, evil: evil, interval: heddle.Second,
		rng:  rand.New(rand.NewPCG(seed, 0)),
		rows: map[place]heddle.Row{}, live: map[heddle.ContainerID]*chaosContainer{}, runs: map[Work]heddle.ContainerID{},
		done: map[Work]heddle.ContainerID{}, on: map[heddle.ContainerID]heddle.NodeID{}, ever: map[Work]bool{}, failed: map[Work]int{},
	}
	for n := range x.nodes {
		x.c.Rack = append(x.c.Rack, heddle.RackID(n/3))
	}
	if hosts {
		x.c.Hosts = func(w Work) []heddle.NodeID {
			n := heddle.NodeID(int(w.Index*7+w.Stage) % x.nodes)
			return []heddle.NodeID{n, (n + 2) % heddle.NodeID(x.nodes)}
		}
	}
	return x
}

// finished checks the outcome: success, and every task done.
func (x *chaos) finished(tasks []Work) {
	if x.over != FinishedWell {
		x.t.Fatalf("the job failed")
	}
	for _, w := range tasks {
		if !x.ever[w] {
			x.t.Fatalf("%+v was never done", w)
		}
	}
}

func tasksOf(k heddle.Kind, stage, n int) []Work {
	var w []Work
	for i := range n {
		w = append(w, Work{Kind: k, Stage: int32(stage), Index: int32(i)})
	}
	return w
}

func TestMapReduceRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nm, nr := rapid.IntRange(0, 40).Draw(t, "maps"), rapid.IntRange(0, 8).Draw(t, "reduces")
		atOnce := rapid.Bool().Draw(t, "atOnce")
		x := twice(t, func(x *chaos) Master {
			x.c.AllReducesAtOnce = atOnce
			return NewMapReduce(mrJob(nm, nr, 2048), x.c)
		})
		x.finished(tasksOf(heddle.Reduce, 0, nr))
		if nr == 0 { // here reduces end without waiting for maps, and the job ends with them
			x.finished(tasksOf(heddle.Map, 0, nm))
		}
	})
}

func TestLoadSimulatorRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nm, nr, no := rapid.IntRange(0, 20).Draw(t, "maps"), rapid.IntRange(0, 8).Draw(t, "reduces"), rapid.IntRange(0, 8).Draw(t, "other")
		j := mrJob(nm, nr, 2048)
		for i := range no {
			j.Other = append(j.Other, workload.Task{Size: heddle.Of(int64(1+i%3)*1024, 1000), Priority: int32(i % 2)})
		}
		x := twice(t, func(x *chaos) Master {
			x.told = true
			return NewLoadSimulator(j, x.c)
		})
		x.finished(slices.Concat(tasksOf(heddle.Map, 0, nm), tasksOf(heddle.Reduce, 0, nr), tasksOf(heddle.Other, 0, no)))
	})
}

func TestSparkRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stages := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 6).Draw(t, "stages")
		j := sparkJob(rapid.IntRange(0, 6).Draw(t, "executors"))
		var all []Work
		for i, n := range stages {
			st := workload.Stage{
				ID: i, Tasks: make([]workload.Task, n), Input: rapid.Bool().Draw(t, "input"),
				Caches: rapid.Bool().Draw(t, "caches"), Cached: rapid.Bool().Draw(t, "cached"),
				Pause: heddle.Span(rapid.IntRange(0, 10).Draw(t, "pause")) * heddle.Second,
			}
			for p := range i {
				if rapid.IntRange(0, 2).Draw(t, "parent") == 0 {
					st.Parents = append(st.Parents, p)
				}
			}
			j.Spark.Stages = append(j.Spark.Stages, st)
			all = append(all, tasksOf(heddle.Executor, i, n)...)
		}
		if rapid.Bool().Draw(t, "dynamic") {
			lo := rapid.IntRange(0, 3).Draw(t, "min")
			j.Spark.Dynamic = &workload.Dynamic{Min: lo, Max: lo + rapid.IntRange(1, 10).Draw(t, "max"), IdleTimeout: 2 * heddle.Second}
		}
		prefer, shuffle := rapid.Bool().Draw(t, "prefer"), rapid.Bool().Draw(t, "shuffle")
		x := twice(t, func(x *chaos) Master {
			x.interval = sparkHeartbeat
			x.c.PreferInput = prefer
			if shuffle {
				x.c.Rand = x.rng
			}
			return NewSpark(j, x.c)
		})
		x.finished(all)
	})
}

// The same calls produce the same actions.
func TestDeterministic(t *testing.T) {
	trace := func() string {
		s := ""
		for range 3 {
			m := NewMapReduce(mrJob(50, 5, 2048), Config{Hosts: func(w Work) []heddle.NodeID { return []heddle.NodeID{heddle.NodeID(w.Index % 7)} }, Rack: make([]heddle.RackID, 7)})
			var out Actions
			m.Start(0, &out)
			for i := range 20 {
				out.Reset()
				beat(m, heddle.Time(i), &Response{Granted: gr(20, heddle.Map, gib, heddle.NodeID(i%7), i*3+1, 3)}, &out)
				s += fmt.Sprintln(show(&out))
			}
		}
		return s
	}
	if a, b := trace(), trace(); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}
