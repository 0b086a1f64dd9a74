package workload

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle"
)

func TestSWIM(t *testing.T) {
	w := mustRead(t, "testdata/small.tsv", Options{Strict: true})
	if w.Format != "swim" || w.Name != "small" || w.Lines != 4 || len(w.Skipped) != 0 || len(w.Jobs) != 4 {
		t.Fatalf("format %s, name %s, %d lines, %d skipped, %d jobs", w.Format, w.Name, w.Lines, len(w.Skipped), len(w.Jobs))
	}
	const mib = 1 << 20
	for i, want := range []struct {
		id                string
		submit            float64
		in, mapOut        []int64
		reduceIn, written []int64
	}{
		{"job0", 0, []int64{740773}, []int64{2339561}, []int64{2339561}, []int64{627471}},
		{"job1", 52, []int64{128 * mib, 128 * mib, 1}, []int64{566846, 566846, 566845}, []int64{1700537}, []int64{432269}},
		{"job2", 73, []int64{0}, []int64{233549}, nil, nil}, // map-only: the map writes the output
		{"job10", 73, []int64{128 * mib}, []int64{2147483649}, []int64{715827883, 715827883, 715827883}, []int64{13, 12, 12}},
	} {
		j := &w.Jobs[i]
		if j.ID != want.id || j.Submit.Seconds() != want.submit || j.Framework != heddle.MapReduce || j.SlowStart >= 0 {
			t.Errorf("job %d: %s at %g s, %v, slow start %g", i, j.ID, j.Submit.Seconds(), j.Framework, j.SlowStart)
		}
		for _, c := range []struct {
			what  string
			tasks []Task
			of    func(*Task) int64
			want  []int64
		}{
			{"map input", j.Maps, input, want.in},
			{"map output", j.Maps, output, want.mapOut},
			{"reduce input", j.Reduces, input, want.reduceIn},
			{"reduce output", j.Reduces, output, want.written},
		} {
			var got []int64
			for k := range c.tasks {
				got = append(got, c.of(&c.tasks[k]))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%s: %s %v, want %v", j.ID, c.what, got, c.want)
			}
		}
	}
	for _, field := range []string{"maps", "reduces", "duration", "user", "queue", "container", "hosts"} {
		if filled(w, field, "") != 4 {
			t.Errorf("%s: %d jobs filled, want 4", field, filled(w, field, ""))
		}
	}
	for field, value := range map[string]string{
		"maps": "→ 1 to 3 a job", "reduces": "→ 0 to 3 a job", "user": "→ one user without a name", "queue": "→ default",
		"container": "→ 1024 MiB and 1 vcore", "duration": "→ what the work takes on its node", "hosts": "→ drawn as HDFS",
	} {
		if filled(w, field, value) != 4 {
			t.Errorf("%s is not said to be filled with %q: %v", field, value, w.Filled)
		}
	}
	if ok, _, _ := w.Given(); ok {
		t.Error("durations are said to be given")
	}
}

// A SWIM line states its output, also where that is 0 bytes, or fewer than there are reduces.
func TestSWIMStatesNothing(t *testing.T) {
	w := mustRead(t, write(t, "t", "a\t1\t1\t5\t2000000000\t0\nb\t2\t1\t5\t2000000000\t1\nc\t3\t1\t5\t5\t5\n"), Options{Strict: true})
	var got []bool
	for i := range w.Jobs {
		for _, r := range w.Jobs[i].Reduces {
			got = append(got, r.NoOutput)
		}
	}
	if fmt.Sprint(got) != "[true true false true false]" {
		t.Errorf("reduces that are known to write nothing: %v", got)
	}
}

func TestSWIMBlockSize(t *testing.T) {
	w := mustRead(t, "testdata/small.tsv", Options{BlockSize: 64 << 20})
	if n := len(w.Jobs[1].Maps); n != 5 {
		t.Errorf("256 MiB and a byte are %d blocks of 64 MiB, want 5", n)
	}
	if filled(w, "maps", "⌈input / 64 MiB⌉") != 4 {
		t.Errorf("the rule does not name the block size: %v", w.Filled)
	}
}

func TestSWIMDefects(t *testing.T) {
	good := "a\t1\t1\t5\t5\t5\n"
	for _, c := range []struct{ line, field, reason string }{
		{"b\t1\t1\t5\t5", "", "6 to 9"},
		{"b\t1\t1\t5\t5\t5\t\t\t\t", "", "6 to 9"},
		{"\t1\t1\t5\t5\t5", "id", "empty"},
		{"b\tNaN\t1\t5\t5\t5", "submit", "not a number"},
		{"b\t-1\t1\t5\t5\t5", "submit", "negative"},
		{"b\t1e300\t1\t5\t5\t5", "submit", "too large"},
		{"b\t1\tx\t5\t5\t5", "gap", "not a number"},
		{"b\t1\t1\t-5\t5\t5", "input", "negative"},
		{"b\t1\t1\t5.5\t5\t5", "input", "not a whole number"},
		{"b\t1\t1\t5\t99999999999999999999\t5", "shuffle", "too large"},
		{"b\t1\t1\t5\t5\tNaN", "output", "not a whole number"},
		{"b\t1\t1\t5\t5\t+Inf", "output", "too large"},
		{"b\t1\t1\t1152921504606846976\t5\t5", "input", "a job may have 1048576"},
		{"a\t1\t1\t5\t5\t5", "id", "appears twice"},
	} {
		t.Run(c.field+" "+c.reason, func(t *testing.T) { wantDefect(t, "swim", good+c.line+"\n", 2, c.field, c.reason) })
	}
	w := mustRead(t, write(t, "t", good+"junk\n\nc\t2\t1\t5\t0\t5\n"), Options{})
	if len(w.Jobs) != 2 || w.Lines != 3 || len(w.Skipped) != 1 {
		t.Errorf("%d jobs, %d lines, %d skipped", len(w.Jobs), w.Lines, len(w.Skipped))
	}
}

func TestTotalTasksAreBounded(t *testing.T) {
	text := "a\t1\t1\t400000000\t0\t5\nb\t2\t1\t400000000\t0\t5\nc\t3\t1\t5\t0\t5\n"
	w := mustRead(t, write(t, "t", text), Options{Format: "swim", maxTasks: 5})
	if len(w.Jobs) != 2 || w.Jobs[1].ID != "c" || len(w.Skipped) != 1 || !strings.Contains(w.Skipped[0].Reason, "more than 5 tasks in all") {
		t.Errorf("%d jobs, skipped %v", len(w.Jobs), w.Skipped)
	}
}

// BenchmarkSWIMDay reads a day of the size of the Facebook samples: 5,894 jobs, most of them below a block, one in a
// hundred above 80 GB.
func BenchmarkSWIMDay(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for i := range 5894 {
		in := int64(1 << (10 + rng.IntN(18)))
		if rng.IntN(100) == 0 {
			in = 80e9 + rng.Int64N(600e9)
		}
		fmt.Fprintf(&text, "job%d\t%d\t14\t%d\t%d\t%d\n", i, 14*i, in, in/10*rng.Int64N(2), in/20)
	}
	path := write(b, "day.tsv", text.String())
	b.ReportAllocs()
	for b.Loop() {
		w := mustRead(b, path, Options{})
		if len(w.Jobs) != 5894 {
			b.Fatal(len(w.Jobs))
		}
	}
}
