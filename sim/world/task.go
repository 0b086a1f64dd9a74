package world

import "heddle"

// The steps of a task.
const (
	stepMap = iota
	stepSpill
	stepCopy
	stepMerge
	stepReduce
	stepRun   // of a Spark or a plain task
	stepStart // of a container's process
)

// A task is a piece of work that is running.
type task struct {
	work  Work
	cont  int32
	node  int32
	job   *job
	step  uint8
	act   int32 // the stage it is in, -1 while it waits
	read  heddle.Locality
	hosts []heddle.NodeID

	demand int64 // MiB it would like at its peak

	mark float64 // position in the node's page cache when it began

	// A map's second stage: what it takes, and which of the bytes it reads again.
	spillCPU, spillDisk, spillRead float64

	// A reduce.
	part, copied, burst float64 // bytes
	waiting             int32   // place in job.waiting, -1 when not
}

// Run starts a piece of work in an open container; an executor runs several at once. Hosts are the nodes that hold its
// input, those of the workload mapped to this cluster or those the caller placed. Without hosts, the input is at hand
// wherever the work runs.
func (w *World) Run(now heddle.Time, k Work, hosts []heddle.NodeID) {
	w.at(now)
	c, ok := w.byID[k.Container]
	if !ok {
		return
	}
	j := w.job(w.conts[c].job)
	if j == nil || !j.has(k) || (k.Kind == heddle.Executor) != (w.conts[c].kind == heddle.Executor) {
		return
	}
	i := slot(&w.freeT, &w.tasks)
	w.tasks[i] = task{work: k, cont: c, node: w.conts[c].node, job: j, act: -1, waiting: -1, mark: w.nodes[w.conts[c].node].cache.high, hosts: append(w.tasks[i].hosts[:0], hosts...)}
	w.conts[c].tasks = append(w.conts[c].tasks, i)
	w.divideUp(c)
	switch k.Kind {
	case heddle.Map:
		w.startMap(i)
	case heddle.Reduce:
		w.startReduce(i)
	case heddle.Executor:
		w.startSpark(i)
	default:
		w.startPlain(i)
	}
	w.watch(i)
}

// has reports whether the job has such work.
func (j *job) has(k Work) bool {
	n := 0
	switch k.Kind {
	case heddle.Map:
		n = len(j.def.Maps)
	case heddle.Reduce:
		n = len(j.def.Reduces)
	case heddle.Executor:
		if s := j.def.Spark; s != nil && k.Stage >= 0 && int(k.Stage) < len(s.Stages) {
			n = len(s.Stages[k.Stage].Tasks)
		}
	case heddle.Other:
		n = len(j.def.Other)
	case heddle.AM: // the master itself, not a task
	}
	return k.Index >= 0 && int(k.Index) < n
}

// watch arms the monitor for a task that wants more than its container was told.
func (w *World) watch(i int32) {
	t := &w.tasks[i]
	c := &w.conts[t.cont]
	if w.fx.MemoryKill && w.fx.Memory && t.demand > c.told[heddle.Memory] && c.killAt == 0 {
		c.killAt = w.now.Plus(MonitorInterval)
		w.timer(timer{at: c.killAt, cont: c.id})
	}
}

// begin starts a stage of a task, unless its container is suspended: then the stage starts when the container is
// resumed.
func (w *World) begin(a int32) {
	t := &w.tasks[w.acts[a].task]
	w.acts[a].mult = w.lacking(&w.conts[t.cont], w.wants(t))
	w.pass(a)
	if !w.conts[t.cont].suspended {
		w.plug(a)
	}
}

// setMult adapts a task's stage to a change of the limit.
func (w *World) setMult(i int32) {
	t := &w.tasks[i]
	if t.act < 0 {
		return
	}
	a := &w.acts[t.act]
	if a.on {
		w.progress(t.act)
	}
	a.mult = w.lacking(&w.conts[t.cont], w.wants(t))
	if a.on {
		w.renew(t.node)
	}
}

// wants returns the memory a task would like now; a reduce's grows as it copies.
func (w *World) wants(t *task) int64 {
	switch {
	case t.work.Kind == heddle.Executor:
		return w.conts[t.cont].demand
	case t.step == stepCopy && t.part > 0:
		done := min(1, (t.copied+t.burst)/t.part)
		return w.p.TaskBase + int64(float64(max(0, t.demand-w.p.TaskBase))*done)
	}
	return t.demand
}

// endTask removes a task from the world.
func (w *World) endTask(i int32) {
	t := &w.tasks[i]
	if t.act >= 0 {
		w.free(t.act)
	}
	w.unwait(i)
	c := &w.conts[t.cont]
	for k, o := range c.tasks {
		if o == i {
			c.tasks = append(c.tasks[:k], c.tasks[k+1:]...)
			break
		}
	}
	w.divideUp(t.cont)
	if c.kind == heddle.Executor {
		w.executorDemand(t.cont)
	} else {
		w.setDemand(t.cont, w.idleDemand(c))
	}
	t.job = nil
	w.freeT = append(w.freeT, i)
}

// stageDone lets a task go on after a stage.
func (w *World) stageDone(i int32, done []Done) []Done {
	t := &w.tasks[i]
	switch t.step {
	case stepMap:
		if t.spillCPU > 0 || t.spillDisk > 0 {
			w.spill(i)
			return done
		}
	case stepCopy:
		t.copied += t.burst
		t.burst = 0
		w.fetchMore(i)
		return done
	case stepMerge:
		w.reduce(i)
		return done
	case stepStart:
		up := Done{At: w.now.Plus(w.startOf(t).Rest), Work: t.work, Node: heddle.NodeID(t.node), Outcome: Started}
		w.endTask(i)
		return append(done, up)
	}
	d := Done{At: w.now, Work: t.work, Node: heddle.NodeID(t.node), Read: t.read}
	if w.fails != nil && w.fails(t.work) {
		d.Outcome = Failed
		w.endTask(i)
		return append(done, d)
	}
	switch t.work.Kind {
	case heddle.Map:
		d.Output = w.left(t.job, t.work.Index, t.node)
	case heddle.Executor:
		w.sparkDone(t)
	default:
	}
	w.endTask(i)
	return append(done, d)
}

// readFrom makes a stage read bytes of a file: from its own disk if a replica is there, else from the nearest node that
// holds one, through both networks, at the cost of receiving.
func (w *World) readFrom(a *act, t *task, bytes float64, hosts []heddle.NodeID) {
	if bytes <= 0 {
		return
	}
	src := t.node
	if w.fx.Locality {
		src, t.read = w.nearest(t.node, hosts, t.work.Index+t.work.Attempt)
	}
	if src == t.node {
		a.legs[0].disk += bytes
		return
	}
	w.receive(a, src, bytes, bytes)
}

// receive makes a stage receive bytes from a node, of which disk come from that node's disk.
func (w *World) receive(a *act, src int32, bytes, disk float64) {
	a.legs[0].in += bytes
	a.cpu += float64(bytes * w.p.NetCPU)
	a.add(leg{node: src, disk: disk, out: bytes})
	w.overRacks(a, src, a.home, bytes)
}

// overRacks records bytes that leave a rack.
func (w *World) overRacks(a *act, src, dst int32, bytes float64) {
	from, to := w.nodes[src].rack, w.nodes[dst].rack
	if from == to || w.racks[from].uplink <= 0 {
		return
	}
	a.paths[a.npath] = path{from: from, to: to, bytes: bytes}
	a.npath++
}

// nearest chooses the node to read from: the node itself, else one in its rack, else any; among equal ones the choice
// rotates by number. Without a replica on a live node, the data count as at hand.
func (w *World) nearest(node int32, hosts []heddle.NodeID, number int32) (int32, heddle.Locality) {
	best, equals := heddle.OffSwitch+1, uint32(0)
	for _, h := range hosts {
		switch l := w.distance(node, h); {
		case l < best:
			best, equals = l, 1
		case l == best:
			equals++
		}
	}
	if best == heddle.NodeLocal || best > heddle.OffSwitch {
		return node, heddle.NodeLocal
	}
	turn := uint32(number) % equals
	for _, h := range hosts {
		if w.distance(node, h) != best {
			continue
		}
		if turn == 0 {
			return int32(h), best
		}
		turn--
	}
	return node, heddle.NodeLocal
}

// distance returns how far a host is; beyond OffSwitch if it is down or there is none.
func (w *World) distance(node int32, h heddle.NodeID) heddle.Locality {
	switch {
	case !w.known(h) || !w.nodes[h].up:
		return heddle.OffSwitch + 1
	case int32(h) == node:
		return heddle.NodeLocal
	case w.nodes[h].rack == w.nodes[node].rack:
		return heddle.RackLocal
	}
	return heddle.OffSwitch
}

// writeOut makes a stage write a file: to its own disk, and on to the other replicas, the second in another rack and
// the third in that same rack. Copies smaller than Params.FreeOutput cost nothing.
func (w *World) writeOut(a *act, t *task, bytes float64) {
	a.legs[0].disk += bytes
	a.legs[0].writes += bytes
	if bytes < w.p.FreeOutput {
		return
	}
	w.pcg.Seed(mix(w.seed^streamPlace^uint64(t.job.id)<<20), mix(uint64(t.work.Kind)<<60|uint64(t.work.Stage)<<32|uint64(t.work.Index)))
	prev := t.node
	for r := 1; r < w.replicas(t.job); r++ {
		at := w.place(t.node, prev, r)
		if at < 0 {
			return
		}
		if r == 1 {
			a.legs[0].out += bytes
			w.overRacks(a, t.node, at, bytes)
		} else {
			a.legs[a.nlegs-1].out += bytes
			w.overRacks(a, prev, at, bytes)
		}
		a.add(leg{node: at, in: bytes, disk: bytes, writes: bytes})
		prev = at
	}
}

// replicas returns how many copies of a job's output there are.
func (w *World) replicas(j *job) int {
	if j.def.Replicas > 0 {
		return min(j.def.Replicas, 3)
	}
	return min(w.p.Replicas, 3)
}

// place draws a node for a replica, or returns -1 if a few draws find none.
func (w *World) place(home, prev int32, r int) int32 {
	for range 8 {
		k := w.nodes[prev].rack
		if r == 1 && len(w.racks) > 1 {
			k = int32(w.rng.IntN(len(w.racks)))
			if k == w.nodes[home].rack {
				continue
			}
		}
		if len(w.racks[k].nodes) == 0 {
			continue
		}
		n := w.racks[k].nodes[w.rng.IntN(len(w.racks[k].nodes))]
		if n != home && n != prev && w.nodes[n].up {
			return n
		}
	}
	return -1
}

// reroute moves the leg of a stage off a lost node.
func (w *World) reroute(u user) {
	a := &w.acts[u.act]
	w.progress(u.act)
	w.dropLeg(u.act, u.leg)
	g := a.legs[u.leg]
	last := a.nlegs - 1
	if u.leg != last {
		a.legs[u.leg] = a.legs[last]
		m := &a.legs[u.leg]
		w.nodes[m.node].users[m.pos].leg = u.leg
	}
	a.nlegs--
	t := &w.tasks[a.task]
	if g.in == 0 { // the stage read from there
		if src, _ := w.nearest(t.node, t.hosts, t.work.Index); src != t.node {
			g.node, g.pos, g.share = src, int32(len(w.nodes[src].users)), 0
			w.nodes[src].users = append(w.nodes[src].users, user{u.act, a.nlegs})
			w.touch(src)
			a.add(g)
		}
	}
	w.renew(a.home)
}
