package search

import (
	"heddle"
	"heddle/rm"
)

// A link is a connection to the ResourceManager, over TCP: messages arrive in order and once, unless a connection
// breaks and the sender repeats them over another.
type link struct {
	name  string
	key   uint64
	calls uint64
	// Numbers of the next calls that go wrong: the call is lost, its answer is lost, it arrives again some time later,
	// it is delayed.
	lose, mute, twice, late int
	upset                   heddle.Time // when something last went wrong
}

// broke is after how long a caller considers a connection broken.
const broke = 10 * heddle.Second

// take uses up one of a link's faults.
func take(n *int) bool {
	if *n > 0 {
		*n--
		return true
	}
	return false
}

// call sends a message to the ResourceManager. Either done gets the answer, or failed is called because there is none.
func (s *sim) call(l *link, what func(rm.Call) rm.Message, done func(any, error), failed func()) {
	l.calls++
	d := mix(s.seed, 4, l.key, l.calls)
	there, back := d.span(heddle.Millisecond, 40*heddle.Millisecond), d.span(heddle.Millisecond, 40*heddle.Millisecond)
	if take(&l.late) {
		l.upset = s.now
		there += d.span(heddle.Second, 40*heddle.Second)
	}
	if take(&l.lose) {
		l.upset = s.now
		s.after(broke, failed)
		return
	}
	mute := take(&l.mute)
	if take(&l.twice) {
		l.upset = s.now
		s.after(there+d.span(0, pick(d, 100*heddle.Millisecond, 5*heddle.Second, 30*heddle.Second)), func() {
			l.upset = s.now
			s.hear(what, func(any, error) {}, func() {})
		})
	}
	s.after(there, func() {
		s.hear(what, func(v any, err error) {
			if mute {
				l.upset = s.now
				s.after(broke, failed)
				return
			}
			s.after(back, func() { done(v, err) })
		}, func() {
			l.upset = s.now
			s.after(back, failed)
		})
	})
}
