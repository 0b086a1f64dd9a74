package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// Reserve is the disk space that the store reserves beyond what it has written, if the file system supports that.
// Commits go there while the disk is full for everybody else.
const Reserve = 16 << 20

// retryEvery is how often the store looks for room while the disk is full.
const retryEvery = time.Second

// A Shortage says that the disk has no room for the reserve or for a commit.
type Shortage struct {
	Folder     string
	Free, Need int64 // bytes; Free is −1 if the system does not say
	Err        error // the system's error
}

// Error says which disk is full, how much is free there and how much is needed.
func (s *Shortage) Error() string {
	left := ""
	if s.Free >= 0 {
		left = fmt.Sprintf("%.1f MiB are free there, and ", mebi(s.Free))
	}
	return fmt.Sprintf("the disk of %s is full (%v): %s%.1f MiB are needed", s.Folder, s.Err, left, mebi(s.Need))
}

// Unwrap returns the system's error.
func (s *Shortage) Unwrap() error { return s.Err }

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// noRoom returns the system's error if err means that there is no room, and nil otherwise.
func noRoom(err error) error {
	if err == nil {
		return nil
	}
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		// If the library cannot grow the file, it passes on only the text of the error.
		if errors.Is(err, e) || strings.HasPrefix(err.Error(), "file resize error: ") && strings.HasSuffix(err.Error(), e.Error()) {
			return e
		}
	}
	return nil
}

// OnShortage has f called when the disk is full, each time there is news about the shortage, and with nil when there is
// room again: from the store's goroutine, or at once. f must neither block nor use the store. Only one caller may use
// OnShortage.
func (s *Store) OnShortage(f func(*Shortage)) {
	s.mu.Lock()
	defer s.mu.Unlock() // after f: what is said last is the last news
	s.onShortage = f
	if s.short != nil {
		f(s.short)
	}
}

// lacks records that there is no room or, if err is nil, that there is.
func (s *Store) lacks(err error, need int64) {
	var short *Shortage
	if err != nil {
		dir := filepath.Dir(s.path)
		short = &Shortage{Folder: dir, Free: spare(dir), Need: need, Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock() // as in OnShortage
	before := s.short
	s.short = short
	if s.onShortage != nil && (short != nil || before != nil) {
		s.onShortage(short)
	}
}

// provide extends the reserve to its full length. A file system that does not support that has no reserve.
func (s *Store) provide() {
	if s.unreserved {
		s.lacks(nil, 0) // whatever had to be written has been written
		return
	}
	from := s.written()
	if s.short == nil && from+Reserve/2 <= s.reserved {
		return
	}
	err := allocate(s.file, from, Reserve)
	switch full := noRoom(err); {
	case err == nil:
		s.reserved = from + Reserve
		s.lacks(nil, 0)
	case full != nil:
		s.lacks(full, Reserve)
	default:
		s.unreserved = true
	}
}

// written returns how many bytes of the file are or were in use.
func (s *Store) written() (size int64) {
	_ = s.db.View(func(tx *bbolt.Tx) error {
		size = tx.Size()
		return nil
	})
	return size
}

// persist writes a batch. If a single commit finds no room, persist retries until there is room, the store fails or is
// closed. If several commits find none, fits is false: they may fit one at a time.
func (s *Store) persist(batch []commit) (own []error, fits bool, err error) {
	for {
		before := s.last()
		own, err = s.write(batch)
		full := noRoom(err)
		if full == nil {
			return own, true, err
		}
		if s.last() != before {
			// What ends a transaction is in the file, but may or may not be on disk.
			return own, true, fmt.Errorf("the disk became full while a transaction was being committed: %w", err)
		}
		if len(batch) > 1 {
			return nil, false, nil
		}
		s.lacks(full, max(int64(batch[0].size), Reserve))
		select {
		case <-time.After(s.retry):
		case <-s.failed:
			return nil, true, s.Err()
		case <-s.stop:
			return nil, true, fmt.Errorf("the store was closed before there was disk space for all changes: %w", err)
		}
	}
}

// last returns the number of the last transaction in the file, as the system has it in memory.
func (s *Store) last() (id int) {
	_ = s.db.View(func(tx *bbolt.Tx) error {
		id = tx.ID()
		return nil
	})
	return id
}
