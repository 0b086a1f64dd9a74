package read

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Limits for folders /tmp, where any user may create names.
const (
	maxTmp     = 100_000 // names in one folder
	tmpBatch   = 256     // names read at a time
	maxOwned   = 16      // folders kept of one user in one folder
	maxFolders = 16_384  // folders kept in all
	perfFolder = "hsperfdata_"
)

// Heaps reads what Java processes on this machine report about their heaps. It lists each folder /tmp once, for all
// processes that share it: so use one Heaps only for processes read at about the same time. It is not safe for concurrent
// use.
type Heaps struct {
	proc string // where processes are
	tmps map[inode]*tmp
	kept int // folders
}

// NewHeaps returns a Heaps that has read nothing yet.
func NewHeaps() *Heaps { return &Heaps{proc: "/proc", tmps: map[inode]*tmp{}} }

// An inode identifies a folder, whatever its name.
type inode struct{ dev, ino uint64 }

// A tmp is what was found in a folder /tmp.
type tmp struct {
	folders map[uint32][]string // hsperfdata_*, by the user who owns them
	err     error               // why some may be missing
}

// Of returns what a Java process reports about its heap, by its number on this machine. This costs the process nothing.
// If the process reports nothing (-XX:-UsePerfData, -XX:+PerfDisableSharedMem) or is gone, the error is [fs.ErrNotExist].
// Names in its /tmp are read until a deadline.
//
// The file is /tmp/hsperfdata_<user>/<pid>, with the process's own /tmp, number and user name, which in a container
// differ from those outside. So any folder will do that belongs to the user who runs the process, who must also own the
// file.
func (h *Heaps) Of(pid int, until time.Time) (Heap, error) {
	said, err := h.of(pid, until)
	if err != nil {
		return Heap{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return said, nil
}

func (h *Heaps) of(pid int, until time.Time) (Heap, error) {
	dir := filepath.Join(h.proc, strconv.Itoa(pid))
	inside, uid, err := status(dir, pid)
	if err != nil {
		return Heap{}, err
	}
	root, err := os.OpenRoot(filepath.Join(dir, "root"))
	if err != nil {
		return Heap{}, err
	}
	defer func() { _ = root.Close() }() // it was only read
	folder, err := below(root, "tmp")
	if err != nil {
		return Heap{}, at(root, err)
	}
	defer func() { _ = folder.Close() }()
	list, err := h.list(folder, until)
	if err != nil {
		return Heap{}, err
	}
	for _, name := range list.folders[uid] {
		file := name + "/" + strconv.Itoa(inside)
		info, err := folder.Stat(file)
		if err != nil {
			continue // of another process
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid != uid {
			continue
		}
		data, err := load(folder, file, maxPerf)
		if err != nil {
			return Heap{}, err
		}
		said, err := ParsePerf(data)
		if err != nil {
			return Heap{}, fmt.Errorf("%s/%s: %w", pathOf(folder), file, err)
		}
		return said, nil
	}
	if list.err != nil {
		return Heap{}, list.err
	}
	return Heap{}, fmt.Errorf("no hsperfdata_*/%d of user %d in %s: it is not a Java process, or runs with "+
		"-XX:-UsePerfData or -XX:+PerfDisableSharedMem: %w", inside, uid, pathOf(folder), fs.ErrNotExist)
}

// list returns the content of a folder /tmp, and reads it if that has not been done.
func (h *Heaps) list(root *os.Root, until time.Time) (*tmp, error) {
	info, err := root.Stat(".")
	if err != nil {
		return nil, at(root, err)
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%s has no numeric value", pathOf(root))
	}
	key := inode{is.Dev, is.Ino}
	t := h.tmps[key]
	if t == nil {
		t = &tmp{folders: map[uint32][]string{}}
		t.err = h.fill(t, root, until)
		h.tmps[key] = t
	}
	return t, nil
}

// fill reads the content of a folder /tmp.
func (h *Heaps) fill(t *tmp, root *os.Root, until time.Time) error {
	f, err := root.Open(".")
	if err != nil {
		return at(root, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	full := false
	for looked := 0; ; {
		switch {
		case looked >= maxTmp:
			return fmt.Errorf("%s has at least %d names; no more are read", pathOf(root), maxTmp)
		case time.Now().After(until):
			return fmt.Errorf("%s has too many names to read in the time available", pathOf(root))
		}
		list, err := f.Readdirnames(tmpBatch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		looked += len(list)
		for _, name := range list {
			uid, ok := perfOwner(root, name)
			switch {
			case !ok:
			case len(t.folders[uid]) == maxOwned || h.kept == maxFolders:
				full = true
			default:
				t.folders[uid] = append(t.folders[uid], name)
				h.kept++
			}
		}
	}
	if full {
		return fmt.Errorf("%s has too many hsperfdata_* folders: at most %d of a user and %d in all are read", pathOf(root), maxOwned, maxFolders)
	}
	return nil
}

// perfOwner returns the owner of a folder of hsperfdata files; ok is false if it is no such folder. Java processes do not
// follow a link.
func perfOwner(root *os.Root, name string) (uid uint32, ok bool) {
	if !strings.HasPrefix(name, perfFolder) {
		return 0, false
	}
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() {
		return 0, false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return owner.Uid, true
}

// status returns the number that a process has in its own namespace, and the user who runs it.
func status(dir string, pid int) (inside int, uid uint32, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return 0, 0, err
	}
	inside, found := pid, false
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Uid:") && len(f) == 5: // real, effective, saved, of files
			n, err := strconv.ParseUint(f[2], 10, 32)
			if err != nil {
				return 0, 0, err
			}
			uid, found = uint32(n), true
		case strings.HasPrefix(line, "NSpid:") && len(f) > 1: // here, and in each namespace down to its own
			if inside, err = strconv.Atoi(f[len(f)-1]); err != nil {
				return 0, 0, err
			}
		}
	}
	if !found {
		return 0, 0, errors.New("status has no line Uid: with four numbers")
	}
	return inside, uid, nil
}
