package daemon

import (
	"context"
	"maps"
	"sync"
	"time"

	"heddle/rm"
	"heddle/yarn/ids"
)

// What applications wait for is worked out for one application at a time, and reused for explainFor. A caller that
// lists applications, or asks about one, waits at most explainWithin for that: for a whole list no longer than for one.
const (
	explainFor    = time.Second
	explainWithin = 200 * time.Millisecond
	mostExplained = 1000 // how many are kept
)

// explanations holds what applications were last found to wait for.
type explanations struct {
	mu sync.Mutex
	by map[ids.App]explanation
}

type explanation struct {
	text string
	at   time.Time
}

func (e *explanations) get(id ids.App) explanation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.by[id]
}

func (e *explanations) put(id ids.App, x explanation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.by) >= mostExplained {
		maps.DeleteFunc(e.by, func(_ ids.App, o explanation) bool { return x.at.Sub(o.at) >= explainFor })
	}
	if len(e.by) < mostExplained {
		e.by[id] = x
	}
}

// explain adds to a report what its application waits for, if the report does not say so already. It uses what is known
// or can be found out before the deadline until.
func (r *RM) explain(ctx context.Context, a *rm.AppReport, until time.Time) {
	if !a.Unexplained() {
		return
	}
	x := r.explanations.get(a.ID)
	if now := time.Now(); now.Sub(x.at) >= explainFor && now.Before(until) {
		soon, cancel := context.WithDeadline(ctx, until)
		defer cancel()
		found, err := ask(soon, r, waitQuestion{a.ID}, func(m rm.Reports) (explanation, error) { return r.explained(m, a.ID) })
		if err == nil {
			x = found
		}
	}
	if x.text != "" {
		a.Diagnostics = x.text
	}
}

// explained returns what an application waits for. It works that out anew unless somebody else has just done so.
func (r *RM) explained(m rm.Reports, id ids.App) (explanation, error) {
	if x := r.explanations.get(id); time.Since(x.at) < explainFor {
		return x, nil
	}
	text, err := m.WaitsFor(id)
	x := explanation{text, time.Now()}
	if err == nil {
		r.explanations.put(id, x)
	}
	return x, err
}
