package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"os/user"
	"strings"
	"sync"
	"time"

	"heddle/daemon"
)

const (
	groupTime = 5 * time.Minute  // after which a user's groups are looked up again, as in Hadoop
	emptyTime = 30 * time.Second // the same for a user who had none, and after a lookup that failed
	failTime  = 5 * time.Second  // the same after a lookup that failed, if no groups were known before
	askTime   = 10 * time.Second // limit for the directory, and for the wait for a slot
	maxGroups = 10_000           // users with groups that are remembered, and as many without
	maxAsking = 8                // concurrent lookups, of as many users
)

// groups knows users' groups: first those of the configuration, then those of this machine.
type groups struct {
	fixed map[string][]string

	mu     sync.Mutex
	known  map[string]*membership
	asking chan struct{} // slots for lookups on this machine, which may take a while
	look   func(string) ([]string, error)
	now    func() time.Time
}

// A membership is what is known of a user's groups.
type membership struct {
	groups []string
	err    error         // why they are not known
	until  time.Time     // then they are looked up again; zero before the first lookup has ended
	asked  chan struct{} // closed when the lookup that is under way ends; nil if none is
}

func newGroups(fixed map[string][]string) *groups {
	return &groups{fixed: fixed, known: map[string]*membership{}, asking: make(chan struct{}, maxAsking), look: machineGroups, now: time.Now}
}

// of returns a user's groups, the primary one first. One caller at a time looks a user up. Meanwhile the others get the
// groups known before, and if there are none, wait for the result. If the lookup fails, the user is still in the groups
// known before; if there are none, the error is a [daemon.ErrNoGroups], also for those who ask within failTime.
func (g *groups) of(name string) ([]string, error) {
	if own, ok := g.fixed[name]; ok {
		return own, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.membership(name) // what is found now does not outlive a call of forget
	switch asked := m.asked; {
	case g.now().Before(m.until):
	case asked == nil:
		g.renew(m, name)
	case len(m.groups) == 0:
		g.mu.Unlock()
		<-asked
		g.mu.Lock()
	}
	return m.groups, m.err
}

// membership returns what is known of a user. If there is no room for another user, it forgets those without groups.
// g.mu is held.
func (g *groups) membership(name string) *membership {
	m := g.known[name]
	if m == nil {
		if len(g.known) >= 2*maxGroups {
			maps.DeleteFunc(g.known, func(_ string, m *membership) bool { return len(m.groups) == 0 && m.asked == nil })
		}
		m = &membership{}
		g.known[name] = m
	}
	return m
}

// forgetSome makes room for a user whose groups were found: lookups that fail take no others' groups away. Users who are
// being looked up stay, so that nobody is looked up twice at a time. g.mu is held.
func (g *groups) forgetSome() {
	have := 0
	for _, m := range g.known { // order: counted
		if len(m.groups) > 0 {
			have++
		}
	}
	for name, m := range g.known { // order: one is as good as another
		if have <= maxGroups {
			return
		}
		if len(m.groups) > 0 && m.asked == nil {
			delete(g.known, name)
			have--
		}
	}
}

// renew looks a user up; g.mu is held before and after that.
func (g *groups) renew(m *membership, name string) {
	m.asked = make(chan struct{})
	g.mu.Unlock()
	found, err := g.ask(name)
	g.mu.Lock()
	keep := groupTime
	switch {
	case err == nil:
		if m.groups, m.err = found, nil; len(found) == 0 {
			keep = emptyTime
		}
		g.forgetSome()
	case len(m.groups) > 0:
		keep = emptyTime
	default:
		m.err, keep = fmt.Errorf("%w: those of user %s: %w; try again", daemon.ErrNoGroups, name, err), failTime
	}
	m.until = g.now().Add(keep)
	close(m.asked)
	m.asked = nil
}

// ask looks a user up on this machine once there is a slot.
func (g *groups) ask(name string) ([]string, error) {
	late := time.NewTimer(askTime)
	defer late.Stop()
	select {
	case g.asking <- struct{}{}:
	case <-late.C:
		return nil, fmt.Errorf("%d other lookups took longer than %v", maxAsking, askTime)
	}
	defer func() { <-g.asking }()
	return g.look(name)
}

// forget has every user's groups looked up again.
func (g *groups) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known = map[string]*membership{}
}

// machineGroups asks this machine: the program id, which also knows users of a directory such as LDAP, or where there is
// none, its own files. An unknown user has no groups.
func machineGroups(name string) ([]string, error) {
	found, err := directoryGroups(name)
	if errors.Is(err, exec.ErrNotFound) {
		return fileGroups(name), nil
	}
	return found, err
}

// fileGroups reads this machine's files.
func fileGroups(name string) []string {
	u, err := user.Lookup(name)
	if err != nil {
		return nil
	}
	all, err := u.GroupIds()
	if err != nil {
		return nil
	}
	var out []string
	for _, id := range append([]string{u.Gid}, all...) {
		if id == u.Gid && len(out) > 0 {
			continue
		}
		if g, err := user.LookupGroupId(id); err == nil {
			out = append(out, g.Name)
		}
	}
	return out
}

// errSlow says that the directory has not answered in time.
var errSlow = fmt.Errorf("the program id gave no answer within %v", askTime)

// directoryGroups asks the program id, as Hadoop does. The error says that it gave no answer.
func directoryGroups(name string) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), askTime, errSlow)
	defer cancel()
	cmd := exec.CommandContext(ctx, "id", "-Gn", "--", name)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if no, ok := errors.AsType[*exec.ExitError](err); ok && no.Exited() {
		err = nil // the user is unknown, or one of the groups has no name
	}
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return strings.Fields(string(out)), nil
}
