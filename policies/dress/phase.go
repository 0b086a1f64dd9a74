package dress

import "heddle"

// A phase is a group of tasks of one job that begin together and are assumed to end together (III-A).
type phase struct {
	c       int // c_p: the containers counted in it
	running int // |R_p|

	began       bool        // one of its own tasks has started; trailing tasks of the previous phase do not count
	open        bool        // S_p: more than t_s began within pw
	first, last heddle.Time // ps_f, ps_l: earliest and latest start of its own tasks
	closed      bool        // ps_l is final, and with it Δps

	ending   bool        // E_p: more than t_e ended within pw, and γ is known
	gamma    heddle.Time // γ_p: when it began to release containers
	ended    []heddle.Time
	earliest heddle.Time // earliest end of any of its tasks
	latest   heddle.Time
}

// variation returns Δps, the starting time variation; ok is false while it is not known.
func (p *phase) variation() (dps heddle.Span, ok bool) {
	return p.last.Since(p.first), p.open && p.closed
}

// A tracker watches one job's tasks start and end: Alg. 1 and Alg. 2.
//
// Times must not go backwards. An answer does not depend on when the tracker was asked before: whatever leaves the
// window is processed at the instant it does.
type tracker struct {
	pw     heddle.Span
	ts, te int
	all    bool // γ is the earliest end of all, heading tasks included

	starts, ends window // of R_J within the last pw; lost tasks count as ends here
	running      int    // |R_J|
	phases       []phase
	gone         int // phases forgotten before phases[0]
}

// growth is RT(t) − RT(t−pw).
func (k *tracker) growth() int { return k.starts.len() - k.ends.len() }

// at returns a phase by its number.
func (k *tracker) at(n int) *phase { return &k.phases[n-k.gone] }

// start records that a task started, and returns the number of its phase.
func (k *tracker) start(t heddle.Time) int {
	k.advance(t)
	if len(k.phases) == 0 {
		k.phases = append(k.phases, phase{})
	}
	n := len(k.phases) - 1
	p := &k.phases[n]
	p.c++
	p.running++
	k.running++
	if !p.began {
		p.began, p.first = true, t
	}
	p.last = t
	k.starts.add(t)
	k.grown()
	return k.gone + n
}

// grown is lines 11 to 17 of Alg. 1: growth by more than t_s opens the phase that gathers tasks. When growth stops, the
// phase's last task has started and the next phase begins to gather.
func (k *tracker) grown() {
	if len(k.phases) == 0 {
		return
	}
	p := &k.phases[len(k.phases)-1]
	switch g := k.growth(); {
	case g > k.ts && p.began:
		p.open = true
	case p.open && g <= 0:
		p.closed = true
		k.phases = append(k.phases, phase{})
	}
}

// finish records that a task of phase n ended: lines 4 to 10 of Alg. 2.
func (k *tracker) finish(t heddle.Time, n int) {
	k.advance(t)
	p := k.at(n)
	if len(p.ended) == 0 {
		p.earliest = t
	}
	p.latest = t
	if len(p.ended) > k.te {
		p.ended = append(p.ended[:0], p.ended[1:]...)
	}
	p.ended = append(p.ended, t)
	if len(p.ended) > k.te && t.Since(p.ended[0]) < k.pw && !p.ending {
		p.ending, p.gamma = true, p.ended[0]
		if k.all {
			p.gamma = p.earliest
		}
	}
	k.leave(t, p)
}

// lose records that a task of phase n is gone without having ended: the phase does not release its container.
func (k *tracker) lose(t heddle.Time, n int) {
	k.advance(t)
	p := k.at(n)
	p.c--
	k.leave(t, p)
}

func (k *tracker) leave(t heddle.Time, p *phase) {
	p.running--
	k.running--
	k.ends.add(t)
	k.grown()
	if k.running == 0 { // line 14: the job, or all of it so far, is over
		k.gone += len(k.phases)
		k.phases = k.phases[:0]
	}
}

// advance lets time pass: starts and ends leave the window, and a phase that no longer grows is closed.
func (k *tracker) advance(t heddle.Time) {
	for {
		var next heddle.Time
		switch s, e := k.starts.len() > 0, k.ends.len() > 0; {
		case s && e:
			next = min(k.starts.oldest(), k.ends.oldest())
		case s:
			next = k.starts.oldest()
		case e:
			next = k.ends.oldest()
		default:
			return
		}
		if next.Plus(k.pw) > t {
			return
		}
		k.starts.drop(next)
		k.ends.drop(next)
		k.grown()
	}
}

// trailing returns the number of a phase whose remaining tasks have become trailing tasks by t: some
// ended, none within the last pw, some still run (Alg. 2, line 11).
func (k *tracker) trailing(t heddle.Time) (n int, ok bool) {
	for i := range k.phases {
		p := &k.phases[i]
		if p.ending && p.closed && p.running > 0 && t.Since(p.latest) >= k.pw {
			return k.gone + i, true
		}
	}
	return 0, false
}

// trail moves a phase's remaining tasks to the next one (Alg. 2, line 12), and returns the number of that phase.
func (k *tracker) trail(n int) int {
	p, next := k.at(n), k.at(n+1) // a closed phase has a next
	next.c += p.running
	next.running += p.running
	p.running = 0
	return n + 1
}

// forget drops the first phases that no longer release anything.
func (k *tracker) forget(t heddle.Time) {
	for len(k.phases) > 1 {
		p := &k.phases[0]
		if dps, _ := p.variation(); p.running > 0 || p.ending && t < p.gamma.Plus(dps) {
			return
		}
		k.phases = append(k.phases[:0], k.phases[1:]...)
		k.gone++
	}
}
