package rm

import (
	"testing"

	"heddle"
)

// Every reason of the core has words, for an ask, for one node and for several.
func TestReasonsAreComplete(t *testing.T) {
	for w := range heddle.NumWhys {
		code := heddle.Why(w).String()
		if r, ok := ReasonOf(code); !ok || r.Ask == "" || r.Node == "" || r.Nodes == "" {
			t.Errorf("%s: %+v", code, r)
		}
	}
	if r, ok := ReasonOf("because"); ok {
		t.Errorf("a reason that there is none of reads %+v", r)
	}
}
