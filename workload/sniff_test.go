package workload

import (
	"encoding/json"
	"strings"
	"testing"
)

// A number that is too long, at the very beginning of a trace, costs its record and nothing else.
func TestOneLongNumber(t *testing.T) {
	long := strings.Repeat("9", 200_000)
	spark := sparkStart + sparkBegin(0, 0) + sparkSubmit(0, 1, "[]")
	for _, c := range []struct {
		name, format, text string
		field              string // of the defect
		jobs               int
	}{
		{"swim, a long number", "swim", "job0\t0\t0\t" + long + "\t0\t0\njob1\t10\t10\t300000000\t0\t0\n", "input", 1},
		{"swim, one digit too many", "swim", "job0\t0\t0\t99999999999999999999\t0\t0\n", "input", 0},
		{"swim, a long time", "swim", "job0\t" + long + "\t0\t1\t0\t0\njob1\t10\t10\t300000000\t0\t0\n", "submit", 1},
		{"sls", "sls", `{"job.id": "a", "number": ` + long + `, "job.start.ms": ` + long + `, "job.tasks": [{"container.duration.ms": 5}]}
			{"job.id": "b", "job.tasks": [{"container.duration.ms": 5}]}`, "job.start.ms", 1},
		{"rumen", "rumen", `{"submitTime": ` + long + `, "jobID": "job_1_0001", "totalMaps": 1}` + "\n" + `{"jobID": "job_1_0002", "submitTime": 5, "totalMaps": 1}`, "submitTime", 1},
		{"spark", "spark", `{"Event":"SparkListenerLogStart","Timestamp":` + long + "}\n" + spark + `{"Event":"SparkListenerApplicationEnd","Timestamp":` + long + "}\n", "Timestamp", 1},
	} {
		path := write(t, "trace", c.text)
		if got, err := Guess(path); got != c.format || err != nil {
			t.Errorf("%s: Guess says %q, %v; want %s", c.name, got, err, c.format)
			continue
		}
		w, err := Read(path, Options{})
		if c.jobs == 0 {
			if err == nil || !strings.Contains(err.Error(), "trace:1: "+c.field) {
				t.Errorf("%s: error %v; want line 1 and %s", c.name, err, c.field)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(w.Jobs) != c.jobs || len(w.Skipped) != 1 || w.Skipped[0].Field != c.field || w.Skipped[0].Line == 0 || len(w.Skipped[0].String()) > 400 {
			t.Errorf("%s: %d jobs, skipped %.500v; want %d and one defect of %s on its line", c.name, len(w.Jobs), w.Skipped, c.jobs, c.field)
		}
		if _, err := Read(path, Options{Strict: true}); err == nil || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: strict reading: %v; want an error of %s", c.name, err, c.field)
		}
	}
}

func TestHistoryLongNumber(t *testing.T) {
	e := avroRecord{record: map[string]any{}}
	e.record["finishTime"] = json.Number(strings.Repeat("9", 30))
	if n := e.number("finishTime", maxMillis); n != 0 || e.bad == nil || !strings.Contains(e.bad.reason, "too large") {
		t.Errorf("%d, %v; want it to be too large", n, e.bad)
	}
}
