package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"heddle/rm"
	"heddle/yarn/ids"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		child(path)
	}
	goleak.VerifyTestMain(m)
}

func app(n int32) ids.App { return ids.App{Cluster: 1700000000000, Seq: n} }

func attempt(n, m int32) ids.Attempt { return ids.Attempt{App: app(n), N: m} }

func run(n int32) Run {
	return Run{RunKey: rm.RunKey{User: "ann", Name: fmt.Sprint(n)}, Ended: int64(n)}
}

// place returns a path for a store in a folder that does not exist yet.
func place(t testing.TB) string { return filepath.Join(t.TempDir(), "data", "rm.db") }

func mustOpen(t testing.TB, path string) (*Store, *State) {
	t.Helper()
	s, state, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s, state
}

// The last starts are kept, and a store of an older program has none.
func TestStarts(t *testing.T) {
	path := place(t)
	s, state := mustOpen(t, path)
	if len(state.Starts) > 0 {
		t.Errorf("a new store was started at %v", state.Starts)
	}
	var began []int64
	for i := range int64(maxStarts + 4) {
		began = append(began, i)
		must(t, commitNow(s, PutStarts(began)))
	}
	must(t, s.Close())
	s, state = mustOpen(t, path)
	if diff := cmp.Diff(began[4:], state.Starts); diff != "" || len(state.Bad) > 0 {
		t.Errorf("%v\n%s", state.Bad, diff)
	}
	must(t, s.Close())
}

// Stored nodes are found again, and dropped ones are not.
func TestNodes(t *testing.T) {
	path := place(t)
	s, _ := mustOpen(t, path)
	here := Node{ID: ids.Node{Host: "n1", Port: 8041}, Rack: "/r", HTTP: "n1:8042"}
	lost := Node{ID: ids.Node{Host: "fd00::7", Port: 8041}, Rack: "/r", HTTP: "fd00::7:8042", Lost: 7}
	gone := Node{ID: ids.Node{Host: "n2", Port: 8041}}
	must(t, commitNow(s, PutNode(here), PutNode(gone), PutNode(Node{ID: lost.ID}), DropNode(gone.ID), DropNode(gone.ID), PutNode(lost)))
	must(t, s.Close())
	s, state := mustOpen(t, path)
	if diff := cmp.Diff([]Node{lost, here}, state.Nodes); diff != "" || len(state.Bad) > 0 {
		t.Errorf("%v\n%s", state.Bad, diff)
	}
	must(t, s.Close())
}

// commitNow commits and waits.
func commitNow(s *Store, changes ...Change) error {
	done := make(chan error, 1)
	s.Commit(func(err error) { done <- err }, changes...)
	return <-done
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	fullApp = App{
		ID: app(12), User: "ann", Context: []byte{0, 1, 255}, Queue: "root.a", Priority: -3, Submitted: 1, Started: 2, Launched: 3,
		Finished: 4, Lifetime: 5, State: "FINISHED", Final: "SUCCEEDED", Diagnostics: "a < b & \"c\"\n\x00é", Tracking: "http://x/",
	}
	fullAttempt = Attempt{
		ID: attempt(12, 2), MasterID: 1, Node: ids.Node{Host: "n1", Port: 45454}, NodeHTTP: "n1:8042",
		Started: 6, Finished: 7, Host: "n1", RPCPort: 33000, Tracking: "http://y/", State: "FAILED", Final: "FAILED", Diagnostics: "d",
		Exit: -100,
	}
	fullRun = Run{
		RunKey: rm.RunKey{User: "ann", Name: "a/b:\x00\xff é"}, Ended: 8, First: rm.Amount{MemoryMiB: 5, Vcores: 1.5, Extra: map[string]int64{"gpu": 2}},
		Asked: [2]rm.Asked{{Most: rm.Amount{MemoryMiB: 6, Vcores: 2}, Containers: 3}, {Containers: 4}}, Heap: 9, Outside: 10, Maps: 11, TooSmall: 12,
	}
	fullKeys = Keys{Current: &Key{2, []byte{2, 3}, 2}, Next: &Key{3, []byte{4}, 3}}
)

func TestRoundTrip(t *testing.T) {
	path := place(t)
	s, first := mustOpen(t, path)
	if first.Epoch != 1 || first.ClusterID == "" || first.Apps != nil || first.Attempts != nil || first.Bad != nil {
		t.Errorf("a new store has state %+v", first)
	}
	// As texts, 9 and 10000 sort against their numerical order.
	for _, n := range []int32{10000, 9, 10001} {
		must(t, commitNow(s, PutApp(App{ID: app(n)}), PutAttempt(Attempt{ID: attempt(n, 1)})))
	}
	must(t, commitNow(s, PutApp(fullApp), PutAttempt(fullAttempt), PutAttempt(Attempt{ID: attempt(12, 1)}), PutKeys(fullKeys)))
	gone := rm.RunKey{User: "ann", Name: "gone"}
	must(t, commitNow(s, PutRun(Run{RunKey: gone}), PutRun(Run{RunKey: fullRun.RunKey}), PutRun(Run{RunKey: rm.RunKey{Name: "n"}})))
	must(t, commitNow(s, PutRun(fullRun), DropRun(gone), DropRun(rm.RunKey{User: "an", Name: "n/gone"})))
	must(t, commitNow(s, DropApp(app(9)), DropApp(app(77))))
	must(t, commitNow(s, PutAttempt(Attempt{ID: attempt(12, 8)}), PutAttempt(Attempt{ID: attempt(12, 9)})))
	must(t, commitNow(s, DropAttempt(attempt(12, 8)), DropAttempt(attempt(12, 9)), DropAttempt(attempt(12, 9))))
	must(t, commitNow(s, PutApp(App{ID: app(10001), User: "eve"})))
	must(t, s.Close())

	s, state := mustOpen(t, path)
	want := &State{
		Epoch: 2, ClusterID: first.ClusterID, Keys: fullKeys,
		Apps:     []App{fullApp, {ID: app(10000)}, {ID: app(10001), User: "eve"}},
		Attempts: []Attempt{{ID: attempt(12, 1)}, fullAttempt, {ID: attempt(10000, 1)}, {ID: attempt(10001, 1)}},
		Runs:     []Run{{RunKey: rm.RunKey{Name: "n"}}, fullRun},
	}
	if d := cmp.Diff(want, state, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(State{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	must(t, s.Close())
}

// Records of older files of this format can be read, and the program that wrote those can read new records.
func TestRecordsInTheFile(t *testing.T) {
	a := &storedApp{App: App{ID: app(1), User: "ann", Queue: "root.a", Priority: 3, Submitted: 5}}
	try := &Attempt{ID: attempt(1, 2), MasterID: 7, Node: ids.Node{Host: "h", Port: 8041}, State: "FAILED"}
	run := &Run{Ended: 5, First: rm.Amount{MemoryMiB: 6, Vcores: 0.5}, Asked: [2]rm.Asked{{Most: rm.Amount{MemoryMiB: 7, Vcores: 1}, Containers: 2}}, Maps: 3}
	for want, v := range map[string]any{
		`{"Ended":5,"First":{"memory_mib":6,"vcores":0.5},"Asked":[{"Most":{"memory_mib":7,"vcores":1},"Containers":2},{"Most":{"memory_mib":0,"vcores":0},"Containers":0}],"Maps":3}`: run,
		`{"ID":{"Cluster":1700000000000,"Seq":1},"Separate":true,"User":"ann","Queue":"root.a","Priority":3,"Submitted":5}`:                                                            a,
		`{"ID":{"App":{"Cluster":1700000000000,"Seq":1},"N":2},"Node":{"Host":"h","Port":8041},"MasterID":7,"State":"FAILED"}`:                                                         try,
	} {
		stored := v
		if v == a {
			stored = &a.App
		}
		record, err := encode(nil, stored)
		if err != nil || string(record[sumDigits+1:]) != want {
			t.Errorf("%s, %v; want %s", record, err, want)
		}
		back := reflect.New(reflect.TypeOf(v).Elem()).Interface()
		if err := decode(nil, record, back); err != nil || !reflect.DeepEqual(back, v) {
			t.Errorf("%s reads as %+v, %v", record, back, err)
		}
	}
}

func TestOrderAndClose(t *testing.T) {
	s, _ := mustOpen(t, place(t))
	var order []int
	for i := range 500 {
		s.Commit(func(err error) {
			if err != nil {
				t.Error(err)
			}
			order = append(order, i)
		}, PutApp(App{ID: app(int32(i))}))
	}
	s.Commit(nil, PutKeys(fullKeys))
	must(t, s.Close())
	must(t, s.Close())
	for i, n := range order {
		if i != n {
			t.Fatalf("called back %d at place %d", n, i)
		}
	}
	if len(order) != 500 {
		t.Errorf("%d of 500 called back before Close returned", len(order))
	}
	if err := commitNow(s, PutKeys(fullKeys)); !errors.Is(err, ErrClosed) {
		t.Errorf("a commit after Close: %v", err)
	}
	if waiting(s) != 0 {
		t.Errorf("%d wait in a closed store", waiting(s))
	}
}

func TestConcurrent(t *testing.T) {
	path := place(t)
	s, _ := mustOpen(t, path)
	var wg sync.WaitGroup
	for i := range int32(50) {
		wg.Go(func() {
			for j := range int32(20) {
				n := i*20 + j + 1
				if err := commitNow(s, PutApp(App{ID: app(n)}), PutAttempt(Attempt{ID: attempt(n, 1)})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	must(t, s.Close())
	s, state := mustOpen(t, path)
	if len(state.Apps) != 1000 || len(state.Attempts) != 1000 {
		t.Errorf("%d applications and %d attempts of 1000", len(state.Apps), len(state.Attempts))
	}
	must(t, s.Close())
}

func TestErrorsOfOneCommit(t *testing.T) {
	path := place(t)
	s, _ := mustOpen(t, path)
	big := App{ID: app(1), Context: make([]byte, MaxRecord)}
	tests := []struct {
		name    string
		changes []Change
		want    string
	}{
		{"too long", []Change{PutApp(App{ID: app(2)}), PutApp(big)}, "application_1700000000000_0001: its record has"},
		{"no application", []Change{PutAttempt(Attempt{ID: attempt(3, 1)})}, "its application application_1700000000000_0003 is not in the store"},
		{"dropped before", []Change{PutApp(App{ID: app(4)}), DropApp(app(4)), PutAttempt(Attempt{ID: attempt(4, 1)})}, "its application application_1700000000000_0004 is not in the store"},
	}
	// All in one batch, with a good one after each.
	var wg sync.WaitGroup
	for i, tt := range tests {
		wg.Add(2)
		s.Commit(func(err error) {
			defer wg.Done()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
		}, tt.changes...)
		s.Commit(func(err error) {
			defer wg.Done()
			if err != nil {
				t.Errorf("the commit after %s: %v", tt.name, err)
			}
		}, PutApp(App{ID: app(100 + int32(i))}))
	}
	wg.Wait()
	if s.Err() != nil {
		t.Errorf("the store failed: %v", s.Err())
	}
	must(t, s.Close())
	s, state := mustOpen(t, path)
	if len(state.Apps) != len(tests) || state.Apps[0].ID != app(100) {
		t.Errorf("kept %v: a refused commit left something", state.Apps)
	}
	must(t, s.Close())
}

// waiting returns how many commits are not on disk yet, without those being written.
func waiting(s *Store) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

func TestFailureIsSticky(t *testing.T) {
	path := place(t)
	s, _ := mustOpen(t, path)
	must(t, commitNow(s, PutApp(App{ID: app(1)})))
	// A limit on the file's size simulates a full disk.
	s.db.MaxSize = 64 << 10
	var failed error
	for i := int32(2); i < 1000 && failed == nil; i++ {
		failed = commitNow(s, PutApp(App{ID: app(i), Context: make([]byte, 32<<10)}))
	}
	if failed == nil {
		t.Fatal("1000 records of 43 KiB fit into 64 KiB")
	}
	select {
	case <-s.Failed():
	case <-time.After(time.Second):
		t.Error("Failed is not closed")
	}
	s.db.MaxSize = 0
	if err := commitNow(s, PutApp(App{ID: app(5000)})); err == nil || err.Error() != failed.Error() {
		t.Errorf("a commit after the failure %q: %v", failed, err)
	}
	if err := s.Close(); !errors.Is(err, s.Err()) {
		t.Errorf("Close: %v", err)
	}
	s, state := mustOpen(t, path)
	if len(state.Apps) == 0 || state.Apps[0].ID != app(1) || state.Apps[len(state.Apps)-1].ID == app(5000) {
		t.Errorf("after the failure there are %d applications", len(state.Apps))
	}
	must(t, s.Close())
}

func TestTooFarBehind(t *testing.T) {
	s, _ := mustOpen(t, place(t))
	hold, held := make(chan struct{}), make(chan struct{})
	s.Commit(func(error) { close(held); <-hold })
	<-held
	for range MaxWaiting {
		s.Commit(nil)
	}
	if s.Err() != nil || waiting(s) != MaxWaiting {
		t.Errorf("%d wait, %v", waiting(s), s.Err())
	}
	s.Commit(nil)
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "wait for the disk") {
		t.Errorf("one more than may wait: %v", err)
	}
	close(hold)
	if s.Close() == nil {
		t.Error("Close says nothing of the failure")
	}
}

func BenchmarkCommit(b *testing.B) {
	record := PutApp(App{ID: app(1), Context: make([]byte, 4096)})
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("committers=%d", n), func(b *testing.B) {
			s, _ := mustOpen(b, place(b))
			var wg sync.WaitGroup
			todo := make(chan struct{}, n)
			for range n {
				wg.Go(func() {
					for range todo {
						if err := commitNow(s, record); err != nil {
							b.Error(err)
						}
					}
				})
			}
			b.ResetTimer()
			for range b.N {
				todo <- struct{}{}
			}
			close(todo)
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			must(b, s.Close())
		})
	}
}
