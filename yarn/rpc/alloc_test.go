//go:build !race

// The race detector makes pools forget at random, so allocations say nothing under it.

package rpc

import (
	"context"
	"testing"
)

// What a call costs beside what its messages hold: 6 allocations, the request, the answer and both sides of the
// connection together.
func TestAllocationsOfACall(t *testing.T) {
	_, addr := startServer(t, Options{Protocols: newBench().protocol()})
	c := dial(t, addr)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, resp := &killReq{}, &killResp{}
	got := testing.AllocsPerRun(500, func() {
		if err := c.Call(ctx, "nothing", req, resp); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%v allocations", got)
	if got > 8 {
		t.Errorf("%v allocations a call, want at most 8", got)
	}
}
