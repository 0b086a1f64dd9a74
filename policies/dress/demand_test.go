package dress

import (
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// runs returns what is remembered of applications that are over, and a way to run one more: of a name, whose master asks for
// so many tasks.
func runs(t *testing.T) (past *history, one func(name string, tasks int32)) {
	s, err := New(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	set := policytest.Base(policytest.Submitted{})
	set.Share = append(set.Share[:0:0], s)
	c := sched.New(set)
	c.Step(0, heddle.NodeUp{Total: heddle.Of(8<<10, 8000), Can: heddle.AllCaps})
	app := heddle.AppID(0)
	return &s.(*Scheduler).past, func(name string, tasks int32) {
		c.Step(0, heddle.Submit{App: app, Queue: 1, Master: heddle.Of(1024, 1000), Facts: heddle.Facts{Name: name}})
		c.Step(0, heddle.Heartbeat{})
		if tasks > 0 {
			c.Step(0, heddle.Ask{App: app, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, tasks, heddle.Of(1024, 1000))}})
		}
		c.Step(0, heddle.AppDone{App: app})
		app++
	}
}

// What is remembered of applications that are over is bounded, and the oldest go first; those without a name, or that asked
// for nothing, leave nothing.
func TestHistory(t *testing.T) {
	past, one := runs(t)
	one("", 3)
	one("idle", 0)
	if past.runs.Len() != 0 {
		t.Errorf("%v is remembered", past.runs)
	}
	name := func(i int) string { return string(rune('a'+i/1000)) + string(rune(0x4e00+i%1000)) }
	for i := range policy.MostRuns + 2 {
		one(name(i), 3)
	}
	if n := past.runs.Len(); n != policy.MostRuns {
		t.Errorf("%d runs are remembered, want %d", n, policy.MostRuns)
	}
	if _, ok := past.runs.Of(policy.Run{Name: name(0)}); ok {
		t.Error("the oldest is remembered still")
	}
	want := demand{heddle.Of(3*1024, 3000), 3}
	if got := past.of(policy.Run{Name: name(2)}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Of an application that was killed before it had asked for all, nothing smaller is expected next time; after two that are
// small, a small one is.
func TestHistoryIsOfTwoRuns(t *testing.T) {
	past, one := runs(t)
	for i, c := range []struct{ asks, expected int }{{10, 10}, {1, 10}, {2, 2}, {10, 10}} {
		one("report", int32(c.asks))
		want := demand{heddle.Of(1024, 1000).Times(int64(c.expected)), c.expected}
		if got := past.of(policy.Run{Name: "report"}); got != want {
			t.Errorf("after run %d %+v is expected, want %+v", i+1, got, want)
		}
	}
}
