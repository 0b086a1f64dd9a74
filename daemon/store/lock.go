package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// takeLock takes the lock file at path for this process and writes its number into it. The system lets go of
// the lock when the process ends, however that comes about; the file stays.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := flock(f, "end that one, or name another folder (--data)"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// The number is for people only, so that its write is not worth a failure.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	return f, nil
}

// lockIfThere takes the lock of a file that is only read, where it has one: a copy has none.
func lockIfThere(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(nil), nil
	}
	if err != nil {
		return nil, err
	}
	if err := flock(f, "end that one, or look at a copy, which heddle store backup makes meanwhile"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// flock waits for the lock for lockWait at most. Its error says what to do where another process has it.
func flock(f *os.File, instead string) error {
	const pause = 20 * time.Millisecond
	for end := time.Now().Add(lockWait); ; time.Sleep(pause) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("locking %s: %w", f.Name(), err)
		case time.Now().After(end):
			return fmt.Errorf("another ResourceManager%s uses it; %s", holder(f), instead)
		}
	}
}

// holder reads who wrote into the lock file, as " (process 42)".
func holder(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid := strings.TrimSpace(string(text))
	if err != nil || pid == "" {
		return ""
	}
	return " (process " + pid + ")"
}

// unlock lets go of the lock on a file and closes it. Closing alone is not enough while the file is still mapped
// into memory.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}
