package sim

import (
	"heddle"
	"heddle/sim/apps"
	"heddle/sim/world"
)

// given is the world in which every container lasts exactly as long as the trace says, from the moment its master
// starts it. Only scheduling and heartbeats take time. A reduce that starts before its job's last map has ended does
// not end before that map, because it would lack its input. A reduce that waited for maps in its trace waits for them
// here too: it then lasts what it lasted there, from the end of the last map or from its own start, whichever is later.
type given struct {
	s    *Sim
	ends endings
	runs []givenRun
	free []int32
	cpu  float64 // core-seconds so far
	busy int64   // milli-vcores running
	last heddle.Time
}

type givenRun struct {
	work  apps.Work
	live  bool
	gen   uint32
	waits bool // for its job's last map; lasts counts from there
	start heddle.Time
	lasts heddle.Span
	left  heddle.Span // while suspended
	cpu   int64
}

// newRun records work that begins in a container.
func (g *given) newRun(now heddle.Time, c *container, w apps.Work) int32 {
	i := int32(len(g.runs))
	if n := len(g.free); n > 0 {
		i, g.free = g.free[n-1], g.free[:n-1]
	} else {
		g.runs = append(g.runs, givenRun{})
	}
	r := &g.runs[i]
	*r = givenRun{work: w, live: true, gen: r.gen + 1, start: now, lasts: g.s.durationOf(c.app, w), cpu: g.s.coresOf(c, w)}
	c.runs = append(c.runs, i)
	return i
}

func (g *given) run(now heddle.Time, c *container, w apps.Work) {
	i := g.newRun(now, c, w)
	r := &g.runs[i]
	if t := c.app.task(w); t.Waited > 0 {
		r.lasts, r.waits = t.Worked(), c.app.mapsLeft > 0
	}
	if c.frozen {
		r.left = r.lasts
		return
	}
	g.account(now, r.cpu)
	g.plan(now, c.app, i, r.lasts)
}

// plan makes a run end after the given time, which counts from the last map's end if the run waits for that.
func (g *given) plan(now heddle.Time, a *app, i int32, after heddle.Span) {
	e := end{now.Plus(after), i, g.runs[i].gen}
	if g.runs[i].waits {
		a.held = append(a.held, e)
		return
	}
	g.ends.push(e)
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
		if g.s.fails(w) {
			d.ok, d.status = false, 1
		}
		done = append(done, d)
	}
}

// hold keeps a reduce whose time is up until the maps are done.
func (g *given) hold(now heddle.Time, a *app, e end) {
	r := &g.runs[e.run]
	g.account(now, -r.cpu)
	r.cpu = 0
	a.held = append(a.held, e)
}

// mapsDone lets the reduces that waited for the maps end or go on.
func (g *given) mapsDone(now heddle.Time, a *app) {
	for _, e := range a.held {
		r := &g.runs[e.run]
		if g.stale(e) {
			continue
		}
		e.at = now
		if r.waits {
			r.waits, e.at = false, now.Plus(r.lasts)
			r.lasts += now.Since(r.start)
		}
		g.ends.push(e)
	}
	a.held = nil
}

func (g *given) setLimit(heddle.Time, *container)         {}
func (g *given) setWeight(heddle.Time, *container, int64) {}

// suspend stops the clock of the container's work.
func (g *given) suspend(now heddle.Time, c *container) {
	for _, i := range c.runs {
		r := &g.runs[i]
		if r.left > 0 {
			continue
		}
		r.left = r.lasts
		if r.waits {
			r.lasts += now.Since(r.start)
		} else {
			r.left = max(r.lasts-now.Since(r.start), 1)
		}
		g.account(now, -r.cpu)
	}
}

func (g *given) resume(now heddle.Time, c *container) {
	for _, i := range c.runs {
		r := &g.runs[i]
		if r.left == 0 {
			continue
		}
		r.gen++
		r.start = now - heddle.Time(r.lasts-r.left)
		if r.waits = r.waits && c.app.mapsLeft > 0; r.waits {
			r.lasts = r.left
		}
		g.plan(now, c.app, i, r.left)
		r.left = 0
		g.account(now, r.cpu)
	}
}

func (g *given) setSpeed(heddle.Time, heddle.NodeID, float64) {}
func (g *given) nodeDown(heddle.Time, heddle.NodeID)          {}
func (g *given) nodeUp(heddle.Time, heddle.NodeID)            {}
func (g *given) launchDelay() heddle.Span                     { return 0 }
func (g *given) linger(*app) heddle.Span                      { return 0 }

func (g *given) launch(heddle.Time, *container) bool { return false }
func (g *given) leave(heddle.Time, *app, entry) bool { return false }

func (g *given) endJob(*app)                                    {}
func (g *given) cached(*app) func(apps.Work) heddle.ContainerID { return nil }
func (g *given) manage(heddle.Time, *container, int)            {}

func (g *given) progress(now heddle.Time, c *container) (heddle.Phase, float64) {
	if len(c.runs) == 0 {
		return heddle.Holding, 0
	}
	r := &g.runs[c.runs[0]]
	gone, lasts := r.gone(now)
	return heddle.NoPhase, min(float64(gone)/float64(lasts), 1)
}

// gone returns how long a piece of work has run, without suspensions, and how long it lasts in total. For one that
// waits, the total assumes that the last map ends now.
func (r *givenRun) gone(now heddle.Time) (gone, lasts heddle.Span) {
	switch gone = now.Since(r.start); {
	case r.left > 0:
		return r.lasts - r.left, r.lasts
	case r.waits:
		return gone, gone + r.lasts
	}
	return gone, r.lasts
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

// consumed counts the work in the container; a map or a reduce has one piece of work in its life. A reduce that is held
// because maps are missing uses nothing any more.
func (g *given) consumed(now heddle.Time, c *container) (float64, int64) {
	cpu := c.ended
	for _, i := range c.runs {
		cpu += g.used(now, c, &g.runs[i])
	}
	return cpu, c.limit[heddle.Memory]
}

// used returns the processor time of a piece of work so far, in vcore-seconds.
func (g *given) used(now heddle.Time, c *container, r *givenRun) float64 {
	gone, lasts := r.gone(now)
	return float64(g.s.coresOf(c, r.work)) / 1000 * min(gone, lasts).Seconds()
}

func (g *given) diskBusy(heddle.Time, heddle.NodeID) heddle.Span { return 0 }

func (g *given) disks(heddle.Time) world.DiskStats { return world.DiskStats{} }

// nodeUsed is unknown: a container lasts equally long on any machine.
func (g *given) nodeUsed(heddle.Time, heddle.NodeID) (float64, bool) { return 0, false }

// memoryUsed assumes that containers use what they hold.
func (g *given) memoryUsed(heddle.Time) float64 { return g.s.m.memory }

// memoryFilled is 0: the given world has neither a system nor files.
func (g *given) memoryFilled(heddle.Time) float64 { return 0 }

func (g *given) cpuUsed(now heddle.Time) float64 {
	g.account(now, 0)
	return g.cpu
}
