package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/exp"
	"heddle/sim"
)

// ours is the system that the experiment small belongs to.
var ours = exp.System{
	Name: "heddle", Title: "Heddle", What: "It is one thing. It does another.",
	SetUp: []exp.Decision{{What: "nodes", Chosen: "four | 8 GiB", By: "the text"}},
}

// small is an experiment with one of everything that a page can have.
func small() *exp.Experiment {
	const text = `
cluster: {nodes: [{count: 4, memory: 8GiB, vcores: 8}]}
workload:
  jobs:
    - {id: large, program: sort, input: 12GiB, reduces: 4}
    - {id: small, program: grep, submit: 10s, input: 256MiB, reduces: 1}
`
	jct := func(r exp.Runs) float64 { return exp.JCT(r.Arm("fair, patient"), "small") }
	return &exp.Experiment{
		System: "heddle", Name: "small-behind-large", Title: "A small job behind a large one.", Source: "Fig. 1",
		Method: "Two jobs on four nodes.",
		Work:   func(uint64) (string, error) { return text, nil },
		Arms: []exp.Arm{
			{Name: "fifo", Profile: "fifo"},
			{Name: "fair, patient", Profile: "fair", Set: []string{"place.map={delay: {node_wait: 4}}", "estimate.remaining=progress"}},
		},
		Metrics: []exp.Metric{
			{Name: "JCT of the small job, reduction", Unit: "%", Published: 60, Of: exp.ReducedJCT("fifo", "fair, patient", exp.IDs("small"))},
			{Name: "JCT of the small job", Unit: "s", Kind: exp.Level, Published: 1, Of: jct, Why: "the *world* is slower | wider"},
			{Name: "makespan, increase", Unit: "%", Kind: exp.Cost, Published: 0.5, Of: func(r exp.Runs) float64 { return 1 }},
			{Name: "a gain that is too small", Published: 1000, Unit: "%", Of: func(r exp.Runs) float64 { return 100 }},
			{Name: "a loss instead of a gain", Published: 10, Unit: "%", Of: func(r exp.Runs) float64 { return -3 }},
			{Name: "the small job ends first", Kind: exp.Shape, Text: "It ends first", Holds: func([]exp.Runs) bool { return false }},
			{Name: "a gain beyond all", Published: 50, Unit: "%", Of: func(exp.Runs) float64 { return 1 }, Bound: func(exp.Runs) float64 { return 3 }, BoundIs: "1 of 30 is 3 %."},
			{Name: "JCT of the large job", Unit: "s", Kind: exp.SetUp, Published: 40, Of: func(exp.Runs) float64 { return 39 }},
			{Name: "time to decide", Unit: "ms", Kind: exp.Measured, Published: 50, Of: func(exp.Runs) float64 { return 0.5 }},
		},
		Null: []exp.Arm{{Name: "fair, patient", Profile: "fifo"}}, NullIs: "nobody shares.",
		Mutations: []exp.Mutation{{Name: "sharing off", Arms: []exp.Arm{{Name: "fair, patient", Profile: "fifo"}}, Loses: []string{"JCT of the small job, reduction"}}},
		LivesOff:  []string{"noise"},
		Plots: []exp.Plot{
			{Kind: exp.RunningOverTime, Title: "Running maps and reduces"},
			{Kind: exp.CDF, Title: "Completion times"},
			{Kind: exp.BarsPerJob, Title: "Each job"},
			{Kind: exp.GaugeOverTime, Title: "δ over time", Gauge: "δ"},
			{Kind: exp.Allocation, Title: "What maps got", Jobs: []string{"large"}, Arms: []string{"fifo"}},
			{Kind: exp.Predicted, Title: "Remaining time of reduces"},
		},
		Sweeps: []exp.Sweep{{
			Name: "delay", Title: "How long a map waits for its data.", Base: "fifo", Plot: true,
			Arms: []exp.Arm{
				{Name: "1 heartbeat", Profile: "fifo", Set: []string{"place.map={delay: {node_wait: 1}}"}},
				{Name: "9 heartbeats", Profile: "fifo", Set: []string{"place.map={delay: {node_wait: 9}}"}},
			},
			Columns: []exp.Column{
				{Name: "mean JCT, reduction", Unit: "%", Of: func(base, x *sim.Result) float64 { return exp.Reduction(exp.MeanJCT(base, nil), exp.MeanJCT(x, nil)) }},
				{Name: "local maps", Unit: "%", Of: func(_, x *sim.Result) float64 { return exp.LocalRate(x) }},
			},
		}},
	}
}

func outcome(t *testing.T, e *exp.Experiment) *exp.Outcome {
	t.Helper()
	var out *exp.Outcome
	o := exp.Options{Seeds: []uint64{1, 2, 3, 4, 5, 6}, SweepSeeds: 2, Effects: true, Null: true, Mutations: true}
	if err := exp.Run([]*exp.Experiment{e}, o, func(x *exp.Outcome) error { out = x; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPage(t *testing.T) {
	x := outcome(t, small())
	s := New(x)
	text := string(Page(&ours, []*Section{s}))
	for _, want := range []string{
		"# Heddle\n\nIt is one thing. It does another.\n", "## small-behind-large\n", "**A small job behind a large one** (Fig. 1)", "Two jobs on four nodes.",
		"Of 6 figures that count, 1 are reached, 0 exceeded, 0 undecided and 5 lost; 4 have the published direction. " +
			"Not counted: 0 null, 1 unattainable, 1 set-up, 1 measured.\n",
		"| nodes | four \\| 8 GiB | the text |", "Null arm: nobody shares. Seeds 1 to 6.",
		"No schedule can reach the published 50.0 % of a gain beyond all here; the bound is 3.0 %. 1 of 30 is 3 %.\n",
		"| sharing off | JCT of the small job, reduction | 80.5 % | 0.0 % | lost |",
		"Every arm is simulated as a stock ResourceManager with an ideal node agent",
		"| [small-behind-large](#small-behind-large) | JCT of the small job, reduction | 60.0 % | ",
		"|  | time to decide | 50.0 ms | 0.50 ms |  | 0.50 ms |  | measured |",
		"|  | the small job ends first | It ends first |  |  |  |  | lost |",
		"Arms: fifo; fair, patient. ",
		"\nfifo           fifo\nfair, patient  fair --set place.map={delay: {node_wait: 4}} --set estimate.remaining=progress\n",
		" (20 % is allowed).\n  The *world* is slower | wider\n", // the experiment's own Markdown
		"- makespan, increase: 1.0 % against 0.50 %, 2.00 times the published loss;\n" + // one reason
			"  a gain that is too small: 100 % against 1000 %, 10 % of the published effect;\n" +
			"  a loss instead of a gain: -3.0 % against 10.0 %, in the other direction;\n" +
			"  the small job ends first: the published “It ends first” does not hold.\n  No explanation has been found.\n",
		"**a defect**", "### How long a map waits for its data\n", "Compared with fifo; 2 seeds.", "| 9 heartbeats | ",
		"*δ over time: the runs have nothing to show.*",
		"![Running maps and reduces](plots/small-behind-large-1.svg)", "![How long a map waits for its data](plots/small-behind-large-6.svg)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if strings.Contains(text, "NaN") {
		t.Error("the page shows what does not apply as a number")
	}
	var names []string
	for _, f := range s.Plots {
		names = append(names, f.Name)
		checkSVG(t, f)
	}
	for _, link := range regexp.MustCompile(`\]\((plots/[^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, link[1]) {
			t.Errorf("the page shows %s, which is not drawn", link[1])
		}
	}
	if len(names) != 6 {
		t.Errorf("plots %v", names)
	}
	again := New(outcome(t, small()))
	if other := string(Page(&ours, []*Section{again})); other != text {
		t.Error("the same experiment gave another page")
	}
	for i := range s.Plots {
		if !bytes.Equal(s.Plots[i].Data, again.Plots[i].Data) {
			t.Errorf("the same experiment gave another %s", s.Plots[i].Name)
		}
	}
	x.Metrics[0].Kind = exp.SetUp // a baseline's figure does not depend on effects
	if other := string(Page(&ours, []*Section{New(x)})); strings.Contains(other, "Less than 80 %") || !strings.Contains(text, "Less than 80 %") {
		t.Error("what a baseline's figure lives off is judged, or a gain's is not")
	}
	paper := exp.System{Name: "dress", Title: "DRESS", Paper: "*A paper*."}
	if other := string(Page(&paper, []*Section{s})); strings.Contains(other, "small-behind-large") || !strings.Contains(other, "# DRESS\n") || !strings.Contains(other, "The paper: *A paper*.\n") {
		t.Errorf("the page of another system:\n%s", other)
	}
	if dir := os.Getenv("HEDDLE_PAGE"); dir != "" { // to look at
		_ = os.MkdirAll(filepath.Join(dir, "plots"), 0o755)
		_ = os.WriteFile(filepath.Join(dir, "heddle.md"), []byte(text), 0o644)
		for _, f := range s.Plots {
			_ = os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644)
		}
	}
}

// A page says which jobs did not succeed.
func TestFailures(t *testing.T) {
	e := small()
	if got := failures(outcome(t, e)); got != nil {
		t.Errorf("%q of jobs that all succeeded", got)
	}
	e.Plots, e.Sweeps = nil, nil
	e.Work = func(seed uint64) (string, error) {
		return "cluster: {nodes: [{count: 2, memory: 4GiB, vcores: 8}]}\nworkload:\n  jobs:\n" +
			"    - {id: small, program: grep, input: 256MiB}\n    - {id: too_large, program: grep, input: 1GiB, map: {memory: 7GiB, vcores: 1}}\n", nil
	}
	e.Metrics = e.Metrics[6:]
	s := New(outcome(t, e))
	text := string(Page(&ours, []*Section{s}))
	if want := `**Jobs that did not succeed**, over all seeds: fifo: 6 of 12, the first too\_large `; !strings.Contains(text, want) {
		t.Errorf("the page lacks %q:\n%s", want, text)
	}
}

// checkSVG fails for a picture that is too large, not well-formed, or shows what does not apply.
func checkSVG(t *testing.T, f File) {
	t.Helper()
	if n := len(f.Data); n > 60_000 || n < 1000 {
		t.Errorf("%s has %d bytes", f.Name, n)
	}
	d := xml.NewDecoder(bytes.NewReader(f.Data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "http://", "https://"} {
		if strings.Contains(strings.ReplaceAll(string(f.Data), "http://www.w3.org/2000/svg", ""), bad) {
			t.Errorf("%s has %q", f.Name, bad)
		}
	}
	for _, must := range []string{"<title>", "<desc>", "prefers-color-scheme", `class="tick`, `class="name`} {
		if !bytes.Contains(f.Data, []byte(must)) {
			t.Errorf("%s lacks %s", f.Name, must)
		}
	}
}

func TestHeadlines(t *testing.T) {
	s := New(outcome(t, small()))
	text := string(Headlines([]exp.System{ours}, []*Section{s}))
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 3 ||
		!strings.HasPrefix(lines[2], "| [Heddle](docs/experiments/heddle.md) | small-behind-large: JCT of the small job, reduction | 60.0 % | ") || !strings.HasSuffix(lines[2], " | reached | 1 of 6 |") {
		t.Errorf("headlines:\n%s", text)
	}
	if text := string(Headlines([]exp.System{ours}, nil)); strings.Count(text, "\n") != 2 {
		t.Errorf("no headlines:\n%s", text)
	}
}

func TestSurvival(t *testing.T) {
	for _, c := range []struct {
		f           exp.Effect
		left, claim string
	}{
		{exp.Effect{With: 40, Without: 38, LivesOn: true, Defect: true}, "95 %", "yes, and it survives: **a defect**"},
		{exp.Effect{With: 40, Without: 10, LivesOn: true}, "25 %", "yes"},
		{exp.Effect{With: 40, Without: -10, LivesOn: true}, "-25 %", "yes"},
		{exp.Effect{With: -1, Without: 10, LivesOn: true}, "–", "yes"},
		{exp.Effect{With: 40, Without: math.NaN()}, "–", ""},
		{exp.Effect{With: 40, Without: 39}, "98 %", ""},
	} {
		if l, k := left(&c.f), claim(&c.f); l != c.left || k != c.claim {
			t.Errorf("%+v: %q, %q, want %q, %q", c.f, l, k, c.left, c.claim)
		}
	}
}

// The text below the table of effects must match the table.
func TestLivesOff(t *testing.T) {
	kept := exp.Effect{Name: "skew", With: 40, Without: 38}
	lost := exp.Effect{Name: "slow_nodes", With: 27, Without: 0.27, Lost: true}
	claimed := exp.Effect{Name: "noise", With: 40, Without: 4, LivesOn: true, Lost: true}
	unknown := exp.Effect{Name: "memory", With: 40, Without: math.NaN()}
	for _, c := range []struct {
		effects []exp.Effect
		want    string
	}{
		{[]exp.Effect{kept}, "The headline depends on none of them: it comes from what runs when, not from how fast it runs."},
		{[]exp.Effect{kept, lost}, "Less than 80 % of the headline is left without slow_nodes, although no such dependence is claimed."},
		{[]exp.Effect{kept, claimed}, ""},
		{[]exp.Effect{lost, claimed}, "Less than 80 % of the headline is left without slow_nodes, although no such dependence is claimed."},
		{[]exp.Effect{kept, unknown}, "The headline is not claimed to depend on any of them."},
		{[]exp.Effect{{Name: "skew", With: -5, Without: -4}}, "The headline is not claimed to depend on any of them."},
	} {
		if got := livesOff(c.effects); got != c.want {
			t.Errorf("%+v: %q, want %q", c.effects, got, c.want)
		}
	}
}

func TestUpperFirst(t *testing.T) {
	for s, want := range map[string]string{"": "", "a": "a", "v from 1": "v from 1", "ε = 0.1": "ε = 0.1", "the world": "The world", "öl": "Öl", "The": "The"} {
		if got := upperFirst(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// Averaging over columns keeps the sum of what ran.
func TestCounts(t *testing.T) {
	x := outcome(t, small())
	r := x.All[0].Arm("fifo")
	end := r.Makespan.Seconds()
	want := 0.0
	for _, k := range r.Tasks {
		if r.Jobs[k.Job].ID == "large" && k.Started > 0 && k.Kind.String() == "map" {
			want += k.Ended.Since(k.Started).Seconds()
		}
	}
	for _, columns := range []int{40, 300} {
		got := 0.0
		for _, v := range counts(r, []string{"large", "small"}, end, columns)[0][0] {
			got += v * end / float64(columns)
		}
		if math.Abs(got-want) > 1e-6*want || want == 0 {
			t.Errorf("%d columns: %.3f task-seconds, want %.3f", columns, got, want)
		}
	}
}

// Plots of many jobs and many arms stay small enough for a page.
func TestLargePlotsStaySmall(t *testing.T) {
	e := small()
	e.Metrics, e.Sweeps, e.LivesOff = e.Metrics[:1], nil, nil
	var jobs strings.Builder
	for i := range 60 {
		jobs.WriteString("    - {id: a-job-with-a-long-name-" + strconv.Itoa(i) + ", program: sort, submit: " + strconv.Itoa(i*5) + "s, input: 1GiB, reduces: 2}\n")
	}
	e.Work = func(uint64) (string, error) {
		return "cluster: {nodes: [{count: 8, memory: 16GiB, vcores: 8}]}\nworkload:\n  jobs:\n" + jobs.String(), nil
	}
	e.Metrics[0].Of = func(exp.Runs) float64 { return 1 }
	e.Arms = nil
	for i := range 6 {
		e.Arms = append(e.Arms, exp.Arm{Name: "arm " + strconv.Itoa(i), Profile: "fair"})
	}
	ids := make([]string, mostJobs)
	for i := range ids {
		ids[i] = "a-job-with-a-long-name-" + strconv.Itoa(i)
	}
	e.Plots = []exp.Plot{
		{Kind: exp.RunningOverTime, Title: "all"},
		{Kind: exp.RunningOverTime, Title: "eight", Jobs: ids},
		{Kind: exp.CDF, Title: "cdf"},
		{Kind: exp.BarsPerJob, Title: "bars"},
		{Kind: exp.Allocation, Title: "given", Arms: []string{"arm 0"}},
	}
	var x *exp.Outcome
	if err := exp.Run([]*exp.Experiment{e}, exp.Options{Seeds: []uint64{1}}, func(o *exp.Outcome) error { x = o; return nil }); err != nil {
		t.Fatal(err)
	}
	s := New(x)
	if len(s.Plots) != len(e.Plots) {
		t.Errorf("%d plots of %d", len(s.Plots), len(e.Plots))
	}
	for _, f := range s.Plots {
		checkSVG(t, f)
	}
	if dir := os.Getenv("HEDDLE_PAGE"); dir != "" {
		for _, f := range s.Plots {
			_ = os.WriteFile(filepath.Join(dir, strings.Replace(f.Name, "small-", "large-", 1)), f.Data, 0o644)
		}
	}
}
