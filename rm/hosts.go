package rm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"heddle"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

const (
	defaultRack   = "/default-rack"
	scriptTimeout = 10 * time.Second // of the script that tells racks
	scriptsAtOnce = 8
	scriptWait    = time.Minute     // for the turn of a host's script; callers give up after two
	lookupTimeout = 5 * time.Second // of a host's addresses
	maxHostLines  = 1_000_000
)

// hostLists are the hosts whose NodeManagers may join, and those that may not.
type hostLists struct{ include, exclude map[string]bool }

// admits reports whether a host's NodeManagers may join, whose name and addresses are given. An empty include list
// admits all.
func (l *hostLists) admits(names []string) bool {
	in := func(list map[string]bool) bool {
		return slices.ContainsFunc(names, func(n string) bool { return list[n] })
	}
	return (len(l.include) == 0 || in(l.include)) && !in(l.exclude)
}

// namesOf is what lists may call a host: its name and its addresses. It runs outside the loop.
func (r *RM) namesOf(ctx context.Context, host string) []string {
	if r.cfg.IncludeFile == "" && r.cfg.ExcludeFile == "" {
		return []string{host}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := r.lookup(ctx, host)
	if err != nil {
		r.log.Warn("a NodeManager's host has no address; lists of hosts are searched for its name alone", "host", host, "error", err)
	}
	return append(addresses, host)
}

// readHosts reads both lists.
func (r *RM) readHosts() (l hostLists, err error) {
	if l.include, err = readHostFile(r.cfg.IncludeFile); err != nil {
		return l, err
	}
	l.exclude, err = readHostFile(r.cfg.ExcludeFile)
	return l, err
}

// readHostFile reads a list of hosts, separated by white space, # to the end of a line left out. No path is an empty
// list. A path where nothing is is a mistake: an empty list would let hosts join that somebody wanted to keep out.
func readHostFile(path string) (map[string]bool, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no list of hosts %s; make it, empty if it is to name nobody", path)
	}
	if err != nil {
		return nil, fmt.Errorf("list of hosts: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	out := map[string]bool{}
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		if n > maxHostLines {
			return nil, fmt.Errorf("%s:%d: more than %d lines of hosts", path, n, maxHostLines)
		}
		line, _, _ := strings.Cut(sc.Text(), "#")
		for host := range strings.FieldsSeq(line) {
			if strings.HasPrefix(host, "<") {
				return nil, fmt.Errorf("%s:%d: the XML form of host lists is not read; expected one host a line", path, n)
			}
			out[host] = true
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// A rackCache remembers what the script said, by host.
type rackCache struct {
	mu   sync.Mutex
	rack map[string]string
	runs chan struct{} // a place for each script that runs
}

// rackOf is a host's rack: by the table, else by the script, else the default; "" where the script should have
// told it and did not. It runs outside the loop: a script may take its time.
func (r *RM) rackOf(ctx context.Context, host string) string {
	if rack, ok := r.cfg.TopologyTable[host]; ok {
		return rack
	}
	if r.cfg.Topology == "" {
		return defaultRack
	}
	r.known.mu.Lock()
	rack, ok := r.known.rack[host]
	r.known.mu.Unlock()
	if ok {
		return rack
	}
	select { // a whole cluster registers at once after a start
	case r.known.runs <- struct{}{}:
	case <-ctx.Done():
		return ""
	case <-time.After(scriptWait):
		r.log.Warn("the topology script was not asked: it takes too long for other hosts", "script", r.cfg.Topology, "host", host)
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, scriptTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.cfg.Topology, host)
	cmd.WaitDelay = time.Second // something it started may hold its output open
	out, err := cmd.Output()
	<-r.known.runs
	rack = strings.TrimSpace(string(out))
	if err != nil || !strings.HasPrefix(rack, "/") || strings.ContainsAny(rack, " \n\t") {
		r.log.Warn("the topology script did not tell a rack", "script", r.cfg.Topology, "host", host, "answer", rack, "error", err)
		return ""
	}
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	if len(r.known.rack) < maxNodes {
		r.known.rack[host] = rack
	}
	return rack
}

// RefreshNodes reads the lists of hosts again; where one cannot be read, nothing changes. NodeManagers that may no longer be there go: at once, or, where
// graceful, when what runs there has ended or the timeout has passed; none if the timeout is negative.
func (r *RM) RefreshNodes(ctx context.Context, graceful bool, timeout time.Duration) error {
	lists, err := r.readHosts()
	if err != nil {
		return err
	}
	_, err = read(ctx, r, func() (struct{}, error) {
		r.listed = lists
		for _, n := range r.nodes {
			admitted := r.listed.admits(n.names)
			switch {
			case admitted && n.state == nodeDecommissioning:
				n.state, n.deadline = nodeRunning, time.Time{}
				r.step(heddle.NodeResized{Node: n.nid, Total: n.total})
				r.tellNode(n, wire.NodeUpdateType_NODE_USABLE)
			case admitted && n.state == nodeDecommissioned:
				n.state = nodeShutdown // may register again
			case admitted || !n.state.active():
			case graceful && (n.state == nodeRunning || n.state == nodeDecommissioning):
				n.deadline = time.Time{}
				if timeout >= 0 {
					n.deadline = time.Now().Add(timeout)
				}
				if n.state == nodeRunning {
					n.state = nodeDecommissioning
					r.step(heddle.NodeResized{Node: n.nid}) // nothing new fits
				}
				r.watchNode(n)
				r.tellNode(n, wire.NodeUpdateType_NODE_DECOMMISSIONING)
			case !graceful:
				r.nodeDown(n, nodeDecommissioned)
			}
		}
		return struct{}{}, nil
	})
	return err
}

// drained lets a node go that is being decommissioned once nothing runs there.
func (r *RM) drained(n *node) {
	if len(n.conts) == 0 && len(n.apps) == 0 {
		r.nodeDown(n, nodeDecommissioned)
	}
}

// Decommissioning returns the nodes that are on their way out.
func (r *RM) Decommissioning(ctx context.Context) ([]ids.Node, error) {
	return read(ctx, r, func() (out []ids.Node, err error) {
		for _, n := range r.nodes {
			if n.state == nodeDecommissioning {
				out = append(out, n.id)
			}
		}
		return out, nil
	})
}

// ResizeNode changes what a node offers. Its NodeManager is told with its next report.
func (r *RM) ResizeNode(ctx context.Context, id ids.Node, total heddle.Resource) error {
	_, err := read(ctx, r, func() (struct{}, error) {
		n := r.byNode[id]
		switch {
		case n == nil || !n.state.active():
			return struct{}{}, &NotFound{"active node " + id.String()}
		case !plausible(total) || total[heddle.Memory] == 0 || total[heddle.CPU] == 0:
			return struct{}{}, invalid(classYarn, "a node cannot offer %s; expected some memory and vcores", r.text(total))
		}
		n.total, n.resized = total, true
		if n.up && n.state == nodeRunning {
			r.step(heddle.NodeResized{Node: n.nid, Total: total})
		}
		return struct{}{}, nil
	})
	return err
}
