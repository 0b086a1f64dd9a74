package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/daemon/store"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/translate"
)

// An RM is a running ResourceManager: a [rm.Machine] and the loop that passes it what arrives over sockets and carries
// out what it wants done. Its methods may be called from any goroutine while [RM.Run] runs.
type RM struct {
	cfg     Config
	refresh RefreshFunc
	store   *store.Store
	log     *slog.Logger
	units   translate.Units

	began   time.Time // the machine's time 0
	starts  []int64   // of this start and earlier ones, in milliseconds since 1970
	cluster int64     // of this start, in milliseconds since 1970: part of its ids and tokens
	ready   atomic.Bool
	awaited atomic.Pointer[awaited]
	placer  atomic.Pointer[rm.Scheduler] // the machine's scheduler, for callers outside the loop
	facts   Facts
	life    context.Context // ends with the loop
	die     context.CancelFunc

	lanes        *lanes
	reads        reads
	explanations explanations
	done         chan struct{} // the loop has ended

	mu     sync.Mutex
	posted []func() // by goroutines of the daemon's own, which must never wait for the loop
	wake   chan struct{}

	// The fields below belong to the loop.
	m       *rm.Machine
	last    rm.Call
	waiting map[rm.Call]func(any, error)
	failed  error // why the loop has to end
	busy    busyness

	watch watch // used outside the loop too

	// A slot for who reads the files of queues, and of hosts, and has the machine follow them: what was read later stays.
	readsQueues, readsHosts chan struct{}

	known    rackCache // used outside the loop too
	auth     *auth     // likewise
	launches chan struct{}
	clock    func() time.Time // this host's clock, which can be set, and goes on while the host is suspended
	callOnce func(nodeCall, string, proto.Message, proto.Message) error
	lookup   func(ctx context.Context, host string) (addresses []string, err error)
}

// A RefreshFunc reads the configuration anew and returns the scheduler it describes. An error, also that a setting has
// changed that is read only at the start and on which schedulers depend, changes nothing.
type RefreshFunc func() (*rm.Scheduler, error)

// Options are the parts of a ResourceManager.
type Options struct {
	Config    Config
	Scheduler *rm.Scheduler
	Refresh   RefreshFunc  // nil if the scheduler cannot change
	Store     *store.Store // nil: nothing is kept
	State     *store.State // what was found in the store; nil without one
	Log       *slog.Logger
}

// maxLaunches is how many masters are started or stopped at a time: many of them may wait for a node that is gone.
const maxLaunches = 1024

// New returns a ResourceManager that has taken over the contents of the store. It serves nothing before Run.
func New(o Options) (*RM, error) {
	now := time.Now()
	r := &RM{
		cfg: o.Config, units: translate.UnitsOf(o.Config.ExtraResources, o.Config.ExtraUnits), refresh: o.Refresh, store: o.Store, log: o.Log,
		began: now, cluster: now.UnixMilli(),
		lanes: newLanes(), done: make(chan struct{}), wake: make(chan struct{}, 1), waiting: map[rm.Call]func(any, error){},
		launches: make(chan struct{}, maxLaunches), clock: time.Now, callOnce: once, lookup: net.DefaultResolver.LookupHost,
		watch: watch{hung: make(chan error, 1)}, readsQueues: make(chan struct{}, 1), readsHosts: make(chan struct{}, 1),
		known: rackCache{rack: map[string]string{}, runs: make(chan struct{}, scriptsAtOnce)}, facts: noFacts{},
	}
	r.explanations.by = map[ids.App]explanation{}
	r.reads.asked = map[any]*question{}
	r.reads.stale.Store(true)
	r.life, r.die = context.WithCancel(context.Background())
	lists, err := r.readHosts()
	if err != nil {
		return nil, err
	}
	if r.auth, err = newAuth(o.State, now); err != nil {
		return nil, err
	}
	options := rm.Options{Config: o.Config.Config, Scheduler: o.Scheduler, Began: r.cluster, Lists: lists, Keys: r.auth.states(), Memo: newMemo}
	if o.State != nil {
		options.Epoch = o.State.Epoch - 1 // the first start counts as epoch 0, which container ids leave out
		options.State, options.Runs, options.Starts, options.Nodes = r.recovered(o.State), o.State.Runs, o.State.Starts, o.State.Nodes
	}
	r.starts = append(slices.Clone(options.Starts), r.cluster)
	m, effects := rm.New(options)
	r.m = m
	r.carry(effects)
	return r, nil
}

// ClusterTimestamp returns when this ResourceManager started, in milliseconds since 1970. Its ids contain it.
func (r *RM) ClusterTimestamp() int64 { return r.cluster }

// ServedAt sets where clients reach the web pages, as host:port, if the configuration does not say. Call it before Run.
func (r *RM) ServedAt(web string) { r.m.ServedAt(web) }

// Ready reports whether recovery is over: what ran before the start has been found again or given up.
func (r *RM) Ready() bool { return r.ready.Load() }

// awaited counts the NodeManagers that a start still waits for, and those known from before it.
type awaited struct{ missing, known int }

// Awaited returns how many NodeManagers from before the start have not come back, and how many there were. Before
// recovery begins, both are zero.
func (r *RM) Awaited() (missing, known int) {
	if a := r.awaited.Load(); a != nil {
		return a.missing, a.known
	}
	return 0, 0
}

// Run runs the loop. It returns nil when the context ends, or the reason why it cannot go on.
func (r *RM) Run(ctx context.Context) error {
	defer close(r.done)
	defer r.die()
	go r.guard(goroutine())
	r.commit(func() {}, store.PutKeys(r.auth.keys[rm.MasterRing].kept()), store.PutStarts(r.starts))
	timer := time.NewTimer(0)
	defer timer.Stop()
	var broken <-chan struct{}
	if r.store != nil {
		broken = r.store.Failed()
		r.store.OnShortage(r.short)
	}
	for r.failed == nil {
		if r.m.Ready() {
			r.ready.Store(true)
		} else {
			missing, known := r.m.Awaited()
			r.awaited.Store(&awaited{missing, known})
		}
		idle := time.Now()
		runtime.Gosched() // callers that were answered wait for this processor
		var woke func()
		select {
		case <-ctx.Done():
			r.carry(r.m.Settle())
			return nil
		case woke = <-r.lanes.beats:
		case <-r.wake:
		case <-timer.C:
		case <-broken: // the store may hang and never call back
			return storeFailed(r.store.Err())
		}
		r.watch.turns.Add(1)
		r.busy.idle(idle, time.Now())
		r.turn(woke)
		timer.Reset(r.next())
		r.watch.turns.Add(1)
	}
	return r.failed
}

// turn runs what was posted, what waits, what has come due, and then whatever there is time for.
func (r *RM) turn(woke func()) {
	r.mu.Lock()
	posted := r.posted
	r.posted = nil
	r.mu.Unlock()
	for _, f := range posted {
		f()
	}
	if r.lanes.run(woke) {
		r.nudge()
	}
	r.tick()
	r.serveReads()
}

// post has the loop run f soon. It never waits.
func (r *RM) post(f func()) {
	r.mu.Lock()
	r.posted = append(r.posted, f)
	r.mu.Unlock()
	r.nudge()
}

// tick runs what has come due.
func (r *RM) tick() {
	if r.at(time.Now()) >= r.m.Deadline() {
		r.step(rm.Tick{})
	}
}

// next returns how long the loop may sleep.
func (r *RM) next() time.Duration {
	now := time.Now()
	d := time.Duration(r.m.Deadline().Since(r.at(now)))
	if at, ok := r.reads.due(); ok {
		d = min(d, at.Sub(now))
	}
	if at, ok := r.lanes.due(); ok {
		d = min(d, at.Sub(now))
	}
	if at, ok := r.lanes.resumes(); ok {
		d = min(d, at.Sub(now))
	}
	return max(d, 0)
}

// now returns the time as the machine counts it.
func (r *RM) now() heddle.Time { return r.at(time.Now()) }

// at converts a time to the machine's time.
func (r *RM) at(t time.Time) heddle.Time { return heddle.Time(t.Sub(r.began)) }

// step passes a message to the machine and carries out what it wants done.
func (r *RM) step(msg rm.Message) {
	effects := r.m.Step(r.at(time.Now()), msg)
	if r.m.Changed() { // before anybody is answered, so that their next question shows it
		r.reads.stale.Store(true)
	}
	r.carry(effects)
}

// carry does what the machine wants done. None of it passes a message to the machine at once.
func (r *RM) carry(effects []rm.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case *rm.Answer:
			if reply := r.waiting[e.Call]; reply != nil {
				delete(r.waiting, e.Call)
				reply(e.Value, e.Err)
			}
		case *rm.Store:
			r.commit(func() { r.step(rm.Stored{Seq: e.Seq}) }, changes(e.Changes)...)
		case *rm.StartMaster:
			r.launch(e)
		case *rm.StopMaster:
			r.stop(e)
		case rm.AdmitMaster:
			r.auth.admit(e.Attempt)
		case rm.DropMaster:
			r.auth.drop(e.Attempt)
		case rm.MakeKey:
			r.makeKey(e)
		case rm.UseKey:
			r.useKey(e)
		case *rm.ReadJob:
			r.learn(func(ctx context.Context, f Facts) rm.Message { return f.Read(ctx, e) })
		case *rm.AskMaster:
			r.learn(func(ctx context.Context, f Facts) rm.Message { return f.Ask(ctx, e) })
		case *rm.Log:
			logLine(r.log, e)
		case *rm.Ended:
			logEnd(r.log, e)
		case *rm.Altered:
			logAltered(r.log, e)
		}
	}
	if sch := r.m.Scheduler(); sch != r.placer.Load() {
		r.placer.Store(sch)
	}
}

var levels = [...]slog.Level{rm.Info: slog.LevelInfo, rm.Warn: slog.LevelWarn, rm.Error: slog.LevelError}

// logLine writes a log line of the machine.
func logLine(log *slog.Logger, e *rm.Log) {
	for i, v := range e.Args {
		if s, ok := v.(heddle.Span); ok {
			e.Args[i] = time.Duration(s).Round(time.Millisecond)
		}
	}
	log.Log(context.Background(), levels[e.Level], e.Text, e.Args...)
}

// commit writes to the store. The loop runs then once the changes are durable. A store that fails ends the daemon: what
// anybody was told must be found again.
func (r *RM) commit(then func(), changes ...store.Change) {
	if r.store == nil {
		r.post(then)
		return
	}
	r.store.Commit(func(err error) {
		r.post(func() {
			if err != nil {
				r.failed = storeFailed(err)
				return
			}
			then()
		})
	}, changes...)
}

// short tells the machine that the store's disk is full or, if s is nil, that it has room again.
func (r *RM) short(s *store.Shortage) {
	why := ""
	if s != nil {
		why = s.Error()
	}
	r.post(func() {
		r.lanes.full = s != nil
		r.step(rm.StoreShort{Why: why})
	})
}

// changes converts the machine's changes to the store's form.
func changes(list []rm.Change) []store.Change {
	out := make([]store.Change, len(list))
	for i, c := range list {
		switch {
		case c.App != nil && c.SameContext:
			out[i] = store.UpdateApp(*c.App)
		case c.App != nil:
			out[i] = store.PutApp(*c.App)
		case c.Attempt != nil:
			out[i] = store.PutAttempt(*c.Attempt)
		case c.Run != nil:
			out[i] = store.PutRun(*c.Run)
		case c.DropAttempt != nil:
			out[i] = store.DropAttempt(*c.DropAttempt)
		case c.DropRun != nil:
			out[i] = store.DropRun(*c.DropRun)
		case c.Node != nil:
			out[i] = store.PutNode(*c.Node)
		case c.DropNode != nil:
			out[i] = store.DropNode(*c.DropNode)
		default:
			out[i] = store.DropApp(c.Drop)
		}
	}
	return out
}

func storeFailed(err error) error {
	return fmt.Errorf("the store failed, and the ResourceManager cannot go on without it: %w", err)
}
