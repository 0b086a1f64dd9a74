package conf

import "heddle"

// tolerance is how far percentages may be from 100 % in all.
const tolerance = 0.0005

// checkChildren makes sure that the capacities of a queue's children fit together.
func (r *csReader) checkChildren(i int) {
	x := &r.queues[i]
	if r.leaf(i) {
		return
	}
	for _, k := range x.kids {
		most, above := r.cfg.Queues[k].MaxAbsolute, r.cfg.Queues[i].MaxAbsolute
		if !above.IsZero() && r.exceeds(most, above) {
			r.bad(r.queues[k].maximum, "%s is more than the maximum of its parent, %s", r.types.show(most), r.types.show(above))
		}
	}
	style, ok := r.childStyle(i)
	if !ok {
		return
	}
	if style == byAmount || x.style == byAmount {
		r.checkAmounts(i, style)
	}
	if style == byPercent {
		r.checkSum(i)
	}
}

// childStyle returns the one style in which the children's capacities are given.
func (r *csReader) childStyle(i int) (csStyle, bool) {
	style, by := byPercent, -1
	for _, k := range r.queues[i].kids {
		s := r.queues[k].style
		if s == byPercent && r.cfg.Queues[k].Capacity == 0 {
			continue // nothing given, or 0: goes with every style
		}
		if by >= 0 && s != style {
			r.bad(r.queues[k].capacity, "is %s, but %s has %s; all queues under %s must have the same", s, r.cfg.Queues[by].Path, style, r.cfg.Queues[i].Path)
			return 0, false
		}
		style, by = s, k
	}
	return style, true
}

// checkAmounts makes sure that absolute capacities go all the way down and fit into their parent's.
func (r *csReader) checkAmounts(i int, style csStyle) {
	q, x := &r.cfg.Queues[i], &r.queues[i]
	if i > 0 && style != x.style {
		r.bad(x.list, "%s has %s as capacity and its children have %s; absolute amounts must be used for both or for neither", q.Path, x.style, style)
		return
	}
	var sum heddle.Resource
	for _, k := range x.kids {
		kid := &r.cfg.Queues[k]
		sum = sum.Plus(kid.Absolute).Min(heddle.Unbounded)
		if !kid.MaxAbsolute.IsZero() && r.exceeds(kid.Absolute, kid.MaxAbsolute) {
			r.bad(r.queues[k].capacity, "%s is more than the queue's maximum, %s", r.types.show(kid.Absolute), r.types.show(kid.MaxAbsolute))
		}
	}
	if !q.Absolute.IsZero() && r.exceeds(sum, q.Absolute) {
		r.bad(x.capacity, "%s is less than the children's capacities in all, %s", r.types.show(q.Absolute), r.types.show(sum))
	}
}

// exceeds reports whether a is more than b as the calculator sees it without knowing the cluster.
func (r *csReader) exceeds(a, b heddle.Resource) bool {
	if r.cfg.MemoryOnly {
		return a[heddle.Memory] > b[heddle.Memory]
	}
	return !a.Fits(b) && b.Fits(a)
}

// checkSum makes sure that percentages are 100 in all.
func (r *csReader) checkSum(i int) {
	q, x := &r.cfg.Queues[i], &r.queues[i]
	var sum float32
	for _, k := range x.kids {
		sum += float32(r.cfg.Queues[k].Capacity)
	}
	zero := r.flag(r.key(i, "allow-zero-capacity-sum"), false)
	percents := x.style == byPercent
	switch full := sum - 1; {
	case full <= tolerance && full >= -tolerance:
		if percents && q.Capacity <= 0 && !zero {
			r.bad(x.list, "%s has a capacity of 0, but its children have one; give it a capacity", q.Path)
		}
	case sum > tolerance:
		r.bad(x.list, "the capacities of the queues under %s are %.4g %% in all; they must be 100 %%", q.Path, sum*100)
	case percents && q.Capacity > tolerance && !zero:
		r.bad(x.list, "the queues under %s have no capacity; theirs must be 100 %% in all", q.Path)
	}
}

// checkMaximum makes sure that no queue has less at most than it has guaranteed. abs and most are what
// percentages leave of the cluster for queue i.
func (r *csReader) checkMaximum(i int, abs, most float32) {
	q, x := &r.cfg.Queues[i], &r.queues[i]
	abs, most = abs*float32(q.Capacity), most*float32(q.MaxCapacity)
	if most < abs-0.001 && x.maximum != nil {
		r.bad(x.maximum, "at most %.4g %% of the cluster is less than the guaranteed %.4g %%; maximum-capacity must not be below capacity", most*100, abs*100)
	}
	for _, k := range x.kids {
		if r.queues[k].style == byPercent {
			r.checkMaximum(k, abs, most)
		}
	}
}
