package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// ask makes a request to a handler.
func ask(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// held returns an amount in the form of reports.
func held(mib, milli int64) rm.Amount { return rm.AmountOf(heddle.Of(mib, milli)) }

// demo returns a fake with something of everything.
func demo() *fakeRM {
	id := app(proxied)
	attempt := ids.Attempt{App: id, N: 1}
	node := ids.Node{Host: "node1", Port: 8041}
	f := &fakeRM{ready: true, queues: stockQueues(held(2048, 2000), held(512, 1000), 2, 1)}
	f.cluster = rm.ClusterReport{
		ClusterID: "c1", Started: 1700000000000, Profile: "heddle", Order: "shortest", Scheduler: "capacity", Minimum: heddle.Of(128, 1000),
		Maximum: heddle.Of(4096, 8000), Total: heddle.Of(8192, 16000), Used: heddle.Of(2048, 2000), RunningApps: 1,
		PendingApps: 1, Containers: 2, Waiting: 3, Active: 2, Lost: 1, Steps: 1234, Grants: 56, BusyPercent: 1.5, BeatEvery: heddle.Second,
		Agents: rm.AgentCounts{Connected: 3, Lost: 2, Wishes: 70, Failed: 5}, Agented: 1, Parked: 1, Weighed: 1,
		Deeds: rm.DeedCounts{Resized: 7, Suspended: 3, Frozen: 1, Resumed: 2, Weighed: 11, Bounded: 4}, Updates: rm.UpdateCounts{Sent: 9, Confirmed: 6, Refused: 1}, Undone: [heddle.NumCaps]uint64{1: 4, 4: 12},
	}
	f.apps = []rm.AppReport{
		{
			ID: id, User: "ann", Queue: "root.default", Name: "<script>alert(1)</script>", Type: "MAPREDUCE", State: rm.AppRunning,
			Final: rm.Undefined, Progress: 0.5, Started: 1700000001000, Attempt: 1, TrackingURL: "rm:8088/proxy/" + proxied + "/",
			OriginalURL: "node1:40000", Live: true, Containers: 2, Used: held(2048, 2000), Tags: []string{"a", "b"},
			Requests: []rm.RequestReport{{Priority: 20, Place: "*", Size: held(1024, 1000), Count: 3, Relax: true, Guarantee: true}},
		},
		{ID: app("application_1700000000000_0002"), User: "bob", Queue: "root.default", Name: "waits", Type: "SPARK", State: rm.AppAccepted, Final: rm.Undefined, Started: 1700000002000},
	}
	f.attempts = map[ids.App][]rm.AttemptReport{id: {{
		ID: attempt, State: "RUNNING", Node: node, NodeHTTP: "node1:8042", User: "ann", Started: 1700000001000, Master: ids.Container{Attempt: attempt, ID: 1},
	}}}
	f.containers = map[ids.Attempt][]rm.ContainerReport{attempt: {{
		ID: ids.Container{Attempt: attempt, ID: 2}, Node: node, NodeHTTP: "node1:8042", User: "ann", Size: heddle.Of(1024, 1000),
		Priority: 20, Created: 1700000003000, Running: true, Exit: -1000,
	}, {
		ID: ids.Container{Attempt: attempt, ID: 3}, Node: node, NodeHTTP: "node1:8042", User: "ann", Size: heddle.Of(1024, 1000), Kind: heddle.Map,
		Limit: heddle.Of(768, 500), Unconfirmed: true, Priority: 20, Created: 1700000004000, Running: true, Exit: -1000,
	}, {
		ID: ids.Container{Attempt: attempt, ID: 4}, Node: node, NodeHTTP: "node1:8042", User: "ann", Size: heddle.Of(2048, 1000), Kind: heddle.Reduce,
		Suspended: true, Parked: true, Weight: 2500, Changed: 1700000007000, Policy: "control: ikayak.suspend", Priority: 10, Created: 1700000005000, Running: true, Exit: -1000,
	}}}
	f.nodes = []rm.NodeReport{
		{ID: node, HTTP: "node1:8042", Rack: "/default-rack", State: "RUNNING", Version: "3.4.2", Can: heddle.Stock, BeatAt: 1700000009000, Agent: &rm.AgentReport{
			Can: heddle.Weighs, Seen: 1700000008000, Behind: true, Disks: 421, Failed: []rm.AgentFailure{{Container: ids.Container{Attempt: attempt, ID: 4}, Text: "no <i>group"}},
		}, Utilization: rm.Utilization{Physical: 512, Virtual: 2048, CPU: 0.125}, Total: heddle.Of(4096, 8000), Used: heddle.Of(2048, 2000), Containers: 2},
		{
			ID: ids.Node{Host: "node2", Port: 8041}, State: "LOST", Rack: "/default-rack", Can: heddle.Stock, Total: heddle.Of(4096, 8000),
			Utilization: rm.Utilization{Physical: 7777, CPU: 7.5},
		},
	}
	f.whys = map[ids.App]rm.Explanation{id: {
		App: id, Name: "j", User: "ann", State: rm.AppRunning, Final: rm.Undefined, Queue: "root.default", Refused: map[string]uint32{"no-room": 7, "queue-limit": 9, "am-limit": 7},
		Undone: map[string]uint32{"weighs": 12, "resizes": 1},
		Job: &rm.JobFacts{
			Maps: 24, Reduces: 2, Input: 3 << 29, Demand: rm.JobDemand{Containers: 24, Each: held(1024, 1000)},
			Last: &rm.LastFacts{First: held(4096, 4000), Most: held(24576, 24000), Containers: 24, Heap: 22, Outside: 170, Maps: 24},
		},
		Known: &rm.Known{Age: 2100, Failed: "no answer within 4 s", Requests: 7, Bytes: 4321, Running: 3, Done: 10, Measured: 8, Progress: 40, Heap: 24, HeapAge: 21000},
		Pending: []rm.PendingAsk{{
			Priority: 20, Kind: "map", Count: 3, Since: 1700000002000, Size: held(1024, 1000), Why: "queue-limit",
			Policy: "share: capacity", Text: "The queue root.default is at its maximum.", Stock: "stock's words", Need: held(1024, 1000),
			Have: held(512, 1000), Short: held(512, 0), Order: "order: shortest", Place: 3, Of: 17,
			Limit: &rm.Limit{
				What: "containers", Of: "in queue root.default", Used: held(3584, 1000), Most: held(4096, 4000), UsedN: -1, MostN: -1, By: []string{"maximum-capacity = 50"}, Note: "So it is.",
			},
			Holders: []rm.Holder{{App: id, Name: "<b>", User: "ann", Used: held(2048, 2000)}},
			Nodes:   []rm.NodeGroup{{Why: "no-room", Policy: "place.map: any", Nodes: 1, Most: held(512, 0)}},
		}},
	}}
	return f
}

func TestFiltersReachTheDaemon(t *testing.T) {
	f := demo()
	h := New(Options{RM: f})
	path := rest.Base + "/apps?states=running,finished&states=KILLED&state=FAILED&finalStatus=SUCCEEDED&user=ann&queue=default&limit=7" +
		"&startedTimeBegin=1&startedTimeEnd=2&finishedTimeBegin=3&finishedTimeEnd=4&applicationTypes=SPARK,MAPREDUCE&applicationTags=X&name=n"
	if w := ask(h, path); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	want := rm.AppFilter{
		States: []rm.AppState{rm.AppRunning, rm.AppFinished, rm.AppKilled, rm.AppFailed}, Final: rm.Succeeded,
		Users: []string{"ann"}, Queues: []string{"root.default"}, Types: []string{"SPARK", "MAPREDUCE"}, Tags: []string{"x"},
		Name: "n", StartedFrom: 1, StartedTo: new(int64(2)), FinishedFrom: 3, FinishedTo: new(int64(4)), Limit: 7,
	}
	if diff := cmp.Diff(want, f.filter); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

// An end of 0 is a bound like any other, as with YARN: no application started then, and those that are not over finished
// then.
func TestBoundsOfZero(t *testing.T) {
	f := demo()
	if w := ask(New(Options{RM: f}), rest.Base+"/apps?startedTimeEnd=0&finishedTimeBegin=0&finishedTimeEnd=0"); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff(rm.AppFilter{StartedTo: new(int64(0)), FinishedTo: new(int64(0))}, f.filter); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

func TestBadQuestions(t *testing.T) {
	h := New(Options{RM: demo()})
	for _, tt := range []struct{ path, want string }{
		{"/apps?limit=x", "limit value must be a number!"},
		{"/apps?limit=0", "limit value must be greater then 0"},
		{"/apps?startedTimeBegin=-1", "startedTimeBegin must be greater than 0"},
		{"/apps?startedTimeBegin=5&startedTimeEnd=4", "startedTimeEnd must be greater"},
		{"/apps?startedTimeBegin=5&startedTimeEnd=0", "startedTimeEnd must be greater"},
		{"/apps?finishedTimeEnd=x", "finishedTimeEnd value must be a number!"},
		{"/apps?finalStatus=GOOD", "Invalid finalStatus GOOD"},
		{"/apps?queue=nosuch", "Unknown queue: nosuch"},
		{"/apps?deSelects=everything", "Invalid deSelects string everything"},
		{"/nodes?states=WELL", "Invalid node state WELL"},
		{"/nodes/nosuch", "Expected host:port"},
		{"/apps/application_x_1", "Invalid ApplicationId: application_x_1"},
		{"/apps/" + proxied + "/appattempts/appattempt_x", "Invalid AppAttemptId: appattempt_x"},
		{"/appstatistics?applicationTypes=a,b", "more than one type"},
	} {
		w := ask(h, rest.Base+tt.path)
		var e rest.RemoteException
		if err := rest.Parse(w.Body.Bytes(), "RemoteException", &e); err != nil || w.Code != 400 || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s: %d %s, want 400 with %q", tt.path, w.Code, w.Body, tt.want)
		}
	}
}

// The containers on a node are listed with what is done to each.
func TestContainersOfNode(t *testing.T) {
	h := New(Options{RM: demo()})
	var got rm.NodeContainers
	w := ask(h, rest.HeddleBase+"/nodes/node1:8041/containers")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.List) != 3 {
		t.Fatalf("%v: %s", err, w.Body)
	}
	third := got.List[2]
	want := rm.ContainerRow{
		ID: third.ID, App: app(proxied), User: "ann", Kind: "reduce", Running: true, Created: 1700000005000, Size: held(2048, 1000), Limit: held(2048, 1000),
		Suspended: true, Parked: true, Weight: 2.5, Changed: 1700000007000, Policy: "control: ikayak.suspend",
	}
	if diff := cmp.Diff(want, third); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if x := got.List[1]; x.Sized != "shrunk" || !x.Unconfirmed {
		t.Errorf("got %+v", x)
	}
	if w := ask(h, rest.HeddleBase+"/nodes/node2:8041/containers"); w.Body.String() != `{"containers":[]}`+"\n" {
		t.Errorf("of a node without any: %s", w.Body)
	}
	if w := ask(h, rest.HeddleBase+"/nodes/nosuch:1/containers"); w.Code != 404 {
		t.Errorf("of no node: %d", w.Code)
	}
}

func TestServicesThatHaveNoRecording(t *testing.T) {
	f := demo()
	f.cluster.Off = []string{"ikayak.shrink: needs a node agent"}
	h := New(Options{RM: f, Version: "dev", ClientAddress: "0.0.0.0:8032", Now: func() time.Time { return time.UnixMilli(1700000010000) }})
	for path, want := range map[string]string{
		rest.Base + "/appstatistics?states=running&applicationTypes=mapreduce": `{"appStatInfo":{"statItem":[{"state":"RUNNING","type":"mapreduce","count":1}]}}`,
		rest.Base + "/appstatistics?states=running&applicationTypes=MAPREDUCE": `{"appStatInfo":{"statItem":[{"state":"RUNNING","type":"mapreduce","count":1}]}}`,
		rest.Base + "/appstatistics?states=running&applicationTypes=*":         `{"appStatInfo":{"statItem":[{"state":"RUNNING","type":"*","count":1}]}}`,
		rest.Base + "/nodes?states=decommissioned":                             `{"nodes":{}}`,
		rest.HeddleBase + "/info": `{"version":"dev","cluster_id":"c1","started_ms":1700000000000,"ready":true,"profile":"heddle",` +
			`"order":"shortest","scheduler":"capacity","off":["ikayak.shrink: needs a node agent"],"steps":1234,"grants":56,"busy_percent":1.5,"calls_waiting":0,"heartbeat_ms":1000,"client_address":"0.0.0.0:8032","rest_changes":false}` + "\n",
		rest.HeddleBase + "/apps/" + proxied + "/why": `{"id":"application_1700000000000_0001","name":"j","user":"ann","queue":"root.default","state":"RUNNING",` +
			`"final_status":"UNDEFINED","pending":[{"priority":20,` +
			`"kind":"map","count":3,"size":{"memory_mib":1024,"vcores":1},"since_ms":1700000002000,"why":"queue-limit","policy":"share: capacity",` +
			`"text":"The queue root.default is at its maximum.","stock":"stock's words","limit":{"what":"containers","of":"in queue root.default",` +
			`"used":{"memory_mib":3584,"vcores":1},"most":{"memory_mib":4096,"vcores":4},"used_number":-1,"most_number":-1,"at_least":false,` +
			`"set_by":["maximum-capacity = 50"],"note":"So it is."},"order":"order: shortest","place":3,"of":17,` +
			`"need":{"memory_mib":1024,"vcores":1},"have":{"memory_mib":512,"vcores":1},` +
			`"short":{"memory_mib":512,"vcores":0},"holders":[{"id":"application_1700000000000_0001","name":"<b>","user":"ann",` +
			`"used":{"memory_mib":2048,"vcores":2}}],"nodes":[{"why":"no-room","policy":"place.map: any","nodes":1,"most_free":{"memory_mib":512,"vcores":0}}]}],` +
			`"refused":{"am-limit":7,"no-room":7,"queue-limit":9},"undone":{"resizes":1,"weighs":12},` +
			`"job":{"maps":24,"reduces":2,"input_bytes":1610612736,"demand":{"containers":24,"each":{"memory_mib":1024,"vcores":1}},` +
			`"last":{"first":{"memory_mib":4096,"vcores":4},"most":{"memory_mib":24576,"vcores":24},"containers":24,"heap_mib":22,"outside_mib":170,"maps":24}},` +
			`"known":{"age_ms":2100,"failed":"no answer within 4 s","requests":7,"bytes":4321,"running":3,"done":10,"measured":8,"progress":40,` +
			`"heap_mib":24,"heap_age_ms":21000,"active":0,"blocks_mib":0}}` + "\n",
		rest.HeddleBase + "/nodes?states=lost": `{"nodes":[{"id":"node2:8041","rack":"/default-rack","state":"LOST","http_address":"","version":"","health_report":"",` +
			`"reported_ms":0,"containers":0,"used":{"memory_mib":0,"vcores":0},"total":{"memory_mib":4096,"vcores":8},` +
			`"measured":{"physical_mib":0,"virtual_mib":0,"vcores":0},"measured_containers":{"physical_mib":0,"virtual_mib":0,"vcores":0},"labels":[],"can":[],"agent":null}]}` + "\n",
		rest.HeddleBase + "/nodes/node1:8041": `{"id":"node1:8041","rack":"/default-rack","state":"RUNNING","http_address":"node1:8042","version":"3.4.2","health_report":"",` +
			`"reported_ms":0,"containers":2,"used":{"memory_mib":2048,"vcores":2},"total":{"memory_mib":4096,"vcores":8},` +
			`"measured":{"physical_mib":512,"virtual_mib":2048,"vcores":0.125},"measured_containers":{"physical_mib":0,"virtual_mib":0,"vcores":0},"labels":[],"can":["limits","resizes","lends"],"agent":{"can":["weighs"],"age_ms":2000,"behind":true,"failed":["container_1700000000000_0001_01_000004: no <i>group"],"disk_busy_percent":42.1}}` + "\n",
	} {
		w := ask(h, path)
		if w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%s: %d\n got %s\nwant %s", path, w.Code, w.Body, want)
		}
	}
}

func TestHeddleQueues(t *testing.T) {
	w := ask(New(Options{RM: demo()}), rest.HeddleBase+"/queues")
	var q rm.Queues
	if err := rest.Parse(w.Body.Bytes(), "", &q); err != nil {
		t.Fatal(err)
	}
	if len(q.List) != 2 || q.List[1].Path != "root.default" || q.List[1].State != rm.QueueRunning || q.List[1].Capacity != 1 ||
		q.List[1].Users[0].Used.MemoryMiB != 2048 || q.List[1].Order != "shortest" || q.List[1].Configured != "fifo" {
		t.Errorf("got %+v", q.List)
	}
}

func TestFairShape(t *testing.T) {
	f := demo()
	f.cluster.Scheduler = "fair"
	f.queues[1].MinShare, f.queues[1].Order, f.queues[1].Configured, f.queues[1].MaxApps = heddle.Of(1024, 1000), "shortest", "drf", -1
	w := ask(New(Options{RM: f}), rest.Base+"/scheduler")
	var got struct {
		SchedulerInfo struct {
			Type string         `json:"type"`
			Root rest.FairQueue `json:"rootQueue"`
		} `json:"schedulerInfo"`
	}
	if err := rest.Parse(w.Body.Bytes(), "scheduler", &got); err != nil {
		t.Fatal(err)
	}
	root := got.SchedulerInfo.Root
	if got.SchedulerInfo.Type != rest.FairType || root.Type != "" || root.Active != nil || len(root.Children.List) != 1 {
		t.Fatalf("got %s", w.Body)
	}
	leaf := root.Children.List[0]
	if leaf.Type != rest.FairLeafType || leaf.Name != "root.default" || leaf.Policy != "drf" || *leaf.Active != 1 ||
		leaf.Min.Memory != 1024 || leaf.MaxApps != 1<<31-1 || leaf.Demand.Memory != 2048 || leaf.Children != nil {
		t.Errorf("leaf %+v", leaf)
	}
	var a rest.App
	w = ask(New(Options{RM: f}), rest.Base+"/apps/"+proxied)
	if err := rest.Parse(w.Body.Bytes(), "app", &a); err != nil || a.Resources != nil || a.MB != 2048 {
		t.Errorf("%v; under fair an application has no resourceInfo: %s", err, w.Body)
	}
}

// Only nodes on which containers may start have something to give, in REST and in /jmx.
func TestWhatNodesHaveToGive(t *testing.T) {
	for state, want := range map[string]int64{"RUNNING": 3072, "DECOMMISSIONING": 0, "UNHEALTHY": -1, "NEW": -1, "LOST": -1} {
		f := demo()
		f.nodes = []rm.NodeReport{{
			ID: ids.Node{Host: "a", Port: 1}, HTTP: "a:8042", State: state, Total: heddle.Of(4096, 4000), Used: heddle.Of(1024, 1000), Physical: heddle.Of(8192, 8000),
			Utilization: rm.Utilization{Physical: 4096, CPU: 1},
		}}
		h := New(Options{RM: f})
		var n rest.Node
		if err := rest.Parse(ask(h, rest.Base+"/nodes/a:1").Body.Bytes(), "node", &n); err != nil {
			t.Fatal(err)
		}
		if got := n.AvailableMB; got != max(want, 0) || (n.Available == nil) != (want < 0) || (n.Used == nil) != (want < 0) || (n.MemoryPercent == 0) != (want < 0) || n.Total.Memory != 4096 {
			t.Errorf("%s: %d MiB of %v are free, in use are %v and %v %%", state, got, n.Total, n.Used, n.MemoryPercent)
		}
		if wantHTTP := state != "LOST"; (n.HTTP != "") != wantHTTP {
			t.Errorf("%s: its pages are at %q", state, n.HTTP)
		}
		jmx := ask(h, "/jmx?qry=*RMNMInfo").Body.String()
		if tells := strings.Contains(jmx, fmt.Sprintf(`\"AvailableMemoryMB\":%d`, max(want, 0))); tells != (want >= 0) {
			t.Errorf("%s: %s", state, jmx)
		}
	}
}

// Bounds of a fair queue that are fractions of the cluster are shown as amounts, per resource; 0 means none of it.
func TestFairBounds(t *testing.T) {
	f := demo()
	f.cluster.Scheduler, f.cluster.Total = "fair", heddle.Of(8192, 8000)
	leaf := &f.queues[1]
	leaf.MinParts, leaf.MaxParts = rm.Parts{0.25, 0.5}, rm.Parts{0.5, 0}
	leaf.MinShare, leaf.MaxShare = heddle.Resource{}, heddle.Of(0, 0)
	var got struct {
		Info struct {
			Root rest.FairQueue `json:"rootQueue"`
		} `json:"schedulerInfo"`
	}
	if err := rest.Parse(ask(New(Options{RM: f}), rest.Base+"/scheduler").Body.Bytes(), "scheduler", &got); err != nil {
		t.Fatal(err)
	}
	q := got.Info.Root.Children.List[0]
	if q.Min.Memory != 2048 || q.Min.VCores != 4 || q.Max.Memory != 4096 || q.Max.VCores != 0 || got.Info.Root.Max.Memory != 8192 {
		t.Errorf("%v to %v, of the root %v", q.Min, q.Max, got.Info.Root.Max)
	}
}

// theLeaf returns the only leaf of the capacity scheduler's shape.
func theLeaf(t *testing.T, f *fakeRM) *rest.CapacityQueue {
	t.Helper()
	var got struct {
		Info struct {
			Queues rest.CapacityQueues `json:"queues"`
		} `json:"schedulerInfo"`
	}
	w := ask(New(Options{RM: f}), rest.Base+"/scheduler")
	if err := rest.Parse(w.Body.Bytes(), "scheduler", &got); err != nil || len(got.Info.Queues.List) != 1 {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return &got.Info.Queues.List[0]
}

// A queue whose capacity is an amount is shown with the configured and the resulting values.
func TestQueueByAmount(t *testing.T) {
	f := demo()
	leaf := &f.queues[1]
	leaf.Amounts, leaf.MinShare, leaf.MaxShare = true, heddle.Of(2048, 2000), heddle.Of(9000, 9000)
	leaf.Least, leaf.Most, leaf.Absolute = heddle.Of(1024, 1000), heddle.Of(4096, 4000), 0.25
	q := theLeaf(t, f)
	if q.Mode != "absolute" || !q.Absolute || q.AbsCapacity != 25 || q.MinEffective.Memory != 1024 || q.MinEffective.VCores != 1 || q.MaxEffective.Memory != 4096 {
		t.Errorf("%s, %v, %v %%, %v to %v", q.Mode, q.Absolute, q.AbsCapacity, q.MinEffective, q.MaxEffective)
	}
	c := q.Capacities.List[0]
	if c.MinResource.Memory != 2048 || c.MaxResource.VCores != 9 || c.EffectiveMin.VCores != 1 || c.Vector.Configured != "[memory-mb=2048.0,vcores=2.0]" {
		t.Errorf("%+v", c)
	}
}

// A queue with a weight is shown with its share of the weights of it and its siblings.
func TestQueueByWeight(t *testing.T) {
	f := demo()
	if q := theLeaf(t, f); q.Weight != -1 || q.NormWeight != 0 || q.Capacities.List[0].NormWeight != 0 {
		t.Errorf("a queue with a capacity has the weight %v, %v of all", q.Weight, q.NormWeight)
	}
	f.queues[1].Weight, f.queues[1].Capacity = 3, 0.75
	if q := theLeaf(t, f); q.Weight != 3 || q.NormWeight != 0.75 || q.Capacities.List[0].NormWeight != 0.75 || q.Mode != "weight" {
		t.Errorf("%s: the weight %v is %v of all", q.Mode, q.Weight, q.NormWeight)
	}
}

// The limit of a user is the user factor times the queue's guarantee, for masters too; with a factor of −1 a user may
// have the whole queue. A queue may have more for masters if it may have more than its guarantee.
func TestUserLimits(t *testing.T) {
	for _, c := range []struct {
		percent, factor        float64
		asking                 int
		limit, masters, master int64
	}{{100, 1, 1, 2048, 819, 204}, {100, 0.5, 1, 1024, 819, 102}, {100, -1, 1, 8192, 819, 204}, {25, 2, 2, 4096, 819, 204}, {25, 9, 1, 8192, 819, 819}} {
		f := demo()
		f.cluster.Total = heddle.Of(8192, 8000)
		leaf := &f.queues[1]
		leaf.Absolute, leaf.AbsoluteMax, leaf.AMShare, leaf.UserLimit, leaf.UserFactor, leaf.AskingUsers = 0.25, 1, 0.1, c.percent, c.factor, c.asking
		q := theLeaf(t, f)
		u := q.Users.List[0]
		if u.Limit.Memory != c.limit || q.AMLimit.Memory != c.masters || q.UserAMLimit.Memory != c.master || u.Resources.List[0].UserAMLimit.Memory != c.master {
			t.Errorf("%+v: %d MiB of a user, %d for masters, %d and %d of one user", c, u.Limit.Memory, q.AMLimit.Memory, q.UserAMLimit.Memory, u.Resources.List[0].UserAMLimit.Memory)
		}
	}
}

// How many applications a queue and each of its users may have: 0 means none; with a factor of −1 a user may have all.
func TestMaximumApplications(t *testing.T) {
	for _, c := range []struct {
		most          int
		factor        float64
		want, perUser int
	}{{10000, 0.5, 10000, 2500}, {10000, -1, 10000, 10000}, {0, 1, 0, 0}, {-1, -1, 1<<31 - 1, 1<<31 - 1}} {
		f := demo()
		leaf := &f.queues[1]
		leaf.MaxApps, leaf.UserLimit, leaf.UserFactor = c.most, 50, c.factor
		if q := theLeaf(t, f); *q.MaxApps != c.want || *q.MaxAppsPerUser != c.perUser {
			t.Errorf("%+v: %d applications, %d of a user", c, *q.MaxApps, *q.MaxAppsPerUser)
		}
	}
}

// How many applications may run at once in a queue: without a limit Java's largest int.
func TestParallelApplications(t *testing.T) {
	for most, want := range map[int]int32{0: 1<<31 - 1, 3: 3} {
		f := demo()
		f.queues[0].MaxRunning, f.queues[1].MaxRunning = most, most
		var got struct {
			Info rest.CapacityScheduler `json:"schedulerInfo"`
		}
		w := ask(New(Options{RM: f}), rest.Base+"/scheduler")
		if err := rest.Parse(w.Body.Bytes(), "scheduler", &got); err != nil || got.Info.MaxParallelApps != want {
			t.Errorf("%d: in the root %d, want %d; %v", most, got.Info.MaxParallelApps, want, err)
		}
		if q := theLeaf(t, f); q.MaxParallelApps != want {
			t.Errorf("%d: in a leaf %d, want %d", most, q.MaxParallelApps, want)
		}
	}
}

// Queues that form no tree must not be walked for ever.
func TestQueuesInACircle(t *testing.T) {
	f := demo()
	f.queues[0].Children, f.queues[1].Children = []heddle.QueueID{1, 0, 9}, []heddle.QueueID{0}
	f.queues[1].Leaf = false
	for _, kind := range []string{capacity, fair} {
		f.cluster.Scheduler = kind
		if w := ask(New(Options{RM: f}), rest.Base+"/scheduler"); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
}

func TestDeselect(t *testing.T) {
	h := New(Options{RM: demo()})
	full := ask(h, rest.Base+"/apps/"+proxied).Body.String()
	for _, part := range []string{"resourceRequests", "timeouts", "amNodeLabelExpression", "resourceInfo"} {
		if !strings.Contains(full, `"`+part+`":`) {
			t.Errorf("%s is missing in %s", part, full)
		}
		if got := ask(h, rest.Base+"/apps/"+proxied+"?deSelects="+part).Body.String(); strings.Contains(got, `"`+part+`":`) {
			t.Errorf("%s was not left out of %s", part, got)
		}
	}
	if got := ask(h, rest.Base+"/apps?deSelects=resourceRequests,timeouts").Body.String(); strings.Contains(got, "resourceRequests") {
		t.Errorf("the list does not leave out what is not wanted: %s", got)
	}
}

func TestNegotiation(t *testing.T) {
	h := New(Options{RM: demo()})
	for accept, want := range map[string]string{
		"":                 "application/json;charset=utf-8",
		"*/*":              "application/json;charset=utf-8",
		"application/json": "application/json;charset=utf-8",
		"application/xml":  "application/xml;charset=utf-8",
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "application/xml;charset=utf-8",
		"application/xml;q=0.1, application/json;q=0.2":                   "application/json;charset=utf-8",
		"application/xml, */*":              "application/xml;charset=utf-8",
		"*/*, application/xml":              "application/xml;charset=utf-8",
		"application/xml, application/*":    "application/xml;charset=utf-8",
		"application/xml, application/json": "application/xml;charset=utf-8",
		"application/json, application/xml": "application/json;charset=utf-8",
		"*/*, application/xml;q=0.9":        "application/json;charset=utf-8",
		"application/json;q=0, */*":         "application/xml;charset=utf-8",
		"application/*, */*":                "application/json;charset=utf-8",
		"application/xml;q=0, text/plain":   "text/plain; charset=utf-8",
		"text/plain":                        "text/plain; charset=utf-8",
		"application/xml;q=junk":            "text/plain; charset=utf-8",
	} {
		w := ask(h, rest.Base+"/info", "Accept", accept)
		if got := w.Header().Get("Content-Type"); got != want || (w.Code == http.StatusNotAcceptable) != strings.HasPrefix(want, "text") {
			t.Errorf("Accept %q: %d %s, want %s", accept, w.Code, got, want)
		}
	}
	w := ask(h, rest.Base+"/apps/x", "Accept", "text/html")
	if w.Code != 400 || !strings.Contains(w.Body.String(), "RemoteException") {
		t.Errorf("an error for somebody who takes neither: %d %s", w.Code, w.Body)
	}
	w = ask(h, rest.Base+"/apps/x", "Accept", "application/xml")
	if !strings.Contains(w.Body.String(), "<RemoteException><exception>BadRequestException</exception>") {
		t.Errorf("error in XML: %s", w.Body)
	}
}

func TestGzip(t *testing.T) {
	h := New(Options{RM: demo()})
	plain := ask(h, rest.Base+"/nodes")
	if plain.Header().Get("Content-Encoding") != "" {
		t.Error("packed for somebody who did not ask for it")
	}
	if w := ask(h, rest.Base+"/nodes", "Accept-Encoding", "gzip;q=0"); w.Header().Get("Content-Encoding") != "" {
		t.Error("packed for somebody who refuses it")
	}
	packed := ask(h, rest.Base+"/nodes", "Accept-Encoding", "br, gzip")
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if err != nil || string(got) != plain.Body.String() {
		t.Errorf("%v; unpacked %s", err, got)
	}
}

// Errors of the daemon are reported as what they are.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		class  string
	}{
		{errBusy, 503, "org.apache.hadoop.yarn.exceptions.YarnRuntimeException"},
		{&rm.NotFound{What: "x"}, 404, "org.apache.hadoop.yarn.webapp.NotFoundException"},
		{&rm.Denied{User: "u"}, 403, "org.apache.hadoop.yarn.webapp.ForbiddenException"},
		{&rm.Invalid{Class: "a.b.C", Text: "t"}, 400, "a.b.C"},
		{fmt.Errorf("while asking: %w", &rm.Invalid{Text: "t"}), 400, "org.apache.hadoop.yarn.webapp.BadRequestException"},
	} {
		f := demo()
		f.fails = tt.err
		h := New(Options{RM: f})
		for _, path := range []string{"/info", "/metrics", "/scheduler", "/apps", "/nodes", "/nodes/a:1", "/appstatistics"} {
			w := ask(h, rest.Base+path)
			var e rest.RemoteException
			if err := rest.Parse(w.Body.Bytes(), "RemoteException", &e); err != nil || w.Code != tt.status || e.Class != tt.class {
				t.Errorf("%s with %v: %d %s, want %d %s", path, tt.err, w.Code, w.Body, tt.status, tt.class)
			}
		}
	}
}

func TestExtraResources(t *testing.T) {
	f := demo()
	f.apps[0].Used.Extra = map[string]int64{"yarn.io/gpu": 4}
	try := ids.Attempt{App: f.apps[0].ID, N: 1}
	f.attempts = map[ids.App][]rm.AttemptReport{try.App: {{ID: try}}}
	f.containers = map[ids.Attempt][]rm.ContainerReport{try: {{ID: ids.Container{Attempt: try, ID: 2}, Size: heddle.Resource{1024, 2000, 3}}}}
	h := New(Options{RM: f, ExtraResources: []string{"yarn.io/gpu"}, ExtraUnits: []string{"k"}})
	if body := ask(h, rest.Base+"/apps/"+proxied+"/appattempts/"+try.String()+"/containers").Body.String(); !strings.Contains(body, `{"key":"yarn.io/gpu","value":"3"}`) {
		t.Errorf("a container has %s", body)
	}
	w := ask(h, rest.Base+"/apps/"+proxied)
	var a rest.App
	if err := rest.Parse(w.Body.Bytes(), "app", &a); err != nil {
		t.Fatal(err)
	}
	list := a.Resources.List[0].Used.Informations.List
	if len(list) != 3 || list[2].Name != "yarn.io/gpu" || list[2].Value != 4 || list[2].Units != "k" {
		t.Errorf("got %+v", list)
	}
}

// A caller that leaves before its answer leaves no log line: anybody can do that often. One that waits in vain does.
func TestWhoGoesLeavesNoLine(t *testing.T) {
	f := demo()
	var log bytes.Buffer
	h := New(Options{RM: f, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, path := range []string{"/ws/v1/cluster/apps", "/cluster/apps"} {
		gone, leave := context.WithCancel(t.Context())
		leave()
		for _, c := range []struct {
			ctx   context.Context
			fails error
			lines int
		}{{gone, context.Canceled, 0}, {t.Context(), context.DeadlineExceeded, 1}} {
			log.Reset()
			f.fails = c.fails
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(c.ctx, http.MethodGet, path, nil))
			if got := strings.Count(log.String(), "request failed"); got != c.lines {
				t.Errorf("%s, %v: %d lines, want %d\n%s", path, c.fails, got, c.lines, log.String())
			}
		}
	}
}

// YARN's services also answer with a slash at the end, which many callers write.
func TestSlashAtTheEnd(t *testing.T) {
	h := New(Options{RM: demo(), Local: true})
	for _, path := range []string{
		"/ws/v1/cluster/apps?state=RUNNING", "/ws/v1/cluster/scheduler", "/ws/v1/cluster/metrics", "/ws/v1/cluster/nodes/node1%3A8041",
		"/ws/v1/cluster", "/ws/v1/cluster/apps/" + proxied + "/state", "/ws/v1/heddle/queues",
	} {
		with := path + "/"
		if before, query, ok := strings.Cut(path, "?"); ok {
			with = before + "/?" + query
		}
		want, got := ask(h, path), ask(h, with)
		if got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s: %d %s, want %d %s", with, got.Code, got.Body, want.Code, want.Body)
		}
	}
	if w := ask(h, "/ws/v1/nosuch/"); w.Code != http.StatusNotFound {
		t.Errorf("what is not there: %d", w.Code)
	}
}

// Shares are relative to what the cluster counts now, whatever it counted at the start.
func TestMemoryOnlyShare(t *testing.T) {
	f := demo()
	f.queues = stockQueues(held(1024, 8000), held(0, 0), 2, 1)
	h := New(Options{RM: f})
	for memoryOnly, want := range map[bool][2]string{false: {`"usedCapacity":50.0`, ">50 %</meter>"}, true: {`"usedCapacity":12.5`, ">13 %</meter>"}} {
		f.cluster.MemoryOnly = memoryOnly
		if body := ask(h, "/ws/v1/cluster/scheduler").Body.String(); !strings.Contains(body, want[0]) {
			t.Errorf("memory alone %v: %s, want %s", memoryOnly, body, want[0])
		}
		if body := ask(h, "/cluster/scheduler").Body.String(); !strings.Contains(body, want[1]) {
			t.Errorf("memory alone %v: %s, want %s", memoryOnly, body, want[1])
		}
	}
}

// Every JSON answer can be parsed by the structs it was written from.
func TestOwnAnswersParse(t *testing.T) {
	h := New(Options{RM: demo()})
	for path, v := range map[string]struct {
		root string
		into any
	}{
		rest.Base + "/info":                             {"clusterInfo", &rest.ClusterInfo{}},
		rest.Base + "/metrics":                          {"clusterMetrics", &rest.ClusterMetrics{}},
		rest.Base + "/apps":                             {"apps", &rest.Apps{}},
		rest.Base + "/nodes":                            {"nodes", &rest.Nodes{}},
		rest.Base + "/appstatistics":                    {"appStatInfo", &rest.Statistics{}},
		rest.HeddleBase + "/queues":                     {"", &rm.Queues{}},
		rest.HeddleBase + "/info":                       {"", &rest.Info{}},
		rest.Base + "/apps/" + proxied + "/appattempts": {"appAttempts", &rest.Attempts{}},
		rest.Base + "/apps/" + proxied + "/appattempts/appattempt_1700000000000_0001_000001/containers": {"", &rest.Containers{}},
	} {
		w := ask(h, path)
		if err := rest.Parse(w.Body.Bytes(), v.root, v.into); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if reflect.ValueOf(v.into).Elem().IsZero() {
			t.Errorf("%s: nothing was read from %s", path, w.Body)
		}
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: no JSON: %s", path, w.Body)
		}
	}
}

// Whatever is requested, nothing panics, and an answer that says it is JSON is JSON.
func FuzzQuestions(f *testing.F) {
	for _, path := range []string{"/info", "/apps?limit=1&states=RUNNING", "/apps/x/y", "/nodes/a:1?states=%00", "/../../conf?format=xml", "/apps/" + proxied + "/appattempts/x/containers/y"} {
		f.Add(path, "application/json;q=0.5, application/xml", "gzip;q=")
	}
	h := New(Options{RM: demo()})
	f.Fuzz(func(t *testing.T, path, accept, coding string) {
		u, err := url.Parse(rest.Base + path)
		if err != nil {
			return
		}
		r := &http.Request{
			Method: http.MethodGet, URL: u, Host: "h", Body: http.NoBody, RemoteAddr: "127.0.0.1:1",
			Header: http.Header{"Accept": {accept}, "Accept-Encoding": {coding}},
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Fatalf("%q: %s", path, w.Body)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), typeJSON) && w.Header().Get("Content-Encoding") == "" && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%q: no JSON: %s", path, w.Body)
		}
	})
}

// docs/rest.md lists what is served, and nothing else.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "rest.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for part := range strings.SplitSeq(cell, ", ") {
			documented[strings.Trim(part, "`")] = true
		}
	}
	for _, p := range newSite(Options{RM: demo()}).paths {
		if !documented[p] {
			t.Errorf("%s is served and not in docs/rest.md", p)
		}
		delete(documented, p)
	}
	for p := range documented {
		t.Errorf("%s is in docs/rest.md and not served", p)
	}
}

// Our own services answer only JSON: callers that accept JSON too get it, and callers that want XML are told.
func TestOursIsJSON(t *testing.T) {
	h := New(Options{RM: demo()})
	for accept, want := range map[string]int{"": 200, "application/xml, application/json;q=0.1": 200, "application/xml": 406} {
		r := httptest.NewRequest(http.MethodGet, rest.HeddleBase+"/queues", http.NoBody)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want || want == 200 && !strings.HasPrefix(w.Header().Get("Content-Type"), typeJSON) {
			t.Errorf("%q: %d %s %s", accept, w.Code, w.Header(), w.Body)
		}
	}
}

// Callers that read are listed by address, with what their reads took.
func TestCallers(t *testing.T) {
	h := New(Options{RM: demo(), Readers: daemon.NewReaders(1)})
	for _, path := range []string{rest.Base + "/apps", "/jmx", "/conf"} {
		if w := ask(h, path); w.Code != 200 {
			t.Fatal(path, w.Code, w.Body)
		}
	}
	ask(h, "/nosuch")
	w := ask(h, rest.HeddleBase+"/callers")
	var out callers
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || len(out.List) != 1 {
		t.Fatalf("%s, %v", w.Body, err)
	}
	if c := out.List[0]; c.Caller != "192.0.2.1" || c.Calls != 4 || c.Bytes == 0 {
		t.Errorf("%+v", c)
	}
}
