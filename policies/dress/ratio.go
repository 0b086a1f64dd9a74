package dress

// supply is what Alg. 3 knows of one category: parts of the cluster. available is A_c, what its reserve
// leaves; released F, what its running jobs are expected to give back by the next interval.
type supply struct {
	available, released float64
	demands             []float64 // r_i of its pending jobs, ascending
	first               float64   // the container that the first of its jobs waits for; 0 where none does
	keeps               bool      // what it has too much is not given away
}

// surplus is A_c + F − P.
func (s *supply) surplus() float64 {
	sum := s.available + s.released
	for _, r := range s.demands {
		sum -= r
	}
	return sum
}

// adjust moves the reserve ratios by what each category has and wants (Alg. 3). delta holds each category's
// ratio, smallest demand first, the last being what the others leave; they sum to 1.
//
// With two categories it is the listing: what the first has too much goes to the second; else what the
// second has too much goes to the first; else both are short, each serves its smallest jobs from its own,
// and what that leaves in both serves the first category's next jobs. With part, one that does not fit as a whole is
// given what it lacks for a first container, where the second category has that left; by the listing it is given nothing.
// With more categories, each in turn that has too much gives it to the smallest one that is short, or to the last when none
// is; and when none gives any, each but the last serves its next jobs from what it and the larger ones have left. It reports
// whether all are short: one that keeps what it has too much is not.
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

// move gives so much of one category's reserve to another.
func move(delta []float64, cats []supply, from, to int, part float64) {
	delta[from] -= part
	delta[to] += part
	cats[from].available -= part
	cats[to].available += part
}

// fill serves a category's jobs from its own, smallest first, and returns what is left and the first job
// that did not fit: the demands ascend, so no later one does.
func fill(s *supply) (left float64, next int) {
	left = max(s.available+s.released, 0)
	for next < len(s.demands) && left-s.demands[next] >= -slack {
		left -= s.demands[next]
		next++
	}
	return left, next
}

// lend gives category k reserve for a job of demand r out of the larger categories' leftovers, largest
// category first. The listing takes all of r from the other category, also what k's own leftover would
// have served; the next interval puts that right.
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

// bound keeps every ratio but the last at lo or above, their sum at hi or below, and the last at the rest.
// Where they are more than hi together, the larger categories give way first.
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
