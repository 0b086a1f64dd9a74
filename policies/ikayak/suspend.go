package ikayak

import (
	"errors"
	"math"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// delayFactor is γ = R_Spark/(R_Spark + R_MR) (section 3.2), by dominant shares of total; 0 where neither
// holds anything.
func delayFactor(spark, mapReduce, total heddle.Resource) float64 {
	s, m := spark.Share(total), mapReduce.Share(total)
	if s+m == 0 {
		return 0
	}
	return s / (s + m)
}

// suspension is T_suspend = (γ^v − ε)·T (section 3.2), and none where that is negative.
func suspension(gamma, v, epsilon float64, t heddle.Span) heddle.Span {
	return heddle.Span(max(0, math.Pow(gamma, v)-epsilon) * float64(t))
}

// starved reports whether a reduce cannot use what it holds because its job's maps lag: it copies map
// output, maps of its job wait for containers, and it has copied as much as the maps done so far gave it,
// short of slack, the part of all map output that comes in one batch. fraction is of the whole task, of
// which copying is the first third.
func starved(phase heddle.Phase, fraction float64, maps, finished, waiting int, slack float64) bool {
	if phase != heddle.ReduceCopy || waiting == 0 || maps <= finished {
		return false
	}
	return 3*fraction >= float64(finished)/float64(maps)-slack
}

// SuspendOptions are the suspension's parameters, by the paper's symbols.
type SuspendOptions struct {
	V        float64 `yaml:"v"`        // weight of the delay factor, above 0
	Epsilon  float64 `yaml:"epsilon"`  // ε, the overhead of a suspension as a part of T, 0 to 1
	Interval float64 `yaml:"interval"` // T, seconds
	Slack    float64 `yaml:"slack"`    // how far behind its maps, as a part of them, a reduce is that still counts as waiting for them

	// PerJob has each job's reduces go by the γ of Spark and that job alone. The paper speaks of Spark and MapReduce.
	PerJob bool `yaml:"per_job"`
	// LendMemory is the part of its memory that a suspended reduce gives back, to anybody: the operating system swaps it
	// out. A reduce that is resumed gets it back when its node has it, and is slower until then. The paper has memory
	// kept, "swapped out by the operating system with overhead".
	LendMemory float64 `yaml:"lend_memory"`
	// Freeze has nodes that can freeze keep suspended reduces from running at all, for less than they may be silent, and
	// lends what memory they were granted and do not hold. Elsewhere, and by default, they run when nobody else on their
	// node wants to.
	Freeze bool `yaml:"freeze"`
}

// SuspendDefault is what the paper settled on; it names no slack: the default is the fraction of the maps
// after which Hadoop starts reduces, as small a part of a job as the framework reckons with.
var SuspendDefault = SuspendOptions{V: 1, Epsilon: 0.15, Interval: 300, Slack: 0.05}

// A Suspend is the Control that suspends reduces which wait for maps: their processors run maps of the same
// job on the node meanwhile, by the cluster's own pools. Every T it suspends, and T_suspend later it resumes.
type Suspend struct {
	o      SuspendOptions
	t      heddle.Span
	next   heddle.Time // when to look for starved reduces
	frozen []frozen
	owed   []heddle.ContainerID // resumed, and still without memory that they lent
	gamma  float64              // as last worked out
}

// frozen is a reduce under suspension.
type frozen struct {
	id    heddle.ContainerID
	until heddle.Time
	ended int // how many reduces of its job had ended when it was suspended
}

const (
	// mostFrozen bounds how long a reduce is kept from running at all, and timeoutPart does by its job's timeout: a task
	// that reports nothing for so long is killed, and executors and masters have timeouts of 300 s and more.
	mostFrozen  = 240 * heddle.Second
	timeoutPart = 0.4
	timeout     = 600 * heddle.Second // of a job where it is not known: Hadoop's default
	// breath is how long a reduce runs before it is frozen again. One that waits reports every 2 s.
	breath = 5 * heddle.Second
)

// stepsPerT is how often in T suspended reduces are looked at, to resume them in time.
const stepsPerT = 60

// NewSuspend returns the control.
func NewSuspend(a policy.Args) (policy.Control, error) {
	o := SuspendDefault
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	switch {
	case !(o.V > 0) || math.IsInf(o.V, 1):
		return nil, errors.New("ikayak.suspend: v must be above 0")
	case !(o.Epsilon >= 0 && o.Epsilon <= 1):
		return nil, errors.New("ikayak.suspend: epsilon must be between 0 and 1")
	case !(o.Interval >= 1 && o.Interval <= 86400):
		return nil, errors.New("ikayak.suspend: interval must be between 1 and 86400 seconds")
	case !(o.Slack >= 0 && o.Slack <= 1):
		return nil, errors.New("ikayak.suspend: slack must be between 0 and 1")
	case !(o.LendMemory >= 0 && o.LendMemory < 1):
		return nil, errors.New("ikayak.suspend: lend_memory must be 0 or more and below 1")
	}
	if o.Freeze && heddle.Seconds(o.Interval) <= breath {
		return nil, errors.New("ikayak.suspend: interval must be above 5 seconds where reduces are frozen")
	}
	t := heddle.Seconds(o.Interval)
	return &Suspend{o: o, t: t, next: heddle.Time(t)}, nil
}

// Every implements [policy.Control].
func (s *Suspend) Every() heddle.Span { return s.t / stepsPerT }

// Needs implements [policy.Needer]: reduces report progress every 3 s, as they did in the papers' Hadoop.
func (s *Suspend) Needs() policy.Needs {
	n := policy.Needs{Feeds: policy.Feeds{Progress: 3 * heddle.Second, Of: policy.KindSet(heddle.Reduce), Starts: true, Sizes: true}, Can: heddle.Lends}
	if s.o.Freeze {
		n.Profile, n.Option = 5*heddle.Second, "freeze"
	}
	return n
}

// Run implements [policy.Control].
func (s *Suspend) Run(v policy.View, p *policy.Plan) {
	s.repay(v, p)
	s.resume(v, p)
	if v.Now() < s.next {
		return
	}
	s.next = v.Now().Plus(s.t)
	spark, mapReduce := s.held(v)
	s.gamma = delayFactor(spark, mapReduce, v.Total())
	for i := range v.AppIDs() {
		a := v.App(heddle.AppID(i))
		if a == nil || a.Running(heddle.Reduce) == 0 || a.Waiting(heddle.Map) == 0 {
			continue
		}
		gamma := s.gamma
		if s.o.PerJob {
			gamma = delayFactor(spark, a.Used(), v.Total())
		}
		length := suspension(gamma, s.o.V, s.o.Epsilon, s.t)
		if length < s.Every() {
			continue
		}
		a.Each(func(x *policy.Container) bool {
			if s.waits(a, x) {
				s.suspend(v, p, x, length)
			}
			return true
		})
	}
}

// suspend suspends a reduce for a time: one that is frozen for less than it may be silent.
func (s *Suspend) suspend(v policy.View, p *policy.Plan, x *policy.Container, length heddle.Span) {
	if s.freezes(x) {
		length = frozenFor(length, s.t, x.App().Facts().Timeout)
		p.Freeze(x.ID(), length)
	} else {
		p.Suspend(x.ID())
	}
	s.frozen = append(s.frozen, frozen{x.ID(), v.Now().Plus(length), x.App().Finished(heddle.Reduce)})
}

// freezes reports whether a reduce does not run at all while it is suspended.
func (s *Suspend) freezes(x *policy.Container) bool {
	return s.o.Freeze && x.Node().Can(heddle.Freezes)
}

// frozenFor is for how long a reduce that is to be suspended may be frozen, of a job with a timeout, 0 for an unknown one,
// where reduces are suspended every so often.
func frozenFor(length, every, limit heddle.Span) heddle.Span {
	if limit == 0 {
		limit = timeout
	}
	return min(length, mostFrozen, heddle.Span(timeoutPart*float64(limit)), every-breath)
}

// lend takes what memory a suspended reduce is to lend, at the look after its suspension: a part, or what a frozen one was
// measured not to hold.
func (s *Suspend) lend(p *policy.Plan, x *policy.Container) {
	limit := x.Limit()
	if limit != x.Told() {
		return
	}
	if _, held := x.Usage(); s.freezes(x) && held > 0 {
		limit[heddle.Memory] = min(limit[heddle.Memory], held)
	} else {
		limit[heddle.Memory] -= int64(s.o.LendMemory * float64(limit[heddle.Memory]))
	}
	if limit != x.Told() {
		p.Resize(x.ID(), limit)
	}
}

// repay gives memory back to reduces that have been resumed, as soon as their nodes have it.
func (s *Suspend) repay(v policy.View, p *policy.Plan) {
	kept := s.owed[:0]
	for _, id := range s.owed {
		x := v.Container(id)
		if x == nil || x.State() != cluster.Running || x.Suspended() || x.Limit() == x.Told() {
			continue
		}
		if short := x.Told().Minus(x.Limit()); v.Fits(short, x.Node().Free()) {
			p.Resize(id, x.Told())
		}
		kept = append(kept, id)
	}
	s.owed = kept
}

// resume thaws what has been suspended long enough, or has what it waited for, and forgets what goes on or is gone. What was not
// carried out, since something else was done to the container in the same instant, is wished for again.
func (s *Suspend) resume(v policy.View, p *policy.Plan) {
	kept := s.frozen[:0]
	for _, f := range s.frozen {
		x := v.Container(f.id)
		if x == nil || !x.Suspended() {
			if x != nil && (s.o.LendMemory > 0 || s.o.Freeze) {
				s.owed = append(s.owed, f.id)
			}
			continue
		}
		if kept = append(kept, f); v.Now() >= f.until || s.over(x.App(), f) {
			p.Resume(f.id)
		} else {
			s.lend(p, x)
		}
	}
	s.frozen = kept
}

// over reports whether nothing is left to wait for: all maps of the job have ended. Once another of its reduces has ended,
// masters start copies of those that seem to make no progress.
func (s *Suspend) over(a *policy.App, f frozen) bool {
	return a.MapsOver() || a.Finished(heddle.Reduce) > f.ended
}

// waits reports whether a container is a running reduce that its job's maps keep waiting.
func (s *Suspend) waits(a *policy.App, x *policy.Container) bool {
	if x.Kind() != heddle.Reduce || x.State() != cluster.Running || x.Suspended() {
		return false
	}
	phase, fraction := x.Progress()
	return starved(phase, fraction, int(a.Facts().Maps), a.Finished(heddle.Map), a.Waiting(heddle.Map), s.o.Slack)
}

// held is what applications of Spark and of MapReduce hold now.
func (s *Suspend) held(v policy.View) (spark, mapReduce heddle.Resource) {
	var held [3]heddle.Resource
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil {
			held[a.Framework()] = held[a.Framework()].Plus(a.Used())
		}
	}
	return held[heddle.Spark], held[heddle.MapReduce]
}

// Gauges implements [policy.Gauged]: γ, and how many reduces are suspended.
func (s *Suspend) Gauges(_ policy.View, emit func(name string, value float64)) {
	emit("ikayak.gamma", s.gamma)
	emit("ikayak.suspended", float64(len(s.frozen)))
}

// GaugeWords implements [policy.Gauged].
func (s *Suspend) GaugeWords(name string) string {
	switch name {
	case "ikayak.gamma":
		return "γ, the delay factor: Spark's part of what Spark and MapReduce hold together. The larger it is, the longer waiting reduces are suspended."
	case "ikayak.suspended":
		return "Reduces that are suspended now, because they wait for maps, and lend their processors."
	}
	return ""
}
