package rm

import (
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// wishes is a control policy that wants what the test wants.
type wishes struct{ steps []policy.Step }

func (*wishes) Every() heddle.Span { return heddle.Second }

func (w *wishes) Run(_ policy.View, p *policy.Plan) {
	p.Steps = append(p.Steps, w.steps...)
	w.steps = nil
}

// wishing returns a world with a running task and a control policy.
func wishing(t *testing.T, change func(*Options)) (w *world, c *wishes, m *am, other *nm, task ids.Container) {
	t.Helper()
	c = &wishes{}
	w = newWorld(t, "capacity", func(o *Options) {
		o.Scheduler.Set.Control = []policy.Control{c}
		if change != nil {
			change(o)
		}
	})
	_, m, _, other = w.job("MAPREDUCE")
	return w, c, m, other, other.task(m)
}

// want makes a control policy want something, and the machine do it.
func (w *world) want(c *wishes, id ids.Container, s policy.Step) {
	w.Helper()
	s.Container = w.m.container(id).cid
	c.steps = []policy.Step{s}
	w.sleep(2 * heddle.Second)
}

// limit returns the core's limit of a container.
func (w *world) limit(id ids.Container) heddle.Resource {
	return w.m.core.View().Container(w.m.container(id).cid).Limit()
}

// A node learns a new size in the answer to its next heartbeat, once, and confirms it.
func TestResize(t *testing.T) {
	w, c, _, n, task := wishing(t, nil)
	w.want(c, task, policy.Step{Do: policy.Resize, Limit: heddle.Of(3000, 1500)})
	p := n.beat()
	if len(p.Updates) != 1 || p.Updates[0].ID != task || p.Updates[0].Limit != heddle.Of(3000, 1500) || p.Updates[0].Size != heddle.Of(2048, 1000) || p.Updates[0].Version < 1 || p.Updates[0].Parked {
		t.Fatalf("told %+v", p.Updates)
	}
	first := p.Updates[0].Version
	if x, err := w.m.Reports().Container(task); err != nil || x.Size != heddle.Of(2048, 1000) || x.Limit != heddle.Of(3000, 1500) || !x.Unconfirmed {
		t.Errorf("reported as %+v, %v", x, err)
	}
	n.sizes[task] = heddle.Of(3000, 2000) // in whole vcores
	for range 4 {
		w.sleep(3 * heddle.Second)
		if p = n.beat(); len(p.Updates) > 0 {
			t.Fatalf("told again: %+v", p.Updates)
		}
	}
	if x, _ := w.m.Reports().Container(task); x.Unconfirmed || w.m.View().Cluster().Updates != (UpdateCounts{Sent: 1, Confirmed: 1}) {
		t.Errorf("reported as %+v, and %+v in all", x, w.m.View().Cluster().Updates)
	}
	w.want(c, task, policy.Step{Do: policy.Resize, Limit: heddle.Of(2048, 1000)})
	if p = n.beat(); len(p.Updates) != 1 || p.Updates[0].Version <= first {
		t.Errorf("told %+v after version %d", p.Updates, first)
	}
}

// A node that keeps accounting for another size is told again, and in the end taken at its word: it is no longer asked
// to resize, and what policies wanted there is counted.
func TestResizeThatIsNotDone(t *testing.T) {
	w, c, m, n, task := wishing(t, nil)
	n.sizes[task] = heddle.Of(2048, 1000)
	last := int32(0)
	for _, size := range []heddle.Resource{heddle.Of(3000, 1000), heddle.Of(2900, 1000)} { // for the first, it may not have been ready
		w.want(c, task, policy.Step{Do: policy.Resize, Limit: size})
		told := 0
		for range 20 {
			if p := n.beat(); len(p.Updates) > 0 {
				told++
				if v := p.Updates[0].Version; v <= last {
					t.Errorf("version %d after %d", v, last)
				} else {
					last = v
				}
			}
			w.sleep(2 * heddle.Second)
		}
		if told != updateTries || w.limit(task) != heddle.Of(2048, 1000) {
			t.Errorf("told %d times, want %d; the core has %v", told, updateTries, w.limit(task))
		}
	}
	w.want(c, task, policy.Step{Do: policy.Resize, Limit: heddle.Of(3000, 1000)})
	if p := n.beat(); len(p.Updates) > 0 || w.limit(task) != heddle.Of(2048, 1000) {
		t.Errorf("told %+v; the core has %v", p.Updates, w.limit(task))
	}
	e, err := w.m.Reports().Why(m.who.Attempt.App)
	if err != nil || e.Undone["resizes"] != 1 {
		t.Errorf("undone %v, %v", e.Undone, err)
	}
	for range 2 { // a core's counts are not lost with it
		if p := w.m.View().Cluster(); p.Updates != (UpdateCounts{Sent: 2 * updateTries, Refused: 2}) || p.Undone != [heddle.NumCaps]uint64{1: 1} {
			t.Errorf("updates %+v, undone %v", p.Updates, p.Undone)
		}
		if err := w.refresh(); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range nodesOf(w.m.View()) {
		if want := heddle.Stock; x.ID == n.id && x.Can != want&^heddle.Resizes || x.ID != n.id && x.Can != want {
			t.Errorf("%v can %v", x.ID, x.Can)
		}
	}
}

// After a restart versions are higher than those given before it, which nobody reports.
func TestVersionsAfterAStart(t *testing.T) {
	w, c, m, n, task := wishing(t, nil)
	w.sleep(heddle.Minute)
	w.want(c, task, policy.Step{Do: policy.Resize, Limit: heddle.Of(3000, 1000)})
	before := n.beat().Updates[0].Version
	created := w.m.date(w.m.container(task).created) + 1 // after its submission
	home := w.app(m.who.Attempt.App).Master
	w.with.Scheduler.Rebuild = func([]string) (*Scheduler, error) {
		sch := testScheduler(t, "capacity")
		sch.Set.Control = []policy.Control{c}
		return sch, nil
	}
	w.restart(heddle.Second)
	news := ContainerNews{ContainerEnd: ContainerEnd{ID: task, Size: heddle.Of(3000, 1000)}, Priority: 20, Created: created}
	n.conts[task] = news
	n.register(4096, 4, news)
	other := &nm{w: w, id: ids.Node{Host: "n1", Port: 8041}, conts: map[ids.Container]ContainerNews{}, can: heddle.Stock}
	other.register(2048, 4, ContainerNews{ContainerEnd: ContainerEnd{ID: home, Size: heddle.Of(1024, 1000)}, Created: created})
	m.register()
	w.want(c, task, policy.Step{Do: policy.Resize, Limit: heddle.Of(3500, 1000)})
	if p := n.beat(); len(p.Updates) != 1 || p.Updates[0].Version <= before {
		t.Errorf("told %+v after version %d", p.Updates, before)
	}
}

// A container found running counts as held since its node started it, for policies that use how long: after a restart,
// and for the core of another configuration.
func TestFoundSince(t *testing.T) {
	w, c, m, n, task := wishing(t, nil)
	created := w.m.date(w.m.container(task).created) + 1 // after its submission
	w.with.Scheduler.Rebuild = func([]string) (*Scheduler, error) {
		sch := testScheduler(t, "capacity")
		sch.Set.Control = []policy.Control{c}
		return sch, nil
	}
	w.sleep(heddle.Minute)
	w.restart(heddle.Second)
	news := ContainerNews{ContainerEnd: ContainerEnd{ID: task, Size: heddle.Of(2048, 1000)}, Priority: 20, Created: created}
	n.conts[task] = news
	n.register(4096, 4, news)
	m.register()
	for range 2 {
		x := w.m.core.View().Container(w.m.container(task).cid)
		if w.m.date(x.Granted()) != created || w.m.date(x.Started()) != created {
			t.Errorf("granted at %d and started at %d, want %d", w.m.date(x.Granted()), w.m.date(x.Started()), created)
		}
		if err := w.refresh(); err != nil {
			t.Fatal(err)
		}
	}
}

// A suspended container is parked if its node can do that, and lends its processors either way.
func TestParks(t *testing.T) {
	for _, can := range []heddle.Caps{heddle.Stock, heddle.Stock | heddle.Parks} {
		w, c, m, n, task := wishing(t, nil)
		n.can = can
		n.register(4096, 4, found(task, 20))
		n.beat()
		w.want(c, task, policy.Step{Do: policy.Suspend})
		p := n.beat()
		if parks := can.Has(heddle.Parks); parks != (len(p.Updates) == 1) || parks && !p.Updates[0].Parked {
			t.Errorf("%v: told %+v", can, p.Updates)
		}
		if x, err := w.m.Reports().Container(task); err != nil || !x.Suspended || x.Parked != can.Has(heddle.Parks) || x.Limit != x.Size {
			t.Errorf("%v: reported as %+v, %v", can, x, err)
		}
		v := w.m.core.View()
		if room := v.Node(n.nid()).Room(v.App(w.m.byApp[m.who.Attempt.App].aid)); room[heddle.CPU] != 4000 {
			t.Errorf("%v: %v is free for its application", can, room)
		}
		w.want(c, task, policy.Step{Do: policy.Resume})
		if p = n.beat(); len(p.Updates) > 0 && p.Updates[0].Parked {
			t.Errorf("%v: told %+v", can, p.Updates)
		}
	}
}

func (n *nm) nid() heddle.NodeID { return n.w.m.byNode[n.id].nid }

// small is a trim that gives every container part of what it asks for.
type small struct{ of heddle.Resource }

func (s small) Trim(policy.View, *policy.Ask, *policy.Node, heddle.Resource) heddle.Resource {
	return s.of
}

func (s small) Floor(heddle.Resource) heddle.Resource { return s.of }

// A container granted with less than was asked for is shown in full to its master, and with its limit to its node. It
// has the memory asked for as long as nobody knows what such tasks use.
func TestLimitBelowWhatIsTold(t *testing.T) {
	w, _, m, n, _ := wishing(t, func(o *Options) { o.Scheduler.Set.Trim[heddle.Map] = small{heddle.Of(500, 600)} })
	a := w.m.byApp[m.who.Attempt.App]
	p := m.ask(row(20, "*", 1024, 1))
	if g := p.Granted[0]; g.Size != heddle.Of(1024, 1000) || g.Limit != heddle.Of(1024, 600) {
		t.Errorf("granted %v, limited to %v", g.Size, g.Limit)
	}
	n.run(p.Granted[0].ID)
	n.beat()
	w.m.step(heddle.TaskUsed{App: a.aid, Kind: heddle.Map, Memory: 600})
	p = m.ask(row(20, "*", 1024, 1))
	if g := p.Granted[0]; g.Size != heddle.Of(1024, 1000) || g.Limit != heddle.Of(660, 600) {
		t.Errorf("granted %v, limited to %v", g.Size, g.Limit)
	}
}

// A node's report of an impossible size is not taken at its word.
func TestSizesThatCannotBe(t *testing.T) {
	w, c, _, n, task := wishing(t, nil)
	n.sizes[task] = heddle.Of(-1<<50, 1000)
	w.want(c, task, policy.Step{Do: policy.Resize, Limit: heddle.Of(3000, 1000)})
	for range 20 {
		n.beat()
		w.sleep(2 * heddle.Second)
	}
	if w.limit(task) != heddle.Of(3000, 1000) {
		t.Errorf("the core has %v", w.limit(task))
	}
}

// A change of who parks is repeated until the node confirms it, and what was parked before a restart no longer is.
func TestParkedBeforeAStart(t *testing.T) {
	w, c, m, n, task := wishing(t, nil)
	n.can = heddle.Stock | heddle.Parks
	n.register(4096, 4, found(task, 20))
	n.beat()
	n.sizes[task], n.parked = heddle.Of(1024, 1000), map[ids.Container]bool{}
	w.want(c, task, policy.Step{Do: policy.Suspend})
	told := 0
	for range 8 {
		if p := n.beat(); len(p.Updates) > 0 && p.Updates[0].Parked {
			told++
		}
		w.sleep(3 * heddle.Second)
	}
	if told < 2 {
		t.Errorf("told %d times, though the node does not say that it parks", told)
	}
	home := w.app(m.who.Attempt.App).Master
	w.restart(heddle.Second)
	news := found(task, 20)
	news.Parked = true
	n.conts[task], n.parked[task] = news, true
	n.register(4096, 4, news)
	other := &nm{w: w, id: ids.Node{Host: "n1", Port: 8041}, conts: map[ids.Container]ContainerNews{}, can: heddle.Stock}
	other.register(2048, 4, found(home, 0))
	if p := n.beat(); len(p.Updates) != 1 || p.Updates[0].Parked {
		t.Errorf("told %+v", p.Updates)
	}
}
