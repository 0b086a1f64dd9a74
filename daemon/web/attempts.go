package web

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// missing gives a NotFound the words that YARN's clients look for.
func missing(err error, text string) error {
	if nf := (*rm.NotFound)(nil); errors.As(err, &nf) {
		return notFound(text)
	}
	return err
}

// attempts answers GET /apps/{id}/appattempts.
func (s *site) attempts(r *http.Request) (rest.Answer, error) {
	id, err := appID(r)
	if err != nil {
		return rest.Answer{}, err
	}
	reports, err := s.RM.Attempts(r.Context(), id)
	if err != nil {
		return rest.Answer{}, missing(err, "app with id: "+id.String()+" not found")
	}
	out := rest.Attempts{}
	for i := range reports {
		out.List = append(out.List, attempt(&reports[i]))
	}
	return rest.Answer{Root: "appAttempts", Value: out}, nil
}

// attemptID reads the attempt in the path, which must belong to the application in the path.
func attemptID(r *http.Request) (ids.Attempt, error) {
	app, err := appID(r)
	if err != nil {
		return ids.Attempt{}, err
	}
	text := r.PathValue("attempt")
	id, err := ids.ParseAttempt(text)
	if err != nil {
		return id, unreadable("AppAttemptId", "appattempt", text)
	}
	if id.App != app {
		return id, notFound("appId and appAttemptId don't match")
	}
	return id, nil
}

// unreadable says in YARN's words that a text is not an id.
func unreadable(kind, prefix, text string) error {
	message := "Invalid " + kind + ": " + text
	if got, _, _ := strings.Cut(text, "_"); got != prefix {
		message = "Invalid " + kind + " prefix: " + text
	}
	return &oops{
		status: http.StatusBadRequest, class: webapp + "BadRequestException",
		message: "java.lang.IllegalArgumentException: " + message,
	}
}

// missingPart says in YARN's words what is missing: the named part of an application, or the application itself.
func (s *site) missingPart(r *http.Request, err error, app ids.App, class, part string) error {
	if nf := (*rm.NotFound)(nil); !errors.As(err, &nf) {
		return err
	}
	text := part + " doesn't exist in RM."
	if _, err := s.RM.App(r.Context(), app); errors.As(err, new(*rm.NotFound)) {
		class = "ApplicationNotFoundException"
		text = "Application with id '" + app.String() + "' doesn't exist in RM. Please check that the job submission was successful."
	}
	return &oops{
		status: http.StatusNotFound, class: webapp + "NotFoundException",
		message: "org.apache.hadoop.yarn.exceptions." + class + ": " + text,
	}
}

func (s *site) missingAttempt(r *http.Request, err error, id ids.Attempt) error {
	return s.missingPart(r, err, id.App, "ApplicationAttemptNotFoundException", "ApplicationAttempt with id '"+id.String()+"'")
}

// attempt answers GET /apps/{id}/appattempts/{id}.
func (s *site) attempt(r *http.Request) (rest.Answer, error) {
	id, err := attemptID(r)
	if err != nil {
		return rest.Answer{}, err
	}
	a, err := s.RM.Attempt(r.Context(), id)
	if err != nil {
		return rest.Answer{}, s.missingAttempt(r, err, id)
	}
	return rest.Answer{Root: "appAttempt", Shape: rest.Mapped, Value: attemptDetail(&a)}, nil
}

func attemptDetail(a *rm.AttemptReport) rest.AttemptDetail {
	o := rest.AttemptDetail{
		ID: a.ID.String(), Host: cmp.Or(a.Host, none), RPCPort: rest.Number(a.RPCPort), TrackingURL: cmp.Or(a.TrackingURL, none),
		OriginalURL: cmp.Or(a.OriginalURL, none), Diagnostics: a.Diagnostics, State: a.State,
		Started: rest.Number(a.Started), Finished: rest.Number(a.Finished),
	}
	if !a.Master.IsZero() {
		o.Container = a.Master.String()
	}
	return o
}

// none is YARN's text for a name or an address that does not exist.
const none = "N/A"

func attempt(a *rm.AttemptReport) rest.Attempt {
	o := rest.Attempt{
		N: a.ID.N, Started: a.Started, Finished: a.Finished, NodeHTTP: a.NodeHTTP, Logs: a.Logs,
		Blacklisted: strings.Join(a.Blacklisted, ","), ID: a.ID.String(), State: a.State, Ports: "null",
	}
	if !a.Master.IsZero() {
		o.Container = a.Master.String()
	}
	if !a.Node.IsZero() {
		o.Node = a.Node.String()
	}
	return o
}

// containers answers GET …/appattempts/{id}/containers.
func (s *site) containers(r *http.Request) (rest.Answer, error) {
	id, err := attemptID(r)
	if err != nil {
		return rest.Answer{}, err
	}
	reports, err := s.RM.Containers(r.Context(), id)
	if err != nil {
		return rest.Answer{}, s.missingAttempt(r, err, id)
	}
	out := rest.Containers{}
	for i := range reports {
		out.List = append(out.List, s.shape.container(&reports[i]))
	}
	return rest.Answer{Root: "containers", Shape: rest.Mapped, Value: out}, nil
}

// container answers GET …/containers/{id}.
func (s *site) container(r *http.Request) (rest.Answer, error) {
	attempt, err := attemptID(r)
	if err != nil {
		return rest.Answer{}, err
	}
	text := r.PathValue("container")
	id, err := ids.ParseContainer(text)
	if err != nil {
		return rest.Answer{}, unreadable("ContainerId", "container", text)
	}
	if id.Attempt != attempt {
		return rest.Answer{}, notFound("appAttemptId and containerId don't match")
	}
	c, err := s.RM.Container(r.Context(), id)
	if err != nil {
		return rest.Answer{}, s.missingPart(r, err, id.Attempt.App, "ContainerNotFoundException", "Container with id '"+id.String()+"'")
	}
	return rest.Answer{Root: "container", Shape: rest.Mapped, Value: s.shape.container(&c)}, nil
}

func (sh shaper) container(c *rm.ContainerReport) rest.Container {
	state, exit := "RUNNING", int32(0)
	if c.Complete {
		state, exit = "COMPLETE", c.Exit
	}
	var size rest.Entries
	for _, i := range sh.resource(c.Size).Informations.List {
		size = append(size, rest.Entry{Key: i.Name, Value: strconv.FormatInt(i.Value, 10)})
	}
	return rest.Container{
		ID: c.ID.String(), MB: rest.Number(c.Size[heddle.Memory]), VCores: rest.Number(vcores(c.Size[heddle.CPU])),
		Node: c.Node.String(), Priority: rest.Number(c.Priority), Started: rest.Number(c.Created),
		Finished: rest.Number(c.Finished), Elapsed: rest.Number(sh.elapsed(c.Created, c.Finished)),
		Diagnostics: c.Diagnostics, Logs: c.Logs, Exit: rest.Number(exit), State: state,
		NodeHTTP: "http://" + c.NodeHTTP, NodeID: c.Node.String(), Allocated: size,
	}
}
