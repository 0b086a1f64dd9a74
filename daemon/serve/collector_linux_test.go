package serve

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"heddle/daemon"
)

// Go's collector gets what the limit leaves beside mapped files, as these come and go.
func TestMemoryLimit(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(was)
	f := newFixture(t, false, func(c *daemon.Config) { c.Memory.Limit = 800 << 20 })
	told := func(least, most int64) {
		t.Helper()
		var got int64
		for range 100 {
			if got = debug.SetMemoryLimit(-1) >> 20; got >= least && got <= most {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("of 800 MiB the collector is told %d, want %d to %d", got, least, most)
	}
	n, ok := mapped()
	if n >>= 20; !ok || n < 1 || n > 300 {
		t.Fatalf("%d MiB are mapped, %v", n, ok)
	}
	told(775-n-8, 775-n+8)
	const size = 100 << 20
	file, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
	must(t, err)
	must(t, file.Truncate(size))
	b, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	must(t, err)
	told(675-n-8, 675-n+8)
	must(t, unix.Munmap(b))
	must(t, file.Close())
	told(775-n-8, 775-n+8)
	must(t, f.d.Stop())
	for _, c := range []struct{ limit, mapped, want int64 }{{320, 0, 310}, {320, 100, 210}, {320, 200, 160}} {
		if got := collected(c.limit, c.mapped); got != c.want {
			t.Errorf("of %d with %d mapped: %d, want %d", c.limit, c.mapped, got, c.want)
		}
	}
}
