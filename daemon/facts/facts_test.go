package facts

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"heddle"
	"heddle/daemon/proxy"
	"heddle/internal/mapred"
	"heddle/policy"
	"heddle/rm"
	"heddle/yarn/ids"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The limits match the documentation.
func TestDocumentedLimits(t *testing.T) {
	text, err := os.ReadFile("../../docs/daemon.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{
		fmt.Sprintf("and %d MiB at most. At a time %d masters are asked, of one user %d.", maxAnswers>>20, maxAsks, maxAsksOfUser),
		fmt.Sprintf("A submission may take %g s and %d MB, and %d are read at a time.", readTime.Seconds(), (maxJobXML+mapred.MaxSplitMeta)/1_000_000, maxReads),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/daemon.md lacks %q", want)
		}
	}
}

// The applications in the recordings.
var (
	sleep = ids.Attempt{App: ids.App{Cluster: 1795451201644, Seq: 3}, N: 1}
	slow  = ids.Attempt{App: ids.App{Cluster: 1795451201644, Seq: 4}, N: 1}
)

// asker returns an Asker for masters on this machine.
func asker() *Asker { return New(Options{Masters: true, Way: proxy.Way{Local: true}}) }

// recorded serves files of testdata by path and query, and missing files as a master does.
func recorded(t *testing.T, files map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "application/json" || r.Header.Get("Cookie") != "proxy-user=ann" {
			t.Errorf("asked with %v", r.Header)
		}
		name, ok := files[r.URL.RequestURI()]
		w.Header().Set("Content-Type", "application/json;charset=utf-8")
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(s.Close)
	return s
}

const (
	mrTasks = "/ws/v1/mapreduce/jobs/job_1795451201644_0003/tasks"
	jmx     = "/jmx?qry=java.lang:type=Mem*,*"
	threads = "/jmx?get=java.lang:type=Threading::ThreadCount"
)

func TestMapReduce(t *testing.T) {
	s := recorded(t, map[string]string{
		mrTasks: "mr-tasks.json", mrTasks + "/task_1795451201644_0003_r_000000/attempts": "mr-attempts.json",
		mrTasks + "/task_1795451201644_0003_m_000000/counters": "mr-counters.json",
		mrTasks + "/task_1795451201644_0003_r_000000/counters": "mr-counters-running.json",
		jmx: "mr-memory.json", threads: "mr-threads.json",
	})
	a := asker()
	m, r := rm.Task{Kind: heddle.Map}, rm.Task{Kind: heddle.Reduce}
	told := a.Ask(context.Background(), &rm.AskMaster{
		Attempt: sleep, User: "ann", Tracking: s.URL, Framework: heddle.MapReduce,
		Tasks: true, Kinds: policy.KindSet(heddle.Map, heddle.Reduce), Containers: []rm.Task{r}, Counters: []rm.Task{m, r}, Heap: true,
	})
	if told.Failed != "" || told.Attempt != sleep || told.Requests != 6 || told.Bytes < 10_000 || len(told.Tasks) != 26 {
		t.Fatalf("failed %q, %d requests, %d bytes, %d tasks", told.Failed, told.Requests, told.Bytes, len(told.Tasks))
	}
	if diff := cmp.Diff(rm.HeapNews{Live: 16, Used: 108, Max: 372, Outside: 69, Threads: 88}, told.Heap); diff != "" {
		t.Error(diff)
	}
	for _, n := range told.Tasks {
		want := rm.TaskNews{Task: n.Task, Listed: true, State: rm.TaskSucceeded, Progress: 1}
		if n.Task == m {
			want.Counted, want.Output, want.Memory, want.CPU = true, 1092, 187, 230
		}
		if n.Kind == heddle.Reduce {
			want.State, want.Phase, want.Progress = rm.TaskRuns, heddle.ReduceWrite, n.Progress
		}
		if n.Task == r {
			want.Container, want.NodeHTTP = ids.Container{Attempt: sleep, ID: 26}, "127.0.0.3:8042"
		}
		if diff := cmp.Diff(want, n); diff != "" {
			t.Error(diff)
		}
	}
	got := a.Stats()[Source{false, heddle.MapReduce}]
	if got.Asked != 1 || got.Failed != 0 || got.Requests != 6 || int64(got.Bytes) != told.Bytes || got.Time <= 0 {
		t.Errorf("%+v", got)
	}
}

// A master that does not know one task, or has no memory pages, is believed about the rest.
func TestRefusedInPart(t *testing.T) {
	s := recorded(t, map[string]string{mrTasks + "?type=r": "mr-tasks.json", mrTasks + "/task_1795451201644_0003_m_000000/counters": "mr-counters.json"})
	told := asker().Ask(context.Background(), &rm.AskMaster{
		Attempt: sleep, User: "ann", Tracking: s.URL, Framework: heddle.MapReduce,
		Tasks: true, Kinds: policy.KindSet(heddle.Reduce), Counters: []rm.Task{{Kind: heddle.Reduce, Index: 7}, {Kind: heddle.Map}}, Heap: true,
	})
	if !strings.Contains(told.Failed, "r_000007/counters with 404 Not Found") || len(told.Tasks) != 26 || !told.Tasks[0].Counted {
		t.Errorf("failed %q, %d tasks", told.Failed, len(told.Tasks))
	}
}

func TestSpark(t *testing.T) {
	base := "/api/v1/applications/application_1795451201644_0004"
	s := recorded(t, map[string]string{base + "/executors": "spark-executors.json", base + "/stages?status=active": "spark-stages.json"})
	told := asker().Ask(context.Background(), &rm.AskMaster{Attempt: slow, User: "ann", Tracking: s.URL, Framework: heddle.Spark, Tasks: true})
	want := &rm.MasterTold{
		Attempt: slow, Requests: 2, Bytes: told.Bytes,
		Executors: []rm.ExecutorNews{
			{MemoryUsed: 1, MemoryMax: 117, GC: 452 * heddle.Millisecond},
			{Container: ids.Container{Attempt: slow, ID: 3}, Active: 1, Done: 4, MemoryUsed: 1, MemoryMax: 117, GC: 88 * heddle.Millisecond},
			{Container: ids.Container{Attempt: slow, ID: 2}, Active: told.Executors[2].Active, Done: told.Executors[2].Done, MemoryUsed: 1, MemoryMax: 117, GC: told.Executors[2].GC},
		},
		Stages: []rm.StageNews{{Tasks: 20, Done: 8, Active: 3}},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestPhases(t *testing.T) {
	tests := []struct {
		kind     heddle.Kind
		status   string
		progress float64
		want     heddle.Phase
	}{
		{heddle.Map, "NEW", 0, heddle.NoPhase},
		{heddle.Map, "map", 0.2, heddle.MapRead},
		{heddle.Map, "Generated 1000 samples.", 0, heddle.MapRead},
		{heddle.Reduce, "NEW", 0, heddle.NoPhase},
		{heddle.Reduce, "reduce > copy (13 of 24 at 0.00 MB/s)", 0.18, heddle.ReduceCopy},
		{heddle.Reduce, "copy(24 of 24 at 0.02 MB/s)", 0.33, heddle.ReduceSort},
		{heddle.Reduce, "copy task(attempt_1_0001_m_000003_0 succeeded at 1.1 MB/s) Aggregated copy rate(5 of 24 at 2.1 MB/s)", 0.07, heddle.ReduceCopy},
		{heddle.Reduce, "13 / 24 copied.", 0.18, heddle.ReduceCopy},
		{heddle.Reduce, "24 / 24 copied.", 0, heddle.ReduceSort},
		{heddle.Reduce, "reduce > sort", 0.4, heddle.ReduceSort},
		{heddle.Reduce, "reduce > reduce", 0.7, heddle.ReduceWrite},
		{heddle.Reduce, "Sleeping... (2300) ms left > reduce", 0.91, heddle.ReduceWrite},
		{heddle.Reduce, "reduce", 0.1, heddle.ReduceCopy}, // a text of the task's own
		{heddle.Reduce, "words", 0, heddle.NoPhase},
		{heddle.Reduce, "words", 0.3, heddle.ReduceCopy},
		{heddle.Reduce, "words", 0.33333336, heddle.ReduceSort},
		{heddle.Reduce, "words", 0.9, heddle.ReduceWrite},
	}
	for _, tt := range tests {
		if got := phaseOf(tt.kind, tt.status, tt.progress); got != tt.want {
			t.Errorf("%v, %q, %v: %v, want %v", tt.kind, tt.status, tt.progress, got, tt.want)
		}
	}
}

// Of several attempts, the one that succeeded counts, or else the newest.
func TestAttempts(t *testing.T) {
	attempt := func(n int, state, container string) string {
		return fmt.Sprintf(`{"id":"attempt_1795451201644_0003_m_000001_%d","state":%q,"assignedContainerId":%q}`, n, state, container)
	}
	c := func(n int) string { return fmt.Sprintf("container_1795451201644_0003_01_%06d", n) }
	for name, tt := range map[string]struct {
		list string
		want int64
	}{
		"the newest":       {attempt(0, "FAILED", c(2)) + "," + attempt(1, "RUNNING", c(9)), 9},
		"in another order": {attempt(1, "RUNNING", c(9)) + "," + attempt(0, "KILLED", c(2)), 9},
		"that succeeded":   {attempt(0, "SUCCEEDED", c(2)) + "," + attempt(1, "KILLED", c(9)), 2},
		"without one":      {attempt(0, "FAILED", c(2)) + "," + attempt(1, "STARTING", ""), 0},
		"another's":        {attempt(0, "RUNNING", "container_1795451201644_0009_01_000002"), 0},
	} {
		l := &taskList{app: sleep.App, at: map[rm.Task]int{}}
		err := l.attempts(strings.NewReader(`{"taskAttempts":{"taskAttempt":[`+tt.list+`]}}`), rm.Task{Kind: heddle.Map, Index: 1})
		if err != nil || len(l.news) != 1 || l.news[0].Container.ID != tt.want {
			t.Errorf("%s: %+v, %v", name, l.news, err)
		}
	}
}

func TestOff(t *testing.T) {
	a := New(Options{})
	if got := a.Ask(context.Background(), &rm.AskMaster{Attempt: sleep}); !strings.Contains(got.Failed, "facts.masters: false") || got.Attempt != sleep {
		t.Errorf("%+v", got)
	}
	if got := a.Read(context.Background(), &rm.ReadJob{App: sleep.App}); !strings.Contains(got.Failed, "facts.submissions: false") || got.App != sleep.App {
		t.Errorf("%+v", got)
	}
}

// Only a limited number of one user's masters can hang at a time, and they do not delay other users' masters.
func TestManyThatHang(t *testing.T) {
	var at atomic.Int32
	free := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") == "proxy-user=eve" {
			at.Add(1)
			<-free
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"tasks":{"task":null}}`)
	}))
	defer s.Close()
	a := asker()
	ask := func(user string) *rm.MasterTold {
		return a.Ask(context.Background(), &rm.AskMaster{Attempt: sleep, User: user, Tracking: s.URL, Framework: heddle.MapReduce, Tasks: true, Kinds: policy.KindSet(heddle.Map), Within: 20 * heddle.Second})
	}
	done := make(chan *rm.MasterTold, maxAsksOfUser)
	for range maxAsksOfUser {
		go func() { done <- ask("eve") }()
	}
	for at.Load() < maxAsksOfUser {
		time.Sleep(time.Millisecond)
	}
	if got := ask("eve"); !strings.Contains(got.Failed, "too many") {
		t.Errorf("%+v", got)
	}
	if got := ask("ann"); got.Failed != "" {
		t.Errorf("%+v", got)
	}
	close(free)
	for range maxAsksOfUser {
		if got := <-done; got.Failed != "" {
			t.Errorf("%+v", got)
		}
	}
}
