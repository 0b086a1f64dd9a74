package scenario

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"heddle"
	"heddle/workload"
)

func one(t testing.TB, job string) workload.Job {
	t.Helper()
	return build(t, mustParse(t, nodes4+"workload:\n  jobs:\n    - "+job+"\n"), 1).Jobs[0]
}

func TestMapReduceJob(t *testing.T) {
	j := one(t, "{id: g, program: grep, queue: q, user: u, priority: 3, submit: 1.5m, input: 300MiB, reduces: 3, shuffle: 0.1, output: 10MB, "+
		"map: {memory: 1GiB, vcores: 1}, reduce: {memory: 2048, vcores: 2}, master: {memory: 1536MiB, vcores: 1}, start_up: 20s, map_time: 3s, reduce_time: 500ms, slow_start: 0.8, output_replicas: 2}")
	if j.ID != "g" || j.Program != "grep" || j.Queue != "q" || j.User != "u" || j.Priority != 3 || j.Submit != heddle.Time(90*heddle.Second) ||
		j.SlowStart != 0.8 || j.Replicas != 2 || j.Master != heddle.Of(1536, 1000) || j.StartUp != 20*heddle.Second || j.Framework != heddle.MapReduce {
		t.Errorf("%+v", j)
	}
	const mib = 1 << 20
	var in, out []int64
	for _, m := range j.Maps {
		in, out = append(in, m.Input), append(out, m.Output)
		if m.Size != heddle.Of(1024, 1000) || m.Duration != 3*heddle.Second || len(m.Hosts) != 3 {
			t.Errorf("map %+v", m)
		}
	}
	if fmt.Sprint(in, out) != fmt.Sprint([]int64{128 * mib, 128 * mib, 44 * mib}, []int64{10485760, 10485760, 10485760}) {
		t.Errorf("maps read %v and write %v", in, out)
	}
	if r := j.Reduces[0]; len(j.Reduces) != 3 || r.Input != 10485760 || r.Output != 3333334 || r.Size != heddle.Of(2048, 2000) || r.Duration != 500*heddle.Millisecond {
		t.Errorf("reduces %+v", j.Reduces)
	}
}

// A shuffle or an output of 0 is stated as nothing; without the key the program decides.
func TestNothingIsWritten(t *testing.T) {
	for _, c := range []struct {
		keys           string
		maps, reduces  bool
		mapOut, result int64
	}{
		{"", false, false, 0, 0},
		{", shuffle: 0", true, false, 0, 0},
		{", output: 0", false, true, 0, 0},
		{", shuffle: 3B, output: 0MiB", false, true, 3, 0},
		{", shuffle: 0B, output: 1", true, false, 0, 300 << 20},
	} {
		j := one(t, "{input: 300MiB, reduces: 2"+c.keys+"}")
		if sum := func(tasks []workload.Task) (n int64) {
			for _, task := range tasks {
				n += task.Output
			}
			return n
		}; sum(j.Maps) != c.mapOut || sum(j.Reduces) != c.result {
			t.Errorf("%q: %+v, %+v", c.keys, j.Maps, j.Reduces)
		}
		for i := range j.Maps {
			if j.Maps[i].NoOutput != c.maps {
				t.Errorf("%q: map %+v", c.keys, j.Maps[i])
			}
		}
		for i := range j.Reduces {
			if j.Reduces[i].NoOutput != c.reduces {
				t.Errorf("%q: reduce %+v", c.keys, j.Reduces[i])
			}
		}
	}
}

func TestSplits(t *testing.T) {
	for _, c := range []struct {
		job  string
		want []int64
	}{
		{"{input: 10, split: 4}", []int64{4, 4, 2}},
		{"{input: 10, maps: 3}", []int64{4, 3, 3}},
		{"{maps: 2, split: 1KiB}", []int64{1024, 1024}},
		{"{maps: 2}", []int64{0, 0}},
	} {
		var got []int64
		for _, m := range one(t, c.job).Maps {
			got = append(got, m.Input)
			if (m.Input == 0) != (m.Hosts == nil) {
				t.Errorf("%s: %d bytes on %v", c.job, m.Input, m.Hosts)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: splits %v, want %v", c.job, got, c.want)
		}
	}
	if j := one(t, "{input: 10, split: 5, output: 0.5}"); j.Maps[0].Output != 3 || j.Maps[1].Output != 2 || len(j.Reduces) != 0 || j.SlowStart >= 0 {
		t.Errorf("a job without reduces: %+v", j)
	}
}

func submits(w *workload.Workload) string {
	var b strings.Builder
	for _, j := range w.Jobs {
		fmt.Fprintf(&b, "%s@%g ", j.ID, j.Submit.Seconds())
	}
	return strings.TrimSpace(b.String())
}

func TestArrivals(t *testing.T) {
	for arrival, want := range map[string]string{
		"":                           "j-1@10 j-2@10 j-3@10",
		"arrival: batch, ":           "j-1@10 j-2@10 j-3@10",
		"arrival: {every: 5s}, ":     "j-1@10 j-2@15 j-3@20",
		"arrival: {at: [9, 0, 2]}, ": "j-2@10 j-3@12 j-1@19",
	} {
		w := build(t, mustParse(t, nodes4+"workload: {jobs: [{id: j, maps: 1, count: 3, "+arrival+"submit: 10}]}\n"), 1)
		if got := submits(w); got != want {
			t.Errorf("%s: %s, want %s", arrival, got, want)
		}
	}
}

// Poisson arrivals have the requested mean, are the same for the same seed and different for another one, and do not
// change if a job is listed after them.
func TestPoisson(t *testing.T) {
	text := nodes4 + "workload:\n  jobs:\n    - {id: p, maps: 1, count: 2000, arrival: {poisson: 25s}}\n"
	s := mustParse(t, text)
	a := build(t, s, 1)
	if mean := a.Jobs[1999].Submit.Seconds() / 2000; math.Abs(mean-25) > 2 {
		t.Errorf("mean gap %g s, want 25", mean)
	}
	if submits(a) != submits(build(t, s, 1)) || submits(a) == submits(build(t, s, 2)) {
		t.Error("arrivals do not follow the seed")
	}
	more := build(t, mustParse(t, text+"    - {id: q, input: 1GiB, submit: 300d}\n"), 1)
	if more.Jobs = more.Jobs[:2000]; submits(more) != submits(a) {
		t.Error("a job more changes the others' arrivals")
	}
}

// Blocks are placed as by HDFS.
func TestBlocks(t *testing.T) {
	s := mustParse(t, "cluster: {racks: 3, nodes: [{count: 12, memory: 8GiB, vcores: 8}]}\nworkload: {jobs: [{id: a, input: 100GiB}]}\n")
	w := build(t, s, 1)
	first := make([]int, 12)
	for _, m := range w.Jobs[0].Maps {
		h := m.Hosts
		if len(h) != 3 || h[0] == h[1] || h[1] == h[2] || h[0] == h[2] {
			t.Fatalf("replicas on %v", h)
		}
		if r := func(i int) string { return w.Hosts[h[i]].Rack }; r(0) == r(1) || r(1) != r(2) {
			t.Fatalf("replicas on racks %s %s %s", r(0), r(1), r(2))
		}
		first[h[0]]++
	}
	for n, c := range first {
		if c < 40 || c > 100 { // 800 blocks on 12 nodes: 67 each
			t.Errorf("node %d holds %d first replicas", n, c)
		}
	}
	if !reflect.DeepEqual(w, build(t, s, 1)) || reflect.DeepEqual(w, build(t, s, 2)) {
		t.Error("blocks do not follow the seed")
	}
}

func TestBlocksOnFewNodes(t *testing.T) {
	cluster := "cluster: {nodes: [{name: with, count: 2, memory: 8GiB, vcores: 8}, {count: 5, memory: 8GiB, vcores: 8, rack: other}]}\n"
	for data, want := range map[string]int{"data: {on: [with]}, ": 2, "data: {on: [with], replicas: 1}, ": 1, "data: {replicas: 5}, ": 5, "data: {replicas: 0}, ": 0} {
		w := build(t, mustParse(t, cluster+"workload: {jobs: [{"+data+"input: 2GiB}]}\n"), 1)
		for _, m := range w.Jobs[0].Maps {
			seen := map[int32]bool{}
			for _, h := range m.Hosts {
				seen[h] = true
				if strings.Contains(data, "with") && h > 1 {
					t.Errorf("%s: a block on node %d", data, h)
				}
			}
			if len(seen) != want {
				t.Errorf("%s: replicas on %v, want %d", data, m.Hosts, want)
			}
		}
		if (w.Hosts == nil) != (want == 0) {
			t.Errorf("%s: hosts %v", data, w.Hosts)
		}
	}
}

func TestSparkIterations(t *testing.T) {
	j := one(t, "{id: k, framework: spark, program: kmeans, input: 300MiB, shuffle: 0.1, output: 3000B, "+
		"spark: {executors: 5, executor: {memory: 4GiB, vcores: 4}, client: true, task_cores: 2, storage: 2GiB, iterations: 3, cache: true, in_memory: 2.0, task_time: 8s, cached_time: 1s}}")
	s := j.Spark
	if j.Framework != heddle.Spark || s.Executors != 5 || s.Executor != heddle.Of(4096, 4000) || !s.Client || s.TaskCores != 2 || s.Storage != 2<<30 || s.Dynamic != nil || !s.GivenSpans {
		t.Errorf("%+v", s)
	}
	var got []string
	for _, st := range s.Stages {
		k := st.Tasks[2]
		got = append(got, fmt.Sprintf("%d%v input=%t caches=%t cached=%t %d tasks: %d → %d in %g s, hosts %d",
			st.ID, st.Parents, st.Input, st.Caches, st.Cached, len(st.Tasks), k.Input>>20, k.Output, k.Duration.Seconds(), len(k.Hosts)))
	}
	want := []string{
		"0[] input=true caches=true cached=false 3 tasks: 44 → 209715200 in 8 s, hosts 3", // in memory, and not what it shuffles
		"1[0] input=false caches=false cached=true 3 tasks: 200 → 10485760 in 1 s, hosts 0",
		"2[1] input=false caches=false cached=true 3 tasks: 200 → 1000 in 1 s, hosts 0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("stages\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	j = one(t, "{framework: spark, input: 300MiB, spark: {iterations: 2, dynamic: {min: 1, max: 9, initial: 4, idle: 30s, backlog: 2s}}}")
	if st := j.Spark.Stages[1]; !st.Input || st.Cached || !reflect.DeepEqual(st.Tasks[0].Hosts, j.Spark.Stages[0].Tasks[0].Hosts) || j.Spark.GivenSpans {
		t.Errorf("without a cache the second pass reads the same blocks: %+v", st)
	}
	if d := *j.Spark.Dynamic; d != (workload.Dynamic{Min: 1, Max: 9, Initial: 4, IdleTimeout: 30 * heddle.Second, Backlog: 2 * heddle.Second}) || j.Spark.Executors != 4 {
		t.Errorf("%+v", d)
	}
}

func TestSparkStages(t *testing.T) {
	j := one(t, `{framework: spark, input: 1GiB, spark: {stages: [
      {reads: hdfs, output: 0.5, caches: true},
      {tasks: 4, parents: [0], input: 0.5, output: 8, task_time: 2s},
      {tasks: 2, reads: cache, parents: [0, 1], input: 1MiB},
      {tasks: 3, reads: hdfs}]}}`)
	var got []string
	for _, st := range j.Spark.Stages {
		k := st.Tasks[0]
		got = append(got, fmt.Sprintf("%d%v %t %t %t %d: %d → %d, %g s, hosts %d", st.ID, st.Parents, st.Input, st.Caches, st.Cached, len(st.Tasks), k.Input, k.Output, k.Duration.Seconds(), len(k.Hosts)))
	}
	want := []string{
		"0[] true true false 8: 134217728 → 67108864, 0 s, hosts 3",
		"1[0] false false false 4: 134217728 → 2147483648, 2 s, hosts 0",
		"2[0 1] false false true 2: 524288 → 0, 0 s, hosts 0",
		"3[] true false false 3: 357913942 → 0, 0 s, hosts 3",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("stages\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func faults(t testing.TB, s *Scenario, seed uint64, w *workload.Workload, nodes int) []Fault {
	t.Helper()
	fs, err := s.Faults(seed, w, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// Faults that name no node hit the nodes of the cluster that is simulated, whichever that is.
func TestFaultsOfAnotherCluster(t *testing.T) {
	s := mustParse(t, nodes4+`
workload: {jobs: [{maps: 1}]}
faults: [{kind: node_loss, every: 10s, until: 1000s}, {kind: slow_node, at: 1, node: n3, speed: 0.5}]
`)
	w := build(t, s, 1)
	for _, nodes := range []int{3, 40} {
		hit := map[int]bool{}
		for _, f := range faults(t, s, 1, w, nodes) {
			if hit[f.Node] = true; f.Node >= nodes || f.Kind == SlowNode && f.Node != 2 {
				t.Errorf("%d nodes: %+v", nodes, f)
			}
		}
		if len(hit) < min(nodes, 20) {
			t.Errorf("%d nodes, of which only %d are hit", nodes, len(hit))
		}
	}
	if _, err := s.Faults(1, w, 2); err == nil || !strings.Contains(err.Error(), ":4:86: a slow_node hits its node 3, and the cluster has 2") {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	s := mustParse(t, nodes4+`
workload: {jobs: [{id: a, maps: 1}, {id: b, maps: 1, submit: 5}]}
faults:
  - {kind: slow_node, at: 90s, node: n3, speed: 0.5, for: 1m}
  - {kind: node_loss, every: 10s, until: 1000s, for: 30s}
  - {kind: silent_node, at: 2s, node: 1, for: 5s}
  - {kind: master_failure, at: 3s, job: b}
  - {kind: task_failure, rate: 0.02}
  - {kind: master_failure, every: 100s, until: 900s}
`)
	w := build(t, s, 1)
	fs := faults(t, s, 1, w, 4)
	byKind := map[FaultKind][]Fault{}
	for i, f := range fs {
		byKind[f.Kind] = append(byKind[f.Kind], f)
		if i > 0 && f.At < fs[i-1].At {
			t.Errorf("fault %d stands before an earlier one", i)
		}
	}
	if f := byKind[SlowNode][0]; f != (Fault{Kind: SlowNode, At: heddle.Time(90 * heddle.Second), For: heddle.Minute, Node: 2, Speed: 0.5}) {
		t.Errorf("%+v", f)
	}
	if f := byKind[SilentNode][0]; f.Node != 0 || f.For != 5*heddle.Second {
		t.Errorf("%+v", f)
	}
	if f := byKind[TaskFailure]; len(f) != 1 || f[0].Rate != 0.02 {
		t.Errorf("%+v", f)
	}
	if n := len(byKind[NodeLoss]); n < 70 || n > 130 {
		t.Errorf("%d losses in 1000 s, one in 10 s on average", n)
	}
	nodes := map[int]bool{}
	for _, f := range byKind[NodeLoss] {
		nodes[f.Node] = true
		if f.At > heddle.Time(1000*heddle.Second) || f.For != 30*heddle.Second {
			t.Errorf("%+v", f)
		}
	}
	if len(nodes) != 4 {
		t.Errorf("nodes lost: %v", nodes)
	}
	found := false
	for _, f := range byKind[MasterFailure] {
		found = found || f.At == heddle.Time(3*heddle.Second) && w.Jobs[f.Job].ID == "b"
	}
	if !found {
		t.Errorf("%+v", byKind[MasterFailure])
	}
	if !reflect.DeepEqual(fs, faults(t, s, 1, w, 4)) || reflect.DeepEqual(fs, faults(t, s, 2, w, 4)) {
		t.Error("faults do not follow the seed")
	}
	if NodeLoss.String() != "node_loss" || TaskFailure.String() != "task_failure" {
		t.Error("names of kinds")
	}
}
