package sim

import (
	"heddle"
	"heddle/sim/apps"
	"heddle/sim/world"
)

// full is the full world: it puts package world behind the loop's interface.
type full struct {
	s    *Sim
	w    *world.World
	done []world.Done
}

func newFull(s *Sim) *full {
	f := &full{s: s, w: newWorld(&s.o, func(k world.Work) bool { return s.fails(apps.Work(k)) })}
	for _, a := range s.apps {
		a.inWorld = f.w.AddJob(a.job)
	}
	return f
}

func newWorld(o *Options, fails func(world.Work) bool) *world.World {
	return world.New(world.Config{Nodes: o.Nodes, UplinkBps: o.UplinkBps, Params: o.Params, Effects: o.Effects, Seed: o.Seed, Fails: fails})
}

func (f *full) run(now heddle.Time, c *container, w apps.Work) {
	reads := w
	if source, cached := f.w.Source(c.app.inWorld, world.Work(w)); cached {
		reads = apps.Work(source)
	}
	f.w.Run(now, world.Work(w), f.s.hostsOf(c.app, reads))
}

func (f *full) close(now heddle.Time, c *container) { f.w.Close(now, c.id) }
func (f *full) next() (heddle.Time, bool)           { return f.w.Next() }

func (f *full) advance(now heddle.Time, out []ended) []ended {
	f.done = f.w.Advance(now, f.done[:0])
	for i := range f.done {
		d := &f.done[i]
		if d.Outcome == world.Started {
			if c := f.s.container(d.Work.Container); c != nil {
				f.s.begins(c, d.At)
			}
			continue
		}
		e := ended{work: apps.Work(d.Work), ok: d.Outcome == world.Finished, at: d.Read, output: d.Output}
		switch d.Outcome {
		case world.OverLimit:
			e.status = heddle.KilledOverPhysical
		case world.OutOfMemory, world.Failed:
			e.status = 1
		case world.Finished, world.Started:
		}
		out = append(out, e)
	}
	return out
}

func (f *full) setLimit(now heddle.Time, c *container) { f.w.SetLimit(now, c.id, c.limit) }
func (f *full) setWeight(now heddle.Time, c *container, weight int64) {
	f.w.SetWeight(now, c.id, weight)
}
func (f *full) suspend(now heddle.Time, c *container) { f.w.Suspend(now, c.id) }
func (f *full) resume(now heddle.Time, c *container)  { f.w.Resume(now, c.id) }

func (f *full) setSpeed(now heddle.Time, n heddle.NodeID, factor float64) {
	f.w.SetSpeed(now, n, factor)
}
func (f *full) nodeDown(now heddle.Time, n heddle.NodeID) { f.w.NodeDown(now, n) }
func (f *full) nodeUp(now heddle.Time, n heddle.NodeID)   { f.w.NodeUp(now, n) }

func (f *full) launch(now heddle.Time, c *container) bool {
	f.w.Open(now, c.id, c.app.inWorld, c.kind, c.node, c.told, c.limit)
	return f.w.Start(now, c.id)
}

func (f *full) leave(heddle.Time, *app, entry) bool { return false }

func (f *full) linger(a *app) heddle.Span {
	if a.job.Framework == heddle.MapReduce {
		return unregisterGrace
	}
	return 0
}

func (f *full) launchDelay() heddle.Span { return 0 }
func (f *full) endJob(a *app)            { f.w.EndJob(a.inWorld) }

func (f *full) cached(a *app) func(apps.Work) heddle.ContainerID {
	return func(w apps.Work) heddle.ContainerID { return f.w.Cached(a.inWorld, world.Work(w)) }
}

func (f *full) mapsDone(heddle.Time, *app) {} // its reduces copy

func (f *full) manage(now heddle.Time, c *container, n int) { f.w.SetManaged(now, c.id, n) }

func (f *full) progress(now heddle.Time, c *container) (heddle.Phase, float64) {
	return f.w.Progress(now, c.id)
}
func (f *full) usage(now heddle.Time, c *container) (int64, int64) { return f.w.Usage(now, c.id) }
func (f *full) cpuUsed(now heddle.Time) float64                    { return f.w.CPUUsed(now) }
func (f *full) memoryUsed(now heddle.Time) float64                 { return f.w.MemoryUsed(now) }
func (f *full) memoryFilled(now heddle.Time) float64               { return f.w.MemoryFilled(now) }

func (f *full) nodeUsed(now heddle.Time, n heddle.NodeID) (float64, bool) {
	return f.w.NodeCPUUsed(now, n), true
}

func (f *full) consumed(now heddle.Time, c *container) (float64, int64) {
	return f.w.Consumed(now, c.id)
}

func (f *full) diskBusy(now heddle.Time, n heddle.NodeID) heddle.Span {
	return heddle.Seconds(f.w.DiskBusy(now, n))
}

func (f *full) disks(now heddle.Time) world.DiskStats {
	var sum world.DiskStats
	for i := range f.s.o.Nodes {
		d := f.w.Disk(now, heddle.NodeID(i))
		sum.Busy += d.Busy
		sum.IOWait += d.IOWait
		sum.Requests += d.Requests
		sum.Service += d.Service
		sum.Await += d.Await
	}
	return sum
}
