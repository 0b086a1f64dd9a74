package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"heddle/test/hollow"
)

// A step is what was measured in one step.
type step struct {
	what                string
	beats, syncs, deeds float64 // per second
	request             float64 // bytes of a sync's request
	cores               float64 // processors that the ResourceManager used
	own, others         float64 // processors that this program used, and others on the machine
	resident            float64 // MiB of the ResourceManager at the end
	busy                float64 // fraction of the time that its loop worked
	failed              int64   // syncs
	lags                []time.Duration
}

// settleTime is the time before a step is measured; it is at most half of the measured time.
const settleTime = 10 * time.Second

// A reading is the state of all counters at one time.
type reading struct {
	at                     time.Time
	beats, syncs, bytes    int64
	failed, lags           int64
	cores, own, all, spare float64 // seconds of processors; all and spare are for the whole machine
}

// measure measures a step that has begun.
func (c *cluster) measure(what string) (*step, error) {
	if !c.Sleep(min(settleTime, c.measured/2)) {
		return nil, context.Cause(c.Ctx)
	}
	a, err := c.read()
	if err != nil {
		return nil, err
	}
	if !c.Sleep(c.measured) {
		return nil, context.Cause(c.Ctx)
	}
	b, err := c.read()
	if err != nil {
		return nil, err
	}
	took := b.at.Sub(a.at).Seconds()
	st := &step{
		what: what, beats: float64(b.beats-a.beats) / took, syncs: float64(b.syncs-a.syncs) / took, deeds: float64(b.lags-a.lags) / took,
		request: float64(b.bytes-a.bytes) / float64(max(b.syncs-a.syncs, 1)),
		cores:   (b.cores - a.cores) / took, own: (b.own - a.own) / took, failed: b.failed - a.failed,
	}
	st.others = max((b.all-a.all-b.spare+a.spare)/took-st.cores-st.own, 0)
	c.lags.mu.Lock()
	st.lags = slices.Clone(c.lags.all[a.lags:b.lags])
	c.lags.mu.Unlock()
	slices.Sort(st.lags)
	if st.resident, err = hollow.Resident(c.m.pid()); err != nil {
		return nil, err
	}
	st.busy, err = c.busy()
	return st, err
}

// settle waits until all wanted deeds are done.
func (c *cluster) settle(last *step, wanted done) error {
	err := c.Until("all deeds", heardTime, func() bool { return c.lags.soFar() == wanted })
	if got := c.lags.soFar(); err != nil && c.Ctx.Err() == nil {
		return fmt.Errorf("%w: %+v were done of %+v", err, got, wanted)
	}
	c.log.Info("all deeds were done", "weighed", wanted.Weighed, "parked", wanted.Parked, "resumed", wanted.Resumed, "syncs failed", last.failed)
	return err
}

func (c *cluster) read() (r reading, err error) {
	c.lags.mu.Lock()
	r.lags = int64(len(c.lags.all))
	c.lags.mu.Unlock()
	r.at, r.beats = time.Now(), c.beats.Load()
	r.syncs, r.bytes, r.failed = c.syncs.answered.Load(), c.syncs.bytes.Load(), c.syncs.failed.Load()
	if r.cores, err = hollow.CPU(c.m.pid()); err != nil {
		return r, err
	}
	if r.own, err = hollow.CPU("self"); err != nil {
		return r, err
	}
	r.all, r.spare, err = hollow.CPUs()
	return r, err
}

// busy returns the busy ratio that the ResourceManager reports for its loop.
func (c *cluster) busy() (float64, error) {
	m, err := hollow.ReadMetrics(c.Ctx, c.m.Web)
	if err != nil {
		return 0, err
	}
	return m.Value("heddle_loop_busy_ratio")
}

// table writes the measurements.
func table(w io.Writer, steps []*step) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, strings.Join([]string{
		"", "reports/s", "syncs/s", "B/sync", "deeds/s", "lag p50", "p99", "max", "RM cores", "loop", "RM MiB", "load cores", "others", "",
	}, "\t"))
	for _, s := range steps {
		fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%.0f\t%.0f\t%v\t%v\t%v\t%.2f\t%.0f %%\t%.0f\t%.2f\t%.2f\t\n", s.what, s.beats, s.syncs, s.request, s.deeds,
			s.lag(0.5), s.lag(0.99), s.lag(1), s.cores, 100*s.busy, s.resident, s.own, s.others)
	}
	return t.Flush()
}

// lag returns a quantile of the lags: part of the deeds took at most that long.
func (s *step) lag(part float64) time.Duration {
	if len(s.lags) == 0 {
		return 0
	}
	i := int(math.Ceil(part*float64(len(s.lags)))) - 1
	return s.lags[max(i, 0)].Round(time.Millisecond)
}
