package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"heddle"
	"heddle/daemon/store"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// TestAnything lets NodeManagers, masters, users and accidents do what they like, in any order, and recounts all
// books after every step. In the end everybody stops, and nothing may be left.
func TestAnything(t *testing.T) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(t.TempDir(), fmt.Sprint("data", n), "rm.db")
		inBubble(t, func(t *testing.T) {
			c := newChaos(t, rt, path)
			defer func() { c.stop() }()
			rt.Repeat(map[string]func(*rapid.T){
				"":       func(*rapid.T) { c.books() },
				"submit": func(rt *rapid.T) { c.submit(rt) },
				"beat":   func(rt *rapid.T) { c.beat(c.node(rt), rapid.Bool().Draw(rt, "answer arrives")) },
				"master": func(rt *rapid.T) { c.master(rt) },
				"exit":   func(rt *rapid.T) { c.exit(rt) },
				"kill":   func(rt *rapid.T) { c.kill(rt) },
				"fault":  func(rt *rapid.T) { c.fault(rt) },
				"sleep": func(rt *rapid.T) {
					c.sleep(time.Duration(rapid.IntRange(1, 90).Draw(rt, "seconds")) * time.Second)
				},
			})
			c.settle()
		})
	})
}

// inBubble runs f in a bubble of its own: in one for all cases, rapid's limit on the time of a test would run out
// after some days of the bubble's clock, which are a few dozen cases. What f panics with, which is how rapid ends a
// case, comes out of it.
func inBubble(t *testing.T, f func(*testing.T)) {
	var why any
	synctest.Test(t, func(t *testing.T) {
		defer func() { why = recover() }()
		f(t)
	})
	switch kind := fmt.Sprintf("%T", why); {
	case why == nil:
	case kind == "rapid.invalidData": // rapid knows by the line that this is another end than a failure
		panic(why)
	default:
		panic(why)
	}
}

type chaos struct {
	mu    sync.Mutex
	t     *testing.T
	rt    *rapid.T
	path  string
	with  string // the profile
	r     *RM
	stop  func()
	nodes []*chaosNode
	apps  []*chaosApp
}

type chaosNode struct {
	id    ids.Node
	resp  int32
	sick  bool
	conts map[ids.Container]*wire.ContainerStatus
	apps  map[ids.App]bool
}

type chaosApp struct {
	id      ids.App
	attempt int32
	resp    int32
	granted []ids.Container
	at      map[ids.Container]ids.Node
	told    map[ids.Container]bool // completions, to find one told twice
	owed    map[int32]int32        // how many more containers it may be given, by priority
	joined  bool
}

func newChaos(t *testing.T, rt *rapid.T, path string) *chaos {
	c := &chaos{t: t, rt: rt, path: path, with: rapid.SampledFrom([]string{"capacity", "fair", "heddle"}).Draw(rt, "profile")}
	c.start()
	for i := range 3 {
		n := &chaosNode{id: ids.Node{Host: fmt.Sprint("n", i), Port: 1}}
		n.conts, n.apps = map[ids.Container]*wire.ContainerStatus{}, map[ids.App]bool{}
		c.nodes = append(c.nodes, n)
		c.register(n)
	}
	return c
}

// start starts a ResourceManager on what the last one left.
func (c *chaos) start() {
	st, state, err := store.Open(c.path)
	if err != nil {
		c.rt.Fatal(err)
	}
	w := &world{T: c.t, config: testConfig()}
	w.start(c.with, st, state)
	w.r.callOnce = c.call
	end := w.stop
	c.r = w.r
	c.stop = func() {
		end()
		if err := st.Close(); err != nil {
			c.rt.Error(err)
		}
	}
}

// call is the ResourceManager calling a NodeManager. It runs on its own goroutine while the test waits.
func (c *chaos) call(nm nodeCall, method string, q, p proto.Message) error {
	i := slices.IndexFunc(c.nodes, func(n *chaosNode) bool { return n.id.String() == nm.addr })
	n := c.nodes[i]
	c.mu.Lock() // several masters may be started at a time
	defer c.mu.Unlock()
	switch q := q.(type) {
	case *wire.StartContainersRequest:
		id, err := token.ParseContainer(q.GetStartContainerRequest()[0].GetContainerToken().GetIdentifier())
		if err != nil {
			return err
		}
		n.run(conv.Container(id.GetContainerId()))
	case *wire.StopContainersRequest:
		for _, id := range q.GetContainerId() {
			n.end(conv.Container(id), -105)
		}
	}
	return nil
}

// quiet waits until nothing happens any more. What calls to nodes wrote is seen from then on.
func (c *chaos) quiet() {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
}

// sleep lets time go by.
func (c *chaos) sleep(d time.Duration) {
	time.Sleep(d)
	c.quiet()
}

func (n *chaosNode) run(id ids.Container) {
	n.apps[id.Attempt.App] = true
	n.conts[id] = &wire.ContainerStatus{ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_RUNNING.Enum()}
}

func (n *chaosNode) end(id ids.Container, status int32) {
	if s := n.conts[id]; s != nil && s.GetState() == wire.ContainerState_C_RUNNING {
		n.conts[id] = &wire.ContainerStatus{ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_COMPLETE.Enum(), ExitStatus: new(status)}
	}
}

func (c *chaos) node(rt *rapid.T) *chaosNode { return rapid.SampledFrom(c.nodes).Draw(rt, "node") }

func (c *chaos) register(n *chaosNode) {
	q := &wire.RegisterNodeManagerRequest{
		NodeId: conv.WireNode(n.id), HttpPort: proto.Int32(2), Resource: &wire.Resource{Memory: proto.Int64(4096), VirtualCores: proto.Int32(4)},
	}
	for id, s := range n.conts {
		q.ContainerStatuses = append(q.ContainerStatuses, &wire.NMContainerStatus{
			ContainerId: conv.WireContainer(id), ContainerState: s.State, ContainerExitStatus: s.ExitStatus,
			Resource: &wire.Resource{Memory: proto.Int64(1024), VirtualCores: proto.Int32(1)}, Priority: &wire.Priority{Priority: proto.Int32(20)},
		})
	}
	for id := range n.apps {
		q.RunningApplications = append(q.RunningApplications, conv.WireApp(id))
	}
	if _, err := c.r.registerNode(context.Background(), &rpc.Call{}, q); err != nil {
		c.rt.Fatal(err)
	}
	c.quiet()
	n.resp = 0
}

// beat is a report; the answer may get lost, and the report then comes again.
func (c *chaos) beat(n *chaosNode, arrives bool) {
	st := &wire.NodeStatus{NodeId: conv.WireNode(n.id), ResponseId: new(n.resp), NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(!n.sick)}}
	for _, s := range n.conts {
		st.ContainersStatuses = append(st.ContainersStatuses, s)
	}
	p, err := c.r.heartbeat(context.Background(), &rpc.Call{}, &wire.NodeHeartbeatRequest{NodeStatus: st})
	if err != nil {
		c.rt.Fatal(err)
	}
	c.quiet() // what it brought about has run: masters started, among others
	if !arrives {
		return
	}
	if p.GetNodeAction() == wire.NodeAction_RESYNC {
		c.register(n)
		return
	}
	n.resp = p.GetResponseId()
	for _, id := range p.GetContainersToBeRemovedFromNm() {
		if s := n.conts[conv.Container(id)]; s.GetState() == wire.ContainerState_C_COMPLETE {
			delete(n.conts, conv.Container(id))
		}
	}
	for _, id := range p.GetContainersToCleanup() {
		n.end(conv.Container(id), -106)
	}
	for _, id := range p.GetApplicationsToCleanup() {
		for k := range n.conts {
			if k.Attempt.App == conv.App(id) {
				n.end(k, -107)
			}
		}
		delete(n.apps, conv.App(id))
	}
	c.quiet()
}

func (c *chaos) submit(rt *rapid.T) {
	if len(c.apps) >= 6 {
		rt.Skip("enough")
	}
	id, _, err := c.r.NewApp(context.Background())
	if err != nil {
		rt.Fatal(err)
	}
	kind := rapid.SampledFrom([]string{"MAPREDUCE", "SPARK", "YARN"}).Draw(rt, "type")
	what := submission(id, kind, 1024)
	if c.with == "fair" { // whose rules create queues
		what.Queue = new(rapid.SampledFrom([]string{"default", "ann", "bob"}).Draw(rt, "queue"))
	}
	if err := c.r.Submit(context.Background(), "ann", what); err != nil {
		rt.Fatal(err)
	}
	c.apps = append(c.apps, &chaosApp{id: id, at: map[ids.Container]ids.Node{}, told: map[ids.Container]bool{}})
	c.quiet()
}

func (c *chaos) app(rt *rapid.T) (*chaosApp, rm.AppReport) {
	if len(c.apps) == 0 {
		rt.Skip("no application")
	}
	a := rapid.SampledFrom(c.apps).Draw(rt, "app")
	p, err := c.r.App(context.Background(), a.id)
	if err != nil {
		rt.Fatal(err)
	}
	return a, p
}

// running reports whether the master's container runs somewhere.
func (c *chaos) running(id ids.Container) bool {
	return slices.ContainsFunc(c.nodes, func(n *chaosNode) bool { return n.conts[id].GetState() == wire.ContainerState_C_RUNNING })
}

// master is one call of a master that is alive.
func (c *chaos) master(rt *rapid.T) {
	a, p := c.app(rt)
	if p.State.Final() || p.State == rm.AppSubmitted || p.Attempt == 0 || !c.running(p.Master) {
		rt.Skip("no master")
	}
	if a.attempt != p.Attempt {
		a.attempt, a.joined, a.granted = p.Attempt, false, nil
		clear(a.told)
	}
	m := &am{call: &rpc.Call{Identity: rm.Caller{Attempt: ids.Attempt{App: a.id, N: p.Attempt}}}}
	if !a.joined {
		c.join(rt, a, m)
	}
	q := &wire.AllocateRequest{ResponseId: new(a.resp)}
	switch rapid.IntRange(0, 5).Draw(rt, "what") {
	case 0, 1, 2:
		priority := rapid.SampledFrom([]int32{5, 10, 20}).Draw(rt, "priority")
		count := rapid.Int32Range(0, 4).Draw(rt, "count")
		q.Ask = append(q.Ask, row(priority, "*", 1024, count))
		if rapid.Bool().Draw(rt, "place") {
			host := rapid.SampledFrom([]string{"n0", "n1", "elsewhere"}).Draw(rt, "host")
			q.Ask = append(q.Ask, row(priority, host, 1024, count), row(priority, "/default-rack", 1024, count))
		}
	case 3:
		if len(a.granted) > 0 {
			q.Release = append(q.Release, conv.WireContainer(rapid.SampledFrom(a.granted).Draw(rt, "release")))
		}
	case 4:
		q.BlacklistRequest = &wire.ResourceBlacklistRequest{BlacklistAdditions: []string{"n2"}}
	case 5:
		end := &wire.FinishApplicationMasterRequest{FinalApplicationStatus: wire.FinalApplicationStatus_APP_SUCCEEDED.Enum()}
		_, err := c.r.finishMaster(context.Background(), m.call, end)
		if bad := (*rm.Invalid)(nil); errors.As(err, &bad) && bad.Class == classNotRegistered { // another ResourceManager
			c.join(rt, a, m)
			_, err = c.r.finishMaster(context.Background(), m.call, end)
		}
		if err != nil {
			rt.Fatal(err)
		}
		c.quiet()
		return
	}
	c.allocate(rt, a, m, q)
}

func (c *chaos) join(rt *rapid.T, a *chaosApp, m *am) {
	if _, err := c.r.registerMaster(context.Background(), m.call, &wire.RegisterApplicationMasterRequest{Host: new("h"), RpcPort: proto.Int32(1)}); err != nil {
		rt.Fatal(err)
	}
	a.joined, a.resp, a.owed = true, 0, map[int32]int32{}
}

func (c *chaos) allocate(rt *rapid.T, a *chaosApp, m *am, q *wire.AllocateRequest) {
	for _, k := range q.GetAsk() {
		if priority := k.GetPriority().GetPriority(); k.GetResourceName() == "*" { // what was granted before comes all the same
			a.owed[priority] = max(k.GetNumContainers(), c.unfetched(a, priority))
		}
	}
	p, err := c.r.allocate(context.Background(), m.call, q)
	if bad := (*rm.Invalid)(nil); errors.As(err, &bad) && bad.Class == classNotRegistered {
		c.join(rt, a, m)
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	c.quiet()
	if rapid.IntRange(0, 3).Draw(rt, "answer lost") == 0 {
		again, err := c.r.allocate(context.Background(), m.call, q)
		if err != nil || !proto.Equal(p, again) {
			rt.Fatalf("the repeated call was answered differently: %v", err)
		}
	}
	a.resp = p.GetResponseId()
	for _, k := range p.GetAllocatedContainers() {
		id, at := conv.Container(k.GetId()), conv.Node(k.GetNodeId())
		a.granted, a.at[id] = append(a.granted, id), at
		if priority := k.GetPriority().GetPriority(); a.owed[priority] > 0 {
			a.owed[priority]--
		} else {
			rt.Fatalf("%s is one more at priority %d than was asked for", id, priority)
		}
		if rapid.IntRange(0, 4).Draw(rt, "start") > 0 {
			for _, n := range c.nodes {
				if n.id == at {
					n.run(id)
				}
			}
		}
	}
	for _, s := range p.GetCompletedContainerStatuses() {
		id := conv.Container(s.GetContainerId())
		if a.told[id] {
			rt.Fatalf("the end of %s was told twice", id)
		}
		a.told[id] = true
		a.granted = slices.DeleteFunc(a.granted, func(g ids.Container) bool { return g == id })
	}
	c.quiet()
}

// unfetched is how many containers at a priority wait for a master's next call: those that are held and that it was
// not told of.
func (c *chaos) unfetched(a *chaosApp, priority int32) (n int32) {
	list, err := c.r.Containers(context.Background(), ids.Attempt{App: a.id, N: a.attempt})
	if err != nil {
		c.rt.Fatal(err)
	}
	for _, k := range list {
		if k.Kind != heddle.AM && k.Priority == priority && !slices.Contains(a.granted, k.ID) {
			n++
		}
	}
	return n
}

// exit ends a container on its node.
func (c *chaos) exit(rt *rapid.T) {
	n := c.node(rt)
	for _, id := range slices.SortedFunc(maps.Keys(n.conts), ids.Container.Compare) {
		if rapid.Bool().Draw(rt, "this one") {
			n.end(id, rapid.SampledFrom([]int32{0, 1, 143}).Draw(rt, "status"))
			return
		}
	}
}

func (c *chaos) kill(rt *rapid.T) {
	a, p := c.app(rt)
	if rapid.IntRange(0, 3).Draw(rt, "attempt only") == 0 && p.Attempt > 0 && !p.State.Final() {
		err := c.r.FailAttempt(context.Background(), Actor{User: "bob"}, ids.Attempt{App: a.id, N: p.Attempt})
		if err != nil {
			rt.Fatal(err)
		}
		c.quiet()
		return
	}
	if err := c.r.Kill(context.Background(), Actor{User: "bob"}, a.id, ""); err != nil {
		rt.Fatal(err)
	}
	c.quiet()
}

func (c *chaos) fault(rt *rapid.T) {
	switch n := c.node(rt); rapid.SampledFrom([]string{"silence", "silence of one", "number", "NodeManager", "health", "ResourceManager", "refresh", "resize"}).Draw(rt, "fault") {
	case "silence":
		c.sleep(11 * time.Minute)
	case "silence of one":
		for range 11 {
			c.sleep(time.Minute)
			for _, m := range c.nodes {
				if m != n {
					c.beat(m, true)
				}
			}
		}
	case "number": // a report that is neither the next nor the last one again
		n.resp += 5
		c.beat(n, true)
	case "NodeManager": // all it ran is gone with it
		clear(n.conts)
		clear(n.apps)
		c.register(n)
	case "health":
		n.sick = !n.sick
		c.beat(n, true)
	case "ResourceManager":
		c.stop()
		c.sleep(5 * time.Second)
		c.start()
		for _, a := range c.apps {
			clear(a.told) // what was told and not acknowledged comes again
		}
	case "refresh":
		sch := testScheduler(c.t, c.with)
		if err := c.r.change(context.Background(), func(call rm.Call) rm.Message { return &rm.Refresh{Call: call, Scheduler: sch} }); err != nil {
			rt.Error(err)
		}
	case "resize":
		err := c.r.ResizeNode(context.Background(), n.id, heddle.Of(rapid.Int64Range(1, 8).Draw(rt, "GiB")*1024, 4000))
		if gone := (*rm.NotFound)(nil); err != nil && !errors.As(err, &gone) {
			rt.Fatal(err)
		}
	}
	c.quiet()
}

// books recounts.
func (c *chaos) books() {
	if _, err := read(context.Background(), c.r, func() (struct{}, error) {
		for _, wrong := range c.r.m.Check() {
			c.rt.Error(wrong)
		}
		return struct{}{}, nil
	}); err != nil {
		c.rt.Fatal(err)
	}
}

// settle kills what is left and lets everybody report: nothing may remain.
func (c *chaos) settle() {
	for _, n := range c.nodes {
		n.sick = false
	}
	for _, a := range c.apps {
		if err := c.r.Kill(context.Background(), Actor{User: "bob"}, a.id, ""); err != nil {
			c.rt.Fatal(err)
		}
	}
	c.quiet() // masters are being stopped
	for range 5 {
		for _, n := range c.nodes {
			c.beat(n, true)
		}
		c.sleep(4 * time.Minute)
		c.quiet()
	}
	for _, n := range c.nodes { // a master that had finished and stayed is ended by its silence
		c.beat(n, true)
		c.beat(n, true)
		c.beat(n, true)
	}
	c.books()
	for _, n := range c.nodes {
		if len(n.conts) > 0 || len(n.apps) > 0 {
			c.rt.Errorf("%s still has %d containers and %d applications", n.id, len(n.conts), len(n.apps))
		}
	}
	_, _ = read(context.Background(), c.r, func() (struct{}, error) {
		m := c.r.m.Reports()
		if p := m.Cluster(); !p.Used.IsZero() || p.Containers > 0 || p.RunningApps+p.PendingApps > 0 {
			c.rt.Errorf("left: %v used, %d containers, %d applications run, %d wait", p.Used, p.Containers, p.RunningApps, p.PendingApps)
		}
		for _, n := range m.Nodes() { // one that waits for nothing is wanted late
			if n.BeatEvery != testConfig().IdleBeat {
				c.rt.Errorf("%s is to report again after %v: it has still something to clean up after", n.ID, time.Duration(n.BeatEvery))
			}
		}
		c.r.auth.mu.RLock()
		defer c.r.auth.mu.RUnlock()
		if len(c.r.auth.attempts) > 0 {
			c.rt.Errorf("tokens of %d attempts still let masters in", len(c.r.auth.attempts))
		}
		return struct{}{}, nil
	})
}
