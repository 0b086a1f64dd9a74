package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

const (
	lockWait = 5 * time.Second      // for whoever restores before this process may change anything
	handOver = time.Second          // for the kernel to let go of the lock of an agent that was killed
	tryLock  = 5 * time.Millisecond // between two tries
)

// A Restorer gives every container its defaults: see [groups.Groups].
type Restorer interface {
	Lock() (bool, error)
	RestoreAll() error
}

// Hold makes this process the one that changes the node's containers, and one that the kernel ends last where memory is
// short. It waits for a warden that restores what another has changed.
func Hold(g Restorer) error {
	spare()
	switch ok, err := lock(g, lockWait); {
	case err != nil:
		return err
	case !ok:
		return errors.New("an agent of this node runs already: want one for each NodeManager")
	}
	return nil
}

func lock(g Restorer, wait time.Duration) (bool, error) {
	for until := time.Now().Add(wait); ; time.Sleep(tryLock) {
		if ok, err := g.Lock(); ok || err != nil || time.Now().After(until) {
			return ok, err
		}
	}
}

// spare has the kernel end other processes before this one. Where it is not allowed, nothing depends on it.
func spare() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("-999"), 0) }

// Ward is what a warden does: it waits until the agent at the other end of in is gone, and then gives all containers their
// defaults. Where the agent has said that it did so itself, or another agent runs by then, there is nothing to do.
func Ward(in io.Reader, g Restorer) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	spare()
	if n, _ := io.Copy(io.Discard, in); n > 0 {
		return nil
	}
	if ok, err := lock(g, handOver); !ok && err == nil {
		return nil
	}
	return g.RestoreAll() // without a lock as well: that is better than nothing
}

// Guard starts a warden with these arguments, and another whenever one ends. What it returns ends it, after the agent
// has restored all defaults.
func Guard(ctx context.Context, args []string, log *slog.Logger) (dismiss func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	first, err := post(args)
	if err != nil {
		cancel()
		return nil, err
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for w := first; ; {
			select {
			case <-w.ended:
				log.Warn("the warden ended, and another is started")
			case <-ctx.Done():
				_, _ = w.pipe.WriteString("done") // it may have ended
				_ = w.pipe.Close()
				<-w.ended
				return
			}
			_ = w.pipe.Close()
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Second):
				}
				next, err := post(args)
				if err == nil {
					w = next
					break
				}
				log.Error("nothing restores defaults when this process is killed", "error", err)
			}
		}
	}()
	return func() { cancel(); <-over }, nil
}

// A warden is one that was started.
type warden struct {
	pipe  *os.File // it sees its end when this process has none any more
	ended chan struct{}
}

func post(args []string) (*warden, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Args[0] = os.Args[0] // it goes by the name of this process
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = r.Close() // the child has it
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it says itself what was wrong
		close(ended)
	}()
	return &warden{w, ended}, nil
}
