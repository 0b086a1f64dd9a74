package world

import (
	"math"

	"heddle"
)

// An act is a stage of a task that is running, or would be if its container were not suspended.
type act struct {
	home   int32
	nlegs  int32
	npath  int32
	on     bool // has its claims on the nodes
	moved  bool // in World.moved
	cpu    float64
	mult   float64 // factor by which a lack of memory raises processor and disk needs
	weight float64 // of its claim on a busy processor
	width  float64 // cores it can keep busy
	fetch  float64 // weight for receiving: connections
	rate   float64 // change of left per second
	peak   float64 // the highest rate this stage can have alone
	pool   *pool   // for a stage that reads what others left on many nodes
	legs   [4]leg  // at home, where it reads, and at up to two nodes where it writes

	left    float64 // 1 at the start, 0 at the end
	since   heddle.Time
	end     heddle.Time
	task    int32
	cont    int32
	poolPos int32
	reads   float64 // bytes from the pool
	own     float64 // bytes at home of the task's own files, not of the file system
	seq     int64
	paths   [2]path // over uplinks
}

// add gives a stage a leg on another node.
func (a *act) add(g leg) {
	a.legs[a.nlegs] = g
	a.nlegs++
}

// spill adds bytes that a stage writes to its task's own files, and bytes of them that it reads from the disk.
func (a *act) spill(writes, reads float64) {
	g := &a.legs[0]
	g.disk += writes + reads
	g.writes += writes
	a.own += writes + reads
}

// A leg is what a stage does on one node, in bytes over its whole length.
type leg struct {
	node          int32
	pos           int32 // in node.users
	disk, in, out float64
	writes        float64 // the written part of disk
	passes        float64 // what goes through the page cache
	share         float64 // the rate this node would allow
}

// shared reports whether other nodes influence the rate.
func (a *act) shared() bool { return a.nlegs > 1 || a.pool != nil }

// slot returns a place in a list: a freed one, as it was left, or a new one at the end.
func slot[T any](free *[]int32, all *[]T) int32 {
	if n := len(*free); n > 0 {
		i := (*free)[n-1]
		*free = (*free)[:n-1]
		return i
	}
	*all = append(*all, *new(T))
	return int32(len(*all) - 1)
}

// newAct takes an act from the free list; the caller fills it in and calls plug.
func (w *World) newAct(t int32) int32 {
	i := slot(&w.freeA, &w.acts)
	w.seq++
	c := &w.conts[w.tasks[t].cont]
	w.acts[i] = act{task: t, cont: w.tasks[t].cont, home: c.node, weight: c.weight / float64(len(c.tasks)), width: 1, mult: 1, fetch: 1, left: 1, since: w.now, end: never, nlegs: 1, seq: w.seq}
	w.acts[i].legs[0].node = c.node
	w.tasks[t].act = i
	return i
}

// plug gives a stage its claims.
func (w *World) plug(i int32) {
	a := &w.acts[i]
	a.on, a.since, a.rate, a.end = true, w.now, 0, never
	for l := range a.nlegs {
		n := &w.nodes[a.legs[l].node]
		a.legs[l].pos = int32(len(n.users))
		a.legs[l].share = 0
		n.users = append(n.users, user{i, l})
		w.touch(a.legs[l].node)
	}
	for k := range a.npath {
		w.cross(i, k)
	}
	if a.pool != nil {
		a.poolPos = int32(len(a.pool.copying))
		a.pool.copying = append(a.pool.copying, i)
	}
	w.setPeak(i)
}

// unplug removes a stage's claims and keeps what is left to do.
func (w *World) unplug(i int32) {
	a := &w.acts[i]
	if !a.on {
		return
	}
	w.progress(i)
	a.on, a.rate, a.end = false, 0, never
	for l := range a.nlegs {
		w.dropLeg(i, l)
	}
	for k := range a.npath {
		w.uncross(i, k)
	}
	if p := a.pool; p != nil {
		last := len(p.copying) - 1
		p.copying[a.poolPos] = p.copying[last]
		w.acts[p.copying[a.poolPos]].poolPos = a.poolPos
		p.copying = p.copying[:last]
		p.want -= float64(a.legs[0].share * a.reads)
		w.drift(p)
	}
}

// dropLeg removes one leg's claim.
func (w *World) dropLeg(i, l int32) {
	g := &w.acts[i].legs[l]
	n := &w.nodes[g.node]
	last := len(n.users) - 1
	n.users[g.pos] = n.users[last]
	moved := n.users[g.pos]
	w.acts[moved.act].legs[moved.leg].pos = g.pos
	n.users = n.users[:last]
	w.touch(g.node)
}

// free ends a stage for good.
func (w *World) free(i int32) {
	w.unplug(i)
	w.tasks[w.acts[i].task].act = -1
	w.acts[i].seq = 0
	w.freeA = append(w.freeA, i)
}

// setPeak computes the highest rate a stage can have: from the cores it can keep busy, its container's quota, the full
// disk and network of each node it touches, and its part of the uplinks.
func (w *World) setPeak(i int32) {
	a := &w.acts[i]
	n := &w.nodes[a.home]
	peak := 1e9
	if s := w.cpuNeed(a, n); s > 0 {
		c := &w.conts[a.cont]
		peak = min(peak, min(a.width, c.quota/float64(len(c.tasks)))/s)
	}
	for l := range a.nlegs {
		g := &a.legs[l]
		at := &w.nodes[g.node]
		disk := g.disk
		if l == 0 {
			disk *= a.mult * n.swap
		}
		peak = least(peak, at.disk, disk)
		peak = least(peak, at.nic, g.in)
		peak = least(peak, at.nic, g.out)
	}
	if a.pool != nil { // what is on this node comes from this disk
		here := a.reads - a.legs[0].in
		if w.fx.PageCache {
			here *= a.pool.coldAt(a.home)
		}
		peak = least(peak, n.disk, here)
	}
	peak *= w.overUplinks(a, peak)
	if peak == a.peak {
		return
	}
	a.peak = peak
	for l := range a.nlegs {
		w.touch(a.legs[l].node)
	}
}

// cpuNeed returns the core-seconds that a whole stage takes on its node.
func (w *World) cpuNeed(a *act, n *node) float64 { return a.cpu * a.mult * n.swap / n.speed }

func least(peak, capacity, need float64) float64 {
	if need > 0 {
		return min(peak, capacity/need)
	}
	return peak
}

// progress updates what is left of a stage to now.
func (w *World) progress(i int32) {
	a := &w.acts[i]
	if a.since == w.now {
		return
	}
	did := min(a.left, a.rate*heddle.Span(w.now-a.since).Seconds())
	a.left -= did
	a.since = w.now
	w.account(a, did)
}

// account charges the processor time of a part of a stage to its container.
func (w *World) account(a *act, did float64) {
	if a.task < 0 {
		return
	}
	c := &w.conts[a.cont]
	c.cpuUsed += float64(did * w.cpuNeed(a, &w.nodes[a.home]))
}

// setRate changes the rate of a stage, and with it its end.
func (w *World) setRate(i int32, rate float64) {
	a := &w.acts[i]
	if rate == a.rate && a.end != never {
		return
	}
	w.progress(i)
	a.rate = rate
	a.end = never
	if ns := math.Ceil(a.left / rate * 1e9); ns < 1e18 {
		a.end = w.now + heddle.Time(ns)
	}
}

// endStages ends the stages on a node that have reached their end, and lets their tasks go on.
func (w *World) endStages(n int32, done []Done) []Done {
	w.byNode.remove(n)
	w.ending = w.ending[:0]
	for _, u := range w.nodes[n].users {
		if u.leg == 0 && w.acts[u.act].end <= w.now {
			w.ending = append(w.ending, u.act)
		}
	}
	for k := 1; k < len(w.ending); k++ { // few: insertion sort by start
		for m := k; m > 0 && w.acts[w.ending[m]].seq < w.acts[w.ending[m-1]].seq; m-- {
			w.ending[m], w.ending[m-1] = w.ending[m-1], w.ending[m]
		}
	}
	w.touch(n)
	for _, i := range w.ending {
		a := &w.acts[i]
		if a.end > w.now { // a flusher that was given more in the meantime
			continue
		}
		w.account(a, a.left)
		a.left, a.since = 0, w.now
		w.passed(a)
		t := a.task
		if t < 0 {
			w.flushed(n)
			continue
		}
		w.free(i)
		done = w.stageDone(t, done)
	}
	return done
}
