package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// What a command waits for is said once it takes longer than people like to wait, and only then.
func TestWaitingSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		a := &app{err: &said}
		w := a.waiting(1, func() string { return "waiting for it " })
		time.Sleep(patience - time.Millisecond)
		w.at(0)
		w.end()
		time.Sleep(patience)
		synctest.Wait()
		if said.Len() > 0 {
			t.Errorf("something short was announced: %q", said.String())
		}

		w = a.waiting(1, func() string { return "waiting for it " })
		time.Sleep(2 * patience)
		synctest.Wait()
		w.at(1)
		w.end()
		w.end()
		if got := said.String(); got != "heddle: waiting for it\n" {
			t.Errorf("said %q", got)
		}
	})
}
