package cluster

import "heddle"

// A View is read access to a cluster, as policies get it. Nothing reached through it may be changed.
//
// It also says in which mode a policy is asked: see [View.Prompted] and [View.Explaining].
type View struct {
	c    *Cluster
	mode mode
}

// mode is in which way a policy is asked.
type mode uint8

const (
	prompted mode = 1 << iota
	explaining
)

// Prompted reports whether the nodes at hand are offered without having reported. A policy that counts or draws by
// the offers it is asked about then answers as it would if they had, as far as it can without taking anything in,
// and remembers nothing of them.
func (v View) Prompted() bool { return v.mode&prompted != 0 }

// Explaining reports whether nothing comes of what is asked: an application's waiting is explained, or it is looked
// ahead. A policy then takes no note that a decision could depend on.
func (v View) Explaining() bool { return v.mode&explaining != 0 }

// AsPrompted returns the view in the mode that [View.Prompted] tells.
func (v View) AsPrompted() View { return View{v.c, v.mode | prompted} }

// AsExplaining returns the view in the mode that [View.Explaining] tells.
func (v View) AsExplaining() View { return View{v.c, v.mode | explaining} }

// Now returns the time of the event being handled.
func (v View) Now() heddle.Time { return v.c.now }

// Total returns what live nodes offer together.
func (v View) Total() heddle.Resource { return v.c.total }

// Used returns what containers hold.
func (v View) Used() heddle.Resource { return v.c.queues[0].used }

// Largest returns, per dimension, the largest total of a live node.
func (v View) Largest() heddle.Resource { return v.c.largest }

// Live returns how many nodes are up.
func (v View) Live() int { return v.c.live }

// NodeIDs returns how many node ids are in use: every node's id is below.
func (v View) NodeIDs() int { return len(v.c.nodes) }

// Node returns a node, or nil where the id was never used.
func (v View) Node(id heddle.NodeID) *Node {
	if id < 0 || int(id) >= len(v.c.nodes) {
		return nil
	}
	return v.c.nodes[id]
}

// Racks returns how many rack ids are in use.
func (v View) Racks() int { return len(v.c.racks) }

// Rack returns the nodes of a rack in the order they joined; callers must not change it.
func (v View) Rack(r heddle.RackID) []heddle.NodeID { return v.c.racks[r] }

// Root returns the queue tree's root.
func (v View) Root() *Queue { return v.c.queues[0] }

// Queues returns how many queues there are.
func (v View) Queues() int { return len(v.c.queues) }

// Queue returns a queue.
func (v View) Queue(id heddle.QueueID) *Queue { return v.c.queues[id] }

// App returns an application, or nil where it is not alive.
func (v View) App(id heddle.AppID) *App {
	if id < 0 || int(id) >= len(v.c.apps) {
		return nil
	}
	return v.c.apps[id]
}

// AppIDs returns how many application ids are in use: every live one's id is below.
func (v View) AppIDs() int { return len(v.c.apps) }

// Alive returns how many applications are not done.
func (v View) Alive() int { return v.c.alive }

// Unserved returns how many applications ask for tasks and have none running.
func (v View) Unserved() int { return v.c.unserved }

// Finished returns how many containers of a kind ended, as [App.Finished] counts them, of whatever application.
func (v View) Finished(k heddle.Kind) int { return int(v.c.ended[k].count) }

// Held returns how long those containers were held, together.
func (v View) Held(k heddle.Kind) heddle.Span { return v.c.ended[k].held }

// Container returns a container that has not ended, or nil.
func (v View) Container(id heddle.ContainerID) *Container { return v.c.slab.get(id) }

// Fits reports whether need fits into room in every dimension that counts.
func (v View) Fits(need, room heddle.Resource) bool { return v.c.Fits(need, room) }

// Counts reports whether a dimension takes part in fits.
func (v View) Counts(d heddle.Dim) bool { return v.c.counted[d] }

// MostFree returns the node with the most free room that could hold need for the application now, by
// the least of its dimensions, to a 256th of the largest node. Where many nodes have much of one dimension
// and too little of another it may settle for a fuller one; it finds none only where there is none.
func (v View) MostFree(a *App, need heddle.Resource) (heddle.NodeID, bool) {
	return v.c.roomIndex().mostFree(v.c, a, need)
}

// Roomiest appends up to most nodes that could hold need for the application now to ids, the emptiest first
// as [View.MostFree] goes. Where many have too little of one dimension it may leave some out.
func (v View) Roomiest(a *App, need heddle.Resource, most int, ids []heddle.NodeID) []heddle.NodeID {
	return v.c.roomIndex().roomiest(v.c, a, need, most, ids)
}

// Level returns how empty a node is, by the least of its dimensions, in 256ths of the largest node.
func (v View) Level(id heddle.NodeID) int { return int(v.c.roomIndex().level(v.c.nodes[id].Free())) }

// LeastFree returns the fullest node that could hold need for the application now, likewise.
func (v View) LeastFree(a *App, need heddle.Resource) (heddle.NodeID, bool) {
	return v.c.roomIndex().leastFree(v.c, a, need)
}
