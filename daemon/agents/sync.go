package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"heddle"
	"heddle/node/api"
	"heddle/node/trust"
	"heddle/rm"
	"heddle/yarn/ids"
)

// maxSync is the maximum size of an agent's request in bytes: api.MaxContainers of a few hundred bytes each.
const maxSync = 4 << 20

// A Syncer takes agents' messages, and keeps nothing of them once it has called heard. It holds
// answers back until there is something new.
type Syncer interface {
	SyncAgent(ctx context.Context, q *rm.AgentSync, heard func()) (*rm.AgentWish, error)
}

// Sync serves agents at api.Path.
func Sync(to Syncer, m Memory) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := m.arrives(w, r, maxSync)
		defer l.ends()
		q, code, err := heard(l)
		if err != nil {
			refuse(w, code, err)
			return
		}
		l.keeps(heldBy(q))
		wish, err := to.SyncAgent(r.Context(), q, func() { l.keeps(0) })
		switch {
		case r.Context().Err() != nil: // the agent has gone
		case replaced(err):
			refuse(w, http.StatusConflict, err)
		case err != nil:
			refuse(w, http.StatusServiceUnavailable, err)
		default:
			l.keeps(toldSize(wish))
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(told(wish)) // if it fails, the agent has gone
		}
	})
}

// replaced reports whether an agent is refused because another agent of its node came later.
func replaced(err error) bool {
	_, ok := errors.AsType[*rm.Replaced](err)
	return ok
}

// A room is the reusable memory that a request is read into. Agents are many, and say much the same time and again.
type room struct {
	text bytes.Buffer
	sync api.Sync
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// mostKept is the maximum size of a text whose room is reused.
const mostKept = 64 << 10

// leave lets another request have the room.
func (m *room) leave() {
	if m.text.Cap() > mostKept {
		return
	}
	m.text.Reset()
	conts, failed, outputs := m.sync.Containers, m.sync.Failed, m.sync.Outputs
	clear(conts[:cap(conts)]) // otherwise fields that the next request omits would keep their old values
	clear(failed[:cap(failed)])
	clear(outputs[:cap(outputs)])
	m.sync = api.Sync{Containers: conts[:0], Failed: failed[:0], Outputs: outputs[:0]}
	rooms.Put(m)
}

// heard returns an agent's message; code is the HTTP status if the message is rejected.
func heard(l *load) (q *rm.AgentSync, code int, err error) {
	m := rooms.Get().(*room)
	defer m.leave()
	s := &m.sync
	if _, err = m.text.ReadFrom(l); err == nil {
		err = l.works(weight(m.text.Bytes()))
	}
	if err != nil {
		code, err = l.status(err)
		return nil, code, err
	}
	if err = json.Unmarshal(m.text.Bytes(), s); err == nil {
		err = s.Check()
	}
	if err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("this is not a valid request of a node agent: %w", err)
	}
	node, err := ids.ParseNode(s.Node)
	if err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("node: %w", err)
	}
	if err := trust.SpeaksFor(l.r, s.Node); err != nil {
		return nil, http.StatusForbidden, err
	}
	q = &rm.AgentSync{Node: node, Agent: s.Agent, Applied: s.Applied, Used: make([]rm.Used, 0, len(s.Containers))}
	q.Can, q.DiskBusy = capsOf(s.Can), heddle.Span(s.DiskBusy)*heddle.Millisecond
	for i := range s.Containers {
		c := &s.Containers[i]
		id, err := ids.ParseContainer(c.ID)
		if err != nil {
			continue
		}
		q.Used = append(q.Used, rm.Used{Container: id, CPU: heddle.Span(c.CPU) * heddle.Millisecond, Memory: c.RSS})
		if app, reduce, task, ok := ids.ParseTaskAttempt(c.Task); ok && app == id.Attempt.App {
			of := rm.Task{Kind: heddle.Map, Index: task}
			if reduce {
				of.Kind = heddle.Reduce
			}
			q.Tasks = append(q.Tasks, rm.TaskIn{Container: id, Task: of})
		}
	}
	for _, f := range s.Failed {
		if id, err := ids.ParseContainer(f.ID); err == nil {
			q.Failed = append(q.Failed, rm.AgentFailure{Container: id, Text: f.Error, Lacks: capsOf(f.Lacks), Missing: f.Missing})
		}
	}
	for _, o := range s.Outputs {
		if app, reduce, task, ok := ids.ParseTaskAttempt(o.Attempt); ok && !reduce {
			q.Outputs = append(q.Outputs, rm.MapOutput{App: app, Map: task, Bytes: o.Bytes})
		}
	}
	for _, h := range s.Heaps {
		if id, err := ids.ParseContainer(h.ID); err == nil {
			// Memory that a heap no longer uses is still held, so at most the rest is outside the heap.
			q.Heaps = append(q.Heaps, rm.MasterHeap{Container: id, HeapNews: rm.HeapNews{Live: h.Live, Outside: max(h.RSS-h.Used, 0)}})
		}
	}
	return q, 0, nil
}

// capsOf returns the named capabilities. It ignores unknown names.
func capsOf(names []string) (all heddle.Caps) {
	for _, name := range names {
		can, _ := heddle.CapOf(name)
		all |= can
	}
	return all
}

// told converts what an agent is to do to the agent's units.
func told(p *rm.AgentWish) *api.Wish {
	w := &api.Wish{
		Version: p.Version, Every: int64(p.Every / heddle.Millisecond), Lease: int64(p.Lease / heddle.Millisecond), Measure: p.Measure,
		Unknown: p.Unknown, Disks: p.Disks, Want: make([]api.Want, len(p.Want)),
	}
	for _, a := range p.Outputs {
		w.Outputs = append(w.Outputs, api.App{ID: a.App.String(), User: a.User})
	}
	for _, id := range p.Heaps {
		w.Heaps = append(w.Heaps, id.String())
	}
	for i, c := range p.Want {
		w.Want[i] = api.Want{
			ID: c.Container.String(), Park: c.Parked, Weight: min(max(c.Weight*api.DefaultWeight/1000, min(c.Weight, 1)), api.MaxWeight),
			Freeze: min(int64(c.Frozen/heddle.Millisecond), api.MaxFreeze), High: c.Reclaim,
		}
		if c.Bound > 0 {
			w.Want[i].Quota = min(max(c.Bound, api.MinQuota), api.MaxQuota)
		}
	}
	return w
}
