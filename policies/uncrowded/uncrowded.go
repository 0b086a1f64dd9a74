// Package uncrowded starts no more tasks on a node whose tasks wait more than they compute: its disk or
// network is the bottleneck, and another task would slow those that run and gain next to nothing. Tasks that
// write gigabytes take turns then, in the profile's order, in place of sharing the disk with all others.
//
// It goes by what every NodeManager reports, which is how much processor time its containers use together, in
// processors of the machine. That is divided among them: a map, and a reduce whose job's maps are over, counts as one
// (as its vcores where it has less than one), an executor as its vcores. Masters and containers of other frameworks are
// taken to use next to nothing, and so is a reduce that still copies: it waits for maps and not for the disk. A task that
// runs too shortly to have been measured is taken to compute as much as others of its job, or else of the cluster. A node
// that reports no use is never crowded. Tasks that use next to nothing do not count: what they wait for is elsewhere. Nor is a
// node crowded whose machine has no processor to spare and mostly serves something other than the node's containers:
// processors are what its tasks wait for, and others take what they leave.
//
// Where a node's agent says how busy its disks are, that tasks hold little of it counts only while they are quiet: others write
// there too, since a file is written on three nodes and maps' output is read by reduces elsewhere. A map still goes where
// tasks compute, and where there are none.
//
// Where agents measure each container, [Options.Measured] has it go by that: each task counts with what it uses itself, and not
// at all where that is next to nothing.
//
// A reduce that could only copy goes to no node of which tasks hold more than a part, however much they compute, unless
// the cluster has room for all that is asked for and a quarter to spare. One
// whose job's maps are over, or are about to be, is refused nowhere, since it is all that its job waits for: it finds room, starts
// and copies meanwhile. Nor is a task of an application of which no task runs, nor a map of a small application, one that holds
// and asks for little of the cluster: large ones bring every node to its limit, and a small one adds little to what the disks do.
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
	// Share is the part of the node that maps and reduces may hold in any case, by the dominant resource, as long as its disks
	// are quiet. One that holds none of them takes one in any case then.
	Share float64 `yaml:"share"`
	// Busy is the share of a processor that the node's tasks must use on average for it to take another.
	Busy float64 `yaml:"busy"`
	// Disk is the part of the time that a node's disks may be busy for Share to count, where its agent says so: the mean over
	// them. Each task that was granted there since counts as 0.3 of it. 1 is no bound.
	Disk float64 `yaml:"disk"`
	// Ahead is how many seconds before its maps are expected to end a job's reduces are refused nowhere: where none waits for a
	// container, and the last one to get one has held it for as long as others did, less that. 0 is not before they have ended.
	Ahead float64 `yaml:"ahead"`
	// Small is the part of the cluster, by the dominant resource, that an application holds and asks for at most, in all, for its
	// maps to be refused nowhere.
	Small float64 `yaml:"small"`
	// Patience is how many seconds an application is passed over at most before any node will do.
	Patience float64 `yaml:"patience"`
	// Measured has it go by what each task uses, on nodes that measure that.
	Measured bool `yaml:"measured"`
}

// Default are the defaults: tasks that compute more than half of the time are let in.
var Default = Options{Share: 0.4, Busy: 0.6, Disk: 0.6, Ahead: 4, Small: 0.2, Patience: 20}

// A Place refuses crowded nodes.
type Place struct {
	o       Options
	byApp   []app
	cluster [heddle.NumKinds]mean
	byNode  []report
	asked   [heddle.NumKinds]bool // kinds that it is asked about
	refused bool                  // somebody, since the last tick
	late    bool                  // somebody's patience is over, or may be before it is looked again
	ending  bool                  // somebody may ask for reduces that are refused nowhere
	small   bool                  // somebody may ask for maps that are
	turn    uint32                // which nodes are open to who is late, until the next tick
	now     crowd                 // of the node that was looked at last
}

// An app is what is known of an application.
type app struct {
	used [heddle.NumKinds]mean // shares of a processor that its tasks used
	last heddle.Time           // when a map of it was granted last
}

// A report is what a node said.
type report struct {
	used   float64 // share of a processor that a task used when it measured last, or what stands for that
	others float64 // running mean of the part of its machine's work that others do while no processor is to spare
	begun  int     // maps and reduces granted there since its disks were measured
}

// A crowd is what the tasks of a node are.
type crowd struct {
	node *policy.Node // nil where that has changed
	at   heddle.Time
	held heddle.Resource
	busy bool // they compute as much as they must for the node to take another
}

// What stands for the share of a processor that a task used on a node.
const (
	unknown = -1 // the node has not said what its containers use, or processors are what they lack
	nothing = -2 // it has, while no task ran there for long enough to be measured, or those that did used next to nothing
)

// A mean is the mean of the first measurements, and a running mean of more.
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

// Hear implements [policy.Listener]: it learns how much the tasks of jobs compute, and who has no maps left.
func (p *Place) Hear(v policy.View, e policy.Effect) {
	if e.Node == nil || e.Node == p.now.node {
		p.now.node = nil
	}
	switch e.What {
	case policy.NodeUp:
		*p.of(e.Node) = report{used: unknown}
	case policy.NodeUsage:
		p.learn(v, e.Node)
	case policy.TaskUsage:
		if used, ok := p.own(v, e.Container); ok && counts(e.Container) {
			p.note(e.Container, used)
		}
	case policy.NodeDisks:
		p.of(e.Node).begun = 0
	default:
		if e.What == policy.Granted && (e.Container.Kind() == heddle.Map || e.Container.Kind() == heddle.Reduce) {
			p.of(e.Node).begun++
		}
		if (e.What == policy.Granted || e.What == policy.Adopted) && e.Container.Kind() == heddle.Map {
			a := p.app(e.App)
			a.last = max(a.last, e.Container.Granted())
		}
		p.ending = p.ending || p.asksLast(v, e.App)
		p.small = p.small || p.asksFew(v, e.App)
	}
}

// of is where it is kept what a node said.
func (p *Place) of(n *policy.Node) *report {
	for int(n.ID()) >= len(p.byNode) {
		p.byNode = append(p.byNode, report{used: unknown})
	}
	return &p.byNode[n.ID()]
}

// learn takes in what a node measured: so much for each of its tasks.
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

// note learns what a task uses.
func (p *Place) note(x *policy.Container, used float64) {
	p.app(x.App()).used[x.Kind()].add(used)
	p.cluster[x.Kind()].add(used)
}

// app is where it is kept what is known of an application.
func (p *Place) app(a *policy.App) *app {
	for int(a.ID()) >= len(p.byApp) {
		p.byApp = append(p.byApp, app{})
	}
	return &p.byApp[a.ID()]
}

// own is the share of a processor that a container uses by its own measurement, at most 1; not ok where there is none.
func (p *Place) own(v policy.View, x *policy.Container) (used float64, ok bool) {
	cpu, memory := x.Usage()
	if !p.o.Measured || memory == 0 || !measured(v, x) {
		return 0, false
	}
	return min(1, float64(cpu)/1000), true
}

// profileEvery is how often agents measure containers.
const profileEvery = 5 * heddle.Second

// shared reports whether processors are what a node's tasks lack, because others use its machine. A process that has just
// begun, or has ended since, is none of the node's by its measurement: only what lasts is others'.
func (p *Place) shared(r *report, n *policy.Node) bool {
	used, others, spare := float64(n.CPUUsed()), float64(n.CPUOthers()), float64(n.CPUIdle())
	if used <= 0 || spare < 0 || spare >= 1000*p.o.Busy {
		return false
	}
	r.others += lasting * (others/(others+used) - r.others)
	return r.others > 0.5
}

// lasting is the weight of the last measurement in the running mean of what others do: it takes three in a row, which
// is 9 s, for a machine that seems to serve others alone to be taken for one that mostly does.
const lasting = 0.25

// Judge implements [policy.Place].
func (p *Place) Judge(v policy.View, k *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	a := k.App()
	p.asked[k.Kind()] = p.asked[k.Kind()] || !v.Explaining()
	if k.Kind() == heddle.AM || a.Unserved() || k.Kind() == heddle.Reduce && p.ends(v, a) || v.Now().Since(a.PassedOver()) > heddle.Seconds(p.o.Patience) {
		return policy.Yes
	}
	if k.Kind() == heddle.Reduce && p.slack(v) || k.Kind() == heddle.Map && p.few(v, a) {
		return policy.Yes
	}
	if p.now.node != n || p.now.at != v.Now() {
		p.now = p.look(v, n)
	}
	held, quiet := p.now.held, p.quiet(n)
	if quiet && (held.IsZero() || held.Plus(k.Size()).Share(n.Total()) <= p.o.Share) || k.Kind() != heddle.Reduce && p.now.busy {
		return policy.Yes
	}
	p.refused = p.refused || !v.Explaining()
	no := policy.No(heddle.NodeCrowded)
	if !p.opens(v, n, k.Kind()) && (!quiet || held.Share(n.Total()) >= p.o.Share) {
		no.Skip = policy.SkipKind // whoever asks, and for however little: every container has some of each resource
	}
	return no
}

// slack reports whether all that is asked for, and a part of the cluster, fit into what is free: a reduce that only copies
// keeps nobody from anything then.
func (p *Place) slack(v policy.View) bool {
	total := v.Total()
	return v.Fits(v.Root().Pending().Plus(total.Part(slackShare)), total.Minus(v.Used()))
}

// slackShare is the part of the cluster that must be free beside what is asked for, for whoever comes next.
const slackShare = 0.25

// quiet reports whether a node's disks are less busy than they may be, as far as is known.
func (p *Place) quiet(n *policy.Node) bool {
	busy := n.DiskBusy()
	return p.o.Disk == 1 || busy < 0 || float64(busy)/1000+begins*float64(p.of(n).begun) <= p.o.Disk
}

// begins is how busy a task keeps a node's disks that has yet to be measured: most read first, and then compute.
const begins = 0.3

// opens reports whether the node may be open to somebody else who asks for a kind. To look for one whose patience is over costs
// a look at all who ask: only some nodes are open to those, others after each tick.
func (p *Place) opens(v policy.View, n *policy.Node, k heddle.Kind) bool {
	return v.Unserved() > 0 || k == heddle.Reduce && p.ending || k == heddle.Map && p.small || p.late && (uint32(n.ID())+p.turn)%uint32(1+v.Live()/openAtOnce) == 0
}

// openAtOnce is about how many nodes are open at once to those whose patience is over; all of a cluster that has no more.
const openAtOnce = 64

// look is what the tasks of a node are now.
func (p *Place) look(v policy.View, n *policy.Node) crowd {
	used, tasks, held := 0.0, 0, heddle.Resource{}
	now := p.of(n).used
	n.Each(func(x *policy.Container) bool {
		if x.Kind() == heddle.Map || x.Kind() == heddle.Reduce {
			held = held.Plus(x.Limit())
		}
		if counts(x) && !x.Suspended() {
			u, known := p.own(v, x)
			if !known {
				u = p.expect(v, x, now)
			}
			if u >= working { // else it waits for something else
				used += u
				tasks++
			}
		}
		return true
	})
	return crowd{node: n, at: v.Now(), held: held, busy: now == unknown || used >= p.o.Busy*float64(tasks)}
}

// Ticks implements [policy.Ticker].
func (p *Place) Ticks() (every, phase heddle.Span) { return lookEvery, 0 }

// lookEvery is how often it is looked whether nodes are as crowded as before.
const lookEvery = 3 * heddle.Second

// Tick implements [policy.Ticker]: who was refused may not be any more. It looks whether anybody's patience ends before
// the next time.
func (p *Place) Tick(v policy.View) bool {
	p.late, p.ending, p.small = heddle.Seconds(p.o.Patience) <= lookEvery, false, false
	p.turn++
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil && p.asks(a) {
			p.late = p.late || v.Now().Since(a.PassedOver())+lookEvery > heddle.Seconds(p.o.Patience)
			p.ending = p.ending || p.asksLast(v, a)
			p.small = p.small || p.asksFew(v, a)
		}
	}
	again := p.refused
	p.refused = false
	return again
}

// asks reports whether an application asks for a container of a kind that the place is asked about.
func (p *Place) asks(a *policy.App) bool {
	for k, asked := range p.asked {
		if asked && a.Waiting(heddle.Kind(k)) > 0 {
			return true
		}
	}
	return false
}

// expect is the share of a processor that a task uses, as far as anybody knows; 1 where nobody does. Now is what those
// of its node use that are measured.
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

// each is the share of a processor that one of the node's tasks uses, at most 1; [nothing] and not ok where none was measured.
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

// working is the least share of a processor of a task that a disk or the network serves. Tasks that use less wait for
// something that no other task of the node keeps from them. A virtual machine whose program sleeps uses some too.
const working = 0.05

// weight is how much of a node's processor time a container has, beside a task that counts.
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

// idle is the weight of a container that mostly waits for others.
const idle = 0.1

// counts reports whether a container is a task that has work of its own to do: not a reduce that can only copy.
func counts(x *policy.Container) bool {
	return x.Kind() == heddle.Map || x.Kind() == heddle.Reduce && x.App().MapsOver()
}

// asksLast reports whether an application asks for reduces that are refused nowhere.
func (p *Place) asksLast(v policy.View, a *policy.App) bool {
	return a.Waiting(heddle.Reduce) > 0 && p.ends(v, a)
}

// asksFew reports whether an application asks for maps that are refused nowhere.
func (p *Place) asksFew(v policy.View, a *policy.App) bool {
	return a.Waiting(heddle.Map) > 0 && p.few(v, a)
}

// few reports whether an application is small.
func (p *Place) few(v policy.View, a *policy.App) bool {
	return a.Used().Plus(a.Pending()).Share(v.Total()) <= p.o.Small
}

// ends reports whether the maps of an application are over or about to be, by how long others of them were held.
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

// measured reports whether a container has run for long enough to be in what its node measured: NodeManagers measure
// every 3 s (yarn.nodemanager.container-monitor.interval-ms), and a container from the second time on.
func measured(v policy.View, x *policy.Container) bool {
	return x.State() == cluster.Running && v.Now().Since(x.Started()) >= 3*lookEvery
}
