package ikayak

import (
	"heddle"
	"heddle/estimate"
	"heddle/policy"
)

const (
	// MaxOutputs and MaxInputs bound the lags of the regression vector.
	MaxOutputs = 5
	MaxInputs  = 3

	// reportEvery is how often a MapReduce task reports its progress: 3 s. It is the control interval of
	// Eq. 1.
	reportEvery = 3 * heddle.Second

	// keptSamples is how many samples of a reduce are kept to learn from, at most, evenly over its life.
	keptSamples = 16
)

// A stage is what a reduce is doing, in so far as its speed is another.
type stage uint8

const (
	waiting stage = iota // copies as maps end
	copying              // copies what the last maps left
	sorting
	writing
)

// stageOf is the stage of a reduce in a phase. Where the phase is unknown it follows from the progress:
// MapReduce counts copy, sort and reduce a third each.
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

// end is the progress at which the stage ends.
func (s stage) end() float64 { return [...]float64{1. / 3, 1. / 3, 2. / 3, 1}[s] }

// measured is the output y that a report lets measure: what is left of the running stage if it goes on
// as it went. A reduce that waits for maps goes as fast as they end. ok is false before anything moved.
func (r *reduce) measured(p *pace) (seconds float64, ok bool) {
	if r.stage == waiting {
		return until(&p.line, p.at.Seconds(), float64(p.done), float64(p.of))
	}
	return until(&r.line, r.ran, r.progress, r.stage.end())
}

// A pace is how fast an application's maps come to their ends: the line through how many have, over time,
// since the first task reported.
type pace struct {
	line     estimate.Line
	done, of int // maps
	at       heddle.Time
}

// until is how long a line over time takes from x to reach y; ok is false of one that does not rise. Where
// it should have been there already, what is left counts from where things stand, here.
func until(l *estimate.Line, x, here, y float64) (seconds float64, ok bool) {
	a, rate, ok := l.Fit()
	if !ok || !(rate > 0) {
		return 0, false
	}
	if seconds = (y-a)/rate - x; seconds > 0 {
		return seconds, true
	}
	return max(0, y-here) / rate, true
}

// A reduce is a running reduce as its reports tell of it.
type reduce struct {
	id    heddle.ContainerID
	base  int
	first heddle.Time // report
	last  heddle.Time

	stage    stage
	line     estimate.Line // of progress over ran
	ran      float64       // seconds of the stage, without suspensions
	progress float64
	sampled  bool                   // the last report came to a measured output
	y        [MaxOutputs]float64    // y(t−1), y(t−2), …: measured outputs, the newest first
	u        [MaxInputs + 1]float64 // u(t), u(t−1), …: vcores
	d, part  float64                // GiB of the job's input, in all and for each of its reduces

	rest   heddle.Span // estimated at restAt
	restAt heddle.Time
	known  bool

	kept   []float64 // samples, one behind the other: regressors and the time of the report
	nkept  int
	stride int // every how many samples one is kept
	skip   int // samples until the next one
}

// keep keeps a sample where it is its turn; when there is no room, every other one goes.
func (r *reduce) keep(now heddle.Time, x []float64) {
	if r.skip > 0 {
		r.skip--
		return
	}
	size := len(x) + 1
	if r.nkept == keptSamples {
		for i := 1; i < keptSamples/2; i++ {
			copy(r.kept[i*size:(i+1)*size], r.kept[2*i*size:(2*i+1)*size])
		}
		r.nkept, r.stride = keptSamples/2, 2*r.stride
		r.kept = r.kept[:r.nkept*size]
	}
	r.kept = append(append(r.kept, x...), now.Seconds())
	r.nkept++
	r.skip = r.stride - 1
}

// sample returns a kept sample: its regressors and the time of the report in seconds.
func (r *reduce) sample(i int) (x []float64, at float64) {
	size := len(r.kept) / r.nkept
	s := r.kept[i*size : (i+1)*size]
	return s[:size-1], s[size-1]
}

// reduces are all running reduces that have reported.
type reduces struct {
	outputs, inputs int
	all             []*reduce // in no order that matters
	where           map[heddle.ContainerID]int
	free            []*reduce
	paces           []pace // by application
}

func newReduces(outputs, inputs int) reduces {
	return reduces{outputs: outputs, inputs: inputs, where: map[heddle.ContainerID]int{}}
}

func (rs *reduces) of(id heddle.ContainerID) *reduce {
	if i, ok := rs.where[id]; ok {
		return rs.all[i]
	}
	return nil
}

// width is how many regressors there are, linear the part of them that consequents see: all but the
// progress.
func (rs *reduces) width() int { return width(rs.outputs, rs.inputs) }

func width(outputs, inputs int) int { return outputs + 1 + inputs + 3 }

// regressors fills x with ξ(t), d and the progress: y(t−1) … y(t−n_y), u(t) … u(t−n_u), d, P.
func (rs *reduces) regressors(r *reduce, x []float64) {
	n := copy(x, r.y[:rs.outputs])
	n += copy(x[n:], r.u[:rs.inputs+1])
	x[n], x[n+1], x[n+2] = r.d, r.part, float64(r.stage)
}

// report takes in a report of a reduce.
func (rs *reduces) report(now heddle.Time, x *policy.Container, e heddle.Progress) (r *reduce, isNew bool) {
	if r = rs.of(e.Container); r == nil {
		r, isNew = rs.add(now, x), true
	}
	granted := 0.0
	if !x.Suspended() {
		granted = float64(x.Limit()[heddle.CPU]) / 1000
		r.ran += now.Since(r.last).Seconds()
	}
	app := x.App()
	g := stageOf(e.Phase, e.Fraction, app.Finished(heddle.Map) >= int(app.Facts().Maps))
	if isNew || g != r.stage {
		r.stage, r.line, r.ran, r.sampled = g, estimate.Line{}, 0, false
	}
	r.last, r.progress = now, e.Fraction
	r.line.Add(r.ran, e.Fraction)
	copy(r.u[1:], r.u[:len(r.u)-1])
	if r.u[0] = granted; isNew {
		for i := range r.u {
			r.u[i] = granted
		}
	}
	y, ok := r.measured(rs.pace(now, app))
	switch {
	case ok && r.sampled:
		copy(r.y[1:], r.y[:len(r.y)-1])
		r.y[0] = y
	case ok: // the stage's first: the lags of another would say nothing of it
		for i := range r.y {
			r.y[i] = y
		}
	}
	r.sampled = ok
	return r, isNew
}

// pace notes how many maps an application has done by now.
func (rs *reduces) pace(now heddle.Time, a *policy.App) *pace {
	for int(a.ID()) >= len(rs.paces) {
		rs.paces = append(rs.paces, pace{at: -1})
	}
	p := &rs.paces[a.ID()]
	if now > p.at {
		p.at, p.done, p.of = now, a.Finished(heddle.Map), int(a.Facts().Maps)
		if p.done > 0 {
			p.line.Add(now.Seconds(), float64(p.done))
		}
	}
	return p
}

func (rs *reduces) add(now heddle.Time, x *policy.Container) *reduce {
	var r *reduce
	if n := len(rs.free); n > 0 {
		r, rs.free = rs.free[n-1], rs.free[:n-1]
		*r = reduce{kept: r.kept[:0]}
	} else {
		r = &reduce{kept: make([]float64, 0, keptSamples*(rs.width()+1))}
	}
	r.id, r.first, r.last, r.stride = x.ID(), now, now, 1
	r.d, r.part = inputOf(x.App())
	rs.where[r.id] = len(rs.all)
	rs.all = append(rs.all, r)
	return r
}

// inputOf is d: a job's input, and the part of it that falls to each reduce, in GiB; 0 where it is unknown.
// Of a job that does not say how many reduces it wants, those count that are seen.
func inputOf(a *policy.App) (job, part float64) {
	n := int(a.Facts().Reduces)
	if n == 0 {
		n = a.Finished(heddle.Reduce) + a.Running(heddle.Reduce) + a.Waiting(heddle.Reduce)
	}
	job = float64(a.Facts().InputBytes) / (1 << 30)
	return job, job / float64(max(1, n))
}

func (rs *reduces) drop(r *reduce) {
	i, last := rs.where[r.id], len(rs.all)-1
	rs.all[i] = rs.all[last]
	rs.where[rs.all[i].id] = i
	rs.all = rs.all[:last]
	delete(rs.where, r.id)
	rs.free = append(rs.free, r)
}

// sweep drops the reduces that ended without an exit of their own: with their node or application, or
// given back.
func (rs *reduces) sweep(v policy.View) {
	for i := len(rs.all) - 1; i >= 0; i-- {
		if v.Container(rs.all[i].id) == nil {
			rs.drop(rs.all[i])
		}
	}
}
