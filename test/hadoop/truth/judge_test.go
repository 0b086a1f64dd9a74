package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		part, want float64
	}{{0.5, 3.5}, {0.95, 6}, {0.2, 2}} {
		if got := quantile([]float64{6, 1, 5, 2, 4, 3}, c.part); got != c.want {
			t.Errorf("quantile %g is %g, want %g", c.part, got, c.want)
		}
	}
	if !math.IsNaN(quantile(nil, 0.5)) {
		t.Error("nothing has a median")
	}
}

// The second arm is measured slower and predicted faster than the first; the third is too near the first to count.
func TestOrder(t *testing.T) {
	list := []outcome{
		{Got: figures{Makespan: 100}, Said: figures{Makespan: 90}},
		{Got: figures{Makespan: 120}, Said: figures{Makespan: 80}},
		{Got: figures{Makespan: 103}, Said: figures{Makespan: 70}},
	}
	if right, pairs := ordered(list, func(f *figures) float64 { return f.Makespan }); right != 1 || pairs != 2 {
		t.Errorf("%d of %d pairs are in order, want 1 of 2", right, pairs)
	}
}

func TestChoose(t *testing.T) {
	if _, err := choose("-arms", "stock-capacity,nosuch", arms()); err == nil || !strings.Contains(err.Error(), "-arms nosuch: not stock-capacity") {
		t.Errorf("an unknown arm: %v", err)
	}
	two, err := choose("-arms", "heddle-fair,stock-capacity", arms())
	if err != nil || len(two) != 2 || two[0].name != "stock-capacity" {
		t.Errorf("%v, %v", two, err)
	}
}

func TestFigures(t *testing.T) {
	r := &run{Mix: "glance", Jobs: []measured{{Name: "large-1", Submit: 1000}, {Name: "small-1", Submit: 3000}}}
	got := r.figures([]prediction{{2, 10}, {4, 20}})
	if want := (figures{MeanCompletion: 15, SmallWait: 4, Makespan: 22}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Both mixes have a good median; one of the second mix's three jobs is predicted to take twice as long as it did.
func TestVerdict(t *testing.T) {
	job := func(got, said float64) jobOutcome {
		return jobOutcome{Got: prediction{1, got}, Said: forecast{prediction: prediction{1, said}}}
	}
	all := []verdict{
		{Mix: "good", Outcomes: []outcome{{Jobs: []jobOutcome{job(100, 105), job(100, 110)}}}},
		{Mix: "bad", Outcomes: []outcome{{Jobs: []jobOutcome{job(100, 100), job(100, 91), job(100, 200)}}}},
	}
	got := verdictOf(all, slices.Concat(all[0].Outcomes, all[1].Outcomes))
	for _, want := range []string{
		"The median is met by good, bad, all together, and missed by none.\n",
		"The 95th percentile is met by good, and missed by bad, all together.\n",
		"0 of 0 pairs are in order.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}
