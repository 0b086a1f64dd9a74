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

// Limits of what is found out at once. They keep what strangers can make the daemon do small, whoever they are.
const (
	maxAsks        = 64 // masters at a time; those beyond are told so at once, and asked again later
	maxAsksOfUser  = 16 // … of one user: masters that hang keep no others from being asked
	maxReads       = 8  // submissions at a time; others wait, because each is read once
	maxWaiting     = 4096
	waitTime       = time.Second     // to be let in to read: the machine waits 3 s in all
	readTime       = 2 * time.Second // for what is beside one submission
	defaultAskTime = 5 * time.Second // for an ask that does not say
	maxAskTime     = 30 * time.Second
)

// Options are what an [Asker] is made of.
type Options struct {
	Masters     bool            // masters are asked
	Submissions bool            // what clients left beside submissions is read
	Way         proxy.Way       // to masters
	Files       conf.FileSystem // where submissions are
	Log         *slog.Logger    // nil for none
}

// An Asker finds out what [rm.ReadJob] and [rm.AskMaster] want to hear. Its methods may be called from any goroutine.
type Asker struct {
	o       Options
	files   files
	crowd   *proxy.Crowd[string] // asks, by user
	reading chan struct{}        // slots of reads
	waiting chan struct{}        // reads that wait, those at work among them

	mu    sync.Mutex
	stats map[Source]*Stats // guarded by mu
}

// A Source is what was asked about which framework.
type Source struct {
	Submission bool // what is beside one; otherwise a master
	Framework  heddle.Framework
}

// Stats are the figures of one source since the start.
type Stats struct {
	Asked    uint64
	Failed   uint64        // of those asked: nothing was learnt, or not all
	Requests uint64        // to masters, or files that were opened
	Bytes    uint64        // that were read
	Time     time.Duration // that they took together
}

// New returns an asker.
func New(o Options) *Asker {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Asker{
		o: o, files: newHDFS(o.Files), crowd: proxy.NewCrowd[string](maxAsks, maxAsksOfUser),
		reading: make(chan struct{}, maxReads), waiting: make(chan struct{}, maxWaiting), stats: map[Source]*Stats{},
	}
}

// Ask asks a master what q wants to know, for as long as q says. It never fails: what went wrong is in the answer.
func (a *Asker) Ask(ctx context.Context, q *rm.AskMaster) *rm.MasterTold {
	told := &rm.MasterTold{Attempt: q.Attempt}
	if !a.o.Masters {
		told.Failed = "masters are not asked: heddle.yaml says facts.masters: false"
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

// Read reads what the client of q left beside its submission. It never fails: what went wrong is in the answer.
func (a *Asker) Read(ctx context.Context, q *rm.ReadJob) *rm.JobRead {
	read := &rm.JobRead{App: q.App}
	if !a.o.Submissions {
		read.Failed = "submissions are not read: heddle.yaml says facts.submissions: false"
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
	case <-late.C: // nobody waits for it any more
		read.Failed = "others were being read for too long"
		return read
	case <-ctx.Done():
		read.Failed = "the daemon stops"
		return read
	}
	began = time.Now()
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	a.read(ctx, q, read, &m)
	return read
}

// count adds to the figures of a source what was asked now.
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
