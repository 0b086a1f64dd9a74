// Package serve assembles a ResourceManager: the store, the loop, a server for each of YARN's protocols, and the web
// server. It also shuts them down in order.
//
// It knows which protocol belongs on which port. It reads no configuration and makes no decisions.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"heddle/daemon"
	"heddle/daemon/clients"
	"heddle/daemon/facts"
	"heddle/daemon/httpd"
	"heddle/daemon/proxy"
	"heddle/daemon/store"
	"heddle/daemon/web"
	"heddle/internal/budget"
	"heddle/rm"
	"heddle/yarn/rpc"
)

// Options are the parts of a daemon.
type Options struct {
	Config    daemon.Config
	Scheduler *rm.Scheduler
	Refresh   daemon.RefreshFunc
	Facts     facts.Options  // what to find out about jobs, without the way to masters
	Settings  []web.Property // for callers that ask which settings are in effect
	DataDir   string         // folder of the store and of the agents' authority; created if missing. Not used if there is neither
	Version   string         // of the program
	Owner     string         // the user it runs as, who is an administrator too
	Log       *slog.Logger
}

// A Daemon is a ResourceManager with its ports open.
type Daemon struct {
	RM *daemon.RM
	// Addresses it listens on.
	Client, Scheduler, Tracker, Admin, Web netip.AddrPort
	Agents                                 netip.AddrPort // zero: not listening

	asking, working memory       // of callers that ask, and of nodes and masters
	desk            *budget.Desk // of callers that ask

	log     *slog.Logger
	store   *store.Store
	servers []*rpc.Server
	readers *daemon.Readers
	cancel  context.CancelFunc // ends the HTTP servers
	stop    context.CancelFunc // ends the loop, after the servers
	ended   chan error
	over    chan struct{} // closed when the loop has ended
	closing sync.WaitGroup
}

// stopTime is how long calls in flight may take when the daemon stops.
const stopTime = 5 * time.Second

// Maximum numbers of open connections, see inAll: of web pages, and of NodeManagers. A NodeManager holds one, and two
// while it comes back before its old one is found to be dead.
const (
	webConns  = 2000
	nodeConns = 20_000
)

// inAll returns the maximum number of open connections to a port: the usual number, or twice what one address may have.
func inAll(usual, perAddress int) int { return max(usual, 2*perAddress) }

const (
	patience    = 10 * time.Second     // how long a caller that asks waits for memory before it is told to retry
	pause       = 5 * time.Millisecond // between the reads of a large frame: 16 MiB take a second and a third
	nodeCalls   = 2                    // calls per connection of a NodeManager, which makes one at a time
	listsAtOnce = 4                    // long answers being built at a time
	callsAt     = 64                   // calls of one address answered on a port at a time
	asksAt      = 16                   // likewise for clients and administrators, unless configured: with more, everybody would wait behind them for a processor
)

// A memory is the memory of one group of callers.
type memory struct{ input, calls *budget.Account }

// share divides memory among all callers. Callers that ask leave a quarter to nodes and masters.
func (d *Daemon) share(m daemon.Memory) {
	calls := cmp.Or(m.Calls, rpc.DefaultMemory)
	each := cmp.Or(m.PerAddress, calls)
	input, work := calls/4, calls-calls/4
	arrived := budget.New(input, max(input/2, min(each, rpc.DefaultFrame+rpc.DefaultFirstFrame)))
	taken := budget.New(work, each)
	d.asking = memory{arrived.Account(input / 4), taken.Account(work / 4)}
	d.working = memory{arrived.Account(0), taken.Account(0)}
	d.desk = budget.NewDesk(d.asking.calls, listsAtOnce, patience)
}

// A port is a listener and what is served on it.
type port struct {
	name string
	want netip.AddrPort
	at   *netip.AddrPort
	serv func(net.Listener) error
	ln   net.Listener
}

// Start opens the store and the ports. An error says which of them could not be opened, and why.
func Start(o Options) (*Daemon, error) {
	o.Config.Owner = o.Owner
	var st *store.Store
	var state *store.State
	var err error
	if o.Config.Recovery {
		if st, state, err = store.Open(filepath.Join(o.DataDir, store.FileName)); err != nil {
			return nil, err
		}
		if err := st.Give(); err != nil {
			o.Log.Warn("the store cannot be copied while the ResourceManager runs", "error", err)
		}
	}
	m, err := daemon.New(daemon.Options{Config: o.Config, Scheduler: o.Scheduler, Refresh: o.Refresh, Store: st, State: state, Log: o.Log})
	if err != nil {
		return nil, errors.Join(err, shut(st))
	}
	d := &Daemon{RM: m, log: o.Log, store: st, ended: make(chan error, 2), readers: daemon.NewReaders(0)}
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	d.share(o.Config.Memory)
	ports, err := d.ports(ctx, o)
	if err != nil {
		return nil, errors.Join(err, shut(st))
	}
	for i := range ports {
		p := &ports[i]
		if p.ln, err = net.Listen("tcp", p.want.String()); err != nil {
			for _, q := range ports[:i] {
				err = errors.Join(err, q.ln.Close())
			}
			return nil, errors.Join(fmt.Errorf("the %s port: %w", p.name, err), shut(st))
		}
		*p.at = p.ln.Addr().(*net.TCPAddr).AddrPort()
	}
	m.ServedAt(d.Web.String())
	d.serveWeb(ctx, &ports[len(ports)-1], o)
	if limit := o.Config.Memory.Limit; limit > 0 {
		d.closing.Go(func() { collect(ctx, limit) })
	}
	d.run(ports)
	return d, nil
}

// access returns who may view applications and who administers.
func (d *Daemon) access(o Options) daemon.Access {
	return daemon.Access{ACLs: o.Config.ACLs, Admins: o.Config.Admins, Owner: o.Owner, Groups: d.RM.Groups}
}

// limits returns the limits of callers that ask (clients and administrators), of masters and of NodeManagers.
func limits(c daemon.Config) (asks, works, nodes rpc.Limits) {
	at := cmp.Or(c.CallsPer, asksAt)
	asks = rpc.Limits{Patience: patience, Pause: pause, CallsOf: (at + 1) / 2, CallsAt: at}
	works = rpc.Limits{CallsAt: callsAt}
	nodes = rpc.Limits{Conns: nodeConns, CallsPer: nodeCalls, CallsAt: callsAt, Pause: pause}
	for _, l := range []*rpc.Limits{&asks, &works, &nodes} {
		l.ConnsPer, l.Conns = c.ConnsPer, inAll(cmp.Or(l.Conns, rpc.DefaultConns), c.ConnsPer)
	}
	return asks, works, nodes
}

// ports returns which protocol is served where. The web server is last, and not created yet.
func (d *Daemon) ports(ctx context.Context, o Options) ([]port, error) {
	c := o.Config
	server := func(tokens rpc.Verifier, limits rpc.Limits, m memory, turns rpc.Turns, protocols ...rpc.Protocol) func(net.Listener) error {
		s := rpc.NewServer(rpc.Options{Protocols: protocols, Tokens: tokens, Limits: limits, Input: m.input, Memory: m.calls, Desk: d.desk, Turns: turns, Log: o.Log})
		d.servers = append(d.servers, s)
		return s.Serve
	}
	asks, works, nodes := limits(c)
	people := clients.Options{
		Access: d.access(o), Readers: d.readers, ExtraResources: c.ExtraResources, ExtraUnits: c.ExtraUnits, Log: o.Log,
		ProxyUsers: c.ProxyUsers, Decommission: c.Decommission,
	}
	ports := []port{
		{"client", c.Client, &d.Client, server(nil, asks, d.asking, d.readers, clients.Client(d.RM, people)), nil},
		{"scheduler", c.Scheduler, &d.Scheduler, server(d.RM.Tokens(), works, d.working, d.readers, d.RM.Masters()), nil},
		{"resource tracker", c.Tracker, &d.Tracker, server(nil, nodes, d.working, d.readers, d.RM.Tracker()), nil},
		{"admin", c.Admin, &d.Admin, server(nil, asks, d.asking, d.readers, clients.Admin(d.RM, people)), nil},
	}
	if c.Agents.IsValid() {
		serv, err := d.serveAgents(ctx, o)
		if err != nil {
			return nil, err
		}
		ports = append(ports, port{"agents", c.Agents, &d.Agents, serv, nil})
	}
	return append(ports, port{"web", c.Web, &d.Web, nil, nil}), nil
}

// serveWeb creates the web server, which needs to know the other ports.
func (d *Daemon) serveWeb(ctx context.Context, p *port, o Options) {
	names := []string{"client", "scheduler", "resource tracker", "admin"}
	stats := web.RPC{}
	for i, s := range d.servers {
		stats[names[i]] = func() web.RPCStats { return web.RPCStats(s.Stats()) }
	}
	c := o.Config
	way := proxy.Way{
		Local: d.Web.Addr().IsLoopback(), WebHost: cmp.Or(c.WebHost, d.Web.String()), Source: cmp.Or(c.ProxySource, d.Web.Addr()),
		Private: []uint16{d.Client.Port(), d.Scheduler.Port(), d.Tracker.Port(), d.Admin.Port(), d.Web.Port(), d.Agents.Port()},
	}
	o.Facts.Way, o.Facts.Log = way, o.Log
	asker := facts.New(o.Facts)
	d.RM.LearnFrom(asker)
	handler := web.New(web.Options{
		RM: d.RM, Readers: d.readers, Registry: prometheus.NewRegistry(), RPC: stats, Log: o.Log, Version: o.Version, Store: "bbolt", Conf: o.Settings,
		Access: d.access(o),
		Local:  way.Local, ClientAddress: d.Client.String(), WebHost: way.WebHost, WebProxy: c.WebProxy, ProxySource: way.Source, Private: way.Private,
		Desk:           d.desk,
		Facts:          func() []web.FactStats { return figures(asker) },
		ExtraResources: c.ExtraResources, ExtraUnits: c.ExtraUnits,
	})
	p.serv = func(ln net.Listener) error {
		each := cmp.Or(c.WebConnsPer, httpd.DefaultConnsPer)
		return httpd.Serve(ctx, ln, handler, httpd.Options{
			Conns: inAll(webConns, each), PerAddress: each, Key: "limits.web_connections_per_address", Vital: web.Vital,
		})
	}
}

// figures returns the figures of what was found out about jobs, for /metrics.
func figures(a *facts.Asker) (out []web.FactStats) {
	for of, s := range a.Stats() {
		source := "master"
		if of.Submission {
			source = "submission"
		}
		out = append(out, web.FactStats{
			Source: source, Framework: of.Framework.String(),
			Asked: s.Asked, Failed: s.Failed, Requests: s.Requests, Bytes: s.Bytes, Seconds: s.Time.Seconds(),
		})
	}
	return out
}

// run starts the loop and serves the ports.
func (d *Daemon) run(ports []port) {
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.over = make(chan struct{})
	go func() {
		defer close(d.over)
		d.ended <- d.RM.Run(ctx)
	}()
	go func() {
		select {
		case err := <-d.RM.Hung():
			d.ended <- err
		case <-d.over:
		}
	}()
	for _, p := range ports {
		d.closing.Go(func() {
			if err := p.serv(p.ln); err != nil {
				d.log.Error("a port stopped serving", "port", p.name, "error", err)
			}
		})
	}
}

// Ended receives the reason when the loop has ended by itself, or hangs.
func (d *Daemon) Ended() <-chan error { return d.ended }

// Stop closes the ports, answers calls in flight, ends the loop and closes the store.
func (d *Daemon) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	var errs []error
	d.cancel()
	for _, s := range d.servers {
		errs = append(errs, s.Close(ctx))
	}
	d.closing.Wait()
	d.stop()
	<-d.over
	return errors.Join(append(errs, shut(d.store))...)
}

// shut closes the store, if there is one.
func shut(st *store.Store) error {
	if st == nil {
		return nil
	}
	return st.Close()
}
