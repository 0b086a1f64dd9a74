package rm

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/sched"
)

// RefreshQueues reads the scheduler's configuration again and goes on with what it says: queues, limits, profile.
// What runs stays, in the queue of the same path; what waits keeps its place by submission, but not what a policy
// had learnt of it. Where a queue is gone that still has applications, the largest container shrinks while there are
// any, or the configuration is wrong, nothing changes.
func (r *RM) RefreshQueues(ctx context.Context) error {
	if r.refresh == nil {
		return invalid(classYarn, "this ResourceManager was started with a scheduler that cannot change")
	}
	sch, err := r.refresh()
	if err != nil {
		return err
	}
	_, err = read(ctx, r, func() (struct{}, error) { return struct{}{}, r.rebuild(sch) })
	if err == nil {
		r.log.Info("scheduler configuration read again", "profile", sch.Profile)
	}
	return err
}

// maxQueues is how many queues there may be where placement rules create them.
const maxQueues = 4096

// create makes a leaf queue that placement rules gave an application and that is not there.
func (r *RM) create(path string) error {
	if _, ok := r.queues[path]; ok {
		return nil
	}
	if len(r.queues) >= maxQueues {
		return invalid(classYarn, "queue %s cannot be created: there are %d, the most there may be; yarn rmadmin -refreshQueues drops those nobody is in", path, len(r.queues))
	}
	all := []string{path}
	for _, q := range r.sch.Queues {
		if q.Leaf {
			all = append(all, q.Path)
		}
	}
	err := r.rebuild(r.sch, all...)
	if _, ok := r.queues[path]; ok {
		r.log.Info("queue created", "queue", path)
	}
	return err
}

// tidyAt is how many numbers may be given beyond twice those in use.
const tidyAt = 20_000

// tidy begins anew with the numbers of applications, nodes and users once most of those that have one are gone, and
// drops created queues that nobody is in.
func (r *RM) tidy() {
	if r.numbers() < r.tidyAt {
		return
	}
	if err := r.rebuild(r.sch); err != nil {
		r.log.Error("the scheduler cannot be built anew", "error", err)
	}
	r.tidyAt = 2*r.numbers() + tidyAt
}

// numbers is how many numbers were given since they began anew.
func (r *RM) numbers() int { return len(r.apps) + len(r.nodes) + len(r.userNames) }

// rebuild goes on with a new scheduler as sch was configured, with the queues that placement created for
// applications that are not over, and more.
func (r *RM) rebuild(sch *Scheduler, more ...string) error {
	leaves := map[string]bool{}
	for _, q := range more {
		leaves[q] = true
	}
	for _, a := range r.byApp {
		if wants := a.aid != heddle.NoApp || a.kill == "" && a.state != stateFinalSaving; wants && !a.isOver() {
			leaves[a.queue] = true
		}
	}
	sch, err := sch.Rebuild(slices.Sorted(maps.Keys(leaves)))
	if err != nil {
		return err
	}
	return r.reschedule(sch)
}

// reschedule builds a core for another scheduler and tells it everything there is.
func (r *RM) reschedule(sch *Scheduler) error {
	queues := sch.numbers()
	for a := range r.current() {
		if !r.sch.Maximum.Fits(sch.Maximum) {
			return invalid(classYarn, "the largest container cannot shrink, from %s to %s, while there are applications, %s among them", r.text(r.sch.Maximum), r.text(sch.Maximum), a.id)
		}
		if q, ok := queues[a.queue]; !ok || !sch.Queues[q].Leaf {
			return invalid(classYarn, "queue %s still has applications, %s among them; it must stay a leaf queue until they are over", a.queue, a.id)
		}
	}
	if r.hold.IsZero() {
		for a, t := range r.current() {
			r.settle(a, t)
		}
	}
	past := r.core.Counts()
	r.steps, r.grants = r.steps+past.Steps, r.grants+past.Grants
	r.sch, r.queues, r.core = sch, queues, sched.New(sch.Set)
	r.placer.Store(sch)
	r.counts.keep(queues)
	r.renumber()
	for _, n := range r.nodes {
		if n.up {
			r.step(heddle.NodeUp{Node: n.nid, Rack: r.rackID(n.rack), Total: n.total})
			if n.state == nodeDecommissioning {
				r.step(heddle.NodeResized{Node: n.nid})
			}
		}
	}
	for a := range r.current() {
		r.tellAgain(a)
	}
	if r.hold.IsZero() {
		r.askAll()
	}
	return nil
}

// settle brings what a master asks for to what the core still owes it, and takes back what it was granted and has not
// fetched: another core grants it anew.
func (r *RM) settle(a *app, t *attempt) {
	v := r.core.View().App(a.aid)
	if v == nil {
		return
	}
	owed := workerAsks(v)
	for _, row := range t.sortedRows() {
		key := keyOf(row)
		left := t.unfetched(key.askKey)
		switch k := owed[key.askKey]; {
		case k == nil:
		case r.knows(key.place):
			left += r.left(k, key.place)
		default: // the core heard nothing of the row yet
			left += int32(k.Count())
		}
		if left < row.GetNumContainers() {
			row = proto.CloneOf(row)
			row.NumContainers = &left
			t.enter(row)
		}
	}
	for _, c := range slices.Clone(t.granted) {
		r.ended(c, nil) // no news of it: nobody has heard of it
	}
}

// askAll hands all requests to the core, and then has each offered what there is.
func (r *RM) askAll() {
	for a, t := range r.current() {
		r.askAgain(a, t)
	}
	for a := range r.current() {
		r.offer(a)
	}
}

// renumber gives those that are there the numbers from 0 on, which a new core knows nothing of. What is named as it
// is met again gets its number then.
func (r *RM) renumber() {
	r.apps = slices.DeleteFunc(r.apps, func(a *app) bool { return a == nil })
	for i, a := range r.apps {
		a.aid = heddle.AppID(i)
	}
	r.nodes = slices.DeleteFunc(r.nodes, func(n *node) bool { return r.byNode[n.id] != n })
	for i, n := range r.nodes {
		n.nid = heddle.NodeID(i)
	}
	clear(r.conts)
	clear(r.racks)
	clear(r.users)
	r.rackIDs, r.userNames = nil, nil
}

// tellAgain tells a new core of an application and what it holds. The core takes it: it is at work already.
func (r *RM) tellAgain(a *app) {
	state := a.state
	r.step(heddle.Submit{
		App: a.aid, Queue: r.queues[a.queue], User: r.userID(a.user), Priority: a.priority, Framework: a.framework,
		Facts: heddle.Facts{Name: a.name},
	})
	a.state = state
	t := a.current()
	for _, c := range byAge(t.conts) {
		r.foundID = c.id
		r.step(heddle.Found{App: a.aid, Node: c.node.nid, Kind: c.kind, Priority: c.priority, AllocID: c.allocID, Size: c.size, Ref: int64(c.node.nid)})
	}
}

// askAgain hands an application's requests to the core, its master's among them.
func (r *RM) askAgain(a *app, t *attempt) {
	if v := r.core.View().App(a.aid); t.state == attemptScheduled && v.Waiting(heddle.AM) == 0 {
		r.step(heddle.Attempt{App: a.aid, Master: a.master})
	}
	if len(t.black) > 0 {
		r.exclude(t)
	}
	var rows []heddle.Row
	for _, k := range t.sortedRows() {
		rows = r.appendRows(rows, t, k)
	}
	if len(rows) > 0 {
		r.step(heddle.Ask{App: a.aid, Rows: rows})
	}
}
