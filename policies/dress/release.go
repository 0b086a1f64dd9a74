package dress

import (
	"errors"
	"slices"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// The forms of Eq. 9.
const (
	expected   = "window"     // what is released within the look-ahead
	cumulative = "cumulative" // as printed: what was released since γ
)

// EstimateOptions are the release estimate's. The defaults are the paper's (V-A1).
type EstimateOptions struct {
	Window float64 `yaml:"window"` // pw, seconds
	Start  int     `yaml:"t_s"`    // more than so many containers more within pw begin a phase
	End    int     `yaml:"t_e"`    // more than so many ends within pw begin its release

	// Estimate is the form of Eq. 9. As printed it gives, until γ+Δps, what a phase has released since γ:
	// containers that are back already, and counted in A_c, once more. "window" is what it still
	// releases within the look-ahead; "cumulative" the printed form.
	Estimate string `yaml:"estimate"`

	// Gamma says whose earliest end γ is. Alg. 2 takes that of all tasks that ended, and says t_e is there to
	// leave heading tasks out: "window" takes the earliest of the more than t_e that ended within pw of each
	// other, "all" what is printed.
	Gamma string `yaml:"gamma"`
}

// DefaultEstimate is the paper's.
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

// released is Eq. 9: of a phase of c containers, running of which still run, that releases from γ on for
// Δps, how many are released in (t, t+h].
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

// f is Eq. 5: what the job releases in (t, t+h], or, cumulative, has released by t+h.
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

// An Estimator estimates how many containers jobs are about to give back, from when their tasks started
// and ended.
type Estimator struct {
	o     EstimateOptions
	jobs  []*job                             // by application; nil where it has held no container yet or is gone
	where map[heddle.ContainerID]containerAt // every container that was granted and has not ended
}

type job struct {
	tracker
	tasks []task
}

// A task is a container that has not ended.
type task struct {
	id     heddle.ContainerID
	phase  int // its phase's number; −1 before it starts, of masters, and of those that were found running
	master bool
	found  bool // found running: nobody knows since when
}

type containerAt struct {
	app  heddle.AppID
	slot int32 // index into job.tasks
}

// NewRelease returns the estimate alone, for other policies to ask.
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

func newEstimator(o EstimateOptions) *Estimator {
	return &Estimator{o: o, where: map[heddle.ContainerID]containerAt{}}
}

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

// resting reports whether the estimate of an application stays 0 as long as nothing happens.
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

// Feeds implements [policy.Feeder].
func (e *Estimator) Feeds() policy.Feeds { return policy.Feeds{Starts: true} }

func (e *Estimator) job(id heddle.AppID) *job {
	if int(id) >= len(e.jobs) {
		return nil
	}
	return e.jobs[id]
}

// Granted implements [policy.Granted].
func (e *Estimator) Granted(_ policy.View, x *policy.Container) {
	if x.State() != cluster.Reserved {
		e.add(x, false)
	}
}

// Adopted implements [policy.Adopter]: when such a container started is not known, and so it is of no phase.
func (e *Estimator) Adopted(_ policy.View, x *policy.Container) { e.adopted(x) }

func (e *Estimator) adopted(x *policy.Container) { e.add(x, true) }

func (e *Estimator) add(x *policy.Container, found bool) {
	id := x.App().ID()
	for int(id) >= len(e.jobs) {
		e.jobs = append(e.jobs, nil)
	}
	if e.jobs[id] == nil {
		e.jobs[id] = &job{tracker: tracker{pw: heddle.Seconds(e.o.Window), ts: e.o.Start, te: e.o.End, all: e.o.Gamma == "all"}}
	}
	j := e.jobs[id]
	e.where[x.ID()] = containerAt{id, int32(len(j.tasks))}
	j.tasks = append(j.tasks, task{x.ID(), -1, x.Kind() == heddle.AM, found})
}

// owner returns whose a container is that was granted and has not ended.
func (e *Estimator) owner(c heddle.ContainerID) heddle.AppID {
	if at, ok := e.where[c]; ok {
		return at.app
	}
	return heddle.NoApp
}

// Observe implements [policy.Observe].
func (e *Estimator) Observe(v policy.View, ev heddle.Event) {
	switch ev := ev.(type) {
	case heddle.Started:
		e.started(v.Now(), ev.Container)
	case heddle.Exit:
		e.exited(v, ev.Container)
	case heddle.Release:
		if at, ok := e.where[ev.Container]; ok && v.Container(ev.Container) == nil {
			e.remove(v.Now(), at, false)
		}
	case heddle.NodeDown, heddle.Wake: // containers were lost with a node, or a controller killed some
		for id := range e.jobs {
			e.sweep(v, heddle.AppID(id))
		}
	case heddle.AppDone:
		e.done(ev.App)
	default: // starts and ends nothing
	}
}

func (e *Estimator) started(now heddle.Time, c heddle.ContainerID) {
	at, ok := e.where[c]
	if !ok {
		return
	}
	j := e.jobs[at.app]
	if t := &j.tasks[at.slot]; t.phase < 0 && !t.master && !t.found {
		j.pass(now)
		t.phase = j.start(now)
	}
}

// exited takes note of an end. With a master its whole attempt ends.
func (e *Estimator) exited(v policy.View, c heddle.ContainerID) {
	at, ok := e.where[c]
	if !ok {
		return
	}
	master := e.jobs[at.app].tasks[at.slot].master
	e.remove(v.Now(), at, true)
	if master {
		e.sweep(v, at.app)
	}
}

// sweep removes the containers of an application that ended without an event of their own.
func (e *Estimator) sweep(v policy.View, id heddle.AppID) {
	j := e.job(id)
	if j == nil {
		return
	}
	for _, t := range slices.Backward(j.tasks) { // remove puts the last in the place of the one it takes out
		if v.Container(t.id) == nil {
			e.remove(v.Now(), e.where[t.id], false)
		}
	}
}

// remove forgets a container; ended says that its task ended, and was not lost.
func (e *Estimator) remove(now heddle.Time, at containerAt, ended bool) {
	j := e.jobs[at.app]
	j.pass(now)
	t := j.tasks[at.slot]
	if t.phase >= 0 && ended {
		j.finish(now, t.phase)
	} else if t.phase >= 0 {
		j.lose(now, t.phase)
	}
	delete(e.where, t.id)
	last := len(j.tasks) - 1
	if moved := j.tasks[last]; int(at.slot) != last {
		j.tasks[at.slot] = moved
		e.where[moved.id] = at
	}
	j.tasks = j.tasks[:last]
}

func (e *Estimator) done(id heddle.AppID) {
	j := e.job(id)
	if j == nil {
		return
	}
	for _, t := range j.tasks {
		delete(e.where, t.id)
	}
	e.jobs[id] = nil
}

// pass lets time pass for a job: trailing tasks go to the next phase.
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
