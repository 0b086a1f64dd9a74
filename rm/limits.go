package rm

import (
	"heddle"
	"heddle/yarn/ids"
)

// Default limits for one caller.
const (
	DefaultNodesPer  = 1000
	DefaultAppsPer   = 10_000
	DefaultStoredPer = 256 << 20 // bytes, if there is that much memory
)

// newNodesTime is how long a NodeManager counts as new at its address: in this time there may be twice as many new ones
// as there may be at once.
const newNodesTime = 3600 * heddle.Second

// freeReturns is how often in newNodesTime a host's NodeManager may come back on another port without counting as new.
// It is more than restarts need, and each return leaves something behind.
const freeReturns = 4

// A share is one user's use of what is limited.
type share struct {
	apps  int // unfinished
	bytes int // of their submissions
}

// A quarter is the use of what is limited by the NodeManagers of one address.
type quarter struct {
	nodes  int         // known
	fresh  int         // new ones since a time
	since  heddle.Time // when fresh was 0
	search heddle.Time // nodes that are gone are not searched for before this time
}

// returns counts how often a host's NodeManager came back on another port without counting as new.
type returns struct {
	times int
	since heddle.Time // when times was 0
}

// size returns how many bytes are kept of a submission.
func (s *Submission) size() int { return len(s.Context) + len(s.Rest) + len(s.LogContext) }

// tooMany returns an error if an application would exceed the limits of its user or of all users, and otherwise nil.
func (m *Machine) tooMany(user string, s *Submission) error {
	has := m.shares[user]
	switch {
	case m.cfg.AppsPer > 0 && has.apps >= m.cfg.AppsPer:
		return invalid(classYarn, "%s is not accepted: %d applications of %s have not ended, the most a user may have (limits.applications_per_user in heddle.yaml)", s.ID, has.apps, user)
	case m.cfg.StoredPer > 0 && has.bytes+s.size() > m.cfg.StoredPer:
		return invalid(classYarn, "%s is not accepted: with its %d bytes the submissions of %s that have not ended would have %d; a user may have %d (limits.stored_per_user in heddle.yaml)",
			s.ID, s.size(), user, has.bytes+s.size(), m.cfg.StoredPer)
	case m.cfg.Stored > 0 && m.submitted+s.size() > m.cfg.Stored:
		return invalid(classYarn, "%s is not accepted: with its %d bytes the submissions that have not ended would have %d; those of all users may have %d (memory.stored in heddle.yaml)",
			s.ID, s.size(), m.submitted+s.size(), m.cfg.Stored)
	}
	return nil
}

// holds adds an application to its user's share.
func (m *Machine) holds(a *app) {
	a.counted = a.size()
	m.submitted += a.counted
	has := m.shares[a.user]
	m.shares[a.user] = share{has.apps + 1, has.bytes + a.counted}
}

// lets removes an application from its user's share.
func (m *Machine) lets(a *app) {
	m.submitted -= a.counted
	has := m.shares[a.user]
	if has.apps == 1 {
		delete(m.shares, a.user)
		return
	}
	m.shares[a.user] = share{has.apps - 1, has.bytes - a.counted}
}

// crowded returns the refusal of a NodeManager that was never here and exceeds its address's limit, or nil.
// NodeManagers on the include list are known.
func (m *Machine) crowded(q *RegisterNode) *NodeRegistered {
	of, most := m.quarters[q.From], m.cfg.NodesPer
	if most <= 0 || len(m.listed.Include) > 0 || of == nil {
		return nil
	}
	if _, free := m.returned(q.Node, q.From); free {
		return nil
	}
	switch {
	case of.nodes >= most && !m.cleared(q.From, of):
		return refuseNode("NodeManager from  %s is one more than the %d that may be at one address, %s (limits.nodes_per_address in heddle.yaml), Sending SHUTDOWN signal to the NodeManager.", q.Node.Host, most, q.From)
	case of.fresh >= 2*most && m.now.Since(of.since) < newNodesTime:
		return refuseNode("NodeManager from  %s is one more than the %d new ones that may come from one address in an hour, %s (twice limits.nodes_per_address in heddle.yaml), Sending SHUTDOWN signal to the NodeManager.", q.Node.Host, 2*most, q.From)
	}
	return nil
}

// cleared forgets an address's nodes that have been gone for long, and reports whether there were any. It searches at
// most once a minute.
func (m *Machine) cleared(from string, of *quarter) bool {
	if m.now < of.search {
		return false
	}
	of.search = m.now.Plus(60 * heddle.Second)
	had := of.nodes
	for _, n := range m.nodes {
		if n.from == from && n.gone() && m.byNode[n.id] == n && m.now.Since(n.seen) >= newNodesTime {
			m.replaced(n.id)
		}
	}
	return of.nodes < had
}

// returned returns how often a host's NodeManager has come back on another port, and whether it may now do so without
// counting as new; then this time is included. It has come back if the other NodeManagers of its host that registered
// from the same address are gone, except for at most one that is silent.
func (m *Machine) returned(id ids.Node, from string) (had returns, free bool) {
	known, there := false, 0
	for _, n := range m.hosts[m.hostName(id)] { // the newest is the last
		if n.from != from {
			continue
		}
		known, had = true, n.returns
		if n.gone() {
			continue
		}
		if there++; m.now.Since(n.seen) <= n.every {
			return n.returns, false
		}
	}
	if known && m.now.Since(had.since) >= newNodesTime {
		had = returns{since: m.now}
	}
	if !known || there > 1 || had.times >= freeReturns {
		return had, false
	}
	had.times++
	return had, true
}

// located adds a node to its address's. One that came back does not count as new.
func (m *Machine) located(n *node, from string, back bool) {
	n.from = from
	of := m.quarters[from]
	if of == nil {
		of = &quarter{since: m.now}
		m.quarters[from] = of
	}
	if m.now.Since(of.since) >= newNodesTime {
		of.fresh, of.since = 0, m.now
	}
	of.nodes++
	if !back {
		of.fresh++
	}
}

// unlocated removes a node from its address's.
func (m *Machine) unlocated(n *node) { m.quarters[n.from].nodes-- }

// checkLimits recounts the shares of users and addresses.
func (m *Machine) checkLimits(b *broken) {
	shares, nodes, stored := map[string]share{}, map[string]int{}, 0
	for _, a := range m.byApp { // order: sums
		if !a.closed {
			has := shares[a.user]
			shares[a.user] = share{has.apps + 1, has.bytes + a.counted}
			stored += a.counted
		}
	}
	b.that(stored != m.submitted, "submissions have %d bytes, counted as %d", stored, m.submitted)
	b.that(len(shares) != len(m.shares), "%d users have applications, and %d are counted", len(shares), len(m.shares))
	for user, has := range shares { // order: of findings alone
		b.that(m.shares[user] != has, "%s has %d applications of %d bytes, counted as %d of %d", user, has.apps, has.bytes, m.shares[user].apps, m.shares[user].bytes)
	}
	for _, n := range m.byNode { // order: sums
		nodes[n.from]++
	}
	for from, of := range m.quarters { // order: of findings alone
		b.that(of.nodes != nodes[from], "%q has %d nodes, counted as %d", from, nodes[from], of.nodes)
	}
}
