package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"go.etcd.io/bbolt"
)

// exported is a line of the output of [Export].
type exported struct {
	Bucket string          `json:"bucket"`
	Key    string          `json:"key"`
	Record json.RawMessage `json:"record,omitempty"`
	Secret bool            `json:"secret,omitempty"` // the record is left out
	Lost   string          `json:"lost,omitempty"`   // why it cannot be read
}

// Export writes all records of a file that nobody writes to as JSON, one per line. It leaves out secrets: the keys of
// tokens, and what clients submitted, which contains their tokens. Unreadable records say why they are unreadable.
func Export(path string, out io.Writer) (*Report, error) {
	w, err := look(path)
	if err == nil {
		err = w.export(json.NewEncoder(out))
	}
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return &w.Report, nil
}

func (w *wreck) export(out *json.Encoder) error {
	for _, bucket := range slices.Sorted(maps.Keys(w.records)) {
		list := w.records[bucket]
		for _, key := range slices.Sorted(maps.Keys(list)) {
			line := exported{Bucket: bucket, Key: key, Secret: bucket == string(tokens) || bucket == string(submissions)}
			if !line.Secret {
				var err error
				if line.Record, err = plain(bucket, key, list[key]); err != nil {
					return err
				}
			}
			if err := out.Encode(line); err != nil {
				return err
			}
		}
	}
	for _, b := range w.Lost {
		if err := out.Encode(exported{Bucket: b.Bucket, Key: b.Key, Lost: b.Reason}); err != nil {
			return err
		}
	}
	return nil
}

// plain returns a record without its checksum and without what a client submitted.
func plain(bucket, key string, record []byte) (json.RawMessage, error) {
	if bucket == string(meta) && key == string(keyFormat) {
		return record, nil
	}
	text, err := body([]byte(key), record)
	if err != nil || bucket != string(apps) {
		return text, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	delete(fields, "Context")
	return json.Marshal(fields)
}

// Backup copies an undamaged store to a new file and marks the file as a copy. If a process has the store open, Backup
// asks it for the copy: see [Store.Give]. Until the copy is whole and marked, its name is [PartOf] to, so that nobody
// takes it for a finished one.
func Backup(path, to string) (*Report, error) {
	w, err := backup(path, to)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return &w.Report, nil
}

// PartOf returns the name of the unfinished copy that this process makes with [Backup].
func PartOf(to string) string { return fmt.Sprintf("%s.part-%d", to, os.Getpid()) }

func backup(path, to string) (*wreck, error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return nil, cmp.Or[error](err, &fs.PathError{Op: "create", Path: to, Err: syscall.EEXIST})
	}
	part := PartOf(to)
	w, err := copyStore(path, part)
	if err != nil {
		return nil, err
	}
	return w, errors.Join(os.Rename(part, to), syncFolder(filepath.Dir(to)))
}

// copyStore makes a marked copy of a store. If it fails, there is none.
func copyStore(path, to string) (*wreck, error) {
	there, err := ask(path, to, askPatience)
	if err != nil {
		return nil, err
	}
	if there {
		w, err := readWhole(to)
		if err != nil {
			return nil, errors.Join(err, os.Remove(to))
		}
		return w, mark(to)
	}
	lock, err := lockIfThere(path + ".lock")
	if err != nil {
		return nil, err
	}
	w, err := readWhole(path)
	if err == nil {
		err = copyFile(path, to)
	}
	if err == nil {
		err = mark(to)
	}
	return w, errors.Join(err, lock.Close())
}

// readWhole reads an undamaged file.
func readWhole(path string) (*wreck, error) {
	w, err := readWreck(path)
	if err == nil && !w.Whole() {
		err = errors.New("it is damaged: heddle store check shows where, heddle store repair makes a new store of what is left")
	}
	return w, err
}

// mark marks a copy as such: see [State.Copied]. It does so twice, since the first two pages of a file belong to its last
// two commits: whichever of the commits can be read has the mark. A copy that it cannot mark is removed.
func mark(path string) error {
	db, _, err := openFile(path)
	if err == nil {
		for range 2 {
			err = errors.Join(err, db.Update(func(tx *bbolt.Tx) error { return put(tx.Bucket(meta), keyCopied, true) }))
		}
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// copyFile copies a file to a new file. When it returns, the copy is on disk.
func copyFile(path, to string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	return newFile(to, func(out io.Writer) error {
		_, err := io.Copy(out, in)
		return err
	})
}

// newFile creates a file that must not exist. When it returns, what f wrote is on disk.
func newFile(path string, f func(io.Writer) error) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	err = f(out)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return syncFolder(filepath.Dir(path))
}

// sameOwner gives a new file to the owner of an old one, if that is another user.
func sameOwner(of, file string) error {
	info, err := os.Stat(of)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return os.Chown(file, int(s.Uid), int(s.Gid))
	}
	return nil
}
