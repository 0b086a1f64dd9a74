// Package httpd serves HTTP within limits: times, sizes of headers and numbers of connections. It knows nothing of
// what is served.
package httpd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of connections.
const (
	headerTimeout = 5 * time.Second  // for the request line and headers
	readTimeout   = 30 * time.Second // for the whole request
	writeTimeout  = 90 * time.Second // for the answer, what a proxy or a long poll waits for included
	idleTimeout   = 60 * time.Second // between requests
	stopTimeout   = 5 * time.Second  // for requests in flight when the server stops
	maxHeader     = 32 << 10         // bytes
	spareConns    = 8                // beyond those, for what is vital
)

// DefaultConnsPer is how many connections are open at once from one address where it is not said.
const DefaultConnsPer = 200

// Options are what servers differ in.
type Options struct {
	Conns      int         // the most connections open at once
	PerAddress int         // of them from one address; 0: DefaultConnsPer
	Key        string      // of heddle.yaml, which raises PerAddress
	Vital      []string    // paths that are answered although an address has all its connections
	TLS        *tls.Config // nil: in the clear
}

// Serve answers requests that come to l until ctx ends, then lets those in flight finish for a moment. It
// returns nil after that, and the error of l otherwise. It closes l.
func Serve(ctx context.Context, l net.Listener, h http.Handler, o Options) error {
	l = &limited{Listener: l, all: o.Conns, each: cmp.Or(o.PerAddress, DefaultConnsPer), spare: spareConns}
	if o.TLS != nil {
		l = tls.NewListener(l, o.TLS)
	}
	server := &http.Server{
		Handler: o.bounded(h), ConnContext: remember, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		_ = server.Close() // the listener is closed, what is left are connections
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
