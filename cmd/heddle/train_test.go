package main

import (
	"bytes"
	"go/format"
	"os"
	"testing"
)

// The same runs give the same source, byte for byte, and all runs give the committed source. HEDDLE_TRAIN=1 makes all
// runs.
func TestTrain(t *testing.T) {
	runs := 3
	if os.Getenv("HEDDLE_TRAIN") == "1" {
		runs = trainingRuns
	}
	var texts [2][]byte
	for i := range texts {
		all, err := trials(runs)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = rules(all)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two trainings differ")
	}
	if formatted, err := format.Source(texts[0]); err != nil || !bytes.Equal(formatted, texts[0]) {
		t.Errorf("it is not formatted: %v", err)
	}
	if runs < trainingRuns {
		return
	}
	committed, err := os.ReadFile("../../policies/ikayak/fuzzy_rules.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(texts[0], committed) {
		t.Error("policies/ikayak/fuzzy_rules.go is not what heddle exp train prints: train again, or say why not")
	}
}
