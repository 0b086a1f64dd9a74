package adaptcont

import (
	"cmp"
	"slices"

	"heddle"
)

// The disciplines of [Options.Queue].
const (
	fifoQueue     = "fifo"
	fairQueue     = "fair"
	capacityQueue = "capacity"
)

// A job is what the simulation of waves knows of a job.
type job struct {
	app      heddle.AppID
	priority int32
	at       heddle.Time
	left     int // maps still to be done
	tasks    int // in all
	wave     int // Ω, the largest wave found so far
}

// fifo simulates waves of the given number of containers: in each wave the jobs take what they need in their order, as
// far as there is any left. It raises every job's wave to its largest (4.2, Fig. 5a).
func fifo(containers int, jobs []job) {
	left := containers // in the wave of which the current job first has a part
	for i := range jobs {
		j := &jobs[i]
		first := min(j.left, left)
		j.wave = max(j.wave, first)
		left -= first
		if rest := j.left - first; rest > 0 { // from the next wave on the job comes first
			j.wave = max(j.wave, min(rest, containers))
			left = containers - rest%containers
		}
		if left == 0 {
			left = containers
		}
	}
}

// fair gives every job the same share of the containers for all its life (4.2).
func fair(containers, users int, jobs []job) {
	share := max(containers/max(users, 1), 1)
	for i := range jobs {
		jobs[i].wave = max(jobs[i].wave, min(jobs[i].left, share))
	}
}

// capacity gives every remaining job the same share in each wave; as jobs end, the share of the others grows (4.2).
// jobs must be sorted by how much is left of them, the least first.
func capacity(containers int, jobs []job) {
	done, full := 0, 0 // maps that every remaining job has done, and the largest wave they all filled
	for i := 0; i < len(jobs); {
		share := max(containers/(len(jobs)-i), 1)
		end := done + share*int(waves(int64(jobs[i].left-done), int64(share))) // of the wave in which job i ends
		if end-done > share {
			full = max(full, share)
		}
		for ; i < len(jobs) && jobs[i].left <= end; i++ {
			j := &jobs[i]
			j.wave = max(j.wave, full, min(j.left-done, share))
		}
		if end > done {
			full = max(full, share) // a job that goes on had the whole share in that wave too
		}
		done = end
	}
}

// magnitude returns k, the number of unit waves in the wave: at least 1 (3.2).
func magnitude(wave, unitWave int) int { return max(1, int(ceil(int64(wave), int64(unitWave)))) }

// memory returns M = k · M_min (3.2), in MiB.
func memory(k int, unit int64) int64 { return int64(k) * unit }

// vcores returns ⌈k/2⌉: one more after two successive increments of memory (4.2).
func vcores(k int) int64 { return ceil(int64(k), 2) }

// play computes every job's largest wave. It leaves jobs in an order that depends only on them.
func (s *Sizer) play(containers, users int) {
	switch {
	case !s.o.Predict:
		for i := range s.jobs {
			s.jobs[i].wave = max(s.jobs[i].wave, min(s.jobs[i].left, containers))
		}
	case s.o.Queue == fifoQueue:
		slices.SortFunc(s.jobs, func(x, y job) int {
			return cmp.Or(cmp.Compare(y.priority, x.priority), cmp.Compare(x.at, y.at), cmp.Compare(x.app, y.app))
		})
		fifo(containers, s.jobs)
	case s.o.Queue == fairQueue:
		fair(containers, users, s.jobs)
	default:
		slices.SortFunc(s.jobs, func(x, y job) int {
			return cmp.Or(cmp.Compare(x.left, y.left), cmp.Compare(x.app, y.app))
		})
		capacity(containers, s.jobs)
	}
}

// size returns the size of the master that a job needs.
func (s *Sizer) size(j *job) heddle.Resource {
	wave := bounded(j.wave, s.o.Limit)
	k := magnitude(wave, s.o.UnitWave)
	if s.o.UnitTasks > 0 {
		k = max(k, magnitude(j.tasks, s.o.UnitTasks))
	}
	want := heddle.Of(memory(k, s.o.UnitMemory), 1000*vcores(k))
	if s.pool {
		return predefined(s.o.Pool, wave, want, s.o.Threshold)
	}
	return want
}
