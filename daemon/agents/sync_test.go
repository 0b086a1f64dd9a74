package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"heddle"
	"heddle/node/api"
	"heddle/rm"
	"heddle/yarn/ids"
)

// syncer answers agents as a test says.
type syncer struct {
	heard *rm.AgentSync
	wish  *rm.AgentWish
	err   error
}

func (s *syncer) SyncAgent(_ context.Context, q *rm.AgentSync, heard func()) (*rm.AgentWish, error) {
	s.heard = q
	heard()
	return s.wish, s.err
}

// TestSync checks that an agent's message reaches the machine in the machine's terms, and that the answer reaches the
// agent.
func TestSync(t *testing.T) {
	const id = "container_1700000000000_0001_01_000002"
	cont, err := ids.ParseContainer(id)
	if err != nil {
		t.Fatal(err)
	}
	s := &syncer{wish: &rm.AgentWish{
		Version: 7, Every: 5 * heddle.Second, Lease: 30 * heddle.Second, Unknown: true, Measure: true, Disks: true,
		Want:    []rm.Wanted{{Container: cont, Parked: true, Weight: 2500}, {Container: cont, Weight: 1}, {Container: cont}},
		Outputs: []rm.OutputsOf{{App: cont.Attempt.App, User: "ann"}}, Heaps: []ids.Container{cont},
	}}
	ask := func(body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		Sync(s, Memory{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, api.Path, strings.NewReader(body)))
		return w
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(api.Sync{
		Node: "n1:8041", Agent: "a", Version: "v", Can: []string{"parks", "flies"}, Applied: 6,
		Containers: []api.Container{{ID: id, CPU: 1500, RSS: 300, Task: "attempt_1700000000000_0001_r_000004_0"}, {ID: "nonsense", CPU: 1}},
		Failed:     []api.Failure{{ID: id, Error: "no such group"}, {ID: id, Missing: true}},
		Outputs:    []api.Output{{Attempt: "attempt_1700000000000_0001_m_000003_1", Bytes: 77}, {Attempt: "attempt_1700000000000_0001_r_000003_1", Bytes: 78}},
		Heaps:      []api.Heap{{ID: id, Live: 30, Used: 50, RSS: 180}, {ID: "nonsense"}},
		DiskBusy:   2500,
	}); err != nil {
		t.Fatal(err)
	}
	w := ask(b.String())
	var got api.Wish
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Check() != nil {
		t.Fatalf("%d: %s: %v, %v", w.Code, w.Body, err, got.Check())
	}
	if want := (api.Wish{
		Version: 7, Every: 5000, Lease: 30000, Unknown: true, Measure: true, Want: []api.Want{{ID: id, Park: true, Weight: 250}, {ID: id, Weight: 1}, {ID: id}},
		Outputs: []api.App{{ID: "application_1700000000000_0001", User: "ann"}}, Heaps: []string{id}, Disks: true,
	}); !reflect.DeepEqual(got, want) {
		t.Errorf("told %+v, want %+v", got, want)
	}
	if want := (&rm.AgentSync{
		Node: ids.Node{Host: "n1", Port: 8041}, Agent: "a", Can: heddle.Parks, Applied: 6,
		Used:    []rm.Used{{Container: cont, CPU: 1500 * heddle.Millisecond, Memory: 300}},
		Failed:  []rm.AgentFailure{{Container: cont, Text: "no such group"}, {Container: cont, Missing: true}},
		Tasks:   []rm.TaskIn{{Container: cont, Task: rm.Task{Kind: heddle.Reduce, Index: 4}}},
		Outputs: []rm.MapOutput{{App: cont.Attempt.App, Map: 3, Bytes: 77}},
		Heaps:   []rm.MasterHeap{{Container: cont, HeapNews: rm.HeapNews{Live: 30, Outside: 130}}},

		DiskBusy: 2500 * heddle.Millisecond,
	}); !reflect.DeepEqual(s.heard, want) {
		t.Errorf("heard %+v, want %+v", s.heard, want)
	}
	for body, code := range map[string]int{
		"{": http.StatusBadRequest, `{"node":"n1","agent":"a"}`: http.StatusBadRequest, `{"node":"n1:8041"}`: http.StatusBadRequest,
		`"` + strings.Repeat("a", maxSync+1) + `"`: http.StatusRequestEntityTooLarge,
	} {
		if w := ask(body); w.Code != code {
			t.Errorf("%.40s: %d: %s", body, w.Code, w.Body)
		}
	}
	s.err = errors.New("the ResourceManager stops")
	if w := ask(`{"node":"n1:8041","agent":"a"}`); w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	s.err = &rm.Replaced{Node: ids.Node{Host: "n1", Port: 8041}}
	if w := ask(`{"node":"n1:8041","agent":"a"}`); w.Code != http.StatusConflict || w.Body.String() != s.err.Error()+"\n" {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// FuzzSync sends anything to the port for agents.
func FuzzSync(f *testing.F) {
	f.Add(`{"node":"n1:8041","agent":"a","can":["parks"],"containers":[{"id":"container_1_1_1_1","cpu_ms":1}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := httptest.NewRecorder()
		Sync(&syncer{wish: &rm.AgentWish{Version: 1}}, Memory{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, api.Path, strings.NewReader(body)))
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}

// TestSyncForgets checks that nothing of a request turns up in later ones.
func TestSyncForgets(t *testing.T) {
	s := &syncer{wish: &rm.AgentWish{Version: 7, Every: 5 * heddle.Second, Lease: 30 * heddle.Second}}
	h := Sync(s, Memory{})
	ask := func(body string) *rm.AgentSync {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, api.Path, strings.NewReader(body))); w.Code != http.StatusOK {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
		return s.heard
	}
	const id = `"id":"container_1700000000000_0001_01_000002"`
	for range 100 { // it is not known which room is used
		ask(`{"node":"n1:8041","agent":"a","applied":5,"can":["parks"],"containers":[{` + id + `,"cpu_ms":9,"rss_mib":9}],"failed":[{` + id + `,"error":"no"}],"outputs":[{"attempt":"attempt_1700000000000_0001_m_000003_1","bytes":5}],"disk_busy_ms":9}`)
		if q := ask(`{"node":"n1:8041","agent":"b"}`); q.Applied != 0 || q.Can != 0 || len(q.Used) != 0 || len(q.Failed) != 0 || len(q.Outputs) != 0 || q.DiskBusy != 0 {
			t.Fatalf("%+v", q)
		}
		q := ask(`{"node":"n1:8041","agent":"b","containers":[{` + id + `,"rss_mib":1}],"failed":[{` + id + `}]}`)
		if q.Used[0].CPU != 0 || q.Used[0].Memory != 1 || q.Failed[0].Text != "" {
			t.Fatalf("%+v", q)
		}
	}
}
