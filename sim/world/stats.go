package world

import "heddle"

// DiskStats sums up what a node's disk did, as iostat does.
type DiskStats struct {
	Busy     float64 // seconds, weighted by the fraction of the disk in use
	IOWait   float64 // seconds of Busy with idle processors, weighted by both
	Requests float64
	Service  float64 // seconds of service of all requests; divided by Requests: svctm
	Await    float64 // seconds from request to end of all requests; divided by Requests: await
}

// CPUUsed returns the processor time that all tasks have used so far, in core-seconds: each second that a core worked
// counts, however fast the core.
func (w *World) CPUUsed(now heddle.Time) float64 {
	w.at(now)
	w.flush()
	sum := 0.0
	for i := range w.nodes {
		w.settle(&w.nodes[i])
		sum += w.nodes[i].cpuDone
	}
	return sum
}

// NodeCPUUsed returns the processor time used so far on a node, in core-seconds. It is read-only: it does not move the
// clock.
func (w *World) NodeCPUUsed(now heddle.Time, id heddle.NodeID) float64 {
	if !w.known(id) {
		return 0
	}
	n := &w.nodes[id]
	return n.cpuDone + float64(n.cpuRate*now.Since(n.since).Seconds())
}

// MemoryUsed returns the memory that processes have held so far, in MiB·s: what is resident, not what limits allow. It
// is read-only.
func (w *World) MemoryUsed(now heddle.Time) float64 {
	return w.filled + float64(w.resident)*now.Since(w.filledAt).Seconds()
}

// MemoryFilled returns for how many seconds so far all memory of all nodes would have been in use, as sar counts it: by
// the system, by processes and by page caches. It is read-only.
func (w *World) MemoryFilled(now heddle.Time) float64 {
	kept := w.kept + float64(w.cached*now.Since(w.keptAt).Seconds())
	return float64(w.p.ReservedMemory*heddle.Span(now).Seconds()) + (w.MemoryUsed(now)+kept/mib)/float64(w.memory)
}

// Disk returns what a node's disk has done so far.
func (w *World) Disk(now heddle.Time, id heddle.NodeID) DiskStats {
	w.at(now)
	w.flush()
	if !w.known(id) {
		return DiskStats{}
	}
	w.settle(&w.nodes[id])
	return w.nodes[id].stats
}

// DiskBusy returns for how many seconds a node's disk has been busy so far, weighted by the fraction of it in use. It
// is read-only: it does not move the clock.
func (w *World) DiskBusy(now heddle.Time, id heddle.NodeID) float64 {
	if !w.known(id) {
		return 0
	}
	n := &w.nodes[id]
	return n.stats.Busy + float64(n.diskShare()*now.Since(n.since).Seconds())
}

// Usage returns the mean processor time that a container has used since the last call, in milli-vcores of its node, and
// the memory it holds, in MiB.
func (w *World) Usage(now heddle.Time, c heddle.ContainerID) (cpu, memory int64) {
	w.at(now)
	w.flush()
	i, ok := w.byID[c]
	if !ok {
		return 0, 0
	}
	k := &w.conts[i]
	for _, t := range k.tasks {
		if a := w.tasks[t].act; a >= 0 && w.acts[a].on {
			w.progress(a)
		}
	}
	if s := heddle.Span(now - k.usageAt).Seconds(); s > 0 {
		n := &w.nodes[k.node]
		cpu = int64((k.cpuUsed-k.usageCPU)/s/n.cores*float64(n.total[heddle.CPU]) + 0.5)
		k.usageAt, k.usageCPU = now, k.cpuUsed
	}
	return cpu, k.held
}

// Consumed returns the processor time that a container has used so far, in vcore-seconds of its node, and the memory it
// holds, in MiB. It is read-only: unlike [World.Usage], it changes neither the clock nor the result of the next call.
func (w *World) Consumed(now heddle.Time, c heddle.ContainerID) (vcoreSeconds float64, memory int64) {
	i, ok := w.byID[c]
	if !ok {
		return 0, 0
	}
	k := &w.conts[i]
	n := &w.nodes[k.node]
	used := k.cpuUsed
	for _, t := range k.tasks {
		if x := w.tasks[t].act; x >= 0 && w.acts[x].on {
			a := &w.acts[x]
			did := min(a.left, a.rate*now.Since(a.since).Seconds())
			used += float64(did * w.cpuNeed(a, n))
		}
	}
	return used / n.cores * float64(n.total[heddle.CPU]) / 1000, k.held
}

// Progress returns the phase of a container and the progress of its task, weighted as in MapReduce: two thirds of a map
// before the sort if it has one, a third of a reduce each for copy, sort and reduce.
func (w *World) Progress(now heddle.Time, c heddle.ContainerID) (heddle.Phase, float64) {
	w.at(now)
	w.flush()
	i, ok := w.byID[c]
	if !ok {
		return heddle.NoPhase, 0
	}
	k := &w.conts[i]
	if k.kind == heddle.AM || k.kind == heddle.Executor {
		return heddle.Holding, 0
	}
	if len(k.tasks) == 0 {
		return heddle.NoPhase, 0
	}
	t := &w.tasks[k.tasks[0]]
	done := 0.0 // of the stage
	if t.act >= 0 {
		if w.acts[t.act].on {
			w.progress(t.act)
		}
		done = 1 - w.acts[t.act].left
	}
	switch t.step {
	case stepMap:
		if t.spillCPU > 0 || t.spillDisk > 0 {
			done *= 2. / 3
		}
		return heddle.MapRead, done
	case stepSpill:
		return heddle.MapRead, (2 + done) / 3
	case stepCopy:
		if t.part <= 0 {
			return heddle.ReduceCopy, t.job.released / 3
		}
		return heddle.ReduceCopy, min(1, (t.copied+float64(t.burst*done))/t.part) / 3
	case stepMerge:
		return heddle.ReduceSort, (1 + done) / 3
	case stepReduce:
		return heddle.ReduceWrite, (2 + done) / 3
	}
	return heddle.NoPhase, done
}
