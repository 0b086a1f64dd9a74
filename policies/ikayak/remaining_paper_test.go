package ikayak

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle"
	"heddle/estimate"
	"heddle/policy/policytest"
)

// The regression vector holds the lagged outputs and inputs, followed by the present allocation and the input.
//
// Reference: Eq. 2.
func TestPaperRegressors(t *testing.T) {
	rs := newReduces(3, 2)
	r := &reduce{stage: sorting, y: [5]float64{50, 53, 56, 59, 62}, u: [4]float64{1, 2, 3, 4}, d: [2]float64{300, 25}}
	x := make([]float64, width(3, 2))
	rs.regressors(r, x)
	if want := []float64{50, 53, 56, 1, 2, 3, 300, 25, 2}; !slices.Equal(x, want) {
		t.Errorf("%v, want %v", x, want)
	}
}

// Each rule's output is linear; the model's output is their mean, weighted by how strongly each rule fires.
//
// Reference: Eq. 4.
func TestPaperRules(t *testing.T) {
	o := DefaultRemaining
	b := newBase(&Base{
		Shape: Shape{1, 0, 2}, Size: []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		Fuzzy: estimate.Fuzzy{
			{Centre: []float64{0, 0, 0, 0, 0}, Width: []float64{0, 0, 0, 0, 1}, Out: []float64{1, -10, 2, 0, 5}},
			{Centre: []float64{0, 0, 0, 0, 2}, Width: []float64{0, 0, 0, 0, 1}, Out: []float64{3, 0, 0, 0, 0}},
		},
	}, &o)
	// y(t−1) = 60 s, u = 1, d = 20 GiB of 100: 60 − 10 + 200 + 5 = 255, and 180; half way between both centres.
	b.x = []float64{60, 1, 100, 20, 1}
	b.strength = make([]float64, 2)
	if y := b.predict(); math.Abs(y-(255+180)/2.) > 1e-9 {
		t.Errorf("%v, want 217.5", y)
	}
}

// finished returns a reduce that took 100 s, sampled every 10 s, always measured to take twice as long as it did.
func finished(o *RemainingOptions) *reduce {
	r := &reduce{stage: writing, stride: 1}
	x := make([]float64, width(o.Outputs, o.Inputs))
	for at := 0; at < 100; at += 10 {
		for i := range o.Outputs {
			x[i] = 2 * float64(100-at)
		}
		x[len(x)-1] = float64(writing)
		r.keep(heddle.Time(heddle.Span(at)*heddle.Second), x)
	}
	return r
}

// A prediction error that is not 0 adapts the parameters, so that it becomes smaller.
//
// Reference: Eq. 5, Eq. 6.
func TestPaperLearning(t *testing.T) {
	for _, lambda := range []float64{0, 0.5} {
		o := DefaultRemaining
		o.Offline, o.Discount = false, lambda
		table, _ := trained("terasort", Shape{o.Outputs, o.Inputs, o.Rules})
		b := newBase(&table, &o)
		off := func() float64 {
			copy(b.x, finished(&o).kept[:len(b.x)]) // its first sample, with 100 s to go
			return math.Abs(b.predict() - 100)
		}
		before := off()
		if math.Abs(before-100) > 1e-9 { // nothing learned: the pace alone
			t.Errorf("off by %v s before learning, want 100", before)
		}
		for range 10 {
			b.learn(finished(&o), heddle.Time(100*heddle.Second))
		}
		if after := off(); after > before/10 {
			t.Errorf("λ = %v: off by %v s, and %v s after ten more", lambda, before, after)
		}
	}
}

// The previous error counts λ of the present one. Two samples disagree about one coefficient: a sample counts (1 + λ)
// in all if another follows it, and 1 if none does.
//
// Reference: Eq. 6.
func TestPaperDiscount(t *testing.T) {
	learned := func(lambda float64) float64 {
		o := RemainingOptions{Outputs: 1, Offline: true, Discount: lambda, Forgetting: 1}
		b := newBase(&Base{Size: []float64{1, 0, 0, 0, 0}, Fuzzy: estimate.Fuzzy{
			{Centre: make([]float64, 5), Width: make([]float64, 5), Out: make([]float64, 5)},
		}}, &o)
		r := &reduce{stride: 1}
		r.keep(0, []float64{1, 0, 0, 0, 0})                          // 2 s to go
		r.keep(heddle.Time(heddle.Second), []float64{1, 0, 0, 0, 0}) // 1 s to go
		b.learn(r, heddle.Time(2*heddle.Second))
		return b.rules[0].Out[0]
	}
	// One coefficient θ from 0 with doubt p = 1/400, x = 1/2, targets 1 and 1/2, weights w(1 + λ) and w with
	// w = 100/(2·(1 + λ)): θ = p·Σ w·x·y / (1 + p·Σ w·x²).
	for _, lambda := range []float64{0, 0.5, 1} {
		w, p := 100/(2*(1+lambda)), 1./400
		sum, square := w*(1+lambda)*0.5*1+w*0.5*0.5, w*(1+lambda)*0.25+w*0.25
		if want, got := p*sum/(1+p*square), learned(lambda); math.Abs(got-want) > 1e-9 {
			t.Errorf("λ = %v: %v, want %v", lambda, got, want)
		}
	}
}

// Training finds the law that the samples follow, one for each phase: what is left of the phase, and 2 s a GiB for what
// comes after it.
//
// Reference: section 3.1.2, offline training.
func TestPaperOffline(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var trials []Trial
	for range 200 {
		d := 10 + 90*rng.Float64()
		tr := Trial{Program: "grep", Whole: 1000}
		for s := range 3 {
			x := make([]float64, width(maxOutputs, maxInputs))
			left := 500 * rng.Float64()
			for i := range maxOutputs {
				x[i] = left + 3*float64(i)
			}
			x[len(x)-3], x[len(x)-2], x[len(x)-1] = d, d/8, float64(s+1)
			tr.Samples = append(tr.Samples, Sample{x, left + 2*d*float64(2-s)})
		}
		trials = append(trials, tr)
	}
	b := Train(trials, "grep", Shape{3, 2, 3})
	strength := make([]float64, 3)
	for _, tr := range trials[:20] {
		for _, s := range tr.Samples {
			x := narrow(s.X, b.Shape)
			b.Fuzzy.Fire(x, strength)
			if y := b.Fuzzy.At(x, strength); math.Abs(y-s.Rest) > 0.02*tr.Whole {
				t.Errorf("stage %v: %v s, want %v s", x[len(x)-1], y, s.Rest)
			}
		}
	}
	if again := Train(trials, "grep", Shape{3, 2, 3}); !slices.Equal(again.Size, b.Size) || !slices.Equal(again.Fuzzy[1].Out, b.Fuzzy[1].Out) {
		t.Error("the same trials gave other rules")
	}
}

// There are rules for every shape and program, complete and finite.
func TestTables(t *testing.T) {
	if len(tables) != len(Shapes)*len(Bases) {
		t.Fatalf("%d rule bases, want %d: run heddle exp train", len(tables), len(Shapes)*len(Bases))
	}
	for _, s := range Shapes {
		n := width(s.Outputs, s.Inputs)
		for _, p := range Bases {
			b, ok := trained(p, s)
			if !ok || len(b.Fuzzy) != s.Rules || len(b.Size) != s.Rules*n {
				t.Errorf("%s %v: %v, %d rules, %d sizes", p, s, ok, len(b.Fuzzy), len(b.Size))
				continue
			}
			for _, r := range b.Fuzzy {
				for _, list := range [][]float64{r.Centre, r.Width, r.Out} {
					if len(list) != n || slices.ContainsFunc(list, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
						t.Errorf("%s %v: %v", p, s, list)
					}
				}
			}
		}
	}
}

func TestBaseOf(t *testing.T) {
	for name, want := range map[string]int{
		"TeraSort": terasort, "word count": wordcount, "grep-search": grep, "wordcount-17": wordcount, "QuasiMonteCarlo": pooled, "": pooled,
	} {
		if got := baseOf(name); got != want {
			t.Errorf("%q: rules of %s, want %s", name, Bases[got], Bases[want])
		}
	}
}

// A stage half done after 10 s at an even pace takes 10 s more. One that first stood still follows its line, but takes
// no longer than at its mean pace.
func TestUntil(t *testing.T) {
	line := func(points ...[2]float64) *estimate.Line {
		var l estimate.Line
		for _, p := range points {
			l.Add(p[0], p[1])
		}
		return &l
	}
	for _, c := range []struct {
		what                  string
		l                     *estimate.Line
		x, here, goal, before float64
		want                  float64
		ok                    bool
	}{
		{"even", line([2]float64{0, 0}, [2]float64{10, 0.5}), 10, 0.5, 1, 10, 10, true},
		{"late start", line([2]float64{90, 0}, [2]float64{100, 0.5}), 100, 0.5, 1, 100, 10, true},
		{"hardly moves", line([2]float64{0, 0.5}, [2]float64{10, 0.501}), 10, 0.501, 1, 20, 20 * 0.499 / 0.501, true},
		{"one point", line([2]float64{10, 0.5}), 10, 0.5, 1, 10, 10, true},
		{"behind its line", line([2]float64{0, 0}, [2]float64{10, 1}), 30, 0.9, 1, 30, 1, true},
		{"nothing yet", line([2]float64{0, 0}, [2]float64{10, 0}), 10, 0, 1, 10, 0, false},
	} {
		got, ok := until(c.l, c.x, c.here, c.goal, c.before)
		if ok != c.ok || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v %v, want %v %v", c.what, got, ok, c.want, c.ok)
		}
	}
}

// The samples kept of a long life are spread evenly over it.
func TestKeep(t *testing.T) {
	r := &reduce{stride: 1}
	for i := range 1000 {
		r.keep(heddle.Time(heddle.Span(i)*heddle.Second), []float64{float64(i)})
	}
	if r.nkept < keptSamples/2 || r.nkept > keptSamples {
		t.Fatalf("%d samples", r.nkept)
	}
	for i := range r.nkept {
		if x, at := r.sample(i); x[0] != at || int(at) != i*r.stride {
			t.Errorf("sample %d: %v at %v, want %d", i, x, at, i*r.stride)
		}
	}
}

// A forced error of the estimates has the requested size on average, and stays the same for a container.
//
// Reference: Fig. 9b.
func TestErrorIsForced(t *testing.T) {
	for _, e := range []float64{0.1, 0.35} {
		r := newErring(nil, e, rand.New(rand.NewPCG(1, 2)))
		size, mean := 0.0, 0.0
		const n = 20000
		for c := range heddle.ContainerID(n) {
			f := r.factor(c)
			if f != r.factor(c) || f <= 0 {
				t.Fatalf("factor %v, then %v", f, r.factor(c))
			}
			size += math.Abs(f-1) / n
			mean += (f - 1) / n
		}
		if math.Abs(size-e) > 0.01*e || math.Abs(mean) > 0.01 {
			t.Errorf("mean size %v, mean %v; want %v and 0", size, mean, e)
		}
	}
}

func TestRemainingOptions(t *testing.T) {
	for _, bad := range []string{
		"n_y: 4", "n_u: 9", "rules: 0", "lambda: 1.5", "forgetting: 0", "forgetting: .nan", "program: pi", "error: 0.6", "error: -0.1",
	} {
		if _, err := NewRemaining(policytest.Args(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// BenchmarkRemainingLearn measures learning from one reduce that ended.
func BenchmarkRemainingLearn(b *testing.B) {
	o := DefaultRemaining
	table, _ := trained("terasort", Shape{o.Outputs, o.Inputs, o.Rules})
	w := newBase(&table, &o)
	r := finished(&o)
	b.ReportAllocs()
	for b.Loop() {
		w.learn(r, heddle.Time(100*heddle.Second))
	}
}
