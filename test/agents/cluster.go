package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

const (
	protocols  = "org.apache.hadoop.yarn."
	mostNodes  = 200 * 250 * 250
	slot       = 1024 // MiB of a container, which has one virtual core
	firstBeat  = 100 * time.Millisecond
	callMaster = 200 * time.Millisecond // between the calls of a master that waits
	idleMaster = 5 * time.Second        // and of one that has all
	fillTime   = 10 * time.Minute
)

// A cluster is all that is hollow.
type cluster struct {
	*settings
	m      *manager
	ctx    context.Context
	fail   context.CancelCauseFunc
	runs   sync.WaitGroup
	server *rpc.Server // of the NodeManagers that start masters

	nodes   []*node // that have agents
	byID    map[ids.Node]*node
	masters chan started
	began   atomic.Int64 // containers
	key     atomic.Pointer[token.Key]
	beats   atomic.Int64
	syncs   syncs
	lags    lags
}

// started is a master that a node was told to start.
type started struct {
	container ids.Container
	token     *wire.Token
}

func newCluster(ctx context.Context, s *settings, m *manager, fail context.CancelCauseFunc) *cluster {
	c := &cluster{settings: s, m: m, ctx: ctx, fail: fail, byID: map[ids.Node]*node{}, masters: make(chan started, s.masters())}
	c.server = rpc.NewServer(rpc.Options{
		Tokens: c, Log: s.log,
		Protocols: []rpc.Protocol{{
			Name: protocols + "api.ContainerManagementProtocolPB", Methods: map[string]rpc.Method{"startContainers": rpc.Serve(c.start)},
		}},
	})
	return c
}

// stop ends all that is hollow.
func (c *cluster) stop() {
	c.fail(nil)
	_ = c.server.Close(context.Background()) // nothing is in flight
	c.runs.Wait()
}

// goes runs f until the cluster stops; its error stops all.
func (c *cluster) goes(f func() error) {
	c.runs.Go(func() {
		if err := f(); err != nil && c.ctx.Err() == nil {
			c.fail(err)
		}
	})
}

// sleep waits, and reports whether there is more to do.
func (c *cluster) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// until waits for something that has so long.
func (c *cluster) until(what string, within time.Duration, yes func() bool) error {
	for end := time.Now().Add(within); !yes(); {
		if !c.sleep(10 * time.Millisecond) {
			return context.Cause(c.ctx)
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: not within %v", what, within)
		}
	}
	return nil
}

// address is the loopback address of a node: one of its own, as a node has in a network.
func address(i int) string { return fmt.Sprintf("127.%d.%d.%d", 1+i/62500, i/250%250, 1+i%250) }

// fill starts the NodeManagers, first those that hold masters alone, and lets masters fill the others.
func (c *cluster) fill() error {
	var holders []*node
	for i := range c.settings.masters() {
		ln, err := net.Listen("tcp", address(i)+":0")
		if err != nil {
			return err
		}
		c.goes(func() error { return c.server.Serve(ln) })
		holders = append(holders, c.node(i, ln.Addr().(*net.TCPAddr).Port, 1))
	}
	for i := range c.settings.nodes {
		c.nodes = append(c.nodes, c.node(len(holders)+i, 8041, c.containers))
	}
	if err := c.startNodes(holders); err != nil {
		return err
	}
	if err := c.submit(len(holders)); err != nil {
		return err
	}
	var list []started
	for range holders {
		select {
		case s := <-c.masters:
			list = append(list, s)
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
	}
	c.log.Info("the masters are started", "applications", len(list))
	if err := c.startNodes(c.nodes); err != nil {
		return err
	}
	c.log.Info("the NodeManagers have registered")
	all := c.settings.nodes * c.containers
	for i, s := range list {
		c.goes(func() error { return c.master(s, (all+i)/len(list)) })
	}
	if err := c.until("all containers granted", fillTime, func() bool { return c.began.Load() == int64(all) }); err != nil {
		return err
	}
	return c.until("all containers reported", fillTime, func() bool {
		for _, n := range c.nodes {
			if !n.full.Load() {
				return false
			}
		}
		return true
	})
}

// startNodes starts NodeManagers, some on a connection.
func (c *cluster) startNodes(list []*node) error {
	var registered sync.WaitGroup
	for len(list) > 0 {
		some := list[:min(len(list), c.shared)]
		list = list[len(some):]
		conn, err := rpc.Dial(c.ctx, c.m.Tracker, rpc.ClientOptions{Protocol: protocols + "server.api.ResourceTrackerPB", User: "yarn"})
		if err != nil {
			return err
		}
		context.AfterFunc(c.ctx, func() { _ = conn.Close() })
		for _, n := range some {
			registered.Add(1)
			c.goes(func() error {
				err := n.register(conn)
				registered.Done()
				if err != nil {
					return err
				}
				return n.report(conn)
			})
		}
	}
	registered.Wait()
	return context.Cause(c.ctx)
}

// submit submits so many applications.
func (c *cluster) submit(count int) error {
	conn, err := rpc.Dial(c.ctx, c.m.Client, rpc.ClientOptions{Protocol: protocols + "api.ApplicationClientProtocolPB", User: "ann"})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // every call is over
	for range count {
		var made wire.GetNewApplicationResponse
		if err := conn.Call(c.ctx, "getNewApplication", &wire.GetNewApplicationRequest{}, &made); err != nil {
			return err
		}
		q := &wire.SubmitApplicationRequest{ApplicationSubmissionContext: &wire.ApplicationSubmissionContext{
			ApplicationId: made.GetApplicationId(), ApplicationName: new("hollow"), ApplicationType: new("MAPREDUCE"), Queue: new("default"),
			Resource: size(1), AmContainerSpec: &wire.ContainerLaunchContext{Command: []string{"true"}},
		}}
		if err := conn.Call(c.ctx, "submitApplication", q, &wire.SubmitApplicationResponse{}); err != nil {
			return err
		}
	}
	return nil
}

// size is that of so many containers.
func size(containers int) *wire.Resource {
	return &wire.Resource{Memory: new(int64(containers) * slot), VirtualCores: new(int32(containers))}
}

// Verify implements [rpc.Verifier]: the ResourceManager has a token for the node.
func (c *cluster) Verify(identifier []byte) (password []byte, user string, identity any, err error) {
	id, err := token.ParseNM(identifier)
	if err != nil {
		return nil, "", nil, err
	}
	return c.key.Load().Password(identifier), id.GetAppSubmitter(), nil, nil
}

// start is the ResourceManager's call to a node that is to start a master.
func (c *cluster) start(_ context.Context, _ *rpc.Call, q *wire.StartContainersRequest) (*wire.StartContainersResponse, error) {
	p := &wire.StartContainersResponse{}
	for _, r := range q.GetStartContainerRequest() {
		k, err := token.ParseContainer(r.GetContainerToken().GetIdentifier())
		if err != nil {
			return nil, err
		}
		creds, err := token.ParseCredentials(r.GetContainerLaunchContext().GetTokens())
		if err != nil {
			return nil, err
		}
		at, err := ids.ParseNode(k.GetNmHostAddr())
		if err != nil {
			return nil, err
		}
		id := conv.Container(k.GetContainerId())
		c.byID[at].run(id)
		for _, t := range creds.Tokens {
			if t.Token.GetKind() == token.AMRMKind {
				c.masters <- started{id, t.Token}
			}
		}
		p.SucceededRequests = append(p.SucceededRequests, k.GetContainerId())
	}
	return p, nil
}

// master is one that asks for so many containers, has them started and then waits.
func (c *cluster) master(s started, count int) error {
	t := s.token
	conn, err := rpc.Dial(c.ctx, c.m.Scheduler, rpc.ClientOptions{
		Protocol: protocols + "api.ApplicationMasterProtocolPB",
		Token:    &rpc.Token{Identifier: t.GetIdentifier(), Password: t.GetPassword(), Kind: t.GetKind(), Service: t.GetService()},
	})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nobody waits for an answer
	if err := conn.Call(c.ctx, "registerApplicationMaster", &wire.RegisterApplicationMasterRequest{}, &wire.RegisterApplicationMasterResponse{}); err != nil {
		return err
	}
	q := &wire.AllocateRequest{ResponseId: new(int32), Ask: []*wire.ResourceRequest{{
		Priority: &wire.Priority{Priority: proto.Int32(20)}, ResourceName: new("*"), Capability: size(1), NumContainers: new(int32(count)),
	}}}
	for {
		p := &wire.AllocateResponse{}
		if err := conn.Call(c.ctx, "allocate", q, p); err != nil {
			return err
		}
		q.Ask, q.ResponseId = nil, p.ResponseId
		for _, g := range p.GetAllocatedContainers() {
			c.byID[conv.Node(g.GetNodeId())].run(conv.Container(g.GetId()))
			c.began.Add(1)
			count--
		}
		if n := len(p.GetCompletedContainerStatuses()); n > 0 || count < 0 {
			return errors.New("a master lost containers, or was given more than it asked for")
		}
		wait := callMaster
		if count == 0 {
			wait = idleMaster
		}
		if !c.sleep(wait) {
			return nil
		}
	}
}
