package exp

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Line is a metric of an experiment as scripts read it.
type Line struct {
	System     string `json:"system"`
	Experiment string `json:"experiment"`
	Metric     string `json:"metric"`
	Unit       string `json:"unit"`
	Kind       string `json:"kind"`
	Published  any    `json:"published"` // a number; the text of a shape; null if nothing was published
	Ours       struct {
		Median Number `json:"median"`
		Low    Number `json:"low"`
		High   Number `json:"high"`
	} `json:"ours"`
	Interval      [2]Number `json:"interval"` // of the median, 95 %
	Null          Number    `json:"null"`     // the null arm's median; null if there is none
	Bound         Number    `json:"bound"`    // the bound that no schedule exceeds; null if unknown
	SameDirection bool      `json:"same_direction"`
	Reached       bool      `json:"reached"` // or exceeded
	Verdict       string    `json:"verdict"`
	Why           string    `json:"why"`
}

// A Number is a figure with nine significant digits: more than any figure means, and too few to differ between
// machines. It is null if the figure does not apply.
type Number float64

// MarshalJSON writes the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', 9, 64), nil
}

// UnmarshalJSON reads a number; null is NaN.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	*n = Number(x)
	return err
}

// Lines returns the outcome's metrics as lines for scripts.
func (o *Outcome) Lines() []Line {
	var out []Line
	for i := range o.Metrics {
		m := &o.Metrics[i]
		l := Line{
			System: o.Experiment.System, Experiment: o.Experiment.Name, Metric: m.Name, Unit: m.Unit, Kind: m.Kind.String(),
			Published: Number(m.Published), SameDirection: m.SameDirection, Reached: m.Verdict.Good(),
			Verdict: m.Verdict.String(), Why: m.Why, Null: Number(m.Null.Median), Bound: Number(m.Limit.Median),
			Interval: m.Ours.Interval(),
		}
		switch {
		case m.Kind == Shape, m.Kind == Measured && m.Text != "":
			l.Published = m.Text
		case m.Kind == Measured && m.Published == 0:
			l.Published = nil
		}
		l.Ours.Median, l.Ours.Low, l.Ours.High = Number(m.Ours.Median), Number(m.Ours.Low), Number(m.Ours.High)
		out = append(out, l)
	}
	return out
}

// A Summary is what is kept of an experiment's outcome: enough to see that a change moved a figure.
type Summary struct {
	Experiment string       `json:"experiment"`
	Seeds      []uint64     `json:"seeds"`
	Metrics    []KeptMetric `json:"metrics"`
}

// A KeptMetric is a line with its figures by seed.
type KeptMetric struct {
	Line
	Values []Number `json:"values"`
}

// Summary returns what is kept of the outcome.
func (o *Outcome) Summary() Summary {
	s := Summary{Experiment: o.Experiment.Name, Seeds: o.Seeds}
	for i, l := range o.Lines() {
		k := KeptMetric{Line: l}
		for _, v := range o.Metrics[i].Ours.Values {
			if o.Metrics[i].Kind != Measured { // measured times depend on the machine
				k.Values = append(k.Values, Number(v))
			}
		}
		s.Metrics = append(s.Metrics, k)
	}
	return s
}

// WriteSummaries writes the summaries of a system.
func WriteSummaries(w io.Writer, list []Summary) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(list)
}

// ReadSummaries reads what [WriteSummaries] wrote; path names it in errors.
func ReadSummaries(path string, r io.Reader) ([]Summary, error) {
	var list []Summary
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// A Shortfall is a reason and the metrics that are lost or undecided because of it.
type Shortfall struct {
	Metrics []*Judged
	Why     string
}

// unexplained replaces a missing reason.
const unexplained = "No explanation has been found."

// Shortfalls groups the metrics that are lost or undecided by their reason, in order.
func (o *Outcome) Shortfalls() []Shortfall {
	var out []Shortfall
	for i := range o.Metrics {
		m := &o.Metrics[i]
		if m.Verdict != Lost && m.Verdict != Undecided {
			continue
		}
		why := strings.TrimSpace(m.Why)
		if why == "" {
			why = unexplained
		}
		at := slices.IndexFunc(out, func(s Shortfall) bool { return s.Why == why })
		if at < 0 {
			at = len(out)
			out = append(out, Shortfall{Why: why})
		}
		out[at].Metrics = append(out[at].Metrics, m)
	}
	return out
}

// Names returns the names of the metrics.
func (s *Shortfall) Names() []string {
	var names []string
	for _, m := range s.Metrics {
		names = append(names, m.Name)
	}
	return names
}

// A Row is a figure as shown in tables for people.
type Row struct{ Name, Published, Ours, Range, Null, Direction, Verdict string }

// Row returns the figure as a row for people.
func (v *Judged) Row() Row {
	r := Row{Name: v.Name, Published: Figure(v.Published, v.Unit), Ours: Figure(v.Ours.Median, v.Unit), Verdict: v.Verdict.String()}
	switch {
	case v.Kind == Shape && math.IsNaN(v.Ours.Median): // it has no number
		r.Ours = ""
	case v.Ours.Low != v.Ours.High:
		r.Range = Figure(v.Ours.Low, "") + " – " + Figure(v.Ours.High, "")
	}
	if !math.IsNaN(v.Null.Median) {
		r.Null = Figure(v.Null.Median, v.Unit)
	}
	if v.Verdict.Counted() && v.Kind != Shape {
		r.Direction = yesNo(v.SameDirection)
	}
	switch {
	case v.Text != "":
		r.Published = v.Text
	case v.Kind == Measured && v.Published == 0: // nothing was published
		r.Published = Figure(math.NaN(), "")
	}
	return r
}

// A Tally counts figures by their verdicts.
type Tally struct {
	By            [OnlyMeasured + 1]int // by verdict
	SameDirection int                   // among those that count
}

// Add counts the figures of an outcome.
func (t *Tally) Add(x *Outcome) {
	for i := range x.Metrics {
		m := &x.Metrics[i]
		if t.By[m.Verdict]++; m.Verdict.Counted() && m.SameDirection {
			t.SameDirection++
		}
	}
}

// Counted returns how many figures could be reached.
func (t *Tally) Counted() int { return t.By[Lost] + t.By[Undecided] + t.Good() }

// Good returns how many figures are reached or exceeded.
func (t *Tally) Good() int { return t.By[Reached] + t.By[Exceeded] }

// String returns the tally as a sentence.
func (t *Tally) String() string {
	return fmt.Sprintf("Of %d figures that count, %d are reached, %d exceeded, %d undecided and %d lost; %d have the published direction. "+
		"Not counted: %d null, %d unattainable, %d set-up, %d measured.",
		t.Counted(), t.By[Reached], t.By[Exceeded], t.By[Undecided], t.By[Lost], t.SameDirection,
		t.By[NullReaches], t.By[Unattainable], t.By[OfSetUp], t.By[OnlyMeasured])
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// Figure formats a number with its unit: two decimals below 1, one below 100, none from there on. NaN is –.
func Figure(x float64, unit string) string {
	if math.IsNaN(x) {
		return "–"
	}
	digits := 0
	switch a := math.Abs(x); {
	case a != 0 && a < 1:
		digits = 2
	case a < 100:
		digits = 1
	}
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if unit == "" {
		return s
	}
	return s + " " + unit
}
