package exp

import (
	"runtime"
	"sync"
)

// A pool does numbered pieces of work, several at a time; they begin in order of their numbers.
type pool struct {
	workers int // 0 = one per processor
	mu      sync.Mutex

	// stop is called under mu before each piece; if it returns true, that piece and the rest are left out.
	stop func() bool
}

// run does pieces 0 to n−1. It returns the first error, after which it begins no further piece. It calls do from
// several goroutines, and the function that do returns under mu.
func (p *pool) run(n int, do func(i int) (done func(), err error)) error {
	workers := p.workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var (
		wg    sync.WaitGroup
		next  int
		first error
	)
	take := func() (i int, ok bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if first != nil || next >= n || p.stop != nil && p.stop() {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(workers, n) {
		wg.Go(func() {
			for {
				i, ok := take()
				if !ok {
					return
				}
				done, err := do(i)
				p.mu.Lock()
				if err != nil && first == nil {
					first = err
				}
				done()
				p.mu.Unlock()
			}
		})
	}
	wg.Wait()
	return first
}
