package world

// flush computes the rates that follow from what has changed since the last call:
//
//  1. every node shares itself among everything that touches it, as if nothing else limited a stage;
//  2. a stage on several nodes gets the least of what they allow;
//  3. every node shares what those stages leave among the stages that are on it alone.
//
// So a stage depends only on the nodes it touches, a change travels one step, and the rates are a function of what runs
// where, not of the order in which it got there.
func (w *World) flush() {
	if len(w.dirty) == 0 && len(w.pulls) == 0 {
		return
	}
	for {
		for k := 0; k < len(w.stale); k++ { //nolint:intrange // grows where uplinks are squeezed
			w.renewPeaks(w.stale[k])
		}
		w.stale = w.stale[:0]
		for _, i := range w.open {
			w.nodes[i].open = false
			w.allow(i)
		}
		w.open = w.open[:0]
		for _, p := range w.pulling {
			w.setThrottle(p)
		}
		w.pulling, w.pulls = w.pulls, w.pulling[:0]
		if len(w.pulling) == 0 {
			break
		}
		for _, p := range w.pulling {
			w.pull(p)
		}
	}
	w.finals, w.dirty = w.dirty, w.finals[:0]
	for _, i := range w.finals {
		w.nodes[i].dirty, w.nodes[i].final = false, true
	}
	for _, i := range w.moved {
		w.move(i)
	}
	w.moved = w.moved[:0]
	for _, i := range w.finals {
		w.nodes[i].final = false
		w.divide(i)
	}
}

// renewPeaks computes the peaks of the stages at home on a node whose limits have changed.
func (w *World) renewPeaks(i int32) {
	n := &w.nodes[i]
	n.stale = false
	for _, u := range n.users {
		if u.leg == 0 {
			w.setPeak(u.act)
		}
	}
}

// allow is step 1: it shares the whole node, and tells the stages that other nodes limit too, and the sources read from
// here, what they could have.
func (w *World) allow(i int32) {
	n := &w.nodes[i]
	some := len(n.pulled) > 0
	for _, u := range n.users {
		some = some || w.acts[u.act].shared()
	}
	if !some {
		return
	}
	f := &w.fill
	f.claims = f.claims[:0]
	for _, u := range n.users {
		w.claim(f, n, u)
	}
	for _, q := range n.pulled {
		s := &q.pool.src[q.src]
		c := claim{peak: s.peak}
		c.need[diskR], c.need[outR] = s.cold, s.away
		c.weight[diskR], c.weight[outR] = s.streams, s.streams
		f.claims = append(f.claims, c)
	}
	w.setCapacity(n)
	f.run()
	for k, u := range n.users {
		a := &w.acts[u.act]
		if !a.shared() {
			continue
		}
		if g := &a.legs[u.leg]; g.share != f.claims[k].rate {
			if p := a.pool; p != nil {
				p.want += float64((f.claims[k].rate - g.share) * a.reads)
				w.drift(p)
			}
			g.share = f.claims[k].rate
			w.shift(u.act)
		}
	}
	for k, q := range n.pulled {
		w.granted(q, f.claims[len(n.users)+k].rate)
	}
}

// claim adds what a stage wants of a node.
func (w *World) claim(f *fill, n *node, u user) {
	a := &w.acts[u.act]
	g := &a.legs[u.leg]
	f.claims = append(f.claims, claim{peak: a.peak})
	c := &f.claims[len(f.claims)-1]
	c.need[diskR], c.need[inR], c.need[outR] = g.disk, g.in, g.out
	c.weight[diskR], c.weight[inR], c.weight[outR] = 1, a.fetch, 1
	if u.leg == 0 {
		c.need[cpuR] = w.cpuNeed(a, n)
		c.weight[cpuR] = a.weight
		c.need[diskR] *= a.mult * n.swap
	}
}

// setCapacity sets what a node has for the claims in the fill. Streams that could not take a hundredth of the disk do
// not move its heads.
func (w *World) setCapacity(n *node) {
	f := &w.fill
	n.streams = 0
	for k := range f.claims {
		if c := &f.claims[k]; c.need[diskR]*c.peak > 0.01*n.disk {
			n.streams += c.weight[diskR]
		}
	}
	if !w.fx.Contention {
		n.streams = min(n.streams, 1)
	}
	n.rated = n.disk * n.efficiency(n.streams)
	f.capacity = [numR]float64{n.cores, n.rated, n.nic, n.nic}
	if !w.fx.Contention {
		f.capacity = [numR]float64{1e30, 1e30, 1e30, 1e30}
	}
}

// shift records that the rate of a stage on several nodes may change.
func (w *World) shift(i int32) {
	if a := &w.acts[i]; !a.moved {
		a.moved = true
		w.moved = append(w.moved, i)
	}
}

// move is step 2.
func (w *World) move(i int32) {
	a := &w.acts[i]
	a.moved = false
	rate := a.legs[0].share
	for l := int32(1); l < a.nlegs; l++ {
		rate = min(rate, a.legs[l].share)
	}
	if a.pool != nil {
		rate *= a.pool.throttle
	}
	if rate == a.rate {
		return
	}
	w.setRate(i, rate)
	for l := range a.nlegs {
		if n := &w.nodes[a.legs[l].node]; !n.final {
			n.final = true
			w.finals = append(w.finals, a.legs[l].node)
		}
	}
}

// divide is step 3; it also records the node's use.
func (w *World) divide(i int32) {
	n := &w.nodes[i]
	w.settle(n)
	f := &w.fill
	f.claims = f.claims[:0]
	for _, u := range n.users {
		w.claim(f, n, u)
	}
	w.setCapacity(n)
	var cpu, disk float64
	n.streams, n.rated, cpu, disk = w.reserve(n)
	single := f.claims[:0]
	for k, u := range n.users {
		if !w.acts[u.act].shared() {
			single = append(single, f.claims[k])
		}
	}
	f.claims = single
	f.run()
	first, k := never, 0
	for _, u := range n.users {
		a := &w.acts[u.act]
		if !a.shared() {
			c := &f.claims[k]
			k++
			w.setRate(u.act, c.rate)
			cpu += float64(c.need[cpuR] * c.rate)
			disk += float64(c.need[diskR] * c.rate)
		}
		if u.leg == 0 {
			first = min(first, a.end)
		}
	}
	n.cpuRate, n.diskRate = cpu, disk
	w.byNode.set(i, first)
}

// reserve subtracts what stages on several nodes and the readers of sources use from the capacity. It returns the
// number of streams on the disk, including the sources', what the disk transfers with them, and what is used.
func (w *World) reserve(n *node) (streams, rated, cpu, disk float64) {
	f := &w.fill
	streams = n.streams
	var used [numR]float64
	for k, u := range n.users {
		if a := &w.acts[u.act]; a.shared() {
			for r := range used {
				used[r] += float64(f.claims[k].need[r] * a.rate)
			}
		}
	}
	for _, q := range n.pulled {
		s := &q.pool.src[q.src]
		rate := min(s.grant, s.peak*q.pool.throttle)
		used[diskR] += float64(rate * s.cold)
		used[outR] += float64(rate * s.away)
		if s.peak*s.cold > 0.01*n.disk {
			streams += s.streams
		}
	}
	rated = n.disk
	if w.fx.Contention {
		rated *= n.efficiency(streams)
		f.capacity[diskR] = rated
	}
	for r := range used {
		f.capacity[r] = max(f.capacity[r]-used[r], 1e-9*f.capacity[r])
	}
	return streams, rated, used[cpuR], used[diskR]
}
