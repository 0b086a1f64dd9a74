package scenario

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/plain"
	"heddle/workload"
)

// nodes4 is a cluster for tests of something else.
const nodes4 = "cluster: {racks: 2, nodes: [{count: 4, memory: 8GiB, vcores: 8}]}\n"

func parseText(t testing.TB, text string) (*Scenario, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Read(path)
}

func mustParse(t testing.TB, text string) *Scenario {
	t.Helper()
	s, err := parseText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func build(t testing.TB, s *Scenario, seed uint64) *workload.Workload {
	t.Helper()
	w, err := s.Build(seed)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRead(t *testing.T) {
	s := mustParse(t, `
name: all of it
about: what it shows
world: given
seeds: 7
cluster:
  racks: 2
  uplink_mb_s: 10Gb/s
  nodes:
    - {count: 3, memory: 16GiB, ram: 20GiB, vcores: 8, disk_mb_s: 150, disk_seek: 5ms, disk_run: 128KiB, nic_mb_s: 1Gb/s, speed: 1.5}
    - {name: big, memory: 65536, vcores: 32, cores: 16, rack: special}
    - {count: 2, memory: 1GiB, vcores: 1, racks: [/a, b]}
    - {count: 2, memory: 1GiB, vcores: 1}
workload: {jobs: [{maps: 1}]}
effects: {skew: false, memory_kill: true, page_cache: true}
profile:
  name: fair
  place: {map: delay}
`)
	if s.Name != "all of it" || s.About != "what it shows" || s.World != "given" || s.Seeds != 7 || s.Uplink != 1.25e9 {
		t.Errorf("%+v", s)
	}
	want := []NodeGroup{
		{Count: 3, Size: heddle.Of(16384, 8000), RAM: 20480, Disk: 150e6, Seek: 5 * heddle.Millisecond, Run: 128 << 10, NIC: 125e6, Speed: 1.5, Racks: []string{"/rack0", "/rack1"}},
		{Name: "big", Count: 1, Size: heddle.Of(65536, 32000), Cores: 16, Racks: []string{"/special"}},
		{Count: 2, Size: heddle.Of(1024, 1000), Racks: []string{"/a", "/b"}},
		{Count: 2, Size: heddle.Of(1024, 1000), Racks: []string{"/rack1", "/rack0"}},
	}
	if !reflect.DeepEqual(s.Cluster, want) {
		t.Errorf("cluster %+v\nwant %+v", s.Cluster, want)
	}
	var nodes []string
	for _, n := range s.Nodes() {
		nodes = append(nodes, n.Name+n.Rack)
	}
	if got := strings.Join(nodes, " "); got != "n1/rack0 n2/rack1 n3/rack0 n4/special n5/a n6/b n7/rack1 n8/rack0" {
		t.Errorf("nodes %s", got)
	}
	if s.Effects != (Effects{Locality: true, Contention: true, Noise: true, Memory: true, LaunchDelay: true, SlowNodes: true, MemoryKill: true, PageCache: true}) {
		t.Errorf("effects %+v", s.Effects)
	}
	if got := fmt.Sprint(s.Profile); got != "map[name:fair place:map[map:delay]]" {
		t.Errorf("profile %s", got)
	}
	if got := plain.Start(s.ProfileNode).Position; got.Line != 17 || got.Column != 3 {
		t.Errorf("the profile begins at %v", got)
	}
	s = mustParse(t, "\ufeff"+nodes4+"workload: {jobs: [{maps: 1}]}\nprofile: dress\n")
	if s.Name != "s" || s.Profile != "dress" || s.Effects.MemoryKill || !s.Effects.Skew || s.Seeds != 0 || s.World != "" {
		t.Errorf("what is left out: %+v", s)
	}
}

// Every error says where it is and what would be right.
func TestErrors(t *testing.T) {
	job := func(text string) string { return nodes4 + "workload:\n  jobs:\n    - " + text + "\n" }
	fault := func(text string) string { return job("{id: a, maps: 1}") + "faults:\n  - " + text + "\n" }
	for _, c := range []struct{ text, want string }{
		{"", "1:1: holds no document; wanted one with name"},
		{"a: 1\n---\nb: 2\n", "3:1: a second document: there must be only one"},
		{"- 1\n", "1:1: wanted a mapping with name, about, cluster, queues, workload"},
		{"name: x\n\tabout: y\n", "2:1: "},
		{"name: [a, b]\n", "1:7: wanted text"},
		{"workload: {jobs: [{maps: 1}]}\n", "1:1: cluster: wanted nodes"},
		{"cluster: {racks: 2}\n", "1:10: cluster: wanted nodes"},
		{nodes4, "1:1: workload: wanted trace, jobs or both"},
		{nodes4 + "workload: {}\n", "2:11: workload: wanted trace"},
		{nodes4 + "workload: {jobs: [{maps: 1}]}\nparams: {disk: 3}\n", "3:1: params: physical parameters cannot be set"},
		{nodes4 + "workload: {jobs: [{maps: 1}]}\ncolour: red\n", `3:1: unknown key "colour"; there are name, about`},
		{job("maps: 1\n      mapps: 2"), `5:7: unknown key "mapps"; did you mean maps? There are id, program`},
		{job("{maps: 1, maps: 2}"), "4:"},
		{job("{maps: many}"), `4:14: "many": wanted a whole number from 0 to 1048576`},
		{job("{maps: -1}"), `4:14: "-1": wanted a whole number`},
		{job("{maps: 1.5}"), `4:14: "1.5": wanted a whole number`},
		{job("{maps: 99999999}"), "wanted a whole number from 0 to 1048576"},
		{job("{maps: [1]}"), "4:14: wanted a whole number"},
		{job("{input: lots}"), `4:15: "lots": wanted bytes, or an amount`},
		{job("{input: 5GX}"), "wanted bytes"},
		{job("{input: 9999999PiB}"), "wanted bytes"},
		{job("{input: -5}"), "wanted bytes"},
		{job("{input: 1PiB}"), "4:15: gives more than 1048576 splits"},
		{job("{input: 1GiB, split: 0}"), "4:28: 0: wanted a split"},
		{job("{input: 1GiB, split: 64MiB, maps: 3}"), "split, maps and input together"},
		{job("{maps: 1048576, split: 2TiB}"), "splits are more than"},
		{job("{id: x}"), "4:7: has no task"},
		{job("{id: x, maps: 0, reduces: 2, input: 1GiB}"), "0: wanted 1 map or more, to read the input"},
		{job("{maps: 1, submit: soon}"), `4:25: "soon": wanted seconds, or a time like`},
		{job("{maps: 1, shuffle: much}"), `wanted a ratio of the input like 0.3`},
		{job("{maps: 1, shuffle: 3000}"), `a ratio above 100; bytes are written with a unit: 3000B`},
		{job("{maps: 1, framework: tez}"), `4:28: "tez": no such framework; there are mapreduce and spark`},
		{job("{maps: 1, program: worcdount}"), `4:26: "worcdount": unknown program; did you mean wordcount? There are wordcount, grep,`},
		{job("{maps: 1, program: mystery}"), `4:26: "mystery": unknown program; there are wordcount, grep,`},
		{job("{maps: 1, count: 0}"), "wanted 1 job or more"},
		{job("{maps: 1, count: 2, arrival: sometimes}"), `wanted batch, or a mapping with one of at, every, poisson`},
		{job("{maps: 1, count: 2, arrival: {every: 1s, poisson: 2s}}"), "wanted one of at, every, poisson"},
		{job("{maps: 1, count: 2, arrival: {at: [1s]}}"), "4:24: 2: 1 times are listed"},
		{job("{maps: 1, count: 2, arrival: {poisson: 0}}"), "wanted the mean time"},
		{job("{maps: 1, count: 1000, arrival: {every: 3000d}}"), "its last job comes after"},
		{job("{maps: 1, map: {memory: 1GiB}}"), "4:22: a container's size: wanted memory and vcores"},
		{job("{maps: 1, map: {memory: 1.3, vcores: 1}}"), "whole number of MiB"},
		{job("{maps: 1, slow_start: 2}"), "wanted a fraction of the maps"},
		{job("{maps: 1, output_replicas: 0}"), "wanted at least 1 replica"},
		{job("{maps: 1, data: {on: [big]}}"), `4:29: "big": no group of nodes has this name`},
		{job("{maps: 1, spark: {executors: 2}}"), "wanted framework: spark"},
		{job("{maps: 1, framework: spark, reduces: 2}"), "reduces of a Spark job"},
		{job("{maps: 1, framework: spark, spark: {executors: 0}}"), "wanted 1 executor or more"},
		{job("{maps: 1, framework: spark, spark: {executors: 3, dynamic: {max: 4}}}"), "executors with dynamic"},
		{job("{maps: 1, framework: spark, spark: {dynamic: {min: 5, max: 4}}}"), "wanted min and initial up to max"},
		{job("{maps: 1, framework: spark, spark: {executor: {memory: 1GiB, vcores: 1}, task_cores: 2}}"), "wanted 1 to the vcores"},
		{job("{maps: 1, framework: spark, spark: {task_cores: 2}}"), "4:55: 2: wanted 1 to the vcores of an executor, here 1"},
		{job("{maps: 1, framework: spark, spark: {iterations: 0}}"), "wanted 1 iteration or more"},
		{job("{maps: 1000, framework: spark, spark: {iterations: 2000}}"), "at most 1048576 tasks"},
		{job("{maps: 1, framework: spark, spark: {iterations: 2, stages: [{tasks: 1}]}}"), "iterations and stages"},
		{job("{framework: spark, spark: {stages: [{tasks: 1, parents: [0]}]}}"), "wanted the number of a stage listed before"},
		{job("{framework: spark, spark: {stages: [{tasks: 1, reads: cache}]}}"), "no stage before this one caches"},
		{job("{framework: spark, spark: {stages: [{tasks: 1, reads: disk}]}}"), "wanted hdfs, shuffle or cache"},
		{job("{framework: spark, spark: {stages: [{reads: hdfs}]}}"), "a stage without tasks"},
		{job("{id: a, maps: 1}\n    - {id: a, maps: 1}"), `5:7: two jobs have the id "a"`},
		{nodes4 + "workload: {jobs: [{maps: 1}], format: sls}\n", "format without trace"},
		{nodes4 + "workload: {trace: none.tsv}\n", "2:19: trace: stat"},
		{nodes4 + "workload: {jobs: &a [{maps: 1}], trace: *a}\n", "anchors and aliases are not supported"},
		{"cluster: {nodes: [{memory: 8GiB}]}\nworkload: {jobs: [{maps: 1}]}\n", "1:19: a group of nodes states no vcores"},
		{"cluster: {nodes: [{vcores: 8}]}\nworkload: {jobs: [{maps: 1}]}\n", "states no memory"},
		{"cluster: {nodes: [{memory: 8GiB, vcores: 1, nic_mb_s: 0}]}\nworkload: {jobs: [{maps: 1}]}\n", "1:55: \"0\": wanted MB/s above 0"},
		{"cluster: {nodes: [{memory: 8GiB, vcores: 1, rack: a, racks: [b]}]}\nworkload: {jobs: [{maps: 1}]}\n", "rack and racks"},
		{"cluster: {nodes: [{memory: 8GiB, vcores: 1, ram: 4GiB}]}\nworkload: {jobs: [{maps: 1}]}\n", "wanted at least the memory that the node offers, 8192 MiB"},
		{"cluster: {nodes: [{memory: 8GiB, vcores: 1, name: a}, {memory: 8GiB, vcores: 1, name: a}]}\nworkload: {jobs: [{maps: 1}]}\n", "two groups have this name"},
		{"cluster: {nodes: [{count: 1048576, memory: 8GiB, vcores: 1}, {memory: 8GiB, vcores: 1}]}\nworkload: {jobs: [{maps: 1}]}\n", "more than 1048576 nodes"},
		{nodes4 + "workload: {jobs: [{maps: 1}]}\nworld: flat\n", "3:8: \"flat\": wanted full or given"},
		{nodes4 + "workload: {jobs: [{maps: 1}]}\nseeds: 0\n", "wanted 1 seed or more"},
		{nodes4 + "workload: {jobs: [{maps: 1}]}\nprofile: [a]\n", "3:10: profile: wanted a name or a mapping"},
		{nodes4 + "workload: {jobs: [{maps: 1}]}\neffects: {gravity: false}\n", `unknown key "gravity"; there are locality`},
		{nodes4 + "workload: {jobs: [{maps: 1}]}\neffects: {skew: maybe}\n", "3:17: wanted true or false"},
		{fault("{kind: fire, at: 3s}"), `6:12: "fire": no such kind of fault; there are node_loss`},
		{fault("{at: 3s}"), "6:5: \"\": no such kind"},
		{fault("{kind: node_loss}"), "wanted one of at, a time, and every"},
		{fault("{kind: node_loss, every: 5s}"), "wanted until with it"},
		{fault("{kind: node_loss, at: 5s, until: 9s}"), "until with at"},
		{fault("{kind: node_loss, at: 5s, node: n9}"), `6:37: "n9": wanted a node from n1 to n4`},
		{fault("{kind: node_loss, at: 5s, speed: 2}"), "node_loss does not use speed"},
		{fault("{kind: slow_node, at: 5s}"), "wanted speed"},
		{fault("{kind: slow_node, at: 5s, speed: 0}"), "6:38: slow_node: speed 0: wanted a factor above 0 and at most 1"},
		{fault("{kind: slow_node, at: 5s, speed: 2}"), "6:38: slow_node: speed 2: wanted a factor above 0 and at most 1"},
		{fault("{kind: silent_node, at: 5s}"), "wanted for"},
		{fault("{kind: master_failure, at: 5s, job: b}"), `"b": no job has this id`},
		{fault("{kind: agent_loss, at: 3s, speed: 0.5}"), "agent_loss does not use speed"},
		{fault("{kind: task_failure, rate: 1}"), "from 0 and below 1"},
		{fault("{kind: task_failure, rate: 0.1, at: 3s}"), "task_failure does not use at"},
		{strings.Repeat("[", 100), "nested more than 64 deep"},
		{strings.Repeat("- ", 100), "nested more than 64 deep"},
	} {
		_, err := parseText(t, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "s.yaml:") {
			t.Errorf("%s\n  error %v\n  want  %s", c.text, err, c.want)
		}
	}
}

func TestErrorIsTyped(t *testing.T) {
	_, err := parseText(t, nodes4+"workload: {jobs: [{maps: x}]}\n")
	var e *Error
	if !errors.As(err, &e) || e.Line != 2 || e.Column != 26 || !strings.HasSuffix(e.Path, "s.yaml") {
		t.Errorf("%#v", err)
	}
	if _, err := Read("none.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestTrace(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("t.tsv", "a\t0\t0\t300000000\t0\t0\nb\t10\t10\t5\t0\t0\njunk\n")
	put("t.json", `{"job.id":"x","job.tasks":[{"duration.ms":5,"container.host":"/r/h"}]}`)

	path := put("s.yaml", nodes4+"workload: {trace: t.tsv, block: 64MiB, gaps: 0.5}\n")
	s, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	w := build(t, s, 1)
	if len(w.Jobs) != 2 || len(w.Jobs[0].Maps) != 5 || w.Jobs[1].Submit != heddle.Time(5*heddle.Second) || w.Hosts != nil || w.Format != "swim" || len(w.Skipped) != 1 || len(w.Filled) == 0 {
		t.Errorf("%d jobs, hosts %v, format %s, skipped %v", len(w.Jobs), w.Hosts, w.Format, w.Skipped)
	}
	if again := build(t, s, 1); again.Jobs[1].Submit != heddle.Time(5*heddle.Second) {
		t.Error("building twice scales the trace twice")
	}
	if _, err := ReadWith(path, workload.Options{Strict: true}); err == nil || !strings.Contains(err.Error(), "t.tsv:3") {
		t.Errorf("strict: %v", err)
	}

	s, err = Read(put("both.yaml", nodes4+"workload: {trace: t.json, format: sls, jobs: [{id: y, maps: 1, split: 1GiB}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	w = build(t, s, 1)
	host := w.Hosts[w.Jobs[0].Maps[0].Hosts[0]]
	if len(w.Jobs) != 2 || len(w.Hosts) != 5 || host != (workload.Host{Name: "h", Rack: "/r"}) || w.Hosts[3].Name != "n4" {
		t.Errorf("%d jobs; hosts %v; the trace's task lies on %v", len(w.Jobs), w.Hosts, host)
	}
	if s.trace.Jobs[0].Maps[0].Hosts[0] != 0 {
		t.Error("building changes the trace")
	}
	if _, err = Read(put("twice.yaml", nodes4+"workload: {trace: t.json, jobs: [{id: x, maps: 1}]}\n")); err == nil || !strings.Contains(err.Error(), `two jobs have the id "x"`) {
		t.Errorf("%v", err)
	}
}
