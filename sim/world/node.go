package world

import (
	"math"

	"heddle"
)

// A node is a machine and what runs on it.
type node struct {
	rack     int32
	up       bool
	total    heddle.Resource
	cores    float64
	disk     float64 // bytes/s of one stream
	nic      float64 // payload bytes/s each way
	base     float64 // speed of a core as drawn
	speed    float64 // now
	memory   int64   // MiB
	resident int64   // MiB held by processes
	cache    pageCache
	flusher  int32   // the stage that writes dirty pages back, -1 = none
	seek     float64 // what the disk loses between two streams, as a fraction of what it serves of one
	swap     float64 // factor by which everything takes longer; 1 = no swapping

	conts  []int32
	users  []user
	pulled []pulled // sources on this node that are being read from

	dirty, final, open, stale bool // in World's lists of these names

	since             heddle.Time // of the figures below
	cpuRate, diskRate float64     // cores and bytes/s in use
	streams, rated    float64     // of the disk; and what it transfers with that many
	cpuDone           float64     // core-seconds
	stats             DiskStats
}

// A user is a stage with a claim on a node, and its leg there.
type user struct {
	act int32
	leg int32
}

// A pulled is a source that reduces read from.
type pulled struct {
	pool *pool
	src  int32
}

// A rack shares its uplink in proportion to what the flows over it could use without it.
type rack struct {
	uplink  float64 // payload bytes/s each way; 0 = unlimited
	out, in int64   // bytes/s wanted
	fout    float64 // the fraction of it that fits, as applied
	fin     float64
	outs    []flow
	ins     []flow
	nodes   []int32
}

func (w *World) addNodes(c Config) {
	if len(c.Nodes) == 0 {
		panic("world: a cluster without nodes")
	}
	p := &w.p
	racks := 0
	for i := range c.Nodes {
		racks = max(racks, int(c.Nodes[i].Rack)+1)
	}
	w.racks = make([]rack, max(racks, 1))
	for i := range w.racks {
		w.racks[i] = rack{fout: 1, fin: 1}
		if w.fx.Contention {
			w.racks[i].uplink = c.UplinkBps * p.NetEfficiency
		}
	}
	w.nodes = make([]node, len(c.Nodes))
	for i := range c.Nodes {
		s := &c.Nodes[i]
		if s.Total[heddle.CPU] <= 0 || s.Total[heddle.Memory] <= 0 {
			panic("world: node " + s.Name + " offers no processors or no memory")
		}
		n := &w.nodes[i]
		*n = node{
			rack: max(int32(s.Rack), 0), up: true, total: s.Total, swap: 1,
			cores:  or(s.Cores, float64(s.Total[heddle.CPU])/1000),
			disk:   or(s.DiskBps, p.DiskBps),
			nic:    or(s.NICBps, p.NICBps) * p.NetEfficiency,
			base:   or(s.Speed, 1),
			memory: s.Memory, flusher: -1,
		}
		n.seek = or(s.Seek.Seconds(), p.SeekSeconds) / or(s.Run/n.disk, p.SliceSeconds)
		if n.memory == 0 {
			n.memory = int64(math.Round(float64(s.Total[heddle.Memory]) / (1 - p.ReservedMemory)))
		}
		w.memory += n.memory
		if w.fx.SlowNodes {
			w.pcg.Seed(w.seed^streamNodes, uint64(i))
			n.base *= lognormal(w.rng.NormFloat64(), p.NodeSpread)
		}
		n.speed = n.base
		w.bounds.add(n)
		w.racks[n.rack].nodes = append(w.racks[n.rack].nodes, int32(i))
	}
	w.byNode = newTimeHeap(len(w.nodes))
}

func or(x, otherwise float64) float64 {
	if x > 0 {
		return x
	}
	return otherwise
}

// efficiency returns the fraction of its transfer rate that a disk keeps with the given number of streams: between two
// slices it moves its heads, unless the next slice belongs to the same stream.
func (n *node) efficiency(streams float64) float64 {
	if streams <= 1 {
		return 1
	}
	return 1 / (1 + float64(n.seek*(1-1/streams)))
}

// touch records that what runs on a node has changed.
func (w *World) touch(i int32) {
	n := &w.nodes[i]
	if !n.dirty {
		n.dirty = true
		w.dirty = append(w.dirty, i)
	}
	if !n.open {
		n.open = true
		w.open = append(w.open, i)
	}
}

// renew records that what limits the stages at home on a node has changed.
func (w *World) renew(i int32) {
	if n := &w.nodes[i]; !n.stale {
		n.stale = true
		w.stale = append(w.stale, i)
	}
	w.touch(i)
}

// reprice advances the stages at home on a node to now, before what they cost there changes.
func (w *World) reprice(i int32) {
	for _, u := range w.nodes[i].users {
		if u.leg == 0 {
			w.progress(u.act)
		}
	}
	w.renew(i)
}

// hold changes how much memory processes hold on a node, and thus whether it swaps.
func (w *World) hold(i int32, mib int64) {
	n := &w.nodes[i]
	w.filled = w.MemoryUsed(w.now)
	w.filledAt = w.now
	w.resident += mib
	n.resident += mib
	w.admit(i, 0)
	if s := w.swapping(n, n.resident-n.memory); s != n.swap {
		w.reprice(i)
		n.swap = s
	}
}

// swapping returns the factor by which something slows down on a node whose memory is exceeded by over MiB.
func (w *World) swapping(n *node, over int64) float64 {
	if over <= 0 || !w.fx.Memory {
		return 1
	}
	return 1 + 2*float64(over)*(1<<20)*w.p.SwapPasses/n.disk
}

// diskShare returns the fraction of a node's disk that is in use.
func (n *node) diskShare() float64 {
	if n.diskRate <= 0 {
		return 0
	}
	return min(1, n.diskRate/n.rated)
}

// settle advances a node's sums to now.
func (w *World) settle(n *node) {
	if w.now == n.since {
		return
	}
	dt := heddle.Span(w.now - n.since).Seconds()
	n.since = w.now
	n.cpuDone += float64(n.cpuRate * dt)
	if n.diskRate <= 0 {
		return
	}
	busy := n.diskShare()
	requests := n.diskRate * dt / w.p.RequestBytes
	service := w.p.RequestBytes / n.rated
	n.stats.Busy += float64(busy * dt)
	n.stats.IOWait += float64(busy * dt * max(0, 1-n.cpuRate/n.cores))
	n.stats.Requests += requests
	n.stats.Service += float64(requests * service)
	n.stats.Await += float64(requests * service * max(1, n.streams*busy))
}

// NodeDown loses a node: every container on it is over, and the map output it held is gone. Nothing is reported done.
// Stages elsewhere that read from it continue from another replica; those that write to it continue without it.
func (w *World) NodeDown(now heddle.Time, id heddle.NodeID) {
	w.at(now)
	if !w.known(id) || !w.nodes[id].up {
		return
	}
	n := &w.nodes[id]
	n.up = false
	w.flushed(int32(id))
	for len(n.conts) > 0 {
		w.closeContainer(n.conts[len(n.conts)-1])
	}
	for len(n.users) > 0 {
		w.reroute(n.users[len(n.users)-1])
	}
	for _, j := range w.jobs {
		if j != nil {
			w.loseOutput(j, int32(id))
		}
	}
	n.cache.low = n.cache.high
	w.admit(int32(id), 0)
	w.touch(int32(id))
}

// NodeUp brings a lost node back, empty.
func (w *World) NodeUp(now heddle.Time, id heddle.NodeID) {
	w.at(now)
	if w.known(id) {
		w.nodes[id].up = true
	}
}

// SetSpeed makes a node a straggler: its cores run at factor, above 0 and at most 1, of their speed.
func (w *World) SetSpeed(now heddle.Time, id heddle.NodeID, factor float64) {
	w.at(now)
	if w.known(id) && factor > 0 && factor <= 1 {
		w.reprice(int32(id))
		w.nodes[id].speed = w.nodes[id].base * factor
	}
}

func (w *World) known(id heddle.NodeID) bool { return id >= 0 && int(id) < len(w.nodes) }
