package rm

import "heddle"

// A Ring is a kind of token. Its keys follow one another: from time to time there is a next key, which later becomes
// the current one. The machine has the key numbers; the secrets are the shell's.
type Ring uint8

// The rings.
const (
	MasterRing    Ring = iota // tokens that masters show to the ResourceManager
	NodeRing                  // tokens that masters show to nodes
	ContainerRing             // tokens shown to nodes to start containers
	NumRings      = 3
)

// A KeyState is the initial state of a ring.
type KeyState struct {
	Current int32
	Next    *int32 // nil for none
	Made    int64  // when the newest key was made, milliseconds since 1970
}

// A ring holds the key lives of one kind of token.
type ring struct {
	every   heddle.Span // from one new key to the next; 0: never
	overlap heddle.Span // how long a new key is next before it becomes current: the time until everybody has it
	current int32
	next    int32
	coming  bool        // there is a next key
	making  bool        // the shell was asked for a key
	at      heddle.Time // when the next action is due
}

// retryKey is when to ask again for a key that could not be made.
const retryKey = heddle.Minute

// newRing continues with existing keys. A next key among them stays next for the whole overlap again: nobody could
// learn of it while there was no ResourceManager.
func newRing(k KeyState, every, overlap heddle.Span, made heddle.Time) ring {
	r := ring{every: every, overlap: overlap, current: k.Current, at: never}
	switch {
	case every <= 0:
	case k.Next != nil:
		r.next, r.coming, r.at = *k.Next, true, heddle.Time(overlap)
	default:
		r.at = made.Plus(every)
	}
	return r
}

// roll makes the next key the current one, or asks for a next one, when due.
func (m *Machine) roll() {
	for i := range m.rings {
		k := &m.rings[i]
		switch {
		case k.making || m.now < k.at:
		case k.coming:
			k.current, k.coming = k.next, false
			k.at = k.at.Plus(k.every - k.overlap)
			m.emit(UseKey{Ring(i), k.current})
			if Ring(i) == NodeRing {
				m.newTokens()
			}
		default:
			k.making = true
			m.emit(MakeKey{Ring(i), k.current + 1})
		}
	}
}

// keyMade handles the shell's success or failure in making a key.
func (m *Machine) keyMade(q *KeyMade) {
	k := &m.rings[q.Ring]
	if !k.making {
		return
	}
	if k.making = false; q.Failed != "" {
		k.at = m.now.Plus(retryKey)
		m.log(Error, "no new key; the old one stays", "key of", q.Ring, "error", q.Failed)
		return
	}
	k.next, k.coming, k.at = k.current+1, true, m.now.Plus(k.overlap)
}

// keyDue returns when a key is to be made or becomes the current one.
func (m *Machine) keyDue() heddle.Time {
	at := never
	for i := range m.rings {
		if !m.rings[i].making {
			at = min(at, m.rings[i].at)
		}
	}
	return at
}

// lacks reports whether a holder of this key is to be given the next one.
func (k *ring) lacks(has int32) bool { return k.coming && k.next != has }

// String names the ring.
func (r Ring) String() string {
	return [...]string{"masters", "nodes", "containers"}[r]
}
