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

func (s *syncer) SyncAgent(_ context.Context, q *rm.AgentSync) (*rm.AgentWish, error) {
	s.heard = q
	return s.wish, s.err
}

// TestSync has an agent's words reach the machine in its own terms, and its answer the agent.
func TestSync(t *testing.T) {
	const id = "container_1700000000000_0001_01_000002"
	cont, err := ids.ParseContainer(id)
	if err != nil {
		t.Fatal(err)
	}
	s := &syncer{wish: &rm.AgentWish{
		Version: 7, Every: 5 * heddle.Second, Lease: 30 * heddle.Second, Measure: true,
		Want: []rm.Wanted{{Container: cont, Parked: true, Weight: 2500}, {Container: cont, Weight: 1}},
	}}
	ask := func(body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		Sync(s).ServeHTTP(w, httptest.NewRequest(http.MethodPost, api.Path, strings.NewReader(body)))
		return w
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(api.Sync{
		Node: "n1:8041", Agent: "a", Version: "v", Can: []string{"parks", "flies"}, Applied: 6,
		Containers: []api.Container{{ID: id, CPU: 1500, RSS: 300}, {ID: "nonsense", CPU: 1}},
		Failed:     []api.Failure{{ID: id, Error: "no such group"}},
	}); err != nil {
		t.Fatal(err)
	}
	w := ask(b.String())
	var got api.Wish
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Check() != nil {
		t.Fatalf("%d: %s: %v, %v", w.Code, w.Body, err, got.Check())
	}
	if want := (api.Wish{Version: 7, Every: 5000, Lease: 30000, Measure: true, Want: []api.Want{{ID: id, Park: true, Weight: 250}, {ID: id, Weight: 1}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("told %+v, want %+v", got, want)
	}
	if want := (&rm.AgentSync{
		Node: ids.Node{Host: "n1", Port: 8041}, Agent: "a", Can: heddle.Parks, Applied: 6,
		Used:   []rm.Used{{Container: cont, CPU: 1500 * heddle.Millisecond, Memory: 300}},
		Failed: []rm.AgentFailure{{Container: cont, Text: "no such group"}},
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
}

// FuzzSync says anything to the port of agents.
func FuzzSync(f *testing.F) {
	f.Add(`{"node":"n1:8041","agent":"a","can":["parks"],"containers":[{"id":"container_1_1_1_1","cpu_ms":1}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := httptest.NewRecorder()
		Sync(&syncer{wish: &rm.AgentWish{Version: 1}}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, api.Path, strings.NewReader(body)))
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}
