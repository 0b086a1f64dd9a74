package ikayak

import (
	"math"
	"math/rand/v2"

	"heddle"
	"heddle/estimate"
	"heddle/policy"
)

// A Recorder collects the training data for rules: samples of reduces that end well. It takes the place of an estimate,
// but estimates nothing.
type Recorder struct {
	Trials []Trial // in order of their ends

	reduces *reduces
}

// A Trial is one reduce that ended well.
type Trial struct {
	Program string  // one of Bases
	Whole   float64 // seconds from its start to its end
	Samples []Sample
}

// A Sample is a report of a reduce, and the time that the reduce still took.
type Sample struct {
	X    []float64 // regressors, with the maximum number of lags
	Rest float64   // seconds
}

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder { return &Recorder{reduces: newReduces(maxOutputs, maxInputs)} }

// Remaining implements [policy.Remaining]: nothing is known.
func (*Recorder) Remaining(policy.View, *policy.Container) (heddle.Span, bool) { return 0, false }

// Needs implements [policy.Needer].
func (*Recorder) Needs() policy.Needs { return reported }

// Hears implements [policy.Listener].
func (*Recorder) Hears() policy.News { return reports }

// Hear implements [policy.Listener].
func (c *Recorder) Hear(v policy.View, e policy.Effect) {
	switch r, what := c.reduces.hear(v, e); what {
	case sampled:
		x := make([]float64, width(maxOutputs, maxInputs))
		c.reduces.regressors(r, x)
		r.keep(v.Now(), x)
	case ended:
		if t := trial(r, v.Now()); t.Whole > 0 {
			c.Trials = append(c.Trials, t)
		}
		c.reduces.drop(r)
	default:
	}
}

func trial(r *reduce, end heddle.Time) Trial {
	t := Trial{Program: Bases[r.base], Whole: end.Since(r.began).Seconds()}
	for i := range r.nkept {
		x, at := r.sample(i)
		t.Samples = append(t.Samples, Sample{append([]float64(nil), x...), end.Seconds() - at})
	}
	return t
}

// Train computes the rules of a program, or the pooled rules of all, from trials. Clusters of samples become
// antecedents. The consequents of all rules together are the least-squares fit of the time the reduces still took, with
// errors counted as parts of each reduce's whole time (ikayak: 3.1.2 speaks of offline training, and does not say how).
// The same trials always give the same rules.
func Train(trials []Trial, program string, shape Shape) Base {
	b := Base{Program: program, Shape: shape}
	var xs [][]float64
	var rest, whole []float64
	for _, t := range trials {
		if program != Bases[pooled] && t.Program != program {
			continue
		}
		for _, s := range t.Samples {
			xs = append(xs, narrow(s.X, shape))
			rest, whole = append(rest, s.Rest), append(whole, t.Whole)
		}
	}
	b.Fuzzy = antecedents(xs, shape)
	consequents(&b, xs, rest, whole)
	return b
}

// narrow reduces regressors with the maximum number of lags to those of a shape.
func narrow(x []float64, s Shape) []float64 {
	out := append([]float64(nil), x[:s.Outputs]...)
	out = append(out, x[maxOutputs:maxOutputs+1+s.Inputs]...)
	return append(out, x[maxOutputs+1+maxInputs:]...)
}

const (
	// stageShare is the weight of the stage in clustering, as part of the squared distance, beside 1 for each other
	// variable: large enough that clusters separate stages before sizes.
	stageShare = 100
	// leastWidth is the smallest width of a fuzzy set, in standard deviations of all samples: a narrower set would only
	// fire for what it was trained on.
	leastWidth = 0.25
	// ridge keeps the coefficients of lags, which carry almost the same information, from growing against each other.
	ridge = 0.01
)

// shares returns the weight of each regressor: the lags of one quantity count together as one variable, and so do the
// two of d.
func shares(s Shape) []float64 {
	var out []float64
	for _, group := range []int{s.Outputs, s.Inputs + 1, 2} {
		for range group {
			out = append(out, 1/float64(group))
		}
	}
	return append(out, stageShare)
}

// antecedents makes a fuzzy set for each cluster and regressor from its mean and standard deviation.
func antecedents(xs [][]float64, s Shape) estimate.Fuzzy {
	share := shares(s)
	mean, dev := moments(xs, nil, 0, len(share))
	points := make([][]float64, len(xs))
	for k, x := range xs {
		points[k] = make([]float64, len(x))
		for i := range x {
			if dev[i] > 0 {
				points[k][i] = (x[i] - mean[i]) / dev[i] * math.Sqrt(share[i])
			}
		}
	}
	of := estimate.KMeans(points, s.Rules, rand.New(rand.NewPCG(1, 2)))
	fuzzy := make(estimate.Fuzzy, s.Rules)
	for c := range fuzzy {
		centre, spread := moments(xs, of, c, len(share))
		for i := range spread {
			spread[i] = max(spread[i], leastWidth*dev[i]) / math.Sqrt(share[i])
		}
		fuzzy[c] = estimate.Rule{Centre: centre, Width: spread, Out: make([]float64, len(share))}
	}
	return fuzzy
}

// moments returns the mean and the standard deviation of each of n regressors, over all samples or, if of assigns each
// sample to a cluster, over one cluster.
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
			dev[i] = 0 // the same everywhere, except for rounding
		}
	}
	return mean, dev
}

// consequents fits the rules' outputs, and sets the sizes of their regressors.
func consequents(b *Base, xs [][]float64, rest, whole []float64) {
	n := b.Shape.Rules * width(b.Shape.Outputs, b.Shape.Inputs)
	fit, wide := estimate.NewSquares(n), make([]float64, n)
	prior, strength := make([]float64, n), make([]float64, len(b.Fuzzy))
	for k := 0; k < n; k += n / b.Shape.Rules {
		prior[k] = 1 // y(t−1): the stage's pace alone
	}
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
	theta := fit.Solve(ridge, prior)
	for j := range b.Fuzzy {
		theta = theta[copy(b.Fuzzy[j].Out, theta):]
	}
}
