package setup

import (
	"context"
	"os/exec"
	"os/user"
	"strings"
	"sync"
	"time"
)

const (
	groupTime = 5 * time.Minute // after which a user's groups are looked up again, as in Hadoop
	askTime   = 2 * time.Second // limit for the directory, during which nothing else is decided
	maxGroups = 10_000          // users whose groups are remembered
	maxAsking = 8               // concurrent lookups
)

// groups knows users' groups: first those of the configuration, then those of this machine.
type groups struct {
	fixed map[string][]string

	mu     sync.Mutex
	known  map[string]membership
	asking chan struct{} // slots for lookups on this machine, which may take a while
	look   func(string) []string
	now    func() time.Time
}

type membership struct {
	groups []string
	until  time.Time
}

func newGroups(fixed map[string][]string) *groups {
	return &groups{fixed: fixed, known: map[string]membership{}, asking: make(chan struct{}, maxAsking), look: machineGroups, now: time.Now}
}

// of returns a user's groups, the primary one first.
func (g *groups) of(name string) []string {
	if own, ok := g.fixed[name]; ok {
		return own
	}
	g.mu.Lock()
	m, ok := g.known[name]
	g.mu.Unlock()
	if ok && g.now().Before(m.until) {
		return m.groups
	}
	g.asking <- struct{}{}
	m = membership{g.look(name), g.now().Add(groupTime)}
	<-g.asking
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= maxGroups {
		clear(g.known)
	}
	g.known[name] = m
	return m.groups
}

// machineGroups asks this machine: first its own files, then the program id, which also knows users of a directory such
// as LDAP. A user in neither has no groups.
func machineGroups(name string) []string {
	u, err := user.Lookup(name)
	if err != nil {
		return directoryGroups(name)
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

// directoryGroups asks the program id, as Hadoop does.
func directoryGroups(name string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "id", "-Gn", "--", name)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}
