package rm

import (
	"math"

	"heddle"
)

// readWithin is how long an application waits at most until what its client left beside the submission is read.
const readWithin = 3 * heddle.Second

// A reading is the reading of what is left beside a submission. The application goes to the scheduler when the reading
// is done or has taken too long.
type reading struct {
	timer timer
	app   *app
}

// read has what a client left beside its submission read while the submission is being stored or, after a restart,
// while nodes come back.
func (m *Machine) read(a *app) {
	known := a.Facts.Maps > 0 || a.Facts.Demand.Containers > 0
	f := &m.sch.Set.Feeds
	if !m.cfg.ReadJobs || !f.Sizes && !f.Splits || known || a.framework != heddle.MapReduce && a.framework != heddle.Spark {
		return
	}
	a.reading = &reading{app: a}
	if a.recovered {
		m.back.unread++
	}
	m.timers.by(&a.reading.timer, a.reading, m.now.Plus(readWithin))
	m.emit(&ReadJob{App: a.ID, User: a.user, Framework: a.framework, Context: a.Context})
}

// expire continues without what could not be read in time.
func (r *reading) expire(m *Machine) heddle.Time {
	if r.app.reading == r {
		m.log(Warn, "the files of a submission were not read in time: the size of the job is not known", "app", r.app.ID)
		m.readDone(r.app)
	}
	return never
}

// jobRead takes what was read beside a submission.
func (m *Machine) jobRead(p *JobRead) {
	a := m.byApp[p.App]
	if a == nil || a.reading == nil {
		return // too late
	}
	if p.Failed != "" {
		m.log(Info, "the size of a job is not known", "app", a.ID, "why", p.Failed)
	}
	f := &a.Facts
	f.Maps, f.Reduces = max(p.Maps, 0), max(p.Reduces, 0)
	f.Timeout = max(p.Timeout, 0)
	if p.Uber {
		f.MasterHeap = 0
	}
	if d := p.Demand; d.Containers > 0 && plausible(d.Each) {
		f.Demand = d
	}
	for i := range p.Splits {
		s := &p.Splits[i]
		if s.Bytes < 0 || s.Bytes > maxBytes {
			continue
		}
		f.InputBytes += s.Bytes
		if m.sch.Set.Feeds.Splits {
			f.Splits = append(f.Splits, heddle.Split{Bytes: s.Bytes, Hosts: m.nodesOf(s.Hosts)})
		}
	}
	f.InputBytes = min(f.InputBytes, math.MaxInt64/4)
	m.readDone(a)
}

// nodesOf returns the nodes on the given hosts, as far as there are any.
func (m *Machine) nodesOf(hosts []string) (out []heddle.NodeID) {
	for _, h := range hosts {
		for _, n := range m.hosts[h] {
			out = append(out, n.nid)
		}
	}
	return out
}

// readDone hands an application to the scheduler if it waited only for the reading.
func (m *Machine) readDone(a *app) {
	m.stopReading(a)
	if !m.Ready() {
		m.release()
		return
	}
	if a.state == appSubmitted && a.aid == heddle.NoApp {
		m.start(a)
		if a.state == appAccepted {
			m.askAgain(a, a.newest())
			m.offer(a)
		}
	}
}

// stopReading ends the reading for an application, if there is one.
func (m *Machine) stopReading(a *app) {
	if a.reading == nil {
		return
	}
	m.timers.stop(&a.reading.timer)
	a.reading = nil
	if a.recovered {
		m.back.unread--
	}
}
