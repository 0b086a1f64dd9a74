// Package slowstart holds a job's reduces back until a fraction of its maps is done, for masters that
// ask for all reduces at once. The stock MapReduce master does the same before it asks.
//
// It knows nothing of what reduces do once started.
package slowstart

import (
	"errors"
	"math"
	"strconv"

	"heddle"
	"heddle/policy"
)

// Options are the options of the gate.
type Options struct {
	Completed float64 `yaml:"completed"` // fraction of the maps, 0–1
}

// Default is Hadoop's mapreduce.job.reduce.slowstart.completedmaps.
var Default = Options{Completed: 0.05}

// A Gate opens for reduces once enough maps are done.
type Gate struct{ completed float64 }

// New returns the gate.
func New(a policy.Args) (policy.Gate, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if !(o.Completed >= 0 && o.Completed <= 1) {
		return nil, errors.New("slowstart: completed must be between 0 and 1")
	}
	return Gate{o.Completed}, nil
}

// Open implements [policy.Gate]: it refuses everything until enough maps are done, then nothing. It does not hold back
// a job whose number of maps is unknown, nor one whose maps are over: it may do without those that failed.
func (g Gate) Open(_ policy.View, a *policy.App, _ heddle.Kind) policy.Verdict {
	if over := a.Begun() && a.MapsOver(); !over && a.Done(heddle.Map) < g.wanted(a) {
		return policy.No(heddle.GateClosed)
	}
	return policy.Yes
}

// Needs implements [policy.Needer].
func (Gate) Needs() policy.Needs { return policy.Needs{Feeds: policy.Feeds{Sizes: true}} }

// wanted returns how many of a job's maps must be done.
func (g Gate) wanted(a *policy.App) int { return int(math.Ceil(g.completed * float64(a.Facts().Maps))) }

// Limit implements [policy.Limiter].
func (g Gate) Limit(_ policy.View, k *policy.Ask, _ heddle.Why) (policy.Limit, bool) {
	a := k.App()
	return policy.Limit{
		What: "maps done", Of: policy.OfApp, Queue: heddle.NoQueue, Counted: true, Least: true,
		MostN: g.wanted(a), UsedN: a.Done(heddle.Map),
		By: []string{"completed = " + strconv.FormatFloat(g.completed, 'g', -1, 64)},
	}, true
}
