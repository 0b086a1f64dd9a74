package setup

import (
	"errors"
	"fmt"
	"slices"

	"heddle/conf"
	"heddle/policies"
	"heddle/policies/fair"
	"heddle/rm"
)

const defaultProfile = "heddle"

// choice returns the profile to use, the changes to apply to it, and why it was chosen.
func (s *source) choice() (name string, changes []policies.Change, why string, err error) {
	var said []policies.Change
	for _, text := range s.Sets {
		said = append(said, policies.Change{Text: text})
	}
	switch {
	case s.Options.Profile != "":
		return s.Options.Profile, said, "named by --profile", nil
	case s.file.Profile != "":
		name = s.file.Profile
		if beside := s.file.beside(name); !slices.Contains(policies.Names(), name) && exists(beside) {
			name = beside
		}
		why = "named in " + s.file.path
	default:
		if name, why, err = s.configured(); err != nil {
			return "", nil, "", err
		}
	}
	for i, text := range s.file.Set {
		changes = append(changes, policies.Change{Text: text, Place: s.file.placeOf(fmt.Sprintf("set[%d]", i))})
	}
	return name, append(changes, said...), why, nil
}

// configured returns the scheduler that Hadoop's files ask for.
func (s *source) configured() (name, why string, err error) {
	switch {
	case s.hadoop.Daemon.NoScheduler != nil:
		return "", "", *s.hadoop.Daemon.NoScheduler
	case s.hadoop.Daemon.SchedulerNamed:
		return s.hadoop.Site.Scheduler, "the scheduler that yarn.resourcemanager.scheduler.class names", nil
	case s.had.capacity:
		return "capacity", "there is a capacity-scheduler.xml, and yarn.resourcemanager.scheduler.class names nothing else", nil
	case s.had.fair:
		return "fair", "the only scheduler that is configured", nil
	}
	return defaultProfile, "no scheduler is configured", nil
}

// scheduler builds the scheduler; why tells people which one it is.
func (s *source) scheduler(members *groups) (sch *rm.Scheduler, why []string, err error) {
	name, changes, reason, err := s.choice()
	if err != nil {
		return nil, nil, err
	}
	p, err := policies.LoadChanged(name, changes)
	if errors.Is(err, policies.ErrNoProfile) && s.Options.Profile == "" {
		err = s.file.errorOf("profile", "%v", err)
	}
	if err != nil {
		return nil, nil, err
	}
	var off []string
	if !s.agents() { // with agents, each node does what it can
		p, off = p.WithoutAgent()
	}
	why = []string{fmt.Sprintf("profile %s: %s", p.Name, reason)}
	if file := s.lacks(p.Queues); file != "" {
		why = append(why, fmt.Sprintf("no %s: one queue, root.default", file))
	}
	var build func([]string) (*rm.Scheduler, error)
	build = func(created []string) (*rm.Scheduler, error) {
		t := s.tree(p.Queues, created)
		h := s.hadoop
		built, err := policies.Build(p, policies.Env{Capacity: h.Capacity, Fair: t.fair, Minimum: h.Site.Minimum, Maximum: h.Site.Maximum})
		if err != nil {
			return nil, err
		}
		serve(t.queues, p.Queues, built)
		return &rm.Scheduler{
			Set: built.Set, Type: t.kind, Profile: p.Name, Order: lanes(built, func(order string) string { return order }), Off: off, Queues: t.queues, Minimum: built.Minimum, Maximum: built.Maximum,
			Place: placer(t, members.of), Rebuild: build, Groups: members.of, ForgetGroups: members.forget, UserName: built.User,
		}, nil
	}
	sch, err = build(nil)
	return sch, why, err
}

// lacks returns the missing file that would have defined the queues, or "" if there is none.
func (s *source) lacks(queues string) string {
	switch {
	case queues == "capacity" && s.had.dir && !s.had.capacity:
		return "capacity-scheduler.xml"
	case queues == "fair" && s.had.dir && !s.had.fair:
		return "fair-scheduler.xml"
	}
	return ""
}

// A tree is the queues of a profile.
type tree struct {
	kind   string // how it is shown: capacity or fair
	queues []rm.QueueInfo
	fair   *fair.Config // configuration to build with; nil unless the tree is fair
	rules  rules        // nil if everything goes to root.default
}

// rules determine where an application goes.
type rules interface {
	Place(queue, user string, groups []string) (path string, created bool, err error)
	NeedsGroups(queue, user string) bool
}

func (s *source) tree(queues string, created []string) *tree {
	h := s.hadoop
	switch queues {
	case "capacity":
		return &tree{kind: "capacity", queues: capacityQueues(h.Capacity, h.CapacityACLs), rules: h.CapacityPlacement}
	case "fair":
		placement, cfg := fairTree(h.FairPlacement, created)
		return &tree{kind: "fair", queues: fairQueues(cfg, h.FairACLs), fair: cfg, rules: placement}
	default: // one, or a tree that the builder knows by name
		return &tree{kind: "capacity", queues: capacityQueues(conf.DefaultCapacity(), conf.Bare().Complete().CapacityACLs)}
	}
}

// fairTree returns the tree with the queues that rules send everybody to and those that were created, in the order in
// which Hadoop breaks ties.
func fairTree(p *conf.FairPlacement, created []string) (*conf.FairPlacement, *fair.Config) {
	p, cfg := p.Clone()
	p.CreateDefaults()
	if p.Creates() {
		for _, path := range append([]string{defaultQueue}, created...) { // the root is never a leaf
			_ = p.Create(path) // if that is impossible, placement refuses it too
		}
	}
	// The placement identifies queues by their indices in its own list, which must not change.
	sorted := *cfg
	sorted.Queues = slices.Clone(cfg.Queues)
	sorted.SortQueues()
	return p, &sorted
}

// stopped returns the state of a queue that accepts no applications, or "".
func (t *tree) stopped(path string) string {
	for i := range t.queues {
		if q := &t.queues[i]; q.Path == path && q.State != rm.QueueRunning {
			return string(q.State)
		}
	}
	return ""
}
