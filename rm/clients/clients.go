// Package clients serves what clients, the yarn command and administrators call: YARN's
// ApplicationClientProtocol and ResourceManagerAdministrationProtocol. It turns their messages into calls of
// the daemon and the daemon's reports into messages, with the fields that its Java readers rely on.
//
// It keeps nothing and decides nothing but who may look and administer. It knows no scheduler and no store.
package clients

import (
	"context"
	"log/slog"
	"time"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// The names with which the protocols are called.
const (
	ClientName = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"
	AdminName  = "org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB"
)

// An RM is what of [rm.RM] is called from here.
type RM interface {
	Apps(ctx context.Context, filter rm.AppFilter) ([]rm.AppReport, error)
	App(ctx context.Context, id ids.App) (rm.AppReport, error)
	Attempts(ctx context.Context, id ids.App) ([]rm.AttemptReport, error)
	Attempt(ctx context.Context, id ids.Attempt) (rm.AttemptReport, error)
	Containers(ctx context.Context, id ids.Attempt) ([]rm.ContainerReport, error)
	Container(ctx context.Context, id ids.Container) (rm.ContainerReport, error)
	Nodes(ctx context.Context) ([]rm.NodeReport, error)
	Queues(ctx context.Context) ([]rm.QueueReport, error)
	Cluster(ctx context.Context) (rm.ClusterReport, error)

	NewApp(ctx context.Context) (ids.App, heddle.Resource, error)
	Submit(ctx context.Context, user string, c *wire.ApplicationSubmissionContext) error
	Kill(ctx context.Context, who rm.Actor, id ids.App, diagnostics string) (bool, error)
	FailAttempt(ctx context.Context, who rm.Actor, id ids.Attempt) error
	Move(ctx context.Context, who rm.Actor, id ids.App, queue string) error
	SetPriority(ctx context.Context, who rm.Actor, id ids.App, priority int32) (int32, error)
	SetLifetime(ctx context.Context, who rm.Actor, id ids.App, until time.Time) error
	Signal(ctx context.Context, who rm.Actor, id ids.Container, command wire.SignalContainerCommand) error

	RefreshQueues(ctx context.Context) error
	RefreshNodes(ctx context.Context, graceful bool, timeout time.Duration) error
	Decommissioning(ctx context.Context) ([]ids.Node, error)
	ResizeNode(ctx context.Context, id ids.Node, total heddle.Resource) error
}

// Options is what the protocols are told beside the daemon.
type Options struct {
	ACLs           bool          // yarn.acl.enable: who may look at applications is checked
	Admins         rm.ACL        // yarn.admin.acl
	Owner          string        // the user the daemon runs as, who may administer it too
	ExtraResources []string      // names of the resources counted in heddle.Extra1 and Extra2
	MemoryOnly     bool          // the resource calculator looks at memory alone
	Decommission   time.Duration // how long a node may take to leave that is to do so gracefully; below 0: as long as it takes

	ProxyUsers map[string]rm.ProxyUser    // those who may act for others, by name
	Groups     func(user string) []string // of a user, none for somebody unknown; nil where nobody is in any
	Log        *slog.Logger               // nil for none
}

// A service is what the handlers share.
type service struct {
	rm RM
	o  Options
}

func newService(r RM, o Options) *service {
	if o.Groups == nil {
		o.Groups = func(string) []string { return nil }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &service{r, o}
}

// serve makes a method of a handler, which is told who asks: those who act for others are let in or refused
// before, and what the handler returns as an error gets its Java class.
func serve[Req, Resp message](s *service, f func(context.Context, rm.Actor, Req) (Resp, error)) rpc.Method {
	return rpc.Serve(func(ctx context.Context, call *rpc.Call, req Req) (Resp, error) {
		if err := s.admit(call); err != nil {
			var none Resp
			return none, err
		}
		resp, err := f(ctx, rm.Actor{User: call.User, Addr: address(call)}, req)
		return resp, javaError(err)
	})
}
