package rm

import (
	"context"
	"fmt"

	"heddle"
	"heddle/sched"
	"heddle/yarn/ids"
)

// An Explanation says what an application waits for: [sched.Explanation] with names.
type Explanation struct {
	App     ids.App
	Queue   string
	Pending []PendingAsk
	History map[string]uint32 // how often each reason refused it so far
}

// A PendingAsk is one ask that waits, and what stands against it.
type PendingAsk struct {
	Priority          int32
	Kind              string
	Count             int
	Since             int64 // milliseconds since 1970
	Size              heddle.Resource
	Why               string // the reason that holds everywhere; "fine" where it differs by node
	Text              string // the same for people, one sentence
	Need, Have, Short heddle.Resource
	Holders           []Holder
	Nodes             []NodeGroup
}

// A Holder is an application and what it holds.
type Holder struct {
	App  ids.App
	Name string
	User string
	Used heddle.Resource
}

// A NodeGroup is how many nodes gave one answer, and the most free room among them.
type NodeGroup struct {
	Why   string
	Nodes int
	Most  heddle.Resource
}

// Why says what an application waits for. One that is over, or not yet with the scheduler, waits for nothing.
func (r *RM) Why(ctx context.Context, id ids.App) (Explanation, error) {
	return read(ctx, r, func() (Explanation, error) {
		a := r.byApp[id]
		if a == nil {
			return Explanation{}, &NotFound{"application " + id.String()}
		}
		out := Explanation{App: id, Queue: a.queue, History: map[string]uint32{}}
		if a.aid == heddle.NoApp {
			return out, nil
		}
		e, _ := r.core.Explain(a.aid)
		for w, n := range e.History {
			if n > 0 {
				out.History[heddle.Why(w).String()] = n
			}
		}
		for i := range e.Pending {
			out.Pending = append(out.Pending, r.pendingAsk(&e.Pending[i]))
		}
		return out, nil
	})
}

func (r *RM) pendingAsk(k *sched.PendingAsk) PendingAsk {
	p := PendingAsk{
		Priority: k.Priority, Kind: k.Kind.String(), Count: k.Count, Since: r.epochMS(k.Since), Size: k.Size, Why: k.Why.String(),
		Text: r.sentence(k), Need: k.Need, Have: k.Have, Short: k.Short,
	}
	for _, h := range k.Holders {
		if a := r.apps[h.App]; a != nil {
			p.Holders = append(p.Holders, Holder{a.id, a.name, a.user, h.Used})
		}
	}
	for _, g := range k.Nodes {
		p.Nodes = append(p.Nodes, NodeGroup{g.Why.String(), g.Nodes, g.Most})
	}
	return p
}

// notActive is how YARN says that an application waits for its master.
const notActive = "Application is added to the scheduler and is not yet activated."

// pendingText is what clients read while an application waits for its master; explain says to find out why it does.
func (r *RM) pendingText(a *app, explain bool) string {
	switch {
	case a.aid == heddle.NoApp:
		return "Waiting until what ran before the ResourceManager started has come back."
	case a.current() != nil && a.current().master != nil:
		return "AM container is launched, waiting for AM container to Register with RM"
	}
	if !explain {
		return notActive
	}
	e, _ := r.core.Explain(a.aid)
	for i := range e.Pending {
		if e.Pending[i].Kind == heddle.AM {
			return notActive + " " + r.sentence(&e.Pending[i])
		}
	}
	return ""
}

// sentence says what one ask waits for.
func (r *RM) sentence(k *sched.PendingAsk) string {
	what := fmt.Sprintf("%d %s of %s", k.Count, containersOf(k.Kind, k.Count), r.text(k.Size))
	if k.Why == heddle.Fine {
		for _, g := range k.Nodes {
			if g.Why == heddle.Fine {
				return fmt.Sprintf("%s: %d of %d nodes will take it as they report in.", what, g.Nodes, r.core.View().Live())
			}
		}
		return fmt.Sprintf("%s: no node takes it, for reasons that differ; the most that is free on one is %s.", what, r.text(k.Have))
	}
	s := what + ": " + whyText(k.Why)
	if !k.Short.IsZero() && k.Why != heddle.NodeGone {
		s += fmt.Sprintf(", %s short", r.text(k.Short))
	}
	return s + "."
}

func containersOf(k heddle.Kind, n int) string {
	s := map[heddle.Kind]string{
		heddle.AM: "master", heddle.Map: "map", heddle.Reduce: "reduce", heddle.Executor: "executor", heddle.Other: "container",
	}[k]
	if n != 1 {
		s += "s"
	}
	return s
}

// whyText is a reason for people.
func whyText(w heddle.Why) string { return reasons[w].Ask }
