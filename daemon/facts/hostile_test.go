package facts

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"heddle"
	"heddle/daemon/proxy"
	"heddle/policy"
	"heddle/rm"
	"heddle/yarn/rpc"
)

// answers returns a master that always answers in the same way.
func answers(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

func asJSON(body string) http.HandlerFunc { return answers("application/json", body) }

func list(tasks ...string) http.HandlerFunc {
	return asJSON(`{"tasks":{"task":[` + strings.Join(tasks, ",") + `]}}`)
}

// task returns a task in a list.
func task(id, progress string) string {
	return `{"id":"task_1795451201644_` + id + `","state":"RUNNING","status":"x","progress":` + progress + `}`
}

// endless writes until nobody listens.
func endless(w http.ResponseWriter, begin, again string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, begin)
	again = strings.Repeat(again, 1000)
	for {
		if _, err := io.WriteString(w, again); err != nil {
			return
		}
	}
}

// Whatever a master does, an ask ends in time, says why nothing was learnt, and learns nothing.
func TestHostile(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	tests := []struct {
		name string
		page http.HandlerFunc
		want string
	}{
		{"silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "in time"},
		{"slow", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		}, "in time"},
		{"a login page", answers("text/html; charset=utf-8", "<html>"), `"text/html; charset=utf-8", not with JSON`},
		{"XML", answers("application/xml", "<tasks/>"), "not with JSON"},
		{"of no kind", answers("", "{}"), "not with JSON"},
		{"not JSON", asJSON("<html>"), "cannot be read"},
		{"nothing", asJSON(""), "ends too early"},
		{"cut off", asJSON(`{"tasks":{"task":[` + task("0003_m_000000", "1")), "ends too early"},
		{"cut off by force", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"tasks":{"task":[]}}`)
		}, "ends too early"},
		{"more after the end", asJSON(`{"tasks":{"task":[]}}{"tasks":{"task":[]}}`), "after the end"},
		{"an array", asJSON(`[1]`), "wanted an object"},
		{"an object", asJSON(`{"tasks":{"task":{}}}`), "wanted an array"},
		{"a text", asJSON(`{"tasks":"none"}`), "found a string"},
		{"gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, "410 Gone"},
		{"deep beside", asJSON(`{"x":` + deep), "nested more than 64 deep"},
		{"deep before", asJSON(deep), "wanted an object"},
		{"deep in a task", asJSON(`{"tasks":{"task":[{"id":` + deep), "depth"},
		{"endless tasks", func(w http.ResponseWriter, _ *http.Request) {
			endless(w, `{"tasks":{"task":[{}`, `,{"id":"task_1_0001_m_000000"}`)
		}, "is not the id of a task"},
		{"endless tasks of others", func(w http.ResponseWriter, _ *http.Request) {
			endless(w, `{"tasks":{"task":[`+task("0009_m_000000", "1"), ","+task("0009_m_000000", "1"))
		}, "more than 100000 elements"},
		{"endless blanks", func(w http.ResponseWriter, _ *http.Request) { endless(w, "", strings.Repeat(" ", 1000)) }, "more than 33554432 bytes"},
		{"an endless text", func(w http.ResponseWriter, _ *http.Request) { endless(w, `{"x":"`, strings.Repeat("x", 1000)) }, "more than 33554432 bytes"},
		{"packed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 10<<20))
			_ = z.Close()
		}, "compresses its answer"},
		{"no number", list(task("0003_m_000000", "NaN")), "cannot be read"},
		{"a number in words", list(task("0003_m_000000", `"NaN"`)), "cannot be read"},
		{"beyond numbers", list(task("0003_m_000000", "1e999")), "cannot be read"},
		{"more than all", list(task("0003_m_000000", "101")), "a progress of 101 %"},
		{"a task twice", list(task("0003_m_000000", "1"), task("0003_m_000000", "2")), "is listed twice"},
		{"a task without an id", list(`{"state":"RUNNING"}`), "is not the id of a task"},
		{"a task's odd number", list(task("0003_m_99999999999", "1")), "is not the id of a task"},
		{"an odd state", list(`{"id":"task_1795451201644_0003_m_000000","state":"WELL"}`), "is not a state of a task"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/secrets", http.StatusFound)
		}, "yarn.resourcemanager.webapp.address"},
		{"to a port of its own", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "redirects to"},
		{"in circles", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "redirects too often"},
		{"to nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) }, "redirects without a valid location"},
		{"not HTTP", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(conn, "SSH-2.0-x\x1b[31m "+strings.Repeat("x", 10_000)+"\r\n\r\n")
			_ = conn.Close()
		}, "cannot be asked"},
		{"endless headers", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+strings.Repeat("A: "+strings.Repeat("x", 1000)+"\r\n", 1000))
			_ = conn.Close()
		}, "cannot be asked"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(tt.page)
			defer s.Close()
			began := time.Now()
			within := 30 * heddle.Second
			if tt.want == "in time" {
				within = 100 * heddle.Millisecond
			}
			told := asker().Ask(context.Background(), &rm.AskMaster{
				Attempt: sleep, Tracking: s.URL, Framework: heddle.MapReduce, Tasks: true, Kinds: policy.KindSet(heddle.Map), Heap: true, Within: within,
			})
			if !strings.Contains(told.Failed, tt.want) || len(told.Failed) > maxText || strings.ContainsFunc(told.Failed, unicode.IsControl) {
				t.Errorf("failed %q, want words %q", told.Failed, tt.want)
			}
			if told.Tasks != nil || told.Heap != (rm.HeapNews{}) {
				t.Errorf("learnt %v %v", told.Tasks, told.Heap)
			}
			if took := time.Since(began); took > time.Duration(within)+2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A list that is incomplete when the time is up is discarded.
func TestHalfInTime(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"tasks":{"task":[`+task("0003_m_000000", "50")+","+task("0003_m_000001", "50")+",")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	told := asker().Ask(context.Background(), &rm.AskMaster{Attempt: sleep, Tracking: s.URL, Framework: heddle.MapReduce, Tasks: true, Kinds: policy.KindSet(heddle.Map), Within: 200 * heddle.Millisecond})
	if !strings.Contains(told.Failed, "in time") || told.Tasks != nil {
		t.Errorf("%+v", told)
	}
}

// What arrives before the time is up stays.
func TestTooSlowForAll(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/tasks") {
			list(task("0003_m_000000", "50"), task("0009_m_000000", "50"))(w, r)
			return
		}
		<-r.Context().Done()
	}))
	defer s.Close()
	told := asker().Ask(context.Background(), &rm.AskMaster{
		Attempt: sleep, Tracking: s.URL, Framework: heddle.MapReduce, Tasks: true, Kinds: policy.KindSet(heddle.Map), Containers: []rm.Task{{Kind: heddle.Map}}, Within: 300 * heddle.Millisecond,
	})
	if !strings.Contains(told.Failed, "in time") || len(told.Tasks) != 1 || told.Tasks[0].Progress != 0.5 {
		t.Errorf("%+v", told)
	}
}

// A redirect within the master is followed.
func TestRedirectWithin(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		list(task("0003_m_000000", "50"))(w, r)
	}))
	defer s.Close()
	told := asker().Ask(context.Background(), &rm.AskMaster{Attempt: sleep, Tracking: s.URL, Framework: heddle.MapReduce, Tasks: true, Kinds: policy.KindSet(heddle.Map)})
	if told.Failed != "" || len(told.Tasks) != 1 || told.Requests != 2 {
		t.Errorf("%+v", told)
	}
}

// A master names its own address, but it cannot lead the daemon to the daemon's own ports or to its loopback.
func TestForbiddenPlaces(t *testing.T) {
	asked := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, tracking, want string
		way                  proxy.Way
	}{
		{"loopback", "localhost:" + u.Port(), "loopback", proxy.Way{}},
		{"a port of the daemon's", s.URL, "port of the ResourceManager", proxy.Way{Local: true, Private: []uint16{uint16(port)}}},
		{"no pages", "N/A", "has no pages", proxy.Way{Local: true}},
		{"nothing there", "127.0.0.1:1", "refused", proxy.Way{Local: true}},
		{"a file", "file:///etc/passwd", "has no pages", proxy.Way{Local: true}},
	}
	for _, tt := range tests {
		a := New(Options{Masters: true, Way: tt.way})
		told := a.Ask(context.Background(), &rm.AskMaster{Attempt: sleep, Tracking: tt.tracking, Framework: heddle.MapReduce, Heap: true})
		if !strings.Contains(told.Failed, tt.want) || asked {
			t.Errorf("%s: %q, asked %v; want words %q", tt.name, told.Failed, asked, tt.want)
		}
	}
}

func TestHostileSpark(t *testing.T) {
	one := func(container string) string {
		return fmt.Sprintf(`{"id":"1","activeTasks":-3,"attributes":{"CONTAINER_ID":%q}}`, container)
	}
	const own, other = "container_1795451201644_0004_01_000002", "container_1795451201644_0009_01_000002"
	for name, tt := range map[string]struct {
		body, want string
		n          int
	}{
		"another's container": {"[" + one(other) + "," + one(own) + "]", "", 1},
		"twice":               {"[" + one(own) + "," + one(own) + "]", "twice", 0},
		"no id":               {"[" + one("container_x") + "]", "not the id of a container", 0},
		"the driver":          {`[{"id":"driver","attributes":{"CONTAINER_ID":"` + own + `"}}]`, "", 1},
		"too many":            {`[{"id":"1","totalGCTime":1e30}]`, "too large a number", 0},
		"none":                {"null", "", 0},
	} {
		got, err := readExecutors(strings.NewReader(tt.body), slow.App)
		if tt.want == "" && (err != nil || len(got) != tt.n) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		for _, e := range got {
			if err == nil && (e.Active != 0 || e.Container.IsZero() != (name == "the driver")) {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

// A NameNode that never answers is given up in time, and one that does not exist at once.
func TestHDFSGone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, at := range []string{l.Addr().String(), "127.0.0.1:1"} {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		began := time.Now()
		s, err := newHDFS(hdfsAt(at)).open(ctx, "ann")
		if err == nil {
			_, err = s.read("/x", 10)
			s.close()
		}
		if took := time.Since(began); err == nil || took > 2*time.Second {
			t.Errorf("%s: %v after %v", at, err, took)
		}
		cancel()
	}
}

// strict refuses every connection.
type strict struct{}

func (strict) Verify([]byte) (password []byte, user string, identity any, err error) {
	return nil, "", nil, errors.New("nobody")
}

// An HDFS that does not trust its callers' names is not read, and the answer says so.
func TestHDFSThatWantsMore(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := rpc.NewServer(rpc.Options{Tokens: strict{}, Log: slog.New(slog.DiscardHandler)})
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	defer func() {
		if err := errors.Join(server.Close(context.Background()), <-done); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s, err := newHDFS(hdfsAt(l.Addr().String())).open(ctx, "ann")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if _, err = s.read("/x", 10); err == nil || !strings.Contains(err.Error(), "it requires authentication") {
		t.Errorf("%v", err)
	}
}
