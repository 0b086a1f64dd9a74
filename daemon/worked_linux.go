package daemon

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// worked runs f and returns how much processor time it took.
func worked(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := onThread()
	f()
	return onThread() - began
}

// onThread returns the processor time this thread has had.
func onThread() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // every Linux has it
	return time.Duration(t.Nano())
}
