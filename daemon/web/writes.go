package web

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// A changeFunc makes a change on behalf of a user and returns the status of its answer, or 0 if nothing had to change.
type changeFunc func(r *http.Request, who daemon.Actor) (int, rest.Answer, error)

// change makes a handler of a changeFunc, for known callers and programs only. The log says what became of the change.
func (s *site) change(f changeFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(daemon.WithCaller(r.Context(), addressOf(r).String()), answerTimeout)
		defer cancel()
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		status, a, err := s.asUser(f, r.WithContext(ctx))
		if done := (unread{}); errors.As(err, &done) {
			s.audit(r, nil)
		} else if err != nil || status != 0 {
			s.audit(r, err)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.write(w, r, cmp.Or(status, http.StatusOK), a, nil)
	})
}

// unread is the error of a change that was made, and whose result could not be read.
type unread struct{ error }

func (u unread) Unwrap() error { return u.error }

// changed returns an application that was changed.
func (s *site) changed(r *http.Request, id ids.App) (rm.AppReport, error) {
	a, err := s.RM.App(r.Context(), id)
	if err != nil {
		return a, unread{err}
	}
	return a, nil
}

// operations maps patterns to the names of changes in the log. Patterns that are missing here change nothing yet.
var operations = map[string]string{
	"PUT " + restBase + "/apps/{app}/state":    daemon.OpKill,
	"PUT " + restBase + "/apps/{app}/queue":    daemon.OpMove,
	"PUT " + restBase + "/apps/{app}/priority": daemon.OpPriority,
	"PUT " + restBase + "/apps/{app}/timeout":  daemon.OpTimeouts,
	"POST " + restBase + "/apps":               daemon.OpSubmit,
}

// audit logs what became of a request, if it is a request for a change.
func (s *site) audit(r *http.Request, err error) {
	_, pattern := s.mux.Handler(r)
	operation, ok := operations[pattern]
	if !ok {
		return
	}
	d := daemon.Deed{User: s.user(r), Operation: operation, Target: daemon.TargetWeb}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		d.Addr = host
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, restBase+"/apps/"), "/")
	if id, err := ids.ParseApp(name); err == nil {
		d.App = id
	}
	d.Log(s.Log, err)
}

func (s *site) asUser(f changeFunc, r *http.Request) (int, rest.Answer, error) {
	if negotiate(r.Header.Values("Accept"), true) == "" { // a change whose answer cannot be given is not made
		return 0, rest.Answer{}, notAcceptable(true)
	}
	if r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != "" {
		// The pages here change nothing, and the pages shown by the proxy have the same origin: a change that a browser
		// sends comes from a page that should not send one.
		return 0, rest.Answer{}, &oops{
			status: http.StatusForbidden, class: webapp + "ForbiddenException",
			message: "changes are not accepted from browsers; use the yarn or heddle command, or curl",
		}
	}
	user := s.user(r)
	if user == "" {
		return 0, rest.Answer{}, &oops{
			status: http.StatusUnauthorized, class: "org.apache.hadoop.security.authorize.AuthorizationException",
			message: "Unable to obtain user name, user not authenticated",
		}
	}
	return f(r, daemon.Actor{User: user})
}

// user returns the user who makes a change, or "" if nobody vouches for the name.
func (s *site) user(r *http.Request) string {
	if !s.Local || forwarded(r) {
		return ""
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	if addr, err := netip.ParseAddr(host); err != nil || !addr.Unmap().IsLoopback() {
		return ""
	}
	return named(r)
}

// forwarded reports whether a proxy passes on the request: its caller may be on any machine.
func forwarded(r *http.Request) bool {
	by := []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"}
	return slices.ContainsFunc(by, func(name string) bool { return r.Header[name] != nil })
}

// named returns the user name that the caller gives; "" for none.
func named(r *http.Request) string {
	name := r.URL.Query().Get("user.name")
	if len(name) > maxUserName || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return ""
	}
	return name
}

// read reads a small JSON or XML body into v.
func read(r *http.Request, root string, v any) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	bad := func(text string) error {
		return &oops{status: http.StatusBadRequest, class: webapp + "BadRequestException", message: text}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	switch kind {
	case typeJSON:
		err = rest.Parse(body, root, v)
	case typeXML, "text/xml":
		err = xml.Unmarshal(body, v)
	default:
		return &oops{
			status: http.StatusUnsupportedMediaType, class: webapp + "BadRequestException",
			message: "Content-Type is " + kind + "; it should be application/json or application/xml",
		}
	}
	if number := (*strconv.NumError)(nil); errors.As(err, &number) {
		return bad(fmt.Sprintf("the body cannot be read: got %.40q; wanted a whole number of at most 32 bits", number.Num))
	}
	if err != nil {
		return bad("the body cannot be read: " + err.Error())
	}
	return nil
}

// refused returns YARN's answer to a change that an access check rejected.
func refused(err error, do string, who daemon.Actor) error {
	if d := (*rm.Denied)(nil); errors.As(err, &d) {
		return &oops{status: http.StatusForbidden, plain: true, message: "Unauthorized attempt to " + do + " by remote user " + who.User}
	}
	return err
}

// putState answers PUT /apps/{id}/state, which can only kill.
func (s *site) putState(r *http.Request, who daemon.Actor) (int, rest.Answer, error) {
	a, err := s.appOf(r)
	if err != nil {
		return 0, rest.Answer{}, err
	}
	var body struct {
		State       string `json:"state" xml:"state"`
		Diagnostics string `json:"diagnostics" xml:"diagnostics"`
	}
	if err := read(r, "", &body); err != nil {
		return 0, rest.Answer{}, err
	}
	now := stateAnswer(a)
	switch body.State {
	case now.Value.(rest.AppState).State:
		return 0, now, nil
	case string(rm.AppKilled):
	default:
		return 0, rest.Answer{}, badRequest("Only 'KILLED' is allowed as a target state.")
	}
	err = s.RM.Kill(r.Context(), who, a.ID, body.Diagnostics)
	if err != nil {
		return 0, rest.Answer{}, refused(err, "kill appid "+a.ID.String(), who)
	}
	if a, err = s.changed(r, a.ID); err != nil {
		return 0, rest.Answer{}, err
	}
	return http.StatusOK, stateAnswer(a), nil
}

// putQueue answers PUT /apps/{id}/queue.
func (s *site) putQueue(r *http.Request, who daemon.Actor) (int, rest.Answer, error) {
	a, err := s.appOf(r)
	if err != nil {
		return 0, rest.Answer{}, err
	}
	var body struct {
		Queue string `json:"queue" xml:"queue"`
	}
	if err := read(r, "", &body); err != nil {
		return 0, rest.Answer{}, err
	}
	if body.Queue == "" {
		return 0, rest.Answer{}, badRequest("the body names no queue; it should read {\"queue\":\"root.default\"}")
	}
	if body.Queue == a.Queue {
		return 0, queueAnswer(a.Queue), nil
	}
	if err := s.RM.Move(r.Context(), who, a.ID, body.Queue); err != nil {
		return 0, rest.Answer{}, refused(err, "move appid "+a.ID.String(), who)
	}
	if a, err = s.changed(r, a.ID); err != nil {
		return 0, rest.Answer{}, err
	}
	return http.StatusOK, queueAnswer(a.Queue), nil
}

// putPriority answers PUT /apps/{id}/priority.
func (s *site) putPriority(r *http.Request, who daemon.Actor) (int, rest.Answer, error) {
	a, err := s.appOf(r)
	if err != nil {
		return 0, rest.Answer{}, err
	}
	var body struct {
		Priority *int32 `json:"priority" xml:"priority"`
	}
	if err := read(r, "", &body); err != nil {
		return 0, rest.Answer{}, err
	}
	if body.Priority == nil {
		return 0, rest.Answer{}, badRequest("the body names no priority; it should read {\"priority\":8}")
	}
	got, err := s.RM.SetPriority(r.Context(), who, a.ID, *body.Priority)
	if err != nil {
		return 0, rest.Answer{}, refused(err, "change priority of appid "+a.ID.String(), who)
	}
	return http.StatusOK, priorityAnswer(got), nil
}

// putTimeout answers PUT /apps/{id}/timeout.
func (s *site) putTimeout(r *http.Request, who daemon.Actor) (int, rest.Answer, error) {
	a, err := s.appOf(r)
	if err != nil {
		return 0, rest.Answer{}, err
	}
	var body struct {
		Type   string `json:"type" xml:"type"`
		Expiry string `json:"expiryTime" xml:"expiryTime"`
	}
	if err := read(r, "timeout", &body); err != nil {
		return 0, rest.Answer{}, err
	}
	if body.Type != lifetimeType || body.Expiry == "" {
		return 0, rest.Answer{}, badRequest("Timeout type or ExpiryTime is null.")
	}
	until, err := time.Parse(isoTime, body.Expiry)
	if err != nil {
		return 0, rest.Answer{}, badRequest("expiryTime is " + body.Expiry + "; it should read as 2026-01-31T12:00:00.000+0000 does")
	}
	if err := s.RM.SetLifetime(r.Context(), who, a.ID, until); err != nil {
		return 0, rest.Answer{}, refused(err, "change timeout of app "+a.ID.String(), who)
	}
	if a, err = s.changed(r, a.ID); err != nil {
		return 0, rest.Answer{}, err
	}
	return http.StatusOK, rest.Answer{Root: "timeout", Value: s.shape.lifetime(a)}, nil
}

// newApplication answers POST /apps/new-application.
func (s *site) newApplication(r *http.Request, who daemon.Actor) (int, rest.Answer, error) {
	id, largest, err := s.RM.NewApp(r.Context(), who.User)
	if err != nil {
		return 0, rest.Answer{}, err
	}
	return http.StatusOK, rest.Answer{Root: "NewApplication", Shape: rest.Bare, Value: rest.NewApplication{
		ID: id.String(), Maximum: s.shape.resource(largest),
	}}, nil
}

// submit rejects POST /apps: an application submitted over plain HTTP runs a command that nobody vouches for.
func (s *site) submit(w http.ResponseWriter, r *http.Request) {
	err := &oops{
		status: http.StatusForbidden, class: webapp + "ForbiddenException",
		message: "applications cannot be submitted over REST; submit with the yarn command, spark-submit or a Java client, " +
			"which use yarn.resourcemanager.address",
	}
	s.audit(r, err)
	s.fail(w, r, err)
}

// noService answers requests under /ws that are not served.
func (s *site) noService(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, notFound(r.Method+" "+r.URL.Path+" is not served"))
}
