package conf

import (
	"math"
	"strings"

	"heddle"
	"heddle/policies/fair"
)

// queue returns the queue of a name under a parent, new or seen before.
func (r *fairReader) queue(parent, name string, line int) *fairQueue {
	path := name
	if parent != "" {
		path = parent + "." + name
	}
	if q := r.declared[path]; q != nil {
		return q
	}
	q := &fairQueue{line: line}
	q.Path, q.Weight = path, 1
	r.declared[path] = q
	r.order = append(r.order, q)
	return q
}

// name returns the name of a <queue>, or "" if it has no good one.
func (r *fairReader) name(n *node) string {
	name, ok := attr(n.attr, "name")
	name = strings.TrimSpace(name)
	switch {
	case !ok || name == "":
		r.bad(n, "has no name; expected <%s name=\"…\">", n.name)
		return ""
	case strings.Contains(name, "."):
		r.bad(n, "%q has a dot; a queue's name has none, nest <queue> elements instead", name)
		return ""
	}
	return name
}

// element reads a <queue>.
func (r *fairReader) element(parent, name string, n *node) {
	if name == "" {
		return
	}
	path := name
	if parent != "" {
		path = parent + "." + name
	}
	if old := r.declared[path]; old != nil && path != "root" {
		r.note(Remark, r.file, n.line, path, "is also in line %d; both count as one", old.line)
	}
	q := r.queue(parent, name, n.line)
	if path == "root" {
		q.line = n.line
	}
	if kind, ok := attr(n.attr, "type"); ok {
		if q.holder = kind == "parent"; !q.holder {
			r.note(Remark, r.file, n.line, "type", "%q means nothing; the only type is parent", kind)
		}
	}
	for _, f := range n.kids {
		if f.name == "queue" || f.name == "pool" {
			r.element(path, r.name(f), f)
			continue
		}
		r.field(q, f)
	}
}

// field reads one setting of a queue.
func (r *fairReader) field(q *fairQueue, f *node) {
	switch f.name {
	case "minResources":
		a, ok := r.amount(f, heddle.Resource{})
		if ok && a.Fraction != [heddle.NumDims]float64{} {
			r.note(Remark, r.file, f.line, f.name, "Hadoop passes over a percentage here; the queue has no minimum")
			a = fair.Amount{}
		}
		q.Min = a
	case "maxResources":
		q.Max, q.hasMax = r.amount(f, heddle.Unbounded)
	case "maxChildResources":
		q.MaxChild, _ = r.amount(f, heddle.Unbounded)
	case "maxContainerAllocation":
		a, ok := r.amount(f, heddle.Unbounded)
		if ok && a.Fraction != [heddle.NumDims]float64{} {
			r.note(Remark, r.file, f.line, f.name, "Hadoop passes over a percentage here; the cluster's largest container holds")
			return
		}
		q.MaxResource = a.Fixed.Min(r.cfg.Maximum)
	case "maxRunningApps":
		q.MaxApps, q.hasApps = r.apps(f), true
	case "maxAMShare":
		q.MaxAMShare, q.hasShare, q.shareLine = r.share(f), true, f.line
	case "weight":
		v, err := parseFloat(f.text)
		if err != nil || v < 0 {
			r.bad(f, "%q is not a weight; expected a number of at least 0", f.text)
		}
		q.Weight = v
	case "schedulingPolicy", "schedulingMode":
		q.Policy, q.hasPolicy, q.policyLine = r.schedulingPolicy(f), true, f.line
	default:
		r.acl(q.Path, f)
		r.unread(f, queueElements)
	}
}

// apps reads a number of applications: 0 stands for no limit, and −1 for none, as in [fair.QueueConfig].
func (r *fairReader) apps(n *node) int {
	v, err := parseInt(n.text)
	switch {
	case err != nil || v < 0 || v > math.MaxInt32:
		r.bad(n, "%q is not a number of applications", n.text)
	case v == 0:
		return -1
	case v == math.MaxInt32:
		return 0
	}
	return int(v)
}

// share reads a fraction; more than 1 is 1.
func (r *fairReader) share(n *node) float64 {
	v, err := parseFloat(n.text)
	if err != nil || v < 0 && v != -1 {
		r.bad(n, "%q is neither a fraction of the fair share, 0 to 1, nor -1 for no limit", n.text)
	}
	return min(v, 1)
}

func (r *fairReader) schedulingPolicy(n *node) fair.Policy {
	name := n.text[strings.LastIndex(n.text, ".")+1:]
	switch strings.ToLower(name) {
	case "fair", "fairsharepolicy":
		return fair.FairShare
	case "drf", "dominantresourcefairnesspolicy":
		return fair.DRF
	case "fifo", "fifopolicy":
		return fair.FIFO
	}
	r.bad(n, "there is no policy %q; expected fair, drf or fifo", n.text)
	return fair.FairShare
}
