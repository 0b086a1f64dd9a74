package web

import (
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"

	"heddle/internal/budget"
)

// maxInFlight is how many requests are worked on at once. Further requests are told to come again, except those for the
// daemon's health: whoever monitors it would otherwise restart it. One address may have a quarter of them.
const maxInFlight = 512

// Vital are the paths that are served however many other requests there are.
var Vital = []string{"/healthz", "/readyz", "/metrics"}

// traffic counts requests for /metrics.
type traffic struct {
	places   *budget.Account
	inFlight atomic.Int64
	refused  atomic.Uint64
	panics   atomic.Uint64
	byClass  [6]atomic.Uint64 // 1xx to 5xx
}

// guard adds to every handler what applies to all of them: a limit, headers, no changes from pages of other sites, and
// panics that end only the request.
func (s *site) guard(h http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := &oops{
			status: http.StatusForbidden, class: webapp + "ForbiddenException",
			message: "a page of another site sent this request; it is refused",
		}
		s.audit(r, err)
		s.fail(w, r, err)
	}))
	h = unslashed(cross.Handler(h))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := addressOf(r)
		err := s.traffic.places.Try(from, 1)
		switch {
		case err == nil:
			defer s.traffic.places.Give(from, 1)
		case !slices.Contains(Vital, r.URL.Path):
			s.busy(w)
			return
		}
		s.traffic.inFlight.Add(1)
		rec := &recorder{ResponseWriter: w}
		defer func() { // also if recovered panics, to close the connection
			s.traffic.inFlight.Add(-1)
			s.traffic.byClass[min(max(rec.status/100, 0), 5)].Add(1)
		}()
		defer func() { s.recovered(rec, r, recover()) }()
		secure(w.Header(), r.URL.Path)
		r.Body = http.MaxBytesReader(rec, r.Body, maxBody)
		h.ServeHTTP(rec, r)
	})
}

// unslashed removes the slash at the end of a service's path: YARN answers with and without it.
func unslashed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.EscapedPath(); strings.HasPrefix(path, "/ws/v1/") && strings.HasSuffix(path, "/") {
			u := *r.URL
			u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
			r = r.WithContext(r.Context())
			r.URL = &u
		}
		h.ServeHTTP(w, r)
	})
}

// recovered ends a request that panicked: with status 500 if nothing was written, otherwise by closing the connection.
func (s *site) recovered(rec *recorder, r *http.Request, what any) {
	switch what {
	case nil:
		return
	case http.ErrAbortHandler:
		panic(what)
	}
	s.traffic.panics.Add(1)
	s.Log.Error("request panicked", "path", r.URL.Path, "panic", what, "stack", string(debug.Stack()))
	if rec.status != 0 {
		panic(http.ErrAbortHandler)
	}
	http.Error(rec, "internal error; the daemon's log has details", http.StatusInternalServerError)
}

// secure sets headers for browsers. Pages of masters bring their own scripts, so they get fewer.
func secure(h http.Header, path string) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	if strings.HasPrefix(path, "/proxy/") {
		h.Set("X-Frame-Options", "SAMEORIGIN")
		return
	}
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self' data:; "+
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
}

// A recorder records the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int
}

// WriteHeader records the status and passes it on.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write passes bytes on.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += n
	return n, err
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
