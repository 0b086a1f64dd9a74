package coupling_test

import (
	"testing"

	"heddle"
	"heddle/internal/testkit/dialogue"
	"heddle/policies/coupling"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

func TestDialogues(t *testing.T) { dialogue.Run(t, "testdata") }

// slots returns a set in which maps and reduces have slots.
func slots(reduces policy.Order) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Lanes = []policy.Lane{
		{Kinds: []heddle.Kind{heddle.AM, heddle.Executor, heddle.Other}, Order: policytest.Submitted{}},
		{Kinds: []heddle.Kind{heddle.Map}, Order: policytest.Submitted{}, Slots: policy.Slots{PerNode: 4}},
		{Kinds: []heddle.Kind{heddle.Reduce}, Order: reduces, Slots: policy.Slots{PerNode: 2}},
	}
	return s
}

func TestGateSuite(t *testing.T) {
	policytest.Run(t, coupling.NewGate, "delta_by_output: true", func(g policy.Gate) policy.Set {
		s := slots(policytest.Submitted{})
		s.Gate[heddle.Reduce] = []policy.Gate{g}
		s.Feeds.Output = true
		return s
	})
}

func TestOrderSuite(t *testing.T) {
	policytest.Run(t, coupling.NewOrder, "threshold: 2", slots)
}

func TestWaitSuite(t *testing.T) {
	for _, options := range []string{"", "{each: true, d: 2}", "{slots: 0}"} {
		policytest.Run(t, coupling.NewWait, options, func(p policy.Place) policy.Set {
			s := slots(policytest.Submitted{})
			s.Place[heddle.Reduce] = p
			return s
		})
	}
}

func TestPeekSuite(t *testing.T) {
	for _, options := range []string{"", "{beta: 0.5, sample: 2, once: false}", "{slots: 0, others: true, beat: 0}"} {
		policytest.Run(t, coupling.NewPeek, options, func(p policy.Place) policy.Set {
			s := slots(policytest.Submitted{})
			s.Place[heddle.Map] = p
			return s
		})
	}
}

// Nodes that are down hold input that no map can read there: a job that has all of its input on them does not wait for
// them, whether they are counted one by one or in a sample.
func TestPeekingPassesOverHostsThatAreDown(t *testing.T) {
	const racks, inRack = 2, 10
	each := heddle.Of(1024, 1000)
	for _, options := range []string{"", "sample: 4"} {
		p, err := coupling.NewPeek(policytest.Args(options))
		if err != nil {
			t.Fatal(err)
		}
		s := slots(policytest.Submitted{})
		s.Place[heddle.Map] = p
		core := sched.New(s)
		for n := range heddle.NodeID(racks * inRack) {
			core.Step(0, heddle.NodeUp{Node: n, Rack: heddle.RackID(n / inRack), Total: each.Times(8), Can: heddle.AllCaps})
		}
		core.Step(0, heddle.Submit{App: 0, Queue: 1, Master: each})
		core.Step(0, heddle.Heartbeat{Node: inRack})
		row := heddle.Anywhere(20, heddle.Map, 1, each)
		rows := []heddle.Row{row, row}
		rows[1].Rack = 0
		for n := range heddle.NodeID(inRack) {
			row.Host = n
			rows = append(rows, row)
		}
		core.Step(0, heddle.Ask{App: 0, Rows: rows})
		for n := range heddle.NodeID(inRack) {
			core.Step(0, heddle.NodeDown{Node: n})
		}
		core.Step(heddle.Time(heddle.Second), heddle.Heartbeat{Node: inRack})
		if n := core.View().App(0).Running(heddle.Map); n != 1 {
			t.Errorf("%q: %d maps run beside a rack that is down, want 1", options, n)
		}
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"threshold: 0", "threshold: -1", "threshold: .nan", "threshold: .inf"} {
		if _, err := coupling.NewGate(policytest.Args(o)); err == nil {
			t.Errorf("the gate took %s", o)
		}
	}
	for _, o := range []string{"d: 0", "slots: -1"} {
		if _, err := coupling.NewWait(policytest.Args(o)); err == nil {
			t.Errorf("wait took %s", o)
		}
	}
	for _, o := range []string{"sample: 0", "slots: -1", "beta: -0.1", "beta: .nan", "beta: .inf", "alpha_rack: 1.1", "alpha_off: -1", "alpha_reduce: .nan", "beat: -1", "beat: .nan", "beat: .inf"} {
		if _, err := coupling.NewPeek(policytest.Args(o)); err == nil {
			t.Errorf("peek took %s", o)
		}
	}
}
