package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"heddle/exp"
	"heddle/sim"
)

// A bar shows the progress of the runs on a terminal: how many are done, how far the first unfinished one is in
// simulated time, the events per second over all runs, and the remaining time.
type bar struct {
	all  *mpb.Progress // nil if nothing is shown
	line *mpb.Bar

	mu    sync.Mutex // guards the rest, which the drawing reads
	began time.Time
	what  string // shown before everything else
	jobs  int    // per run
	runs  []sim.Progress
	ended []bool
}

// steps is how many steps a bar has per run.
const steps = 1000

// newBar shows a bar if stderr is a terminal and the user did not ask for quiet.
func (a *app) newBar(plan *exp.Plan, what string) *bar {
	n := plan.Runs()
	b := &bar{began: time.Now(), what: what, jobs: max(1, len(plan.Workload.Jobs)), runs: make([]sim.Progress, n), ended: make([]bool, n)}
	b.all, b.line = a.draw(int64(n*steps), b.before, b.after)
	return b
}

// draw shows a bar with text on both sides, or returns nil if nothing is to be shown. A total of 0 is set later.
func (a *app) draw(total int64, before, after func() string) (*mpb.Progress, *mpb.Bar) {
	if _, tty := terminal(a.err); !tty || a.quiet || os.Getenv("TERM") == "dumb" {
		return nil, nil
	}
	all := mpb.New(mpb.WithOutput(a.err), mpb.WithWidth(24), mpb.WithAutoRefresh())
	return all, all.New(total, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return before() })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return after() })))
}

// report notes a run's progress and reports whether it is the run's first report.
func (b *bar) report(run int, p sim.Progress) (first bool) {
	b.mu.Lock()
	first = b.runs[run].Events == 0
	b.runs[run] = p
	at := b.position()
	b.mu.Unlock()
	b.move(at)
	return first
}

// done notes that a run ended.
func (b *bar) done(run int, r *sim.Result) {
	b.mu.Lock()
	b.ended[run] = true
	b.runs[run].Events = r.Events
	at := b.position()
	b.mu.Unlock()
	b.move(at)
}

func (b *bar) move(at int64) {
	if b.line != nil {
		b.line.SetCurrent(at)
	}
}

// end removes the bar.
func (b *bar) end() {
	if b.all == nil {
		return
	}
	b.line.Abort(true)
	b.all.Wait()
}

// position returns how many steps are done. The progress of a run is the fraction of its jobs that are done, but stops
// before the last step, because the bar would disappear.
func (b *bar) position() int64 {
	at := 0
	for i := range b.runs {
		if b.ended[i] {
			at += steps
		} else {
			at += min(steps-1, b.runs[i].Jobs*steps/b.jobs)
		}
	}
	return int64(at)
}

func (b *bar) before() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	done, current := 0, sim.Progress{}
	for i, p := range slices.Backward(b.runs) {
		if b.ended[i] {
			done++
		} else if p.Events > 0 {
			current = p
		}
	}
	simulated := (time.Duration(current.Now) * time.Nanosecond).Truncate(time.Second)
	return fmt.Sprintf("%s%d of %d runs done, simulated %v ", b.what, done, len(b.runs), simulated)
}

func (b *bar) after() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	took := time.Since(b.began)
	var events int64
	for i := range b.runs {
		events += b.runs[i].Events
	}
	s := fmt.Sprintf(" %s events/s", thousands(float64(events)/took.Seconds()))
	if done := float64(b.position()) / float64(steps*len(b.runs)); done > 0.01 {
		s += fmt.Sprintf(", %v left", time.Duration(float64(took)*(1-done)/done).Round(time.Second))
	}
	return s
}

// thousands formats a rate to three digits: 950, 12.3k, 1.24M.
func thousands(x float64) string {
	switch {
	case x >= 999.5e3: // which three digits round to 1000
		return fmt.Sprintf("%.3gM", x/1e6)
	case x >= 999.5:
		return fmt.Sprintf("%.3gk", x/1e3)
	}
	return fmt.Sprintf("%.0f", x)
}
