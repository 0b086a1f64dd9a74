package search

import (
	"strings"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// silences checks, right after the machine was told the time, that everything silent for too long was given up.
func (m *model) silences() {
	s := m.s
	if s.now.Since(m.looked) < 5*heddle.Second && m.looked != 0 || s.overdue() {
		return // or it needs another tick at once
	}
	m.looked = s.now
	m.agents()
	r, cfg := s.reports(), &s.cfg
	late := func(at heddle.Time, limit heddle.Span) bool { return s.now.Since(at) > limit+heddle.Second }
	today := s.today()
	for _, n := range nodesOf(s.view()) {
		active := n.State == "RUNNING" || n.State == "UNHEALTHY" || n.State == "DECOMMISSIONING"
		if active && today-n.BeatAt > int64(cfg.NodeExpiry/heddle.Millisecond)+1000 {
			s.fail("silence", "%s was silent since %d and is %s", n.ID, n.BeatAt, n.State)
		}
	}
	for _, a := range s.apps() {
		if t := m.attempts[ids.Attempt{App: a.ID, N: a.Attempt}]; t != nil {
			at, err := r.Attempt(ids.Attempt{App: a.ID, N: a.Attempt})
			working := err == nil && (at.State == "RUNNING" || at.State == "LAUNCHED" || at.State == "FINISHING")
			if working && a.Internal != "FINAL_SAVING" && late(t.seen, cfg.MasterExpiry) {
				s.fail("silence", "the master of %s was silent since %s and is %s", at.ID, clock(t.seen), at.State)
			}
			m.unused(t)
		}
		if a.Lifetime > 0 && today > a.Lifetime+1000 && !a.State.Final() && a.Internal != "FINAL_SAVING" && a.Live {
			s.fail("lifetime", "%s lives on", a.ID)
		}
	}
}

// unused checks for containers that their master was told of long ago and no node runs.
func (m *model) unused(t *attempt) {
	for id, at := range t.told { // order: of findings alone
		c, err := m.s.reports().Container(id)
		if err == nil && !c.Running && m.s.now.Since(at) > m.s.cfg.ContainerExpiry+heddle.Second {
			m.s.fail("unused", "%s was given out at %s and is not used", id, clock(at))
		}
	}
}

// early checks that no node or master is given up too early.
func (m *model) early(effects []rm.Effect) {
	s := m.s
	for _, e := range effects {
		switch e := e.(type) {
		case *rm.Store:
			for _, c := range e.Changes {
				t := c.Attempt
				if t != nil && strings.HasSuffix(t.Diagnostics, "timed out") && s.now.Since(max(m.said[t.ID], s.shell.began)) <= s.cfg.MasterExpiry {
					s.fail("early", "the master of %s, which was last answered at %s, is given up", t.ID, clock(m.said[t.ID]))
				}
			}
		case *rm.Log:
			for _, v := range e.Args {
				if id, ok := v.(ids.Node); ok && e.Text == "NodeManager lost" && s.now.Since(m.heard[id]) <= s.cfg.NodeExpiry {
					s.fail("early", "%s, which last reported at %s, is lost", id, clock(m.heard[id]))
				}
			}
		default:
		}
	}
}

// today returns the machine's date, in milliseconds since 1970.
func (s *sim) today() int64 { return s.shell.date + int64(s.now.Since(s.shell.began))/1e6 }
