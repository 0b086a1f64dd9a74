package sim

import (
	"testing"

	"heddle"
)

// A job whose master a profile makes larger than any node is given one that a node can hold, and ends as others do.
func TestMastersFitTheirNodes(t *testing.T) {
	for _, base := range []string{"adaptcont", "heddle"} {
		p := profile{name: base, base: base, set: []string{"size.am={adaptcont.dynamic: {queue: capacity, unit_wave: 2}}"}}
		o := givenWorld(nodes(12, 2, heddle.Of(1024, 1000)), mapReduce("small", 0, lasting(2, 5), nil), mapReduce("large", 1, lasting(60, 5), nil))
		for i := range o.Workload.Jobs {
			o.Workload.Jobs[i].Master = heddle.Of(1024, 1000)
		}
		o.MaxTime = at(3600)
		states(t, p.run(t, o), Succeeded, Succeeded)
	}
}
