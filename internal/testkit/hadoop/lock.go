package hadoop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lockFile returns the one lock file of the machine: a testbed's ports are fixed, so only one can run.
func lockFile() string { return filepath.Join(os.TempDir(), "heddle-testbed.lock") }

// takeLock takes the machine's lock, waiting for it for at most wait. The lock belongs to the open file: daemons
// inherit it, and it is free again when the last of them has ended, for whatever reason.
func takeLock(ctx context.Context, dir string, wait time.Duration, log *slog.Logger) (*os.File, error) {
	f, err := os.OpenFile(lockFile(), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := awaitLock(ctx, f, wait, log); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := fmt.Fprintf(f, "process %d, folder %s, since %s\n", os.Getpid(), dir, time.Now().Format(time.TimeOnly)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func awaitLock(ctx context.Context, f *os.File, wait time.Duration, log *slog.Logger) error {
	for deadline, told := time.Now().Add(wait), false; ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		text, _ := os.ReadFile(f.Name()) // only for people
		holder := strings.TrimSpace(string(text))
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("locking %s: %w", f.Name(), err)
		}
		if !time.Now().Before(deadline) {
			return fmt.Errorf("another testbed is up (%s), and a machine has room for only one: stop it, or end its processes (%s)", holder, f.Name())
		}
		if !told {
			log.Info("waiting for another testbed to stop", "holder", holder)
			told = true
		}
		if err := Sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}

// Sleep waits for d or the end of ctx, whose error it returns.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
