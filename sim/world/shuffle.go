package world

import "heddle"

// A pool is the data that the tasks of a job have left on the nodes for its other tasks to read: map output, or a Spark
// job's shuffle files.
//
// A reader fetches from all nodes at once, so exact flows would be one per reader and node. Instead, a reader is one
// stage on its own node, every source is one claim on its node, and the pool couples them by one number, throttle: the
// fraction of what the readers could receive that the sources can send. It is recomputed when the readers' demand has
// moved by Params.PullDrift, at most once in Params.PullEvery for each source. Readers read from all sources in
// proportion to the bytes there.
type pool struct {
	total float64 // bytes
	src   []source
	at    map[int32]int32 // node → index in src
	racks []float64       // bytes by rack; nil without uplinks

	copying  []int32 // stages that read
	want     float64 // bytes/s they could receive, approximately
	demand   float64 // the same when throttle was computed
	throttle float64
	pulledAt heddle.Time
	fresh    bool // never pulled
	pulling  bool // between pull and setThrottle
	shifted  bool // a source's grant is not what throttle was computed from
	armed    bool // a timer is set
	queued   bool
	out, in  []int64 // what it adds to the uplinks, by rack
}

// A source is a node's part of a pool.
type source struct {
	node    int32
	bytes   float64
	peak    float64 // bytes/s the readers want from here
	streams float64
	grant   float64 // bytes/s the node allows
	basis   float64 // the same when throttle was computed
	from    float64 // in the node's page cache: where the first output left begins
	to      float64 // and where the last one ends
	cold    float64 // fraction of what is read that is not in memory
	near    float64 // bytes/s that readers on the node itself could receive, from all sources
	away    float64 // fraction of what is read that other nodes receive
	pos     int32   // in node.pulled, -1 if nothing reads from it
}

func (w *World) newPool() *pool {
	p := &pool{at: map[int32]int32{}, throttle: 1, fresh: true}
	if w.racks[0].uplink > 0 && len(w.racks) > 1 {
		p.racks = make([]float64, len(w.racks))
		p.out, p.in = make([]int64, len(w.racks)), make([]int64, len(w.racks))
	}
	return p
}

// leave adds bytes on a node; a negative number removes them.
func (w *World) leave(p *pool, node int32, bytes float64) {
	k, ok := p.at[node]
	if !ok {
		if bytes <= 0 {
			return
		}
		k = int32(len(p.src))
		p.at[node] = k
		p.src = append(p.src, source{node: node, pos: -1, cold: 1, from: w.nodes[node].cache.high - bytes})
	}
	bytes = max(bytes, -p.src[k].bytes)
	p.src[k].bytes += bytes
	p.src[k].to = w.nodes[node].cache.high
	p.total = max(0, p.total+bytes)
	if p.racks != nil {
		p.racks[w.nodes[node].rack] += bytes
	}
}

// share returns the fraction of the pool on a node.
func (p *pool) share(node int32) float64 {
	if k, ok := p.at[node]; ok && p.total > 0 {
		return p.src[k].bytes / p.total
	}
	return 0
}

// coldAt returns the fraction of the pool's data on a node that is not in memory.
func (p *pool) coldAt(node int32) float64 {
	if k, ok := p.at[node]; ok {
		return p.src[k].cold
	}
	return 1
}

// drift schedules a renewal of the sources: at once when the first reader comes or the last goes, otherwise in due time
// once their demand or what a source grants has moved.
func (w *World) drift(p *pool) {
	if p.queued {
		return
	}
	idle, none := p.demand == 0, len(p.copying) == 0
	d := p.want - p.demand
	if idle && none || !idle && !none && !p.shifted && max(d, -d) <= p.demand*w.p.PullDrift {
		return
	}
	due := p.pulledAt.Plus(w.p.PullEvery * heddle.Span(len(p.src)))
	if p.fresh || p.pulledAt < w.now && (idle != none || due <= w.now) {
		p.queued = true
		w.pulls = append(w.pulls, p)
	} else if !p.armed {
		p.armed = true
		w.timer(timer{at: max(due, w.now.Plus(heddle.Millisecond)), pool: p})
	}
}

// pull spreads the readers' demand over the sources.
func (w *World) pull(p *pool) {
	p.queued, p.fresh, p.shifted, p.pulling, p.pulledAt = false, false, false, true, w.now
	p.want = 0
	for k := range p.src {
		p.src[k].near = 0
	}
	for _, i := range p.copying {
		a := &w.acts[i]
		by := float64(a.legs[0].share * a.reads)
		p.want += by
		if k, ok := p.at[a.home]; ok {
			p.src[k].near += by
		}
	}
	p.demand = p.want
	readers := float64(len(p.copying))
	for k := range p.src {
		s := &p.src[k]
		part := 0.0
		if p.total > 0 {
			part = s.bytes / p.total
		}
		s.peak = p.demand * part
		s.streams = min(readers, readers*w.p.Fetchers*part)
		if s.away = 1; p.demand > 0 {
			s.away = max(0, 1-s.near/p.demand)
		}
		w.setCold(p, s)
		w.setPulled(p, int32(k), s.peak > 0)
		w.touch(s.node)
	}
	w.crossPool(p)
}

// setPulled adds a source to its node's list, or removes it.
func (w *World) setPulled(p *pool, k int32, on bool) {
	s := &p.src[k]
	n := &w.nodes[s.node]
	switch {
	case on && s.pos < 0:
		s.pos = int32(len(n.pulled))
		n.pulled = append(n.pulled, pulled{p, k})
	case !on && s.pos >= 0:
		last := len(n.pulled) - 1
		n.pulled[s.pos] = n.pulled[last]
		m := n.pulled[s.pos]
		m.pool.src[m.src].pos = s.pos
		n.pulled[last] = pulled{}
		n.pulled = n.pulled[:last]
		s.pos, s.grant, s.basis = -1, 0, 0
	}
}

// granted records what a node allows to be read from a source.
func (w *World) granted(q pulled, rate float64) {
	p, s := q.pool, &q.pool.src[q.src]
	s.grant = rate
	if d := rate - s.basis; !p.pulling && max(d, -d) > s.basis*w.p.PullDrift {
		p.shifted = true
		w.drift(p)
	}
}

// setThrottle couples the readers to the sources. If each source sends its part at the rate its node grants, the parts
// take different times. The pace of the whole is their mean by bytes: readers turn to other sources while one is slow,
// but need all in the end.
func (w *World) setThrottle(p *pool) {
	p.pulling = false
	slowness := 0.0 // seconds per byte of the whole
	for k := range p.src {
		if s := &p.src[k]; s.pos >= 0 {
			s.basis = s.grant
			part := s.bytes / p.total
			slowness += part * part / max(s.grant, 1)
		}
	}
	t := 1.0
	if p.demand > 0 && slowness > 0 {
		t = min(1, 1/(slowness*p.demand))
	}
	t *= w.poolUplink(p)
	if t == p.throttle {
		return
	}
	p.throttle = t
	for _, i := range p.copying {
		w.shift(i)
	}
}
