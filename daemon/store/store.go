// Package store keeps in one file what the ResourceManager must not forget: applications, their attempts, what the last
// applications of each user and name came to, the secrets of masters' tokens, and how often it was started. What it has
// acknowledged is on disk.
//
// The package does not know what the records mean: it has no states, no protobuf and no dates.
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

// Limits of what waits to be written. A disk that is further behind counts as failed.
const (
	MaxWaiting      = 100_000   // commits
	MaxWaitingBytes = 512 << 20 // of their byte fields
)

// Limits of one transaction, so that the first commit of a long queue does not wait for the last.
const (
	maxBatch      = 1_000
	maxBatchBytes = 16 << 20
)

// ErrClosed is the result of commits after Close.
var ErrClosed = errors.New("the store is closed")

// A Store is an open file. Its methods may be called from any goroutine.
type Store struct {
	path  string
	db    *bbolt.DB
	file  *os.File // the same file, to reserve room
	lock  *os.File
	giver *giver // nil if nobody can ask for copies
	retry time.Duration

	mu         sync.Mutex
	wake       *sync.Cond // commits wait, it is time to look for room, or the store closes
	queue      []commit
	bytes      int
	look       bool // it is time to look for room
	closing    bool
	err        error // the first failure; nothing is written after it
	short      *Shortage
	onShortage func(*Shortage)
	waiting    int       // number of commits being written
	head       time.Time // when the first of those commits was handed in; zero for none
	writing    time.Time // when writing them began

	// The fields below belong to the store's goroutine.
	kept       counts
	reserved   int64 // up to this offset the file has room for certain
	unreserved bool  // the file system cannot reserve room

	writes histogram.Histogram
	waits  histogram.Histogram

	failed chan struct{}
	stop   chan struct{} // closed when the store closes
	ended  chan struct{} // the goroutine has ended
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

// makeStore returns a store that does not write yet and reserves no room.
func makeStore(path string, db *bbolt.DB, lock *os.File, kept counts) *Store {
	s := &Store{
		path: path, db: db, lock: lock, kept: kept, retry: retryEvery,
		failed: make(chan struct{}), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	s.wake = sync.NewCond(&s.mu)
	s.close = sync.OnceValue(s.shut)
	return s
}

// Commit writes the changes, all or none, after those of earlier calls. It returns at once. When the changes are on
// disk, or are known not to get there, done is called with nil or the reason: in the order of the calls, from the
// store's goroutine (after Close: from a goroutine of its own). done must not block for long. It may be nil.
//
// A commit for which the disk has no room waits until there is some, and those after it wait too: see
// [Store.OnShortage]. An error may concern this commit alone: a record is too long, or an attempt has no application.
// All other errors are the store's: see [Store.Failed].
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
		s.fail(fmt.Errorf("%d commits with %d bytes wait for the disk; the limits are %d and %d",
			len(s.queue), s.bytes, MaxWaiting, MaxWaitingBytes))
	}
	s.wake.Signal()
}

// Waiting returns how many bytes of commits are not on disk yet.
func (s *Store) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Stats are the figures of a store.
type Stats struct {
	Commits, Bytes int           // that are not on disk yet
	Oldest         time.Duration // time since the first of them was handed in
	Writing        time.Duration // time since the current transaction began; 0 for none
	Short          *Shortage     // nil if there is room

	Writes histogram.Snapshot // disk time of each transaction: for writing its pages and syncing them
	Waits  histogram.Snapshot // from handing in a commit until it is on disk
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

// Failed returns a channel that is closed at the first write error other than a lack of room. Nothing is written from
// then on, as nobody knows what a failed write left behind: the process must stop, and restart from what is on disk.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err returns why the store failed, or nil if it has not failed.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close writes what waits and closes the file. It returns the reason if the store failed.
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

// fail records the first failure. s.mu is held.
func (s *Store) fail(err error) {
	if s.err == nil {
		s.err = fmt.Errorf("store %s: %w", s.path, err)
		close(s.failed)
	}
}

// run is the store's goroutine.
func (s *Store) run() {
	defer close(s.ended)
	// The file is mapped into memory: if the disk cannot be read, this goroutine faults, which write catches.
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

// lookLater makes the goroutine look for room soon, if there is none.
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

// take waits for commits and returns the next batch, which is empty if it is time to look for room. open is false once
// the store closes and no commit is left.
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
		s.queue = nil // release what the slice held
	}
	s.waiting = n
	return batch, s.err, true
}

// finish writes a batch, unless the store failed before, and calls all callbacks.
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

// write writes a batch in one transaction. It returns the errors of single commits, and the error that concerns all.
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

// caught turns a panic into an error: a page cannot be read, or the file is not as it was written.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged or cannot be read: %v", p)
	}
}
