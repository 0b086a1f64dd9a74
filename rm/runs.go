package rm

import (
	"cmp"
	"container/list"
	"slices"
	"strings"

	"heddle"
	"heddle/cluster"
)

// Results of the last applications of each user and name. Most programs run under a name of their own and need as much
// as last time. The core is told about them with the next application, in [heddle.Facts].

// MostRuns is for how many users and names something is kept. What was noted longest ago is forgotten first.
const MostRuns = 4096

// A RunKey identifies applications by user and name.
type RunKey struct{ User, Name string }

// A run is what is remembered about a user and name.
type run struct {
	RunKey
	ended int64 // the last application, milliseconds since 1970; 0 if none has ended since something was noted
	last  heddle.LastRun
	two   [2]demand // of the last two, the later first: see heddle.LastRun.Most
}

// A demand is what an application held and asked for at once, beside its master.
type demand struct {
	total      heddle.Resource
	containers int32
}

// most returns the maximum of two demands, for each of their values.
func (d demand) most(e demand) demand {
	return demand{d.total.Max(e.total), max(d.containers, e.containers)}
}

// demandOf returns what an application holds and asks for now.
func demandOf(v *cluster.App) demand {
	total, containers := v.Tasks()
	return demand{total, int32(containers)}
}

// history is what is remembered, by user and name: what is stored, and what unfinished applications have noted.
type history struct {
	by    map[RunKey]*list.Element
	order list.List // of *run: noted longest ago first
}

func newHistory() history { return history{by: map[RunKey]*list.Element{}} }

// of returns what is remembered about a user and name, or nothing.
func (h *history) of(k RunKey) heddle.LastRun {
	if e := h.by[k]; e != nil {
		return e.Value.(*run).last
	}
	return heddle.LastRun{}
}

// note returns the run in which to note something about a user and name.
func (h *history) note(k RunKey) *run {
	e := h.by[k]
	if e == nil {
		e = h.order.PushBack(&run{RunKey: k})
		h.by[k] = e
	}
	h.order.MoveToBack(e)
	return e.Value.(*run)
}

// trim forgets what exceeds the limit, and returns the keys of that.
func (h *history) trim() (gone []RunKey) {
	for len(h.by) > MostRuns {
		k := h.order.Remove(h.order.Front()).(*run).RunKey
		delete(h.by, k)
		gone = append(gone, k)
	}
	return gone
}

// runKey returns the user and name of an application.
func (a *app) runKey() RunKey { return RunKey{a.user, a.Facts.Name} }

// remember notes something about an application, replacing what the last one of its user and name left there.
// Applications submitted from now on are told. It is stored when the application leaves the core, with its last record;
// what is noted later is lost with the process, or is stored with the next application's. Nothing is noted for an
// application without a name.
func (m *Machine) remember(a *app, note func(*heddle.LastRun)) {
	if a.Facts.Name == "" {
		return
	}
	note(&m.past.note(a.runKey()).last)
	a.noted = true
}

// grew updates the most that an application has asked for. The first request of a recovered application is unknown.
func (m *Machine) grew(id heddle.AppID) {
	v := m.core.View().App(id)
	if v == nil {
		return
	}
	a, now := m.apps[id], demandOf(v)
	m.stale(a)
	if a.most.containers == 0 && now.containers > 0 && !a.recovered {
		m.remember(a, func(r *heddle.LastRun) { r.First = now.total })
	}
	a.most = a.most.most(now)
}

// keepRun notes the results of an application that leaves the core, and returns the changes to store. An application
// from before the restart may have used more than is known; it counts for no less than the one before it.
func (m *Machine) keepRun(a *app) []Change {
	if a.Facts.Name == "" || a.most.containers == 0 && !a.noted {
		return nil
	}
	r := m.past.note(a.runKey())
	r.ended = m.today()
	if d := a.most; d.containers > 0 {
		if a.recovered {
			d = d.most(r.two[0])
		}
		r.asked(d, r.two[0])
	}
	if a.live > 0 {
		a.keepHeap(&r.last)
	}
	changes := []Change{{Run: m.runRecord(r)}}
	for _, k := range m.past.trim() {
		changes = append(changes, Change{DropRun: &k})
	}
	return changes
}

// asked sets what the last two runs asked for, the later first.
func (r *run) asked(last, before demand) {
	most := last.most(before)
	r.two, r.last.Most, r.last.Containers = [2]demand{last, before}, most.total, most.containers
}

// runRecord returns what is stored of a user and name.
func (m *Machine) runRecord(r *run) *RunRecord {
	amount := func(x heddle.Resource) Amount { return AmountOf(x, m.cfg.ExtraResources...) }
	rec := &RunRecord{
		RunKey: r.RunKey, Ended: r.ended, First: amount(r.last.First), Heap: r.last.Heap, Outside: r.last.Outside, Maps: r.last.Maps,
		TooSmall: r.last.TooSmall,
	}
	for i, d := range r.two {
		rec.Asked[i] = Asked{amount(d.total), d.containers}
	}
	return rec
}

// recall takes over what the store has. What exceeds the limit goes when the next application ends.
func (m *Machine) recall(records []RunRecord) {
	records = slices.Clone(records)
	slices.SortFunc(records, func(x, y RunRecord) int {
		return cmp.Or(cmp.Compare(x.Ended, y.Ended), strings.Compare(x.User, y.User), strings.Compare(x.Name, y.Name))
	})
	for i := range records {
		rec := &records[i]
		r := m.past.note(rec.RunKey)
		r.ended = rec.Ended
		r.last = heddle.LastRun{First: rec.First.Resource(m.cfg.ExtraResources...), Heap: rec.Heap, Outside: rec.Outside, Maps: rec.Maps, TooSmall: rec.TooSmall}
		var two [2]demand
		for i, d := range rec.Asked {
			two[i] = demand{d.Most.Resource(m.cfg.ExtraResources...), d.Containers}
		}
		r.asked(two[0], two[1])
	}
}
