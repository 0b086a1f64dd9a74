package groups

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"heddle/node/procs"
)

// A session is a container without control groups.
type session struct {
	leader int
	start  uint64 // of the leader, in clock ticks since the machine started
}

// pids returns the processes of the session, none if its number has been reused.
func (s session) pids() ([]int, error) {
	if start, ok := procs.Started(s.leader); ok && start != s.start {
		return nil, nil
	}
	return procs.Session(s.leader)
}

// stop stops or continues the session. Another pass catches processes that start meanwhile.
func (s session) stop(stopped bool) error {
	signal := unix.SIGCONT
	if stopped {
		signal = unix.SIGSTOP
	}
	met := map[int]bool{}
	for {
		more := false
		pids, err := s.pids()
		if err != nil {
			return err
		}
		for _, pid := range pids {
			if met[pid] {
				continue
			}
			met[pid], more = true, true
			if err := s.signal(pid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("process %d cannot be signalled: %w", pid, err)
			}
		}
		if !more {
			return nil
		}
	}
}

// signal sends a signal to a process of the session, and never to another one that gets its number meanwhile.
func (s session) signal(pid int, signal unix.Signal) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd) //nolint:errcheck // there is nothing to lose
	if of, err := unix.Getsid(pid); err != nil || of != s.leader {
		return err
	}
	return unix.PidfdSendSignal(fd, signal, nil, 0)
}

// idle makes the threads of the session run only when a processor has nothing else to do, or normally again. Threads
// inherit this, so the work is done once a pass has found no thread to change.
func (s session) idle(idle bool) error {
	policy, other := uint32(unix.SCHED_NORMAL), uint32(unix.SCHED_IDLE)
	if idle {
		policy, other = other, policy
	}
	const most = 100
	for range most {
		changed := false
		pids, err := s.pids()
		if err != nil {
			return err
		}
		for _, pid := range pids {
			tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
			if err != nil {
				continue // it has ended
			}
			for _, task := range tasks {
				tid, err := strconv.Atoi(task.Name())
				if err != nil {
					continue
				}
				attr, err := unix.SchedGetAttr(tid, 0)
				if err != nil || attr.Policy != other {
					continue
				}
				attr.Policy = policy
				if err := unix.SchedSetAttr(tid, attr, 0); err != nil && !errors.Is(err, unix.ESRCH) {
					return fmt.Errorf("the scheduling of thread %d cannot be changed: %w", tid, err)
				}
				changed = true
			}
		}
		if !changed {
			return nil
		}
	}
	return fmt.Errorf("the session of %d starts threads faster than they can be parked: "+
		"%d passes were not enough", s.leader, most)
}

// unparks reports whether this process may make threads normal again that it has made idle. Without root,
// RLIMIT_NICE must allow it; otherwise parking could not be undone.
func unparks() bool {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends here, as it is
		done <- unparked()
	}()
	return <-done
}

// unparked makes this thread idle, and reports whether it can be made normal again.
func unparked() bool {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return false
	}
	attr.Policy = unix.SCHED_IDLE
	if err := unix.SchedSetAttr(0, attr, 0); err != nil {
		return false
	}
	attr.Policy = unix.SCHED_NORMAL
	return unix.SchedSetAttr(0, attr, 0) == nil
}
