package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"heddle"
	"heddle/conf"
	"heddle/daemon"
	"heddle/policies/capacity"
	"heddle/policies/fair"
	"heddle/rm"
	"heddle/sched"
)

// capacityTree returns a tree with everything that placement considers; ann's groups are staff and ops.
func capacityTree(t *testing.T) *Daemon {
	t.Helper()
	const p = "yarn.scheduler.capacity."
	var b strings.Builder
	for line := range strings.Lines(`root.queues=default,a,b,shut
		root.default.capacity=10
		root.a.capacity=40
		root.a.queues=x,y
		root.a.x.capacity=50
		root.a.y.capacity=50
		root.b.capacity=40
		root.b.queues=x,z
		root.b.x.capacity=25
		root.b.z.capacity=75
		root.shut.capacity=10
		root.shut.state=STOPPED
		root.a.acl_submit_applications=ann staff
		queue-mappings=g:ops:root.b.z`) {
		b.WriteString(p + strings.TrimSpace(line) + "\n")
	}
	return load(t, Options{ConfDir: folder(t, "capacity", map[string]string{
		"capacity-scheduler.xml": props(b.String()),
		"core-site.xml":          props("hadoop.user.group.static.mapping.overrides=ann=staff,ops;bob="),
	})})
}

func TestCapacityPlace(t *testing.T) {
	s := capacityTree(t).Scheduler
	for _, c := range []struct{ queue, user, want, err string }{
		{"root.a.x", "bob", "root.a.x", ""},
		{"y", "bob", "root.a.y", ""},
		{"default", "bob", "root.default", ""},
		{"default", "ann", "root.b.z", ""},
		{"y", "ann", "root.a.y", ""},
		{"x", "bob", "", "submitted by user bob to ambiguous queue: x: queue x is ambiguous; say root.a.x or root.b.x"},
		{"prod", "bob", "", "submitted by user bob to unknown queue: prod: there is no queue prod"},
		{"a", "bob", "", "submitted by user bob to non-leaf queue: a: "},
		{"shut", "bob", "", "submitted by user bob to queue root.shut: it is STOPPED and cannot accept submission of applications"},
	} {
		got, err := s.Place(rm.Placement{User: c.user, Queue: c.queue})
		if msg := text(err); got != c.want || !strings.HasPrefix(msg, c.err) || (msg == "") != (c.err == "") {
			t.Errorf("%s by %s: %q, %v; want %q, %s", c.queue, c.user, got, err, c.want, c.err)
		}
	}
	if g, err := s.Groups("ann"); cmp.Diff([]string{"staff", "ops"}, g) != "" || err != nil {
		t.Errorf("groups %v, %v", g, err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFairPlace(t *testing.T) {
	// Without placement rules the named queue counts, or else the user's own.
	s := load(t, Options{ConfDir: folder(t, "fair", map[string]string{
		"fair-scheduler.xml": `<allocations><queue name="b"><queue name="x"/></queue><queue name="a"/></allocations>`,
	})}).Scheduler
	if diff := cmp.Diff([]string{"root", "root.a", "root.b", "root.b.x", "root.default"}, paths(s.Queues)); diff != "" {
		t.Errorf("queues are not in the order of Hadoop's ties: %s", diff)
	}
	for _, c := range []struct{ queue, user, want, err string }{
		{"b.x", "ann", "root.b.x", ""},
		{"default", "a", "root.a", ""},
		{"default", "ann", "root.ann", ""}, // for Rebuild
		{"new", "ann", "root.new", ""},
		{"b", "ann", "", "submitted by user ann to non-leaf queue: b: "},
		{"a.new", "ann", "", "submitted by user ann to unknown queue: a.new: "},
	} {
		got, err := s.Place(rm.Placement{User: c.user, Queue: c.queue})
		if msg := text(err); got != c.want || !strings.HasPrefix(msg, c.err) || (msg == "") != (c.err == "") {
			t.Errorf("%s by %s: %q, %v; want %q, %s", c.queue, c.user, got, err, c.want, c.err)
		}
	}
	grown, err := s.Rebuild([]string{"root.a", "root.ann", "root.a.no", "root.team.bob", "root.b"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"root", "root.a", "root.ann", "root.b", "root.b.x", "root.default", "root.team", "root.team.bob"}
	if diff := cmp.Diff(want, paths(grown.Queues)); diff != "" {
		t.Errorf("with queues created: %s", diff)
	}
	if q := grown.Queues[2]; !q.Leaf || q.State != rm.QueueRunning || q.Parent != 0 || q.AMShare != 0.5 || q.SubmitACL != "" {
		t.Errorf("root.ann is %+v", q)
	}
	if _, err := grown.Place(rm.Placement{User: "eve", Queue: "ann.x"}); !strings.HasPrefix(text(err), "submitted by user eve to unknown queue: ann.x: ") {
		t.Errorf("below a leaf that was created: %v", err)
	}
	if again, err := grown.Rebuild(nil); err != nil || len(again.Queues) != len(s.Queues) {
		t.Errorf("without those created: %v, %v", again, err)
	}

	fixed := load(t, Options{ConfDir: folder(t, "fair", map[string]string{
		"fair-scheduler.xml": `<allocations><queue name="a"/><queuePlacementPolicy><rule name="specified" create="false"/><rule name="default" queue="a"/></queuePlacementPolicy></allocations>`,
	})})
	if same, err := fixed.Scheduler.Rebuild([]string{"root.ann"}); err != nil || len(same.Queues) != 2 {
		t.Errorf("rules that create nothing make queues: %v, %v", same, err)
	}
}

// A rule default may name a queue that takes no applications, as the one of Hadoop's documentation does: they are refused
// when they come to it, and others are not. Inside another rule it names a queue that holds others.
func TestFairDefaultTakesNothing(t *testing.T) {
	tree := func(policy string) *Daemon {
		return load(t, Options{ConfDir: folder(t, "fair", map[string]string{
			"fair-scheduler.xml": `<allocations><queue name="sample_queue"><queue name="sample_sub_queue"/></queue><queue name="secondary_group_queue" type="parent"/>
				<queuePlacementPolicy>` + policy + `</queuePlacementPolicy></allocations>`,
			"core-site.xml": props("hadoop.user.group.static.mapping.overrides=ann=staff,secondary_group_queue;bob=staff"),
		})})
	}
	const example = `<rule name="specified"/><rule name="primaryGroup" create="false"/>
		<rule name="nestedUserQueue"><rule name="secondaryGroupExistingQueue" create="false"/></rule>`
	for policy, why := range map[string]string{
		example + `<rule name="default" queue="sample_queue"/>`:                    "submitted by user bob to non-leaf queue: default: queue root.sample_queue has queues",
		example + `<rule name="default" queue="sample_queue.sample_sub_queue.x"/>`: "submitted by user bob to unknown queue: default: queue root.sample_queue.sample_sub_queue.x cannot be created",
		example + `<rule name="default" queue="a..b"/>`:                            `submitted by user bob to unknown queue: default: "root.a..b" is not the path of a queue`,
	} {
		d := tree(policy)
		if !slices.ContainsFunc(d.Notices, func(n conf.Notice) bool {
			return n.Kind == conf.Remark && strings.HasPrefix(n.Text, "applications that come to the rule default are refused: ")
		}) {
			t.Errorf("%s: nobody is told in %v", policy, d.Notices)
		}
		if got, err := d.Scheduler.Place(rm.Placement{User: "ann", Queue: "default"}); got != "root.secondary_group_queue.ann" || err != nil {
			t.Errorf("%s: %q, %v", policy, got, err)
		}
		if got, err := d.Scheduler.Place(rm.Placement{User: "bob", Queue: "default"}); got != "" || !strings.HasPrefix(text(err), why) {
			t.Errorf("%s: %q, %v, want %s", policy, got, err, why)
		}
	}
	nested := tree(`<rule name="nestedUserQueue"><rule name="default"/></rule>`).Scheduler
	for _, created := range [][]string{nil, {"root.default.bob"}} {
		s, err := nested.Rebuild(created)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Place(rm.Placement{User: "bob", Queue: "default"}); got != "root.default.bob" || err != nil {
			t.Errorf("under the default queue, with %q: %q, %v", created, got, err)
		}
	}
}

func TestOneQueueTakesEverything(t *testing.T) {
	s := load(t, Options{ConfDir: folder(t, "capacity", nil), Profile: "fifo"}).Scheduler
	if got, err := s.Place(rm.Placement{User: "ann", Queue: "prod"}); got != "root.default" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if s.Type != "capacity" || cmp.Diff([]string{"root", "root.default"}, paths(s.Queues)) != "" {
		t.Errorf("%+v", s)
	}
}

func TestCapacityQueues(t *testing.T) {
	q := capacityTree(t).Scheduler.Queues
	at := slices.IndexFunc(q, func(q rm.QueueInfo) bool { return q.Path == "root.a.x" })
	want := rm.QueueInfo{
		Path: "root.a.x", Parent: 2, Leaf: true, State: rm.QueueRunning, Capacity: 0.5, Max: 1, Absolute: q[2].Capacity * 0.5, AbsoluteMax: 1, Weight: -1,
		MaxApps: 2000, AMShare: 0.1, UserLimit: 100, UserFactor: 1, Order: "fifo", Configured: "fifo", MaxShare: heddle.Unbounded,
	}
	near := cmp.Comparer(func(a, b rm.Fraction) bool { return a-b < 1e-6 && b-a < 1e-6 })
	if diff := cmp.Diff(want, q[at], near); diff != "" {
		t.Error(diff)
	}
	if q[0].SubmitACL != "*" || q[2].SubmitACL != "ann staff" || q[2].AdminACL != "" || q[2].Order != "utilization" || q[2].MaxApps != -1 {
		t.Errorf("%+v", q[:3])
	}
	if shut := q[len(q)-1]; shut.Path != "root.shut" || shut.State != rm.QueueStopped {
		t.Errorf("%+v", shut)
	}

	all := &capacity.Config{MaxApplications: 10000, GlobalQueueMaxApplication: 50, Queues: []capacity.QueueConfig{
		{Path: "root", Parent: -1, Capacity: 1, MaxCapacity: 1, ByPriority: true},
		{Path: "root.w", Weight: 3, MaxCapacity: 0.5, MaxApplications: -1, Fair: true},
		{Path: "root.v", Weight: 1, MaxCapacity: 1, MaxApplications: 7, MaxParallelApps: 3},
		{Path: "root.m", Absolute: heddle.Of(1024, 1000), MaxCapacity: 1, MaxAbsolute: heddle.Of(2048, 2000), MaxApplications: -1},
	}}
	got := capacityQueues(all, nil)
	if m := got[3]; m.MaxApps != -1 || !m.Amounts || m.AppsOfAll != 50 || got[1].Amounts {
		t.Errorf("of a queue with an amount nothing is known without the cluster but what a whole one takes: %+v", m)
	}
	if w := got[1]; w.Capacity != 0.75 || w.Weight != 3 || w.AbsoluteMax != 0.5 || w.MaxApps != 50 || w.Configured != "fair" {
		t.Errorf("%+v", w)
	}
	if m := got[3]; m.MinShare != heddle.Of(1024, 1000) || m.MaxShare != heddle.Of(2048, 2000) || got[2].MaxApps != 7 || got[2].MaxRunning != 3 || got[1].MaxRunning != 0 || got[0].Configured != "priority-utilization" {
		t.Errorf("%+v", got)
	}
}

// The value of maximum-applications is what is reported and what the core does: 0 accepts none.
func TestMaximumApplications(t *testing.T) {
	const prefix = "yarn.scheduler.capacity."
	for value, want := range map[string]int{"": 2500, prefix + "root.a.maximum-applications=7": 7, prefix + "root.a.maximum-applications=0": 0, prefix + "global-queue-max-application=50": 50} {
		dir := folder(t, "", map[string]string{"capacity-scheduler.xml": props(prefix + "root.queues=a,b\n" + prefix + "root.a.capacity=25\n" + prefix + "root.b.capacity=75\n" + value)})
		s := load(t, Options{ConfDir: dir}).Scheduler
		h, err := conf.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if told, done := s.Queues[1].MaxApps, h.Capacity.MostApps(&h.Capacity.Queues[1], 0.25); told != want || done != want {
			t.Errorf("%q: told %d, done %d, want %d", value, told, done, want)
		}
		if text, err := json.Marshal(&s.Queues[1]); err != nil || !strings.Contains(string(text), fmt.Sprintf(`"max_applications":%d,`, want)) {
			t.Errorf("%q: listed as %s, %v; want %d", value, text, err, want)
		}
		if got := taken(s, 1, 8); got != min(want, 8) {
			t.Errorf("%q: of 8 applications the core takes %d, want %d", value, got, min(want, 8))
		}
	}
}

// taken returns how many of a number of applications the core accepts in a queue.
func taken(s *rm.Scheduler, queue heddle.QueueID, apps int) (n int) {
	core := sched.New(s.Set)
	for id := range apps {
		for _, d := range core.Step(heddle.Time(id), heddle.Submit{App: heddle.AppID(id), Queue: queue, Master: heddle.Of(1024, 1000)}) {
			if _, ok := d.(*heddle.Admit); ok {
				n++
			}
		}
	}
	return n
}

func TestFairQueues(t *testing.T) {
	c := &fair.Config{Queues: []fair.QueueConfig{
		{Path: "root", Parent: -1, Weight: 1, Policy: fair.DRF, MaxAMShare: 0.5},
		{
			Path: "root.a", Weight: 3, MaxApps: 4, MaxAMShare: -1, Policy: fair.FIFO, Min: fair.Amount{Set: true, Fixed: heddle.Of(512, 1000)},
			Max: fair.Amount{Set: true, Fixed: heddle.Resource{4096, 4000, heddle.Unbounded[2], heddle.Unbounded[3]}},
		},
		{Path: "root.b", Weight: 1, MaxAMShare: 0.5, Min: fair.Amount{Set: true, Fraction: [heddle.NumDims]float64{0.125, 0}}, Max: fair.Amount{Set: true, Fraction: [heddle.NumDims]float64{0.5, 0.25}}},
		{Path: "root.b.c", Parent: 2, Weight: 0, MaxAMShare: 0.5},
	}}
	got := fairQueues(c, map[string]conf.QueueACL{"root.a": {Submit: "ann", Administer: " ops"}})
	want := rm.QueueInfo{
		Path: "root.a", Leaf: true, State: rm.QueueRunning, Capacity: 0.75, Max: 1, Absolute: 0.75, AbsoluteMax: 1, Weight: 3, MaxApps: 4, AMShare: -1,
		UserLimit: 100, UserFactor: -1, Configured: "fifo", MinShare: heddle.Of(512, 1000), MaxShare: heddle.Resource{4096, 4000, heddle.Unbounded[2], heddle.Unbounded[3]},
		SubmitACL: "ann", AdminACL: " ops",
	}
	if diff := cmp.Diff(want, got[1]); diff != "" {
		t.Error(diff)
	}
	if q := fairQueues(&fair.Config{Queues: []fair.QueueConfig{{Path: "root", Parent: -1, MaxApps: -1}}}, nil)[0]; q.MaxApps != 0 {
		t.Errorf("a closed queue takes %d applications", q.MaxApps)
	}
	if got[0].Configured != "drf" || got[0].Leaf || got[2].Max != 0.25 || got[2].MaxApps != -1 || got[3].Capacity != 0 || got[3].AbsoluteMax != 0.25 {
		t.Errorf("%+v", got)
	}
}

// The bounds of a fair queue are reported as the core has them: 0 of a resource means none of it.
func TestFairBounds(t *testing.T) {
	total := heddle.Of(8192, 8000)
	for text, want := range map[string]heddle.Resource{
		"":                         total,
		"4096 mb, 4 vcores":        heddle.Of(4096, 4000),
		"50%":                      heddle.Of(4096, 4000),
		"25% memory, 50% cpu":      heddle.Of(2048, 4000),
		"0 mb, 0 vcores":           {},
		"memory-mb=1024, vcores=0": heddle.Of(1024, 0),
	} {
		if text != "" {
			text = "<maxResources>" + text + "</maxResources>"
		}
		s := load(t, Options{ConfDir: folder(t, "", map[string]string{
			"yarn-site.xml":      props("yarn.resourcemanager.scheduler.class=org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler"),
			"fair-scheduler.xml": "<allocations><queue name='a'>" + text + "</queue></allocations>",
		})}).Scheduler
		at := slices.IndexFunc(s.Queues, func(q rm.QueueInfo) bool { return q.Path == "root.a" })
		if _, most := s.Queues[at].Bounds(total); most != want {
			t.Errorf("%s: %v, want %v", text, most, want)
		}
	}
}

// The reported order of a queue is the one that is really used, not the configured one.
func TestOrderThatServes(t *testing.T) {
	for _, x := range []struct {
		profile          string
		set              []string
		all, leaf, above string
	}{
		{"capacity", nil, "capacity", "fifo", "utilization"},
		{"heddle", nil, "shortest", "shortest", "utilization"},
		{"fifo", nil, "fifo", "fifo", "as listed"},
		{"fifo", []string{"lanes=[{kinds: [am, map, reduce, executor, other], order: shortest}]"}, "shortest", "shortest", "as listed"},
		{
			"capacity",
			[]string{"lanes=[{kinds: [am, map, executor, other], order: capacity}, {kinds: [reduce], order: coupling.mismatch}]"},
			"capacity for am, map, executor, other; coupling.mismatch for reduce", "fifo for am, map, executor, other; coupling.mismatch for reduce",
			"utilization for am, map, executor, other; as listed for reduce",
		},
	} {
		s := load(t, Options{ConfDir: folder(t, "capacity", nil), Profile: x.profile, Sets: x.set}).Scheduler
		above, leaf := s.Queues[0], s.Queues[1]
		if s.Order != x.all || leaf.Order != x.leaf || above.Order != x.above || leaf.Configured != "fifo" || above.Configured != "utilization" {
			t.Errorf("%s %v: %q; a leaf %q (%q), the root %q (%q)", x.profile, x.set, s.Order, leaf.Order, leaf.Configured, above.Order, above.Configured)
		}
	}
	if q := load(t, Options{ConfDir: folder(t, "fair", nil)}).Scheduler.Queues[1]; q.Order != "fair" || q.Configured != "fair" {
		t.Errorf("%+v", q)
	}
}

func TestGroupsAreRemembered(t *testing.T) {
	g, asked, now := newGroups(map[string][]string{"ann": {"staff"}}), 0, time.Unix(0, 0)
	g.look, g.now = func(string) ([]string, error) { asked++; return []string{"ops"}, nil }, func() time.Time { return now }
	ask := func(name, want string, times int) {
		t.Helper()
		if got, err := g.of(name); err != nil || got[0] != want || asked != times {
			t.Errorf("%s is in %v after asking %d times, want %s, %d: %v", name, got, asked, want, times, err)
		}
	}
	ask("ann", "staff", 0)
	ask("bob", "ops", 1)
	ask("bob", "ops", 1)
	now = now.Add(groupTime)
	ask("bob", "ops", 2)
	g.forget()
	ask("bob", "ops", 3)
	for i := range maxGroups {
		ask(string(rune('0'+i)), "ops", 4+i)
	}
	if len(g.known) > maxGroups {
		t.Errorf("%d users are remembered", len(g.known))
	}
}

// A user without groups is looked up again soon, sooner if the lookup failed, and after what was found is forgotten. That
// a lookup failed does not mean that there are none, and is remembered as a failure.
func TestNoGroupsAreForgotten(t *testing.T) {
	g, asked, now := newGroups(nil), 0, time.Unix(0, 0)
	var fails error
	g.look, g.now = func(string) ([]string, error) { asked++; return nil, fails }, func() time.Time { return now }
	ask := func(times int) {
		t.Helper()
		if got, err := g.of("bob"); got != nil || asked != times || errors.Is(err, daemon.ErrNoGroups) != (fails != nil) || !errors.Is(err, fails) {
			t.Errorf("bob is in %v, %v after asking %d times, want %d", got, err, asked, times)
		}
	}
	ask(1)
	ask(1)
	now, fails = now.Add(emptyTime), errors.New("the directory does not answer")
	ask(2)
	ask(2)
	now = now.Add(failTime)
	ask(3)
	now = now.Add(failTime)
	g.look = func(string) ([]string, error) { g.forget(); return []string{"old"}, nil }
	if got, err := g.of("bob"); !slices.Equal(got, []string{"old"}) || len(g.known) > 0 || err != nil {
		t.Errorf("bob is in %v, %v, and %v is remembered", got, err, g.known)
	}
}

// While the directory does not answer, users are in the groups they were in. It is asked again every half minute.
func TestGroupsOutliveTheDirectory(t *testing.T) {
	g, asked, now := newGroups(nil), 0, time.Unix(0, 0)
	var fails error
	g.look, g.now = func(string) ([]string, error) { asked++; return []string{"staff", "ops"}[:2-min(asked/4, 1)], fails }, func() time.Time { return now }
	ask := func(times int, want ...string) {
		t.Helper()
		if got, err := g.of("bob"); err != nil || !slices.Equal(got, want) || asked != times {
			t.Errorf("bob is in %v after asking %d times, want %v, %d: %v", got, asked, want, times, err)
		}
	}
	ask(1, "staff", "ops")
	now, fails = now.Add(groupTime), errors.New("the directory does not answer")
	ask(2, "staff", "ops")
	ask(2, "staff", "ops")
	now = now.Add(emptyTime)
	ask(3, "staff", "ops")
	now, fails = now.Add(emptyTime), errors.New("the directory does not answer")
	for i := range maxGroups {
		if _, err := g.of(strconv.Itoa(i)); err == nil {
			t.Fatalf("user %d has groups", i)
		}
	}
	asked = 3
	ask(4, "staff", "ops")
	now, fails = now.Add(emptyTime), nil
	ask(5, "staff")
	g.forget()
	ask(6, "staff")
	for i := range maxGroups - 1 {
		if _, err := g.of(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	now, fails = now.Add(groupTime), errors.New("the directory does not answer")
	for i := range maxGroups + 1 {
		if _, err := g.of("new" + strconv.Itoa(i)); err == nil {
			t.Fatalf("new user %d has groups", i)
		}
	}
	if len(g.known) > 2*maxGroups {
		t.Errorf("%d users are remembered", len(g.known))
	}
	ask(7+2*maxGroups, "staff")
	for i := range maxGroups - 1 {
		if got, err := g.of(strconv.Itoa(i)); err != nil || !slices.Equal(got, []string{"staff"}) {
			t.Fatalf("user %d is in %v: %v", i, got, err)
		}
	}
}

// If too many users have groups, some are forgotten, but none who is being looked up, and not the one just found.
func TestGroupsOfTooManyUsers(t *testing.T) {
	g := newGroups(nil)
	g.look = func(string) ([]string, error) { return []string{"ops"}, nil }
	for i := range maxGroups - 1 {
		g.known[strconv.Itoa(i)] = &membership{groups: []string{"staff"}, asked: make(chan struct{})}
	}
	g.known["idle"] = &membership{groups: []string{"staff"}}
	g.known["none"] = &membership{}
	if got, err := g.of("new"); !slices.Equal(got, []string{"ops"}) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if len(g.known) != maxGroups+1 || g.known["idle"] != nil || g.known["new"] == nil || g.known["none"] == nil {
		t.Errorf("%d users are known, idle: %v, new: %v, none: %v", len(g.known), g.known["idle"], g.known["new"], g.known["none"])
	}
}

// An application whose queue depends on groups that are not known is placed nowhere: its client tries again.
func TestPlaceWithoutGroups(t *testing.T) {
	const c = "yarn.scheduler.capacity."
	read := func(base, name, text string) *conf.Hadoop {
		h, err := conf.ReadDir(folder(t, base, map[string]string{name: text}))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	mapped := read("capacity", "capacity-scheduler.xml", props(c+"root.queues=default,a\n"+c+"root.default.capacity=50\n"+c+"root.a.capacity=50\n"+
		c+"queue-mappings=u:ann:a,g:ops:a")).CapacityPlacement
	ruled := func(last string) rules {
		return read("fair", "fair-scheduler.xml", `<allocations><queue name="a"/><queuePlacementPolicy><rule name="specified" create="false"/>`+last+
			`</queuePlacementPolicy></allocations>`).FairPlacement
	}
	g := newGroups(nil)
	g.look = func(string) ([]string, error) { return nil, errors.New("the directory does not answer") }
	for name, r := range map[string]rules{
		"a mapping":      mapped,
		"primary group":  ruled(`<rule name="primaryGroup"/>`),
		"secondary ones": ruled(`<rule name="secondaryGroupExistingQueue"/><rule name="default"/>`),
	} {
		place := placer(&tree{rules: r}, g.of)
		if got, err := place(rm.Placement{User: "bob", Queue: "default"}); got != "" || !errors.Is(err, daemon.ErrNoGroups) ||
			err.Error() != "groups cannot be looked up: those of user bob: the directory does not answer; try again" {
			t.Errorf("%s: to %q, %v", name, got, err)
		}
		if got, err := place(rm.Placement{User: "bob", Queue: "a"}); got != "root.a" || err != nil {
			t.Errorf("%s: with the name of a queue to %q, %v", name, got, err)
		}
	}
	if got, err := placer(&tree{rules: mapped}, g.of)(rm.Placement{User: "ann", Queue: "default"}); got != "root.a" || err != nil {
		t.Errorf("ann, whom a mapping names: to %q, %v", got, err)
	}
}

// A directory that takes long holds a caller up for a bounded time, also behind others.
func TestSlowDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroups(nil)
		g.look = func(string) ([]string, error) { time.Sleep(time.Hour); return []string{"ops"}, nil }
		var others sync.WaitGroup
		for i := range maxAsking {
			others.Go(func() { _, _ = g.of(fmt.Sprint(i)) })
		}
		synctest.Wait()
		began := time.Now()
		if got, err := g.of("bob"); !errors.Is(err, daemon.ErrNoGroups) || time.Since(began) != askTime {
			t.Errorf("%v, %v after %v", got, err, time.Since(began))
		}
		others.Wait()
		if got, err := g.of("0"); !slices.Equal(got, []string{"ops"}) || err != nil {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// The lookups of one user take one slot: if they hang, others are looked up nevertheless. All who ask meanwhile get the
// same result, and so does who asks right after a failure, but nobody who asks after what was found is forgotten.
func TestSlowForOneUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, asked := newGroups(nil), atomic.Int32{}
		g.look = func(name string) ([]string, error) {
			if name == "bob" {
				asked.Add(1)
				time.Sleep(askTime)
				return nil, errSlow
			}
			return []string{"ops"}, nil
		}
		var calls sync.WaitGroup
		ask := func(after time.Duration, times int32) {
			t.Helper()
			began := time.Now()
			if got, err := g.of("bob"); got != nil || !errors.Is(err, daemon.ErrNoGroups) || time.Since(began) != after || asked.Load() != times {
				t.Errorf("%v, %v after %v and %d lookups, want %v, %d", got, err, time.Since(began), asked.Load(), after, times)
			}
		}
		for range maxAsking {
			calls.Go(func() { ask(askTime, 1) })
		}
		synctest.Wait()
		began := time.Now()
		if got, err := g.of("ann"); !slices.Equal(got, []string{"ops"}) || err != nil || time.Since(began) != 0 {
			t.Errorf("ann is in %v, %v after %v", got, err, time.Since(began))
		}
		calls.Wait()
		ask(0, 1)
		time.Sleep(failTime)
		calls.Go(func() { ask(askTime, 3) })
		synctest.Wait()
		g.forget()
		ask(askTime, 3)
		calls.Wait()
	})
}

// While one caller looks a user up again, others get the groups known before.
func TestGroupsKnownMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, asked := newGroups(nil), atomic.Int32{}
		g.look = func(string) ([]string, error) {
			defer time.Sleep(time.Second)
			if asked.Add(1) == 1 {
				return []string{"staff"}, nil
			}
			return []string{"ops"}, nil
		}
		ask := func(want string, after time.Duration) {
			t.Helper()
			began := time.Now()
			if got, err := g.of("bob"); err != nil || !slices.Equal(got, []string{want}) || time.Since(began) != after {
				t.Errorf("bob is in %v, %v after %v, want %s, %v", got, err, time.Since(began), want, after)
			}
		}
		ask("staff", time.Second)
		time.Sleep(groupTime)
		var first sync.WaitGroup
		first.Go(func() { ask("ops", time.Second) })
		synctest.Wait()
		ask("staff", 0)
		first.Wait()
		ask("ops", 0)
	})
}

func TestMachineGroups(t *testing.T) {
	if got := fileGroups("root"); len(got) == 0 || got[0] != "root" {
		t.Skipf("this machine has no user root in a group root: %v", got)
	}
	if got, err := directoryGroups("root"); len(got) == 0 || got[0] != "root" {
		t.Errorf("id says %v, %v", got, err)
	}
	if got, err := machineGroups("-no such user"); len(got) > 0 || err != nil {
		t.Errorf("%v %v", got, err)
	}
	// The program id comes first: it knows of more than the files. Without it they are read.
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if got, err := machineGroups("root"); len(got) == 0 || got[0] != "root" || err != nil {
		t.Errorf("without id: %v, %v", got, err)
	}
	for script, want := range map[string]string{
		"echo root ldap": "[root ldap] <nil>", "echo root 77; exit 1": "[root 77] <nil>", "kill -9 $$": "[] signal: killed",
	} {
		if err := os.WriteFile(filepath.Join(dir, "id"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := machineGroups("root"); fmt.Sprint(got, err) != want {
			t.Errorf("%s: %v %v, want %s", script, got, err, want)
		}
	}
}
