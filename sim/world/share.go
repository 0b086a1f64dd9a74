package world

import "math"

// The resources of a node that running stages share.
const (
	cpuR = iota
	diskR
	inR
	outR
	numR
)

// A claim is one stage's part in a fill: how much of each resource a rate of 1 takes, its weight for each, and the
// highest rate it can use. The result is rate.
type claim struct {
	need, weight [numR]float64
	peak         float64
	rate         float64
	fair         float64 // the rate under equal division
	done         bool
}

// A fill shares out the resources of one node, max-min: every claim first gets what equal division (by weight) of each
// resource would let it do. Then all claims grow in proportion to that until they reach their peak or a resource they
// need is used up, and the others go on. So no claim gets less than by equal division, and nothing that a claim could
// use is left over.
type fill struct {
	capacity [numR]float64
	claims   []claim
}

// run computes the rates.
func (f *fill) run() {
	var used, weights [numR]float64
	for i := range f.claims {
		c := &f.claims[i]
		c.done = false
		c.rate = c.peak
		for r := range used {
			if c.need[r] > 0 {
				used[r] += float64(c.need[r] * c.peak)
				weights[r] += c.weight[r]
			}
		}
	}
	if fits(&used, &f.capacity) {
		return
	}
	for i := range f.claims {
		c := &f.claims[i]
		c.fair = math.Inf(1)
		for r := range used {
			if c.need[r] > 0 {
				c.fair = min(c.fair, f.capacity[r]*c.weight[r]/weights[r]/c.need[r])
			}
		}
		c.done = math.IsInf(c.fair, 1) // needs nothing
	}
	f.grow()
}

// grow raises all rates from zero, as multiples t of the fair ones, until each claim is done.
func (f *fill) grow() {
	left, open := f.capacity, 0
	for i := range f.claims {
		if !f.claims[i].done {
			open++
		}
	}
	for open > 0 {
		var slope [numR]float64 // what all open claims take as t grows by 1
		for i := range f.claims {
			if c := &f.claims[i]; !c.done {
				for r := range slope {
					slope[r] += float64(c.need[r] * c.fair)
				}
			}
		}
		full, t := -1, math.Inf(1)
		for r := range slope {
			if slope[r] > 0 && left[r]/slope[r] < t {
				full, t = r, max(0, left[r]/slope[r])
			}
		}
		some := false
		for i := range f.claims {
			if c := &f.claims[i]; !c.done && c.peak <= t*c.fair {
				c.rate, c.done, some = c.peak, true, true
				open--
				c.take(&left)
			}
		}
		if some {
			continue
		}
		for i := range f.claims {
			if c := &f.claims[i]; !c.done && c.need[full] > 0 {
				c.rate, c.done = t*c.fair, true
				open--
				c.take(&left)
			}
		}
	}
}

// take subtracts what the claim uses.
func (c *claim) take(left *[numR]float64) {
	for r := range left {
		left[r] -= float64(c.need[r] * c.rate)
	}
}

func fits(used, capacity *[numR]float64) bool {
	for r := range used {
		if used[r] > capacity[r] {
			return false
		}
	}
	return true
}
