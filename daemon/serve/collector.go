package serve

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/prometheus/procfs"
)

// How often it is looked what is mapped, and by how much that must have changed for the collector to be told.
const (
	mappedEvery = 250 * time.Millisecond
	mappedStep  = 1 << 20
)

// collected is what Go's collector is to keep to, of what the process may have while so much of files is mapped and resident.
// Mapped pages can be taken away where memory is short, so that they leave it half in any case.
func collected(limit, mapped int64) int64 { return max(limit-limit/32-mapped, limit/2) }

// collect has Go's collector keep to what a limit leaves, until ctx ends. The collector knows nothing of mapped files, which
// are the program and the store. Where nobody says how much of them is resident they are taken for a tenth.
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

// mapped is how many bytes of mapped files are resident; not ok on a system that does not say.
func mapped() (n int64, ok bool) {
	self, err := procfs.Self()
	if err != nil {
		return 0, false
	}
	m, err := self.Statm()
	return int64(m.Shared) * int64(os.Getpagesize()), err == nil
}
