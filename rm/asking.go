package rm

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// Masters are asked what no protocol tells: how far tasks are, what those used that have ended, what a heap holds. A
// master is asked only where a policy goes by the answer ([heddle/policy.Feeds]), for the kinds of tasks that it goes by,
// while there are such tasks, and never again before it has answered.

const (
	askEvery   = 5 * heddle.Second  // at the most often; tasks report to their master every 6 s unless the job says otherwise
	askSlowest = heddle.Minute      // a master that does not answer
	askWithin  = 4 * heddle.Second  // for all of an answer
	heapEvery  = 30 * heddle.Second // of a master's heap
	heapFirst  = 10 * heddle.Second // after it registered
	mostAsked  = 50                 // tasks that are looked at one by one for one answer
	mostPeaks  = 20                 // tasks of a kind whose use of memory is asked for
	mostTasks  = 50_000             // that are kept in mind of an application
	mostTries  = 3                  // to find out where an ended task's output lies
	mostSpoken = 256                // bytes that are kept of why a master did not answer
	everyKind  = policy.Kinds(1<<heddle.NumKinds - 1)
)

// known is what is known of a running application beside YARN's protocols.
type known struct {
	timer   timer
	attempt *attempt
	asked   *AskMaster  // that has not been answered; nil for none
	more    bool        // the next one is only of single tasks, which the last answer has shown to be of interest
	heapAt  heddle.Time // when to ask for the heap
	heap    HeapNews
	heapOf  heddle.Time // when it was said; never for not yet

	at       heddle.Time // of the last answer; never for none
	failed   string      // why the last one failed; "" where it did not
	failures int         // one after the other
	requests int64
	bytes    int64

	tasks     map[Task]*known1
	peaks     [heddle.NumKinds]int // tasks whose use of memory was told
	executors []ExecutorNews
}

// known1 is what is known of a task.
type known1 struct {
	state     TaskState
	progress  float64
	container ids.Container
	node      heddle.NodeID // where its container is or was; heddle.NoNode for unknown
	counted   bool
	told      bool // the core knows where its output lies
	asked     int  // how often it was looked at by itself
}

// wanted is what policies go by of an application, of what its master can tell.
type wanted struct {
	progress policy.Kinds // how far tasks of these kinds are
	output   bool         // how much map output lies where
	peaks    bool         // how much memory tasks used that ended
	heap     bool         // what the master's heap holds
}

func (m *Machine) wanted(a *app) (w wanted) {
	f := &m.sch.Set.Feeds
	if f.Progress > 0 {
		w.progress = f.Of
		if w.progress == 0 {
			w.progress = everyKind
		}
	}
	if a.framework != heddle.MapReduce {
		w.progress &= 1 << heddle.Executor
		return w
	}
	w.progress &^= 1 << heddle.Executor
	w.output, w.peaks, w.heap = f.Output, f.Peaks, f.Heaps
	return w
}

// counters reports whether what a task of a kind used is of interest; told says whether it is known where its output lies.
func (w *wanted) counters(k *known, kind heddle.Kind, told bool) bool {
	return w.output && kind == heddle.Map && !told || w.peaks && k.peaks[kind] < mostPeaks
}

// inquire begins to ask a master that has registered, where anybody goes by what it says.
func (m *Machine) inquire(t *attempt) {
	a := t.app
	m.hush(a)
	if a.framework != heddle.MapReduce && a.framework != heddle.Spark || m.cfg.Agent || m.cfg.AskNobody {
		return
	}
	if m.wanted(a) == (wanted{}) {
		return
	}
	k := &known{attempt: t, at: never, heapOf: never, tasks: map[Task]*known1{}, heapAt: m.now.Plus(heapFirst)}
	for of, node := range a.placed { // order: into a map
		k.tasks[Task{heddle.Map, of}] = &known1{node: node, told: true}
	}
	a.known = k
	m.timers.by(&k.timer, k, m.now.Plus(askEvery))
}

// hush asks an application's master nothing any more.
func (m *Machine) hush(a *app) {
	if a.known != nil {
		m.timers.stop(&a.known.timer)
		a.known.attempt = nil // its answer is nobody's
		a.known = nil
	}
}

// expire asks what there is to be asked.
func (k *known) expire(m *Machine) heddle.Time {
	t := k.attempt
	if t == nil || t.state.isOver() || t.stopping || t.app.aid == heddle.NoApp {
		return never
	}
	if k.asked != nil {
		return never // its answer goes on
	}
	q := k.question(m)
	if q == nil {
		return m.now.Plus(m.askEvery())
	}
	k.asked = q
	m.emit(q)
	return never
}

// askEvery is how often masters are asked that answer.
func (m *Machine) askEvery() heddle.Span { return max(askEvery, m.sch.Set.Feeds.Progress) }

// question is what to ask a master now; nil for nothing.
func (k *known) question(m *Machine) *AskMaster {
	t := k.attempt
	w := m.wanted(t.app)
	q := &AskMaster{
		Attempt: t.id, User: t.app.user, Node: t.masterNode, Tracking: t.url, Framework: t.app.framework, Within: askWithin,
		Heap: w.heap && m.now >= k.heapAt,
	}
	if k.oneByOne(m, q, &w); k.more {
		k.more, q.Heap = false, false
		if len(q.Containers)+len(q.Counters) == 0 {
			return nil
		}
		return q
	}
	v := m.core.View().App(t.app.aid)
	for kind := range heddle.Kind(heddle.NumKinds) {
		runs := v.Running(kind) > 0 && w.progress.Has(kind)
		ended := (kind == heddle.Map || kind == heddle.Reduce) && v.Finished(kind) > 0
		if runs || ended && w.counters(k, kind, false) {
			q.Kinds |= policy.KindSet(kind)
		}
	}
	q.Tasks = q.Kinds != 0
	if !q.Tasks && !q.Heap && len(q.Containers)+len(q.Counters) == 0 {
		return nil
	}
	return q
}

// oneByOne adds the tasks that are to be looked at by themselves: those that run in a container that is not known, and
// those that ended and were not counted. There are as many as may be at a time, those first that were asked for least.
func (k *known) oneByOne(m *Machine, q *AskMaster, w *wanted) {
	var runs, counts few
	for of, x := range k.tasks { // order: few has one
		switch {
		case x.state == TaskRuns && (w.progress.Has(of.Kind) || of.Kind == heddle.Map && w.output) && (x.container.IsZero() || m.container(x.container) == nil):
			runs.add(candidate{x.asked, of, x})
		case x.state == TaskSucceeded && !x.counted && w.counters(k, of.Kind, x.told):
			counts.add(candidate{x.asked, of, x})
		}
	}
	for _, c := range counts {
		q.Counters = append(q.Counters, c.task)
		if w.output && c.task.Kind == heddle.Map && c.known.node == heddle.NoNode { // where what it left lies
			q.Containers = append(q.Containers, c.task)
		}
		c.known.asked++
	}
	for _, c := range runs[:min(len(runs), mostAsked-len(q.Containers))] {
		q.Containers = append(q.Containers, c.task)
		c.known.asked++
	}
}

// few are the first of many candidates, as many as may be asked for at a time, in order.
type few []candidate

// A candidate is a task that is to be looked at by itself.
type candidate struct {
	asked int // how often it was before
	task  Task
	known *known1
}

func (c candidate) before(o candidate) int {
	return cmp.Or(cmp.Compare(c.asked, o.asked), cmp.Compare(o.task.Kind, c.task.Kind), cmp.Compare(c.task.Index, o.task.Index))
}

func (f *few) add(c candidate) {
	if len(*f) == mostAsked {
		if c.before((*f)[mostAsked-1]) >= 0 {
			return
		}
		*f = (*f)[:mostAsked-1]
	}
	i, _ := slices.BinarySearchFunc(*f, c, candidate.before)
	*f = slices.Insert(*f, i, c)
}

// told takes what a master said.
func (m *Machine) told(p *MasterTold) {
	t := m.liveAttempt(p.Attempt)
	if t == nil || t.app.known == nil || t.app.known.asked == nil {
		return // nobody asked, or nobody does any more
	}
	k := t.app.known
	q := k.asked
	k.asked = nil
	k.requests, k.bytes = k.requests+int64(p.Requests), k.bytes+p.Bytes
	k.failed = Clip(p.Failed, mostSpoken)
	if p.Failed != "" {
		k.failures++
	} else {
		k.failures, k.at = 0, m.now
	}
	if q.Heap {
		m.heapTold(k, p.Heap)
	}
	for i := range p.Tasks {
		m.taskTold(k, &p.Tasks[i])
	}
	if q.Tasks && t.app.framework == heddle.Spark && p.Failed == "" {
		m.sparkTold(k, p)
	}
	next := m.now.Plus(min(askSlowest, m.askEvery()<<min(k.failures, 4)))
	if k.more = q.Tasks && p.Failed == ""; k.more {
		next = m.now
	}
	m.timers.by(&k.timer, k, next)
}

// heapTold takes what a master's heap holds.
func (m *Machine) heapTold(k *known, h HeapNews) {
	k.heapAt = m.now.Plus(heapEvery)
	if h.Live > 0 && h.Live <= maxAmount && h.Outside >= 0 && h.Outside <= maxAmount {
		k.heap, k.heapOf = h, m.now
		k.attempt.app.lives(m, h)
	}
}

// task is what is known of a task, to be added to; nil where there can be no such task, or too many are known.
func (k *known) task(of Task) *known1 {
	x := k.tasks[of]
	if x == nil {
		if len(k.tasks) >= mostTasks || of.Index < 0 || of.Kind != heddle.Map && of.Kind != heddle.Reduce {
			return nil
		}
		x = &known1{node: heddle.NoNode}
		k.tasks[of] = x
	}
	return x
}

// place notes that the core knows where the output of a map lies. The next master of the application does not tell it again.
func (k *known) place(of Task, x *known1) {
	x.told = true
	a := k.attempt.app
	if a.placed == nil {
		a.placed = map[int32]heddle.NodeID{}
	}
	a.placed[of.Index] = x.node
}

// taskTold takes what a master said of a task, and tells the core.
func (m *Machine) taskTold(k *known, p *TaskNews) {
	x := k.task(p.Task)
	if x == nil {
		return
	}
	if p.Listed {
		x.state, x.progress = p.State, clamp(p.Progress)
	}
	if id := p.Container; !id.IsZero() && id.Attempt.App == k.attempt.id.App {
		x.container = id
		if c := m.container(id); x.told { // it is known where its output lies
		} else if c != nil {
			x.node = c.node.nid
		} else if n := m.nodeAt(p.NodeHTTP); n != nil {
			x.node = n.nid
		}
	}
	placed := x.node != heddle.NoNode || p.Kind != heddle.Map || !m.sch.Set.Feeds.Output
	if p.Counted && !x.counted && (placed || x.asked >= mostTries) {
		x.counted = true
		m.counted(k, x, p)
	}
	if c := m.container(x.container); p.Listed && x.state == TaskRuns && c != nil && c.kind == p.Kind && c.attempt == k.attempt {
		m.step(heddle.Progress{Container: c.cid, Phase: p.Phase, Fraction: x.progress})
	}
}

// counted tells the core what a task used that has ended.
func (m *Machine) counted(k *known, x *known1, p *TaskNews) {
	a := k.attempt.app
	if p.Memory > 0 && p.Memory <= maxAmount {
		k.peaks[p.Kind]++
		m.step(heddle.TaskUsed{App: a.aid, Kind: p.Kind, Memory: p.Memory})
	}
	if p.Output > 0 && p.Output <= maxBytes && x.node != heddle.NoNode && m.sch.Set.Feeds.Output && !x.told {
		k.place(p.Task, x)
		m.step(heddle.Output{App: a.aid, Node: x.node, Bytes: p.Output})
	}
}

// maxBytes is more map output than a task has; sums over all tasks still fit.
const maxBytes = 1 << 44

// sparkTold takes how far a Spark application is: as far as the stages that run are, all together.
func (m *Machine) sparkTold(k *known, p *MasterTold) {
	k.executors = p.Executors
	var done, tasks int64
	for _, s := range p.Stages {
		if s.Done >= 0 && s.Tasks >= s.Done {
			done, tasks = done+int64(s.Done), tasks+int64(s.Tasks)
		}
	}
	if tasks == 0 {
		return
	}
	for i := range p.Executors {
		if c := m.container(p.Executors[i].Container); c != nil && c.attempt == k.attempt && c.kind == heddle.Executor {
			m.step(heddle.Progress{Container: c.cid, Phase: heddle.Holding, Fraction: float64(done) / float64(tasks)})
		}
	}
}

// nodeAt is the node whose pages are at host:port, nil for none.
func (m *Machine) nodeAt(http string) *node {
	if http == "" {
		return nil
	}
	for _, n := range m.nodes {
		if n.http == http && n.state.active() {
			return n
		}
	}
	return nil
}

// Known is what an application's master told over REST, and how old it is.
type Known struct {
	Age      int64  `json:"age_ms"` // since the last answer; −1 before the first
	Failed   string `json:"failed"` // why the last call failed; "" where it did not
	Requests int64  `json:"requests"`
	Bytes    int64  `json:"bytes"`
	Running  int    `json:"running"`     // tasks that are known to run
	Done     int    `json:"done"`        // … and that ended well
	Measured int    `json:"measured"`    // of those: what they used is known
	Progress int    `json:"progress"`    // of the tasks that run, in percent, on average
	Heap     int64  `json:"heap_mib"`    // that is live in the master; 0 where nobody asks
	HeapAge  int64  `json:"heap_age_ms"` // since that was said; −1 for not yet
	Active   int    `json:"active"`      // tasks that run in Spark's executors
	Blocks   int64  `json:"blocks_mib"`  // that these store
}

// known is what is known of an application beside YARN's protocols, nil where nobody asks.
func (r Reports) known(a *app) *Known {
	k := a.known
	if k == nil {
		return nil
	}
	out := &Known{Age: r.age(k.at), Failed: k.failed, Requests: k.requests, Bytes: k.bytes, Heap: k.heap.Live, HeapAge: r.age(k.heapOf)}
	sum := 0.0
	for _, x := range k.tasks { // order: only sums are made
		if x.state == TaskRuns {
			out.Running++
			sum += x.progress
		}
		if x.state == TaskSucceeded {
			out.Done++
		}
		if x.counted {
			out.Measured++
		}
	}
	if out.Running > 0 {
		out.Progress = int(100 * sum / float64(out.Running))
	}
	for i := range k.executors {
		out.Active += int(k.executors[i].Active)
		out.Blocks += k.executors[i].MemoryUsed
	}
	return out
}
