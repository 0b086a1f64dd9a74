package conf

import (
	"heddle/policies/capacity"
	"heddle/policies/fair"
)

// Default returns what is used without a configuration folder: Hadoop's defaults, and for both
// schedulers one queue, default, that takes every application and counts every resource.
func Default() *Hadoop {
	h := &Hadoop{Site: DefaultSite(), Daemon: DefaultDaemon(), Capacity: DefaultCapacity(), Fair: DefaultFair()}
	h.CapacityPlacement = NewCapacityPlacement(h.Capacity)
	h.CapacityPlacement.mappings = []mapping{{source: "%user", path: "root.default"}}
	h.CapacityPlacement.override = true
	h.FairPlacement = NewFairPlacement(h.Fair)
	return h
}

// DefaultCapacity returns a capacity scheduler of one queue, root.default, that counts every resource;
// the rest is Hadoop's default.
func DefaultCapacity() *capacity.Config {
	set := func(name, value string) *property { return &property{name: csPrefix + name, raw: value} }
	ps := newProperties(&log{}, nowhere).over([]*property{
		set("root.queues", "default"), set("root.default.capacity", "100"),
		set("resource-calculator", "DominantResourceCalculator"),
	})
	c, _ := readCapacity(ps, DefaultSite(), "")
	return c
}

// DefaultFair returns a fair scheduler of one queue, root.default, that shares every resource; the rest
// is Hadoop's default.
func DefaultFair() *fair.Config {
	c := readFairSite(newProperties(&log{}, nowhere), DefaultSite())
	for i, path := range []string{"root", "root.default"} {
		c.Queues = append(c.Queues, fair.QueueConfig{Path: path, Parent: i - 1, Weight: 1, MaxAMShare: 0.5, Policy: fair.DRF})
	}
	c.Rules = []fair.Rule{{Name: "default", Create: true, Queue: "root.default"}}
	return c
}
