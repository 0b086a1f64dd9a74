package token

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// A Schedule says when a key is followed by the next one.
type Schedule struct {
	Interval time.Duration // from one new key to the next one
	Overlap  time.Duration // how long a new key is next before it is current, shorter than Interval

	// NextSigns says that new tokens are signed with the next key as soon as there is one. So it is with the
	// keys of masters' tokens, which the ResourceManager itself checks: during the overlap every master is
	// handed a new token. Where nodes check, the current key signs on until every node was told the next.
	NextSigns bool
}

// Keys are the master keys of one kind of token, and their rolling over: from time to time there is a next
// key, and after a while it becomes the current one.
type Keys struct {
	schedule Schedule
	state    KeyState
	told     time.Time // since when those who need it can have learnt of the latest key
}

// A KeyState is the part of [Keys] that outlives a restart. Keys that there are not are zero.
type KeyState struct {
	Previous, Current, Next Key
	Rolled                  time.Time // when the latest of the keys was made
}

// NewKeys returns keys with a random current one, made at now.
func NewKeys(s Schedule, now time.Time) (*Keys, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fmt.Errorf("no random number for the first key: %w", err)
	}
	first, err := NewKey(int32(binary.BigEndian.Uint32(b[:])))
	if err != nil {
		return nil, err
	}
	return RestoreKeys(s, KeyState{Current: first, Rolled: now}, now)
}

// RestoreKeys returns keys as they were when their state was taken. A next key that they had is next for the
// whole overlap again from now on: nobody could learn of it while there was no ResourceManager.
func RestoreKeys(s Schedule, state KeyState, now time.Time) (*Keys, error) {
	if s.Overlap < 0 || s.Interval <= s.Overlap {
		return nil, fmt.Errorf("a new key every %v cannot be in use only after %v: the interval must be longer", s.Interval, s.Overlap)
	}
	if state.Current.IsZero() {
		return nil, errors.New("keys without a current one")
	}
	return &Keys{s, state, now}, nil
}

// State returns what to restore the keys from.
func (k *Keys) State() KeyState { return k.state }

// Current returns the current key: the one that nodes get when they register.
func (k *Keys) Current() Key { return k.state.Current }

// Next returns the key that will be the current one, if there is one already.
func (k *Keys) Next() (Key, bool) { return k.state.Next, !k.state.Next.IsZero() }

// Signing returns the key that new tokens are to be signed with.
func (k *Keys) Signing() Key {
	if next, ok := k.Next(); ok && k.schedule.NextSigns {
		return next
	}
	return k.state.Current
}

// Find returns the key of that id, among those whose tokens are still good.
func (k *Keys) Find(id int32) (Key, bool) {
	for _, key := range []Key{k.state.Current, k.state.Next, k.state.Previous} {
		if !key.IsZero() && key.ID == id {
			return key, true
		}
	}
	return Key{}, false
}

// Due returns when Roll or Activate has something to do.
func (k *Keys) Due() time.Time {
	if _, ok := k.Next(); ok {
		return k.told.Add(k.schedule.Overlap)
	}
	return k.state.Rolled.Add(k.schedule.Interval)
}

// Roll makes the next key if it is time for one and none is waiting to become current. It reports whether it
// did: then nodes, or masters, must be told.
func (k *Keys) Roll(now time.Time) (bool, error) {
	if _, ok := k.Next(); ok || now.Before(k.Due()) {
		return false, nil
	}
	next, err := NewKey(k.state.Current.ID + 1)
	if err != nil {
		return false, err
	}
	k.state.Next, k.state.Rolled, k.told = next, now, now
	return true, nil
}

// Activate makes the next key the current one if it has been next for long enough. It reports whether it
// did. What was current is then still found where nodes check the tokens, for they keep it too; where the
// next key signs, the overlap has been the time to get a new token, and it is not.
func (k *Keys) Activate(now time.Time) bool {
	if _, ok := k.Next(); !ok || now.Before(k.Due()) {
		return false
	}
	k.state.Previous = Key{}
	if !k.schedule.NextSigns {
		k.state.Previous = k.state.Current
	}
	k.state.Current, k.state.Next = k.state.Next, Key{}
	return true
}
