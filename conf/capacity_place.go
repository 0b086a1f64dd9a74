package conf

import (
	"slices"
	"strings"

	"heddle/policies/capacity"
)

// A CapacityPlacement says which leaf of a capacity scheduler's tree an application goes to: the queue it
// names, by full path or by a short name that only one queue has, or what a queue mapping says.
type CapacityPlacement struct {
	full     map[string]int
	short    map[string][]int
	queues   []placeQueue
	mappings []mapping
	override bool
}

type placeQueue struct {
	path string
	leaf bool
	auto bool // takes applications for queues that would be created under it
}

// A mapping is one u:… or g:… rule.
type mapping struct {
	group  bool
	source string
	path   string
}

// NewCapacityPlacement returns the placement for a tree without queue mappings.
func NewCapacityPlacement(c *capacity.Config) *CapacityPlacement {
	p := &CapacityPlacement{full: map[string]int{}, short: map[string][]int{}}
	p.queues = make([]placeQueue, len(c.Queues))
	for i := range c.Queues {
		q := &c.Queues[i]
		p.queues[i] = placeQueue{path: q.Path, leaf: true}
		p.full[q.Path] = i
		if q.Parent >= 0 {
			p.queues[q.Parent].leaf = false
			name := q.Path[strings.LastIndex(q.Path, ".")+1:]
			p.short[name] = append(p.short[name], i)
		}
	}
	return p
}

// Place returns the full path of the leaf for an application. An empty queue is the queue default.
// created is always false: the tree is what the configuration says. The error says why the application
// would be rejected.
func (p *CapacityPlacement) Place(queue, user string, groups []string) (path string, created bool, err error) {
	if queue == "" {
		queue = "default"
	}
	if queue == "default" || p.override {
		for _, m := range p.mappings {
			if !m.matches(user, groups) {
				continue
			}
			path, err = p.leaf(p.expand(m.path, queue, user, groups))
			if err != nil { // Hadoop falls back to the default queue
				path, err = p.leaf("root.default")
			}
			return path, false, err
		}
	}
	path, err = p.leaf(queue)
	return path, false, err
}

// NeedsGroups reports whether where an application goes may depend on its user's groups: it does not if it
// goes where it says, or if a mapping before those about groups is the user's.
func (p *CapacityPlacement) NeedsGroups(queue, user string) bool {
	if queue != "" && queue != "default" && !p.override {
		return false
	}
	for _, m := range p.mappings {
		if m.group || m.matches(user, nil) {
			return m.group || strings.Contains(m.path, "%primary_group") || strings.Contains(m.path, "%secondary_group")
		}
	}
	return false
}

func (m *mapping) matches(user string, groups []string) bool {
	if !m.group {
		return m.source == "%user" || m.source == user
	}
	source := m.source
	switch {
	case source == "%primary_group" && len(groups) > 0:
		source = groups[0]
	case source == "%user":
		source = user
	}
	return slices.Contains(groups, source)
}

// expand replaces the variables that are whole parts of a path. Those about groups stand for themselves where a user has
// no groups, and %secondary_group for nothing where no queue is called like one.
func (p *CapacityPlacement) expand(path, queue, user string, groups []string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		switch part {
		case "%user":
			parts[i] = cleanName(user)
		case "%primary_group":
			if len(groups) > 0 {
				parts[i] = cleanName(groups[0])
			}
		case "%secondary_group":
			if len(groups) > 0 {
				parts[i] = p.secondary(parts[:i], groups[1:])
			}
		case "%specified":
			if parts[i] = queue; queue == "default" {
				parts[i] = ""
			}
		case "%default":
			parts[i] = "root.default"
		}
	}
	return strings.Join(parts, ".")
}

// secondary returns the first of the groups that is a queue under the parts before.
func (p *CapacityPlacement) secondary(before, groups []string) string {
	for _, g := range groups {
		g = cleanName(g)
		if _, err := p.find(strings.Join(append(slices.Clone(before), g), ".")); err == nil {
			return g
		}
	}
	return ""
}

// cleanName makes a user's or group's name fit for a queue: a dot would part it.
func cleanName(name string) string { return strings.ReplaceAll(name, ".", "_dot_") }

// find returns the queue of a full path, a short name, or a path that begins with a short name.
func (p *CapacityPlacement) find(name string) (int, error) {
	if i, ok := p.full[name]; ok {
		return i, nil
	}
	head, rest, deeper := strings.Cut(name, ".")
	same := p.short[head]
	switch {
	case head == "root" && len(same) == 0:
		return 0, refuse(ErrUnknownQueue, "there is no queue %s", name)
	case len(same) == 0:
		return 0, refuse(ErrUnknownQueue, "there is no queue %s", head)
	case len(same) > 1:
		return 0, refuse(ErrAmbiguousQueue, "queue %s is ambiguous; say %s or %s", head, p.queues[same[0]].path, p.queues[same[1]].path)
	case !deeper:
		return same[0], nil
	}
	if i, ok := p.full[p.queues[same[0]].path+"."+rest]; ok {
		return i, nil
	}
	return 0, refuse(ErrUnknownQueue, "there is no queue %s", p.queues[same[0]].path+"."+rest)
}

// leaf returns the path of the leaf that a name means.
func (p *CapacityPlacement) leaf(name string) (string, error) {
	if slices.Contains(strings.Split(name, "."), "") {
		return "", refuse(ErrUnknownQueue, "%q is not the path of a queue", name)
	}
	i, err := p.find(name)
	for above := name; err != nil; {
		cut := strings.LastIndex(above, ".")
		if cut < 0 {
			return "", err
		}
		above = above[:cut]
		if j, e := p.find(above); e == nil {
			if !p.queues[j].auto {
				return "", err
			}
			i, err = j, nil
		}
	}
	if !p.queues[i].leaf {
		return "", refuse(ErrNotLeaf, "queue %s has children; applications go to queues without", p.queues[i].path)
	}
	return p.queues[i].path, nil
}
