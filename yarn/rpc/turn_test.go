package rpc

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"heddle/internal/budget"
	"heddle/yarn/wire"
)

// A one gives the turn to one caller at a time, and records the callers.
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

func (o *one) Leave(string, time.Duration) { <-o.turn }

// inTurn returns the protocol of a bench with these methods in turn.
func inTurn(b *bench, names ...string) []Protocol {
	all := b.protocol()
	for _, name := range names {
		all[0].Methods[name] = all[0].Methods[name].InTurn()
	}
	return all
}

// Calls are read and answered in turn. Anything that waits for something other than a processor has no turn: a handler
// that waits, or a peer that does not read a long answer or sends a frame in pieces.
func TestInTurn(t *testing.T) {
	for name, calls := range map[string]string{
		"a handler that waits":            hexMethod(1, "waitForIt", &killReq{}),
		"answers that are not read":       strings.Repeat(hexMethod(1, "big", &killReq{Diagnostics: new(strings.Repeat("x", 40))}), 500),
		"a long answer that is not read":  hexMethod(1, "big", &killReq{Diagnostics: new(strings.Repeat("x", 30<<10))}),
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
				q.send(hexSimpleHeader + hexAs("bob") + hexMethod(2, "echo", &killReq{}))
				if h, _ := q.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
					t.Errorf("answer %v", h)
				}
			}
			close(b.release)
			_ = p.Close()
			turns.mu.Lock()
			defer turns.mu.Unlock()
			large := strings.HasPrefix(name, "a large frame") // its call has not come
			if !slices.Contains(turns.who, "bob@127.0.0.1") || slices.Contains(turns.who, "alice@127.0.0.1") == large {
				t.Errorf("turns of %q", turns.who)
			}
		})
	}
}

// What a peer waits for its turns in a handshake does not count against it.
func TestSlowHandshakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &one{turn: make(chan struct{}, 1)}
		s, dial := startPiped(t, Options{Protocols: newBench().protocol(), Turns: turns, Limits: Limits{Handshake: time.Second}})
		p := dial()
		for _, frame := range []string{hexSASLHeader + hexNegotiate, hexSimpleContext + hexMethod(1, "big", &killReq{})} {
			if err := turns.Enter(t.Context(), "bob@10.0.0.2"); err != nil {
				t.Fatal(err)
			}
			p.send(frame)
			time.Sleep(700 * time.Millisecond)
			turns.Leave("", 0)
			if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
				t.Errorf("answer %v", h)
			}
			time.Sleep(400 * time.Millisecond)
		}
		_ = p.Close()
		synctest.Wait()
		if st := s.Stats(); st.Refused["deadline"] != 0 {
			t.Errorf("%+v", st)
		}
		q := dial() // the time that it waits for itself counts
		q.send(hexSASLHeader + hexNegotiate)
		q.answer()
		time.Sleep(1001 * time.Millisecond)
		synctest.Wait()
		if st := s.Stats(); st.Refused["deadline"] != 1 {
			t.Errorf("%+v", st)
		}
		_ = q.Close()
	})
}

// hexAs encodes the connection context of a user.
func hexAs(user string) string {
	return hexFrame(head(callContext), &wire.IpcConnectionContext{UserInfo: &wire.UserInformation{EffectiveUser: &user}})
}

// Calls of no method are answered in turn too, and a connection that ends while it waits for its turn leaves none behind.
func TestTurnsOfNoMethod(t *testing.T) {
	turns := &one{turn: make(chan struct{}, 1)}
	_, addr := startServer(t, Options{Protocols: newBench().protocol(), Turns: turns})
	for range 20 {
		p := connect(t, addr)
		p.send(hexSimpleHeader + hexSimpleContext + strings.Repeat(hexMethod(1, "none", &killReq{}), 50))
		_ = p.Close()
	}
	p := connect(t, addr)
	p.send(hexSimpleHeader + hexAs("bob") + hexMethod(1, "none", &killReq{}))
	if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_ERROR {
		t.Errorf("answer %v", h)
	}
	turns.mu.Lock()
	defer turns.mu.Unlock()
	if !slices.Contains(turns.who, "bob@127.0.0.1") {
		t.Errorf("turns of %q", turns.who)
	}
}

// Long answers arrive unchanged, in turn and out of turn, and no turn is left behind, not even by a handler that panics.
func TestTurnsAreGivenBack(t *testing.T) {
	turns := &one{turn: make(chan struct{}, 1)}
	_, addr := startServer(t, Options{Protocols: inTurn(newBench(), "big", "panics", "incomplete"), Turns: turns})
	for _, method := range []string{"big", "incomplete", "panics", "big"} {
		p := connect(t, addr)
		p.send(hexSimpleHeader + hexSimpleContext + hexMethod(1, method, &killReq{Diagnostics: new(strings.Repeat("x", 900))}))
		if h, b := p.answer(); (h.GetStatus() == wire.RpcStatus_SUCCESS) != (method == "big") || method == "big" && len(b) < 900<<10 {
			t.Errorf("%s: %v and %d bytes", method, h, len(b))
		}
	}
	for len(turns.turn) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// Waiting for a turn does not count against a peer that reads: its answer is not cut off.
func TestSlowTurns(t *testing.T) {
	turns := &one{turn: make(chan struct{}, 1)}
	_, addr := startServer(t, Options{Protocols: inTurn(newBench(), "big"), Turns: turns, Limits: Limits{Write: 100 * time.Millisecond}})
	stop := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() { // another caller has most of the time
		for {
			select {
			case <-stop:
				return
			case turns.turn <- struct{}{}:
				time.Sleep(30 * time.Millisecond)
				<-turns.turn
			}
		}
	})
	p := connect(t, addr)
	p.send(hexSimpleHeader + hexSimpleContext + hexMethod(1, "big", &killReq{Diagnostics: new(strings.Repeat("x", 400))}))
	if h, b := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS || len(b) < 400<<10 {
		t.Errorf("%v and %d bytes", h, len(b))
	}
	close(stop)
	busy.Wait()
}

// A call with a delayed answer meanwhile holds nothing of others.
func TestAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newBench().protocol()
		all[0].Methods["later"] = Serve(func(_ context.Context, c *Call, _ *killReq) (*killResp, error) {
			c.After = time.Second
			return &killResp{IsKillCompleted: new(true)}, nil
		})
		memory := budget.New(DefaultMemory, DefaultMemory)
		_, dial := startPiped(t, Options{Protocols: all, Memory: memory.Account(0), Limits: Limits{CallsOf: 1, CallsAt: 1}})
		began := time.Now()
		p, q := dial(), dial()
		p.send(hexSimpleHeader + hexSimpleContext + hexMethod(1, "later", &killReq{}))
		synctest.Wait()
		if used := memory.Used(); used != 0 {
			t.Errorf("%d bytes are held", used)
		}
		q.send(hexSimpleHeader + hexSimpleContext + hexMethod(2, "echo", &killReq{}))
		if h, _ := q.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS || time.Since(began) != 0 {
			t.Errorf("answer %v after %v", h, time.Since(began))
		}
		if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS || time.Since(began) != time.Second {
			t.Errorf("answer %v after %v", h, time.Since(began))
		}
		_, _ = p.Close(), q.Close()
	})
}

// While another caller has the turn, calls in turn are not answered, and other calls are.
func TestOutOfTurn(t *testing.T) {
	turns := &one{turn: make(chan struct{}, 1)}
	_, addr := startServer(t, Options{Protocols: inTurn(newBench(), "echo"), Turns: turns})
	p, q := connect(t, addr), connect(t, addr)
	for _, c := range []*peer{p, q} {
		c.send(hexSimpleHeader + hexSimpleContext + hexMethod(0, "big", &killReq{}))
		if h, _ := c.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
			t.Errorf("answer %v", h)
		}
	}
	if err := turns.Enter(t.Context(), "bob@10.0.0.2"); err != nil {
		t.Fatal(err)
	}
	p.send(hexMethod(1, "echo", &killReq{}))
	q.send(hexMethod(2, "big", &killReq{}))
	if h, _ := q.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
		t.Errorf("answer %v", h)
	}
	if p.answered() {
		t.Error("a call was answered out of turn")
	}
	turns.Leave("", 0)
	if h, _ := p.answer(); h.GetCallId() != 1 {
		t.Errorf("answer %v", h)
	}
}

// answered reports whether anything arrives within a while.
func (p *peer) answered() bool {
	p.t.Helper()
	if err := p.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		p.t.Fatal(err)
	}
	n, err := p.Read(make([]byte, 1))
	if err := p.SetReadDeadline(time.Now().Add(patience)); err != nil {
		p.t.Fatal(err)
	}
	return n > 0 || err == nil
}

// Handshakes are read and answered in turn, and so is the answer to one that is refused. A peer that stays after that
// has no turn.
func TestHandshakesInTurn(t *testing.T) {
	for name, hello := range map[string]string{
		"a connection context":    hexSimpleHeader + hexSimpleContext + hexMethod(1, "big", &killReq{}),
		"an unknown header":       "68727063090077",
		"a call before a context": hexSimpleHeader + hexMethod(1, "big", &killReq{}),
	} {
		t.Run(name, func(t *testing.T) {
			turns := &one{turn: make(chan struct{}, 1)}
			_, addr := startServer(t, Options{Protocols: newBench().protocol(), Turns: turns})
			if err := turns.Enter(t.Context(), "bob@10.0.0.2"); err != nil {
				t.Fatal(err)
			}
			p := connect(t, addr)
			p.send(hello)
			if p.answered() {
				t.Error("it was answered out of turn")
			}
			turns.Leave("", 0)
			if h, _ := p.answer(); h.GetStatus() == wire.RpcStatus_SUCCESS != strings.HasSuffix(name, "a connection context") {
				t.Errorf("answer %v", h)
			}
			ctx, cancel := context.WithTimeout(t.Context(), lingerTime/2)
			defer cancel()
			if err := turns.Enter(ctx, "bob@10.0.0.2"); err != nil {
				t.Fatal(err)
			}
			if want := []string{"bob@10.0.0.2", "@127.0.0.1", "bob@10.0.0.2"}; !slices.Equal(slices.Compact(turns.who), want) {
				t.Errorf("turns of %q", turns.who)
			}
		})
	}
}

// A call that will be refused is answered before the rest of its frame has arrived, and nothing of that is kept. The
// connection goes on.
func TestUnwanted(t *testing.T) {
	for name, c := range map[string]struct {
		frame string
		want  string
	}{
		"more than its method takes": {hexMethod(1, "small", &killReq{Diagnostics: new(strings.Repeat("x", 500<<10))}), "the request of small has 512004 bytes; at most 40000 are accepted"},
		"more than the request":      {hexTail(hexMethod(1, "small", &killReq{}), 500<<10), "the request of small has 512000 bytes; at most 40000 are accepted"},
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

// hexTail appends zeros to a frame, which count as part of it.
func hexTail(frame string, bytes int) string {
	b := append(unhex(frame), make([]byte, bytes)...)
	endFrame(b, 0)
	return hex.EncodeToString(b)
}

// A large frame is paused after every 64 KiB, however little arrives at a time.
func TestPauses(t *testing.T) {
	for _, piece := range []int{10 << 10, 60 << 10, 1 << 20} {
		var pauses int
		s := splitter{r: &pieceReader{bytes.NewReader(unhex(hexTail("00000000", 1<<20))), piece}, limit: 2 << 20, pass: func() { pauses++ }}
		if b, err := s.next(); err != nil || len(b) != 1<<20 || pauses < 8 || pauses > 16 {
			t.Errorf("%d bytes, %v, in pieces of %d with %d pauses", len(b), err, piece, pauses)
		}
	}
}

// A pieceReader returns at most piece bytes at a time.
type pieceReader struct {
	r     io.Reader
	piece int
}

func (p *pieceReader) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.piece)]) }

// A large frame that is not a call ends its connection once its beginning has arrived.
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
