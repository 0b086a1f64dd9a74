package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"heddle"
	"heddle/node/api"
	"heddle/rm"
)

// BenchmarkSync measures one request of an agent with 30 containers and its answer, without a connection and a machine.
func BenchmarkSync(b *testing.B) {
	said := api.Sync{Node: "n1:8041", Agent: "a", Version: "v", Can: []string{"parks", "weighs"}, Applied: 6, Failed: []api.Failure{}}
	for i := range 30 {
		said.Containers = append(said.Containers, api.Container{
			ID: fmt.Sprintf("container_1700000000000_0001_01_%06d", i), Task: fmt.Sprintf("attempt_1700000000000_0001_m_%06d_0", i), CPU: 1000, RSS: 300,
		})
	}
	text, err := json.Marshal(said)
	if err != nil {
		b.Fatal(err)
	}
	s := &syncer{wish: &rm.AgentWish{Version: 7, Every: 5 * heddle.Second, Lease: 30 * heddle.Second}}
	h := Sync(s, Memory{})
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, api.Path, bytes.NewReader(text))); w.Code != http.StatusOK || len(s.heard.Used) != 30 {
			b.Fatalf("%d: %s", w.Code, w.Body)
		}
	}
}
