package conf

import (
	"slices"

	"heddle/policies/fair"
)

// Bare returns what is so without any file: unlike [Default] without a scheduler.
func Bare() *Hadoop {
	l := newLoader(readFile, nowhere)
	return l.load(files{})
}

// Complete returns h with both schedulers configured: where h has none, one queue, root.default, with what
// yarn-site.xml says of containers. An application that names another queue is refused by the capacity
// scheduler and goes to root.default under the fair one.
func (h *Hadoop) Complete() *Hadoop {
	c := *h
	if c.Capacity == nil {
		c.Capacity = DefaultCapacity()
		c.Capacity.Minimum, c.Capacity.Maximum = h.Site.steps(), h.Site.Maximum
		c.CapacityPlacement = NewCapacityPlacement(c.Capacity)
		c.CapacityACLs = everybody()
	}
	if c.Fair == nil {
		f := h.fairSite
		f.Queues = slices.Clone(DefaultFair().Queues)
		f.Rules = []fair.Rule{{Name: "specified"}, {Name: "default", Create: true, Queue: "root.default"}}
		c.Fair, c.FairPlacement = &f, NewFairPlacement(&f)
		c.FairACLs = everybody()
	}
	return &c
}
