package serve

import (
	"cmp"
	"context"
	"net"

	"heddle/daemon"
	"heddle/daemon/agents"
	"heddle/daemon/httpd"
	"heddle/node/trust"
	"heddle/yarn/rpc"
)

// agentsConns is the maximum number of open connections of node agents, see inAll. Each agent holds one.
const agentsConns = 20_000

// serveAgents creates the server for node agents. It uses TLS unless only this machine can reach it.
func (d *Daemon) serveAgents(ctx context.Context, o Options) (func(net.Listener) error, error) {
	m := agents.Memory{Input: d.working.input, Calls: d.working.calls}
	c := agents.Config{Sync: agents.Sync(d.RM, m), Memory: m, Audit: func(x daemon.Deed, err error) { x.Log(o.Log, err) }}
	with := httpd.Options{Conns: inAll(agentsConns, o.Config.ConnsPer), PerAddress: cmp.Or(o.Config.ConnsPer, rpc.DefaultConnsPer), Key: "limits.connections_per_address"}
	if !o.Config.Agents.Addr().Unmap().IsLoopback() {
		var err error
		if c.Trust, err = trust.Open(o.DataDir); err != nil {
			return nil, err
		}
		with.TLS = c.Trust.ServerConfig()
	}
	handler := agents.New(c)
	return func(l net.Listener) error { return httpd.Serve(ctx, l, handler, with) }, nil
}
