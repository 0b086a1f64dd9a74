package histogram

import (
	"testing"
	"time"
)

func TestHistogram(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{0, time.Millisecond, time.Millisecond + 1, 3 * time.Second, time.Hour} {
		h.Add(d)
	}
	s := h.Snapshot()
	if s.Count != 5 || s.Seconds != 3603.002000001 {
		t.Errorf("%d durations of %v s", s.Count, s.Seconds)
	}
	for up, want := range map[float64]uint64{0.0001: 1, 0.001: 2, 0.0025: 3, 2.5: 3, 5: 4, 30: 4} {
		if s.Up[up] != want {
			t.Errorf("%d of up to %v s, want %d", s.Up[up], up, want)
		}
	}
	if len(s.Up) != len(bounds) {
		t.Errorf("%d classes", len(s.Up))
	}
}
