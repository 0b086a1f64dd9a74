package heddle

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/exp"
	"heddle/policies"
)

// An arm of the sweep left-out that restates the shares, the order, the places or the controls differs from heddle only in what its
// name says, and in no other option.
func TestLeftOutAlone(t *testing.T) {
	e := named(&System, "heddle-on-dress-mixed-30")
	base := said(t, &e, "heddle")
	for name, want := range map[string][]string{
		"without room kept while masters start":           {"newcomers"},
		"without a reserve for small jobs":                {"dress", "dress.cap", "dress.delta_max", "dress.few", "dress.keep", "dress.lend", "dress.patience", "dress.prompt", "dress.release", "dress.serve"},
		"without holding large jobs alone to it":          {"dress.cap"},
		"without serving first who lacks one executor":    {"shortest.gather"},
		"without serving who has run nothing first":       {"shortest.unstarted_first"},
		"without serving those with reduces alone sooner": {"shortest.ending_first"},
		"without weighing work by durations":              {"shortest.durations"},
		"without more weight for masters that start":      {"idle", "masters"},
		"without regard for masters that start":           {"map.uncrowded.masters", "reduce.uncrowded.masters"},
		"with suspension":                                 {"ikayak.suspend"},
		"with memory moved between tasks":                 {"mrorchestrator.regression", "mrorchestrator.regression.lower_memory", "mrorchestrator.regression.mode"},
	} {
		ours := said(t, &e, name)
		var got []string
		for _, key := range slices.Compact(slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(base)), slices.Collect(maps.Keys(ours))...)))) {
			if base[key] != ours[key] {
				got = append(got, key)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// said returns what an arm's profile says about its shares, its lane's order, its controls and the places of its tasks, as
// policy.option; places begin with the kind.
func said(t *testing.T, e *exp.Experiment, arm string) map[string]string {
	t.Helper()
	a, err := e.Arm(arm)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policies.Load(a.Profile, a.Set)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	add := func(prefix string, list ...any) {
		for _, policy := range list {
			options, ok := policy.(map[string]any)
			if !ok {
				options = map[string]any{fmt.Sprint(policy): nil}
			}
			for name, of := range options {
				out[prefix+name] = "is there"
				o, _ := of.(map[string]any)
				for key, value := range o {
					out[prefix+name+"."+key] = fmt.Sprint(value)
				}
			}
		}
	}
	add("", slices.Concat(p.Share, []any{p.Lanes[0].Order}, p.Control)...)
	for _, kind := range []string{"map", "reduce"} {
		list, _ := p.Place[kind].([]any)
		add(kind+".", list...)
	}
	return out
}
