package exp

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/scenario"
	"heddle/sim"
	"heddle/sim/world"
	"heddle/workload"
)

func load(t *testing.T, name string, set ...string) *policies.Profile {
	t.Helper()
	p, err := policies.Load(name, set)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// baselines returns the three schedulers, and one with spread executors.
func baselines(t *testing.T) []*policies.Profile {
	return []*policies.Profile{load(t, "capacity"), load(t, "fair"), load(t, "fifo"), load(t, "capacity", "place.executor=spread")}
}

// encode returns the results without how long they took.
func encode(t *testing.T, runs [][]*sim.Result) string {
	t.Helper()
	for _, rs := range runs {
		for _, r := range rs {
			if r != nil {
				r.Wall = 0
			}
		}
	}
	text, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func run(t *testing.T, p Plan) [][]*sim.Result {
	t.Helper()
	runs, err := p.Run()
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// lasting fills in how long tasks last, so that the given world can run them.
func lasting(w *workload.Workload) *workload.Workload {
	fill := func(ts []workload.Task) []workload.Task {
		ts = slices.Clone(ts)
		for i := range ts {
			if ts[i].Duration == 0 {
				ts[i].Duration = heddle.Span(5+i%7) * heddle.Second
			}
		}
		return ts
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		j.Maps, j.Reduces, j.Other = fill(j.Maps), fill(j.Reduces), fill(j.Other)
		if j.Spark != nil {
			s := *j.Spark
			s.Stages = slices.Clone(s.Stages)
			for k := range s.Stages {
				s.Stages[k].Tasks = fill(s.Stages[k].Tasks)
			}
			j.Spark = &s
		}
	}
	return w
}

// The same seed gives the same bytes, on any number of processors, alone or beside other runs: for every scenario that
// comes with Heddle, in both worlds, under each baseline.
func TestSameSeedSameBytes(t *testing.T) {
	files, err := filepath.Glob("../scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, file := range files {
		s, err := scenario.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, given := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/given=%v", filepath.Base(file), given), func(t *testing.T) {
				p := fromScenario(t, s, given)
				p.Profiles, p.Seeds, p.KeepTasks = baselines(t), []uint64{7}, true
				runtime.GOMAXPROCS(1)
				p.Workers = 1
				runs := run(t, p)
				for _, rs := range runs {
					for _, j := range rs[0].Jobs {
						if j.State != sim.Succeeded {
							t.Errorf("%s: job %s %v", rs[0].Profile, j.ID, j.State)
						}
					}
				}
				first := encode(t, runs)
				runtime.GOMAXPROCS(4)
				p.Workers = 4
				if again := encode(t, run(t, p)); again != first {
					t.Error("four processors give other bytes than one")
				}
			})
		}
	}
}

// fromScenario returns the plan of a scenario, without profiles and seeds.
func fromScenario(t *testing.T, s *scenario.Scenario, given bool) Plan {
	t.Helper()
	p := Plan{Conf: conf.Default(), Effects: world.Effects(s.Effects), UplinkBps: s.Uplink, Nodes: Nodes(s), Given: given}
	var err error
	if p.Workload, err = s.Build(7); err != nil {
		t.Fatal(err)
	}
	p.Rebuild = func(seed uint64) (*workload.Workload, error) {
		w, err := s.Build(seed)
		if err == nil && given {
			w = lasting(w)
		}
		return w, err
	}
	return p
}

// folder writes a configuration folder.
func folder(t *testing.T, files map[string]string) *conf.Hadoop {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := conf.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// properties returns a file of settings, given names and values in turn.
func properties(nameValue ...string) string {
	var b strings.Builder
	b.WriteString("<configuration>")
	for i := 0; i < len(nameValue); i += 2 {
		fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>", nameValue[i], nameValue[i+1])
	}
	return b.String() + "</configuration>"
}

const cs = "yarn.scheduler.capacity."

func capacityFolder(t *testing.T) *conf.Hadoop {
	return folder(t, map[string]string{"capacity-scheduler.xml": properties(
		cs+"root.queues", "default,prod,dev",
		cs+"root.default.capacity", "20", cs+"root.prod.capacity", "50", cs+"root.dev.capacity", "30",
		cs+"root.prod.queues", "etl,web", cs+"root.prod.etl.capacity", "60", cs+"root.prod.web.capacity", "40",
		cs+"root.dev.queues", "web,lab", cs+"root.dev.web.capacity", "50", cs+"root.dev.lab.capacity", "50",
		cs+"queue-mappings", "u:ann:root.dev.lab",
	)})
}

// queued returns a workload with one small job for each queue and user.
func queued(queueUser ...string) *workload.Workload {
	w := &workload.Workload{}
	for i := 0; i < len(queueUser); i += 2 {
		w.Jobs = append(w.Jobs, workload.Job{
			ID: fmt.Sprint(i / 2), Queue: queueUser[i], User: queueUser[i+1], Framework: heddle.MapReduce,
			Maps: []workload.Task{{Duration: heddle.Second, CPU: heddle.Second}}, SlowStart: -1,
		})
	}
	return w
}

// placed returns where route puts the jobs; "" if it turns them away.
func placed(t *testing.T, profile string, h *conf.Hadoop, w *workload.Workload) []string {
	t.Helper()
	b, queues, users, err := route(load(t, profile), h, w, 1)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(queues))
	for i, q := range queues {
		if q != heddle.NoQueue {
			out[i] = b.Paths[q]
		}
		for k := range i {
			if same := w.Jobs[i].User == w.Jobs[k].User; same != (users[i] == users[k]) {
				t.Errorf("users %q and %q have ids %d and %d", w.Jobs[i].User, w.Jobs[k].User, users[i], users[k])
			}
		}
	}
	return out
}

func TestJobsFindTheirQueues(t *testing.T) {
	w := queued("etl", "bob", "root.prod.web", "bob", "web", "bob", "default", "bob", "default", "ann", "", "bob", "lab", "ann", "nowhere", "bob", "prod", "bob")
	got := placed(t, "capacity", capacityFolder(t), w)
	// web is in two places; prod has children.
	want := []string{"root.prod.etl", "root.prod.web", "", "root.default", "root.dev.lab", "root.default", "root.dev.lab", "", ""}
	if !slices.Equal(got, want) {
		t.Errorf("capacity: %q,\nwant      %q", got, want)
	}
	for i, path := range placed(t, "fifo", capacityFolder(t), w) {
		if path != "root.default" {
			t.Errorf("fifo: job %d goes to %q", i, path)
		}
	}

	h := folder(t, map[string]string{"fair-scheduler.xml": `<allocations>
		<queue name="prod"/><queue name="users" type="parent"/>
		<queuePlacementPolicy>
			<rule name="specified" create="false"/>
			<rule name="nestedUserQueue" create="true"><rule name="default" queue="root.users"/></rule>
		</queuePlacementPolicy></allocations>`})
	before := len(h.Fair.Queues)
	w = queued("prod", "bob", "", "bob", "other", "ann", "", "bob", "users", "eve", "root.prod", "ann")
	got = placed(t, "fair", h, w)
	want = []string{"root.prod", "root.users.bob", "root.users.ann", "root.users.bob", "", "root.prod"}
	if !slices.Equal(got, want) {
		t.Errorf("fair: %q,\nwant  %q", got, want)
	}
	if len(h.Fair.Queues) != before {
		t.Errorf("the configuration has %d queues after one run, %d before: the next would find them", len(h.Fair.Queues), before)
	}
}

// A job that is turned away is rejected; the others run.
func TestTurnedAway(t *testing.T) {
	p := Plan{
		Workload: queued("etl", "bob", "nowhere", "bob"), Conf: capacityFolder(t), Seeds: []uint64{1}, Given: true,
		Profiles: []*policies.Profile{load(t, "capacity")}, Nodes: Cluster(4, 2, heddle.Of(8192, 8000)),
	}
	r := run(t, p)[0][0]
	if r.Jobs[0].State != sim.Succeeded || r.Jobs[1].State != sim.Rejected {
		t.Errorf("%v, %v", r.Jobs[0].State, r.Jobs[1].State)
	}
	if r.Wall <= 0 {
		t.Error("the run took no time")
	}
}

// many returns a workload that differs by seed: other users, each with a queue that must be created, some of them below
// queues that other seeds create as leaves.
func many(seed uint64) (*workload.Workload, error) {
	w := &workload.Workload{}
	for i := range 6 {
		queue := ""
		if (uint64(i)+seed)%3 == 0 {
			queue = fmt.Sprintf("team%d.sub", seed%4)
		} else if (uint64(i)+seed)%3 == 1 {
			queue = fmt.Sprintf("team%d", (seed+1)%4)
		}
		w.Jobs = append(w.Jobs, workload.Job{
			ID: fmt.Sprint(i), Queue: queue, User: fmt.Sprintf("user%d", (uint64(i)*seed)%5), Framework: heddle.MapReduce,
			Submit: heddle.Time(i) * heddle.Time(heddle.Second), SlowStart: -1,
			Maps: slices.Repeat([]workload.Task{{Input: 64 << 20}}, 8), Reduces: make([]workload.Task, 2),
		})
	}
	return w, nil
}

// Parallel runs give the same results as runs one after the other.
func TestParallelEqualsSerial(t *testing.T) {
	plan := func(workers int) Plan {
		return Plan{
			Rebuild: many, Conf: conf.Default(), Seeds: []uint64{1, 2, 3, 4, 5, 6}, Profiles: baselines(t), Effects: world.AllEffects(),
			Nodes: Cluster(5, 2, heddle.Of(8192, 8000)), KeepTasks: true, Workers: workers,
		}
	}
	open := func(p Plan) Plan { // no rules: queues are created when they are named
		c := conf.DefaultFair()
		c.Rules, c.AllowUndeclared, c.UserAsDefaultQueue = nil, true, true
		p.Conf.Fair, p.Conf.FairPlacement = c, conf.NewFairPlacement(c)
		return p
	}
	serial, parallel := run(t, open(plan(1))), run(t, open(plan(4)))
	if encode(t, serial) != encode(t, parallel) {
		t.Error("four at once come out other than one after the other")
	}
	backwards := open(plan(1))
	slices.Reverse(backwards.Seeds)
	runs := run(t, backwards)
	for i := range runs {
		slices.Reverse(runs[i])
	}
	if encode(t, serial) != encode(t, runs) {
		t.Error("what an earlier run created changes a later one")
	}
	// Seeds vary where blocks are and what tasks need.
	same := plan(2)
	w, _ := many(1)
	same.Workload, same.Rebuild = w, nil
	runs = run(t, same)
	for p, rs := range runs {
		seen := map[heddle.Span]bool{}
		for _, r := range rs {
			seen[r.Makespan] = true
			if r.LocalisedMaps != 48 {
				t.Errorf("%s: %d maps had a split to be near to, want 48", r.Profile, r.LocalisedMaps)
			}
		}
		if len(seen) < len(rs) {
			t.Errorf("profile %d: %d makespans of %d seeds", p, len(seen), len(rs))
		}
	}
}

func TestStopReportDone(t *testing.T) {
	w, _ := many(1)
	var done []int
	p := Plan{Workload: w, Conf: conf.Default(), Seeds: []uint64{1, 2}, Profiles: baselines(t)[:3], Workers: 1, Effects: world.AllEffects(), Nodes: Cluster(3, 1, heddle.Of(8192, 8000))}
	p.Done = func(run int, r *sim.Result) {
		if r.Profile != p.Profiles[run%3].Name || r.Seed != p.Seeds[run/3] {
			t.Errorf("run %d is %s, seed %d", run, r.Profile, r.Seed)
		}
		done = append(done, run)
	}
	p.Stop = func() bool { return len(done) == 4 }
	runs := run(t, p)
	if !slices.Equal(done, []int{0, 1, 2, 3}) || p.Runs() != 6 {
		t.Errorf("done %v of %d", done, p.Runs())
	}
	for i, rs := range runs {
		if rs[0] == nil || (rs[1] != nil) != (i == 0) {
			t.Errorf("profile %d: %v", i, rs)
		}
	}
}

func TestErrors(t *testing.T) {
	w := queued("", "bob")
	plan := func(h *conf.Hadoop, profile *policies.Profile) *Plan {
		return &Plan{Workload: w, Conf: h, Seeds: []uint64{3}, Profiles: []*policies.Profile{profile}, Nodes: Cluster(1, 1, heddle.Of(8192, 8000)), Given: true}
	}
	bare := *conf.Default()
	bare.Capacity, bare.Fair = nil, nil
	broken := load(t, "fifo")
	broken.Lanes = nil
	untimed := plan(conf.Default(), load(t, "fifo"))
	untimed.Workload = queued("", "bob")
	untimed.Workload.Jobs[0].Maps[0].Duration = 0
	rebuilt := plan(conf.Default(), load(t, "fifo"))
	rebuilt.Rebuild = func(seed uint64) (*workload.Workload, error) { return nil, errors.New("no such day") }
	for _, c := range []struct {
		p    *Plan
		want string
	}{
		{plan(&bare, load(t, "capacity")), "profile capacity, seed 3: the configuration folder holds no capacity-scheduler.xml"},
		{plan(&bare, load(t, "fair")), "no fair-scheduler.xml"},
		{plan(conf.Default(), broken), "lanes: there are no lanes"},
		{untimed, "job 0: maps: no duration is known"},
		{rebuilt, "profile fifo, seed 3: no such day"},
	} {
		if _, err := c.p.Run(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := rebuilt.ScaleTo(0.5); err == nil || !strings.Contains(err.Error(), "no such day") {
		t.Error(err)
	}
	if _, err := FromList([]workload.Node{{Name: "n1"}}, heddle.Resource{}); err == nil || !strings.Contains(err.Error(), "n1 states no size") {
		t.Error(err)
	}
}

// A profile that trims maps takes work out of the bounds of all that it is compared with, in the given world.
func TestBoundsBesideAProfileThatTrims(t *testing.T) {
	w := queued("", "a")
	w.Jobs[0].Maps = slices.Repeat([]workload.Task{{Duration: 10 * heddle.Second, Size: heddle.Of(1024, 1000)}}, 64)
	p := Plan{Workload: w, Profiles: []*policies.Profile{load(t, "fifo")}, Seeds: []uint64{1}, Conf: conf.Default(), Nodes: Cluster(1, 1, heddle.Of(65536, 8000)), Given: true}
	if b := run(t, p)[0][0].MakespanBound; b < 79*heddle.Second {
		t.Errorf("64 maps of 10 s on 8 processors take %v at the least, want 80 s", b)
	}
	p.Profiles = append(p.Profiles, load(t, "fifo", "trim.map={ikayak.fixed: {part: 0.5}}"))
	for i, of := range run(t, p) {
		if b := of[0].MakespanBound; b != 10*heddle.Second {
			t.Errorf("profile %d: trimmed maps take %v at the least, want 10 s", i, b)
		}
	}
}

// Spacing the jobs by the factor gives the requested load.
func TestScaleTo(t *testing.T) {
	for _, given := range []bool{true, false} {
		w := queued("", "a", "", "a", "", "a", "", "a", "", "a")
		for i := range w.Jobs {
			w.Jobs[i].Submit = heddle.Time(i) * heddle.Time(100*heddle.Second)
			w.Jobs[i].Maps = slices.Repeat([]workload.Task{{Duration: 10 * heddle.Second, CPU: 10 * heddle.Second, Size: heddle.Of(1024, 1000)}}, 20)
		}
		p := Plan{Workload: w, Conf: conf.Default(), Seeds: []uint64{1}, Nodes: Cluster(2, 1, heddle.Of(10240, 10000)), Given: given}
		f, err := p.ScaleTo(0.5)
		if err != nil {
			t.Fatal(err)
		}
		// Each job is 200 core-seconds, ten seconds of the twenty cores: half the load is one job every 20 s, a fifth
		// of the given gaps. The last of five jobs may count with its own gap or without.
		if f < 0.15 || f > 0.26 {
			t.Errorf("given %v: factor %v", given, f)
		}
	}
}

// In the given world the processors of containers are no part of the load if a scheduler compared does not count them.
func TestScaleToMemory(t *testing.T) {
	w := queued("", "a", "", "a", "", "a")
	for i := range w.Jobs {
		w.Jobs[i].Submit = heddle.Time(i) * heddle.Time(100*heddle.Second)
		w.Jobs[i].Maps = []workload.Task{{Duration: 10 * heddle.Second, Size: heddle.Of(1024, 4000)}}
	}
	p := Plan{
		Workload: w, Conf: conf.Default(), Seeds: []uint64{1}, Nodes: Cluster(1, 1, heddle.Of(10240, 10000)), Given: true,
		Profiles: []*policies.Profile{load(t, "capacity"), load(t, "fifo")},
	}
	// Each job takes a tenth of the memory and two fifths of the vcores for 10 s.
	for memoryOnly, want := range map[bool]float64{false: 0.06 / 0.5, true: 0.015 / 0.5} {
		p.Conf.Capacity.MemoryOnly = memoryOnly
		if f, err := p.ScaleTo(0.5); err != nil || math.Abs(f-want) > 1e-6 {
			t.Errorf("memory only %t: factor %v, %v; want %v", memoryOnly, f, err, want)
		}
	}
}

// In the full world, what tasks compute counts in their place: processors are a limit there whatever schedulers count.
func TestScaleToMemoryInFull(t *testing.T) {
	factor := func(size heddle.Resource, memoryOnly bool) float64 {
		w := queued("", "a", "", "a", "", "a")
		for i := range w.Jobs {
			w.Jobs[i].Submit = heddle.Time(i) * heddle.Time(100*heddle.Second)
			w.Jobs[i].Maps = []workload.Task{{CPU: 10 * heddle.Second, Size: size}}
		}
		p := Plan{
			Workload: w, Conf: conf.Default(), Seeds: []uint64{1}, Nodes: Cluster(1, 1, heddle.Of(10240, 10000)), Effects: world.AllEffects(),
			Profiles: []*policies.Profile{load(t, "capacity")},
		}
		p.Conf.Capacity.MemoryOnly = memoryOnly
		f, err := p.ScaleTo(0.5)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	// A map computes on a tenth of the processors. Its container has two fifths of them and a tenth of the memory.
	if all, memory := factor(heddle.Of(1024, 4000), false), factor(heddle.Of(1024, 4000), true); math.Abs(all/memory-4) > 0.001 {
		t.Errorf("factors %v and %v: want the first four times the second", all, memory)
	}
	// With a fortieth of the memory, what it computes is the most.
	if large, small := factor(heddle.Of(1024, 4000), true), factor(heddle.Of(256, 4000), true); math.Abs(large/small-1) > 0.001 {
		t.Errorf("factors %v and %v: want them alike", large, small)
	}
}

func TestClusters(t *testing.T) {
	ns := Cluster(7, 3, heddle.Of(1024, 1000))
	racks := map[heddle.RackID]int{}
	for _, n := range ns {
		racks[n.Rack]++
	}
	if len(ns) != 7 || len(racks) != 3 || ns[0].Name != "node1" || racks[0] < 2 || racks[2] < 2 {
		t.Errorf("%v, %v", ns, racks)
	}
	got, err := FromList([]workload.Node{{Name: "/r1/a", Rack: "/r1", Size: heddle.Of(2048, 2000)}, {Name: "b", Rack: "/r2"}, {Name: "/r1/c", Rack: "/r1"}}, heddle.Of(1024, 1000))
	want := []world.NodeSpec{{Name: "a", Total: heddle.Of(2048, 2000)}, {Name: "b", Rack: 1, Total: heddle.Of(1024, 1000)}, {Name: "c", Total: heddle.Of(1024, 1000)}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	got, err = FromList([]workload.Node{{Name: "a", Size: heddle.Of(2048, 0)}, {Name: "b", Size: heddle.Of(0, 2000)}}, heddle.Of(1024, 1000))
	want = []world.NodeSpec{{Name: "a", Total: heddle.Of(2048, 1000)}, {Name: "b", Total: heddle.Of(1024, 2000)}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("nodes of which one amount is stated: %v, %v", got, err)
	}
	if _, err := FromList([]workload.Node{{Name: "n1", Size: heddle.Of(2048, 0)}}, heddle.Resource{}); err == nil || !strings.Contains(err.Error(), "n1 states no size") {
		t.Error(err)
	}
}
