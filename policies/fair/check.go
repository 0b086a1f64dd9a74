package fair

import (
	"strconv"

	"heddle"
	"heddle/policy"
)

// Check implements [policy.Checker]. It checks that no queue exceeds its maximum, unless the maximum shrank with the
// cluster, and that the runnable applications, and the nodes and reservations of every rack, match the counts.
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
	return append(found, s.checkRacks(v)...)
}

func (s *Scheduler) checkRacks(v policy.View) (found []string) {
	type place struct {
		app  heddle.AppID
		rack heddle.RackID
	}
	live, held := make([]int, v.Racks()), map[place]int{}
	for i := range v.NodeIDs() {
		n := v.Node(heddle.NodeID(i))
		if n == nil || !n.Up() {
			continue
		}
		live[n.Rack()]++
		if x := n.Booked(); x != nil {
			held[place{x.App().ID(), n.Rack()}]++
		}
	}
	for r, n := range live {
		if s.live[r] != n {
			found = append(found, "racks-counted: rack "+strconv.Itoa(r)+" counts "+strconv.Itoa(s.live[r])+" nodes of "+strconv.Itoa(n))
		}
	}
	for i := range s.apps {
		id, sum := heddle.AppID(i), 0
		for r, n := range s.apps[i].held {
			sum += n
			if is := held[place{id, heddle.RackID(r)}]; is != n {
				found = append(found, "racks-counted: an application counts "+strconv.Itoa(n)+" reservations of "+strconv.Itoa(is)+" in rack "+strconv.Itoa(r))
			}
		}
		if a := v.App(id); a != nil && a.Bookings() != sum {
			found = append(found, "racks-counted: an application counts "+strconv.Itoa(sum)+" reservations of "+strconv.Itoa(a.Bookings()))
		}
	}
	return found
}
