package ikayak

import (
	"heddle"
	"heddle/cluster"
	"heddle/estimate"
	"heddle/policy"
)

const (
	// maxOutputs and maxInputs are the largest n_y and n_u of Shapes.
	maxOutputs = 5
	maxInputs  = 3

	// reportEvery is how often a MapReduce task reports its progress: 3 s. It is the interval of Eq. 1.
	reportEvery = 3 * heddle.Second

	// keptSamples is the most samples of a reduce that are kept to learn from, evenly over its life.
	keptSamples = 16
)

// A stage is a part of a reduce's work that has a pace of its own.
type stage uint8

const (
	waiting stage = iota // copies output as maps end
	copying              // copies what the last maps left
	sorting
	writing
)

// stageOf returns the stage of a reduce in a phase. If the phase is unknown, the stage follows from the progress, of
// which MapReduce counts a third each for copy, sort and reduce.
func stageOf(p heddle.Phase, progress float64, mapsDone bool) stage {
	switch {
	case p == heddle.ReduceWrite || p == heddle.NoPhase && progress >= 2./3:
		return writing
	case p == heddle.ReduceSort || p == heddle.NoPhase && progress >= 1./3:
		return sorting
	case mapsDone:
		return copying
	}
	return waiting
}

// end returns the progress at which the stage ends.
func (s stage) end() float64 { return [...]float64{1. / 3, 1. / 3, 2. / 3, 1}[s] }

// until returns how long a quantity that rises along a line over time, and is at (x, here) now, takes to reach goal.
// The result is no longer than at its mean pace over elapsed, in which it rose from 0, since a pace from few points may
// be almost nothing. If the line lies beyond goal, the rest is counted from here. ok is false before anything rose.
func until(l *estimate.Line, x, here, goal, elapsed float64) (seconds float64, ok bool) {
	most, ok := estimate.Remaining(elapsed, here/goal)
	if !ok {
		return 0, false
	}
	a, rate, ok := l.Fit()
	if !ok || !(rate > 0) {
		return most, true
	}
	if seconds = (goal-a)/rate - x; seconds <= 0 {
		seconds = max(0, goal-here) / rate
	}
	return min(seconds, most), true
}

// A job is what reports say about an application: its rule base, and the line of maps done over time, from the first of
// them on.
type job struct {
	base          int
	submitted, at heddle.Time
	line          estimate.Line
	done, of      int // maps
}

// A reduce is a running reduce as known from its reports.
type reduce struct {
	slot  int
	base  int
	began heddle.Time // as its node reported it; else the first report
	last  heddle.Time // report

	stage   stage
	line    estimate.Line          // of progress over ran
	ran     float64                // seconds in the stage, without suspensions
	sampled bool                   // the last report yielded a measured output
	y       [maxOutputs]float64    // y(t−1), y(t−2), …: measured outputs, the newest first
	u       [maxInputs + 1]float64 // u(t), u(t−1), …: vcores
	d       [2]float64             // GiB of input: of the job, and per reduce

	rest   heddle.Span // estimated at restAt
	restAt heddle.Time
	known  bool

	kept   []float64 // samples, one after the other: the regressors, and the time of the report
	nkept  int
	stride int // one sample in stride is kept
	skip   int // samples until the next one
}

// measured returns the output y that a report allows to measure: what is left of the running stage at its pace. A
// reduce that waits for maps goes as fast as they end. ok is false before anything moved.
func (r *reduce) measured(j *job, progress float64) (seconds float64, ok bool) {
	if r.stage == waiting {
		return until(&j.line, j.at.Seconds(), float64(j.done), float64(j.of), j.at.Since(j.submitted).Seconds())
	}
	return until(&r.line, r.ran, progress, r.stage.end(), r.last.Since(r.began).Seconds())
}

// push adds a measured output to the lags. The first one of a stage fills all of them, since those of another stage say
// nothing about it.
func (r *reduce) push(y float64, ok bool) {
	switch {
	case ok && r.sampled:
		copy(r.y[1:], r.y[:len(r.y)-1])
		r.y[0] = y
	case ok:
		for i := range r.y {
			r.y[i] = y
		}
	}
	r.sampled = ok
}

// keep keeps a sample if it is due; if there is no room, it first drops every other one.
func (r *reduce) keep(now heddle.Time, x []float64) {
	if r.skip > 0 {
		r.skip--
		return
	}
	size := len(x) + 1
	if r.nkept == keptSamples {
		for i := 1; i < keptSamples/2; i++ {
			copy(r.kept[i*size:(i+1)*size], r.kept[2*i*size:])
		}
		r.nkept, r.stride = keptSamples/2, 2*r.stride
		r.kept = r.kept[:r.nkept*size]
	}
	r.kept = append(append(r.kept, x...), now.Seconds())
	r.nkept++
	r.skip = r.stride - 1
}

// sample returns a kept sample: its regressors, and the time of the report in seconds.
func (r *reduce) sample(i int) (x []float64, at float64) {
	size := len(r.kept) / r.nkept
	s := r.kept[i*size : (i+1)*size]
	return s[:size-1], s[size-1]
}

// reduces holds the running reduces that have reported, and their jobs.
type reduces struct {
	outputs, inputs int
	at              []*reduce // by [policy.Container.Slot]; nil = has not reported, or is no reduce
	free            []*reduce
	jobs            []job // by application
}

func newReduces(outputs, inputs int) *reduces {
	return &reduces{outputs: outputs, inputs: inputs}
}

// width returns the number of regressors.
func width(outputs, inputs int) int { return outputs + inputs + 1 + 2 + 1 }

// regressors fills x with y(t−1) … y(t−n_y), u(t) … u(t−n_u), d and the stage. The stage only selects between rules:
// each stage has its own pace, and neither a lag nor d distinguishes one from the next.
func (rs *reduces) regressors(r *reduce, x []float64) {
	n := copy(x, r.y[:rs.outputs])
	n += copy(x[n:], r.u[:rs.inputs+1])
	n += copy(x[n:], r.d[:])
	x[n] = float64(r.stage)
}

func (rs *reduces) of(x *policy.Container) *reduce {
	if x.Slot() < len(rs.at) {
		return rs.at[x.Slot()]
	}
	return nil
}

// news is what an event said about a reduce.
type news uint8

const (
	nothing news = iota
	sampled      // a report yielded a sample
	ended        // it ended well; the caller must drop it
)

// reports is the news from which reduces are known.
const reports = policy.TaskProgress | policy.Ended

// hear processes a report, or an end.
func (rs *reduces) hear(v policy.View, e policy.Effect) (*reduce, news) {
	x := e.Container
	if e.What == policy.Ended {
		r := rs.of(x)
		switch {
		case r == nil:
		case x.State() == cluster.Completed && e.Status == heddle.Success:
			return r, ended
		default:
			rs.drop(r)
		}
		return nil, nothing
	}
	j := rs.job(v.Now(), x.App())
	if x.Kind() != heddle.Reduce {
		return nil, nothing
	}
	r := rs.of(x)
	if r == nil {
		r = rs.add(v, x, j)
	}
	if r.report(v.Now(), x, j); r.sampled {
		return r, sampled
	}
	return nil, nothing
}

// job records how many maps an application has done by now.
func (rs *reduces) job(now heddle.Time, a *policy.App) *job {
	for int(a.ID()) >= len(rs.jobs) {
		rs.jobs = append(rs.jobs, job{base: -1})
	}
	j := &rs.jobs[a.ID()]
	if j.base < 0 {
		j.base, j.submitted, j.at = baseOf(a.Facts().Name), a.Submitted(), -1
	}
	if now > j.at {
		j.at, j.done, j.of = now, a.Done(heddle.Map), int(a.Facts().Maps)
		if j.done > 0 {
			j.line.Add(now.Seconds(), float64(j.done))
		}
	}
	return j
}

// report processes a report of the reduce.
func (r *reduce) report(now heddle.Time, x *policy.Container, j *job) {
	phase, fraction := x.Progress()
	granted := 0.0
	if !x.Suspended() {
		granted = float64(x.Limit()[heddle.CPU]) / 1000
		r.ran += now.Since(r.last).Seconds()
	}
	copy(r.u[1:], r.u[:len(r.u)-1])
	r.u[0] = granted
	if s := stageOf(phase, fraction, j.done >= j.of); s != r.stage {
		r.stage, r.line, r.ran, r.sampled = s, estimate.Line{}, 0, false
	}
	r.last = now
	r.line.Add(r.ran, fraction)
	r.push(r.measured(j, fraction))
}

func (rs *reduces) add(v policy.View, x *policy.Container, j *job) *reduce {
	var r *reduce
	if n := len(rs.free); n > 0 {
		r, rs.free = rs.free[n-1], rs.free[:n-1]
		*r = reduce{kept: r.kept[:0]}
	} else {
		r = &reduce{kept: make([]float64, 0, keptSamples*(width(rs.outputs, rs.inputs)+1))}
	}
	r.slot, r.base, r.began, r.last, r.stride = x.Slot(), j.base, x.Started(), v.Now(), 1
	if r.began == 0 {
		r.began = v.Now()
	}
	r.d = inputOf(x.App())
	for i := range r.u {
		r.u[i] = float64(x.Limit()[heddle.CPU]) / 1000
	}
	for x.Slot() >= len(rs.at) {
		rs.at = append(rs.at, nil)
	}
	rs.at[x.Slot()] = r
	return r
}

// inputOf returns d, in GiB: a job's input, and the part of it per reduce (the paper speaks of both); 0 if it is
// unknown. If the number of reduces is unknown, those seen so far count.
func inputOf(a *policy.App) [2]float64 {
	n := int(a.Facts().Reduces)
	if n == 0 {
		n = a.Finished(heddle.Reduce) + a.Running(heddle.Reduce) + a.Waiting(heddle.Reduce)
	}
	d := float64(a.Facts().InputBytes) / (1 << 30)
	return [2]float64{d, d / float64(max(1, n))}
}

func (rs *reduces) drop(r *reduce) {
	rs.at[r.slot] = nil
	rs.free = append(rs.free, r)
}
