package adaptcont

import (
	"heddle"
	"heddle/policy"
)

// A Sizer is the size policy of masters and, with feedback, the control of running ones.
type Sizer struct {
	o    Options
	pool bool

	slots      []int  // worker containers on each node
	containers int    // … on all nodes
	stiff      []bool // nodes that are up and on which a master's heap keeps the size it was started with
	stiffs     int    // … their number
	apps       []master
	jobs       []job // of the last simulation of waves
	waiting    int   // masters that wait for their containers

	played  bool // jobs is what a simulation now would give
	reset   bool // … but not in the next step: what a master managed so far no longer counts
	checked bool // waiting masters have the sizes that jobs gives them
	pending bool // a constraint has changed since waiting masters were last checked
	running bool // … since running ones were
}

// master is the state kept of an application's master.
type master struct {
	size  heddle.Resource // decided last; zero = never
	most  int             // most workers at once so far, as counted; counted only with Shrink
	named bool            // Woken named it, and size holds the size it is to have
	waits bool            // counted in Sizer.waiting
	at    int             // where its job was in Sizer.jobs after the last simulation
}

// Size implements [policy.Size].
func (s *Sizer) Size(v policy.View, a *policy.App, k heddle.Kind, asked heddle.Resource) heddle.Resource {
	if k != heddle.AM || s.containers == 0 || s.o.maps(a) == 0 || s.asked(a.Facts()) {
		return asked
	}
	m := s.master(a.ID())
	if !m.named {
		if !s.played || s.reset || s.job(a.ID()) == nil {
			s.decide(v)
			m = s.master(a.ID())
		}
		if j := s.job(a.ID()); j != nil {
			m.size = s.fitting(v, j)
		}
	}
	m.named = false
	size := beside(m.size, asked)
	if s.fixed() {
		size = size.Min(asked)
	}
	return size
}

// fitting returns the size that a job's master needs, or as much of it as the largest node has.
func (s *Sizer) fitting(v policy.View, j *job) heddle.Resource {
	size := s.size(j)
	if s.fixed() {
		size[heddle.Memory] = s.o.lives(v.App(j.app).Facts(), size[heddle.Memory])
	}
	return size.Min(v.Largest())
}

// beside returns a decided size with the asked amounts of the resources other than memory and processors.
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

// job returns an application's job in the last simulation of waves, or nil if it had no part in it.
func (s *Sizer) job(a heddle.AppID) *job {
	if i := s.master(a).at; i < len(s.jobs) && s.jobs[i].app == a {
		return &s.jobs[i]
	}
	return nil
}

// decide computes every job's wave under the current constraints.
func (s *Sizer) decide(v policy.View) {
	s.play(s.gather(v))
	for i := range s.jobs {
		s.master(s.jobs[i].app).at = i
	}
	s.played, s.reset, s.checked = true, false, false
}

// Needs implements [policy.Needer]. Only a master that is known to run is made larger, so feedback needs to know about
// starts.
func (s *Sizer) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Starts: s.o.Feedback, Heaps: true, Sizes: true}}
}

// fixed reports whether masters' heaps must be taken to keep their start size wherever they run: on some node they do.
func (s *Sizer) fixed() bool { return s.stiffs > 0 }

// Hears implements [policy.Listener]: the events that change a constraint, what jobs have done or which masters wait.
func (s *Sizer) Hears() policy.News {
	return policy.NodesChanged | policy.AppAdded | policy.AppRetried | policy.AppDone | policy.AppAsked | policy.AppReprioritised |
		policy.Granted | policy.Adopted | policy.Ended
}

// Hear implements [policy.Listener].
func (s *Sizer) Hear(v policy.View, e policy.Effect) {
	switch e.What {
	case policy.NodeUp, policy.NodeDown, policy.NodeResized:
		s.nodeChanged(v, e.Node)
		s.constrain(false)
		return
	case policy.AppDone:
		s.await(e.App, false)
		*s.master(e.App.ID()) = master{}
		s.constrain(false)
		return
	case policy.AppAdded:
		s.constrain(s.job(e.App.ID()) != nil) // what Size has just computed still holds
	case policy.AppRetried:
		m := s.master(e.App.ID())
		s.reset = s.reset || m.most > 0
		m.most = 0
		s.constrain(true)
	case policy.AppAsked: // affects no wave
	default:
		s.played = false
	}
	s.await(e.App, waits(e.App))
}

// constrain records that a constraint has changed; played says whether the last simulation already has it.
func (s *Sizer) constrain(played bool) {
	s.played = s.played && played
	s.pending, s.running = s.o.Feedback, s.o.Feedback
}

// await counts an application among those whose masters wait, or no longer does.
func (s *Sizer) await(a *policy.App, waits bool) {
	m := s.master(a.ID())
	switch {
	case waits && !m.waits:
		s.waiting++
	case !waits && m.waits:
		s.waiting--
	}
	m.waits = waits
}

// waits reports whether an application's master waits for its container.
func waits(a *policy.App) bool { return a.Master() == nil && a.Waiting(heddle.AM) > 0 }

// Woken implements [policy.Waker]: the sizes of waiting masters are decided again at once.
func (s *Sizer) Woken(v policy.View, ids []heddle.AppID) []heddle.AppID {
	if !s.pending {
		return ids
	}
	s.pending = false
	if s.waiting == 0 {
		s.count(v)
		s.played, s.reset = s.played && !s.reset, false
		return ids
	}
	if !s.played {
		s.decide(v)
	}
	s.played, s.reset = s.played && !s.reset, false
	if s.containers == 0 || s.checked {
		return ids
	}
	s.checked = true
	for i := range s.jobs {
		j := &s.jobs[i]
		if !waits(v.App(j.app)) {
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

// Run implements [policy.Control]: after a change of a constraint, running masters get what they will need, unless
// their heaps keep their size. A resize that the core does not carry out is requested again.
func (s *Sizer) Run(v policy.View, p *policy.Plan) {
	s.count(v)
	if !s.running || s.containers == 0 || s.fixed() {
		return
	}
	s.running = false
	s.decide(v)
	for i := range s.jobs {
		j := &s.jobs[i]
		x := v.App(j.app).Master()
		if x == nil {
			continue
		}
		m, size := s.master(j.app), s.fitting(v, j)
		if want, ok := s.resized(x, m.size, size); ok {
			p.Resize(x.ID(), want)
			s.running = true // to check that it was done
		} else {
			m.size = size
		}
	}
}

// resized returns the limit that a running master is to have, and whether it differs from the present one. A limit that
// is not what was decided was rounded up when it was granted, and is not lowered.
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
