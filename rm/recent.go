package rm

import "heddle/yarn/ids"

// recent finds applications by the number in their ids alone, from the oldest existing one on. Applications whose
// numbers are too far from the others are not in it.
type recent struct {
	first int32
	list  []*app
}

// maxGap is how many unused numbers there may be between two applications in the list.
const maxGap = 1000

func (r *recent) add(a *app) {
	i := int(a.ID.Seq) - int(r.first)
	if len(r.list) == 0 || i > len(r.list)+maxGap {
		r.first, r.list, i = a.ID.Seq, nil, 0
	}
	if i < 0 {
		return
	}
	for i >= len(r.list) {
		r.list = append(r.list, nil)
	}
	r.list[i] = a
}

// get returns the application with a number, or nil if it is not in the list.
func (r *recent) get(seq int32) *app {
	if i := int(seq) - int(r.first); i >= 0 && i < len(r.list) {
		return r.list[i]
	}
	return nil
}

func (r *recent) drop(a *app) {
	if r.get(a.ID.Seq) != a {
		return
	}
	r.list[a.ID.Seq-r.first] = nil
	for len(r.list) > 0 && r.list[0] == nil {
		r.list = r.list[1:]
		r.first++
	}
}

// appBy returns an application by its id, or nil.
func (m *Machine) appBy(id ids.App) *app {
	if id.Cluster == m.began {
		if a := m.recent.get(id.Seq); a != nil {
			return a
		}
	}
	return m.byApp[id]
}
