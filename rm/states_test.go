package rm

import (
	"fmt"
	"strings"
	"testing"
)

// A life holds the states of one kind of thing and their transitions.
type life struct {
	names  []string
	next   []next
	finals int // number of final states, which come last
	become func(from, to int)
}

var lives = map[string]life{
	"an application": {appNames[:], appNext, 3, func(from, to int) { (&app{state: appState(from)}).become(appState(to)) }},
	"an attempt":     {attemptNames[:], attemptNext, 3, func(from, to int) { (&attempt{state: attemptState(from)}).become(attemptState(to)) }},
	"a node":         {nodeNames[:], nodeNext, 0, func(from, to int) { (&node{state: nodeState(from)}).become(nodeState(to)) }},
	"a container": {
		containerNames[:], containerNext, 1,
		func(from, to int) { (&container{state: containerState(from)}).become(containerState(to)) },
	},
}

// Every state has its own name and an entry in the table, which has no other entries; every state can be reached from
// the first; from every state a life can end, and final states stay as they are.
func TestTransitionTables(t *testing.T) {
	for what, l := range lives {
		if len(l.next) != len(l.names) {
			t.Fatalf("%s: %d states, %d entries", what, len(l.names), len(l.next))
		}
		seen := map[string]bool{}
		for s, name := range l.names {
			if name == "" || seen[name] {
				t.Errorf("%s: state %d is called %q", what, s, name)
			}
			seen[name] = true
			if l.next[s]>>len(l.names) != 0 {
				t.Errorf("%s that is %s may become what there is not", what, name)
			}
			if over := s >= len(l.names)-l.finals; over != (l.next[s] == 0) {
				t.Errorf("%s that is %s may become %b; over: %v", what, name, l.next[s], over)
			}
		}
		for s, ok := range reached(l.next, 0) {
			if !ok {
				t.Errorf("%s is never %s", what, l.names[s])
			}
		}
		for s, name := range l.names {
			ends := l.finals == 0
			for end, ok := range reached(l.next, s) {
				ends = ends || ok && l.next[end] == 0
			}
			if !ends {
				t.Errorf("%s that is %s can never end", what, name)
			}
		}
	}
}

// reached says for every state whether it is from, or can be reached from it.
func reached(table []next, from int) []bool {
	out := make([]bool, len(table))
	out[from] = true
	for more := true; more; {
		more = false
		for s := range table {
			for to := range table {
				if out[s] && !out[to] && table[s]>>to&1 == 1 {
					out[to], more = true, true
				}
			}
		}
	}
	return out
}

// Transitions in the table are made, and a state may stay as it is; everything else panics and says what was wrong.
func TestForbiddenTransitionsPanic(t *testing.T) {
	for what, l := range lives {
		for from := range l.names {
			for to := range l.names {
				want := ""
				if from != to && l.next[from]>>to&1 == 0 {
					want = fmt.Sprintf("rm: %s that is %s cannot become %s", what, l.names[from], l.names[to])
				}
				if got := panics(func() { l.become(from, to) }); got != want {
					t.Errorf("%s, from %s to %s: %q", what, l.names[from], l.names[to], got)
				}
			}
		}
	}
}

// panics returns what f panics with, "" for nothing.
func panics(f func()) (with string) {
	defer func() {
		if p := recover(); p != nil {
			with = p.(string)
		}
	}()
	f()
	return ""
}

// An end is an end: clients see it, and nothing ends twice.
func TestStatesOfAnEnd(t *testing.T) {
	for s := range appState(len(appNames)) {
		a := &app{state: s, before: AppRunning}
		if s.isOver() && (string(a.public()) != s.String() || !a.public().Final()) {
			t.Errorf("%s is shown as %s", s, a.public())
		}
		if s.isOver() != (appNext[s] == 0) || s.isOver() && s.ending() {
			t.Errorf("%s: over %v, ending %v", s, s.isOver(), s.ending())
		}
		if got, ok := stateOf[appState](appNames[:], s.String()); !ok || got != s {
			t.Errorf("%s is read as %s", s, got)
		}
	}
	for s := range attemptState(len(attemptNames)) {
		if s.isOver() != (attemptNext[s] == 0) {
			t.Errorf("an attempt that is %s: over %v", s, s.isOver())
		}
	}
	if _, ok := stateOf[appState](appNames[:], ""); ok {
		t.Error("no state is a state")
	}
	if w := newWorld(t, "fifo", nil); !strings.Contains(panics(func() { w.m.Step(0, nil) }), "not known") {
		t.Error("no message is a message")
	}
}
