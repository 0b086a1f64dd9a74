package main

import (
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
)

const (
	// patience is how long a command may wait before it says what it waits for.
	patience = 2 * time.Second
	// pollEvery is how often a command checks whether what it waits for has happened.
	pollEvery = 200 * time.Millisecond
)

// A waiting tells the user what a command waits for, once that takes longer than people like to wait: with a bar on a
// terminal, with one line elsewhere.
type waiting struct {
	timer *time.Timer

	mu    sync.Mutex
	done  int64
	ended bool
	all   *mpb.Progress
	line  *mpb.Bar
}

// waiting begins to wait for total things. The result of text is shown beside the bar; it is called from another
// goroutine.
func (a *app) waiting(total int64, text func() string) *waiting {
	w := &waiting{}
	w.timer = time.AfterFunc(patience, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.ended {
			return
		}
		if w.all, w.line = a.draw(total, text, func() string { return "" }); w.line == nil {
			a.note("%s", strings.TrimSpace(text()))
			return
		}
		w.line.SetCurrent(w.done)
	})
	return w
}

// at sets how many things are done.
func (w *waiting) at(done int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = done
	if w.line != nil {
		w.line.SetCurrent(done)
	}
}

// end removes the bar. It may be called twice.
func (w *waiting) end() {
	w.timer.Stop()
	w.mu.Lock()
	was := w.ended
	w.ended = true
	all, line := w.all, w.line
	w.mu.Unlock()
	if was || all == nil {
		return
	}
	line.Abort(true)
	all.Wait()
}
