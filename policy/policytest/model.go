package policytest

import (
	"fmt"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// A model knows only what was asked for and what was granted: no ask may be granted more often than its count, no
// container granted twice, and no node may hold more than it has.
type model struct {
	asked map[key]int32
	sizes map[key]heddle.Resource // last asked for
	live  map[heddle.ContainerID]grant
	room  map[heddle.NodeID]heddle.Resource
	total map[heddle.NodeID]heddle.Resource
	can   map[heddle.NodeID]heddle.Caps
	peak  map[key]int64         // by application and kind
	gone  map[heddle.AppID]bool // applications whose attempt ended in this step
	found heddle.Found          // in this step
	fits  func(need, room heddle.Resource) bool
}

type key struct {
	app      heddle.AppID
	priority int32
	kind     heddle.Kind
	id       int64
}

type grant struct {
	key
	node    heddle.NodeID
	limit   heddle.Resource
	told    heddle.Resource
	fetched bool
	frozen  bool
	lacks   heddle.Caps // what its node cannot do to it
	uses    int64       // MiB, as measured
}

func newModel() model {
	return model{
		asked: map[key]int32{}, sizes: map[key]heddle.Resource{}, live: map[heddle.ContainerID]grant{}, room: map[heddle.NodeID]heddle.Resource{},
		total: map[heddle.NodeID]heddle.Resource{}, can: map[heddle.NodeID]heddle.Caps{}, peak: map[key]int64{},
	}
}

// before records what an event says.
func (m *model) before(v policy.View, ev heddle.Event) {
	m.gone = map[heddle.AppID]bool{}
	m.fits = v.Fits
	switch e := ev.(type) {
	case heddle.NodeUp:
		m.total[e.Node], m.room[e.Node], m.can[e.Node] = e.Total, e.Total, e.Can
	case heddle.NodeCan:
		m.can[e.Node] = e.Can
	case heddle.TaskUsed:
		k := key{app: e.App, kind: e.Kind}
		m.peak[k] = max(m.peak[k], e.Memory)
	case heddle.Profile:
		if g, ok := m.live[e.Container]; ok {
			g.uses = e.Memory
			m.live[e.Container] = g
		}
	case heddle.Unable:
		if g, ok := m.live[e.Container]; ok && v.Container(e.Container).State() == cluster.Running {
			g.lacks |= e.What
			m.live[e.Container] = g
		}
	case heddle.Able:
		if g, ok := m.live[e.Container]; ok && v.Container(e.Container).State() == cluster.Running {
			g.lacks &^= e.What
			m.live[e.Container] = g
		}
	case heddle.NodeResized:
		if n := v.Node(e.Node); n != nil && n.Up() {
			m.room[e.Node] = m.room[e.Node].Plus(e.Total).Minus(m.total[e.Node])
			m.total[e.Node] = e.Total
		}
	case heddle.Found:
		m.found = e
	case heddle.Submit:
		if !e.Master.IsZero() {
			m.wants(key{app: e.App, kind: heddle.AM}, 1, e.Master)
		}
	case heddle.Attempt:
		if a := v.App(e.App); a != nil && a.Master() == nil && !e.Master.IsZero() {
			m.wants(key{app: e.App, kind: heddle.AM}, 1, e.Master)
		}
	case heddle.Ask:
		if v.App(e.App) == nil {
			return
		}
		for _, r := range e.Rows {
			if r.Host == heddle.NoNode && r.Rack == heddle.NoRack {
				m.wants(key{e.App, r.Priority, r.Kind, r.AllocID}, r.Count, r.Size)
			}
		}
	case heddle.Acquire:
		for id, g := range m.live {
			if g.app == e.App {
				g.fetched = true
				m.live[id] = g
			}
		}
	case heddle.AppDone:
		m.forget(e.App)
	case heddle.Exit:
		if x := v.Container(e.Container); x != nil && x.State() != cluster.Reserved {
			m.end(e.Container)
		}
	default: // the model counts nothing here
	}
}

func (m *model) wants(k key, count int32, size heddle.Resource) {
	m.asked[k] = count
	if count > 0 {
		m.sizes[k] = size
	}
}

// carried reports an action on a container that its node cannot carry out. It also reports a container with less memory
// than it asked for if its node does not make it live with that and nothing shows that it does.
func (m *model) carried(decisions []heddle.Decision) error {
	for _, d := range decisions {
		switch d := d.(type) {
		case *heddle.Launch:
			asked := m.sizes[key{d.App, d.Priority, d.Kind, d.AllocID}]
			if d.Kind != heddle.AM && !m.fits(asked, d.Told) || d.Limit != d.Told && !m.can[d.Node].Has(heddle.Limits) || m.tight(grant{key: key{app: d.App, kind: d.Kind}, node: d.Node, told: d.Told}, d.Limit) {
				return fmt.Errorf("container %d of %v, limited to %v, answers an ask for %v; node %d can do %v", d.Container, d.Told, d.Limit, asked, d.Node, m.can[d.Node])
			}
		case *heddle.Resize:
			if g, ok := m.live[d.Container]; ok && d.Limit != g.told && (!m.canTo(g, heddle.Resizes) || m.tight(g, d.Limit)) {
				return fmt.Errorf("%+v of %+v: node %d can do %v", d, g, g.node, m.can[g.node])
			}
		case *heddle.Weigh:
			if g, ok := m.live[d.Container]; ok && !m.canTo(g, heddle.Weighs) {
				return fmt.Errorf("%+v: node %d can do %v", d, g.node, m.can[g.node])
			}
		case *heddle.Suspend:
			if g, ok := m.live[d.Container]; ok && (!m.can[g.node].Has(heddle.Lends) || d.Freeze > 0 && (g.kind != heddle.Map && g.kind != heddle.Reduce || !m.canTo(g, heddle.Freezes))) {
				return fmt.Errorf("%+v of %+v: node %d can do %v", d, g, g.node, m.can[g.node])
			}
		default: // takes nothing from a container
		}
	}
	return nil
}

// tight reports whether a container has too little memory on a node where processes use what they use: less than it was
// told, and either less than its measured use plus a fifth, or less than the peak of its kind's tasks plus a tenth. For
// a frozen container, only its measured use counts.
func (m *model) tight(g grant, limit heddle.Resource) bool {
	has := limit[heddle.Memory]
	if has >= g.told[heddle.Memory] || m.can[g.node].Has(heddle.Elastic) {
		return false
	}
	peak := m.peak[key{app: g.app, kind: g.kind}]
	return 10*has < 12*g.uses || !(g.frozen && g.uses > 0) && (peak == 0 || 10*has < 11*peak)
}

// canTo reports whether a container's node can do something to it.
func (m *model) canTo(g grant, what heddle.Caps) bool { return (m.can[g.node] &^ g.lacks).Has(what) }

// forget drops what an application asks for when its attempt, or the application itself, is over.
func (m *model) forget(a heddle.AppID) {
	m.gone[a] = true
	for k := range m.asked {
		if k.app == a {
			delete(m.asked, k)
		}
	}
}

func (m *model) end(id heddle.ContainerID) {
	g, ok := m.live[id]
	if !ok {
		return
	}
	delete(m.live, id)
	m.room[g.node] = m.room[g.node].Plus(g.limit)
	switch {
	case g.kind == heddle.AM:
		m.forget(g.app)
	case !g.fetched && !m.gone[g.app]:
		m.asked[g.key]++
	}
}

// after checks decisions against what was asked.
func (m *model) after(decisions []heddle.Decision) error {
	for _, d := range decisions {
		switch d := d.(type) {
		case *heddle.Launch:
			k := key{d.App, d.Priority, d.Kind, d.AllocID}
			if m.asked[k] <= 0 {
				return fmt.Errorf("container %d granted to application %d, which asks for none", d.Container, d.App)
			}
			if _, twice := m.live[d.Container]; twice {
				return fmt.Errorf("container %d granted twice", d.Container)
			}
			m.asked[k]--
			m.live[d.Container] = grant{key: k, node: d.Node, limit: d.Limit, told: d.Told, fetched: d.Kind == heddle.AM}
			if err := m.take(d.Node, d.Limit); err != nil {
				return err
			}
		case *heddle.Resize:
			g, ok := m.live[d.Container]
			if !ok {
				return fmt.Errorf("container %d resized, which does not live", d.Container)
			}
			more := d.Limit.Minus(g.limit)
			g.limit = d.Limit
			m.live[d.Container] = g
			if err := m.take(g.node, more); err != nil && d.Limit != g.told { // what is taken back is taken in any case
				return err
			}
		case *heddle.Suspend:
			m.freezes(d.Container, d.Freeze > 0)
		case *heddle.Resume:
			m.freezes(d.Container, false)
		case *heddle.Adopt:
			if err := m.adopted(d); err != nil {
				return err
			}
		case *heddle.Kill:
			m.end(d.Container)
		default: // neither grant nor end
		}
	}
	return nil
}

func (m *model) freezes(id heddle.ContainerID, frozen bool) {
	if g, ok := m.live[id]; ok {
		g.frozen = frozen
		m.live[id] = g
	}
}

// take subtracts what a node gives, and returns an error if the node does not have that much.
func (m *model) take(n heddle.NodeID, more heddle.Resource) error {
	m.room[n] = m.room[n].Minus(more)
	if !m.fits(heddle.Resource{}, m.room[n]) {
		return fmt.Errorf("node %d of %v is left with %v", n, m.total[n], m.room[n])
	}
	return nil
}

// adopted records a container that was found running, however little room the node has.
func (m *model) adopted(d *heddle.Adopt) error {
	e := m.found
	if _, twice := m.live[d.Container]; twice || d.Ref != e.Ref {
		return fmt.Errorf("container %d, ref %d, adopted for ref %d", d.Container, d.Ref, e.Ref)
	}
	if e.Kind == heddle.AM {
		for _, g := range m.live { // order: any other master will do
			if g.kind == heddle.AM && g.app == e.App {
				return fmt.Errorf("container %d adopted as the second master of application %d", d.Container, e.App)
			}
		}
		delete(m.asked, key{app: e.App, kind: heddle.AM})
	}
	m.live[d.Container] = grant{key: key{e.App, e.Priority, e.Kind, e.AllocID}, node: e.Node, limit: e.Size, told: e.Size, fetched: true}
	m.room[e.Node] = m.room[e.Node].Minus(e.Size)
	return nil
}
