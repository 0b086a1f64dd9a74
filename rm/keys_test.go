package rm

import (
	"testing"

	"pgregory.net/rapid"

	"heddle"
)

// A ringShell handles a ring: keys are made when the machine asks, at once or later, or not.
type ringShell struct {
	m   *Machine
	now heddle.Time
}

const (
	testEvery   = 24 * heddle.Hour
	testOverlap = 15 * heddle.Minute
)

func newRingShell(k KeyState) *ringShell {
	m := &Machine{}
	for i := range m.rings {
		m.rings[i] = newRing(KeyState{}, 0, 0, 0)
	}
	m.rings[MasterRing] = newRing(k, testEvery, testOverlap, 0)
	return &ringShell{m: m}
}

// at makes the machine roll its keys at a time, and returns what it wants done.
func (s *ringShell) at(t heddle.Time) []Effect {
	s.now, s.m.now = t, t
	s.m.roll()
	return s.m.done()
}

func (s *ringShell) made(failed string) {
	s.m.keyMade(&KeyMade{Ring: MasterRing, Failed: failed})
	s.m.done()
}

func TestKeysRoll(t *testing.T) {
	s := newRingShell(KeyState{Current: 1<<31 - 1})
	due := heddle.Time(testEvery)
	if s.m.keyDue() != due || len(s.at(due-1)) > 0 {
		t.Fatalf("due %v, or something done before", s.m.keyDue())
	}
	second := int32(-1 << 31) // ids wrap around
	if got := s.at(due); len(got) != 1 || got[0] != (MakeKey{MasterRing, second}) || len(s.at(due+1)) > 0 || s.m.keyDue() != never {
		t.Fatalf("not one next key: %v", got)
	}
	s.made("no disk")
	if retry := s.now.Plus(retryKey); s.m.keyDue() != retry || len(s.at(retry)) != 1 {
		t.Fatal("a key that could not be made is not asked for again")
	}
	if k := &s.m.rings[MasterRing]; k.lacks(1<<31 - 1) {
		t.Error("somebody lacks a key that there is not")
	}
	s.made("")
	if k := &s.m.rings[MasterRing]; !k.lacks(1<<31-1) || k.lacks(second) {
		t.Error("who lacks the next key, and who does not")
	}
	use := s.now.Plus(testOverlap)
	if got := s.at(use - 1); len(got) > 0 || s.m.keyDue() != use {
		t.Fatalf("%v before the overlap is over, due %v", got, s.m.keyDue())
	}
	if got := s.at(use); len(got) != 1 || got[0] != (UseKey{MasterRing, second}) || s.m.keyDue() != use.Plus(testEvery-testOverlap) {
		t.Fatalf("%v, then due %v", got, s.m.keyDue())
	}
}

// A next key from before the restart stays next for the whole overlap again.
func TestNextKeyOfBeforeTheStart(t *testing.T) {
	next := int32(8)
	s := newRingShell(KeyState{Current: 7, Next: &next})
	if got := s.at(heddle.Time(testOverlap) - 1); len(got) > 0 {
		t.Fatalf("%v within the overlap", got)
	}
	if got := s.at(heddle.Time(testOverlap)); len(got) != 1 || got[0] != (UseKey{MasterRing, 8}) {
		t.Fatalf("%v after the overlap", got)
	}
}

// However late the machine is served and however long a key takes: a key is known as next for the overlap before it
// becomes current, and keys follow one another.
func TestKeysAreNextForTheOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newRingShell(KeyState{Current: 1})
		current, told := int32(1), heddle.Time(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s.now = s.now.Plus(heddle.Span(rapid.Int64Range(0, int64(testEvery)).Draw(t, "wait")))
			for _, e := range s.at(s.now) {
				if e, ok := e.(MakeKey); ok && e.ID != current+1 {
					t.Fatalf("key %d follows %d", e.ID, current)
				}
				if e, ok := e.(UseKey); ok {
					if e.ID != current+1 || s.now.Since(told) < testOverlap {
						t.Fatalf("key %d is used after %v, the current one was %d", e.ID, s.now.Since(told), current)
					}
					current = e.ID
				}
			}
			if s.m.rings[MasterRing].making && rapid.Bool().Draw(t, "made") {
				s.made(rapid.SampledFrom([]string{"", "", "no disk"}).Draw(t, "failed"))
				told = s.now
			}
		}
	})
}
