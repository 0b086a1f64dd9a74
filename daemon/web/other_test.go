package web

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"heddle/daemon"
	"heddle/daemon/store"
	"heddle/internal/budget"
	"heddle/internal/histogram"
	"heddle/rm"
)

func TestHealth(t *testing.T) {
	f := demo()
	h := New(Options{RM: f})
	for _, tt := range []struct {
		path   string
		ready  bool
		status int
	}{{"/healthz", false, 200}, {"/readyz", false, 503}, {"/readyz", true, 200}, {"/isActive", true, 200}} {
		f.ready = tt.ready
		if w := ask(h, tt.path); w.Code != tt.status {
			t.Errorf("%s when ready is %v: %d, want %d", tt.path, tt.ready, w.Code, tt.status)
		}
	}
	f.ready = false
	for missing, want := range map[int]string{0: "not ready: recovering\n", 3: "not ready: waiting for 3 of 10 nodes\n"} {
		f.missing = missing
		if got := ask(h, "/readyz").Body.String(); got != want {
			t.Errorf("with %d nodes missing it answers %q", missing, got)
		}
	}
}

// What does not need the loop is reported even while the loop, or the disk, hangs.
func TestUnhealthy(t *testing.T) {
	f := demo()
	h := New(Options{RM: f})
	for _, tt := range []struct {
		health daemon.Health
		status int
		text   string
	}{
		{daemon.Health{Unready: "the loop has been busy with one call for 7s", Refuses: "the disk is full"}, 503, "not ready: the loop has been busy with one call for 7s"},
		{daemon.Health{Refuses: "the disk is full"}, 200, "ready, but submissions are refused: the disk is full"},
		{daemon.Health{}, 200, "ready"},
	} {
		f.health = tt.health
		if w := ask(h, "/readyz"); w.Code != tt.status || w.Body.String() != tt.text+"\n" {
			t.Errorf("%d %q, want %d %q", w.Code, w.Body, tt.status, tt.text)
		}
	}
	f.health = daemon.Health{
		Unready: "the store has been writing for 12s", Calls: 5, Stuck: 7 * time.Second, Stalls: 2, Lag: histogram.Snapshot{Count: 3, Seconds: 1.5, Up: map[float64]uint64{0.5: 2}},
		Reads: daemon.ReadStats{Views: 21, Questions: 22, Dropped: 23, Busy: 2500 * time.Millisecond},
		Store: &store.Stats{
			Commits: 4, Bytes: 1000, Oldest: 13 * time.Second, Writing: 12 * time.Second, Short: &store.Shortage{},
			Writes: histogram.Snapshot{Count: 9, Seconds: 2, Up: map[float64]uint64{1: 8}}, Waits: histogram.Snapshot{Count: 7},
		},
	}
	text := ask(h, "/metrics").Body.String()
	for _, want := range []string{
		"heddle_ready 0", "heddle_loop_calls_waiting 5", "heddle_loop_stuck_seconds 7", "heddle_loop_stalls_total 2",
		`heddle_loop_lag_seconds_bucket{le="0.5"} 2`, `heddle_loop_lag_seconds_bucket{le="+Inf"} 3`, "heddle_loop_lag_seconds_sum 1.5",
		"heddle_reads_views_total 21", `heddle_reads_questions_total{event="asked"} 22`, `heddle_reads_questions_total{event="dropped"} 23`,
		"heddle_reads_loop_seconds_total 2.5",
		"heddle_store_commits_waiting 4", "heddle_store_bytes_waiting 1000", "heddle_store_oldest_seconds 13", "heddle_store_writing_seconds 12",
		"heddle_store_short 1", `heddle_store_fsync_seconds_bucket{le="1"} 8`, "heddle_store_fsync_seconds_count 9", "heddle_store_commit_seconds_count 7",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("/metrics does not have %q", want)
		}
	}
}

func TestPrometheus(t *testing.T) {
	f := demo()
	f.queues[1].Path = "root.\xff\"quoted\"" // what a user may have put into a file
	h := New(Options{RM: f, Version: "dev", RPC: RPC{"client": func() RPCStats {
		return RPCStats{
			Conns: 3, BytesIn: 7, Methods: map[string]uint64{"org.apache.P/getNodes": 4}, Failed: map[string]uint64{"org.apache.P/getNodes": 1},
			Refused: map[string]uint64{"frame": 2},
		}
	}}, Facts: func() []FactStats {
		return []FactStats{{Source: "master", Framework: "spark", Asked: 8, Failed: 1, Requests: 16, Bytes: 4000, Seconds: 0.25}}
	}})
	ask(h, "/healthz")
	w := ask(h, "/metrics")
	for _, want := range []string{
		`heddle_build_info{profile="heddle",scheduler="capacity",version="dev"} 1`,
		`heddle_applications{state="running"} 1`, `heddle_applications{state="pending"} 1`, `heddle_nodes{state="lost"} 1`,
		`heddle_memory_bytes{kind="total"} 8.589934592e+09`, `heddle_vcores{kind="used"} 2`, `heddle_containers{kind="waiting"} 3`,
		`heddle_scheduler_steps_total 1234`, `heddle_scheduler_grants_total 56`, `heddle_loop_busy_ratio 0.015`,
		`heddle_container_updates_total{event="sent"} 9`, `heddle_container_updates_total{event="confirmed"} 6`, `heddle_container_updates_total{event="refused"} 1`,
		`heddle_container_deeds_total{deed="resized"} 7`, `heddle_container_deeds_total{deed="suspended"} 3`, `heddle_container_deeds_total{deed="frozen"} 1`,
		`heddle_container_deeds_total{deed="resumed"} 2`, `heddle_container_deeds_total{deed="weighed"} 11`, `heddle_container_deeds_total{deed="bounded"} 4`,
		`heddle_undone_steps_total{lacks="resizes"} 4`, `heddle_undone_steps_total{lacks="weighs"} 12`, `heddle_undone_steps_total{lacks="lends"} 0`,
		`heddle_containers{kind="parked"} 1`, `heddle_containers{kind="weighed"} 1`, `heddle_node_agents 1`, `heddle_node_agents_connected_total 3`,
		`heddle_node_agents_lost_total 2`, `heddle_node_agent_wishes_total 70`, `heddle_node_agent_failures_total 5`,
		`heddle_heartbeat_interval_seconds 1`, `heddle_queue_memory_bytes{kind="masters",queue="root.` + "\uFFFD" + `\"quoted\""} 5.36870912e+08`,
		`heddle_queue_applications{queue="root",state="active"} 0`, `heddle_rpc_connections{port="client"} 3`,
		`heddle_rpc_calls_total{method="getNodes",port="client",protocol="P"} 4`,
		`heddle_rpc_failed_calls_total{method="getNodes",port="client",protocol="P"} 1`,
		`heddle_rpc_refused_total{port="client",reason="frame"} 2`, `heddle_http_requests_total{class="2xx"} 1`, `heddle_ready 1`,
		`heddle_facts_asked_total{framework="spark",source="master"} 8`, `heddle_facts_failed_total{framework="spark",source="master"} 1`,
		`heddle_facts_requests_total{framework="spark",source="master"} 16`, `heddle_facts_bytes_total{framework="spark",source="master"} 4000`,
		`heddle_facts_seconds_total{framework="spark",source="master"} 0.25`,
		"go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s is missing", want)
		}
	}
	f.fails = errBusy
	if w = ask(h, "/metrics"); !strings.Contains(w.Body.String(), "heddle_ready 1") {
		t.Errorf("what is known is not told when the daemon does not answer: %d %s", w.Code, w.Body)
	}
}

// Each metric that the documentation names exists.
func TestDocumentedMetrics(t *testing.T) {
	f := demo()
	f.health.Store = &store.Stats{}
	h := New(Options{RM: f, Facts: func() []FactStats { return []FactStats{{}} }})
	served := ask(h, "/metrics").Body.String()
	for _, page := range []string{"daemon.md", "rest.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`heddle_[a-z][a-z_]*`).FindAllString(string(text), -1) {
			want := "\n# TYPE " + name
			if !strings.HasSuffix(name, "_") { // otherwise it is a prefix of such names
				want += " "
			}
			if !strings.Contains(served, want) {
				t.Errorf("docs/%s names %s, which /metrics does not have", page, name)
			}
		}
	}
}

func TestJMX(t *testing.T) {
	h := New(Options{RM: demo()})
	beans := func(query string) map[string]map[string]any {
		var got struct{ Beans []map[string]any }
		w := ask(h, "/jmx"+query)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%v in %s", err, w.Body)
		}
		out := map[string]map[string]any{}
		for _, b := range got.Beans {
			out[strings.TrimPrefix(b["name"].(string), "Hadoop:service=ResourceManager,name=")] = b
		}
		return out
	}
	all := beans("")
	if len(all) != 4 || all["ClusterMetrics"]["NumLostNMs"] != 1.0 || all["QueueMetrics,q0=root,q1=default"]["AllocatedMB"] != 2048.0 {
		t.Errorf("got %v", all)
	}
	var live []map[string]any
	if err := json.Unmarshal([]byte(all["RMNMInfo"]["LiveNodeManagers"].(string)), &live); err != nil || len(live) != 1 || live[0]["NodeId"] != "node1:8041" {
		t.Errorf("%v: %v", err, live)
	}
	if got := beans("?qry=Hadoop:service=ResourceManager,name=QueueMetrics,q0=root"); len(got) != 1 {
		t.Errorf("one bean asked for, got %v", got)
	}
	for name, want := range map[string]int{"ClusterMetrics": 1, "QueueMetrics": 2, "RMNMInfo": 1, "Cluster": 0} {
		if got := beans("?qry=Hadoop:service=ResourceManager,name=" + name + ",*"); len(got) != want {
			t.Errorf("%s with any other properties asked for, got %v", name, got)
		}
	}
	if got := beans("?qry=Hadoop:*"); len(got) != 4 {
		t.Errorf("all beans asked for, got %v", got)
	}
	if w := ask(h, "/jmx", "Accept", "text/html"); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json;charset=utf-8" || !strings.Contains(w.Body.String(), "\n") {
		t.Errorf("whatever is accepted, it is JSON of several lines: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if got := beans("?qry=[x"); len(got) != 0 {
		t.Errorf("no bean has that name, got %v", got)
	}
}

func TestConf(t *testing.T) {
	h := New(Options{RM: demo(), Conf: []Property{
		{Key: "yarn.a", Value: "1", Source: "yarn-site.xml"}, {Key: "ssl.keystore.password", Value: "hush"},
	}})
	var got struct{ Properties []Property }
	w := ask(h, "/conf?format=json")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Properties) != 2 || got.Properties[0].Source != "yarn-site.xml" {
		t.Errorf("%v: %s", err, w.Body)
	}
	var file struct {
		Properties []Property `xml:"property"`
	}
	for _, path := range []string{"/conf", "/conf?format=xml"} {
		file.Properties = nil
		w = ask(h, path)
		if err := xml.Unmarshal(w.Body.Bytes(), &file); err != nil || len(file.Properties) != 2 || file.Properties[0].Key != "yarn.a" {
			t.Errorf("%s: %v: %s", path, err, w.Body)
		}
	}
	for _, query := range []string{"?format=json", "?format=xml", "?name=ssl.keystore.password"} {
		if w := ask(h, "/conf"+query); strings.Contains(w.Body.String(), "hush") {
			t.Errorf("/conf%s tells a secret", query)
		}
	}
	if w := ask(h, "/conf?format=json&name=yarn.a"); !strings.Contains(w.Body.String(), `"property"`) || w.Code != 200 {
		t.Errorf("one setting: %d %s", w.Code, w.Body)
	}
	if w := ask(h, "/conf?name=nosuch"); w.Code != 404 {
		t.Errorf("a setting that is not there: %d", w.Code)
	}
	for _, key := range []string{
		"fs.azure.account.key.x.blob.core.windows.net", "fs.azure.account.oauth2.client.secret.x", "fs.s3a.bucket.b.server-side-encryption.key",
		"fs.s3a.encryption.key", "fs.s3a.access.key", "fs.s3a.session.token", "ssl.server.keystore.keypassword", "ssl.keystore.pass", "own.thing",
		"yarn.resourcemanager.zk-auth", "hadoop.zk.auth", "ha.zookeeper.auth",
	} {
		one := New(Options{RM: demo(), Conf: []Property{{Key: key, Value: "hush"}, {Key: sensitive, Value: "x.y, ^own"}, {Key: "token.master-key-rolling-interval-secs", Value: "9"}}})
		if w := ask(one, "/conf?format=json"); strings.Contains(w.Body.String(), "hush") || !strings.Contains(w.Body.String(), `"9"`) {
			t.Errorf("with %s: %s", key, w.Body)
		}
	}
	unclear := New(Options{RM: demo(), Conf: []Property{{Key: sensitive, Value: "(own"}, {Key: "own", Value: "hush"}}})
	if w := ask(unclear, "/conf"); strings.Contains(w.Body.String(), "hush") {
		t.Errorf("where it is not understood what is secret: %s", w.Body)
	}
	if w := ask(h, "/conf?format=yaml"); w.Code != 400 {
		t.Errorf("a format that is not there: %d", w.Code)
	}
}

func TestHeadersForBrowsers(t *testing.T) {
	h := New(Options{RM: demo()})
	for _, path := range []string{"/cluster", "/ws/v1/cluster/info", "/conf", "/nosuch", "/metrics"} {
		got := ask(h, path).Header()
		if got.Get("X-Content-Type-Options") != "nosniff" || got.Get("X-Frame-Options") != "DENY" ||
			!strings.Contains(got.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v", path, got)
		}
	}
}

type panicking struct{ *fakeRM }

func (panicking) Cluster(context.Context) (rm.ClusterReport, error) { panic("a mistake") }

func TestPanicEndsOneRequest(t *testing.T) {
	h := New(Options{RM: panicking{demo()}, Log: slog.New(slog.DiscardHandler)})
	if w := ask(h, "/ws/v1/cluster/info"); w.Code != http.StatusInternalServerError {
		t.Errorf("got %d, want 500", w.Code)
	}
	if w := ask(h, "/healthz"); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d", w.Code)
	}
}

// An answer that is cut short counts as a request of the class that it began with.
func TestCutShortIsCounted(t *testing.T) {
	f := demo()
	f.nodes[0].Utilization.CPU = float32(math.NaN()) // JSON has none
	h := New(Options{RM: f})
	func() {
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
				t.Errorf("the connection is not closed: %v", err)
			}
		}()
		ask(h, heddleBase+"/nodes")
	}()
	text := ask(h, "/metrics").Body.String()
	for _, want := range []string{`heddle_http_requests_total{class="2xx"} 1`, "heddle_http_requests_in_progress 1"} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("/metrics does not have %q", want)
		}
	}
}

// hanging answers when told to.
type hanging struct {
	*fakeRM
	entered, leave chan struct{}
}

func (h hanging) Nodes(context.Context) ([]rm.NodeReport, error) {
	h.entered <- struct{}{}
	<-h.leave
	return nil, nil
}

// askFrom requests a path from an address.
func askFrom(h http.Handler, from, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = from + ":5000"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// One address may have a quarter of all concurrent requests. Beyond that, and beyond the total, callers are told to
// come again, except for those that monitor the daemon.
func TestTooManyRequestsAtOnce(t *testing.T) {
	slow := hanging{demo(), make(chan struct{}), make(chan struct{})}
	h := New(Options{RM: slow})
	done := make(chan int, maxInFlight)
	refused := func(from string) {
		t.Helper()
		if w := askFrom(h, from, "/isActive"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("one too many: %d %v", w.Code, w.Header())
		}
		for _, probe := range Vital[:2] { // the third asks the loop, which hangs
			if w := askFrom(h, from, probe); w.Body.String() == "too many requests at once; try again\n" {
				t.Errorf("who watches the daemon is not answered at %s", probe)
			}
		}
	}
	for i := range 4 {
		from := fmt.Sprintf("10.0.0.%d", 1+i)
		if w := askFrom(h, from, "/isActive"); w.Code != http.StatusOK {
			t.Errorf("%s is refused for others' requests: %d", from, w.Code)
		}
		for range maxInFlight / 4 {
			go func() { done <- askFrom(h, from, "/ws/v1/cluster/nodes").Code }()
		}
		for range maxInFlight / 4 {
			<-slow.entered
		}
		refused(from)
	}
	refused("10.0.0.9")
	close(slow.leave)
	for range maxInFlight {
		if code := <-done; code != http.StatusOK {
			t.Errorf("one within the limit: %d", code)
		}
	}
	if w := askFrom(h, "10.0.0.9", "/isActive"); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d", w.Code)
	}
}

// If there is no memory for an answer, nor will be soon, the caller is told to come again.
func TestNoMemoryForAnswers(t *testing.T) {
	for _, path := range []string{"/ws/v1/cluster/apps", "/jmx", "/conf", "/cluster", "/cluster/apps", "/cluster/app/" + proxied, "/cluster/node/node1:8041"} {
		memory := budget.New(100<<10, 100<<10).Account(0)
		h := New(Options{RM: seated{demo()}, Desk: budget.NewDesk(memory, 2, time.Millisecond)})
		memory.More(netip.Addr{}, 90<<10)
		if w := askFrom(h, "10.0.0.1", path); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		memory.Give(netip.Addr{}, 90<<10)
		for range 5 {
			if w := askFrom(h, "10.0.0.1", path); w.Code != http.StatusOK {
				t.Errorf("%s when there is: %d", path, w.Code)
			}
		}
		if err := memory.Try(netip.Addr{}, memory.Most()); err != nil {
			t.Errorf("%s: answers that have left hold memory", path)
		}
	}
}

func BenchmarkApps(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		f := demo()
		base := f.apps[0]
		base.Requests = nil
		f.apps = make([]rm.AppReport, n)
		for i := range f.apps {
			f.apps[i] = base
			f.apps[i].ID.Seq = int32(i + 1)
			f.apps[i].Live = i%10 == 0
		}
		h := New(Options{RM: f})
		for _, coding := range []string{"identity", "gzip"} {
			b.Run(fmt.Sprintf("%d/%s", n, coding), func(b *testing.B) {
				b.ReportAllocs()
				size := 0
				for b.Loop() {
					r := httptest.NewRequest(http.MethodGet, "/ws/v1/cluster/apps", nil)
					r.Header.Set("Accept-Encoding", coding)
					w := &counter{header: http.Header{}}
					h.ServeHTTP(w, r)
					size = w.n
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}

// A counter counts what is written.
type counter struct {
	header http.Header
	n      int
}

func (c *counter) Header() http.Header { return c.header }
func (c *counter) WriteHeader(int)     {}
func (c *counter) Write(b []byte) (int, error) {
	c.n += len(b)
	return len(b), nil
}
