package web

import (
	"net/http"

	"heddle/rm"
	"heddle/yarn/rest"
)

// why answers GET /ws/v1/heddle/apps/{id}/why.
func (s *site) why(r *http.Request) (rest.Answer, error) {
	id, err := appID(r)
	if err != nil {
		return rest.Answer{}, err
	}
	e, err := s.RM.Why(r.Context(), id)
	if err != nil {
		return rest.Answer{}, missing(err, "app with id: "+id.String()+" not found")
	}
	return rest.Answer{Shape: rest.Ours, Value: e}, nil
}

// heddleQueues answers GET /ws/v1/heddle/queues.
func (s *site) heddleQueues(r *http.Request) (rest.Answer, error) {
	c, err := s.RM.Cluster(r.Context())
	if err != nil {
		return rest.Answer{}, err
	}
	queues, err := s.RM.Queues(r.Context())
	if err != nil {
		return rest.Answer{}, err
	}
	out := rest.Queues{}
	for i := range queues {
		q := s.shape.queue(&queues[i])
		if i > 0 && int(queues[i].Parent) < len(queues) {
			q.Parent = queues[queues[i].Parent].Path
		}
		q.UsedShare = s.shape.share(queues[i].Used, c.Total)
		out.List = append(out.List, q)
	}
	return rest.Answer{Root: "queues", Value: out}, nil
}

func (sh shaper) queue(q *rm.QueueReport) rest.Queue {
	o := rest.Queue{
		Path: q.Path, Leaf: q.Leaf, State: queueState(q), Capacity: q.Capacity, Max: q.Max, Absolute: q.Absolute,
		AbsoluteMax: q.AbsoluteMax, Weight: q.Weight, MaxApps: q.MaxApps, AMShare: q.AMShare, UserLimit: q.UserLimit,
		UserFactor: q.UserFactor, Order: q.Order, Configured: q.Configured, Preemptable: q.Preemptable, Used: sh.amounts(q.Used),
		Reserved: sh.amounts(q.Reserved), Masters: sh.amounts(q.Masters), Pending: sh.amounts(q.Pending),
		Containers: q.Containers, Reservations: q.Reservations, Waiting: q.Waiting, Active: q.Active,
		Inactive: q.Inactive, Submitted: q.Submitted, Completed: q.Completed, Killed: q.Killed, Failed: q.Failed,
	}
	for _, u := range q.Users {
		o.Users = append(o.Users, rest.QueueUser{
			Name: u.Name, Used: sh.amounts(u.Used), Masters: sh.amounts(u.Masters), Active: u.Active, Inactive: u.Inactive,
		})
	}
	return o
}

// heddleInfo answers GET /ws/v1/heddle/info.
func (s *site) heddleInfo(r *http.Request) (rest.Answer, error) {
	c, err := s.RM.Cluster(r.Context())
	if err != nil {
		return rest.Answer{}, err
	}
	return rest.Answer{Root: "info", Value: rest.Info{
		Version: s.Version, ClusterID: c.ClusterID, Started: c.Started, Ready: s.RM.Ready(), Profile: c.Profile, Order: c.Order,
		Scheduler: c.Scheduler, Off: s.Off, Steps: c.Steps, Grants: c.Grants, BusyPercent: c.BusyPercent,
		Queue: c.Queue, BeatMillis: int64(c.BeatEvery) / 1e6, ClientAddress: s.ClientAddress, RESTChanges: s.user(r) != "",
	}}, nil
}
