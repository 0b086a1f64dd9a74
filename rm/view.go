package rm

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// A View is what there is to report about a machine's applications, nodes and queues as of one moment. It does not
// change, and may be read from any goroutine while the machine continues. Values that grow with time are worked out for
// the requested time.
type View struct {
	basis
	apps    shelf[ids.App, *appView]
	nodes   shelf[ids.Node, *nodeView]
	queues  []QueueReport // without the counts of applications
	cluster ClusterReport
}

// A basis is what an application's report depends on beside the application.
type basis struct {
	at         heddle.Time
	began      int64
	total      heddle.Resource // of the cluster
	memoryOnly bool            // shares count only memory
	infos      []QueueInfo
	extras     []string
}

// An appView is an application in a view. Its report lacks what depends on time and on the cluster.
type appView struct {
	AppReport
	used    heddle.Resource
	queue   heddle.QueueID
	master  heddle.Resource // size of a live master
	active  bool            // there is one
	waiting int             // containers that it asks for
	held    holding
}

func (a *appView) key() ids.App { return a.ID } //nolint:unused // a shelf calls it

// A nodeView is a node in a view.
type nodeView struct {
	NodeReport
	state           nodeState
	parked, weighed int
}

func (n *nodeView) key() ids.Node { return n.ID } //nolint:unused // likewise

// A holding is what containers hold, in a form that gives what they have held up to any time: memory in MiB and CPU in
// milli-vcores, and both multiplied by the time of their creation. Overflow of the latter cancels out.
type holding struct{ memory, cpu, memorySince, cpuSince int64 }

// add adds a container, or removes it with a sign of −1.
func (h *holding) add(c *container, sign int64) {
	since := int64(c.created) / int64(heddle.Millisecond)
	memory, cpu := sign*c.size[heddle.Memory], sign*c.size[heddle.CPU]
	h.memory, h.cpu = h.memory+memory, h.cpu+cpu
	h.memorySince, h.cpuSince = h.memorySince+memory*since, h.cpuSince+cpu*since
}

// until returns what was held up to a time: MiB·s and vcore·s.
func (h *holding) until(at heddle.Time) (memory, vcores int64) {
	now := int64(at) / int64(heddle.Millisecond)
	return max(h.memory*now-h.memorySince, 0) / 1000, max(h.cpu*now-h.cpuSince, 0) / 1_000_000
}

// tell returns an application's report at a time.
func (b *basis) tell(a *appView, at heddle.Time) AppReport {
	p := a.AppReport
	at = max(at, b.at)
	if p.Started > 0 {
		p.Elapsed = max(0, cmp.Or(p.Finished, b.began+int64(at)/1e6)-p.Started)
	}
	if p.Live {
		memory, vcores := a.held.until(at)
		p.MemorySeconds, p.VcoreSeconds = p.MemorySeconds+memory, p.VcoreSeconds+vcores
		share := float32(100 * ShareOf(a.used, b.total, b.memoryOnly))
		p.ClusterShare, p.QueueShare = share, share
		if q := &b.infos[a.queue]; q.Absolute > 0 {
			p.QueueShare = share / float32(q.Absolute)
		}
	}
	return p
}

// At returns the moment of the view.
func (v *View) At() heddle.Time { return v.at }

// Apps returns the applications that pass a filter, oldest first, as of a time. They lack what only [Reports.App] has:
// requests, attempts, and, for applications that are [AppReport.Unexplained], what they wait for. It calls pause with the
// index of each application; an error that pause returns ends the list.
func (v *View) Apps(f *AppFilter, at heddle.Time, pause func(i int) error) ([]AppReport, error) {
	var list []*appView
	v.each(f, func(a *appView) bool {
		list = append(list, a)
		return f.Limit <= 0 || len(list) < f.Limit
	})
	out := make([]AppReport, 0, len(list))
	for _, a := range slices.Backward(list) {
		if err := pause(len(out)); err != nil {
			return nil, err
		}
		out = append(out, v.tell(a, at))
	}
	return out, nil
}

// Count counts the applications that pass a filter, by state. The filter's Limit is ignored.
func (v *View) Count(f *AppFilter) map[AppState]int {
	out := map[AppState]int{}
	v.each(f, func(a *appView) bool { out[a.State]++; return true })
	return out
}

// each yields the applications that pass a filter, newest first.
func (v *View) each(f *AppFilter, yield func(*appView) bool) {
	before := &f.Before
	if before.IsZero() {
		before = nil
	}
	passes := f.passes()
	v.apps.backward(before, func(a *appView) bool { return !passes(&a.AppReport) || yield(a) })
}

// App returns one application as of a time, as [View.Apps] does.
func (v *View) App(id ids.App, at heddle.Time) (AppReport, error) {
	a, ok := v.apps.get(id)
	if !ok {
		return AppReport{}, &NotFound{"application " + id.String()}
	}
	return v.tell(a, at), nil
}

// Nodes returns every NodeManager that was ever here, by id. It calls pause as [View.Apps] does.
func (v *View) Nodes(pause func(i int) error) (out []NodeReport, err error) {
	out = make([]NodeReport, 0, v.nodes.len())
	v.nodes.all(func(n *nodeView) bool {
		if err = pause(len(out)); err == nil {
			out = append(out, n.NodeReport)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Node returns one NodeManager.
func (v *View) Node(id ids.Node) (NodeReport, error) {
	n, ok := v.nodes.get(id)
	if !ok {
		return NodeReport{}, &NotFound{"node " + id.String()}
	}
	return n.NodeReport, nil
}

// Decommissioning returns the nodes that are being decommissioned.
func (v *View) Decommissioning() (out []ids.Node) {
	v.nodes.all(func(n *nodeView) bool {
		if n.State == nodeDecommissioning.String() {
			out = append(out, n.ID)
		}
		return true
	})
	return out
}

// Cluster returns the report of the cluster.
func (v *View) Cluster() ClusterReport { return v.cluster }

// Queues returns every queue, the root first. It goes through all applications.
func (v *View) Queues() []QueueReport {
	out := slices.Clone(v.queues)
	users := make([]map[string]*userView, len(out))
	v.apps.all(func(a *appView) bool {
		if a.Live {
			out[a.queue].count(a, &users[a.queue])
		}
		return true
	})
	for i := range slices.Backward(out) {
		p := &out[i]
		p.Users = make([]UserReport, len(users[i]))
		for _, u := range users[i] { // order: each has its place
			p.Users[u.nth] = UserReport{
				Name: u.name, Used: AmountOf(u.used, v.extras...), Masters: AmountOf(u.masters, v.extras...), Active: u.active, Inactive: u.inactive,
				Asking: u.asking,
			}
			p.AskingUsers += one(u.asking > 0)
		}
		if p.Leaf {
			p.Submitted += p.Active + p.Inactive
		}
		if p.Parent != heddle.NoQueue {
			out[p.Parent].include(p)
		}
	}
	return out
}

// A userView is a user's share of a queue.
type userView struct {
	nth              int // in the order of the users' oldest applications
	name             string
	used, masters    heddle.Resource
	active, inactive int
	asking           int
}

// count adds an application to its queue.
func (p *QueueReport) count(a *appView, users *map[string]*userView) {
	if *users == nil {
		*users = map[string]*userView{}
	}
	u := (*users)[a.User]
	if u == nil {
		u = &userView{nth: len(*users), name: a.User}
		(*users)[a.User] = u
	}
	u.used = u.used.Plus(a.used)
	u.masters = u.masters.Plus(a.master)
	u.active, u.inactive = u.active+one(a.active), u.inactive+one(!a.active)
	p.Active, p.Inactive = p.Active+one(a.active), p.Inactive+one(!a.active)
	u.asking, p.Asking = u.asking+one(a.waiting > 0), p.Asking+one(a.waiting > 0)
	p.Containers += a.Containers
	p.Waiting += a.waiting
	p.Reservations += a.Reservations
}

// include adds the counts of a child queue.
func (p *QueueReport) include(q *QueueReport) {
	p.Containers += q.Containers
	p.Reservations += q.Reservations
	p.Waiting += q.Waiting
	p.Active += q.Active
	p.Inactive += q.Inactive
	p.Asking += q.Asking
	p.AskingUsers += q.AskingUsers
	p.Submitted += q.Submitted
	p.Completed += q.Completed
	p.Killed += q.Killed
	p.Failed += q.Failed
}
