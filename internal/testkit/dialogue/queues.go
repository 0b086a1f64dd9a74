package dialogue

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"heddle"
	"heddle/policies/capacity"
	"heddle/policies/fair"
)

// queues reads a tree of queues: queues capacity or queues fair with settings, then one line per queue, parents first:
// its path and its settings. A setting that is not given has Hadoop's default.
func (s *session) queues(d *datadriven.TestData) error {
	if len(d.CmdArgs) == 0 {
		return fmt.Errorf("want capacity or fair")
	}
	options := map[string]string{}
	for _, a := range d.CmdArgs[1:] {
		options[a.Key] = strings.Join(a.Vals, ",")
	}
	switch d.CmdArgs[0].Key {
	case "capacity":
		return s.capacityQueues(options, d.Input)
	case "fair":
		return s.fairQueues(options, d.Input)
	}
	return fmt.Errorf("no queues of %q; there are capacity and fair", d.CmdArgs[0].Key)
}

func (s *session) capacityQueues(o map[string]string, input string) error {
	c := &capacity.Config{
		MemoryOnly: true, NodeLocalityDelay: 40, RackLocalityAdditional: -1, RackLocalityFullReset: true,
		ContinueLooking: true, MultipleAssignments: true, MaxAssignments: 100, MaxOffSwitch: 1, MaxApplications: 10000,
		GlobalQueueMaxApplication: -1, Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 4000),
	}
	p := options{o: o}
	p.flag("dominant", func(on bool) { c.MemoryOnly = !on })
	p.integer("node-locality-delay", &c.NodeLocalityDelay)
	p.integer("rack-locality-additional-delay", &c.RackLocalityAdditional)
	p.flag("continue-looking", func(on bool) { c.ContinueLooking = on })
	p.integer("max-assignments", &c.MaxAssignments)
	p.integer("off-switch", &c.MaxOffSwitch)
	p.size("minimum", &c.Minimum)
	p.size("maximum", &c.Maximum)
	s.capacity = c
	if err := p.end(); err != nil {
		return err
	}
	c.Queues = []capacity.QueueConfig{{Path: "root", Parent: -1, Capacity: 1, MaxCapacity: 1}}
	return s.lines(input, func(w []string) error {
		q := capacity.QueueConfig{Path: w[0], Capacity: 1, MaxCapacity: 1, MinimumUserLimit: 1, UserLimitFactor: 1, MaxAMShare: 0.1, MaxApplications: -1}
		var p options
		if w[0] == "root" {
			p = pairs(w[1:])
			p.flag("priority-order", func(on bool) { c.Queues[0].ByPriority = on })
			return p.end()
		}
		var err error
		if q.Parent, err = parentOf(w[0], len(c.Queues), func(i int) string { return c.Queues[i].Path }); err != nil {
			return err
		}
		p = pairs(w[1:])
		p.own(&q.Own, "am", "maximum-am-resource-percent")
		p.own(&q.Own, "user-limit", "minimum-user-limit-percent")
		p.own(&q.Own, "user-limit-factor", "user-limit-factor")
		p.own(&q.Own, "parallel", "max-parallel-apps")
		p.percent("capacity", &q.Capacity)
		p.percent("max", &q.MaxCapacity)
		p.percent("user-limit", &q.MinimumUserLimit)
		p.float("user-limit-factor", &q.UserLimitFactor)
		p.float("am", &q.MaxAMShare)
		p.float("weight", &q.Weight)
		p.integer("max-apps", &q.MaxApplications)
		p.integer("parallel", &q.MaxParallelApps)
		p.flag("fair", func(on bool) { q.Fair = on })
		p.flag("priority-order", func(on bool) { q.ByPriority = on })
		var priority int
		p.integer("priority", &priority)
		q.Priority = int32(priority)
		c.Queues = append(c.Queues, q)
		return p.end()
	})
}

func (s *session) fairQueues(o map[string]string, input string) error {
	c := &fair.Config{
		UpdateInterval: 500 * heddle.Millisecond, DynamicMaxAssign: true, MaxAssign: -1, NodeThreshold: -1, RackThreshold: -1,
		NodeDelay: -1, RackDelay: -1, ReservableNodes: 0.05, ReservationThreshold: 2, Increment: heddle.Of(1024, 1000),
		Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 4000),
	}
	p := options{o: o}
	p.flag("assign-multiple", func(on bool) { c.AssignMultiple = on })
	p.flag("dynamic", func(on bool) { c.DynamicMaxAssign = on })
	p.integer("max-assign", &c.MaxAssign)
	p.float("node-threshold", &c.NodeThreshold)
	p.float("rack-threshold", &c.RackThreshold)
	p.flag("size-based", func(on bool) { c.SizeBasedWeight = on })
	p.float("reservable-nodes", &c.ReservableNodes)
	p.size("minimum", &c.Minimum)
	p.size("maximum", &c.Maximum)
	p.integer("user-apps", &c.UserMaxAppsDefault)
	s.fair = c
	if err := p.end(); err != nil {
		return err
	}
	c.Queues = []fair.QueueConfig{{Path: "root", Parent: -1, Weight: 1, MaxAMShare: 0.5}}
	return s.lines(input, func(w []string) error {
		q := fair.QueueConfig{Path: w[0], Weight: 1, MaxAMShare: 0.5}
		into := &q
		if w[0] == "root" {
			into = &c.Queues[0]
		} else {
			var err error
			if q.Parent, err = parentOf(w[0], len(c.Queues), func(i int) string { return c.Queues[i].Path }); err != nil {
				return err
			}
		}
		p := pairs(w[1:])
		p.own(&into.Own, "am", "maxAMShare")
		p.own(&into.Own, "apps", "maxRunningApps")
		p.float("weight", &into.Weight)
		p.amount("min", &into.Min)
		p.amount("max", &into.Max)
		p.float("am", &into.MaxAMShare)
		p.integer("apps", &into.MaxApps)
		p.policy("policy", &into.Policy)
		if w[0] != "root" {
			c.Queues = append(c.Queues, q)
		}
		return p.end()
	})
}

func parentOf(path string, n int, at func(int) string) (int, error) {
	i := strings.LastIndexByte(path, '.')
	for j := range n {
		if i > 0 && at(j) == path[:i] {
			return j, nil
		}
	}
	return 0, fmt.Errorf("queue %s: its parent must stand before it", path)
}

// options reads settings. It keeps the first error; a setting that nobody read is an error.
type options struct {
	o   map[string]string
	err error
}

func pairs(words []string) options {
	p := options{o: map[string]string{}}
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		p.o[k] = v
	}
	return p
}

func (p *options) take(key string, f func(string) error) {
	if v, ok := p.o[key]; ok {
		delete(p.o, key)
		if err := f(v); err != nil && p.err == nil {
			p.err = fmt.Errorf("%s: %w", key, err)
		}
	}
}

// own notes a property as set by the queue itself if its setting is given.
func (p *options) own(into *[]string, key, property string) {
	if _, given := p.o[key]; given {
		*into = append(*into, property)
	}
}

func (p *options) integer(key string, into *int) {
	p.take(key, func(v string) (err error) { *into, err = strconv.Atoi(v); return err })
}

func (p *options) float(key string, into *float64) {
	p.take(key, func(v string) (err error) { *into, err = strconv.ParseFloat(v, 64); return err })
}

func (p *options) percent(key string, into *float64) {
	p.take(key, func(v string) error {
		f, err := strconv.ParseFloat(v, 64)
		*into = f / 100
		return err
	})
}

func (p *options) flag(key string, set func(bool)) {
	p.take(key, func(v string) error { set(v != "false"); return nil })
}

func (p *options) size(key string, into *heddle.Resource) {
	p.take(key, func(v string) (err error) { *into, err = parseSize(v); return err })
}

func (p *options) amount(key string, into *fair.Amount) {
	p.take(key, func(v string) (err error) {
		into.Set = true
		into.Fixed, err = parseSize(v)
		return err
	})
}

func (p *options) policy(key string, into *fair.Policy) {
	p.take(key, func(v string) error {
		var ok bool
		*into, ok = map[string]fair.Policy{"fair": fair.FairShare, "drf": fair.DRF, "fifo": fair.FIFO}[v]
		if !ok {
			return fmt.Errorf("no policy %q; there are fair, drf and fifo", v)
		}
		return nil
	})
}

func (p *options) end() error {
	left := slices.Sorted(maps.Keys(p.o))
	if len(left) > 0 {
		return fmt.Errorf("no setting %q", left[0])
	}
	return p.err
}
