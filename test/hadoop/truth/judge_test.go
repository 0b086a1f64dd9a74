package main

import (
	"math"
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

// The second arm is measured slower and predicted faster than the first, the third too near to it to count.
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
