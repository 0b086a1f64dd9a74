package serve

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/prometheus/procfs"
)

// How often to check how much is mapped, and by how much that must change before the collector is told.
const (
	mappedEvery = 250 * time.Millisecond
	mappedStep  = 1 << 20
)

// collected returns the memory limit for Go's garbage collector, given the process's limit and the resident bytes of
// mapped files. Mapped pages can be reclaimed if memory is short, so the collector gets at least half.
func collected(limit, mapped int64) int64 { return max(limit-limit/32-mapped, limit/2) }

// collect keeps Go's garbage collector within what a limit leaves, until ctx ends. The collector does not know of
// mapped files, which are the program and the store. If their resident size is unknown, it assumes a tenth
// of the limit.
func collect(ctx context.Context, limit int64) {
	tick := time.NewTicker(mappedEvery)
	defer tick.Stop()
	told := limit / 10
	debug.SetMemoryLimit(collected(limit, told))
	for {
		if now, ok := mapped(); ok && max(now-told, told-now) >= mappedStep {
			told = now
			debug.SetMemoryLimit(collected(limit, told))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// mapped returns how many bytes of mapped files are resident; ok is false if the system does not say.
func mapped() (n int64, ok bool) {
	self, err := procfs.Self()
	if err != nil {
		return 0, false
	}
	m, err := self.Statm()
	return int64(m.Shared) * int64(os.Getpagesize()), err == nil
}
