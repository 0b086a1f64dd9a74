package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// apps answers GET /apps.
func (s *site) apps(r *http.Request) (rest.Answer, error) {
	sees := s.sight(r)
	reports, err := s.filtered(r)
	if err != nil {
		return rest.Answer{}, err
	}
	skip, err := deselected(r.URL.Query()["deSelects"])
	if err != nil {
		return rest.Answer{}, err
	}
	kind, err := s.schedulerType(r)
	if err != nil {
		return rest.Answer{}, err
	}
	if !skip.requests {
		if err := s.RM.AddRequests(r.Context(), reports); err != nil {
			return rest.Answer{}, err
		}
	}
	out := rest.Apps{List: make([]rest.App, len(reports))}
	for i := range reports {
		if err := daemon.Breathe(r.Context(), i); err != nil {
			return rest.Answer{}, err
		}
		out.List[i] = s.shape.app(&reports[i], kind, skip)
		if sees != nil && !sees(&reports[i]) {
			hide(&out.List[i])
		}
	}
	return rest.Answer{Root: "apps", Value: out}, nil
}

// filtered returns the applications that match the query.
func (s *site) filtered(r *http.Request) ([]rm.AppReport, error) {
	q := r.URL.Query()
	f, err := appFilter(q)
	if err != nil {
		return nil, err
	}
	if name := q.Get("queue"); name != "" {
		if f.Queues, err = s.leaves(r, name); err != nil {
			return nil, err
		}
	}
	return s.RM.Apps(r.Context(), f)
}

// schedulerType returns "capacity" or "fair".
func (s *site) schedulerType(r *http.Request) (string, error) {
	c, err := s.RM.Cluster(r.Context())
	return c.Scheduler, err
}

// leaves returns the paths of the leaf queues in and below a queue, which may be named by its last part.
func (s *site) leaves(r *http.Request, name string) ([]string, error) {
	queues, err := s.RM.Queues(r.Context())
	if err != nil {
		return nil, err
	}
	q := rm.FindQueue(queues, name)
	if q == nil {
		return nil, badRequest("Unknown queue: " + name)
	}
	return rm.Leaves(queues, q), nil
}

// app answers GET /apps/{id}.
func (s *site) app(r *http.Request) (rest.Answer, error) {
	a, err := s.wholeApp(r)
	if err != nil {
		return rest.Answer{}, err
	}
	skip, err := deselected(r.URL.Query()["deSelects"])
	if err != nil {
		return rest.Answer{}, err
	}
	kind, err := s.schedulerType(r)
	if err != nil {
		return rest.Answer{}, err
	}
	out := s.shape.app(&a, kind, skip)
	if s.hides(r, &a) {
		hide(&out)
	}
	return rest.Answer{Root: "app", Value: out}, nil
}

// appID reads the id in the path.
func appID(r *http.Request) (ids.App, error) {
	text := r.PathValue("app")
	id, err := ids.ParseApp(text)
	if err == nil {
		return id, nil
	}
	message := "Invalid ApplicationId: " + text
	if prefix, _, _ := strings.Cut(text, "_"); prefix != "application" {
		message = "Invalid ApplicationId prefix: " + text + ". The valid ApplicationId should start with prefix application"
	}
	return id, &oops{
		status: http.StatusBadRequest, class: webapp + "BadRequestException",
		message: "java.lang.IllegalArgumentException: " + message,
	}
}

// appOf returns the report of the application in the path, without its requests and attempts.
func (s *site) appOf(r *http.Request) (rm.AppReport, error) { return appBy(r, s.RM.App) }

// wholeApp returns that report with requests and attempts.
func (s *site) wholeApp(r *http.Request) (rm.AppReport, error) { return appBy(r, s.RM.WholeApp) }

func appBy(r *http.Request, by func(context.Context, ids.App) (rm.AppReport, error)) (rm.AppReport, error) {
	id, err := appID(r)
	if err != nil {
		return rm.AppReport{}, err
	}
	a, err := by(r.Context(), id)
	return a, missing(err, "app with id: "+id.String()+" not found")
}

// app returns an application in the form of YARN's services, under a scheduler of kind capacity or fair.
func (sh shaper) app(a *rm.AppReport, kind string, skip deselect) rest.App {
	o := rest.App{
		ID: a.ID.String(), User: a.User, Name: a.Name, Queue: a.Queue, State: string(a.State),
		FinalStatus: string(a.Final), Progress: float32(a.Progress) * 100, Diagnostics: a.Diagnostics,
		ClusterID: a.ID.Cluster, Type: a.Type, Tags: strings.Join(a.Tags, ","), Priority: a.Priority,
		Started: a.Started, Launched: a.Launched, Finished: a.Finished, Elapsed: a.Elapsed,
		AMLogs: a.MasterLogs, AMHost: a.MasterHTTP,
		MBSeconds: a.MemorySeconds, CPUSeconds: a.VcoreSeconds, Seconds: seconds(a.MemorySeconds, a.VcoreSeconds),
		PreemptedWorkers: a.PreemptedWorkers, PreemptedMasters: a.PreemptedMasters,
		PreemptedMBSeconds: a.PreemptedMemory, PreemptedCPUSeconds: a.PreemptedVcores,
		LogAggregation: a.LogAggregation,
	}
	o.TrackingUI, o.TrackingURL = tracking(a)
	if !a.MasterNode.IsZero() {
		o.MasterNode = a.MasterNode.String()
	}
	if a.RPCPort > 0 && a.Host != "" {
		o.AMRPC = a.Host + ":" + strconv.Itoa(int(a.RPCPort))
	}
	if a.PreemptedMemory > 0 || a.PreemptedVcores > 0 {
		o.PreemptedSeconds = seconds(a.PreemptedMemory, a.PreemptedVcores)
	}
	if !skip.amLabel {
		o.AMLabel = new(string) // the default partition
	}
	if !skip.timeouts {
		o.Timeouts = &rest.Timeouts{List: []rest.Timeout{sh.lifetime(*a)}}
	}
	sh.usage(&o, a, kind, skip)
	return o
}

// tracking says whether an application has web pages, and where.
func tracking(a *rm.AppReport) (kind, url string) {
	started := a.State == rm.AppRunning || a.State.Final()
	switch {
	case !started || a.TrackingURL == "":
		return "UNASSIGNED", ""
	case a.Finished == 0:
		kind = "ApplicationMaster"
	default:
		kind = "History"
	}
	if !strings.Contains(a.TrackingURL, "://") {
		return kind, "http://" + a.TrackingURL
	}
	return kind, a.TrackingURL
}

// usage fills in what the application holds: −1 if it has run and holds nothing any more.
func (sh shaper) usage(o *rest.App, a *rm.AppReport, kind string, skip deselect) {
	switch {
	case a.Live:
		used, reserved := sh.told(a.Used), sh.told(a.Reserved)
		o.MB, o.VCores, o.ReservedMB, o.ReservedCPU = used.Memory, used.VCores, reserved.Memory, reserved.VCores
		o.Containers, o.QueueShare, o.ClusterShare = a.Containers, a.QueueShare, a.ClusterShare
	case a.Attempt > 0:
		o.MB, o.VCores, o.ReservedMB, o.ReservedCPU, o.Containers = -1, -1, -1, -1, -1
	}
	if !skip.requests {
		for _, q := range a.Requests {
			o.Requests = append(o.Requests, sh.request(q))
		}
	}
	if a.Live && kind != fair && !skip.resources {
		none := sh.resource(heddle.Resource{})
		o.Resources = &rest.Usages{List: []rest.Usage{{
			Used: sh.told(a.Used), Reserved: sh.told(a.Reserved), Pending: sh.told(a.Pending),
			AMUsed: sh.told(a.MasterSize), AMLimit: none, UserAMLimit: none,
		}}}
	}
}

func (sh shaper) request(q rm.RequestReport) rest.Request {
	execution := "OPPORTUNISTIC"
	if q.Guarantee {
		execution = "GUARANTEED"
	}
	return rest.Request{
		Priority: q.Priority, AllocID: q.AllocID, Place: q.Place, Capability: sh.told(q.Size),
		Count: q.Count, Relax: q.Relax, Execution: rest.ExecutionType{Type: execution, Enforce: q.Enforce},
	}
}

// state answers GET /apps/{id}/state.
func (s *site) state(r *http.Request) (rest.Answer, error) {
	a, err := s.appOf(r)
	return stateAnswer(a), err
}

func stateAnswer(a rm.AppReport) rest.Answer {
	state := a.Internal
	if state == "" {
		state = string(a.State)
	}
	return rest.Answer{Root: "appstate", Shape: rest.Mapped, Value: rest.AppState{State: state}}
}

// queue answers GET /apps/{id}/queue.
func (s *site) queue(r *http.Request) (rest.Answer, error) {
	a, err := s.appOf(r)
	return queueAnswer(a.Queue), err
}

func queueAnswer(name string) rest.Answer {
	return rest.Answer{Root: "appqueue", Shape: rest.Bare, Value: rest.AppQueue{Queue: name}}
}

// priority answers GET /apps/{id}/priority.
func (s *site) priority(r *http.Request) (rest.Answer, error) {
	a, err := s.appOf(r)
	return priorityAnswer(a.Priority), err
}

func priorityAnswer(p int32) rest.Answer {
	return rest.Answer{Root: "applicationpriority", Shape: rest.Bare, Value: rest.AppPriority{Priority: p}}
}

// timeouts answers GET /apps/{id}/timeouts.
func (s *site) timeouts(r *http.Request) (rest.Answer, error) {
	a, err := s.appOf(r)
	return rest.Answer{Root: "timeouts", Value: rest.Timeouts{List: []rest.Timeout{s.shape.lifetime(a)}}}, err
}

// timeout answers GET /apps/{id}/timeouts/{type}.
func (s *site) timeout(r *http.Request) (rest.Answer, error) {
	if t := r.PathValue("type"); !strings.EqualFold(t, lifetimeType) {
		return rest.Answer{}, badRequest("Invalid application-state " + t + " specified. It should be one of [" + lifetimeType + "]") // the word is YARN's
	}
	a, err := s.appOf(r)
	return rest.Answer{Root: "timeout", Value: s.shape.lifetime(a)}, err
}
