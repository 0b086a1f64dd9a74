package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"heddle/rm"
)

// manyRows returns a snapshot with a number of queues and applications.
func manyRows(queues, apps int) *snapshot {
	s := &snapshot{At: time.UnixMilli(1795246299685), URL: "http://127.0.0.1:8088", Cluster: clusterRow{
		Scheduler: "capacity", Started: 1795246246143, Active: 3, Lost: 1, Running: apps,
		Total: rm.Amount{MemoryMiB: 12288, Vcores: 24}, Used: rm.Amount{MemoryMiB: 11776, Vcores: 12.5}, Reserved: rm.Amount{MemoryMiB: 512},
	}}
	for i := range queues {
		s.Queues = append(s.Queues, rm.QueueReport{QueueInfo: rm.QueueInfo{Path: fmt.Sprintf("root.q%03d", i), Weight: -1, Capacity: 0.01}})
	}
	for i := range apps {
		s.Apps = append(s.Apps, rm.AppReport{
			ID: anApp(int32(i + 1)), Name: "gö\x1b[2J", State: "RUNNING", User: string(rune('a' + i%3)),
			Used: rm.Amount{MemoryMiB: int64(i), Vcores: float64(apps - i)}, Started: int64(i), Elapsed: int64(apps - i), Progress: rm.Fraction(i % 7),
		})
	}
	return s
}

// An application whose long name has wide letters or control characters does not push out the names of the others.
func TestFrameLongNames(t *testing.T) {
	for _, name := range []string{strings.Repeat("日本", 20), strings.Repeat("\x1b", 32)} {
		s := manyRows(1, 3)
		s.Apps[1].Name = name
		if text := s.draw(&look{width: 130, order: "memory"}); !strings.Contains(text, "gö") {
			t.Errorf("no names beside %q:\n%s", name, text)
		}
	}
}

// Nor does a user, type or queue with a long name, and a queue with a long name leaves room for what queues hold.
func TestFrameLongWords(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, set := range []func(*snapshot){
		func(s *snapshot) { s.Apps[1].User = long },
		func(s *snapshot) { s.Apps[1].Type = long },
		func(s *snapshot) { s.Apps[1].Queue = long },
	} {
		s := manyRows(1, 3)
		set(s)
		if text := s.draw(&look{width: 160, order: "memory"}); !strings.Contains(text, "gö") || !strings.Contains(text, "user") {
			t.Errorf("no names:\n%s", text)
		}
	}
	s := manyRows(2, 0)
	s.Queues[0].Waiting = 4711
	s.Queues[1].Path = "root." + long
	if text := s.draw(&look{width: 80, order: "memory"}); !strings.Contains(text, "4711") {
		t.Errorf("what waits in queues is cut off:\n%s", text)
	}
}

// A frame is never larger than its terminal, whatever there is to show, and says what it left out.
func TestFrameFits(t *testing.T) {
	for _, n := range []struct{ queues, apps int }{{0, 0}, {1, 0}, {1, 1}, {3, 5}, {200, 3}, {3, 60}, {40, 60}} {
		s := manyRows(n.queues, n.apps)
		for _, width := range []int{1, 80, 200} {
			for _, height := range []int{1, 2, 7, 8, 9, 10, 11, 12, 15, 24, 60} {
				for _, colour := range []bool{false, true} {
					text := s.draw(&look{width: width, height: height, order: "memory", keys: true, colour: colour, skip: n.apps / 2, trouble: "no answer"})
					lines := strings.Split(text, "\n")
					if len(lines) > height {
						t.Fatalf("%d queues, %d applications: %d lines on a terminal of %d:\n%s", n.queues, n.apps, len(lines), height, text)
					}
					for _, line := range lines {
						if w := lipgloss.Width(line); w > width {
							t.Fatalf("a line is %d wide on a terminal of %d: %q", w, width, line)
						}
					}
					if height > 1 && width == 200 && !strings.Contains(lines[len(lines)-1], "q quit") {
						t.Fatalf("%d lines: the last is %q, not what keys do", height, lines[len(lines)-1])
					}
				}
			}
		}
	}
	text := manyRows(200, 1000).draw(&look{width: 120, height: 40, order: "memory"})
	if !strings.Contains(text, "more queues") || !strings.Contains(text, "more applications") {
		t.Errorf("what does not fit is not counted:\n%s", text)
	}
	whole := manyRows(30, 40).draw(&look{width: 120, order: "memory"})
	if strings.Contains(whole, "more") || strings.Count(whole, "application_1_") != 40 || strings.Count(whole, "q0") != 30 {
		t.Errorf("without a height something is left out:\n%s", whole)
	}
	if strings.Contains(whole, "\x1b") || !strings.Contains(whole, `  gö\x1b[2J  `) {
		t.Errorf("a frame without colours holds escapes, or does not show those of a name: %q", whole)
	}
}

// On a narrow terminal the least important columns go first, and the most important stay.
func TestFrameNarrows(t *testing.T) {
	s := manyRows(1, 3)
	for i := range s.Apps {
		s.Apps[i].ID = fakeApp(int32(i + 1))
	}
	for width, gone := range map[int][]string{
		160: nil, 121: {"type"}, 116: {"type", "vcores"}, 110: {"type", "vcores", "queue"}, 100: {"type", "vcores", "queue", "containers"},
		90: {"type", "vcores", "queue", "containers", "name"},
	} {
		var head string
		for line := range strings.Lines(s.draw(&look{width: width, order: "memory"})) {
			if strings.HasPrefix(line, "application ") {
				head = line
			}
		}
		for _, name := range []string{"name", "type", "user", "queue", "state", "progress", "containers", "memory", "vcores", "asks for", "elapsed"} {
			if strings.Contains(head, name) == slices.Contains(gone, name) {
				t.Errorf("at a width of %d: %q, without %v", width, head, gone)
			}
		}
	}
}

func TestFrameOrders(t *testing.T) {
	for order, want := range map[string][]string{
		"memory": {"4", "3", "2", "1"}, "vcores": {"1", "2", "3", "4"}, "waiting": {"2", "4", "1", "3"},
		"progress": {"4", "3", "2", "1"}, "time": {"1", "2", "3", "4"}, "user": {"1", "4", "2", "3"},
	} {
		s := manyRows(0, 4)
		s.Apps[1].State = "ACCEPTED"
		s.Apps[3].Pending = rm.Amount{MemoryMiB: 1024}
		for _, reversed := range []bool{false, true} {
			sortApps(s.Apps, order, reversed)
			var got []string
			for _, r := range s.Apps {
				got = append(got, strings.TrimPrefix(r.ID.String(), "application_1_000"))
			}
			if !reversed && !slices.Equal(got, want) {
				t.Errorf("by %s: %v, want %v", order, got, want)
			}
			if reversed && got[0] == want[0] {
				t.Errorf("by %s, reversed: %v", order, got)
			}
		}
	}
}

func press(m *topModel, key string) tea.Cmd {
	k := tea.KeyPressMsg{Text: key, Code: []rune(key)[0]}
	switch key {
	case "down":
		k = tea.KeyPressMsg{Code: tea.KeyDown}
	case "end":
		k = tea.KeyPressMsg{Code: tea.KeyEnd}
	case "ctrl+c":
		k = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}
	_, cmd := m.Update(k)
	return cmd
}

// Keys, answers and failures change the frame as they should.
func TestTopModel(t *testing.T) {
	answers := []taken{{manyRows(1, 30), nil}, {nil, errors.New("no ResourceManager answers")}, {manyRows(1, 2), nil}}
	m := &topModel{look: look{width: 80, order: "memory", keys: true}, every: time.Millisecond}
	m.take = func() (*snapshot, error) { return answers[0].snapshot, answers[0].err }
	if text := m.View().Content; text != "asking …\nq quits" {
		t.Errorf("before the first answer: %q", text)
	}
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 20})
	_, cmd := m.Update(m.ask())
	if text := m.View().Content; !strings.Contains(text, "application_1_0030") || !m.View().AltScreen {
		t.Errorf("after the first answer:\n%s", text)
	}
	if _, isAgain := cmd().(again); !isAgain {
		t.Error("it is not asked again")
	}

	answers = answers[1:]
	m.Update(m.ask())
	if text := m.View().Content; !strings.Contains(text, "no ResourceManager answers") || !strings.Contains(text, "application_1_0030") {
		t.Errorf("what was known is gone, or that it is old is not said:\n%s", text)
	}

	press(m, "end")
	press(m, "down")
	if text := m.View().Content; m.skip >= 29 || !strings.Contains(text, "application_1_0001") || strings.Contains(text, "more application") {
		t.Errorf("scrolled past the end, to %d of 30:\n%s", m.skip, text)
	}
	if at := m.skip; press(m, "k") != nil || m.skip != at-1 {
		t.Errorf("from %d one up to %d", at, m.skip)
	}
	press(m, "v")
	if m.order != "vcores" || m.skip != 0 || !strings.Contains(m.View().Content, "v VCORES") {
		t.Errorf("v: by %s, scrolled to %d", m.order, m.skip)
	}
	press(m, "r")
	press(m, "down")
	press(m, "x")
	if !m.reversed || m.order != "vcores" || m.skip != 1 {
		t.Errorf("%+v", m.look)
	}
	for _, key := range []string{"q", "ctrl+c"} {
		if cmd := press(m, key); cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%s does not quit", key)
		}
	}

	answers = answers[1:]
	press(m, "end")
	m.Update(m.ask())
	if text := m.View().Content; strings.Contains(text, "no ResourceManager answers") || !strings.Contains(text, "application_1_0002") {
		t.Errorf("scrolled past what there is now, or a failure that is over is still shown:\n%s", text)
	}
}

// While a ResourceManager does not answer, the frame says so, and from when its data are, until there is an answer.
func TestTopWaits(t *testing.T) {
	m := &topModel{look: look{width: 80, order: "memory"}, take: func() (*snapshot, error) { return manyRows(1, 1), nil }}
	m.Init()
	after := func(d time.Duration) string {
		if _, cmd := m.Update(beat(m.asked.Add(d))); cmd == nil {
			t.Error("no second follows")
		}
		return m.View().Content
	}
	if text := after(time.Second); text != "asking …\nq quits" {
		t.Errorf("after one second of the first question: %q", text)
	}
	if text := after(5 * time.Second); text != "no answer for 5.0 s\nq quits" {
		t.Errorf("after five seconds of it: %q", text)
	}
	m.Update(m.ask())
	if text := after(time.Hour); strings.Contains(text, "no answer") {
		t.Errorf("nothing is asked:\n%s", text)
	}
	m.Update(again{})
	if text := after(time.Second); strings.Contains(text, "no answer") {
		t.Errorf("after one second:\n%s", text)
	}
	want := "no answer for 12 s; this is how it was at " + m.last.At.Format(time.TimeOnly)
	if text := after(12 * time.Second); !strings.Contains(text, want+"\n") || !strings.Contains(text, "application_1_0001") {
		t.Errorf("after twelve seconds:\n%s\nwithout %q", text, want)
	}
	m.Update(m.ask())
	if text := m.View().Content; strings.Contains(text, "no answer") {
		t.Errorf("there is an answer:\n%s", text)
	}
}

// A ResourceManager that has just started, or hangs, says so, and its counts are then incomplete.
func TestFrameUnready(t *testing.T) {
	s := manyRows(1, 1)
	s.Cluster.Unready = "waiting for 3 of 40 nodes"
	if text := s.draw(&look{width: 80, order: "memory"}); !strings.Contains(text, "\nnot ready: waiting for 3 of 40 nodes\n") {
		t.Errorf("%s", text)
	}
}

// On a narrow terminal the reason for a missing answer is not cut off.
func TestTopWrapsTrouble(t *testing.T) {
	m := &topModel{look: look{width: 40, height: 24, order: "memory"}, every: time.Millisecond}
	for _, last := range []*snapshot{nil, manyRows(1, 1)} {
		m.last = last
		m.Update(taken{nil, errors.New("no ResourceManager answers at http://rm.example.org:8088: connection refused")})
		if text := m.View().Content; !strings.Contains(strings.ReplaceAll(text, "\n", " "), "answers at http://rm.example.org:8088: connection refused") {
			t.Errorf("%s", text)
		}
	}
}

// If the first answer is a failure, it is shown, and requests go on.
func TestTopStartsWithoutAnswer(t *testing.T) {
	m := &topModel{look: look{width: 80, order: "memory"}, every: time.Millisecond}
	_, cmd := m.Update(taken{nil, errors.New("no ResourceManager answers at\nhttp://x")})
	if text := m.View().Content; !strings.HasPrefix(text, "no ResourceManager answers at http://x; next attempt at ") || !strings.HasSuffix(text, "\nq quits") {
		t.Errorf("%q", text)
	}
	if _, isAgain := cmd().(again); !isAgain {
		t.Error("it is not asked again")
	}
}

// However long the refresh interval, after a failure top asks again soon, and says when.
func TestTopAsksAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ every, want time.Duration }{{time.Hour, askAgain}, {time.Second, time.Second}} {
			m := &topModel{look: look{width: 80, order: "memory"}, every: c.every}
			began := time.Now()
			_, cmd := m.Update(taken{nil, errors.New("connection refused")})
			want := "connection refused; next attempt at " + began.Add(c.want).Format(time.TimeOnly) + "\nq quits"
			if text := m.View().Content; text != want {
				t.Errorf("every %v: %q, want %q", c.every, text, want)
			}
			if cmd(); time.Since(began) != c.want {
				t.Errorf("every %v: it is asked again after %v, want %v", c.every, time.Since(began), c.want)
			}
			began = time.Now()
			_, cmd = m.Update(taken{manyRows(1, 1), nil})
			if cmd(); time.Since(began) != c.every {
				t.Errorf("every %v: after an answer it is asked again after %v", c.every, time.Since(began))
			}
		}
	})
}
