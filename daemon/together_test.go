package daemon

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// TestTogether lets NodeManagers, masters, clients, an administrator and a reader call the ResourceManager at the same
// time, each from its own goroutine. The ResourceManager ends in the midst of that, and another one goes on from its
// store. Every job must end as it should, and nothing may be left. heddle/rm/search looks for what can go wrong in the
// lives of jobs and nodes; here the loop, the translation, the tokens and the store work together.
func TestTogether(t *testing.T) {
	for _, profile := range []string{"capacity", "fair", "heddle"} {
		t.Run(profile, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &crowd{world: &world{T: t, config: testConfig(), profile: profile}, path: filepath.Join(t.TempDir(), "data", "rm.db"), jobs: map[ids.App]bool{}}
				for _, host := range []string{"n1", "n2", "n3"} {
					c.nodes = append(c.nodes, &crowdNode{
						c: c, id: ids.Node{Host: host, Port: 8041}, works: map[ids.Container]*wire.ContainerStatus{}, apps: map[ids.App]bool{},
					})
				}
				c.begin()
				defer func() { c.stop() }()
				for _, n := range c.nodes {
					c.others.Go(n.serve)
				}
				c.others.Go(c.look)
				c.others.Go(c.administer)
				for i := range 8 {
					c.clients.Go(func() { c.client(i) })
				}
				time.Sleep(9 * time.Second)
				c.begin()
				c.clients.Wait()
				time.Sleep(10 * time.Second) // nodes clean up
				c.locked(func() { c.over = true })
				c.others.Wait()
				c.leftovers()
			})
		})
	}
}

// A crowd is a ResourceManager and everybody who calls it.
type crowd struct {
	*world
	path            string
	nodes           []*crowdNode
	clients, others sync.WaitGroup

	mu   sync.Mutex       // of the fields below, and of what runs on the nodes
	now  *RM              // the current ResourceManager
	jobs map[ids.App]bool // and whether its client kills it
	over bool
}

// begin ends the previous ResourceManager and starts one on what that has stored.
func (c *crowd) begin() {
	c.restart(c.path, 2*time.Second)
	c.r.callOnce = c.call
	c.locked(func() { c.now = c.r })
}

// locked runs do with the lock held.
func (c *crowd) locked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// sure repeats a call until a ResourceManager answers it.
func sure[T any](c *crowd, call func(context.Context, *RM) (T, error)) (T, error) {
	for {
		var r *RM
		c.locked(func() { r = c.now })
		v, err := call(c.Context(), r)
		if !errors.Is(err, ErrStopping) {
			return v, err
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// every repeats do at an interval until everything is over.
func (c *crowd) every(d time.Duration, do func()) {
	for over := false; !over; time.Sleep(d) {
		do()
		c.locked(func() { over = c.over })
	}
}

// call is a call of the ResourceManager to a NodeManager.
func (c *crowd) call(nm nodeCall, _ string, q, _ proto.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[slices.IndexFunc(c.nodes, func(n *crowdNode) bool { return n.id.String() == nm.addr })]
	switch q := q.(type) {
	case *wire.StartContainersRequest:
		start := q.GetStartContainerRequest()[0]
		id, err := token.ParseContainer(start.GetContainerToken().GetIdentifier())
		if err != nil {
			return err
		}
		creds, err := token.ParseCredentials(start.GetContainerLaunchContext().GetTokens())
		if err != nil {
			return err
		}
		m := &crowdMaster{c: c, n: n, id: conv.Container(id.GetContainerId()), left: 12, held: map[ids.Container]bool{}}
		m.token, m.doomed = creds.Tokens[0].Token.GetIdentifier(), c.jobs[m.id.Attempt.App]
		n.run(m.id)
		c.others.Go(m.serve)
	case *wire.StopContainersRequest:
		for _, id := range q.GetContainerId() {
			n.end(conv.Container(id), -105)
		}
	}
	return nil
}

// A crowdNode is a NodeManager.
type crowdNode struct {
	c     *crowd
	id    ids.Node
	works map[ids.Container]*wire.ContainerStatus
	apps  map[ids.App]bool
}

func (n *crowdNode) run(id ids.Container) {
	n.works[id], n.apps[id.Attempt.App] = &wire.ContainerStatus{ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_RUNNING.Enum()}, true
}

func (n *crowdNode) end(id ids.Container, exit int32) {
	if n.runs(id) {
		n.works[id] = &wire.ContainerStatus{ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_COMPLETE.Enum(), ExitStatus: &exit}
	}
}

func (n *crowdNode) runs(id ids.Container) bool {
	return n.works[id].GetState() == wire.ContainerState_C_RUNNING
}

// serve registers and sends heartbeats.
func (n *crowdNode) serve() {
	registered, last := false, int32(0)
	n.c.every(time.Second, func() {
		if !registered {
			p, err := sure(n.c, func(ctx context.Context, r *RM) (*wire.RegisterNodeManagerResponse, error) {
				return r.registerNode(ctx, &rpc.Call{}, n.registration())
			})
			if err != nil || p.GetNodeAction() != wire.NodeAction_NORMAL {
				n.c.Errorf("%s is not taken in: %v, %v", n.id, p, err)
			}
			registered, last = true, 0
		}
		p, err := sure(n.c, func(ctx context.Context, r *RM) (*wire.NodeHeartbeatResponse, error) {
			return r.heartbeat(ctx, &rpc.Call{}, n.report(last))
		})
		if err != nil {
			n.c.Error(err)
		}
		registered, last = p.GetNodeAction() == wire.NodeAction_NORMAL, p.GetResponseId()
		n.obey(p)
	})
}

func (n *crowdNode) registration() *wire.RegisterNodeManagerRequest {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	q := &wire.RegisterNodeManagerRequest{
		NodeId: conv.WireNode(n.id), HttpPort: proto.Int32(8042), Resource: &wire.Resource{Memory: proto.Int64(6 << 10), VirtualCores: proto.Int32(6)},
	}
	for id, s := range n.works {
		q.ContainerStatuses = append(q.ContainerStatuses, status(id, 20, s.GetState()))
	}
	for id := range n.apps {
		q.RunningApplications = append(q.RunningApplications, conv.WireApp(id))
	}
	return q
}

func (n *crowdNode) report(last int32) *wire.NodeHeartbeatRequest {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	st := &wire.NodeStatus{NodeId: conv.WireNode(n.id), ResponseId: &last, NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true)}}
	st.ContainersStatuses = slices.Collect(maps.Values(n.works))
	return &wire.NodeHeartbeatRequest{NodeStatus: st}
}

// obey does what the answer to a heartbeat says.
func (n *crowdNode) obey(p *wire.NodeHeartbeatResponse) {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	for _, id := range p.GetContainersToBeRemovedFromNm() {
		delete(n.works, conv.Container(id))
	}
	for _, id := range p.GetContainersToCleanup() {
		n.end(conv.Container(id), -106)
	}
	for _, id := range p.GetApplicationsToCleanup() {
		delete(n.apps, conv.App(id))
	}
}

// A crowdMaster is an ApplicationMaster that has tasks of two seconds to run.
type crowdMaster struct {
	c      *crowd
	n      *crowdNode
	id     ids.Container
	token  []byte
	doomed bool      // its client kills the job
	call   *rpc.Call // nil if it is not registered
	last   int32
	asked  bool
	left   int // tasks that are not done
	held   map[ids.Container]bool
}

// serve runs all tasks and says so.
func (m *crowdMaster) serve() {
	defer m.c.locked(func() { m.n.end(m.id, 0) })
	for done, runs := false, true; !done && runs; time.Sleep(700 * time.Millisecond) {
		var err error
		done, err = sure(m.c, m.round)
		switch bad := (*rm.Invalid)(nil); {
		case err == nil:
		case errors.As(err, &bad) && bad.Class == classNotRegistered: // another ResourceManager
			m.call = nil
		case m.doomed:
			return
		default:
			m.c.Errorf("the master of %s: %v", m.id.Attempt, err)
			return
		}
		m.c.locked(func() { runs = m.n.runs(m.id) })
	}
}

// round makes a master's regular call.
func (m *crowdMaster) round(ctx context.Context, r *RM) (done bool, err error) {
	if m.call == nil {
		_, _, who, err := r.auth.Verify(m.token)
		if err != nil {
			return false, err
		}
		call := &rpc.Call{Identity: who}
		if _, err := r.registerMaster(ctx, call, &wire.RegisterApplicationMasterRequest{Host: new("h"), RpcPort: proto.Int32(1)}); err != nil {
			return false, err
		}
		m.call, m.last, m.asked = call, 0, false
	}
	if m.left == 0 {
		end := &wire.FinishApplicationMasterRequest{FinalApplicationStatus: wire.FinalApplicationStatus_APP_SUCCEEDED.Enum()}
		_, err := r.finishMaster(ctx, m.call, end)
		return err == nil, err
	}
	q := &wire.AllocateRequest{ResponseId: new(m.last)}
	if !m.asked {
		q.Ask = append(q.Ask, row(20, "*", 1024, int32(m.left-len(m.held))))
	}
	p, err := r.allocate(ctx, m.call, q)
	if err == nil {
		m.last, m.asked = p.GetResponseId(), true
		m.hear(p)
	}
	return false, err
}

// hear starts what was granted, and counts what is done.
func (m *crowdMaster) hear(p *wire.AllocateResponse) {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	for _, k := range p.GetAllocatedContainers() {
		id, at := conv.Container(k.GetId()), conv.Node(k.GetNodeId())
		n := m.c.nodes[slices.IndexFunc(m.c.nodes, func(n *crowdNode) bool { return n.id == at })]
		m.held[id] = true
		n.run(id)
		m.c.others.Go(func() {
			time.Sleep(2 * time.Second)
			m.c.locked(func() { n.end(id, 0) })
		})
	}
	for _, s := range p.GetCompletedContainerStatuses() {
		if id := conv.Container(s.GetContainerId()); m.held[id] {
			delete(m.held, id)
			m.left--
		}
	}
}

// client submits a job, kills it if it is a doomed one, and waits for its end.
func (c *crowd) client(i int) {
	time.Sleep(time.Duration(i) * time.Second)
	id, err := sure(c, func(ctx context.Context, r *RM) (ids.App, error) {
		id, _, err := r.NewApp(ctx, "ann")
		return id, err
	})
	if err != nil {
		c.Error(err)
		return
	}
	kill, want := i%4 == 3, rm.AppFinished
	if kill {
		want = rm.AppKilled
	}
	c.locked(func() { c.jobs[id] = kill })
	what := submission(id, []string{"MAPREDUCE", "SPARK", "YARN"}[i%3], 1024)
	if c.profile == "fair" { // whose rules create queues
		what.Queue = new([]string{"default", "ann", "bob"}[i%3])
	}
	if err := c.change(func(ctx context.Context, r *RM) error { return r.Submit(ctx, "ann", what) }); err != nil {
		c.Error(err)
	}
	end := func() {
		if err := c.change(func(ctx context.Context, r *RM) error { return r.Kill(ctx, Actor{User: "ann"}, id, "") }); err != nil {
			c.Error(err)
		}
	}
	if kill {
		time.Sleep(3 * time.Second)
		end()
	}
	for began := time.Now(); ; time.Sleep(time.Second) {
		p, err := sure(c, func(ctx context.Context, r *RM) (rm.AppReport, error) { return r.App(ctx, id) })
		if err == nil && p.State == want {
			end() // which changes nothing, whether its master is gone or not
			return
		}
		if err != nil || p.State.Final() || time.Since(began) > time.Hour {
			c.Errorf("%s is %s, want %s: %s, %v", id, p.State, want, p.Diagnostics, err)
			return
		}
	}
}

// change makes a call whose answer is only that it is done.
func (c *crowd) change(call func(context.Context, *RM) error) error {
	_, err := sure(c, func(ctx context.Context, r *RM) (any, error) { return nil, call(ctx, r) })
	return err
}

// look reads everything that can be read.
func (c *crowd) look() {
	c.every(200*time.Millisecond, func() {
		err := c.change(func(ctx context.Context, r *RM) error {
			apps, err := r.Apps(ctx, rm.AppFilter{})
			for _, a := range apps {
				_, whyErr := r.Why(ctx, a.ID)
				_, containersErr := r.Containers(ctx, ids.Attempt{App: a.ID, N: a.Attempt})
				err = errors.Join(err, whyErr, containersErr)
			}
			_, nodesErr := r.Nodes(ctx)
			_, queuesErr := r.Queues(ctx)
			_, clusterErr := r.Cluster(ctx)
			return errors.Join(err, nodesErr, queuesErr, clusterErr)
		})
		if gone := (*rm.NotFound)(nil); err != nil && !errors.As(err, &gone) { // an attempt that has not begun
			c.Error(err)
		}
	})
}

// administer has the queues read again, and sets the size of a node.
func (c *crowd) administer() {
	c.every(3*time.Second, func() {
		if err := c.change(func(ctx context.Context, r *RM) error {
			sch := r.placer.Load()
			return errors.Join(
				r.change(ctx, func(call rm.Call) rm.Message { return &rm.Refresh{Call: call, Scheduler: sch} }),
				r.ResizeNode(ctx, c.nodes[0].id, heddle.Of(6<<10, 6000)),
			)
		}); err != nil && !errors.As(err, new(*rm.NotFound)) { // the node has not come back
			c.Error(err)
		}
	})
}

// leftovers checks that nothing is left.
func (c *crowd) leftovers() {
	c.check()
	for _, n := range c.nodes {
		if len(n.works) > 0 || len(n.apps) > 0 {
			c.Errorf("%s still has %d containers and %d applications", n.id, len(n.works), len(n.apps))
		}
	}
	if p, err := c.r.Cluster(c.Context()); err != nil || !p.Used.IsZero() || p.Containers > 0 || p.RunningApps+p.PendingApps > 0 {
		c.Errorf("left: %v used, %d containers, %d applications run, %d wait, %v", p.Used, p.Containers, p.RunningApps, p.PendingApps, err)
	}
	c.r.auth.mu.RLock()
	defer c.r.auth.mu.RUnlock()
	if len(c.r.auth.attempts) > 0 {
		c.Errorf("tokens of %d attempts still let masters in", len(c.r.auth.attempts))
	}
}
