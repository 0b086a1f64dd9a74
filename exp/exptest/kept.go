package exptest

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heddle/exp"
)

// AsKept checks that the first seed of every experiment of a system gives the figures that are kept in
// docs/experiments. A change that moves a figure must be explained, and `make exp` writes the figures anew. AsKept is
// called from a package two folders below the module's root.
func AsKept(t *testing.T, system *exp.System) {
	if testing.Short() {
		t.Skip("it runs every experiment")
	}
	kept := summaries(t, system.Name)
	experiments := system.Experiments()
	var list []*exp.Experiment
	for i := range experiments {
		list = append(list, &experiments[i])
	}
	err := exp.Run(list, exp.Options{Seeds: []uint64{1}}, func(x *exp.Outcome) error {
		t.Run(x.Experiment.Name, func(t *testing.T) {
			s, ok := kept[x.Experiment.Name]
			if !ok || len(s.Metrics) != len(x.Metrics) {
				t.Fatalf("%d metrics are kept of %d; make exp writes them", len(s.Metrics), len(x.Metrics))
			}
			for i, m := range x.Summary().Metrics {
				k := s.Metrics[i]
				if limit := x.Metrics[i].Limit.Median; beyond(x.Metrics[i].Metric, float64(m.Ours.Median), limit) {
					t.Errorf("%s: %v, which no schedule can come to: the bound is %v", m.Metric, m.Ours.Median, limit)
				}
				if k.Metric != m.Metric || len(m.Values) > 0 && (len(k.Values) == 0 || !alike(float64(m.Values[0]), float64(k.Values[0]))) {
					t.Errorf("%s: %v, kept is %s: %v", m.Metric, m.Values, k.Metric, k.Values)
				}
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// beyond reports whether a figure is better than its bound.
func beyond(m *exp.Metric, ours, bound float64) bool {
	const digits = 1e-6
	if m.Kind == exp.Cost || m.Published < 0 {
		return ours < bound-digits*max(1, math.Abs(bound))
	}
	return ours > bound+digits*max(1, math.Abs(bound))
}

// MutationsLose checks that mistakes in a system's mechanisms are noticed: the kept figures that a mutation names are
// reached or exceeded, but with the mutation their medians over the seeds that an interval needs are not.
func MutationsLose(t *testing.T, system *exp.System) {
	if testing.Short() {
		t.Skip("it runs experiments")
	}
	kept := summaries(t, system.Name)
	experiments := system.Experiments()
	for i := range experiments {
		e := &experiments[i]
		if len(e.Mutations) == 0 {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			for _, m := range e.Mutations {
				for _, name := range m.Loses {
					at := slices.IndexFunc(kept[e.Name].Metrics, func(k exp.KeptMetric) bool { return k.Metric == name })
					if at < 0 || !kept[e.Name].Metrics[at].Reached {
						t.Errorf("%s: %s is not reached without it", m.Name, name)
					}
				}
			}
			only := *e
			only.Sweeps, only.Null = nil, nil
			o := exp.Options{Seeds: exp.Seeds(1, 6), Mutations: true}
			err := exp.Run([]*exp.Experiment{&only}, o, func(x *exp.Outcome) error {
				for _, m := range x.Mutations {
					for _, f := range m.Figures {
						if f.MedianReaches() {
							t.Errorf("%s: %s is reached still: %v", m.Name, f.Name, f.Ours.Median)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// summaries returns what is kept of a system, by experiment.
func summaries(t *testing.T, system string) map[string]exp.Summary {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "experiments", system+".json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := exp.ReadSummaries(path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]exp.Summary{}
	for _, s := range list {
		kept[s.Experiment] = s
	}
	return kept
}

// alike compares two figures, allowing for the digits that are not kept.
func alike(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-6*max(1, math.Abs(a))
}
