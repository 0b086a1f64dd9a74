package conf

import (
	"strings"

	"heddle"
	"heddle/policies/capacity"
)

const csPrefix = "yarn.scheduler.capacity."

// A csQueue is what reading a queue needs beyond its configuration.
type csQueue struct {
	name     string
	declared *property // the parent's list that names it
	list     *property // its own list of children
	kids     []int
	style    csStyle
	capacity *property
	maximum  *property
	auto     bool   // would create queues of its own
	heaviest string // user with the largest weight
	policy   string // ordering policy of children, inherited
	limit    heddle.Resource
}

type csStyle uint8

const (
	byPercent csStyle = iota
	byWeight
	byAmount
)

func (s csStyle) String() string {
	return [...]string{"a percentage", "a weight", "an absolute amount"}[s]
}

// A csReader fills a capacity.Config.
type csReader struct {
	*properties
	site   *Site
	types  types
	file   string
	cfg    *capacity.Config
	queues []csQueue // parallel to cfg.Queues

	weights int // of users, read so far
}

// readCapacity reads the capacity scheduler's properties. The result is of use only if nothing was logged
// as an error.
func readCapacity(ps *properties, site *Site, file string) (*capacity.Config, *CapacityPlacement) {
	before := len(ps.log.errs)
	r := &csReader{properties: ps, site: site, types: site.Extra, file: file, cfg: &capacity.Config{}}
	r.cluster()
	if !r.tree() {
		return nil, nil
	}
	for i := range r.queues {
		r.shares(i)
	}
	for i := range r.queues {
		r.limits(i)
	}
	if len(ps.log.errs) == before { // else sums would only repeat what is wrong
		for i := range r.queues {
			r.checkChildren(i)
		}
		r.checkMaximum(0, 1, 1)
	}
	return r.cfg, r.placement()
}

func (r *csReader) cluster() {
	c := r.cfg
	switch class := r.text(csPrefix+"resource-calculator", "DefaultResourceCalculator"); class[strings.LastIndex(class, ".")+1:] {
	case "DefaultResourceCalculator":
		c.MemoryOnly = true
	case "DominantResourceCalculator":
	default:
		r.bad(r.m[csPrefix+"resource-calculator"], "there is no calculator %s; expected DefaultResourceCalculator or DominantResourceCalculator", class)
	}
	c.NodeLocalityDelay = int(r.integer(csPrefix+"node-locality-delay", 40, -1))
	c.RackLocalityAdditional = int(r.integer(csPrefix+"rack-locality-additional-delay", -1, -1))
	c.RackLocalityFullReset = r.flag(csPrefix+"rack-locality-full-reset", true)
	c.ContinueLooking = r.flag(csPrefix+"reservations-continue-look-all-nodes", true)
	beat := csPrefix + "per-node-heartbeat."
	c.MultipleAssignments = r.flag(beat+"multiple-assignments-enabled", true)
	c.MaxAssignments = int(r.integer(beat+"maximum-container-assignments", 100, -1))
	if c.MaxAssignments == 0 {
		c.MaxAssignments = 1 // YARN looks at the limit after a grant
	}
	c.MaxOffSwitch = int(max(1, r.integer(beat+"maximum-offswitch-assignments", 1, -1)))
	c.MaxApplications = int(r.integer(csPrefix+"maximum-applications", 10000, 0))
	c.GlobalQueueMaxApplication = int(r.integer(csPrefix+"global-queue-max-application", -1, -1))
	c.Minimum, c.Maximum = r.site.steps(), r.site.Maximum
	if p := r.m[csPrefix+"legacy-queue-mode.enabled"]; p != nil && !r.flag(p.name, true) {
		r.log.note(Unsupported, p.file, p.line, p.name, "queues are read in the legacy mode: one style of capacity per parent, percentages that sum to 100")
	}
}

// tree reads which queues there are, parents before children.
func (r *csReader) tree() bool {
	r.add("root", -1, nil)
	if len(r.queues[0].kids) == 0 && r.queues[0].list == nil {
		r.log.fail(r.file, 0, csPrefix+"root.queues", "is missing; it must name the queues under root, such as \"default\"")
		return false
	}
	if len(r.queues[0].kids) == 0 {
		r.bad(r.queues[0].list, "names no queue; it must name the queues under root, such as \"default\"")
		return false
	}
	return true
}

func (r *csReader) add(path string, parent int, declared *property) {
	i := len(r.queues)
	r.cfg.Queues = append(r.cfg.Queues, capacity.QueueConfig{Path: path, Parent: parent})
	r.queues = append(r.queues, csQueue{name: path[strings.LastIndex(path, ".")+1:], declared: declared})
	v, p := r.value(csPrefix + path + ".queues")
	if p == nil {
		return
	}
	r.queues[i].list = p
	seen := map[string]bool{}
	for _, name := range split(v) {
		switch {
		case seen[name]:
			r.bad(p, "names %s twice", name)
		case strings.Contains(name, "."):
			r.bad(p, "%q has a dot; a queue's name has none, and %s.queues names its children", name, path+"."+strings.SplitN(name, ".", 2)[0])
		case strings.Count(path, ".") >= maxNesting:
			r.bad(p, "queues are more than %d deep", maxNesting)
		default:
			seen[name] = true
			r.queues[i].kids = append(r.queues[i].kids, len(r.queues))
			r.add(path+"."+name, i, p)
		}
	}
}

// key returns the full name of a queue's property.
func (r *csReader) key(i int, name string) string {
	return csPrefix + r.cfg.Queues[i].Path + "." + name
}

// inherited reads a number of a queue that falls back to the property of the whole cluster. Parents
// have no say in it.
func (r *csReader) inherited(i int, name string, def, low float64) float64 {
	return r.number(r.key(i, name), r.number(csPrefix+name, def, low), low)
}

func (r *csReader) leaf(i int) bool { return len(r.queues[i].kids) == 0 }
