package world

import (
	"math"

	"heddle"
)

// A container is a process with an enforced limit.
type container struct {
	id     heddle.ContainerID
	job    JobID
	kind   heddle.Kind
	node   int32
	pos    int32 // in node.conts
	told   heddle.Resource
	limit  heddle.Resource
	start  int64   // MiB it may hold when it starts: its heap is made for that and never grows beyond
	given  float64 // the weight set by SetWeight; 0 = none
	weight float64 // given, else vcores told, or the limit's if that is more: the share of a busy processor
	quota  float64 // the most cores it may use; +Inf without a cap
	tasks  []int32 // running
	demand int64   // MiB it would like to have now
	held   int64   // MiB it holds

	limited bool    // its limit was changed: its own files count against it
	charged float64 // bytes of such files that have come into memory since

	suspended bool
	next      heddle.Resource // a new limit that is not in effect yet
	nextAt    heddle.Time     // when it takes effect; 0 = none
	resumeAt  heddle.Time     // when a resume takes effect; 0 = none
	killAt    heddle.Time     // when the monitor finds it over its size; 0 = never

	cpuUsed  float64 // core-seconds
	usageCPU float64 // the same at the last Usage
	usageAt  heddle.Time

	cache  []cached // an executor's storage, least recently used first
	stored float64  // bytes in it
}

// MonitorInterval is the interval at which NodeManagers check their containers:
// yarn.nodemanager.container-monitor.interval-ms, default 3 s.
const MonitorInterval = 3 * heddle.Second

// Open starts the process of a container: from now on it holds memory, and work can be run in it. Told is the size its
// application knows, limit what the node enforces. A limit below told caps its processor time; otherwise the larger of
// the two is only its weight against others. A node that is down opens nothing.
func (w *World) Open(now heddle.Time, c heddle.ContainerID, job JobID, kind heddle.Kind, at heddle.NodeID, told, limit heddle.Resource) {
	w.at(now)
	if _, ok := w.byID[c]; ok || !w.known(at) || !w.nodes[at].up || w.job(job) == nil {
		return
	}
	i := slot(&w.freeC, &w.conts)
	n := &w.nodes[at]
	k := &w.conts[i]
	*k = container{
		id: c, job: job, kind: kind, node: int32(at), pos: int32(len(n.conts)), told: told, limit: limit, start: limit[heddle.Memory],
		usageAt: now, tasks: k.tasks[:0], cache: k.cache[:0],
	}
	n.conts = append(n.conts, i)
	w.byID[c] = i
	w.setQuota(k)
	w.setDemand(i, w.idleDemand(k))
}

// Close ends a container's process; work in it stops, without a report.
func (w *World) Close(now heddle.Time, c heddle.ContainerID) {
	w.at(now)
	if i, ok := w.byID[c]; ok {
		w.closeContainer(i)
	}
}

func (w *World) closeContainer(i int32) {
	c := &w.conts[i]
	for len(c.tasks) > 0 {
		w.endTask(c.tasks[len(c.tasks)-1])
	}
	w.evict(c, 0, noStage)
	w.hold(c.node, -c.held)
	n := &w.nodes[c.node]
	last := len(n.conts) - 1
	n.conts[c.pos] = n.conts[last]
	w.conts[n.conts[c.pos]].pos = c.pos
	n.conts = n.conts[:last]
	delete(w.byID, c.id)
	w.freeC = append(w.freeC, i)
}

// SetLimit changes what the node enforces for a container. The change takes effect after Params.ResizeCost.
func (w *World) SetLimit(now heddle.Time, c heddle.ContainerID, limit heddle.Resource) {
	w.at(now)
	i, ok := w.byID[c]
	if !ok {
		return
	}
	k := &w.conts[i]
	k.next, k.nextAt = limit, now
	if !w.fx.LaunchDelay || w.p.ResizeCost <= 0 {
		w.applyLimit(i)
		return
	}
	k.nextAt = now.Plus(w.p.ResizeCost)
	w.timer(timer{at: k.nextAt, cont: c})
}

func (w *World) applyLimit(i int32) {
	c := &w.conts[i]
	c.limit, c.nextAt, c.limited = c.next, 0, true
	if was := c.weight; w.setQuota(c) != was {
		w.divideUp(i)
		w.reprice(c.node)
	}
	w.setDemand(i, c.demand)
	if c.kind == heddle.Executor {
		w.evict(c, w.storage(c), noStage)
	}
	for _, t := range c.tasks {
		w.setMult(t)
	}
	w.checkMaster(i)
}

// SetWeight changes a container's share of a busy processor against others on its node, at once. Weights are
// milli-vcores; a container without a given weight is weighed by its size. A limit on its processor time stays in
// effect.
func (w *World) SetWeight(now heddle.Time, c heddle.ContainerID, weight int64) {
	w.at(now)
	i, ok := w.byID[c]
	if !ok || weight <= 0 {
		return
	}
	k := &w.conts[i]
	k.given = float64(weight)
	if was := k.weight; w.setQuota(k) != was {
		w.divideUp(i)
		w.reprice(k.node)
	}
}

// setQuota derives the hard cap on processor time and the weight, which it returns.
func (w *World) setQuota(c *container) float64 {
	c.weight = max(1, float64(max(c.told[heddle.CPU], c.limit[heddle.CPU])))
	if c.given > 0 {
		c.weight = c.given
	}
	c.quota = math.Inf(1)
	if n := &w.nodes[c.node]; c.limit[heddle.CPU] < c.told[heddle.CPU] {
		c.quota = max(1e-3, float64(c.limit[heddle.CPU])/float64(n.total[heddle.CPU])*n.cores)
	}
	return c.weight
}

// divideUp shares the weight and the quota of a container among its tasks after their number has changed.
func (w *World) divideUp(i int32) {
	c := &w.conts[i]
	if len(c.tasks) == 0 {
		return
	}
	for _, t := range c.tasks {
		if a := w.tasks[t].act; a >= 0 {
			w.acts[a].weight = c.weight / float64(len(c.tasks))
		}
	}
	if !math.IsInf(c.quota, 1) {
		w.reprice(c.node)
	}
}

// Suspend freezes a container at once: its processes stop running, its memory stays.
func (w *World) Suspend(now heddle.Time, c heddle.ContainerID) {
	w.at(now)
	i, ok := w.byID[c]
	if !ok {
		return
	}
	k := &w.conts[i]
	k.resumeAt = 0
	if k.suspended {
		return
	}
	k.suspended = true
	for _, t := range k.tasks {
		if a := w.tasks[t].act; a >= 0 {
			w.unplug(a)
		}
	}
}

// Resume thaws a suspended container. Its processes run again after Params.SuspendCost.
func (w *World) Resume(now heddle.Time, c heddle.ContainerID) {
	w.at(now)
	i, ok := w.byID[c]
	if !ok || !w.conts[i].suspended || w.conts[i].resumeAt != 0 {
		return
	}
	if !w.fx.LaunchDelay || w.p.SuspendCost <= 0 {
		w.thaw(i)
		return
	}
	w.conts[i].resumeAt = now.Plus(w.p.SuspendCost)
	w.timer(timer{at: w.conts[i].resumeAt, cont: c})
}

func (w *World) thaw(i int32) {
	c := &w.conts[i]
	c.suspended, c.resumeAt = false, 0
	for _, t := range c.tasks {
		if a := w.tasks[t].act; a >= 0 {
			w.plug(a)
		} else {
			w.fetchMore(t)
		}
	}
}

// SetManaged says how many tasks a master has started so far. The master needs memory for each, and fails when it has
// too little: the next Advance reports that.
func (w *World) SetManaged(now heddle.Time, c heddle.ContainerID, tasks int) {
	w.at(now)
	i, ok := w.byID[c]
	if !ok || w.conts[i].kind != heddle.AM {
		return
	}
	w.setDemand(i, w.p.MasterBase+int64(float64(tasks)*w.p.MasterPerTask/(1<<20)))
	w.checkMaster(i)
}

func (w *World) checkMaster(i int32) {
	if c := &w.conts[i]; c.kind == heddle.AM && w.fx.Memory && c.demand > c.limit[heddle.Memory] {
		w.fail(i, OutOfMemory)
	}
}

// fail closes a container and reports its failure, and that of every task in it.
func (w *World) fail(i int32, o Outcome) {
	c := &w.conts[i]
	d := Done{At: w.now, Work: Work{Container: c.id, Kind: c.kind}, Node: heddle.NodeID(c.node), Outcome: o}
	for _, t := range c.tasks {
		d.Work = w.tasks[t].work
		w.pending = append(w.pending, d)
	}
	if len(c.tasks) == 0 {
		w.pending = append(w.pending, d)
	}
	w.closeContainer(i)
}

// idleDemand returns the memory that a process wants before it does anything.
func (w *World) idleDemand(c *container) int64 {
	if c.kind == heddle.AM {
		return w.p.MasterBase
	}
	if c.kind == heddle.Executor {
		return w.p.SparkReserved
	}
	return w.p.TaskBase
}

// heap returns the most memory that a container can hold within its limit. A task's heap is fixed when its process
// starts; a master's heap and an executor's storage follow the limit.
func (c *container) heap() int64 {
	if c.kind == heddle.AM || c.kind == heddle.Executor {
		return c.limit[heddle.Memory]
	}
	return c.start
}

// setDemand changes what a container would like to hold. It holds that much, or what its heap or its limit allows.
func (w *World) setDemand(i int32, mib int64) {
	c := &w.conts[i]
	c.demand = mib
	held := min(mib, c.heap(), c.limit[heddle.Memory])
	w.hold(c.node, held-c.held)
	c.held = held
}

// lacking returns by what factor a lack of memory slows what a container runs, if it would like to hold the given
// amount. A lack of heap slows it by the slope; if the limit is below what its heap holds, it swaps the rest, as a node
// does.
func (w *World) lacking(c *container, wants int64) float64 {
	m := w.slowdown(c.heap(), wants)
	if over := min(wants, c.heap()) - c.limit[heddle.Memory]; over > 0 {
		m *= w.swapping(&w.nodes[c.node], over)
	}
	return m
}

// slowdown returns by what factor something slows down with limit instead of demand.
func (w *World) slowdown(limit, demand int64) float64 {
	if limit >= demand || demand <= 0 || !w.fx.Memory {
		return 1
	}
	lack := 1 - float64(max(limit, 0))/float64(demand)
	return 1 + (w.p.SlowAtTenth-1)*lack/0.9
}

func (w *World) timer(t timer) {
	w.seq++
	t.seq = w.seq
	w.timers.push(t)
}

// fire makes a timer take effect if what it was set for still holds.
func (w *World) fire(t timer) {
	if t.pool != nil {
		t.pool.armed = false
		w.drift(t.pool)
		return
	}
	i, ok := w.byID[t.cont]
	if !ok {
		return
	}
	c := &w.conts[i]
	if c.nextAt == w.now {
		w.applyLimit(i)
	}
	if i, ok = w.byID[t.cont]; ok && c.resumeAt == w.now {
		w.thaw(i)
	}
	if ok && c.killAt == w.now {
		w.fail(i, OverLimit)
	}
}

// Start begins to start the process of an open container, and reports whether that takes time. If it does, Advance
// reports when the process has done its computing; until then no work may run in it.
func (w *World) Start(now heddle.Time, c heddle.ContainerID) bool {
	w.at(now)
	i, ok := w.byID[c]
	if !ok || !w.fx.LaunchDelay {
		return false
	}
	k := &w.conts[i]
	t := slot(&w.freeT, &w.tasks)
	w.tasks[t] = task{
		work: Work{Container: c, Kind: k.kind}, cont: i, node: k.node, job: w.job(k.job), step: stepStart, act: -1, waiting: -1,
		demand: w.idleDemand(k), hosts: w.tasks[t].hosts[:0],
	}
	k.tasks = append(k.tasks, t)
	a := w.newAct(t)
	s := w.startOf(&w.tasks[t])
	w.acts[a].cpu, w.acts[a].width = s.CPU*w.nodes[k.node].base, s.Width // of the node's own cores, slower only if it became slow
	if w.fx.Noise {
		w.acts[a].cpu *= lognormal(w.launch.NormFloat64(), w.p.Noise)
	}
	w.begin(a)
	return true
}

// startOf returns what starting a process takes.
func (w *World) startOf(t *task) *Start {
	switch spark := t.job.def.Spark; {
	case t.work.Kind == heddle.Executor:
		return &w.p.ExecutorStart
	case t.work.Kind != heddle.AM:
		return &w.p.TaskStart
	case spark == nil:
		return &w.p.MasterStart
	case spark.Client:
		return &w.p.SparkMasterStart
	}
	return &w.p.DriverStart
}
