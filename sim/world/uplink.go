package world

// The flows over a rack's uplink are scaled alike when together they want more than it carries, which is what many TCP
// connections do on average. The scale follows demand in steps of a tenth, so that a flow that comes or goes does not
// change the rate of all others.
const uplinkStep = 0.1

// A path is what a stage sends from one rack to another.
type path struct {
	from, to      int32
	bytes         float64
	desire        int64 // bytes/s, with the uplinks to itself
	outPos, inPos int32
}

// A flow is a stage's path, as a rack knows it.
type flow struct{ act, path int32 }

// cross adds a path to the uplinks it uses.
func (w *World) cross(i, k int32) {
	h := &w.acts[i].paths[k]
	from, to := &w.racks[h.from], &w.racks[h.to]
	h.outPos, h.inPos, h.desire = int32(len(from.outs)), int32(len(to.ins)), 0
	from.outs = append(from.outs, flow{i, k})
	to.ins = append(to.ins, flow{i, k})
}

// uncross removes a path from the uplinks it uses.
func (w *World) uncross(i, k int32) {
	h := &w.acts[i].paths[k]
	from, to := &w.racks[h.from], &w.racks[h.to]
	last := from.outs[len(from.outs)-1]
	from.outs[h.outPos] = last
	w.acts[last.act].paths[last.path].outPos = h.outPos
	from.outs = from.outs[:len(from.outs)-1]
	last = to.ins[len(to.ins)-1]
	to.ins[h.inPos] = last
	w.acts[last.act].paths[last.path].inPos = h.inPos
	to.ins = to.ins[:len(to.ins)-1]
	from.out -= h.desire
	to.in -= h.desire
	w.squeeze(h.from)
	w.squeeze(h.to)
}

// overUplinks tells the uplinks what a stage would send at its peak, and returns what fraction of it they let through.
func (w *World) overUplinks(a *act, peak float64) float64 {
	s := 1.0
	for k := range a.npath {
		h := &a.paths[k]
		from, to := &w.racks[h.from], &w.racks[h.to]
		d := int64(peak * h.bytes)
		from.out += d - h.desire
		to.in += d - h.desire
		h.desire = d
		s = min(s, from.fout, to.fin)
		w.squeeze(h.from)
		w.squeeze(h.to)
	}
	return s
}

// squeeze applies the scale of a rack's uplink if it has changed.
func (w *World) squeeze(k int32) {
	r := &w.racks[k]
	if s := part(r.uplink, r.out); moved(s, r.fout) {
		r.fout = s
		for _, f := range r.outs {
			w.renew(w.acts[f.act].home)
		}
	}
	if s := part(r.uplink, r.in); moved(s, r.fin) {
		r.fin = s
		for _, f := range r.ins {
			w.renew(w.acts[f.act].home)
		}
	}
}

// part returns the fraction of the demand that fits.
func part(capacity float64, wanted int64) float64 {
	if capacity <= 0 || float64(wanted) <= capacity {
		return 1
	}
	return capacity / float64(wanted)
}

func moved(s, applied float64) bool {
	return s > applied*(1+uplinkStep) || s < applied*(1-uplinkStep) || s == 1 && applied != 1
}

// crossPool puts what a pool's readers fetch from other racks on the uplinks.
func (w *World) crossPool(p *pool) {
	if p.racks == nil || p.total <= 0 {
		return
	}
	in := make([]float64, len(w.racks)) // bytes/s wanted in each rack
	all := 0.0
	for _, i := range p.copying {
		a := &w.acts[i]
		d := float64(a.legs[0].share * a.reads)
		in[w.nodes[a.home].rack] += d
		all += d
	}
	for r := range in {
		here := p.racks[r] / p.total
		out, in := int64(here*(all-in[r])), int64((1-here)*in[r])
		w.racks[r].in += in - p.in[r]
		w.racks[r].out += out - p.out[r]
		p.in[r], p.out[r] = in, out
		w.squeeze(int32(r))
	}
}

// uncrossPool removes what a pool's readers fetch from the uplinks again.
func (w *World) uncrossPool(p *pool) {
	for r := range p.in {
		w.racks[r].in -= p.in[r]
		w.racks[r].out -= p.out[r]
		p.in[r], p.out[r] = 0, 0
		w.squeeze(int32(r))
	}
}

// poolUplink returns the fraction of what the readers want that the uplinks let through, as the mean over racks.
func (w *World) poolUplink(p *pool) float64 {
	if p.racks == nil || p.demand <= 0 {
		return 1
	}
	over, in, out := 0.0, 0.0, 0.0
	for r := range p.in {
		over += float64(p.in[r])
		in += float64(p.in[r]) / w.racks[r].fin
		out += float64(p.out[r]) / w.racks[r].fout
	}
	if over <= 0 {
		return 1
	}
	return 1 / (1 + max(0, max(in, out)-over)/p.demand)
}
