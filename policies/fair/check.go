package fair

import (
	"strconv"

	"heddle"
	"heddle/policy"
)

// Check implements [policy.Checker]. It checks that no queue exceeds its maximum, unless the maximum shrank with the
// cluster, and that the runnable applications match the counts.
func (s *Scheduler) Check(v policy.View) (found []string) {
	runnable := make([]int, len(s.queues))
	for i := range s.apps {
		if st := &s.apps[i]; st.known && st.runnable {
			for q := v.Queue(st.queue); q != nil; q = q.Parent() {
				runnable[q.ID()]++
			}
		}
	}
	for i := range s.queues {
		c := &s.queues[i]
		if over := !v.Queue(heddle.QueueID(i)).Used().Fits(c.max); over && !c.excused {
			found = append(found, "queue-maximum: "+c.cfg.Path+" is above its maximum")
		}
		if c.runnable != runnable[i] {
			found = append(found, "runnable-counted: "+c.cfg.Path+" counts "+strconv.Itoa(c.runnable)+" runnable applications of "+strconv.Itoa(runnable[i]))
		}
		for _, id := range c.masters {
			if a := v.App(id); a == nil || !s.apps[id].runnable {
				found = append(found, "runnable-counted: "+c.cfg.Path+" lets an application ask for a master that is not runnable")
			}
		}
	}
	return found
}
