// Package store keeps what the ResourceManager may not forget in one file: applications, their attempts, what the last
// ones of each user and name came to, the secrets of masters' tokens, and how often it was started. What was
// acknowledged is on the disk.
//
// It knows nothing of what the records stand for: no states, no protobuf, no dates.
package store

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"heddle/internal/histogram"
)

// Limits of what waits to be written. A disk that is this far behind counts as failed.
const (
	MaxWaiting      = 100_000   // commits
	MaxWaitingBytes = 512 << 20 // of their byte fields
)

// What goes into one transaction at most, so that the first of a long queue is not kept waiting for the last.
const (
	maxBatch      = 1_000
	maxBatchBytes = 16 << 20
)

// ErrClosed is what commits get after Close.
var ErrClosed = errors.New("the store is closed")

// A Store is an open file. Its methods may be called from everywhere.
type Store struct {
	path  string
	db    *bbolt.DB
	file  *os.File // the same, to reserve room
	lock  *os.File
	giver *giver // nil where it is not asked for copies
	retry time.Duration

	mu         sync.Mutex
	wake       *sync.Cond // something waits, room is to be looked for, or the store closes
	queue      []commit
	bytes      int
	look       bool // for room
	closing    bool
	err        error // the first failure; nothing is written after it
	short      *Shortage
	onShortage func(*Shortage)
	waiting    int       // commits that are being written
	head       time.Time // when the first of the commits that are being written was handed in; zero for none
	writing    time.Time // since when they are

	// What follows belongs to the store's goroutine.
	kept       counts
	reserved   int64 // how far into the file there is room for certain
	unreserved bool  // the file system keeps no room

	writes histogram.Histogram
	waits  histogram.Histogram

	failed chan struct{}
	stop   chan struct{} // closed as the store closes
	ended  chan struct{} // the goroutine is gone
	close  func() error
}

// A commit is one call of [Store.Commit].
type commit struct {
	changes []Change
	size    int
	at      time.Time
	done    func(error)
}

func newStore(path string, db *bbolt.DB, lock *os.File, kept counts) *Store {
	s := makeStore(path, db, lock, kept)
	var err error
	if s.file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		s.unreserved = true
	}
	go s.run()
	return s
}

// makeStore makes a store that does not write yet, and reserves no room.
func makeStore(path string, db *bbolt.DB, lock *os.File, kept counts) *Store {
	s := &Store{
		path: path, db: db, lock: lock, kept: kept, retry: retryEvery,
		failed: make(chan struct{}), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	s.wake = sync.NewCond(&s.mu)
	s.close = sync.OnceValue(s.shut)
	return s
}

// Commit writes the changes, all or none, after those of earlier calls. It returns at once. When they are on
// the disk, or known not to get there, done is called with nil or the reason, in the order of the calls, from
// the store's goroutine (after Close: from one of its own); it must not block for long. A nil done is allowed.
//
// A commit for which the disk has no room waits until there is some, and those after it wait too: see
// [Store.OnShortage]. An error may concern this commit alone: a record too long, an attempt without its application.
// All others are the store's: see [Store.Failed].
func (s *Store) Commit(done func(error), changes ...Change) {
	if done == nil {
		done = func(error) {}
	}
	c := commit{changes: changes, at: time.Now(), done: done}
	for i := range changes {
		c.size += changes[i].size
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		go done(ErrClosed)
		return
	}
	s.queue = append(s.queue, c)
	s.bytes += c.size
	if len(s.queue) > MaxWaiting || s.bytes > MaxWaitingBytes {
		s.fail(fmt.Errorf("%d commits with %d bytes wait for the disk, more than it may be behind (%d, %d)",
			len(s.queue), s.bytes, MaxWaiting, MaxWaitingBytes))
	}
	s.wake.Signal()
}

// Waiting is how many bytes of commits are not on the disk yet.
func (s *Store) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Stats are the figures of a store.
type Stats struct {
	Commits, Bytes int           // that are not on the disk yet
	Oldest         time.Duration // since the first of them was handed in
	Writing        time.Duration // since the transaction that is under way was begun; 0 for none
	Short          *Shortage     // nil where there is room

	Writes histogram.Snapshot // what the disk took for each transaction: for its pages and for syncing them
	Waits  histogram.Snapshot // from handing in a commit to its being on the disk
}

// Stats returns the figures.
func (s *Store) Stats() Stats {
	p := Stats{Writes: s.writes.Snapshot(), Waits: s.waits.Snapshot()}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Commits, p.Bytes, p.Short = s.waiting+len(s.queue), s.bytes, s.short
	switch {
	case !s.head.IsZero():
		p.Oldest, p.Writing = time.Since(s.head), time.Since(s.writing)
	case len(s.queue) > 0:
		p.Oldest = time.Since(s.queue[0].at)
	}
	return p
}

// Failed is closed at the first error in writing that is not for want of room. Nothing is written from then on, since nobody knows what a
// failed write left behind: the process has to stop, and to start again from what is on the disk.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err returns why the store failed, nil as long as it did not.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close writes what waits and lets go of the file. It returns why the store failed if it did.
func (s *Store) Close() error { return s.close() }

func (s *Store) shut() error {
	close(s.stop)
	s.giver.close()
	s.mu.Lock()
	s.closing = true
	s.wake.Signal()
	s.mu.Unlock()
	<-s.ended
	_ = s.file.Close() // nothing was written through it
	return errors.Join(s.Err(), closeBoth(s.db, s.lock))
}

// fail notes the first failure. s.mu is held.
func (s *Store) fail(err error) {
	if s.err == nil {
		s.err = fmt.Errorf("store %s: %w", s.path, err)
		close(s.failed)
	}
}

// run is the store's goroutine.
func (s *Store) run() {
	defer close(s.ended)
	// The file is mapped into memory: a disk that cannot be read is a fault of this goroutine, caught in write.
	debug.SetPanicOnFault(true)
	for {
		s.provide()
		stop := s.lookLater()
		batch, failure, open := s.take()
		stop()
		if !open {
			return
		}
		if len(batch) > 0 {
			s.finish(batch, failure)
		}
	}
}

// lookLater has the goroutine look for room soon, if there is none.
func (s *Store) lookLater() (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.short == nil {
		return func() {}
	}
	t := time.AfterFunc(s.retry, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.look = true
		s.wake.Signal()
	})
	return func() { t.Stop() }
}

// take waits for commits and returns the next batch: an empty one where room is to be looked for. The store is not
// open any more when it closes and nothing is left.
func (s *Store) take() (batch []commit, failure error, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 {
		if s.closing {
			return nil, nil, false
		}
		if s.look {
			s.look = false
			return nil, nil, true
		}
		s.wake.Wait()
	}
	n, size := 0, 0
	for n < len(s.queue) && n < maxBatch && (n == 0 || size+s.queue[n].size <= maxBatchBytes) {
		size += s.queue[n].size
		n++
	}
	batch = s.queue[:n:n]
	s.queue = s.queue[n:]
	if len(s.queue) == 0 {
		s.queue = nil // let go of what the slice held
	}
	s.waiting = n
	return batch, s.err, true
}

// finish writes a batch, unless the store failed before, and calls everybody back.
func (s *Store) finish(batch []commit, failure error) {
	var own []error
	if failure == nil {
		s.mu.Lock()
		s.head, s.writing = batch[0].at, time.Now()
		s.mu.Unlock()
		var fits bool
		var err error
		if own, fits, err = s.persist(batch); !fits {
			for i := range batch {
				s.finish(batch[i:i+1], s.Err())
			}
			return
		}
		if err != nil {
			s.mu.Lock()
			s.fail(err)
			failure = s.err
			s.mu.Unlock()
		}
	}
	s.mu.Lock()
	for i := range batch {
		s.bytes -= batch[i].size
	}
	s.waiting -= len(batch)
	s.head = time.Time{}
	s.mu.Unlock()
	for i, c := range batch {
		if failure != nil {
			c.done(failure)
		} else {
			s.waits.Add(time.Since(c.at))
			c.done(own[i])
		}
	}
}

// write writes a batch in one transaction. It returns the errors that concern single commits, and the one that
// concerns all.
func (s *Store) write(batch []commit) (own []error, err error) {
	defer caught(&err)
	own = make([]error, len(batch))
	kept := maps.Clone(s.kept)
	err = s.db.Update(func(tx *bbolt.Tx) error {
		tx.OnCommit(func() {
			stats := tx.Stats()
			s.writes.Add(stats.GetWriteTime())
		})
		for i, c := range batch {
			records, err := encodeAll(tx, c.changes)
			if err != nil {
				own[i] = fmt.Errorf("store %s: %w", s.path, err)
				continue
			}
			if err := kept.apply(tx, c.changes, records); err != nil {
				return err
			}
		}
		return put(tx.Bucket(meta), keyCounts, kept)
	})
	if err == nil {
		s.kept = kept
	}
	return own, err
}

// caught makes a panic an error: of a page that cannot be read, or of a file that is not as it was written.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged or cannot be read: %v", p)
	}
}
