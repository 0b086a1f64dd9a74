//go:build !linux

package daemon

import "time"

// worked runs f and returns how long it took.
func worked(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
