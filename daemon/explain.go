package daemon

import (
	"context"
	"maps"
	"sync"
	"time"

	"heddle/rm"
	"heddle/yarn/ids"
)

// What applications wait for is found out one by one and said again for a while. Who lists applications, or asks how one is,
// does not wait long for it: for all that a list tells no longer than for one.
const (
	explainFor    = time.Second
	explainWithin = 200 * time.Millisecond
	mostExplained = 1000 // that are kept in mind
)

// explanations are what applications were last found to wait for.
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

// explain adds to a report what its application waits for, where it does not say, as far as that is known or soon found
// out, until a time.
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

// explained is what an application waits for, found out anew where somebody else has not just done so.
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
