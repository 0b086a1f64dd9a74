package daemon

import (
	"context"

	"heddle/rm"
)

// SyncAgent hands what a node agent says to the machine and waits for what it is to do, which may take until the time for
// its next call has come. The caller vouches for whom it speaks.
func (r *RM) SyncAgent(ctx context.Context, q *rm.AgentSync) (*rm.AgentWish, error) {
	return say[*rm.AgentWish](ctx, r, beatLane, func(n rm.Call) rm.Message {
		q.Call = n
		return q
	})
}
