// Package seat tests that a list has no seat at the desk while its caller's groups are looked up: Groups takes long for
// eve, a fake ResourceManager answers by Taken, and Behind asks as eve and as bob, at a desk with one seat.
package seat

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"heddle/daemon"
)

// Groups returns the groups of a user, who is in ops. It takes three seconds for eve.
func Groups(user string) ([]string, error) {
	if user == "eve" {
		time.Sleep(3 * time.Second)
	}
	return []string{"ops"}, nil
}

// Taken returns an answer for which a seat is taken first, as the daemon does.
func Taken[T any](ctx context.Context, answer func() (T, error)) (none T, err error) {
	if err := daemon.Begin(ctx); err != nil {
		return none, err
	}
	return answer()
}

// Behind asks as eve and then as bob, who must not wait for her. It runs within [synctest.Test]; name says what is asked.
func Behind(t *testing.T, name string, ask func(user string)) {
	t.Helper()
	var eve sync.WaitGroup
	eve.Go(func() { ask("eve") })
	synctest.Wait()
	began := time.Now()
	if ask("bob"); time.Since(began) != 0 {
		t.Errorf("%s: behind eve bob waits for %v", name, time.Since(began))
	}
	eve.Wait()
}
