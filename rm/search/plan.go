package search

import (
	"fmt"
	"strings"

	"heddle"
)

// A Plan is what is done to a cluster. It depends only on a seed.
type Plan struct {
	Seed uint64
	Ops  []Op
}

// An Op is the submission of a job, or a fault.
type Op struct {
	I    int // number in the seed's plan
	At   heddle.Time
	Kind int    // index in acts
	Dice uint64 // for its random choices
}

// String describes the op; what it chose is in the trace.
func (o Op) String() string { return fmt.Sprintf("%d %s at %v", o.I, acts[o.Kind].name, clock(o.At)) }

// NewPlan returns the plan of a seed.
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

// Keep returns the plan with only the ops that have these numbers.
func (p *Plan) Keep(numbers map[int]bool) *Plan {
	out := &Plan{Seed: p.Seed}
	for _, o := range p.Ops {
		if numbers[o.I] {
			out.Ops = append(out.Ops, o)
		}
	}
	return out
}

// Numbers returns the numbers of the plan's ops, comma-separated.
func (p *Plan) Numbers() string {
	var out []string
	for _, o := range p.Ops {
		out = append(out, fmt.Sprint(o.I))
	}
	return strings.Join(out, ",")
}

// clock formats a time for people.
func clock(t heddle.Time) string { return fmt.Sprintf("%.3fs", heddle.Span(t).Seconds()) }
