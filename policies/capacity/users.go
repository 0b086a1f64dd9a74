package capacity

import (
	"math"

	"heddle"
	"heddle/policy"
)

// userOver returns by how much the application's user exceeds the leaf's limit; ok is false if the user may take
// nothing more. A user is stopped only once over the limit, so one container beyond it is possible.
func (s *Scheduler) userOver(v policy.View, a *policy.App) (over heddle.Resource, ok bool) {
	u := a.User()
	taken := u.Taken()
	c := &s.queues[a.Queue().ID()]
	if c.cfg.UserWeights == nil && s.compare(&taken, &c.safe) <= 0 {
		return heddle.Resource{}, true
	}
	limit := s.weigh(c, s.limitFor(v, a.Queue()), u.ID())
	if s.compare(&taken, &limit) <= 0 {
		return heddle.Resource{}, true
	}
	if s.cfg.ContinueLooking {
		if sure := taken.Minus(a.Booked()); s.compare(&sure, &limit) <= 0 {
			return taken.Minus(limit), true
		}
	}
	return heddle.Resource{}, false
}

// limitFor returns what one active user of weight 1 may take of a leaf. It is computed once per state.
func (s *Scheduler) limitFor(v policy.View, q *policy.Queue) heddle.Resource {
	c := &s.queues[q.ID()]
	if c.limitOK != s.stamp {
		c.userLimit = s.computeLimit(v, q, c)
		c.limitOK = s.stamp
	}
	return c.userLimit
}

func (s *Scheduler) computeLimit(v policy.View, q *policy.Queue, c *queue) heddle.Resource {
	var ratio float32
	var active heddle.Resource
	var weights float32
	for _, u := range q.LiveUsers() {
		taken := u.Taken()
		ratio += float32(s.share(&taken))
		if s.user(u).asking > 0 {
			active = active.Plus(taken)
			weights += float32(s.weight(c, u.ID()))
		}
	}
	minimum := s.cfg.Minimum
	guaranteed := s.more(c.min, minimum)
	consumed := s.timesUp(v.Total(), float64(ratio))
	current := guaranteed
	if s.compare(&consumed, &guaranteed) >= 0 {
		current = consumed.Plus(minimum)
	}
	limit := s.more(divideUp(active.Plus(minimum), weights), s.percent(current, c))
	return s.less(limit, s.ceiling(c)).RoundUp(minimum)
}

// ceiling returns the most that any user of a leaf may take.
func (s *Scheduler) ceiling(c *queue) heddle.Resource {
	if c.cfg.UserLimitFactor == -1 || c.min.IsZero() {
		return c.max.RoundDown(s.cfg.Minimum)
	}
	return times(s.more(c.min, s.cfg.Minimum), float64(float32(c.cfg.UserLimitFactor)))
}

// percent returns the part of r that the leaf's minimum user limit gives, rounded up to whole units.
func (s *Scheduler) percent(r heddle.Resource, c *queue) heddle.Resource {
	r = times(r, float64(float32(100*c.cfg.MinimumUserLimit)))
	for d := range r {
		u := heddle.Dim(d).Unit()
		r[d] = (r[d]/u + 99) / 100 * u
	}
	return r
}

// divideUp divides each dimension in single precision, rounding up to whole units. Division by 0 gives nothing.
func divideUp(r heddle.Resource, by float32) heddle.Resource {
	if by == 0 {
		return heddle.Resource{}
	}
	for d := range r {
		u := heddle.Dim(d).Unit()
		r[d] = int64(math.Ceil(float64(float32(r[d]/u)/by))) * u
	}
	return r
}

func (s *Scheduler) weight(c *queue, u heddle.UserID) float64 {
	if int(u) < len(s.users) {
		if w, ok := c.cfg.UserWeights[s.users[u]]; ok {
			return w
		}
	}
	return 1
}

// weigh scales the limit of a leaf to one user's weight.
func (s *Scheduler) weigh(c *queue, limit heddle.Resource, u heddle.UserID) heddle.Resource {
	if w := s.weight(c, u); w != 1 {
		return times(limit, w).RoundDown(s.cfg.Minimum)
	}
	return limit
}
