package ikayak

import (
	"math"
	"math/rand/v2"

	"heddle"
	"heddle/estimate"
	"heddle/policy"
)

// A Recorder collects what rules are trained from: samples of reduces that end well. It stands where an
// estimate stands, and estimates nothing.
type Recorder struct {
	Trials []Trial // in order of their ends

	reduces reduces
	names   map[heddle.ContainerID]string
}

// A Trial is one reduce that ended well.
type Trial struct {
	Program string
	Whole   float64 // seconds from its first report to its end
	Samples []Sample
}

// A Sample is a report of a reduce, and what it still took.
type Sample struct {
	X    []float64 // the regressors with the most lags there may be
	Rest float64   // seconds
}

// NewRecorder returns an empty one.
func NewRecorder() *Recorder {
	return &Recorder{reduces: newReduces(MaxOutputs, MaxInputs), names: map[heddle.ContainerID]string{}}
}

// Remaining implements [policy.Remaining]: nothing is known.
func (*Recorder) Remaining(policy.View, *policy.Container) (heddle.Span, bool) { return 0, false }

// Feeds implements [policy.Feeder].
func (*Recorder) Feeds() policy.Feeds { return policy.Feeds{Progress: reportEvery} }

// Observe implements [policy.Observe].
func (c *Recorder) Observe(v policy.View, ev heddle.Event) {
	switch e := ev.(type) {
	case heddle.Progress:
		x := v.Container(e.Container)
		if x == nil {
			return
		}
		if x.Kind() != heddle.Reduce {
			c.reduces.pace(v.Now(), x.App())
			return
		}
		r, isNew := c.reduces.report(v.Now(), x, e)
		if isNew {
			c.names[r.id] = baseNames[baseOf(x.App().Facts().Name)]
		}
		if r.sampled {
			wide := make([]float64, c.reduces.width())
			c.reduces.regressors(r, wide)
			r.keep(v.Now(), wide)
		}
	case heddle.Exit:
		r := c.reduces.of(e.Container)
		if r == nil {
			return
		}
		if whole := v.Now().Since(r.first).Seconds(); e.Status == heddle.Success && r.nkept > 0 && whole > 0 {
			t := Trial{Program: c.names[r.id], Whole: whole}
			for i := range r.nkept {
				x, at := r.sample(i)
				t.Samples = append(t.Samples, Sample{append([]float64(nil), x...), v.Now().Seconds() - at})
			}
			c.Trials = append(c.Trials, t)
		}
		c.reduces.drop(r)
	case heddle.NodeDown, heddle.AppDone, heddle.Release:
		c.reduces.sweep(v)
	default: // tells nothing of reduces
	}
}

// Train finds the rules of a program, or the pooled ones where it is "pooled", from trials: clusters of
// samples become antecedents, and all consequents together are the least-squares fit of what the
// reduces still took, errors counted as parts of each reduce's whole time (ikayak: 3.1.2, "offline
// training"; how it clusters is not said there). The same trials always give the same rules.
func Train(trials []Trial, program string, s Shape) Base {
	b := Base{Program: program, Shape: s}
	var xs [][]float64
	var rest, whole []float64
	for _, t := range trials {
		if program != pooled && t.Program != program {
			continue
		}
		for _, p := range t.Samples {
			xs = append(xs, narrow(p.X, s.Outputs, s.Inputs))
			rest, whole = append(rest, p.Rest), append(whole, t.Whole)
		}
	}
	b.Fuzzy = antecedents(xs, s)
	consequents(&b, xs, rest, whole)
	return b
}

// narrow leaves of the regressors with the most lags those with fewer.
func narrow(x []float64, outputs, inputs int) []float64 {
	out := append([]float64(nil), x[:outputs]...)
	out = append(out, x[MaxOutputs:MaxOutputs+1+inputs]...)
	return append(out, x[MaxOutputs+1+MaxInputs:]...)
}

// leastWidth is the narrowest a fuzzy set may be, in standard deviations of all samples: narrower ones
// would fire for what they were trained from alone.
const leastWidth = 0.1

// antecedents makes a fuzzy set of each cluster and variable: its mean and standard deviation. Lags of
// one quantity count together as one variable, in clustering and in firing.
func antecedents(xs [][]float64, s Shape) estimate.Fuzzy {
	outputs, inputs, rules := s.Outputs, s.Inputs, s.Rules
	n := width(outputs, inputs)
	share := make([]float64, n) // of the variable a regressor belongs to
	for i := range share {
		switch {
		case i < outputs:
			share[i] = 1 / float64(outputs)
		case i < outputs+1+inputs:
			share[i] = 1 / float64(1+inputs)
		default:
			share[i] = 1
		}
		if i == n-1 {
			share[i] = PW
		}
	}
	mean, dev := moments(xs, nil, 0, n)
	points := make([][]float64, len(xs))
	for k, x := range xs {
		points[k] = make([]float64, n)
		for i := range x {
			if dev[i] > 0 {
				points[k][i] = (x[i] - mean[i]) / dev[i] * math.Sqrt(share[i])
			}
		}
	}
	of := estimate.KMeans(points, rules, rand.New(rand.NewPCG(1, 2)))
	fuzzy := make(estimate.Fuzzy, rules)
	for c := range fuzzy {
		centre, spread := moments(xs, of, c, n)
		for i := range spread {
			spread[i] = max(spread[i], leastWidth*dev[i]) / math.Sqrt(share[i])
		}
		fuzzy[c] = estimate.Rule{Centre: centre, Width: spread, Out: make([]float64, n)}
	}
	return fuzzy
}

// moments are the mean and the standard deviation of each regressor, of all samples or of a cluster.
func moments(xs [][]float64, of []int, cluster, n int) (mean, dev []float64) {
	mean, dev = make([]float64, n), make([]float64, n)
	count := 0.0
	for k, x := range xs {
		if of != nil && of[k] != cluster {
			continue
		}
		count++
		for i, v := range x {
			d := v - mean[i]
			mean[i] += d / count
			dev[i] += d * (v - mean[i])
		}
	}
	for i := range dev {
		dev[i] = math.Sqrt(dev[i] / max(1, count))
		if dev[i] < 1e-9*math.Abs(mean[i]) {
			dev[i] = 0 // the same everywhere, but for rounding
		}
	}
	return mean, dev
}

// ridge keeps coefficients of regressors that hardly tell anything apart from growing against each other.
var PW = 1.0

const ridge = 1e-2

func consequents(b *Base, xs [][]float64, rest, whole []float64) {
	n := 0
	for _, r := range b.Fuzzy {
		n += len(r.Out)
	}
	fit, wide := estimate.NewSquares(n), make([]float64, n)
	prior, strength := make([]float64, n), make([]float64, len(b.Fuzzy))
	b.Size = make([]float64, n)
	for k, x := range xs {
		b.Fuzzy.Fire(x, strength)
		b.Fuzzy.Stack(x, strength, wide)
		fit.Add(wide, rest[k], 1/(whole[k]*whole[k]))
		for i, v := range wide {
			b.Size[i] += v / whole[k] * v / whole[k] / float64(len(xs))
		}
	}
	for i := range b.Size {
		b.Size[i] = math.Sqrt(b.Size[i])
	}
	for k, j := 0, 0; j < len(b.Fuzzy); j++ { // the phase's rate
		prior[k] = 1
		k += len(b.Fuzzy[j].Out)
	}
	theta := fit.Solve(ridge, prior)
	for j := range b.Fuzzy {
		theta = theta[copy(b.Fuzzy[j].Out, theta):]
	}
}
