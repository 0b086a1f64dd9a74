package report

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/sim"
)

// known is worked with the times of its jobs alone, and with clairvoyant orders.
func known() *Comparison {
	c := worked()
	for _, p := range c.Profiles {
		for _, r := range p.Runs {
			for i, s := range []float64{5, 10, 30, 0} { // it is not known for d
				r.Jobs[i].Alone = heddle.Seconds(s)
			}
		}
	}
	c.Clairvoyant = []ProfileRuns{
		{Name: "fair", Runs: []*sim.Result{workedRun("fair", 1, []float64{10, 20, 30, 60}, 0.5, true), workedRun("fair", 2, []float64{10, 20, 30, 40}, 0.5, true)}},
		{Name: "fifo", Runs: []*sim.Result{workedRun("fifo", 1, []float64{1, 1, 1, 1}, 0.5, false), workedRun("fifo", 2, []float64{1, 1, 1, 1}, 0.5, false)}},
	}
	return c
}

func TestAloneGolden(t *testing.T) {
	golden(t, "alone.txt", func(w io.Writer) error { return Table(w, known(), TableOptions{}) })
}

// A slowdown belongs to one job; jobs that failed, or of which the time alone is unknown, have none.
func TestSlowdown(t *testing.T) {
	c := known()
	for i, want := range [][4]float64{{5.0 / 3, 2, 2, 2}, {22.0 / 9, 2, 2 + 0.9*2, 2 + 0.98*2}} {
		got := Measure(c.Profiles[i].Runs[0]) // 10, 20, 30 against 5, 10, 30; 20, 20, 40
		for k, w := range want {
			if m := SlowdownMean + Metric(k); !near(got[m], w) {
				t.Errorf("profile %d: metric %d is %g, want %g", i, m, got[m], w)
			}
		}
	}
}

// A profile with fewer completed jobs says nothing about what ordering could achieve. If a profile has the best order
// already, that is said.
func TestOrdering(t *testing.T) {
	c := known()
	want := "an order that knows what each job still needs has a mean JCT of 27.5 s (25.0–30.0 s), in the profile fair: " +
		"an estimate of what ordering could reach, not a bound"
	if got := c.orderingLine(); got != want {
		t.Errorf("%q,\nwant %q", got, want)
	}
	c.Profiles[0].Runs = c.Clairvoyant[0].Runs
	if got := c.orderingLine(); !strings.Contains(got, "; fair is no worse with its own order") {
		t.Errorf("%q does not say that fair has it already", got)
	}
	if got := worked().orderingLine() + worked().aloneLine(); got != "" {
		t.Errorf("%q is said of what was not simulated", got)
	}
}

func TestAloneInJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, known()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Alone       []aloneJSON
		Clairvoyant []struct {
			Profile string
			JCT     struct{ Mean, P99 float64 } `json:"jct_seconds"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if want := []aloneJSON{{"a", 5}, {"b", 10}, {"c", 30}}; !slices.Equal(got.Alone, want) {
		t.Errorf("alone is %v, want %v", got.Alone, want)
	}
	if len(got.Clairvoyant) != 2 || got.Clairvoyant[0].Profile != "fair" || got.Clairvoyant[0].JCT.Mean != 27.5 || got.Clairvoyant[1].JCT.P99 != 1 {
		t.Errorf("clairvoyant is %+v", got.Clairvoyant)
	}
}

// The page has each job's time alone where it compares job with job.
func TestAloneOnThePage(t *testing.T) {
	c := known()
	table := c.scatter(1, duels(c.Profiles[0].Runs, c.Profiles[1].Runs)).Table
	if want := []string{"job", "fair", "fifo", "difference", "alone", "slowdown"}; !slices.Equal(table.Head, want) {
		t.Errorf("head %q, want %q", table.Head, want)
	}
	if want := []string{"b", "22.0 s", "12.5 s", "−9.5 s", "10.0 s", "2.20 × → 1.25 ×"}; !slices.Equal(table.Rows[0], want) {
		t.Errorf("row %q, want %q", table.Rows[0], want)
	}
	page := write(t, c)
	for _, want := range []string{"slowdown p95", "with this cluster to itself, a job takes 15.0 s on average", "<p class=\"lead\">An order that knows"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(page, "mean JCT ÷ bound") {
		t.Error("the page has mean JCT ÷ bound beside the slowdowns")
	}
}
