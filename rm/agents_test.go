package rm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// An ag is a node agent that a test speaks for.
type ag struct {
	w       *world
	node    ids.Node
	name    string
	can     heddle.Caps
	applied uint64
	call    Call // waiting for an answer, 0 for none
}

// sync makes an agent ask what to do.
func (a *ag) sync(used ...Used) {
	a.w.Helper()
	a.call = a.w.next()
	a.w.step(&AgentSync{Call: a.call, Node: a.node, Agent: a.name, Can: a.can, Applied: a.applied, Used: used})
}

// does gives an agent these capabilities from now on, and waits until they take effect on its node.
func (a *ag) does(can heddle.Caps) {
	a.w.Helper()
	a.can = can
	a.w.sleep(agentRuns)
	for a.sync(); a.told() != nil; {
		a.sync()
	}
}

// told returns what the agent was answered, or nil if it still waits.
func (a *ag) told() *AgentWish {
	a.w.Helper()
	if a.w.heard[a.call] == nil {
		return nil
	}
	p, err := answered[*AgentWish](a.w, a.call)
	if err != nil {
		a.w.Fatal(err)
	}
	a.applied = p.Version
	return p
}

// agented returns a world with a running task and an idle agent on its node.
func agented(t *testing.T) (w *world, c *wishes, n *nm, a *ag, task ids.Container) {
	w, c, _, n, a, task = agentedBy(t, "")
	return w, c, n, a, task
}

// agentedBy is agented with a name for the policy that wants things done.
func agentedBy(t *testing.T, name string) (w *world, c *wishes, m *am, n *nm, a *ag, task ids.Container) {
	w, c, m, n, task = wishing(t, func(o *Options) {
		o.Scheduler.Set.Feeds.Profile, o.Scheduler.Set.Feeds.Disks = 3*heddle.Second, true
		o.Scheduler.Set.Names.Control = []string{name}
	})
	a = &ag{w: w, node: n.id, name: "one", can: heddle.Parks | heddle.Weighs}
	a.sync()
	if p := a.told(); p == nil || len(p.Want) > 0 || p.Version == 0 || !p.Measure || !p.Disks || p.Every != 3*heddle.Second || p.Lease != agentLease {
		t.Fatalf("told %+v", p)
	}
	a.sync()
	if p := a.told(); p != nil {
		t.Fatalf("told %+v though nothing is new", p)
	}
	return w, c, m, n, a, task
}

// A waiting agent is told at once when something changes, and gets everything that is wanted; its node is told nothing.
func TestAgentIsTold(t *testing.T) {
	w, c, n, a, task := agented(t)
	w.want(c, task, policy.Step{Do: policy.Suspend})
	p := a.told()
	if p == nil || len(p.Want) != 1 || p.Want[0] != (Wanted{Container: task, Parked: true, Weight: 1000}) {
		t.Fatalf("told %+v", p)
	}
	first := p.Version
	a.sync()
	w.want(c, task, policy.Step{Do: policy.Weigh, Weight: 2500})
	if p = a.told(); p == nil || len(p.Want) != 1 || p.Want[0] != (Wanted{Container: task, Parked: true, Weight: 2500}) || p.Version <= first {
		t.Fatalf("told %+v", p)
	}
	if x, err := w.m.Reports().Container(task); err != nil || !x.Parked || x.Weight != 2500 {
		t.Errorf("reported as %+v, %v", x, err)
	}
	if b := n.beat(); len(b.Updates) > 0 {
		t.Errorf("its node is told %+v", b.Updates)
	}
	a.sync()
	w.sleep(4 * heddle.Second)
	if again := a.told(); again == nil || again.Version != p.Version || len(again.Want) != 1 {
		t.Errorf("after its time it is told %+v", again)
	}
	w.want(c, task, policy.Step{Do: policy.Weigh, Weight: 1000})
	if x, err := w.m.Reports().Container(task); err != nil || x.Weight != 0 {
		t.Errorf("with the weight of its size it is reported as weighed: %+v, %v", x, err)
	}
}

// A capable agent is told what is frozen, what is bounded, and whose caches are to yield to its limit; an agent that
// lacks the capabilities is told none of it.
func TestAgentIsToldWhatItCan(t *testing.T) {
	for _, can := range []heddle.Caps{heddle.Parks | heddle.Weighs, heddle.Parks | heddle.Weighs | heddle.Freezes | heddle.Bounds | heddle.Reclaims} {
		w, c, _, a, task := agented(t)
		a.does(can)
		all := can.Has(heddle.Freezes)
		see := func(want Wanted) {
			t.Helper()
			want.Container = task
			if p := a.told(); p == nil || len(p.Want) != 1 || p.Want[0] != want {
				t.Errorf("can %v: told %+v, want %+v", can, p, want)
			}
			a.sync()
		}
		w.want(c, task, policy.Step{Do: policy.Weigh, Weight: 500, Bound: 300})
		want := Wanted{Weight: 500}
		if all {
			want.Bound = 300
		}
		see(want)
		w.want(c, task, policy.Step{Do: policy.Suspend, Freeze: heddle.Minute})
		want.Parked = true
		if all {
			want.Frozen = heddle.Minute
		}
		see(want)
		if x, err := w.m.Reports().Container(task); err != nil || x.Frozen != want.Frozen || x.Bound != want.Bound {
			t.Errorf("can %v: reported as %+v, %v", can, x, err)
		}
		w.want(c, task, policy.Step{Do: policy.Resume})
		want.Parked, want.Frozen = false, 0
		see(want)
		x := w.m.core.View().Container(w.m.container(task).cid)
		less := x.Limit()
		less[heddle.Memory] /= 2
		w.m.core.Step(w.m.now, heddle.TaskUsed{App: x.App().ID(), Kind: x.Kind(), Memory: 1})
		w.want(c, task, policy.Step{Do: policy.Resize, Limit: less})
		if all {
			want.Reclaim = less[heddle.Memory]
			see(want)
		}
	}
}

// An agent that cannot weigh is told no weight: it would fail to give any.
func TestAgentThatCannotWeigh(t *testing.T) {
	w, c, _, a, task := agented(t)
	a.does(heddle.Parks)
	w.want(c, task, policy.Step{Do: policy.Suspend})
	if p := a.told(); p == nil || len(p.Want) != 1 || p.Want[0] != (Wanted{Container: task, Parked: true}) {
		t.Errorf("told %+v", p)
	}
	a.sync()
	w.want(c, task, policy.Step{Do: policy.Resume})
	if p := a.told(); p == nil || len(p.Want) != 0 {
		t.Errorf("told %+v", p)
	}
}

// The time at which a frozen container runs again does not depend on what else is done to it.
func TestFrozenUntil(t *testing.T) {
	w, c, _, a, task := agented(t)
	a.does(a.can | heddle.Freezes)
	w.want(c, task, policy.Step{Do: policy.Suspend, Freeze: heddle.Minute})
	until := int64(0)
	for range 3 {
		x, err := w.m.Reports().Container(task)
		if until == 0 {
			until = x.FrozenUntil
		}
		if left := until - w.m.date(w.now); err != nil || left < 30_000 || left > 60_000 || x.FrozenUntil != until || x.Row().FrozenUntil != until || x.Frozen != heddle.Minute {
			t.Errorf("%d ms are left: frozen for %v until %d, want %d; %v", left, x.Frozen, x.FrozenUntil, until, err)
		}
		w.sleep(3 * heddle.Second)
		w.want(c, task, policy.Step{Do: policy.Weigh, Weight: 500})
	}
}

// A frozen container has the memory that it lent back when another core lets it run, as that core does not know of the loan.
func TestRefreshReturnsMemory(t *testing.T) {
	w, c, _, a, task := agented(t)
	a.does(a.can | heddle.Freezes)
	w.want(c, task, policy.Step{Do: policy.Suspend, Freeze: heddle.Minute})
	x := w.m.container(task)
	less := x.size
	less[heddle.Memory] /= 2
	w.m.relimit(x, less, "")
	if err := w.refresh(); err != nil {
		t.Fatal(err)
	}
	if p, err := w.m.Reports().Container(task); err != nil || p.Parked || p.Frozen > 0 || p.Limit != x.size || w.limit(task) != x.size {
		t.Errorf("reported as %+v, %v; the core has %v, want %v", p, err, w.limit(task), x.size)
	}
}

// A container that an agent learns of partway through its freeze is frozen only for the rest.
func TestFrozenForTheRest(t *testing.T) {
	w, c, _, a, task := agented(t)
	a.does(a.can | heddle.Freezes)
	w.want(c, task, policy.Step{Do: policy.Suspend, Freeze: 20 * heddle.Second})
	began := w.now
	if p := a.told(); p == nil || len(p.Want) != 1 || p.Want[0].Frozen != 20*heddle.Second {
		t.Fatalf("told %+v", p)
	}
	for i, name := range []string{"two", "three"} {
		w.sleep(12 * heddle.Second)
		a.name, a.applied = name, 0
		a.sync()
		p := a.told()
		if p == nil || len(p.Want) != 1 || !p.Want[0].Parked {
			t.Fatalf("agent %s is told %+v", name, p)
		}
		rest, most := p.Want[0].Frozen, 20*heddle.Second-w.now.Since(began)
		if i == 0 && (rest <= 0 || rest > most) || i == 1 && rest != 0 {
			t.Errorf("agent %s is told to freeze for %v s, want %v s", name, rest.Seconds(), most.Seconds())
		}
	}
}

// The first agent of a node under this ResourceManager, and one that replaces it, freeze nothing for some seconds, in
// which containers frozen by an earlier ResourceManager run.
func TestFirstAgentFreezesLater(t *testing.T) {
	w, c, m, n, a, task := agentedBy(t, "")
	home := w.app(m.who.Attempt.App).Master
	w.with.Scheduler.Rebuild = func([]string) (*Scheduler, error) {
		sch := testScheduler(t, "capacity")
		sch.Set.Control = []policy.Control{c}
		return sch, nil
	}
	w.restart(heddle.Second)
	n.register(4096, 4, found(task, 20))
	other := &nm{w: w, id: ids.Node{Host: "n1", Port: 8041}, conts: map[ids.Container]ContainerNews{}, can: heddle.Stock}
	other.register(2048, 4, found(home, 0))
	m.register()
	a.can |= heddle.Freezes
	frozen := func() bool {
		t.Helper()
		for a.sync(); a.told() != nil; {
			a.sync()
		}
		w.want(c, task, policy.Step{Do: policy.Suspend, Freeze: heddle.Minute})
		p := a.told()
		if p == nil || len(p.Want) != 1 || !p.Want[0].Parked {
			t.Fatalf("told %+v", p)
		}
		return p.Want[0].Frozen > 0
	}
	for _, a.name = range []string{"one", "two"} {
		if frozen() {
			t.Errorf("agent %s is told to freeze at once", a.name)
		}
		w.want(c, task, policy.Step{Do: policy.Resume})
	}
	w.sleep(agentRuns)
	if !frozen() {
		t.Error("it is never told to freeze")
	}
}

// An agent is told again what it has not done, at most once a second.
func TestAgentThatIsBehind(t *testing.T) {
	w, c, _, a, task := agented(t)
	w.want(c, task, policy.Step{Do: policy.Suspend})
	for i := range 2 {
		a.told()
		a.applied--
		a.sync()
		if p := a.told(); (p == nil) == (i == 0) {
			t.Fatalf("told %+v the %d. time", p, i)
		}
	}
	w.sleep(1100 * heddle.Millisecond)
	if p := a.told(); p == nil || len(p.Want) != 1 {
		t.Fatalf("told %+v", p)
	}
}

// An agent that is silent for its lease is lost: its node can do only what it can by itself, and lends no more than it
// then may. When the agent comes back it is told everything that is wanted.
func TestAgentIsLost(t *testing.T) {
	w, c, n, a, task := agented(t)
	w.want(c, task, policy.Step{Do: policy.Suspend})
	a.told()
	w.pass(agentLease+heddle.Second, nil, n)
	if x := nodesOf(w.m.View()); x[1].Agent != nil && x[0].Agent != nil {
		t.Errorf("reported as %+v", x)
	}
	if v := w.m.core.View().Node(n.nid()); v.Can(heddle.Parks) || !v.Can(heddle.Lends) {
		t.Error("the core goes by an agent that is gone")
	}
	if x, _ := w.m.Reports().Container(task); x.Parked {
		t.Errorf("reported as %+v", x)
	}
	a.name, a.applied = "two", 0
	a.sync()
	if p := a.told(); p == nil || len(p.Want) != 1 || !p.Want[0].Parked {
		t.Errorf("told %+v", p)
	}
	if got := w.m.View().Cluster().Agents; got.Connected != 2 || got.Lost != 1 || got.Wishes < 3 {
		t.Errorf("counted %+v", got)
	}
}

// If two agents claim one node, the newer one counts, as long as it is heard from. The other is told why it does not,
// and this is logged once.
func TestTwoAgentsOfOneNode(t *testing.T) {
	w, _, _, a, task := agented(t)
	b := &ag{w: w, node: a.node, name: "two", can: a.can}
	refused := func(a *ag) bool {
		t.Helper()
		if w.heard[a.call] == nil {
			return false
		}
		_, err := answered[*AgentWish](w, a.call)
		_, ok := errors.AsType[*Replaced](err)
		if err != nil && (!ok || !strings.Contains(err.Error(), "another node agent that started later also claims node "+a.node.String())) {
			t.Fatal(err)
		}
		return ok
	}
	b.sync()
	if !refused(a) || b.told() == nil {
		t.Error("the first still waits, or the second is told nothing")
	}
	for i := range 20 {
		w.sleep(heddle.Second)
		b.sync(Used{Container: task, CPU: heddle.Span(i) * heddle.Second / 2, Memory: 3})
		if a.sync(); !refused(a) || refused(b) {
			t.Fatalf("after %d s the first is heeded, or the second is not", i)
		}
	}
	if cpu, _ := w.m.core.View().Container(w.m.container(task).cid).Usage(); cpu != 500 {
		t.Errorf("%d thousandths of a processor are measured, want 500", cpu)
	}
	logged := func(text string) (n int) {
		for _, e := range w.rest {
			if l, ok := e.(*Log); ok && l.Level == Warn && strings.Contains(l.Text, text) {
				n++
			}
		}
		return n
	}
	if got := w.m.View().Cluster().Agents.Connected; got != 2 || logged("two node agents") != 1 {
		t.Errorf("%d connected, and %d warnings; want 2 and 1", got, logged("two node agents"))
	}
	// A restarted agent replaces the second at once, and both older ones are kept out: this is logged for the second
	// one as well.
	c := &ag{w: w, node: a.node, name: "three", can: a.can}
	c.sync()
	if c.told() == nil {
		t.Error("an agent that was started anew is not heeded")
	}
	for _, x := range []*ag{a, b} {
		if x.sync(); !refused(x) {
			t.Errorf("agent %s is heeded", x.name)
		}
	}
	// Then the new agent is silent for its lease.
	for range 8 {
		w.sleep(agentLease / 7)
		a.sync()
	}
	if a.told() == nil || w.m.byNode[a.node].agent.name != "one" || logged("two node agents") != 2 {
		t.Errorf("the first does not take the place of one that is gone; %d warnings", logged("two node agents"))
	}
}

// The agent of a forgotten node is answered, and not lost later: by then another node may have the number of its node,
// because the configuration was read again, and would count as one whose disks are not measured.
func TestAgentOfForgottenNode(t *testing.T) {
	w, _, n, a, _ := agented(t)
	w.m.nodeDown(w.m.byNode[n.id], nodeLost)
	w.m.forgetNodes(n.id, (*node).gone)
	w.pass(agentLease+heddle.Second, nil)
	if p := a.told(); p == nil || len(p.Want) > 0 || w.m.counts.agents.Lost > 0 {
		t.Errorf("told %+v, and lost %d times", p, w.m.counts.agents.Lost)
	}
}

// However often an agent restarts, the number of remembered earlier names is bounded.
func TestAgentsBefore(t *testing.T) {
	w, _, _, a, _ := agented(t)
	for i := range mostBefore + 4 {
		a.name = fmt.Sprint(i)
		a.sync()
	}
	if got := w.m.byNode[a.node].agent.before; len(got) != mostBefore || got[mostBefore-1].name != fmt.Sprint(mostBefore+2) {
		t.Errorf("kept are %v", got)
	}
}

// A node that cannot keep containers from its processors lends half of them: the rest returns when its agent is lost.
func TestLoansComeBack(t *testing.T) {
	w, c, m, n, first := wishing(t, nil)
	n.register(4096, 2, found(first, 20))
	n.beat()
	a := &ag{w: w, node: n.id, name: "one", can: heddle.Parks}
	a.sync()
	second := n.task(m)
	w.want(c, first, policy.Step{Do: policy.Suspend})
	w.want(c, second, policy.Step{Do: policy.Suspend})
	lent := func() int64 { return w.m.core.View().Node(n.nid()).Lent() }
	if lent() != 2000 {
		t.Fatalf("%d are lent", lent())
	}
	w.pass(agentLease+heddle.Second, m, n)
	if lent() != 1000 {
		t.Errorf("%d are lent", lent())
	}
}

// A node that can park containers itself does so while it has no agent. What it has parked when its agent is back stays
// so until it is resumed, whatever else changes: if it undid that, it would undo what the agent does.
func TestAgentBeforeNode(t *testing.T) {
	w, c, _, n, task := wishing(t, nil)
	n.can |= heddle.Parks
	n.register(4096, 4, found(task, 20))
	n.beat()
	a := &ag{w: w, node: n.id, name: "one", can: heddle.Parks}
	a.sync()
	a.told()
	w.want(c, task, policy.Step{Do: policy.Suspend})
	a.sync()
	if p, b := a.told(), n.beat(); p == nil || len(p.Want) != 1 || len(b.Updates) > 0 {
		t.Fatalf("told %+v, its node %+v", p, b.Updates)
	}
	w.pass(agentLease+heddle.Second, nil)
	if b := n.beat(); len(b.Updates) != 1 || !b.Updates[0].Parked {
		t.Errorf("without its agent the node is told %+v", b.Updates)
	}
	a.sync()
	if p, b := a.told(), n.beat(); p == nil || len(p.Want) != 1 || !p.Want[0].Parked || len(b.Updates) > 0 {
		t.Errorf("with its agent back told %+v, its node %+v", p, b.Updates)
	}
	w.want(c, task, policy.Step{Do: policy.Resize, Limit: heddle.Of(3000, 1000)})
	if b := n.beat(); len(b.Updates) != 1 || !b.Updates[0].Parked {
		t.Errorf("of another size the node is told %+v", b.Updates)
	}
	w.want(c, task, policy.Step{Do: policy.Resume})
	if b := n.beat(); len(b.Updates) != 1 || b.Updates[0].Parked {
		t.Errorf("of a container that goes on the node is told %+v", b.Updates)
	}
	w.want(c, task, policy.Step{Do: policy.Suspend})
	if b := n.beat(); len(b.Updates) > 0 {
		t.Errorf("of a container that its agent parks the node is told %+v", b.Updates)
	}
}

// Policies are told what an agent measures as an average, from its second report on.
func TestAgentMeasures(t *testing.T) {
	w, _, _, a, task := agented(t)
	w.sleep(2 * heddle.Second)
	a.sync(Used{task, 10 * heddle.Second, 300})
	x := w.m.core.View().Container(w.m.container(task).cid)
	if cpu, memory := x.Usage(); cpu != 0 || memory != 0 {
		t.Errorf("%d and %d MiB after the first report", cpu, memory)
	}
	w.sleep(2 * heddle.Second)
	a.sync(Used{task, 11500 * heddle.Millisecond, 400}, Used{ids.Container{}, 1, 1})
	if cpu, memory := x.Usage(); cpu != 750 || memory != 400 {
		t.Errorf("%d and %d MiB, want 750 and 400", cpu, memory)
	}
}

// Policies are told how busy a node's disks are from the second report on, as averages over at least 2.5 s, until its
// agent no longer knows or is lost. A change of agent does not matter.
func TestAgentMeasuresDisks(t *testing.T) {
	w, _, n, a, _ := agented(t)
	node := w.m.core.View().Node(w.m.byNode[n.id].nid)
	for i, c := range []struct {
		after, said float64
		agent       string
		want        int64
	}{
		{4, 10, "one", -1},
		{4, 13, "one", 750},
		{2, 15, "one", 750}, // too soon
		{2, 15, "one", 500},
		{4, 35, "one", 1000}, // one disk more
		{4, 2, "one", 1000},  // its machine rebooted
		{4, 3, "one", 250},
		{4, 5, "two", 500},
		{1, 0, "three", -1}, // this one cannot read it
		{4, 0, "three", -1},
		{4, 6, "three", -1},
		{4, 8, "three", 500},
		{0, 0, "three", -1},
		{4, 8, "three", -1},
		{4, 9, "three", 250},
	} {
		w.sleep(heddle.Seconds(c.after))
		if a.name != c.agent {
			a.name, a.applied = c.agent, 0
		}
		a.call = w.next()
		w.step(&AgentSync{Call: a.call, Node: a.node, Agent: a.name, Can: a.can, Applied: a.applied, DiskBusy: heddle.Seconds(c.said)})
		if got, shown := node.DiskBusy(), w.m.byNode[n.id].agent.report(w.m).Disks; got != c.want || shown != c.want {
			t.Errorf("%d: its disks were busy for %g s so far: %d thousandths of the time, and %d are shown; want %d", i, c.said, got, shown, c.want)
		}
	}
	for range 8 {
		w.sleep(5 * heddle.Second)
		n.beat()
	}
	if got := node.DiskBusy(); got != -1 || w.m.byNode[n.id].agent != nil {
		t.Errorf("%d thousandths of the time without an agent, want -1", got)
	}
}

// An agent of an unknown node waits for the node.
func TestAgentOfNoNode(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	a := &ag{w: w, node: ids.Node{Host: "elsewhere", Port: 1}, name: "one"}
	a.sync()
	if p := a.told(); p == nil || p.Every != agentAgain || !p.Unknown || len(p.Want) > 0 {
		t.Errorf("told %+v", p)
	}
}

// Versions differ after a restart, so that an agent is never thought to have done what it has not.
func TestVersionsOfWishes(t *testing.T) {
	w, _, _, a, _ := agented(t)
	before := a.applied
	w.restart(heddle.Second)
	a.sync()
	if p := a.told(); p == nil || p.Version <= before {
		t.Errorf("version %+v after %d", p, before)
	}
}

// If an agent could not freeze a container, what was lent for that is taken back and the container is not frozen again.
// If it failed for a second container too, its node counts as one that cannot freeze.
func TestWhatAnAgentCannotDo(t *testing.T) {
	w, c, m, n, a, task := agentedBy(t, "")
	a.does(a.can | heddle.Freezes)
	other := n.task(m)
	a.sync()
	lent := func() int64 { return w.m.core.View().Node(n.nid()).Lent() }
	for i, id := range []ids.Container{task, other} {
		w.want(c, id, policy.Step{Do: policy.Suspend, Freeze: heddle.Minute})
		if p := a.told(); p == nil || lent() != 1000 {
			t.Fatalf("told %+v, lent %d", p, lent())
		}
		a.call = w.next()
		w.step(&AgentSync{Call: a.call, Node: n.id, Agent: a.name, Can: a.can, Applied: a.applied, Failed: []AgentFailure{{id, "no such group", heddle.Freezes, false}}})
		if p := a.told(); p == nil || len(p.Want) != 0 || lent() != 0 {
			t.Errorf("told %+v, lent %d", p, lent())
		}
		a.sync()
		if can := w.m.core.View().Node(n.nid()).Can(heddle.Freezes); can != (i == 0) {
			t.Errorf("after %d containers its node freezes: %v", i+1, can)
		}
		w.want(c, id, policy.Step{Do: policy.Suspend, Freeze: heddle.Minute})
		if p := a.told(); p == nil || len(p.Want) != 1 || !p.Want[0].Parked || p.Want[0].Frozen > 0 {
			t.Errorf("told %+v", p)
		}
		if x, err := w.m.Reports().Container(id); err != nil || !x.Parked || x.Frozen > 0 {
			t.Errorf("reported as %+v, %v", x, err)
		}
		a.sync()
		w.want(c, id, policy.Step{Do: policy.Resume})
		a.told()
		a.sync()
	}
	why, err := w.m.Reports().Why(m.who.Attempt.App)
	if err != nil || why.Undone["freezes"] != 2 {
		t.Errorf("explained as %+v, %v", why.Undone, err)
	}
	a.name = "two"
	a.sync()
	if !w.m.core.View().Node(n.nid()).Can(heddle.Freezes) {
		t.Error("another agent is not asked to freeze")
	}
}

// Containers that an agent has yet to find say nothing of its node, and it can do everything to each once it names it.
func TestWhatAnAgentHasYetToFind(t *testing.T) {
	w, c, m, n, a, task := agentedBy(t, "")
	a.does(a.can | heddle.Freezes)
	both := []ids.Container{task, n.task(m)}
	for _, id := range both {
		w.want(c, id, policy.Step{Do: policy.Suspend, Freeze: heddle.Minute})
		a.told()
		a.call = w.next()
		w.step(&AgentSync{Call: a.call, Node: n.id, Agent: a.name, Can: a.can, Applied: a.applied, Failed: []AgentFailure{{id, "not found", heddle.Freezes, true}}})
		if p := a.told(); p == nil || len(p.Want) != 0 || w.m.core.View().Container(w.m.container(id).cid).Can(heddle.Freezes) {
			t.Errorf("not found, and told %+v", p)
		}
		a.sync()
	}
	if !w.m.core.View().Node(n.nid()).Can(heddle.Freezes) {
		t.Error("its node does not freeze")
	}
	a.sync(Used{Container: both[1]})
	a.told()
	a.sync()
	for i, id := range both {
		w.want(c, id, policy.Step{Do: policy.Suspend, Freeze: heddle.Minute})
		if p := a.told(); p == nil || len(p.Want) != 1 || (p.Want[0].Frozen > 0) != (i == 1) {
			t.Errorf("container %d of which the second was found: told %+v", i+1, p)
		}
		a.sync()
		w.want(c, id, policy.Step{Do: policy.Resume})
		a.told()
		a.sync()
	}
}

// A new core also knows what an agent could not do to a container, although it is not told again.
func TestWhatAnAgentCouldNotDoStays(t *testing.T) {
	w, _, _, n, a, task := agentedBy(t, "")
	a.does(a.can | heddle.Freezes)
	a.call = w.next()
	w.step(&AgentSync{Call: a.call, Node: n.id, Agent: a.name, Can: a.can, Applied: a.applied, Failed: []AgentFailure{{task, "no such group", heddle.Freezes, false}}})
	freezes := func() bool { return w.m.core.View().Container(w.m.container(task).cid).Can(heddle.Freezes) }
	if freezes() {
		t.Fatal("it counts as one that can be frozen")
	}
	c := w.next()
	w.step(&Refresh{Call: c, Scheduler: w.m.Scheduler()})
	w.done(c)
	if !w.m.core.View().Node(n.nid()).Can(heddle.Freezes) || freezes() {
		t.Error("with another core it counts as one that can be frozen")
	}
}

// What an agent could not do is counted once, and shown.
func TestAgentFails(t *testing.T) {
	w, c, n, a, task := agented(t)
	w.want(c, task, policy.Step{Do: policy.Suspend})
	a.told()
	for range 3 {
		a.call = w.next()
		w.step(&AgentSync{Call: a.call, Node: n.id, Agent: a.name, Can: a.can, Applied: a.applied, Failed: []AgentFailure{{task, "no such group", 0, false}}})
	}
	for _, x := range nodesOf(w.m.View()) {
		if x.ID == n.id && (x.Agent == nil || len(x.Agent.Failed) != 1 || x.Agent.Behind) {
			t.Errorf("reported as %+v", x.Agent)
		}
	}
	if got := w.m.View().Cluster().Agents; got.Failed != 1 {
		t.Errorf("counted %+v", got)
	}
}
