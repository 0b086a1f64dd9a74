// Package procs finds the containers of a NodeManager by the pid files that it writes, and the processes of each. It
// reads files and /proc alone and changes nothing.
package procs

import (
	"bytes"
	"errors"
	"fmt"
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

// A Container is one that runs.
type Container struct {
	ID string // container_…, as YARN writes it
	// PID is the process that the NodeManager started for it, which leads a session, and Start is when that process
	// started, in ticks of the clock since the machine did. Both together are never another process.
	PID   int
	Start uint64
	Task  string // the task attempt or executor that it runs; "" where its arguments do not say
}

const (
	// looks is how many rounds a container's arguments are read for its task: it is prepared before it gets them.
	looks = 15
	// maxTask is how long a task's name may be, in bytes.
	maxTask = 128
)

// A Finder finds the containers of a NodeManager. It remembers those that it found, so that one process is never taken
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

// New returns a Finder that reads these folders, each of which is one of yarn.nodemanager.local-dirs.
func New(dirs []string) (*Finder, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no folder to find containers in: want those of yarn.nodemanager.local-dirs")
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

// Find returns the containers that run, by id. What it cannot read of a container is for the next call.
func (f *Finder) Find() []Container {
	here := map[string]*found{}
	for _, dir := range f.dirs {
		// A pattern that is a constant below a folder does not fail.
		files, _ := filepath.Glob(filepath.Join(quote(dir), "nmPrivate", "application_*", "container_*", "container_*.pid"))
		for _, file := range files {
			id := strings.TrimSuffix(filepath.Base(file), ".pid")
			if _, err := ids.ParseContainer(id); err != nil || filepath.Base(filepath.Dir(file)) != id {
				continue
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

// look returns the container of a pid file, nil where it does not run. Whoever may write the file may write any number there,
// and a number may have come to another process: a process is a container's that has the container's id in its environment,
// as the NodeManager has it start. One of another namespace, such as Docker's, is left to whoever made that.
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
		// The leader is gone and others of its session are not: no other process gets a number that names a session.
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

func read(file string) (pid int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	pid, err = strconv.Atoi(string(bytes.TrimSpace(text)))
	if err == nil && pid <= 1 {
		err = fmt.Errorf("%s: want the number of a process from 2 up, got %d", file, pid)
	}
	return pid, err
}

// leader returns when a process started, and whether it leads its session and lives.
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

// isOf reports whether a process says that it is a container's, and is in the namespace of process numbers that this one is in.
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

// goesOn reports whether a process of a session lives. Where that cannot be seen it is taken to.
func (f *Finder) goesOn(leader int) bool {
	pids, err := Session(leader)
	return len(pids) > 0 || err != nil
}

// Tick is how long a tick of the clock of /proc is, on every Linux that Go runs on.
const Tick = 10 * time.Millisecond

// alive reports whether a process is more than the remains of one.
func alive(s procfs.ProcStat) bool { return s.State != "Z" && s.State != "X" }

// Started returns when a process started, in ticks of the clock since the machine did, and whether it lives.
func Started(pid int) (start uint64, ok bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, false
	}
	s, err := p.Stat()
	return s.Starttime, err == nil && alive(s)
}

// Session returns the processes that live of a session, by the number of its leader. It fails where nobody can see them.
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

// Use is what processes use.
type Use struct {
	CPU  time.Duration // of them and of those of their children that ended
	RSS  int64         // bytes
	Anon int64         // the bytes among RSS that no file is behind
}

// Measure adds up what processes use. Those that end meanwhile do not count.
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

// Ending reports whether a process has been told to end and has not seen it yet, as one that is frozen.
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

// Task returns what task the arguments of a container's process name: a MapReduce attempt, or a Spark executor as
// executor_ and its number. It is "" where they name none.
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

// quote returns a pattern that matches a path alone.
func quote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
