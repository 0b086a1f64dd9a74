package sim

import "heddle"

// cores is the processors of the machines. The demands on a machine share its cores equally, each up to its width.
type cores struct {
	machines []machine
}

type machine struct {
	cores   float64
	worked  float64 // core-seconds so far
	last    heddle.Time
	demands []demand
}

// A demand is work that needs processor time.
type demand struct {
	left  float64 // core-seconds
	width float64 // the most cores it keeps busy
	rate  float64 // cores it has
	what  task
}

// A task says what follows when a piece of work is done.
type task struct {
	run   int32       // of the given world; noRun: see then
	gen   uint32      // of the run
	then  entry       // the event that follows; the zero entry: nothing
	rest  heddle.Span // how long after the work it follows
	after float64     // core-seconds of background work that then begin

	of   heddle.ContainerID // whose processes do the work; 0: none's
	done float64            // core-seconds so far
}

// crumb is an amount of work, in core-seconds, too small for a nanosecond clock to tell from none.
const crumb = 2e-9

// endless is more core-seconds than anything takes.
const endless = 1e9

// add begins a piece of work.
func (m *machine) add(now heddle.Time, work, width float64, what task) {
	m.advance(now)
	m.demands = append(m.demands, demand{left: work, width: width, what: what})
	m.share()
}

// remove removes the work of a run and returns what was left of it, or 0 if it has none.
func (m *machine) remove(now heddle.Time, run int32, gen uint32) (left float64) {
	m.advance(now)
	for i := range m.demands {
		if t := &m.demands[i].what; t.run == run && t.gen == gen {
			left = m.demands[i].left
			m.demands = append(m.demands[:i], m.demands[i+1:]...)
			m.share()
			return left
		}
	}
	return 0
}

// advance does the work up to a time.
func (m *machine) advance(now heddle.Time) {
	span := now.Since(m.last).Seconds()
	m.last = now
	for i := range m.demands {
		d := m.demands[i].rate * span
		m.demands[i].left -= d
		m.demands[i].what.done += d
		m.worked += d
	}
}

// used returns what the work in progress has computed for a container so far, in core-seconds.
func (m *machine) used(now heddle.Time, of heddle.ContainerID) (sum float64) {
	for i := range m.demands {
		if p := &m.demands[i]; p.what.of == of {
			sum += p.what.done + p.rate*now.Since(m.last).Seconds()
		}
	}
	return sum
}

// workedBy returns what the machine has computed up to a time that is not before the last event, in core-seconds.
func (m *machine) workedBy(now heddle.Time) float64 {
	sum := m.worked
	for i := range m.demands {
		sum += m.demands[i].rate * now.Since(m.last).Seconds()
	}
	return sum
}

// share divides the cores: a demand that can use less than an equal share leaves the rest to the others.
func (m *machine) share() {
	free, waiting := m.cores, len(m.demands)
	for i := range m.demands {
		m.demands[i].rate = 0
	}
	for waiting > 0 {
		each, narrow := free/float64(waiting), false
		for i := range m.demands {
			if p := &m.demands[i]; p.rate == 0 && p.width <= each {
				p.rate, narrow = p.width, true
				free -= p.width
				waiting--
			}
		}
		if narrow {
			continue
		}
		for i := range m.demands {
			if p := &m.demands[i]; p.rate == 0 {
				p.rate = each
			}
		}
		return
	}
}

// next returns when the next piece of work is done.
func (m *machine) next() (at heddle.Time, ok bool) {
	for i := range m.demands {
		p := &m.demands[i]
		if p.left >= endless {
			continue
		}
		t := m.last
		if p.left > crumb {
			t = m.last.Plus(heddle.Span(p.left/p.rate*float64(heddle.Second)) + 1)
		}
		if !ok || t < at {
			at, ok = t, true
		}
	}
	return at, ok
}

// through removes the demands that are done by a time, in the order in which they began.
func (m *machine) through(now heddle.Time, done []task) []task {
	m.advance(now)
	kept := m.demands[:0]
	for _, p := range m.demands {
		if p.left <= crumb {
			done = append(done, p.what)
		} else {
			kept = append(kept, p)
		}
	}
	m.demands = kept
	m.share()
	return done
}

// next returns when the next piece of work on any machine is done.
func (c *cores) next() (at heddle.Time, which int, ok bool) {
	for i := range c.machines {
		if t, k := c.machines[i].next(); k && (!ok || t < at) {
			at, which, ok = t, i, true
		}
	}
	return at, which, ok
}
