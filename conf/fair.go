package conf

import (
	"errors"
	"math"
	"slices"
	"strings"

	"heddle"
	"heddle/policies/fair"
)

// A fairReader fills a fair.Config from an allocations file.
type fairReader struct {
	*log
	file     string
	types    types
	cfg      *fair.Config
	declared map[string]*fairQueue
	order    []*fairQueue // parents before children
	defaults fairDefaults
	policy   fair.Policy
	acls     map[string]QueueACL
	placing  []*node // the elements of cfg.Rules
}

// fairDefaults are what a queue has that does not say otherwise.
type fairDefaults struct {
	max     fair.Amount
	maxApps int
	amShare float64
}

// A fairQueue is a queue element: what it sets, the rest has defaults that are known at the end only.
type fairQueue struct {
	fair.QueueConfig
	line       int
	holder     bool // type="parent": has queues, never applications
	hasMax     bool
	hasApps    bool
	hasShare   bool
	hasPolicy  bool
	policyLine int
	shareLine  int
	kids       int
}

// readFairSite reads the yarn.scheduler.fair properties.
func readFairSite(ps *properties, site *Site) *fair.Config {
	const f = "yarn.scheduler.fair."
	c := &fair.Config{
		UpdateInterval:     ps.millis(f+"update-interval-ms", 500, math.MinInt32),
		AssignMultiple:     ps.flag(f+"assignmultiple", false),
		DynamicMaxAssign:   ps.flag(f+"dynamic.max.assign", true),
		MaxAssign:          int(ps.integer(f+"max.assign", -1, math.MinInt32)),
		NodeThreshold:      ps.threshold(f + "locality.threshold.node"),
		RackThreshold:      ps.threshold(f + "locality.threshold.rack"),
		Continuous:         ps.flag(f+"continuous-scheduling-enabled", false),
		NodeDelay:          ps.delay(f + "locality-delay-node-ms"),
		RackDelay:          ps.delay(f + "locality-delay-rack-ms"),
		SizeBasedWeight:    ps.flag(f+"sizebasedweight", false),
		ReservableNodes:    ps.number(f+"reservable-nodes", 0.05, 0),
		AllowUndeclared:    ps.flag(f+"allow-undeclared-pools", true),
		UserAsDefaultQueue: ps.flag(f+"user-as-default-queue", true),
		Increment:          site.Increment,
		Minimum:            site.Minimum,
		Maximum:            site.Maximum,
	}
	if p := ps.m[f+"update-interval-ms"]; p != nil && c.UpdateInterval < 0 {
		ps.log.note(Remark, p.file, p.line, p.name, "is negative and counts as 500")
		c.UpdateInterval = 500 * heddle.Millisecond
	}
	c.ReservationThreshold = ps.multiple("yarn.scheduler.reservation-threshold.increment-multiple", 2)
	return c
}

// threshold reads a fraction of the cluster's nodes; −1 is no wait.
func (ps *properties) threshold(name string) float64 {
	v := ps.number(name, -1, -1)
	if p := ps.m[name]; p != nil && (v > 1 || v < 0 && v != -1) {
		ps.bad(p, "%v is neither a fraction of the nodes, 0 to 1, nor -1 for no wait", v)
	}
	return v
}

// delay reads a time to wait for a better place; −1 is no wait.
func (ps *properties) delay(name string) heddle.Span {
	if n := ps.integer(name, -1, -1); n >= 0 {
		return heddle.Span(n) * heddle.Millisecond
	}
	return -1
}

// multiple reads a number that must be whole here.
func (ps *properties) multiple(name string, def float64) int64 {
	v := ps.number(name, def, 0)
	n := int64(min(math.Ceil(v), math.MaxInt32))
	if p := ps.m[name]; p != nil && float64(n) != v {
		ps.log.note(Unsupported, p.file, p.line, name, "%v is taken as %d: only whole multiples are known", v, n)
	}
	return n
}

// readFair reads an allocations file over what the site says. The result is of use only if nothing was
// logged as an error.
func readFair(l *log, cfg *fair.Config, t types, file string, data []byte) (*FairPlacement, map[string]QueueACL) {
	doc, err := readTree(file, data, "allocations")
	if err != nil {
		l.errs = append(l.errs, asError(file, err))
		return nil, nil
	}
	return readFairTree(l, cfg, t, file, doc)
}

// readFairTree is readFair of a document that was read.
func readFairTree(l *log, cfg *fair.Config, t types, file string, doc *node) (*FairPlacement, map[string]QueueACL) {
	r := &fairReader{log: l, file: file, types: t, cfg: cfg, declared: map[string]*fairQueue{}, acls: everybody()}
	r.defaults = fairDefaults{amShare: 0.5}
	r.queue("", "root", doc.line)
	r.top(doc)
	r.finish()
	r.checkPolicies()
	p := r.placement()
	r.checkTargets(p)
	return p, r.acls
}

// asError gives an error without a place its file.
func asError(file string, err error) Error {
	if e, ok := errors.AsType[Error](err); ok {
		return e
	}
	return Error{File: file, Text: err.Error()}
}

// top reads the children of <allocations>.
func (r *fairReader) top(doc *node) {
	var queues []*node
	for _, n := range doc.kids {
		switch n.name {
		case "queue", "pool":
			queues = append(queues, n)
		case "user":
			r.user(n)
		case "userMaxAppsDefault":
			r.cfg.UserMaxAppsDefault = r.apps(n)
		case "queueMaxAppsDefault":
			r.defaults.maxApps = r.apps(n)
		case "queueMaxResourcesDefault":
			r.defaults.max, _ = r.amount(n, heddle.Unbounded)
		case "queueMaxAMShareDefault":
			r.defaults.amShare = r.share(n)
		case "defaultQueueSchedulingPolicy", "defaultQueueSchedulingMode":
			if r.policy = r.schedulingPolicy(n); r.policy == fair.FIFO {
				r.bad(n, "fifo orders applications, not queues, and cannot be the default; expected fair or drf")
			}
		case "queuePlacementPolicy":
			r.rules(n)
		default:
			r.unread(n, topElements)
		}
	}
	for _, n := range queues {
		name := r.name(n)
		if !strings.EqualFold(name, "root") {
			r.element("root", name, n)
			continue
		}
		if len(queues) > 1 {
			r.bad(n, "is next to other queues; the other queues must be inside root")
		}
		r.element("", "root", n)
	}
}

func (r *fairReader) user(n *node) {
	name, _ := attr(n.attr, "name")
	if name == "" {
		r.bad(n, "has no name; expected <user name=\"…\">")
		return
	}
	for _, f := range n.kids {
		if f.name != "maxRunningApps" {
			r.note(Unknown, r.file, f.line, f.name, "a <user> has only <maxRunningApps>")
			continue
		}
		if r.cfg.UserMaxApps == nil {
			r.cfg.UserMaxApps = map[string]int{}
		}
		r.cfg.UserMaxApps[name] = r.apps(f)
	}
}

// finish fills what queues do not set and puts them into the configuration.
func (r *fairReader) finish() {
	index := map[string]int{}
	for i, q := range r.order {
		index[q.Path] = i
		c := &q.QueueConfig
		c.Parent = -1
		if cut := strings.LastIndex(c.Path, "."); cut >= 0 {
			c.Parent = index[c.Path[:cut]]
			above := r.order[c.Parent]
			above.kids++
			if c.MaxResource.IsZero() {
				c.MaxResource = above.MaxResource
			}
		}
		if !q.hasMax {
			c.Max = r.defaults.max
		}
		if q.hasApps {
			c.Own = append(c.Own, "maxRunningApps")
		} else {
			c.MaxApps = r.defaults.maxApps
		}
		if q.hasShare {
			c.Own = append(c.Own, "maxAMShare")
		} else {
			c.MaxAMShare = r.defaults.amShare
		}
		if !q.hasPolicy {
			c.Policy = r.policy
		}
		r.raiseMax(q)
	}
	for _, q := range r.order {
		if q.hasShare && q.kids > 0 || q.hasShare && q.holder {
			r.fail(r.file, q.shareLine, "maxAMShare", "%s has queues, not applications; maxAMShare belongs to queues without children", q.Path)
		}
		r.cfg.Queues = append(r.cfg.Queues, q.QueueConfig)
	}
}

// raiseMax raises a fixed maximum to the minimum, as Hadoop does.
func (r *fairReader) raiseMax(q *fairQueue) {
	if !q.Min.Set || !q.Max.Set || q.Max.Fraction != [heddle.NumDims]float64{} || q.Min.Fixed.Fits(q.Max.Fixed) {
		return
	}
	r.note(Remark, r.file, q.line, q.Path, "maxResources (%s) is less than minResources (%s), which counts", r.types.show(q.Max.Fixed), r.types.show(q.Min.Fixed))
	q.Max.Fixed = q.Max.Fixed.Max(q.Min.Fixed)
}

// checkPolicies refuses policies that a parent does not allow; Hadoop would leave the queue out.
func (r *fairReader) checkPolicies() {
	for _, q := range r.order {
		line := max(q.line, q.policyLine)
		if q.Policy == fair.FIFO && (q.kids > 0 || q.holder) {
			r.fail(r.file, line, "schedulingPolicy", "%s has queues, and fifo orders applications only; expected fair or drf", q.Path)
		}
		if q.Parent >= 0 && q.Policy == fair.DRF && r.order[q.Parent].Policy == fair.FairShare {
			r.fail(r.file, line, "schedulingPolicy", "%s is drf under %s, which is fair; a drf queue needs a drf parent", q.Path, r.order[q.Parent].Path)
		}
	}
}

func (r *fairReader) bad(n *node, format string, args ...any) {
	r.fail(r.file, n.line, n.name, format, args...)
}

// unread notes an element that is not read.
func (r *fairReader) unread(n *node, known []key) {
	i := slices.IndexFunc(known, func(k key) bool { return k.name == n.name })
	if i < 0 {
		r.note(Unknown, r.file, n.line, n.name, "unknown element")
		return
	}
	r.note(known[i].kind, r.file, n.line, n.name, "%s", known[i].text)
}

var topElements = []key{
	{"defaultMinSharePreemptionTimeout", Unsupported, preemptText},
	{"defaultFairSharePreemptionTimeout", Unsupported, preemptText},
	{"defaultFairSharePreemptionThreshold", Unsupported, preemptText},
	{"fairSharePreemptionTimeout", Unsupported, preemptText},
	{"reservation-agent", Unsupported, reserveText},
	{"reservation-policy", Unsupported, reserveText},
	{"reservation-planner", Unsupported, reserveText},
}

var queueElements = []key{
	{"minSharePreemptionTimeout", Unsupported, preemptText},
	{"fairSharePreemptionTimeout", Unsupported, preemptText},
	{"fairSharePreemptionThreshold", Unsupported, preemptText},
	{"allowPreemptionFrom", Harmless, preemptText},
	{"aclSubmitApps", Harmless, aclText},
	{"aclAdministerApps", Harmless, aclText},
	{"aclAdministerReservations", Harmless, reserveText},
	{"aclListReservations", Harmless, reserveText},
	{"aclSubmitReservations", Harmless, reserveText},
	{"reservation", Unsupported, reserveText},
}
