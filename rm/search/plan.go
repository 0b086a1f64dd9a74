package search

import (
	"fmt"
	"strings"

	"heddle"
)

// A Plan is what is done to a cluster. It is made of a seed alone.
type Plan struct {
	Seed uint64
	Ops  []Op
}

// An Op is a job that is submitted, or a fault.
type Op struct {
	I    int // its number in the plan that the seed made
	At   heddle.Time
	Kind int    // of acts
	Dice uint64 // for whatever it has to choose
}

// String says what the op is; what it chose is in the trace.
func (o Op) String() string { return fmt.Sprintf("%d %s at %v", o.I, acts[o.Kind].name, clock(o.At)) }

// NewPlan makes the plan of a seed.
func NewPlan(seed uint64) *Plan {
	d := mix(seed, 1)
	sum := 0
	for _, a := range acts {
		sum += a.weight
	}
	p := &Plan{Seed: seed}
	at := heddle.Time(heddle.Second)
	pace := pick(d, heddle.Second, 5*heddle.Second, 20*heddle.Second, 60*heddle.Second)
	for i := range 20 + d.n(60) {
		kind := 0
		if i >= 2 { // the first two are jobs
			for x := d.n(sum); x >= acts[kind].weight; kind++ {
				x -= acts[kind].weight
			}
		}
		p.Ops = append(p.Ops, Op{I: i, At: at, Kind: kind, Dice: d.next()})
		at = at.Plus(d.span(0, 2*pace))
	}
	return p
}

// Keep is the plan with only those of its ops that have these numbers.
func (p *Plan) Keep(numbers map[int]bool) *Plan {
	out := &Plan{Seed: p.Seed}
	for _, o := range p.Ops {
		if numbers[o.I] {
			out.Ops = append(out.Ops, o)
		}
	}
	return out
}

// Numbers are the numbers of the plan's ops, with commas between them.
func (p *Plan) Numbers() string {
	var out []string
	for _, o := range p.Ops {
		out = append(out, fmt.Sprint(o.I))
	}
	return strings.Join(out, ",")
}

// clock is a time for people.
func clock(t heddle.Time) string { return fmt.Sprintf("%.3fs", heddle.Span(t).Seconds()) }
