package dress

import (
	"errors"
	"math"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// The forms of Eq. 9.
const (
	expected   = "window"     // what is released within the look-ahead
	cumulative = "cumulative" // as printed: what was released since γ
)

// EstimateOptions are the options of the release estimate. The defaults are the paper's (V-A1).
type EstimateOptions struct {
	Window float64 `yaml:"window"` // pw, seconds
	Start  int     `yaml:"t_s"`    // more than this many starts within pw begin a phase
	End    int     `yaml:"t_e"`    // more than this many ends within pw begin its release

	// Estimate is the form of Eq. 9. As printed, until γ+Δps, it gives what a phase has released since γ: containers
	// that are back already, and counted in A_c, are counted once more. "window" is what the phase still releases
	// within the look-ahead; "cumulative" is the printed form.
	Estimate string `yaml:"estimate"`

	// Gamma says of which tasks γ is the earliest end. Alg. 2 takes all tasks that ended, but says that t_e is there to
	// leave heading tasks out. "window" takes the earliest of the more than t_e tasks that ended within pw of each
	// other; "all" is the printed form.
	Gamma string `yaml:"gamma"`
}

// DefaultEstimate holds the paper's options.
var DefaultEstimate = EstimateOptions{Window: 10, Start: 5, End: 5, Estimate: expected, Gamma: "window"}

func (o *EstimateOptions) check() error {
	switch {
	case !(o.Window > 0 && o.Window <= 86400):
		return errors.New("dress: window must be above 0 and at most 86400 s")
	case o.Start < 0 || o.End < 0:
		return errors.New("dress: t_s and t_e must be 0 or more containers")
	case o.End > 1000:
		return errors.New("dress: t_e must be 1000 containers at most")
	case o.Estimate != expected && o.Estimate != cumulative:
		return errors.New("dress: estimate must be window or cumulative, not " + o.Estimate)
	case o.Gamma != "window" && o.Gamma != "all":
		return errors.New("dress: gamma must be window or all, not " + o.Gamma)
	}
	return nil
}

// released is Eq. 9. For a phase of c containers, of which running still run, that releases from γ on for Δps, it
// returns how many containers are released in (t, t+h].
func released(c, running int, gamma heddle.Time, dps heddle.Span, t heddle.Time, h heddle.Span) float64 {
	end := gamma.Plus(dps)
	from, to := max(t, gamma), min(t.Plus(h), end)
	switch {
	case dps <= 0: // all began at once, and end at once
		if gamma > t && gamma <= t.Plus(h) {
			return float64(running)
		}
		return 0
	case to <= from:
		return 0
	}
	return min(float64(c)*to.Since(from).Seconds()/dps.Seconds(), float64(running))
}

// releasedSince is Eq. 9 as printed, at time t.
func releasedSince(c int, gamma heddle.Time, dps heddle.Span, t heddle.Time) float64 {
	if t < gamma || t > gamma.Plus(dps) || dps <= 0 {
		return 0
	}
	return float64(c) * t.Since(gamma).Seconds() / dps.Seconds()
}

// f is Eq. 5: what the job releases in (t, t+h] or, if form is cumulative, what it has released by t+h.
func (k *tracker) f(t heddle.Time, h heddle.Span, form string) float64 {
	sum := 0.0
	for i := range k.phases {
		p := &k.phases[i]
		dps, ok := p.variation()
		switch {
		case !ok || !p.ending:
		case form == cumulative:
			sum += releasedSince(p.c, p.gamma, dps, t.Plus(h))
		default:
			sum += released(p.c, p.running, p.gamma, dps, t, h)
		}
	}
	return sum
}

// An Estimator estimates how many containers jobs are about to give back, from the times at which their tasks started
// and ended.
type Estimator struct {
	o    EstimateOptions
	jobs []*job  // by application; nil if it has held no container yet or is gone
	at   []int32 // by [policy.Container.Slot]: index into its job's tasks
}

type job struct {
	tracker
	tasks []task
}

// A task is a container that has not ended.
type task struct {
	id     heddle.ContainerID
	slot   int
	phase  int // its phase's number; −1 before it starts, for masters, and for tasks that were found running
	master bool
	found  bool // found running
}

// NewRelease returns the estimate alone, for use by other policies.
func NewRelease(a policy.Args) (policy.Release, error) {
	o := DefaultEstimate
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return newEstimator(o), nil
}

func newEstimator(o EstimateOptions) *Estimator { return &Estimator{o: o} }

// Release implements [policy.Release]: f_i of Eq. 5 for the time from now to now + within.
func (e *Estimator) Release(v policy.View, a *policy.App, within heddle.Span) float64 {
	return e.release(a.ID(), v.Now(), within)
}

func (e *Estimator) release(id heddle.AppID, t heddle.Time, h heddle.Span) float64 {
	j := e.job(id)
	if j == nil || h <= 0 {
		return 0
	}
	j.pass(t)
	return j.f(t, h, e.o.Estimate)
}

// resting reports whether the estimate of an application stays 0 as long as nothing happens to it.
func (e *Estimator) resting(id heddle.AppID, t heddle.Time) bool {
	j := e.job(id)
	if j == nil {
		return true
	}
	for i := range j.phases {
		p := &j.phases[i]
		if dps, _ := p.variation(); p.ending && (!p.closed || t < p.gamma.Plus(dps)) {
			return false
		}
	}
	return true
}

// Needs implements [policy.Needer].
func (e *Estimator) Needs() policy.Needs { return policy.Needs{Feeds: policy.Feeds{Starts: true}} }

func (e *Estimator) job(id heddle.AppID) *job {
	if int(id) >= len(e.jobs) {
		return nil
	}
	return e.jobs[id]
}

// Hears implements [policy.Listener].
func (e *Estimator) Hears() policy.News {
	return policy.Granted | policy.Adopted | policy.Started | policy.Ended | policy.AppDone
}

// Hear implements [policy.Listener]. A container that was found running belongs to no phase: its start, and which tasks
// that started with it have ended, may not be known.
func (e *Estimator) Hear(v policy.View, n policy.Effect) {
	switch n.What {
	case policy.Granted:
		e.add(v, n.Container, false)
	case policy.Adopted:
		e.add(v, n.Container, true)
	case policy.Started:
		e.started(v.Now(), n.Container)
	case policy.Ended:
		e.ended(v.Now(), n.Container)
	case policy.AppDone:
		if e.job(n.App.ID()) != nil {
			e.jobs[n.App.ID()] = nil
		}
	default: // starts and ends nothing
	}
}

func (e *Estimator) add(v policy.View, x *policy.Container, found bool) {
	id := x.App().ID()
	for int(id) >= len(e.jobs) {
		e.jobs = append(e.jobs, nil)
	}
	if e.jobs[id] == nil {
		e.jobs[id] = &job{tracker: tracker{pw: heddle.Seconds(e.o.Window), ts: e.o.Start, te: e.o.End, all: e.o.Gamma == "all"}}
	}
	if x.Kind() != heddle.AM {
		n := room(v, x.Limit())
		e.jobs[id].ts, e.jobs[id].te = scaled(e.o.Start, n), scaled(e.o.End, n)
	}
	for x.Slot() >= len(e.at) {
		e.at = append(e.at, 0)
	}
	j := e.jobs[id]
	e.at[x.Slot()] = int32(len(j.tasks))
	j.tasks = append(j.tasks, task{x.ID(), x.Slot(), -1, x.Kind() == heddle.AM, found})
}

// papersCluster is the number of containers in the cluster that the paper's thresholds are for.
const papersCluster = 100

// scaled returns a threshold for a cluster of n containers: in a cluster smaller than the paper's it is lower in
// proportion, but at least one.
func scaled(threshold, n int) int {
	if n >= papersCluster || threshold == 0 {
		return threshold
	}
	return max(1, (threshold*n+papersCluster/2)/papersCluster)
}

// room returns how many containers of a size the cluster holds.
func room(v policy.View, size heddle.Resource) int {
	n := int64(math.MaxInt32)
	for d, all := range v.Total() {
		if size[d] > 0 && v.Counts(heddle.Dim(d)) {
			n = min(n, all/size[d])
		}
	}
	return int(n)
}

// knows reports whether a container that has not ended is recorded as its application's.
func (e *Estimator) knows(x *policy.Container) bool {
	j := e.job(x.App().ID())
	return j != nil && int(e.at[x.Slot()]) < len(j.tasks) && j.tasks[e.at[x.Slot()]].id == x.ID()
}

func (e *Estimator) started(now heddle.Time, x *policy.Container) {
	j := e.jobs[x.App().ID()]
	if t := &j.tasks[e.at[x.Slot()]]; t.phase < 0 && !t.master && !t.found {
		j.pass(now)
		t.phase = j.start(now)
	}
}

// ended forgets a container. If its node reported it as completed, its task ended; otherwise the task was lost.
func (e *Estimator) ended(now heddle.Time, x *policy.Container) {
	j, at := e.jobs[x.App().ID()], e.at[x.Slot()]
	j.pass(now)
	t := j.tasks[at]
	if t.phase >= 0 && x.State() == cluster.Completed {
		j.finish(now, t.phase)
	} else if t.phase >= 0 {
		j.lose(now, t.phase)
	}
	last := len(j.tasks) - 1
	moved := j.tasks[last]
	j.tasks[at], e.at[moved.slot] = moved, at
	j.tasks = j.tasks[:last]
}

// pass lets time pass for a job: trailing tasks move to the next phase.
func (j *job) pass(t heddle.Time) {
	j.advance(t)
	for {
		n, ok := j.trailing(t)
		if !ok {
			break
		}
		to := j.trail(n)
		for i := range j.tasks {
			if j.tasks[i].phase == n {
				j.tasks[i].phase = to
			}
		}
	}
	j.forget(t)
}
