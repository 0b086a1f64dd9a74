package exp

import (
	"fmt"
	"slices"
	"strings"

	"heddle/conf"
	"heddle/internal/near"
	"heddle/policies"
	"heddle/workload"
)

// A QueueError is a queue that jobs name but that accepts no applications.
type QueueError struct {
	Queue string
	Job   string // the first job that names it
	Jobs  int    // number of jobs that name it
	Why   string // in the words of the scheduler's placement
	Known []string
}

// Error names the queue, the jobs and the queues there are.
func (e *QueueError) Error() string {
	who := "job " + e.Job + " names"
	if e.Jobs > 1 {
		who = fmt.Sprintf("job %s and %d more name", e.Job, e.Jobs-1)
	}
	return fmt.Sprintf("%s queue %q: %s; %s", who, e.Queue, e.Why, near.Names(strings.TrimPrefix(e.Queue, "root."), e.Known))
}

// CheckQueues checks that the scheduler of a profile has a queue for every job: the queue that the job names, or one
// where a rule of the configuration places it. A scheduler with one queue takes the jobs of every queue that the
// configuration has. The error is a [*QueueError].
func CheckQueues(profile *policies.Profile, h *conf.Hadoop, wl *workload.Workload) error {
	var rules *conf.FairPlacement
	if h.Fair != nil {
		rules, _ = h.FairPlacement.Clone()
	}
	capacity := func(queue, user string) error {
		_, _, err := h.CapacityPlacement.Place(queue, user, nil)
		return err
	}
	fair := func(queue, user string) error {
		_, _, err := rules.Place(queue, user, nil)
		return err
	}
	switch profile.Queues {
	case "capacity":
		return checkQueues(wl, leaves(h), capacity)
	case "fair":
		return checkQueues(wl, leaves(h), fair)
	}
	return checkQueues(wl, leaves(h), func(queue, user string) error {
		if isDefault(queue) || h.Capacity != nil && capacity(queue, user) == nil || rules != nil && fair(queue, user) == nil {
			return nil
		}
		return conf.ErrUnknownQueue
	})
}

// CreatedQueues returns the queues that the fair scheduler's rules create for the jobs of a workload, in order of the
// jobs.
func CreatedQueues(h *conf.Hadoop, wl *workload.Workload) []string {
	rules, _ := h.FairPlacement.Clone()
	var out []string
	for i := range wl.Jobs {
		path, created, err := rules.Place(wl.Jobs[i].Queue, wl.Jobs[i].User, nil)
		if err == nil && created && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// CheckOneQueue checks that every job names the queue default or none.
func CheckOneQueue(wl *workload.Workload) error {
	return checkQueues(wl, []string{"default"}, func(queue, _ string) error {
		if isDefault(queue) {
			return nil
		}
		return conf.ErrUnknownQueue
	})
}

func isDefault(queue string) bool {
	return queue == "" || queue == "default" || queue == "root.default"
}

func checkQueues(wl *workload.Workload, known []string, place func(queue, user string) error) error {
	type pair struct{ queue, user string }
	bad := map[pair]error{}
	var found *QueueError
	for i := range wl.Jobs {
		j := &wl.Jobs[i]
		at := pair{j.Queue, j.User}
		err, seen := bad[at]
		if !seen {
			err = place(j.Queue, j.User)
			bad[at] = err
		}
		switch {
		case err == nil:
		case found == nil:
			found = &QueueError{Queue: j.Queue, Job: j.ID, Jobs: 1, Why: err.Error(), Known: known}
		case found.Queue == j.Queue:
			found.Jobs++
		}
	}
	if found == nil {
		return nil
	}
	return found
}

// leaves returns the queues of a configuration that accept applications, as jobs name them.
func leaves(h *conf.Hadoop) []string {
	var paths []string
	if h.Capacity != nil {
		for i := range h.Capacity.Queues {
			paths = append(paths, h.Capacity.Queues[i].Path)
		}
	}
	if h.Fair != nil {
		for i := range h.Fair.Queues {
			if p := h.Fair.Queues[i].Path; !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	var out []string
	for _, p := range paths {
		if !slices.ContainsFunc(paths, func(q string) bool { return strings.HasPrefix(q, p+".") }) {
			out = append(out, strings.TrimPrefix(p, "root."))
		}
	}
	slices.Sort(out)
	return out
}
