//go:build !race

// The race detector makes pools drop items at random, so allocation counts mean nothing with it.

package rpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"testing"
)

// The cost of a call besides the content of its messages: 6 allocations, for the request, the answer and both sides of
// the connection together.
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

// Frames larger than what a connection keeps leave no buffers behind, and none of them stays while the next one is awaited.
func TestAllocationsOfLargeFrames(t *testing.T) {
	const frames = 200
	for _, size := range []int{keepInput + 100, freeInput, readPiece + 100} {
		frame := make([]byte, lengthSize+size)
		binary.BigEndian.PutUint32(frame, uint32(size))
		input := bytes.Repeat(frame, frames)
		got := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := splitter{r: bytes.NewReader(input), limit: 1 << 20}
				for range frames {
					if _, err := s.next(); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := s.next(); err != io.EOF || len(s.buf) > keepInput { //nolint:errorlint // as it is returned
					b.Fatalf("%v after the last frame, and a buffer of %d bytes", err, len(s.buf))
				}
				s.release()
			}
		}).AllocedBytesPerOp() / frames
		t.Logf("%d bytes a frame", got)
		if got > keepInput/10 {
			t.Errorf("%d bytes a frame of %d", got, len(frame))
		}
	}
}
