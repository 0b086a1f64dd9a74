package main

import (
	"strings"
	"testing"
	"time"
)

// at returns a call that took from one second to another.
func at(begin, end int, k kind, o outcome, to life) op {
	return op{kind: k, begin: time.Duration(begin) * time.Second, end: time.Duration(end) * time.Second, outcome: o, to: to}
}

func in(queue string, priority int32, final string) life {
	return life{there: true, queue: queue, priority: priority, final: final}
}

var (
	submitted = at(1, 2, submit, done, in("a", 0, ""))
	killed    = at(3, 4, kill, done, life{final: "KILLED"})
)

// Impossible histories are found, and possible ones are accepted.
func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		ops   []op
		wrong string // "" for nothing
	}{
		"nothing":                        {},
		"a submission is there":          {[]op{submitted, at(3, 4, look, done, in("a", 0, ""))}, ""},
		"a submission is lost":           {[]op{submitted, at(3, 4, look, done, life{})}, "explains this one"},
		"an unknown submission is there": {[]op{at(1, 2, submit, unknown, in("a", 0, "")), at(3, 4, look, done, in("a", 0, ""))}, ""},
		"an unknown submission is not":   {[]op{at(1, 2, submit, unknown, in("a", 0, "")), at(3, 4, look, done, life{})}, ""},
		"and comes later": {[]op{
			at(1, 2, submit, unknown, in("a", 0, "")), at(3, 4, look, done, life{}), at(5, 6, look, done, in("a", 0, "")),
		}, "5.000"},
		"a kill holds":              {[]op{submitted, killed, at(5, 6, look, done, in("a", 0, "KILLED"))}, ""},
		"a kill is forgotten":       {[]op{submitted, killed, at(5, 6, look, done, in("a", 0, ""))}, "explains this one"},
		"a kill during a report":    {[]op{submitted, killed, at(3, 6, look, done, in("a", 0, ""))}, ""},
		"it was over before":        {[]op{submitted, at(2, 5, finish, unknown, life{final: "FINISHED"}), killed, at(5, 6, look, done, in("a", 0, "FINISHED"))}, ""},
		"over without a reason":     {[]op{submitted, at(5, 6, look, done, in("a", 0, "FAILED"))}, "explains this one"},
		"another end":               {[]op{submitted, killed, at(5, 6, look, done, in("a", 0, "KILLED")), at(7, 8, look, done, in("a", 0, "FINISHED"))}, "7.000"},
		"a move holds":              {[]op{submitted, at(3, 4, move, done, in("b", 0, "")), at(5, 6, look, done, in("b", 0, ""))}, ""},
		"a move is forgotten":       {[]op{submitted, at(3, 4, move, done, in("b", 0, "")), at(5, 6, look, done, in("a", 0, ""))}, "explains this one"},
		"a refused move moves":      {[]op{submitted, at(3, 4, move, refused, in("b", 0, "")), at(5, 6, look, done, in("b", 0, ""))}, "explains this one"},
		"a move after the end":      {[]op{submitted, killed, at(5, 6, move, done, in("b", 0, "")), at(7, 8, look, done, in("a", 0, "KILLED"))}, ""},
		"an unknown move is either": {[]op{submitted, at(3, 4, move, unknown, in("b", 0, "")), at(5, 6, look, done, in("b", 0, ""))}, ""},
		"and not both": {[]op{
			submitted, at(3, 4, move, unknown, in("b", 0, "")), at(5, 6, look, done, in("b", 0, "")), at(7, 8, look, done, in("a", 0, "")),
		}, "7.000"},
		"the later priority": {[]op{
			submitted, at(3, 4, priority, done, in("", 3, "")), at(5, 6, priority, done, in("", 5, "")), at(7, 8, look, done, in("a", 3, "")),
		}, "explains this one"},
		"seen before it is stored, and gone": {[]op{
			submitted, at(3, 8, priority, unknown, in("", 3, "")), at(4, 5, look, done, in("a", 3, "")), at(9, 10, look, done, in("a", 0, "")),
		}, "9.000"},
		"another time of its end": {[]op{
			submitted, killed, at(5, 6, look, done, life{there: true, queue: "a", final: "KILLED", finished: 7}),
			at(7, 8, look, done, life{there: true, queue: "a", final: "KILLED", finished: 8}),
		}, "7.000"},
	} {
		got := check(tt.ops)
		if (got == "") != (tt.wrong == "") || !strings.Contains(got, tt.wrong) {
			t.Errorf("%s: %q, want %q", name, got, tt.wrong)
		}
	}
}

// An id that is assigned twice is noticed; of reports of the same end, only the first and the last are kept.
func TestHistory(t *testing.T) {
	h := newHistory()
	h.given("x")
	h.add("x", submitted)
	h.add("x", killed)
	for i := range 10 {
		h.add("x", at(5+i, 6+i, look, done, in("a", 0, "KILLED")))
	}
	if n := len(h.apps["x"].ops); n != 4 || h.apps["x"].ops[3].end != 15*time.Second {
		t.Errorf("%d calls are kept: %v", n, h.apps["x"].ops)
	}
	if wrong := h.check(); len(wrong) > 0 {
		t.Errorf("%q", wrong)
	}
	h.given("x")
	h.add("x", at(20, 21, look, done, in("a", 0, "")))
	if wrong := h.check(); len(wrong) != 2 || !strings.Contains(wrong[0]+wrong[1], "second time") {
		t.Errorf("%q", wrong)
	}
}
