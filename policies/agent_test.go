package policies_test

import (
	"reflect"
	"strings"
	"testing"

	"heddle"
	"heddle/policies"
	"heddle/policy"
)

// Every profile builds without an agent, and depends on nothing that only an agent could report.
func TestEveryProfileBuildsWithoutAgent(t *testing.T) {
	for _, name := range policies.Names() {
		p, err := policies.Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		whole := *p
		carried, off := p.WithoutAgent()
		if !reflect.DeepEqual(*p, whole) {
			t.Errorf("%s was changed itself", name)
		}
		b, err := policies.Build(carried, env())
		if err != nil {
			t.Errorf("%s without %q: %v", name, off, err)
			continue
		}
		if f := b.Feeds; f.Profile != 0 {
			t.Errorf("%s still wants %+v", name, f)
		}
		if _, again := carried.WithoutAgent(); len(again) > 0 {
			t.Errorf("%s still has %q", name, again)
		}
	}
}

func TestWhatIsOffWithoutAgent(t *testing.T) {
	for name, want := range map[string][]string{
		"fifo": nil, "capacity": nil, "fair": nil, "dress": nil, "slots": nil, "coupling": nil, "yarn-client": nil, "yarn-cluster": nil,
		"adaptcont": nil, "ikayak": nil,
		"heddle":         {"masters (control): changing what a running task gets of a processor needs a node agent"},
		"mrorchestrator": {"mrorchestrator.regression (control): changing what a running task gets of a processor needs a node agent"},
	} {
		p, err := policies.Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, off := p.WithoutAgent(); !reflect.DeepEqual(off, want) {
			t.Errorf("%s: off\n%s\nwant\n%s", name, strings.Join(off, "\n"), strings.Join(want, "\n"))
		}
	}
}

// What is left keeps its place: useless options are dropped, and the neutral policy stands before policies that may
// refuse.
func TestWhatIsLeftWithoutAgent(t *testing.T) {
	usage := foreign{needs: policy.Needs{Feeds: policy.Feeds{Profile: heddle.Second}}}
	addTo(t, policies.Table.Place, "usage", func(bool) policy.Place { return usage })
	addTo(t, policies.Table.Trim, "usage", func(bool) policy.Trim { return usage })
	addTo(t, policies.Table.Gate, "usage", func(bool) policy.Gate { return usage })
	addTo(t, policies.Table.Order, "usage", func(freeze bool) policy.Order {
		if freeze {
			return foreign{needs: policy.Needs{Can: heddle.Weighs, Option: "freeze"}}
		}
		return foreign{}
	})
	p, err := policies.Parse("test.yaml", []byte(`
profile: fifo
lanes:
  - {kinds: [am, map, executor, other], order: fifo}
  - {kinds: [reduce], order: {usage: {freeze: true, other: 5}}}
gate: {reduce: [open, usage]}
place: {map: [coupling.peek, usage], reduce: [usage, delay], executor: usage, other: [usage, delay, 7]}
trim: {map: whole, reduce: usage}
`))
	if err != nil {
		t.Fatal(err)
	}
	got, off := p.WithoutAgent()
	want := policies.Profile{
		Place: map[string]any{"map": []any{"coupling.peek"}, "reduce": []any{"any", "delay"}, "other": []any{"any", "delay", uint64(7)}},
		Trim:  map[string]any{"map": "whole"},
		Gate:  map[string]any{"reduce": []any{"open"}},
	}
	if !reflect.DeepEqual(got.Place, want.Place) || !reflect.DeepEqual(got.Trim, want.Trim) || !reflect.DeepEqual(got.Gate, want.Gate) {
		t.Errorf("left: place %v trim %v gate %v", got.Place, got.Trim, got.Gate)
	}
	if _, again := (&policies.Profile{Lanes: []policies.LaneSpec{{Order: nil}, {Order: "usage"}}, Place: map[string]any{"map": []any{}, "am": nil}}).WithoutAgent(); again != nil {
		t.Errorf("what is no reference is off: %v", again)
	}
	order, _ := got.Lanes[1].Order.(map[string]any)
	if o, _ := order["usage"].(map[string]any); len(o) != 1 || o["other"] == nil {
		t.Errorf("the order is %v", got.Lanes[1].Order)
	}
	if len(off) != 7 || !strings.HasPrefix(off[0], "usage: freeze (lanes): ") {
		t.Errorf("off: %s", strings.Join(off, "\n"))
	}
}

// foreign is a third-party policy for any slot that needs what only a node agent does.
type foreign struct {
	policy.Unshared
	policy.AlwaysOpen
	policy.Unsteady
	needs policy.Needs
}

func (foreign) Judge(policy.View, *policy.Ask, *policy.Node, heddle.Locality) policy.Verdict {
	return policy.Yes
}

func (foreign) Trim(_ policy.View, k *policy.Ask, _ *policy.Node, _ heddle.Resource) heddle.Resource {
	return k.Size()
}

func (foreign) Floor(smallest heddle.Resource) heddle.Resource { return smallest }

func (foreign) Queue(policy.View, *policy.Queue) policy.Key { return policy.Key{} }

func (foreign) App(policy.View, *policy.App) policy.Key { return policy.Key{} }

func (f foreign) Needs() policy.Needs { return f.needs }

// addTo puts a third-party policy into the table for as long as the test runs.
func addTo[H any](t *testing.T, table map[string]policy.Maker[H], name string, make func(freeze bool) H) {
	t.Helper()
	table[name] = func(a policy.Args) (H, error) {
		o := struct {
			Freeze bool `yaml:"freeze"`
			Other  int  `yaml:"other"`
		}{}
		err := a.Decode(&o)
		return make(o.Freeze), err
	}
	t.Cleanup(func() { delete(table, name) })
}

// A third-party policy is taken out by what it says it needs. If its slot has no neutral policy, the profile is
// refused.
func TestForeignPoliciesWithoutAgent(t *testing.T) {
	usage := foreign{needs: policy.Needs{Feeds: policy.Feeds{Profile: heddle.Second}}}
	freezes := func(freeze bool) foreign {
		if freeze {
			return foreign{needs: policy.Needs{Can: heddle.Weighs, Option: "freeze"}}
		}
		return foreign{}
	}
	addTo(t, policies.Table.Gate, "foreign", func(bool) policy.Gate { return usage })
	addTo(t, policies.Table.Order, "foreign", func(bool) policy.Order { return usage })
	addTo(t, policies.Table.Share, "foreign", func(freeze bool) policy.Share { return freezes(freeze) })
	for _, c := range []struct {
		changes, wrong string
		off            []string
	}{
		{"gate: {map: foreign}", "", []string{"foreign (gate.map): only a node agent tells how much a task computes"}},
		{
			"lanes: [{kinds: [am, map, reduce, executor, other], order: foreign}]",
			"test.yaml:2:9: lanes[0]: foreign needs a node agent, and there is none: only a node agent tells how much a task computes", nil,
		},
		{"share: [{foreign: {freeze: true}}]", "", []string{"foreign: freeze (share): changing what a running task gets of a processor needs a node agent"}},
		{"share: [foreign]", "", nil},
	} {
		p, err := policies.Parse("test.yaml", []byte("profile: fifo\n"+c.changes))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policies.Build(p, env()); err != nil {
			t.Errorf("%s: with an agent: %v", c.changes, err)
		}
		carried, off := p.WithoutAgent()
		if !reflect.DeepEqual(off, c.off) {
			t.Errorf("%s: off %q, want %q", c.changes, off, c.off)
		}
		if _, err = policies.Build(carried, env()); (err == nil) != (c.wrong == "") || err != nil && err.Error() != c.wrong {
			t.Errorf("%s: %v, want %q", c.changes, err, c.wrong)
		}
	}
}
