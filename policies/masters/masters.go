// Package masters gives a master that starts a larger share of a busy processor. An application does nothing until its
// master has started and asked for tasks, and a Java process takes several seconds of processor time for that. Beside
// tasks that compute, the master of an application would take as many times longer as there are tasks.
//
// A master has the larger weight from when its node runs it until its application holds a task, and for [Options].For at
// most: what a master may compute later, such as a Spark driver inside it, counts like any other container's work. Idle
// processors are open to every container whatever the weights.
//
// Only node agents set weights. Masters on other nodes start as they would without this policy.
package masters

import (
	"errors"

	"heddle"
	"heddle/policy"
)

// Options are the options of the control.
type Options struct {
	// Weight is how many times the weight of its size a master has while it starts.
	Weight float64 `yaml:"weight"`
	// For is for how many seconds after it started a master has that weight at most.
	For float64 `yaml:"for"`
}

// Default gives a master that starts beside nine containers of its size as much as they get together.
var Default = Options{Weight: 10, For: 60}

// A Control weighs the masters that start.
type Control struct {
	o        Options
	starting []start
}

// A start is a master of an application that holds no task yet.
type start struct {
	master heddle.ContainerID
	until  heddle.Time
	weighs bool // more than its size
}

// New returns masters.
func New(a policy.Args) (policy.Control, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	switch {
	case !(o.Weight >= 1 && o.Weight <= 100):
		return nil, errors.New("masters: weight must be 1 to 100 times that of the size")
	case !(o.For > 0 && o.For <= 3600):
		return nil, errors.New("masters: for must be above 0 s, and at most 3600")
	}
	return &Control{o: o}, nil
}

// Needs implements [policy.Needer].
func (*Control) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Starts: true}, Can: heddle.Weighs}
}

// Hears implements [policy.Listener].
func (c *Control) Hears() policy.News { return policy.Started | policy.Adopted }

// Hear implements [policy.Listener]. A master that is found running may still be starting.
func (c *Control) Hear(_ policy.View, e policy.Effect) {
	if x := e.Container; x.Kind() == heddle.AM {
		c.starting = append(c.starting, start{master: x.ID(), until: x.Started().Plus(heddle.Seconds(c.o.For))})
	}
}

// Every implements [policy.Control].
func (c *Control) Every() heddle.Span { return heddle.Second }

// Run implements [policy.Control]. A weight that cannot be taken back now, since the node's agent is away, is taken back
// when it can be.
func (c *Control) Run(v policy.View, p *policy.Plan) {
	still := c.starting[:0]
	for _, s := range c.starting {
		x := v.Container(s.master)
		if x == nil {
			continue
		}
		size := max(x.Told()[heddle.CPU], x.Limit()[heddle.CPU])
		over, can := v.Now() >= s.until || !x.App().UsedByTasks().IsZero(), x.Can(heddle.Weighs)
		switch {
		case over && !s.weighs:
			continue
		case over && can:
			p.Weigh(s.master, size)
			continue
		case !s.weighs && can:
			p.Weigh(s.master, int64(c.o.Weight*float64(size)))
			s.weighs = true
		}
		still = append(still, s)
	}
	c.starting = still
}
