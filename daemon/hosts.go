package daemon

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"heddle"
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

// namesOf returns what lists and topologies may call a host: its addresses, if there are any such, and its name, which
// is the last. It runs outside the loop.
func (r *RM) namesOf(ctx context.Context, host string) []string {
	if r.cfg.IncludeFile == "" && r.cfg.ExcludeFile == "" && r.cfg.Topology == "" && len(r.cfg.TopologyTable) == 0 {
		return []string{host}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := r.lookup(ctx, host)
	if err != nil {
		r.log.Warn("the address of a NodeManager's host is not known; host lists and topologies can go only by its name", "host", host, "error", err)
	}
	return append(addresses, host)
}

// readHosts reads both host lists.
func (r *RM) readHosts() (l rm.HostLists, err error) {
	if l.Include, _, err = readHostFile(r.cfg.IncludeFile); err != nil {
		return l, err
	}
	l.Exclude, l.Timeouts, err = readHostFile(r.cfg.ExcludeFile)
	return l, err
}

// readHostFile reads a list of hosts, and the timeouts that it has of its own for some. An empty path is an empty list. A
// path to a missing file is an error: an empty list would admit hosts that were to be kept out.
func readHostFile(path string) (map[string]bool, map[string]heddle.Span, error) {
	if path == "" {
		return nil, nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("the list of hosts %s does not exist; create it (it may be empty)", path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list of hosts: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if strings.HasSuffix(strings.ToLower(path), ".xml") {
		return readHostXML(path, f)
	}
	out, err := readHostText(path, f)
	return out, nil, err
}

// readHostXML reads a list of hosts in Hadoop's XML format: names with commas between them, and a timeout in seconds.
func readHostXML(path string, f io.Reader) (map[string]bool, map[string]heddle.Span, error) {
	var list struct {
		Hosts []struct {
			Names   string `xml:"name"`
			Timeout *int32 `xml:"timeout"`
		} `xml:"host"`
	}
	if err := xml.NewDecoder(f).Decode(&list); err != nil {
		return nil, nil, fmt.Errorf("%s: %w; expected <hosts> with a <host> each, which has a <name> and may have a <timeout> in seconds", path, err)
	}
	out, timeouts := map[string]bool{}, map[string]heddle.Span{}
	for _, h := range list.Hosts {
		for name := range strings.SplitSeq(h.Names, ",") {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			if out[name] = true; h.Timeout != nil {
				timeouts[name] = heddle.Span(*h.Timeout) * heddle.Second
			}
		}
	}
	return out, timeouts, nil
}

// readHostText reads a list of hosts separated by white space. Comments go from # to the end of the line.
func readHostText(path string, f io.Reader) (map[string]bool, error) {
	out := map[string]bool{}
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		if n > maxHostLines {
			return nil, fmt.Errorf("%s:%d: more than %d lines of hosts", path, n, maxHostLines)
		}
		line, _, _ := strings.Cut(sc.Text(), "#")
		for host := range strings.FieldsSeq(line) {
			if strings.HasPrefix(host, "<") {
				return nil, fmt.Errorf("%s:%d: a list of hosts in XML is in a file whose name ends in .xml; expected one host a line", path, n)
			}
			out[host] = true
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// A rackCache remembers the script's answers, by what it was asked for.
type rackCache struct {
	mu   sync.Mutex
	rack map[string]string
	runs chan struct{} // a slot for each running script
}

// topologyName returns what YARN's topologies call a host that has these names: the first IPv4 address, or the name of
// the host, which is the last, if there is none.
func topologyName(names []string) string {
	i := slices.IndexFunc(names, func(name string) bool {
		a, err := netip.ParseAddr(name)
		return err == nil && a.Is4()
	})
	if i < 0 {
		i = len(names) - 1
	}
	return names[i]
}

// rackOf returns the rack of a host with these names (see namesOf): from the table, else from the script, else the
// default; "" if the script was to print it and did not. Tables may also have the host's name, which YARN does not look
// for. It runs outside the loop because a script may take its time.
func (r *RM) rackOf(ctx context.Context, names []string) string {
	host, asked := names[len(names)-1], topologyName(names)
	for _, name := range []string{asked, host} {
		if rack, ok := r.cfg.TopologyTable[name]; ok {
			return rack
		}
	}
	if r.cfg.Topology == "" {
		return defaultRack
	}
	r.known.mu.Lock()
	rack, ok := r.known.rack[asked]
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
	cmd := exec.CommandContext(ctx, r.cfg.Topology, asked)
	cmd.WaitDelay = time.Second // a process it started may hold its output open
	out, err := cmd.Output()
	<-r.known.runs
	rack = strings.TrimSpace(string(out))
	if err != nil || !strings.HasPrefix(rack, "/") || strings.ContainsAny(rack, " \n\t") {
		r.log.Warn("the topology script returned no rack", "script", r.cfg.Topology, "host", host, "asked", asked, "answer", rack, "error", err)
		return ""
	}
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	if len(r.known.rack) < maxRacksKnown {
		r.known.rack[asked] = rack
	}
	return rack
}
