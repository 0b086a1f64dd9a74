package search

import (
	"errors"
	"fmt"
	"slices"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/policies/fair"
	"heddle/rm"
)

// A setup is the cluster of a seed.
type setup struct {
	profile string
	cfg     rm.Config
	nodes   []machine
	every   heddle.Span // how often masters call
	meddles bool        // policies want everything that can be done to running containers
	changes []string    // to the profile
	whole   bool        // including what needs node agents
	tuned   uint64      // dice for the queues' limits; 0 for the common limits
}

// A machine is where a NodeManager runs.
type machine struct {
	host, rack string
	total      heddle.Resource
	can        heddle.Caps
}

const gib = 1024

// newSetup returns the cluster of a seed.
func newSetup(seed uint64) *setup {
	s := newCommon(seed)
	s.mix(seed)
	return s
}

// newCommon returns a cluster with an unchanged profile. At least one node can hold every job's master and a task.
func newCommon(seed uint64) *setup {
	d := mix(seed, 2)
	s := &setup{profile: pick(d, "capacity", "fair", "heddle"), every: pick(d, heddle.Second, 3*heddle.Second, 5*heddle.Second)}
	s.cfg = rm.Config{
		NodeExpiry: pick(d, heddle.Span(60), 180, 600) * heddle.Second, MasterExpiry: pick(d, heddle.Span(90), 300, 900) * heddle.Second,
		ContainerExpiry: pick(d, heddle.Span(60), 180, 600) * heddle.Second, MaxAttempts: int32(pick(d, 1, 2, 2, 3)), GlobalAttempts: 4,
		MaxCompleted: pick(d, 1000, 1000, 2), MaxPriority: 10, SchedulingWait: pick(d, heddle.Span(5), 10, 30) * heddle.Second,
		WorkPreserving: !d.in(8), Beat: pick(d, heddle.Span(1), 3, 10) * heddle.Second, FastBeat: pick(d, 200*heddle.Millisecond, heddle.Second),
		IdleBeat: pick(d, heddle.Span(3), 20) * heddle.Second, BeatLoad: pick(d, 0, 3, 1000), PortInNodeName: d.in(6),
		Keyed: true,
	}
	s.cfg.KeyRolling, s.cfg.NodeKeyRolling = 2*s.cfg.MasterExpiry, 2*s.cfg.NodeExpiry
	for i := range 3 + d.n(4) {
		size := pick(d, 3, 4, 8, 16)
		if i == 0 {
			size = 8
		}
		s.nodes = append(s.nodes, machine{fmt.Sprint("n", i), fmt.Sprint("/r", d.n(2)), heddle.Of(int64(size)*gib, int64(size)*1000), can(seed, i)})
	}
	e := mix(seed, 20)
	s.meddles, s.cfg.ReadJobs, s.cfg.AskNobody = e.in(2), e.in(2), e.in(4)
	s.cfg.Silence = pick(e, 0, 10*heddle.Second)
	return s
}

// can returns what a node can do.
func can(seed uint64, i int) heddle.Caps {
	return pick(mix(seed, 19, uint64(i)), heddle.Stock, heddle.Stock, heddle.Stock|heddle.Parks, heddle.Limits, heddle.Lends, heddle.Resizes, 0)
}

// A shape is a configuration of queues.
type shape struct {
	stopped string // queue that accepts nothing
	without string // queue that does not exist
	least   bool   // the largest container is small
	broken  bool   // the scheduler cannot be built
}

// leaves are the queues to which jobs are submitted.
var leaves = []string{"default", "a", "b"}

// scheduler builds a profile over queues of a shape and those that placement created.
func (s *setup) scheduler(sh shape, created ...string) (*rm.Scheduler, error) {
	if sh.broken {
		return nil, errors.New("the configuration is wrong")
	}
	p, err := policies.Load(s.profile, s.changes)
	if err != nil {
		return nil, err
	}
	var off []string
	if !s.whole {
		p, off = p.WithoutAgent()
	}
	h := conf.Default()
	env := policies.Env{Capacity: h.Capacity, Fair: h.Fair, Minimum: h.Site.Minimum, Maximum: h.Site.Maximum, Seed: 1}
	env.Capacity.Minimum = heddle.Of(128, 1000) // masters may be smaller than requested
	if sh.least {
		env.Maximum = heddle.Of(gib, 1000)
		env.Capacity.Maximum, env.Fair.Maximum = env.Maximum, env.Maximum
	}
	sh.capacity(&env)
	sh.fair(env.Fair, created)
	s.tune(&env)
	b, err := policies.Build(p, env)
	if err != nil {
		return nil, err
	}
	if s.meddles {
		meddles(&b.Set)
	}
	out := &rm.Scheduler{Set: b.Set, Type: "capacity", Profile: s.profile, Off: off, Minimum: b.Minimum, Maximum: b.Maximum, UserName: b.User}
	for i, path := range b.Paths {
		state := rm.QueueRunning
		if path == "root."+sh.stopped {
			state = rm.QueueStopped
		}
		out.Queues = append(out.Queues, rm.QueueInfo{
			Path: path, Parent: b.Queues[i], Leaf: i > 0, State: state, Capacity: 1, Max: 1, Absolute: 1, AbsoluteMax: 1,
		})
	}
	single := p.Queues != "capacity" && p.Queues != "fair"
	out.Place = func(q rm.Placement) (string, error) {
		if single {
			return "root.default", nil
		}
		return sh.place(out, q, p.Queues == "fair")
	}
	out.Rebuild = func(more []string) (*rm.Scheduler, error) { return s.scheduler(sh, more...) }
	out.Groups = func(string) ([]string, error) { return nil, nil }
	return out, nil
}

// place implements the placement rules: the named queue, which fair creates if it does not exist.
func (sh shape) place(sch *rm.Scheduler, q rm.Placement, creates bool) (string, error) {
	path := "root." + q.Queue
	i := slices.IndexFunc(sch.Queues, func(k rm.QueueInfo) bool { return k.Path == path })
	switch {
	case i < 0 && !creates:
		return "", fmt.Errorf("there is no queue %s", path)
	case i >= 0 && sch.Queues[i].State != rm.QueueRunning:
		return "", fmt.Errorf("queue %s is stopped", path)
	}
	return path, nil
}

// capacity divides the root among the leaves.
func (sh shape) capacity(env *policies.Env) {
	c := env.Capacity
	base := c.Queues[1]
	c.Queues = c.Queues[:1]
	for i, name := range leaves {
		if name == sh.without {
			continue
		}
		q := base
		q.Path, q.Capacity = "root."+name, []float64{0.5, 0.3, 0.2}[i]
		q.MaxCapacity, q.UserLimitFactor, q.MaxAMShare, q.Stopped = 1, 10, 0.5, name == sh.stopped
		c.Queues = append(c.Queues, q)
	}
}

// fair adds the leaves and the created queues.
func (sh shape) fair(c *fair.Config, created []string) {
	paths := slices.Clone(created)
	for _, name := range leaves {
		if name != sh.without {
			paths = append(paths, "root."+name)
		}
	}
	for _, path := range paths {
		if !slices.ContainsFunc(c.Queues, func(q fair.QueueConfig) bool { return q.Path == path }) {
			c.Queues = append(c.Queues, fair.QueueConfig{Path: path, Weight: 1, MaxAMShare: 0.5, Policy: fair.DRF})
		}
	}
	c.SortQueues()
}
