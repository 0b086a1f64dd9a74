package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// interrupts makes the user's first interrupt set a flag, which stopped reports, instead of ending the program; the
// second ends it. This holds until over is called.
func interrupts() (stopped func() bool, over func()) {
	var stop atomic.Bool
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			stop.Store(true)
			signal.Stop(signals)
		case <-done:
		}
	}()
	return stop.Load, func() {
		signal.Stop(signals)
		close(done)
	}
}
