package workload

import (
	"fmt"
	"strings"
	"testing"

	"heddle"
)

func TestSLS(t *testing.T) {
	w := mustRead(t, "testdata/sls.json", Options{Strict: true})
	if len(w.Jobs) != 4 || w.Lines != 4 {
		t.Fatalf("%d jobs of %d objects", len(w.Jobs), w.Lines)
	}
	var ids []string
	for _, j := range w.Jobs {
		ids = append(ids, fmt.Sprintf("%s@%g", j.ID, j.Submit.Seconds()))
	}
	if got := strings.Join(ids, " "); got != "job_1.1@0 job_1.2@0 job_2@1 svc@5" {
		t.Errorf("jobs %s", got)
	}

	j := w.Jobs[2]
	if j.User != "ann" || j.Queue != "prod" || j.Framework != heddle.MapReduce || j.Master != heddle.Of(2048, 2000) || j.SlowStart != 1 {
		t.Errorf("job_2: %+v", j)
	}
	want := Task{Duration: ms(8475), Hosts: []int32{0}, Size: heddle.Of(1536, 2000), Priority: 20}
	if len(j.Maps) != 4 || fmt.Sprint(j.Maps[0], j.Maps[1], j.Maps[2]) != fmt.Sprint(want, want, want) {
		t.Errorf("maps %v", j.Maps)
	}
	if m := j.Maps[3]; m.Duration != ms(1500) || m.Size != heddle.Of(1024, 1000) || m.Priority != 20 || w.Hosts[m.Hosts[0]] != (Host{"node4", "/rack2"}) {
		t.Errorf("the map with start and end: %v", m)
	}
	if len(j.Reduces) != 1 || j.Reduces[0].Duration != ms(900) || j.Reduces[0].Priority != 10 || j.Reduces[0].Size != heddle.Of(1024, 1000) {
		t.Errorf("reduces %v", j.Reduces)
	}
	if len(w.Hosts) != 2 || w.Hosts[0] != (Host{"node3", "/rack1"}) {
		t.Errorf("hosts %v", w.Hosts)
	}
	if d := w.Jobs[0]; len(d.Maps) != 1 || d.User != "default" || d.Master != heddle.Of(1024, 1000) {
		t.Errorf("what is not stated: %+v", d)
	}
	if s := w.Jobs[3]; s.Framework != heddle.Plain || len(s.Other) != 2 || len(s.Maps) != 0 {
		t.Errorf("a job of another type: %+v", s)
	}
	if ok, job, field := w.Given(); !ok {
		t.Errorf("durations are said to be missing: %s %s", job, field)
	}
	for _, c := range []struct {
		field, rule string
		jobs        int
	}{
		{"container", `"container.memory" is ignored`, 1},
		{"am", "→ 1024 MiB and 1 vcore", 3},
		{"container", "→ 1024 MiB and 1 vcore", 4},
		{"user", "→ default", 3},
		{"slow_start", "→ 1 (1 job)", 1},
		{"id", "job.count", 2},
		{"id", "→ job_1.1 to .2", 2},
	} {
		if n := filled(w, c.field, c.rule); n != c.jobs {
			t.Errorf("rule %q of %s touched %d jobs, want %d: %v", c.rule, c.field, n, c.jobs, w.Filled)
		}
	}
}

func TestSLSDurationOrder(t *testing.T) {
	j := one(t, "sls", `{"job.id":"a","job.tasks":[{"container.duration.ms":1,"duration.ms":2,"container.start.ms":0,"container.end.ms":3},
		{"duration.ms":2,"container.start.ms":0,"container.end.ms":3},{"container.start.ms":0,"container.end.ms":3},{}]}`)
	for i, want := range []int64{1, 2, 3, 0} {
		if j.Maps[i].Duration != ms(want) {
			t.Errorf("task %d lasts %d, want %d ms", i, j.Maps[i].Duration, want)
		}
	}
}

// What is not read is listed, also if the load simulator reads it.
func TestSLSIgnored(t *testing.T) {
	w := readText(t, "sls", `{"job.id":"a","job.label.expression":"gpu","job.color":"red","job.tasks":[{"duration.ms":5,
		"container.execution.type":"OPPORTUNISTIC","container.allocation.id":"7","container.request.delay":"9000","container.memory":"4096"}]}`)
	for rule, field := range map[string]string{
		`"job.color" is ignored, as the load simulator does`:                 "job",
		`"job.label.expression" is ignored; the load simulator reads it`:     "job",
		`"container.memory" is ignored, as the load simulator does`:          "container",
		`"container.execution.type" is ignored; the load simulator reads it`: "container",
		`"container.allocation.id" is ignored; the load simulator reads it`:  "container",
		`"container.request.delay" is ignored; the load simulator reads it`:  "container",
	} {
		if filled(w, field, rule) != 1 {
			t.Errorf("%s: not listed: %v", rule, w.Filled)
		}
	}
	if filled(w, "job", "ignored") != 2 || filled(w, "container", "ignored") != 4 {
		t.Errorf("also listed: %v", w.Filled)
	}
}

func TestSLSArrayAndNull(t *testing.T) {
	w := readText(t, "sls", "\ufeff[{\"job.id\":\"a\",\"job.user\":null,\"job.tasks\":[{\"duration.ms\":5}]},\n{\"job.id\":\"b\",\"job.tasks\":[{\"duration.ms\":5.0}]}]")
	if len(w.Jobs) != 2 || w.Jobs[1].Maps[0].Duration != ms(5) {
		t.Errorf("jobs %v", w.Jobs)
	}
}

func TestSLSDefects(t *testing.T) {
	good := `{"job.id":"good","job.tasks":[{"duration.ms":5}]}` + "\n"
	job := func(tasks string) string { return `{"job.id":"a","job.tasks":[` + tasks + `]}` }
	for _, c := range []struct {
		text   string
		line   int
		field  string
		reason string
	}{
		{job(`{"count":-1}`), 2, "job.tasks[0].count", "negative"},
		{job(`{"count":"1e30"}`), 2, "job.tasks[0].count", "too large"},
		{job(`{"count":9999999999}`), 2, "job.tasks[0].count", "at most 1048576"},
		{job(`{"count":1048576},{"count":1}`), 2, "job.tasks", "a job may have"},
		{job(`{"count":"NaN"}`), 2, "job.tasks[0].count", "not a whole number"},
		{job(`{"duration.ms":0}`), 2, "job.tasks[0].duration.ms", "lasts longer"},
		{job(`{"duration.ms":[1]}`), 2, "job.tasks[0].duration.ms", "not a whole number"},
		{job(`{},{"container.start.ms":5,"container.end.ms":5}`), 2, "job.tasks[1].container.end.ms", "not after the start"},
		{job(`{"container.memory-mb":-1}`), 2, "job.tasks[0].container.memory-mb", "negative"},
		{job(`{"container.priority":3000000000}`), 2, "job.tasks[0].container.priority", "too large"},
		{job(``), 2, "job.tasks", "at least one task"},
		{`{"job.id":"a"}`, 2, "job.tasks", "at least one task"},
		{`{"job.id":"a","job.start.ms":-4,"job.tasks":[{}]}`, 2, "job.start.ms", "negative"},
		{`{"job.id":"a","job.count":99999999,"job.tasks":[{}]}`, 2, "job.count", "too large"},
		{`{"job.id":"a","job.count":1000000,"job.tasks":[{"count":1000000}]}`, 2, "job.count", "tasks in all"},
		{`{"job.id":"good","job.tasks":[{}]}`, 2, "id", "appears twice"},
		{"\n{\"job.id\":\n\"a\" \"b\"}", 4, "", "is not JSON"},
		{"junk", 2, "", "is not a JSON object"},
		{`{"job.id":"a`, 2, "", "not closed"},
		{"{\"job.id\":\"a\n\"}", 2, "", "a string is not closed"},
		{`{"job.id":"a","job.tasks":[{"count":1}`, 2, "", "not closed"},
	} {
		t.Run(c.field+" "+c.reason, func(t *testing.T) { wantDefect(t, "sls", good+c.text+"\n", c.line, c.field, c.reason) })
	}
}

// After a broken object, reading continues with the next one that begins a line.
func TestSLSGoesOn(t *testing.T) {
	next := "\n" + `{"job.id":"b","job.tasks":[{"duration.ms":5}]}` + "\n"
	for _, broken := range []string{
		`{"job.id":"a","job.tasks":[{"duration.ms":5}`,
		`{"job.id":"a","job.tasks":[`,
		`{"job.id":"a`,
		`junk {"job.id":"a"}`,
	} {
		w, err := Read(write(t, "t", broken+next), Options{Format: "sls"})
		if err != nil {
			t.Errorf("%s: %v", broken, err)
			continue
		}
		if len(w.Jobs) != 1 || w.Jobs[0].ID != "b" || len(w.Skipped) != 1 || w.Skipped[0].Line != 1 {
			t.Errorf("%s: jobs %d, skipped %v", broken, len(w.Jobs), w.Skipped)
		}
	}
}

// Objects that are never closed cost linear, not quadratic, time.
func TestSLSManyUnclosed(t *testing.T) {
	if _, err := Read(write(t, "t", strings.Repeat("{\"a\":[\n", 200_000)), Options{Format: "sls"}); err == nil {
		t.Error("no error")
	}
}

func TestReadNodes(t *testing.T) {
	nodes, err := ReadNodes("testdata/nodes.json")
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{{"n1", "/rack0", heddle.Of(8192, 8000)}, {"n2", "/rack0", heddle.Resource{}}, {"n3", "/rack1", heddle.Resource{}}}
	if fmt.Sprint(nodes) != fmt.Sprint(want) {
		t.Errorf("nodes %v, want %v", nodes, want)
	}
	nodes, err = ReadNodes("testdata/topology.json")
	if err != nil {
		t.Fatal(err)
	}
	want[0].Size = heddle.Resource{}
	if fmt.Sprint(nodes) != fmt.Sprint(want) {
		t.Errorf("topology %v, want %v", nodes, want)
	}
	for text, reason := range map[string]string{
		"":                                      "holds no node",
		`{"rack":"r"}`:                          "neither",
		`{"nodes":[{}]}`:                        "no name",
		`{"nodes":[5]}`:                         "not a list of nodes",
		`{"nodes":[{"node":"a"},{"node":"a"}]}`: "appears twice",
		`{"nodes":[{"node":"a","memory-mb":"-5"}]}`:      ":1: nodes[0].memory-mb: -5 is negative",
		`{"children":[{"name":"r","children":[{}]}]}`:    "no name",
		`{"children":[{"name":"r","children":"x"}]}`:     "got text; wanted a list",
		"\n\n" + `{"nodes":[{"node":"a","vcores":1.5}]}`: ":3: nodes[0].vcores",
	} {
		if _, err := ReadNodes(write(t, "n", text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, want %q", text, err, reason)
		}
	}
}
