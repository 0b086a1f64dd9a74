// Package web is the daemon's HTTP side: YARN's web services under /ws/v1/cluster and our own under
// /ws/v1/heddle, the proxy to the pages of ApplicationMasters, small pages for people, Prometheus metrics and
// health checks.
//
// It knows nothing of scheduling, of storage and of the other protocols: it turns requests into calls of [RM]
// and reports into answers.
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

// An RM is what this package needs of the daemon.
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

// Options are what [New] is made of. RM is required; everything else may be empty.
type Options struct {
	RM       RM
	Registry *prometheus.Registry // for /metrics; nil for one of its own
	RPC      RPC                  // figures of the RPC ports, for /metrics
	Readers  *daemon.Readers      // whose requests come in turn; nil where nobody waits
	Facts    func() []FactStats   // figures of what is found out of jobs, for /metrics
	Log      *slog.Logger
	Now      func() time.Time // nil for time.Now

	Desk *budget.Desk // where answers are put together; nil for one of its own

	Version string     // of the program
	BuiltOn string     // when it was built
	Store   string     // what the state is kept in
	Conf    []Property // for /conf; values that are secret are not to be in it

	// Access is who may look at applications: what others see of them is masked or refused.
	Access daemon.Access
	// Local says that only this machine reaches the server: who changes something is then who he says he is with the
	// query parameter user.name. Without it nobody is known, and whatever changes something is refused. Who looks is
	// taken at his word either way.
	Local bool
	// ClientAddress is where YARN's clients are served, for those whose changes are not taken here.
	ClientAddress string
	// WebHost is host:port as clients reach the server. It stands in links, and pages of the proxy may
	// send their readers there.
	WebHost string
	// ProxySource is the address the proxy calls masters from: the one of WebHost, which is what they
	// expect. The zero address leaves it to the system.
	ProxySource netip.Addr
	// Private are ports of this machine that the proxy never connects to: the daemon's own.
	Private []uint16

	ExtraResources []string // names of heddle.Extra1 and Extra2
}

// Limits of the server.
const (
	answerTimeout = 20 * time.Second // for the daemon to say what is asked
	maxBody       = 2 << 20          // bytes of a request's body
	maxUserName   = 256              // bytes
	defaultMemory = 64 << 20         // bytes of all answers, where no desk is given
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

// New returns the handler of everything the package serves. It panics when the registry already has the
// daemon's metrics: a registry serves one daemon.
func New(o Options) http.Handler {
	s := newSite(o)
	return s.guard(s.mux)
}

// Routes are the patterns of all that is served, but for OPTIONS, which is answered for each of them.
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
	s.shape = shaper{now: o.Now, extra: o.ExtraResources}
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

// serviceRoutes are YARN's web services.
func (s *site) serviceRoutes() {
	get := func(path string, f answerFunc) { s.handle("GET "+restBase+path, s.answer(f)) }
	list := func(path string, f answerFunc) { s.handle("GET "+restBase+path, s.list(f)) }
	get("", s.info)
	get("/info", s.info)
	get("/metrics", s.metrics)
	list("/scheduler", s.scheduler)
	list("/apps", s.apps)
	get("/apps/{app}", s.app)
	get("/apps/{app}/state", s.state)
	get("/apps/{app}/queue", s.queue)
	get("/apps/{app}/priority", s.priority)
	get("/apps/{app}/timeouts", s.timeouts)
	get("/apps/{app}/timeouts/{type}", s.timeout)
	list("/apps/{app}/appattempts", s.seen(s.attempts))
	get("/apps/{app}/appattempts/{attempt}", s.seen(s.attempt))
	list("/apps/{app}/appattempts/{attempt}/containers", s.seen(s.containers))
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

// heddleRoutes are our own web services.
func (s *site) heddleRoutes() {
	s.handle("GET "+heddleBase+"/apps", s.list(s.heddleApps))
	s.handle("GET "+heddleBase+"/apps/{app}", s.answer(s.heddleApp))
	s.handle("GET "+heddleBase+"/apps/{app}/why", s.answer(s.seen(s.why)))
	s.handle("GET "+heddleBase+"/nodes", s.list(s.heddleNodes))
	s.handle("GET "+heddleBase+"/nodes/{node}", s.answer(s.heddleNode))
	s.handle("GET "+heddleBase+"/nodes/{node}/containers", s.list(s.heddleContainers))
	s.handle("GET "+heddleBase+"/queues", s.list(s.heddleQueues))
	s.handle("GET "+heddleBase+"/info", s.answer(s.heddleInfo))
	s.handle("GET "+heddleBase+"/callers", s.answer(s.callers))
}

// otherRoutes are pages, the proxy and what machines ask.
func (s *site) otherRoutes() {
	s.handle("/proxy/", s.viewer)
	s.handleFunc("GET /healthz", s.healthz)
	s.handleFunc("GET /readyz", s.readyz)
	s.handleFunc("GET /isActive", s.isActive)
	s.handle("GET /metrics", s.prometheus())
	s.handleFunc("GET /jmx", s.jmx)
	s.handleFunc("GET /conf", s.conf)
	s.pages.routes()
}
