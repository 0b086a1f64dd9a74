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

// agentsConns is how many connections of node agents are open at most, see inAll. Each agent holds one.
const agentsConns = 20_000

// serveAgents makes the server of node agents. Where others than this machine reach it, it speaks TLS.
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
