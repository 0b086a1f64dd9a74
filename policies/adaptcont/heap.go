package adaptcont

import "heddle"

// On a real cluster a master's memory is a Java heap and what its process uses beside the heap. The heap is cut to its
// container when the master starts. The paper's figures say what the master of a wave should have; these say what an
// MRAppMaster was measured to take.
const (
	idleHeap = 21.5                // MiB of live objects in the heap of a master without tasks
	taskHeap = 15500.0 / (1 << 20) // MiB of live objects for each task once it has run
	headRoom = 1.5                 // the heap is this many times the live objects: the less there is, the more time goes into collecting
	leastGap = 48.0                // least MiB of heap above the live objects
)

// asked reports whether a job's master gets the size that was asked for: its command does not allow its heap to be cut,
// or one of that user and name failed in a cut heap and its need has not been measured since.
func (s *Sizer) asked(f *heddle.Facts) bool {
	return s.fixed() && (f.MasterHeap == 0 || f.Last.TooSmall > 0 && f.Last.Heap == 0)
}

// lives returns how many MiB a master needs if its heap is cut to fit: what the last run's master was measured to need,
// if it was measured; else decided, the size by the wave, or the least size for such a master. It is never less than
// the smallest master has.
func (o *Options) lives(f *heddle.Facts, decided int64) int64 {
	if f.Last.Heap == 0 {
		return max(decided, o.Least)
	}
	live := scaled(&f.Last, f.Maps)
	heap := max(headRoom*live, live+leastGap, 2*float64(f.Last.TooSmall))
	return max(int64(heap)+1+f.BesideHeap(), o.UnitMemory)
}

// scaled returns the MiB of live objects in the heap of a master with the given number of maps, scaled from the last
// one's. It never assumes less than a master without tasks has, nor that a task takes less than the measured ones.
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
