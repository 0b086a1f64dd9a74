package rm

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"heddle"
	"heddle/policy"
)

// A view costs what has changed since the last one, and does not change itself.
func TestPublish(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	n := w.node("n1", 1<<20, 100)
	for range 300 {
		w.submit("MAPREDUCE")
	}
	n.beat()
	all := &AppFilter{}
	first := w.m.View()
	list := appsOf(first, all, first.At())
	if len(list) != 300 || w.m.Changed() {
		t.Fatalf("%d applications, changed %v", len(list), w.m.Changed())
	}
	w.done(w.kill(list[7].ID))
	if !w.m.Changed() {
		t.Fatal("nothing has changed")
	}
	pieces := 1
	v := w.m.Publish(1)
	for ; v == nil; v = w.m.Publish(1) {
		pieces++
	}
	if pieces > 4 { // the application, its node, and the end
		t.Errorf("a view after one change takes %d pieces", pieces)
	}
	if a, err := v.App(list[7].ID, v.At()); err != nil || a.State != AppKilled {
		t.Errorf("%+v, %v", a, err)
	}
	if a, _ := first.App(list[7].ID, first.At()); a.State == AppKilled {
		t.Error("the view before has changed")
	}
	shared := 0
	for i := range v.apps.pages {
		shared += one(&v.apps.pages[i][0] == &first.apps.pages[i][0])
	}
	if want := len(v.apps.pages) - 1; shared != want || want < 2 {
		t.Errorf("%d of %d pages are shared", shared, want+1)
	}
}

// Things may change while a view is being made: it shows everything that had happened when it was begun, and the next
// one the rest.
func TestPublishMeanwhile(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	w.node("n1", 1<<20, 100)
	a, b := w.submit("MAPREDUCE"), w.submit("MAPREDUCE")
	w.m.View()
	w.done(w.kill(a))
	if w.m.Publish(0) != nil {
		t.Fatal("a view was made in no time")
	}
	w.done(w.kill(b))
	v := w.m.Publish(1000)
	if p, _ := v.App(a, v.At()); p.State != AppKilled || !w.m.Changed() {
		t.Errorf("%s is %s, changed %v", a, p.State, w.m.Changed())
	}
	v = w.m.Publish(1000)
	if p, _ := v.App(b, v.At()); p.State != AppKilled || w.m.Changed() {
		t.Errorf("%s is %s, changed %v", b, p.State, w.m.Changed())
	}
}

// If nobody looks while applications come and go, what is kept for the next view is bounded by what exists.
func TestStaleIsBounded(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.MaxCompleted = 10 })
	n := w.node("n1", 1<<20, 100)
	for range 2000 {
		w.done(w.kill(w.submit("MAPREDUCE")))
		n.beat()
	}
	if got := len(w.m.shown.staleApps); got > 3*pageSize {
		t.Errorf("%d applications are kept for a view, of which %d are there", got, len(w.m.byApp))
	}
	v := w.m.View()
	if got := appsOf(v, &AppFilter{}, v.At()); len(got) != len(w.m.byApp) {
		t.Errorf("%d applications are shown, and %d are there", len(got), len(w.m.byApp))
	}
}

// A list can be read in parts, newest first, and stops when it has enough.
func TestAppsInParts(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	w.node("n1", 1<<20, 100)
	for range 10 {
		w.submit("MAPREDUCE")
	}
	v := w.m.View()
	looked := 0
	f := &AppFilter{Limit: 4, Sees: func(a *AppReport) bool { looked++; return a.ID.Seq%2 == 0 }}
	var got []int32
	for {
		part := appsOf(v, f, v.At())
		for i := range slices.Backward(part) {
			got = append(got, part[i].ID.Seq)
		}
		if len(part) < f.Limit {
			break
		}
		f.Before = part[0].ID
	}
	if want := []int32{10, 8, 6, 4, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if looked != 10 {
		t.Errorf("%d applications were looked at, of 10", looked)
	}
	if n := v.Count(&AppFilter{Before: f.Before}); n[AppAccepted] != 3 {
		t.Errorf("before the fourth there are %v", n)
	}
}

// A time may equal a bound, and an end of 0 is one: applications that are not over finished at 0.
func TestAppsBetweenTimes(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	w.node("n1", 1<<20, 100)
	over, live := w.submit("SPARK"), w.submit("SPARK")
	w.done(w.kill(over))
	began := w.app(live).Started
	for _, tt := range []struct {
		f    AppFilter
		want []int32
	}{
		{AppFilter{}, []int32{over.Seq, live.Seq}},
		{AppFilter{FinishedTo: new(int64(0))}, []int32{live.Seq}},
		{AppFilter{FinishedFrom: 1}, []int32{over.Seq}},
		{AppFilter{StartedTo: new(int64(0))}, nil},
		{AppFilter{StartedFrom: began, StartedTo: &began}, []int32{over.Seq, live.Seq}},
		{AppFilter{StartedFrom: began + 1}, nil},
	} {
		var got []int32
		for _, a := range appsOf(w.m.View(), &tt.f, w.now) {
			got = append(got, a.ID.Seq)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.f, got, tt.want)
		}
	}
}

// A list calls pause before each of its items, and ends with its error.
func TestListsPause(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	for i := range 10 {
		w.node(fmt.Sprint("n", i), 1<<20, 100)
		w.submit("MAPREDUCE")
	}
	v, enough := w.m.View(), errors.New("enough")
	for name, list := range map[string]func(func(int) error) (int, error){
		"applications": func(pause func(int) error) (int, error) {
			l, err := v.Apps(&AppFilter{Limit: 8}, v.At(), pause)
			return len(l), err
		},
		"nodes": func(pause func(int) error) (int, error) { l, err := v.Nodes(pause); return len(l), err },
	} {
		var got []int
		n, err := list(func(i int) error { got = append(got, i); return nil })
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}[:n]; err != nil || n < 8 || !slices.Equal(got, want) {
			t.Errorf("%s: %d with pauses at %v, %v", name, n, got, err)
		}
		last := 0
		if _, err := list(func(i int) error { last = i; return map[bool]error{true: enough}[i == 3] }); !errors.Is(err, enough) || last != 3 {
			t.Errorf("%s: it ends at %d with %v", name, last, err)
		}
	}
}

func noPause(int) error { return nil }

// appsOf and nodesOf are the lists of a view, without pauses, which cannot fail.
func appsOf(v *View, f *AppFilter, at heddle.Time) []AppReport {
	list, _ := v.Apps(f, at, noPause)
	return list
}

func nodesOf(v *View) []NodeReport {
	list, _ := v.Nodes(noPause)
	return list
}

// Values that grow with time do so in a view, by the requested time.
func TestViewGrows(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, _, other := w.job("MAPREDUCE")
	other.task(m)
	v := w.m.View()
	later := v.At().Plus(10 * heddle.Second)
	now, _ := v.App(id, v.At())
	then, _ := v.App(id, later)
	w.now = later
	w.step(Tick{})
	is, _ := w.m.Reports().App(id)
	if then.MemorySeconds != is.MemorySeconds || then.VcoreSeconds != is.VcoreSeconds || then.Elapsed != is.Elapsed {
		t.Errorf("%+v\nwant %+v", then, is)
	}
	if grown := then.MemorySeconds - now.MemorySeconds; grown != 10*(1024+2048) || then.Elapsed != now.Elapsed+10_000 {
		t.Errorf("%d MiB·s in 10 s", grown)
	}
}

// An application's share of the cluster and of its queue depends on the resource calculator, as for queues.
func TestShareByCalculator(t *testing.T) {
	for _, memoryOnly := range []bool{false, true} {
		w := newWorld(t, "capacity", func(o *Options) { o.Scheduler.Set.MemoryOnly = memoryOnly })
		home := w.node("n1", 16384, 4)
		id := w.submit("SPARK")
		home.beat()
		v := w.m.View()
		want := float32(25) // one of four vcores
		if memoryOnly {
			want = 6.25
		}
		if a, err := v.App(id, v.At()); err != nil || a.ClusterShare != want || a.QueueShare != want {
			t.Errorf("memory alone %v: %v %% of the cluster and %v %% of the queue, want %v; %v", memoryOnly, a.ClusterShare, a.QueueShare, want, err)
		}
		if q := v.Queues()[1]; float32(100*q.UsedShare) != want {
			t.Errorf("memory alone %v: the queue has %v, want %v %%", memoryOnly, q.UsedShare, want)
		}
	}
}

// Applications that ask for containers are counted as what YARN calls active: just running is not enough.
func TestAskingIsCounted(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	_, m, _, _ := w.job("SPARK")
	counts := func(what string, apps, users int) {
		t.Helper()
		for _, q := range w.m.View().Queues() {
			if q.Asking != apps || q.AskingUsers != users || q.Leaf && q.Users[0].Asking != apps {
				t.Errorf("%s: in %s %d applications of %d users ask, want %d of %d (%+v)", what, q.Path, q.Asking, q.AskingUsers, apps, users, q.Users)
			}
		}
	}
	counts("a master runs", 0, 0)
	m.ask(row(20, "*", 2048, 1<<20))
	counts("it asks for more than there is", 1, 1)
	w.submit("SPARK")
	counts("another one waits for its master", 2, 1)
}

// fillsAll lets everybody in beside reservations.
type fillsAll struct{ policy.Book }

func (fillsAll) Until(policy.View, *policy.Container) (heddle.Time, bool) { return never, true }
func (fillsAll) Fill(policy.View, *policy.Ask, heddle.Time) bool          { return true }

// An application's reservation is shown as it counts, while others run beside it and afterwards.
func TestShownBesideReservation(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) {
		set := &o.Scheduler.Set
		set.Book, set.Gate[heddle.AM] = fillsAll{set.Book}, nil
	})
	id, m, _, other := w.job("MAPREDUCE")
	other.task(m)
	m.ask(row(10, "*", 3072, 1))
	other.beat()
	reserved := func() int64 {
		a, err := w.m.View().App(id, w.now)
		if err != nil {
			t.Fatal(err)
		}
		return a.Reserved.MemoryMiB
	}
	alone := reserved()
	beside := w.submit("MAPREDUCE")
	other.beat()
	if w.app(beside).Master.IsZero() {
		t.Fatal("nobody was let in")
	}
	if got := reserved(); alone != 3072 || got != 2048 {
		t.Errorf("reserves %d, and %d beside another", alone, got)
	}
	w.done(w.kill(beside))
	if got := reserved(); got != alone {
		t.Errorf("reserves %d after that one has ended", got)
	}
}

// A masterSize gives every master this size, and changes the size of waiting ones.
type masterSize struct {
	to      heddle.Resource
	changed []heddle.AppID
}

func (s *masterSize) Size(policy.View, *policy.App, heddle.Kind, heddle.Resource) heddle.Resource {
	return s.to
}

func (s *masterSize) Woken(_ policy.View, ids []heddle.AppID) []heddle.AppID {
	ids = append(ids, s.changed...)
	s.changed = nil
	return ids
}

// A waiting master is shown with the size that a policy gives it meanwhile.
func TestViewOfResizedMaster(t *testing.T) {
	s := &masterSize{to: heddle.Of(2048, 1000)}
	w := newWorld(t, "capacity", func(o *Options) { o.Scheduler.Set.Size[heddle.AM] = s })
	id := w.submit("MAPREDUCE")
	before, _ := w.m.View().App(id, w.now)
	s.to, s.changed = heddle.Of(1024, 1000), []heddle.AppID{0}
	w.submit("MAPREDUCE")
	v := w.m.View()
	after, _ := v.App(id, w.now)
	if before.Pending.MemoryMiB != 2048 || after.Pending.MemoryMiB != 1024 {
		t.Errorf("pending is shown as %+v, and then as %+v", before.Pending, after.Pending)
	}
}

// Reloaded host lists change the view only by the nodes to which they make a difference.
func TestPublishAfterRefresh(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	w.node("n1", 8192, 8)
	w.node("n2", 8192, 8)
	for w.m.Publish(1000) == nil {
	}
	w.step(&RefreshNodes{Call: w.next()})
	if w.m.Changed() {
		t.Error("the same lists, and the view changes")
	}
	w.step(&RefreshNodes{Call: w.next(), Lists: HostLists{Exclude: map[string]bool{"n2": true}}})
	if !w.m.Changed() {
		t.Error("a node is excluded, and the view does not change")
	}
}

// A host that leaves gracefully has the timeout that its list has for it.
func TestTimeoutOfAHost(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	_, m, home, other := w.job("MAPREDUCE")
	third := w.node("n3", 2048, 4)
	other.task(m)
	lists := HostLists{Exclude: map[string]bool{"n2": true}, Timeouts: map[string]heddle.Span{"n2": 10 * heddle.Second, "n3": 0}}
	w.step(&RefreshNodes{Call: w.next(), Graceful: true, Timeout: heddle.Hour, Lists: lists})
	for _, want := range []string{"DECOMMISSIONING", "DECOMMISSIONED"} {
		w.pass(8*heddle.Second, m, home, third)
		if got := w.nodeStates(); got["n2"] != want || got["n3"] != "RUNNING" {
			t.Errorf("nodes are %v, want n2 %s", got, want)
		}
	}
}

// Capacities given as amounts depend on the cluster: on its size, and on what it has for all of them together.
func TestAmountsAreSized(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) {
		q := &o.Scheduler.Queues[1]
		q.Capacity, q.Absolute, q.MinShare, q.MaxShare = 0, 0, heddle.Of(8192, 2000), heddle.Of(24576, 64000)
		q.Amounts, q.MaxApps, q.AppsOfAll = true, -1, 10000
	})
	queue := func() QueueReport { return w.m.View().Queues()[1] }
	same := func(name string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	same("a capacity without nodes", queue().Absolute, Fraction(0))
	n := w.node("n1", 4096, 1)
	same("what is guaranteed in a cluster that is too small", queue().Least, heddle.Of(4096, 1000))
	same("its part", queue().Absolute, Fraction(1))
	w.node("n2", 28672, 15)
	n.beat()
	q := queue()
	same("the capacity", q.Capacity, Fraction(0.25))
	same("the part of the cluster", q.Absolute, Fraction(0.25))
	same("the maximum", q.AbsoluteMax, Fraction(1))
	same("what is guaranteed", q.Guaranteed(w.m.View().Cluster().Total), heddle.Of(8192, 2000))
	same("what it may have at most", q.Ceiling(w.m.View().Cluster().Total), heddle.Of(24576, 16000))
	same("how many applications it takes", q.MaxApps, 2500)
	id := w.submit("MAPREDUCE")
	n.beat()
	a := w.app(id)
	same("an application's part of it", a.QueueShare, 4*a.ClusterShare)
	if a.ClusterShare == 0 || queue().UsedOfOwn != 4*queue().UsedShare {
		t.Errorf("%v of the cluster, %v of the queue", a.ClusterShare, queue().UsedOfOwn)
	}
}

// A decommissioning node has only what runs there: meanwhile others use the rest of the cluster.
func TestWhatADrainedNodeHolds(t *testing.T) {
	for _, profile := range []string{"capacity", "fair", "heddle"} {
		w := newWorld(t, profile, nil)
		_, m, _, other := w.job("MAPREDUCE")
		task, _ := other.task(m), other.task(m)
		spare := w.node("n3", 3072, 4)
		spare.beat()
		w.step(&RefreshNodes{Call: w.next(), Graceful: true, Timeout: -1, Lists: HostLists{Exclude: map[string]bool{"n2": true}}})
		c := w.m.View().Cluster()
		if c.Total[heddle.Memory] != 2048+4096+3072 || c.Used[heddle.Memory] != 1024+4096 {
			t.Errorf("%s: %v of %v used", profile, c.Used, c.Total)
		}
		if p := m.ask(); profile == "capacity" && p.Headroom[heddle.Memory] != 4096 { // the others report less
			t.Errorf("%s: %v is to be had", profile, p.Headroom)
		}
		n := len(m.ask(row(20, "*", 1024, 3)).Granted)
		spare.beat()
		n += len(m.ask().Granted)
		if n != 3 {
			t.Errorf("%s: %d containers start beside the node that goes, want 3", profile, n)
		}
		again := w.next()
		w.step(&Refresh{Call: again, Scheduler: w.m.Scheduler()})
		w.done(again)
		if c := w.m.View().Cluster(); c.Total[heddle.Memory] != 2048+4096+3072 {
			t.Errorf("%s: another core has %v", profile, c.Total)
		}
		other.exit(task, 0)
		other.beat()
		if c := w.m.View().Cluster(); c.Total[heddle.Memory] != 2048+2048+3072 {
			t.Errorf("%s: %v are left when one of two tasks has ended there", profile, c.Total)
		}
		if got := m.ask(row(20, "*", 2048, 1)).Granted; len(got) > 0 {
			t.Errorf("%s: the node that goes is given %v", profile, got)
		}
		w.step(&RefreshNodes{Call: w.next()})
		other.beat()
		if got := m.ask().Granted; len(got) != 1 || got[0].Node != other.id {
			t.Errorf("%s: the node that stays after all is given %v", profile, got)
		}
	}
}

// Links to masters' pages lead to the proxy: that of the pages here, or another one.
func TestTrackingURL(t *testing.T) {
	for proxy, want := range map[string]string{"": "http://rm7:8088/proxy/", "proxy:9099": "http://proxy:9099/proxy/"} {
		w := newWorld(t, "capacity", func(o *Options) { o.Config.WebHost, o.Config.WebProxy = "rm7:8088", proxy })
		s := submission(w.newID(), "SPARK")
		w.done(w.submitAs("ann", s, "root.default"))
		if got := w.app(s.ID).TrackingURL; got != want+s.ID.String()+"/" {
			t.Errorf("with %q: %s", proxy, got)
		}
	}
}

// A master's own pages end with it: an application whose master unregisters without saying where to look is shown only
// here.
func TestPagesEndWithTheirMaster(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, home, _ := w.job("MAPREDUCE")
	if got := w.app(id).OriginalURL; got != "http://n1:7001" {
		t.Errorf("while its master runs: %q", got)
	}
	m.finish(home)
	if p := w.app(id); p.OriginalURL != "" || p.Attempts[0].OriginalURL != "" {
		t.Errorf("after its end: %q, and of its attempt %q", p.OriginalURL, p.Attempts[0].OriginalURL)
	}
}
