package rm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"heddle"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// A container is one that was granted and has not ended.
type container struct {
	id       ids.Container
	cid      heddle.ContainerID
	attempt  *attempt
	node     *node
	kind     heddle.Kind
	priority int32
	allocID  int64
	size     heddle.Resource
	created  time.Time
	fetched  time.Time // when its master was told; zero before
	running  bool      // its node reported it
	over     bool
	timer    timer // runs from when its master was told until its node reports it
}

// held is what the container has held so far: MiB·s and vcore·s.
func (c *container) held() (memory, vcores float64) {
	s := time.Since(c.created).Seconds()
	return s * float64(c.size[heddle.Memory]), s * float64(c.size[heddle.CPU]) / 1000
}

// byAge is containers, the oldest first.
func byAge(list map[ids.Container]*container) []*container {
	return slices.SortedFunc(maps.Values(list), func(a, b *container) int { return cmp.Compare(a.cid, b.cid) })
}

// What masters are told of containers that did not end by themselves.
const (
	textReleased  = "Container released by application"
	textLost      = "Container released on a *lost* node"
	textPreempted = "Container preempted by scheduler"
	textCompleted = "Container of a completed application"
	textExpired   = "Container expired since it was unused"
)

// carry does what the core decided.
func (r *RM) carry(d heddle.Decision) {
	switch d := d.(type) {
	case *heddle.Admit:
		r.admitted(r.apps[d.App])
	case *heddle.Reject:
		r.rejected(r.apps[d.App], d.Why)
	case *heddle.Launch:
		r.granted(d)
	case *heddle.Adopt:
		r.adopted(d)
	case *heddle.Kill:
		r.killed(d)
	case *heddle.Book, *heddle.Unbook: // the core's own; nobody outside is told
	case *heddle.Resize, *heddle.Suspend, *heddle.Resume:
		// Profiles are built without what needs a node agent, so these do not come. If one does it is not
		// carried out.
		r.log.Error("a decision that stock NodeManagers cannot carry out", "decision", d)
	}
}

// granted is a container for an application: its master's own, or one for the master to fetch.
func (r *RM) granted(d *heddle.Launch) {
	a := r.apps[d.App]
	t := a.current()
	t.seq++
	c := &container{
		id:  ids.Container{Attempt: t.id, ID: r.epoch<<ids.EpochShift | t.seq},
		cid: d.Container, attempt: t, node: r.nodes[d.Node], kind: d.Kind, priority: d.Priority, allocID: d.AllocID,
		size: d.Told, created: time.Now(),
	}
	r.track(c)
	if d.Kind == heddle.AM {
		r.masterGranted(t, c)
		return
	}
	t.granted = append(t.granted, c)
}

// track enters a container into the tables.
func (r *RM) track(c *container) {
	r.conts[c.cid], r.byCont[c.id] = c, c
	c.node.conts[c.id] = c
	a := c.attempt.app
	c.node.apps[a.id] = true
	a.nodes[c.node] = true
	if c.attempt.conts == nil {
		c.attempt.conts = map[ids.Container]*container{}
	}
	c.attempt.conts[c.id] = c
}

// killed is a container that the core ended: its node is told, and its master, unless it never heard of it.
func (r *RM) killed(d *heddle.Kill) {
	c := r.conts[d.Container]
	if c == nil {
		return
	}
	text := r.ending
	switch {
	case d.Status == heddle.Preempted:
		text = textPreempted
		c.attempt.app.preempted(c)
	case text == "":
		text = textCompleted
	}
	r.kill(c.node, c.id)
	r.ended(c, statusOf(c.id, int32(d.Status), text))
	if c.kind == heddle.AM {
		r.masterEnded(c.attempt, int32(d.Status), text)
	}
}

// exited is a container that must be taken for ended.
func (r *RM) exited(c *container, status int32, diagnostics string) {
	r.exitedAs(c, statusOf(c.id, status, diagnostics))
}

// exitedAs is a container that ended on its node, as the node put it: masters act on its codes and texts.
func (r *RM) exitedAs(c *container, s *wire.ContainerStatus) {
	if c.over {
		return
	}
	r.ended(c, s)
	r.step(heddle.Exit{Container: c.cid, Status: heddle.ExitStatus(s.GetExitStatus())})
	if c.kind == heddle.AM {
		r.masterEnded(c.attempt, s.GetExitStatus(), s.GetDiagnostics())
	}
}

// unreported ends the containers of a node that it should have told of and did not.
func (r *RM) unreported(n *node, missing func(*container) bool) {
	var gone []*container
	for _, c := range n.conts {
		if missing(c) {
			gone = append(gone, c)
		}
	}
	slices.SortFunc(gone, func(a, b *container) int { return cmp.Compare(a.cid, b.cid) })
	for _, c := range gone {
		r.exited(c, int32(heddle.Aborted), fmt.Sprintf("Container %s was running but not reported from %s", c.id, n.id))
	}
}

// statusOf is the end of a container as the ResourceManager itself puts it.
func statusOf(id ids.Container, status int32, diagnostics string) *wire.ContainerStatus {
	return &wire.ContainerStatus{
		ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_COMPLETE.Enum(),
		Diagnostics: new(diagnostics), ExitStatus: new(status),
	}
}

// ended takes a container out of the tables and keeps the news for its master.
func (r *RM) ended(c *container, s *wire.ContainerStatus) {
	if c.over {
		return
	}
	c.over = true
	r.timers.stop(&c.timer)
	delete(r.conts, c.cid)
	delete(r.byCont, c.id)
	delete(c.node.conts, c.id)
	t := c.attempt
	delete(t.conts, c.id)
	r.charge(c)
	if c.kind == heddle.AM {
		return
	}
	switch {
	case t.isOver(): // nobody is left to hear of it
	case c.fetched.IsZero():
		t.unfetch(c)
	default:
		t.heard[c.id] = false
		t.finished = append(t.finished, &ended{c, s})
	}
}

// wasHere reports whether a container that is not held has ended here before, so that its master was told or is
// going to be: it is one of this incarnation, or one of an earlier one whose end was heard of.
func (r *RM) wasHere(t *attempt, id ids.Container) bool {
	_, heard := t.heard[id]
	return heard || id.ID>>ids.EpochShift == r.epoch
}

// arrived notes that a master has the news of containers that ended: their nodes may forget them. Ends of
// earlier incarnations are remembered, because nothing else tells that they are old news.
func (r *RM) arrived(t *attempt, list []*ended) {
	for _, e := range list {
		e.c.node.acknowledge(e.c.id)
		if e.c.id.ID>>ids.EpochShift == r.epoch {
			delete(t.heard, e.c.id)
		} else {
			t.heard[e.c.id] = true
		}
	}
}

// forgettable lets a node forget a container that ended and is not held, unless its master is still to hear of
// it: should this process die before that, the node is the one that knows.
func (r *RM) forgettable(n *node, id ids.Container) {
	if t := r.attemptOf(id.Attempt); t != nil {
		if has, heard := t.heard[id]; heard && !has {
			return
		}
	}
	n.acknowledge(id)
}

// ended is the end of a container that its master is to hear of.
type ended struct {
	c      *container
	status *wire.ContainerStatus
}
