package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"heddle/internal/budget"
	"heddle/yarn/wire"
)

// skipFrame reads one frame and nothing of what follows.
func skipFrame(r io.Reader) error {
	s := splitter{r: exactly{r}, limit: DefaultFrame}
	_, err := s.next()
	return err
}

// exactly reads a byte at a time, so that a splitter consumes nothing of what follows.
type exactly struct{ io.Reader }

func (e exactly) Read(b []byte) (int, error) { return e.Reader.Read(b[:1]) }

// goneAfter waits for the server to end the connection and returns how long that took.
func (p *peer) goneAfter() time.Duration {
	p.t.Helper()
	since := time.Now()
	if _, err := io.Copy(io.Discard, p); err != nil {
		p.t.Fatal(err)
	}
	return time.Since(since)
}

// A client that does not authenticate in time is disconnected, however it spends the time.
func TestSlowHandshake(t *testing.T) {
	drip := func(s string) func(*peer) {
		return func(p *peer) {
			for _, b := range unhex(s) {
				if _, err := p.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}
	}
	for name, play := range map[string]func(*peer){
		"silent":           func(*peer) {},
		"a byte a second":  drip(hexSimpleHeader + hexSimpleContext),
		"half of SASL":     func(p *peer) { p.send(hexSASLHeader); p.exchange(state(wire.RpcSasl_NEGOTIATE)) },
		"half a frame":     func(p *peer) { p.send(hexSimpleHeader + "0000ffff00") },
		"pings":            func(p *peer) { p.send(hexSimpleHeader); drip(strings.Repeat(hexFrame(head(callPing)), 9))(p) },
		"header and quiet": func(p *peer) { p.send(hexSimpleHeader) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, dial := startPiped(t, Options{Tokens: nil})
				if name == "half of SASL" {
					s, dial = startPiped(t, Options{Tokens: goodTokens})
				}
				p, since := dial(), time.Now()
				go play(p)
				synctest.Wait()
				time.Sleep(DefaultHandshake - time.Second)
				synctest.Wait()
				if s.Stats().Conns != 1 {
					t.Fatalf("gone after %v", time.Since(since))
				}
				time.Sleep(time.Second + time.Millisecond)
				synctest.Wait()
				if st := s.Stats(); st.Conns != 0 || st.Refused["deadline"] != 1 {
					t.Errorf("after %v: %+v", time.Since(since), st)
				}
				_ = p.Close()
				time.Sleep(time.Minute) // for play to notice
			})
		})
	}
}

// After the handshake a frame has a deadline of its own, and time between frames is no reason to disconnect.
func TestSlowFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dial := startPiped(t, Options{Protocols: newBench().protocol()})
		p := dial()
		p.send(hexSimpleHeader + hexSimpleContext)
		time.Sleep(time.Minute)
		p.send("00ffffff")
		if took := p.goneAfter(); took != DefaultFrameTime {
			t.Errorf("gone after %v", took)
		}
		synctest.Wait()
		if got := s.Stats().Refused["deadline"]; got != 1 {
			t.Errorf("counted %d times", got)
		}
	})
}

func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dial := startPiped(t, Options{Protocols: newBench().protocol()})
		p := dial()
		p.send(hexSimpleHeader + hexSimpleContext)
		for range 10 {
			time.Sleep(61 * time.Second)
			p.send(hexMethod(1, "echo", &killReq{}))
			p.answer()
		}
		if took := p.goneAfter(); took < time.Minute || took > 2*DefaultIdle {
			t.Errorf("gone after %v", took)
		}
		synctest.Wait()
		for why, n := range s.Stats().Refused {
			if n > 0 {
				t.Errorf("counted as refused: %s", why)
			}
		}
	})
}

// A client that waits long for an answer sends pings, and keeps its connection.
func TestPingWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		_, dial := startPiped(t, Options{Protocols: b.protocol()})
		p := dial()
		p.send(hexSimpleHeader + hexSimpleContext + hexMethod(5, "waitForIt", &killReq{}))
		for range 20 {
			time.Sleep(time.Minute)
			p.send(hexFrame(head(callPing)))
		}
		time.Sleep(10 * DefaultIdle) // without pings it keeps it too
		close(b.release)
		if h, _ := p.answer(); h.GetCallId() != 5 || h.GetStatus() != wire.RpcStatus_SUCCESS {
			t.Errorf("answer %v", h)
		}
	})
}

// A peer that calls but does not read holds a bounded amount for a bounded time.
func TestNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := budget.New(DefaultMemory, DefaultMemory)
		s, dial := startPiped(t, Options{Protocols: newBench().protocol(), Memory: memory.Account(0)})
		p := dial()
		p.send(hexSimpleHeader + hexSimpleContext)
		go func() {
			for i := range int32(1000) { // 300 KiB each
				if _, err := p.Write(unhex(hexMethod(i, "big", &killReq{Diagnostics: new(strings.Repeat("k", 300))}))); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		s.mu.Lock()
		for c := range s.conns {
			c.out.mu.Lock()
			if n := len(c.out.waiting); n > DefaultOutput {
				t.Errorf("%d bytes wait", n)
			}
			c.out.mu.Unlock()
			if n := c.active.Load(); n > DefaultCallsPer+1 { // one waits for a place
				t.Errorf("%d calls are being answered", n)
			}
		}
		s.mu.Unlock()
		if st, used := s.Stats(), memory.Used(); st.Conns != 1 || st.Calls != 0 || used > 16<<20 {
			t.Errorf("no call may hold a place among all calls: %+v, and %d bytes", st, used)
		}
		time.Sleep(DefaultWrite)
		synctest.Wait()
		if st, used := s.Stats(), memory.Used(); st.Conns != 0 || st.Refused["output"] != 1 || used != 0 {
			t.Errorf("after %v: %+v, and %d bytes", DefaultWrite, st, used)
		}
	})
}

// Unread answers fill the memory for all. Calls that need more wait or, if their wait is limited, have to be retried;
// later the peers that do not read are disconnected.
func TestNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := budget.New(1<<20, 1<<20)
		s, dial := startPiped(t, Options{Protocols: newBench().protocol(), Memory: memory.Account(0), Limits: Limits{Patience: time.Second}})
		big := func() *peer {
			p := dial()
			p.send(hexSimpleHeader + hexSimpleContext)
			go func() {
				_, _ = p.Write(unhex(hexMethod(1, "big", &killReq{Diagnostics: new(strings.Repeat("k", 1000))})))
			}()
			synctest.Wait()
			return p
		}
		for range 5 { // 250 KiB each
			big()
		}
		if used := memory.Used(); used < 750<<10 || used > 1<<20 {
			t.Errorf("%d bytes are in use", used)
		}
		late := big()
		h, _ := late.answer()
		if h.GetStatus() != wire.RpcStatus_ERROR || h.GetExceptionClassName() != ClassRetry || !strings.Contains(h.GetErrorMsg(), "big") {
			t.Errorf("one that is too much: %v", h)
		}
		late.send(hexMethod(7, "echo", &killReq{}))
		if h, _ := late.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
			t.Errorf("a small call: %v", h)
		}
		if st := s.Stats(); st.Refused["memory"] < 1 {
			t.Errorf("%+v", st)
		}
		time.Sleep(2 * DefaultWrite)
		synctest.Wait()
		if st := s.Stats(); memory.Used() != 0 || st.Conns != 1 {
			t.Errorf("%d bytes are held of nobody: %+v", memory.Used(), st)
		}
	})
}

// The requests being answered on all connections have a limit; a request above it by itself is refused.
func TestWorkLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		memory := budget.New(400<<10, 400<<10)
		s, dial := startPiped(t, Options{Protocols: b.protocol(), Memory: memory.Account(0)})
		var peers []*peer
		for i, size := range []int{120_000, 120_000, 220_000} {
			p := dial()
			peers = append(peers, p)
			p.send(hexSimpleHeader + hexSimpleContext + hexMethod(int32(i), "waitForIt", &killReq{Diagnostics: new(strings.Repeat("w", size))}))
			synctest.Wait()
		}
		if got := s.Stats().Calls; got != 1 {
			t.Errorf("%d calls are being answered, want 1", got)
		}
		if h, _ := peers[2].answer(); h.GetStatus() != wire.RpcStatus_ERROR || !strings.Contains(h.GetErrorMsg(), "memory.per_address") {
			t.Errorf("what can never be taken: %v", h)
		}
		close(b.release)
		for i, p := range peers[:2] {
			if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS || h.GetCallId() != uint32(i) {
				t.Errorf("answer %v", h)
			}
		}
		peers[0].send(hexMethod(9, "echo", &wire.Token{Identifier: []byte("not what it reads"), Password: []byte{}, Kind: new(""), Service: new("")}))
		peers[0].answer()
		if synctest.Wait(); memory.Used() != 0 {
			t.Errorf("calls that are over hold %d bytes", memory.Used())
		}
	})
}

// At the limits nothing is refused: the calls of one connection wait, and so do those of all.
func TestCallLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		s, dial := startPiped(t, Options{Protocols: b.protocol(), Limits: Limits{CallsPer: 3, Calls: 5}})
		peers := []*peer{dial(), dial()}
		for _, p := range peers {
			p.send(hexSimpleHeader + hexSimpleContext)
			go func() {
				for i := range int32(10) {
					if _, err := p.Write(unhex(hexMethod(i, "waitForIt", &killReq{}))); err != nil {
						return
					}
				}
			}()
		}
		synctest.Wait()
		if got := s.Stats().Calls; got != 5 {
			t.Errorf("%d calls are being answered, want 5", got)
		}
		close(b.release)
		for _, p := range peers {
			for range 10 {
				if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
					t.Errorf("answer %v", h)
				}
			}
		}
	})
}

// However many connections a user has from an address, only this many of the user's calls are answered at a time; others
// go on.
func TestCallerLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		s, dial := startPiped(t, Options{Protocols: b.protocol(), Limits: Limits{CallsOf: 3}})
		flood := func(p *peer) {
			go func() {
				for i := range int32(10) {
					if _, err := p.Write(unhex(hexMethod(i, "waitForIt", &killReq{}))); err != nil {
						return
					}
				}
			}()
		}
		peers := []*peer{dial(), dial(), dial()}
		for _, p := range peers {
			p.send(hexSimpleHeader + hexSimpleContext)
			flood(p)
		}
		synctest.Wait()
		if got := s.Stats().Calls; got != 3 {
			t.Errorf("%d calls are being answered, want 3", got)
		}
		other := dial()
		other.send(hexSimpleHeader + hexFrame(head(callContext), &wire.IpcConnectionContext{UserInfo: &wire.UserInformation{EffectiveUser: new("bob")}}))
		other.send(hexMethod(1, "echo", &killReq{}))
		if h, _ := other.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
			t.Errorf("another user is answered %v", h)
		}
		_ = peers[2].Close()
		close(b.release)
		for _, p := range peers[:2] {
			for range 10 {
				if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
					t.Errorf("answer %v", h)
				}
			}
			_ = p.Close()
		}
		_ = other.Close()
		synctest.Wait()
		if s.mu.Lock(); len(s.callers) != 0 {
			t.Errorf("%d callers are kept", len(s.callers))
		}
		s.mu.Unlock()
	})
}

// However many names a caller uses from an address, only this many calls from it are answered at a time; other addresses
// go on.
func TestAddressLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		s, dial := startPiped(t, Options{Protocols: b.protocol(), Limits: Limits{CallsOf: 2, CallsAt: 3}})
		var peers []*peer
		for i := range 5 {
			p := dial()
			p.send(hexSimpleHeader + hexFrame(head(callContext), &wire.IpcConnectionContext{UserInfo: &wire.UserInformation{EffectiveUser: new(fmt.Sprint("user", i))}}))
			peers = append(peers, p)
			p.send(hexMethod(1, "waitForIt", &killReq{}))
		}
		synctest.Wait()
		if got := s.Stats().Calls; got != 3 {
			t.Errorf("%d calls are being answered, want 3", got)
		}
		close(b.release)
		for _, p := range peers {
			if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
				t.Errorf("answer %v", h)
			}
			_ = p.Close()
		}
		synctest.Wait()
		if s.mu.Lock(); len(s.callers) != 0 {
			t.Errorf("%d callers are kept", len(s.callers))
		}
		s.mu.Unlock()
	})
}

// At a limit a new connection replaces the longest idle one of the address with the most connections. A connection whose
// call is being answered stays.
func TestConnectionLimits(t *testing.T) {
	b := newBench()
	s, addr := startServer(t, Options{Limits: Limits{ConnsPer: 2, Conns: 3}, Protocols: b.protocol()})
	open := func(method string) *peer {
		p := connect(t, addr)
		p.send(hexSimpleHeader + hexSimpleContext + hexMethod(1, method, &killReq{}))
		return p
	}
	busy, idle := open("waitForIt"), open("echo")
	<-b.started
	idle.answer()
	working(s, 1)
	third := open("waitForIt")
	idle.gone()
	<-b.started
	connect(t, addr).gone()
	if st := s.Stats(); st.Refused["address"] != 2 || st.Conns != 2 {
		t.Errorf("%+v", st)
	}
	close(b.release)
	busy.answer()
	third.answer()

	s, addr = startServer(t, Options{Limits: Limits{Conns: 2}, Protocols: b.protocol()})
	first := open("echo")
	first.answer()
	second := open("echo")
	second.answer()
	working(s, 0)
	open("echo").answer()
	first.gone()
	if st := s.Stats(); st.Refused["connections"] != 1 || st.Conns != 2 {
		t.Errorf("%+v", st)
	}
}

// working waits until this many connections have calls: an answer arrives a moment before its call is over.
func working(s *Server, want int) {
	for n := -1; n != want; time.Sleep(time.Millisecond) {
		n = 0
		s.mu.Lock()
		for c := range s.conns {
			if c.active.Load() > 0 {
				n++
			}
		}
		s.mu.Unlock()
	}
}

// All input buffers together have a limit: a connection that would exceed it is closed, and its memory becomes free
// again.
func TestInputLimit(t *testing.T) {
	memory := budget.New(1<<20, 1<<20)
	all := newBench().protocol()
	all[0].Methods["echo"] = all[0].Methods["echo"].Within(4<<20, 0)
	s, addr := startServer(t, Options{Input: memory.Account(0), Protocols: all})
	p := connect(t, addr)
	p.send(hexSimpleHeader + hexSimpleContext)
	// Two MiB would be allowed; half of them fill the buffer space.
	_, _ = p.Write(unhex(hexMethod(1, "echo", &killReq{Diagnostics: new(strings.Repeat("x", 2<<20))}))) // it may fail when the server is gone
	p.gone()
	if st := s.Stats(); st.Refused["input"] != 1 {
		t.Errorf("%+v", st)
	}
	for memory.Used() != 0 {
		time.Sleep(time.Millisecond)
	}
	p = connect(t, addr)
	p.send(hexSimpleHeader + hexSimpleContext + hexMethod(1, "echo", &killReq{Diagnostics: new(strings.Repeat("x", 500<<10))}))
	if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
		t.Errorf("answer %v", h)
	}
}

// Close lets calls finish, and aborts them when time runs out.
func TestClose(t *testing.T) {
	for _, patient := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench()
			s, dial := startPiped(t, Options{Protocols: b.protocol()})
			p, idle, young := dial(), dial(), dial()
			p.send(hexSimpleHeader + hexSimpleContext + hexMethod(5, "waitForIt", &killReq{}))
			idle.send(hexSimpleHeader + hexSimpleContext)
			young.send(hexSimpleHeader)
			<-b.started
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			closed := make(chan error, 1)
			go func() { closed <- s.Close(ctx) }()
			if took := idle.goneAfter() + young.goneAfter(); took != 0 {
				t.Errorf("the idle ones went after %v", took)
			}
			if patient {
				time.Sleep(time.Second)
				close(b.release)
				if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
					t.Errorf("answer %v", h)
				}
				if err := <-closed; err != nil {
					t.Error(err)
				}
				return
			}
			if took := p.goneAfter(); took != time.Minute {
				t.Errorf("gone after %v", took)
			}
			if err := <-closed; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("closed with %v", err)
			}
			if err := <-b.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v", err)
			}
		})
	}
}

// The buffer grows with what arrives, whatever length was announced.
func TestSplitterGrowsWithWhatArrives(t *testing.T) {
	r, w := io.Pipe()
	s := splitter{r: r, limit: 128 << 20}
	ended := make(chan error, 1)
	go func() { _, err := s.next(); ended <- err }()
	sent := 0
	for _, b := range [][]byte{unhex("07ffffff"), make([]byte, 10), make([]byte, 5000), make([]byte, 100_000)} {
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		sent += len(b)
	}
	_ = w.Close()
	if err := <-ended; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("ended with %v", err)
	}
	if len(s.buf) > 2*sent {
		t.Errorf("%d bytes arrived, the buffer has %d", sent, len(s.buf))
	}
}

// A listener that fails for a while is retried, more and more slowly; serving ends if others have closed it.
func TestAcceptFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s, ln := NewServer(Options{Log: slog.New(slog.NewTextHandler(&log, nil))}), &failing{newPipes(), 10}
		since := time.Now()
		if err := s.Serve(ln); !errors.Is(err, net.ErrClosed) {
			t.Errorf("serving ended with %v", err)
		}
		if took := time.Since(since); took < time.Second || took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		if n := strings.Count(log.String(), "too many open files"); n != 10 {
			t.Errorf("%d lines in the log: %s", n, &log)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Serve(newPipes()); err == nil {
			t.Error("a closed server serves")
		}
	})
}

// failing fails a number of times and is then closed.
type failing struct {
	*pipes
	left int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left == 0 {
		return nil, net.ErrClosed
	}
	f.left--
	return nil, syscall.EMFILE
}
