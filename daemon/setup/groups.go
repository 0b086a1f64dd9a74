package setup

import (
	"context"
	"errors"
	"os/exec"
	"os/user"
	"strings"
	"sync"
	"time"
)

const (
	groupTime = 5 * time.Minute  // after which a user's groups are looked up again, as in Hadoop
	emptyTime = 30 * time.Second // the same for a user who had none
	askTime   = 2 * time.Second  // limit for the directory, during which nothing else is decided
	maxGroups = 10_000           // users whose groups are remembered
	maxAsking = 8                // concurrent lookups
)

// groups knows users' groups: first those of the configuration, then those of this machine.
type groups struct {
	fixed map[string][]string

	mu     sync.Mutex
	known  map[string]membership
	asking chan struct{} // slots for lookups on this machine, which may take a while
	look   func(string) ([]string, error)
	now    func() time.Time
}

type membership struct {
	groups []string
	until  time.Time
}

func newGroups(fixed map[string][]string) *groups {
	return &groups{fixed: fixed, known: map[string]membership{}, asking: make(chan struct{}, maxAsking), look: machineGroups, now: time.Now}
}

// of returns a user's groups, the primary one first. A lookup that fails finds none, and nothing is remembered of it.
func (g *groups) of(name string) []string {
	if own, ok := g.fixed[name]; ok {
		return own
	}
	g.mu.Lock()
	known := g.known // what is found now does not outlive a call of forget
	m, ok := known[name]
	g.mu.Unlock()
	if ok && g.now().Before(m.until) {
		return m.groups
	}
	g.asking <- struct{}{}
	found, err := g.look(name)
	<-g.asking
	if err != nil {
		return nil
	}
	keep := groupTime
	if len(found) == 0 {
		keep = emptyTime
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(known) >= maxGroups {
		clear(known)
	}
	known[name] = membership{found, g.now().Add(keep)}
	return found
}

// forget has every user's groups looked up again.
func (g *groups) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known = map[string]membership{}
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

// directoryGroups asks the program id, as Hadoop does. The error says that it gave no answer.
func directoryGroups(name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "id", "-Gn", "--", name)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if no, ok := errors.AsType[*exec.ExitError](err); ok && no.Exited() {
		err = nil // the user is unknown, or one of the groups has no name
	}
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}
