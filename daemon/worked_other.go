//go:build !linux

package daemon

import "time"

// worked does f and is how long it took.
func worked(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
