package apps

import (
	"cmp"
	"math"
	"slices"

	"heddle"
)

// A request asks for one executor; hosts is nil if it may be anywhere.
type request struct{ hosts []heddle.NodeID }

// request adjusts the requests to what the target needs: target − asked for − launched.
func (m *spark) request() {
	missing := m.target - len(m.requests) - m.launched
	switch {
	case missing > 0:
		m.add(missing, m.hints)
	case missing < 0:
		m.cancel(-missing, m.hints)
	}
}

// add asks for n more executors. Requests for places that nobody needs now are taken back and made anew, and so are
// requests for anywhere, as many as there are places needed.
func (m *spark) add(n int, hints placement) {
	if len(hints.hosts) == 0 && !slices.ContainsFunc(m.requests, request.placed) {
		m.ask(request{}, n)
		return
	}
	_, stale := m.split(hints)
	for _, r := range stale {
		m.withdraw(r)
	}
	n += len(stale)
	local, _ := m.split(hints)
	var anywhere []int
	for i, r := range m.requests {
		if !r.placed() {
			anywhere = append(anywhere, i)
		}
	}
	placed := m.place(n+len(anywhere), hints, local)
	for range len(placed) - n { // fewer executors are missing than places are needed
		m.withdraw(request{})
	}
	for _, hosts := range placed {
		m.ask(request{hosts}, 1)
	}
	m.ask(request{}, n-len(placed))
}

// cancel takes back n requests: first those for places that nobody needs now, then those for anywhere.
func (m *spark) cancel(n int, hints placement) {
	local, stale := m.split(hints)
	anywhere := len(m.requests) - len(local) - len(stale)
	victims := stale
	for range anywhere {
		victims = append(victims, request{})
	}
	victims = append(victims, local...)
	for _, r := range victims[:min(n, len(victims))] {
		m.withdraw(r)
	}
}

// split returns the requests for places in hints, and those for other places.
func (m *spark) split(hints placement) (local, stale []request) {
	for _, r := range m.requests {
		switch {
		case !r.placed():
		case slices.ContainsFunc(r.hosts, hints.names):
			local = append(local, r)
		default:
			stale = append(stale, r)
		}
	}
	return local, stale
}

func (r request) placed() bool { return len(r.hosts) > 0 }

// ask adds n requests like r.
func (m *spark) ask(r request, n int) {
	if n <= 0 {
		return
	}
	for range n {
		m.requests = append(m.requests, r)
	}
	m.table.add(&m.c, m.want, r.hosts, int32(n))
}

// withdraw takes back the oldest request like r.
func (m *spark) withdraw(r request) {
	i := slices.IndexFunc(m.requests, func(o request) bool { return slices.Equal(o.hosts, r.hosts) })
	m.take(i)
}

func (m *spark) take(i int) {
	m.table.add(&m.c, m.want, m.requests[i].hosts, -1)
	m.requests = slices.Delete(m.requests, i, i+1)
}

// granted launches executors in containers that satisfy a request, matched by host, then by rack, then any. It releases
// containers that match no request.
func (m *spark) granted(granted []Grant, out *Actions) {
	left := slices.Clone(granted)
	match := func(fits func(request, *Grant) bool) {
		left = slices.DeleteFunc(left, func(g Grant) bool {
			i := slices.IndexFunc(m.requests, func(r request) bool { return fits(r, &g) })
			if i < 0 || g.Priority != sparkPriority || g.Size[heddle.Memory] < m.want.size[heddle.Memory] {
				return false
			}
			m.take(i)
			m.launch(&g, out)
			return true
		})
	}
	if slices.ContainsFunc(m.requests, request.placed) {
		match(func(r request, g *Grant) bool { return slices.Contains(r.hosts, g.Node) })
		match(func(r request, g *Grant) bool {
			rack := m.c.rack(g.Node)
			return rack != heddle.NoRack && slices.ContainsFunc(r.hosts, func(h heddle.NodeID) bool { return m.c.rack(h) == rack })
		})
	}
	match(func(request, *Grant) bool { return true })
	for i := range left {
		m.release = append(m.release, left[i].Container)
		if left[i].Size[heddle.Memory] < m.want.size[heddle.Memory] && len(m.requests) > 0 {
			m.table.add(&m.c, m.want, nil, 0) // the ResourceManager has counted it down
		}
	}
}

func (m *spark) launch(g *Grant, out *Actions) {
	m.launched++
	m.nodes[g.Node]++
	m.executors[g.Container] = &executor{id: g.Container, node: g.Node}
	out.Launch = append(out.Launch, g.Container)
}

// A placement is where the tasks of the current stages would like to run.
type placement struct {
	tasks int // with a preferred place
	hosts []hostCount
}

type hostCount struct {
	node  heddle.NodeID
	count int // tasks
}

func (p placement) names(n heddle.NodeID) bool {
	_, found := slices.BinarySearchFunc(p.hosts, n, func(h hostCount, n heddle.NodeID) int { return cmp.Compare(h.node, n) })
	return found
}

// place chooses the hosts of at most n new requests so that executors are placed in proportion to the tasks that want
// each host, counting existing executors (LocalityPreferredContainerPlacementStrategy).
func (m *spark) place(n int, hints placement, local []request) [][]heddle.NodeID {
	wanted := m.hostsShort(hints, local)
	sum, largest := 0, 0
	for _, w := range wanted {
		sum += w.count
		largest = max(largest, w.count)
	}
	n = min(n, sum)
	if n <= 0 {
		return nil
	}
	for i := range wanted {
		wanted[i].count = int(math.Ceil(float64(wanted[i].count) * float64(n) / float64(largest)))
	}
	placed := make([][]heddle.NodeID, n)
	for k := range placed {
		for i := range wanted {
			if wanted[i].count > k {
				placed[k] = append(placed[k], wanted[i].node)
			}
		}
	}
	return placed
}

// hostsShort returns how many executors each wanted host lacks.
func (m *spark) hostsShort(hints placement, local []request) []hostCount {
	named := map[heddle.NodeID]int{}
	names := 0
	for _, r := range local {
		for _, h := range r.hosts {
			named[h]++
			names++
		}
	}
	total := 0
	for _, h := range hints.hosts {
		total += h.count
	}
	needed := (hints.tasks + m.slots - 1) / m.slots
	short := make([]hostCount, len(hints.hosts))
	for i, h := range hints.hosts {
		want := float64(h.count) * float64(needed) / float64(total)
		have := float64(m.nodes[h.node])
		if names > 0 {
			have += float64(named[h.node]) * float64(len(local)) / float64(names)
		}
		short[i] = hostCount{h.node, max(0, int(math.Ceil(want-have)))}
	}
	return short
}
