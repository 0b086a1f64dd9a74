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
	lockWait = 5 * time.Second      // for a warden that still restores, before this process may change anything
	handOver = time.Second          // for the kernel to release the lock of an agent that was killed
	tryLock  = 5 * time.Millisecond // between two tries
	lateThaw = time.Second          // within which an agent thaws a container whose freeze has ended, and between two tries of its warden
	noMore   = "done"               // what an agent that has restored all defaults tells its warden
)

// A Restorer gives every container its defaults, or at least makes it run: see [groups.Groups].
type Restorer interface {
	Lock() (bool, error)
	RestoreAll() error
	Thaw() error
}

// Hold makes this process the one that changes the node's containers, and one of the last that the kernel kills if
// memory runs out. It waits for a warden that is restoring what another agent has changed.
func Hold(g Restorer) error {
	spare()
	switch ok, err := lock(g, lockWait); {
	case err != nil:
		return err
	case !ok:
		return errors.New("an agent for this node is already running: want one for each NodeManager")
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

// spare makes the kernel kill other processes before this one. Nothing depends on it, so a lack of permission does no
// harm.
func spare() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("-999"), 0) }

// Ward is the warden's main function: it waits until the agent at the other end of in is gone, and then gives all
// containers their defaults. If the agent has said that it did so itself, or another agent runs by then, there is
// nothing to do. A live agent that keeps a container frozen for longer than it said hangs: the warden then makes all
// containers run, and tries again every second if that fails.
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
			return errors.Join(bad, g.RestoreAll()) // even without the lock: that is better than nothing
		case <-late:
			if bad, late = g.Thaw(), nil; bad != nil {
				late = time.After(lateThaw)
			}
		}
	}
}

// lateAfter returns a channel that fires when the agent is late; text says for how many milliseconds containers stay
// frozen. For 0 it never fires.
func lateAfter(text string) <-chan time.Time {
	frozen, err := strconv.ParseInt(text, 10, 64)
	if err != nil || frozen <= 0 {
		return nil
	}
	return time.After(time.Duration(frozen)*time.Millisecond + lateThaw)
}

// Guard starts a warden with these arguments, and another whenever one ends. Tell tells it when the first frozen
// container thaws, the zero time for none. Dismiss ends it, and says whether the agent has restored all defaults: if
// not, the warden does so as soon as this process has ended. Whatever ends the agent does not end the warden before
// that.
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
				log.Warn("the warden ended; starting another")
				_ = w.pipe.Close()
				if w = again(ctx, args, log); w != nil {
					w.tell(at)
				}
			case <-ctx.Done():
				if done {
					w.say(noMore)
				}
				_ = w.pipe.Close()
				if done { // otherwise it waits until this process has ended and changes nothing more
					<-w.ended
				}
				return
			}
		}
	}()
	tell = func(at time.Time) {
		select {
		case <-thaws: // the last time has not been passed on yet: drop it
		default:
		}
		thaws <- at
	}
	return tell, func(restored bool) { done = restored; cancel(); <-over }, nil
}

// again starts another warden, and returns nil if the context ends before that.
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
		log.Error("no warden runs: if this process is killed, nothing restores the defaults of containers", "error", err)
	}
}

// A warden is a started warden process.
type warden struct {
	pipe  *os.File // the warden sees its end of file once this process no longer holds it
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
	cmd.Args[0] = os.Args[0] // it runs under the name of this process
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
		_ = cmd.Wait() // the warden itself prints what was wrong
		close(ended)
	}()
	return &warden{w, ended}, nil
}
