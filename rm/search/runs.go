package search

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// job returns the job of an application, or nil.
func (m *model) job(id ids.App) *job {
	for _, j := range m.s.jobs {
		if j.given && j.id == id {
			return j
		}
	}
	return nil
}

// wants notes how many containers a master waits for and holds beside its own: its application has asked for that many.
func (m *model) wants(id ids.App, t *attempt) {
	if !m.s.shell.m.Ready() {
		return
	}
	n := int32(len(t.told))
	for _, k := range t.owed { // order: a sum
		n += k
	}
	m.most[id] = max(m.most[id], n)
}

// ranOnce checks that the results of an application are stored when it ends.
func (m *model) ranOnce(id ids.App, effects []rm.Effect) {
	var kept *rm.RunRecord // stored with the application's own record
	for _, e := range effects {
		if e, ok := e.(*rm.Store); ok && slices.ContainsFunc(e.Changes, func(c rm.Change) bool { return c.App != nil && c.App.ID == id }) {
			for _, c := range e.Changes {
				kept = cmp.Or(kept, c.Run)
			}
		}
	}
	j, n := m.job(id), m.most[id]
	named := j != nil && j.sub.Name != "" && j.sub.Name != "N/A"
	switch {
	case !named && kept != nil:
		m.s.fail("last run", "%s has no name, and %+v is stored with its end", id, *kept)
	case !named || n == 0:
	case kept == nil || kept.User != user(j) || kept.Name != j.sub.Name:
		m.s.fail("last run", "%s asked for %d containers, and its end is stored without that", id, n)
	case kept.Asked[0].Containers < n:
		m.s.fail("last run", "%s asked for %d containers, and %d are stored", id, n, kept.Asked[0].Containers)
	}
}

// recalled checks that a new process told its core what the disk has about the last runs.
func (m *model) recalled() {
	v := m.s.shell.m.Core().View()
	for id := range v.AppIDs() {
		a := v.App(heddle.AppID(id))
		if a == nil || a.Facts().Name == "" {
			continue
		}
		told, found := a.Facts().Last.Containers, false
		for _, name := range users {
			asked := m.s.disk.runs[rm.RunKey{User: name, Name: a.Facts().Name}].Asked // empty if there is none
			found = found || told == max(asked[0].Containers, asked[1].Containers)
		}
		if !found {
			m.s.fail("last run", "the core is told that %q asked for %d containers the last time; that is not on the disk", a.Facts().Name, told)
		}
	}
}
