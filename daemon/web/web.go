// Package web is the daemon's HTTP side: YARN's web services under /ws/v1/cluster and our own under /ws/v1/heddle, the
// proxy to the pages of ApplicationMasters, small pages for people, Prometheus metrics and health checks.
//
// It knows nothing about scheduling, storage or the other protocols: it turns requests into calls of [RM] and reports
// into answers.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"heddle"
	"heddle/daemon"
	"heddle/internal/budget"
	"heddle/rm"
	"heddle/yarn/ids"
)

// An RM is the part of the daemon that this package needs.
type RM interface {
	Apps(context.Context, rm.AppFilter) ([]rm.AppReport, error)
	App(context.Context, ids.App) (rm.AppReport, error)
	WholeApp(context.Context, ids.App) (rm.AppReport, error)
	CountApps(context.Context, rm.AppFilter) (map[rm.AppState]int, error)
	AddRequests(context.Context, []rm.AppReport) error
	Attempts(context.Context, ids.App) ([]rm.AttemptReport, error)
	Attempt(context.Context, ids.Attempt) (rm.AttemptReport, error)
	Containers(context.Context, ids.Attempt) ([]rm.ContainerReport, error)
	Container(context.Context, ids.Container) (rm.ContainerReport, error)
	Nodes(context.Context) ([]rm.NodeReport, error)
	Node(context.Context, ids.Node) (rm.NodeReport, error)
	NodeContainers(context.Context, ids.Node) ([]rm.ContainerReport, error)
	Queues(context.Context) ([]rm.QueueReport, error)
	Cluster(context.Context) (rm.ClusterReport, error)
	Why(context.Context, ids.App) (rm.Explanation, error)
	NewApp(ctx context.Context, user string) (ids.App, heddle.Resource, error)
	Kill(ctx context.Context, who daemon.Actor, app ids.App, diagnostics string) error
	Move(ctx context.Context, who daemon.Actor, app ids.App, queue string) error
	SetPriority(ctx context.Context, who daemon.Actor, app ids.App, priority int32) (int32, error)
	SetLifetime(ctx context.Context, who daemon.Actor, app ids.App, until time.Time) error
	Health() daemon.Health
}

// Options are the parameters of [New]. RM is required; everything else may be empty.
type Options struct {
	RM       RM
	Registry *prometheus.Registry // for /metrics; nil creates one
	RPC      RPC                  // figures of the RPC ports, for /metrics
	Readers  *daemon.Readers      // whose requests take turns; nil if no request waits for a turn
	Facts    func() []FactStats   // figures of what is found out about jobs, for /metrics
	Log      *slog.Logger
	Now      func() time.Time // nil for time.Now

	Desk *budget.Desk // where answers are built; nil creates one

	Version string     // of the program
	BuiltOn string     // when it was built
	Store   string     // what the state is kept in
	Conf    []Property // for /conf; must not contain secret values

	// Access decides who may view applications: for others they are masked or refused.
	Access daemon.Access
	// Local says that only this machine reaches the server. Then the caller of a change is the user that the query
	// parameter user.name names. Otherwise no caller is known, and every change is refused. For reads, user.name is
	// trusted either way.
	Local bool
	// ClientAddress is where YARN's clients are served, for callers whose changes are not accepted here.
	ClientAddress string
	// WebHost is the host:port at which clients reach the server. It appears in links, and the proxy's pages may
	// redirect their readers to it.
	WebHost string
	// WebProxy is the host:port of another proxy, to which /proxy redirects; "" for none.
	WebProxy string
	// ProxySource is the address from which the proxy calls masters: that of WebHost, which is what they expect. The
	// zero address leaves the choice to the system.
	ProxySource netip.Addr
	// Private are ports of this machine that the proxy never connects to: the daemon's own ports.
	Private []uint16

	ExtraResources []string // names of heddle.Extra1 and Extra2
	ExtraUnits     []string // their units; a missing one is ""
}

// Limits of the server.
const (
	answerTimeout = 20 * time.Second // for the daemon to answer a request
	maxBody       = 2 << 20          // bytes of a request's body
	maxUserName   = 256              // bytes
	defaultMemory = 64 << 20         // bytes of all answers if there is no desk
)

// A site answers requests.
type site struct {
	Options
	shape  shaper
	mux    *http.ServeMux
	paths  []string // patterns of everything that is served
	pages  *pages
	viewer *viewer

	traffic traffic
}

// New returns the handler of everything the package serves. It panics if the registry already has the daemon's metrics:
// a registry serves one daemon.
func New(o Options) http.Handler {
	s := newSite(o)
	return s.guard(s.mux)
}

// Routes returns the patterns of everything that is served, except OPTIONS, which is answered for each of them.
func Routes() []string { return newSite(Options{}).paths }

func newSite(o Options) *site {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.Desk == nil {
		o.Desk = budget.NewDesk(budget.New(defaultMemory, defaultMemory).Account(0), maxInFlight, answerTimeout)
	}
	s := &site{Options: o, mux: http.NewServeMux()}
	s.traffic.places = budget.New(maxInFlight, maxInFlight/4).Account(0)
	s.shape = shaper{now: o.Now, extra: o.ExtraResources, units: o.ExtraUnits}
	s.pages = newPages(s)
	s.viewer = newViewer(s)
	s.serviceRoutes()
	s.heddleRoutes()
	s.otherRoutes()
	s.optionRoutes()
	return s
}

func (s *site) handle(pattern string, h http.Handler) {
	s.paths = append(s.paths, pattern)
	s.mux.Handle(pattern, h)
}

func (s *site) handleFunc(pattern string, f http.HandlerFunc) { s.handle(pattern, f) }

// serviceRoutes registers YARN's web services.
func (s *site) serviceRoutes() {
	get := func(path string, f answerFunc) { s.handle("GET "+restBase+path, s.answer(f)) }
	list := func(path string, f answerFunc) { s.handle("GET "+restBase+path, s.list(f)) }
	get("", s.info)
	get("/info", s.info)
	get("/metrics", s.metrics)
	list("/scheduler", s.scheduler)
	list("/apps", s.prepared(s.apps))
	get("/apps/{app}", s.app)
	get("/apps/{app}/state", s.state)
	get("/apps/{app}/queue", s.queue)
	get("/apps/{app}/priority", s.priority)
	get("/apps/{app}/timeouts", s.timeouts)
	get("/apps/{app}/timeouts/{type}", s.timeout)
	list("/apps/{app}/appattempts", s.prepared(s.seen(s.attempts)))
	get("/apps/{app}/appattempts/{attempt}", s.seen(s.attempt))
	list("/apps/{app}/appattempts/{attempt}/containers", s.prepared(s.seen(s.containers)))
	get("/apps/{app}/appattempts/{attempt}/containers/{container}", s.seen(s.container))
	list("/nodes", s.nodes)
	get("/nodes/{node}", s.node)
	list("/appstatistics", s.statistics)

	change := func(pattern string, f changeFunc) { s.handle(pattern, s.change(f)) }
	change("PUT "+restBase+"/apps/{app}/state", s.putState)
	change("PUT "+restBase+"/apps/{app}/queue", s.putQueue)
	change("PUT "+restBase+"/apps/{app}/priority", s.putPriority)
	change("PUT "+restBase+"/apps/{app}/timeout", s.putTimeout)
	change("POST "+restBase+"/apps/new-application", s.newApplication)
	s.handleFunc("POST "+restBase+"/apps", s.submit)
	s.handleFunc("/ws/", s.noService)
}

// heddleRoutes registers our own web services.
func (s *site) heddleRoutes() {
	s.handle("GET "+heddleBase+"/apps", s.list(s.prepared(s.heddleApps)))
	s.handle("GET "+heddleBase+"/apps/{app}", s.answer(s.heddleApp))
	s.handle("GET "+heddleBase+"/apps/{app}/why", s.answer(s.seen(s.why)))
	s.handle("GET "+heddleBase+"/nodes", s.list(s.prepared(s.heddleNodes)))
	s.handle("GET "+heddleBase+"/nodes/{node}", s.answer(s.heddleNode))
	s.handle("GET "+heddleBase+"/nodes/{node}/containers", s.list(s.prepared(s.heddleContainers)))
	s.handle("GET "+heddleBase+"/queues", s.list(s.heddleQueues))
	s.handle("GET "+heddleBase+"/info", s.answer(s.heddleInfo))
	s.handle("GET "+heddleBase+"/callers", s.answer(s.callers))
}

// otherRoutes registers the pages, the proxy, and what is meant for machines.
func (s *site) otherRoutes() {
	s.handle("/proxy/", s.viewer)
	s.handleFunc("GET /healthz", s.healthz)
	s.handleFunc("GET /readyz", s.readyz)
	s.handleFunc("GET /isActive", s.isActive)
	s.handle("GET /metrics", s.prometheus())
	s.handle("GET /jmx", s.list(s.jmx))
	s.handle("GET /conf", s.answer(begun(s.conf)))
	s.pages.routes()
}
