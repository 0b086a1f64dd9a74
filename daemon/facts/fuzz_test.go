package facts

import (
	"bytes"
	"testing"

	"heddle"
	"heddle/rm"
)

// FuzzMaster looks for a master's answer that breaks a reader, or of which something impossible is believed.
func FuzzMaster(f *testing.F) {
	for _, name := range []string{"mr-tasks.json", "mr-attempts.json", "mr-counters.json", "mr-memory.json", "mr-threads.json", "spark-executors.json", "spark-stages.json"} {
		f.Add([]byte(fixture(f, name)))
	}
	f.Add([]byte(`{"tasks":{"task":[{"id":"task_1795451201644_0003_m_000000","state":"RUNNING","progress":33.4,"status":"copy(1 of 2 at"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		one := rm.Task{Kind: heddle.Reduce}
		l := &taskList{app: sleep.App, at: map[rm.Task]int{}}
		_ = l.list(bytes.NewReader(data))
		_ = l.attempts(bytes.NewReader(data), one)
		_ = l.counters(bytes.NewReader(data), one)
		for i, n := range l.news {
			if l.at[n.Task] != i || !(n.Progress >= 0 && n.Progress <= 1) || n.Index < 0 || n.Output < 0 || n.Memory < 0 || n.CPU < 0 ||
				!n.Container.IsZero() && n.Container.Attempt.App != sleep.App {
				t.Errorf("%+v", n)
			}
		}
		var h rm.HeapNews
		_ = readHeap(bytes.NewReader(data), &h)
		_ = readThreads(bytes.NewReader(data), &h)
		if h.Live < 0 || h.Used < 0 || h.Max < 0 || h.Outside < 0 || h.Threads < 0 {
			t.Errorf("%+v", h)
		}
		executors, err := readExecutors(bytes.NewReader(data), slow.App)
		for _, e := range executors {
			if err == nil && (e.Active < 0 || e.Done < 0 || e.MemoryUsed < 0 || e.MemoryMax < 0 || e.GC < 0) {
				t.Errorf("%+v", e)
			}
		}
		stages, err := readStages(bytes.NewReader(data))
		for _, s := range stages {
			if err == nil && (s.ID < 0 || s.Tasks < 0 || s.Done < 0 || s.Active < 0) {
				t.Errorf("%+v", s)
			}
		}
	})
}

// FuzzSubmission does the same for files beside a submission.
func FuzzSubmission(f *testing.F) {
	f.Add([]byte(packed(f, sparkFile, "spark.executor.memory=1g\nspark.executor.cores:2")))
	f.Add([]byte("a\\u00e9=b\\\nspark.executor.memoryOverheadFactor=1e300\nspark.memory.offHeap.size=9223372036854775807k"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := sparkProperties(data); err == nil && len(p) > maxProperties {
			t.Errorf("%d properties", len(p))
		}
		d, err := sparkDemand(parseProperties(string(data)))
		if all := d.Total(); err == nil && (all.AnyNegative() || d.Containers < 0) {
			t.Errorf("%+v", d)
		}
	})
}
