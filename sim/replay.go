package sim

import (
	"math/rand/v2"
	"slices"

	"heddle"
	"heddle/internal/slab"
	"heddle/sim/apps"
)

// replay is the given world on machines with few cores. A task computes, in competition with everything else on its
// machine, and then waits as long as it did in its trace. Starting masters and executors takes what Costs say.
// Suspending a container stops its waiting, but not what it computes.
type replay struct {
	given
	costs *Costs
	cores *cores
	parts []JobParts // by job
	loads []Load     // future ones, in order
	phase []phase    // by run
	warm  slab.Bits  // nodes that have run something
	rests endings    // ends of the waits of tasks whose processes do something afterwards
	rng   *rand.Rand // for the spread of what is computed
	done  []task
}

// phase is the phase that a run is in.
type phase uint8

const (
	computing phase = iota // all of a map or of a Spark task
	starting               // a reduce's process
	holding                // a reduce waits for maps
	reducing               // a reduce after them
	resting                // in one of the heaps
	ending                 // what its process does at the end
)

func newReplay(s *Sim) *replay {
	r := &replay{given: given{s: s}, costs: s.o.Costs, cores: s.o.Costs.newCores(len(s.o.Nodes)), parts: s.o.Parts}
	r.rng = rand.New(rand.NewPCG(s.o.Seed, 0xc057))
	r.loads, r.warm = slices.Clone(s.o.Loads), slab.NewBits(len(s.o.Nodes))
	slices.SortStableFunc(r.loads, func(a, b Load) int { return int(a.At - b.At) })
	return r
}

func (r *replay) machine(n heddle.NodeID) *machine { return &r.cores.machines[r.costs.machineOf(n)] }

// spend computes what something in a container costs, and then makes then happen.
func (r *replay) spend(now heddle.Time, in *container, c *Cost, then entry) {
	r.machine(in.node).add(now, r.differing(c.CPU), c.width(), task{run: noRun, rest: c.Rest, then: then, after: c.After, of: in.id})
}

// differing returns what one process or task computes if cpu is the stated value.
func (r *replay) differing(cpu float64) float64 {
	if r.costs.Spread == 0 {
		return cpu
	}
	return cpu * (1 + r.costs.Spread*(2*r.rng.Float64()-1))
}

const noRun = int32(-1)

// launch starts a master or an executor. The process of a map or a reduce is part of the task.
func (r *replay) launch(now heddle.Time, c *container) (later bool) {
	cost := &r.costs.Executor
	switch c.kind {
	case heddle.AM:
		if cost, _ = r.costs.master(c.app); cost == nil {
			return false
		}
	case heddle.Executor:
	default:
		return false
	}
	begun := *cost
	begun.CPU += r.first(c.node)
	r.spend(now, c, &begun, c.begins())
	return true
}

// first returns the additional cost of a process if it is its node's first.
func (r *replay) first(n heddle.NodeID) float64 {
	if r.warm.Has(int32(n)) {
		return 0
	}
	r.warm.Set(int32(n), true)
	return r.costs.First
}

func (r *replay) launchDelay() heddle.Span { return r.costs.Launch }

// leave ends an application whose master has nothing left to do.
func (r *replay) leave(now heddle.Time, a *app, gone entry) (later bool) {
	_, cost := r.costs.master(a)
	c := r.s.container(a.masterAt)
	if cost == nil || c == nil {
		return false
	}
	r.spend(now, c, cost, gone)
	return true
}

func (r *replay) linger(a *app) heddle.Span {
	if a.job.Framework == heddle.MapReduce {
		return r.costs.Linger
	}
	return 0
}

// part returns what a piece of work consists of. If that is not known, it only waits, for its whole duration.
func (r *replay) part(a *app, w apps.Work) Part {
	var list []Part
	if a.id < len(r.parts) {
		j := &r.parts[a.id]
		switch w.Kind {
		case heddle.Map:
			list = j.Maps
		case heddle.Reduce:
			list = j.Reduces
		case heddle.Executor:
			if int(w.Stage) < len(j.Stages) {
				list = j.Stages[w.Stage]
			}
		default:
		}
	}
	if int(w.Index) < len(list) {
		return list[w.Index]
	}
	return Part{Rest: r.s.durationOf(a, w)}
}

func (r *replay) run(now heddle.Time, c *container, w apps.Work) {
	i := r.newRun(now, c, w)
	for int(i) >= len(r.phase) {
		r.phase = append(r.phase, computing)
	}
	cpu, width := r.part(c.app, w).CPU, 1.0
	r.phase[i] = computing
	if w.Kind == heddle.Map {
		cpu += r.first(c.node)
	}
	if w.Kind == heddle.Reduce {
		r.phase[i], cpu = starting, r.first(c.node)+r.costs.Task.CPU-r.part(c.app, w).End
	}
	if w.Kind != heddle.Executor {
		width = r.costs.Task.width()
	}
	r.compute(now, c, i, cpu, width)
}

func (r *replay) compute(now heddle.Time, c *container, i int32, cpu, width float64) {
	r.machine(c.node).add(now, r.differing(cpu), width, task{run: i, gen: r.runs[i].gen, of: c.id})
}

// through handles the end of a computation.
func (r *replay) through(now heddle.Time, m *machine, t *task) {
	if c := r.s.container(t.of); c != nil {
		c.computed += t.done
	}
	if t.run == noRun {
		if t.after > 0 {
			m.add(now, t.after, 1, task{run: noRun, of: t.of})
		}
		if t.then.what != arrival { // no computation leads to an arrival
			t.then.at = now.Plus(t.rest)
			r.s.heap.push(t.then)
		}
		return
	}
	x := &r.runs[t.run]
	if !x.live || x.gen != t.gen {
		return
	}
	c := r.s.container(x.work.Container)
	switch {
	case r.phase[t.run] == starting && c.app.mapsLeft > 0:
		r.phase[t.run] = holding
		c.app.held = append(c.app.held, end{run: t.run, gen: x.gen})
	case r.phase[t.run] == starting:
		r.reduce(now, c, t.run)
	case r.phase[t.run] == ending:
		r.phase[t.run] = resting
		r.ends.push(end{now, t.run, x.gen})
	default:
		r.phase[t.run] = resting
		p := r.part(c.app, x.work)
		e := end{now.Plus(p.Rest), t.run, x.gen}
		if p.End > 0 {
			r.rests.push(e)
		} else {
			r.ends.push(e)
		}
	}
}

func (r *replay) reduce(now heddle.Time, c *container, i int32) {
	r.phase[i] = reducing
	r.compute(now, c, i, r.part(c.app, r.runs[i].work).CPU, 1)
}

// mapsDone lets the reduces that waited for the maps begin.
func (r *replay) mapsDone(now heddle.Time, a *app) {
	held := a.held
	a.held = nil
	for _, e := range held {
		if x := &r.runs[e.run]; x.live && x.gen == e.gen {
			r.reduce(now, r.s.container(x.work.Container), e.run)
		}
	}
}

func (r *replay) next() (heddle.Time, bool) {
	at, ok := r.given.next()
	if t, _, k := r.cores.next(); k && (!ok || t < at) {
		at, ok = t, true
	}
	if len(r.rests) > 0 && (!ok || r.rests[0].at < at) {
		at, ok = r.rests[0].at, true
	}
	if len(r.loads) > 0 && (!ok || r.loads[0].At < at) {
		at, ok = r.loads[0].At, true
	}
	return at, ok
}

func (r *replay) advance(now heddle.Time, done []ended) []ended {
	for len(r.loads) > 0 && r.loads[0].At <= now {
		l := &r.loads[0]
		r.machine(l.Node).add(now, l.Cost.CPU, l.Cost.width(), task{run: noRun})
		r.loads = r.loads[1:]
	}
	for len(r.rests) > 0 && r.rests[0].at <= now {
		e := r.rests.pop()
		if x := &r.runs[e.run]; !r.stale(e) {
			c := r.s.container(x.work.Container)
			r.phase[e.run] = ending
			r.compute(now, c, e.run, r.part(c.app, x.work).End, r.costs.TaskEnd.width())
		}
	}
	for i := range r.cores.machines {
		m := &r.cores.machines[i]
		if at, ok := m.next(); !ok || at > now {
			continue
		}
		r.done = m.through(now, r.done[:0])
		for k := range r.done {
			r.through(now, m, &r.done[k])
		}
	}
	return r.given.advance(now, done)
}

// close ends a container's process. Nobody needs what it would still compute.
func (r *replay) close(now heddle.Time, c *container) {
	for _, i := range c.runs {
		r.machine(c.node).remove(now, i, r.runs[i].gen)
	}
	r.given.close(now, c)
}

// consumed counts what the container's processes have computed, relative to its machine, as a NodeManager does.
func (r *replay) consumed(now heddle.Time, c *container) (float64, int64) {
	used := c.computed + r.machine(c.node).used(now, c.id)
	return used / r.s.vcore(c.node), c.limit[heddle.Memory]
}

// nodeUsed includes what the machine's cores beyond those in Costs do: they are busy with something else.
func (r *replay) nodeUsed(now heddle.Time, n heddle.NodeID) (float64, bool) {
	m := r.machine(n)
	others := max(coresOfNode(&r.s.o.Nodes[n])-m.cores, 0)
	return m.workedBy(now) + others*now.Since(0).Seconds(), true
}
