package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	askTime   = 10 * time.Second // limit for the directory, and for the wait for a slot; only the caller waits
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

// of returns a user's groups, the primary one first. If a lookup fails, the user is still in the groups known before. If
// none are known, the error is a [daemon.ErrNoGroups], and nothing is remembered.
func (g *groups) of(name string) ([]string, error) {
	if own, ok := g.fixed[name]; ok {
		return own, nil
	}
	g.mu.Lock()
	known := g.known // what is found now does not outlive a call of forget
	m, ok := known[name]
	g.mu.Unlock()
	if ok && g.now().Before(m.until) {
		return m.groups, nil
	}
	found, err := g.ask(name)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		if found = known[name].groups; len(found) == 0 {
			return nil, fmt.Errorf("%w: those of user %s: %w; try again", daemon.ErrNoGroups, name, err)
		}
	}
	keep := groupTime
	if err != nil || len(found) == 0 {
		keep = emptyTime
	}
	if len(known) >= maxGroups {
		clear(known)
	}
	known[name] = membership{found, g.now().Add(keep)}
	return found, nil
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
