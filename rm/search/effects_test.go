package search

import (
	"slices"
	"testing"

	"heddle"
)

// plan returns a plan of acts by name, some seconds apart.
func plan(t *testing.T, seed uint64, names ...string) *Plan {
	t.Helper()
	p := &Plan{Seed: seed}
	for i, name := range names {
		kind := slices.IndexFunc(acts, func(a act) bool { return a.name == name })
		if kind < 0 {
			t.Fatalf("there is no %q", name)
		}
		p.Ops = append(p.Ops, Op{I: i, At: heddle.Time(i+1) * heddle.Time(7*heddle.Second), Kind: kind, Dice: mix(seed, 11, uint64(i)).next()})
	}
	return p
}

// TestEveryEffect plays short plans once for each of their effects: the process crashes before that effect is carried
// out (for only some of the effects without -for), and of the records on their way to the disk none, one or more
// survive.
func TestEveryEffect(t *testing.T) {
	stride := 11
	switch {
	case *lasting > 0:
		stride = 1
	case testing.Short():
		stride = 50
	}
	for seed, p := range map[uint64]*Plan{
		1: plan(t, 1, "job", "job"),
		2: plan(t, 2, "job", "master dies", "master dies", "master dies"),
		3: plan(t, 3, "job", "job", "kill", "fail attempt", "fail attempt"),
		4: plan(t, 4, "job", "job", "move", "priority", "lifetime", "queues"),
		5: plan(t, 5, "job", "node dies", "job", "node leaves", "node restarts"),
		6: plan(t, 6, "job", "disk", "job", "kill", "kill"),
	} {
		runs := 0
		for crash := int(seed); ; crash += stride {
			st, f := Run(p, Options{Crash: crash, Kept: crash / stride})
			if f != nil {
				_, f = Run(p, Options{Crash: crash, Kept: crash / stride, Trace: *lines})
				t.Fatalf("plan %d, crash before effect %d: %v\n%q", seed, crash, f, f.Trace)
			}
			if st.Effects < crash { // there are no more effects
				break
			}
			runs++
		}
		t.Logf("plan %d: %d crashes", seed, runs)
		if (runs+1)*stride < 60 {
			t.Errorf("plan %d has %d effects alone", seed, runs*stride)
		}
	}
}
