package daemon

import (
	"context"

	"heddle/rm"
)

// Facts finds out about jobs what YARN's protocols do not tell. Its methods may take a while, are called from many
// goroutines, return soon after their context ends, and report errors in the answer.
type Facts interface {
	Read(context.Context, *rm.ReadJob) *rm.JobRead
	Ask(context.Context, *rm.AskMaster) *rm.MasterTold
}

// noFacts knows nothing.
type noFacts struct{}

const nobodyAsks = "this ResourceManager does not look up facts about applications"

// Read answers that nothing was read.
func (noFacts) Read(_ context.Context, q *rm.ReadJob) *rm.JobRead {
	return &rm.JobRead{App: q.App, Failed: nobodyAsks}
}

// Ask answers that nobody was asked.
func (noFacts) Ask(_ context.Context, q *rm.AskMaster) *rm.MasterTold {
	return &rm.MasterTold{Attempt: q.Attempt, Failed: nobodyAsks}
}

// LearnFrom sets who finds out what the machine wants to know about jobs. By default nobody does. Call it before Run.
func (r *RM) LearnFrom(f Facts) { r.facts = f }

// learn has something found out and passes the result to the machine. It does not wait. What [New] wants to know waits
// for Run, because only then is there somebody to ask.
func (r *RM) learn(what func(context.Context, Facts) rm.Message) {
	r.post(func() {
		go func() {
			m := what(r.life, r.facts)
			r.post(func() { r.step(m) })
		}()
	})
}
