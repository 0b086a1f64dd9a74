package ikayak

import (
	"errors"
	"slices"
	"strings"

	"heddle"
	"heddle/policy"
)

// RemainingOptions are the options of the model of a reduce's remaining time (ikayak: 3.1.2). The paper gives none of
// its constants: all defaults are choices made here.
type RemainingOptions struct {
	Outputs    int     `yaml:"n_y"`        // lagged outputs
	Inputs     int     `yaml:"n_u"`        // lagged inputs in addition to the present one
	Rules      int     `yaml:"rules"`      // fuzzy rules of a program; with n_y and n_u, one of Shapes
	Program    string  `yaml:"program"`    // whose rules are used: auto, by the application's name; or always one of Bases
	Offline    bool    `yaml:"offline"`    // start with the trained consequents; otherwise with the running stage's pace alone
	Online     bool    `yaml:"online"`     // learn from each reduce that ends
	Discount   float64 `yaml:"lambda"`     // λ of Eq. 6: the weight of the previous error, 0 to 1
	Forgetting float64 `yaml:"forgetting"` // the weight of a reduce after the next one, above 0, at most 1

	// Error is only for experiments on sensitivity (ikayak: Fig. 9b): every container's estimate is wrong by a factor
	// drawn for it, by this part of the estimate on average, 0 to 0.5.
	Error float64 `yaml:"error"`
}

// auto selects the rules by the application's name.
const auto = "auto"

// DefaultRemaining holds the default options.
var DefaultRemaining = RemainingOptions{
	Outputs: 3, Inputs: 2, Rules: 12, Program: auto, Offline: true, Online: true, Discount: 0.5, Forgetting: 0.98,
}

// check validates the options. It returns their shape and the only rule base they name, or −1.
func (o *RemainingOptions) check() (s Shape, only int, err error) {
	s, only = Shape{o.Outputs, o.Inputs, o.Rules}, slices.Index(Bases[:], o.Program)
	switch {
	case !slices.Contains(Shapes, s):
		err = errors.New("ikayak.fuzzy: no rules are trained for n_y/n_u/rules " + s.String() + "; there are " + shapes())
	case only < 0 && o.Program != auto:
		err = errors.New("ikayak.fuzzy: program: no rules of " + o.Program + "; there are auto, " + strings.Join(Bases[:], ", "))
	case !(o.Discount >= 0 && o.Discount <= 1):
		err = errors.New("ikayak.fuzzy: lambda must be between 0 and 1")
	case !(o.Forgetting > 0 && o.Forgetting <= 1):
		err = errors.New("ikayak.fuzzy: forgetting must be above 0 and at most 1")
	case !(o.Error >= 0 && o.Error <= 0.5):
		err = errors.New("ikayak.fuzzy: error must be between 0 and 0.5: the mean error as a part of the estimate")
	}
	return s, only, err
}

// Remaining estimates how long a reduce still runs, by a Takagi–Sugeno model of the NARX kind for each program, which
// continues to learn as reduces end (ikayak: 3.1.2, Eq. 1 to 6). It has no estimate for other containers, nor for
// reduces that have not yet shown how fast they go.
//
// Where the paper is silent or could not be followed:
//   - The output y cannot be measured before a reduce ends. Its lags are what is left of the running stage at the
//     stage's pace; while maps run, at theirs.
//   - Stages have different paces, so the stage is an antecedent too, and is used nowhere else.
//   - d is both the job's input, as in Eq. 1, and each reduce's part of it, as in the text before.
//   - Learning compares each prediction with the time that the reduce really took, when it ends. Errors count as parts
//     of its whole time, in training too.
//   - Rules belong to programs, which are identified by the application's name; an unknown program uses the rules
//     trained on all.
type Remaining struct {
	online  bool
	bases   [numBases]*base
	only    int // the one base used; −1 = by the application's name
	reduces *reduces
}

// NewRemaining returns the estimate.
func NewRemaining(a policy.Args) (policy.Remaining, error) {
	o := DefaultRemaining
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	s, only, err := o.check()
	if err != nil {
		return nil, err
	}
	f := &Remaining{online: o.Online, only: only, reduces: newReduces(o.Outputs, o.Inputs)}
	for i, name := range Bases {
		b, ok := trained(name, s)
		if !ok {
			return nil, errors.New("ikayak.fuzzy: the rules of " + name + " for n_y/n_u/rules " + s.String() + " are missing: run heddle exp train")
		}
		f.bases[i] = newBase(&b, &o)
	}
	if o.Error > 0 {
		return newErring(f, o.Error, a.Rand), nil
	}
	return f, nil
}

// Needs implements [policy.Needer].
func (f *Remaining) Needs() policy.Needs { return reported }

// reported is what an estimate from progress reports needs.
var reported = policy.Needs{Feeds: policy.Feeds{Progress: reportEvery, Of: policy.KindSet(heddle.Reduce), Sizes: true}}

// Remaining implements [policy.Remaining]: the estimate after the last report, less the time since.
func (f *Remaining) Remaining(v policy.View, x *policy.Container) (heddle.Span, bool) {
	r := f.reduces.of(x)
	if r == nil || !r.known {
		return 0, false
	}
	return max(0, r.rest-v.Now().Since(r.restAt)), true
}

// longest is the largest estimate, in seconds: 30 days.
const longest = 30 * 24 * 3600

// Hears implements [policy.Listener].
func (f *Remaining) Hears() policy.News { return reports }

// Hear implements [policy.Listener].
func (f *Remaining) Hear(v policy.View, e policy.Effect) {
	r, what := f.reduces.hear(v, e)
	if what == nothing {
		return
	}
	b := f.bases[r.base]
	if f.only >= 0 {
		b = f.bases[f.only]
	}
	if what == ended {
		if f.online {
			b.learn(r, v.Now())
		}
		f.reduces.drop(r)
		return
	}
	f.reduces.regressors(r, b.x)
	if f.online {
		r.keep(v.Now(), b.x)
	}
	r.rest, r.restAt, r.known = heddle.Seconds(min(max(0, b.predict()), longest)), v.Now(), true
}
