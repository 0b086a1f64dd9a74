package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"heddle/rm"
)

const (
	defaultRack   = "/default-rack"
	scriptTimeout = 10 * time.Second // of the script that prints racks
	scriptsAtOnce = 8
	scriptWait    = time.Minute     // for a free slot to run the script; callers give up after two minutes
	lookupTimeout = 5 * time.Second // of a host's addresses
	maxHostLines  = 1_000_000
	maxRacksKnown = 100_000
)

// namesOf returns what lists may call a host: its name and its addresses. It runs outside the loop.
func (r *RM) namesOf(ctx context.Context, host string) []string {
	if r.cfg.IncludeFile == "" && r.cfg.ExcludeFile == "" {
		return []string{host}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := r.lookup(ctx, host)
	if err != nil {
		r.log.Warn("the address of a NodeManager's host is not known; host lists are searched only for its name", "host", host, "error", err)
	}
	return append(addresses, host)
}

// readHosts reads both host lists.
func (r *RM) readHosts() (l rm.HostLists, err error) {
	if l.Include, err = readHostFile(r.cfg.IncludeFile); err != nil {
		return l, err
	}
	l.Exclude, err = readHostFile(r.cfg.ExcludeFile)
	return l, err
}

// readHostFile reads a list of hosts separated by white space. Comments go from # to the end of the line. An empty path
// is an empty list. A path to a missing file is an error: an empty list would admit hosts that were to be kept out.
func readHostFile(path string) (map[string]bool, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the list of hosts %s does not exist; create it (it may be empty)", path)
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

// A rackCache remembers the script's answers, by host.
type rackCache struct {
	mu   sync.Mutex
	rack map[string]string
	runs chan struct{} // a slot for each running script
}

// rackOf returns a host's rack: from the table, else from the script, else the default; "" if the script was to print
// it and did not. It runs outside the loop because a script may take its time.
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
	select { // after a start, a whole cluster registers at once
	case r.known.runs <- struct{}{}:
	case <-ctx.Done():
		return ""
	case <-time.After(scriptWait):
		r.log.Warn("the topology script was not run: it takes too long for other hosts", "script", r.cfg.Topology, "host", host)
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, scriptTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.cfg.Topology, host)
	cmd.WaitDelay = time.Second // a process it started may hold its output open
	out, err := cmd.Output()
	<-r.known.runs
	rack = strings.TrimSpace(string(out))
	if err != nil || !strings.HasPrefix(rack, "/") || strings.ContainsAny(rack, " \n\t") {
		r.log.Warn("the topology script returned no rack", "script", r.cfg.Topology, "host", host, "answer", rack, "error", err)
		return ""
	}
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	if len(r.known.rack) < maxRacksKnown {
		r.known.rack[host] = rack
	}
	return rack
}
