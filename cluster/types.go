package cluster

import (
	"cmp"
	"slices"

	"heddle"
)

// A Node is a machine that offers resources.
type Node struct {
	// The fields that every grant, every end and every search for room use come first, in two cache lines.
	id     heddle.NodeID
	rack   heddle.RackID
	first  int32 // slot of the newest container on the node
	count  int32
	kinds  [heddle.NumKinds]int32
	up     bool
	can    heddle.Caps
	lends  bool       // the node has pools
	full   bool       // containers hold more than the node has: they were found on it, or it shrank
	silent bool       // it does not report, so nothing starts there
	booked *Container // the reservation, if any
	over   int64      // milli-vcores in used that are borrowed from suspended containers
	total  heddle.Resource
	used   heddle.Resource // held by containers, including suspended ones

	slab  *slab
	pools []pool
	// in thousandths of a processor, as the node last measured
	cpuUsed   int64 // that its containers use together
	cpuOthers int64 // that others use
	cpuIdle   int64 // that are unused; negative if unknown
	diskBusy  int64 // thousandths of the time that its disks were busy recently; negative if unknown

	_ [8]byte // pads to whole cache lines
}

// A pool is what the suspended containers of one application lend on one node.
type pool struct {
	app       *App
	suspended int64 // milli-vcores of its suspended containers
	borrowed  int64 // milli-vcores that its containers took from the pool
}

// ID returns the node's id.
func (n *Node) ID() heddle.NodeID { return n.id }

// Rack returns the node's rack.
func (n *Node) Rack() heddle.RackID { return n.rack }

// CPUUsed returns how many thousandths of a processor the node's containers use together, as its NodeManager last
// measured; 0 if no measurement has arrived.
func (n *Node) CPUUsed() int64 { return n.cpuUsed }

// CPUOthers returns how many thousandths of a processor are used on the node's machine outside its containers, as its
// NodeManager last measured; 0 if no measurement has arrived. The users may be containers of another NodeManager.
func (n *Node) CPUOthers() int64 { return n.cpuOthers }

// CPUIdle returns how many thousandths of a processor are unused on the node's machine, as its NodeManager last
// measured; negative if no measurement has arrived.
func (n *Node) CPUIdle() int64 { return n.cpuIdle }

// DiskBusy returns for how many thousandths of the time the node's disks were busy recently, on average, as its agent
// measured it; negative if no measurement has arrived.
func (n *Node) DiskBusy() int64 { return n.diskBusy }

// To returns how far away another node is; [heddle.Locality.Hops] gives the hops between them.
func (n *Node) To(o *Node) heddle.Locality {
	switch {
	case n == o:
		return heddle.NodeLocal
	case n.rack == o.rack:
		return heddle.RackLocal
	}
	return heddle.OffSwitch
}

// Can reports whether the node has all the abilities in what.
func (n *Node) Can(what heddle.Caps) bool { return n.can.Has(what) }

// Up reports whether the node is alive.
func (n *Node) Up() bool { return n.up }

// Silent reports whether the node is up but nothing more is to start there, since it has not reported for too long or
// since it registered, or is being decommissioned.
func (n *Node) Silent() bool { return n.silent }

// Total returns what the node offers.
func (n *Node) Total() heddle.Resource { return n.total }

// Used returns what the node's containers hold.
func (n *Node) Used() heddle.Resource { return n.used }

// Free returns what no container holds; it is below 0 if more is held than the node has.
func (n *Node) Free() heddle.Resource {
	t, u := &n.total, &n.used
	return heddle.Resource{t[0] - u[0], t[1] - u[1] + n.over, t[2] - u[2], t[3] - u[3]}
}

// Booked returns the node's reservation, or nil.
func (n *Node) Booked() *Container { return n.booked }

// BookedFor reports whether the node is reserved for an ask.
func (n *Node) BookedFor(k *Ask) bool { return n.booked != nil && n.booked.ask == k }

// Running returns how many containers of a kind the node holds.
func (n *Node) Running(k heddle.Kind) int { return int(n.kinds[k]) }

// Containers returns how many containers the node holds.
func (n *Node) Containers() int { return int(n.count) }

// Each calls f for every container on the node, newest first, until f returns false.
func (n *Node) Each(f func(*Container) bool) {
	for c := n.slab.at(n.first); c != nil; c = n.slab.after(onNode, c) {
		if !f(c) {
			return
		}
	}
}

// Room returns what an application may take on the node: what is free, plus what its own suspended containers lend;
// nothing if the node is reserved for another application, or silent.
func (n *Node) Room(a *App) heddle.Resource {
	if n.booked == nil && !n.lends && !n.silent {
		return n.Free()
	}
	return n.roomOf(a)
}

func (n *Node) roomOf(a *App) heddle.Resource {
	if n.silent || n.booked != nil && n.booked.app != a {
		return heddle.Resource{}
	}
	r := n.Free()
	if r[heddle.CPU] < 0 {
		return r // processors that are lent are in use elsewhere
	}
	for i := range n.pools {
		if p := &n.pools[i]; p.app == a && p.suspended > p.borrowed {
			r[heddle.CPU] += p.suspended - p.borrowed
		}
	}
	return r
}

// Lends reports whether suspended containers on the node lend anything.
func (n *Node) Lends() bool { return n.lends }

// Lent returns the milli-vcores that suspended containers on the node hold.
func (n *Node) Lent() (cpu int64) {
	for i := range n.pools {
		cpu += n.pools[i].suspended
	}
	return cpu
}

// A Queue is a queue of the queue tree.
type Queue struct {
	id       heddle.QueueID
	parent   *Queue
	children []*Queue
	depth    int
	used     heddle.Resource
	booked   heddle.Resource
	masters  heddle.Resource // the part of used that masters hold
	pending  heddle.Resource // asked for but not granted
	waiting  int             // asks with a positive count
	apps     []*App          // of a leaf, in order of submission
	users    []*User         // of a leaf, in order of first appearance
	alive    []*User         // … those with applications
	userAt   map[heddle.UserID]*User
}

// ID returns the queue's id.
func (q *Queue) ID() heddle.QueueID { return q.id }

// Parent returns the parent queue, or nil for the root.
func (q *Queue) Parent() *Queue { return q.parent }

// Within reports whether the queue is top or below it.
func (q *Queue) Within(top *Queue) bool {
	for ; q != nil; q = q.parent {
		if q == top {
			return true
		}
	}
	return false
}

// Children returns the queues directly below. Callers must not change the slice.
func (q *Queue) Children() []*Queue { return q.children }

// Leaf reports whether the queue is a leaf. Only leaves take applications.
func (q *Queue) Leaf() bool { return len(q.children) == 0 }

// Used returns what the queue's containers hold.
func (q *Queue) Used() heddle.Resource { return q.used }

// Booked returns what the queue's applications have reserved on nodes.
func (q *Queue) Booked() heddle.Resource { return q.booked }

// Taken returns Used and Booked together.
func (q *Queue) Taken() heddle.Resource {
	u, b := &q.used, &q.booked
	return heddle.Resource{u[0] + b[0], u[1] + b[1], u[2] + b[2], u[3] + b[3]}
}

// Masters returns the part of Used that masters hold.
func (q *Queue) Masters() heddle.Resource { return q.masters }

// Pending returns what is asked for but not yet granted.
func (q *Queue) Pending() heddle.Resource { return q.pending }

// Waiting reports whether anything is asked for in the queue.
func (q *Queue) Waiting() bool { return q.waiting > 0 }

// Apps returns a leaf's applications in order of submission. Callers must not change the slice.
func (q *Queue) Apps() []*App { return q.apps }

// Users returns the users a leaf has seen, in order of first appearance. Callers must not change the slice.
func (q *Queue) Users() []*User { return q.users }

// LiveUsers returns those of a leaf's users who have applications there, in order of first appearance. Callers must not
// change the slice.
func (q *Queue) LiveUsers() []*User { return q.alive }

func (q *Queue) userOf(id heddle.UserID) *User {
	if u := q.userAt[id]; u != nil {
		return u
	}
	u := &User{id: id, queue: q, nth: len(q.users)}
	if q.userAt == nil {
		q.userAt = map[heddle.UserID]*User{}
	}
	q.users, q.userAt[id] = append(q.users, u), u
	return u
}

// count adds to the number of the user's applications.
func (u *User) count(by int) {
	was, q := u.apps > 0, u.queue
	u.apps += by
	if is := u.apps > 0; is == was {
		return
	}
	i, _ := slices.BinarySearchFunc(q.alive, u.nth, func(o *User, nth int) int { return cmp.Compare(o.nth, nth) })
	if was {
		q.alive = slices.Delete(q.alive, i, i+1)
	} else {
		q.alive = slices.Insert(q.alive, i, u)
	}
}

// A User is one user in one leaf queue.
type User struct {
	id      heddle.UserID
	queue   *Queue
	nth     int
	used    heddle.Resource
	booked  heddle.Resource
	apps    int // alive
	waiting int // asks with a positive count
}

// ID returns the user's id.
func (u *User) ID() heddle.UserID { return u.id }

// Queue returns the leaf queue.
func (u *User) Queue() *Queue { return u.queue }

// Nth returns the user's index in [Queue.Users].
func (u *User) Nth() int { return u.nth }

// Used returns what the user's containers in this queue hold.
func (u *User) Used() heddle.Resource { return u.used }

// Booked returns what the user's applications in this queue have reserved.
func (u *User) Booked() heddle.Resource { return u.booked }

// Taken returns Used and Booked together.
func (u *User) Taken() heddle.Resource {
	h, b := &u.used, &u.booked
	return heddle.Resource{h[0] + b[0], h[1] + b[1], h[2] + b[2], h[3] + b[3]}
}

// Apps returns how many of the user's applications are alive in this queue.
func (u *User) Apps() int { return u.apps }

// Waiting reports whether the user asks for anything in this queue.
func (u *User) Waiting() bool { return u.waiting > 0 }

// An App is an application.
type App struct {
	// The fields that every grant and every end use come first.
	queue    *Queue
	user     *User
	slab     *slab
	asks     []*Ask // by priority, then kind, then allocation id
	excluded map[heddle.NodeID]bool
	id       heddle.AppID
	first    int32 // slot of the newest container
	used     heddle.Resource
	pending  heddle.Resource
	waiting  [heddle.NumKinds]int32 // containers asked for
	running  [heddle.NumKinds]int32 // containers held
	ended    [heddle.NumKinds]ended // containers that ended: see Finished
	peak     [heddle.NumKinds]int64 // MiB: the largest peak memory of a task that ended
	begun    bool                   // one of its tasks has run, or was found running
	lost     bool                   // it has done more than is counted: see Done
	asked    bool                   // its master has said what it asks for
	over     bool
	unseen   *Container // granted but not acquired, newest first
	master   *Container
	booked   heddle.Resource
	bookings int

	priority  int32
	framework heddle.Framework
	facts     heddle.Facts
	submitted heddle.Time
	passed    heddle.Time // since when it asks without being given anything
	outputs   []Output
	outputAt  map[heddle.NodeID]int
	found     [heddle.NumKinds]int32 // containers that were found: see Found
}

// ended counts the containers that ended well, and how long they were held since their grant.
type ended struct {
	count int64
	held  heddle.Span
}

func (e *ended) add(held heddle.Span) {
	e.count++
	e.held += held
}

// Output is how much map output of an application a node holds.
type Output struct {
	Node  heddle.NodeID
	Bytes int64
}

// ID returns the application's id.
func (a *App) ID() heddle.AppID { return a.id }

// Queue returns the leaf queue the application is in.
func (a *App) Queue() *Queue { return a.queue }

// User returns the application's owner in that leaf queue.
func (a *App) User() *User { return a.user }

// Priority returns the application's priority; higher goes first.
func (a *App) Priority() int32 { return a.priority }

// Framework returns the application's framework.
func (a *App) Framework() heddle.Framework { return a.framework }

// Facts returns what is known of the job besides its requests.
func (a *App) Facts() *heddle.Facts { return &a.facts }

// Submitted returns when the application was accepted.
func (a *App) Submitted() heddle.Time { return a.submitted }

// PassedOver returns since when the application has been asking without being given anything. It is meaningless while
// the application asks for nothing.
func (a *App) PassedOver() heddle.Time { return a.passed }

// Over reports whether the application is done. Policies may still hold it.
func (a *App) Over() bool { return a.over }

// Asks returns the application's asks in the order they are served. Callers must not change the slice.
func (a *App) Asks() []*Ask { return a.asks }

// Used returns what the application's containers hold.
func (a *App) Used() heddle.Resource { return a.used }

// Tasks returns what the application's tasks, all but its master, hold and ask for, and in how many containers.
func (a *App) Tasks() (total heddle.Resource, containers int) {
	for k := heddle.AM + 1; k < heddle.NumKinds; k++ {
		containers += a.Running(k) + a.Waiting(k)
	}
	if a.master == nil && containers == 0 {
		return heddle.Resource{}, 0 // it waits for a master
	}
	return a.UsedByTasks().Plus(a.pending), containers
}

// UsedByTasks returns what the application's tasks, all but its master, hold.
func (a *App) UsedByTasks() heddle.Resource {
	if a.master == nil {
		return a.used
	}
	return a.used.Minus(a.master.limit)
}

// Booked returns what the application has reserved on nodes.
func (a *App) Booked() heddle.Resource { return a.booked }

// Bookings returns how many nodes the application has reserved.
func (a *App) Bookings() int { return a.bookings }

// Pending returns what is asked for but not yet granted.
func (a *App) Pending() heddle.Resource { return a.pending }

// Waiting returns how many containers of a kind are asked for.
func (a *App) Waiting(k heddle.Kind) int { return int(a.waiting[k]) }

// Running returns how many containers of a kind are held.
func (a *App) Running(k heddle.Kind) int { return int(a.running[k]) }

// Unserved reports whether the application asks for tasks and has none running.
func (a *App) Unserved() bool {
	var waiting, running int32
	for k := heddle.AM + 1; k < heddle.NumKinds; k++ {
		waiting += a.waiting[k]
		running += a.running[k]
	}
	return waiting > 0 && running == 0
}

// Begun reports whether the application has ever had a container for a task.
func (a *App) Begun() bool { return a.begun }

// MapsOver reports whether no map is asked for and none is running.
func (a *App) MapsOver() bool { return a.Waiting(heddle.Map)+a.Running(heddle.Map) == 0 }

// Finished returns how many containers of a kind ended well. For executors it counts all that had started, since their
// application ends them when it no longer needs them.
func (a *App) Finished(k heddle.Kind) int { return int(a.ended[k].count) }

// Done returns how many of a job's maps or reduces are done, as far as that is known: those that [App.Finished] counts. If
// the job had done some before anybody counted (see [heddle.Past]), it is its number of maps less those that it asks for
// and runs, and likewise for reduces once its maps are over: MapReduce asks for all of them then, and none ends before.
// Until its master has said what it asks for, and while it neither asks for a task nor runs one, nothing says how many.
func (a *App) Done(k heddle.Kind) int {
	of := 0
	if a.lost && a.asked {
		switch _, tasks := a.Tasks(); {
		case tasks == 0:
		case k == heddle.Map:
			of = int(a.facts.Maps)
		case k == heddle.Reduce && a.MapsOver():
			of = int(a.facts.Reduces)
		}
	}
	return max(a.Finished(k), of-a.Waiting(k)-a.Running(k))
}

// Found returns how many of the containers of a kind that run or ended well were found running by a core to which nobody
// had told what else the application had done by then.
func (a *App) Found(k heddle.Kind) int { return int(a.found[k]) }

// Past returns what another core is to be told that takes over the application.
func (a *App) Past() heddle.Past {
	p := heddle.Past{Lost: a.lost, Begun: a.begun, Found: a.found}
	for k, e := range a.ended {
		p.Ended[k] = heddle.Tally{Count: e.count, Held: e.held}
	}
	a.Each(func(x *Container) bool {
		if x.found {
			p.Found[x.kind]--
		}
		return true
	})
	return p
}

// Peak returns the largest peak memory, in MiB, measured in an ended task of a kind; 0 if none was measured.
func (a *App) Peak(k heddle.Kind) int64 { return a.peak[k] }

// Held returns how long the containers counted by [App.Finished] were held in total.
func (a *App) Held(k heddle.Kind) heddle.Span { return a.ended[k].held }

// Master returns the container of the application's master, or nil if it has none.
func (a *App) Master() *Container { return a.master }

// Excludes reports whether the application wants nothing on a node.
func (a *App) Excludes(n heddle.NodeID) bool { return a.excluded != nil && a.excluded[n] }

// Outputs returns where map output is stored, in order of first appearance. Callers must not change the slice.
func (a *App) Outputs() []Output { return a.outputs }

// Each calls f for every container of the application, newest first, until f returns false.
func (a *App) Each(f func(*Container) bool) {
	for c := a.slab.at(a.first); c != nil; c = a.slab.after(ofApp, c) {
		if !f(c) {
			return
		}
	}
}
