package bound

import (
	"container/heap"

	"heddle"
)

// shortestRemaining serves the jobs' work on one preemptive machine, always the job with the least work left first, and
// returns the span from arrival to end of each job. No other order of service has a smaller mean (Schrage 1968), and a
// real schedule, viewed through one resource, is one of those orders. Individual spans of the result are not bounds.
func shortestRemaining(jobs []Job, byArrival []int, need []heddle.Span) []heddle.Span {
	took := make([]heddle.Span, len(jobs))
	var q remaining
	var now heddle.Time
	for next := 0; next < len(byArrival) || len(q) > 0; {
		if len(q) == 0 {
			now = jobs[byArrival[next]].Arrival
		}
		for ; next < len(byArrival) && jobs[byArrival[next]].Arrival <= now; next++ {
			heap.Push(&q, left{need[byArrival[next]], byArrival[next]})
		}
		if next < len(byArrival) && now.Plus(q[0].span) > jobs[byArrival[next]].Arrival {
			until := jobs[byArrival[next]].Arrival
			q[0].span -= until.Since(now) // it only decreases: the job stays on top
			now = until
			continue
		}
		now = now.Plus(q[0].span)
		took[q[0].job] = now.Since(jobs[q[0].job].Arrival)
		heap.Pop(&q)
	}
	return took
}

// left is what is left of a job's work.
type left struct {
	span heddle.Span
	job  int
}

// remaining is a heap of jobs, the least left on top.
type remaining []left

func (q remaining) Len() int { return len(q) }
func (q remaining) Less(i, j int) bool {
	return q[i].span < q[j].span || q[i].span == q[j].span && q[i].job < q[j].job
}
func (q remaining) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *remaining) Push(x any)   { *q = append(*q, x.(left)) }
func (q *remaining) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
