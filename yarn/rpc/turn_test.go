package rpc

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/internal/budget"
	"heddle/yarn/wire"
)

// A one lets one caller at a time go on, and keeps who they were.
type one struct {
	turn chan struct{}

	mu  sync.Mutex
	who []string
}

func (o *one) Enter(ctx context.Context, caller string) error {
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.who = append(o.who, caller)
	return nil
}

func (o *one) Leave() { <-o.turn }

// inTurn is the protocol of a bench with methods in turn.
func inTurn(b *bench, names ...string) []Protocol {
	all := b.protocol()
	for _, name := range names {
		all[0].Methods[name] = all[0].Methods[name].InTurn()
	}
	return all
}

// Calls are read and answered in turn. Whoever waits for anything but a processor has no turn: a handler that waits, a peer that does
// not read what is long, or is in pieces.
func TestInTurn(t *testing.T) {
	for name, calls := range map[string]string{
		"a handler that waits":            hexMethod(1, "waitForIt", &killReq{}),
		"answers that are not read":       strings.Repeat(hexMethod(1, "big", &killReq{Diagnostics: new(strings.Repeat("x", 40))}), 500),
		"a long answer that is not read":  hexMethod(1, "big", &killReq{Diagnostics: new(strings.Repeat("x", 30<<10))}),
		"large frames that do not go on":  "000f0000" + strings.Repeat("00", 70<<10)[:2*10],
		"a large frame that does not end": hexMethod(1, "echo", &killReq{Diagnostics: new(strings.Repeat("x", 500<<10))})[:2*400<<10],
	} {
		t.Run(name, func(t *testing.T) {
			b, turns := newBench(), &one{turn: make(chan struct{}, 1)}
			_, addr := startServer(t, Options{Protocols: inTurn(b, "echo", "waitForIt", "big"), Turns: turns})
			p := connect(t, addr)
			p.send(hexSimpleHeader + hexSimpleContext + calls)
			for range 20 {
				time.Sleep(time.Millisecond)
				q := connect(t, addr)
				q.send(hexSimpleHeader + hexSimpleContext + hexMethod(2, "echo", &killReq{}))
				if h, _ := q.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
					t.Errorf("answer %v", h)
				}
			}
			close(b.release)
			_ = p.Close()
			turns.mu.Lock()
			defer turns.mu.Unlock()
			if !slices.Contains(turns.who, "alice@127.0.0.1") {
				t.Errorf("turns of %q", turns.who)
			}
		})
	}
}

// While somebody else has the turn, calls that are answered in turn are not, and others are.
func TestOutOfTurn(t *testing.T) {
	turns := &one{turn: make(chan struct{}, 1)}
	_, addr := startServer(t, Options{Protocols: inTurn(newBench(), "echo"), Turns: turns})
	if err := turns.Enter(t.Context(), "bob@10.0.0.2"); err != nil {
		t.Fatal(err)
	}
	p := connect(t, addr)
	p.send(hexSimpleHeader + hexSimpleContext + hexMethod(1, "echo", &killReq{}))
	q := connect(t, addr)
	q.send(hexSimpleHeader + hexSimpleContext + hexMethod(2, "big", &killReq{}))
	if h, _ := q.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
		t.Errorf("answer %v", h)
	}
	if err := p.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a call was answered out of turn")
	}
	turns.Leave()
	if err := p.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if h, _ := p.answer(); h.GetCallId() != 1 {
		t.Errorf("answer %v", h)
	}
}

// A call that will be turned down is answered before the rest of its frame is there, and none of that is kept. The connection goes on.
func TestUnwanted(t *testing.T) {
	for name, c := range map[string]struct {
		frame string
		want  string
	}{
		"more than its method takes": {hexMethod(1, "small", &killReq{Diagnostics: new(strings.Repeat("x", 500<<10))}), "the request of small has 512004 bytes; at most 40000 are taken"},
		"no method":                  {hexMethod(1, "none", &killReq{Diagnostics: new(strings.Repeat("x", 500<<10))}), "Unknown method none"},
	} {
		t.Run(name, func(t *testing.T) {
			input := budget.New(100<<10, 100<<10)
			all := newBench().protocol()
			all[0].Methods["small"] = all[0].Methods["echo"].Within(40_000, 0)
			s, addr := startServer(t, Options{Protocols: all, Input: input.Account(0)})
			p := connect(t, addr)
			begin, rest := c.frame[:2*readPiece], c.frame[2*readPiece:]
			p.send(hexSimpleHeader + hexSimpleContext + begin)
			if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_ERROR || h.GetCallId() != 1 || !strings.Contains(h.GetErrorMsg(), c.want) {
				t.Errorf("answer %v", h)
			}
			p.send(rest + hexMethod(2, "echo", &killReq{}))
			if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS || h.GetCallId() != 2 {
				t.Errorf("answer %v", h)
			}
			if st := s.Stats(); st.Refused["input"] != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A large frame that is no call ends its connection once its beginning is there.
func TestLargeFramesThatAreNoCalls(t *testing.T) {
	long := bytes.Repeat([]byte{0}, 100<<10)
	for name, c := range map[string]struct {
		frame string
		why   string
	}{
		"zeros":           {"00020000" + strings.Repeat("00", 100<<10), "message"},
		"a ping":          {hexFrame(head(callPing), &killReq{Diagnostics: new(string(long))}), "order"},
		"half of a frame": {hexMethod(1, "echo", &killReq{Diagnostics: new(string(long))})[:2*(64<<10)-2], "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			s, addr := startServer(t, Options{Protocols: newBench().protocol(), Limits: Limits{FrameTime: 50 * time.Millisecond}})
			p := connect(t, addr)
			p.send(hexSimpleHeader + hexSimpleContext + c.frame)
			for st := s.Stats(); st.Refused[c.why] != 1; st = s.Stats() {
				time.Sleep(time.Millisecond)
			}
		})
	}
}
