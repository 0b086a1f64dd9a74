package hadoop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A command is a process to start: a daemon of the testbed.
type command struct {
	name string // of its log and its pid file
	args []string
	env  []string
	// onDeath is the signal it gets if the program that started it dies without stopping the testbed.
	onDeath syscall.Signal
}

// start starts a daemon. Its output is appended to the log of that name.
func (b *Testbed) start(c command) (err error) {
	log, err := os.OpenFile(b.LogFile(c.name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Dir = b.dir("log")
	cmd.Stdout, cmd.Stderr = log, log
	if b.lock != nil {
		cmd.ExtraFiles = []*os.File{b.lock} // held as long as a daemon lives
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if !b.opt.Detached {
		cmd.SysProcAttr.Pdeathsig = c.onDeath
	}
	if err := b.starter.start(cmd); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	go func() { _ = cmd.Wait() }() // its log says how it ended; waiting keeps it from staying a zombie
	p, ok := pidOf(cmd.Process.Pid)
	if !ok {
		return b.died(c.name)
	}
	return os.WriteFile(b.pidFile(c.name), fmt.Appendf(nil, "%d %s\n", p.N, p.Start), 0o644)
}

func (b *Testbed) pidFile(name string) string { return filepath.Join(b.dir("pid"), name) }

// daemons returns the names of all daemons that were started and not stopped, in order.
func (b *Testbed) daemons() []string {
	entries, err := os.ReadDir(b.dir("pid"))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (b *Testbed) pid(name string) (pid, error) {
	text, err := os.ReadFile(b.pidFile(name))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return pid{}, fmt.Errorf("no %s was started in %s", name, b.Dir)
		}
		return pid{}, err
	}
	var p pid
	if _, err := fmt.Sscan(string(text), &p.N, &p.Start); err != nil {
		return pid{}, fmt.Errorf("%s: %w", b.pidFile(name), err)
	}
	return p, nil
}

// stop ends a daemon: with sig, and after grace with SIGKILL. A daemon that has already ended is not an error.
func (b *Testbed) stop(name string, sig syscall.Signal, grace time.Duration) error {
	p, err := b.pid(name)
	if err != nil {
		return err
	}
	p.signalGroup(syscall.SIGCONT) // a stopped process would not see the other signal
	p.signalGroup(sig)
	if !p.gone(grace) {
		p.signalGroup(syscall.SIGKILL)
		if !p.gone(grace + 10*time.Second) {
			return fmt.Errorf("%s, process %d, does not die", name, p.N)
		}
	}
	return os.Remove(b.pidFile(name))
}

func (p pid) gone(within time.Duration) bool {
	for deadline := time.Now().Add(within); p.alive(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// died returns an error if one of the daemons has ended, with the end of its log.
func (b *Testbed) died(names ...string) error {
	for _, name := range names {
		if p, err := b.pid(name); err != nil || !p.alive() {
			text, _ := os.ReadFile(b.LogFile(name))
			return fmt.Errorf("%s ended; the last lines of %s:\n%s", name, b.LogFile(name), lastLines(text, 15))
		}
	}
	return nil
}

// await polls until yes returns true, for at most within. It fails early if one of the daemons it depends on has ended.
func (b *Testbed) await(ctx context.Context, within time.Duration, what string, yes func(context.Context) bool, daemons ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("%s: not within %v; see %s", what, within, b.dir("log")))
	defer cancel()
	for !yes(ctx) {
		if err := b.died(daemons...); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if err := Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// A starter starts processes from one operating system thread, which lives until the starter is closed: the
// parent-death signal is sent when the thread that started a process ends, and Go ends threads at will.
type starter struct {
	work chan func()
	done chan struct{}
	stop sync.Once
}

func newStarter() *starter {
	s := &starter{work: make(chan func()), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		for f := range s.work {
			f()
		}
		close(s.done)
	}()
	return s
}

func (s *starter) start(cmd *exec.Cmd) error {
	result := make(chan error)
	s.work <- func() { result <- cmd.Start() }
	return <-result
}

func (s *starter) close() {
	s.stop.Do(func() { close(s.work) })
	<-s.done
}

func lastLines(text []byte, n int) string {
	lines := slices.Collect(strings.Lines(strings.TrimRight(string(text), "\n")))
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// A DaemonStatus is the state of one of the testbed's daemons.
type DaemonStatus struct {
	Name     string
	Process  int
	Alive    bool
	Resident int64 // bytes in RAM
}

// State returns one word, or the memory in use.
func (d DaemonStatus) State() string {
	if !d.Alive {
		return "gone"
	}
	return fmt.Sprintf("%d MiB", d.Resident>>20)
}

// Status returns the state of all daemons that were started and not stopped.
func (b *Testbed) Status() []DaemonStatus {
	var all []DaemonStatus
	for _, name := range b.daemons() {
		if p, err := b.pid(name); err == nil {
			all = append(all, DaemonStatus{name, p.N, p.alive(), Resident(p.N)})
		}
	}
	return all
}
