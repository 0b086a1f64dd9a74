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

// lockFile is one for the machine: a bed's ports are fixed, so only one can run.
func lockFile() string { return filepath.Join(os.TempDir(), "heddle-bed.lock") }

// takeLock takes the machine's lock and waits for it at most wait. The lock belongs to the open file:
// daemons inherit it, and it is free again when the last of them has ended, however that came about.
func takeLock(ctx context.Context, dir string, wait time.Duration, log *slog.Logger) (*os.File, error) {
	f, err := os.OpenFile(lockFile(), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	for deadline, told := time.Now().Add(wait), false; ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		holder, _ := os.ReadFile(lockFile())
		if !errors.Is(err, syscall.EWOULDBLOCK) || !time.Now().Before(deadline) {
			f.Close()
			return nil, fmt.Errorf("%s is locked by another bed (%s): %w", lockFile(), strings.TrimSpace(string(holder)), err)
		}
		if !told {
			log.Info("waiting for another bed to stop", "holder", strings.TrimSpace(string(holder)))
			told = true
		}
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			f.Close()
			return nil, err
		}
	}
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := fmt.Fprintf(f, "process %d, folder %s, since %s\n", os.Getpid(), dir, time.Now().Format(time.TimeOnly)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sleep waits for d or the end of ctx, whose error it returns.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
