package facts

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"heddle"
	"heddle/conf"
	"heddle/daemon/proxy"
	"heddle/rm"
)

// Limits of what is asked at once. They keep the work that strangers can cause small.
const (
	maxAsks        = 64 // masters at a time; further asks fail at once, and are repeated later
	maxAsksOfUser  = 16 // … of one user: masters that hang do not keep others from being asked
	maxReads       = 8  // submissions at a time; others wait, because each is read only once
	maxWaiting     = 4096
	waitTime       = time.Second     // to be let in to read: the machine waits 3 s in total
	readTime       = 2 * time.Second // for reading what is beside one submission
	defaultAskTime = 5 * time.Second // for an ask without a time limit
	maxAskTime     = 30 * time.Second
)

// Options configures an [Asker].
type Options struct {
	Masters     bool            // ask masters
	Submissions bool            // read what clients left beside submissions
	Way         proxy.Way       // the way to masters
	Files       conf.FileSystem // the file system with the submissions
	Log         *slog.Logger    // nil for none
}

// An Asker answers [rm.ReadJob] and [rm.AskMaster]. Its methods may be called from any goroutine.
type Asker struct {
	o       Options
	files   files
	crowd   *proxy.Crowd[string] // asks, by user
	reading chan struct{}        // slots for reads at work
	waiting chan struct{}        // slots for all reads, waiting or at work

	mu    sync.Mutex
	stats map[Source]*Stats // guarded by mu
}

// A Source is a kind of request: what was asked about which framework.
type Source struct {
	Submission bool // what is beside a submission; otherwise a master
	Framework  heddle.Framework
}

// Stats are the figures of one source since the start.
type Stats struct {
	Asked    uint64
	Failed   uint64        // of Asked: nothing was learnt, or not everything
	Requests uint64        // to masters, or files opened
	Bytes    uint64        // bytes read
	Time     time.Duration // total time taken
}

// New returns an Asker.
func New(o Options) *Asker {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Asker{
		o: o, files: newHDFS(o.Files), crowd: proxy.NewCrowd[string](maxAsks, maxAsksOfUser),
		reading: make(chan struct{}, maxReads), waiting: make(chan struct{}, maxWaiting), stats: map[Source]*Stats{},
	}
}

// Ask asks a master what q wants to know, for as long as q allows. It never fails: the answer says what went wrong.
func (a *Asker) Ask(ctx context.Context, q *rm.AskMaster) *rm.MasterTold {
	told := &rm.MasterTold{Attempt: q.Attempt}
	if !a.o.Masters {
		told.Failed = "masters are not asked: heddle.yaml has facts.masters: false"
		return told
	}
	began := time.Now()
	if a.crowd.Enter(q.User) {
		defer a.crowd.Leave(q.User)
		within := time.Duration(q.Within)
		if within <= 0 {
			within = defaultAskTime
		}
		short, cancel := context.WithTimeout(ctx, min(within, maxAskTime))
		defer cancel()
		a.ask(short, q, told)
	} else {
		told.Failed = "too many masters are being asked"
	}
	a.count(Source{false, q.Framework}, told.Failed, meter{told.Requests, told.Bytes}, began)
	return told
}

// Read reads what the client of q left beside its submission. It never fails: the answer says what went wrong.
func (a *Asker) Read(ctx context.Context, q *rm.ReadJob) *rm.JobRead {
	read := &rm.JobRead{App: q.App}
	if !a.o.Submissions {
		read.Failed = "submissions are not read: heddle.yaml has facts.submissions: false"
		return read
	}
	began := time.Now()
	m := meter{}
	defer func() { a.count(Source{true, q.Framework}, read.Failed, m, began) }()
	select {
	case a.waiting <- struct{}{}:
		defer func() { <-a.waiting }()
	default:
		read.Failed = "too many submissions wait to be read"
		return read
	}
	late := time.NewTimer(waitTime)
	defer late.Stop()
	select {
	case a.reading <- struct{}{}:
		defer func() { <-a.reading }()
	case <-late.C: // nobody waits for the answer any more
		read.Failed = "reading other submissions took too long"
		return read
	case <-ctx.Done():
		read.Failed = "the daemon is stopping"
		return read
	}
	began = time.Now()
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	a.read(ctx, q, read, &m)
	return read
}

// count adds a request to the figures of its source.
func (a *Asker) count(of Source, failed string, m meter, began time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.stats[of]
	if s == nil {
		s = &Stats{}
		a.stats[of] = s
	}
	s.Asked++
	if failed != "" {
		s.Failed++
	}
	s.Requests += uint64(m.requests)
	s.Bytes += uint64(m.bytes)
	s.Time += time.Since(began)
}

// Stats returns the figures of each source that was asked.
func (a *Asker) Stats() map[Source]Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make(map[Source]Stats, len(a.stats))
	for of, s := range a.stats {
		out[of] = *s
	}
	return out
}
