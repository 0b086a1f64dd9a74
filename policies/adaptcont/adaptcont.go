package adaptcont

import (
	"heddle"
	"heddle/policy"
)

// A Sizer is the Size of masters and, with feedback, the Control of those that run.
type Sizer struct {
	o    Options
	pool bool

	slots      []int  // worker containers of each node
	containers int    // … of all
	stiff      []bool // nodes that are up and on which a master's heap is as large as it was started
	stiffs     int    // … how many they are
	apps       []master
	jobs       []job // of the last playing of waves

	played  bool // jobs is of this step
	pending bool // a constraint has changed since masters that wait were looked at
	running bool // … since those that run were
}

// master is what is remembered of an application's master.
type master struct {
	size  heddle.Resource // decided last; zero = never
	most  int             // workers at once so far, as far as they were counted; counted with Shrink alone
	named bool            // Woken named it, and size holds what it is to be
}

// Size implements [policy.Size].
func (s *Sizer) Size(v policy.View, a *policy.App, k heddle.Kind, asked heddle.Resource) heddle.Resource {
	if k != heddle.AM || s.containers == 0 || s.o.maps(a) == 0 || s.asked(a.Facts()) {
		return asked
	}
	m := s.master(a.ID())
	if !m.named {
		s.decide(v)
		for i := range s.jobs {
			if j := &s.jobs[i]; j.app == a.ID() {
				m.size = s.fitting(v, j)
			}
		}
	}
	m.named = false
	size := beside(m.size, asked)
	if s.fixed() {
		size = size.Min(asked)
	}
	return size
}

// fitting is the master that a job needs, or as much of it as the largest node has.
func (s *Sizer) fitting(v policy.View, j *job) heddle.Resource {
	size := s.size(j)
	if s.fixed() {
		size[heddle.Memory] = s.o.lives(v.App(j.app).Facts(), size[heddle.Memory])
	}
	return size.Min(v.Largest())
}

// beside is a decided size with what is asked for beside memory and processors.
func beside(size, asked heddle.Resource) heddle.Resource {
	size[heddle.Extra1], size[heddle.Extra2] = asked[heddle.Extra1], asked[heddle.Extra2]
	return size
}

func (s *Sizer) master(a heddle.AppID) *master {
	for int(a) >= len(s.apps) {
		s.apps = append(s.apps, master{})
	}
	return &s.apps[a]
}

// decide finds every job's wave as constraints are now.
func (s *Sizer) decide(v policy.View) {
	s.play(s.gather(v))
	s.played = true
}

// Needs implements [policy.Needer]. Only a master that is known to run is made larger, so feedback needs to hear of starts.
func (s *Sizer) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Starts: s.o.Feedback, Heaps: true, Sizes: true}}
}

// fixed reports whether a master's heap is as large as it was started, wherever it is going to run: on some node it is.
func (s *Sizer) fixed() bool { return s.stiffs > 0 }

// Hears implements [policy.Listener]: what changes a constraint, and what could come between [Sizer.Size] and the use
// of what it has found out.
func (s *Sizer) Hears() policy.News {
	return policy.NodesChanged | policy.AppAdded | policy.AppRetried | policy.AppDone | policy.AppAsked
}

// Hear implements [policy.Listener].
func (s *Sizer) Hear(v policy.View, e policy.Effect) {
	switch e.What {
	case policy.NodeUp, policy.NodeDown, policy.NodeResized:
		s.nodeChanged(v, e.Node)
	case policy.AppDone:
		*s.master(e.App.ID()) = master{}
	case policy.AppAdded, policy.AppRetried:
		s.master(e.App.ID()).most = 0
		s.pending, s.running = s.o.Feedback, s.o.Feedback
		return // what Size has just found out still holds
	default:
		s.played = false
		return
	}
	s.played, s.pending, s.running = false, s.o.Feedback, s.o.Feedback
}

// Woken implements [policy.Waker]: masters that wait are decided on again at once.
func (s *Sizer) Woken(v policy.View, ids []heddle.AppID) []heddle.AppID {
	if !s.pending {
		return ids
	}
	s.pending = false
	if !s.played {
		s.decide(v)
	}
	s.played = false
	if s.containers == 0 {
		return ids
	}
	for i := range s.jobs {
		j := &s.jobs[i]
		if !j.waits {
			continue
		}
		m := s.master(j.app)
		if size := s.fitting(v, j); size != m.size {
			m.size, m.named = size, true
			ids = append(ids, j.app)
		}
	}
	return ids
}

// Every implements [policy.Control].
func (s *Sizer) Every() heddle.Span {
	if !s.o.Feedback {
		return 0
	}
	return heddle.Seconds(s.o.Every)
}

// Run implements [policy.Control]: after a change of a constraint running masters are given what they
// will need, unless their heaps stay as they are. A wish that the core does not carry out is repeated.
func (s *Sizer) Run(v policy.View, p *policy.Plan) {
	s.count(v)
	if !s.running || s.containers == 0 || s.fixed() {
		return
	}
	s.running = false
	s.decide(v)
	s.played = false
	for i := range s.jobs {
		j := &s.jobs[i]
		x := v.App(j.app).Master()
		if x == nil {
			continue
		}
		m, size := s.master(j.app), s.fitting(v, j)
		if want, ok := s.resized(x, m.size, size); ok {
			p.Resize(x.ID(), want)
			s.running = true // to see that it was done
		} else {
			m.size = size
		}
	}
}

// resized is the limit that a running master is to have, and whether that is another than it has. A
// limit that is not what was decided was rounded up as it was granted; it is not taken below that.
func (s *Sizer) resized(x *policy.Container, decided, size heddle.Resource) (heddle.Resource, bool) {
	limit := x.Limit()
	want := beside(size, limit)
	if !s.o.Shrink || beside(decided, limit) != limit {
		want = want.Max(limit)
	}
	return want, want != limit
}

// Gauges implements [policy.Gauged].
func (s *Sizer) Gauges(v policy.View, emit func(name string, value float64)) {
	held := v.Root().Masters()
	emit("masters, MiB", float64(held[heddle.Memory]))
	emit("masters, vcores", float64(held[heddle.CPU])/1000)
}

// GaugeWords implements [policy.Gauged].
func (s *Sizer) GaugeWords(name string) string {
	switch name {
	case "masters, MiB":
		return "The memory that masters hold, which AdaptCont sizes by what their jobs need."
	case "masters, vcores":
		return "The vcores that masters hold, which AdaptCont sizes by what their jobs need."
	}
	return ""
}
