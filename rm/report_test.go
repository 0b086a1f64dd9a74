package rm

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/yarn/ids"
)

// The reports of applications, explanations and queues can be read back, in the same words, and empty lists stay lists.
func TestReportsInJSON(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	n := w.node("n1", 1024, 4)
	first := w.submit("MAPREDUCE")
	n.beat()
	second := w.submit("MAPREDUCE")
	n.beat()
	r := w.m.Reports()
	app, _ := r.App(first)
	waits, _ := r.App(second)
	why, _ := r.Why(second)
	if !app.Live || len(why.Pending) == 0 {
		t.Fatalf("%+v runs, and %+v waits", app, why)
	}
	queues := Queues{w.m.View().Queues()}
	leaf := &queues.List[slices.IndexFunc(queues.List, func(q QueueReport) bool { return q.Leaf })]
	if leaf.ParentPath != "root" || leaf.UsedShare <= 0 || leaf.UsedOfOwn != leaf.UsedShare/leaf.Absolute || queues.List[0].ParentPath != "" {
		t.Errorf("%+v", leaf)
	}
	for _, v := range []any{&app, &waits, &why, &queues} {
		text, err := json.Marshal(v)
		if err != nil || strings.Contains(string(text), "null") {
			t.Fatalf("%s, %v", text, err)
		}
		back := reflect.New(reflect.TypeOf(v).Elem()).Interface()
		if err := json.Unmarshal(text, back); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(back); string(again) != string(text) {
			t.Errorf("%s\nreads as\n%s", text, again)
		}
	}
	a, _ := r.At(w.m.now.Plus(2 * heddle.Second)).App(first)
	if a.Elapsed != app.Elapsed+2000 || a.MemorySeconds <= app.MemorySeconds {
		t.Errorf("two seconds later %d ms and %d MiB·s have passed; before, %d and %d", a.Elapsed, a.MemorySeconds, app.Elapsed, app.MemorySeconds)
	}
}

func TestLogsURL(t *testing.T) {
	c := ids.Container{Attempt: ids.Attempt{App: ids.App{Cluster: 1, Seq: 2}, N: 1}, ID: 3}
	n := ids.Node{Host: "h", Port: 8041}
	const id = "container_1_0002_01_000003"
	for _, x := range []struct {
		server, http string
		n            ids.Node
		c            ids.Container
		want         string
	}{
		{"", "h:8042", n, c, "http://h:8042/node/containerlogs/" + id + "/ann"},
		{"http://l", "h:8042", n, c, "http://l/h:8041/" + id + "/" + id + "/ann"},
		{"http://l", "h:8042", ids.Node{}, c, "http://h:8042/node/containerlogs/" + id + "/ann"},
		{"", "", n, c, ""},
		{"http://l", "h:8042", n, ids.Container{}, ""},
	} {
		if got := LogsURL(x.server, x.http, x.n, x.c, "ann"); got != x.want {
			t.Errorf("%+v: %s", x, got)
		}
	}
}

// The containers of an attempt, from whatever start, are listed in pieces as they would be at once. If the store went
// back in time, that start may be a later one.
func TestContainersInPieces(t *testing.T) {
	for _, back := range []int64{0, 2} {
		w := newWorld(t, "capacity", func(o *Options) { o.Epoch = 2 })
		id, m, home, _ := w.job("MAPREDUCE")
		big := w.node("big", 1<<20, 2000)
		var list []ContainerNews
		for len(list) < 150 {
			for _, g := range m.ask(row(20, "*", 1024, 150)).Granted {
				if g.Node == big.id {
					list = append(list, found(g.ID, 20))
					big.run(g.ID)
				}
			}
			big.beat()
		}
		master := w.app(id).Master
		w.with.Epoch -= back
		w.restart(heddle.Second)
		big.register(1<<20, 2000, list...)
		home.register(8192, 8, found(master, 0))
		m.register()
		w.pass(w.m.cfg.SchedulingWait, m, home, big)
		for n := 0; n < 150; {
			n += len(m.ask(row(20, "*", 1024, 150)).Granted)
			big.beat()
		}
		wantInPieces(t, w, m.who.Attempt)
	}
}

// wantInPieces checks that an attempt's containers are the same however many are asked for at a time.
func wantInPieces(t *testing.T, w *world, id ids.Attempt) {
	t.Helper()
	whole, err := w.m.Reports().Containers(id, 0, math.MaxInt)
	if err != nil || len(whole) < 301 || !slices.IsSortedFunc(whole, func(a, b ContainerReport) int { return cmp.Compare(a.ID.ID, b.ID.ID) }) {
		t.Fatalf("%d containers, %v", len(whole), err)
	}
	other := slices.IndexFunc(whole, func(p ContainerReport) bool { return p.ID.ID>>ids.EpochShift != whole[0].ID.ID>>ids.EpochShift })
	if other < 150 || len(whole)-other < 150 {
		t.Fatalf("%d of %d are of the same start", other, len(whole))
	}
	for _, most := range []int{1, 7, 150, 151, 152, 256, len(whole), len(whole) + 1} {
		var all []ContainerReport
		for above := int64(0); len(all) <= len(whole); {
			part, err := w.m.Reports().Containers(id, above, most)
			if err != nil || len(part) > most {
				t.Fatalf("%d of at most %d, %v", len(part), most, err)
			}
			if all = append(all, part...); len(part) < most {
				break
			}
			above = part[most-1].ID.ID
		}
		if !reflect.DeepEqual(whole, all) {
			t.Errorf("in pieces of %d there are %d, and others than the %d at once", most, len(all), len(whole))
		}
	}
}

// A parent queue without children lets in no application, rather than those of all queues.
func TestLeaves(t *testing.T) {
	queues := []QueueReport{
		{QueueInfo: QueueInfo{Path: "root"}},
		{QueueInfo: QueueInfo{Path: "root.users"}},
		{QueueInfo: QueueInfo{Path: "root.prod"}},
		{QueueInfo: QueueInfo{Path: "root.prod.etl", Leaf: true}},
		{QueueInfo: QueueInfo{Path: "root.prods", Leaf: true}},
	}
	for name, want := range map[string][]string{
		"root": {"root.prod.etl", "root.prods"}, "users": {"root.users"}, "prod": {"root.prod.etl"}, "etl": {"root.prod.etl"},
	} {
		if got := Leaves(queues, FindQueue(queues, name)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
