// Package httpd serves HTTP within limits: times, header sizes and numbers of connections. It does not know what is
// served.
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
	writeTimeout  = 90 * time.Second // for the answer, including what a proxy or a long poll waits for
	idleTimeout   = 60 * time.Second // between requests
	stopTimeout   = 5 * time.Second  // for requests in flight when the server stops
	maxHeader     = 32 << 10         // bytes
	spareConns    = 8                // beyond the limits, for vital paths
)

// DefaultConnsPer is the default maximum number of open connections from one address.
const DefaultConnsPer = 200

// Options are the settings in which servers differ.
type Options struct {
	Conns      int         // maximum number of open connections
	PerAddress int         // of them from one address; 0: DefaultConnsPer
	Key        string      // the key in heddle.yaml that raises PerAddress
	Vital      []string    // paths that are served even if an address has all its connections
	TLS        *tls.Config // nil: without TLS
}

// Serve answers requests on l until ctx ends, then gives those in flight a moment to finish and returns nil. Otherwise
// it returns the error of l. It closes l.
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
		_ = server.Close() // the listener is closed; only connections are left
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
