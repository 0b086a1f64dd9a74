package adaptcont

import "heddle"

// On a real cluster a master's memory is a Java heap and what its process uses beside it. The heap is cut as the master
// is started, to what its container has room for. The paper's figures say what a master of a wave should have; these, what
// one of an MRAppMaster was measured to take.
const (
	idleHeap = 21.5                // MiB that live in the heap of a master without tasks
	taskHeap = 15500.0 / (1 << 20) // MiB that live there of each task once it has run
	headRoom = 1.5                 // times what lives is the heap that it is given: the less there is, the more time goes into collecting
	leastGap = 48.0                // MiB of heap above what lives, at the least
)

// asked reports whether a job's master is left as it was asked for: its command does not let its heap be cut, or one of
// that user and name failed in a heap that was, and nobody has measured since what it needs.
func (s *Sizer) asked(f *heddle.Facts) bool {
	return s.fixed() && (f.MasterHeap == 0 || f.Last.TooSmall > 0 && f.Last.Heap == 0)
}

// lives is how many MiB a master needs to live where its heap is cut to fit: decided, by the wave, or the least there is
// for it; and what the last run's master was measured to need instead, where it was. It is never less than the smallest
// master has.
func (o *Options) lives(f *heddle.Facts, decided int64) int64 {
	if f.Last.Heap == 0 {
		return max(decided, o.Least)
	}
	live := scaled(&f.Last, f.Maps)
	heap := max(headRoom*live, live+leastGap, 2*float64(f.Last.TooSmall))
	return max(int64(heap)+1+f.BesideHeap(), o.UnitMemory)
}

// scaled is how many MiB live in the heap of a master of so many maps, by what the last one's took. Less than a master
// without tasks has is not believed, and no task takes less than those that were measured.
func scaled(last *heddle.LastRun, maps int32) float64 {
	live := max(float64(last.Heap), idleHeap)
	switch {
	case last.Maps <= 0 || maps <= 0:
		return live
	case maps > last.Maps:
		return live + float64(maps-last.Maps)*max((live-idleHeap)/float64(last.Maps), taskHeap)
	}
	return idleHeap + (live-idleHeap)*float64(maps)/float64(last.Maps)
}
