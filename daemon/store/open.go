package store

import (
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"heddle/yarn/ids"
)

// FileName is the name of the store's file in its folder.
const FileName = "rm.db"

// Format is the version of the file layout that this package writes.
const Format = 2

// maxEpoch is how often a store can be opened: the epoch has that much room in a container's number.
const maxEpoch = 1<<23 - 1

const (
	fileMode   = 0o600
	folderMode = 0o700
	others     = 0o077 // the mode bits that admit others
)

// The buckets, and the keys in meta and tokens.
var (
	meta     = []byte("meta")
	apps     = []byte("apps")
	attempts = []byte("attempts")
	tokens   = []byte("tokens")
	runs     = []byte("runs")  // missing in stores of older programs
	nodes    = []byte("nodes") // likewise

	submissions = []byte("submissions") // missing in stores of format 1

	keyFormat  = []byte("format")
	keyEpoch   = []byte("epoch")
	keyCluster = []byte("cluster")
	keyCounts  = []byte("counts")
	keyStarts  = []byte("starts") // missing in stores of older programs
	keyCopied  = []byte("copied") // true in copies that have not been opened yet, false as [State.separate] says
	keyAMRM    = []byte("amrm")
)

// Open opens the file at path for this process alone. It creates the file and missing folders, counts this start, and
// returns what the file holds. Everything is on disk when it returns. An error says what to do.
func Open(path string) (*Store, *State, error) {
	s, state, err := open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("store %s: %w", path, err)
	}
	return s, state, nil
}

func open(path string) (*Store, *State, error) {
	if err := secureFolder(filepath.Dir(path)); err != nil {
		return nil, nil, err
	}
	lock, err := takeLock(path + ".lock")
	if err != nil {
		return nil, nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = create(path)
	case err == nil && info.Size() == 0:
		err = errors.New("the file is empty; restore it from a copy, or remove it to start with an empty store")
	}
	if err == nil {
		err = secureFile(path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	db, state, err := begin(path)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	return newStore(path, db, lock, state.kept), state, nil
}

// begin opens an existing file, reads it and counts the start. If the file is damaged, begin replaces it by a new one
// with whatever can be read.
func begin(path string) (*bbolt.DB, *State, error) {
	db, state, err := read(path)
	if page, record := (Damage{}), (unreadable{}); errors.As(err, &page) || errors.As(err, &record) {
		var w *wreck
		if w, err = readWreck(path); err == nil {
			err = w.replace()
		}
		if err == nil {
			if db, state, err = read(path); err == nil {
				state.Salvaged = &w.Report
			}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if err := countStart(db, state); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, state, nil
}

// read opens an existing file and reads it.
func read(path string) (*bbolt.DB, *State, error) {
	db, both, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	state, err := load(db, !both)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	if !both {
		state.bad(meta, nil, ids.App{}, errors.New("one of the first two pages is damaged: the data may be that of the commit before the last"))
	}
	return db, state, nil
}

// openFile opens the B-tree in the file at path. A file that is not a B-tree, or only part of one, is an error. both
// reports whether both meta pages are intact.
func openFile(path string) (db *bbolt.DB, both bool, err error) {
	var file *os.File
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if err != nil && file != nil {
			unlock(file) // already closed, unless opening panicked
		}
		var system *fs.PathError
		switch {
		case err == nil, errors.As(err, &system):
		case errors.Is(err, berrors.ErrTimeout):
			err = errors.New("another program holds the file open; end it, or give this ResourceManager a folder of its own (--data)")
		default:
			err = fmt.Errorf("%w; restore the file from a copy, let heddle store repair make a store of what can be read, or move it away to start with an empty store", err)
		}
	}()
	defer caught(&err)
	if both, err = checkFile(path); err != nil {
		return nil, false, err
	}
	db, err = bbolt.Open(path, fileMode, &bbolt.Options{
		Timeout:      lockWait,
		FreelistType: bbolt.FreelistMapType,
		NoStatistics: true,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(name, flag, mode)
			file = f
			return f, err
		},
	})
	return db, both, err
}

// checkFile checks the structure of the file at path.
func checkFile(path string) (both bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err == nil {
		both, err = check(f, info.Size())
	}
	return both, errors.Join(err, f.Close())
}

// create makes an empty store under another name and moves it to path, so that there is never half a store.
func create(path string) error {
	next := path + ".new"
	if err := fill(next, func(*bbolt.DB) error { return nil }); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// fill creates a file with what f puts into it. An existing file was left behind by a start that did not finish; the
// lock ensures that nobody else uses it.
func fill(path string, f func(*bbolt.DB) error) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{Timeout: lockWait, NoStatistics: true})
	if err != nil {
		return err
	}
	err = db.Update(initialise)
	if err == nil {
		err = f(db)
	}
	return errors.Join(err, db.Close())
}

// countStart stores the epoch that load increased, after it has brought an older store to this format. If commits may be
// missing, it keeps attempt numbers from being given out again.
func countStart(db *bbolt.DB, state *State) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer caught(&err)
	if err := state.separate(db); err != nil {
		return err
	}
	return db.Update(func(tx *bbolt.Tx) error {
		if err := modernise(tx); err != nil {
			return err
		}
		if state.older || state.Copied {
			if err := state.pass(tx); err != nil {
				return err
			}
		}
		b := tx.Bucket(meta)
		return errors.Join(b.Delete(keyCopied), put(b, keyEpoch, state.Epoch))
	})
}

// modernise makes an older store one of this format, except for records.
func modernise(tx *bbolt.Tx) error {
	for _, name := range [][]byte{runs, nodes, submissions} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return tx.Bucket(meta).Put(keyFormat, strconv.AppendInt(nil, Format, 10))
}

// pass calls the function pass for what was loaded. Going back to the same copy again does not repeat numbers.
func (s *State) pass(tx *bbolt.Tx) error {
	jump := int32(attemptJump)
	if s.Copied {
		jump += mathrand.Int32N(attemptJump)
	}
	var list []*App
	for i := range s.Apps {
		list = append(list, &s.Apps[i])
	}
	var known []ids.Attempt
	for i := range s.Attempts {
		known = append(known, s.Attempts[i].ID)
	}
	return pass(tx, list, known, jump)
}

// secureFolder creates the folder, and rejects one that others can read: it holds the keys of tokens.
func secureFolder(dir string) error {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return err
	}
	if err := onlyOurs(dir, folderMode); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

func secureFile(path string) error { return onlyOurs(path, fileMode) }

func onlyOurs(path string, want os.FileMode) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&others != 0 {
		return fmt.Errorf("%s has mode %04o, so that others could read the secrets in it; run: chmod %o %s", path, mode, want, path)
	}
	return nil
}

// syncFolder makes the names of files in the folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil // a folder above ours that we may only pass through
		}
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func closeBoth(db *bbolt.DB, lock *os.File) error {
	return errors.Join(db.Close(), lock.Close())
}

// lockWait is how long to wait for a process that is just ending.
const lockWait = 900 * time.Millisecond
