package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/sim"
)

// remembered is worked() with recorded completion times: for a and b, but not for c and d.
func remembered() *Comparison {
	c := worked()
	c.WorldWhy = "the trace states every duration"
	for _, p := range c.Profiles {
		for _, r := range p.Runs {
			r.Jobs[0].Recorded, r.Jobs[1].Recorded = heddle.Seconds(8), heddle.Seconds(40)
			for i := range r.Jobs {
				if r.Jobs[i].State == sim.Failed {
					r.Jobs[i].Why = "its map 1 failed 4 times"
				}
			}
		}
	}
	return c
}

func TestRecordedError(t *testing.T) {
	c := remembered()
	// Under fair with seed 1, a takes 10 s instead of 8, b 20 s instead of 40: off by 25 % and 50 %.
	f := Measure(c.Profiles[0].Runs[0])
	if p50, p95 := f[RecordedP50], f[RecordedP95]; math.Abs(p50-0.375) > 1e-9 || math.Abs(p95-(0.25+0.95*0.25)) > 1e-9 {
		t.Errorf("off the record by %g and %g, want 0.375 and 0.4875", p50, p95)
	}
	if f := Measure(worked().Profiles[0].Runs[0]); !math.IsNaN(f[RecordedP50]) {
		t.Errorf("without a record it is off by %g", f[RecordedP50])
	}
	text := render(t, c, TableOptions{})
	for _, want := range []string{
		"off record median     41.2 %", "off record p95",
		"the trace records the completion times of 2 of 4 jobs",
		"checks the simulation only for the scheduler, the settings",
		"world      given, because the trace states every duration; seeds 1, 2",
		"fifo: failed: d: its map 1 failed 4 times (2 times in 2 seeds)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	if text := render(t, worked(), TableOptions{}); strings.Contains(text, "record median") || strings.Contains(text, "trace records") {
		t.Error("without a record the table speaks of one")
	}
	page := write(t, c)
	for _, want := range []string{"off record median", "given world, because the trace states every duration", "its map 1 failed 4 times"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestRecordedForScripts(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, remembered()); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Because  string `json:"world_because"`
		Profiles []struct {
			Error   struct{ P50, P95 float64 } `json:"recorded_error"`
			History []struct {
				Job       string
				Recorded  float64 `json:"recorded_seconds"`
				Predicted float64 `json:"predicted_seconds"`
			}
			Failures []struct {
				Seed            int
				Job, State, Why string
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	fair, fifo := out.Profiles[0], out.Profiles[1]
	if len(fair.History) != 2 || fair.History[1].Job != "b" || fair.History[1].Recorded != 40 || fair.History[1].Predicted != 22 {
		t.Errorf("history %+v; want b with 40 s recorded and 22 s, the mean of 20 and 24", fair.History)
	}
	if fair.Error.P50 == 0 || fair.Error.P95 < fair.Error.P50 || out.Because == "" {
		t.Errorf("%+v", fair.Error)
	}
	if len(fair.Failures) != 0 || len(fifo.Failures) != 2 || fifo.Failures[1].Seed != 2 || fifo.Failures[1].Job != "d" || fifo.Failures[1].State != "failed" || fifo.Failures[1].Why == "" {
		t.Errorf("failures %+v and %+v", fair.Failures, fifo.Failures)
	}
	b.Reset()
	if err := JobsCSV(&b, remembered()); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := slices.Index(lines[0], "why")
	if lines[0][last-1] != "recorded_s" || lines[2][last-1] != "40.000" || lines[3][last-1] != "" {
		t.Errorf("recorded_s of b and c: %q and %q", lines[2][last-1], lines[3][last-1])
	}
	if lines[0][last] != "why" || lines[1][last] != "" || lines[12][last] != "its map 1 failed 4 times" {
		t.Errorf("why of the first and of the one that failed: %q and %q", lines[1][last], lines[12][last])
	}
}

// summary makes a summary of a few figures; all others do not apply.
func summary(name string, completed float64, figures map[Metric]float64) Summary {
	s := Summary{Profile: name, Runs: 1}
	for m := range s.Mean {
		s.Mean[m] = math.NaN()
	}
	s.Mean[Completed] = completed
	for m, v := range figures {
		s.Mean[m] = v
	}
	return s
}

// A difference that the seeds do not agree on is neither worse nor better, if there are enough of them.
func TestAgainstChance(t *testing.T) {
	profile := func(name string, wait float64, jct ...float64) Summary {
		var runs []Figures
		bySeed := map[uint64]Figures{}
		for seed, x := range jct {
			f := summary(name, 9, map[Metric]float64{JCTMean: x, WaitMean: wait}).Mean
			runs, bySeed[uint64(seed)] = append(runs, f), f
		}
		s := summarise(runs)
		s.Profile, s.bySeed = name, bySeed
		return s
	}
	const waits, rare = "waiting mean 9.0 s against 10.0 s (−10 %)", "JCT mean 1 m 57 s against 1 m 40 s (+17 %)"
	for _, c := range []struct {
		jct                          []float64
		worse, better, chance, after string
	}{
		{[]float64{99, 99, 99, 99, 189}, rare, waits, "", "it takes 6 seeds to rule out chance"},
		{[]float64{99, 99, 99, 99, 99, 207}, "", waits, rare, "what may be chance comes last"},
		{[]float64{101, 101, 101, 101, 101, 197}, rare, waits, "", "rows within 2 % left out"},
	} {
		fair := slices.Repeat([]float64{100}, len(c.jct))
		v, _ := against([]Summary{profile("fair", 10, fair...), profile("heddle", 9, c.jct...)})
		got := [3]string{strings.Join(v.worse, "; "), strings.Join(v.better, "; "), strings.Join(v.chance, "; ")}
		if got != [3]string{c.worse, c.better, c.chance} || !strings.HasSuffix(v.rule(), c.after) {
			t.Errorf("%v: worse, better and chance %q; %s", c.jct, got, v.rule())
		}
		if topics := v.topics(80); (len(topics) == 3) != (c.chance != "") || c.chance != "" && topics[0].lines[0] != "nothing beyond chance" {
			t.Errorf("%v: %v", c.jct, topics)
		}
	}
}

func TestAgainst(t *testing.T) {
	sums := []Summary{
		summary("capacity", 9, map[Metric]float64{JCTMean: 320, JCTOverBound: 32, JCTP50: 100, WaitP99: 317, StarvationP50: 0, LocalMaps: 0.9, Makespan: 100, MemoryUtilisation: 0.5}),
		summary("fair", 9, map[Metric]float64{JCTMean: 90, JCTOverBound: 9, JCTP50: 101, WaitP99: 11.5, StarvationP50: 0, LocalMaps: 0.8, Makespan: 150, MemoryUtilisation: 0.6}),
		summary("broken", 8, map[Metric]float64{JCTMean: 1, WaitP99: 1}), // fewer jobs: an easier mean
		summary("heddle", 9, map[Metric]float64{JCTMean: 81.9, JCTOverBound: 8.19, JCTP50: 101.9, WaitP99: 187, StarvationP50: 0.7, LocalMaps: 0.99, Makespan: 120, MemoryUtilisation: 0.2}),
	}
	v, ok := against(sums)
	if !ok || v.title != "heddle against the better of capacity and fair" {
		t.Errorf("%v, %q", ok, v.title)
	}
	if got, want := strings.Join(v.worse, "; "), "starvation median 0.7 s against 0 s; waiting p99 3 m 7 s against 11.5 s (16 ×); makespan 2 m 0 s against 1 m 40 s (+20 %)"; got != want {
		t.Errorf("worse: %s\nwant   %s", got, want)
	}
	if got, want := strings.Join(v.better, "; "), "local maps 99.0 % against 90.0 % (+10 %); JCT mean 1 m 22 s against 1 m 30 s (−9 %)"; got != want {
		t.Errorf("better: %s\nwant    %s", got, want)
	}
	lines := v.topics(math.MaxInt)
	if lines[0].label != "worse" || lines[1].label != "better" {
		t.Errorf("lines %v; want what is worse first", lines)
	}
	for _, topic := range v.topics(60) {
		for i, line := range topic.lines {
			if len([]rune(line)) > 60 && strings.Contains(line, ";") && i < len(topic.lines)-1 || strings.HasSuffix(line, " against") {
				t.Errorf("a line of 60 columns: %q", line)
			}
		}
	}
	if v, _ := against([]Summary{sums[1], sums[1]}); v.topics(80)[0].lines[0] != "nothing by more than 2 %" {
		t.Errorf("of two alike: %v", v.topics(80))
	}
	if _, ok := against(sums[:1]); ok {
		t.Error("one profile is held against none")
	}
	if _, ok := against(sums[:3]); ok {
		t.Error("a profile that completed fewer jobs is held against others")
	}
}
