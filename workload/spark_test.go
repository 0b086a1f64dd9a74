package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle"
)

// The logs under testdata/spark come from Spark 3.5 on YARN; the applications are Spark's own examples.
func TestSparkFolder(t *testing.T) {
	w := mustRead(t, "testdata/spark", Options{Strict: true})
	var got []string
	for i := range w.Jobs {
		j := &w.Jobs[i]
		tasks := 0
		for k := range j.Spark.Stages {
			tasks += len(j.Spark.Stages[k].Tasks)
		}
		got = append(got, fmt.Sprintf("%s %s @%g %d/%d client=%t given=%t", j.ID[len(j.ID)-4:], j.Name, j.Submit.Seconds(), len(j.Spark.Stages), tasks, j.Spark.Client, j.Spark.GivenSpans))
	}
	want := []string{
		"0007 PythonPi @0 1/4 client=true given=true",
		"0008 PythonPi @21.59 1/12 client=true given=true",
		"0009 PythonPageRank @43.027 9/24 client=true given=true",
		"0010 PythonKMeans @79.68 4/4 client=false given=true",
		"0011 PythonWordCount @113.361 2/8 client=true given=true",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("applications\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if ok, job, _ := w.Given(); !ok {
		t.Errorf("durations of %s are said to be missing", job)
	}
	for _, j := range w.Jobs {
		executor := heddle.Of(768, 1000)
		if j.Name == "PythonWordCount" {
			executor = heddle.Of(768, 2000)
		}
		if j.User != "ann" || j.Framework != heddle.Spark || j.Master != heddle.Of(768, 1000) || j.Spark.Executor != executor ||
			j.Spark.TaskCores != 1 || j.Spark.Storage != 133378867 {
			t.Errorf("%s: %+v %+v", j.ID, j, j.Spark)
		}
	}
	if d := w.Jobs[1].Spark.Dynamic; d == nil || *d != (Dynamic{Min: 0, Max: 3, Initial: 2, IdleTimeout: 5 * heddle.Second, Tracks: true}) {
		t.Errorf("dynamic allocation %+v", d)
	}
	if w.Jobs[0].Spark.Dynamic != nil || w.Jobs[0].Spark.Executors != 2 {
		t.Errorf("static allocation %+v", w.Jobs[0].Spark)
	}
	if n := filled(w, "cpu", "Python"); n != 5 {
		t.Errorf("%d Python applications, want 5", n)
	}
}

// K-means caches its points in the first pass and reads them from memory in the next two.
func TestSparkTimes(t *testing.T) {
	for _, j := range mustRead(t, "testdata/spark", Options{Strict: true}).Jobs {
		x := j.Times
		if len(x.Executors) == 0 || len(x.Stages) != len(j.Spark.Stages) {
			t.Errorf("%s: %d executors, %d stages", j.ID, len(x.Executors), len(x.Stages))
			continue
		}
		for s := range x.Stages {
			for k, at := range x.Stages[s] {
				if j.Spark.Stages[s].Tasks[k].Duration > 0 && at < x.Executors[0] {
					t.Errorf("%s: a task of stage %d begins at %v, before the first executor came", j.ID, s, at)
				}
			}
		}
	}
}

func TestSparkCache(t *testing.T) {
	w := mustRead(t, "testdata/spark/application_1795257509765_0010_1.zstd", Options{Strict: true})
	var got []string
	for _, s := range w.Jobs[0].Spark.Stages {
		got = append(got, fmt.Sprintf("%d after %v caches=%t cached=%t input=%t", s.ID, s.Parents, s.Caches, s.Cached, s.Input))
	}
	want := []string{
		"0 after [] caches=true cached=false input=true",
		"1 after [0] caches=false cached=true input=false", // the driver waited for job 0
		"2 after [1] caches=false cached=true input=false",
		"3 after [2] caches=false cached=false input=false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("stages\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	first := w.Jobs[0].Spark.Stages[0].Tasks[0]
	if first.Duration != ms(5105) || first.Input != 72 || len(first.Hosts) != 1 || w.Hosts[first.Hosts[0]].Name != "node3.example.org" {
		t.Errorf("the task that reads the file: %+v", first)
	}
}

func TestSparkStages(t *testing.T) {
	w := mustRead(t, "testdata/spark/application_1795257509765_0009", Options{Strict: true})
	st := w.Jobs[0].Spark.Stages
	if !st[0].Input || st[2].Input || !st[2].Caches || st[2].Writes != Shuffle || st[8].Writes != Unsaid || !st[4].Cached || !st[6].Cached || fmt.Sprint(st[4].Parents, st[6].Parents, st[8].Parents) != "[1 3] [1 5] [7]" {
		t.Errorf("stages %+v", st)
	}
	want := []Task{{Duration: ms(259), Input: 237, Output: 360}, {Duration: ms(276), Input: 85, Output: 96}, {Duration: ms(230), Input: 174, Output: 171}}
	if fmt.Sprint(st[4].Tasks) != fmt.Sprint(want) {
		t.Errorf("tasks of stage 4 %v, want %v", st[4].Tasks, want)
	}
}

func TestSparkRollingCompacted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "eventlog_v2_a")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"events_1_a":         "junk that was compacted away\n",
		"events_2_a.compact": sparkStart,
		"events_10_a":        sparkTask(0, 0, 0, 100, 350, "Success", 0),
		"events_3_a":         sparkBegin(0, 0) + sparkSubmit(0, 1, "[]"),
		"appstatus_a":        "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := mustRead(t, dir, Options{Strict: true})
	if s := w.Jobs[0].Spark.Stages; len(s) != 1 || s[0].Tasks[0].Duration != ms(250) {
		t.Errorf("stages %+v", s)
	}
}

// An application is skipped if a part of its rolling log cannot be opened. The others in the folder are read.
func TestSparkRollingUnreadable(t *testing.T) {
	dir := t.TempDir()
	rolling := filepath.Join(dir, "eventlog_v2_a")
	if err := os.Mkdir(rolling, 0o755); err != nil {
		t.Fatal(err)
	}
	unreadable := filepath.Join(rolling, "events_2_a")
	for path, text := range map[string]string{
		filepath.Join(rolling, "events_1_a"): sparkStart,
		unreadable:                           "LZ4Block",
		filepath.Join(dir, "b"):              strings.Replace(sparkStart, `"a"`, `"b"`, 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := mustRead(t, dir, Options{})
	if len(w.Jobs) != 1 || w.Jobs[0].ID != "b" || len(w.Skipped) != 1 || !strings.HasPrefix(w.Skipped[0].String(), unreadable+": cannot be opened as a log: ") {
		t.Errorf("jobs %+v, skipped %v", w.Jobs, w.Skipped)
	}
}

const sparkStart = `{"Event":"SparkListenerApplicationStart","App Name":"x","App ID":"a","Timestamp":1000,"User":"u"}` + "\n"

func sparkEnv(properties string) string {
	return `{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{` + properties + `}}` + "\n"
}

func sparkBegin(id int, stages ...int) string {
	return fmt.Sprintf(`{"Event":"SparkListenerJobStart","Job ID":%d,"Stage IDs":%s}`, id, strings.ReplaceAll(fmt.Sprint(stages), " ", ",")) + "\n"
}

func sparkEnd(id int) string {
	return fmt.Sprintf(`{"Event":"SparkListenerJobEnd","Job ID":%d}`, id) + "\n"
}

func sparkSubmit(id, tasks int, parents string) string {
	return fmt.Sprintf(`{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":%d,"Number of Tasks":%d,"Parent IDs":%s,"RDD Info":[{"RDD ID":%d,"Name":"HadoopRDD","Parent IDs":[],"Storage Level":{}}]}}`, id, tasks, parents, id) + "\n"
}

func sparkTask(stage, attempt, index int, launch, finish int64, reason string, read int64) string {
	return fmt.Sprintf(`{"Event":"SparkListenerTaskEnd","Stage ID":%d,"Stage Attempt ID":%d,"Task End Reason":{"Reason":%q},"Task Info":{"Index":%d,"Partition ID":%d,"Launch Time":%d,"Finish Time":%d,"Host":"h%d","Locality":"NODE_LOCAL"},"Task Metrics":{"Executor CPU Time":5000000,"Input Metrics":{"Bytes Read":%d}}}`,
		stage, attempt, reason, index, index+7, launch, finish, index, read) + "\n"
}

// Jobs that a driver submits one after the other depend on each other; concurrent ones do not.
func TestSparkDriverOrder(t *testing.T) {
	text := sparkStart +
		sparkBegin(0, 0) + sparkSubmit(0, 0, "[]") +
		sparkBegin(1, 1) + sparkSubmit(1, 0, "[]") + sparkEnd(0) +
		sparkBegin(2, 2) + sparkSubmit(2, 0, "[]") + sparkEnd(1) +
		sparkBegin(3, 3, 4) + sparkSubmit(3, 0, "[]") + sparkSubmit(4, 0, "[3]") + sparkEnd(2) + sparkEnd(3) +
		sparkBegin(4, 5) + sparkSubmit(5, 0, "[]")
	var got []string
	for _, s := range one(t, "spark", text).Spark.Stages {
		got = append(got, fmt.Sprint(s.ID, s.Parents))
	}
	// Job 2 was submitted when job 0 had ended; job 3 when 0 and 1 had; job 4 when all had, and of them
	// 2 and 3 had waited for the others.
	if s := strings.Join(got, " "); s != "0 [] 1 [] 2 [0] 3 [0 1] 4 [3] 5 [2 4]" {
		t.Errorf("stages after parents: %s", s)
	}
}

// What a driver does between its jobs is a pause: from the end of what a stage waits for until it is submitted.
func TestSparkPauses(t *testing.T) {
	submit := func(id int, parents string, at int64) string {
		return strings.Replace(sparkSubmit(id, 0, parents), `"Stage ID"`, fmt.Sprintf(`"Submission Time":%d,"Stage ID"`, at), 1)
	}
	end := func(id int, at int64) string {
		return fmt.Sprintf(`{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":%d,"Submission Time":1,"Completion Time":%d}}`, id, at) + "\n"
	}
	text := sparkStart + sparkBegin(0, 0, 1) + submit(0, "[]", 31000) + // when the executors had come
		sparkBegin(1, 2) + submit(2, "[]", 31500) + // from another thread
		end(0, 40000) + submit(1, "[0]", 40005) + end(1, 50000) + sparkEnd(0) +
		sparkBegin(2, 3) + submit(3, "[]", 110000) +
		sparkBegin(3, 4) + submit(4, "[]", 111000) + end(4, 112000) + sparkEnd(3) +
		end(2, 113000) + sparkEnd(1) + end(3, 111500) + end(3, 114000) + sparkEnd(2) + // a stage of two attempts
		sparkBegin(4, 5) + submit(5, "[]", 120000) + sparkEnd(4) + // its end is lost
		sparkBegin(5, 6) + submit(6, "[]", 130000) + end(6, 140000) + sparkEnd(5) +
		sparkBegin(6, 7) + submit(7, "[]", 139000) // the clock was set back
	var got []string
	for _, s := range one(t, "spark", text).Spark.Stages {
		got = append(got, fmt.Sprintf("%d%v+%d", s.ID, s.Parents, s.Pause/heddle.Millisecond))
	}
	want := "0[]+0 2[]+500 1[0]+5 3[1]+60000 4[1]+61000 5[4 2 3]+6000 6[5]+0 7[6]+0"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("stages after parents, and pauses in ms: %s\nwant %s", s, want)
	}
}

// A stage that is skipped because its output exists stands for the one that wrote the output. The stage that reads it
// still waits for what its driver waited for.
func TestSparkSkippedStage(t *testing.T) {
	start := `{"Event":"SparkListenerJobStart","Job ID":%d,"Stage IDs":[%d,%d],"Stage Infos":[{"Stage ID":%[2]d,"Number of Tasks":1,"RDD Info":[{"RDD ID":0}]},{"Stage ID":%[3]d,"RDD Info":[{"RDD ID":%[3]d}]}]}` + "\n"
	text := sparkStart + sparkBegin(0, 0, 1) + sparkSubmit(0, 0, "[]") + sparkSubmit(1, 0, "[0]") + sparkEnd(0) +
		fmt.Sprintf(start, 1, 2, 3) + sparkSubmit(3, 0, "[2,77]") + sparkEnd(1) +
		fmt.Sprintf(start, 2, 4, 5) + sparkSubmit(5, 0, "[4]") + sparkEnd(2)
	w := readText(t, "spark", text)
	if s := w.Jobs[0].Spark.Stages; len(s) != 4 || fmt.Sprint(s[2].Parents, s[3].Parents) != "[0 1] [0 3]" {
		t.Errorf("stages %+v", s)
	}
	if filled(w, "parents", "skipped") != 1 {
		t.Errorf("the unknown parent is not named: %v", w.Filled)
	}
}

// The first success of a task counts; a later attempt of a stage counts its tasks anew.
func TestSparkAttempts(t *testing.T) {
	text := sparkStart + sparkBegin(0, 0) + sparkSubmit(0, 3, "[]") +
		sparkTask(0, 0, 0, 100, 200, "FetchFailed", 0) +
		sparkTask(0, 0, 1, 100, 300, "Success", 64) +
		sparkTask(0, 0, 1, 100, 900, "Success", 64) +
		sparkTask(0, 0, 2, 50, 50, "Success", 0) +
		strings.Replace(sparkTask(0, 1, 0, 500, 650, "Success", 32), `"Index":0`, `"Index":2`, 1)
	w := readText(t, "spark", text)
	s := w.Jobs[0].Spark.Stages[0]
	var got []string
	for _, task := range s.Tasks {
		got = append(got, fmt.Sprint(task.Duration/heddle.Millisecond, task.Input, task.CPU/heddle.Millisecond, task.Hosts))
	}
	if g := strings.Join(got, " "); g != "150 32 5 [2] 200 64 5 [0] 1 0 5 []" || !s.Input {
		t.Errorf("tasks %s", g)
	}
	if !w.Jobs[0].Spark.GivenSpans {
		t.Error("every task ended, and durations are said to be missing")
	}
}

// A task that only a later attempt of a stage ran counts too: as the one with its partition's number if that is nobody
// else's, else as the first that is left. Logs before Spark 3.3 do not state partitions.
func TestSparkLaterAttempts(t *testing.T) {
	begin := sparkStart + sparkBegin(0, 0) + sparkSubmit(0, 4, "[]")
	partition := func(event string, index, p int) string {
		return strings.Replace(event, fmt.Sprintf(`"Partition ID":%d`, index+7), fmt.Sprintf(`"Partition ID":%d`, p), 1)
	}
	none := regexp.MustCompile(`"Partition ID":[0-9]+,`)
	for name, c := range map[string]struct{ text, want string }{
		"same numbers": {
			partition(sparkTask(0, 0, 1, 0, 100, "Success", 0), 1, 1) +
				partition(sparkTask(0, 1, 0, 0, 200, "ExecutorLostFailure", 0), 0, 3) +
				partition(sparkTask(0, 1, 0, 0, 300, "Success", 0), 0, 3) +
				partition(sparkTask(0, 2, 0, 0, 400, "Success", 0), 0, 0) +
				partition(sparkTask(0, 2, 1, 0, 500, "Success", 0), 1, 3), // was there before
			"400 100 0 300",
		},
		"other numbers": {
			sparkTask(0, 0, 0, 0, 100, "Success", 0) +
				sparkTask(0, 1, 0, 0, 200, "Success", 0) + // of partition 7, task 0
				sparkTask(0, 1, 2, 0, 300, "Success", 0) +
				sparkTask(0, 0, 1, 0, 400, "Success", 0) + // the first attempt's goes on; its number is taken
				sparkTask(0, 1, 3, 0, 500, "Success", 0) +
				sparkTask(0, 1, 4, 0, 600, "Success", 0), // one more than there are
			"100 300 400 500",
		},
		"no numbers": {
			none.ReplaceAllString(sparkTask(0, 0, 1, 0, 100, "Success", 0)+
				sparkTask(0, 1, 0, 0, 200, "Success", 0)+
				sparkTask(0, 1, 7, 0, 300, "Success", 0), ""),
			"200 100 300 0",
		},
	} {
		var got []string
		for _, task := range one(t, "spark", begin+c.text).Spark.Stages[0].Tasks {
			got = append(got, fmt.Sprint(int64(task.Duration/heddle.Millisecond)))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: tasks last %s ms, want %s", name, s, c.want)
		}
	}
}

// An application's last attempt did its work. The logs of other attempts are neither jobs nor defects, in whatever
// order they come.
func TestSparkApplicationAttempts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"application_1_1.inprogress": strings.Replace(sparkStart, `"a"`, `"a","App Attempt ID":"1"`, 1) + sparkSubmit(0, 2, "[]") + sparkTask(0, 0, 0, 1100, 1300, "Success", 64),
		"application_1_10":           strings.NewReplacer(`"a"`, `"a","App Attempt ID":"10"`, "1000", "9000").Replace(sparkStart) + sparkSubmit(0, 2, "[]") + sparkTask(0, 0, 0, 9100, 9300, "Success", 64) + sparkTask(0, 0, 1, 9100, 9400, "Success", 64) + `{"Event":"SparkListenerApplicationEnd","Timestamp":10000}` + "\n",
		"application_1_2":            strings.NewReplacer(`"a"`, `"a","App Attempt ID":"2"`, "1000", "5000").Replace(sparkStart) + sparkSubmit(0, 3, "[]"),
		"application_2":              strings.NewReplacer(`"a"`, `"b"`, "1000", "2000").Replace(sparkStart) + sparkSubmit(0, 1, "[]"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := mustRead(t, dir, Options{Strict: true})
	if len(w.Jobs) != 2 || w.Jobs[0].ID != "a" || w.Jobs[1].ID != "b" || len(w.Skipped) != 0 {
		t.Fatalf("jobs %+v, skipped %v", w.Jobs, w.Skipped)
	}
	a := &w.Jobs[0]
	if s := a.Spark.Stages; len(s) != 1 || len(s[0].Tasks) != 2 || s[0].Tasks[1].Duration != ms(300) {
		t.Errorf("the last attempt's stages are %+v", s)
	}
	if a.Submit != 0 || a.Recorded != ms(9000) || w.Jobs[1].Submit != heddle.Time(ms(1000)) {
		t.Errorf("submitted at %v and took %v; the other at %v", a.Submit, a.Recorded, w.Jobs[1].Submit)
	}
	if filled(w, "attempts", "the last one") != 1 || filled(w, "hosts", "preferred") != 2 || filled(w, "duration", "not stated") != 1 {
		t.Errorf("filled %v", w.Filled)
	}
}

// An application fails if its last job does; a program may go on after a job that failed.
func TestSparkFailed(t *testing.T) {
	ended := func(id int, result string) string {
		return strings.Replace(sparkEnd(id), "}", `,"Job Result":{"Result":"`+result+`","Exception":{"Message":"x"}}}`, 1)
	}
	for _, c := range []struct {
		first, second string
		failed        bool
	}{{"JobSucceeded", "JobSucceeded", false}, {"JobFailed", "JobSucceeded", false}, {"JobSucceeded", "JobFailed", true}} {
		j := one(t, "spark", sparkStart+
			sparkBegin(0, 0)+sparkSubmit(0, 1, "[]")+sparkTask(0, 0, 0, 1100, 1300, "Success", 0)+ended(0, c.first)+
			sparkBegin(1, 1)+sparkSubmit(1, 1, "[]")+ended(1, c.second)+
			`{"Event":"SparkListenerApplicationEnd","Timestamp":4000}`+"\n")
		if j.Failed != c.failed || (j.Recorded == 0) != c.failed {
			t.Errorf("%s, then %s: failed %t, recorded %v", c.first, c.second, j.Failed, j.Recorded)
		}
	}
}

func TestSparkSizes(t *testing.T) {
	for _, c := range []struct {
		properties string
		executor   heddle.Resource
		master     heddle.Resource
	}{
		{``, heddle.Of(1024+384, 1000), heddle.Of(512+384, 1000)},
		{`"spark.executor.memory":"8g","spark.executor.cores":"4"`, heddle.Of(8192+819, 4000), heddle.Of(896, 1000)},
		{`"spark.executor.memory":"8192","spark.executor.memoryOverhead":"1g"`, heddle.Of(9216, 1000), heddle.Of(896, 1000)},
		{`"spark.executor.memory":"10g","spark.executor.memoryOverheadFactor":"0.4"`, heddle.Of(14336, 1000), heddle.Of(896, 1000)},
		{`"spark.executor.memory":"1048576k","spark.memory.offHeap.enabled":"true","spark.memory.offHeap.size":"1073741824"`, heddle.Of(2432, 1000), heddle.Of(896, 1000)},
		{`"spark.submit.deployMode":"cluster","spark.driver.memory":"4g","spark.driver.cores":"2"`, heddle.Of(1408, 1000), heddle.Of(4096+409, 2000)},
		{`"spark.executor.minMemoryOverhead":"1g"`, heddle.Of(2048, 1000), heddle.Of(896, 1000)},
		{`"spark.submit.deployMode":"cluster","spark.driver.minMemoryOverhead":"100","spark.driver.memory":"2g"`, heddle.Of(1408, 1000), heddle.Of(2048+204, 1000)},
		{`"spark.executor.minMemoryOverhead":"1g","spark.executor.memoryOverhead":"500m"`, heddle.Of(1524, 1000), heddle.Of(896, 1000)},
		{`"spark.yarn.executor.memoryOverhead":"4096","spark.yarn.driver.memoryOverhead":"2g"`, heddle.Of(1024+4096, 1000), heddle.Of(896, 1000)},
		{`"spark.submit.deployMode":"cluster","spark.yarn.driver.memoryOverhead":"2g"`, heddle.Of(1408, 1000), heddle.Of(1024+2048, 1000)},
		{`"spark.executor.memoryOverhead":"500m","spark.yarn.executor.memoryOverhead":"lots"`, heddle.Of(1524, 1000), heddle.Of(896, 1000)},
		{`"spark.yarn.isPython":"true","spark.executor.pyspark.memory":"2g"`, heddle.Of(1408+2048, 1000), heddle.Of(896, 1000)},
	} {
		j := one(t, "spark", sparkStart+sparkEnv(c.properties))
		if j.Spark.Executor != c.executor || j.Master != c.master {
			t.Errorf("%s: executor %v, master %v; want %v, %v", c.properties, j.Spark.Executor, j.Master, c.executor, c.master)
		}
	}
	j := one(t, "spark", sparkStart+sparkEnv(`"spark.dynamicAllocation.enabled":"TRUE","spark.dynamicAllocation.minExecutors":"3","spark.dynamicAllocation.schedulerBacklogTimeout":"1500ms","spark.yarn.queue":"prod","spark.app.submitTime":"400","spark.yarn.priority":"4"`))
	if d := j.Spark.Dynamic; *d != (Dynamic{Min: 3, Max: MaxExecutors, Initial: 3, Backlog: ms(1500), Tracks: true}) || j.Queue != "prod" || j.Priority != 4 || j.Spark.Executors != 3 {
		t.Errorf("%+v, %+v", d, j)
	}
	j = one(t, "spark", sparkStart+sparkEnv(`"spark.dynamicAllocation.enabled":"true","spark.dynamicAllocation.maxExecutors":"20","spark.executor.instances":"50"`))
	if d := j.Spark.Dynamic; d.Initial != 50 || d.Max != 50 {
		t.Errorf("an application that starts with 50 executors, though it may have 20: %+v; Spark starts all of them", d)
	}
	for _, service := range []string{`"spark.shuffle.service.enabled":"true"`, `"spark.dynamicAllocation.shuffleTracking.enabled":"false"`} {
		if d := one(t, "spark", sparkStart+sparkEnv(`"spark.dynamicAllocation.enabled":"true",`+service)).Spark.Dynamic; d.Tracks {
			t.Errorf("with %s executors stay that hold shuffle files", service)
		}
	}
}

// Only on YARN an application that does not say so asks for two executors.
func TestSparkExecutors(t *testing.T) {
	event := func(kind, id string) string {
		return `{"Event":"SparkListenerExecutor` + kind + `","Timestamp":2000,"Executor ID":"` + id + `"}` + "\n"
	}
	three := event("Added", "driver") + event("Added", "0") + event("Added", "1") + event("Removed", "0") + event("Added", "2") +
		event("Added", "3") + event("Removed", "1") + event("Added", "4") + event("Removed", "7")
	for _, c := range []struct {
		properties, events string
		executors, noted   int
	}{
		{`"spark.master":"spark://m:7077"`, three, 3, 1},
		{`"spark.master":"spark://m:7077"`, "", 2, 0},
		{`"spark.master":"local[4]"`, event("Added", "driver"), 2, 0},
		{`"spark.master":"k8s://m","spark.executor.instances":"5"`, three, 5, 0},
		{`"spark.master":"k8s://m","spark.dynamicAllocation.enabled":"true","spark.dynamicAllocation.minExecutors":"1"`, three, 1, 0},
		{`"spark.master":"yarn"`, three, 2, 0},
	} {
		w := readText(t, "spark", sparkStart+sparkEnv(c.properties)+c.events)
		if n, noted := w.Jobs[0].Spark.Executors, filled(w, "executors", "registered at once"); n != c.executors || noted != c.noted {
			t.Errorf("%s: %d executors, noted of %d jobs; want %d and %d", c.properties, n, noted, c.executors, c.noted)
		}
	}
}

func TestSparkDefects(t *testing.T) {
	for _, c := range []struct {
		text   string
		line   int
		field  string
		reason string
	}{
		{`{"Event":"SparkListenerLogStart","Spark Version":"3"}`, 0, "", "no SparkListenerApplicationStart"},
		{sparkStart + "{", 2, "", "is not JSON"},
		{sparkStart + `{"Event":"SparkListenerTaskStart",`, 2, "", "is not JSON"},
		{sparkStart + `{"Evnt":"x"}`, 2, "Event", "missing"},
		{sparkStart + `{"Event":"SparkListenerStageSubmitted"}`, 2, "Stage Info", "missing"},
		{sparkStart + sparkSubmit(0, -1, "[]"), 2, "Number of Tasks", "negative"},
		{sparkStart + sparkSubmit(0, 1<<20+1, "[]"), 2, "Number of Tasks", "may have"},
		{sparkStart + sparkSubmit(0, 1<<20, "[]") + sparkSubmit(1, 1, "[]"), 3, "Number of Tasks", "in one application"},
		{sparkStart + sparkTask(3, 0, 0, 1, 2, "Success", 0), 2, "Stage ID", "never submitted"},
		{sparkStart + sparkSubmit(0, 1, "[]") + sparkTask(0, 0, 1, 1, 2, "Success", 0), 3, "Index", "stage 0 has 1 tasks"},
		{sparkStart + sparkSubmit(0, 1, "[]") + sparkTask(0, 0, 0, 9, 2, "Success", 0), 3, "Finish Time", "9"},
		{sparkStart + sparkSubmit(0, 1, "[]") + sparkTask(0, 0, 0, 1, 2, "Success", -8), 3, "Input Metrics.Bytes Read", "wanted 0 to"},
		{sparkStart + `{"Event":"SparkListenerJobStart","Job ID":"x"}`, 2, "Job ID", "got text; wanted a whole number"},
		{strings.Replace(sparkStart, "1000", "-1000", 1), 1, "Timestamp", "wanted ms"},
		{sparkStart + sparkEnv(`"spark.executor.memory":"lots"`), 0, "spark.executor.memory", "not a whole number"},
		{sparkStart + sparkEnv(`"spark.executor.memory":"5q"`), 0, "spark.executor.memory", "512m or 2g"},
		{sparkStart + sparkEnv(`"spark.executor.instances":"-2"`), 0, "spark.executor.instances", "negative"},
		{sparkStart + sparkEnv(`"spark.dynamicAllocation.enabled":"true","spark.dynamicAllocation.maxExecutors":"1","spark.dynamicAllocation.minExecutors":"2"`), 0, "spark.dynamicAllocation.maxExecutors", "below the minimum, 2"},
		{sparkStart + sparkEnv(`"spark.dynamicAllocation.enabled":"true","spark.dynamicAllocation.executorIdleTimeout":"long"`), 0, "spark.dynamicAllocation.executorIdleTimeout", "60s or 500ms"},
	} {
		t.Run(c.field+" "+c.reason, func(t *testing.T) { wantDefect(t, "spark", c.text, c.line, c.field, c.reason) })
	}
}
