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

// Reserve is the room on the disk that the store keeps behind what it has written, where the file system can do that:
// what is committed while nobody else finds room goes there.
const Reserve = 16 << 20

// retryEvery is how often room is looked for while there is none.
const retryEvery = time.Second

// A Shortage says that the disk has no room for the reserve, or for a commit.
type Shortage struct {
	Folder     string
	Free, Need int64 // bytes; Free is −1 where the system does not say
	Err        error // what the system says
}

// Error says which disk is full, what is free there and what is needed.
func (s *Shortage) Error() string {
	left := ""
	if s.Free >= 0 {
		left = fmt.Sprintf("%.1f MiB are free there, and ", mebi(s.Free))
	}
	return fmt.Sprintf("the disk of %s is full (%v): %s%.1f MiB are needed", s.Folder, s.Err, left, mebi(s.Need))
}

// Unwrap returns what the system says.
func (s *Shortage) Unwrap() error { return s.Err }

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// noRoom returns what the system says where an error is for want of room, nil for all others.
func noRoom(err error) error {
	if err == nil {
		return nil
	}
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		// The library passes on the text alone where it cannot make the file longer.
		if errors.Is(err, e) || strings.HasPrefix(err.Error(), "file resize error: ") && strings.HasSuffix(err.Error(), e.Error()) {
			return e
		}
	}
	return nil
}

// OnShortage has f called when the disk is full, each time that there is another thing to say of it, and with nil when
// there is room again: from the store's goroutine, or at once. It must not block for long. It is for one caller.
func (s *Store) OnShortage(f func(*Shortage)) {
	s.mu.Lock()
	s.onShortage = f
	short := s.short
	s.mu.Unlock()
	if short != nil {
		f(short)
	}
}

// lacks notes that there is no room, or with nil that there is.
func (s *Store) lacks(err error, need int64) {
	var short *Shortage
	if err != nil {
		dir := filepath.Dir(s.path)
		short = &Shortage{Folder: dir, Free: spare(dir), Need: need, Err: err}
	}
	s.mu.Lock()
	before, f := s.short, s.onShortage
	s.short = short
	s.mu.Unlock()
	if f != nil && (short != nil || before != nil) {
		f(short)
	}
}

// provide makes the reserve as long as it should be. A file system that cannot do that has none.
func (s *Store) provide() {
	if s.unreserved {
		s.lacks(nil, 0) // whatever was to be written has been
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

// written is how many bytes of the file are in use, or were.
func (s *Store) written() (size int64) {
	_ = s.db.View(func(tx *bbolt.Tx) error {
		size = tx.Size()
		return nil
	})
	return size
}

// persist writes a batch. Of one commit that finds no room it tries until there is some, the store fails, or it is
// closed. Several commits that find none are returned as fits = false: one by one they may.
func (s *Store) persist(batch []commit) (own []error, fits bool, err error) {
	for {
		before := s.last()
		own, err = s.write(batch)
		full := noRoom(err)
		if full == nil {
			return own, true, err
		}
		if s.last() != before {
			// What ends a transaction is in the file, and may be on the disk or not.
			return own, true, fmt.Errorf("the disk was full while a transaction was ended: %w", err)
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
			return nil, true, fmt.Errorf("it was closed before there was room for all that was to be written: %w", err)
		}
	}
}

// last is the number of the last transaction in the file, as far as the system has it in memory.
func (s *Store) last() (id int) {
	_ = s.db.View(func(tx *bbolt.Tx) error {
		id = tx.ID()
		return nil
	})
	return id
}
