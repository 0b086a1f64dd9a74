package world

import "heddle"

// A mapNeed is what a map takes. It reads, computes and collects at the same time; when the sort buffer is full, it
// spills meanwhile; at the end it sorts what is left and merges. Without reduces it writes its output to the file
// system as it goes.
type mapNeed struct {
	in, out            float64 // bytes; out to the file system
	cpu, spillCPU      float64 // core-seconds, of the first and the last stage
	spilled, spillDisk float64 // bytes of disk, in the first and the last stage
	spillRead          float64 // of the last stage's, those that it reads
	demand             int64   // MiB
}

func (w *World) mapNeed(j *job, i int32) mapNeed {
	d := &j.def.Maps[i]
	n := mapNeed{in: max(0, float64(d.Input)), demand: d.Memory}
	out := max(0, j.out(i))
	worked := n.in
	if worked == 0 {
		worked = out
	}
	n.cpu = w.processor(j, d, heddle.Map, 0, i, j.prog.Fixed+j.prog.Map*worked/mib)
	if n.demand == 0 {
		n.demand = w.p.TaskBase
	}
	if len(j.def.Reduces) == 0 {
		n.out = out
		return n
	}
	if d.Memory == 0 {
		n.demand += w.p.SortBuffer
	}
	n.spillCPU = min(w.p.SortShare*n.cpu, w.p.SortCPU*out/mib)
	n.cpu -= n.spillCPU
	n.spillDisk = out
	if out > w.p.SpillPercent*float64(w.p.SortBuffer*mib) {
		n.spilled, n.spillDisk, n.spillRead = out, 2*out, out
	}
	return n
}

func (w *World) startMap(i int32) {
	t := &w.tasks[i]
	n := w.mapNeed(t.job, t.work.Index)
	t.step, t.demand, t.spillCPU, t.spillDisk, t.spillRead = stepMap, n.demand, n.spillCPU, n.spillDisk, n.spillRead
	w.setDemand(t.cont, n.demand)
	k := w.newAct(i)
	a := &w.acts[k]
	a.cpu = n.cpu
	if n.spillDisk > 0 {
		a.cpu += w.collecting(w.conts[t.cont].heap(), n.in)
	}
	a.spill(n.spilled, 0)
	w.readFrom(a, t, n.in, t.hosts)
	if n.out > 0 {
		w.writeOut(a, t, n.out)
	}
	w.begin(k)
}

// collecting returns the processor time that a map sorting the given bytes loses to full collections in a container of
// the given MiB.
func (w *World) collecting(container int64, in float64) float64 {
	heap := w.p.HeapRatio * float64(container) * mib / 1e6
	if heap >= w.p.GCNone || !w.fx.Memory {
		return 0
	}
	return w.p.FullGC * w.p.GCs * (w.p.GCNone - heap) / (w.p.GCNone - w.p.GCHeap) * in / (w.p.GCSplit * 1e6)
}

// spill starts a map's last stage.
func (w *World) spill(i int32) {
	t := &w.tasks[i]
	t.step = stepSpill
	k := w.newAct(i)
	w.acts[k].cpu = t.spillCPU
	w.acts[k].spill(t.spillDisk-t.spillRead, t.spillRead*(1-w.warm(t, t.spillRead)))
	w.begin(k)
}

// A reduceNeed is what a reduce takes: it copies its part as maps end, merges it, reduces it and writes the result.
type reduceNeed struct {
	part, result       float64 // bytes
	mergeCPU, cpu      float64 // core-seconds
	mergeDisk, spilled float64 // bytes of disk: of the merge; per copied byte
	mergeRead          float64 // of the merge's, those that it reads
	demand             int64   // MiB
}

// reduceNeed computes the need of a reduce in a container of limit MiB: what does not fit in its shuffle buffer is
// spilled while it is copied, and what does is written before the reduce function starts.
func (w *World) reduceNeed(j *job, i int32, limit int64) reduceNeed {
	d := &j.def.Reduces[i]
	n := reduceNeed{part: max(0, j.parts[i]), demand: d.Memory}
	n.result = max(0, float64(d.Output))
	if d.Output == 0 && !d.NoOutput {
		n.result = n.part * j.prog.Result
	}
	n.cpu = w.reduceCPU(j, i, n.part)
	n.mergeCPU = w.p.MergeShare * n.cpu
	n.cpu -= n.mergeCPU
	buffer := w.p.HeapRatio * w.p.ShuffleBuffer * float64(max(limit, 1)) * mib
	n.mergeDisk = n.part
	if n.part > buffer {
		n.spilled = 1
		n.mergeDisk = 0
		for runs := n.part / (w.p.MergePercent * buffer); runs > w.p.SortFactor; runs /= max(2, w.p.SortFactor) {
			n.mergeDisk += 2 * n.part // one more pass over everything
			n.mergeRead += n.part
		}
	}
	if n.demand == 0 {
		n.demand = w.p.TaskBase + min(w.p.ReduceWants, int64(w.p.ReducePerInput*n.part/mib))
	}
	return n
}

// reduceCPU returns the processor time of a reduce after the copy. A stated duration includes the copy, so the time the
// copy takes on an idle network is subtracted. A reduce that waited for maps had copied by then.
func (w *World) reduceCPU(j *job, i int32, part float64) float64 {
	d := &j.def.Reduces[i]
	if d.CPU <= 0 && d.Waited > 0 {
		return d.Worked().Seconds()
	}
	s := w.processor(j, d, heddle.Reduce, 0, i, j.prog.Reduce*part/mib)
	if d.CPU <= 0 && d.Duration > 0 {
		s = max(0, s-part/w.bounds.nic)
	}
	return s
}

func (w *World) startReduce(i int32) {
	t := &w.tasks[i]
	n := w.reduceNeed(t.job, t.work.Index, w.conts[t.cont].told[heddle.Memory])
	t.step, t.part, t.demand = stepCopy, n.part, n.demand
	w.fetchMore(i)
}

// fetchMore makes a reduce copy what has been released and not copied yet. If there is nothing, the reduce waits; if it
// has everything, it goes on.
func (w *World) fetchMore(i int32) {
	t := &w.tasks[i]
	j := t.job
	if t.act >= 0 || t.step != stepCopy {
		return
	}
	c := &w.conts[t.cont]
	if t.part > 0 {
		w.setDemand(t.cont, w.wants(t))
	}
	todo := float64(t.part*j.released) - t.copied
	enough := todo <= 1 // allows a byte of rounding
	switch {
	case c.suspended, enough && j.mapsLeft > 0:
		w.wait(i)
		return
	case enough:
		w.unwait(i)
		w.merge(i)
		return
	}
	w.unwait(i)
	t.burst = todo
	n := w.reduceNeed(j, t.work.Index, c.told[heddle.Memory])
	k := w.newAct(i)
	a := &w.acts[k]
	a.pool, a.reads, a.fetch = j.pool, todo, w.p.Fetchers
	a.legs[0].in = todo * (1 - j.pool.share(t.node))
	a.spill(todo*n.spilled, 0)
	a.cpu = a.legs[0].in * w.p.NetCPU
	w.begin(k)
}

// wait adds a reduce to those that are woken by more map output.
func (w *World) wait(i int32) {
	t := &w.tasks[i]
	if t.waiting < 0 {
		t.waiting = int32(len(t.job.waiting))
		t.job.waiting = append(t.job.waiting, i)
	}
}

func (w *World) unwait(i int32) {
	t := &w.tasks[i]
	if t.waiting < 0 {
		return
	}
	l := t.job.waiting
	last := l[len(l)-1]
	l[t.waiting] = last
	w.tasks[last].waiting = t.waiting
	t.job.waiting = l[:len(l)-1]
	t.waiting = -1
}

// merge starts the sort phase.
func (w *World) merge(i int32) {
	t := &w.tasks[i]
	n := w.reduceNeed(t.job, t.work.Index, w.conts[t.cont].told[heddle.Memory])
	t.step, t.copied = stepMerge, t.part
	w.setDemand(t.cont, n.demand)
	k := w.newAct(i)
	w.acts[k].cpu = n.mergeCPU
	w.acts[k].spill(n.mergeDisk-n.mergeRead, n.mergeRead*(1-w.warm(t, n.mergeRead)))
	w.begin(k)
}

// reduce starts the reduce function, which reads the merged data and writes the result with its replicas.
func (w *World) reduce(i int32) {
	t := &w.tasks[i]
	n := w.reduceNeed(t.job, t.work.Index, w.conts[t.cont].told[heddle.Memory])
	t.step = stepReduce
	k := w.newAct(i)
	a := &w.acts[k]
	a.cpu = n.cpu
	a.spill(0, n.part*(1-w.warm(t, n.part)))
	w.writeOut(a, t, n.result)
	w.begin(k)
}

// startPlain starts a task of which only the length and input are known.
func (w *World) startPlain(i int32) {
	t := &w.tasks[i]
	d := &t.job.def.Other[t.work.Index]
	t.step, t.demand = stepRun, max(d.Memory, w.p.TaskBase)
	w.setDemand(t.cont, t.demand)
	k := w.newAct(i)
	a := &w.acts[k]
	a.cpu = w.plainCPU(t.job, t.work.Index)
	w.readFrom(a, t, max(0, float64(d.Input)), t.hosts)
	if d.Output > 0 {
		w.writeOut(a, t, float64(d.Output))
	}
	w.begin(k)
}

func (w *World) plainCPU(j *job, i int32) float64 {
	d := &j.def.Other[i]
	return w.processor(j, d, heddle.Other, 0, i, j.prog.Map*max(0, float64(d.Input))/mib)
}
