package conf

import (
	"maps"
	"math"
	"slices"
	"strings"

	"heddle"
)

// shares reads a queue's guaranteed and maximum capacity.
func (r *csReader) shares(i int) {
	q, x := &r.cfg.Queues[i], &r.queues[i]
	q.Capacity, q.MaxCapacity = 1, 1
	if i > 0 {
		q.Capacity = 0
		if v, p := r.value(r.key(i, "capacity")); p != nil {
			x.capacity = p
			r.guaranteed(i, strings.TrimSpace(v), p)
		}
	}
	if v, p := r.value(r.key(i, "maximum-capacity")); p != nil {
		x.maximum = p
		r.maximum(i, strings.TrimSpace(v), p)
	}
	if i > 0 && q.MaxAbsolute.IsZero() && !q.Absolute.IsZero() {
		q.MaxAbsolute = r.cfg.Queues[q.Parent].MaxAbsolute
	}
}

func (r *csReader) guaranteed(i int, v string, p *property) {
	q, x := &r.cfg.Queues[i], &r.queues[i]
	if strings.HasPrefix(v, "[") {
		q.Absolute = r.absolute(v, p)
		if !q.Absolute.IsZero() {
			x.style = byAmount
		}
		return
	}
	if w, ok := strings.CutSuffix(v, "w"); ok {
		x.style = byWeight
		f, err := parseFloat(w)
		switch {
		case err != nil:
			r.bad(p, "%q is not a weight; expected a number and w, such as 4w", v)
		case f < 0 || f > 10000:
			r.bad(p, "a weight of %v is not between 0 and 10000", f)
		}
		q.Weight = f
		return
	}
	f, err := parseFloat(v)
	switch {
	case err != nil:
		r.bad(p, "%q is not a capacity; expected a percentage without sign (30), a weight (4w) or amounts ([memory=8192,vcores=8])", v)
	case f < 0 || f > 100:
		r.bad(p, "%v %% is not between 0 and 100", f)
	}
	q.Capacity = percent(f)
}

func (r *csReader) maximum(i int, v string, p *property) {
	q := &r.cfg.Queues[i]
	if strings.HasPrefix(v, "[") {
		q.MaxAbsolute = r.absolute(v, p)
		return
	}
	f, err := parseFloat(v)
	switch {
	case err != nil:
		r.bad(p, "%q is not a maximum; expected a percentage without sign (60) or amounts ([memory=8192,vcores=8])", v)
	case f == -1:
		return
	case f < 0 || f > 100:
		r.bad(p, "%v %% is not between 0 and 100, nor -1 for no maximum", f)
	}
	q.MaxCapacity = percent(f)
}

// percent divides in 32 bits, as Hadoop does.
func percent(f float64) float64 { return float64(float32(f) / 100) }

// absolute reads amounts. Without memory they count for nothing, as in Hadoop.
func (r *csReader) absolute(v string, p *property) heddle.Resource {
	a, unknown, err := r.types.parseAbsolute(v)
	if err != nil {
		r.bad(p, "%v", err)
		return a
	}
	for _, name := range unknown {
		r.log.note(Remark, p.file, p.line, p.name, "%s is not a resource of this cluster and is ignored; the cluster has %s", name, r.types.known())
	}
	if a[heddle.Memory] == 0 {
		if !a.IsZero() {
			r.log.note(Remark, p.file, p.line, p.name, "without memory the amounts have no effect")
		}
		return heddle.Resource{}
	}
	return a
}

// limits reads the rest of a queue.
func (r *csReader) limits(i int) {
	q := &r.cfg.Queues[i]
	q.Priority = int32(r.integer(r.key(i, "priority"), 0, math.MinInt32))
	q.MaxParallelApps = r.parallel(i)
	r.state(i)
	r.userWeights(i)
	r.largest(i)
	r.autoCreate(i)
	q.MinimumUserLimit, q.UserLimitFactor, q.MaxAMShare, q.MaxApplications = 1, 1, 0.1, -1
	r.ordering(i)
	if !r.leaf(i) {
		r.own(i, "max-parallel-apps")
		return
	}
	q.MinimumUserLimit = percent(r.inherited(i, "minimum-user-limit-percent", 100, 0))
	q.UserLimitFactor = r.inherited(i, "user-limit-factor", 1, -1)
	if f := q.UserLimitFactor; f < 0 && f != -1 {
		r.bad(r.first(r.key(i, "user-limit-factor"), csPrefix+"user-limit-factor"), "%v is neither -1, for no limit, nor at least 0", f)
	}
	q.MaxAMShare = r.inherited(i, "maximum-am-resource-percent", 0.1, 0)
	if p := r.first(r.key(i, "maximum-am-resource-percent"), csPrefix+"maximum-am-resource-percent"); p != nil && q.MaxAMShare > 1 {
		r.log.note(Remark, p.file, p.line, p.name, "is a fraction, not a percentage: %v lets masters take %v times the queue", q.MaxAMShare, q.MaxAMShare)
	}
	q.MaxApplications = int(r.integer(r.key(i, "maximum-applications"), -1, -1))
	if p := r.m[r.key(i, "maximum-applications")]; p != nil && q.MaxApplications == 0 {
		r.log.note(Remark, p.file, p.line, p.name, "the queue accepts no applications; leave it out for the queue's share of the cluster's maximum")
	}
	q.DefaultPriority = int32(r.integer(r.key(i, "default-application-priority"), 0, 0))
	r.checkWeights(i)
	r.own(i, "maximum-am-resource-percent", "minimum-user-limit-percent", "user-limit-factor", "max-parallel-apps")
}

// own records which of the properties are set for the queue itself.
func (r *csReader) own(i int, names ...string) {
	q := &r.cfg.Queues[i]
	for _, name := range names {
		if r.m[r.key(i, name)] != nil {
			q.Own = append(q.Own, name)
		}
	}
}

// checkWeights refuses a user's weight above the number of users a leaf's user limit lets in.
func (r *csReader) checkWeights(i int) {
	q, user := &r.cfg.Queues[i], r.queues[i].heaviest
	most := 1 / max(1e-9, min(1, q.MinimumUserLimit))
	if w := q.UserWeights[user]; w > most*(1+1e-6) {
		from := i
		for r.m[r.key(from, "user-settings."+user+".weight")] == nil {
			from = r.cfg.Queues[from].Parent
		}
		r.bad(r.m[r.key(from, "user-settings."+user+".weight")], "a weight of %v is more than %.4g, the number of users that minimum-user-limit-percent lets into %s", w, most, q.Path)
	}
}

// parallel reads how many applications may run at once; 0 is no limit.
func (r *csReader) parallel(i int) int {
	name := r.key(i, "max-parallel-apps")
	if r.m[name] == nil {
		name = csPrefix + "max-parallel-apps"
	}
	n := r.integer(name, math.MaxInt32, math.MinInt32)
	switch {
	case n == math.MaxInt32:
		return 0
	case n <= 0:
		r.bad(r.m[name], "%d lets no application ever run; leave it out for no limit, or set state to STOPPED to close a queue", n)
	}
	return int(n)
}

func (r *csReader) state(i int) {
	q := &r.cfg.Queues[i]
	above := i > 0 && r.cfg.Queues[q.Parent].Stopped
	v, p := r.value(r.key(i, "state"))
	if p == nil {
		q.Stopped = above
		return
	}
	switch strings.ToUpper(strings.TrimSpace(v)) {
	case "RUNNING":
		if above {
			r.bad(p, "%s cannot be RUNNING under a queue that is STOPPED", q.Path)
		}
	case "STOPPED":
		q.Stopped = true
	default:
		r.bad(p, "%q is not a state; expected RUNNING or STOPPED", v)
	}
}

// maxWeights is how many weights of users queues may have in all, inherited ones included.
const maxWeights = 1_000_000

// userWeights reads the weights of users, which children inherit. A queue without any of its own shares
// its parent's.
func (r *csReader) userWeights(i int) {
	q, x := &r.cfg.Queues[i], &r.queues[i]
	if i > 0 {
		q.UserWeights, x.heaviest = r.cfg.Queues[q.Parent].UserWeights, r.queues[q.Parent].heaviest
	}
	prefix := r.key(i, "user-settings.")
	own := map[string]float64{}
	for _, name := range r.names(prefix) {
		if user, ok := strings.CutSuffix(strings.TrimPrefix(name, prefix), ".weight"); ok && user != "" {
			own[user] = r.number(name, 1, 0)
		}
	}
	if len(own) == 0 {
		return
	}
	if r.weights += len(own) + len(q.UserWeights); r.weights > maxWeights {
		r.log.fail(r.file, 0, prefix, "queues have more than %d weights of users in all", maxWeights)
		return
	}
	all := maps.Clone(q.UserWeights)
	if all == nil {
		all = map[string]float64{}
	}
	maps.Copy(all, own)
	q.UserWeights, x.heaviest = all, ""
	for _, user := range slices.Sorted(maps.Keys(all)) {
		if x.heaviest == "" || all[user] > all[x.heaviest] {
			x.heaviest = user
		}
	}
}

// largest reads the queue's largest container, which children inherit.
func (r *csReader) largest(i int) {
	q, x := &r.cfg.Queues[i], &r.queues[i]
	whole := r.site.Maximum
	x.limit = whole
	if i > 0 {
		x.limit = r.queues[q.Parent].limit
	}
	if v, p := r.value(r.key(i, "maximum-allocation")); p != nil && strings.TrimSpace(v) != "" {
		m, err := r.types.parseMaximum(v)
		if err != nil {
			r.bad(p, "%v", err)
		} else if !m.Fits(whole) {
			r.bad(p, "%s is more than the cluster's largest container, %s", r.types.show(m), r.types.show(whole))
		}
		for d := range m {
			if m[d] == 0 && x.limit[d] > 0 && err == nil {
				r.log.note(Remark, p.file, p.line, p.name, "names no %s, which Hadoop takes as 0; here it is the parent's", heddle.Dim(d))
			}
			if m[d] == 0 {
				m[d] = x.limit[d]
			}
		}
		x.limit = m
	} else {
		r.largestIn(i, "maximum-allocation-mb", heddle.Memory)
		r.largestIn(i, "maximum-allocation-vcores", heddle.CPU)
	}
	if x.limit != whole {
		q.Maximum = x.limit
	}
}

func (r *csReader) largestIn(i int, name string, d heddle.Dim) {
	n := r.integer(r.key(i, name), -1, -1)
	if n == -1 {
		return
	}
	if n*d.Unit() > r.site.Maximum[d] {
		r.bad(r.m[r.key(i, name)], "%d is more than the cluster's largest container, %s", n, r.types.show(r.site.Maximum))
	}
	r.queues[i].limit[d] = n * d.Unit()
}

// ordering reads how a leaf orders applications, or a parent its children.
func (r *csReader) ordering(i int) {
	q, x := &r.cfg.Queues[i], &r.queues[i]
	x.policy = "utilization"
	if i > 0 {
		x.policy = r.queues[q.Parent].policy
	}
	v, p := r.value(r.key(i, "ordering-policy"))
	v = strings.TrimSpace(v)
	if !r.leaf(i) {
		if p != nil {
			x.policy = v
			if v != "utilization" && v != "priority-utilization" {
				r.bad(p, "%q does not order queues; for a queue with children expected utilization or priority-utilization", v)
			}
		}
		q.ByPriority = x.policy == "priority-utilization"
		return
	}
	switch v[strings.LastIndex(v, ".")+1:] {
	case "", "fifo", "FifoOrderingPolicy":
	case "fair", "FairOrderingPolicy":
		q.Fair = true
	case "fifo-with-partitions", "FifoOrderingPolicyWithExclusivePartitions", "fifo-for-pending-apps", "FifoOrderingPolicyForPendingApps":
		r.log.note(Unsupported, p.file, p.line, p.name, "%s is taken as fifo", v)
	default:
		r.bad(p, "%q does not order applications; for a queue without children expected fifo or fair", v)
	}
	q.SizeBasedWeight = r.flag(r.key(i, "ordering-policy.fair.enable-size-based-weight"), false)
}

// autoCreate notes queues whose children would come and go with applications.
func (r *csReader) autoCreate(i int) {
	for _, name := range []string{"auto-create-child-queue.enabled", "auto-queue-creation-v2.enabled"} {
		if p := r.m[r.key(i, name)]; p != nil && r.flag(p.name, false) {
			what := "no queues are created under it"
			if r.leaf(i) {
				what = "no queues are created; it takes the applications of all of them itself, as one queue"
				r.queues[i].auto = true
			}
			r.log.note(Unsupported, p.file, p.line, p.name, "%s", what)
		}
	}
}
