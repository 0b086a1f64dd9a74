package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// Recorded while a distributed shell with three containers ran. Under fair it was another one.
const (
	shellApp  = "application_1795364755480_0003"
	killedApp = "/apps/" + shellApp
	shellTry  = killedApp + "/appattempts/appattempt_1795364755480_0003_000001"
	shellTask = shellTry + "/containers/container_1795364755480_0003_01_000002"
)

// shellWorld puts the fake into the state of the recorded ResourceManager while the shell ran.
func shellWorld(t *testing.T, f *fakeRM) {
	t.Helper()
	a := appReport(t, recordedAs[rest.App](t, "app.json", "app"))
	a.MasterSize = held(256, 1000)
	f.apps = []rm.AppReport{a}
	attemptWorld(t, f, "appattempt.json")
	f.attempts[a.ID][0].Node, f.attempts[a.ID][0].NodeHTTP, f.attempts[a.ID][0].User = a.MasterNode, a.MasterHTTP, a.User
	containerWorld(t, f, "containers.json")
	f.queues = stockQueues(held(768, 3000), held(256, 1000), 3, 1)
	f.cluster.Total = heddle.Of(12288, 24000)
}

// attemptWorld adds a recorded attempt.
func attemptWorld(t *testing.T, f *fakeRM, file string) {
	t.Helper()
	d := recordedAs[rest.AttemptDetail](t, file, "")
	id, err := ids.ParseAttempt(d.ID)
	if err != nil {
		t.Fatal(err)
	}
	f.attempts[id.App] = []rm.AttemptReport{{
		ID: id, State: d.State, Host: d.Host, RPCPort: int32(d.RPCPort), TrackingURL: d.TrackingURL, OriginalURL: strings.TrimPrefix(d.OriginalURL, none),
		Diagnostics: d.Diagnostics, Started: int64(d.Started), Finished: int64(d.Finished), Master: ids.Container{Attempt: id, ID: 1},
	}}
	if len(f.apps) == 0 {
		f.apps = []rm.AppReport{{ID: id.App}}
	}
}

// containerWorld adds recorded containers.
func containerWorld(t *testing.T, f *fakeRM, file string) {
	t.Helper()
	f.containers = map[ids.Attempt][]rm.ContainerReport{}
	for _, c := range recordedAs[rest.Containers](t, file, "").List {
		id, err := ids.ParseContainer(c.ID)
		if err != nil {
			t.Fatal(err)
		}
		node, err := ids.ParseNode(c.Node)
		if err != nil {
			t.Fatal(err)
		}
		f.containers[id.Attempt] = append(f.containers[id.Attempt], rm.ContainerReport{
			ID: id, Node: node, NodeHTTP: strings.TrimPrefix(c.NodeHTTP, "http://"), User: "root", Size: heddle.Of(int64(c.MB), 1000*int64(c.VCores)),
			Priority: int32(c.Priority), Created: int64(c.Started), Exit: -1000, Running: true,
		})
	}
}

// shellAnswers returns the answers recorded while the shell ran, and when it was killed.
func shellAnswers(t *testing.T) []recordedAnswer {
	t.Helper()
	shell := func(f *fakeRM) { shellWorld(t, f) }
	fairly := func(f *fakeRM) {
		f.cluster.Scheduler = "fair"
		f.cluster.Total = heddle.Of(12288, 24000)
		f.queues = stockQueues(held(3072, 3000), held(1024, 1000), 3, 1)
		f.queues[0].Masters = held(1024, 1000)
		for i := range f.queues {
			f.queues[i].MaxApps, f.queues[i].Weight, f.queues[i].Configured, f.queues[i].Preemptable = -1, 1, "fair", true
		}
	}
	const (
		xml     = "application/xml"
		words   = `message$` // ours says more, or has no misprint
		elapsed = `elapsedTime$`
		shares  = `([fF]airResources.*(vCores|value)|minResources.*(maximum|minimum)Allocation)$` // of only memory under the policy fair
	)
	list := []recordedAnswer{
		{file: "info.xml", path: "/info", accept: xml, mask: `(id|startedOn|Store|Version|BuiltOn|ConnectionState|StoreName)$`},
		{file: "scheduler.xml", path: "/scheduler", accept: xml, mask: `(health/|users.*userAmLimit.*(memory|vCores|value)$)`},
		{file: "nodes.xml", path: "/nodes", accept: xml, mask: ".", set: func(f *fakeRM) {
			for range 3 {
				f.nodes = append(f.nodes, nodeReport(t, recordedAs[rest.Node](t, "node-running.json", "node")))
			}
		}},
		{file: "node.xml", path: "/nodes/127.0.0.2:8041", accept: xml, mask: ".", set: func(f *fakeRM) {
			f.nodes = []rm.NodeReport{nodeReport(t, recordedAs[rest.Node](t, "node-running.json", "node"))}
		}},
		{file: "app.json", path: killedApp, mask: elapsed},
		{file: "app.xml", path: killedApp, accept: xml, mask: elapsed},
		{file: "appstatistics.xml", path: "/appstatistics?states=RUNNING", accept: xml},
		{file: "appstatistics-type.json", path: "/appstatistics?states=running&applicationTypes=yarn"},
		{file: "appstate.xml", path: killedApp + "/state", accept: xml},
		{file: "appqueue.json", path: killedApp + "/queue"},
		{file: "appqueue.xml", path: killedApp + "/queue", accept: xml},
		{file: "apppriority.json", path: killedApp + "/priority"},
		{file: "apppriority.xml", path: killedApp + "/priority", accept: xml},
		{file: "apptimeouts.json", path: killedApp + "/timeouts"},
		{file: "apptimeouts.xml", path: killedApp + "/timeouts", accept: xml},
		{file: "apptimeout.json", path: killedApp + "/timeouts/lifetime"},
		{file: "apptimeout.xml", path: killedApp + "/timeouts/LIFETIME", accept: xml},
		{file: "appattempts.xml", path: killedApp + "/appattempts", accept: xml},
		{file: "appattempt.json", path: shellTry},
		{file: "appattempt.xml", path: shellTry, accept: xml},
		{file: "appattempt-killed.json", path: shellTry, set: func(f *fakeRM) { attemptWorld(t, f, "appattempt-killed.json") }},
		{file: "containers.json", path: shellTry + "/containers", mask: elapsed},
		{file: "containers.xml", path: shellTry + "/containers", accept: xml, mask: elapsed},
		{file: "containers-one.json", path: shellTry + "/containers", mask: elapsed, set: func(f *fakeRM) {
			shellWorld(t, f)
			containerWorld(t, f, "containers-one.json")
		}},
		{file: "containers-killed.json", path: shellTry + "/containers", set: func(f *fakeRM) { attemptWorld(t, f, "appattempt-killed.json") }},
		{file: "container.json", path: shellTask, mask: elapsed},
		{file: "container.xml", path: shellTask, accept: xml, mask: elapsed},

		{file: "fair-scheduler.json", path: "/scheduler", set: fairly, mask: shares},
		{file: "fair-scheduler.xml", path: "/scheduler", accept: xml, set: fairly, mask: shares},
		{file: "fair-app.json", path: "/apps/application_1795365209059_0001", mask: elapsed, set: func(f *fakeRM) {
			f.cluster.Scheduler = "fair"
			f.apps = []rm.AppReport{appReport(t, recordedAs[rest.App](t, "fair-app.json", "app"))}
		}},

		{file: "error-bad-attempt.json", path: killedApp + "/appattempts/nosuch", status: 400},
		{file: "error-no-attempt.json", path: shellTry + "9", status: 404},
		{file: "error-no-attempt.json", path: shellTry + "9/containers", status: 404},
		{file: "error-other-attempt.json", path: killedApp + "/appattempts/appattempt_1_0001_000001", status: 404},
		{file: "error-attempt-of-no-app.json", path: "/apps/application_1_0001/appattempts/appattempt_1_0001_000001", status: 404},
		{file: "error-bad-container.json", path: shellTry + "/containers/nosuch", status: 400},
		{file: "error-no-container.json", path: shellTask + "9", status: 404},
		{file: "error-other-container.json", path: shellTry + "/containers/container_1_0001_01_000001", status: 404},
		{file: "error-bad-timeout.json", path: killedApp + "/timeouts/NEVER", status: 400},
		{file: "error-bad-limit.json", path: "/apps?limit=x", status: 400},
		{file: "error-no-limit.json", path: "/apps?limit=0", status: 400},
		{file: "error-no-queue.json", path: "/apps?queue=nosuch", status: 400},
		{file: "error-bad-time.json", path: "/apps?finishedTimeEnd=x", status: 400},
		{file: "error-early-time.json", path: "/apps?startedTimeBegin=-1", status: 400},
		{file: "error-turned-times.json", path: "/apps?startedTimeBegin=5&startedTimeEnd=4", status: 400, mask: words},
		{file: "error-bad-deselect.json", path: "/apps?deSelects=everything", status: 400},
		{file: "error-bad-final-status.json", path: "/apps?finalStatus=GOOD", status: 400, mask: words},
		{file: "error-bad-node-state.json", path: "/nodes?states=WELL", status: 400, mask: words},
		{file: "error-bad-node.json", path: "/nodes/nosuch", status: 400},
		{file: "error-two-types.json", path: "/appstatistics?applicationTypes=a,b", status: 400, mask: words},

		{file: "conf-name.json", path: "/conf?name=yarn.acl.enable", accept: "application/json"},
		{file: "conf-name.xml", path: "/conf?name=yarn.acl.enable", accept: xml},
	}
	for i := range list {
		if list[i].set == nil {
			list[i].set = shell
		}
	}
	return list
}

// Accepted and refused changes, as recorded.
func TestShellChangesAsRecorded(t *testing.T) {
	for _, tt := range []struct {
		file, path, body string
		status           int
		mask             string
	}{
		{"put-same-state.json", killedApp + "/state", `{"state":"RUNNING"}`, 200, ""},
		{"put-queue.json", killedApp + "/queue", `{"queue":"root.default"}`, 200, ""},
		{"put-priority.json", killedApp + "/priority", `{"priority":0}`, 200, ""},
		{"put-timeout.json", killedApp + "/timeout", `{"timeout":{"type":"LIFETIME","expiryTime":"2099-01-31T12:00:00.000+0000"}}`, 200, `remainingTime`},
		{"error-put-state.json", killedApp + "/state", `{"state":"FINISHED"}`, 400, ""},
		{"error-put-no-app.json", "/apps/application_1_0001/state", `{"state":"KILLED"}`, 404, ""},
	} {
		f := stockWorld(t)
		shellWorld(t, f)
		r := httptest.NewRequest(http.MethodPut, rest.Base+tt.path+"?user.name=root", strings.NewReader(tt.body))
		r.RemoteAddr = "127.0.0.1:5000"
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		New(Options{RM: f, Local: true}).ServeHTTP(w, r)
		want, got := masked(flatJSON(t, recorded(t, tt.file)), tt.mask), masked(flatJSON(t, w.Body.Bytes()), tt.mask)
		if w.Code != tt.status || !slices.Equal(got, want) {
			t.Errorf("%s: %d\n got %q\nwant %q", tt.file, w.Code, got, want)
		}
	}
}

// The beans have no figure that stock's lack, and each figure has stock's type.
func TestBeansAsRecorded(t *testing.T) {
	type beans struct{ Beans []map[string]any }
	parse := func(data []byte) map[string]map[string]any {
		var b beans
		if err := json.Unmarshal(data, &b); err != nil {
			t.Fatal(err)
		}
		byName := map[string]map[string]any{}
		for _, x := range b.Beans {
			byName[x["name"].(string)] = x
		}
		return byName
	}
	f := stockWorld(t)
	shellWorld(t, f)
	f.nodes = []rm.NodeReport{{ID: ids.Node{Host: "127.0.0.2", Port: 8041}, HTTP: "127.0.0.2:8042", State: "RUNNING"}}
	ours, stock := parse(ask(New(Options{RM: f}), "/jmx").Body.Bytes()), map[string]map[string]any{}
	for _, file := range []string{"jmx-cluster.json", "jmx-queues.json", "jmx-nodes.json"} {
		maps.Copy(stock, parse(recorded(t, file)))
	}
	if len(ours) != 4 {
		t.Errorf("%d beans, want those of the cluster, of two queues and of the nodes", len(ours))
	}
	same := func(where string, want, got map[string]any) {
		for key, v := range got {
			w, ok := want[key]
			if !ok || fmt.Sprintf("%T", w) != fmt.Sprintf("%T", v) {
				t.Errorf("%s: %s is %T %v, recorded is %T %v", where, key, v, v, w, w)
			}
		}
	}
	for name, bean := range ours {
		same(name, stock[name], bean)
	}
	leaf := beanPrefix + "QueueMetrics,q0=root,q1=default"
	for _, key := range []string{"AppsRunning", "AppsPending", "ActiveApplications", "ActiveUsers", "AllocatedContainers", "PendingContainers"} {
		if ours[leaf][key] != stock[leaf][key] {
			t.Errorf("%s is %v, recorded is %v", key, ours[leaf][key], stock[leaf][key])
		}
	}
	nodes := func(all map[string]map[string]any) map[string]any {
		var list []map[string]any
		if err := json.Unmarshal([]byte(all[beanPrefix+"RMNMInfo"]["LiveNodeManagers"].(string)), &list); err != nil || len(list) == 0 {
			t.Fatal(err, list)
		}
		return list[0]
	}
	same("a node", nodes(stock), nodes(ours))
}

// OPTIONS names the methods that stock names, with its status, and asks the daemon nothing.
func TestOptionsAsRecorded(t *testing.T) {
	f := stockWorld(t)
	f.fails = errBusy
	h := New(Options{RM: f})
	for file, path := range map[string]string{
		"info": "/info", "apps": "/apps", "app": "/apps/nosuch", "state": killedApp + "/state", "new-application": "/apps/new-application",
		"timeout": killedApp + "/timeout", "appattempt": shellTry, "nodes": "/nodes",
	} {
		want, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(recorded(t, "options-"+file+".headers"))), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodOptions, rest.Base+path, nil)
		r.Header.Set("Accept", "*/*")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		methods := func(r *http.Response) []string {
			return slices.Sorted(strings.SplitSeq(r.Header.Get("Allow"), ","))
		}
		if got := w.Result(); got.StatusCode != want.StatusCode || !slices.Equal(methods(got), methods(want)) {
			t.Errorf("OPTIONS %s: %d %q, want %d %q", path, got.StatusCode, methods(got), want.StatusCode, methods(want))
		}
	}
}
