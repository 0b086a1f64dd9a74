package conf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/policies/fair"
)

// A FairPlacement says which leaf of a fair scheduler's tree an application goes to, by the placement
// rules. Rules may create queues: Place then says so, and [FairPlacement.Create] adds the queue to the
// configuration, so that a driver can build the whole tree before the first application comes.
type FairPlacement struct {
	cfg      *fair.Config
	rules    []fair.Rule
	index    map[string]int
	holder   map[string]bool // has queues, never applications
	dynamic  map[string]bool // created
	defaults fairDefaults
	policy   fair.Policy
	strict   bool // a queue that is named must be configured
}

// NewFairPlacement returns the placement for a configuration whose queues say everything themselves;
// queues that are created have no limits but an AM share of 0.5, and their parent's policy.
func NewFairPlacement(c *fair.Config) *FairPlacement {
	p := &FairPlacement{cfg: c, rules: c.Rules, index: map[string]int{}, holder: map[string]bool{"root": true}, dynamic: map[string]bool{}}
	p.defaults = fairDefaults{amShare: 0.5}
	p.policy = c.Queues[0].Policy
	for i := range c.Queues {
		p.index[c.Queues[i].Path] = i
		if up := c.Queues[i].Parent; up >= 0 {
			p.holder[c.Queues[up].Path] = true
		}
	}
	if len(p.rules) == 0 {
		p.rules = []fair.Rule{{Name: "specified", Create: c.AllowUndeclared}}
		if c.UserAsDefaultQueue {
			p.rules = append(p.rules, fair.Rule{Name: "user", Create: c.AllowUndeclared})
		}
		if !c.UserAsDefaultQueue || !c.AllowUndeclared {
			p.rules = append(p.rules, fair.Rule{Name: "default", Create: true, Queue: "root.default"})
		}
	}
	return p
}

// placement returns the placement for what was read.
func (r *fairReader) placement() *FairPlacement {
	p := NewFairPlacement(r.cfg)
	p.defaults, p.policy = r.defaults, r.policy
	for _, q := range r.order {
		if q.holder {
			p.holder[q.Path] = true
		}
	}
	return p
}

// Creates reports whether the rules may place an application into a queue that is not there yet, other than
// one that the configuration names.
func (p *FairPlacement) Creates() bool {
	return slices.ContainsFunc(p.rules, func(r fair.Rule) bool { return r.Create && r.Name != "default" && r.Name != "reject" })
}

// NeedsGroups reports whether where an application goes may depend on its user's groups: it does not if a
// rule before those about groups gives it a queue.
func (p *FairPlacement) NeedsGroups(queue, user string) bool {
	if queue == "" {
		queue = "default"
	}
	for i := range p.rules {
		if needsGroups(p.rules[i]) {
			return true
		}
		if path, err := p.apply(&p.rules[i], queue, user, nil); path != "" || err != nil || p.rules[i].Name == "reject" {
			return false
		}
	}
	return false
}

func needsGroups(r fair.Rule) bool {
	return r.Name == "primaryGroup" || r.Name == "secondaryGroupExistingQueue" || r.Nested != nil && needsGroups(*r.Nested)
}

// Place returns the full path of the leaf for an application. An empty queue is the queue default, which
// leaves the choice to the rules. created says that the queue is not there and is to be created. The
// error says why the application would be rejected.
func (p *FairPlacement) Place(queue, user string, groups []string) (path string, created bool, err error) {
	if queue == "" {
		queue = "default"
	}
	if !goodPath(queue) {
		return "", false, refuse(ErrUnknownQueue, "%q is not the name of a queue", queue)
	}
	if p.strict && queue != "default" && !p.configured(underRoot(queue)) {
		return "", false, refuse(ErrUnknownQueue, "there is no queue %s", queue)
	}
	for i := range p.rules {
		path, err := p.apply(&p.rules[i], queue, user, groups)
		if err != nil {
			return "", false, err
		}
		if path != "" {
			created, err := p.check(path)
			if err != nil {
				return "", false, err
			}
			return path, created, nil
		}
		if p.rules[i].Name == "reject" {
			break
		}
	}
	return "", false, refuse(ErrUnknownQueue, "the placement rules have no queue for user %s and queue %s", user, queue)
}

// apply returns the queue a rule gives, or "".
func (p *FairPlacement) apply(r *fair.Rule, queue, user string, groups []string) (string, error) {
	up := "root"
	if r.Nested != nil {
		var err error
		if up, err = p.apply(r.Nested, queue, user, groups); err != nil || up == "" || p.isLeaf(up) {
			return "", err
		}
	}
	var path string
	switch r.Name {
	case "specified":
		if queue == "default" {
			return "", nil
		}
		path = underRoot(queue)
	case "user", "nestedUserQueue":
		path = under(up, user)
	case "primaryGroup":
		if len(groups) == 0 {
			return "", fmt.Errorf("user %s has no groups, which the rule primaryGroup needs", user)
		}
		path = under(up, groups[0])
	case "secondaryGroupExistingQueue":
		for _, g := range groups {
			if path = under(up, g); p.configured(path) {
				return path, nil
			}
		}
		return "", nil
	case "default":
		path = r.Queue
	default: // reject
		return "", nil
	}
	if r.Create || p.configured(path) {
		return path, nil
	}
	return "", nil
}

// under returns the path of a user's or group's queue. Someone called root gets the root itself, as in
// Hadoop, and so is rejected.
func under(up, name string) string {
	name = cleanName(strings.TrimSpace(name))
	if up == "root" && name == "root" {
		return name
	}
	return up + "." + name
}

func (p *FairPlacement) configured(path string) bool {
	_, ok := p.index[path]
	return ok && !p.dynamic[path]
}

func (p *FairPlacement) isLeaf(path string) bool {
	_, ok := p.index[path]
	return ok && !p.holder[path]
}

// check reports whether the queue must be created, and why it cannot be.
func (p *FairPlacement) check(path string) (create bool, err error) {
	if _, ok := p.index[path]; ok {
		if p.holder[path] {
			return false, refuse(ErrNotLeaf, "queue %s has queues, not applications", path)
		}
		return false, nil
	}
	if slices.ContainsFunc(strings.Split(path, "."), func(s string) bool { return s == "" || s != strings.TrimSpace(s) }) {
		return false, refuse(ErrUnknownQueue, "%q is not the path of a queue", path)
	}
	if strings.Count(path, ".") > maxNesting {
		return false, fmt.Errorf("queue %.40s… is more than %d deep", path, maxNesting)
	}
	up := p.ancestor(path)
	if !p.holder[up] {
		return false, refuse(ErrUnknownQueue, "queue %s cannot be created: %s has applications, not queues", path, up)
	}
	if p.policy == fair.DRF && p.cfg.Queues[p.index[up]].Policy == fair.FairShare {
		return false, refuse(ErrUnknownQueue, "queue %s cannot be created: the default policy is drf and %s is fair", path, up)
	}
	return true, nil
}

// ancestor returns the lowest queue above a path that is there.
func (p *FairPlacement) ancestor(path string) string {
	for {
		path = path[:strings.LastIndex(path, ".")]
		if _, ok := p.index[path]; ok {
			return path
		}
	}
}

// Create adds a queue, and those above it that are missing, to the configuration the placement belongs
// to. A path that Place has not given as created is an error where it cannot be created, and else has
// no effect.
func (p *FairPlacement) Create(path string) error {
	create, err := p.check(path)
	if err != nil || !create {
		return err
	}
	up := p.ancestor(path)
	for rest := path[len(up)+1:]; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, ".")
		above := p.index[up]
		q := fair.QueueConfig{
			Path: up + "." + name, Parent: above, Weight: 1,
			Max: p.defaults.max, MaxApps: p.defaults.maxApps, MaxAMShare: p.defaults.amShare, Policy: p.policy,
			MaxResource: p.cfg.Queues[above].MaxResource,
		}
		if m := p.cfg.Queues[above].MaxChild; m.Set {
			q.Max = m
		}
		p.holder[up] = true
		up = q.Path
		p.index[up] = len(p.cfg.Queues)
		p.dynamic[up] = true
		p.cfg.Queues = append(p.cfg.Queues, q)
	}
	return nil
}

// CreateDefaults adds the queues of rules that send everybody there, as Create does: those of default, and, to hold
// other queues, those of default inside another rule. Those that cannot be created are left out: Place refuses them.
func (p *FairPlacement) CreateDefaults() {
	for _, r := range p.rules {
		switch in := r.Nested; {
		case r.Name == "default" && r.Create:
			_ = p.Create(r.Queue)
		case in != nil && in.Name == "default" && in.Create && r.Create:
			if _, there := p.index[in.Queue]; !there && p.Create(in.Queue) == nil {
				p.holder[in.Queue] = true
			}
		}
	}
}

// Clone returns a copy of the placement, and of the configuration that its Create adds to: what is created
// for one run is not there for the next.
func (p *FairPlacement) Clone() (*FairPlacement, *fair.Config) {
	q, c := *p, *p.cfg
	c.Queues = slices.Clone(c.Queues)
	q.cfg, q.index, q.holder, q.dynamic = &c, maps.Clone(p.index), maps.Clone(p.holder), maps.Clone(p.dynamic)
	return &q, &c
}

// goodPath reports whether a queue may be asked for by this name.
func goodPath(s string) bool {
	return s == strings.TrimSpace(s) && !strings.HasPrefix(s, ".") && !strings.HasSuffix(s, ".")
}

// underRoot returns the full path of a queue named with or without root.
func underRoot(s string) string {
	if s == "root" || strings.HasPrefix(s, "root.") {
		return s
	}
	return "root." + s
}
