package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heddle/daemon/store"
)

// A hung loop is noticed from outside the loop: in the health, once in the log with what it is at, and by the end of
// the process if it takes too long.
func TestLoopHangs(t *testing.T) {
	c := testConfig()
	c.Watchdog = 30 * time.Second
	inWorldOf(t, "capacity", c, func(t *testing.T, w *world) {
		w.inLoop(func() { time.Sleep(4 * time.Second) })
		if h := w.r.Health(); h.Unready != "" || h.Stalls != 0 {
			t.Errorf("after 4 s: %+v", h)
		}
		time.Sleep(500 * time.Millisecond) // the loop is checked every second
		w.r.post(hang)
		time.Sleep(7 * time.Second)
		go func() { _, _, _ = w.r.NewApp(t.Context(), "ann") }() // waits
		synctest.Wait()
		if h := w.r.Health(); h.Unready != "the loop has been busy with one call for 6s" || h.Stalls != 1 || h.Calls != 1 {
			t.Errorf("while it hangs: %+v", h)
		}
		time.Sleep(20 * time.Second)
		select {
		case err := <-w.r.Hung():
			t.Errorf("ended after 27 s: %v", err)
		default:
		}
		time.Sleep(10 * time.Second)
		select {
		case err := <-w.r.Hung():
			if !strings.Contains(err.Error(), "longer than the watchdog's 30s") {
				t.Error(err)
			}
		default:
			t.Error("the process is not ended")
		}
		time.Sleep(time.Minute)
		h := w.r.Health()
		if h.Unready != "" || h.Stuck != 0 || h.Stalls != 1 || h.Lag.Count-h.Lag.Up[30] != 1 {
			t.Errorf("after it went on: %+v", h)
		}
		synctest.Wait() // for its log lines
		log := w.log.String()
		if n := strings.Count(log, "the loop is stuck"); n != 1 || !strings.Contains(log, "daemon.hang") || !strings.Contains(log, "the loop runs again") {
			t.Errorf("%d lines:\n%s", n, log)
		}
	})
}

func hang() { time.Sleep(time.Minute) }

func TestUnready(t *testing.T) {
	full := &store.Shortage{Folder: "/d", Free: -1, Need: 1 << 20, Err: errors.New("no space left on device")}
	for _, x := range []struct {
		h         Health
		recovered bool
		want      string
	}{
		{Health{}, false, "recovering"},
		{Health{}, true, ""},
		{Health{Stuck: 5 * time.Second}, true, "the loop has been busy with one call for 5s"},
		{Health{Store: &store.Stats{Oldest: 9 * time.Second, Writing: 9 * time.Second}}, true, ""},
		{Health{Store: &store.Stats{Oldest: 12 * time.Second, Writing: 12 * time.Second}}, true, "the store has been writing for 12s"},
		{Health{Store: &store.Stats{Oldest: 12 * time.Second, Writing: time.Second}}, true, "the store is 12s behind"},
		{Health{Store: &store.Stats{Short: full}}, true, ""},
		{Health{Store: &store.Stats{Short: full, Oldest: 12 * time.Second}}, true, "the store has waited for disk space for 12s: the disk of /d is full (no space left on device): 1.0 MiB are needed"},
	} {
		if got := x.h.unready(x.recovered); got != x.want {
			t.Errorf("%+v: %q, want %q", x.h, got, x.want)
		}
	}
}

// A log line contains only so much of a text, whoever chose the text and however long it is.
func TestBoundLog(t *testing.T) {
	var b strings.Builder
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: BoundLog}))
	long := "a\n" + strings.Repeat("x", 5000)
	for _, v := range []any{long, errors.New(long), fmt.Errorf("of a master: %w", errors.New(long)), long + "é"} {
		b.Reset()
		log.Warn("attempt failed", "diagnostics", v)
		if line := b.String(); strings.Count(line, "\n") != 1 || len(line) > 1200 || !strings.Contains(line, `a\nxxx`) {
			t.Errorf("%d bytes: %.80s", len(line), line)
		}
	}
	b.Reset()
	log.Warn("short", "n", 3, "error", errors.New("x"), "stack", stack(long))
	if line := b.String(); len(line) < 5000 || !strings.Contains(line, "n=3 error=x") {
		t.Errorf("%d bytes: %.80s", len(line), line)
	}
}
