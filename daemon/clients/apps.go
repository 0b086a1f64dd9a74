package clients

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

func (s *service) getApplicationReport(ctx context.Context, who daemon.Actor, req *wire.GetApplicationReportRequest) (*wire.GetApplicationReportResponse, error) {
	a, err := s.rm.App(ctx, conv.App(req.GetApplicationId()))
	if err != nil {
		return nil, err
	}
	return &wire.GetApplicationReportResponse{ApplicationReport: s.appReport(&a, s.o.Sees(ctx, who.User, &a), time.Now())}, nil
}

// getApplications lists the applications that match a request. A limit selects the newest.
func (s *service) getApplications(ctx context.Context, who daemon.Actor, req *wire.GetApplicationsRequest) (*wire.GetApplicationsResponse, error) {
	m := &wire.GetApplicationsResponse{}
	own := req.GetScope() == wire.ApplicationsRequestScope_OWN
	if req.Limit != nil && req.GetLimit() <= 0 || own && len(req.GetUsers()) > 0 && !slices.Contains(req.GetUsers(), who.User) {
		return m, nil
	}
	if !own { // nobody needs a group for that
		s.o.Prepare(ctx, who.User)
	}
	filter, err := s.filter(ctx, req)
	if err != nil {
		return nil, err
	}
	if own {
		filter.Users = []string{who.User}
	}
	if req.GetScope() == wire.ApplicationsRequestScope_VIEWABLE {
		filter.Sees = func(a *rm.AppReport) bool { return s.o.Sees(ctx, who.User, a) }
	}
	filter.Limit = int(min(req.GetLimit(), math.MaxInt32)) // 0 if there is no limit
	apps, err := s.rm.Apps(ctx, filter)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for i := range apps {
		if err := daemon.Breathe(ctx, i); err != nil {
			return nil, err
		}
		m.Applications = append(m.Applications, s.appReport(&apps[i], s.o.Sees(ctx, who.User, &apps[i]), now))
	}
	return m, nil
}

// filter returns what a request asks for, except its scope and limit.
func (s *service) filter(ctx context.Context, req *wire.GetApplicationsRequest) (rm.AppFilter, error) {
	f := rm.AppFilter{
		Users: req.GetUsers(), Types: req.GetApplicationTypes(), Name: req.GetName(),
		StartedFrom: req.GetStartBegin(), StartedTo: req.StartEnd, FinishedFrom: req.GetFinishBegin(), FinishedTo: req.FinishEnd,
	}
	for _, st := range req.GetApplicationStates() {
		f.States = append(f.States, rm.AppState(st.String()))
	}
	for _, t := range req.GetApplicationTags() {
		f.Tags = append(f.Tags, strings.ToLower(t)) // the form in which they are kept
	}
	if len(req.GetQueues()) == 0 {
		return f, nil
	}
	queues, err := s.rm.Queues(ctx)
	if err != nil {
		return f, err
	}
	seen := map[string]bool{}
	for i, name := range req.GetQueues() {
		if err := daemon.Breathe(ctx, i); err != nil {
			return f, err
		}
		paths := []string{name} // of a former or unknown queue, which has only its own applications
		if q := rm.FindQueue(queues, name); q != nil {
			paths = rm.Leaves(queues, q)
		}
		for _, path := range paths {
			if !seen[path] {
				seen[path] = true
				f.Queues = append(f.Queues, path)
			}
		}
	}
	return f, nil
}

// visible returns an error if the caller may not view an application.
func (s *service) visible(ctx context.Context, who daemon.Actor, id ids.App) error {
	a, err := s.rm.App(ctx, id)
	if err != nil {
		return err
	}
	if !s.o.Sees(ctx, who.User, &a) {
		if err := daemon.ReadingOf(ctx).Unsure(); err != nil {
			return err
		}
		return yarnError("User %s does not have privilege to see this application %s", who.User, id)
	}
	return nil
}

func (s *service) getApplicationAttempts(ctx context.Context, who daemon.Actor, req *wire.GetApplicationAttemptsRequest) (*wire.GetApplicationAttemptsResponse, error) {
	id := conv.App(req.GetApplicationId())
	s.o.Prepare(ctx, who.User)
	if err := s.visible(ctx, who, id); err != nil {
		return nil, err
	}
	list, err := s.rm.Attempts(ctx, id)
	if err != nil {
		return nil, err
	}
	m := &wire.GetApplicationAttemptsResponse{}
	for i := range list {
		m.ApplicationAttempts = append(m.ApplicationAttempts, attemptReport(&list[i]))
	}
	return m, nil
}

func (s *service) getApplicationAttemptReport(ctx context.Context, who daemon.Actor, req *wire.GetApplicationAttemptReportRequest) (*wire.GetApplicationAttemptReportResponse, error) {
	id := conv.Attempt(req.GetApplicationAttemptId())
	if err := s.visible(ctx, who, id.App); err != nil {
		return nil, err
	}
	a, err := s.rm.Attempt(ctx, id)
	if err != nil {
		return nil, err
	}
	return &wire.GetApplicationAttemptReportResponse{ApplicationAttemptReport: attemptReport(&a)}, nil
}

func (s *service) getContainers(ctx context.Context, who daemon.Actor, req *wire.GetContainersRequest) (*wire.GetContainersResponse, error) {
	id := conv.Attempt(req.GetApplicationAttemptId())
	s.o.Prepare(ctx, who.User)
	if err := s.visible(ctx, who, id.App); err != nil {
		return nil, err
	}
	list, err := s.rm.Containers(ctx, id)
	if err != nil {
		return nil, err
	}
	m := &wire.GetContainersResponse{}
	for i := range list {
		m.Containers = append(m.Containers, s.containerReport(&list[i]))
	}
	return m, nil
}

func (s *service) getContainerReport(ctx context.Context, who daemon.Actor, req *wire.GetContainerReportRequest) (*wire.GetContainerReportResponse, error) {
	id := conv.Container(req.GetContainerId())
	if err := s.visible(ctx, who, id.Attempt.App); err != nil {
		return nil, err
	}
	c, err := s.rm.Container(ctx, id)
	if err != nil {
		return nil, err
	}
	return &wire.GetContainerReportResponse{ContainerReport: s.containerReport(&c)}, nil
}
