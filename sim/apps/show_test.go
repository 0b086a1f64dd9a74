package apps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle"
	"heddle/workload"
)

// show writes actions as text: one word per row, release, launch and so on.
func show(a *Actions) string {
	var w []string
	for _, r := range a.Rows {
		at := "*"
		switch {
		case r.Host != heddle.NoNode:
			at = fmt.Sprintf("h%d", r.Host)
		case r.Rack != heddle.NoRack:
			at = fmt.Sprintf("r%d", r.Rack)
		}
		w = append(w, fmt.Sprintf("%d:%s=%d", r.Priority, at, r.Count))
	}
	for _, c := range a.Release {
		w = append(w, fmt.Sprintf("release:%d", c))
	}
	for _, c := range a.Launch {
		w = append(w, fmt.Sprintf("launch:%d", c))
	}
	for _, k := range a.Work {
		w = append(w, fmt.Sprintf("%s%d.%d@%d", k.Kind, k.Index, k.Attempt, k.Container))
	}
	for _, c := range a.Stop {
		w = append(w, fmt.Sprintf("stop:%d", c))
	}
	if a.Excluding {
		w = append(w, fmt.Sprintf("exclude:%v", a.Exclude))
	}
	switch a.Finish {
	case Running:
	case FinishedWell:
		w = append(w, "finished")
	case FinishedBadly:
		w = append(w, "failed")
	}
	return strings.Join(w, " ")
}

// A script drives a master by hand, at the times the master asks for.
type script struct {
	t    *testing.T
	m    Master
	out  Actions
	now  heddle.Time
	next heddle.Time // when the next heartbeat is due
	al   heddle.Time // when the alarm is due
	last map[heddle.ContainerID][]Work
}

func start(t *testing.T, m Master, at heddle.Time) *script {
	s := &script{t: t, m: m, now: at, last: map[heddle.ContainerID][]Work{}}
	s.call("", func() { m.Start(at, &s.out) })
	return s
}

// call makes one call and compares the resulting actions with want, unless want is "-".
func (s *script) call(want string, f func()) {
	s.t.Helper()
	s.out.Reset()
	f()
	if s.out.Beat != 0 {
		s.next = s.out.Beat
	}
	if s.out.Alarm != 0 {
		s.al = s.out.Alarm
	}
	for _, w := range s.out.Work {
		s.last[w.Container] = append(s.last[w.Container], w)
	}
	if got := show(&s.out); want != "-" && got != want {
		s.t.Errorf("at %.3f s:\n got  %q\n want %q", s.now.Seconds(), got, want)
	}
}

// beat makes the next allocate call, with an answer.
func (s *script) beat(in Response, want string) {
	s.t.Helper()
	s.now = s.next
	s.call(want, func() { beat(s.m, s.now, &in, &s.out) })
}

// beatAt does the same and checks when the call was due, in milliseconds.
func (s *script) beatAt(ms int64, in Response, want string) {
	s.t.Helper()
	if due := int64(s.next) / 1e6; due != ms {
		s.t.Errorf("beat is due at %d ms, want %d", due, ms)
	}
	s.beat(in, want)
}

func (s *script) alarmAt(ms int64, want string) {
	s.t.Helper()
	if due := int64(s.al) / 1e6; due != ms {
		s.t.Errorf("alarm is due at %d ms, want %d", due, ms)
	}
	s.now = s.al
	s.call(want, func() { s.m.Alarm(s.now, &s.out) })
}

// done ends the oldest work of a container.
func (s *script) done(c heddle.ContainerID, ok bool, want string) {
	s.t.Helper()
	w := s.last[c]
	if len(w) == 0 {
		s.t.Fatalf("container %d runs nothing", c)
	}
	s.last[c] = w[1:]
	s.call(want, func() { s.m.WorkDone(s.now, w[0], ok, &s.out) })
}

func (s *script) up(c heddle.ContainerID, want string) {
	s.t.Helper()
	s.call(want, func() { s.m.Up(s.now, c, &s.out) })
}

// gr grants containers first … first+n−1 on a node.
func gr(priority int32, k heddle.Kind, size heddle.Resource, node heddle.NodeID, first, n int) []Grant {
	var g []Grant
	for i := range n {
		g = append(g, Grant{Container: heddle.ContainerID(first + i), Node: node, Priority: priority, Kind: k, Size: size})
	}
	return g
}

func ended(status heddle.ExitStatus, ids ...heddle.ContainerID) []Completed {
	var c []Completed
	for _, id := range ids {
		c = append(c, Completed{id, status})
	}
	return c
}

var gib = heddle.Of(1024, 1000)

func room(mib int64) heddle.Resource { return heddle.Of(mib, mib/1024*1000) }

func mrJob(maps, reduces int, reduceMiB int64) *workload.Job {
	j := &workload.Job{Maps: make([]workload.Task, maps), Reduces: make([]workload.Task, reduces), SlowStart: -1}
	for i := range j.Reduces {
		j.Reduces[i].Size = heddle.Of(reduceMiB, 1000)
	}
	return j
}

// Rows are sent once, when they have changed, in the order of Hadoop's clients.
func TestTable(t *testing.T) {
	var tab table
	c := Config{Rack: []heddle.RackID{0, 0, 1}}
	w := want{priority: 20, kind: heddle.Map, size: gib}
	tab.add(&c, w, []heddle.NodeID{2, 0, 0}, 1)
	tab.add(&c, w, []heddle.NodeID{1, 0}, 1)
	tab.add(&c, want{priority: 5, kind: heddle.Map, size: gib}, nil, 3)
	got := show(&Actions{Rows: tab.flush(nil)})
	if d := cmp.Diff("5:*=3 20:*=2 20:r0=2 20:r1=1 20:h0=2 20:h1=1 20:h2=1", got); d != "" {
		t.Error(d)
	}
	tab.add(&c, w, []heddle.NodeID{2, 0, 0}, -1)
	if got := show(&Actions{Rows: tab.flush(nil)}); got != "20:*=1 20:r0=1 20:r1=0 20:h0=1 20:h2=0" {
		t.Errorf("changed rows only, 0 included; got %s", got)
	}
	if rows := tab.flush(nil); len(rows) != 0 {
		t.Errorf("nothing changed, got %v", rows)
	}
}

// beat makes an allocate call and handles its answer.
func beat(m Master, now heddle.Time, in *Response, out *Actions) {
	if m.Call(now, out); out.Finish == Running {
		m.Answer(now, in, out)
	}
}
