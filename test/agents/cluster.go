package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"heddle/test/hollow"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

const (
	firstBeat  = 100 * time.Millisecond
	callMaster = 200 * time.Millisecond // between the calls of a master that waits
	idleMaster = 5 * time.Second        // between those of a master that has everything
	fillTime   = 10 * time.Minute
)

// A cluster is all hollow parts.
type cluster struct {
	*settings
	*hollow.Life
	m      *manager
	server *rpc.Server // of the NodeManagers that start masters

	nodes   []*node // those that have agents
	byID    map[ids.Node]*node
	masters chan started
	began   atomic.Int64 // containers
	key     atomic.Pointer[token.Key]
	beats   atomic.Int64
	syncs   syncs
	lags    lags
}

// A started is a master that a node was told to start.
type started struct {
	container ids.Container
	token     *wire.Token
}

func newCluster(ctx context.Context, s *settings, m *manager, fail context.CancelCauseFunc) *cluster {
	c := &cluster{settings: s, Life: hollow.NewLife(ctx, fail), m: m, byID: map[ids.Node]*node{}, masters: make(chan started, s.masters())}
	h := hollow.Host{Key: c.key.Load, Start: c.start, Stop: func(ids.Container) {}}
	c.server = h.Server(s.log)
	return c
}

// stop ends all hollow parts.
func (c *cluster) stop() {
	c.Fail(nil)
	_ = c.server.Close(context.Background()) // nothing is in flight
	c.End()
}

// fill starts the NodeManagers, first those that hold only masters, and lets masters fill the others.
func (c *cluster) fill() error {
	var holders []*node
	for i := range c.settings.masters() {
		ln, err := net.Listen("tcp", hollow.Address(i)+":0")
		if err != nil {
			return err
		}
		c.Goes(func() error { return c.server.Serve(ln) })
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
		case <-c.Ctx.Done():
			return context.Cause(c.Ctx)
		}
	}
	c.log.Info("the masters are started", "applications", len(list))
	if err := c.startNodes(c.nodes); err != nil {
		return err
	}
	c.log.Info("the NodeManagers have registered")
	all := c.settings.nodes * c.containers
	for i, s := range list {
		c.Goes(func() error { return c.master(s, (all+i)/len(list)) })
	}
	if err := c.Until("all containers granted", fillTime, func() bool { return c.began.Load() == int64(all) }); err != nil {
		return err
	}
	return c.Until("all containers reported", fillTime, func() bool {
		for _, n := range c.nodes {
			if !n.full.Load() {
				return false
			}
		}
		return true
	})
}

// startNodes starts NodeManagers, several per connection.
func (c *cluster) startNodes(list []*node) error {
	var registered sync.WaitGroup
	for len(list) > 0 {
		some := list[:min(len(list), c.shared)]
		list = list[len(some):]
		conn, err := rpc.Dial(c.Ctx, c.m.Tracker, hollow.AsNode())
		if err != nil {
			return err
		}
		context.AfterFunc(c.Ctx, func() { _ = conn.Close() })
		for _, n := range some {
			registered.Add(1)
			c.Goes(func() error {
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
	return context.Cause(c.Ctx)
}

// submit submits that many applications.
func (c *cluster) submit(count int) error {
	conn, err := rpc.Dial(c.Ctx, c.m.Client, hollow.AsClient("ann"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // all calls are over
	for range count {
		var made wire.GetNewApplicationResponse
		if err := conn.Call(c.Ctx, "getNewApplication", &wire.GetNewApplicationRequest{}, &made); err != nil {
			return err
		}
		q := hollow.Submission(made.GetApplicationId(), "hollow", "default")
		if err := conn.Call(c.Ctx, "submitApplication", q, &wire.SubmitApplicationResponse{}); err != nil {
			return err
		}
	}
	return nil
}

// start handles the ResourceManager's request to start a master.
func (c *cluster) start(at ids.Node, id ids.Container, _ string, _ int64, t *wire.Token) error {
	c.byID[at].run(id)
	c.masters <- started{id, t}
	return nil
}

// master runs a master that asks for that many containers, starts them and then waits.
func (c *cluster) master(s started, count int) error {
	conn, err := rpc.Dial(c.Ctx, c.m.Scheduler, hollow.AsMaster(s.token))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nobody waits for an answer
	if err := conn.Call(c.Ctx, "registerApplicationMaster", &wire.RegisterApplicationMasterRequest{}, &wire.RegisterApplicationMasterResponse{}); err != nil {
		return err
	}
	q := &wire.AllocateRequest{ResponseId: new(int32), Ask: []*wire.ResourceRequest{hollow.Ask(20, count)}}
	for {
		p := &wire.AllocateResponse{}
		if err := conn.Call(c.Ctx, "allocate", q, p); err != nil {
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
		if !c.Sleep(wait) {
			return nil
		}
	}
}
