package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/conf"
	"heddle/daemon/store"
	"heddle/policies"
	"heddle/policies/fair"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// world is a ResourceManager with NodeManagers, masters and clients that are functions of the test.
type world struct {
	*testing.T
	profile string // of those started on a store; "" for capacity
	largest int64  // MiB of the largest container, if not the default
	config  Config
	r       *RM
	stop    func()
	log     bytes.Buffer
	calling sync.Mutex
	calls   []string // of the ResourceManager to NodeManagers
	refuse  error    // what NodeManagers answer
}

func testConfig() Config {
	return Config{
		Config: rm.Config{
			KeyRolling: 24 * heddle.Hour, NodeKeyRolling: 24 * heddle.Hour,
			NodeExpiry: 10 * heddle.Minute, MasterExpiry: 15 * heddle.Minute, ContainerExpiry: 10 * heddle.Minute,
			MaxAttempts: 2, GlobalAttempts: 2, MaxCompleted: 1000, MaxTags: 10, MaxTagLength: 100, SchedulingWait: 10 * heddle.Second, WorkPreserving: true,
			LogAggregation: true, Beat: heddle.Second, FastBeat: 200 * heddle.Millisecond, IdleBeat: 3 * heddle.Second, BeatLoad: 1000, MaxPriority: 10,
			Keyed: true,
		},
		ConnectRetries: 1, Recovery: true,
	}
}

// testScheduler returns a profile for one queue, root.default; for fair it adds the given leaves below the root.
func testScheduler(t testing.TB, profile string, leaves ...string) *rm.Scheduler {
	t.Helper()
	p, err := policies.Load(profile, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, off := p.WithoutAgent()
	h := conf.Default()
	queues := *h.Fair
	queues.Queues = slices.Clone(queues.Queues)
	for _, leaf := range leaves {
		if !slices.ContainsFunc(queues.Queues, func(q fair.QueueConfig) bool { return q.Path == leaf }) {
			queues.Queues = append(queues.Queues, fair.QueueConfig{Path: leaf, Weight: 1, MaxAMShare: -1})
		}
	}
	queues.SortQueues()
	b, err := policies.Build(p, policies.Env{Capacity: h.Capacity, Fair: &queues, Minimum: h.Site.Minimum, Maximum: h.Site.Maximum, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &rm.Scheduler{Set: b.Set, Type: "capacity", Profile: profile, Off: off, Minimum: b.Minimum, Maximum: b.Maximum, UserName: b.User}
	for i, path := range b.Paths {
		s.Queues = append(s.Queues, rm.QueueInfo{Path: path, Parent: b.Queues[i], Leaf: i > 0, State: rm.QueueRunning, Capacity: 1, Max: 1, Absolute: 1, AbsoluteMax: 1})
	}
	s.Place = func(q rm.Placement) (string, error) { return "root." + q.Queue, nil }
	s.Rebuild = func(leaves []string) (*rm.Scheduler, error) {
		if p.Queues != "fair" {
			leaves = nil
		}
		return testScheduler(t, profile, leaves...), nil
	}
	return s
}

// inWorld runs a test in a bubble with its own time.
func inWorld(t *testing.T, profile string, f func(t *testing.T, w *world)) {
	inWorldOf(t, profile, testConfig(), f)
}

// inWorldOf is inWorld with another configuration.
func inWorldOf(t *testing.T, profile string, c Config, f func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, config: c}
		w.start(profile, nil, nil)
		defer func() { w.stop() }()
		f(t, w)
	})
}

// start starts a ResourceManager, which may find something in a store.
func (w *world) start(profile string, st *store.Store, state *store.State) {
	w.Helper()
	sch := testScheduler(w.T, profile)
	if w.largest > 0 {
		sch.Maximum[heddle.Memory], sch.Set.Maximum[heddle.Memory] = w.largest, w.largest
	}
	r, err := New(Options{
		Config: w.config, Scheduler: sch, Store: st, State: state,
		Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.callOnce = func(c nodeCall, method string, _, _ proto.Message) error {
		w.calling.Lock() // several NodeManagers are called at once
		defer w.calling.Unlock()
		w.calls = append(w.calls, method+" "+c.addr)
		return w.refuse
	}
	r.lookup = func(context.Context, string) ([]string, error) { return nil, nil }
	w.r = r
	go func() { _ = r.Run(ctx) }()
	w.stop = func() {
		cancel()
		<-r.done
	}
}

// refresh makes another scheduler take over, as when the configuration is read again.
func (w *world) refresh(sch *rm.Scheduler) error {
	return w.r.change(w.Context(), func(c rm.Call) rm.Message { return &rm.Refresh{Call: c, Scheduler: sch} })
}

// inLoop runs f in the loop.
func (w *world) inLoop(f func()) {
	w.Helper()
	if _, err := call(context.Background(), w.r, changeLane, func(reply func(struct{}, error)) { f(); reply(struct{}{}, nil) }); err != nil {
		w.Fatal(err)
	}
}

// check recounts the machine's books.
func (w *world) check() {
	w.Helper()
	w.inLoop(func() {
		for _, wrong := range w.r.m.Check() {
			w.Error(wrong)
		}
	})
}

// nm is a NodeManager.
type nm struct {
	w     *world
	id    ids.Node
	resp  int32
	sick  bool // when it registers
	conts map[ids.Container]*wire.ContainerStatus
}

func (w *world) node(host string, mem int64, cores int32) *nm {
	w.Helper()
	n := &nm{w: w, id: ids.Node{Host: host, Port: 8041}, conts: map[ids.Container]*wire.ContainerStatus{}}
	if p := n.register(mem, cores); p.GetNodeAction() != wire.NodeAction_NORMAL {
		w.Fatalf("%s was not taken in: %s", host, p.GetDiagnosticsMessage())
	}
	n.beat() // as soon as it has the keys
	return n
}

func (n *nm) register(mem int64, cores int32, list ...*wire.NMContainerStatus) *wire.RegisterNodeManagerResponse {
	n.w.Helper()
	q := &wire.RegisterNodeManagerRequest{
		NodeId: conv.WireNode(n.id), HttpPort: proto.Int32(8042), NmVersion: new("3.4.2"),
		Resource: &wire.Resource{Memory: new(mem), VirtualCores: new(cores)}, ContainerStatuses: list,
		NodeStatus: &wire.NodeStatus{NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(!n.sick)}},
	}
	for _, s := range list {
		q.RunningApplications = append(q.RunningApplications, s.GetContainerId().GetAppAttemptId().GetApplicationId())
	}
	p, err := n.w.r.registerNode(context.Background(), &rpc.Call{}, q)
	if err != nil {
		n.w.Fatal(err)
	}
	n.resp = 0
	return p
}

// beat reports what runs and what has ended since the last heartbeat.
func (n *nm) beat() *wire.NodeHeartbeatResponse {
	n.w.Helper()
	st := &wire.NodeStatus{NodeId: conv.WireNode(n.id), ResponseId: new(n.resp), NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true)}}
	for id, s := range n.conts {
		st.ContainersStatuses = append(st.ContainersStatuses, s)
		if s.GetState() == wire.ContainerState_C_COMPLETE {
			delete(n.conts, id)
		}
	}
	p, err := n.w.r.heartbeat(context.Background(), &rpc.Call{}, &wire.NodeHeartbeatRequest{NodeStatus: st})
	if err != nil {
		n.w.Fatal(err)
	}
	n.resp = p.GetResponseId()
	return p
}

// run starts a container.
func (n *nm) run(id ids.Container) {
	n.conts[id] = &wire.ContainerStatus{ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_RUNNING.Enum()}
}

// exit ends a container; the next heartbeat says so.
func (n *nm) exit(id ids.Container, status int32) {
	n.conts[id] = &wire.ContainerStatus{
		ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_COMPLETE.Enum(), ExitStatus: new(status), Diagnostics: new("as the node says"),
	}
}

// am is an ApplicationMaster.
type am struct {
	w    *world
	call *rpc.Call
	resp int32
}

// submit submits an application and returns its id.
func (w *world) submit(kind string, mem int64) ids.App {
	w.Helper()
	id, _, err := w.r.NewApp(context.Background(), "ann")
	if err != nil {
		w.Fatal(err)
	}
	if err := w.r.Submit(context.Background(), "ann", submission(id, kind, mem)); err != nil {
		w.Fatal(err)
	}
	return id
}

func submission(id ids.App, kind string, mem int64) *wire.ApplicationSubmissionContext {
	return &wire.ApplicationSubmissionContext{
		ApplicationId: conv.WireApp(id), ApplicationName: new("job"), Queue: new("default"), ApplicationType: new(kind),
		Resource:        &wire.Resource{Memory: new(mem), VirtualCores: proto.Int32(1)},
		AmContainerSpec: &wire.ContainerLaunchContext{Command: []string{"run"}},
	}
}

// app returns what clients see of an application.
func (w *world) app(id ids.App) rm.AppReport {
	w.Helper()
	synctest.Wait()
	p, err := w.r.App(context.Background(), id)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// master registers the master of an application's current attempt.
func (w *world) master(id ids.App) *am {
	w.Helper()
	p := w.app(id)
	m := &am{w: w, call: &rpc.Call{Identity: rm.Caller{Attempt: ids.Attempt{App: id, N: p.Attempt}}}}
	m.register()
	return m
}

func (m *am) register() *wire.RegisterApplicationMasterResponse {
	m.w.Helper()
	p, err := m.w.r.registerMaster(context.Background(), m.call, &wire.RegisterApplicationMasterRequest{
		Host: new("n1"), RpcPort: proto.Int32(7000), TrackingUrl: new("http://n1:7001"),
	})
	if err != nil {
		m.w.Fatal(err)
	}
	m.resp = 0
	return p
}

// ask makes one allocate call.
func (m *am) ask(rows ...*wire.ResourceRequest) *wire.AllocateResponse {
	m.w.Helper()
	p, err := m.try(&wire.AllocateRequest{Ask: rows, ResponseId: new(m.resp)})
	if err != nil {
		m.w.Fatal(err)
	}
	return p
}

func (m *am) try(q *wire.AllocateRequest) (*wire.AllocateResponse, error) {
	p, err := m.w.r.allocate(context.Background(), m.call, q)
	if err == nil {
		m.resp = p.GetResponseId()
	}
	return p, err
}

// row returns a request for count containers at a place.
func row(priority int32, place string, mem int64, count int32) *wire.ResourceRequest {
	return &wire.ResourceRequest{
		Priority: &wire.Priority{Priority: new(priority)}, ResourceName: new(place), NumContainers: new(count),
		Capability: &wire.Resource{Memory: new(mem), VirtualCores: proto.Int32(1)},
	}
}

func (m *am) finish() bool {
	m.w.Helper()
	p, err := m.w.r.finishMaster(context.Background(), m.call, &wire.FinishApplicationMasterRequest{
		FinalApplicationStatus: wire.FinalApplicationStatus_APP_SUCCEEDED.Enum(), TrackingUrl: new("http://history/job"),
	})
	if err != nil {
		m.w.Fatal(err)
	}
	return p.GetIsUnregistered()
}

// masterOf returns the container of an application's master.
func (w *world) masterOf(id ids.App) ids.Container {
	w.Helper()
	return w.app(id).Master
}
