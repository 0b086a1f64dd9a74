// Package uncrowded starts no more tasks on a node whose tasks wait more than they compute. The bottleneck of such a node is
// its disk or network: another task would slow down the running ones and gain next to nothing. Tasks that write gigabytes
// therefore take turns, in the profile's order, instead of sharing the disk with all others.
//
// The policy uses a figure that every NodeManager reports: how much processor time its containers use together, in processors of
// the machine. It divides this figure among the node's tasks. A map counts as one task, and so does a reduce once its job's maps
// are over; a task with less than one vcore counts as its vcores, and an executor counts as its vcores. Masters, containers of
// other frameworks, and reduces that still copy are assumed to use next to nothing: such a reduce waits for maps, not for the
// disk. A task that ends before it is measured is assumed to compute as much as other tasks of its job, or else of the cluster.
// Tasks that use next to nothing do not count, because whatever they wait for is elsewhere. A node that reports no usage of its
// containers is not crowded by its tasks. Nor is a node whose machine has no processor to spare and mostly serves processes other
// than the node's containers: its tasks wait for the processor.
//
// If a node's agent reports how busy the disks are, [Options.Share] counts only while the disks are quiet, because others write
// there too: a file is written to three nodes, and reduces elsewhere read the output of maps. A map is still placed where tasks
// compute, and where there are no tasks.
//
// If agents measure each container, [Options.Measured] uses those measurements: each task counts with its own usage, and not at
// all if that is next to nothing.
//
// While a master starts on a node whose machine has no processor to spare, even for other processes, the node takes no maps or
// reduces: an application does nothing until its master has started, and the processors are busy meanwhile. That lasts for
// [Options.Masters] at most, and as long again must pass, or a processor be to spare, before other masters count.
//
// A reduce that could only copy goes to no node of which tasks hold more than a part, however much they compute, unless the
// cluster has room for all requests and a quarter to spare. These are refused nowhere:
//   - A reduce whose job's maps are over, or about to be. It is all that its job waits for, and it starts and copies meanwhile.
//   - The first task of an application.
//   - A map of a small application, one that holds and asks for little of the cluster. Large applications bring every node to
//     its limit, and a small one adds little to the load of the disks.
package uncrowded

import (
	"errors"
	"math"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// Options are the place's.
type Options struct {
	// Share is the part of a node, by the dominant resource, that maps and reduces may hold, however little they compute, while
	// its disks are quiet. A node with quiet disks and no tasks takes one in any case.
	Share float64 `yaml:"share"`
	// Busy is the share of a processor that the tasks of a node must use on average for the node to take another task.
	Busy float64 `yaml:"busy"`
	// Disk is the largest fraction of time that a node's disks may be busy, on average, to count as quiet. It applies if the
	// node's agent reports it. Each task granted there since the last report adds 0.3. 1 means no bound.
	Disk float64 `yaml:"disk"`
	// Ahead is in seconds. A job's reduces are refused nowhere once its maps are expected to end within this time: no map waits
	// for a container, and the last one to get a container has held it for as long as other maps did, less this time. With 0
	// the maps must have ended.
	Ahead float64 `yaml:"ahead"`
	// Small is a part of the cluster, by the dominant resource. The maps of an application that holds and asks for at most
	// this much in total are refused nowhere.
	Small float64 `yaml:"small"`
	// Masters is in seconds. A node whose machine has less than Busy of a processor to spare takes no maps or reduces, whatever
	// Share allows, while a master starts there: from when it was granted until its application asks for its first task, for
	// this long at most. A vcore granted there counts as a processor in use until the machine is measured. With 0 masters count
	// for nothing.
	Masters float64 `yaml:"masters"`
	// Patience is in seconds. An application that has been passed over for this long may use any node.
	Patience float64 `yaml:"patience"`
	// Measured uses the usage of each task, on nodes that measure it.
	Measured bool `yaml:"measured"`
}

// Default are the default options.
var Default = Options{Share: 0.4, Busy: 0.6, Disk: 0.6, Ahead: 4, Small: 0.2, Masters: 20, Patience: 20}

// A Place refuses crowded nodes.
type Place struct {
	o       Options
	byApp   []app
	cluster [heddle.NumKinds]mean
	byNode  []report
	asked   [heddle.NumKinds]bool // the kinds of container that this place decides about
	refused bool                  // a request was refused since the last tick
	late    bool                  // the patience of an application is over, or may be over before the next tick
	free    [heddle.NumKinds]bool // the kinds for which an application may have requests that are refused nowhere
	turn    uint32                // selects the nodes that accept late applications until the next tick
	now     crowd                 // the node that was examined last
}

// An app is what the policy knows about an application.
type app struct {
	used [heddle.NumKinds]mean // shares of a processor that its tasks used
	last heddle.Time           // when its last map was granted
}

// A report is what a node reported.
type report struct {
	used   float64 // the share of a processor that a task used at the last measurement; or unknown, or nothing
	others float64 // running mean of the other processes' part of the machine's work, while no processor is to spare
	begun  int     // maps and reduces granted there since its disks were last measured
	cpu    int64   // thousandths of processors that its containers used at the last measurement
	idle   int64   // thousandths of processors that were idle at the last measurement of its machine, or -1
	since  int64   // thousandths of vcores granted there since then

	yields heddle.Time // when the master was granted that other tasks yield to
	spare  bool        // since then a processor has been to spare, or its machine was not measured
}

// unreported is what is known of a node that has reported nothing.
var unreported = report{used: unknown, idle: -1, spare: true}

// A crowd describes the tasks of a node at a time.
type crowd struct {
	node *policy.Node // nil if the node has changed since
	at   heddle.Time
	held heddle.Resource // by maps and reduces
	busy bool            // the tasks compute enough for the node to take another
	full bool            // a master starts, and no processor is to spare
}

// Values of report.used that are not a share.
const (
	unknown = -1 // the node has not reported the usage of its containers, or its tasks lack processors
	nothing = -2 // no task ran there long enough to be measured, or those that did used next to nothing
)

// A mean is the mean of the first 1/memory measurements, and a running mean after that.
type mean struct {
	value float64
	count int // of measurements, up to 1/memory
}

// memory is the weight of the last measurement in a running mean.
const memory = 0.05

func (m *mean) add(x float64) {
	if m.count < 1/memory {
		m.count++
	}
	m.value += (x - m.value) / float64(m.count)
}

// New returns the place.
func New(a policy.Args) (policy.Place, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	switch {
	case !(o.Share >= 0 && o.Share <= 1):
		return nil, errors.New("uncrowded: share must be a part of a node, 0 to 1")
	case !(o.Busy >= 0 && o.Busy <= 1):
		return nil, errors.New("uncrowded: busy must be a share of a processor, 0 to 1")
	case !(o.Disk >= 0 && o.Disk <= 1):
		return nil, errors.New("uncrowded: disk must be a part of the time, 0 to 1")
	case !(o.Ahead >= 0) || o.Ahead > math.MaxInt32:
		return nil, errors.New("uncrowded: ahead must be 0 s or more")
	case !(o.Small >= 0 && o.Small <= 1):
		return nil, errors.New("uncrowded: small must be a part of the cluster, 0 to 1")
	case !(o.Masters >= 0) || o.Masters > math.MaxInt32:
		return nil, errors.New("uncrowded: masters must be 0 s or more")
	case !(o.Patience > 0) || o.Patience > math.MaxInt32:
		return nil, errors.New("uncrowded: patience must be above 0 s")
	}
	return &Place{o: o}, nil
}

// Needs implements [policy.Needer].
func (p *Place) Needs() policy.Needs {
	n := policy.Needs{Feeds: policy.Feeds{Nodes: true, Starts: true, Disks: p.o.Disk < 1}}
	if p.o.Measured {
		n.Profile, n.Option = profileEvery, "measured"
	}
	return n
}

// Hears implements [policy.Listener].
func (p *Place) Hears() policy.News {
	return policy.NodeUsage | policy.NodeDisks | policy.TaskUsage | policy.NodeUp | policy.AppAsked | policy.Granted | policy.Adopted | policy.Ended | policy.Suspended | policy.Resumed | policy.Resized
}

// Hear implements [policy.Listener]. It learns how much the tasks of jobs compute, and which jobs have no maps left.
func (p *Place) Hear(v policy.View, e policy.Effect) {
	if e.Node == nil || e.Node == p.now.node {
		p.now.node = nil
	}
	switch e.What {
	case policy.NodeUp:
		*p.of(e.Node) = unreported
	case policy.NodeUsage:
		p.measure(v, e.Node)
	case policy.TaskUsage:
		if used, ok := p.own(v, e.Container); ok && counts(e.Container) {
			p.note(e.Container, used)
		}
	case policy.NodeDisks:
		p.of(e.Node).begun = 0
	default:
		if e.What == policy.Granted {
			p.granted(v, e)
		}
		if (e.What == policy.Granted || e.What == policy.Adopted) && e.Container.Kind() == heddle.Map {
			a := p.app(e.App)
			a.last = max(a.last, e.Container.Granted())
		}
		p.noteFree(v, e.App)
	}
}

// granted notes what a node got.
func (p *Place) granted(v policy.View, e policy.Effect) {
	r := p.of(e.Node)
	r.since += e.Container.Limit()[heddle.CPU]
	kind := e.Container.Kind()
	if kind == heddle.Map || kind == heddle.Reduce {
		r.begun++
	}
	if kind == heddle.AM && (r.spare || v.Now().Since(r.yields) >= 2*heddle.Seconds(p.o.Masters)) {
		r.yields, r.spare = v.Now(), false
	}
}

// of returns the report of a node.
func (p *Place) of(n *policy.Node) *report {
	for int(n.ID()) >= len(p.byNode) {
		p.byNode = append(p.byNode, unreported)
	}
	return &p.byNode[n.ID()]
}

// measure takes what a node reports. It measures its containers and its machine at different times, every 3 s.
func (p *Place) measure(v policy.View, n *policy.Node) {
	r := p.of(n)
	if idle := n.CPUIdle(); idle != r.idle {
		r.idle, r.since = idle, 0
		r.spare = r.spare || !p.lacks(n, 0)
	}
	if used := n.CPUUsed(); used != r.cpu {
		r.cpu = used
		p.learn(v, n)
	}
}

// learn records a node's measurement for each of its tasks.
func (p *Place) learn(v policy.View, n *policy.Node) {
	r := p.of(n)
	if p.shared(r, n) {
		r.used = unknown
		return
	}
	used, ok := each(v, n)
	if r.used = used; used < working {
		r.used = nothing
	}
	if !ok {
		return
	}
	n.Each(func(x *policy.Container) bool {
		if _, known := p.own(v, x); known || !counts(x) || !measured(v, x) {
			return true
		}
		p.note(x, used)
		return true
	})
}

// note records the usage of a task.
func (p *Place) note(x *policy.Container, used float64) {
	p.app(x.App()).used[x.Kind()].add(used)
	p.cluster[x.Kind()].add(used)
}

// app returns what is known about an application.
func (p *Place) app(a *policy.App) *app {
	for int(a.ID()) >= len(p.byApp) {
		p.byApp = append(p.byApp, app{})
	}
	return &p.byApp[a.ID()]
}

// own returns the share of a processor that a container uses by its own measurement, at most 1. It is not ok if there is none.
func (p *Place) own(v policy.View, x *policy.Container) (used float64, ok bool) {
	cpu, memory := x.Usage()
	if !p.o.Measured || memory == 0 || !measured(v, x) {
		return 0, false
	}
	return min(1, float64(cpu)/1000), true
}

// profileEvery is the interval at which agents measure containers.
const profileEvery = 5 * heddle.Second

// shared reports whether the tasks of a node lack processors because other processes use its machine. By the node's measurement,
// a container that has just started or ended looks like another process, so only lasting use counts.
func (p *Place) shared(r *report, n *policy.Node) bool {
	used, others := float64(n.CPUUsed()), float64(n.CPUOthers())
	if used <= 0 || !p.lacks(n, 0) {
		return false
	}
	r.others += lasting * (others/(others+used) - r.others)
	return r.others > 0.5
}

// lacks reports whether a node's machine has no processor to spare for a task, as far as is known, if so many thousandths are in
// use besides what it last reported.
func (p *Place) lacks(n *policy.Node, besides int64) bool {
	idle := n.CPUIdle()
	return idle >= 0 && float64(idle-besides) < 1000*p.o.Busy
}

// lasting is the weight of the last measurement in the running mean of other processes' work. A machine that seems to serve only
// others counts as shared after three measurements in a row, which take 9 s.
const lasting = 0.25

// Judge implements [policy.Place].
func (p *Place) Judge(v policy.View, k *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	a := k.App()
	p.asked[k.Kind()] = p.asked[k.Kind()] || !v.Explaining()
	if k.Kind() == heddle.AM || a.Unserved() || p.goesAnywhere(v, a, k.Kind()) || v.Now().Since(a.PassedOver()) > heddle.Seconds(p.o.Patience) {
		return policy.Yes
	}
	if k.Kind() == heddle.Reduce && p.slack(v) {
		return policy.Yes
	}
	if p.now.node != n || p.now.at != v.Now() {
		p.now = p.look(v, n)
	}
	held, quiet := p.now.held, p.quiet(n)
	few := held.IsZero() || held.Plus(k.Size()).Share(n.Total()) <= p.o.Share
	if !p.now.full && (quiet && few || k.Kind() != heddle.Reduce && p.now.busy) {
		return policy.Yes
	}
	p.refused = p.refused || !v.Explaining()
	no := policy.No(heddle.NodeCrowded)
	if !p.opens(v, n, k.Kind()) && (p.now.full || !quiet || held.Share(n.Total()) >= p.o.Share) {
		no.Skip = policy.SkipKind // for every application and size: every container has some of each resource
	}
	return no
}

// slack reports whether all requests, and a part of the cluster besides, fit into the free resources. A reduce that only copies
// then keeps no other request from running.
func (p *Place) slack(v policy.View) bool {
	total := v.Total()
	return v.Fits(v.Root().Pending().Plus(total.Part(slackShare)), total.Minus(v.Used()))
}

// slackShare is the part of the cluster that must stay free for the next requests.
const slackShare = 0.25

// quiet reports whether a node's disks are at most as busy as [Options.Disk] allows, as far as is known.
func (p *Place) quiet(n *policy.Node) bool {
	busy := n.DiskBusy()
	return p.o.Disk == 1 || busy < 0 || float64(busy)/1000+begins*float64(p.of(n).begun) <= p.o.Disk
}

// begins is how busy a task that is not measured yet is assumed to keep a node's disks: most tasks read first, and then compute.
const begins = 0.3

// opens reports whether the node may accept another application's request for a kind. Finding the applications whose patience is
// over means examining all requests, so only some nodes accept those, and other nodes after each tick.
func (p *Place) opens(v policy.View, n *policy.Node, k heddle.Kind) bool {
	return v.Unserved() > 0 || p.free[k] || p.late && (uint32(n.ID())+p.turn)%uint32(1+v.Live()/openAtOnce) == 0
}

// openAtOnce is the approximate number of nodes that accept late applications at once. A cluster of at most this size opens all.
const openAtOnce = 64

// look examines the tasks of a node.
func (p *Place) look(v policy.View, n *policy.Node) crowd {
	used, tasks, held, full := 0.0, 0, heddle.Resource{}, false
	r := p.of(n)
	now, yields := r.used, p.young(v, r.yields) && p.lacks(n, r.since)
	n.Each(func(x *policy.Container) bool {
		if x.Kind() == heddle.Map || x.Kind() == heddle.Reduce {
			held = held.Plus(x.Limit())
		}
		full = full || yields && x.Kind() == heddle.AM && starts(x.App()) && p.young(v, x.Granted())
		if counts(x) && !x.Suspended() {
			u, known := p.own(v, x)
			if !known {
				u = p.expect(v, x, now)
			}
			if u >= working { // otherwise it waits for something else
				used += u
				tasks++
			}
		}
		return true
	})
	return crowd{node: n, at: v.Now(), held: held, busy: now == unknown || used >= p.o.Busy*float64(tasks), full: full}
}

// young reports whether tasks still yield to a master that was granted then.
func (p *Place) young(v policy.View, granted heddle.Time) bool {
	return v.Now().Since(granted) < heddle.Seconds(p.o.Masters)
}

// starts reports whether an application's master, which has a container, still starts: the application has had no task and asks
// for none.
func starts(a *policy.App) bool { return !a.Begun() && !a.Unserved() }

// Ticks implements [policy.Ticker].
func (p *Place) Ticks() (every, phase heddle.Span) { return lookEvery, 0 }

// lookEvery is the interval at which refused requests are tried again.
const lookEvery = 3 * heddle.Second

// Tick implements [policy.Ticker]. A refused request may pass now. Tick also finds out whether the patience of an application ends
// before the next tick.
func (p *Place) Tick(v policy.View) bool {
	p.late, p.free = heddle.Seconds(p.o.Patience) <= lookEvery, [heddle.NumKinds]bool{}
	p.turn++
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil && p.asks(a) {
			p.late = p.late || v.Now().Since(a.PassedOver())+lookEvery > heddle.Seconds(p.o.Patience)
			p.noteFree(v, a)
		}
	}
	again := p.refused
	p.refused = false
	return again
}

// asks reports whether an application has requests of a kind that this place decides about.
func (p *Place) asks(a *policy.App) bool {
	for k, asked := range p.asked {
		if asked && a.Waiting(heddle.Kind(k)) > 0 {
			return true
		}
	}
	return false
}

// expect returns the share of a processor that a task is expected to use: that of the measured tasks of its node (now) if it is
// measured, else the mean of its application, else that of the cluster, else 1.
func (p *Place) expect(v policy.View, x *policy.Container, now float64) float64 {
	kind := x.Kind()
	switch {
	case now >= 0 && measured(v, x):
		return now
	case p.app(x.App()).used[kind].count > 0:
		return p.app(x.App()).used[kind].value
	case p.cluster[kind].count > 0:
		return p.cluster[kind].value
	default:
		return 1
	}
}

// each returns the share of a processor that one task of the node uses, at most 1. It returns nothing and false if none was
// measured.
func each(v policy.View, n *policy.Node) (used float64, ok bool) {
	weights := 0.0
	n.Each(func(x *policy.Container) bool {
		if measured(v, x) {
			weights += weight(x)
		}
		return true
	})
	if weights < 1 {
		return nothing, false
	}
	return min(1, float64(n.CPUUsed())/1000/weights), true
}

// working is the least share of a processor that a task waiting for a disk or the network uses. Tasks that use less wait for
// something that the other tasks of the node do not compete for. A JVM whose program sleeps uses some too.
const working = 0.05

// weight returns the part of a node's processor time that a container gets, relative to a task that counts.
func weight(x *policy.Container) float64 {
	switch {
	case x.Suspended():
		return 0
	case counts(x):
		return min(1, float64(x.Limit()[heddle.CPU])/float64(heddle.CPU.Unit()))
	case x.Kind() == heddle.Executor:
		return float64(x.Limit()[heddle.CPU]) / float64(heddle.CPU.Unit())
	default:
		return idle
	}
}

// idle is the weight of a container that mostly waits for other containers.
const idle = 0.1

// counts reports whether a container is a task with work of its own to do. A reduce that can only copy is not.
func counts(x *policy.Container) bool {
	return x.Kind() == heddle.Map || x.Kind() == heddle.Reduce && x.App().MapsOver()
}

// noteFree records the kinds for which an application has requests that are refused nowhere.
func (p *Place) noteFree(v policy.View, a *policy.App) {
	for _, k := range [...]heddle.Kind{heddle.Map, heddle.Reduce} {
		p.free[k] = p.free[k] || a.Waiting(k) > 0 && p.goesAnywhere(v, a, k)
	}
}

// goesAnywhere reports whether an application's tasks of a kind are refused nowhere: reduces whose maps are over or about to be,
// and the maps of a small application.
func (p *Place) goesAnywhere(v policy.View, a *policy.App, k heddle.Kind) bool {
	switch k {
	case heddle.Reduce:
		return p.ends(v, a)
	case heddle.Map:
		return a.Used().Plus(a.Pending()).Share(v.Total()) <= p.o.Small
	default:
		return false
	}
}

// ends reports whether the maps of an application are over, or are about to be, judging by how long its other maps were held.
func (p *Place) ends(v policy.View, a *policy.App) bool {
	if a.MapsOver() {
		return true
	}
	ended := a.Finished(heddle.Map)
	if a.Waiting(heddle.Map) > 0 || ended == 0 || p.o.Ahead == 0 {
		return false
	}
	return v.Now().Since(p.app(a).last) >= a.Held(heddle.Map)/heddle.Span(ended)-heddle.Seconds(p.o.Ahead)
}

// measured reports whether a container has run long enough to be part of its node's measurement. NodeManagers measure every 3 s
// (yarn.nodemanager.container-monitor.interval-ms), and a container from its second measurement on.
func measured(v policy.View, x *policy.Container) bool {
	return x.State() == cluster.Running && v.Now().Since(x.Started()) >= 3*lookEvery
}
