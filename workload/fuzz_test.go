package workload

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// seed adds the files that match the patterns.
func seed(f *testing.F, patterns ...string) {
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatal(pattern, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
}

// fuzz reads arbitrary input as a trace and checks what every workload guarantees.
func fuzz(f *testing.F, format string, seeds ...string) {
	seed(f, seeds...)
	path := filepath.Join(f.TempDir(), "trace")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _ = Guess(path)
		w, err := Read(path, Options{Format: format, maxTasks: 20_000})
		if err != nil {
			return
		}
		checkWorkload(t, w)
		if len(w.Skipped)+len(w.Cut) > 0 {
			if _, err := Read(path, Options{Format: format, Strict: true, maxTasks: 20_000}); err == nil {
				t.Errorf("%d defects and no error with Strict", len(w.Skipped)+len(w.Cut))
			}
		}
		Inspect(w)
		w.Given()
		for _, to := range []string{"sls", "swim"} {
			var b bytes.Buffer
			if Write(&b, to, w) != nil {
				continue
			}
			Lost(to, w)
			back, err := Read(write(t, "back", b.String()), Options{Format: to})
			if to == "sls" && (err != nil || len(back.Jobs) != len(w.Jobs)) {
				t.Errorf("%s written: %v", to, err)
			}
		}
	})
}

func checkWorkload(t *testing.T, w *Workload) {
	t.Helper()
	seen := map[string]bool{}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if j.ID == "" || seen[j.ID] {
			t.Errorf("id %q stands twice or is empty", j.ID)
		}
		seen[j.ID] = true
		if j.Submit < 0 || i == 0 && j.Submit != 0 || i > 0 && j.Submit < w.Jobs[i-1].Submit {
			t.Errorf("job %d comes at %d", i, j.Submit)
		}
		if j.Master.AnyNegative() || j.Priority < 0 || math.IsNaN(j.SlowStart) || j.SlowStart > 1 {
			t.Errorf("job %+v", j)
		}
		for _, tasks := range [...][]Task{j.Maps, j.Reduces, j.Other} {
			checkTasks(t, w, tasks)
		}
		if j.Spark != nil {
			checkStages(t, w, j.Spark)
		}
	}
}

func checkStages(t *testing.T, w *Workload, s *SparkJob) {
	t.Helper()
	var before []int
	for _, st := range s.Stages {
		for _, p := range st.Parents {
			if !slices.Contains(before, p) {
				t.Errorf("stage %d waits for %d, which is not before it", st.ID, p)
			}
		}
		before = append(before, st.ID)
		checkTasks(t, w, st.Tasks)
	}
	if s.Executors < 0 || s.Executor.AnyNegative() || s.Storage < 0 {
		t.Errorf("%+v", s)
	}
}

func checkTasks(t *testing.T, w *Workload, tasks []Task) {
	t.Helper()
	for _, k := range tasks {
		if k.Duration < 0 || k.Duration > MaxSpan || k.CPU < 0 || k.Input < 0 || k.Output < 0 || k.Memory < 0 || k.Size.AnyNegative() {
			t.Errorf("task %+v", k)
		}
		for _, h := range k.Hosts {
			if int(h) >= len(w.Hosts) || h < 0 {
				t.Errorf("host %d of %d", h, len(w.Hosts))
			}
		}
	}
}

func FuzzSWIM(f *testing.F)    { fuzz(f, "swim", "testdata/*.tsv") }
func FuzzSLS(f *testing.F)     { fuzz(f, "sls", "testdata/sls.json") }
func FuzzRumen(f *testing.F)   { fuzz(f, "rumen", "testdata/rumen.json") }
func FuzzHistory(f *testing.F) { fuzz(f, "jhist", "testdata/history/*.jhist") }
func FuzzSpark(f *testing.F) {
	fuzz(f, "spark", "testdata/spark/application_*7", "testdata/spark/*.zstd", "testdata/spark/eventlog_v2_*/events_*")
}

func FuzzNodes(f *testing.F) {
	seed(f, "testdata/nodes.json", "testdata/topology.json")
	path := filepath.Join(f.TempDir(), "nodes")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		nodes, err := ReadNodes(path)
		if (err == nil) != (len(nodes) > 0) {
			t.Errorf("%d nodes, %v", len(nodes), err)
		}
	})
}
