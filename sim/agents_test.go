package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/workload"
)

// crowded returns options with node agents and two maps that each compute for some seconds on a node with one core.
func crowded(seconds float64, a NodeAgents) Options {
	o := thirty(2, 2)
	o.Workload.Jobs[0].Maps = lasting(2, seconds)
	o.Nodes[0].Cores, o.NoAgents, o.NodeAgents = 1, true, &a
	return o
}

// other returns when the map of crowded that is not parked ended, and when it should have, if the other map is parked
// during the given intervals, in seconds.
func other(t *testing.T, r *Result, left float64, parked ...[2]float64) (ended, want float64) {
	t.Helper()
	states(t, r, Succeeded)
	maps := kept(r, 0, heddle.Map)
	if maps[0].Ended > maps[1].Ended {
		maps[0], maps[1] = maps[1], maps[0]
	}
	now := maps[0].Started.Seconds()
	work := func(until, share float64) {
		did := min(left, max(0, until-now)*share)
		left -= did
		now += did / share
	}
	work(maps[1].Started.Seconds(), 1)
	for _, p := range parked {
		work(p[0], 0.5)
		work(p[1], 1000.0/1002)
	}
	work(1000, 0.5)
	return maps[0].Ended.Seconds(), now
}

// A parked task gets only what no other task wants, once its agent has heard of that and done it, and not before.
func TestAgentsTakeTheirTime(t *testing.T) {
	for _, lag := range []heddle.Span{0, 3 * second} {
		r := under(t, with(deed{15, suspend}), crowded(30, NodeAgents{Lag: lag}))
		ended, want := other(t, r, 30, [2]float64{15 + orSpan(lag, AgentLag).Seconds(), 1000})
		near(t, fmt.Sprintf("the other, with a lag of %g s", lag.Seconds()), ended, want, 0.02)
	}
}

// A frozen task gets nothing for as long as it is to be frozen, and goes on when its agent dies.
func TestAgentsFreeze(t *testing.T) {
	ends := func(s policy.Set, faults ...Fault) (seconds float64) {
		o := crowded(30, NodeAgents{})
		o.Faults = faults
		r := under(t, s, o)
		states(t, r, Succeeded)
		for _, x := range kept(r, 0, heddle.Map) {
			seconds = max(seconds, x.Ended.Seconds())
		}
		return seconds
	}
	freeze := func(v policy.View, p *policy.Plan) { p.Freeze(oldestMap(v), 100*second) }
	parked := ends(with(deed{15, suspend}))
	lost := ends(with(deed{15, freeze}), Fault{Kind: AgentLoss, At: at(100)})
	held := ends(with(deed{15, freeze}))
	if later := held - lost; parked > 80 || lost < 120 || math.Abs(later-15-AgentLag.Seconds()) > 0.01 {
		t.Errorf("the maps have ended after %g s with one parked, %g with it frozen and its agent dead at 100 s, %g with it frozen until 115 s", parked, lost, held)
	}
}

// What agents read of map outputs is what masters say if there are no agents, and it is known sooner: with the next
// sync.
func TestAgentsReadOutputs(t *testing.T) {
	const each = 64 << 20
	known := func(seed uint64, agents *NodeAgents) (after float64) { // the end of the last map, in seconds
		j := mapReduce("sort", float64(seed)/2, tasks(4, workload.Task{Duration: 22 * second, CPU: 22 * second, Input: each, Size: heddle.Of(1024, 1000)}), lasting(1, 30))
		j.Program = "sort"
		o := fullWorld(nodes(4, 1, heddle.Of(4096, 2000)), j)
		o.NoAgents, o.NodeAgents = true, agents
		var deeds []deed
		for at := range 600 {
			deeds = append(deeds, deed{float64(at) / 10, func(v policy.View, _ *policy.Plan) {
				sum := int64(0)
				if a := v.App(0); a != nil {
					for _, o := range a.Outputs() {
						sum += o.Bytes
					}
				}
				if sum > 4*each {
					t.Errorf("%d bytes of output, of %d", sum, int64(4*each))
				}
				if sum == 4*each && after == 0 {
					after = v.Now().Seconds()
				}
			}})
		}
		s := with(deeds...)
		s.Feeds = policy.Feeds{Output: true}
		r := under(t, s, o)
		states(t, r, Succeeded)
		last := 0.0
		for _, x := range kept(r, 0, heddle.Map) {
			last = max(last, x.Ended.Seconds())
		}
		return after - last
	}
	var asked, some, read float64 // over all seeds
	const seeds = 10
	for seed := range uint64(seeds) {
		x, y, z := known(seed, nil), known(seed, &NodeAgents{Without: 0.5}), known(seed, &NodeAgents{})
		asked, some, read = asked+x, some+y, read+z
		if min(x, y, z) < 0 || z > 5.2 || max(x, y) > 5.5 {
			t.Errorf("seed %d: all output was known %g s after the last map's end where masters are asked, %g s with agents on half of the nodes, %g s with agents on all", seed, x, y, z)
		}
	}
	if !(read < asked && some <= asked) {
		t.Errorf("all output was known %g s after the last map's end where masters are asked, %g s with agents on half of the nodes, %g s with agents on all, on average",
			asked/seeds, some/seeds, read/seeds)
	}
}

// On a node without an agent, a suspended task goes on computing.
func TestNodesWithoutAgents(t *testing.T) {
	s := with(deed{15, suspend}, deed{20, func(v policy.View, _ *policy.Plan) {
		if !v.Container(oldestMap(v)).Suspended() || v.Node(0).Can(heddle.Parks) {
			t.Error("want a suspended map on a node that cannot park it")
		}
	}})
	ended, want := other(t, under(t, s, crowded(30, NodeAgents{Without: 1})), 30)
	near(t, "the other", ended, want, 0.02)

	o := fullWorld(nodes(10, 1, heddle.Of(16384, 4000)), mapReduce("j", 0, lasting(1, 30), nil))
	o.NoAgents, o.NodeAgents = true, &NodeAgents{Without: 0.3}
	which := func(seed uint64) (out string) {
		o.Seed = seed
		under(t, with(deed{15, func(v policy.View, _ *policy.Plan) {
			for i := range 10 {
				if !v.Node(heddle.NodeID(i)).Can(heddle.Parks) {
					out += fmt.Sprint(i, " ")
				}
			}
		}}), o)
		return out
	}
	if a, b := which(1), which(2); len(a) != 6 || a == b || a != which(1) {
		t.Errorf("nodes %sand %sof ten have no agent, want three by seed", a, b)
	}
}

// What an agent did is undone when it dies. The ResourceManager relies on it until its lease is over, and the next
// agent does it again.
func TestAgentLoss(t *testing.T) {
	lag := AgentLag.Seconds()
	for back, again := range map[heddle.Span][2]float64{0: {1000, 1000}, 10 * second: {30 + lag, 1000}, 35 * second: {55 + lag, 1000}} {
		o := crowded(60, NodeAgents{})
		o.Faults = []Fault{{Kind: AgentLoss, At: at(20), For: back}}
		can := map[float64]bool{}
		s := with(deed{15, suspend})
		for _, sec := range []float64{16, 44, 47, 58} { // the agent was heard of at 15 s, when it had parked the map
			s.Control = append(s.Control, &control{[]deed{{sec, func(v policy.View, _ *policy.Plan) { can[sec] = v.Node(0).Can(heddle.Parks) }}}})
		}
		r := under(t, s, o)
		if !can[16] || !can[44] || can[47] != (back == 10*second) || can[58] != (back > 0) {
			t.Errorf("back after %g s: the core goes by %v", back.Seconds(), can)
		}
		ended, want := other(t, r, 60, [2]float64{15 + lag, 20}, again)
		near(t, fmt.Sprintf("the other, back after %g s", back.Seconds()), ended, want, 0.02)
	}
}

// What containers use is reported to policies that rely on it, as means between two reports.
func TestAgentsMeasure(t *testing.T) {
	o := crowded(30, NodeAgents{})
	s := with(deed{15, suspend})
	s.Feeds.Profile = 3 * second
	var used []int64
	s.Lanes[0].Order = watch{saw: func(v policy.View, e policy.Effect) {
		if e.What == policy.TaskUsage && v.Now() > at(20) && v.Now() < at(30) && e.Container.Kind() == heddle.Map {
			cpu, memory := e.Container.Usage()
			if used = append(used, cpu); memory < 100 || memory > 1024 {
				t.Errorf("a map uses %d MiB", memory)
			}
		}
	}}
	under(t, s, o)
	slices.Sort(used)
	if n := len(used); n < 4 || used[0] > 10 || used[n-1] < 990 || used[n-1] > 1000 {
		t.Errorf("maps use %v thousandths of a core, want next to none of it and all", used)
	}
}

// How busy disks are is reported to policies that rely on it, as long as there are agents.
func TestAgentsMeasureDisks(t *testing.T) {
	for _, agents := range []*NodeAgents{nil, {}} {
		j := mapReduce("sort", 0, tasks(2, workload.Task{CPU: 2 * second, Input: 4 << 30, Hosts: []int32{0}, Size: heddle.Of(1024, 1000)}), nil)
		o := fullWorld(nodes(2, 1, heddle.Of(4096, 2000)), j)
		o.NoAgents, o.NodeAgents = true, agents
		s := with()
		s.Feeds.Disks = true
		least, most, told := int64(1000), int64(0), 0
		s.Lanes[0].Order = watch{saw: func(_ policy.View, e policy.Effect) {
			if e.What == policy.NodeDisks {
				told++
				least, most = min(least, e.Node.DiskBusy()), max(most, e.Node.DiskBusy())
			}
		}}
		under(t, s, o)
		switch {
		case agents == nil && told > 0:
			t.Errorf("without agents it was told %d times how busy disks are", told)
		case agents != nil && (told < 10 || least < 0 || most < 500 || most > 1000):
			t.Errorf("disks are busy from %d to %d thousandths of the time, told %d times; want 10 times at least, and most of it", least, most, told)
		}
	}
}

// The weights that policies set take effect, and are set by their agents.
func TestAgentsWeigh(t *testing.T) {
	o := crowded(30, NodeAgents{})
	r := under(t, with(deed{15, func(v policy.View, p *policy.Plan) { p.Weigh(oldestMap(v), 9000) }}), o)
	maps := kept(r, 0, heddle.Map)
	if long := longs(maps); min(long[0], long[1]) > 45 {
		t.Errorf("maps took %.1f s, one with nine parts of ten", long)
	}
}

// agentProfiles are profiles that act on running tasks.
var agentProfiles = []profile{{name: "ikayak", base: "ikayak"}, {name: "mrorchestrator", base: "mrorchestrator"}, {name: "heddle", base: "heddle"}}

// Whatever happens to agents, jobs end well, the state is sound after every step, and the same seed gives the same run.
func TestAgentsComeAndGo(t *testing.T) {
	for _, p := range agentProfiles {
		for seed := range uint64(20) {
			d := seeded(seed)
			o := anything(d, false)
			o.NoAgents, o.NodeAgents = true, &NodeAgents{Lag: heddle.Span(d(1, 2000)) * heddle.Millisecond, Without: float64(d(0, 2)) / 4}
			for range d(1, 8) {
				f := Fault{Kind: AgentLoss, At: at(float64(d(0, 200))), For: heddle.Span(d(0, 60)) * second, Node: heddle.NodeID(d(0, len(o.Nodes)-1))}
				if d(0, 3) == 0 {
					f.Kind, f.For = FaultKind(d(0, 1)*2), f.For+second // its node dies, or its heartbeats are lost
				}
				o.Faults = append(o.Faults, f)
			}
			first := p.run(t, o)
			states(t, first, Succeeded)
			if again := p.run(t, o); fmt.Sprintf("%+v", first) != fmt.Sprintf("%+v", again) {
				t.Errorf("%s, seed %d: two runs differ", p.name, seed)
			}
		}
	}
}

// A container that its node takes on after its agent was told of it gets what is wanted for it within a second, when
// the agent looks for containers: not only with the next answer, nor only when its process has started.
func TestAgentsFindContainersWithinASecond(t *testing.T) {
	for seed := range uint64(3) {
		o := crowded(30, NodeAgents{})
		o.Seed = seed
		s := bare()
		s.Control = []policy.Control{&weigher{}}
		r := under(t, s, o)
		states(t, r, Succeeded)
		maps := kept(r, 0, heddle.Map)
		// Each takes 1.55 core-s to start, on one core: one has half of it for a second at most, and then nine tenths.
		if apart := maps[1].Started.Since(maps[0].Started).Seconds(); math.Abs(apart) < 0.9 {
			t.Errorf("seed %d: maps start %.2f s apart", seed, apart)
		}
		if long := longs(maps); min(long[0], long[1]) > 33.4 {
			t.Errorf("seed %d: maps took %.1f s, one with nine parts of ten", seed, long)
		}
	}
}

// weigher gives the first map nine times the weight of another as soon as its node has taken it on.
type weigher struct{ done bool }

func (*weigher) Every() heddle.Span { return second / 10 }

func (w *weigher) Run(v policy.View, p *policy.Plan) {
	if a := v.App(0); a != nil && !w.done {
		if id := oldestMap(v); id != 0 && v.Container(id).Started() > 0 {
			p.Weigh(id, 9000)
			w.done = true
		}
	}
}
