package web

import (
	"cmp"
	"errors"
	"net/http"

	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// sight returns the function that reports whether the caller may view an application. It is nil if everybody may view
// everything. The caller's name is trusted, as over RPC: see [Options.Local]. The function may look up the caller's groups:
// lists are [site.prepared].
func (s *site) sight(r *http.Request) func(*rm.AppReport) bool {
	if !s.Access.ACLs {
		return nil
	}
	user := named(r)
	return func(a *rm.AppReport) bool { return s.Access.Sees(r.Context(), user, a) }
}

// prepared looks up the caller's groups for a list before it takes a seat at the desk.
func (s *site) prepared(f answerFunc) answerFunc {
	return func(r *http.Request) (rest.Answer, error) {
		s.Access.Prepare(r.Context(), named(r))
		return f(r)
	}
}

// hides reports whether the caller may not view an application.
func (s *site) hides(r *http.Request, a *rm.AppReport) bool {
	sees := s.sight(r)
	return sees != nil && !sees(a)
}

// mask removes from applications what a caller with this sight may not know.
func mask(r *http.Request, sees func(*rm.AppReport) bool, list []rm.AppReport) error {
	if sees == nil {
		return nil
	}
	for i := range list {
		if err := daemon.Breathe(r.Context(), i); err != nil {
			return err
		}
		if !sees(&list[i]) {
			list[i] = list[i].Mask()
		}
	}
	return nil
}

// visible returns an error if the caller may not view an application.
func (s *site) visible(r *http.Request, id ids.App) error {
	sees := s.sight(r)
	if sees == nil {
		return nil
	}
	a, err := s.RM.App(r.Context(), id)
	if err != nil || sees(&a) {
		return err
	}
	if err := daemon.ReadingOf(r.Context()).Unsure(); err != nil {
		return err
	}
	message := "Somebody unknown does not have privilege to see this application " + id.String() + "; name the user with ?user.name="
	if user := named(r); user != "" {
		message = "User " + user + " does not have privilege to see this application " + id.String()
	}
	return &oops{status: http.StatusForbidden, class: webapp + "ForbiddenException", message: message}
}

// seen restricts an answer to callers that may view the application in the path.
func (s *site) seen(f answerFunc) answerFunc {
	return func(r *http.Request) (rest.Answer, error) {
		var hidden error
		if id, err := appID(r); err == nil {
			hidden = s.visible(r, id)
		}
		if hidden != nil && !errors.As(hidden, new(*rm.NotFound)) {
			return rest.Answer{}, hidden
		}
		a, err := f(r) // it has its own words for what does not exist
		return a, cmp.Or(err, hidden)
	}
}

// shown returns what belongs to applications that a caller with this sight may view, and the number of the others. of
// names the application of an element.
func shown[T any](s *site, r *http.Request, sees func(*rm.AppReport) bool, all []T, of func(*T) ids.App) (list []T, masked int, err error) {
	if sees == nil {
		return all, 0, nil
	}
	may := map[ids.App]bool{}
	for i := range all {
		if err := daemon.Breathe(r.Context(), i); err != nil {
			return nil, 0, err
		}
		id := of(&all[i])
		if _, known := may[id]; !known {
			a, err := s.RM.App(r.Context(), id)
			if err != nil && !errors.As(err, new(*rm.NotFound)) { // it may have gone meanwhile
				return nil, 0, err
			}
			may[id] = err == nil && sees(&a)
		}
		if may[id] {
			list = append(list, all[i])
		} else {
			masked++
		}
	}
	return list, masked, nil
}

// shownContainers is shown for containers.
func (s *site) shownContainers(r *http.Request, sees func(*rm.AppReport) bool, all []rm.ContainerReport) (list []rm.ContainerReport, masked int, err error) {
	return shown(s, r, sees, all, func(c *rm.ContainerReport) ids.App { return c.ID.Attempt.App })
}

// shownAgent returns the agent of a node, without what it could not do to containers of applications that a caller with
// this sight may not view. It returns nil if the node is gone or has no agent.
func (s *site) shownAgent(r *http.Request, sees func(*rm.AppReport) bool, n *rm.NodeReport) (*rm.AgentRow, error) {
	if n.Agent == nil || gone(n.State) {
		return nil, nil
	}
	failed, masked, err := shown(s, r, sees, n.Agent.Failed, func(f *rm.AgentFailure) ids.App { return f.Container.Attempt.App })
	if err != nil {
		return nil, err
	}
	out := s.shape.agent(n.Agent, failed)
	out.Masked = masked
	return out, nil
}

// hide removes what a stock ResourceManager does not show to callers that may not view an application.
func hide(a *rest.App) {
	a.Started, a.Launched, a.Finished, a.Elapsed = 0, 0, 0, 0
	a.AMLogs, a.AMHost, a.AMRPC, a.MasterNode, a.LogAggregation = "", "", "", "", ""
	a.MB, a.VCores, a.ReservedMB, a.ReservedCPU, a.Containers = 0, 0, 0, 0, 0
	a.QueueShare, a.ClusterShare, a.Requests = 0, 0, nil
}
