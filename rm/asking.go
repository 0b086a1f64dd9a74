package rm

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// Masters are asked what no protocol tells: how far tasks are, what completed tasks used, what a heap holds. A master
// is asked only if a policy uses the answer ([heddle/policy.Feeds]), for the kinds of tasks that the policy uses, while
// there are such tasks, and never again before it has answered.

const (
	askEvery   = 5 * heddle.Second  // at most this often; tasks report to their master every 6 s unless the job says otherwise
	askSlowest = heddle.Minute      // a master that does not answer
	askWithin  = 4 * heddle.Second  // for a whole answer
	heapEvery  = 30 * heddle.Second // for a master's heap
	heapFirst  = 10 * heddle.Second // after it registered
	mostAsked  = 50                 // tasks examined one by one per answer
	mostPeaks  = 20                 // tasks of a kind whose memory use is asked for
	mostTasks  = 50_000             // kept in mind per application
	mostTries  = 3                  // to find out where a completed task's output is
	mostSpoken = 256                // bytes kept of the reason why a master did not answer
	everyKind  = policy.Kinds(1<<heddle.NumKinds - 1)
)

// known is what is known of a running application from outside YARN's protocols.
type known struct {
	timer   timer
	attempt *attempt
	asked   *AskMaster  // not answered yet; nil for none
	more    bool        // the next question is only about single tasks that the last answer showed to be of interest
	heapAt  heddle.Time // when to ask for the heap
	heap    HeapNews
	heapOf  heddle.Time // when it was reported; never if it was not

	at       heddle.Time // of the last answer; never if there was none
	failed   string      // why the last question failed; "" if it did not
	failures int         // in a row
	requests int64
	bytes    int64

	tasks     map[Task]*known1
	peaks     [heddle.NumKinds]int // tasks whose memory use was reported
	executors []ExecutorNews
}

// known1 is what is known of a task.
type known1 struct {
	state     TaskState
	progress  float64
	container ids.Container
	node      heddle.NodeID // where its container is or was; heddle.NoNode if unknown
	counted   bool
	told      bool // the core knows where its output is
	asked     int  // how often it was asked about individually
}

// wanted is what policies use of the things that an application's master can tell.
type wanted struct {
	progress policy.Kinds // how far tasks of these kinds are
	output   bool         // how much map output is where
	peaks    bool         // how much memory completed tasks used
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

// counters reports whether the counters of a task of a kind are wanted; told says whether its output's place is known.
func (w *wanted) counters(k *known, kind heddle.Kind, told bool) bool {
	return w.output && kind == heddle.Map && !told || w.peaks && k.peaks[kind] < mostPeaks
}

// inquire begins to ask a registered master, if a policy uses what it says.
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

// hush stops asking an application's master.
func (m *Machine) hush(a *app) {
	if a.known != nil {
		m.timers.stop(&a.known.timer)
		a.known.attempt = nil // its answer is ignored
		a.known = nil
	}
}

// expire asks the next question, if there is one.
func (k *known) expire(m *Machine) heddle.Time {
	t := k.attempt
	if t == nil || t.state.isOver() || t.stopping || t.app.aid == heddle.NoApp {
		return never
	}
	if k.asked != nil {
		return never // its answer sets the timer again
	}
	q := k.question(m)
	if q == nil {
		return m.now.Plus(m.askEvery())
	}
	k.asked = q
	m.emit(q)
	return never
}

// askEvery returns how often masters that answer are asked.
func (m *Machine) askEvery() heddle.Span { return max(askEvery, m.sch.Set.Feeds.Progress) }

// question returns what to ask a master now; nil for nothing.
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

// oneByOne adds the tasks to ask about individually: those that run in an unknown container, and those that completed
// and were not counted. It adds as many as are allowed at a time, the ones asked about least often first.
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
		if w.output && c.task.Kind == heddle.Map && c.known.node == heddle.NoNode { // to find out where its output is
			q.Containers = append(q.Containers, c.task)
		}
		c.known.asked++
	}
	for _, c := range runs[:min(len(runs), mostAsked-len(q.Containers))] {
		q.Containers = append(q.Containers, c.task)
		c.known.asked++
	}
}

// few holds the first of many candidates, in order: as many as may be asked for at a time.
type few []candidate

// A candidate is a task to ask about individually.
type candidate struct {
	asked int // how often it was asked about before
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

// told takes a master's answer.
func (m *Machine) told(p *MasterTold) {
	t := m.liveAttempt(p.Attempt)
	if t == nil || t.app.known == nil || t.app.known.asked == nil {
		return // nothing was asked, or the answer is no longer wanted
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

// task returns the entry of a task, creating it if needed; nil if there can be no such task, or too many are known.
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

// place notes that the core knows where the output of a map is, so that the next master does not tell it again.
func (k *known) place(of Task, x *known1) {
	x.told = true
	a := k.attempt.app
	if a.placed == nil {
		a.placed = map[int32]heddle.NodeID{}
	}
	a.placed[of.Index] = x.node
}

// taskTold takes what a master said about a task, and tells the core.
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
		if c := m.container(id); x.told { // the location of its output is known
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

// counted tells the core what a completed task used.
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

// maxBytes is more map output than any task has; sums over all tasks still fit.
const maxBytes = 1 << 44

// sparkTold takes the progress of a Spark application: that of all its running stages together.
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

// nodeAt returns the node with this web address (host:port), or nil.
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

// Known is what an application's master reported over REST, and how old it is.
type Known struct {
	Age      int64  `json:"age_ms"` // since the last answer; −1 before the first
	Failed   string `json:"failed"` // why the last call failed; "" if it did not
	Requests int64  `json:"requests"`
	Bytes    int64  `json:"bytes"`
	Running  int    `json:"running"`     // tasks known to be running
	Done     int    `json:"done"`        // tasks that succeeded
	Measured int    `json:"measured"`    // of those, tasks whose use is known
	Progress int    `json:"progress"`    // average of the running tasks, in percent
	Heap     int64  `json:"heap_mib"`    // live in the master; 0 if nobody asks
	HeapAge  int64  `json:"heap_age_ms"` // since the heap was reported; −1 if it was not
	Active   int    `json:"active"`      // tasks running in Spark executors
	Blocks   int64  `json:"blocks_mib"`  // stored by the executors
}

// known returns what is known of an application from outside YARN's protocols, or nil if nobody asks.
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
