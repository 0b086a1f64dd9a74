package rm

import (
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// How many unused ids are remembered, in total and per user, and how long they are valid. Beyond the limits the oldest
// are dropped, those of the same user first.
const (
	maxGiven     = 100_000
	maxGivenUser = 1000
	givenLife    = 24 * heddle.Hour
)

// earlierLife is how long after a start the ids of earlier starts are valid: a YARN client keeps trying with the id it
// has for yarn.resourcemanager.connect.max-wait.ms, which is 15 minutes by default.
const earlierLife = heddle.Hour

// given holds the ids that were given out and not used for a submission yet.
type given struct {
	to     map[int32]gift
	of     map[string][]int32 // ids of a user, oldest first
	oldest int32              // none is older
}

// A gift says to whom an id was given, and when.
type gift struct {
	user string
	at   heddle.Time
}

func newGiven() given { return given{to: map[int32]gift{}, of: map[string][]int32{}, oldest: 1} }

// add records an id that was given out and is newer than all others.
func (g *given) add(seq int32, user string, now heddle.Time) {
	for ; g.oldest < seq; g.oldest++ {
		k, there := g.to[g.oldest]
		if there && len(g.to) < maxGiven && now.Since(k.at) <= givenLife {
			break
		}
		g.drop(g.oldest)
	}
	if mine := g.of[user]; len(mine) >= maxGivenUser {
		g.drop(mine[0])
	}
	g.to[seq] = gift{user, now}
	g.of[user] = append(g.of[user], seq)
}

// drop forgets an id.
func (g *given) drop(seq int32) {
	k, there := g.to[seq]
	if !there {
		return
	}
	delete(g.to, seq)
	mine := g.of[k.user]
	i := slices.Index(mine, seq)
	if mine = slices.Delete(mine, i, i+1); len(mine) == 0 {
		delete(g.of, k.user)
		return
	}
	g.of[k.user] = mine
}

// holds reports whether an id was given to this user and is still valid.
func (g *given) holds(seq int32, user string, now heddle.Time) bool {
	k, there := g.to[seq]
	return there && k.user == user && now.Since(k.at) <= givenLife
}

// newID gives a user an id.
func (m *Machine) newID(q *NewApp) (any, error) {
	if len(q.User) > MaxName {
		return nil, invalid(classYarn, "the user name has %d bytes; at most %d are allowed", len(q.User), MaxName)
	}
	m.seq++
	m.given.add(m.seq, q.User, m.now)
	return NewAppID{ids.App{Cluster: m.began, Seq: m.seq}, m.maximum()}, nil
}

// mayUse returns an error if a user may not submit with an id, and otherwise nil. To whom ids of earlier starts were
// given is no longer known.
func (m *Machine) mayUse(id ids.App, user string) error {
	earlier := id.Seq > 0 && m.now <= heddle.Time(earlierLife) && slices.Contains(m.starts, id.Cluster)
	if earlier || id.Cluster == m.began && m.given.holds(id.Seq, user, m.now) {
		return nil
	}
	return invalid(classYarn, "%s is not an unused id that was given to user %s; ask for one with getNewApplication", id, user)
}
