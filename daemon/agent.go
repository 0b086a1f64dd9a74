package daemon

import (
	"context"

	"heddle/rm"
)

// SyncAgent hands what a node agent says to the machine, says so, and waits for what it is to do, which may take until the time
// for its next call has come. The caller vouches for whom it speaks.
func (r *RM) SyncAgent(ctx context.Context, q *rm.AgentSync, heard func()) (*rm.AgentWish, error) {
	wish := make(chan answer[*rm.AgentWish], 1)
	if _, err := call(ctx, r, beatLane, func(reply func(struct{}, error)) {
		tell(r, func(n rm.Call) rm.Message {
			q.Call = n
			return q
		}, func(w *rm.AgentWish, err error) { wish <- answer[*rm.AgentWish]{w, err} })
		reply(struct{}{}, nil)
	}); err != nil {
		return nil, err
	}
	heard()
	return await(ctx, r, wish)
}
