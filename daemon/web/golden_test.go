package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// stockStart is when the recorded ResourceManager started.
const stockStart = 1795246246143

// recorded reads a recorded answer.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "stock", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// recordedAs reads a recorded answer into a struct of package rest.
func recordedAs[T any](t *testing.T, name, root string) T {
	t.Helper()
	var v T
	if err := rest.Parse(recorded(t, name), root, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// flatJSON writes every value of a document on a line, with its path and type. A duplicate member makes two lines, and
// 5.0 has another type than 5.
func flatJSON(t *testing.T, data []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out []string
	var walk func(path string)
	walk = func(path string) {
		tok, err := d.Token()
		if err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		switch v := tok.(type) {
		case json.Delim:
			out = append(out, path+" "+v.String())
			for i := 0; d.More(); i++ {
				if v == '[' {
					walk(fmt.Sprintf("%s[%d]", path, i))
					continue
				}
				key, _ := d.Token()
				walk(path + "." + key.(string))
			}
			_, _ = d.Token()
		case json.Number:
			kind := "integer"
			if strings.ContainsAny(v.String(), ".eE") {
				kind = "float"
			}
			out = append(out, path+" "+kind+" "+v.String())
		default:
			out = append(out, fmt.Sprintf("%s %T %v", path, v, v))
		}
	}
	walk("")
	return out
}

// flatXML does the same for XML.
func flatXML(t *testing.T, data []byte) []string {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	var out []string
	path, text, leaf := "", "", false
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		switch v := tok.(type) {
		case xml.StartElement:
			path += "/" + v.Name.Local
			out = append(out, path)
			text, leaf = "", true
		case xml.CharData:
			text = string(v)
		case xml.EndElement:
			if text != "" && leaf {
				out = append(out, path+" = "+text)
			}
			path, text, leaf = path[:strings.LastIndexByte(path, '/')], "", false
		}
	}
}

// masked replaces values by * in lines whose path matches.
func masked(lines []string, mask string) []string {
	if mask == "" {
		return lines
	}
	re := regexp.MustCompile(mask)
	out := make([]string, len(lines))
	for i, l := range lines {
		path, rest, found := strings.Cut(l, " ")
		if found && re.MatchString(path) {
			kind, _, _ := strings.Cut(rest, " ")
			l = path + " " + kind + " *"
		}
		out[i] = l
	}
	return out
}

// stockWorld returns a fake in the state of the recorded ResourceManager, as the tests ask it.
func stockWorld(t *testing.T) *fakeRM {
	t.Helper()
	f := &fakeRM{ready: true, attempts: map[ids.App][]rm.AttemptReport{}}
	f.cluster = rm.ClusterReport{
		Started: stockStart, Scheduler: "capacity", Profile: "capacity",
		Minimum: heddle.Of(128, 1000), Maximum: heddle.Of(4096, 8000),
	}
	return f
}

func app(text string) ids.App {
	id, err := ids.ParseApp(text)
	if err != nil {
		panic(err)
	}
	return id
}

// appReport converts a recorded application back to its report.
func appReport(t *testing.T, a rest.App) rm.AppReport {
	t.Helper()
	r := rm.AppReport{
		ID: app(a.ID), User: a.User, Queue: a.Queue, Name: a.Name, Type: a.Type, Priority: a.Priority,
		State: rm.AppState(a.State), Internal: a.State, Final: rm.FinalStatus(a.FinalStatus), Diagnostics: a.Diagnostics,
		Progress: rm.Fraction(a.Progress) / 100, Started: a.Started, Launched: a.Launched, Finished: a.Finished, Attempt: 1,
		TrackingURL: a.TrackingURL, MasterHTTP: a.AMHost, QueueShare: a.QueueShare, ClusterShare: a.ClusterShare,
		MemorySeconds: a.MBSeconds, VcoreSeconds: a.CPUSeconds, LogAggregation: a.LogAggregation,
	}
	r.Master = ids.Container{Attempt: ids.Attempt{App: r.ID, N: 1}, ID: 1}
	var err error
	if r.MasterNode, err = ids.ParseNode(a.MasterNode); err != nil {
		t.Fatal(err)
	}
	if a.AMRPC != "" {
		n, err := ids.ParseNode(a.AMRPC)
		if err != nil {
			t.Fatal(err)
		}
		r.Host, r.RPCPort = n.Host, n.Port
	}
	if a.MB >= 0 {
		r.Live, r.Containers, r.Used, r.MasterSize = true, a.Containers, held(a.MB, a.VCores*1000), held(512, 1000)
	}
	return r
}

func nodeReport(t *testing.T, n rest.Node) rm.NodeReport {
	t.Helper()
	id, err := ids.ParseNode(n.ID)
	if err != nil {
		t.Fatal(err)
	}
	return rm.NodeReport{
		ID: id, HTTP: n.HTTP, Rack: n.Rack, State: n.State, Version: n.Version, Health: n.Health, HealthAt: n.HealthAt,
		Total: heddle.Of(n.Total.Memory, n.Total.VCores*1000), Used: heddle.Of(n.UsedMB, n.UsedVCores*1000), Physical: heddle.Of(24105, 2000),
		Containers: n.Containers, Utilization: rm.Utilization{
			Physical: n.Utilization.NodePhysicalMB, Virtual: n.Utilization.NodeVirtualMB, CPU: float32(n.Utilization.NodeCPU),
		}, Aggregate: rm.Utilization{
			Physical: n.Utilization.ContainersPhysicalMB, Virtual: n.Utilization.ContainersVirtualMB,
			CPU: float32(n.Utilization.ContainersCPU),
		},
	}
}

// clusterReport adds recorded figures to the report.
func clusterReport(c rm.ClusterReport, m rest.ClusterMetrics) rm.ClusterReport {
	c.Submitted, c.Completed, c.PendingApps, c.RunningApps = m.AppsSubmitted, m.AppsCompleted, m.AppsPending, m.AppsRunning
	c.FailedApps, c.KilledApps = m.AppsFailed, m.AppsKilled
	c.Total, c.Used = heddle.Of(m.TotalMB, m.TotalVCores*1000), heddle.Of(m.AllocatedMB, m.AllocatedVCores*1000)
	c.Pending, c.Containers, c.Waiting = heddle.Of(m.PendingMB, m.PendingVCores*1000), m.ContainersAllocated, m.ContainersPending
	c.Active, c.Lost, c.Shutdown = m.ActiveNodes, m.LostNodes, m.ShutdownNodes
	return c
}

// stockQueues returns the two queues of the recorded ResourceManager, with what ran in them.
func stockQueues(used, masters rm.Amount, containers, active int) []rm.QueueReport {
	info := rm.QueueInfo{
		State: rm.QueueRunning, Capacity: 1, Max: 1, Absolute: 1, AbsoluteMax: 1, Weight: -1, MaxApps: 10000, AMShare: 0.5,
		UserLimit: 100, UserFactor: 1, MaxShare: heddle.Unbounded,
	}
	root, leaf := info, info
	root.Path, root.SubmitACL, root.AdminACL = "root", "*", "*"
	leaf.Path, leaf.SubmitACL, leaf.AdminACL, leaf.Leaf, leaf.Order, leaf.Configured = "root.default", " ", " ", true, "shortest", "fifo"
	out := []rm.QueueReport{
		{QueueInfo: root, Used: used, Containers: containers, Children: []heddle.QueueID{1}},
		{QueueInfo: leaf, ID: 1, Used: used, Masters: masters, Containers: containers, Active: active},
	}
	if active > 0 {
		out[1].Users = []rm.UserReport{{Name: "root", Used: used, Masters: masters, Active: active}}
	}
	return out
}

// A recordedAnswer is an answer that is compared with the recorded one.
type recordedAnswer struct {
	file, path string
	accept     string
	now        int64 // clock time; 0 for the start
	status     int   // 0 for 200
	mask       string
	set        func(*fakeRM)
}

func TestAnswersAsRecorded(t *testing.T) {
	const figures = `(memory|vCores|value)$`
	running := recordedAs[rest.App](t, "app-running.json", "app")
	tests := []recordedAnswer{
		{file: "info-idle.json", path: "/info", mask: `(Store|Version|BuiltOn|ConnectionState|StoreName)`},
		{file: "info-idle.json", path: "", mask: `(Store|Version|BuiltOn|ConnectionState|StoreName)`},
		{file: "info-idle.json", path: "/", mask: `(Store|Version|BuiltOn|ConnectionState|StoreName)`},
		{file: "metrics-idle.json", path: "/metrics", mask: `tilized`},
		{file: "metrics-running.json", path: "/metrics", mask: `tilized|PerSecond`},
		{file: "metrics-one-shutdown.json", path: "/metrics", mask: `tilized|PerSecond`},
		{file: "metrics-idle.xml", path: "/metrics", mask: `tilized`, accept: "application/xml"},
		{file: "apps-idle.json", path: "/apps"},
		{file: "apps-end.json", path: "/apps"},
		{file: "apps-limit2.json", path: "/apps?limit=2"},
		{
			file: "apps-running.xml", path: "/apps?states=RUNNING", accept: "application/xml", now: running.Started + 10776,
			set: func(f *fakeRM) { f.apps = []rm.AppReport{appReport(t, running)} },
		},
		{file: "app-running.json", path: "/apps/" + running.ID, now: running.Started + running.Elapsed},
		{file: "app-finished.json", path: "/apps/" + running.ID},
		{file: "app-killed.json", path: "/apps/application_1795246246143_0002"},
		{file: "appattempts-running.json", path: "/apps/" + running.ID + "/appattempts"},
		{file: "appattempts-killed.json", path: "/apps/application_1795246246143_0002/appattempts"},
		{
			file: "appstate-running.json", path: "/apps/" + running.ID + "/state",
			set: func(f *fakeRM) { f.apps = []rm.AppReport{appReport(t, running)} },
		},
		{
			file: "appstatistics-running.json", path: "/appstatistics", mask: `(state|count)$`,
			set: func(f *fakeRM) { f.apps = []rm.AppReport{appReport(t, running)} },
		},
		{file: "node-running.json", path: "/nodes/127.0.0.2:8041"},
		{file: "nodes-running.json", path: "/nodes"},
		{file: "nodes-one-shutdown.json", path: "/nodes"},
		{
			file: "scheduler-idle.json", path: "/scheduler", mask: `(health\.|(amLimit|userAmLimit).*` + figures + `)`,
			set: func(f *fakeRM) {
				f.cluster.Total = heddle.Of(12288, 24000)
				f.queues = stockQueues(rm.Amount{}, rm.Amount{}, 0, 0)
			},
		},
		{
			file: "scheduler-running.json", path: "/scheduler", mask: `(health\.|users.*userAmLimit.*` + figures + `)`,
			set: func(f *fakeRM) {
				f.cluster.Total = heddle.Of(12288, 24000)
				f.queues = stockQueues(held(2560, 5000), held(512, 1000), 5, 1)
			},
		},
		{file: "error-no-app.json", path: "/apps/application_1_0001", status: 404},
		{file: "error-bad-id.json", path: "/apps/nosuch", status: 400},
		{file: "error-bad-state.json", path: "/apps?states=BOGUS", status: 400},
		{file: "error-no-node.json", path: "/nodes/nosuch:1", status: 404},
	}
	tests = append(tests, shellAnswers(t)...)
	served := newSite(Options{RM: stockWorld(t)})
	held := map[string]bool{}
	for _, tt := range tests {
		_, pattern := served.mux.Handler(httptest.NewRequest(http.MethodGet, rest.Base+tt.path, nil))
		held[pattern] = held[pattern] || tt.status == 0
		t.Run(tt.file+strings.ReplaceAll(tt.path, "/", "_"), func(t *testing.T) {
			f := stockWorld(t)
			feed(t, f, tt.file)
			if tt.set != nil {
				tt.set(f)
			}
			now := time.UnixMilli(max(tt.now, stockStart))
			f.now, f.logServer = now.UnixMilli(), "http://127.0.0.1:19888/jobhistory/logs"
			h := New(Options{
				RM: f, Now: func() time.Time { return now }, Version: "dev",
				Store: "bbolt", BuiltOn: "today",
				Conf: []Property{{Key: "yarn.acl.enable", Value: "false", Source: "yarn-default.xml"}},
			})
			path := tt.path
			if !strings.HasPrefix(path, "/conf") {
				path = rest.Base + path
			}
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Accept", tt.accept)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if want := max(tt.status, http.StatusOK); w.Code != want {
				t.Fatalf("status %d, want %d: %s", w.Code, want, w.Body)
			}
			flat := flatJSON
			if strings.HasSuffix(tt.file, ".xml") {
				flat = flatXML
			}
			want, got := flat(t, recorded(t, tt.file)), flat(t, w.Body.Bytes())
			if len(got) < min(2, len(want)) {
				t.Fatalf("nothing to compare in %s", w.Body)
			}
			if diff := cmp.Diff(masked(want, tt.mask), masked(got, tt.mask)); diff != "" {
				t.Errorf("other than recorded (-stock +ours):\n%s", diff)
			}
		})
	}
	for _, p := range served.paths {
		if strings.HasPrefix(p, "GET "+rest.Base) && !held[p] {
			t.Errorf("%s is held against no recording", p)
		}
	}
}

// feed puts the contents of a recorded answer into the fake.
func feed(t *testing.T, f *fakeRM, file string) {
	t.Helper()
	kind, _, _ := strings.Cut(file, "-")
	if !strings.HasSuffix(file, ".json") {
		file = strings.TrimSuffix(file, ".xml") + ".json"
	}
	switch kind {
	case "metrics":
		f.cluster = clusterReport(f.cluster, recordedAs[rest.ClusterMetrics](t, file, "clusterMetrics"))
	case "app":
		f.apps = []rm.AppReport{appReport(t, recordedAs[rest.App](t, file, "app"))}
	case "apps":
		if file == "apps-running.json" {
			return
		}
		for _, a := range recordedAs[rest.Apps](t, file, "apps").List {
			f.apps = append(f.apps, appReport(t, a))
		}
	case "appattempts":
		for _, a := range recordedAs[rest.Attempts](t, file, "appAttempts").List {
			id, err := ids.ParseAttempt(a.ID)
			if err != nil {
				t.Fatal(err)
			}
			node, err := ids.ParseNode(a.Node)
			if err != nil {
				t.Fatal(err)
			}
			f.apps = append(f.apps, rm.AppReport{ID: id.App})
			f.attempts[id.App] = []rm.AttemptReport{{
				ID: id, State: a.State, Node: node, NodeHTTP: a.NodeHTTP, User: "root", Started: a.Started, Finished: a.Finished,
				Master: ids.Container{Attempt: id, ID: 1},
			}}
		}
	case "node":
		f.nodes = []rm.NodeReport{nodeReport(t, recordedAs[rest.Node](t, file, "node"))}
	case "nodes":
		for _, n := range recordedAs[rest.Nodes](t, file, "nodes").List {
			f.nodes = append(f.nodes, nodeReport(t, n))
		}
	}
}

// A kill and an id, as recorded. Our kill is over when it is answered; stock's was not, and its status says so.
func TestChangesAsRecorded(t *testing.T) {
	f := changeable()
	f.apps[0].ID = app("application_1795246246143_0003")
	h := New(Options{RM: f, Local: true, WebHost: "127.0.0.1:8088"})
	send := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, rest.Base+path+"?user.name=root", strings.NewReader(body))
		r.RemoteAddr = "127.0.0.1:5000"
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	w := send(http.MethodPut, "/apps/application_1795246246143_0003/state", `{"state":"KILLED"}`)
	want, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(recorded(t, "put-kill.headers"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusOK || w.Body.String() != `{"state":"KILLED"}` {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	for _, name := range []string{"Content-Type", "Cache-Control", "X-Content-Type-Options"} {
		if got := w.Header().Get(name); got != want.Header.Get(name) {
			t.Errorf("%s: %q, want %q", name, got, want.Header.Get(name))
		}
	}
	w = send(http.MethodPost, "/apps/new-application", "")
	if diff := cmp.Diff(flatJSON(t, recorded(t, "new-application.json")), flatJSON(t, w.Body.Bytes())); diff != "" || w.Code != http.StatusOK {
		t.Errorf("%d; other than recorded (-stock +ours):\n%s", w.Code, diff)
	}
}
