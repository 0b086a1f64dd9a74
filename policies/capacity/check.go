package capacity

import (
	"strconv"

	"heddle"
	"heddle/policy"
)

// Check implements [policy.Checker]. It checks that no queue exceeds its maximum, unless the cluster shrank under it,
// that the guarantees of children are within their parent's, and that the masters let in match the counts, as large as
// they are.
func (s *Scheduler) Check(v policy.View) (found []string) {
	guaranteed := make([]heddle.Resource, len(s.queues))
	for i := range s.queues {
		c, q := &s.queues[i], v.Queue(heddle.QueueID(i))
		if !v.Fits(q.Used().Plus(q.Booked()), c.max) && !c.excused {
			found = append(found, "queue-maximum: "+c.cfg.Path+" is above its maximum")
		}
		if i > 0 {
			guaranteed[c.cfg.Parent] = guaranteed[c.cfg.Parent].Plus(c.min)
		}
		found = append(found, s.checkMasters(v, heddle.QueueID(i))...)
	}
	for i := range s.queues {
		// Single precision may give one unit too much.
		if !guaranteed[i].Fits(s.queues[i].min.Plus(heddle.Of(1, 1000))) {
			found = append(found, "queue-guarantees: the children of "+s.queues[i].cfg.Path+" are guaranteed more than it is")
		}
	}
	return found
}

func (s *Scheduler) checkMasters(v policy.View, id heddle.QueueID) (found []string) {
	c := &s.queues[id]
	active, waiting := 0, 0
	var masters heddle.Resource
	for i := range s.apps {
		st := &s.apps[i]
		if st.active && v.Queue(st.queue).Within(v.Queue(id)) {
			active++
		}
		if st.known && st.queue == id {
			if size, ok := masterOf(v.App(heddle.AppID(i))); ok && size != st.master {
				found = append(found, "masters-sized: "+c.cfg.Path+" counts the master of application "+strconv.Itoa(i)+" in a size it does not have")
			}
		}
		switch {
		case !st.known || st.queue != id:
		case st.active:
			masters = masters.Plus(st.master)
		default:
			waiting++
		}
	}
	if active != c.active || masters != c.leaf.masters || waiting != len(c.leaf.waiting) {
		found = append(found, "masters-counted: "+c.cfg.Path+" counts "+strconv.Itoa(c.active)+" applications let in of "+
			strconv.Itoa(active)+", and "+strconv.Itoa(len(c.leaf.waiting))+" waiting of "+strconv.Itoa(waiting))
	}
	return found
}
