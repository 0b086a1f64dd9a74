package rm

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/rm/store"
	"heddle/sched"
	"heddle/yarn/ids"
)

// An RM is a ResourceManager. Its methods may be called from any goroutine while [RM.Run] runs.
type RM struct {
	cfg     Config
	sch     *Scheduler
	refresh RefreshFunc
	store   *store.Store
	log     *slog.Logger

	began   time.Time // the core's time 0
	cluster int64     // when this incarnation started, milliseconds since 1970: part of its ids and tokens
	epoch   int64
	ready   atomic.Bool
	placer  atomic.Pointer[Scheduler] // sch, for callers outside the loop

	calls chan func()   // waits for the loop; bounded
	done  chan struct{} // the loop has ended

	mu     sync.Mutex
	posted []func() // from goroutines of the daemon's own, which must never wait for the loop
	wake   chan struct{}

	// What follows belongs to the loop.
	core      *sched.Core
	stepping  bool
	events    []heddle.Event // that came while the core's decisions were carried out
	ending    string         // what the kills being carried out are for, as the master is told
	hold      time.Time      // nothing is given away before; zero for no hold
	failed    error          // why the loop has to end
	foundID   ids.Container  // the container that the core is told was found, and when it was made
	foundTime time.Time

	apps      []*app // by heddle.AppID
	byApp     map[ids.App]*app
	seq       int32
	over      []*app // of byApp, that ended, oldest first
	nodes     []*node
	byNode    map[ids.Node]*node
	hosts     map[string][]*node
	racks     map[string]heddle.RackID
	rackIDs   []string
	users     map[string]heddle.UserID
	userNames []string // by UserID
	queues    map[string]heddle.QueueID
	conts     map[heddle.ContainerID]*container
	byCont    map[ids.Container]*container
	listed    hostLists
	known     rackCache // used outside the loop too

	auth     *auth
	launches chan struct{} // slots of the launcher
	callOnce func(nodeCall, string, proto.Message, proto.Message) error
	lookup   func(ctx context.Context, host string) (addresses []string, err error)
	timers   timers
	checked  time.Time // when timers were last looked at
	tidyAt   int       // how many numbers may be given before they begin anew
	counts   tally
	steps    uint64 // of cores before the one there is
	grants   uint64 // likewise
	busy     busyness
}

// Options is what a ResourceManager is made of.
type Options struct {
	Config    Config
	Scheduler *Scheduler
	Refresh   RefreshFunc  // nil where the scheduler cannot change
	Store     *store.Store // nil: nothing is kept
	State     *store.State // what was found in the store; nil without one
	Log       *slog.Logger
}

const (
	maxCalls    = 4096 // waiting for the loop before callers wait to be let in
	maxLaunches = 1024 // masters being started or stopped at a time: many of them may wait for a node that is gone
	// checkEvery is how often timers are looked at; expiry intervals are minutes, seconds in tests.
	checkEvery = 250 * time.Millisecond
)

// New returns a ResourceManager that has taken over what the store holds. It serves nothing before Run.
func New(o Options) (*RM, error) {
	now := time.Now()
	r := &RM{
		cfg: o.Config, sch: o.Scheduler, refresh: o.Refresh, store: o.Store, log: o.Log,
		began: now, cluster: now.UnixMilli(),
		calls: make(chan func(), maxCalls), done: make(chan struct{}), wake: make(chan struct{}, 1),
		core:  sched.New(o.Scheduler.Set),
		byApp: map[ids.App]*app{}, byNode: map[ids.Node]*node{}, hosts: map[string][]*node{},
		racks: map[string]heddle.RackID{}, users: map[string]heddle.UserID{}, queues: o.Scheduler.numbers(),
		conts: map[heddle.ContainerID]*container{}, byCont: map[ids.Container]*container{},
		launches: make(chan struct{}, maxLaunches), callOnce: once, lookup: net.DefaultResolver.LookupHost, checked: now, tidyAt: tidyAt,
		known: rackCache{rack: map[string]string{}, runs: make(chan struct{}, scriptsAtOnce)},
	}
	r.placer.Store(o.Scheduler)
	var err error
	if r.listed, err = r.readHosts(); err != nil {
		return nil, err
	}
	if r.auth, err = newAuth(r.cfg, o.State, now); err != nil {
		return nil, err
	}
	if o.State != nil {
		r.epoch = o.State.Epoch - 1 // the first start counts as epoch 0, of which container ids say nothing
		r.recover(o.State)
	}
	return r, nil
}

// ClusterTimestamp is when this ResourceManager started, in milliseconds since 1970: part of the ids it gives.
func (r *RM) ClusterTimestamp() int64 { return r.cluster }

// ServedAt says where clients reach the web pages, as host:port, where the configuration does not. It is for
// before Run.
func (r *RM) ServedAt(web string) { r.cfg.WebHost = cmp.Or(r.cfg.WebHost, web) }

// Ready reports whether recovery is over: what was running before the start has been found again or given up.
func (r *RM) Ready() bool { return r.ready.Load() }

// Run is the loop. It returns when the context ends, or with the reason why it cannot go on.
func (r *RM) Run(ctx context.Context) error {
	defer close(r.done)
	r.keepKeys(r.auth.masters, func() {})
	timer := time.NewTimer(0)
	defer timer.Stop()
	var broken <-chan struct{}
	if r.store != nil {
		broken = r.store.Failed()
	}
	for r.failed == nil {
		if r.hold.IsZero() {
			r.ready.Store(true)
		}
		idle := time.Now()
		var f func()
		select {
		case <-ctx.Done():
			return nil
		case f = <-r.calls:
		case <-r.wake:
		case <-timer.C:
		case <-broken: // it may hang, and never call back
			return storeFailed(r.store.Err())
		}
		r.busy.idle(idle, time.Now())
		if f != nil {
			f()
		}
		r.drain()
		r.tick()
		timer.Reset(r.next())
	}
	return r.failed
}

// drain runs what was posted and what waits, up to so many that timers are not forgotten.
func (r *RM) drain() {
	r.mu.Lock()
	posted := r.posted
	r.posted = nil
	r.mu.Unlock()
	for _, f := range posted {
		f()
	}
	for range 64 {
		select {
		case f := <-r.calls:
			f()
		default:
			return
		}
	}
}

// post has the loop run f soon. It never waits.
func (r *RM) post(f func()) {
	r.mu.Lock()
	r.posted = append(r.posted, f)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// tick runs what has come due.
func (r *RM) tick() {
	now := time.Now()
	if at, ok := r.core.Deadline(); ok && r.at(now) >= at {
		r.step(heddle.Wake{})
	}
	if now.Sub(r.checked) >= checkEvery {
		r.checked = now
		r.expire(now)
		r.tidy()
	}
}

// next is how long the loop may sleep.
func (r *RM) next() time.Duration {
	now := time.Now()
	d := checkEvery - now.Sub(r.checked)
	if at, ok := r.core.Deadline(); ok {
		d = min(d, time.Duration(at.Since(r.at(now))))
	}
	return max(d, 0)
}

// at is a date as the core counts time.
func (r *RM) at(t time.Time) heddle.Time { return heddle.Time(t.Sub(r.began)) }

// epochMS is a time of the core's as milliseconds since 1970.
func (r *RM) epochMS(t heddle.Time) int64 { return r.began.Add(time.Duration(t)).UnixMilli() }

// step has the core take an event and carries out what it decides. Events that come of carrying out are taken
// afterwards.
func (r *RM) step(ev heddle.Event) {
	r.events = append(r.events, ev)
	if r.stepping {
		return
	}
	r.stepping = true
	for len(r.events) > 0 {
		ev := r.events[0]
		r.events = r.events[1:]
		for _, d := range r.core.Step(r.at(time.Now()), ev) {
			r.carry(d)
		}
	}
	r.events = r.events[:0]
	r.stepping = false
}

// answer is what a call of the loop came to.
type answer[T any] struct {
	value T
	err   error
}

// call has the loop run f and waits until f, or something f arranged for, replies.
func call[T any](ctx context.Context, r *RM, f func(reply func(T, error))) (T, error) {
	ch := make(chan answer[T], 1)
	reply := func(v T, err error) { ch <- answer[T]{v, err} }
	var none T
	select {
	case r.calls <- func() { f(reply) }:
	case <-ctx.Done():
		return none, ctx.Err()
	case <-r.done:
		return none, ErrStopping
	}
	select {
	case a := <-ch:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-r.done:
		return none, ErrStopping
	}
}

// read has the loop run f and returns what it returns.
func read[T any](ctx context.Context, r *RM, f func() (T, error)) (T, error) {
	return call(ctx, r, func(reply func(T, error)) { reply(f()) })
}

// commit writes to the store; then is run by the loop once that is durable. A store that fails ends the daemon:
// what was told to anybody has to be found again.
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

func storeFailed(err error) error {
	return fmt.Errorf("the store failed, and nothing can be promised without it: %w", err)
}
