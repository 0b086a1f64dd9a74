package workload

import (
	"fmt"
	"strings"
	"testing"

	"heddle"
)

func TestRumen(t *testing.T) {
	w := mustRead(t, "testdata/rumen.json", Options{Strict: true})
	if len(w.Jobs) != 2 || w.Lines != 2 {
		t.Fatalf("%d jobs of %d objects", len(w.Jobs), w.Lines)
	}
	j := w.Jobs[0]
	if j.ID != "job_20_0001" || j.Name != "WordCount" || j.User != "ann" || j.Queue != "prod" || j.Priority != 0 || j.Submit != 0 || j.SlowStart >= 0 {
		t.Errorf("first job %+v", j)
	}
	want := []Task{
		{Duration: ms(6896), CPU: ms(3210), Input: 704270, Output: 1182333, Memory: 256, Hosts: []int32{0, 1}, Size: heddle.Of(1024, 2000)},
		{Duration: ms(2000), Input: 55, Hosts: []int32{0}, Size: heddle.Of(1024, 2000)},
	}
	if fmt.Sprint(j.Maps) != fmt.Sprint(want) {
		t.Errorf("maps %v\nwant %v", j.Maps, want)
	}
	if r := (Task{Duration: ms(9952), Input: 127823, Output: 122793, Size: heddle.Of(2048, 1000)}); fmt.Sprint(j.Reduces) != fmt.Sprint([]Task{r}) {
		t.Errorf("reduces %v, want %v", j.Reduces, r)
	}
	if fmt.Sprint(w.Hosts) != "[{foo /rack1} {bar /rack2}]" {
		t.Errorf("hosts %v", w.Hosts)
	}
	k := w.Jobs[1]
	if k.ID != "job_20_0002" || k.Submit != heddle.Time(heddle.Second) || k.Priority != 4 || len(k.Maps) != 1 || len(k.Reduces) != 0 || !k.Maps[0].Size.IsZero() {
		t.Errorf("second job %+v", k)
	}
	for _, c := range []struct {
		field, rule string
		jobs        int
	}{{"tasks", "not listed", 1}, {"duration", "last attempt", 1}, {"container", "not stated by the trace → 1024 MiB and 1 vcore", 1}, {"vcores", "default", 1}, {"output", "mapOutputBytes", 1}} {
		if n := filled(w, c.field, c.rule); n != c.jobs {
			t.Errorf("rule %q of %s touched %d jobs, want %d: %v", c.rule, c.field, n, c.jobs, w.Filled)
		}
	}
}

func TestRumenDefects(t *testing.T) {
	for _, c := range []struct {
		text   string
		line   int
		field  string
		reason string
	}{
		{`{"jobID":"a","totalMaps":1}`, 1, "submitTime", "not stated"},
		{`{"jobID":"a","submitTime":null}`, 1, "submitTime", "not stated"},
		{`{"jobID":"a","submitTime":-1}`, 1, "submitTime", "not stated"},
		{`{"jobID":"a","submitTime":-7}`, 1, "submitTime", "wanted ms since 1970"},
		{`{"jobID":"a","submitTime":9223372036854775807}`, 1, "submitTime", "too large"},
		{`{"jobID":"a","submitTime":99999999999999999999}`, 1, "submitTime", "99999999999999999999 is out of range"},
		{"{\"jobID\":\"a\",\n\"submitTime\":\"x\"}", 2, "submitTime", "got text; wanted a whole number"},
		{`{"jobID":"","submitTime":1}`, 1, "id", "no id"},
		{`{"jobID":"a","submitTime":1,"totalMaps":1048577}`, 1, "totalMaps", "may have 1048576"},
		{`{"jobID":"a","submitTime":1,"totalMaps":1048576,"totalReduces":1}`, 1, "totalMaps", "may have 1048576"},
		{`{"jobID":"a","submitTime":1,"jobMapMB":9999999999999}`, 1, "jobMapMB", "at most"},
		{`{"jobID":"a","submitTime":1,"mapTasks":[{"inputBytes":-2}]}`, 1, "mapTasks[0].inputBytes", "−1 means unknown"},
		{`{"jobID":"a","submitTime":1,"reduceTasks":[{"attempts":[{"hdfsBytesWritten":9223372036854775807}]}]}`, 1, "reduceTasks[0].hdfsBytesWritten", "too large"},
		{`{"jobID":"a","submitTime":1,"mapTasks":[{"attempts":[{"startTime":5,"finishTime":4}]}]}`, 1, "mapTasks[0].attempts.finishTime", "not after"},
		{`{"jobID":"a","submitTime":1,"mapTasks":{}}`, 1, "mapTasks", "got an object; wanted a list"},
		{`{"jobID":"a","submitTime":1}` + "\n" + `{"jobID":"a","submitTime":1}`, 2, "id", "appears twice"},
	} {
		t.Run(c.field+" "+c.reason, func(t *testing.T) { wantDefect(t, "rumen", c.text, c.line, c.field, c.reason) })
	}
}

// A task that succeeded and wrote 0 bytes wrote nothing, which is noted: it may have written elsewhere than to HDFS.
// What is absent, null or −1 is unknown.
func TestRumenStatesNothing(t *testing.T) {
	for _, c := range []struct {
		result, task, attempt string
		nothing               bool
	}{
		{"SUCCESS", "", `,"hdfsBytesWritten":0`, true},
		{"SUCCESS", `,"outputBytes":0`, `,"hdfsBytesWritten":-1`, true},
		{"SUCCESS", `,"outputBytes":7`, `,"hdfsBytesWritten":0`, false},
		{"SUCCESS", `,"outputBytes":null`, "", false},
		{"SUCCESS", `,"outputBytes":-1`, "", false},
		{"FAILED", `,"outputBytes":0`, `,"hdfsBytesWritten":0`, false},
	} {
		w := readText(t, "rumen", fmt.Sprintf(`{"jobID":"a","submitTime":1,"reduceTasks":[{"attempts":[{"result":%q%s}]%s}]}`, c.result, c.attempt, c.task))
		if got, noted := w.Jobs[0].Reduces[0].NoOutput, filled(w, "output", "HDFS") > 0; got != c.nothing || noted != c.nothing {
			t.Errorf("%+v: known to have written nothing: %t, noted: %t", c, got, noted)
		}
	}
}

func TestJobPriority(t *testing.T) {
	for name, want := range map[string]int32{"VERY_HIGH": 5, "HIGH": 4, "NORMAL": 3, "LOW": 2, "VERY_LOW": 1, "DEFAULT": 0, "": 0, "7": 7, "-3": 0, "x": 0} {
		if got := jobPriority(name); got != want {
			t.Errorf("jobPriority(%q) = %d, want %d", name, got, want)
		}
	}
}

// A memory curve with values that no machine has is limited to the maximum, and no number overflows.
func TestRumenExtremes(t *testing.T) {
	big := "9223372036854775807"
	j := one(t, "rumen", strings.ReplaceAll(`{"jobID":"a","submitTime":1,"mapTasks":[{"attempts":[{"result":"SUCCESS","startTime":1,"finishTime":1,"physMemKbytes":[BIG,-BIG]}]}]}`, "BIG", big))
	if m := j.Maps[0]; m.Memory != MaxMemory || m.Duration != 0 {
		t.Errorf("task %v", m)
	}
}
