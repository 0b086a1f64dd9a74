package sim

import (
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/workload"
)

// apart returns a set whose masters run only on node 0 and whose reduces run on node 1.
func apart() policy.Set {
	s := bare()
	s.Place[heddle.AM] = on{lo: 0, hi: 0}
	s.Place[heddle.Reduce] = on{lo: 1, hi: 1}
	return s
}

// sorting returns a job of eight maps with output and two reduces, on three nodes of eight processors.
func sorting() Options {
	j := mapReduce("sort", 0, tasks(8, workload.Task{Input: 32 << 20, CPU: 10 * second, Size: heddle.Of(1024, 1000)}), tasks(2, workload.Task{CPU: 20 * second, Size: heddle.Of(1024, 1000)}))
	j.Program = "sort"
	o := fullWorld(nodes(3, 1, heddle.Of(16384, 4000)), j)
	o.Expiry = 30 * second
	return o
}

// reruns lists the tasks that had more than one container.
func reruns(ts []TaskResult) []int32 {
	var again []int32
	for i := 1; i < len(ts); i++ {
		if ts[i].Index == ts[i-1].Index && !slices.Contains(again, ts[i].Index) {
			again = append(again, ts[i].Index)
		}
	}
	return again
}

// A node that dies takes the output of its maps with it. When it is given up, the maps run again elsewhere, and the
// reduces, which are alive, go on to their end.
func TestNodeLossRunsLostMapsAgain(t *testing.T) {
	calm := under(t, apart(), sorting())
	states(t, calm, Succeeded)
	if again := reruns(kept(calm, 0, heddle.Map)); len(again) > 0 {
		t.Fatalf("maps %v ran twice though nothing broke", again)
	}
	maps := kept(calm, 0, heddle.Map)
	var done heddle.Time
	var lost []int32
	for _, m := range maps {
		if m.Node == 2 {
			lost, done = append(lost, m.Index), max(done, m.Ended)
		}
	}
	if len(lost) == 0 {
		t.Fatal("no map ran on node 2")
	}
	for _, back := range []heddle.Span{0, 10 * second, 100 * second} {
		o := sorting()
		o.Faults = []Fault{{Kind: NodeLoss, Node: 2, At: done.Plus(100 * heddle.Millisecond), For: back}}
		r := under(t, apart(), o)
		states(t, r, Succeeded)
		again := reruns(kept(r, 0, heddle.Map))
		for _, i := range lost {
			if !slices.Contains(again, i) {
				t.Errorf("back after %v: map %d was on the lost node and did not run again; %v did", back.Seconds(), i, again)
			}
		}
		if r.LocalisedMaps != 8 || r.LocalMaps+r.RackMaps > 8 {
			t.Errorf("back after %v: %d maps are local and %d rack-local of %d, and there are 8", back.Seconds(), r.LocalMaps, r.RackMaps, r.LocalisedMaps)
		}
		noticed := o.Faults[0].At.Plus(o.Expiry)
		if back > 0 {
			noticed = min(noticed, o.Faults[0].At.Plus(back))
		}
		for _, m := range kept(r, 0, heddle.Map) {
			if m.Node == 2 && m.Granted > o.Faults[0].At && (back == 0 || m.Granted < o.Faults[0].At.Plus(back)) {
				t.Errorf("back after %v: map %d granted on the dead node at %.1f s", back.Seconds(), m.Index, m.Granted.Seconds())
			}
			if m.Granted > o.Faults[0].At && m.Granted < noticed && slices.Contains(lost, m.Index) {
				t.Errorf("back after %v: map %d ran again at %.1f s, before the loss was noticed", back.Seconds(), m.Index, m.Granted.Seconds())
			}
		}
		if n := len(kept(r, 0, heddle.Reduce)); n != 2 {
			t.Errorf("back after %v: %d containers for two reduces", back.Seconds(), n)
		}
		if r.Jobs[0].MasterAttempts != 1 || r.Jobs[0].JCT < calm.Jobs[0].JCT {
			t.Errorf("back after %v: %+v; undisturbed %v", back.Seconds(), r.Jobs[0], calm.Jobs[0].JCT)
		}
	}
}

// A master that dies with its node gets another attempt once the node is given up, which takes over what was done.
// Losing its node does not count as a failure of the master, however often it happens.
func TestMasterLostWithItsNode(t *testing.T) {
	o := sorting()
	o.Attempts = 2
	o.Workload.Jobs[0].Reduces = nil
	anywhere := bare()
	o.Faults = []Fault{{Kind: NodeLoss, Node: 0, At: at(16), For: 0}, {Kind: NodeLoss, Node: 1, At: at(100)}}
	anywhere.Place[heddle.AM] = stepping{}
	anywhere.Place[heddle.Map] = on{lo: 2, hi: 2}
	for i := range o.Workload.Jobs[0].Maps {
		o.Workload.Jobs[0].Maps[i].CPU = heddle.Span(10+100*(i/4)) * second
	}
	r := under(t, anywhere, o)
	states(t, r, Succeeded)
	j := r.Jobs[0]
	if j.MasterAttempts < 3 || r.FailedAttempts != j.MasterAttempts-1 {
		t.Errorf("%d attempts, %d failed", j.MasterAttempts, r.FailedAttempts)
	}
	am := kept(r, 0, heddle.AM)
	near(t, "the first master counts as lost", am[0].Ended.Seconds(), 16+30, 0.0101) // after its last heartbeat
	if am[1].Granted < am[0].Ended {
		t.Errorf("second master granted at %v, the first lost at %v", am[1].Granted, am[0].Ended)
	}
}

// stepping puts masters on the node with the lowest id that is up.
type stepping struct{}

func (stepping) Judge(v policy.View, _ *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	for i := range n.ID() {
		if v.Node(i).Up() {
			return policy.No(heddle.NotPicked)
		}
	}
	return policy.Yes
}

// A master on a dead node says nothing: its job stands still until the loss is noticed.
func TestDeadMasterIsSilent(t *testing.T) {
	for _, given := range []bool{true, false} {
		o := sorting()
		o.Given = given
		o.Workload.Jobs[0] = mapReduce("j", 0, lasting(20, 15), nil)
		s := apart()
		s.Place[heddle.AM] = stepping{}
		s.Place[heddle.Map] = on{lo: 1, hi: 2}
		o.Faults = []Fault{{Kind: NodeLoss, Node: 0, At: at(12)}}
		r := under(t, s, o)
		states(t, r, Succeeded)
		orphans := 0
		for _, m := range kept(r, 0, heddle.Map) {
			if m.Started > at(12+3) && m.Started < at(42) {
				t.Errorf("given %v: map %d was started at %.1f s by a master that died at 12 s and was given up at 42 s", given, m.Index, m.Started.Seconds())
			}
			if m.Started > 0 && m.Started < at(12) && m.Ended > at(12.1) && m.Ended < at(42) {
				if orphans++; m.Status == heddle.Success {
					t.Errorf("given %v: map %d ended well at %.1f s with no master to tell", given, m.Index, m.Ended.Seconds())
				}
			}
		}
		if orphans == 0 {
			t.Errorf("given %v: no map ended while the master was dead", given)
		}
	}
}

// A master that is granted a node whose machine is dead never starts there: the NodeManager is called in vain for five
// minutes. That is a failure of the attempt, and the next one goes elsewhere.
func TestMasterOnADeadNode(t *testing.T) {
	o := fullWorld(nodes(2, 1, heddle.Of(16384, 8000)), mapReduce("j", 15, lasting(2, 5), nil))
	o.Stock, o.Faults = false, []Fault{{Kind: NodeLoss, Node: 0, At: at(12)}}
	s := bare()
	s.Place[heddle.AM] = turning(at(20))
	r := under(t, s, o)
	states(t, r, Succeeded)
	am := kept(r, 0, heddle.AM)
	if len(am) != 2 || am[0].Node != 0 || am[1].Node != 1 {
		t.Fatalf("masters %+v", am)
	}
	near(t, "the first master is given up", am[0].Ended.Seconds(), 15+309, 0.1)
	o.Attempts = 1
	states(t, under(t, s, o), Failed)
}

// turning names node 0 until a time, and node 1 from then on.
type turning heddle.Time

func (at turning) Judge(v policy.View, _ *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	if (v.Now() < heddle.Time(at)) != (n.ID() == 0) {
		return policy.No(heddle.NotPicked)
	}
	return policy.Yes
}

// Policies that name nodes also name dead ones until the loss is noticed: nothing starts there. What was granted there
// and not fetched when the loss is noticed is asked for again once, not twice.
func TestGrantsOnADeadNode(t *testing.T) {
	for _, expiry := range []heddle.Span{9 * second, 30 * second} {
		small := func(submit float64, maps, reduces int, slowStart float64) workload.Job {
			j := mapReduce("j", submit, lasting(maps, 1), lasting(reduces, 1))
			j.Queue, j.SlowStart = "a", slowStart
			return j
		}
		o := givenWorld(nodes(2, 1, heddle.Of(16384, 9000)), small(0, 2, 0, -1), small(6, 5, 1, 0), small(6, 2, 0, 0), small(6, 1, 2, -1))
		o.Seed, o.Expiry = 0, expiry
		o.Faults = []Fault{{Kind: NodeLoss, At: at(1), For: expiry}}
		r := named(t, "pack").run(t, o)
		states(t, r, Succeeded)
		there := 0
		for _, x := range r.Tasks {
			if back := at(1).Plus(expiry); x.Node == 0 && x.Granted > at(1) && x.Granted < back {
				if there++; x.Started >= 0 && x.Started < back {
					t.Errorf("container %d started at %.1f s on a dead node", x.Container, x.Started.Seconds())
				}
			}
		}
		if there == 0 {
			t.Error("nothing was granted on the dead node")
		}
	}
}

// Lost heartbeats alone do no harm if they resume before the node is given up.
func TestSilentNode(t *testing.T) {
	run := func(silence float64) *Result {
		o := sorting()
		o.Faults = []Fault{{Kind: SilentNode, Node: 2, At: at(8), For: heddle.Seconds(silence)}}
		r := under(t, apart(), o)
		states(t, r, Succeeded)
		return r
	}
	short := run(20)
	if again := reruns(kept(short, 0, heddle.Map)); len(again) > 0 {
		t.Errorf("maps %v ran again after 20 s of silence", again)
	}
	late := 0
	for _, m := range kept(short, 0, heddle.Map) {
		if m.Node == 2 && m.Granted < at(8) {
			if m.Ended < at(28) {
				t.Errorf("map %d on the silent node is known to have ended at %.1f s", m.Index, m.Ended.Seconds())
			}
			if late++; m.Status != heddle.Success {
				t.Errorf("map %d on the silent node: %v", m.Index, m.Status)
			}
		}
	}
	if late == 0 {
		t.Error("nothing ran on the silent node")
	}
	long := run(60)
	if again := reruns(kept(long, 0, heddle.Map)); len(again) == 0 {
		t.Error("no map ran again after 60 s of silence, though 30 s is the end")
	}
}

// Nothing starts on a node that has not reported for 10 s, even if it has the most room, until it reports again. With a
// stock ResourceManager, a policy that names nodes goes on naming it.
func TestNothingStartsOnASilentNode(t *testing.T) {
	run := func(kind FaultKind, stock, every bool) (silent, later int) {
		var jobs []workload.Job
		for i := range 20 {
			jobs = append(jobs, mapReduce("j", 5*float64(i), lasting(2, 3), nil))
		}
		o := givenWorld(nodes(2, 1, heddle.Of(8192, 8000)), jobs...)
		o.Stock, o.EveryBeat = stock, every
		o.Faults = []Fault{{Kind: kind, Node: 1, At: at(20), For: 50 * second}}
		r := named(t, "spread").run(t, o)
		states(t, r, Succeeded)
		for _, x := range r.Tasks {
			switch {
			case x.Node != 1:
			case x.Granted > at(70):
				later++
			case x.Granted > at(30): // its last report is not younger than 20 s
				silent++
			}
		}
		return silent, later
	}
	for _, kind := range []FaultKind{NodeLoss, SilentNode} {
		for _, every := range []bool{false, true} {
			if silent, later := run(kind, false, every); silent > 0 || later == 0 {
				t.Errorf("fault %d, every beat %v: %d containers are granted on a silent node, %d once it reports again", kind, every, silent, later)
			}
		}
	}
	if silent, _ := run(SilentNode, true, false); silent == 0 {
		t.Error("a stock ResourceManager grants nothing on a silent node")
	}
}

func TestSlowNode(t *testing.T) {
	o := fullWorld(nodes(2, 1, heddle.Of(16384, 8000)), mapReduce("j", 0, lasting(8, 20), nil))
	o.Faults = []Fault{{Kind: SlowNode, Node: 1, At: 0, Factor: 0.5}}
	r := under(t, bare(), o)
	states(t, r, Succeeded)
	seen := 0
	for _, m := range kept(r, 0, heddle.Map) {
		want := 20.0
		if m.Node == 1 {
			want = 40
			seen++
		}
		near(t, "a map", m.Ended.Since(m.Started).Seconds(), want, 0.02)
	}
	if seen == 0 {
		t.Error("nothing ran on the slow node")
	}
	o.Faults[0].For = 15 * second
	for _, m := range kept(under(t, bare(), o), 0, heddle.Map) {
		if m.Node == 1 { // slow until 15 s: what is done by then took twice as long
			near(t, "a map on the node that recovered", m.Ended.Since(m.Started).Seconds(), 20+at(15).Since(m.Started).Seconds()/2, 0.02)
		}
	}
}

// If a node has several faults, each lasts as long as it says: the end of one does not end another.
func TestFaultsOfOneNode(t *testing.T) {
	end := func(faults ...Fault) float64 {
		j := mapReduce("j", 0, lasting(4, 30), nil)
		o := fullWorld(nodes(2, 1, heddle.Of(16384, 4000)), j)
		o.Expiry, o.Faults = 20*second, faults
		for i := range faults {
			faults[i].Node, faults[i].Factor = 1, 0.25
		}
		s := bare()
		s.Place[heddle.AM], s.Place[heddle.Map] = on{lo: 0, hi: 0}, on{lo: 1, hi: 1}
		r := under(t, s, o)
		states(t, r, Succeeded)
		return r.Makespan.Seconds()
	}
	for _, k := range []FaultKind{NodeLoss, SilentNode, SlowNode} {
		whole := end(Fault{Kind: k, At: at(10), For: 200 * second})
		for _, inner := range []Fault{{Kind: k, At: at(12), For: 100 * second}, {Kind: k, At: at(5), For: 20 * second}} {
			inner.Kind = k
			if got := end(Fault{Kind: k, At: at(10), For: 200 * second}, inner); got < whole-10 {
				t.Errorf("fault %d at 10 s for 200: over after %.0f s, with another at %g s for %g after %.0f", k, whole, inner.At.Seconds(), inner.For.Seconds(), got)
			}
		}
	}
}

// A master that fails is tried once more; the second failure ends the application.
func TestMasterFailure(t *testing.T) {
	once, twice := sorting(), sorting()
	once.Faults = []Fault{{Kind: MasterFailure, At: at(18)}}
	r := under(t, apart(), once)
	states(t, r, Succeeded)
	if j := r.Jobs[0]; j.MasterAttempts != 2 || r.FailedAttempts != 1 {
		t.Errorf("%d attempts, %d failed", j.MasterAttempts, r.FailedAttempts)
	}
	if again := reruns(kept(r, 0, heddle.Map)); len(again) == 8 {
		t.Error("every map ran again: the second master took nothing over")
	}
	twice.Faults = []Fault{once.Faults[0], {Kind: MasterFailure, At: at(30)}}
	r = under(t, apart(), twice)
	states(t, r, Failed)
	j := r.Jobs[0]
	whys(t, r, "its master failed 2 times, the last time with exit code 1")
	near(t, "failed at", j.End.Seconds(), 30, 0.02)
	if j.JCT != j.End.Since(0) || j.MasterAttempts != 2 {
		t.Errorf("%+v", j)
	}
	for _, x := range r.Tasks {
		if x.Ended > j.End {
			t.Errorf("%v %d ended at %v, after its application", x.Kind, x.Index, x.Ended)
		}
	}
	twice.Attempts = 3
	states(t, under(t, apart(), twice), Succeeded)
}

// Of the tasks that reach their end, about the stated fraction fails and is run again.
func TestTaskFailures(t *testing.T) {
	for _, isGiven := range []bool{true, false} {
		o := fullWorld(nodes(10, 1, heddle.Of(65536, 40000)), mapReduce("j", 0, lasting(600, 5), nil))
		o.Given, o.Seed = isGiven, 2
		o.Faults = []Fault{{Kind: TaskFailure, Rate: 0.05}}
		r := under(t, bare(), o)
		states(t, r, Succeeded)
		good, bad := 0, 0
		for _, x := range kept(r, 0, heddle.Map) {
			switch x.Status {
			case heddle.Success:
				good++
			case 1:
				bad++
			default:
			}
		}
		if good != 600 || bad < 15 || bad > 50 {
			t.Errorf("given %v: %d maps ended well and %d badly, want 600 and about 5 %% of them", isGiven, good, bad)
		}
	}
	// A task that always fails ends the job with its fourth attempt.
	o := fullWorld(nodes(4, 1, heddle.Of(65536, 40000)), mapReduce("j", 0, lasting(1, 5), nil))
	o.Faults = []Fault{{Kind: TaskFailure, Rate: 0.999999}}
	r := under(t, bare(), o)
	states(t, r, Failed)
	whys(t, r, "its map 1 failed 4 times")
	if n := len(kept(r, 0, heddle.Map)); n != 4 {
		t.Errorf("%d attempts of the map, want 4", n)
	}
}

// Which tasks fail by chance does not depend on what ends before them: it is the same on clusters of different sizes.
func TestTheSameTasksFail(t *testing.T) {
	failed := func(isGiven bool, size int) (of []int32) {
		o := fullWorld(nodes(size, 1, heddle.Of(65536, 40000)), mapReduce("j", 0, lasting(300, 5), nil))
		o.Given, o.Faults = isGiven, []Fault{{Kind: TaskFailure, Rate: 0.1}}
		r := under(t, bare(), o)
		states(t, r, Succeeded)
		for _, x := range kept(r, 0, heddle.Map) {
			if x.Status == 1 {
				of = append(of, x.Index)
			}
		}
		return of
	}
	for _, isGiven := range []bool{true, false} {
		if few, many := failed(isGiven, 2), failed(isGiven, 7); !slices.Equal(few, many) {
			t.Errorf("given %v: attempts of maps %v fail on two nodes, and of %v on seven", isGiven, few, many)
		}
	}
}

func TestFaultsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		f    Fault
		want string
	}{
		{Fault{Kind: NodeLoss, Node: 3}, "fault 0: node 3; there are nodes 0 to 2"},
		{Fault{Kind: SilentNode, Node: -1}, "node -1"},
		{Fault{Kind: SlowNode, Factor: 0}, "speed factor 0"},
		{Fault{Kind: SlowNode, Factor: 1.5}, "at most 1"},
		{Fault{Kind: MasterFailure, Job: 1}, "job 1; there are jobs 0 to 0"},
		{Fault{Kind: TaskFailure, Rate: 1}, "rate 1"},
		{Fault{Kind: NodeLoss, At: -1}, "negative"},
		{Fault{Kind: NodeLoss, For: -1}, "negative"},
	} {
		o := sorting()
		o.Faults, o.Set, o.Queues, o.Users = []Fault{c.f}, bare(), []heddle.QueueID{1}, []heddle.UserID{0}
		if _, err := Run(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.f, err, c.want)
		}
	}
}
