package httpd

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
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

func TestConnectionLimits(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &limited{Listener: inner, all: 3, each: 2}
	defer l.Close()
	accepted := make(chan net.Conn, 4)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	dial := func(from string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	refused := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
		_, err := c.Read(make([]byte, 1))
		return errors.Is(err, io.EOF) || err != nil && strings.Contains(err.Error(), "reset")
	}
	a, b := dial("127.0.0.2"), dial("127.0.0.2")
	first := <-accepted
	<-accepted
	if c := dial("127.0.0.2"); !refused(c) {
		t.Error("a third connection from one address was taken")
	}
	other := dial("127.0.0.3")
	<-accepted
	if c := dial("127.0.0.4"); !refused(c) {
		t.Error("a fourth connection in all was taken")
	}
	_ = first.Close()
	_ = first.Close() // gives one place back, not two
	_ = dial("127.0.0.2")
	<-accepted
	if c := dial("127.0.0.4"); !refused(c) {
		t.Error("closing twice gave two places back")
	}
	for _, c := range []net.Conn{a, b, other} {
		_ = c.Close()
	}
}
