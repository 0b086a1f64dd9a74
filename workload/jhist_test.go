package workload

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle"
)

// The files under testdata/history come from Hadoop 3.4.2. The test compares them with what the commands printed at
// their end (counters over all tasks).
func TestHistoryFolder(t *testing.T) {
	w := mustRead(t, "testdata/history", Options{Strict: true})
	if w.Format != "jhist" || len(w.Jobs) != 4 {
		t.Fatalf("format %s, %d jobs", w.Format, len(w.Jobs))
	}
	for i, want := range []struct {
		id, name      string
		submit        float64
		maps, reduces int
		mapMS, redMS  int64 // "Total time spent by all map (reduce) tasks"
		cpu           int64 // "CPU time spent"
		read          int64 // "Bytes Read"
		shuffled      int64 // "Reduce shuffle bytes"
		written       int64 // "Bytes Written"
		peakMap       int64 // "Peak Map Physical memory", MiB
	}{
		{"job_1795257509765_0001", "word count", 0, 3, 1, 31388, 2154, 8830, 41951275, 713, 151, 281804800 >> 20},
		{"job_1795257509765_0004", "TeraSort", 69.338, 2, 3, 8067, 16487, 4720, 20000000, 20800036, 20000000, 233644032 >> 20},
		{"job_1795257509765_0005", "Sleep job", 90.761, 3, 2, 16741, 6401, 1700, 0, 144, 0, 197812224 >> 20},
		{"job_1795257509765_0012", "Fail job", 336.013, 2, 1, 10598, 0, 0, 0, 0, 0, 0},
	} {
		j := &w.Jobs[i]
		if j.ID != want.id || j.Name != want.name || j.Submit.Seconds() != want.submit || j.User != "ann" || j.Queue != "root.default" {
			t.Errorf("job %d: %s %q at %g s, user %s, queue %s", i, j.ID, j.Name, j.Submit.Seconds(), j.User, j.Queue)
		}
		if len(j.Maps) != want.maps || len(j.Reduces) != want.reduces {
			t.Errorf("%s: %d maps, %d reduces", j.ID, len(j.Maps), len(j.Reduces))
		}
		var cpu heddle.Span
		var peak int64
		for k := range j.Maps {
			cpu += j.Maps[k].CPU
			peak = max(peak, j.Maps[k].Memory)
		}
		for k := range j.Reduces {
			cpu += j.Reduces[k].CPU
		}
		for _, c := range []struct {
			what      string
			got, want int64
		}{
			{"map time", durations(j.Maps), want.mapMS},
			{"reduce time", durations(j.Reduces), want.redMS},
			{"cpu", int64(cpu / heddle.Millisecond), want.cpu},
			{"bytes read", j.InputBytes(), want.read},
			{"shuffle", j.ShuffleBytes(), want.shuffled},
			{"bytes written", j.OutputBytes(), want.written},
			{"peak memory", peak, want.peakMap},
			{"map output", sumOf(j.Maps, output), want.shuffled},
		} {
			if c.got != c.want {
				t.Errorf("%s: %s %d, want %d", j.ID, c.what, c.got, c.want)
			}
		}
	}
	if r := w.Jobs[2].Reduces; !r[0].NoOutput || !r[1].NoOutput || w.Jobs[2].Maps[0].NoOutput || w.Jobs[0].Reduces[0].NoOutput || w.Jobs[3].Reduces[0].NoOutput {
		t.Errorf("of these reduces only those of the Sleep job wrote nothing: %+v", r)
	}
	if n := filled(w, "duration", "last attempt"); n != 1 {
		t.Errorf("%d jobs with tasks that never succeeded, want 1", n)
	}
	if n := filled(w, "container", "no _conf.xml"); n != 1 {
		t.Errorf("%d jobs without a configuration, want 1", n)
	}
}

func durations(tasks []Task) int64 {
	var sum heddle.Span
	for i := range tasks {
		sum += tasks[i].Duration
	}
	return int64(sum / heddle.Millisecond)
}

func historyFile(t testing.TB, number string) string {
	t.Helper()
	paths, err := filepath.Glob("testdata/history/*_" + number + "-*.jhist")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	return paths[0]
}

// A folder is read as one format. History of another format in it is reported as left out; files that are not history
// are not.
func TestMixedFolder(t *testing.T) {
	dir := t.TempDir()
	for name, from := range map[string]string{
		"1-notes.tsv": "small.tsv", // a SWIM sample, which stands first
		"2.jhist":     "history/job_1795257509765_0005-1795257654933-ann-Sleep+job-1795257671451-3-2-SUCCEEDED-root.default-1795257657921.jhist",
		"3":           "spark/application_1795257509765_0007",
		"4":           "spark/application_1795257509765_0008",
		"5-readme.md": "README.md",
	} {
		data, err := os.ReadFile(filepath.Join("testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		o    Options
		jobs int
		want string
	}{
		{Options{}, 1, dir + ": is read as jhist alone, and 2 files in other formats are left out, the first: " + filepath.Join(dir, "3") + " (spark)"},
		{Options{Format: "spark"}, 2, dir + ": is read as spark alone, and a file in another format is left out: " + filepath.Join(dir, "2.jhist") + " (jhist)"},
	} {
		w := mustRead(t, dir, c.o)
		if len(w.Jobs) != c.jobs || len(w.Skipped) != 1 || w.Skipped[0].String() != c.want {
			t.Errorf("%+v: %d jobs, skipped %v; want %d jobs and %q", c.o, len(w.Jobs), w.Skipped, c.jobs, c.want)
		}
		c.o.Strict = true
		if _, err := Read(dir, c.o); err == nil || err.Error() != c.want {
			t.Errorf("strict: %v; want %q", err, c.want)
		}
	}
}

// A link is read as its target: a folder, a rolling log under another name, or a file in a folder. A link that forms a
// cycle does not keep the reader busy, and one without a target is not a file.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	link := func(from, to string) {
		t.Helper()
		from, err := filepath.Abs(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, to); err != nil {
			t.Skip(err)
		}
	}
	copied := func(from, to string) string {
		if err := os.Mkdir(to, 0o755); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
		return to
	}
	rolling := "testdata/spark/eventlog_v2_application_1795257509765_0011"
	files := copied("testdata/history", filepath.Join(dir, "files"))
	link(dir, filepath.Join(files, "back"))
	link("nowhere", filepath.Join(files, "nowhere"))
	link("testdata/history", filepath.Join(dir, "folder"))
	link(rolling, filepath.Join(dir, "rolling"))
	for path, jobs := range map[string]int{
		files: 4, filepath.Join(dir, "folder"): 4, filepath.Join(dir, "rolling"): 1,
		copied(rolling, filepath.Join(dir, filepath.Base(rolling))): 1,
	} {
		if w := mustRead(t, path, Options{Strict: true}); len(w.Jobs) != jobs || !strings.HasPrefix(w.Files[0], path) {
			t.Errorf("%s: %d jobs of %v, want %d", path, len(w.Jobs), w.Files, jobs)
		}
	}
}

// Times are counted from the first submission.
func TestHistoryTimes(t *testing.T) {
	w := mustRead(t, "testdata/history", Options{Strict: true})
	first := w.Jobs[0]
	x := first.Times
	if w.Began != millis(1795257564172) || len(x.Maps) != 3 || len(x.Reduces) != 1 {
		t.Fatalf("began %d, times %+v", w.Began, x)
	}
	if !(0 < x.Master && x.Master < x.Ready && x.Ready < x.Maps[0] && x.Maps[0] < x.Reduces[0]) {
		t.Errorf("out of order: %+v", x)
	}
	if end := x.Reduces[0].Plus(first.Reduces[0].Duration); end.Since(0) > first.Recorded {
		t.Errorf("the reduce ends at %v, the job after %v", end, first.Recorded)
	}
	ready := x.Ready
	if x.Move(heddle.Second); x.Ready != ready.Plus(heddle.Second) {
		t.Errorf("moved by a second to %v", x.Ready)
	}
}

func TestHistoryDetails(t *testing.T) {
	w := mustRead(t, historyFile(t, "0001"), Options{Strict: true})
	j := w.Jobs[0]
	m := j.Maps[0]
	if m.Duration != ms(11444) || m.CPU != ms(3020) || m.Input != 16781312 || m.Output != 284 || m.Memory != 268 || m.Size != heddle.Of(512, 1000) {
		t.Errorf("first map %+v", m)
	}
	if j.Master != heddle.Of(512, 1000) || j.SlowStart != 0.05 || j.Framework != heddle.MapReduce {
		t.Errorf("job %+v", j)
	}
	var hosts []string
	for i := range j.Maps {
		for _, h := range j.Maps[i].Hosts {
			hosts = append(hosts, w.Hosts[h].Name)
		}
	}
	if got := strings.Join(hosts, " "); got != "node1.example.org node3.example.org node3.example.org" {
		t.Errorf("splits lie on %s", got)
	}
	if len(j.Reduces[0].Hosts) != 0 {
		t.Errorf("the reduce has hosts %v", j.Reduces[0].Hosts)
	}
}

const textHeading = "Avro-Json\n{}\n"

func event(kind, record string) string {
	return fmt.Sprintf(`{"type":%q,"event":{"x":%s}}`, kind, record) + "\n"
}

var submitted = event("JOB_SUBMITTED", `{"jobid":"j1","submitTime":1000}`)

// The successful attempt counts, whatever others did, and events come in any order.
func TestHistoryAttempts(t *testing.T) {
	attempt := func(kind, id, task string, at int64) string {
		key := "finishTime"
		if strings.HasSuffix(kind, "STARTED") {
			key = "startTime"
		}
		return event(kind, fmt.Sprintf(`{"taskid":%q,"taskType":"MAP","attemptId":%q,%q:%d,"counters":{"JhCounters":{"groups":[{"counts":[{"name":"BYTES_READ","value":%d}]}]}}}`, task, id, key, at, at))
	}
	j := one(t, "jhist", textHeading+submitted+
		event("JOB_INITED", `{"totalMaps":3,"totalReduces":0,"uberized":true}`)+
		event("JOB_PRIORITY_CHANGED", `{"priority":"LOW"}`)+
		attempt("MAP_ATTEMPT_STARTED", "a1", "t_m_000001", 2000)+
		attempt("MAP_ATTEMPT_STARTED", "a0", "t_m_000000", 2000)+
		attempt("MAP_ATTEMPT_FAILED", "a0", "t_m_000000", 2100)+
		attempt("MAP_ATTEMPT_STARTED", "a0b", "t_m_000000", 3000)+
		attempt("MAP_ATTEMPT_FINISHED", "a0b", "t_m_000000", 3500)+
		attempt("MAP_ATTEMPT_KILLED", "a0c", "t_m_000000", 9000)+
		event("TASK_FINISHED", `{"taskid":"t_m_000000","taskType":"MAP","successfulAttemptId":{"string":"a0b"}}`)+
		attempt("MAP_ATTEMPT_KILLED", "a1", "t_m_000001", 2250))
	if j.Priority != 2 || len(j.Maps) != 3 {
		t.Fatalf("%+v", j)
	}
	for i, want := range []struct {
		d  heddle.Span
		in int64
	}{{ms(500), 3500}, {ms(250), 2250}, {0, 0}} {
		if j.Maps[i].Duration != want.d || j.Maps[i].Input != want.in {
			t.Errorf("map %d: %+v, want %v", i, j.Maps[i], want)
		}
	}
}

// What a task wrote to any file system but the local one counts, whoever wrote it. It wrote nothing only if all say so.
func TestOutputElsewhere(t *testing.T) {
	const of = `"taskid":"t_%[1]c_000000","taskType":%[2]q,"attemptId":"a%[1]c"`
	for _, kind := range []string{"MAP", "REDUCE"} {
		for _, c := range []struct {
			written string // by a FileOutputFormat
			systems map[string]int64
			output  int64
			nothing bool
		}{
			{"0", map[string]int64{"FILE": 900, "HDFS": 0, "S3A": 70}, 70, false},
			{"0", map[string]int64{"ABFS": 70, "HDFS": 3, "FILE": 900}, 70, false},
			{"0", map[string]int64{"MAPRFS": 70}, 70, false},
			{"50", map[string]int64{"HDFS": 70}, 50, false},
			{"0", map[string]int64{"FILE": 900, "HDFS": 0, "S3A": 0}, 0, true},
			{"0", map[string]int64{"FILE": 900}, 0, true},
		} {
			groups := fmt.Sprintf(`{"name":"org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter","counts":[{"name":"BYTES_WRITTEN","value":%s}]},`+
				`{"name":"mine","counts":[{"name":"MY_BYTES_WRITTEN","value":5000}]}`, c.written)
			if kind == "REDUCE" {
				groups += `,{"name":"org.apache.hadoop.mapreduce.TaskCounter","counts":[{"name":"REDUCE_SHUFFLE_BYTES","value":600}]}`
			}
			for system, n := range c.systems {
				groups += fmt.Sprintf(`,{"name":"org.apache.hadoop.mapreduce.FileSystemCounter","counts":[{"name":"%s_BYTES_WRITTEN","value":%d}]}`, system, n)
			}
			letter := kind[0] + 'a' - 'A'
			j := one(t, "jhist", textHeading+submitted+
				event(kind+"_ATTEMPT_STARTED", fmt.Sprintf(`{`+of+`,"startTime":2000}`, letter, kind))+
				event(kind+"_ATTEMPT_FINISHED", fmt.Sprintf(`{`+of+`,"finishTime":3000,"counters":{"JhCounters":{"groups":[`+groups+`]}}}`, letter, kind))+
				event("TASK_FINISHED", fmt.Sprintf(`{`+of+`,"successfulAttemptId":"a%[1]c"}`, letter, kind)))
			task := slices.Concat(j.Maps, j.Reduces)[0]
			if task.Output != c.output || task.NoOutput != c.nothing {
				t.Errorf("%s, %+v: an output of %d, none: %t", kind, c, task.Output, task.NoOutput)
			}
		}
	}
}

// What did not succeed, or was not seen to end, is simulated as if it had. That is noted, and counted.
func TestOutcomes(t *testing.T) {
	const rumen = `{"jobID":"a","submitTime":1000%s}`
	job := sparkStart + sparkBegin(0, 0) + sparkSubmit(0, 0, "[]")
	result := func(is string) string {
		return strings.Replace(sparkEnd(0), "}", `,"Job Result":{"Result":"`+is+`"}}`, 1)
	}
	const over = `{"Event":"SparkListenerApplicationEnd","Timestamp":4000}` + "\n"
	for _, c := range []struct {
		format, text    string
		failed, unended int
	}{
		{"jhist", textHeading + submitted + event("JOB_FINISHED", `{"finishTime":9000}`), 0, 0},
		{"jhist", textHeading + submitted + event("JOB_KILLED", `{}`), 1, 0},
		{"jhist", textHeading + submitted, 0, 1},
		{"rumen", fmt.Sprintf(rumen, `,"outcome":"SUCCESS"`), 0, 0},
		{"rumen", fmt.Sprintf(rumen, `,"finishTime":9000`), 0, 0},
		{"rumen", fmt.Sprintf(rumen, `,"outcome":"KILLED","finishTime":9000`), 1, 0},
		{"rumen", fmt.Sprintf(rumen, ""), 0, 1},
		{"spark", job + result("JobSucceeded") + over, 0, 0},
		{"spark", job + result("JobFailed") + over, 1, 0},
		{"spark", job + result("JobFailed"), 1, 0},
		{"spark", job + result("JobSucceeded"), 0, 1},
	} {
		w := readText(t, c.format, c.text)
		if s := Inspect(w); s.Failed != c.failed || s.Unended != c.unended {
			t.Errorf("%s: %d failed and %d without an end, want %d and %d", c.text, s.Failed, s.Unended, c.failed, c.unended)
		}
		if f, u := filled(w, "outcome", "failed or was killed"), filled(w, "outcome", "end is not recorded"); f != c.failed || u != c.unended {
			t.Errorf("%s: noted of %d and %d jobs, want %d and %d", c.text, f, u, c.failed, c.unended)
		}
	}
}

// A file system that does not know where its data is says localhost. Other loopback addresses may be nodes of a small
// cluster.
func TestSplitsAtLocalhost(t *testing.T) {
	history := func(splits string) string {
		return textHeading + submitted + event("TASK_STARTED", `{"taskid":"t_m_000000","taskType":"MAP","splitLocations":"`+splits+`"}`)
	}
	rumen := func(layers string) string {
		return `{"jobID":"a","submitTime":1,"mapTasks":[{"preferredLocations":[{"layers":[` + layers + `]}]}]}`
	}
	for _, c := range []struct {
		format, text, hosts string
		noted               int
	}{
		{"jhist", history("localhost"), "[]", 1},
		{"jhist", history("127.0.0.1,/default-rack/localhost,n1"), "[{n1 }]", 1},
		{"jhist", history("127.0.0.2,localhost.example.org"), "[{127.0.0.2 } {localhost.example.org }]", 0},
		{"rumen", rumen(`"default-rack","localhost"`), "[]", 1},
		{"rumen", rumen(`"r1","n1"`), "[{n1 /r1}]", 0},
	} {
		w := readText(t, c.format, c.text)
		if got := fmt.Sprint(w.Hosts); got != c.hosts || len(w.Jobs[0].Maps[0].Hosts) != len(w.Hosts) {
			t.Errorf("%s: hosts %s, of the map %v; want %s", c.text, got, w.Jobs[0].Maps[0].Hosts, c.hosts)
		}
		if n := filled(w, "hosts", "splits at localhost"); n != c.noted {
			t.Errorf("%s: noted of %d jobs, want %d", c.text, n, c.noted)
		}
	}
}

// A reduce that began before its job's last map ended waited for it.
func TestReducesThatWaited(t *testing.T) {
	task := func(kind, id string, from, to int64) string {
		of := fmt.Sprintf(`"taskid":"%s","taskType":%q,"attemptId":"a%s"`, id, kind, id)
		return event(kind+"_ATTEMPT_STARTED", fmt.Sprintf(`{%s,"startTime":%d}`, of, from)) +
			event(kind+"_ATTEMPT_FINISHED", fmt.Sprintf(`{%s,"finishTime":%d}`, of, to)) +
			event("TASK_FINISHED", fmt.Sprintf(`{%s,"successfulAttemptId":"a%s"}`, of, id))
	}
	history := one(t, "jhist", textHeading+submitted+
		task("REDUCE", "t_r_000000", 3000, 9500)+task("REDUCE", "t_r_000001", 9000, 9500)+task("REDUCE", "t_r_000002", 9100, 9500)+task("REDUCE", "t_r_000003", 3000, 9000)+
		task("MAP", "t_m_000000", 2000, 9000)+task("MAP", "t_m_000001", 2000, 3000))
	attempt := func(from, to int64) string {
		return fmt.Sprintf(`{"attempts":[{"result":"SUCCESS","startTime":%d,"finishTime":%d}]}`, from, to)
	}
	rumen := one(t, "rumen", `{"jobID":"a","submitTime":1000,"mapTasks":[`+attempt(2000, 9000)+","+attempt(2000, 3000)+`],"reduceTasks":[`+
		attempt(3000, 9500)+","+attempt(9000, 9500)+","+attempt(9100, 9500)+","+attempt(3000, 9000)+"]}")
	for _, j := range []*Job{history, rumen} {
		for i, want := range []int64{6000, 0, 0, 5999} {
			if got := j.Reduces[i].Waited; got != ms(want) {
				t.Errorf("reduce %d of %s waited %v for maps, want %d ms", i, j.ID, got, want)
			}
		}
	}
	text := written(t, "sls", &Workload{Jobs: []Job{*history}})
	if !strings.Contains(text, `"container.duration.ms":500,`) || strings.Contains(text, `"container.duration.ms":6500,`) {
		t.Errorf("the load simulator asks for reduces when the last map is done, and is told they last\n%s", text)
	}
}

func TestHistoryDefects(t *testing.T) {
	task := `"taskid":"t_m_000000","taskType":"MAP"`
	for _, c := range []struct {
		text   string
		line   int
		field  string
		reason string
	}{
		{"Avro-Json", 1, "", "heading is missing"},
		{"Avro-Xml\n{}\n", 1, "", "Avro-Binary"},
		{textHeading, 0, "", "no JOB_SUBMITTED"},
		{textHeading + "{", 3, "", "JSON"},
		{textHeading + `{"type":"X","event":{}}`, 3, "event", "one record"},
		{textHeading + event("JOB_SUBMITTED", `{"jobid":"j","submitTime":-1}`), 3, "submitTime", "not stated"},
		{textHeading + event("JOB_SUBMITTED", `{"jobid":"j","submitTime":-5}`), 3, "submitTime", "negative"},
		{textHeading + event("JOB_SUBMITTED", `{"jobid":"j","submitTime":1e3}`), 3, "submitTime", "not a whole number"},
		{textHeading + event("JOB_SUBMITTED", `{"jobid":5,"submitTime":1}`), 3, "jobid", "not text"},
		{textHeading + submitted + event("JOB_INITED", `{"totalMaps":99999999,"totalReduces":0}`), 4, "totalMaps", "at most"},
		{textHeading + submitted + event("JOB_INITED", `{"totalMaps":1048576,"totalReduces":1}`), 0, "totalMaps", "may have"},
		{textHeading + submitted + event("TASK_STARTED", `{"taskid":"t","taskType":"MAP"}`), 4, "taskid", "does not end in a number"},
		{textHeading + submitted + event("MAP_ATTEMPT_STARTED", `{`+task+`,"attemptId":"a","startTime":9000}`) +
			event("MAP_ATTEMPT_FINISHED", `{`+task+`,"attemptId":"a","finishTime":99999999999999}`), 5, "finishTime", "too large"},
		{textHeading + submitted + event("MAP_ATTEMPT_FINISHED", `{`+task+`,"attemptId":"a","finishTime":9,"counters":{"groups":[{"counts":[{"name":"BYTES_READ","value":-9}]}]}}`), 4, "BYTES_READ", "negative"},
		{textHeading + submitted + event("TASK_STARTED", `{`+task+`}`) + event("TASK_STARTED", `{"taskid":"u_m_000000","taskType":"MAP"}`), 0, "taskid", "two tasks have the number 0"},
		{"Avro-Binary\nx\n", 2, "schema", "is not JSON"},
		{"Avro-Binary\n{\"type\":\"record\",\"name\":\"E\",\"fields\":[{\"name\":\"a\",\"type\":\"string\"}]}\n\x7f", 0, "", "event 1 cannot be decoded"},
	} {
		t.Run(c.field+" "+c.reason, func(t *testing.T) { wantDefect(t, "jhist", c.text, c.line, c.field, c.reason) })
	}
}

// Of a task with a number that cannot be right only that number is unknown, in every format. It is a defect.
func TestOddNumbers(t *testing.T) {
	attempt := func(id string, start, finish int64, counters string) string {
		of := `{"taskid":"t_m_000000","taskType":"MAP","attemptId":"` + id + `"`
		return event("MAP_ATTEMPT_STARTED", fmt.Sprintf(of+`,"startTime":%d}`, start)) +
			event("MAP_ATTEMPT_FINISHED", fmt.Sprintf(of+`,"finishTime":%d,"counters":{"groups":[{"counts":[%s]}]}}`, finish, counters))
	}
	const read, cpu = `{"name":"BYTES_READ","value":%d}`, `{"name":"CPU_MILLISECONDS","value":%d}`
	counters := func(r, c int) string { return fmt.Sprintf(read+","+cpu, r, c) }
	history := func(attempts string) string {
		return textHeading + submitted + attempts + event("TASK_FINISHED", `{"taskid":"t_m_000000","taskType":"MAP","successfulAttemptId":"a"}`)
	}
	rumen := `{"jobID":"a","submitTime":1000,"mapTasks":[{"attempts":[{"result":"KILLED","startTime":9000,"finishTime":8000},` +
		`{"result":"SUCCESS","startTime":2000,"finishTime":%d,"hdfsBytesRead":%d,"resourceUsageMetrics":{"cumulativeCpuUsage":%d}}]}]}`
	spark := func(launch, finish int64, read, cpu int) string {
		return sparkStart + sparkSubmit(0, 1, "[]") +
			strings.Replace(sparkTask(0, 0, 0, launch, finish, "Success", int64(read)), "5000000", fmt.Sprint(cpu*1000_000), 1)
	}
	for _, c := range []struct {
		name, format, text, defect string
		want                       Task
	}{
		{"input", "jhist", history(attempt("a", 2000, 3000, counters(-64, 300))), "BYTES_READ: -64 is negative", Task{Duration: ms(1000), CPU: ms(300)}},
		{"processor time", "jhist", history(attempt("a", 2000, 3000, counters(64, -300))), "CPU_MILLISECONDS: -300 is negative", Task{Duration: ms(1000), Input: 64}},
		{"output", "jhist", history(attempt("a", 2000, 3000, counters(64, 300)+`,{"name":"BYTES_WRITTEN","value":-5}`)), "BYTES_WRITTEN: -5 is negative", Task{Duration: ms(1000), CPU: ms(300), Input: 64}},
		{"end", "jhist", history(attempt("a", 2000, maxMillis, counters(64, 300))), "finishTime: ", Task{CPU: ms(300), Input: 64}},
		{"end of a run that lost", "jhist", history(attempt("b", 2000, 3000, counters(64, 300)) + attempt("c", 2000, maxMillis, counters(65, 301))), "finishTime: ", Task{Duration: ms(1000), CPU: ms(300), Input: 64}},
		{"end of a run that lost", "rumen", fmt.Sprintf(rumen, 3000, 64, 300), "mapTasks[0].attempts.finishTime: 8000 is not after the start, 9000", Task{Duration: ms(1000), CPU: ms(300), Input: 64}},
		{"several", "rumen", fmt.Sprintf(rumen, 1999, -64, -300), "mapTasks[0].attempts.finishTime: 8000 is not after the start, 9000; numbers of this job's tasks that are also wrong: 3", Task{}},
		{"input", "spark", spark(1000, 2000, -64, 300), "Input Metrics.Bytes Read: -64; wanted", Task{Duration: ms(1000), CPU: ms(300)}},
		{"processor time", "spark", spark(1000, 2000, 64, -300), "Executor CPU Time: -300000000; wanted", Task{Duration: ms(1000), Input: 64, Hosts: []int32{0}}},
		{"end", "spark", spark(2000, 1000, 64, 300), "Finish Time: 1000 is not soon after", Task{CPU: ms(300), Input: 64, Hosts: []int32{0}}},
	} {
		w := mustRead(t, write(t, "trace", c.text), Options{Format: c.format})
		tasks := w.Jobs[0].Maps
		if s := w.Jobs[0].Spark; s != nil {
			tasks = s.Stages[0].Tasks
		}
		if len(tasks) != 1 || fmt.Sprint(tasks[0]) != fmt.Sprint(c.want) {
			t.Errorf("%s, %s: %+v, want %+v", c.format, c.name, tasks, c.want)
		}
		if len(w.Skipped) != 1 || !strings.Contains(w.Skipped[0].String(), c.defect) {
			t.Errorf("%s, %s: skipped %v, want %q", c.format, c.name, w.Skipped, c.defect)
		}
	}
}

// What precedes a break in a binary history is kept.
func TestHistoryBinaryTruncated(t *testing.T) {
	data, err := os.ReadFile(historyFile(t, "0004"))
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "cut.jhist", string(data[:len(data)*2/3]))
	w := mustRead(t, path, Options{})
	if len(w.Jobs) != 1 || len(w.Jobs[0].Maps) != 2 || len(w.Cut) != 1 || !strings.Contains(w.Cut[0].Reason, "cannot be decoded") {
		t.Errorf("%d jobs, cut off %v", len(w.Jobs), w.Cut)
	}
}

// A schema that could keep the decoder busy for ever or fill the memory is refused.
func TestAvroSchemaIsNotTrusted(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 50) + `"int"` + strings.Repeat("}", 50)
	for schema, reason := range map[string]string{
		`{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}`:                                                                 "contains itself",
		`{"type":"record","name":"R","fields":[{"name":"r","type":{"type":"array","items":"R"}}]}`:                                        "contains itself",
		`{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"array","items":"null"}}]}`:                                     "null outside a union",
		`{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"record","name":"S","fields":[]}}]}`:                            "without name or fields",
		`{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":0}}]}`:                                "does not define",
		`{"type":"record","name":"R","fields":[{"name":"a","type":[["int"]]}]}`:                                                           "union in a union",
		`{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"enum","name":"E"}}]}`:                                          "enum without",
		`{"type":"record","name":"R","fields":[{"name":"a"}]}`:                                                                            "wanted a name",
		`{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"record","name":"x.R","fields":[{"name":"b","type":"int"}]}}]}`: "twice",
		deep: "nested too deeply",
	} {
		if _, err := avroCodec(schema); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", clip([]byte(schema)), err, reason)
		}
	}
	path := write(t, "x", "Avro-Binary\n"+`{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"array","items":"int"}}]}`+"\n\xfe\xff\xff\xff\x0f")
	if _, err := Read(path, Options{Format: "jhist", Strict: true}); err == nil || !strings.Contains(err.Error(), "MaxBlockCount") {
		t.Errorf("an array that claims two thousand million items: %v", err)
	}
}

func TestJobConf(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a.jhist", textHeading+submitted+event("JOB_INITED", `{"totalMaps":1,"totalReduces":1}`))
	put("j1_conf.xml", `<configuration><property><name>mapreduce.map.memory.mb</name><value>640</value></property>
<property><name> mapreduce.map.cpu.vcores </name><value>2</value></property><property><name>mapreduce.reduce.memory.mb</name><value>-1</value></property>
<property><name>mapreduce.job.reduce.slowstart.completedmaps</name><value>0.8</value></property><property><name>mapreduce.job.priority</name><value>HIGH</value></property></configuration>`)
	w := mustRead(t, dir, Options{Strict: true})
	j := w.Jobs[0]
	if j.Maps[0].Size != heddle.Of(640, 2000) || !j.Reduces[0].Size.IsZero() || j.SlowStart != 0.8 || j.Priority != 4 || !j.Master.IsZero() {
		t.Errorf("%+v", j)
	}
	// If no memory is stated, it is derived from that of the heap.
	for options, want := range map[string]int64{
		"-Xms8m -Xmx2048m -Xmx2g -Dx=y": 2560, "-Xmx819m": 1024, "-Xmx1073741824": 1280, "-Xmx4294967296": 5120, "-Xmx4194304k": 5120, "-Xmx9223372036854775807g": 0, "-Xmx1048576k": 1280, "-Xmx0m": 0, "-Dx=-Xmx2g": 0, "-Xmx99999999999999999999m": 0,
	} {
		put("j1_conf.xml", `<configuration><property><name>mapreduce.map.memory.mb</name><value>-1</value></property><property><name>mapred.child.java.opts</name><value>`+options+
			`</value></property><property><name>mapreduce.reduce.memory.mb</name><value>700</value></property></configuration>`)
		j = mustRead(t, dir, Options{Strict: true}).Jobs[0]
		if got := j.Maps[0].Size[heddle.Memory]; got != want || j.Reduces[0].Size != heddle.Of(700, 1000) {
			t.Errorf("a container with the options %q has %d MiB, want %d; the reduce %v", options, got, want, j.Reduces[0].Size)
		}
	}
	put("j1_conf.xml", "<configuration>\n<property")
	w = mustRead(t, dir, Options{})
	if len(w.Skipped) != 1 || !strings.HasSuffix(w.Skipped[0].File, "j1_conf.xml") || w.Skipped[0].Line != 2 || len(w.Jobs) != 1 {
		t.Errorf("a broken configuration: %v", w.Skipped)
	}
}

// A configuration may be compressed. What is not what it seems to be does not keep its job from being read.
func TestJobConfCompressed(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	if _, err := z.Write([]byte(`<configuration><property><name>mapreduce.map.memory.mb</name><value>640</value></property></configuration>`)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := write(t, "a.jhist", textHeading+submitted+event("JOB_INITED", `{"totalMaps":1,"totalReduces":0}`))
	for _, ending := range []string{".zstd", ".zst", ".gz"} { // the content says how it is compressed
		conf := filepath.Join(filepath.Dir(path), "j1_conf.xml"+ending)
		if err := os.WriteFile(conf, gz.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		w := mustRead(t, path, Options{Strict: true})
		if got := w.Jobs[0].Maps[0].Size; got != heddle.Of(640, 1000) || !slices.Contains(w.Files, conf) {
			t.Errorf("%s: a map of %v; read %v", ending, got, w.Files)
		}
		if err := os.WriteFile(conf, []byte("\x1f\x8bjunkjunkjunk"), 0o644); err != nil {
			t.Fatal(err)
		}
		w = mustRead(t, path, Options{})
		if len(w.Jobs) != 1 || len(w.Skipped) != 1 || w.Skipped[0].String() != conf+": cannot be opened: gzip: invalid header" {
			t.Errorf("%s: %d jobs, skipped %v", ending, len(w.Jobs), w.Skipped)
		}
	}
}
