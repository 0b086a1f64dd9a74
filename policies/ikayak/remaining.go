package ikayak

import (
	"errors"

	"heddle"
	"heddle/policy"
)

// RemainingOptions are those of the model of a reduce's remaining time (ikayak: 3.1.2). The paper states
// none of its constants; these are set here.
type RemainingOptions struct {
	Outputs    int     `yaml:"n_y"`        // lagged outputs, 1–MaxOutputs
	Inputs     int     `yaml:"n_u"`        // lagged inputs beside the present one, 0–MaxInputs
	Rules      int     `yaml:"rules"`      // fuzzy rules a program; rules must have been trained for n_y, n_u and it
	Program    string  `yaml:"program"`    // whose rules are used: auto, by the application's name; or one of Programs; or pooled
	Offline    bool    `yaml:"offline"`    // begin with what training found; else with the running phase's rate alone
	Online     bool    `yaml:"online"`     // learn from each reduce that ends
	Discount   float64 `yaml:"lambda"`     // λ of Eq. 6, 0–1: what the error before counts
	Forgetting float64 `yaml:"forgetting"` // what a sample counts after the next one, above 0, at most 1

	// Error is for experiments on sensitivity alone: every container's estimate is off by a factor drawn
	// for it, by so much on average, 0 to 0.5 (0.1: by 10 %).
	Error float64 `yaml:"error"`
}

// DefaultRemaining are the defaults.
var DefaultRemaining = RemainingOptions{
	Outputs: 3, Inputs: 2, Rules: 3, Program: auto, Offline: true, Online: true, Discount: 0.5, Forgetting: 0.98,
}

// auto has the rules chosen by the application's name.
const auto = "auto"

// NewRemaining returns the estimate.
func NewRemaining(a policy.Args) (policy.Remaining, error) {
	o := DefaultRemaining
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	f := &Remaining{o: o, only: -1, reduces: newReduces(o.Outputs, o.Inputs)}
	for i, name := range baseNames {
		b, ok := trained(name, Shape{o.Outputs, o.Inputs, o.Rules})
		if !ok {
			return nil, errors.New("ikayak.fuzzy: no rules were trained for these n_y, n_u and rules; there are those of n_y/n_u/rules " + trainedFor())
		}
		f.bases = append(f.bases, newBase(&b, &o))
		if name == o.Program {
			f.only = i
		}
	}
	if f.only < 0 && o.Program != auto {
		return nil, errors.New("ikayak.fuzzy: program: no rules of " + o.Program + "; want auto, pooled, grep, terasort or wordcount")
	}
	if o.Error > 0 {
		return newErring(f, o.Error, a.Rand), nil
	}
	return f, nil
}

func (o *RemainingOptions) check() error {
	switch {
	case o.Outputs < 1 || o.Outputs > MaxOutputs:
		return errors.New("ikayak.fuzzy: n_y must be 1 to 5")
	case o.Inputs < 0 || o.Inputs > MaxInputs:
		return errors.New("ikayak.fuzzy: n_u must be 0 to 3")
	case !(o.Discount >= 0 && o.Discount <= 1):
		return errors.New("ikayak.fuzzy: lambda must be between 0 and 1")
	case !(o.Forgetting > 0 && o.Forgetting <= 1):
		return errors.New("ikayak.fuzzy: forgetting must be above 0 and at most 1")
	case !(o.Error >= 0 && o.Error <= 0.5):
		return errors.New("ikayak.fuzzy: error must be between 0 and 0.5: a mean error of that part of the estimate")
	}
	return nil
}

// Remaining estimates how long a reduce still runs, by a Takagi–Sugeno model of the NARX kind for each
// program, which learns on while reduces end. Of containers that are no reduces, and of reduces that
// have not yet shown how fast they go, nothing is said.
type Remaining struct {
	o       RemainingOptions
	bases   []*base // by baseNames
	only    int     // the one base that is used; −1 = by the application's name
	reduces reduces
}

// Feeds implements [policy.Feeder]: progress as MapReduce tasks report it.
func (f *Remaining) Feeds() policy.Feeds { return policy.Feeds{Progress: reportEvery} }

// Remaining implements [policy.Remaining]: what the last report led to expect, less the time since.
func (f *Remaining) Remaining(v policy.View, x *policy.Container) (heddle.Span, bool) {
	r := f.reduces.of(x.ID())
	if r == nil || !r.known {
		return 0, false
	}
	return max(0, r.rest-v.Now().Since(r.restAt)), true
}

// Observe implements [policy.Observe].
func (f *Remaining) Observe(v policy.View, ev heddle.Event) {
	switch e := ev.(type) {
	case heddle.Progress:
		x := v.Container(e.Container)
		if x == nil {
			return
		}
		if x.Kind() != heddle.Reduce {
			f.reduces.pace(v.Now(), x.App())
			return
		}
		r, isNew := f.reduces.report(v.Now(), x, e)
		if isNew {
			if r.base = f.only; r.base < 0 {
				r.base = baseOf(x.App().Facts().Name)
			}
		}
		if !r.sampled {
			return
		}
		b := f.bases[r.base]
		f.reduces.regressors(r, b.x)
		if f.o.Online {
			r.keep(v.Now(), b.x)
		}
		r.rest, r.restAt, r.known = heddle.Seconds(max(0, b.predict())), v.Now(), true
	case heddle.Exit:
		r := f.reduces.of(e.Container)
		if r == nil {
			return
		}
		if e.Status == heddle.Success && f.o.Online {
			f.bases[r.base].learn(r, v.Now())
		}
		f.reduces.drop(r)
	case heddle.NodeDown, heddle.AppDone, heddle.Release:
		f.reduces.sweep(v)
	default: // tells nothing of reduces
	}
}
