package policy_test

import (
	"strconv"
	"testing"

	"heddle/policy"
)

// Of as many users and names as may be something is remembered, those that came first are forgotten first, and one that
// comes again keeps its place.
func TestRuns(t *testing.T) {
	var r policy.Runs[int]
	if _, ok := r.Of(policy.Run{}); ok || r.Len() != 0 {
		t.Error("something is remembered of nobody")
	}
	name := func(i int) policy.Run { return policy.Run{User: 1, Name: strconv.Itoa(i)} }
	for i := range 2*policy.MostRuns + 3 {
		r.Note(name(i), i)
		r.Note(name(i), i+1)
		if oldest := name(i + 1 - policy.MostRuns); i+1 >= policy.MostRuns {
			v, _ := r.Of(oldest)
			r.Note(oldest, v)
		}
		if first := max(0, i+1-policy.MostRuns); i%1000 == 0 || first < 3 {
			_, gone := r.Of(name(first - 1))
			v, ok := r.Of(name(first))
			if gone || !ok || v != first+1 || r.Len() != i+1-first {
				t.Fatalf("after %d: %d are remembered, of the oldest %d (%v), of the one before %v", i+1, r.Len(), v, ok, gone)
			}
		}
	}
	if _, ok := r.Of(policy.Run{User: 2, Name: name(2 * policy.MostRuns).Name}); ok {
		t.Error("another user's run of a name is taken for one's own")
	}
}
