package exp

import (
	"fmt"
	"os"
	"testing"
)

// TestMROrchestrator prints all tables where asked for; without, it runs the smallest experiment.
func TestMROTry(t *testing.T) {
	if os.Getenv("MRO") == "" {
		t.Skip()
	}
	var list []*Experiment
	all := mrorchestratorExperiments()
	for i := range all {
		if os.Getenv("MRO") == "all" || all[i].Name == "mrorchestrator-"+os.Getenv("MRO") {
			list = append(list, &all[i])
		}
	}
	err := Run(list, Options{Seeds: []uint64{1, 2, 3, 4, 5}, SweepSeeds: 3, Effects: true}, func(o *Outcome) error {
		fmt.Println(o.Experiment.Name)
		for _, m := range o.Metrics {
			fmt.Printf("  %-60s %8.2f  ours %8.2f (%.2f %.2f) reached %v\n", m.Name, m.Published, m.Ours.Median, m.Ours.Low, m.Ours.High, m.Reached)
		}
		for _, e := range o.Effects {
			fmt.Printf("  without %s: %.2f -> %.2f defect %v\n", e.Name, e.With, e.Without, e.Defect)
		}
		for _, s := range o.Sweeps {
			fmt.Println("  sweep", s.Name)
			for a, row := range s.Cells {
				fmt.Printf("    %-40s", s.Arms[a].Name)
				for _, c := range row {
					fmt.Printf(" %8.2f", c.Median)
				}
				fmt.Println()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
