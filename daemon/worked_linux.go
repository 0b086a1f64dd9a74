package daemon

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// worked does f and is how long a processor had to do with it.
func worked(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := onThread()
	f()
	return onThread() - began
}

// onThread is how long this thread has had a processor.
func onThread() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // every Linux has it
	return time.Duration(t.Nano())
}
