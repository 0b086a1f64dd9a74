package workload

import (
	"fmt"
	"slices"

	"heddle"
)

// lists calls do with every list of tasks of a job that have durations of their own; kind identifies the kind of task.
func (j *Job) lists(do func(kind int, tasks *[]Task)) {
	do(0, &j.Maps)
	do(1, &j.Reduces)
	do(2, &j.Other)
	if j.Spark != nil {
		for i := range j.Spark.Stages {
			do(3, &j.Spark.Stages[i].Tasks)
		}
	}
}

// MoveHosts adds by to every host index in the job's tasks, for a workload that is combined from several.
func (j *Job) MoveHosts(by int32) {
	j.lists(func(_ int, tasks *[]Task) {
		for k := range *tasks {
			for h := range (*tasks)[k].Hosts {
				(*tasks)[k].Hosts[h] += by
			}
		}
	})
}

const taskKinds = 4

// Unstated returns how many jobs have a task that states no duration, how many other such jobs are recorded as failed,
// so that none could be stated, and whether any task states one.
func (w *Workload) Unstated() (jobs, failed int, stated bool) {
	for i := range w.Jobs {
		lacks := false
		w.Jobs[i].lists(func(_ int, tasks *[]Task) {
			for k := range *tasks {
				stated = stated || (*tasks)[k].Duration > 0
				lacks = lacks || (*tasks)[k].Duration <= 0
			}
		})
		switch {
		case lacks && w.Jobs[i].Failed:
			failed++
		case lacks:
			jobs++
		}
	}
	return jobs, failed, stated
}

// FillDurations gives tasks that state no duration the median of their kind in their job, else in all jobs, else of all
// tasks, and returns what it filled in, which is also in w.Filled. Jobs that change are copied. It does nothing if no
// task states a duration.
func (w *Workload) FillDurations() Fill {
	var kinds [taskKinds][]heddle.Span
	var all []heddle.Span
	for i := range w.Jobs {
		w.Jobs[i].lists(func(kind int, tasks *[]Task) {
			kinds[kind] = append(kinds[kind], statedSpans(*tasks)...)
			all = append(all, statedSpans(*tasks)...)
		})
	}
	if len(all) == 0 {
		return Fill{}
	}
	var medians [taskKinds]heddle.Span
	for k := range kinds {
		if medians[k] = median(kinds[k]); medians[k] == 0 {
			medians[k] = median(all)
		}
	}
	fill := Fill{Field: "duration", Rule: "the median of a task's kind in its job, else in all jobs"}
	low, high := MaxSpan, heddle.Span(0)
	for i := range w.Jobs {
		j := w.Jobs[i]
		if j.Spark != nil {
			s := *j.Spark
			s.Stages, s.GivenSpans = slices.Clone(s.Stages), true
			j.Spark = &s
		}
		var own [taskKinds][]heddle.Span
		j.lists(func(kind int, tasks *[]Task) { own[kind] = append(own[kind], statedSpans(*tasks)...) })
		filled := false
		j.lists(func(kind int, tasks *[]Task) {
			if !slices.ContainsFunc(*tasks, unstated) {
				return
			}
			d := median(own[kind])
			if d == 0 {
				d = medians[kind]
			}
			*tasks = slices.Clone(*tasks)
			for k := range *tasks {
				if unstated((*tasks)[k]) {
					(*tasks)[k].Duration = d
				}
			}
			filled, low, high = true, min(low, d), max(high, d)
		})
		if filled {
			fill.Jobs++
			w.Jobs[i] = j
		}
	}
	if fill.Jobs > 0 {
		fill.Value = fmt.Sprintf("%g to %g s", low.Seconds(), high.Seconds())
		if low == high {
			fill.Value = fmt.Sprintf("%g s", low.Seconds())
		}
		w.Filled = slices.DeleteFunc(slices.Clone(w.Filled), func(f Fill) bool { return f.Field == "duration" && f.Rule == notStated })
		w.Filled = append(w.Filled, fill)
	}
	return fill
}

func unstated(t Task) bool { return t.Duration <= 0 }

// statedSpans returns the durations that tasks state, without the time they waited for others.
func statedSpans(tasks []Task) []heddle.Span {
	var out []heddle.Span
	for k := range tasks {
		if !unstated(tasks[k]) {
			out = append(out, tasks[k].Worked())
		}
	}
	return out
}

// median returns the median of some spans, the lower one of two; 0 if there are none.
func median(of []heddle.Span) heddle.Span {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[(len(of)-1)/2]
}
