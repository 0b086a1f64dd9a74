package dress

import "heddle"

// A window holds the times of what happened within the last pw, oldest first.
type window struct {
	times []heddle.Time
	from  int // index into times; earlier ones are over
}

func (w *window) len() int { return len(w.times) - w.from }

// oldest returns the first time; the window must not be empty.
func (w *window) oldest() heddle.Time { return w.times[w.from] }

func (w *window) add(t heddle.Time) { w.times = append(w.times, t) }

// drop forgets everything at or before t.
func (w *window) drop(t heddle.Time) {
	for w.from < len(w.times) && w.times[w.from] <= t {
		w.from++
	}
	if 2*w.from >= len(w.times) {
		w.times = append(w.times[:0], w.times[w.from:]...)
		w.from = 0
	}
}
