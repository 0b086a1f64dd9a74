package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle"
	"heddle/client"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// A fakeRM answers like a ResourceManager, from recorded answers. Applications end two calls after they were killed.
type fakeRM struct {
	t      testing.TB
	heddle bool // it has what only Heddle has

	mu    sync.Mutex
	apps  []json.RawMessage
	state map[string]string // of killed applications
	calls map[string]int    // how often each was killed
	queue map[string]string // of moved applications
}

// startFake serves until the test is over, and returns the address. Errors are reported to t.
func startFake(t testing.TB, isHeddle bool, atEnd func(func())) string {
	f := &fakeRM{t: t, heddle: isHeddle, state: map[string]string{}, calls: map[string]int{}, queue: map[string]string{}}
	if err := json.Unmarshal(f.file("apps.json"), &f.apps); err != nil {
		t.Error(err)
	}
	s := httptest.NewServer(f)
	atEnd(s.Close)
	return s.URL
}

func (f *fakeRM) file(name string) []byte {
	data, err := os.ReadFile("testdata/rest/" + name)
	if err != nil {
		f.t.Error(err)
	}
	return bytes.TrimSpace(data)
}

func (f *fakeRM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, ok := strings.CutPrefix(r.URL.Path, rest.Base)
	if own, is := strings.CutPrefix(r.URL.Path, rest.HeddleBase); is && f.heddle {
		f.own(w, r, own)
		return
	}
	switch {
	case !ok:
		http.NotFound(w, r)
	case path == "/info" || path == "/metrics" || path == "/scheduler":
		answer(w, 200, f.file(path[1:]+".json"))
	case path == "/apps":
		f.list(w, r)
	case path == "/nodes":
		f.nodes(w, r.URL.Query().Get("states"))
	case strings.HasPrefix(path, "/nodes/"):
		f.node(w, path[len("/nodes/"):])
	case strings.HasPrefix(path, "/apps/"):
		id, rest, _ := strings.Cut(path[len("/apps/"):], "/")
		f.app(w, r, id, rest)
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client notices an error
}

// refuse refuses a request as YARN does.
func refuse(w http.ResponseWriter, status int, class, message string) {
	answer(w, status, fmt.Appendf(nil, `{"RemoteException":{"exception":%q,"message":%q,"javaClassName":%q}}`,
		class, "java.lang.Exception: "+message, "org.apache.hadoop.yarn.webapp."+class))
}

// shown returns an application in its current state.
func (f *fakeRM) shown(raw json.RawMessage) (a rest.App, text string) {
	if err := json.Unmarshal(raw, &a); err != nil {
		f.t.Error(err)
	}
	text = string(raw)
	if now := f.state[a.ID]; now == "KILLED" {
		text = strings.Replace(text, fmt.Sprintf(`"state":%q,"finalStatus":%q`, a.State, a.FinalStatus), `"state":"KILLED","finalStatus":"KILLED"`, 1)
		a.State, a.FinalStatus = "KILLED", "KILLED"
	}
	return a, text
}

func (f *fakeRM) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var out []string
	for _, raw := range f.apps {
		a, text := f.shown(raw)
		if s := q.Get("states"); s != "" && !slices.Contains(strings.Split(s, ","), a.State) {
			continue
		}
		if s := q.Get("applicationTypes"); s != "" && !slices.Contains(strings.Split(s, ","), a.Type) {
			continue
		}
		if u := q.Get("user"); u != "" && u != a.User {
			continue
		}
		if strings.HasPrefix(r.URL.Path, rest.HeddleBase) {
			report := f.report(&a)
			report.Requests, report.Attempts = nil, nil
			text = f.text(report)
		}
		out = append(out, text)
	}
	if q := q.Get("queue"); q != "" && q != "root.default" && q != "default" {
		refuse(w, 400, "BadRequestException", "Unknown queue: "+q)
		return
	}
	if strings.HasPrefix(r.URL.Path, rest.HeddleBase) {
		answer(w, 200, []byte(`{"applications":[`+strings.Join(out, ",")+`]}`))
		return
	}
	if len(out) == 0 {
		answer(w, 200, []byte(`{"apps":null}`)) // as older releases do
		return
	}
	answer(w, 200, []byte(`{"apps":{"app":[`+strings.Join(out, ",")+`]}}`))
}

func (f *fakeRM) app(w http.ResponseWriter, r *http.Request, id, rest string) {
	for _, raw := range f.apps {
		a, text := f.shown(raw)
		if a.ID != id {
			continue
		}
		switch {
		case strings.HasPrefix(r.URL.Path, heddleBase):
			answer(w, 200, []byte(f.text(f.report(&a))))
		case rest == "":
			answer(w, 200, []byte(`{"app":`+text+`}`))
		case rest == "appattempts":
			answer(w, 200, bytes.ReplaceAll(f.file("attempts.json"), []byte("1795246246143_0001"), []byte(id[len("application_"):])))
		case r.Method == http.MethodPut && r.URL.Query().Get("user.name") != a.User:
			refuse(w, 403, "ForbiddenException", "User "+r.URL.Query().Get("user.name")+" cannot perform operation on "+id)
		case rest == "state" && r.Method == http.MethodPut:
			f.kill(w, r, &a)
		case rest == "queue" && r.Method == http.MethodPut:
			f.move(w, r)
		case rest == "priority" && r.Method == http.MethodPut:
			f.rank(w, r)
		default:
			http.NotFound(w, r)
		}
		return
	}
	refuse(w, 404, "NotFoundException", "app with id: "+id+" not found")
}

// heddleBase is the base path of Heddle's own services.
const heddleBase = rest.HeddleBase

func (f *fakeRM) text(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		f.t.Error(err)
	}
	return string(text)
}

// report returns an application in Heddle's form.
func (f *fakeRM) report(a *rest.App) *rm.AppReport {
	id, err := ids.ParseApp(a.ID)
	if err != nil {
		f.t.Error(err)
	}
	node, _ := ids.ParseNode(a.MasterNode)
	master, _ := ids.ParseNode(a.AMRPC)
	out := &rm.AppReport{
		ID: id, Name: a.Name, Type: a.Type, User: a.User, Queue: a.Queue, Tags: []string{}, Priority: a.Priority,
		State: rm.AppState(a.State), Final: rm.FinalStatus(a.FinalStatus), Diagnostics: a.Diagnostics, Progress: rm.Fraction(a.Progress) / 100,
		Started: a.Started, Launched: a.Launched, Finished: a.Finished, Elapsed: a.Elapsed, TrackingURL: a.TrackingURL,
		Attempt: 1, Host: master.Host, RPCPort: master.Port, MasterNode: node, MasterLogs: a.AMLogs,
		QueueShare: a.QueueShare, ClusterShare: a.ClusterShare, MemorySeconds: a.MBSeconds, VcoreSeconds: a.CPUSeconds,
		LogAggregation: a.LogAggregation, Requests: []rm.RequestReport{},
	}
	if a.Tags != "" {
		out.Tags = strings.Split(a.Tags, ",")
	}
	if a.Containers >= 0 {
		out.Live, out.Containers, out.Used = true, a.Containers, asAmount(a.MB, float64(a.VCores))
	}
	if a.Resources != nil {
		out.Pending = client.AmountOf(&a.Resources.List[0].Pending)
	}
	for _, q := range a.Requests {
		if q.Count > 0 {
			out.Requests = append(out.Requests, rm.RequestReport{Priority: q.Priority, Place: q.Place, Count: q.Count, Size: client.AmountOf(&q.Capability), Relax: q.Relax})
		}
	}
	var tries struct {
		List struct {
			Attempts []rest.Attempt `json:"appAttempt"`
		} `json:"appAttempts"`
	}
	if err := json.Unmarshal(f.file("attempts.json"), &tries); err != nil {
		f.t.Error(err)
	}
	for _, t := range tries.List.Attempts {
		c, _ := ids.ParseContainer(t.Container)
		n, _ := ids.ParseNode(t.Node)
		out.Attempts = append(out.Attempts, rm.AttemptReport{
			ID: ids.Attempt{App: id, N: t.N}, State: t.State, Started: t.Started, Finished: t.Finished, Master: c, Node: n,
			NodeHTTP: t.NodeHTTP, Logs: t.Logs, Blacklisted: []string{},
		})
	}
	return out
}

func (f *fakeRM) kill(w http.ResponseWriter, r *http.Request, a *rest.App) {
	var want rest.AppState
	if err := json.NewDecoder(r.Body).Decode(&want); err != nil || want.State != "KILLED" {
		refuse(w, 400, "BadRequestException", "Only KILLED is allowed as a target state")
		return
	}
	f.calls[a.ID]++
	if f.calls[a.ID] < 3 {
		answer(w, 202, []byte(`{"state":"RUNNING"}`))
		return
	}
	f.state[a.ID] = "KILLED"
	answer(w, 200, []byte(`{"state":"KILLED"}`))
}

func (f *fakeRM) move(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	var to rest.AppQueue
	if err := json.Unmarshal(data, &to); err != nil || !strings.HasPrefix("root."+strings.TrimPrefix(to.Queue, "root."), "root.small") {
		refuse(w, 400, "BadRequestException", "Queue named "+to.Queue+" does not exist")
		return
	}
	answer(w, 200, []byte(`{"queue":"root.small"}`))
}

func (f *fakeRM) rank(w http.ResponseWriter, r *http.Request) {
	var to rest.AppPriority
	if err := json.NewDecoder(r.Body).Decode(&to); err != nil {
		refuse(w, 400, "BadRequestException", err.Error())
		return
	}
	answer(w, 200, fmt.Appendf(nil, `{"priority":%d}`, min(to.Priority, 10)))
}

func (f *fakeRM) nodes(w http.ResponseWriter, states string) {
	var all struct {
		Nodes struct{ Node []json.RawMessage }
	}
	if err := json.Unmarshal(f.file("nodes.json"), &all); err != nil {
		f.t.Error(err)
	}
	var out []string
	for _, raw := range all.Nodes.Node {
		var n rest.Node
		if err := json.Unmarshal(raw, &n); err != nil {
			f.t.Error(err)
		}
		if states == "" || slices.Contains(strings.Split(states, ","), n.State) {
			out = append(out, string(raw))
		}
	}
	answer(w, 200, []byte(`{"nodes":{"node":[`+strings.Join(out, ",")+`]}}`))
}

func (f *fakeRM) node(w http.ResponseWriter, id string) {
	var all struct {
		Nodes struct{ Node []json.RawMessage }
	}
	if err := json.Unmarshal(f.file("nodes.json"), &all); err != nil {
		f.t.Error(err)
	}
	for _, raw := range all.Nodes.Node {
		if strings.Contains(string(raw), fmt.Sprintf(`"id":%q`, id)) {
			answer(w, 200, []byte(`{"node":`+string(raw)+`}`))
			return
		}
	}
	refuse(w, 404, "NotFoundException", "nodeId, "+id+", is not found")
}

// own answers what only Heddle answers.
func (f *fakeRM) own(w http.ResponseWriter, r *http.Request, path string) {
	var a rest.Answer
	if path == "/apps" {
		f.list(w, r)
		return
	}
	if id, ok := strings.CutPrefix(path, "/apps/"); ok && !strings.HasSuffix(id, "/why") {
		f.app(w, r, id, "")
		return
	}
	switch path {
	case "/info":
		a = rest.Answer{Shape: rest.Ours, Value: rest.Info{Version: "v0", Profile: "heddle", Scheduler: "capacity", Started: 1795246246143, Ready: true}}
	case "/nodes":
		a = rest.Answer{Shape: rest.Ours, Value: fakeNodes(r.URL.Query().Get("states"))}
	case "/nodes/127.0.0.2:8041":
		a = rest.Answer{Shape: rest.Ours, Value: fakeNodes("").List[0]}
	case "/nodes/127.0.0.2:8041/containers":
		a = rest.Answer{Shape: rest.Ours, Value: fakeContainers()}
	case "/queues":
		a = rest.Answer{Shape: rest.Ours, Value: fakeQueues()}
	case "/apps/application_1795246246143_0007/why":
		a = rest.Answer{Shape: rest.Ours, Value: fakeWhy}
	case "/apps/application_1795246246143_0001/why":
		a = rest.Answer{Shape: rest.Ours, Value: rm.Explanation{App: fakeApp(1), Name: "QuasiMonteCarlo", User: "ada", Queue: "root.default"}}
	default:
		refuse(w, 404, "NotFoundException", "no such service")
		return
	}
	var b bytes.Buffer
	if err := a.WriteJSON(&b); err != nil {
		f.t.Error(err)
	}
	answer(w, 200, b.Bytes())
}

// fakeNodes returns the nodes that the fake has as Heddle, in some states or all.
func fakeNodes(states string) (out rm.Nodes) {
	out.List = []rm.NodeRow{}
	for _, n := range []rm.NodeRow{{
		ID: "127.0.0.2:8041", Rack: "/default-rack", State: "RUNNING", HTTP: "127.0.0.2:8042", Version: "3.4.2", Reported: 1795246246143,
		Total: asAmount(4096, 8), Measured: rm.Measured{PhysicalMiB: 2873, VirtualMiB: 3000, Vcores: 0.08}, Labels: []string{}, Can: heddle.Stock.Names(),
		Agent: &rm.AgentRow{
			Can: []string{"parks", "weighs"}, Age: 2100, Behind: true, DiskBusy: 0.42,
			Failed: []string{"container_1795246246143_0001_01_000002: no such group"},
		},
	}, {
		ID: "127.0.0.4:8041", Rack: "/default-rack", State: "SHUTDOWN", Labels: []string{}, Can: []string{},
	}} {
		if states == "" || slices.Contains(strings.Split(states, ","), n.State) {
			out.List = append(out.List, n)
		}
	}
	return out
}

// fakeContainers returns the containers on a node of the fake.
func fakeContainers() rm.NodeContainers {
	first := rm.ContainerRow{
		ID: ids.Container{Attempt: ids.Attempt{App: fakeApp(1), N: 1}, ID: 1}, App: fakeApp(1), User: "ada", Kind: "am", Running: true, Created: 1795246246143,
		Size: asAmount(512, 1), Limit: asAmount(512, 1),
	}
	second, third := first, first
	second.ID.ID, second.Kind, second.Size, second.Limit, second.Sized = 2, "reduce", asAmount(2048, 2), asAmount(1536, 2), "shrunk"
	second.Suspended, second.Parked, second.Unconfirmed, second.Changed, second.Policy = true, true, true, 1795246299685, "control: ikayak.suspend"
	third.ID.ID, third.Kind, third.Running, third.Weight = 3, "map", false, 2.5
	return rm.NodeContainers{List: []rm.ContainerRow{first, second, third}}
}

// fakeQueues returns the queues of the fake.
func fakeQueues() rm.Queues {
	root := rm.QueueReport{
		QueueInfo: rm.QueueInfo{Path: "root", State: rm.QueueRunning, Capacity: 1, Max: 1, Absolute: 1, AbsoluteMax: 1, Weight: -1, MaxApps: 10000},
		UsedShare: 0.208333, UsedOfOwn: 0.208333, Used: asAmount(2560, 5), Masters: asAmount(512, 1), Pending: asAmount(1024, 1),
		Containers: 5, Waiting: 1, Active: 1, Inactive: 1, Users: []rm.UserReport{},
	}
	leaf, small := root, rm.QueueReport{ParentPath: "root", Users: []rm.UserReport{}}
	leaf.QueueInfo = rm.QueueInfo{
		Path: "root.default", Leaf: true, State: rm.QueueRunning, Capacity: 0.7, Max: 1, Absolute: 0.7, AbsoluteMax: 1, Weight: -1,
		MaxApps: 7000, Order: "shortest", Configured: "fifo",
	}
	leaf.ParentPath, leaf.UsedOfOwn = "root", 0.297618
	leaf.Users = []rm.UserReport{{Name: "ada", Used: asAmount(2560, 5), Masters: asAmount(512, 1), Active: 1}, {Name: "bob", Inactive: 1}}
	small.QueueInfo = rm.QueueInfo{
		Path: "root.small", Leaf: true, State: rm.QueueStopped, Capacity: 0.3, Max: 0.5, Absolute: 0.3, AbsoluteMax: 0.5, Weight: -1,
		MaxApps: 3000, Order: "fair", Configured: "fair",
	}
	return rm.Queues{List: []rm.QueueReport{root, leaf, small}}
}

func fakeApp(n int32) ids.App { return ids.App{Cluster: 1795246246143, Seq: n} }

func asAmount(mib int64, vcores float64) rm.Amount { return rm.Amount{MemoryMiB: mib, Vcores: vcores} }

var fakeWhy = rm.Explanation{
	App: fakeApp(7), Name: "wordcount 2", User: "bob", Queue: "root.default", State: rm.AppAccepted, Final: rm.Undefined,
	Pending: []rm.PendingAsk{{
		Priority: 0, Kind: "am", Count: 1, Since: 1795246299685, Size: asAmount(1024, 1), Why: "fine", Text: "nodes differ", Order: "order: shortest", Place: 2, Of: 5,
		Need: asAmount(1024, 1), Have: asAmount(512, 3), Short: asAmount(512, 0),
		Holders: []rm.Holder{{App: fakeApp(1), Name: "QuasiMonteCarlo", User: "ada", Used: asAmount(2560, 5)}},
		Nodes:   []rm.NodeGroup{{Why: "no-room", Policy: "lanes: per_node", Nodes: 2, Most: asAmount(512, 3)}, {Why: "node-gone", Nodes: 1}},
	}, {
		Priority: 1, Kind: "am", Count: 1, Size: asAmount(1024, 1), Why: "am-limit", Policy: "gate.am: capacity",
		Stock: "Queue's AM resource limit exceeded.", Need: asAmount(1024, 1), Have: asAmount(1024, 0), Short: asAmount(0, 1),
		Order: "gate.am: capacity", Place: 1, Of: 2,
		Limit: &rm.Limit{
			What: "masters", Of: "in queue root.default", Used: asAmount(2048, 2), Most: asAmount(3072, 2), UsedN: -1, MostN: -1,
			By: []string{"yarn.scheduler.capacity.maximum-am-resource-percent = 0.1"},
		},
		Nodes: []rm.NodeGroup{{Why: "fine", Nodes: 2, Most: asAmount(4096, 3)}},
	}},
	Refused: map[string]uint32{"no-room": 120, "wait-local": 1},
	Undone:  map[string]uint32{"weighs": 12, "resizes": 1},
	Job: &rm.JobFacts{
		Maps: 24, Reduces: 2, Input: 3 << 29, Demand: rm.JobDemand{Containers: 24, Each: asAmount(1024, 1)},
		Last: &rm.LastFacts{First: asAmount(4096, 4), Most: asAmount(24576, 24), Containers: 24, Heap: 22, Outside: 170, Maps: 24},
	},
	Known: &rm.Known{Age: 2100, Failed: "no answer\nwithin 4 s", Requests: 7, Bytes: 4321, Running: 3, Done: 10, Measured: 8, Progress: 40, Heap: 24, HeapAge: 21000},
}
