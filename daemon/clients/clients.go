// Package clients serves the calls of clients, the yarn command and administrators: YARN's ApplicationClientProtocol
// and ResourceManagerAdministrationProtocol. It turns their messages into calls of the daemon, and the daemon's reports
// into messages with the fields that Java readers rely on.
//
// The package decides who may act for others, and who may renew and cancel clients' tokens. All it keeps is the key of
// these tokens and how many it has issued. It knows neither the scheduler nor the store.
package clients

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/translate"
	"heddle/yarn/wire"
)

// Names of the protocols.
const (
	ClientName = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"
	AdminName  = "org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB"
)

// An RM is the part of [daemon.RM] that this package calls.
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

	NewApp(ctx context.Context, user string) (ids.App, heddle.Resource, error)
	Submit(ctx context.Context, user string, c *wire.ApplicationSubmissionContext) error
	Kill(ctx context.Context, who daemon.Actor, id ids.App, diagnostics string) error
	FailAttempt(ctx context.Context, who daemon.Actor, id ids.Attempt) error
	Move(ctx context.Context, who daemon.Actor, id ids.App, queue string) error
	SetPriority(ctx context.Context, who daemon.Actor, id ids.App, priority int32) (int32, error)
	SetLifetime(ctx context.Context, who daemon.Actor, id ids.App, until time.Time) error
	Signal(ctx context.Context, who daemon.Actor, id ids.Container, command wire.SignalContainerCommand) error

	RefreshQueues(ctx context.Context) error
	ForgetGroups()
	RefreshNodes(ctx context.Context, graceful bool, timeout time.Duration) error
	Decommissioning(ctx context.Context) ([]ids.Node, error)
	ResizeNode(ctx context.Context, id ids.Node, total heddle.Resource) error
}

// Options configures the protocols.
type Options struct {
	daemon.Access                // who may view and administer
	ExtraResources []string      // names of the resources counted in heddle.Extra1 and Extra2
	ExtraUnits     []string      // theirs
	Decommission   time.Duration // how long a node may take to leave gracefully; below 0: no limit

	ProxyUsers map[string]daemon.ProxyUser // users who may act for others, by name
	Readers    *daemon.Readers             // whose calls take turns; nil if no call waits for a turn
	Log        *slog.Logger                // nil for none
}

// A service is the state that the handlers share.
type service struct {
	rm     RM
	o      Options
	units  translate.Units
	key    func() (token.Key, error) // signs clients' tokens until the daemon ends
	issued atomic.Int32              // of these tokens
}

func newService(r RM, o Options) *service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &service{rm: r, o: o, units: translate.UnitsOf(o.ExtraResources, o.ExtraUnits), key: sync.OnceValues(token.FirstKey)}
}

// serve turns a handler into a method. The handler is told who calls. Users who act for others are admitted or refused
// before it runs, and its errors get their Java class.
func serve[Req, Resp message](s *service, f func(context.Context, daemon.Actor, Req) (Resp, error)) rpc.Method {
	return serveAndTell(s, reads(s, f), func(daemon.Actor, Req, error) {})
}

// reads has f take turns for a processor with those who read, and counts what its callers ask for: see [daemon.Reading].
func reads[Req, Resp message](s *service, f func(context.Context, daemon.Actor, Req) (Resp, error)) func(context.Context, daemon.Actor, Req) (Resp, error) {
	return func(ctx context.Context, who daemon.Actor, req Req) (resp Resp, err error) {
		ctx, reading := s.o.Readers.Begin(ctx, daemon.CallerOf(ctx))
		defer func() { reading.End(proto.Size(resp)) }()
		return f(ctx, who, req)
	}
}

// serveAndTell is serve that also tells who asked for what, and how the call ended.
func serveAndTell[Req, Resp message](s *service, f func(context.Context, daemon.Actor, Req) (Resp, error), tell func(daemon.Actor, Req, error)) rpc.Method {
	return rpc.Serve(func(ctx context.Context, call *rpc.Call, req Req) (resp Resp, err error) {
		who := daemon.Actor{User: call.User, Addr: address(call), RealUser: call.RealUser}
		ctx = daemon.WithCaller(ctx, who.User+"@"+who.Addr)
		if err = s.admit(ctx, call); err == nil {
			resp, err = f(ctx, who, req)
		}
		tell(who, req, err)
		return resp, javaError(err)
	}).InTurn()
}

// change is serve for calls that change an application: the log says who made the change, or was refused.
func change[Req, Resp message](s *service, operation string, f func(context.Context, daemon.Actor, Req) (Resp, error)) rpc.Method {
	return serveAndTell(s, f, func(who daemon.Actor, req Req, err error) {
		d := daemon.Deed{User: who.User, Addr: who.Addr, Operation: operation, Target: daemon.TargetClients}
		switch m := any(req).(type) {
		case *wire.SubmitApplicationRequest:
			d.App = conv.App(m.GetApplicationSubmissionContext().GetApplicationId())
		case interface{ GetApplicationId() *wire.ApplicationId }:
			d.App = conv.App(m.GetApplicationId())
		case interface {
			GetApplicationAttemptId() *wire.ApplicationAttemptId
		}:
			d.Attempt = conv.Attempt(m.GetApplicationAttemptId())
		case interface{ GetContainerId() *wire.ContainerId }:
			d.Container = conv.Container(m.GetContainerId())
		}
		d.Log(s.o.Log, err)
	})
}

// administer is serve for administrators only. The log says who asked for what. It leaves out calls that only read,
// unless they fail.
func administer[Req, Resp message](s *service, method string, looks bool, f func(context.Context, daemon.Actor, Req) (Resp, error)) rpc.Method {
	checked := func(ctx context.Context, who daemon.Actor, req Req) (resp Resp, err error) {
		if err := s.admin(ctx, who, method); err != nil {
			return resp, err
		}
		return f(ctx, who, req)
	}
	return serveAndTell(s, checked, func(who daemon.Actor, _ Req, err error) {
		if err != nil || !looks {
			daemon.Deed{User: who.User, Addr: who.Addr, Operation: method, Target: daemon.TargetAdmin}.Log(s.o.Log, err)
		}
	})
}
