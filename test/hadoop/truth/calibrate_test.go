package main

import (
	"math"
	"testing"
	"time"
)

// Half a core is busy in the first second and one and a half in the next; a tenth is the idle load.
func TestPhase(t *testing.T) {
	zero := time.Unix(100, 0)
	s := &sampler{idle: 0.1, list: []sample{{zero, 5}, {zero.Add(time.Second), 5.5}, {zero.Add(2 * time.Second), 7}, {zero.Add(3 * time.Second), 7.1}}}
	got := s.between(zero.Add(500*time.Millisecond), zero.Add(3*time.Second))
	for i, c := range [][2]float64{{got.CPU, 0.2 + 1.4}, {got.Busy, 1.5}, {got.Elapsed, 2.5}} {
		if math.Abs(c[0]-c[1]) > 1e-9 {
			t.Errorf("figure %d is %g, want %g", i, c[0], c[1])
		}
	}
}

// The cost of one more map is the difference between nine maps and one, divided by eight, without what their counters
// say.
func TestCostOfTask(t *testing.T) {
	all := []alone{
		{Name: "one", Work: phase{CPU: 4}, Counters: 0.5},
		{Name: "one", Work: phase{CPU: 4.2}, Counters: 0.5},
		{Name: "nine", Work: phase{CPU: 20}, Counters: 1.5},
	}
	for _, c := range costsOf(all) {
		switch c.name {
		case "Task":
			if math.Abs(c.cpu-(18.5-3.6)/8) > 1e-9 {
				t.Errorf("a task costs %g core-s", c.cpu)
			}
		case "SparkMaster":
			if !math.IsNaN(c.cpu) {
				t.Errorf("what no job told costs %g", c.cpu)
			}
		}
	}
}

func TestCovered(t *testing.T) {
	said := forecast{prediction{5, 10}, prediction{4, 9}, prediction{6, 11}}
	waits, completions, of := covered([]outcome{{Jobs: []jobOutcome{{Got: prediction{4, 12}, Said: said}, {Got: prediction{7, 9}, Said: said}}}}, fromBase)
	if waits != 1 || completions != 1 || of != 2 {
		t.Errorf("%d waits and %d completions of %d lie in the range, want 1 and 1 of 2", waits, completions, of)
	}
}
