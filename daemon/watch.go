package daemon

import (
	"bytes"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"heddle/daemon/store"
	"heddle/internal/histogram"
)

// How long the loop may spend on one thing, or a change on its way to disk, before that counts as a fault.
const (
	slowTurn  = 5 * time.Second
	slowStore = 10 * time.Second
)

// maxStack bounds the dump that is searched for the loop's stack. The loop is one of the first goroutines in the dump.
const maxStack = 4 << 20

// watch is what a goroutine outside the loop knows about the loop.
type watch struct {
	turns  atomic.Uint64 // odd while the loop works on something
	stuck  atomic.Int64  // for how many seconds the loop has worked on the same thing
	stalls atomic.Uint64
	lag    histogram.Histogram
	hung   chan error
}

// Health is the state of a ResourceManager, as far as it can be told without asking the loop.
type Health struct {
	Unready string // why it cannot be relied on now; "" if it can
	// Starting says that what ran before the start is still coming back: applications' requests are not counted yet.
	Starting bool
	Refuses  string // why it refuses submissions; "" if it accepts them

	Calls  int                // number of calls that wait for the loop
	Lag    histogram.Snapshot // from a call's arrival until the loop starts on it
	Stuck  time.Duration      // how long the loop has worked on one thing; 0 for less than a second
	Stalls uint64             // how often that took longer than it should
	Reads  ReadStats          // what the loop has done for readers
	Store  *store.Stats       // nil without a store
}

// Text describes the state in words.
func (h *Health) Text() string {
	switch {
	case h.Unready != "":
		return "not ready: " + h.Unready
	case h.Refuses != "":
		return "ready, but submissions are refused: " + h.Refuses
	}
	return "ready"
}

// Health returns the state of the ResourceManager.
func (r *RM) Health() Health {
	h := Health{
		Calls: r.lanes.waiting(), Lag: r.watch.lag.Snapshot(), Stuck: time.Duration(r.watch.stuck.Load()) * time.Second, Stalls: r.watch.stalls.Load(),
		Reads: r.ReadStats(),
	}
	if r.store != nil {
		st := r.store.Stats()
		h.Store = &st
		if st.Short != nil {
			h.Refuses = st.Short.Error()
		}
	}
	h.Starting = !r.Ready()
	h.Unready = h.unready(!h.Starting)
	if missing, known := r.Awaited(); h.Unready == recovering && missing > 0 {
		h.Unready = fmt.Sprintf("waiting for %d of %d nodes", missing, known)
	}
	return h
}

// recovering is the reason why a ResourceManager that has just started cannot be relied on.
const recovering = "recovering"

// unready says why a ResourceManager cannot be relied on; "" if it can.
func (h *Health) unready(recovered bool) string {
	st := h.Store
	switch {
	case h.Stuck >= slowTurn:
		return fmt.Sprintf("the loop has been busy with one call for %v", h.Stuck)
	case st != nil && st.Oldest >= slowStore && st.Short != nil:
		return fmt.Sprintf("the store has waited for disk space for %v: %v", st.Oldest.Round(time.Second), st.Short)
	case st != nil && st.Writing >= slowStore:
		return fmt.Sprintf("the store has been writing for %v", st.Writing.Round(time.Second))
	case st != nil && st.Oldest >= slowStore:
		return fmt.Sprintf("the store is %v behind", st.Oldest.Round(time.Second))
	case !recovered:
		return recovering
	}
	return ""
}

// Hung receives an error once the loop has spent longer than [Config.Watchdog] on one thing: only a restart helps.
func (r *RM) Hung() <-chan error { return r.watch.hung }

// guard watches the loop, which is the goroutine named loop, and the store until the loop has ended. It counts its own
// seconds, so that a process that stood still as a whole is not mistaken for a hung loop. It does not wait for its
// lines to be logged: the loop may hang because nobody reads the log.
func (r *RM) guard(loop []byte) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var turn uint64
	var slow bool // the store is slow, and that was logged
	for {
		select {
		case <-r.done:
			return
		case <-tick.C:
		}
		if now := r.watch.turns.Load(); now%2 == 0 || now != turn {
			if was := r.watch.stuck.Swap(0); was >= int64(slowTurn.Seconds()) {
				go r.log.Warn("the loop runs again", "after", time.Duration(was)*time.Second)
			}
			turn = now
		} else {
			r.stuckFor(time.Duration(r.watch.stuck.Add(1))*time.Second, loop)
		}
		if r.store == nil {
			continue
		}
		st := r.store.Stats()
		if is := st.Writing >= slowStore && st.Short == nil; is != slow {
			if slow = is; slow {
				go r.log.Error("the store's disk does not respond", "writing", st.Writing.Round(time.Second), "waiting", st.Commits)
			}
		}
	}
}

// stuckFor reports, once each time, that the loop has spent too long on one thing, and on what.
func (r *RM) stuckFor(d time.Duration, loop []byte) {
	if d == slowTurn {
		r.watch.stalls.Add(1)
		go r.log.Error("the loop is stuck", "after", d, "stack", stackOf(loop))
	}
	if end := r.cfg.Watchdog; end > 0 && d >= end {
		select {
		case r.watch.hung <- fmt.Errorf("the loop has been busy with one call for %v, longer than the watchdog's %v", d, end):
		default: // already reported
		}
	}
}

// A stack is a goroutine's stack. It is not a string, so that the log does not truncate it.
type stack []byte

// String returns the stack in the runtime's format.
func (s stack) String() string { return string(s) }

// MarshalText implements [encoding.TextMarshaler], for JSON logs.
func (s stack) MarshalText() ([]byte, error) { return s, nil }

// goroutine returns the name of the calling goroutine in the runtime's stacks.
func goroutine() []byte {
	b := make([]byte, 64)
	name, _, _ := bytes.Cut(b[:runtime.Stack(b, false)], []byte("["))
	return name
}

// stackOf returns the stack of a goroutine.
func stackOf(name []byte) stack {
	b := make([]byte, maxStack)
	b = b[:runtime.Stack(b, true)]
	for one := range bytes.SplitSeq(b, []byte("\n\n")) {
		if bytes.HasPrefix(one, name) {
			return bytes.Clone(one)
		}
	}
	return stack("the goroutine is not in the part of the dump that was read")
}
