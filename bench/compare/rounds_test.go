package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"heddle/bench/internal/measure"
)

var toy = contest{name: "toy", goals: []goal{{figure: rate, ratio: 2}}, base: side{name: "peer"}, others: []side{{name: "ours"}, {name: "slow"}}}

// script returns scans from a list, and the figures of each side from a list of its own.
func script(scans []float64, sides map[string][]float64) (func() (float64, error), func(side) (measure.Figures, error), *[]string) {
	var order []string
	scan := func() (float64, error) {
		s := scans[0]
		scans = scans[1:]
		return s, nil
	}
	run := func(s side) (measure.Figures, error) {
		order = append(order, s.name)
		v := sides[s.name][0]
		sides[s.name] = sides[s.name][1:]
		return measure.Figures{rate: v, measure.PeakMemory: 1}, nil
	}
	return scan, run, &order
}

func TestRatiosArePaired(t *testing.T) {
	scan, run, order := script([]float64{7, 7, 7}, map[string][]float64{
		"peer": {100, 10, 40}, "ours": {300, 40, 80}, "slow": {100, 10, 40},
	})
	r, err := toy.measure(3, scan, run)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(*order, " "); got != strings.TrimSpace(strings.Repeat("peer ours slow ", 3)) {
		t.Errorf("ran %s", got)
	}
	var out bytes.Buffer
	if missed := r.print(&out); missed != 1 {
		t.Errorf("%d goals missed, want 1", missed)
	}
	// The ratios are 3, 4 and 2, while the ratio of the medians would be 80 / 40.
	for _, want := range []string{"80 (40 to 300)", "ratio 3 (2 to 4), goal ≥ 2: met", "ratio 1 (1 to 1), goal ≥ 2: missed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestRoundAtAnotherSpeedIsRepeated(t *testing.T) {
	ones := []float64{1, 1, 9, 1, 1, 1, 1, 1}
	again := []float64{2, 2, 9, 2, 2, 2, 2, 2}
	scan, run, order := script([]float64{10, 11, 15, 9, 10, 10}, map[string][]float64{"peer": ones, "ours": again, "slow": ones})
	r, err := toy.measure(5, scan, run)
	if err != nil {
		t.Fatal(err)
	}
	if len(*order) != 6*3 || r.odd != 0 || r.rounds[2].sides[0][rate] != 1 {
		t.Errorf("%d runs, %d odd rounds, third round %v", len(*order), r.odd, r.rounds[2].sides[0])
	}
}

func TestMachineThatNeverSettles(t *testing.T) {
	many := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	scan, run, order := script([]float64{10, 10, 99, 99, 99, 99}, map[string][]float64{"peer": many, "ours": many, "slow": many})
	r, err := toy.measure(3, scan, run)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r.print(&out)
	if len(*order) != (3+repeats)*3 || r.odd != 1 || !strings.Contains(out.String(), "measure again") {
		t.Errorf("%d runs, %d odd rounds:\n%s", len(*order), r.odd, out.String())
	}
}

func TestSideThatFails(t *testing.T) {
	broken := errors.New("broken")
	scan := func() (float64, error) { return 1, nil }
	if _, err := toy.measure(1, scan, func(side) (measure.Figures, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := toy.measure(1, scan, func(side) (measure.Figures, error) { return measure.Figures{}, nil }); err == nil {
		t.Error("a side without the figure was taken in")
	}
}

func TestBelow(t *testing.T) {
	g := goal{ratio: 8, below: true}
	if !g.met(8) || g.met(8.1) || g.String() != "≤ 8" {
		t.Errorf("%v: 8 %t, 8.1 %t", g, g.met(8), g.met(8.1))
	}
}
