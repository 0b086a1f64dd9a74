package search

import "testing"

// TestEveryEffect plays a short plan, in which a few jobs run, once for each effect that comes of it: the process crashes
// before that one is carried out, and of the records on their way to the disk none, one or more are found again.
func TestEveryEffect(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 10
	}
	const seed = 5
	p := NewPlan(seed)
	p.Ops = p.Ops[:2] // jobs both
	runs := 0
	for crash := 1; ; crash += stride {
		st, f := Run(p, Options{Crash: crash, Kept: crash})
		if f != nil {
			t.Fatalf("seed %d, crash before effect %d: %v", seed, crash, f)
		}
		if st.Starts == 1 { // it has no more effects
			break
		}
		runs++
	}
	t.Logf("%d crashes", runs)
	if runs < 100/stride {
		t.Errorf("the plan has %d effects alone", runs)
	}
}
