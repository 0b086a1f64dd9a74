package web

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"heddle/daemon"
)

// Each change that is requested over REST leaves one line, done or refused; a request that changes nothing leaves none.
func TestAudit(t *testing.T) {
	const (
		base = restBase + "/apps/" + proxied
		kill = `{"state":"KILLED"}`
		as   = "?user.name=ann"
		ann  = `USER=ann IP=127.0.0.1 OPERATION="`
		app  = "APPID=" + proxied
	)
	tests := []struct {
		name, method, path, body string
		header                   string // one more, with its value
		set                      func(*fakeRM, *Options)
		want                     []string // in the only line; nil for no line
	}{
		{"kill", "PUT", base + "/state" + as, kill, "", nil, []string{"level=INFO", ann + `Kill Application Request" TARGET=RMWebService RESULT=SUCCESS ` + app}},
		{"same state", "PUT", base + "/state" + as, `{"state":"RUNNING"}`, "", nil, nil},
		{"bad state", "PUT", base + "/state" + as, `{"state":"NEW"}`, "", nil, []string{"level=WARN", "RESULT=FAILURE", "Only 'KILLED'", app}},
		{"kill refused", "PUT", base + "/state" + as, kill, "", func(f *fakeRM, _ *Options) { f.denies = true }, []string{ann + "Kill", "RESULT=FAILURE", "Unauthorized attempt to kill", app}},
		{"kill by nobody", "PUT", base + "/state", kill, "", nil, []string{`USER="" IP=127.0.0.1 OPERATION="Kill`, "RESULT=FAILURE", "not authenticated", app}},
		{"kill from outside", "PUT", base + "/state" + as, kill, "", func(_ *fakeRM, o *Options) { o.Local = false }, []string{`USER="" IP=127.0.0.1`, "RESULT=FAILURE", "not authenticated"}},
		{"kill by a page", "PUT", base + "/state" + as, kill, "Sec-Fetch-Site: cross-site", nil, []string{"OPERATION=\"Kill", "RESULT=FAILURE", "another site", app}},
		{"kill by a master's page", "PUT", base + "/state" + as, kill, "Sec-Fetch-Site: same-origin", nil, []string{"OPERATION=\"Kill", "RESULT=FAILURE", "browsers", app}},
		{"kill with an answer that cannot be given", "PUT", base + "/state" + as, kill, "Accept: text/plain", nil, []string{"level=WARN", ann + "Kill", "RESULT=FAILURE", "Accept allows neither", app}},
		{"kill of nothing", "PUT", restBase + "/apps/application_1_0001/state" + as, kill, "", nil, []string{"RESULT=FAILURE", "not found", "APPID=application_1_0001"}},
		{"kill of no id", "PUT", restBase + "/apps/x%0ay/state" + as, kill, "", nil, []string{"RESULT=FAILURE", `Invalid ApplicationId prefix: x\ny`}},
		{"kill of what cannot be read in time", "PUT", base + "/state" + as, kill, "", func(f *fakeRM, _ *Options) { f.fails = context.DeadlineExceeded }, []string{ann + "Kill", "RESULT=FAILURE", "deadline exceeded", app}},
		{"kill of which the result is unreadable", "PUT", base + "/state" + as, kill, "", func(f *fakeRM, _ *Options) { f.unreadable = daemon.ErrBusy }, []string{ann + "Kill", "RESULT=SUCCESS", app}},
		{"move", "PUT", base + "/queue" + as, `{"queue":"root.a"}`, "", nil, []string{ann + `Move Application Request" TARGET=RMWebService RESULT=SUCCESS ` + app}},
		{"move to its own queue", "PUT", base + "/queue" + as, `{"queue":"root.default"}`, "", nil, nil},
		{"move nowhere", "PUT", base + "/queue" + as, `{"queue":"x\ny"}`, "", nil, []string{ann + "Move", "RESULT=FAILURE", `there is no queue x\ny`}},
		{"priority", "PUT", base + "/priority" + as, `{"priority":3}`, "", nil, []string{ann + `Update Application Priority" TARGET=RMWebService RESULT=SUCCESS ` + app}},
		{"priority refused", "PUT", base + "/priority" + as, `{"priority":3}`, "", func(f *fakeRM, _ *Options) { f.denies = true }, []string{ann + "Update Application Priority", "RESULT=FAILURE"}},
		{"lifetime", "PUT", base + "/timeout" + as, `{"timeout":{"type":"LIFETIME","expiryTime":"2099-01-31T12:00:00.000+0000"}}`, "", nil, []string{ann + `Update Application Timeouts" TARGET=RMWebService RESULT=SUCCESS ` + app}},
		{"lifetime refused", "PUT", base + "/timeout" + as, `{}`, "", nil, []string{ann + "Update Application Timeouts", "RESULT=FAILURE"}},
		{"submission", "POST", restBase + "/apps" + as, `{}`, "", nil, []string{ann + `Submit Application Request" TARGET=RMWebService RESULT=FAILURE`, "cannot be submitted over REST"}},
		{"new id", "POST", restBase + "/apps/new-application" + as, ``, "", nil, nil},
		{"look", "GET", base + "/state" + as, ``, "", nil, nil},
		{"options", "OPTIONS", base + "/state" + as, ``, "", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			f := changeable()
			o := Options{RM: f, Local: true, Log: slog.New(slog.NewTextHandler(&log, nil))}
			if tt.set != nil {
				tt.set(f, &o)
			}
			r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
			r.RemoteAddr = "127.0.0.1:5000"
			r.Header.Set("Content-Type", "application/json")
			if name, value, ok := strings.Cut(tt.header, ": "); ok {
				r.Header.Set(name, value)
			}
			New(o).ServeHTTP(httptest.NewRecorder(), r)
			lines := strings.Count(log.String(), "msg=audit")
			others := strings.Count(log.String(), `msg="request failed"`)
			if lines != min(len(tt.want), 1) || lines+others != strings.Count(log.String(), "\n") {
				t.Errorf("%d lines:\n%s", lines, log.String())
			}
			for _, want := range tt.want {
				if !strings.Contains(log.String(), want) {
					t.Errorf("%q is missing in\n%s", want, log.String())
				}
			}
		})
	}
}

// The log knows every route that changes an application.
func TestEveryChangeIsAudited(t *testing.T) {
	s := newSite(Options{RM: &fakeRM{}})
	served := map[string]bool{}
	for _, p := range s.paths {
		method, _, _ := strings.Cut(p, " ")
		served[p] = true
		if (method == "PUT" || method == "POST") && operations[p] == "" && !strings.HasSuffix(p, "/new-application") {
			t.Errorf("%s has no name in the log", p)
		}
	}
	for p := range operations {
		if !served[p] {
			t.Errorf("%s has a name in the log and is not served", p)
		}
	}
}
