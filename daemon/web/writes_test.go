package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"heddle/daemon"
	"heddle/rm"
)

// changeable returns a fake with a running application.
func changeable() *fakeRM {
	return &fakeRM{ready: true, apps: []rm.AppReport{{
		ID: app(proxied), User: "ann", State: rm.AppRunning, Internal: "RUNNING", Queue: "root.default",
	}}}
}

func TestChanges(t *testing.T) {
	const (
		state, queue, priority = "/apps/" + proxied + "/state", "/apps/" + proxied + "/queue", "/apps/" + proxied + "/priority"
		lifetime               = "/apps/" + proxied + "/timeout"
		kill                   = `{"state":"KILLED","diagnostics":"enough"}`
	)
	tests := []struct {
		name, method, path, query, body string
		header                          http.Header
		set                             func(*fakeRM, *Options)
		status                          int
		want                            string
	}{
		{"kill", "PUT", state, "?user.name=ann", kill, nil, nil, 200, `{"state":"KILLED"}`},
		{"kill in XML", "PUT", state, "?user.name=ann", `<appstate><state>KILLED</state></appstate>`, http.Header{"Content-Type": {"application/xml"}}, nil, 200, `{"state":"KILLED"}`},
		{"same state", "PUT", state, "?user.name=ann", `{"state":"RUNNING"}`, nil, nil, 200, `{"state":"RUNNING"}`},
		{"other state", "PUT", state, "?user.name=ann", `{"state":"FINISHED"}`, nil, nil, 400, "Only 'KILLED' is allowed"},
		{"unacceptable", "PUT", state, "?user.name=ann", kill, http.Header{"Accept": {"text/plain"}}, nil, 406, "serves application/json or application/xml"},
		{"no body", "PUT", state, "?user.name=ann", ``, nil, nil, 400, "BadRequestException"},
		{"text", "PUT", state, "?user.name=ann", kill, http.Header{"Content-Type": {"text/plain"}}, nil, 415, "application/json"},
		{"nobody", "PUT", state, "", kill, nil, nil, 401, `"exception":"AuthorizationException"`},
		{"strange name", "PUT", state, "?user.name=a%0ab", kill, nil, nil, 401, "not authenticated"},
		{"from outside", "PUT", state, "?user.name=ann", kill, nil, func(_ *fakeRM, o *Options) { o.Local = false }, 401, "not authenticated"},
		{"page of another site", "PUT", state, "?user.name=ann", kill, http.Header{"Sec-Fetch-Site": {"cross-site"}}, nil, 403, "another site"},
		{"page of a master", "PUT", state, "?user.name=ann", kill, http.Header{"Sec-Fetch-Site": {"same-origin"}}, nil, 403, "browsers"},
		{"refused", "PUT", state, "?user.name=bob", kill, nil, func(f *fakeRM, _ *Options) { f.denies = true }, 403, "Unauthorized attempt to kill appid " + proxied + " by remote user bob"},
		{"unknown", "PUT", "/apps/application_1_0001/state", "?user.name=ann", kill, nil, nil, 404, "app with id: application_1_0001 not found"},
		{"busy", "PUT", state, "?user.name=ann", kill, nil, func(f *fakeRM, _ *Options) { f.fails = errBusy }, 503, "the loop is busy"},
		{"too long", "PUT", state, "?user.name=ann", strings.Repeat(" ", maxBody+1), nil, nil, 413, "longer than"},
		{"move", "PUT", queue, "?user.name=ann", `{"queue":"root.a"}`, nil, nil, 200, `{"queue":"root.a"}`},
		{"move to its own queue", "PUT", queue, "?user.name=bob", `{"queue":"root.default"}`, nil, func(f *fakeRM, _ *Options) { f.denies = true }, 200, `{"queue":"root.default"}`},
		{"move nowhere", "PUT", queue, "?user.name=ann", `{"queue":"nosuch"}`, nil, nil, 400, `"exception":"YarnException"`},
		{"move without a queue", "PUT", queue, "?user.name=ann", `{}`, nil, nil, 400, "names no queue"},
		{"priority", "PUT", priority, "?user.name=ann", `{"priority":99}`, nil, nil, 200, `{"priority":10}`},
		{"priority in XML", "PUT", priority, "?user.name=ann", `<applicationpriority><priority>3</priority></applicationpriority>`, http.Header{"Content-Type": {"application/xml"}}, nil, 200, `{"priority":3}`},
		{"no priority", "PUT", priority, "?user.name=ann", `{}`, nil, nil, 400, "names no priority"},
		{"priority in words", "PUT", priority, "?user.name=ann", `{"priority":"high"}`, nil, nil, 400, "the body cannot be read: priority: got text; wanted a whole number"},
		{"priority in words in XML", "PUT", priority, "?user.name=ann", `<applicationpriority><priority>high</priority></applicationpriority>`, http.Header{"Content-Type": {"application/xml"}}, nil, 400, `the body cannot be read: got \"high\"; wanted a whole number`},
		{"queue that is a list", "PUT", queue, "?user.name=ann", `{"queue":["a"]}`, nil, nil, 400, "the body cannot be read: queue: got a list; wanted text"},
		{"half a body", "PUT", queue, "?user.name=ann", `{"queue"`, nil, nil, 400, "the body cannot be read: is not JSON: unexpected end"},
		{"lifetime", "PUT", lifetime, "?user.name=ann", `{"timeout":{"type":"LIFETIME","expiryTime":"2026-01-31T12:00:00.000+0000"}}`, nil, nil, 200, `"expiryTime":"2026-01-31T12:00:00.000+0000"`},
		{"bad lifetime", "PUT", lifetime, "?user.name=ann", `{"timeout":{"type":"LIFETIME","expiryTime":"soon"}}`, nil, nil, 400, "should read"},
		{"new application", "POST", "/apps/new-application", "?user.name=ann", ``, nil, nil, 200, `{"application-id":"application_1795246246143_0007","maximum-resource-capability":{"memory":4096,"vCores":8,`},
		{"new application for nobody", "POST", "/apps/new-application", "", ``, nil, nil, 401, "not authenticated"},
		{"submission", "POST", "/apps", "?user.name=ann", `{}`, nil, nil, 403, "spark-submit"},
		{"no such service", "POST", "/reservation/submit", "?user.name=ann", `{}`, nil, nil, 404, "is not served"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := changeable()
			o := Options{RM: f, Local: true, WebHost: "rm.example:8088"}
			if tt.set != nil {
				tt.set(f, &o)
			}
			r := httptest.NewRequest(tt.method, restBase+tt.path+tt.query, strings.NewReader(tt.body))
			r.RemoteAddr = "127.0.0.1:5000"
			r.Header.Set("Content-Type", "application/json")
			maps.Copy(r.Header, tt.header)
			w := httptest.NewRecorder()
			New(o).ServeHTTP(w, r)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("got %d %s; want %d with %s", w.Code, w.Body, tt.status, tt.want)
			}
			wantLocation := ""
			if tt.status == http.StatusAccepted {
				wantLocation = "http://rm.example:8088" + restBase + tt.path
			}
			if l := w.Header().Get("Location"); l != wantLocation {
				t.Errorf("Location %q, want %q", l, wantLocation)
			}
			if tt.status >= 400 && (f.actor != daemon.Actor{}) {
				t.Errorf("something was changed by %v", f.actor)
			}
			if tt.name == "kill" && (f.killed != "enough" || f.actor.User != "ann" || f.actor.Addr != "" || f.caller != "127.0.0.1") {
				t.Errorf("killed with %q by %v, called by %q", f.killed, f.actor, f.caller)
			}
			if tt.name == "lifetime" && !f.until.Equal(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)) {
				t.Errorf("lifetime until %v", f.until)
			}
		})
	}
}

// A caller that is told that too much waits is told when to retry.
func TestBusy(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{{fmt.Errorf("not now: %w", daemon.ErrBusy), "1"}, {errBusy, ""}, {daemon.ErrNoGroups, ""}} {
		f := changeable()
		f.fails = c.err
		h := New(Options{RM: f, Local: true})
		for _, r := range []*http.Request{
			httptest.NewRequest(http.MethodGet, restBase+"/apps", nil), httptest.NewRequest(http.MethodGet, heddleBase+"/apps", nil),
			httptest.NewRequest(http.MethodPost, restBase+"/apps/new-application?user.name=ann", nil),
		} {
			r.RemoteAddr = "127.0.0.1:5000"
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != c.want {
				t.Errorf("%v: %s %s is answered %d with Retry-After %q, want %q", c.err, r.Method, r.URL, w.Code, w.Header().Get("Retry-After"), c.want)
			}
		}
	}
}

// Only callers on this machine may say who they are.
func TestUserNameIsForLoopback(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:1": "ann", "127.0.0.4:1": "ann", "[::1]:1": "ann", "[::ffff:127.0.0.1]:1": "ann", "192.0.2.1:1": "", "": "",
	} {
		s := &site{Options: Options{Local: true}}
		r := httptest.NewRequest(http.MethodGet, "/?user.name=ann", nil)
		r.RemoteAddr = addr
		if got := s.user(r); got != want {
			t.Errorf("from %q: %q, want %q", addr, got, want)
		}
	}
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"} { // of a proxy on this machine
		s := &site{Options: Options{Local: true}}
		r := httptest.NewRequest(http.MethodGet, "/?user.name=ann", nil)
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set(header, "")
		if got := s.user(r); got != "" {
			t.Errorf("with %s: %q, want nobody", header, got)
		}
	}
}
