package exp

import (
	"runtime"
	"sync"
)

// A pool does numbered pieces of work several at a time, in order of their numbers as they begin.
type pool struct {
	workers int // 0 = one a processor
	mu      sync.Mutex

	// stop is asked, under mu, before each piece whether to leave it and the rest.
	stop func() bool
}

// run does pieces 0 to n−1 and returns the first error, after which none is begun. do is called from
// several goroutines, and what it returns under mu.
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
