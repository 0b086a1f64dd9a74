// Package store keeps what the ResourceManager may not forget in one file: applications, their attempts, what the last
// ones of each user and name came to, the secrets of masters' tokens, and how often it was started. What was
// acknowledged is on the disk.
//
// It knows nothing of what the records stand for: no states, no protobuf, no clock.
package store

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"go.etcd.io/bbolt"
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
	path string
	db   *bbolt.DB
	lock *os.File

	mu      sync.Mutex
	wake    *sync.Cond // something waits, or the store closes
	queue   []commit
	bytes   int
	closing bool
	err     error // the first failure; nothing is written after it

	kept counts // of the store's goroutine

	failed chan struct{}
	ended  chan struct{} // the goroutine is gone
	close  func() error
}

// A commit is one call of [Store.Commit].
type commit struct {
	changes []Change
	size    int
	done    func(error)
}

func newStore(path string, db *bbolt.DB, lock *os.File, kept counts) *Store {
	s := &Store{path: path, db: db, lock: lock, kept: kept, failed: make(chan struct{}), ended: make(chan struct{})}
	s.wake = sync.NewCond(&s.mu)
	s.close = sync.OnceValue(s.shut)
	go s.run()
	return s
}

// Commit writes the changes, all or none, after those of earlier calls. It returns at once. When they are on
// the disk, or known not to get there, done is called with nil or the reason, in the order of the calls, from
// the store's goroutine (after Close: from one of its own); it must not block for long. A nil done is allowed.
//
// An error may concern this commit alone: a record too long, an attempt without its application. All others
// are the store's: see [Store.Failed].
func (s *Store) Commit(done func(error), changes ...Change) {
	if done == nil {
		done = func(error) {}
	}
	c := commit{changes: changes, done: done}
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

// Failed is closed at the first error in writing. Nothing is written from then on, since nobody knows what a
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
	s.mu.Lock()
	s.closing = true
	s.wake.Signal()
	s.mu.Unlock()
	<-s.ended
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
		batch, failure := s.take()
		if batch == nil {
			return
		}
		s.finish(batch, failure)
	}
}

// take waits for commits and returns the next batch, nil when the store closes and nothing is left.
func (s *Store) take() ([]commit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 {
		if s.closing {
			return nil, nil
		}
		s.wake.Wait()
	}
	n, size := 0, 0
	for n < len(s.queue) && n < maxBatch && (n == 0 || size+s.queue[n].size <= maxBatchBytes) {
		size += s.queue[n].size
		n++
	}
	batch := s.queue[:n:n]
	s.queue = s.queue[n:]
	if len(s.queue) == 0 {
		s.queue = nil // let go of what the slice held
	}
	return batch, s.err
}

// finish writes a batch, unless the store failed before, and calls everybody back.
func (s *Store) finish(batch []commit, failure error) {
	var own []error
	if failure == nil {
		var err error
		if own, err = s.write(batch); err != nil {
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
	s.mu.Unlock()
	for i, c := range batch {
		if failure != nil {
			c.done(failure)
		} else {
			c.done(own[i])
		}
	}
}

// write writes a batch in one transaction. It returns the errors that concern single commits, and the one that
// concerns all.
func (s *Store) write(batch []commit) (own []error, err error) {
	defer caught(&err)
	own = make([]error, len(batch))
	err = s.db.Update(func(tx *bbolt.Tx) error {
		for i, c := range batch {
			records, err := encodeAll(tx, c.changes)
			if err != nil {
				own[i] = fmt.Errorf("store %s: %w", s.path, err)
				continue
			}
			if err := s.kept.apply(tx, c.changes, records); err != nil {
				return err
			}
		}
		return put(tx.Bucket(meta), keyCounts, s.kept)
	})
	return own, err
}

// caught makes a panic an error: of a page that cannot be read, or of a file that is not as it was written.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged or cannot be read: %v", p)
	}
}
