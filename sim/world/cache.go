package world

import "heddle"

// A pageCache is what the operating system of a node keeps of its files in memory that nothing else uses: what came in
// last, by reading from the disk or by writing. What came in first is evicted first.
//
// Bytes are numbered in the order in which they came in; those from low to high are in memory.
type pageCache struct {
	low, high float64
}

// holds returns the fraction of the bytes between two numbers that is in memory.
func (c *pageCache) holds(from, to float64) float64 {
	if from = max(from, 0); from >= to {
		return 0
	}
	return max(0, to-max(from, c.low)) / (to - from)
}

// room returns how many bytes of files fit in the memory of a node: the memory that neither the system nor a process
// has.
func (w *World) room(n *node) float64 {
	return max(0, float64(n.memory)*(1-w.p.ReservedMemory)-float64(n.resident)) * mib
}

// admit puts bytes into the cache of a node and evicts what no longer fits.
func (w *World) admit(i int32, bytes float64) {
	if !w.fx.PageCache {
		return
	}
	n := &w.nodes[i]
	was := n.cache.high - n.cache.low
	n.cache.high += bytes
	n.cache.low = max(n.cache.low, n.cache.high-w.room(n))
	if by := n.cache.high - n.cache.low - was; by != 0 {
		w.kept += float64(w.cached * w.now.Since(w.keptAt).Seconds())
		w.keptAt = w.now
		w.cached += by
	}
}

// chargeable returns how many bytes of files a container's group may have in memory: what the process leaves of the
// container's limit. Without a limit of its own, a container may have as many as the node has.
func (c *container) chargeable() float64 {
	return max(0, float64(c.limit[heddle.Memory]-c.held)) * mib
}

// warm returns the fraction of the given bytes of a task's own files, spilled since it began, that is still in memory.
func (w *World) warm(t *task, bytes float64) float64 {
	if !w.fx.PageCache || bytes <= 0 {
		return 0
	}
	cache := &w.nodes[t.node].cache
	part := cache.holds(t.mark, cache.high)
	if c := &w.conts[t.cont]; c.limited {
		part = min(part, c.chargeable()/bytes)
	}
	return part
}

// pass determines what of a stage that begins goes through the caches of its nodes. Writes are accepted at once, to be
// written back, as far as dirty pages have room.
func (w *World) pass(i int32) {
	if !w.fx.PageCache {
		return
	}
	for l := range w.acts[i].nlegs {
		g := w.acts[i].legs[l]
		by := w.takeIn(g.node, g.writes)
		w.acts[i].legs[l].disk -= by
		w.acts[i].legs[l].passes = g.disk
	}
}

// passed puts what a stage read and wrote into the caches. The bytes of a task's own files are charged to its group,
// which evicts from its own files if its limit is reached.
func (w *World) passed(a *act) {
	if !w.fx.PageCache || a.task < 0 {
		return
	}
	own := a.own
	if c := &w.conts[a.cont]; c.limited {
		own = min(own, max(0, c.chargeable()-c.charged))
		c.charged += own
	}
	for l := range a.nlegs {
		bytes := a.legs[l].passes
		if l == 0 {
			bytes += own - a.own
		}
		w.admit(a.legs[l].node, bytes)
	}
	if p := a.pool; p != nil && p.total > 0 {
		for k := range p.src {
			s := &p.src[k]
			w.admit(s.node, a.reads*s.bytes/p.total*s.cold)
		}
	}
}

// setCold sets the fraction of what readers want of a source that is not in memory: they read what was left last.
func (w *World) setCold(p *pool, s *source) {
	if !w.fx.PageCache {
		return
	}
	read := 0.0
	for _, i := range p.copying {
		if t := &w.tasks[w.acts[i].task]; t.part > 0 {
			read += t.copied / t.part / float64(len(p.copying))
		}
	}
	s.cold = 1 - w.nodes[s.node].cache.holds(s.from+read*(s.to-s.from), s.to)
}

// takeIn accepts bytes to be written back, as many as dirty pages have room for on a node, and returns their number. A
// stage that belongs to no task, the node's flusher, writes them to the disk.
func (w *World) takeIn(i int32, bytes float64) float64 {
	n := &w.nodes[i]
	left := 0.0
	if n.flusher >= 0 {
		w.progress(n.flusher)
		a := &w.acts[n.flusher]
		left = a.left * a.legs[0].disk
	}
	bytes = min(bytes, w.p.DirtyRatio*w.room(n)-left)
	if bytes <= 0 {
		return 0
	}
	if n.flusher >= 0 {
		w.unplug(n.flusher)
	} else {
		n.flusher = slot(&w.freeA, &w.acts)
	}
	w.seq++
	w.acts[n.flusher] = act{task: -1, cont: -1, home: i, weight: 1, mult: 1, fetch: 1, left: 1, since: w.now, end: never, nlegs: 1, seq: w.seq}
	w.acts[n.flusher].legs[0] = leg{node: i, disk: left + bytes}
	w.plug(n.flusher)
	return bytes
}

// flushed ends the flusher of a node.
func (w *World) flushed(i int32) {
	n := &w.nodes[i]
	if n.flusher < 0 {
		return
	}
	w.unplug(n.flusher)
	w.acts[n.flusher].seq = 0
	w.freeA = append(w.freeA, n.flusher)
	n.flusher = -1
}
