package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/test/hollow"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// A site is the proper users of a ResourceManager: nodes, a master, clients and a monitor of its health.
type site struct {
	m       *manager
	ctx     context.Context //nolint:containedctx // ends with the test
	server  *rpc.Server     // of the NodeManagers that start masters
	masters chan *wire.Token
	key     atomic.Pointer[token.Key]
	runs    sync.WaitGroup

	hostile *rpc.Token // of a hostile master

	mu    sync.Mutex
	calls map[string]*calls
	begun int
	open  map[int]time.Time // start times of calls that have not ended
}

// calls are the calls of one kind since they were last taken.
type calls struct {
	took []time.Duration
	errs []error
}

const (
	nodes     = 20
	every     = 50 * time.Millisecond // between calls of a client, and of the master
	honestEnd = 20 * time.Second      // time limit of an honest call
)

// newSite starts all honest parties.
func newSite(t *testing.T, m *manager) *site {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &site{m: m, ctx: ctx, masters: make(chan *wire.Token, 2), calls: map[string]*calls{}, open: map[int]time.Time{}}
	h := hollow.Host{Key: s.key.Load, Start: s.start, Stop: func(ids.Container) {}}
	s.server = h.Server(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		cancel()
		_ = s.server.Close(context.WithoutCancel(ctx)) // nothing is in flight
		s.runs.Wait()
	})
	for i := range nodes {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.1.0.%d:0", 1+i))
		must(t, err)
		s.runs.Go(func() { _ = s.server.Serve(ln) })
		id := ids.Node{Host: fmt.Sprintf("127.1.0.%d", 1+i), Port: int32(ln.Addr().(*net.TCPAddr).Port)}
		conn := s.connect(t, m.Tracker, rpc.ClientOptions{Protocol: trackerProtocol, User: "yarn"})
		must(t, s.register(conn, id))
		s.runs.Go(func() { s.report(conn, id) })
	}
	return s
}

func (s *site) connect(t *testing.T, addr string, o rpc.ClientOptions) *rpc.Client {
	t.Helper()
	conn, err := rpc.Dial(s.ctx, addr, o)
	must(t, err)
	context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	return conn
}

// begin starts the master and the clients.
func (s *site) begin(t *testing.T) {
	t.Helper()
	conn := s.connect(t, s.m.Client, rpc.ClientOptions{Protocol: clientProtocol, User: "ann"})
	app := s.submit(t, conn)
	k := s.token(t)
	s.runs.Go(func() { s.master(t, k) })
	s.runs.Go(func() {
		s.again("report", func(ctx context.Context) error {
			p := &wire.GetApplicationReportResponse{}
			return conn.Call(ctx, "getApplicationReport", &wire.GetApplicationReportRequest{ApplicationId: app}, p)
		})
	})
	s.runs.Go(func() {
		s.again("metrics", func(ctx context.Context) error {
			return conn.Call(ctx, "getClusterMetrics", &wire.GetClusterMetricsRequest{}, &wire.GetClusterMetricsResponse{})
		})
	})
	s.runs.Go(func() {
		for priority := int32(1); s.sleep(every); priority = 3 - priority {
			s.once("change", func(ctx context.Context) error {
				q := &wire.UpdateApplicationPriorityRequest{ApplicationId: app, ApplicationPriority: &wire.Priority{Priority: &priority}}
				p := &wire.UpdateApplicationPriorityResponse{}
				err := conn.Call(ctx, "updateApplicationPriority", q, p)
				if got := p.GetApplicationPriority().GetPriority(); err == nil && got != priority {
					err = fmt.Errorf("the priority is %d, want %d", got, priority)
				}
				return err
			})
		}
	})
	web := &http.Client{}
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	s.runs.Go(func() {
		s.again("rest", func(ctx context.Context) error { return get(ctx, web, "http://"+s.m.Web+"/ws/v1/cluster/metrics") })
	})
	s.runs.Go(func() {
		s.again("healthz", func(ctx context.Context) error { return get(ctx, fresh, "http://"+s.m.Web+"/healthz") })
	})
}

// submit submits an application that is accepted.
func (s *site) submit(t *testing.T, conn *rpc.Client) *wire.ApplicationId {
	t.Helper()
	id, err := submit(s.ctx, conn, nil)
	must(t, err)
	return id
}

// submit submits an application, modified by change.
func submit(ctx context.Context, conn *rpc.Client, change func(*wire.ApplicationSubmissionContext)) (*wire.ApplicationId, error) {
	made := &wire.GetNewApplicationResponse{}
	if err := conn.Call(ctx, "getNewApplication", &wire.GetNewApplicationRequest{}, made); err != nil {
		return nil, err
	}
	id := made.GetApplicationId()
	return id, conn.Call(ctx, "submitApplication", job(id, change), &wire.SubmitApplicationResponse{})
}

// job makes a submission, which change changes.
func job(id *wire.ApplicationId, change func(*wire.ApplicationSubmissionContext)) *wire.SubmitApplicationRequest {
	q := &wire.ApplicationSubmissionContext{
		ApplicationId: id, ApplicationName: new("job"), ApplicationType: new("MAPREDUCE"), Queue: new("default"),
		Resource: hollow.Size(1), AmContainerSpec: &wire.ContainerLaunchContext{Command: []string{"true"}},
	}
	if change != nil {
		change(q)
	}
	return &wire.SubmitApplicationRequest{ApplicationSubmissionContext: q}
}

// token returns the token of the next master that a node is told to start.
func (s *site) token(t *testing.T) *rpc.Token {
	select {
	case k := <-s.masters:
		return &rpc.Token{Identifier: k.GetIdentifier(), Password: k.GetPassword(), Kind: k.GetKind(), Service: k.GetService()}
	case <-time.After(time.Minute):
		t.Error("no master was started within a minute")
		return &rpc.Token{}
	}
}

// again calls f repeatedly and records how long each call took.
func (s *site) again(kind string, f func(context.Context) error) {
	for s.sleep(every) {
		s.once(kind, f)
	}
}

// once calls f and records how long it took, or why it failed.
func (s *site) once(kind string, f func(context.Context) error) {
	ctx, cancel := context.WithTimeout(s.ctx, honestEnd)
	defer cancel()
	began := time.Now()
	s.mu.Lock()
	s.begun++
	n := s.begun
	s.open[n] = began
	s.mu.Unlock()
	err := f(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, n)
	if s.ctx.Err() != nil {
		return
	}
	c := s.calls[kind]
	if c == nil {
		c = &calls{}
		s.calls[kind] = c
	}
	if err != nil {
		c.errs = append(c.errs, err)
	} else {
		c.took = append(c.took, time.Since(began))
	}
}

func (s *site) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// take returns the calls by kind, and starts a new collection.
func (s *site) take() map[string]*calls {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.calls
	s.calls = map[string]*calls{}
	return was
}

// settle waits until all calls that began before a time have ended, with or without success.
func (s *site) settle(before time.Time) {
	for waits := true; waits && s.sleep(every); {
		s.mu.Lock()
		waits = false
		for _, began := range s.open {
			waits = waits || began.Before(before)
		}
		s.mu.Unlock()
	}
}

// p99 returns the 99th percentile of the calls' times.
func (c *calls) p99() time.Duration {
	if c == nil || len(c.took) == 0 {
		return 0
	}
	slices.Sort(c.took)
	return c.took[(len(c.took)*99+99)/100-1]
}

func get(ctx context.Context, by *http.Client, url string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	p, err := by.Do(q)
	if err != nil {
		return err
	}
	defer p.Body.Close()
	_, err = io.Copy(io.Discard, p.Body)
	if p.StatusCode != http.StatusOK {
		err = errors.Join(err, errors.New(p.Status))
	}
	return err
}

// start is called for a master that a node is to start.
func (s *site) start(_ ids.Node, _ ids.Container, user string, _ int64, t *wire.Token) error {
	if user != "bob" { // bob's applications are over at once
		select {
		case s.masters <- t:
		default: // a master that nobody plays
		}
	}
	return nil
}

func (s *site) register(conn *rpc.Client, id ids.Node) error {
	p := &wire.RegisterNodeManagerResponse{}
	err := conn.Call(s.ctx, "registerNodeManager", hollow.Joining(id, 64, nil), p)
	if err != nil {
		return err
	}
	if p.GetNodeAction() != wire.NodeAction_NORMAL {
		return fmt.Errorf("%s was not taken in: %s", id, p.GetDiagnosticsMessage())
	}
	s.key.Store(hollow.NodeKey(p.GetNmTokenMasterKey()))
	return nil
}

// report reports what runs on a node, at the interval it is told.
func (s *site) report(conn *rpc.Client, id ids.Node) {
	resp, wait := int32(0), every
	for s.sleep(wait) {
		s.once("beat", func(ctx context.Context) error {
			p := &wire.NodeHeartbeatResponse{}
			err := conn.Call(ctx, "nodeHeartbeat", &wire.NodeHeartbeatRequest{NodeStatus: &wire.NodeStatus{
				NodeId: conv.WireNode(id), ResponseId: &resp, NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true)},
			}}, p)
			if err != nil {
				return err
			}
			if p.GetNodeAction() != wire.NodeAction_NORMAL {
				return fmt.Errorf("%s is told %v: %s", id, p.GetNodeAction(), p.GetDiagnosticsMessage())
			}
			resp, wait = p.GetResponseId(), min(time.Duration(p.GetNextHeartBeatInterval())*time.Millisecond, 500*time.Millisecond)
			return nil
		})
	}
}

// master runs a master that asks for a container and gives it back.
func (s *site) master(t *testing.T, k *rpc.Token) {
	conn, err := rpc.Dial(s.ctx, s.m.Scheduler, rpc.ClientOptions{Protocol: masterProtocol, Token: k})
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close() }() // nobody waits for an answer
	if err := conn.Call(s.ctx, "registerApplicationMaster", &wire.RegisterApplicationMasterRequest{}, &wire.RegisterApplicationMasterResponse{}); err != nil {
		t.Error(err)
		return
	}
	q := &wire.AllocateRequest{ResponseId: new(int32)}
	for s.sleep(every) {
		q.Ask = []*wire.ResourceRequest{{
			Priority: &wire.Priority{Priority: proto.Int32(20)}, ResourceName: new("*"), Capability: hollow.Size(1), NumContainers: proto.Int32(1),
		}}
		s.once("allocate", func(ctx context.Context) error {
			p := &wire.AllocateResponse{}
			if err := conn.Call(ctx, "allocate", q, p); err != nil {
				return err
			}
			q.ResponseId, q.Release = p.ResponseId, nil
			for _, g := range p.GetAllocatedContainers() {
				q.Release = append(q.Release, g.GetId())
			}
			return nil
		})
	}
}

// ended fills a ResourceManager with applications that are over, each with a long diagnostics text.
func (s *site) ended(t *testing.T, count, text int) {
	t.Helper()
	why := strings.Repeat("why ", text/4)
	var workers sync.WaitGroup
	next := make(chan struct{}, count)
	for range count {
		next <- struct{}{}
	}
	close(next)
	for range 16 {
		conn := s.connect(t, s.m.Client, rpc.ClientOptions{Protocol: clientProtocol, User: "bob"})
		workers.Go(func() {
			for range next {
				id, err := submit(s.ctx, conn, func(c *wire.ApplicationSubmissionContext) { c.Resource = hollow.Size(9) })
				if err == nil {
					err = conn.Call(s.ctx, "forceKillApplication", &wire.KillApplicationRequest{ApplicationId: id, Diagnostics: &why}, &wire.KillApplicationResponse{})
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
}
