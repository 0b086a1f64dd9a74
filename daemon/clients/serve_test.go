package clients

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"heddle/yarn/rpc"
)

// serveOn serves protocols on a free port until the test ends.
func serveOn(t *testing.T, o rpc.Options) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := rpc.NewServer(o)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := errors.Join(s.Close(ctx), <-ended); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}
