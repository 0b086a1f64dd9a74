// Package agents serves node agents over HTTP: it lets them join, renews their certificates, and passes on only
// requests of known agents. It makes no decisions about nodes.
package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"heddle/daemon"
	"heddle/node/api"
	"heddle/node/trust"
)

// At most maxNoted refused joins and renewals per notedTime are logged.
const (
	maxNoted  = 10
	notedTime = time.Minute
)

// Config configures a server for agents.
type Config struct {
	// Trust identifies agents. Without it requests are served in the clear, and only to this machine.
	Trust *trust.Authority
	// Sync serves api.Path. It gets requests of agents with a valid certificate or, in the clear, from this machine.
	// trust.SpeaksFor says for which node.
	Sync http.Handler
	// Memory is charged for joins and renewals.
	Memory Memory
	// Audit is told of each join and renewal, with the reason for a refusal. Of many refusals it is told of some.
	Audit func(daemon.Deed, error)
}

// A server serves agents.
type server struct {
	Config
	refused quota
}

// New returns the handler that serves agents.
func New(c Config) http.Handler {
	s := &server{Config: c}
	mux := http.NewServeMux()
	for pattern, f := range s.routes() {
		mux.HandleFunc(pattern, f)
	}
	return guard(c.Trust != nil, mux)
}

func (s *server) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{"POST " + api.JoinPath: s.join, "POST " + api.RenewPath: s.renew, "POST " + api.Path: s.sync}
}

// Routes returns the patterns of everything that is served.
func Routes() []string { return slices.Sorted(maps.Keys(new(server).routes())) }

// guard rejects callers that must not be served at all: other machines in the clear, and pages in a browser.
func guard(encrypted bool, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case encrypted != (r.TLS != nil), !encrypted && !peer(r).IsLoopback():
			refuse(w, http.StatusForbidden, errors.New("without TLS, only agents on the ResourceManager's own machine are served"))
		case r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "":
			refuse(w, http.StatusForbidden, errors.New("this port is for node agents, not for browsers"))
		default:
			w.Header().Set("Cache-Control", "no-store")
			h.ServeHTTP(w, r)
		}
	})
}

// peer returns the address a request comes from.
func peer(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // the zero address belongs to nobody
	return at.Addr().Unmap()
}

func (s *server) sync(w http.ResponseWriter, r *http.Request) {
	if _, ok := trust.NodeOf(r); s.Trust != nil && !ok {
		refuse(w, http.StatusUnauthorized, errNoCertificate)
		return
	}
	s.Sync.ServeHTTP(w, r)
}

var errNoCertificate = errors.New("a valid certificate of the node is needed; heddle node join gets one")

func (s *server) join(w http.ResponseWriter, r *http.Request) {
	ask, ok := s.read(w, r)
	if !ok {
		return
	}
	node, cert, err := s.Trust.Join(ask.Token, ask.Request)
	s.answer(w, r, daemon.Deed{User: node, Operation: daemon.OpJoin}, cert, err)
}

func (s *server) renew(w http.ResponseWriter, r *http.Request) {
	ask, ok := s.read(w, r)
	if !ok {
		return
	}
	d := daemon.Deed{Operation: daemon.OpRenew}
	if d.User, ok = trust.NodeOf(r); !ok {
		s.note(r, d, errNoCertificate)
		refuse(w, http.StatusUnauthorized, errNoCertificate)
		return
	}
	cert, err := s.Trust.Renew(d.User, ask.Request)
	s.answer(w, r, d, cert, err)
}

// read reads an agent's request.
func (s *server) read(w http.ResponseWriter, r *http.Request) (ask api.Join, ok bool) {
	if s.Trust == nil {
		refuse(w, http.StatusNotFound, errors.New("this port is on loopback, where agents need no certificate and cannot join"))
		return ask, false
	}
	l := s.Memory.arrives(w, r, api.MaxJoin)
	defer l.ends()
	if err := json.NewDecoder(l).Decode(&ask); err != nil {
		code, err := l.status(err)
		if code == http.StatusBadRequest {
			err = fmt.Errorf("this is not a valid join request: %w", err)
		}
		refuse(w, code, err)
		return ask, false
	}
	return ask, true
}

// answer sends a certificate, or the reason why there is none.
func (s *server) answer(w http.ResponseWriter, r *http.Request, d daemon.Deed, cert []byte, err error) {
	s.note(r, d, err)
	if err != nil {
		refuse(w, http.StatusForbidden, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(api.Joined{Certificate: cert}) // if it fails, the agent has gone
}

// note reports the result of a join or renewal to the audit.
func (s *server) note(r *http.Request, d daemon.Deed, err error) {
	if err != nil {
		left, ok := s.refused.take(time.Now())
		if !ok {
			return
		}
		if left > 0 {
			err = fmt.Errorf("%w (%d earlier refusals were not logged)", err, left)
		}
	}
	d.Target = daemon.TargetAgents
	if at := peer(r); at.IsValid() {
		d.Addr = at.String()
	}
	s.Audit(d, err)
}

// refuse sends the reason, and closes the connection so that the next one uses the agent's newest certificate.
func refuse(w http.ResponseWriter, code int, err error) {
	w.Header().Set("Connection", "close")
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, err.Error(), code)
}

// A quota admits a limited number of events per period, and counts the others.
type quota struct {
	mu    sync.Mutex
	since time.Time
	seen  int
	left  int
}

// take reports whether an event is admitted, and how many events were not since the last admitted one.
func (q *quota) take(now time.Time) (left int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.since) >= notedTime {
		q.since, q.seen = now, 0
	}
	if q.seen >= maxNoted {
		q.left++
		return 0, false
	}
	q.seen++
	left, q.left = q.left, 0
	return left, true
}
