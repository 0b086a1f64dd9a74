package sched_test

import (
	"fmt"
	"slices"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// Only maps and reduces are frozen, on nodes that can. The memory that a frozen container lends is bounded by what it
// uses, and comes back when it is resumed or its node cannot keep it from running, even if another container has it.
func TestFreezes(t *testing.T) {
	const frozen = 20 * heddle.Second
	for name, of := range map[string]struct {
		kind heddle.Kind
		at   heddle.Phase
		can  heddle.Caps
		end  heddle.Event // nil: the container is resumed
		want []string
	}{
		"an executor":  {heddle.Executor, heddle.Holding, heddle.AllCaps &^ heddle.Elastic, nil, []string{"suspend 0", "resume"}},
		"a stock node": {heddle.Reduce, heddle.ReduceCopy, heddle.Stock | heddle.Parks, nil, []string{"suspend 0", "resume"}},
		"a reduce":     {heddle.Reduce, heddle.ReduceCopy, heddle.AllCaps &^ heddle.Elastic, nil, []string{"suspend 20", "resize 360", "resume", "resize 1024"}},
		"agent lost": {
			heddle.Reduce, heddle.ReduceCopy, heddle.Stock | heddle.Parks | heddle.Freezes,
			heddle.NodeCan{Can: heddle.Stock | heddle.Parks},
			[]string{"suspend 20", "resize 360", "resume", "resize 1024"},
		},
		"it cannot be frozen": {
			heddle.Reduce, heddle.ReduceCopy, heddle.AllCaps &^ heddle.Elastic,
			heddle.Unable{Container: 2, What: heddle.Freezes},
			[]string{"suspend 20", "resize 360", "resume", "resize 1024"},
		},
		"it cannot be bounded": {
			heddle.Reduce, heddle.ReduceCopy, heddle.AllCaps &^ heddle.Elastic,
			heddle.Unable{Container: 2, What: heddle.Bounds},
			[]string{"suspend 20", "resize 360"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := &acts{turn: []func(policy.View, *policy.Plan){
				func(_ policy.View, p *policy.Plan) { p.Freeze(2, frozen) },
				func(_ policy.View, p *policy.Plan) { p.Resize(2, heddle.Of(100, 1000)) },
			}}
			set := policytest.Base(policytest.Submitted{})
			set.Share = []policy.Share{newLedger()}
			set.Control = []policy.Control{a}
			c := sched.New(set)
			var got []string
			step := func(at heddle.Time, ev heddle.Event) {
				t.Helper()
				for _, d := range c.Step(at, ev) {
					switch d := d.(type) {
					case *heddle.Suspend:
						got = append(got, fmt.Sprint("suspend ", d.Freeze.Seconds()))
					case *heddle.Resume:
						got = append(got, "resume")
					case *heddle.Resize:
						got = append(got, fmt.Sprint("resize ", d.Limit[heddle.Memory]))
					default:
					}
				}
				if broken := c.Check(); len(broken) > 0 {
					t.Fatalf("after %T%+v: %v", ev, ev, broken)
				}
			}
			one := heddle.Of(1024, 1000)
			step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(2048, 4000), Can: of.can})
			step(0, heddle.Submit{App: 0, Queue: 1, Master: one})
			step(0, heddle.Heartbeat{Node: 0})
			step(0, heddle.Started{Container: 1})
			step(0, heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(20, of.kind, 1, one)}})
			step(1, heddle.Heartbeat{Node: 0})
			step(1, heddle.Acquire{App: 0})
			step(1, heddle.Started{Container: 2})
			step(1, heddle.Progress{Container: 2, Phase: of.at})
			step(1, heddle.Profile{Container: 2, CPU: 10, Memory: 300})
			step(heddle.Time(heddle.Second), heddle.Wake{})
			if x := c.View().Container(2); x.Frozen() != (of.want[0] == "suspend 20") || !x.Suspended() {
				t.Fatalf("suspended %v, frozen %v", x.Suspended(), x.Frozen())
			}
			step(heddle.Time(2*heddle.Second), heddle.Wake{})
			step(heddle.Time(2*heddle.Second), heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, 1, heddle.Of(600, 1000))}})
			step(heddle.Time(2*heddle.Second), heddle.Heartbeat{Node: 0}) // another container gets what is lent
			if of.end == nil {
				of.end = heddle.Wake{}
				a.turn = append(a.turn, func(_ policy.View, p *policy.Plan) { p.Resume(2) })
			}
			step(heddle.Time(3*heddle.Second), of.end)
			if !slices.Equal(got, of.want) {
				t.Errorf("did %v, want %v", got, of.want)
			}
		})
	}
}
