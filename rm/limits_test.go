package rm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/yarn/ids"
)

// from makes a NodeManager register from an address, and returns why it was refused.
func (w *world) from(addr, host string, port int32) string {
	w.Helper()
	q := &RegisterNode{Call: w.next(), Node: ids.Node{Host: host, Port: port}, Names: []string{host}, From: addr, Total: heddle.Of(8192, 8000)}
	w.step(q)
	p, err := answered[*NodeRegistered](w, q.Call)
	if err != nil {
		w.Fatal(err)
	}
	return p.Refused
}

// Only so many unknown NodeManagers may come from one address. The refusal says what raises the limit.
func TestNodesPerAddress(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.NodesPer = 3 })
	for i := range 3 {
		if why := w.from("10.0.0.1", fmt.Sprintf("h%d", i), 1); why != "" {
			t.Fatal(why)
		}
	}
	if why := w.from("10.0.0.1", "h3", 1); !strings.Contains(why, "limits.nodes_per_address") || !strings.Contains(why, "10.0.0.1") {
		t.Errorf("one too many: %q", why)
	}
	if why := w.from("10.0.0.1", "h2", 1) + w.from("10.0.0.2", "h3", 1); why != "" {
		t.Errorf("one that was here, and one from another address: %s", why)
	}
	w.step(&UnregisterNode{Call: w.next(), Node: ids.Node{Host: "h0", Port: 1}})
	if why := w.from("10.0.0.1", "h4", 1); why == "" {
		t.Error("who went a moment ago made room")
	}
	w.sleep(newNodesTime) // h1 and h2 are lost meanwhile
	for i := range 3 {
		if why := w.from("10.0.0.1", fmt.Sprintf("h%d", 5+i), 1); why != "" {
			t.Errorf("those before are gone for long: %s", why)
		}
	}
	w.check()
}

// If an address has as many NodeManagers as it may, those that come back on another port are accepted, whether they
// left or were killed. Beside a reporting NodeManager another one counts as new.
func TestNodesThatComeBack(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.NodesPer = 3 })
	hosts := []string{"a", "b", "c"}
	all := func(port int32) {
		t.Helper()
		for _, host := range hosts {
			if why := w.from("10.0.0.1", host, port); why != "" {
				t.Errorf("%s:%d: %s", host, port, why)
			}
		}
	}
	all(1)
	for _, host := range hosts {
		w.step(&UnregisterNode{Call: w.next(), Node: ids.Node{Host: host, Port: 1}})
	}
	all(2)
	w.sleep(5 * heddle.Second) // they are killed, and nobody is told
	all(3)
	if why := w.from("10.0.0.1", "a", 4) + w.from("10.0.0.1", "d", 1); strings.Count(why, "limits.nodes_per_address") != 2 {
		t.Errorf("one beside another one, and another host: %q", why)
	}
	if n := w.m.quarters["10.0.0.1"].nodes; n != 6 {
		t.Errorf("%d nodes are known, not those that report and those that were ended", n)
	}
	w.sleep(newNodesTime)
	all(4) // the previous ones are lost
	if n := w.m.quarters["10.0.0.1"].nodes; n != 3 {
		t.Errorf("%d nodes are known, not those that report", n)
	}
}

// A host may bring its NodeManager back on another port, but not again and again.
func TestNewNodesInAnHour(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.NodesPer = 3 })
	port := int32(1)
	comes := func() string {
		defer w.step(&UnregisterNode{Call: w.next(), Node: ids.Node{Host: "h", Port: port}})
		return w.from("10.0.0.1", "h", port)
	}
	for ; port <= freeReturns+6; port++ {
		if why := comes(); why != "" {
			t.Fatal(port, why)
		}
	}
	if why := comes(); !strings.Contains(why, "limits.nodes_per_address") {
		t.Errorf("%q", why)
	}
	w.sleep(newNodesTime)
	if why := comes(); why != "" {
		t.Error(why)
	}
	w.check()
}

// However one address invents NodeManagers, it leaves no more behind in an hour than its allowed new ones and returns.
func TestMadeUpNodes(t *testing.T) {
	const most, tries = 20, 25_000
	for name, next := range map[string]func(i int) (host string, port int32){
		"hosts":                    func(i int) (string, int32) { return fmt.Sprintf("h%d", i), 1 },
		"ports":                    func(i int) (string, int32) { return "h", int32(i + 1) },
		"ports of hosts in turn":   func(i int) (string, int32) { return fmt.Sprintf("h%d", i%most), int32(i/most + 1) },
		"ports of one after other": func(i int) (string, int32) { return fmt.Sprintf("h%d", i/100), int32(i%100 + 1) },
	} {
		for _, leaves := range []bool{false, true} {
			w := newWorld(t, "capacity", func(o *Options) { o.Config.NodesPer = most })
			for i := range tries {
				host, port := next(i)
				id := ids.Node{Host: host, Port: port}
				w.now = w.now.Plus(heddle.Millisecond)
				w.m.Step(w.now, &RegisterNode{Call: w.next(), Node: id, Names: []string{host}, From: "10.0.0.1", Total: heddle.Of(8192, 8000)})
				if leaves {
					w.m.Step(w.now, &UnregisterNode{Call: w.next(), Node: id})
				}
			}
			if n := len(w.m.nodes); n > (2+freeReturns)*most {
				t.Errorf("%s, which leave: %v: %d nodes were made", name, leaves, n)
			}
			if n := w.m.quarters["10.0.0.1"].nodes; n > 2*most {
				t.Errorf("%s, which leave: %v: %d nodes are known", name, leaves, n)
			}
			w.check()
		}
	}
}

// NodeManagers on the include list are known.
func TestListedNodes(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) {
		o.Config.NodesPer = 1
		o.Lists.Include = map[string]bool{"a": true, "b": true}
	})
	if why := w.from("10.0.0.1", "a", 1) + w.from("10.0.0.1", "b", 1); why != "" {
		t.Error(why)
	}
}

// submitBytes submits an application of a user with so many bytes.
func (w *world) submitBytes(user string, bytes int) (ids.App, error) {
	w.Helper()
	s := submission(w.idFor(user), "SPARK")
	s.Context = make([]byte, bytes)
	_, err := answered[any](w, w.submitAs(user, s, "root.default"))
	return s.ID, err
}

// refusedFor fails unless an error refuses something and names what for.
func refusedFor(t *testing.T, err error, what string) {
	t.Helper()
	if bad := (*Invalid)(nil); !errors.As(err, &bad) || bad.Class != classYarn || !strings.Contains(err.Error(), what) {
		t.Errorf("%v, wanted a refusal that names %s", err, what)
	}
}

// The submissions of all users have at most so many bytes, whatever their users' names. Completed ones make room, and a
// restart recounts them.
func TestStoredInAll(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.Stored = 1000 })
	first, err := w.submitBytes("ann", 600)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err = w.submitBytes("bob", 401)
		refusedFor(t, err, "memory.stored")
		w.restart(heddle.Second)
	}
	if _, err = w.submitBytes("bob", 400); err != nil {
		t.Error(err)
	}
	w.done(w.kill(first))
	if _, err = w.submitBytes("eve", 600); err != nil {
		t.Errorf("one is over: %v", err)
	}
}

// What is kept of a submission after the application's end is bounded by itself, because no limit counts it then.
func TestWhatStays(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	for key, change := range map[string]func(*Submission){
		"access lists": func(s *Submission) { s.Access = make([]Access, maxLists+1) },
		"lifetimes":    func(s *Submission) { s.Lifetimes = make([]int64, maxLists+1) },
		"beside":       func(s *Submission) { s.Rest = make([]byte, maxRest+1) },
	} {
		s := submission(w.newID(), "SPARK")
		change(&s)
		_, err := answered[any](w, w.submitAs("ann", s, "root.default"))
		refusedFor(t, err, key)
	}
	s := submission(w.newID(), "SPARK")
	s.Access, s.Lifetimes, s.Rest = make([]Access, maxLists), slices.Repeat([]int64{60}, maxLists), make([]byte, maxRest)
	if _, err := answered[any](w, w.submitAs("ann", s, "root.default")); err != nil {
		t.Error(err)
	}
}

// What a submission may say, and what is refused or cut in one that says more, as in docs/protocols.md.
func TestBoundsOfSubmissions(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.MaxTags, o.Config.MaxTagLength = 12, 200 })
	for why, change := range map[string]func(*Submission){
		"unmanaged":               func(s *Submission) { s.Unmanaged = true },
		"only 12 are allowed":     func(s *Submission) { s.Tags = make([]string, 13) },
		"at most 200":             func(s *Submission) { s.Tags = []string{strings.Repeat("x", 201)} },
		"ASCII":                   func(s *Submission) { s.Tags = []string{"ä"} },
		"value=0":                 func(s *Submission) { s.Lifetimes = []int64{60, 0} },
		"value=-1":                func(s *Submission) { s.Lifetimes = []int64{-1} },
		"log aggregation context": func(s *Submission) { s.LogContext = make([]byte, maxLogContext+1) },
		"at most 4194304":         func(s *Submission) { s.Context = make([]byte, MaxContext+1) },
	} {
		s := submission(w.newID(), "SPARK")
		change(&s)
		_, err := answered[any](w, w.submitAs("ann", s, "root.default"))
		refusedFor(t, err, why)
	}
	s := submission(w.newID(), strings.Repeat("T", maxTypeLength+1))
	s.Name, s.Tags = strings.Repeat("n", MaxName+1), append(make([]string, 11), strings.Repeat("x", 200))
	s.LogContext, s.Context = make([]byte, maxLogContext), make([]byte, MaxContext)
	w.done(w.submitAs("ann", s, "root.default"))
	if p := w.app(s.ID); p.Type != strings.Repeat("T", 20) || p.Name != strings.Repeat("n", 1024) {
		t.Errorf("a type of %d bytes, %s, and a name of %d", len(p.Type), p.Type, len(p.Name))
	}
}

// A user may have so many unfinished applications, and so many bytes of submissions; other users have their own.
func TestSharesOfUsers(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.AppsPer, o.Config.StoredPer = 2, 1000 })
	first, err := w.submitBytes("ann", 600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.submitBytes("ann", 401)
	refusedFor(t, err, "limits.stored_per_user")
	if _, err = w.submitBytes("ann", 400); err != nil {
		t.Fatal(err)
	}
	_, err = w.submitBytes("ann", 0)
	refusedFor(t, err, "limits.applications_per_user")
	if _, err = w.submitBytes("bob", 1000); err != nil {
		t.Errorf("another user: %v", err)
	}
	w.restart(heddle.Second)
	_, err = w.submitBytes("ann", 0)
	refusedFor(t, err, "limits.applications_per_user")
	w.done(w.kill(first))
	if _, err = w.submitBytes("ann", 0); err != nil {
		t.Errorf("one is over: %v", err)
	}
	w.check()
}
