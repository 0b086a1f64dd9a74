package rm

import (
	"testing"

	"heddle"
	"heddle/yarn/ids"
)

// logs makes a node report its progress with an application's logs.
func (n *nm) logs(id ids.App, status string) {
	n.w.Helper()
	q := &BeatNode{Call: n.w.next(), Node: n.id, Last: n.last, Health: Health{Said: true}, Logs: []LogNews{{id, status}}, Partial: true}
	n.w.step(q)
	p, _ := answered[*NodeBeat](n.w, q.Call)
	n.last = p.ID
}

// An application's logs are collected when every node that ran something of it has collected its own, and the
// application is over: moving them away earlier would lose later ones.
func TestLogsAreOfAllNodes(t *testing.T) {
	for _, c := range []struct {
		first, second, want string
	}{
		{"SUCCEEDED", "SUCCEEDED", "SUCCEEDED"},
		{"SUCCEEDED", "FAILED", "FAILED"},
		{"FAILED", "SUCCEEDED", "FAILED"},
	} {
		w := newWorld(t, "capacity", func(o *Options) { o.Config.LogAggregation = true })
		id, m, home, other := w.job("MAPREDUCE")
		other.task(m)
		is := func(want string) {
			t.Helper()
			if got := w.app(id).LogAggregation; got != want {
				t.Errorf("logs are %s, want %s", got, want)
			}
		}
		is("NOT_START")
		home.logs(id, "RUNNING_WITH_FAILURE")
		home.logs(id, "RUNNING")
		is("RUNNING_WITH_FAILURE")
		home.logs(id, c.first)
		is("RUNNING")
		w.done(w.kill(id))
		is("RUNNING")
		other.logs(id, "RUNNING")
		is("RUNNING")
		other.logs(id, c.second)
		is(c.want)
		other.logs(id, "RUNNING")
		is(c.want)
	}
}

// A node that is gone says nothing more, and is not awaited for ever.
func TestLogsThatDoNotCome(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.LogAggregation = true })
	id, m, home, other := w.job("MAPREDUCE")
	other.task(m)
	never := w.submit("SPARK") // runs nowhere
	w.done(w.kill(id))
	w.done(w.kill(never))
	home.logs(id, "SUCCEEDED")
	w.pass(logsWait, nil, home)
	if got := w.app(id).LogAggregation; got != "RUNNING" {
		t.Errorf("logs are %s while they may still come", got)
	}
	w.sleep(1)
	if got := w.app(id).LogAggregation; got != "TIME_OUT" {
		t.Errorf("logs are %s", got)
	}
	if got := w.app(never).LogAggregation; got != "NOT_START" {
		t.Errorf("logs of nothing are %s", got)
	}
}

// After a restart it is unknown which nodes ran something of a completed application. They report it when they
// register, and their reports count once all have had time.
func TestLogsAfterAStart(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.LogAggregation = true })
	id, m, home, other := w.job("MAPREDUCE")
	other.task(m)
	w.done(w.kill(id))
	w.restart(heddle.Second)
	q := &RegisterNode{
		Call: w.next(), Node: home.id, Names: []string{home.id.Host}, Rack: defaultRack, HTTPPort: 8042, Total: heddle.Of(2048, 4000),
		Logs: []LogNews{{id, "SUCCEEDED"}},
	}
	w.step(q)
	home.last = 0
	if got := w.app(id).LogAggregation; got != "RUNNING" {
		t.Errorf("logs are %s when one node has told", got)
	}
	other.register(4096, 4)
	other.logs(id, "SUCCEEDED")
	w.pass(logsWait+1, nil, home, other)
	if got := w.app(id).LogAggregation; got != "SUCCEEDED" {
		t.Errorf("logs are %s", got)
	}
}

// An application that lived through a restart is like any other: its nodes have come back.
func TestLogsOverAStart(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.LogAggregation = true })
	id, m, home, other := w.job("MAPREDUCE")
	master, task := w.app(id).Master, other.task(m)
	w.restart(heddle.Second)
	home.register(2048, 4, found(master, 0))
	other.register(4096, 4, found(task, 20))
	m.register()
	home.logs(id, "SUCCEEDED")
	w.done(w.kill(id))
	if got := w.app(id).LogAggregation; got != "RUNNING" {
		t.Errorf("logs are %s", got)
	}
	other.logs(id, "SUCCEEDED")
	if got := w.app(id).LogAggregation; got != "SUCCEEDED" {
		t.Errorf("logs are %s", got)
	}
}

// If logs are not collected, nothing else is said about them.
func TestLogsAreNotCollected(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, _, home, _ := w.job("MAPREDUCE")
	home.logs(id, "SUCCEEDED")
	if got := w.app(id).LogAggregation; got != "DISABLED" {
		t.Errorf("logs are %s", got)
	}
}
