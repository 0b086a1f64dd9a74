package search

import (
	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// comeback is what a restart waits for, according to the model.
type comeback struct {
	holds   bool // there is something to wait for: unfinished applications
	known   int  // nodes known before
	missing map[ids.Node]bool
	came    map[ids.Node]heddle.Time // when each last registered with this process
}

// returning checks that no node on the disk has vanished in a restart, and notes which nodes are awaited.
func (m *model) returning() {
	there, of := map[ids.Node]string{}, map[string]int{}
	for _, n := range nodesOf(m.s.view()) {
		there[n.ID] = n.State
	}
	for id := range m.s.disk.nodes { // order: counts
		of[id.Host]++
	}
	m.back = comeback{missing: map[ids.Node]bool{}, came: map[ids.Node]heddle.Time{}}
	for _, a := range m.s.disk.apps { // order: any will do
		m.back.holds = m.back.holds || a.State == ""
	}
	for id, r := range m.s.disk.nodes { // order: any will do
		want := "NEW"
		if r.Lost > 0 {
			want = "LOST"
		}
		switch {
		case m.s.lists.Exclude[id.Host]:
			continue
		case there[id] == want:
		case want == "LOST" && there[id] == "" && of[id.Host] > 1: // another NodeManager of its host replaced it
			continue
		default:
			m.s.fail("vanished", "%s, which is on the disk, is %q after the start, and not %s", id, there[id], want)
		}
		if r.Lost == 0 {
			m.back.known++
			m.back.missing[id] = true
		}
	}
}

// keptWithin is how long a node may exist before its record is on its way to the disk.
const keptWithin = heddle.Second / 4

// stored checks that existing nodes are on the disk, once nothing is on its way there and nothing is due.
func (m *model) stored() {
	if len(m.s.disk.pending) > 0 || m.s.overdue() {
		return
	}
	for _, n := range nodesOf(m.s.view()) {
		_, ok := m.s.disk.nodes[n.ID]
		if !ok && m.s.now.Since(m.back.came[n.ID]) > keptWithin && (n.State == "RUNNING" || n.State == "UNHEALTHY") {
			m.s.fail("node not stored", "%s is %s and not on the disk", n.ID, n.State)
		}
	}
}

// returned notes which nodes are no longer awaited.
func (m *model) returned(msg rm.Message) {
	switch q := msg.(type) {
	case *rm.RegisterNode:
		delete(m.back.missing, q.Node)
		m.back.came[q.Node] = m.s.now
	case *rm.UnregisterNode:
		delete(m.back.missing, q.Node)
	case *rm.RefreshNodes:
		for id := range m.back.missing { // order: each for itself
			if q.Lists.Exclude[id.Host] {
				delete(m.back.missing, id)
			}
		}
	case rm.Stored:
		m.stored()
	default:
	}
}

// held fails if something is granted that must wait until nodes are back.
func (m *model) held(id ids.Container) {
	s := m.s
	if b := &m.back; b.holds && 20*len(b.missing) > b.known && s.now.Since(s.shell.began) < s.cfg.SchedulingWait && id.ID>>ids.EpochShift == s.disk.epoch() {
		s.fail("too soon", "%s is given away %d s after the start, with %d of %d nodes missing", id, s.now.Since(s.shell.began)/heddle.Second, len(b.missing), b.known)
	}
}
