package search

import (
	"strings"

	"heddle"
	"heddle/policies"
	"heddle/policies/fair"
)

// A mixed is a part of a profile, and what may replace it.
type mixed struct {
	part string
	by   []string
}

// mixes are changes of profiles. Times are short, so that plans get through them. Every choice of shares includes that
// of the profile's queues, because their maxima are checked.
var mixes = []mixed{
	{"lanes", []string{
		"[{kinds: [am, map, reduce, executor, other], order: fifo}]",
		"[{kinds: [am, map, reduce, executor, other], order: shortest}]",
		"[{kinds: [am, map, reduce, executor, other], order: {shortest: {gather: true, patience: 20}}}]",
		"[{kinds: [am, executor], order: fifo}, {kinds: [map, reduce, other], order: shortest}]",
		"[{kinds: [am, executor, other], order: fifo}, {kinds: [reduce], order: coupling.mismatch, per_vcore: 0.334}, {kinds: [map], order: {slots: {kind: map}}, per_vcore: 0.667}]",
		"[{kinds: [am, map, reduce, executor, other], order: dress}]",
	}},
	{"share", []string{
		"[capacity]", "[fair]", "[newcomers, capacity]", "[newcomers, fair]", "[dress, capacity]", "[dress, fair]",
		"[{dress: {serve: order, keep: jobs, cap: last, lend: whole, few: 0, patience: 30}}, capacity]",
		"[newcomers, {dress: {prompt: true, release: true, patience: 60, lend: none}}, fair]",
	}},
	{"size.am", []string{
		"asked", "adaptcont.pool", "{adaptcont.dynamic: {queue: capacity}}", "{adaptcont.dynamic: {queue: capacity, shrink: true, feedback: true, predict: true}}",
		"{adaptcont.dynamic: {queue: fair}}",
	}},
	{"gate.am", []string{
		"open", "capacity", "fair", "{capacity: {smallest_first: true, patience: 60}}", "[capacity, ikayak.client]", "[fair, ikayak.client]", "[open, ikayak.client]",
	}},
	{"gate.reduce", []string{"slowstart", "{slowstart: {completed: 1}}", "coupling.mismatch", "{coupling.mismatch: {delta_by_output: true}}", "[slowstart, coupling.mismatch]", "open"}},
	{"trim.map", []string{"ikayak.shrink", "{ikayak.shrink: {sample: 2}}", "{ikayak.fixed: {part: 0.5}}", "whole"}},
	{"place.map", []string{
		"any", "delay", "{delay: {node_wait: 5, rack_wait: 5}}", "capacity", "fair", "coupling.peek", "{coupling.peek: {once: true, others: true}}",
		"[any, uncrowded]", "[coupling.peek, {uncrowded: {share: 0.1, patience: 30}}]", "spread", "pack", "ikayak.local", "[delay, even]",
	}},
	{"place.reduce", []string{
		"any", "coupling.wait", "{coupling.wait: {each: true}}", "[any, uncrowded, even]", "[any, {even: {patience: 10}}]", "[coupling.wait, {uncrowded: {share: 0.1, busy: 0.9, patience: 30}}]", "capacity",
	}},
	{"place.executor", []string{
		"any", "ikayak.executor", "{ikayak.executor: {patience: 30}}", "{ikayak.executor: {stay: true}}", "ikayak.spreadout", "ikayak.nonspreadout", "[ikayak.executor, uncrowded]", "capacity",
	}},
	{"place.am", []string{"any", "spread", "capacity", "[any, uncrowded]"}},
	{"book", []string{"none", "capacity", "fair", "backfill", "{backfill: {slack: 30, patience: 60}}"}},
	{"control", []string{
		"[]", "[{ikayak.suspend: {interval: 3, epsilon: 0, slack: 1}}]", "[{ikayak.suspend: {interval: 3, epsilon: 0, slack: 1, lend_memory: 0.5, freeze: true}}]",
		"[{mrorchestrator.regression: {epoch: 3, profile: 1, lower_memory: needed}}]", "[mrorchestrator.uniform, ikayak.suspend]",
	}},
	{"estimate.remaining", []string{"progress", "ikayak.fuzzy", "{ikayak.fuzzy: {rules: 3}}"}},
	{"estimate.release", []string{"dress"}},
}

// enough is how many seeds find every planted bug: see the tests. These seeds have the common profiles.
const enough = 100

// mix gives half of the seeds after the first enough any profile with changes, and queues with other limits. Invalid
// combinations are drawn again.
func (s *setup) mix(seed uint64) {
	d := mix(seed, 40)
	if seed <= enough || d.in(2) {
		return
	}
	names := policies.Names()
	for {
		s.profile, s.changes, s.whole, s.tuned = pick(d, names...), nil, d.in(2), d.next()
		for _, m := range mixes {
			if d.in(3) {
				s.changes = append(s.changes, m.part+"="+pick(d, m.by...))
			}
		}
		if _, err := s.scheduler(shape{}); err == nil {
			return
		}
	}
}

// profileText returns the profile with its changes, for people.
func (s *setup) profileText() string {
	return strings.Join(append([]string{s.profile}, s.changes...), " ")
}

// tune gives queues other limits, which leave every job room for a master and a task.
func (s *setup) tune(env *policies.Env) {
	if s.tuned == 0 {
		return
	}
	d := mix(s.tuned)
	c := env.Capacity
	c.MemoryOnly, c.ContinueLooking = d.in(3), !d.in(3)
	c.NodeLocalityDelay, c.RackLocalityAdditional = pick(d, 40, 0, 3), pick(d, -1, 2)
	c.MaxOffSwitch, c.MaxAssignments, c.MultipleAssignments = pick(d, 1, 100), pick(d, 100, -1, 2), !d.in(4)
	for i := range c.Queues[1:] {
		q := &c.Queues[i+1]
		q.MaxCapacity, q.UserLimitFactor, q.MinimumUserLimit = pick(d, 1, 0.6), pick(d, 1, 0.5, 10, -1), pick(d, 1, 0.5, 0.25)
		q.MaxAMShare, q.MaxParallelApps = pick(d, 0.1, 0.5, 1), pick(d, 0, 0, 1, 3)
		q.Fair, q.SizeBasedWeight, q.Priority = d.in(3), d.in(2), int32(d.n(3))
	}
	c.Queues[0].ByPriority = d.in(3)
	f := env.Fair
	f.AssignMultiple, f.DynamicMaxAssign, f.MaxAssign = d.in(2), d.in(2), pick(d, -1, 2)
	f.NodeThreshold = pick(d, -1, 0.5)
	f.RackThreshold, f.Continuous, f.SizeBasedWeight = f.NodeThreshold, d.in(4), d.in(4)
	f.NodeDelay, f.RackDelay = 2*heddle.Second, 4*heddle.Second
	f.ReservableNodes, f.UserMaxAppsDefault = pick(d, 0.05, 0.5), pick(d, 0, 0, 2)
	for i := range f.Queues[1:] {
		q := &f.Queues[i+1]
		q.Weight, q.MaxApps, q.MaxAMShare, q.Policy = pick(d, 1, 0.1, 3), pick(d, 0, 0, 1, 2), pick(d, 0.5, -1, 1), pick(d, fair.FairShare, fair.DRF, fair.FIFO)
		if d.in(3) {
			q.Min = fair.Amount{Set: true, Fixed: heddle.Of(2*gib, 2000)}
		}
		if d.in(3) {
			q.Max = fair.Amount{Set: true, Fixed: heddle.Of(6*gib, 6000)}
		}
	}
}
