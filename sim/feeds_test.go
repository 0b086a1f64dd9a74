package sim

import (
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/workload"
)

// A policy is told what it asks to be told, in both worlds, and each thing once.
func TestFeeds(t *testing.T) {
	for _, isGiven := range []bool{true, false} {
		j := mapReduce("sort", 0, tasks(4, workload.Task{Duration: 20 * second, CPU: 20 * second, Input: 64 << 20, Hosts: []int32{1, 1}, Size: heddle.Of(1024, 1000)}), lasting(1, 10))
		j.Program = "sort"
		spark := workload.Job{ID: "s", Framework: heddle.Spark, Spark: &workload.SparkJob{Executors: 1, Executor: heddle.Of(2048, 2000), Stages: []workload.Stage{{Tasks: lasting(4, 10)}}}}
		o := fullWorld(nodes(2, 1, heddle.Of(16384, 8000)), j, spark)
		o.Given = isGiven
		s := bare()
		s.Feeds = policy.Feeds{Progress: second, Profile: second, Nodes: true, Splits: true, Output: true}
		type key struct {
			c    heddle.ContainerID
			at   heddle.Time
			what string
		}
		seen := map[key]bool{}
		fraction := map[heddle.ContainerID]float64{}
		var output, cpu, node int64
		splits, half, own := 0, false, false
		s.Lanes[0].Order = watch{saw: func(v policy.View, e policy.Effect) {
			k, x := key{at: v.Now()}, e.Container
			switch e.What {
			case policy.AppAdded:
				for _, p := range e.App.Facts().Splits {
					if splits++; p.Bytes != 64<<20 || len(p.Hosts) != 1 || p.Hosts[0] != 1 {
						t.Errorf("split %+v, want 64 MiB on node 1", p)
					}
				}
				return
			case policy.AppDone:
				for _, o := range e.App.Outputs() {
					output += o.Bytes
				}
				return
			case policy.TaskProgress:
				k.c, k.what = x.ID(), "progress"
				_, part := x.Progress()
				if part < fraction[k.c] && x.Kind() != heddle.Executor || part > 1 {
					t.Errorf("given %v: progress of %v from %v to %v", isGiven, k.c, fraction[k.c], part)
				}
				fraction[k.c] = part
				half = half || part > 0.4 && part < 0.6
			case policy.TaskUsage:
				k.c, k.what = x.ID(), "profile"
				used, memory := x.Usage()
				if most := x.Limit()[heddle.CPU] * 3 / 2; used < 0 || memory < 0 || used > most+1 { // a JVM that starts keeps 1.5 cores busy
					t.Errorf("given %v: %d milli-vcores and %d MiB", isGiven, used, memory)
				}
				cpu = max(cpu, used)
			case policy.NodeUsage:
				if used := e.Node.CPUUsed(); used < 0 || used > 8000 {
					t.Errorf("given %v: node %d uses %d milli-vcores", isGiven, e.Node.ID(), used)
				}
				if v.Now()%(3*heddle.Time(second)) == 0 || e.Node.CPUUsed() > 0 && v.Now() < 6*heddle.Time(second) {
					t.Errorf("given %v: node %d reported at %v what it measures then, or of containers that it measured once", isGiven, e.Node.ID(), v.Now())
				}
				node = max(node, e.Node.CPUUsed())
				switch used, others, idle := e.Node.CPUUsed(), e.Node.CPUOthers(), e.Node.CPUIdle(); {
				case isGiven && (others != 0 || idle != -1):
					t.Errorf("a node of the given world says that others use %d milli-vcores, and %d are idle", others, idle)
				case !isGiven && (others < 0 || used+others+idle < 7998 || used+others+idle > 8002):
					t.Errorf("of 8 processors of node %d %d thousandths are used, %d by others, and %d idle", e.Node.ID(), used, others, idle)
				case !isGiven && used > 5500:
					own = own || others < 100
				}
				return
			default:
				return
			}
			if seen[k] {
				t.Errorf("given %v: %s of container %d told twice at %v", isGiven, k.what, k.c, k.at)
			}
			seen[k] = true
		}}
		r := under(t, s, o)
		states(t, r, Succeeded)
		if splits != 4 || !half || cpu < 900 || cpu > 2001 {
			t.Errorf("given %v: %d splits, half done seen %v, at most %d milli-vcores", isGiven, splits, half, cpu)
		}
		if node < 5500 || node > 6500 {
			t.Errorf("given %v: a node with four maps and an executor of two vcores that compute reported at most %d milli-vcores", isGiven, node)
		}
		if !isGiven && !own {
			t.Errorf("of a node whose containers are all measured others always use a part")
		}
		if want := int64(4 * 64 << 20); !isGiven && output != want {
			t.Errorf("map output of %d bytes, want %d", output, want)
		}
	}
}

// With a stock NodeManager, a task that demands more than its container is killed, four times.
func TestMemoryKill(t *testing.T) {
	run := func(kill bool) *Result {
		j := mapReduce("j", 0, lasting(1, 30), nil)
		j.Maps[0].Memory = 2048
		o := fullWorld(nodes(2, 1, heddle.Of(16384, 8000)), j)
		o.Effects.MemoryKill = kill
		return under(t, bare(), o)
	}
	states(t, run(false), Succeeded)
	r := run(true)
	states(t, r, Failed)
	maps := kept(r, 0, heddle.Map)
	if len(maps) != 4 {
		t.Errorf("%d attempts, want 4", len(maps))
	}
	for _, x := range maps {
		if x.Status != heddle.KilledOverPhysical || x.Ended.Since(x.Started) > 4*second {
			t.Errorf("%+v", x)
		}
	}
}

// A master that a controller kills gets another attempt.
func TestKilledMaster(t *testing.T) {
	s := with(deed{15, func(v policy.View, p *policy.Plan) { p.Kill(v.App(0).Master().ID()) }})
	r := under(t, s, thirty(3, 1))
	states(t, r, Succeeded)
	if j := r.Jobs[0]; j.MasterAttempts != 2 || r.FailedAttempts != 1 {
		t.Errorf("%d attempts, %d failed", j.MasterAttempts, r.FailedAttempts)
	}
	if am := kept(r, 0, heddle.AM); len(am) != 2 || am[0].Status != heddle.Preempted {
		t.Errorf("%+v", am)
	}
}

// In the given world, a reduce that was started early ends with the last map, not before it.
func TestGivenReduceWaitsForMaps(t *testing.T) {
	o := givenWorld(nodes(1, 1, heddle.Of(16384, 4000)), mapReduce("j", 0, lasting(20, 10), lasting(1, 5)))
	s := placed(&o, 0, 0)
	s.Lanes[1].PerNode = 2
	r := under(t, s, o)
	states(t, r, Succeeded)
	var last heddle.Time
	for _, m := range kept(r, 0, heddle.Map) {
		last = max(last, m.Ended)
	}
	red := kept(r, 0, heddle.Reduce)[0]
	if red.Started > last || red.Ended < last {
		t.Errorf("the reduce ran from %.2f to %.2f s, the last map ended at %.2f s", red.Started.Seconds(), red.Ended.Seconds(), last.Seconds())
	}
	if used := r.CPUUsed * 4 * r.Makespan.Seconds(); used < 204.9 || used > 205.1 {
		t.Errorf("%.2f core-seconds, want 20·10 + 5: a reduce that waits uses none", used)
	}
}

// What a job will ask for is known when it is submitted.
func TestDemandIsKnown(t *testing.T) {
	o := fullWorld(nodes(2, 1, heddle.Of(16384, 8000)), mapReduce("m", 0, lasting(4, 10), lasting(1, 10)))
	s := bare()
	var seen []heddle.Demand
	s.Lanes[0].Order = watch{saw: func(_ policy.View, e policy.Effect) {
		if e.What == policy.AppAdded {
			seen = append(seen, e.App.Facts().Demand)
		}
	}}
	states(t, under(t, s, o), Succeeded)
	if want := (heddle.Demand{Containers: 4, Each: heddle.Of(1024, 1000)}); len(seen) != 1 || seen[0] != want {
		t.Errorf("%+v, want %+v", seen, want)
	}
}

// A node reports a container as running as soon as it has taken it on, while its process has yet to start. Policies
// hear of that with the node's next report.
func TestNodesReportContainersThatTheyTookOn(t *testing.T) {
	o := fullWorld(nodes(2, 1, heddle.Of(16384, 8000)), mapReduce("j", 0, lasting(6, 10), lasting(1, 5)))
	o.Effects.LaunchDelay = true
	told := map[heddle.ContainerID]heddle.Time{}
	s := bare()
	s.Lanes[0].Order = watch{saw: func(v policy.View, e policy.Effect) {
		if e.What == policy.Started {
			told[e.Container.ID()] = v.Now()
		}
	}}
	r := under(t, s, o)
	states(t, r, Succeeded)
	for _, x := range r.Tasks {
		if at, ok := told[x.Container]; !ok || x.Started.Since(at) < 900*heddle.Millisecond {
			t.Errorf("%v %d is said to run at %.2f s, and its process starts at %.2f s, a second or more after its node took it on",
				x.Kind, x.Index, at.Seconds(), x.Started.Seconds())
		}
	}
}

// What a node reports as used by its containers includes what their processes take to start, however long that lasts:
// it counts containers from their second measurement on.
func TestNodesMeasureContainersThatStart(t *testing.T) {
	o := fullWorld(nodes(1, 1, heddle.Of(16384, 11000)), mapReduce("j", 0, lasting(10, 30), nil))
	o.Nodes[0].Cores = 1
	look, looked := deed{at: 12}, false
	look.do = func(v policy.View, _ *policy.Plan) {
		looked = true
		if used := v.Node(0).CPUUsed(); used < 990 {
			t.Errorf("containers that start use %d milli-vcores, want all", used)
		}
	}
	s := with(look)
	s.Feeds.Nodes = true
	r := under(t, s, o)
	states(t, r, Succeeded)
	if first := kept(r, 0, heddle.Map)[0]; !looked || first.Started < at(look.at) {
		t.Errorf("%+v", first)
	}
}
