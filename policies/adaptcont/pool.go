package adaptcont

import "heddle"

// predefined returns the smallest master of the pool that serves the wave if its memory differs from what is wanted by
// less than the threshold; else it returns a new one, as wanted (2.4, 4.2).
func predefined(pool []Predefined, wave int, wanted heddle.Resource, threshold int64) heddle.Resource {
	p := pool[len(pool)-1]
	for _, q := range pool {
		if wave <= q.Serves {
			p = q
			break
		}
	}
	diff := p.Memory - wanted[heddle.Memory]
	if max(diff, -diff) < threshold {
		return heddle.Of(p.Memory, 1000*p.Vcores)
	}
	return wanted
}
