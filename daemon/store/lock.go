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

// takeLock takes the lock file at path for this process and writes its process id into it. The system releases the lock
// when the process ends, for whatever reason; the file stays.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := flock(f, "end that one, or name another folder (--data)"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	sign(f)
	return f, nil
}

// sign writes this process's id into a lock file. It is only for people, so a failed write does not matter.
func sign(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
}

// lockIfThere takes the lock of a file that is only read, if it has a lock file: a copy has none.
func lockIfThere(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(nil), nil
	}
	if err != nil {
		return nil, err
	}
	if err := flock(f, "end that one, or use a copy: heddle store backup makes one while it runs"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	sign(f)
	return f, nil
}

// flock waits for the lock for at most lockWait. If another process has it, the error says what to do instead.
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
			return fmt.Errorf("%s uses it; %s", holder(f), instead)
		}
	}
}

// holder returns who wrote into the lock file, as "process 42".
func holder(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid := strings.TrimSpace(string(text))
	if err != nil || pid == "" {
		return "another process"
	}
	return "process " + pid
}

// unlock releases the lock on a file and closes it. Closing alone is not enough while the file is mapped into memory.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}
