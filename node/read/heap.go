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

// Limits of what is looked at in folders /tmp, where any user may put names.
const (
	maxTmp     = 100_000 // names in one
	tmpBatch   = 256     // names that are read at a time
	maxOwned   = 16      // folders of one user in one that are kept
	maxFolders = 16_384  // folders in all that are kept
	perfFolder = "hsperfdata_"
)

// Heaps reads what Java processes on this machine say of their heaps. What a folder /tmp has it lists once, for all processes
// that have it as theirs: so it is for processes that are looked at about the same time. It is not safe for concurrent use.
type Heaps struct {
	proc string // where processes are
	tmps map[inode]*tmp
	kept int // folders
}

// NewHeaps returns one that has looked at nothing yet.
func NewHeaps() *Heaps { return &Heaps{proc: "/proc", tmps: map[inode]*tmp{}} }

// An inode is what a folder is, by whatever name.
type inode struct{ dev, ino uint64 }

// A tmp is what was found in a folder /tmp.
type tmp struct {
	folders map[uint32][]string // hsperfdata_*, by the user who owns them
	err     error               // why some may be missing
}

// Of returns what a Java process says of its heap, by its number here. The process has no work of it. One that says nothing
// (-XX:-UsePerfData, -XX:+PerfDisableSharedMem), or is gone, is [fs.ErrNotExist]. Names in its /tmp are looked at until a time.
//
// The file is /tmp/hsperfdata_<user>/<pid>, with the process's own /tmp, number and user's name, which in a container are
// others than here. So any folder will do that belongs to the one who runs the process, as the file has to.
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
	folder, err := root.OpenRoot("tmp")
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
			continue // another process's
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
			return Heap{}, fmt.Errorf("%s/%s: %w", folder.Name(), file, err)
		}
		return said, nil
	}
	if list.err != nil {
		return Heap{}, list.err
	}
	return Heap{}, fmt.Errorf("no hsperfdata_*/%d of user %d in %s: it is no Java process, or runs with "+
		"-XX:-UsePerfData or -XX:+PerfDisableSharedMem: %w", inside, uid, folder.Name(), fs.ErrNotExist)
}

// list returns what is in a folder /tmp, which it looks up where it has not done so.
func (h *Heaps) list(root *os.Root, until time.Time) (*tmp, error) {
	info, err := root.Stat(".")
	if err != nil {
		return nil, at(root, err)
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%s has no number", root.Name())
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

// fill looks up what is in a folder /tmp.
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
			return fmt.Errorf("%s has %d names or more; only so many are looked at", root.Name(), maxTmp)
		case time.Now().After(until):
			return fmt.Errorf("%s has more names than there is time for", root.Name())
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
		return fmt.Errorf("%s has more folders hsperfdata_* than are looked at: %d of a user, %d of all and in all", root.Name(), maxOwned, maxFolders)
	}
	return nil
}

// perfOwner is the user who owns a folder of hsperfdata files; not ok for what is none. A Java process does not take a link.
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

// status returns the number that a process knows itself by, and the user who runs it.
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
