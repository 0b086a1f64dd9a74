package sim

import (
	"heddle"
	"heddle/internal/slab"
	"heddle/rm"
)

// A pace determines how far apart nodes report in under heddle rm: soon while a container on the node is starting or is
// to end, seldom while the cluster is empty, and otherwise as the last answer said, if that heartbeat was made. The
// time from one heartbeat to the next is a number of turns of the wheel. A node whose heartbeat has nothing to do with
// what goes on is passed over: only the turn of its next heartbeat has to be known.
type pace struct {
	w    *wheel
	turn int64       // heartbeats of earlier turns are past
	at   int32       // and so are those of this turn of lower ranks
	due  []slab.Bits // by turn, in a ring: the ranks that beat
	fast slab.Bits   // ranks wanted again soon
	idle bool        // the cluster is empty

	hurried slab.Bits // ranks that were told to beat again soon
	rested  slab.Bits // ranks that were told to beat again seldom

	words   []int32 // words of the sets that need a look
	changed bool    // the wanted ranks may have changed since the last call of next
	last    struct {
		a, b *uint64
		at   heddle.Time
		turn int64
		rank int32
		ok   bool
	}

	soon, calm, seldom int64 // turns between heartbeats
	again              int64 // turns after which all heartbeats repeat if nothing changes
	load               heddle.Span
}

// newPace returns the heartbeats of nodes that are told the intervals of a configuration.
func newPace(w *wheel, cfg *rm.Config) *pace {
	p := &pace{w: w, fast: slab.NewBits(len(w.order)), idle: true, hurried: slab.NewBits(len(w.order)), rested: slab.NewBits(len(w.order))}
	p.load = heddle.Span(len(w.order)) * heddle.Second / heddle.Span(cfg.BeatLoad)
	p.soon, p.calm, p.seldom = p.turns(cfg.FastBeat), p.turns(cfg.Beat), p.turns(cfg.IdleBeat)
	p.due = make([]slab.Bits, max(p.turns(0), p.seldom)+1)
	p.again = common(common(p.soon, p.calm), p.seldom)
	for i := range p.due {
		p.due[i] = slab.NewBits(len(w.order))
	}
	return p
}

// turns returns the length of an interval in turns, unless the load makes it longer.
func (p *pace) turns(every heddle.Span) int64 {
	return int64((max(every, p.load) + p.w.interval - 1) / p.w.interval)
}

func (p *pace) of(turn int64) slab.Bits { return p.due[turn%int64(len(p.due))] }

// join schedules the first heartbeat of a node for so many turns from now.
func (p *pace) join(rank int32, turns int64) {
	p.changed = true
	for _, b := range p.due {
		b.Set(rank, false)
	}
	if turns == 0 && rank < p.at {
		turns = 1
	}
	p.tell(rank, turns)
}

// tell schedules a node's heartbeat for so many turns after this one.
func (p *pace) tell(rank int32, turns int64) {
	p.of(p.turn+turns).Set(rank, true)
	p.hurried.Set(rank, turns <= p.soon)
	p.rested.Set(rank, turns > p.calm)
}

// common returns the least common multiple of two positive numbers.
func common(a, b int64) int64 {
	x, y := a, b
	for y > 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// advance passes over the heartbeats before a time. Once every node has been passed over, heartbeats repeat: a long
// time in which nothing happens takes no longer than a short one.
func (p *pace) advance(now heddle.Time) {
	turn := int64(now) / int64(p.w.interval)
	at := p.w.from(heddle.Span(int64(now) % int64(p.w.interval)))
	for settled := p.turn + int64(len(p.due)) + 1; p.turn < turn; {
		if p.turn == settled {
			if p.skip((turn - p.turn) / p.again * p.again); p.turn == turn {
				break
			}
		}
		p.pass(int32(len(p.w.order)))
		p.turn++
		p.at = 0
	}
	if p.turn == turn && p.at < at {
		p.pass(at)
	}
}

// skip passes over a number of turns after which all heartbeats repeat.
func (p *pace) skip(turns int64) {
	n := len(p.due)
	by := int(turns % int64(n))
	p.turn += turns
	p.due = append(append(make([]slab.Bits, 0, n), p.due[n-by:]...), p.due[:n-by]...)
}

// pass passes over the heartbeats of this turn before a rank.
func (p *pace) pass(to int32) {
	if p.at == to {
		return
	}
	now, soon, later, rested := p.of(p.turn), p.of(p.turn+p.soon), p.of(p.turn+p.calm), uint64(0)
	if p.idle {
		later, rested = p.of(p.turn+p.seldom), ^uint64(0)
	}
	pass := func(word int32, mask uint64) {
		who := now[word] & mask
		now[word] &^= who
		fast := who & p.fast[word]
		soon[word] |= fast
		later[word] |= who &^ fast
		p.hurried[word] = p.hurried[word]&^who | fast
		p.rested[word] = p.rested[word]&^who | who&^fast&rested
	}
	word, last := p.at/64, to/64
	low, high := ^uint64(0)<<(p.at%64), uint64(1)<<(to%64)-1
	p.at = to
	if word == last {
		pass(word, low&high)
		return
	}
	pass(word, low)
	if p.soon == p.seldom { // the same interval for every node
		for word++; word < last; word++ {
			later[word] |= now[word]
			now[word] = 0
		}
	}
	for word++; word < last; word++ {
		pass(word, ^uint64(0))
	}
	if high != 0 {
		pass(last, high)
	}
}

// next returns the first heartbeat, from the time last passed to advance on, of a node in a or b.
func (p *pace) next(a, b slab.Bits) (at heddle.Time, rank int32, ok bool) {
	l := &p.last
	past := l.ok && (l.turn < p.turn || l.turn == p.turn && l.rank < p.at)
	if p.changed || past || l.a != &a[0] || l.b != &b[0] {
		l.a, l.b = &a[0], &b[0]
		l.at, l.rank, l.ok = p.first(a, b)
		l.turn = int64(l.at) / int64(p.w.interval)
		p.changed = false
	}
	return l.at, l.rank, l.ok
}

// first looks for that heartbeat in the rest of this turn. Only if there is none does it look for the ranks wanted at
// all.
func (p *pace) first(a, b slab.Bits) (at heddle.Time, rank int32, ok bool) {
	due, from := p.of(p.turn), ^uint64(0)<<(p.at%64)
	for word := int(p.at / 64); word < len(a); word++ {
		if m := (a[word] | b[word]) & due[word] & from; m != 0 {
			rank = int32(word)*64 + trailing(m)
			return p.timeOf(p.turn, rank), rank, true
		}
		from = ^uint64(0)
	}
	p.words = p.words[:0]
	for word := range a {
		if a[word]|b[word] != 0 {
			p.words = append(p.words, int32(word))
		}
	}
	if len(p.words) == 0 {
		return 0, 0, false
	}
	for turn := p.turn + 1; turn < p.turn+int64(len(p.due)); turn++ {
		due := p.of(turn)
		for _, word := range p.words {
			if m := (a[word] | b[word]) & due[word]; m != 0 {
				rank = word*64 + trailing(m)
				return p.timeOf(turn, rank), rank, true
			}
		}
	}
	return 0, 0, false
}

// timeOf returns when a rank that beats in a turn does so.
func (p *pace) timeOf(turn int64, rank int32) heddle.Time {
	return heddle.Time(turn*int64(p.w.interval) + int64(p.w.offset[rank]))
}

// made records that a node's heartbeat was made, and when the node was told to beat again.
func (p *pace) made(rank int32, every heddle.Span) {
	p.of(p.turn).Set(rank, false)
	p.tell(rank, min(p.turns(every), int64(len(p.due))-1))
	p.at, p.changed = rank+1, true
}

// before returns the time of a node's last heartbeat.
func (p *pace) before(rank int32) heddle.Time {
	every := p.calm
	switch {
	case p.hurried.Has(rank):
		every = p.soon
	case p.rested.Has(rank):
		every = p.seldom
	}
	for turn := p.turn; turn < p.turn+int64(len(p.due)); turn++ {
		if p.of(turn).Has(rank) {
			return heddle.Time(max(turn-every, 0)*int64(p.w.interval) + int64(p.w.offset[rank]))
		}
	}
	return 0
}
