package agent

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const (
	lockWait = 5 * time.Second      // for whoever restores before this process may change anything
	handOver = time.Second          // for the kernel to let go of the lock of an agent that was killed
	tryLock  = 5 * time.Millisecond // between two tries
	lateThaw = time.Second          // in which an agent has a container run whose freeze has ended
	noMore   = "done"               // what an agent says to its warden that has restored all defaults
)

// A Restorer gives every container its defaults, or has it run at least: see [groups.Groups].
type Restorer interface {
	Lock() (bool, error)
	RestoreAll() error
	Thaw() error
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
// defaults. Where the agent has said that it did so itself, or another agent runs by then, there is nothing to do. An agent
// that lives and has a container frozen for longer than it said hangs: the warden has all containers run then.
func Ward(in io.Reader, g Restorer) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	spare()
	return ward(in, g)
}

func ward(in io.Reader, g Restorer) error {
	said := make(chan string)
	go func() {
		defer close(said)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			said <- lines.Text()
		}
	}()
	var late <-chan time.Time
	var bad error
	for {
		select {
		case text, ok := <-said:
			switch {
			case text == noMore:
				return bad
			case ok:
				late = lateAfter(text)
				continue
			}
			if ok, err := lock(g, handOver); !ok && err == nil {
				return bad
			}
			return errors.Join(bad, g.RestoreAll()) // without a lock as well: that is better than nothing
		case <-late:
			bad = g.Thaw()
		}
	}
}

// lateAfter is when an agent is late that said for how many milliseconds containers stay frozen, never for 0.
func lateAfter(text string) <-chan time.Time {
	frozen, err := strconv.ParseInt(text, 10, 64)
	if err != nil || frozen <= 0 {
		return nil
	}
	return time.After(time.Duration(frozen)*time.Millisecond + lateThaw)
}

// Guard starts a warden with these arguments, and another whenever one ends. Tell tells it when the first frozen container
// runs again, the zero time for none. Dismiss ends it, and says whether the agent has restored all defaults: where it has not,
// the warden does as soon as this process has ended. What ends the agent does not end the warden before that.
func Guard(args []string, log *slog.Logger) (tell func(time.Time), dismiss func(restored bool), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := post(args)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	thaws, over, done := make(chan time.Time, 1), make(chan struct{}), false
	go func() {
		defer close(over)
		for at := (time.Time{}); w != nil; {
			select {
			case at = <-thaws:
				w.tell(at)
			case <-w.ended:
				log.Warn("the warden ended, and another is started")
				_ = w.pipe.Close()
				if w = again(ctx, args, log); w != nil {
					w.tell(at)
				}
			case <-ctx.Done():
				if done {
					w.say(noMore)
				}
				_ = w.pipe.Close()
				if done { // else it waits until this process has ended and changes nothing more
					<-w.ended
				}
				return
			}
		}
	}()
	tell = func(at time.Time) {
		select {
		case <-thaws: // it has not been told of the last one
		default:
		}
		thaws <- at
	}
	return tell, func(restored bool) { done = restored; cancel(); <-over }, nil
}

// again starts another warden, nil where the context ends before that.
func again(ctx context.Context, args []string, log *slog.Logger) *warden {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		w, err := post(args)
		if err == nil {
			return w
		}
		log.Error("nothing restores defaults when this process is killed", "error", err)
	}
}

// A warden is one that was started.
type warden struct {
	pipe  *os.File // it sees its end when this process has none any more
	ended chan struct{}
}

// tell says until when containers are frozen.
func (w *warden) tell(thaws time.Time) {
	left := int64(0)
	if !thaws.IsZero() {
		left = max(1, time.Until(thaws).Milliseconds())
	}
	w.say(strconv.FormatInt(left, 10))
}

func (w *warden) say(line string) { _, _ = w.pipe.WriteString(line + "\n") } // it may have ended

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
