package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/test/hollow"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// A cluster is all hollow parts: NodeManagers, the masters and tasks that run on them, and clients.
type cluster struct {
	*hollow.Life
	*history
	child  *child
	room   int // containers per node
	tasks  int // most tasks of a job
	took   time.Duration
	nodes  []*node
	byID   map[ids.Node]*node
	server *rpc.Server
	key    atomic.Pointer[token.Key]

	seen  sync.Mutex
	doom  map[ids.App]bool // applications told to end by their client or their master
	beats []time.Duration  // how long reports took since they were last read
	stats stats

	forgets bool // heddle rm forgets completed applications, and so does the history
}

// stats is how much was done.
type stats struct {
	Jobs, Tasks, Masters, Again int
}

// newCluster returns a cluster with a number of nodes.
func newCluster(ctx context.Context, fail context.CancelCauseFunc, ch *child, nodes, room, tasks int, took time.Duration) (*cluster, error) {
	c := &cluster{
		Life: hollow.NewLife(ctx, fail), history: newHistory(), child: ch, room: room, tasks: tasks, took: took, byID: map[ids.Node]*node{}, doom: map[ids.App]bool{},
	}
	h := hollow.Host{Key: c.key.Load, Start: c.begin, Stop: c.end}
	c.server = h.Server(slog.New(slog.DiscardHandler))
	for i := range nodes {
		ln, err := net.Listen("tcp", hollow.Address(i)+":0")
		if err != nil {
			return nil, err
		}
		n := &node{
			c: c, id: ids.Node{Host: hollow.Address(i), Port: int32(ln.Addr().(*net.TCPAddr).Port)}, peer: hollow.NewPeer(ch.tracker(), hollow.AsNode()),
			works: map[ids.Container]*work{}, apps: map[ids.App]bool{},
		}
		c.nodes = append(c.nodes, n)
		c.byID[n.id] = n
		c.Goes(func() error { return c.server.Serve(ln) })
		c.Goes(n.serve)
	}
	return c, nil
}

// close ends all hollow parts.
func (c *cluster) close() {
	c.Fail(nil)
	_ = c.server.Close(context.Background()) // nothing is in flight
	c.Life.End()
}

// begin handles the ResourceManager's request to start a master.
func (c *cluster) begin(at ids.Node, id ids.Container, _ string, manager int64, t *wire.Token) error {
	n := c.byID[at]
	if !n.run(id, manager) {
		return errors.New("the container was granted by another ResourceManager, or runs already")
	}
	c.count(func(s *stats) { s.Masters++ })
	m := &master{c: c, n: n, id: id, peer: hollow.NewPeer(c.child.scheduler(), hollow.AsMaster(t)), held: map[ids.Container]bool{}, granted: map[ids.Container]bool{}, told: map[ids.Container]int{}}
	m.left = 1 + rand.IntN(c.tasks)
	c.Goes(m.serve)
	return nil
}

// end handles the ResourceManager's request to stop a master.
func (c *cluster) end(id ids.Container) {
	for _, n := range c.nodes {
		if n.runs(id) {
			c.killed(n, id)
		}
	}
}

// killed handles a container that the ResourceManager has killed. That is allowed only if its application was told to
// end.
func (c *cluster) killed(n *node, id ids.Container) {
	if n.runs(id) && !c.doomed(id.Attempt.App) {
		c.violated("%s, which runs on %s, is killed, and nobody wants that", id, n.id)
	}
	n.end(id, -105, true)
}

// dooms records that an application was told to end.
func (c *cluster) dooms(id ids.App) {
	c.seen.Lock()
	defer c.seen.Unlock()
	c.doom[id] = true
}

func (c *cluster) doomed(id ids.App) bool {
	c.seen.Lock()
	defer c.seen.Unlock()
	return c.doom[id]
}

func (c *cluster) count(f func(*stats)) {
	c.seen.Lock()
	defer c.seen.Unlock()
	f(&c.stats)
}

// beat records how long a report took.
func (c *cluster) beat(took time.Duration) {
	c.seen.Lock()
	defer c.seen.Unlock()
	c.beats = append(c.beats, took)
}

// lags returns how long reports took since it was last called, in ascending order.
func (c *cluster) lags() []time.Duration {
	c.seen.Lock()
	defer c.seen.Unlock()
	list := c.beats
	c.beats = nil
	slices.Sort(list)
	return list
}

// active returns how many active nodes the ResourceManager has, or -1 if it does not answer.
func (c *cluster) active(p *hollow.Peer) int {
	var m wire.GetClusterMetricsResponse
	if p.Call(c.Ctx, "getClusterMetrics", &wire.GetClusterMetricsRequest{}, &m) != nil {
		return -1
	}
	return int(m.GetClusterMetrics().GetNumActiveNms())
}

// settle waits until all jobs are over, and records what is left then.
func (c *cluster) settle(jobs <-chan struct{}, within time.Duration) error {
	select {
	case <-jobs:
	case <-time.After(within):
		c.violated("%v after the load there are applications that are not over", within)
		within = time.Second
	case <-c.Ctx.Done():
		return context.Cause(c.Ctx)
	}
	return c.leftovers(min(within, mostLate))
}

// leftovers records what is there when nothing should be.
func (c *cluster) leftovers(within time.Duration) error {
	wanted := map[string]float64{
		`heddle_containers{kind="running"}`: 0, `heddle_containers{kind="waiting"}`: 0, `heddle_containers{kind="reserved"}`: 0,
		`heddle_applications{state="pending"}`: 0, `heddle_applications{state="running"}`: 0, `heddle_memory_bytes{kind="used"}`: 0,
		`heddle_nodes{state="active"}`: float64(len(c.nodes)),
	}
	var left []string
	err := c.Until("nothing is left", within, func() bool {
		left = nil
		m, err := hollow.ReadMetrics(c.Ctx, c.child.web())
		if err != nil {
			left = append(left, err.Error())
		}
		for name, want := range wanted { // order: of findings alone
			if got, err := m.Value(name); err != nil || got != want {
				left = append(left, fmt.Sprintf("%s is %g, want %g (%v)", name, got, want, err))
			}
		}
		for _, n := range c.nodes {
			if works, apps := n.left(); len(works) > 0 || apps > 0 {
				left = append(left, fmt.Sprintf("%s has containers %v, and %d applications", n.id, works, apps))
			}
		}
		return len(left) == 0
	})
	for _, what := range left {
		c.violated("%s, when all is over", what)
	}
	if c.Ctx.Err() != nil {
		return err
	}
	return nil
}
