package ikayak

import (
	"errors"
	"math"
	"slices"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// delayFactor returns γ = R_Spark/(R_Spark + R_MR) (section 3.2), by dominant shares of total; it is 0 if neither holds
// anything.
func delayFactor(spark, mapReduce, total heddle.Resource) float64 {
	s, m := spark.Share(total), mapReduce.Share(total)
	if s+m == 0 {
		return 0
	}
	return s / (s + m)
}

// suspension returns T_suspend = (γ^v − ε)·T (section 3.2), and 0 if that is negative.
func suspension(gamma, v, epsilon float64, t heddle.Span) heddle.Span {
	return heddle.Span(max(0, math.Pow(gamma, v)-epsilon) * float64(t))
}

// starved reports whether a reduce cannot use what it holds because its job's maps lag: it copies map output, maps of
// its job wait for containers, and it has copied as much as the maps done so far gave it, except for slack, the part of
// all map output that comes in one batch. fraction is of the whole task, of which copying is the first third.
func starved(phase heddle.Phase, fraction float64, maps, finished, waiting int, slack float64) bool {
	if phase != heddle.ReduceCopy || waiting == 0 || maps <= finished {
		return false
	}
	return 3*fraction >= float64(finished)/float64(maps)-slack
}

// SuspendOptions are the options of suspension, with the paper's symbols.
type SuspendOptions struct {
	V        float64 `yaml:"v"`        // weight of the delay factor, above 0
	Epsilon  float64 `yaml:"epsilon"`  // ε, the overhead of a suspension as a part of T, 0 to 1
	Interval float64 `yaml:"interval"` // T, seconds
	Slack    float64 `yaml:"slack"`    // how far behind its maps, as a part of them, a reduce may be and still count as waiting for them

	// PerJob uses, for each job's reduces, the γ of Spark and that job alone. The paper speaks of Spark and MapReduce.
	PerJob bool `yaml:"per_job"`
	// LendMemory is the part of its memory that a suspended reduce lends to other containers: the operating system
	// swaps it out. A resumed reduce gets it back when its node has it, and is slower until then. In the paper memory
	// is kept, "swapped out by the operating system with overhead". If the memory of a process does not follow its
	// container, only a frozen reduce lends any, and only what it does not hold; it has that back when it is resumed.
	LendMemory float64 `yaml:"lend_memory"`
	// Freeze stops a suspended reduce entirely, if its node can do that. Otherwise it continues with what no other
	// container wants.
	Freeze bool `yaml:"freeze"`
}

// SuspendDefault is what the paper settled on. It gives no slack: the default is the fraction of the maps after which
// Hadoop starts reduces, the smallest part of a job that the framework considers.
var SuspendDefault = SuspendOptions{V: 1, Epsilon: 0.15, Interval: 300, Slack: 0.05}

// A Suspend is the control that suspends reduces that wait for maps: their processors meanwhile run maps of the same
// job on the node, through the cluster's own pools. Every T it suspends, and T_suspend later it resumes.
type Suspend struct {
	o         SuspendOptions
	t         heddle.Span
	next      heddle.Time // when to look for starved reduces
	suspended []timed
	thawed    []timed              // that were frozen, and until when they may not be frozen again
	owed      []heddle.ContainerID // resumed, but still without memory that they lent
	gamma     float64              // as last computed
}

// timed is a reduce and a time.
type timed struct {
	id     heddle.ContainerID
	until  heddle.Time
	frozen bool
	ended  int // how many reduces of its job had ended when it was suspended
}

const (
	stepsPerT = 60 // how often in T suspended reduces are checked, to resume them in time
	// A frozen reduce does not report, and a reduce that does not report for as long as its job's timeout is killed. A
	// running reduce that waits for maps reports every 2 s.
	longestFreeze  = 240 * heddle.Second
	freezeOf       = 0.4                 // … and this part of the timeout
	defaultTimeout = 600 * heddle.Second // of Hadoop
	leastRun       = 5 * heddle.Second   // between two freezes
)

// freezable returns how long a reduce may be frozen if its job has this timeout.
func freezable(timeout heddle.Span) heddle.Span {
	if timeout == 0 {
		timeout = defaultTimeout
	}
	return min(longestFreeze, heddle.Span(freezeOf*float64(timeout)))
}

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
	t := heddle.Seconds(o.Interval)
	return &Suspend{o: o, t: t, next: heddle.Time(t)}, nil
}

// Every implements [policy.Control].
func (s *Suspend) Every() heddle.Span {
	if s.o.Freeze {
		return min(s.t/stepsPerT, leastRun)
	}
	return s.t / stepsPerT
}

// Needs implements [policy.Needer]: reduces report progress every 3 s, as they did in the papers' Hadoop.
func (s *Suspend) Needs() policy.Needs {
	n := policy.Needs{Feeds: policy.Feeds{Progress: 3 * heddle.Second, Of: policy.KindSet(heddle.Reduce), Starts: true, Sizes: true}, Can: heddle.Lends}
	if s.o.Freeze {
		n.Can, n.Option = n.Can|heddle.Freezes, "freeze"
		if s.o.LendMemory > 0 {
			n.Profile = s.Every()
		}
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
				s.suspend(v.Now(), p, x, length)
			}
			return true
		})
	}
}

// suspend suspends a reduce for length, or for less if it is frozen and its job's timeout does not allow that long. A
// freeze ends when the suspension does. If memory is lent, it ends one check later, so that the memory is back before
// the reduce runs.
func (s *Suspend) suspend(now heddle.Time, p *policy.Plan, x *policy.Container, length heddle.Span) {
	most, later := freezable(x.App().Facts().Timeout), heddle.Span(0)
	if s.o.LendMemory > 0 {
		later = s.Every()
	}
	frozen := s.o.Freeze && x.Can(heddle.Freezes) && most > s.Every() && !s.ranBriefly(now, x.ID())
	if frozen {
		length = min(length, most-later)
		p.Freeze(x.ID(), length+later)
	} else {
		p.Suspend(x.ID())
	}
	s.suspended = append(s.suspended, timed{x.ID(), now.Plus(length), frozen, x.App().Finished(heddle.Reduce)})
}

// ranBriefly reports whether a reduce was frozen a moment ago.
func (s *Suspend) ranBriefly(now heddle.Time, id heddle.ContainerID) bool {
	s.thawed = slices.DeleteFunc(s.thawed, func(f timed) bool { return now >= f.until })
	return slices.ContainsFunc(s.thawed, func(f timed) bool { return f.id == id })
}

// lend takes the memory that a suspended reduce is to lend, at the check after its suspension.
func (s *Suspend) lend(p *policy.Plan, x *policy.Container) {
	limit := x.Limit()
	if s.o.LendMemory == 0 || limit != x.Told() {
		return
	}
	lent := int64(s.o.LendMemory * float64(limit[heddle.Memory]))
	if !x.Node().Can(heddle.Elastic) {
		_, holds := x.Usage()
		if !x.Frozen() || holds == 0 {
			return
		}
		lent = min(lent, limit[heddle.Memory]-holds)
	}
	if limit[heddle.Memory] -= lent; lent > 0 {
		p.Resize(x.ID(), limit)
	}
}

// repay returns memory to reduces that have been resumed, as soon as their nodes have it.
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

// resume ends suspensions that have been long enough, or have nothing left to wait for, and forgets reduces that run
// again or are gone. A resume that was not carried out, since something else was done to the container in the same
// instant, is requested again.
func (s *Suspend) resume(v policy.View, p *policy.Plan) {
	kept := s.suspended[:0]
	for _, f := range s.suspended {
		x := v.Container(f.id)
		if x == nil || !x.Suspended() {
			if x != nil && f.frozen {
				s.thawed = append(s.thawed, timed{id: f.id, until: v.Now().Plus(leastRun)})
			}
			if x != nil && s.o.LendMemory > 0 {
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
	s.suspended = kept
}

// over reports whether a suspended reduce has nothing left to wait for: all maps of the job have ended. It also returns
// true once another of the job's reduces has ended, because masters then start copies of reduces that seem to make no
// progress.
func (s *Suspend) over(a *policy.App, f timed) bool {
	return a.MapsOver() || a.Finished(heddle.Reduce) > f.ended
}

// waits reports whether a container is a running reduce that waits for its job's maps.
func (s *Suspend) waits(a *policy.App, x *policy.Container) bool {
	if x.Kind() != heddle.Reduce || x.State() != cluster.Running || x.Suspended() {
		return false
	}
	phase, fraction := x.Progress()
	return starved(phase, fraction, int(a.Facts().Maps), a.Done(heddle.Map), a.Waiting(heddle.Map), s.o.Slack)
}

// held returns what Spark applications and MapReduce applications hold now.
func (s *Suspend) held(v policy.View) (spark, mapReduce heddle.Resource) {
	var held [3]heddle.Resource
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil {
			held[a.Framework()] = held[a.Framework()].Plus(a.Used())
		}
	}
	return held[heddle.Spark], held[heddle.MapReduce]
}

// Gauges implements [policy.Gauged]: it emits γ, and how many reduces are suspended.
func (s *Suspend) Gauges(_ policy.View, emit func(name string, value float64)) {
	emit("ikayak.gamma", s.gamma)
	emit("ikayak.suspended", float64(len(s.suspended)))
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
