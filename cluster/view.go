package cluster

import "heddle"

// A View is read-only access to a cluster, as policies get it. Nothing reached through it may be changed.
//
// It also says in which mode a policy is asked: see [View.Prompted] and [View.Explaining].
type View struct {
	c    *Cluster
	mode mode
}

// A mode is a set of flags that says how a policy is asked.
type mode uint8

const (
	prompted mode = 1 << iota
	explaining
)

// Prompted reports whether nodes are being offered without having reported. A policy that counts offers, or draws
// random numbers by them, then answers as it would if the nodes had reported, as far as it can without recording
// anything, and remembers nothing of these offers.
func (v View) Prompted() bool { return v.mode&prompted != 0 }

// Explaining reports whether the answer has no effect: the core is explaining why an application waits, or is looking
// ahead. A policy then records nothing that a decision could depend on.
func (v View) Explaining() bool { return v.mode&explaining != 0 }

// AsPrompted returns the view in the mode that [View.Prompted] reports.
func (v View) AsPrompted() View { return View{v.c, v.mode | prompted} }

// AsExplaining returns the view in the mode that [View.Explaining] reports.
func (v View) AsExplaining() View { return View{v.c, v.mode | explaining} }

// Now returns the time of the event being handled.
func (v View) Now() heddle.Time { return v.c.now }

// Total returns what all live nodes offer together.
func (v View) Total() heddle.Resource { return v.c.total }

// Used returns what containers hold.
func (v View) Used() heddle.Resource { return v.c.queues[0].used }

// Excluded returns what the live nodes on which an application wants nothing offer beyond what containers hold there.
func (v View) Excluded(a *App) (free heddle.Resource) {
	for id := range a.excluded { // order: only the sum counts
		if n := v.Node(id); n != nil && n.up {
			free = free.Plus(n.total).Minus(n.used)
		}
	}
	return free
}

// Largest returns, for each dimension, the largest total of a live node.
func (v View) Largest() heddle.Resource { return v.c.largest }

// Live returns how many nodes are up.
func (v View) Live() int { return v.c.live }

// NodeIDs returns the number of node ids in use: every node's id is smaller.
func (v View) NodeIDs() int { return len(v.c.nodes) }

// Node returns a node, or nil if the id was never used.
func (v View) Node(id heddle.NodeID) *Node {
	if id < 0 || int(id) >= len(v.c.nodes) {
		return nil
	}
	return v.c.nodes[id]
}

// Racks returns how many rack ids are in use.
func (v View) Racks() int { return len(v.c.racks) }

// Rack returns the nodes of a rack in the order they joined. Callers must not change the slice.
func (v View) Rack(r heddle.RackID) []heddle.NodeID { return v.c.racks[r] }

// Root returns the queue tree's root.
func (v View) Root() *Queue { return v.c.queues[0] }

// Queues returns how many queues there are.
func (v View) Queues() int { return len(v.c.queues) }

// Queue returns a queue.
func (v View) Queue(id heddle.QueueID) *Queue { return v.c.queues[id] }

// App returns an application, or nil if it is not alive.
func (v View) App(id heddle.AppID) *App {
	if id < 0 || int(id) >= len(v.c.apps) {
		return nil
	}
	return v.c.apps[id]
}

// AppIDs returns the number of application ids in use: every live application's id is smaller.
func (v View) AppIDs() int { return len(v.c.apps) }

// Alive returns how many applications are not done.
func (v View) Alive() int { return v.c.alive }

// Unserved returns how many applications ask for tasks and have none running.
func (v View) Unserved() int { return v.c.unserved }

// Finished returns how many containers of a kind ended, over all applications, counted as by [App.Finished].
func (v View) Finished(k heddle.Kind) int { return int(v.c.ended[k].count) }

// Held returns how long those containers were held in total.
func (v View) Held(k heddle.Kind) heddle.Span { return v.c.ended[k].held }

// Container returns a container that has not ended, or nil.
func (v View) Container(id heddle.ContainerID) *Container { return v.c.slab.get(id) }

// Fits reports whether need fits into room in every dimension that counts.
func (v View) Fits(need, room heddle.Resource) bool { return v.c.Fits(need, room) }

// Counts reports whether a dimension takes part in fits.
func (v View) Counts(d heddle.Dim) bool { return v.c.counted[d] }

// MostFree returns the emptiest node that could hold need for the application now. Nodes are compared by their scarcest
// dimension, in 256ths of the largest node. If many nodes have much of one dimension and too little of another, it may
// settle for a fuller node. It returns false only if no node has room.
func (v View) MostFree(a *App, need heddle.Resource) (heddle.NodeID, bool) {
	return v.c.roomIndex().mostFree(v.c, a, need)
}

// Roomiest appends to ids up to most nodes that could hold need for the application now, the emptiest first in the
// order of [View.MostFree]. If many nodes have too little of one dimension, it may leave some out.
func (v View) Roomiest(a *App, need heddle.Resource, most int, ids []heddle.NodeID) []heddle.NodeID {
	return v.c.roomIndex().roomiest(v.c, a, need, most, ids)
}

// Level returns how empty a node is by its scarcest dimension, in 256ths of the largest node.
func (v View) Level(id heddle.NodeID) int { return int(v.c.roomIndex().level(v.c.nodes[id].Free())) }

// LeastFree returns the fullest node that could hold need for the application now, with the precision of
// [View.MostFree].
func (v View) LeastFree(a *App, need heddle.Resource) (heddle.NodeID, bool) {
	return v.c.roomIndex().leastFree(v.c, a, need)
}
