package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/yarn/wire"
)

func dial(t testing.TB, addr string) *Client {
	t.Helper()
	c, err := Dial(context.Background(), addr, ClientOptions{Protocol: clientPB, User: "alice", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestConcurrentCalls(t *testing.T) {
	s, addr := startServer(t, Options{Protocols: newBench().protocol()})
	c := dial(t, addr)
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			for i := range 50 {
				text := fmt.Sprintf("%d-%d-%s", g, i, strings.Repeat("x", i*97))
				var resp wire.GetQueueInfoRequest
				if err := c.Call(t.Context(), "echo", &killReq{Diagnostics: &text}, &resp); err != nil {
					t.Error(err)
				}
				if want := "alice//" + text; resp.GetQueueName() != want {
					t.Errorf("answer %q, want %q", resp.GetQueueName(), want)
				}
			}
		})
	}
	all.Wait()
	st := s.Stats()
	if st.Methods[clientPB+"/echo"] != 800 || st.Failed[clientPB+"/echo"] != 0 || st.Conns != 1 || st.Calls != 0 || st.BytesIn < 800*100 || st.BytesOut < 800*100 {
		t.Errorf("%+v", st)
	}
}

// A waiting call does not hold up a later one.
func TestOutOfOrder(t *testing.T) {
	b := newBench()
	_, addr := startServer(t, Options{Protocols: b.protocol()})
	c := dial(t, addr)
	first := make(chan error, 1)
	go func() { first <- c.Call(t.Context(), "waitForIt", &killReq{}, &killResp{}) }()
	<-b.started
	if err := c.Call(t.Context(), "echo", &killReq{}, &wire.GetQueueInfoRequest{}); err != nil {
		t.Error(err)
	}
	close(b.release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestCallErrors(t *testing.T) {
	b := newBench()
	s, addr := startServer(t, Options{Protocols: b.protocol()})
	c := dial(t, addr)
	var e *Error
	if err := c.Call(t.Context(), "wrapped", &killReq{}, &killResp{}); !errors.As(err, &e) || e.Class != ClassAccessControl || e.Message != "not yours" || e.Code != wire.RpcErrorCode_ERROR_APPLICATION {
		t.Errorf("error %v", err)
	}
	// A caller that stops waiting leaves the connection as it is, and the late answer does no harm.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := c.Call(ctx, "waitForIt", &killReq{}, &killResp{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	close(b.release)
	for range 3 {
		if err := c.Call(t.Context(), "nothing", &killReq{}, &killResp{}); err != nil {
			t.Error(err)
		}
	}
	if err := c.Call(t.Context(), "echo", &killReq{}, &wire.Token{}); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("answer of another type: %v", err)
	}
	if err := c.Call(t.Context(), "echo", &wire.Token{}, &killResp{}); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("request without what it must have: %v", err)
	}
	if err := c.Call(t.Context(), "echo", &killReq{Diagnostics: new(strings.Repeat("x", DefaultFrame))}, &killResp{}); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("request too long: %v", err)
	}
	if err := c.Call(t.Context(), "panics", &killReq{}, &killResp{}); !errors.As(err, &e) || e.Class != ClassYarn || e.Code != wire.RpcErrorCode_FATAL_UNKNOWN {
		t.Errorf("error %v", err)
	}
	if err := c.Call(t.Context(), "echo", &killReq{}, &killResp{}); !errors.As(err, &e) || e.Code != wire.RpcErrorCode_FATAL_UNKNOWN {
		t.Errorf("calling on after a fatal error: %v", err)
	}
	if st := s.Stats(); st.Panics != 1 || st.Failed[clientPB+"/wrapped"] != 1 {
		t.Errorf("%+v", st)
	}
}

// A caller whose connection ends is told why it ended.
func TestCallOfARefusedConnection(t *testing.T) {
	_, addr := startServer(t, Options{Tokens: goodTokens})
	for range 500 {
		c, err := Dial(t.Context(), addr, ClientOptions{Protocol: masterPB, User: "alice", Timeout: patience})
		if err == nil {
			err = c.Call(t.Context(), "echo", &killReq{}, &killResp{})
			if closed := c.Close(); closed != nil {
				t.Error(closed)
			}
		}
		if e := (*Error)(nil); !errors.As(err, &e) || e.Class != ClassAccessControl {
			t.Fatalf("error %v, want one of %s", err, ClassAccessControl)
		}
	}
}

func TestClientClosed(t *testing.T) {
	b := newBench()
	_, addr := startServer(t, Options{Protocols: b.protocol()})
	c := dial(t, addr)
	failed := make(chan error, 1)
	go func() { failed <- c.Call(t.Context(), "waitForIt", &killReq{}, &killResp{}) }()
	<-b.started
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; !errors.Is(err, errLeft) {
		t.Errorf("the waiting call: %v", err)
	}
	if err := c.Call(t.Context(), "echo", &killReq{}, &killResp{}); !errors.Is(err, errLeft) {
		t.Errorf("a later call: %v", err)
	}
	if err := <-b.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler's context: %v", err)
	}
}

// What a client does about impossible answers: the connection ends, and every call with it.
func TestClientRefusesAnswers(t *testing.T) {
	other := [idSize]byte{9}
	for name, answer := range map[string][]byte{
		"another client's": appendResponseHeader(nil, 0, 0, other[:], nil),
		"no message":       appendResponseHeader(nil, 0, 0, exampleID[:], nil),
		"too much":         append(appendResponseHeader(nil, 0, 0, exampleID[:], nil), 0, 0),
		"after an error":   append(appendResponseHeader(nil, 0, 0, exampleID[:], &Error{Class: ClassYarn}), 0),
		"no status":        {2, 8, 0},
		"garbage":          {0xff, 0xff},
		"fatal":            appendResponseHeader(nil, callConnection, noRetry, nil, &Error{Class: ClassYarn, Code: wire.RpcErrorCode_FATAL_UNKNOWN}),
	} {
		t.Run(name, func(t *testing.T) {
			c, far := pipeClient(t)
			c.pending, c.ended, c.timeout = map[int32]*waiter{}, make(chan struct{}), patience
			go c.read()
			go func() {
				if err := skipFrame(far); err != nil {
					t.Error(err)
				}
				b := append(beginFrame(nil), answer...)
				endFrame(b, 0)
				_, _ = far.Write(b)
			}()
			if err := c.Call(t.Context(), "echo", &killReq{}, &killResp{}); err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			<-c.ended
		})
	}
}

func TestServerGone(t *testing.T) {
	s, addr := startServer(t, Options{Protocols: newBench().protocol()})
	c := dial(t, addr)
	if err := c.Call(t.Context(), "echo", &killReq{}, &wire.GetQueueInfoRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-c.ended
	err := c.Call(t.Context(), "echo", &killReq{}, &killResp{})
	if want := "calling echo at " + addr + ": the server closed the connection: EOF"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestTokenKeepsItsPassword(t *testing.T) {
	text := fmt.Sprintf("%v %+v %s", goodToken, *goodToken, ClientOptions{Token: goodToken}.Token)
	if strings.Contains(text, "password") || strings.Contains(text, "112 97 115 115") {
		t.Errorf("it prints as %s", text)
	}
}

// Dialling ends with its context, even if the other side says nothing.
func TestDialTimeout(t *testing.T) {
	addr := listenSilently(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, addr, ClientOptions{Token: goodToken}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if _, err := Dial(t.Context(), addr, ClientOptions{Token: goodToken, Timeout: 20 * time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
