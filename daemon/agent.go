package daemon

import (
	"context"

	"heddle/rm"
)

// SyncAgent passes a node agent's message to the machine, then calls heard, and waits for what the agent is to do. The
// wait may last until the agent's next call is due. The caller vouches for the agent's identity.
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
