package httpd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// piped is a listener whose connections have no buffers and use the test's time.
type piped struct {
	conns chan net.Conn
	once  chan struct{}
}

func (p *piped) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.once:
		return nil, net.ErrClosed
	}
}

func (p *piped) Close() error   { close(p.once); return nil }
func (p *piped) Addr() net.Addr { return &net.TCPAddr{} }

// answering serves one request with writes and has read take the answer. It returns how long writing took and its error.
func answering(t *testing.T, writes func(io.Writer) error, read func(net.Conn)) (took time.Duration, err error) {
	t.Helper()
	l := &piped{make(chan net.Conn), make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	ended, wrote := make(chan error), make(chan error)
	go func() {
		ended <- Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			began := time.Now()
			err := writes(w)
			took = time.Since(began)
			wrote <- err
		}), Options{Conns: 9})
	}()
	ours, theirs := net.Pipe()
	l.conns <- theirs
	var reader sync.WaitGroup
	reader.Go(func() {
		_, _ = io.WriteString(ours, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		read(ours)
	})
	err = <-wrote
	_ = ours.Close()
	reader.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return took, err
}

// drip reads at a rate of bytes a second, up to most bytes.
func drip(rate, most int) func(net.Conn) {
	return func(c net.Conn) {
		for n := 0; n < most; n += rate {
			if _, err := io.CopyN(io.Discard, c, int64(rate)); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}
}

// A reader that stops, or reads too slowly, is soon given up, however fast the beginning was.
func TestSlowReaders(t *testing.T) {
	whole := func(w io.Writer) error {
		_, err := w.Write(make([]byte, 16<<20))
		return err
	}
	for _, c := range []struct {
		what     string
		writes   func(io.Writer) error
		read     func(net.Conn)
		cut      bool
		from, to time.Duration
	}{
		{"one that reads nothing", whole, func(net.Conn) {}, true, 5 * time.Second, 11 * time.Second},
		{"one that stops", whole, func(c net.Conn) { _, _ = io.CopyN(io.Discard, c, 8<<20) }, true, 5 * time.Second, 11 * time.Second},
		{"a slow one", whole, drip(readRate/4, 16<<20), true, 5 * time.Second, 20 * time.Second},
		{"one that stops, of an answer in small pieces", func(w io.Writer) error {
			for range 4096 {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return err
				}
			}
			return nil
		}, func(c net.Conn) { _, _ = io.CopyN(io.Discard, c, 8<<20) }, true, 5 * time.Second, 11 * time.Second},
		{"one that is fast enough", whole, drip(4*readRate, 32<<20), false, 60 * time.Second, 65 * time.Second},
		{"one that is not, of more than can be read in the time of an answer", whole, drip(2*readRate, 32<<20), true, writeTimeout, writeTimeout},
		{"one whose answer comes slowly", func(w io.Writer) error {
			for range 8 {
				time.Sleep(9 * time.Second)
				if _, err := w.Write(bytes.Repeat([]byte("x"), 5000)); err != nil {
					return err
				}
			}
			return nil
		}, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, false, 72 * time.Second, 72 * time.Second},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took, err := answering(t, c.writes, c.read)
				if errors.Is(err, os.ErrDeadlineExceeded) != c.cut || !c.cut && err != nil {
					t.Errorf("it was answered with %v", err)
				}
				if took < c.from || took > c.to {
					t.Errorf("after %v, not between %v and %v", took, c.from, c.to)
				}
			})
		})
	}
}
