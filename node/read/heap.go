package read

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxTmp is how many names in a process's /tmp are looked at.
const maxTmp = 100_000

// HeapOf returns what a Java process on this machine says of its heap, by its number here. The process has no work of it.
// One that says nothing (-XX:-UsePerfData, -XX:+PerfDisableSharedMem), or is gone, is [fs.ErrNotExist].
//
// The file is /tmp/hsperfdata_<user>/<pid>, with the process's own /tmp, number and user's name, which in a container are
// others than here. So any user's will do that belongs to the one who runs the process.
func HeapOf(pid int) (Heap, error) { return heapOf("/proc", pid) }

func heapOf(proc string, pid int) (Heap, error) {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	inside, uid, err := status(dir, pid)
	if err != nil {
		return Heap{}, fmt.Errorf("process %d: %w", pid, err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "root"))
	if err != nil {
		return Heap{}, fmt.Errorf("process %d: %w", pid, err)
	}
	defer func() { _ = root.Close() }() // it was only read
	tmp, err := root.OpenRoot("tmp")
	if err != nil {
		return Heap{}, fmt.Errorf("process %d: %w", pid, at(root, err))
	}
	defer func() { _ = tmp.Close() }()
	list, err := names(tmp, maxTmp)
	for _, name := range list {
		if !strings.HasPrefix(name, "hsperfdata_") {
			continue
		}
		file := name + "/" + strconv.Itoa(inside)
		info, err := tmp.Stat(file)
		if err != nil {
			continue // another user's
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid != uid {
			continue
		}
		data, err := load(tmp, file, maxPerf)
		if err != nil {
			return Heap{}, fmt.Errorf("process %d: %w", pid, err)
		}
		h, err := ParsePerf(data)
		if err != nil {
			return Heap{}, fmt.Errorf("process %d: %s/%s: %w", pid, tmp.Name(), file, err)
		}
		return h, nil
	}
	if err != nil {
		return Heap{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return Heap{}, fmt.Errorf("process %d: no hsperfdata_*/%d of user %d in %s: it is no Java process, or runs with "+
		"-XX:-UsePerfData or -XX:+PerfDisableSharedMem: %w", pid, inside, uid, tmp.Name(), fs.ErrNotExist)
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
