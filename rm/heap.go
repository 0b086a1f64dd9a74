package rm

import "heddle"

// leastHeap is the least Java heap that a master is cut to, in MiB: a JVM starts in it.
const leastHeap = 8

// heapIn is how many MiB of Java heap a master has in a container of a size: what its command gives it, or as much of it
// as the container has room for. It is 0 where nothing is cut: the command cannot be, or the container is no smaller than
// what was asked for.
func (a *app) heapIn(size heddle.Resource) int64 {
	f, room := a.facts(), size[heddle.Memory]
	if f.MasterHeap == 0 || room >= a.Master[heddle.Memory] {
		return 0
	}
	return min(f.MasterHeap, max(room-f.BesideHeap(), leastHeap))
}

// tooSmall is the largest Java heap, in MiB, in which a master of the application failed that was cut to it; 0 where none
// did. What a master fails of when its heap is too small does not show: out of memory, it ends with the code of any error
// (1 as it starts and 255 later were seen), or does not answer any more. So any failure of its own counts. From then on masters get what was asked for, so that one
// attempt at the most is lost, and it is not counted among the attempts that an application may lose.
func (a *app) tooSmall() (heap int64) {
	for _, t := range a.attempts {
		if t.byItself() {
			heap = max(heap, t.heap)
		}
	}
	return heap
}

// facts is what the core is told of an application: that its masters are to be left as they were asked for, too.
func (a *app) facts() heddle.Facts {
	f := a.Facts
	if a.tooSmall() > 0 {
		f.MasterHeap = 0
	}
	return f
}

// lives notes what a master's heap holds: the most counts that any of the application's held, with what was used beside it
// then.
func (a *app) lives(m *Machine, h HeapNews) {
	if h.Live <= a.live {
		return
	}
	a.live, a.beside = h.Live, h.Outside
	m.remember(a, func(r *heddle.LastRun) {
		if h.Live > r.Heap { // it may have just begun: what the last one needed stands until this one is over
			r.Heap, r.Outside, r.Maps = h.Live, h.Outside, a.Facts.Maps
		}
	})
}
