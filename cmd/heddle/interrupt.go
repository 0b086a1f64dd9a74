package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// interrupts makes the user's first interrupt set a flag, which stopped reports, instead of ending the program; the
// second ends it. This holds until over is called.
func interrupts() (stopped func() bool, over func()) {
	var stop atomic.Bool
	return stop.Load, atInterrupt(func() { stop.Store(true) })
}

// removes makes an interrupt remove the temporary file of a file that is being written before it ends the program. This
// holds until over is called.
func removes(temp, path string) (over func()) {
	return atInterrupt(func() {
		_ = os.Remove(temp) // it may not be there yet, or no longer
		say(os.Stderr, fmt.Sprintf("stopped while %s was being written", path))
		os.Exit(exitFailed)
	})
}

// atInterrupt makes the user's first interrupt call a function instead of ending the program; the second ends it. This
// holds until over is called.
func atInterrupt(do func()) (over func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			do()
			signal.Stop(signals)
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
