package dress

// supply is what Alg. 3 knows of one category, in parts of the cluster. available is A_c, what its reserve leaves;
// released is F, what its running jobs are expected to give back by the next interval.
type supply struct {
	available, released float64
	demands             []float64 // r_i of its pending jobs, ascending
	first               float64   // the container that the first of its jobs waits for; 0 if none waits
	keeps               bool      // its surplus is not given away
}

// surplus is A_c + F − P.
func (s *supply) surplus() float64 {
	sum := s.available + s.released
	for _, r := range s.demands {
		sum -= r
	}
	return sum
}

// adjust moves the reserve ratios by what each category has and wants (Alg. 3). delta holds each category's ratio,
// smallest demand first, the last being what the others leave; they sum to 1.
//
// With two categories it is the listing: a surplus of the first goes to the second; else a surplus of the second goes
// to the first; else both are short, each serves its smallest jobs from its own reserve, and what is left of both
// serves the first category's next jobs. With part, a job that does not fit as a whole gets what it lacks for a first
// container, if the second category has that left; by the listing it gets nothing. With more categories, each one with
// a surplus in turn gives it to the smallest that is short, or to the last if none is. If none gives any, each but the
// last serves its next jobs from what it and the larger ones have left. adjust reports whether all categories are
// short: one that keeps its surplus is not.
func adjust(delta []float64, cats []supply, part bool) (short bool) {
	n := len(cats)
	gave := false
	short = true
	for k := range cats {
		more := cats[k].surplus()
		if more < -slack {
			continue
		}
		short = false
		if cats[k].keeps {
			continue
		}
		gave = true
		to := n - 1
		for j := range cats {
			if cats[j].surplus() < -slack {
				to = j
				break
			}
		}
		move(delta, cats, k, to, max(more, 0))
	}
	if gave {
		return false
	}
	left, next := make([]float64, n), make([]int, n)
	for k := range cats {
		left[k], next[k] = fill(&cats[k])
	}
	for k := range n - 1 {
		for ; next[k] < len(cats[k].demands); next[k]++ {
			r := cats[k].demands[next[k]]
			if r > together(left[k:])+slack {
				break
			}
			lend(delta, left, k, r)
		}
	}
	for k := range n - 1 {
		lack := cats[k].first - left[k]
		if part && next[k] < len(cats[k].demands) && lack > slack && lack <= together(left[k+1:])+slack {
			lend(delta, left, k, lack)
		}
	}
	return short
}

func together(of []float64) (all float64) {
	for _, x := range of {
		all += x
	}
	return all
}

// move moves a part of one category's reserve to another category.
func move(delta []float64, cats []supply, from, to int, part float64) {
	delta[from] -= part
	delta[to] += part
	cats[from].available -= part
	cats[to].available += part
}

// fill serves a category's jobs from its own reserve, smallest first. It returns what is left and the index of the
// first job that did not fit; the demands ascend, so no later one fits.
func fill(s *supply) (left float64, next int) {
	left = max(s.available+s.released, 0)
	for next < len(s.demands) && left-s.demands[next] >= -slack {
		left -= s.demands[next]
		next++
	}
	return left, next
}

// lend gives category k reserve for a job of demand r out of the larger categories' leftovers, largest category first.
// The listing takes all of r from the other category, even what k's own leftover would have served; the next interval
// corrects that.
func lend(delta, left []float64, k int, r float64) {
	rest := r
	for j := len(left) - 1; j > k && rest > 0; j-- {
		part := min(rest, max(left[j], 0))
		if j == k+1 {
			part = rest
		}
		delta[j] -= part
		left[j] -= part
		rest -= part
	}
	delta[k] += r
}

// bound keeps every ratio but the last at lo or above and their sum at hi or below; the last one gets the rest. If the
// sum is more than hi, the larger categories give way first.
func bound(delta []float64, lo, hi float64) {
	last := len(delta) - 1
	sum := 0.0
	for k := range last {
		delta[k] = max(delta[k], lo)
		sum += delta[k]
	}
	for k := last - 1; k >= 0 && sum > hi; k-- {
		cut := min(sum-hi, delta[k]-lo)
		delta[k] -= cut
		sum -= cut
	}
	delta[last] = 1 - sum
}
