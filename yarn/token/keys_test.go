package token_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/yarn/token"
)

var (
	byMasters = token.Schedule{Interval: 24 * time.Hour, Overlap: 15 * time.Minute, NextSigns: true}
	byNodes   = token.Schedule{Interval: 24 * time.Hour, Overlap: 15 * time.Minute}
	start     = time.Unix(1700000000, 0)
)

func TestNewKeysDiffer(t *testing.T) {
	a, err := token.NewKeys(byNodes, start)
	if err != nil {
		t.Fatal(err)
	}
	b, err := token.NewKeys(byNodes, start)
	if err != nil {
		t.Fatal(err)
	}
	if k := a.Current(); len(k.Bytes) != 8 || k.ID == b.Current().ID || string(k.Bytes) == string(b.Current().Bytes) {
		t.Errorf("two first keys: %v and %v", k, b.Current())
	}
	if m := a.Current().Wire(); m.GetKeyId() != a.Current().ID || string(m.GetBytes()) != string(a.Current().Bytes) {
		t.Errorf("%v is told as %v", a.Current(), m)
	}
}

// One roll, as both schedules see it.
func TestRoll(t *testing.T) {
	for _, s := range []token.Schedule{byMasters, byNodes} {
		k, err := token.RestoreKeys(s, token.KeyState{Current: token.Key{ID: 1<<31 - 1, Bytes: secret}, Rolled: start}, start)
		if err != nil {
			t.Fatal(err)
		}
		first := k.Current().ID
		is := func(when string, current, signing, next int32, found ...int32) {
			t.Helper()
			n, ok := k.Next()
			if k.Current().ID != current || k.Signing().ID != signing || n.ID != next || ok != (next != 0) {
				t.Errorf("%s, next signs %v: current %d, signing %d, next %d", when, s.NextSigns, k.Current().ID, k.Signing().ID, n.ID)
			}
			for _, id := range found {
				if got, ok := k.Find(id); !ok || got.ID != id {
					t.Errorf("%s, next signs %v: key %d is not found", when, s.NextSigns, id)
				}
			}
		}
		roll := func(now time.Time) bool {
			done, err := k.Roll(now)
			if err != nil {
				t.Fatal(err)
			}
			return done
		}

		if due := start.Add(s.Interval); k.Due() != due || k.Activate(due) || roll(due.Add(-1)) {
			t.Errorf("due %v, or something done before", k.Due())
		}
		is("first", first, first, 0, first)
		rolled := start.Add(s.Interval)
		if !roll(rolled) || roll(rolled) {
			t.Error("not one next key")
		}
		second := int32(-1 << 31) // ids go round
		if s.NextSigns {
			is("rolled", first, second, second, first, second)
		} else {
			is("rolled", first, first, second, first, second)
		}
		due := rolled.Add(s.Overlap)
		if k.Due() != due || k.Activate(due.Add(-1)) || !k.Activate(due) || k.Activate(due) {
			t.Errorf("due %v, or not activated once", k.Due())
		}
		is("activated", second, second, 0, second)
		if _, ok := k.Find(first); ok == s.NextSigns {
			t.Errorf("next signs %v: the first key is found: %v", s.NextSigns, ok)
		}
		if k.Due() != rolled.Add(s.Interval) {
			t.Errorf("after all that, due %v", k.Due())
		}
	}
}

// Whenever keys are looked after, and however often and late they are restored: what was signed is good for
// the overlap, and a key that nodes check is known to be next for the overlap before it signs.
func TestTokensStayGoodWhileKeysRoll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]token.Schedule{byMasters, byNodes}).Draw(t, "schedule")
		now := start
		k, err := token.NewKeys(s, now)
		if err != nil {
			t.Fatal(err)
		}
		signed := map[int32]time.Time{k.Signing().ID: now} // when last
		next := map[int32]time.Time{k.Current().ID: now.Add(-s.Overlap)}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(s.Overlap)).Draw(t, "wait")))
			if rapid.Bool().Draw(t, "sleep until it is due") && k.Due().After(now) {
				now = k.Due()
			}
			for id, when := range signed {
				if _, ok := k.Find(id); !ok && now.Before(when.Add(s.Overlap)) {
					t.Fatalf("key %d signed %v ago and is forgotten", id, now.Sub(when))
				}
			}
			k.Activate(now)
			if done, err := k.Roll(now); err != nil {
				t.Fatal(err)
			} else if done {
				key, _ := k.Next()
				next[key.ID] = now
			}
			if rapid.Bool().Draw(t, "restart") {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*s.Interval)).Draw(t, "down")))
				if k, err = token.RestoreKeys(s, k.State(), now); err != nil {
					t.Fatal(err)
				}
				for id := range signed { // who has such a token needs time again
					if _, ok := k.Find(id); ok {
						signed[id] = now
					}
				}
			}
			id := k.Signing().ID
			if told := next[id]; !s.NextSigns && now.Before(told.Add(s.Overlap)) {
				t.Fatalf("key %d signs %v after nodes were told", id, now.Sub(told))
			}
			signed[id] = now
		}
	})
}

func TestKeysThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		schedule token.Schedule
		state    token.KeyState
		want     string
	}{
		{byNodes, token.KeyState{}, "without a current one"},
		{token.Schedule{Interval: time.Minute, Overlap: time.Minute}, token.KeyState{Current: token.Key{Bytes: secret}}, "the interval must be longer"},
		{token.Schedule{Interval: time.Minute, Overlap: -1}, token.KeyState{Current: token.Key{Bytes: secret}}, "the interval must be longer"},
	} {
		if _, err := token.RestoreKeys(c.schedule, c.state, start); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	k, err := token.NewKeys(byNodes, start)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := k.Find(k.Current().ID + 1); ok {
		t.Errorf("an id without a key finds %v", got)
	}
}
