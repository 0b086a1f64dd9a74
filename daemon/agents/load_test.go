package agents

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heddle/internal/budget"
	"heddle/node/api"
	"heddle/rm"
)

// memories returns memory that is shared out, and the budgets that show what is left of it.
func memories(input, calls int64) (m Memory, in, work *budget.Budget) {
	in, work = budget.New(input, input/2), budget.New(calls, calls/2)
	return Memory{in.Account(0), work.Account(0)}, in, work
}

// posts sends a body as an agent at an address, and returns once it has been answered.
func posts(h http.Handler, from string, body io.Reader) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, api.Path, body)
	r.RemoteAddr = from + ":1000"
	h.ServeHTTP(w, r)
	return w
}

// holder hears a message, and answers it when told to.
type holder chan struct{}

func (h holder) SyncAgent(_ context.Context, _ *rm.AgentSync, heard func()) (*rm.AgentWish, error) {
	<-h
	heard()
	<-h
	return &rm.AgentWish{Version: 1}, nil
}

// said returns an agent's message about a number of containers.
func said(conts int) string {
	return `{"node":"n1:8041","agent":"a","containers":[` +
		strings.Repeat(`{"id":"container_1_0001_01_000002","cpu_ms":1},`, conts-1) + `{"id":"container_1_0001_01_000002","cpu_ms":1}]}`
}

// An agent's message is charged while it arrives, is worked on and waits to be heard, but not while it waits for its
// answer: thousands do.
func TestRequestsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, in, work := memories(1<<20, 1<<20)
		held := make(holder)
		h := Sync(held, m)
		body, writes := io.Pipe()
		go posts(h, "10.0.0.1", body)
		text := said(100)
		_, _ = io.WriteString(writes, text[:1000])
		synctest.Wait()
		if n := in.Used(); n < 1000 || n > 4000 || work.Used() != 0 {
			t.Errorf("of a request of which 1000 bytes are there %d and %d are counted", n, work.Used())
		}
		_, _ = io.WriteString(writes, text[1000:])
		_ = writes.Close()
		synctest.Wait()
		if n := work.Used(); in.Used() != 0 || n < 100*40 || n > 100*200 {
			t.Errorf("of a request that waits to be heard %d and %d are counted", in.Used(), n)
		}
		held <- struct{}{}
		synctest.Wait()
		if in.Used() != 0 || work.Used() != 0 {
			t.Errorf("of a request that waits for its answer %d and %d are counted", in.Used(), work.Used())
		}
		held <- struct{}{}
		synctest.Wait()
		if in.Used() != 0 || work.Used() != 0 {
			t.Errorf("afterwards %d and %d are counted", in.Used(), work.Used())
		}
		for _, bad := range []string{text[:2000], `{"node":1}`, "x" + text, `{"node":"n1"}`} {
			if posts(h, "10.0.0.1", strings.NewReader(bad)); in.Used() != 0 || work.Used() != 0 {
				t.Errorf("after %.20s… %d and %d are counted", bad, in.Used(), work.Used())
			}
		}
	})
}

// If one address has used its part of the memory, its agents wait, and are told to retry; agents of others go on.
func TestAgentsWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, in, _ := memories(1<<20, 1<<20)
		h := Sync(&syncer{wish: &rm.AgentWish{Version: 1}}, m)
		body, writes := io.Pipe()
		ended := make(chan struct{})
		go func() {
			posts(h, "10.0.0.1", body)
			close(ended)
		}()
		_, _ = io.WriteString(writes, `"`+strings.Repeat("a", 254<<10))
		synctest.Wait()
		if in.Used() < 500<<10 {
			t.Fatalf("%d bytes are counted", in.Used())
		}
		began := time.Now()
		if w := posts(h, "10.0.0.1", strings.NewReader(said(200))); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || time.Since(began) != patience {
			t.Errorf("one more: %d after %v: %s", w.Code, time.Since(began), w.Body)
		}
		if w := posts(h, "10.0.0.2", strings.NewReader(said(200))); w.Code != http.StatusOK {
			t.Errorf("another address: %d: %s", w.Code, w.Body)
		}
		_ = writes.Close()
		<-ended
		if w := posts(h, "10.0.0.1", strings.NewReader(said(200))); w.Code != http.StatusOK {
			t.Errorf("afterwards: %d: %s", w.Code, w.Body)
		}
		if w := posts(h, "10.0.0.1", strings.NewReader(`{"can":[`+strings.Repeat(`"",`, 50_000)+`""]}`)); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "memory.per_address") {
			t.Errorf("one that takes up more than an address may have: %d: %s", w.Code, w.Body)
		}
	})
}

// A request takes up no more than its weight, whatever it says.
func TestWeight(t *testing.T) {
	for what, text := range map[string]string{
		"containers": `{"containers":[` + strings.Repeat(`{},`, 100_000) + `{}]}`,
		"nothing":    `{"containers":[` + strings.Repeat(`null,`, 100_000) + `null]}`,
		"failures":   `{"failed":[` + strings.Repeat(`{},`, 100_000) + `{}]}`,
		"outputs":    `{"outputs":[` + strings.Repeat(`{},`, 100_000) + `{}]}`,
		"heaps":      `{"heaps":[` + strings.Repeat(`{},`, 100_000) + `{}]}`,
		"names":      `{"can":[` + strings.Repeat(`"a",`, 100_000) + `"a"]}`,
		"lacks":      `{"failed":[` + strings.Repeat(`{"lacks":[""]},`, 100_000) + `{}]}`,
		"a text":     `{"version":"` + strings.Repeat("a", 1<<20) + `"}`,
		"small ones": `{"containers":[` + strings.Repeat(`{"id":"a","task":"b"},`, 100_000) + `{}]}`,
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := &api.Sync{}
		if err := json.Unmarshal([]byte(text), s); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if took := int64(after.HeapAlloc) - int64(before.HeapAlloc); took > weight([]byte(text)) {
			t.Errorf("%s: %d bytes, weighed at %d", what, took, weight([]byte(text)))
		}
		runtime.KeepAlive(s)
	}
}
