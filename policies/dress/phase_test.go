package dress

import (
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/policy/policytest"
)

// Queries in between change nothing: whatever leaves the window does so at its own time.
func TestTrackerIsLazy(t *testing.T) {
	policytest.Streams(t, func(t *rapid.T) {
		fresh := func() *job {
			return &job{tracker: tracker{pw: 3 * heddle.Second, ts: 1, te: 1}}
		}
		eager, lazy := fresh(), fresh()
		now := heddle.Time(0)
		var id heddle.ContainerID
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			next := now.Plus(heddle.Span(rapid.IntRange(0, 2500).Draw(t, "ms")) * heddle.Millisecond)
			for at := now; at < next; at = at.Plus(100 * heddle.Millisecond) {
				eager.pass(at)
				eager.f(at, heddle.Second, expected)
			}
			now = next
			which := rapid.IntRange(0, 9).Draw(t, "what")
			for _, j := range []*job{eager, lazy} {
				j.pass(now)
				switch n := len(j.tasks); {
				case which < 5 || n == 0:
					j.tasks = append(j.tasks, task{id: id, phase: j.start(now)})
				case which < 9:
					j.finish(now, j.tasks[0].phase)
					j.tasks = j.tasks[1:]
				default:
					j.lose(now, j.tasks[n-1].phase)
					j.tasks = j.tasks[:n-1]
				}
			}
			id++
			if a, b := eager.f(now, heddle.Second, expected), lazy.f(now, heddle.Second, expected); a != b {
				t.Fatalf("at %v the eager one expects %v, the lazy one %v", now.Seconds(), a, b)
			}
			if eager.running != lazy.running || eager.gone+len(eager.phases) != lazy.gone+len(lazy.phases) {
				t.Fatalf("at %v %d phases and %d", now.Seconds(), eager.gone+len(eager.phases), lazy.gone+len(lazy.phases))
			}
			sum := 0
			for i := range lazy.phases {
				sum += lazy.phases[i].running
			}
			if sum != lazy.running || lazy.running != len(lazy.tasks) {
				t.Fatalf("%d tasks run, %d by phases, %d by count", len(lazy.tasks), sum, lazy.running)
			}
		}
	})
}
