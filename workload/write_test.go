package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"heddle"
)

func written(t *testing.T, format string, w *Workload) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, w); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// shape returns what SLS can hold of a workload.
func shape(w *Workload) string {
	var b strings.Builder
	for _, j := range w.Jobs {
		fmt.Fprintln(&b, j.ID, j.Queue, j.User, j.Submit, j.Recorded, j.Framework, j.Master)
		for _, tasks := range [][]Task{j.Maps, j.Reduces, j.Other} {
			for _, t := range tasks {
				host := Host{}
				if len(t.Hosts) > 0 {
					host = w.Hosts[t.Hosts[0]]
				}
				fmt.Fprintln(&b, " ", t.Duration, t.Size, t.Priority, host)
			}
		}
	}
	return b.String()
}

func TestSLSRoundTrip(t *testing.T) {
	w := mustRead(t, "testdata/sls.json", Options{Strict: true})
	text := written(t, "sls", w)
	back := readText(t, "sls", text)
	if shape(back) != shape(w) {
		t.Errorf("read back:\n%s\nwas:\n%s", shape(back), shape(w))
	}
	if n := strings.Count(text, `"count":3`); n != 1 {
		t.Errorf("three like tasks are written %d times as one entry:\n%s", n, text)
	}
	if lost := Lost("sls", w); len(lost) != 0 {
		t.Errorf("lost: %v", lost)
	}
}

func TestHistoryToSLS(t *testing.T) {
	w := mustRead(t, historyFile(t, "0004"), Options{Strict: true})
	back := readText(t, "sls", written(t, "sls", w))
	if d := durations(back.Jobs[0].Reduces); d != 16487 {
		t.Errorf("reduces last %d ms in all, want 16487", d)
	}
	lost := strings.Join(Lost("sls", w), "; ")
	for _, want := range []string{"bytes read and written", "job names", "processor time", "slow start"} {
		if !strings.Contains(lost, want) {
			t.Errorf("lost: %s; want %s in it", lost, want)
		}
	}
}

func TestSWIMRoundTrip(t *testing.T) {
	w := mustRead(t, "testdata/small.tsv", Options{Strict: true})
	text := written(t, "swim", w)
	back := readText(t, "swim", text)
	if again := written(t, "swim", back); again != text {
		t.Errorf("read back and written:\n%s\nwas:\n%s", again, text)
	}
	if !strings.HasPrefix(text, "job0\t0\t0\t740773\t2339561\t627471\njob1\t52\t52\t268435457\t1700537\t432269\n") {
		t.Errorf("written:\n%s", text)
	}
	for unknown, r := range map[bool]Task{true: {}, false: {NoOutput: true}} {
		w := &Workload{Jobs: []Job{{ID: "a", Framework: heddle.MapReduce, Maps: make([]Task, 1), Reduces: []Task{r}}}}
		if lost := strings.Join(Lost("swim", w), "; "); strings.Contains(lost, "unknown") != unknown {
			t.Errorf("%+v: lost are %s", r, lost)
		}
	}
	lost := strings.Join(Lost("swim", mustRead(t, "testdata/sls.json", Options{})), "; ")
	for _, want := range []string{"durations", "hosts", "when jobs ended"} {
		if !strings.Contains(lost, want) {
			t.Errorf("lost: %s; want %s in it", lost, want)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	swim, spark := mustRead(t, "testdata/small.tsv", Options{}), mustRead(t, "testdata/spark", Options{})
	for _, c := range []struct {
		format string
		w      *Workload
		want   string
	}{
		{"csv", swim, `no format "csv" to write; there are sls and swim`},
		{"sls", swim, "job job0 cannot be written as sls: a task states no duration"},
		{"sls", spark, "it is a Spark application"},
		{"swim", spark, "not a MapReduce job"},
		{"swim", &Workload{Jobs: []Job{{ID: "a\tb", Framework: heddle.MapReduce}}}, "holds a tab"},
		{"sls", &Workload{Jobs: []Job{{ID: "a", Framework: heddle.MapReduce}}}, "no task"},
	} {
		var b bytes.Buffer
		if err := Write(&b, c.format, c.w); err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
			t.Errorf("%s: %v after %d bytes, want %q and nothing written", c.format, err, b.Len(), c.want)
		}
	}
}

func TestInspect(t *testing.T) {
	s := Inspect(mustRead(t, "testdata/small.tsv", Options{}))
	if s.Jobs != 4 || s.Maps != 6 || s.Reduces != 5 || s.SpanSeconds != 73 || s.Lines != 4 || s.TaskSeconds != 0 {
		t.Errorf("%+v", s)
	}
	if s.Input != (Bytes{Total: 403393958, P50: 740773, P90: 268435457, P99: 268435457, Max: 268435457}) {
		t.Errorf("input %+v", s.Input)
	}
	if s.Shuffle.Total != 2151523747 || s.Output.Total != 1293326 {
		t.Errorf("shuffle %+v, output %+v", s.Shuffle, s.Output)
	}
	if got := fmt.Sprint(s.Missing, s.Frameworks, s.Queues); got != "[duration cpu memory hosts container] [{mapreduce 4}] [{ 4}]" {
		t.Errorf("missing, frameworks, queues: %s", got)
	}
	s = Inspect(mustRead(t, "testdata/spark", Options{}))
	if s.Stages != 17 || s.StageTasks != 52 || s.Hosts != 2 && s.Hosts != 3 || s.Shuffle.Total != 5021 || s.Output.Total != 0 || fmt.Sprint(s.Missing) != "[cpu memory]" {
		t.Errorf("%+v", s)
	}
	s = Inspect(mustRead(t, "testdata/history", Options{}))
	if s.Failed != 1 || s.Unended != 0 {
		t.Errorf("%d failed, %d without an end", s.Failed, s.Unended)
	}
	if got := fmt.Sprint(s.Missing); got != "[duration (some tasks) cpu (some tasks) memory (some tasks) container (some tasks)]" {
		t.Errorf("missing: %s", got)
	}
	big := Inspect(&Workload{Jobs: []Job{{Maps: []Task{{Input: MaxBytes}}}, {Maps: make([]Task, 1)}, {Maps: []Task{{Input: math.MaxInt64}}}}})
	if big.Input.Total != math.MaxInt64 {
		t.Errorf("a sum that overflows is %d", big.Input.Total)
	}
	if _, err := json.Marshal(Inspect(&Workload{})); err != nil {
		t.Error(err)
	}
	if e := Inspect(&Workload{}); e.Filled == nil || e.Missing == nil || e.Users == nil {
		t.Error("an empty list is null in JSON")
	}
}

func TestScale(t *testing.T) {
	w := mustRead(t, "testdata/small.tsv", Options{})
	if err := w.Scale(0.5); err != nil || w.Jobs[1].Submit != heddle.Time(26*heddle.Second) || w.Jobs[3].Submit != heddle.Time(ms(36500)) {
		t.Errorf("%v, submits %d, %d", err, w.Jobs[1].Submit, w.Jobs[3].Submit)
	}
	for _, f := range []float64{-1, math.NaN(), math.Inf(1), 1e12} {
		if err := w.Scale(f); err == nil || w.Jobs[1].Submit != heddle.Time(26*heddle.Second) {
			t.Errorf("Scale(%g): %v, submit %d", f, err, w.Jobs[1].Submit)
		}
	}
	w.Jobs[3].ID = "a"
	if err := w.Scale(0); err != nil || w.Jobs[0].ID != "a" || w.Jobs[3].Submit != 0 {
		t.Errorf("%v: %s first, last at %d", err, w.Jobs[0].ID, w.Jobs[3].Submit)
	}
}
