package rm

import (
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// How many ids that were given and not used are remembered, of all users and of one, and for how long they are good. What
// comes above drops the oldest: of the same user first.
const (
	maxGiven     = 100_000
	maxGivenUser = 1000
	givenLife    = 24 * heddle.Hour
)

// earlierLife is for how long after a start ids of earlier starts are good: a YARN client goes on with the id that it has
// for yarn.resourcemanager.connect.max-wait.ms, which is a quarter of an hour unless somebody says otherwise.
const earlierLife = heddle.Hour

// given are the ids that were given and for which nothing was submitted yet.
type given struct {
	to     map[int32]gift
	of     map[string][]int32 // of a user, oldest first
	oldest int32              // none is older
}

// gift is to whom an id was given, and when.
type gift struct {
	user string
	at   heddle.Time
}

func newGiven() given { return given{to: map[int32]gift{}, of: map[string][]int32{}, oldest: 1} }

// add notes that an id, which is younger than all others, was given.
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

// holds reports whether an id was given to a user, and may be used.
func (g *given) holds(seq int32, user string, now heddle.Time) bool {
	k, there := g.to[seq]
	return there && k.user == user && now.Since(k.at) <= givenLife
}

// newID gives a user an id.
func (m *Machine) newID(q *NewApp) (any, error) {
	if len(q.User) > MaxName {
		return nil, invalid(classYarn, "the name of the user has %d bytes; at most %d are taken", len(q.User), MaxName)
	}
	m.seq++
	m.given.add(m.seq, q.User, m.now)
	return NewAppID{ids.App{Cluster: m.began, Seq: m.seq}, m.maximum()}, nil
}

// mayUse is the error of a user who submits with an id that is not the user's; nil for one that may be used. Whom ids of
// earlier starts were given to is not known any more.
func (m *Machine) mayUse(id ids.App, user string) error {
	earlier := id.Seq > 0 && m.now <= heddle.Time(earlierLife) && slices.Contains(m.starts, id.Cluster)
	if earlier || id.Cluster == m.began && m.given.holds(id.Seq, user, m.now) {
		return nil
	}
	return invalid(classYarn, "%s is no id that was given to user %s and not used; ask for one with getNewApplication", id, user)
}
