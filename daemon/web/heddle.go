package web

import (
	"net/http"

	"heddle/daemon"
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

// heddleApps answers GET /ws/v1/heddle/apps, with the filters of GET /apps.
func (s *site) heddleApps(r *http.Request) (rest.Answer, error) {
	sees := s.sight(r)
	reports, err := s.filtered(r)
	if err != nil {
		return rest.Answer{}, err
	}
	if err := mask(r, sees, reports); err != nil {
		return rest.Answer{}, err
	}
	return rest.Answer{Shape: rest.Ours, Value: rm.Apps{List: reports}}, nil
}

// heddleApp answers GET /ws/v1/heddle/apps/{id}.
func (s *site) heddleApp(r *http.Request) (rest.Answer, error) {
	a, err := s.wholeApp(r)
	if err == nil && s.hides(r, &a) {
		a = a.Mask()
	}
	return rest.Answer{Shape: rest.Ours, Value: a}, err
}

// heddleNodes answers GET /ws/v1/heddle/nodes, with the filter of GET /nodes.
func (s *site) heddleNodes(r *http.Request) (rest.Answer, error) {
	sees := s.sight(r)
	reports, err := s.inStates(r)
	if err != nil {
		return rest.Answer{}, err
	}
	list := make([]rm.NodeRow, len(reports))
	for i := range reports {
		if err := daemon.Breathe(r.Context(), i); err != nil {
			return rest.Answer{}, err
		}
		agent, err := s.shownAgent(r, sees, &reports[i])
		if err != nil {
			return rest.Answer{}, err
		}
		list[i] = s.shape.row(&reports[i], agent)
	}
	return rest.Answer{Shape: rest.Ours, Value: rm.Nodes{List: list}}, nil
}

// heddleNode answers GET /ws/v1/heddle/nodes/{id}.
func (s *site) heddleNode(r *http.Request) (rest.Answer, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return rest.Answer{}, err
	}
	agent, err := s.shownAgent(r, s.sight(r), n)
	if err != nil {
		return rest.Answer{}, err
	}
	return rest.Answer{Shape: rest.Ours, Value: s.shape.row(n, agent)}, nil
}

// heddleContainers answers GET /ws/v1/heddle/nodes/{id}/containers.
func (s *site) heddleContainers(r *http.Request) (rest.Answer, error) {
	sees := s.sight(r)
	n, err := s.nodeOf(r)
	if err != nil {
		return rest.Answer{}, err
	}
	reports, err := s.RM.NodeContainers(r.Context(), n.ID)
	if err != nil {
		return rest.Answer{}, missing(err, "nodeId, "+n.ID.String()+", is not found")
	}
	reports, masked, err := s.shownContainers(r, sees, reports)
	if err != nil {
		return rest.Answer{}, err
	}
	list := make([]rm.ContainerRow, len(reports))
	for i := range reports {
		list[i] = reports[i].Row(s.ExtraResources...)
	}
	return rest.Answer{Shape: rest.Ours, Value: rm.NodeContainers{List: list, Masked: masked}}, nil
}

// heddleQueues answers GET /ws/v1/heddle/queues.
func (s *site) heddleQueues(r *http.Request) (rest.Answer, error) {
	queues, err := s.RM.Queues(r.Context())
	return rest.Answer{Shape: rest.Ours, Value: rm.Queues{List: queues}}, err
}

// mostCallers is how many callers are listed by name.
const mostCallers = 50

// callers answers GET /ws/v1/heddle/callers: who asked how much.
func (s *site) callers(*http.Request) (rest.Answer, error) {
	out := callers{List: []caller{}}
	if s.Readers != nil {
		for _, a := range s.Readers.Accounts(mostCallers) {
			out.List = append(out.List, caller{a, a.Worked.Milliseconds(), a.Waited.Milliseconds()})
		}
	}
	return rest.Answer{Shape: rest.Ours, Value: out}, nil
}

// callers lists the callers that read, in the form in which they are sent.
type callers struct {
	List []caller `json:"callers"`
}

type caller struct {
	daemon.Account
	Worked int64 `json:"worked_ms"`
	Waited int64 `json:"waited_ms"`
}

// heddleInfo answers GET /ws/v1/heddle/info.
func (s *site) heddleInfo(r *http.Request) (rest.Answer, error) {
	c, err := s.RM.Cluster(r.Context())
	if err != nil {
		return rest.Answer{}, err
	}
	health := s.RM.Health()
	return rest.Answer{Shape: rest.Ours, Value: rest.Info{
		Version: s.Version, ClusterID: c.ClusterID, Started: c.Started, Ready: health.Unready == "", Unready: health.Unready, Profile: c.Profile, Order: c.Order,
		Scheduler: c.Scheduler, Off: append([]string{}, c.Off...), Steps: c.Steps, Grants: c.Grants, BusyPercent: c.BusyPercent,
		Queue: c.Queue, BeatMillis: int64(c.BeatEvery) / 1e6, ClientAddress: s.ClientAddress, RESTChanges: s.user(r) != "",
	}}, nil
}
