package sim

import (
	"heddle"
	"heddle/sim/apps"
	"heddle/sim/world"
)

// given is the world in which every container lasts exactly what the trace says, from the moment its
// master starts it. Only scheduling and heartbeats take time. A reduce that was started before its job's
// last map ended does not end before that map: it would lack its input.
type given struct {
	s    *Sim
	ends endings
	runs []givenRun
	free []int32
	cpu  float64 // core-seconds of the past
	busy int64   // milli-vcores running
	last heddle.Time
}

type givenRun struct {
	work  apps.Work
	live  bool
	gen   uint32
	start heddle.Time
	left  heddle.Span // while suspended
	cpu   int64
}

func (g *given) open(heddle.Time, *container) {}

// newRun notes work that begins in a container.
func (g *given) newRun(now heddle.Time, c *container, w apps.Work) int32 {
	i := int32(len(g.runs))
	if n := len(g.free); n > 0 {
		i, g.free = g.free[n-1], g.free[:n-1]
	} else {
		g.runs = append(g.runs, givenRun{})
	}
	r := &g.runs[i]
	*r = givenRun{work: w, live: true, gen: r.gen + 1, start: now, cpu: g.s.coresOf(c, w)}
	c.runs = append(c.runs, i)
	return i
}

func (g *given) run(now heddle.Time, c *container, w apps.Work) {
	i := g.newRun(now, c, w)
	r := &g.runs[i]
	if c.frozen {
		r.left = g.s.durationOf(c.app, w)
		return
	}
	g.account(now, r.cpu)
	g.ends.push(end{now.Plus(g.s.durationOf(c.app, w)), i, r.gen})
}

// account integrates the processors in use.
func (g *given) account(now heddle.Time, delta int64) {
	g.cpu += float64(g.busy) / 1000 * now.Since(g.last).Seconds()
	g.last = now
	g.busy += delta
}

func (g *given) drop(now heddle.Time, c *container, i int32) {
	r := &g.runs[i]
	c.ended += g.used(now, c, r)
	if r.left == 0 {
		g.account(now, -r.cpu)
	}
	r.live = false
	g.free = append(g.free, i)
	for k, j := range c.runs {
		if j == i {
			c.runs = append(c.runs[:k], c.runs[k+1:]...)
			break
		}
	}
}

func (g *given) close(now heddle.Time, c *container) {
	for len(c.runs) > 0 {
		g.drop(now, c, c.runs[len(c.runs)-1])
	}
}

func (g *given) stale(e end) bool {
	r := &g.runs[e.run]
	return !r.live || r.gen != e.gen || r.left > 0
}

func (g *given) next() (heddle.Time, bool) {
	for len(g.ends) > 0 && g.stale(g.ends[0]) {
		g.ends.pop()
	}
	if len(g.ends) == 0 {
		return 0, false
	}
	return g.ends[0].at, true
}

func (g *given) advance(now heddle.Time, done []ended) []ended {
	for {
		at, ok := g.next()
		if !ok || at > now {
			return done
		}
		e := g.ends.pop()
		w := g.runs[e.run].work
		c := g.s.container(w.Container)
		if w.Kind == heddle.Reduce && c.app.mapsLeft > 0 {
			g.hold(at, c.app, e)
			continue
		}
		g.drop(at, c, e.run)
		d := ended{work: w, ok: true}
		if g.s.fails(w.Container) {
			d.ok, d.status = false, 1
		}
		done = append(done, d)
	}
}

// hold keeps a reduce that is through with its time until the maps are done.
func (g *given) hold(now heddle.Time, a *app, e end) {
	r := &g.runs[e.run]
	g.account(now, -r.cpu)
	r.cpu = 0
	a.held = append(a.held, e)
}

// mapsDone lets the reduces end that waited for the maps.
func (g *given) mapsDone(now heddle.Time, a *app) {
	for i := range a.held {
		a.held[i].at = now
		g.ends.push(a.held[i])
	}
	a.held = nil
}

func (g *given) setLimit(heddle.Time, *container)         {}
func (g *given) setWeight(heddle.Time, *container, int64) {}

// suspend stops the clock of the container's work.
func (g *given) suspend(now heddle.Time, c *container) {
	for _, i := range c.runs {
		r := &g.runs[i]
		if total := g.s.durationOf(c.app, r.work); r.left == 0 {
			r.left = max(total-now.Since(r.start), 1)
			g.account(now, -r.cpu)
		}
	}
}

func (g *given) resume(now heddle.Time, c *container) {
	for _, i := range c.runs {
		r := &g.runs[i]
		if r.left == 0 {
			continue
		}
		r.gen++
		r.start = now - heddle.Time(g.s.durationOf(c.app, r.work)-r.left)
		g.ends.push(end{now.Plus(r.left), i, r.gen})
		r.left = 0
		g.account(now, r.cpu)
	}
}

func (g *given) setSpeed(heddle.Time, heddle.NodeID, float64) {}
func (g *given) nodeDown(heddle.Time, heddle.NodeID)          {}
func (g *given) nodeUp(heddle.Time, heddle.NodeID)            {}
func (g *given) launchDelay(heddle.Kind) heddle.Span          { return 0 }
func (g *given) linger(*app) heddle.Span                      { return 0 }

func (g *given) launch(heddle.Time, *container, entry) bool { return false }
func (g *given) leave(heddle.Time, *app, entry) bool        { return false }

func (g *given) endJob(*app)                                    {}
func (g *given) cached(*app) func(apps.Work) heddle.ContainerID { return nil }
func (g *given) manage(heddle.Time, *container, int)            {}

func (g *given) progress(now heddle.Time, c *container) (heddle.Phase, float64) {
	if len(c.runs) == 0 {
		return heddle.Holding, 0
	}
	r := &g.runs[c.runs[0]]
	return heddle.NoPhase, min(float64(g.gone(now, c, r))/float64(g.s.durationOf(c.app, r.work)), 1)
}

// gone is how long a piece of work has run, suspensions left out.
func (g *given) gone(now heddle.Time, c *container, r *givenRun) heddle.Span {
	if r.left > 0 {
		return g.s.durationOf(c.app, r.work) - r.left
	}
	return now.Since(r.start)
}

func (g *given) usage(_ heddle.Time, c *container) (int64, int64) {
	var cpu int64
	for _, i := range c.runs {
		if g.runs[i].left == 0 {
			cpu += g.runs[i].cpu
		}
	}
	return cpu, c.limit[heddle.Memory]
}

// consumed counts the work in the container, of which a map or a reduce has one piece in its life; a reduce
// that is held for want of maps uses nothing any more.
func (g *given) consumed(now heddle.Time, c *container) (float64, int64) {
	cpu := c.ended
	for _, i := range c.runs {
		cpu += g.used(now, c, &g.runs[i])
	}
	return cpu, c.limit[heddle.Memory]
}

// used is the processor time of a piece of work so far, in vcore-seconds.
func (g *given) used(now heddle.Time, c *container, r *givenRun) float64 {
	span := min(g.gone(now, c, r), g.s.durationOf(c.app, r.work))
	return float64(g.s.coresOf(c, r.work)) / 1000 * span.Seconds()
}

func (g *given) diskBusy(heddle.Time, heddle.NodeID) heddle.Span { return 0 }

func (g *given) disks(heddle.Time) world.DiskStats { return world.DiskStats{} }

// nodeUsed is unknown: containers last as long as they do, on whatever machine.
func (g *given) nodeUsed(heddle.Time, heddle.NodeID) (float64, bool) { return 0, false }

// memoryUsed takes containers to use what they hold.
func (g *given) memoryUsed(heddle.Time) float64 { return g.s.m.memory }

// memoryFilled is nothing: the given world has neither a system nor files.
func (g *given) memoryFilled(heddle.Time) float64 { return 0 }

func (g *given) cpuUsed(now heddle.Time) float64 {
	g.account(now, 0)
	return g.cpu
}
