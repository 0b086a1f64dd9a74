package workload

import (
	"fmt"
	"strings"
	"testing"

	"heddle"
)

// The end of a successful job is what its trace records; the end of other jobs is unknown.
func TestRecorded(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/history":    "word count 21.475, TeraSort 16.867, Sleep job 16.518, Fail job 0",
		"testdata/rumen.json": "WordCount 0, count 0",
	} {
		w, err := Read(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range w.Jobs {
			got = append(got, fmt.Sprintf("%s %g", w.Jobs[i].Name, w.Jobs[i].Recorded.Seconds()))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, want %s", path, got, want)
		}
	}
	w, err := Read("testdata/spark/application_1795257509765_0007", Options{})
	if err != nil || w.Jobs[0].Recorded < 18*heddle.Second || w.Jobs[0].Recorded > 40*heddle.Second {
		t.Errorf("spark: %v, %v", w.Jobs[0].Recorded.Seconds(), err)
	}
	for text, want := range map[string]heddle.Span{
		`{"job.id": "a", "job.start.ms": 0, "job.end.ms": 7000, "job.tasks": [{}]}`:    7 * heddle.Second,
		`{"job.id": "a", "job.start.ms": 500, "job.end.ms": 7000, "job.tasks": [{}]}`:  6500 * heddle.Millisecond,
		`{"job.id": "a", "job.start.ms": 7000, "job.end.ms": 7000, "job.tasks": [{}]}`: 0,
		`{"job.id": "a", "job.start.ms": 7000, "job.tasks": [{}]}`:                     0,
	} {
		if got := one(t, "sls", text).Recorded; got != want {
			t.Errorf("%s: %g s, want %g", text, got.Seconds(), want.Seconds())
		}
	}
	for outcome, want := range map[string]heddle.Span{"SUCCESS": 4 * heddle.Second, "KILLED": 0} {
		text := `{"jobID": "job_1_0001", "submitTime": 1000, "finishTime": 5000, "outcome": "` + outcome + `", "totalMaps": 1}`
		if got := one(t, "rumen", text).Recorded; got != want {
			t.Errorf("%s: %g s, want %g", outcome, got.Seconds(), want.Seconds())
		}
	}
}

// A job that is recorded as failed could not state how long its tasks that never ended take.
func TestUnstatedOfFailed(t *testing.T) {
	w, err := Read("testdata/history", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if jobs, failed, stated := w.Unstated(); jobs != 0 || failed != 1 || !stated || !w.Jobs[3].Failed || w.Jobs[0].Failed {
		t.Errorf("%d jobs and %d that failed lack durations; want none, and the last of the history", jobs, failed)
	}
	for outcome, want := range map[string]bool{"SUCCESS": false, "KILLED": true, "FAILED": true, "": false} {
		if got := one(t, "rumen", `{"jobID": "job_1_0001", "submitTime": 1, "outcome": "`+outcome+`", "totalMaps": 1}`).Failed; got != want {
			t.Errorf("outcome %q: failed %v", outcome, got)
		}
	}
}

// An attempt whose beginning is unknown does not have a time of day as its duration.
func TestLastAttemptWithoutBegin(t *testing.T) {
	w := readText(t, "rumen", `{"jobID": "job_1_0001", "submitTime": 1, "totalMaps": 1, "mapTasks": [{"attempts": [{"result": "FAILED", "startTime": -1, "finishTime": 1285322646148}]}]}`)
	if filled(w, "duration", "as long as its last attempt → 0 ms (1 job)") != 1 {
		t.Errorf("filled %v", w.Filled)
	}
}

func TestFillDurations(t *testing.T) {
	w := readText(t, "sls", `{"job.id": "a", "job.tasks": [
		{"container.type": "map", "duration.ms": 1000}, {"container.type": "map", "duration.ms": 3000, "count": 2}, {"container.type": "map"}, {"container.type": "reduce"}]}
		{"job.id": "b", "job.tasks": [{"container.type": "map"}, {"container.type": "reduce", "duration.ms": 7000}]}
		{"job.id": "c", "job.tasks": [{"container.type": "map", "duration.ms": 500}]}`)
	if jobs, failed, stated := w.Unstated(); jobs != 2 || failed != 0 || !stated {
		t.Errorf("%d jobs and %d that failed lack durations, stated %v; want 2, 0 and true", jobs, failed, stated)
	}
	before := w.Jobs[0].Maps
	w.FillDurations()
	got := ""
	for i := range w.Jobs {
		for _, tasks := range [][]Task{w.Jobs[i].Maps, w.Jobs[i].Reduces} {
			for k := range tasks {
				got += fmt.Sprint(" ", tasks[k].Duration.Seconds())
			}
		}
	}
	// a: the median of 1, 3, 3; the only existing reduce. b: the lower middle one of 0.5, 1, 3, 3.
	if want := " 1 3 3 3 7 1 7 0.5"; got != want {
		t.Errorf("durations%s, want%s", got, want)
	}
	if before[3].Duration != 0 {
		t.Error("the tasks that were read have changed")
	}
	if ok, job, field := w.Given(); !ok {
		t.Errorf("%s of %s still lack durations", field, job)
	}
	if filled(w, "duration", "the median of a task's kind in its job, else in all jobs → 1 to 7 s") != 2 || filled(w, "duration", notStated) != 0 {
		t.Errorf("filled %v", w.Filled)
	}
	none := readText(t, "swim", "job0\t0\t0\t1\t0\t0\n")
	none.FillDurations()
	if jobs, _, stated := none.Unstated(); jobs != 1 || stated {
		t.Errorf("%d jobs, stated %v, of a trace without durations", jobs, stated)
	}
}

// A reduce of which nothing is known takes as long as others do, without the time they waited for their maps.
func TestFilledReducesDoNotWait(t *testing.T) {
	w := &Workload{Jobs: []Job{{Maps: []Task{{Duration: ms(100)}}, Reduces: []Task{{Duration: ms(900), Waited: ms(800)}, {}, {Duration: ms(700), Waited: ms(620)}}}}}
	w.FillDurations()
	if r := w.Jobs[0].Reduces[1]; r.Duration != ms(80) || r.Waited != 0 {
		t.Errorf("a reduce without a duration: %+v", r)
	}
}
