package httpd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, http.NotFoundHandler(), Options{Conns: 9}) }()
	address := "http://" + l.Addr().String()
	resp, err := http.Get(address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	r, _ := http.NewRequest(http.MethodGet, address+"/healthz", nil)
	r.Header.Set("X-Long", strings.Repeat("x", maxHeader+8<<10))
	if resp, err = http.DefaultClient.Do(r); err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("headers above the limit: %v %v", resp, err)
	}
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("stopped with %v", err)
		}
	case <-time.After(stopTimeout + time.Second):
		t.Fatal("did not stop")
	}
}

func TestServeFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := Serve(context.Background(), l, http.NotFoundHandler(), Options{Conns: 9}); err == nil {
		t.Error("a closed listener is no error")
	}
}

// A site is a server whose requests to /wait wait.
type site struct {
	t       *testing.T
	address string
	began   chan struct{}
	release chan struct{}
}

// start starts a server with the limits of a listener.
func start(t *testing.T, o Options) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t, l.Addr().String(), make(chan struct{}, 1000), make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				s.began <- struct{}{}
				<-s.release
			}
			_, _ = io.WriteString(w, "ok")
		}), o)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// open opens a connection from an address.
func (s *site) open(from string) net.Conn {
	s.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// get requests a path and returns the status; 0 if the connection was closed.
func (s *site) get(c net.Conn, path string) int {
	s.t.Helper()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n") // reading shows whether it was sent
	p, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.t.Fatal("no answer, and no end")
		}
		return 0
	}
	_, _ = io.Copy(io.Discard, p.Body)
	return p.StatusCode
}

// wait opens a connection with a request that waits.
func (s *site) wait(from string) net.Conn {
	s.t.Helper()
	c := s.open(from)
	_, _ = io.WriteString(c, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
	<-s.began
	return c
}

// However many connections an address has open, idle or with half a request, the next one is answered: it replaces the
// one that has been idle for longest.
func TestIdleConnections(t *testing.T) {
	s := start(t, Options{Conns: 100, PerAddress: 10})
	busy := s.wait("127.0.0.2")
	var idle []net.Conn
	for i := range 30 {
		c := s.open("127.0.0.2")
		if i%2 == 0 {
			_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHo")
		}
		idle = append(idle, c)
	}
	if got := s.get(s.open("127.0.0.2"), "/any"); got != http.StatusOK {
		t.Errorf("one more is answered %d", got)
	}
	if got := s.get(idle[0], "/any"); got != 0 {
		t.Errorf("the oldest one is answered %d", got)
	}
	close(s.release)
	if p, err := http.ReadResponse(bufio.NewReader(busy), nil); err != nil || p.StatusCode != http.StatusOK {
		t.Errorf("the one with a request: %v, %v", p, err)
	}
}

// If all connections that an address may have are busy, there are a few more for vital paths.
func TestSpareConnections(t *testing.T) {
	s := start(t, Options{Conns: 100, PerAddress: 3, Vital: []string{"/healthz"}})
	for range 3 {
		s.wait("127.0.0.2")
	}
	for range 20 {
		if got := s.get(s.open("127.0.0.2"), "/healthz"); got != http.StatusOK {
			t.Errorf("what is vital is answered %d", got)
		}
	}
	if got := s.get(s.open("127.0.0.2"), "/other"); got != http.StatusServiceUnavailable {
		t.Errorf("what is not is answered %d", got)
	}
	s.open("127.0.0.2")
	for range 3 { // each replaces the idle one, or another spare one
		if got := s.get(s.open("127.0.0.2"), "/other"); got != http.StatusServiceUnavailable {
			t.Errorf("what is not, in the place of a spare one, is answered %d", got)
		}
	}
	if got := s.get(s.open("127.0.0.3"), "/other"); got != http.StatusOK {
		t.Errorf("another address is answered %d", got)
	}
	close(s.release)
}

// If all connections are taken, the address with most connections gives one up.
func TestCrowd(t *testing.T) {
	s := start(t, Options{Conns: 4, PerAddress: 3})
	one := s.open("127.0.0.3")
	for range 3 {
		s.open("127.0.0.2")
	}
	if got := s.get(s.open("127.0.0.4"), "/any"); got != http.StatusOK {
		t.Errorf("a newcomer is answered %d", got)
	}
	if got := s.get(one, "/any"); got != http.StatusOK {
		t.Errorf("who has one connection is answered %d", got)
	}
}
