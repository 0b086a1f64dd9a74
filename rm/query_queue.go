package rm

import (
	"slices"

	"heddle"
)

// Queues returns every queue, the root first.
func (r Reports) Queues() []QueueReport {
	v := r.m.core.View()
	out := make([]QueueReport, len(r.m.sch.Queues))
	for i := range out {
		q := v.Queue(heddle.QueueID(i))
		out[i] = QueueReport{
			QueueInfo: r.m.sch.Queues[i], ID: heddle.QueueID(i), UsedOfOwn: -1,
			UsedShare: Fraction(ShareOf(q.Used(), v.Total(), r.m.sch.Set.MemoryOnly)),
			Used:      r.amount(q.Used()), Reserved: r.amount(q.Booked()), Masters: r.amount(q.Masters()), Pending: r.amount(q.Pending()),
			Users: []UserReport{},
		}
		p := &out[i]
		if p.Absolute > 0 {
			p.UsedOfOwn = p.UsedShare / p.Absolute
		}
		if p.Parent != heddle.NoQueue {
			p.ParentPath = out[p.Parent].Path
		}
		for _, c := range q.Children() {
			p.Children = append(p.Children, c.ID())
		}
	}
	for i := range slices.Backward(out) {
		r.addApps(out, i)
	}
	return out
}

// addApps adds a queue's applications to it, and the queue to its parent. Children come after their parents.
func (r Reports) addApps(out []QueueReport, i int) {
	p := &out[i]
	users := map[heddle.UserID]int{}
	var masters []heddle.Resource // by user
	for _, a := range r.m.core.View().Queue(p.ID).Apps() {
		u, ok := users[a.User().ID()]
		if !ok {
			u = len(p.Users)
			users[a.User().ID()] = u
			p.Users = append(p.Users, UserReport{Name: r.m.userNames[a.User().ID()], Used: r.amount(a.User().Used())})
			masters = append(masters, heddle.Resource{})
		}
		if m := a.Master(); m != nil {
			p.Active++
			p.Users[u].Active++
			masters[u] = masters[u].Plus(m.Told())
		} else {
			p.Inactive++
			p.Users[u].Inactive++
		}
		p.Containers += running(a)
		p.Waiting += waiting(a)
		p.Reservations += a.Bookings()
	}
	for u := range p.Users {
		p.Users[u].Masters = r.amount(masters[u])
	}
	if p.Leaf {
		p.Submitted = p.Active + p.Inactive
	}
	if t := r.m.counts.queues[p.Path]; t != nil {
		p.Submitted, p.Completed, p.Killed, p.Failed = p.Submitted+t.ended(), p.Completed+t.completed, p.Killed+t.killed, p.Failed+t.failed
	}
	if p.Parent != heddle.NoQueue {
		up := &out[p.Parent]
		up.Containers += p.Containers
		up.Reservations += p.Reservations
		up.Waiting += p.Waiting
		up.Active += p.Active
		up.Inactive += p.Inactive
		up.Submitted += p.Submitted
		up.Completed += p.Completed
		up.Killed += p.Killed
		up.Failed += p.Failed
	}
}
