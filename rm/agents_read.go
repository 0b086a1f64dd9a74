package rm

import "heddle"

// Agents also read files: which tasks run in containers, which a master would have to be asked one by one; how much
// output maps left on their nodes, which is known sooner and costs no master anything; and what is in the heaps of
// masters that do not report it themselves.

// asks adds to a wish which files the agent is to read.
func (m *Machine) asks(a *agent, p *AgentWish) {
	f := &m.sch.Set.Feeds
	if f.Output {
		for _, x := range a.node.apps {
			if x.known != nil && x.framework == heddle.MapReduce {
				p.Outputs = append(p.Outputs, OutputsOf{x.ID, x.user})
			}
		}
	}
	if f.Heaps {
		for _, c := range a.node.conts {
			if k := c.attempt.app.known; k != nil && c.kind == heddle.AM && k.attempt == c.attempt && k.mute(m) {
				p.Heaps = append(p.Heaps, c.id())
			}
		}
	}
}

// mute reports whether a master was asked what its heap holds and has not answered for a long time.
func (k *known) mute(m *Machine) bool {
	return k.failures > 0 && (k.heapOf == never || m.now.Since(k.heapOf) >= heapEvery)
}

// tasksBy takes which tasks run in an agent's containers. If a task runs twice, the first container counts.
func (m *Machine) tasksBy(a *agent, tasks []TaskIn) {
	for _, t := range tasks {
		c := m.container(t.Container)
		if c == nil || c.node != a.node || c.kind != t.Kind || c.attempt.app.known == nil {
			continue
		}
		x := c.attempt.app.known.task(t.Task)
		if x == nil || !x.container.IsZero() && m.container(x.container) != nil {
			continue
		}
		if x.container = t.Container; !x.told {
			x.node = a.node.nid
		}
	}
}

// outputsBy takes which map outputs are on an agent's node. Agents repeat each output, and it counts once: the first
// one of a task counts, and another one if the node of the first is gone.
func (m *Machine) outputsBy(a *agent, outputs []MapOutput) {
	if !m.sch.Set.Feeds.Output {
		return
	}
	for _, o := range outputs {
		x := m.byApp[o.App]
		if x == nil || x.known == nil || !x.onNodes.Has(int32(a.node.nid)) || o.Map < 0 || o.Bytes < 0 || o.Bytes > maxBytes {
			continue
		}
		t := x.known.task(Task{heddle.Map, o.Map})
		if t == nil || t.told && (t.node == a.node.nid || t.node != heddle.NoNode && m.nodes[t.node].up) {
			continue
		}
		t.node = a.node.nid
		x.known.place(Task{heddle.Map, o.Map}, t)
		if o.Bytes > 0 {
			m.step(heddle.Output{App: x.aid, Node: a.node.nid, Bytes: o.Bytes})
		}
	}
}

// heapsBy takes what an agent read about masters' heaps.
func (m *Machine) heapsBy(a *agent, heaps []MasterHeap) {
	for _, h := range heaps {
		c := m.container(h.Container)
		if c == nil || c.node != a.node || c.kind != heddle.AM || !m.sch.Set.Feeds.Heaps {
			continue
		}
		if k := c.attempt.app.known; k != nil && k.attempt == c.attempt && k.mute(m) {
			m.heapTold(k, h.HeapNews)
		}
	}
}
