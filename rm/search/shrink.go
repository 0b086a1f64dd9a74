package search

// Shrink removes from a plan that breaks a rule everything without which it still breaks the same rule: halves at
// first, then smaller parts, then one op at a time. It stops after at most so many runs.
func Shrink(p *Plan, f *Failure, runs int) *Plan {
	numbers := map[int]bool{}
	for _, o := range p.Ops {
		if o.At <= f.At {
			numbers[o.I] = true
		}
	}
	try := func(q *Plan) bool {
		if runs <= 0 {
			return false
		}
		runs--
		_, g := Run(q, Options{})
		return g != nil && g.Rule == f.Rule
	}
	if q := p.Keep(numbers); try(q) {
		p = q
	}
	for size := (len(p.Ops) + 1) / 2; size > 0 && runs > 0; {
		shorter := false
		for from := 0; from < len(p.Ops); {
			q := &Plan{Seed: p.Seed}
			q.Ops = append(q.Ops, p.Ops[:from]...)
			q.Ops = append(q.Ops, p.Ops[min(from+size, len(p.Ops)):]...)
			if try(q) {
				p, shorter = q, true
				continue
			}
			from += size
		}
		if size == 1 && !shorter {
			break
		}
		size = max((size+1)/2, 1)
		if size > len(p.Ops) {
			size = max(len(p.Ops), 1)
		}
	}
	return p
}
