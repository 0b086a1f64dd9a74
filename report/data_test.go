package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestJSONGolden(t *testing.T) {
	golden(t, "worked.json", func(w io.Writer) error { return JSON(w, worked()) })
}

// The shape that people use in scripts, read back key by key.
func TestJSONShape(t *testing.T) {
	c := worked()
	for _, r := range c.Profiles[1].Runs {
		r.LocalisedMaps = 0
		for i := range r.Jobs {
			r.Jobs[i].Starvation = -1
		}
	}
	var b bytes.Buffer
	if err := JSON(&b, c); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	keys := func(what string, v any, want ...string) map[string]any {
		t.Helper()
		m, _ := v.(map[string]any)
		var have []string
		for k := range m {
			have = append(have, k)
		}
		slices.Sort(have)
		slices.Sort(want)
		if !slices.Equal(have, want) {
			t.Errorf("%s has the keys %q, want %q", what, have, want)
		}
		return m
	}
	top := keys("the object", got, "workload", "world", "world_because", "seeds", "input", "profiles", "alone", "clairvoyant")
	keys("input", top["input"], "lines", "skipped", "cut", "filled")
	if top["seeds"] != 2.0 {
		t.Errorf("seeds is %v, want the count 2", top["seeds"])
	}
	figures := []string{
		"jobs", "completed", "failed", "unfinished", "jct_seconds", "wait_seconds", "starvation_seconds", "makespan_seconds",
		"local_maps", "cpu_utilisation", "memory_utilisation", "jct_over_bound", "slowdown", "wall_seconds", "recorded_error",
	}
	profiles := top["profiles"].([]any)
	for i, p := range profiles {
		m := keys("a profile", p, append([]string{"profile", "as", "agent", "ideal_agent", "spread", "history", "failures"}, figures...)...)
		spread := keys("spread", m["spread"], figures...)
		for _, k := range []string{"jct_seconds", "wait_seconds", "starvation_seconds"} {
			keys(k, m[k], "mean", "p50", "p95", "p99")
			keys("spread."+k, spread[k], "mean", "p50", "p95", "p99")
		}
		if i == 1 {
			starved, starvedSpread := m["starvation_seconds"].(map[string]any), spread["starvation_seconds"].(map[string]any)
			if starved["mean"] != nil || starved["p99"] != nil || starvedSpread["mean"] != nil {
				t.Errorf("starvation_seconds is %v with spread %v, want nulls", starved, starvedSpread)
			}
			if m["local_maps"] != nil || spread["local_maps"] != nil {
				t.Errorf("local_maps is %v with spread %v, want null", m["local_maps"], spread["local_maps"])
			}
		}
		if pair := spread["cpu_utilisation"].([]any); len(pair) != 2 || pair[0].(float64) > pair[1].(float64) {
			t.Errorf("a spread is %v, want lowest and highest", pair)
		}
	}
}

func TestCSVGolden(t *testing.T) {
	golden(t, "runs.csv", func(w io.Writer) error { return CSV(w, worked()) })
	golden(t, "jobs.csv", func(w io.Writer) error { return JobsCSV(w, worked()) })
	golden(t, "tasks.csv", func(w io.Writer) error { return TasksCSV(w, worked()) })
}

func TestCSVHeaders(t *testing.T) {
	if got, want := strings.Join(jobHeader, ","), "profile,seed,job,queue,user,type,maps,reduces,input_bytes,submit_s,wait_s,jct_s,starvation_s,"+
		"reduce_hold_s,reservation_s,local_maps,am_memory_mib,bound_s,state,recorded_s,why,alone_s,localised_maps"; got != want {
		t.Errorf("--jobs has %s, want %s", got, want)
	}
	if len(runHeader) != len(runMetrics)+2 {
		t.Errorf("a run has %d columns and %d figures", len(runHeader), len(runMetrics))
	}
}

// Every table has rows of full width, whatever is in the names.
func TestCSVRows(t *testing.T) {
	f := usual()
	f.incomplete = true
	c := f.build()
	c.Profiles[0].Name = "a,\"b\"\nc"
	tasks := 0
	for _, p := range c.Profiles {
		for _, r := range p.Runs {
			tasks += len(r.Tasks)
		}
	}
	for _, x := range []struct {
		name  string
		write func(io.Writer, *Comparison) error
		rows  int
	}{{"runs", CSV, 15}, {"jobs", JobsCSV, 15 * 60}, {"tasks", TasksCSV, tasks}} {
		var b bytes.Buffer
		if err := x.write(&b, c); err != nil {
			t.Fatal(err)
		}
		all, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if len(all) != x.rows+1 {
			t.Errorf("%s: %d rows, want %d", x.name, len(all)-1, x.rows)
		}
		if all[1][0] != c.Profiles[0].Name {
			t.Errorf("%s: the profile came back as %q", x.name, all[1][0])
		}
	}
}

// Every job is one of completed, failed and unfinished, in JSON and in CSV, including those of a profile that leaves
// some behind.
func TestJobsAddUp(t *testing.T) {
	f := usual()
	f.incomplete = true
	c := f.build()
	var b bytes.Buffer
	if err := JSON(&b, c); err != nil {
		t.Fatal(err)
	}
	var got comparisonJSON
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for i, p := range got.Profiles {
		if p.Jobs != p.Completed+p.Failed+p.Unfinished || (p.Unfinished > 0) != (i == len(got.Profiles)-1) {
			t.Errorf("JSON, %s: %v jobs, %v completed, %v failed, %v unfinished", p.Profile, p.Jobs, p.Completed, p.Failed, p.Unfinished)
		}
	}
	b.Reset()
	if err := CSV(&b, c); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		of := func(column string) int {
			n, err := strconv.Atoi(row[slices.Index(rows[0], column)])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if of("jobs") != of("completed")+of("failed")+of("unfinished") {
			t.Errorf("CSV: %q", row)
		}
	}
}

type broken struct{ after int }

var errBroken = errors.New("the disk is full")

func (w *broken) Write(p []byte) (int, error) {
	if w.after -= len(p); w.after < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestWriteErrorsAreReturned(t *testing.T) {
	c := usual().build()
	for name, write := range map[string]func(io.Writer, *Comparison) error{
		"JSON": JSON, "CSV": CSV, "JobsCSV": JobsCSV, "TasksCSV": TasksCSV, "HTML": HTML,
		"Table": func(w io.Writer, c *Comparison) error { return Table(w, c, TableOptions{}) },
	} {
		if err := write(&broken{after: 100}, c); !errors.Is(err, errBroken) {
			t.Errorf("%s returns %v, want the writer's error", name, err)
		}
	}
}
