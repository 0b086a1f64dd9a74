package main

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle"
	"heddle/node/agent"
	"heddle/node/groups"
	"heddle/node/procs"
)

const (
	apart = 500 * time.Microsecond // between the starts of two agents: 5 s for 10,000, the interval at which they ask
	// look is how often agents look for foreign containers, which do not exist here. Real agents look every second, but
	// each of those has a machine to itself.
	look        = time.Minute
	connectTime = time.Minute
	heardTime   = 30 * time.Second
)

// syncs counts the agents' requests.
type syncs struct {
	answered, bytes, failed atomic.Int64 // bytes are those of requests
}

// startAgents starts the agents and waits until each has been answered.
func (c *cluster) startAgents() error {
	for i, n := range c.nodes {
		n.agent.last = make(map[string]groups.Set, n.room)
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(n.id.Host)}}
		a, err := agent.New(agent.Config{
			RM: "http://" + c.m.Agents, Node: n.id.String(), Version: "hollow", Finder: n, Look: look, Groups: n,
			Client: &http.Client{Transport: &counting{&http.Transport{DialContext: dialer.DialContext}, n}},
		})
		if err != nil {
			return err
		}
		c.Goes(func() error {
			if !c.Sleep(apart * time.Duration(i)) {
				return nil
			}
			return a.Run(c.Ctx)
		})
	}
	return c.Until("all agents answered", connectTime, func() bool {
		return !slices.ContainsFunc(c.nodes, func(n *node) bool { return !n.agent.answered.Load() })
	})
}

// counting counts an agent's requests.
type counting struct {
	http.RoundTripper
	n *node
}

// RoundTrip implements [http.RoundTripper].
func (t *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	p, err := t.RoundTripper.RoundTrip(r)
	s := &t.n.c.syncs
	if err != nil || p.StatusCode != http.StatusOK {
		s.failed.Add(1)
		return p, err
	}
	s.answered.Add(1)
	s.bytes.Add(r.ContentLength)
	t.n.agent.answered.Store(true)
	return p, nil
}

// hands is the state of a node's agent. Only the agent's goroutine uses last.
type hands struct {
	answered atomic.Bool
	last     map[string]groups.Set
}

// Find implements [agent.Finder].
func (n *node) Find() []procs.Container {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clip(n.found)
}

// Apply records how long a deed took. As an [agent.Actuator], a node does nothing else.
func (n *node) Apply(id string, s groups.Set) error {
	last := n.agent.last[id]
	n.agent.last[id] = s
	if lag, ok := since(s.Weight, time.Now().UnixMicro()-n.c.m.Began*1000); ok && s.Weight != last.Weight {
		n.c.lags.add(lag, last.Park, s.Park)
	}
	return nil
}

// Measure returns what a container has used: half a processor from a fixed time on.
func (n *node) Measure(string) procs.Use {
	return procs.Use{CPU: time.Duration(time.Now().UnixMilli()-n.c.m.Began) * time.Millisecond / 2, RSS: 300 << 20, Anon: 250 << 20}
}

// Can returns what an agent can do with control groups.
func (n *node) Can() heddle.Caps { return heddle.Parks | heddle.Weighs }

// Adopt and Begin do nothing.
func (n *node) Adopt(procs.Container) error { return nil }
func (n *node) Begin(string)                {}

// Ending always returns false.
func (n *node) Ending(string) bool { return false }

// Release does nothing.
func (n *node) Release(string) error { return nil }

// List returns nothing: ended containers leave nothing behind.
func (n *node) List() []string { return nil }

// Kill does nothing.
func (n *node) Kill(string) error { return nil }

// RestoreAll does nothing.
func (n *node) RestoreAll() error { return nil }

// lags records how long deeds took and what they were.
type lags struct {
	mu   sync.Mutex
	all  []time.Duration
	done done
}

func (l *lags) add(lag time.Duration, parkedBefore, parked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, lag)
	l.done.Weighed++
	switch {
	case parked && !parkedBefore:
		l.done.Parked++
	case parkedBefore && !parked:
		l.done.Resumed++
	}
}

// soFar returns what was done so far.
func (l *lags) soFar() done {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}
