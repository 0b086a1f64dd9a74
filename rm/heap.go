package rm

import (
	"cmp"

	"heddle"
)

// leastHeap is the smallest Java heap, in MiB, that a master is cut to: a JVM can start in it.
const leastHeap = 8

// heapIn returns the MiB of Java heap of a master in a container of this size: what its command gives it, or as much as
// the container has room for. It returns 0 if nothing is cut: the command cannot be changed, or the container is no
// smaller than what was asked for.
func (a *app) heapIn(size heddle.Resource) int64 {
	f, room := a.facts(), size[heddle.Memory]
	if f.MasterHeap == 0 || room >= a.Master[heddle.Memory] {
		return 0
	}
	return min(f.MasterHeap, max(room-f.BesideHeap(), leastHeap))
}

// tooSmall returns the largest Java heap, in MiB, with which a master of the application failed after it was cut to
// that size; 0 if none did. Nothing shows that a heap was too small: out of memory, a master ends with the code of any
// error (1 while starting and 255 later were seen), or stops answering. So any failure of its own counts. From then on
// masters get what was asked for, so at most one attempt is lost, and it does not count towards the attempts that an
// application may lose.
func (a *app) tooSmall() (heap int64) {
	for _, t := range a.attempts {
		if t.byItself() {
			heap = max(heap, t.heap)
		}
	}
	return heap
}

// facts returns what the core is told about an application, including that its masters must not be cut any more.
func (a *app) facts() heddle.Facts {
	f := a.Facts
	if a.tooSmall() > 0 {
		f.MasterHeap = 0
	}
	return f
}

// lives notes what a master's heap holds: the largest live heap of any of the application's masters counts, with what
// was used beside it then.
func (a *app) lives(m *Machine, h HeapNews) {
	if h.Live <= a.live {
		return
	}
	a.live, a.beside = h.Live, h.Outside
	m.remember(a, func(r *heddle.LastRun) {
		if h.Live > r.Heap { // the master may have just begun: the last one's need stands until this one is over
			a.keepHeap(r)
		}
	})
}

// keepHeap records the most that the heap of a master held. If it is not known with how many maps, no more than was
// recorded for a known number says nothing, and more than that is recorded for that number.
func (a *app) keepHeap(r *heddle.LastRun) {
	if a.Facts.Maps > 0 || r.Maps == 0 || a.live > r.Heap {
		r.Heap, r.Outside, r.Maps = a.live, a.beside, cmp.Or(a.Facts.Maps, r.Maps)
	}
}
