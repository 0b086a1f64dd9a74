package rm

import (
	"math/rand/v2"
	"testing"

	"heddle/yarn/ids"
)

// Whatever numbers applications have, and in whatever order they come and go, each is found by its id, and the list is
// not much longer than the range between the first number and the last.
func TestRecent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	m := &Machine{began: 5, byApp: map[ids.App]*app{}}
	var all []*app
	seq := int32(0)
	for range 20_000 {
		if seq += 1 + rng.Int32N(3); rng.IntN(500) == 0 {
			seq += 1_000_000
		}
		a := &app{Submission: Submission{ID: ids.App{Cluster: 5, Seq: seq - rng.Int32N(10)}}}
		if rng.IntN(100) == 0 {
			a.ID.Seq = rng.Int32() - 1<<30
		}
		if m.byApp[a.ID] != nil {
			continue
		}
		m.byApp[a.ID] = a
		m.recent.add(a)
		all = append(all, a)
		if len(all) > 200 {
			i := rng.IntN(20)
			delete(m.byApp, all[i].ID)
			m.recent.drop(all[i])
			if m.appBy(all[i].ID) != nil {
				t.Fatalf("%s is found, and is gone", all[i].ID)
			}
			all[i] = all[0]
			all = all[1:]
		}
		for range 3 {
			if a := all[rng.IntN(len(all))]; m.appBy(a.ID) != a {
				t.Fatalf("%s is not found", a.ID)
			}
		}
		if len(m.recent.list) > 100*maxGap {
			t.Fatalf("the list has %d places for %d applications", len(m.recent.list), len(all))
		}
	}
}
