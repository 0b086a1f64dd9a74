package rm

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// A kill that came while the submission was being stored is answered when the kill itself is stored.
func TestKillWhileStored(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	w.slow = true
	id := w.newID()
	submitted := w.submitAs("ann", submission(id, "SPARK"), "")
	killed := w.kill(id)
	if len(w.unkept) != 1 || w.heard[submitted] != nil || w.heard[killed] != nil {
		t.Fatalf("%d are to be stored, and told are %v, %v", len(w.unkept), w.heard[submitted], w.heard[killed])
	}
	first := w.unkept[0].Seq
	w.unkept = nil
	w.step(Stored{first})
	w.done(submitted)
	if w.heard[killed] != nil {
		t.Error("the kill is told together with the submission")
	}
	w.keep()
	w.done(killed)
	if p := w.app(id); p.State != AppKilled {
		t.Errorf("it is %s", p.State)
	}
}

// The number of applications submitted to a queue only grows, for those who watch its growth: an application moved to
// another queue does not count as submitted there.
func TestSubmittedOnlyGrows(t *testing.T) {
	w := newWorld(t, "fair", func(o *Options) { o.Scheduler = testScheduler(t, "fair", "root.b") })
	first, second := w.submit("SPARK"), w.submit("SPARK")
	counts := func(what string, inDefault, inB, ended int) {
		t.Helper()
		for _, q := range w.m.View().Queues() {
			want := map[string]int{"root": inDefault + inB, "root.default": inDefault, "root.b": inB}[q.Path]
			if q.Submitted != want {
				t.Errorf("%s: %d were submitted to %s, want %d", what, q.Submitted, q.Path, want)
			}
			if got := q.Completed + q.Killed + q.Failed; q.Path != "root.default" && got != ended {
				t.Errorf("%s: %d ended in %s, want %d", what, got, q.Path, ended)
			}
		}
	}
	counts("before", 2, 0, 0)
	moves := w.next()
	w.step(&MoveApp{Call: moves, Who: Person{User: "ann"}, App: first, Queue: "root.b"})
	w.done(moves)
	counts("moved", 2, 0, 0)
	w.done(w.kill(first))
	counts("ended", 2, 0, 1)
	if w.app(second).Queue != "root.default" {
		t.Error("the other one has moved")
	}
}

// A change of a live application is shown when it is stored, and not before: a restart in between would take back what
// somebody has seen.
func TestChangesAreShownWhenStored(t *testing.T) {
	w := newWorld(t, "fair", func(o *Options) { o.Scheduler = testScheduler(t, "fair", "root.b") })
	id := w.newID()
	w.done(w.submitAs("ann", submission(id, "SPARK"), ""))
	w.slow = true
	set := func(priority int32) Call {
		c := w.next()
		w.step(&SetPriority{Call: c, Who: Person{User: "ann"}, App: id, Priority: priority})
		return c
	}
	lives := w.next()
	w.step(&SetLifetime{Call: lives, Who: Person{User: "ann"}, App: id, Until: clusterBegan + 3_600_000})
	first, second, moves := set(3), set(5), w.next()
	w.step(&MoveApp{Call: moves, Who: Person{User: "ann"}, App: id, Queue: "root.b"})
	shows := func(queue string, priority int32, lifetime int64) {
		t.Helper()
		p := w.app(id)
		if p.Queue != queue || p.Priority != priority || p.Lifetime != lifetime {
			t.Errorf("priority %d in %s until %d, want %d in %s until %d", p.Priority, p.Queue, p.Lifetime, priority, queue, lifetime)
		}
		if of := appsOf(w.m.View(), &AppFilter{Queues: []string{queue}}, w.now); len(of) != 1 {
			t.Errorf("%d applications are found in %s", len(of), queue)
		}
		if of := appsOf(w.m.View(), &AppFilter{Queues: []string{queue[len("root."):]}}, w.now); len(of) != 0 {
			t.Errorf("%d applications are found by the end of the path of %s, which queues below others may have too", len(of), queue)
		}
	}
	const hour = clusterBegan + 3_600_000
	shows("root.default", 0, 0)
	stored := w.unkept
	w.unkept = nil
	for i, next := range []struct {
		call Call
		show func()
	}{
		{lives, func() { shows("root.default", 0, hour) }},
		{first, func() { shows("root.default", 3, hour) }},
		{second, func() { shows("root.default", 5, hour) }},
		{moves, func() { shows("root.b", 5, hour) }},
	} {
		if w.heard[next.call] != nil {
			t.Errorf("change %d is answered before it is stored", i)
		}
		w.step(Stored{stored[i].Seq})
		w.done(next.call)
		next.show()
	}
	if got, err := answered[int32](w, first); got != 3 || err != nil {
		t.Errorf("the first is told %d, %v; want 3", got, err)
	}
}

// A lifetime takes effect once it is stored: what is shown is what happens.
func TestLifetimeCountsWhenStored(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, _, _, _ := w.job("SPARK")
	set := func(seconds int64) {
		t.Helper()
		w.step(&SetLifetime{Call: w.next(), Who: Person{User: "ann"}, App: id, Until: clusterBegan + 1000*seconds})
	}
	set(30)
	w.slow = true
	set(3600)
	w.now = heddle.Time(40 * heddle.Second)
	w.step(Tick{})
	w.keep()
	w.keep()
	if p := w.app(id); p.State != AppKilled {
		t.Errorf("it is %s after 40 s, and was to live for 30 s when it last was stored", p.State)
	}
}

// What is written about an application while its end is being stored, or later, says that it is over.
func TestRecordOfAnEnd(t *testing.T) {
	for _, x := range []struct {
		state, target appState
		want          string
	}{
		{appRunning, 0, ""},
		{appFinalSaving, appFinishing, "FINISHED"},
		{appFinalSaving, appKilled, "KILLED"},
		{appFinishing, appFinishing, "FINISHED"},
		{appFailed, appFailed, "FAILED"},
	} {
		a := &app{state: x.state, target: x.target}
		if got := a.record().State; got != x.want {
			t.Errorf("%s, to be %s: kept as %q, want %q", x.state, x.target, got, x.want)
		}
	}
}

// Lists may name hosts by their addresses.
func TestHostLists(t *testing.T) {
	names := []string{"10.0.0.7", "fd00::7", "n7"}
	local := map[string]bool{"10.0.0.7": true}
	for _, x := range []struct {
		list HostLists
		want bool
	}{
		{HostLists{}, true},
		{HostLists{Include: local}, true},
		{HostLists{Exclude: local}, false},
		{HostLists{Include: map[string]bool{"n7": true}}, true},
		{HostLists{Include: map[string]bool{"elsewhere": true}}, false},
		{HostLists{Exclude: map[string]bool{"elsewhere": true}}, true},
	} {
		if got := x.list.admits(names); got != x.want {
			t.Errorf("%v admits %v: %v", x.list, names, got)
		}
	}
}

// A sick node that registers again without reporting its health is as sick as before.
func TestStillSick(t *testing.T) {
	w := newWorld(t, "fifo", nil)
	n := w.node("n1", 4096, 4)
	w.step(&BeatNode{Call: w.next(), Node: n.id, Last: n.last, Health: Health{Said: true, Sick: true, Report: "its disk is full"}})
	n.register(4096, 4)
	if p := nodesOf(w.m.View())[0]; p.State != "UNHEALTHY" || p.Health != "its disk is full" {
		t.Errorf("it is %s: %s", p.State, p.Health)
	}
	n.beat() // reports that it is healthy
	if p := nodesOf(w.m.View())[0]; p.State != "RUNNING" {
		t.Errorf("it is %s", p.State)
	}
}

// Where most of the numbered things are there, nothing is numbered anew.
func TestNothingToTidy(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	for i := range 20 {
		w.node(fmt.Sprint("n", i), 8192, 8)
	}
	was := w.m.core
	w.m.tidyAt = 0
	w.node("another", 8192, 8)
	if w.m.core != was || w.m.tidyAt != tidyAt+2*21 {
		t.Errorf("there is another core, %v; again at %d", w.m.core != was, w.m.tidyAt)
	}
}

// A scheduler that cannot be rebuilt is not tried again with each message.
func TestTidyFails(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	w.node("n1", 8192, 8)
	tries := 0
	sch := *w.m.sch
	sch.Rebuild = func([]string) (*Scheduler, error) { tries++; return nil, errors.New("no") }
	w.m.sch = &sch
	for i := range 20 {
		w.done(w.kill(w.submit("SPARK")))
		if i == 10 {
			w.m.tidyAt = 0
		}
	}
	if tries != 1 {
		t.Errorf("tried %d times", tries)
	}
}

// Numbers are given anew once most of the numbered things are gone: what exists continues, and the tables stay small.
func TestTidy(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	id, m, home, n := w.job("MAPREDUCE")
	task := n.task(m)
	for i := range 40 {
		w.done(w.kill(w.submit("SPARK")))
		if i == 20 {
			w.m.tidyAt = 0
		}
	}
	if len(w.m.apps) > 21 || w.m.tidyAt < tidyAt {
		t.Errorf("%d numbers were given, again at %d", len(w.m.apps), w.m.tidyAt)
	}
	m.ask(row(20, "*", 1024, 1))
	n.exit(task, 0)
	n.beat()
	if s := m.ask().Completed; len(s) != 1 || s[0].ID != task {
		t.Errorf("completed %v, want %v", s, task)
	}
	if p := w.app(id); p.State != AppRunning || p.Containers != 2 {
		t.Errorf("%s with %d containers", p.State, p.Containers)
	}
	home.beat()
}

// A new core owes a master what the last one did: it grants again what was not fetched, but nothing that was delivered.
func TestOwedByTheNextCore(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, _, n := w.job("MAPREDUCE") // 1 GiB is free on its node, 4 GiB on the other
	rebuild := func() {
		t.Helper()
		c := w.next()
		w.step(&Refresh{Call: c, Scheduler: w.m.Scheduler()})
		w.done(c)
	}
	if got := len(m.ask(row(20, "*", 1024, 3)).Granted); got != 3 {
		t.Fatalf("granted %d, want 3", got)
	}
	rebuild()
	if got := len(m.ask().Granted); got != 0 {
		t.Errorf("%d more than were asked for", got)
	}

	if got := len(m.ask(row(20, "*", 1024, 4)).Granted); got != 2 {
		t.Fatalf("granted %d of 4, want the 2 that fit", got)
	}
	held := w.m.byNode[n.id].conts[0].id()
	n.run(held)
	n.beat()
	n.exit(held, 0)
	n.beat() // has room for one: it is granted, and nobody fetches it
	rebuild()
	p := m.ask()
	if got := len(p.Granted); got != 1 {
		t.Errorf("granted %d after what was not fetched was lost, want 1", got)
	}
	if p.Pending != 1 {
		t.Errorf("%d are still owed, want 1", p.Pending)
	}
	m.ask(row(20, "*", 1024, 1), row(20, "elsewhere", 1024, 1), row(20, "/default-rack", 1024, 1))
	rebuild()
	var rows []string
	for _, k := range w.m.byApp[id].newest().sorted() {
		rows = append(rows, text("%s %d", k.Place, k.Count))
	}
	if want := []string{"* 1", "/default-rack 1", "elsewhere 1"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q: one names a host that may yet come", rows, want)
	}
}

// A new core is told the size of a job as the last one was: of one whose first master waits, and of one whose master runs,
// since it is told too how much of that is done.
func TestSizesForTheNextCore(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	home := w.node("n1", 2<<10, 2)
	facts := heddle.Facts{Name: "sort", Maps: 4, Reduces: 2, InputBytes: 100, Demand: heddle.Demand{Containers: 4, Each: each}, Timeout: 600 * heddle.Second, MasterHeap: 700}
	submit := func() ids.App {
		s := submission(w.newID(), "MAPREDUCE")
		s.Master, s.Facts = heddle.Of(1536, 1000), facts
		w.done(w.submitAs("ann", s, ""))
		return s.ID
	}
	running := submit()
	home.run(w.app(running).Master)
	home.beat()
	w.master(running)
	waiting := submit()
	for ; !w.app(waiting).Master.IsZero(); waiting = submit() {
		home.run(w.app(waiting).Master)
		home.beat()
	}
	c := w.next()
	w.step(&Refresh{Call: c, Scheduler: w.m.Scheduler()})
	w.done(c)
	known := func(id ids.App) heddle.Facts {
		f := *w.m.core.View().App(w.m.byApp[id].aid).Facts()
		f.Last = heddle.LastRun{}
		return f
	}
	if got := known(waiting); !reflect.DeepEqual(got, facts) {
		t.Errorf("of one that waits it is told %+v, want %+v", got, facts)
	}
	if got := known(running); !reflect.DeepEqual(got, facts) {
		t.Errorf("of one that runs it is told %+v, want %+v", got, facts)
	}
}

// What one master makes the machine keep is bounded over all its calls.
func TestTableIsBounded(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	_, m, _, n := w.job("SPARK")
	c := n.task(m)
	var last Call
	for range maxSignals + 1 {
		last = w.next()
		w.step(&SignalContainer{Call: last, Who: Person{User: "ann"}, Container: c, Command: 1})
	}
	if _, err := answered[any](w, last); !isInvalid(err, classYarn) {
		t.Errorf("one signal more than may wait: %v", err)
	}
	if b := n.beat(); len(b.Signals) != maxSignals || b.Signals[0].Container != c {
		t.Errorf("%d signals", len(b.Signals))
	}

	refused := func(q Allocate, class string) {
		t.Helper()
		if _, err := m.try(q); !isInvalid(err, class) {
			t.Errorf("%v, want %s", err, class)
		}
	}
	many := func(name string, count int) []Request {
		rows := make([]Request, count)
		for i := range rows {
			rows[i] = row(1, text("%s%d", name, i), 1024, 1)
		}
		return rows
	}
	m.ask(many("host", maxTableRows/2-10)...)
	m.ask(many("more", maxTableRows/2-10)...)
	m.ask(many("more", maxTableRows/2-10)...) // the same rows once more need no more room
	refused(Allocate{Ask: many("most", 1000)}, classInvalidAsk)
	keys := make([]Request, maxTableKeys+1)
	for i := range keys {
		keys[i] = row(int32(i), "*", 1024, 1)
	}
	refused(Allocate{Ask: keys}, classInvalidAsk)

	var hosts []string
	for i := range maxBlacklisted + 1 {
		hosts = append(hosts, text("host%d", i))
	}
	refused(Allocate{Avoid: hosts}, classInvalidBlacklist)
	if _, err := m.try(Allocate{Avoid: hosts[:10]}); err != nil {
		t.Error(err)
	}
}

// Priorities and allocation ids for which nothing is awaited any more do not count towards what a master may ask for,
// whether or not it withdraws the rows.
func TestServedKeysDoNotCount(t *testing.T) {
	const each = 200
	for name, c := range map[string]struct{ ids, back bool }{
		"priorities": {}, "priorities taken back": {back: true}, "allocation ids": {ids: true}, "allocation ids taken back": {ids: true, back: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "capacity", nil)
			id, m, _, _ := w.job("SPARK")
			w.node("large", each*1024, each)
			for first := int32(1); first <= maxTableKeys+2*each; first += each {
				rows := make([]Request, each)
				for i := range rows {
					if key := first + int32(i); c.ids {
						rows[i] = row(1, "*", 1024, 1)
						rows[i].AllocID = int64(key)
					} else {
						rows[i] = row(key, "*", 1024, 1)
					}
				}
				p, err := m.try(Allocate{Ask: rows})
				if err != nil {
					t.Fatalf("after %d keys that are served: %v", first-1, err)
				}
				if len(p.Granted) != each {
					t.Fatalf("after %d keys %d of %d granted", first-1, len(p.Granted), each)
				}
				q := Allocate{}
				for i := range p.Granted {
					q.Release = append(q.Release, p.Granted[i].ID)
				}
				for i := 0; c.back && i < len(rows); i++ {
					rows[i].Count = 0
					q.Ask = append(q.Ask, rows[i])
				}
				if _, err := m.try(q); err != nil {
					t.Fatal(err)
				}
			}
			if kept := len(w.m.core.View().App(w.m.byApp[id].aid).Asks()); kept > 2*each {
				t.Errorf("the core keeps %d keys", kept)
			}
		})
	}
}

// isInvalid reports whether an error has a Java class.
func isInvalid(err error, class string) bool {
	bad := (*Invalid)(nil)
	return errors.As(err, &bad) && bad.Class == class
}

// The outcomes of applications are counted by existing queues, not by queues that users make up.
func TestCountsAreOfQueues(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id := w.newID()
	w.done(w.submitAs("ann", submission(id, "SPARK"), "root.nowhere"))
	if p := w.app(id); p.State != AppFailed || w.m.View().Cluster().FailedApps != 1 {
		t.Errorf("in a queue that is not there it is %s", p.State)
	}
	if w.m.counts.queues["root.nowhere"] != nil {
		t.Error("queues that users make up are counted for ever")
	}
}

// If the queue's order follows its configuration, the configured order is shown; what has no bound gets the cluster's.
func TestWhyNames(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	w.node("n1", 65536, 8)
	w.submit("MAPREDUCE")
	a, r := w.m.byApp[w.submit("MAPREDUCE")], w.m.Reports()
	w.m.sch.Queues[1].Configured = "fair"
	for order, want := range map[string]string{"order: capacity": "order: capacity (fair)", "order: shortest": "order: shortest", "gate.am: fair": "gate.am: fair"} {
		if got := r.order(a, order); got != want {
			t.Errorf("%s is told as %s", order, got)
		}
	}
	for text, l := range map[string]policy.Limit{
		"Masters of user ann in queue root.default: 1 of at most 2.": {What: "masters", Of: policy.OfUser, Queue: 1, Counted: true, UsedN: 1, MostN: 2},
		"Maps done in the application: 1 of at least 2, set by a = 1, b = 2.": {
			What: "maps done", Of: policy.OfApp, Queue: heddle.NoQueue, Counted: true, Least: true, UsedN: 1, MostN: 2, By: []string{"a = 1", "b = 2"},
		},
		"Containers in the cluster: <memory:0, vCores:0> of at most <memory:65536, vCores:8>.": {What: "containers", Queue: heddle.NoQueue, Most: heddle.Unbounded},
	} {
		if got := r.limit(a, &l).Text(r.yarn); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
	}
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 22: "22nd", 113: "113th", 1001: "1001st"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}

// While the store has no room nothing new is accepted, except kills and ends. This is logged once.
func TestStoreShort(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	running, first := w.submit("SPARK"), w.newID()
	refused := func(c Call) {
		t.Helper()
		bad := (*Invalid)(nil)
		if a := w.heard[c]; a == nil || !errors.As(a.Err, &bad) || bad.Class != classYarn || !strings.Contains(bad.Text, "the disk of /d is full") {
			t.Errorf("answered %+v", a)
		}
	}
	w.step(StoreShort{"the disk of /d is full"})
	w.step(StoreShort{"the disk of /d is full: 1 MiB are free"})
	refused(w.submitAs("ann", submission(first, "SPARK"), ""))
	for _, f := range []func(Call) Message{
		func(c Call) Message {
			return &MoveApp{Call: c, Who: Person{User: "ann"}, App: running, Queue: "default"}
		},
		func(c Call) Message {
			return &SetPriority{Call: c, Who: Person{User: "ann"}, App: running, Priority: 1}
		},
		func(c Call) Message {
			return &SetLifetime{Call: c, Who: Person{User: "ann"}, App: running, Until: w.with.Began + 1e9}
		},
	} {
		c := w.next()
		w.step(f(c))
		refused(c)
	}
	w.done(w.submitAs("ann", submission(running, "SPARK"), "")) // it exists already
	w.done(w.kill(running))
	w.step(StoreShort{})
	w.done(w.submitAs("ann", submission(first, "SPARK"), ""))
	said := 0
	for _, e := range w.rest {
		if l, ok := e.(*Log); ok && strings.Contains(l.Text, "disk space") {
			said++
		}
	}
	if said != 2 {
		t.Errorf("%d lines about the store's room", said)
	}
}

// A master that is done is lost with its node while its application still holds a reservation elsewhere.
func TestLostWithReservation(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	_, m, home, other := w.job("MAPREDUCE")
	other.task(m)
	m.ask(row(10, "*", 3072, 1))
	other.beat()
	if w.m.View().Cluster().Reservations != 1 {
		t.Fatal("nothing is reserved")
	}
	q := &FinishMaster{Call: w.next(), Who: m.who, Final: Succeeded}
	w.step(q)
	w.done(q.Call)
	w.step(&UnregisterNode{Call: w.next(), Node: home.id})
	if got := w.m.View().Cluster(); got.Reservations != 0 {
		t.Errorf("%d reservations", got.Reservations)
	}
}

// An application with only one attempt ends with it, whosever fault that was: its end says how many there were.
func TestOnlyAttempt(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	home := w.node("n1", 2048, 4)
	id := w.newID()
	s := submission(id, "SPARK")
	s.MaxAttempts = 1
	w.done(w.submitAs("ann", s, ""))
	home.run(w.app(id).Master)
	home.beat()
	w.step(&UnregisterNode{Call: w.next(), Node: home.id})
	if p := w.app(id); p.State != AppFailed || !strings.Contains(p.Diagnostics, "failed 1 times") {
		t.Errorf("it is %s: %s", p.State, p.Diagnostics)
	}
}

// An application whose masters keep failing, but not too often to continue, keeps a bounded number of attempts here and
// in the store: those that count, and the last ones.
func TestAttemptsAreBounded(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id := w.newID()
	s := submission(id, "SPARK")
	s.FailureWindow = heddle.Minute
	w.done(w.submitAs("ann", s, ""))
	fail := func() {
		t.Helper()
		c := w.next()
		w.step(&FailAttempt{Call: c, Who: Person{User: "ann"}, Attempt: ids.Attempt{App: id, N: w.app(id).Attempt}})
		w.done(c)
	}
	const failures = mostAttempts + 50
	for range failures {
		w.sleep(2 * heddle.Minute)
		fail()
	}
	kept := w.app(id).Attempts
	if p := w.app(id); p.State != AppAccepted || p.Attempt != failures+1 || len(kept) != mostAttempts || kept[len(kept)-1].ID.N != failures+1 {
		t.Errorf("it is %s in attempt %d, with %d attempts", p.State, p.Attempt, len(kept))
	}
	if len(w.tries) >= mostAttempts {
		t.Errorf("%d attempts are in the store", len(w.tries))
	}
	w.restart(0)
	w.sleep(w.with.Config.SchedulingWait)
	if p := w.app(id); p.Attempt != failures+1 {
		t.Errorf("after a start it is %s in attempt %d, want %d: %s", p.State, p.Attempt, failures+1, p.Diagnostics)
	}
	fail()
	if p := w.app(id); p.State != AppFailed {
		t.Errorf("it is %s after two failures within a minute", p.State)
	}
}
