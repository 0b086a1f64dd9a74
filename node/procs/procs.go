// Package procs finds the containers of a NodeManager by the pid files that it writes, and the processes of each. It
// only reads files and /proc, and changes nothing.
package procs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"heddle/yarn/ids"
)

// A Container is a running container.
type Container struct {
	ID string // container_…, as YARN writes it
	// PID is the process that the NodeManager started for it, which leads a session, and Start is when that process
	// started, in clock ticks since the machine did. The two together never name another process.
	PID   int
	Start uint64
	Task  string // the task attempt or executor that it runs; "" if its arguments do not name it
}

const (
	// looks is how often a container's arguments are read for its task: while being prepared it does not have them yet.
	looks = 15
	// maxTask is the maximum length of a task's name, in bytes.
	maxTask = 128
)

// A Finder finds the containers of a NodeManager. It remembers those that it found, so that it never takes one process
// for another.
type Finder struct {
	dirs  []string
	fs    procfs.FS
	known map[string]*found
}

type found struct {
	Container
	looked int
}

// New returns a Finder that reads these folders, each one of yarn.nodemanager.local-dirs.
func New(dirs []string) (*Finder, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no folders to find containers in: want those of yarn.nodemanager.local-dirs")
	}
	for _, dir := range dirs {
		if _, err := os.ReadDir(dir); err != nil {
			return nil, fmt.Errorf("want the folders of yarn.nodemanager.local-dirs: %w", err)
		}
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, fmt.Errorf("processes cannot be read: %w", err)
	}
	return &Finder{dirs: dirs, fs: fs, known: map[string]*found{}}, nil
}

// Find returns the running containers, by id. A container that it cannot read is left to the next call.
func (f *Finder) Find() []Container {
	here := map[string]*found{}
	for _, dir := range f.dirs {
		// A constant pattern below a folder does not fail.
		files, _ := filepath.Glob(filepath.Join(quote(dir), "nmPrivate", "application_*", "container_*", "container_*.pid"))
		for _, file := range files {
			id := strings.TrimSuffix(filepath.Base(file), ".pid")
			parsed, err := ids.ParseContainer(id)
			if err != nil || parsed.String() != id || filepath.Base(filepath.Dir(file)) != id {
				continue // more zeros than YARN writes would give one container several names
			}
			if c := f.look(id, file); c != nil {
				here[id] = c
			}
		}
	}
	f.known = here
	list := make([]Container, 0, len(here))
	for _, c := range here {
		list = append(list, c.Container)
	}
	slices.SortFunc(list, func(a, b Container) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// look returns the container of a pid file, or nil if it does not run. Whoever may write the file may write any number
// there, and a number may have been reused by another process: a process belongs to a container only if it has the
// container's id in its environment, as the NodeManager starts it. A process in another namespace, such as Docker's, is
// left to whatever made that.
func (f *Finder) look(id, file string) *found {
	pid, err := read(file)
	if err != nil {
		return nil
	}
	start, leads := f.leader(pid)
	c := f.known[id]
	switch {
	case c != nil && c.PID == pid && leads && c.Start == start:
	case c != nil && c.PID == pid && !leads && !f.exists(pid) && f.goesOn(pid):
		// The leader is gone but others of its session are not: no other process gets a number that names a session.
	case leads && f.isOf(pid, id):
		c = &found{Container: Container{ID: id, PID: pid, Start: start}}
	default:
		return nil
	}
	if c.Task == "" && c.looked < looks {
		c.looked++
		if p, err := f.fs.Proc(pid); err == nil {
			if args, err := p.CmdLine(); err == nil {
				c.Task = Task(args)
			}
		}
	}
	return c
}

// maxPID is the most that is read of a pid file, in bytes: more than a number and spaces.
const maxPID = 32

// read returns the number in a pid file. The file may be anything: opening a pipe would wait for its writer, and a device
// or a sparse file may have no end.
func read(file string) (pid int, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPID {
		return 0, fmt.Errorf("%s: want a regular file of at most %d bytes, got %v of %d", file, maxPID, info.Mode(), info.Size())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPID))
	if err != nil {
		return 0, err
	}
	pid, err = strconv.Atoi(string(bytes.TrimSpace(text)))
	if err == nil && pid <= 1 {
		err = fmt.Errorf("%s: want a process ID of at least 2, got %d", file, pid)
	}
	return pid, err
}

// leader returns when a process started, and whether it is alive and leads its session.
func (f *Finder) leader(pid int) (start uint64, leads bool) {
	p, err := f.fs.Proc(pid)
	if err != nil {
		return 0, false
	}
	s, err := p.Stat()
	return s.Starttime, err == nil && s.Session == pid && alive(s)
}

func (f *Finder) exists(pid int) bool {
	p, err := f.fs.Proc(pid)
	if err != nil {
		return false
	}
	s, err := p.Stat()
	return err == nil && alive(s)
}

// isOf reports whether a process claims to be a container's, and is in the same pid namespace as this one.
func (f *Finder) isOf(pid int, id string) bool {
	p, err := f.fs.Proc(pid)
	if err != nil {
		return false
	}
	environ, err := p.Environ()
	if err != nil || !slices.Contains(environ, "CONTAINER_ID="+id) {
		return false
	}
	status, err := p.NewStatus()
	return err == nil && len(status.NSpids) <= 1
}

// goesOn reports whether any process of a session is alive. If that cannot be seen, it is assumed.
func (f *Finder) goesOn(leader int) bool {
	pids, err := Session(leader)
	return len(pids) > 0 || err != nil
}

// Tick is the length of a clock tick in /proc, on every Linux that Go runs on.
const Tick = 10 * time.Millisecond

// alive reports whether a process is neither a zombie nor dead.
func alive(s procfs.ProcStat) bool { return s.State != "Z" && s.State != "X" }

// Started returns when a process started, in clock ticks since the machine did, and whether it is alive.
func Started(pid int) (start uint64, ok bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, false
	}
	s, err := p.Stat()
	return s.Starttime, err == nil && alive(s)
}

// Session returns the live processes of a session, by its leader's number. It fails if they cannot be listed.
func Session(leader int) ([]int, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("the processes of session %d cannot be listed: %w", leader, err)
	}
	var pids []int
	for _, p := range all {
		if s, err := p.Stat(); err == nil && s.Session == leader && alive(s) {
			pids = append(pids, p.PID)
		}
	}
	return pids, nil
}

// Use is the resource use of processes.
type Use struct {
	CPU  time.Duration // including their children that have ended
	RSS  int64         // bytes
	Anon int64         // the bytes of RSS that are not backed by a file
}

// Measure adds up the use of processes. Those that end meanwhile do not count.
func Measure(pids []int) (sum Use) {
	for _, pid := range pids {
		p, err := procfs.NewProc(pid)
		if err != nil {
			continue
		}
		s, err := p.Stat()
		if err != nil {
			continue
		}
		sum.CPU += time.Duration(int64(s.UTime)+int64(s.STime)+int64(s.CUTime)+int64(s.CSTime)) * Tick
		if m, err := p.NewStatus(); err == nil {
			sum.RSS += int64(m.VmRSS)
			sum.Anon += int64(m.RssAnon)
		}
	}
	return sum
}

// Ending reports whether a process has been told to end and has not seen it yet, such as a frozen one.
func Ending(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return false
	}
	return ending(string(text))
}

func ending(status string) bool {
	const told = 1<<(unix.SIGKILL-1) | 1<<(unix.SIGTERM-1)
	for line := range strings.SplitSeq(status, "\n") {
		name, mask, _ := strings.Cut(line, ":")
		if name != "SigPnd" && name != "ShdPnd" {
			continue
		}
		if set, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64); err == nil && set&told != 0 {
			return true
		}
	}
	return false
}

var (
	attempt  = regexp.MustCompile(`\battempt_\d+_\d+_[mr]_\d+_\d+\b`)
	executor = regexp.MustCompile(`\s--executor-id\s+["']?(\w+)`)
)

// Task returns the task that the arguments of a container's process name: a MapReduce attempt, or a Spark executor as
// executor_ and its number. It is "" if they name none.
func Task(args []string) string {
	text := strings.Join(args, " ")
	task := attempt.FindString(text)
	if m := executor.FindStringSubmatch(text); task == "" && m != nil {
		task = "executor_" + m[1]
	}
	if len(task) > maxTask {
		return ""
	}
	return task
}

// quote returns a pattern that matches only this path.
func quote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
