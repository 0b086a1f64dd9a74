package setup

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"heddle/daemon"
	"heddle/rm"
)

const (
	leastMemory = 64 << 20 // of a ResourceManager
	leastCalls  = 16 << 20
	mostCalls   = 128 << 20 // unless configured
	badBytes    = "wanted an amount such as 512MiB or 4GiB"
)

// memory configures how much memory the ResourceManager uses, in amounts such as 512MiB.
type memory struct {
	Limit      string `yaml:"limit,omitempty"`
	Calls      string `yaml:"calls,omitempty"`
	PerAddress string `yaml:"per_address,omitempty"`
	Stored     string `yaml:"stored,omitempty"`

	limit, calls, perAddress, stored int64 // 0 if not set
}

// limits configures how much one caller may have.
type limits struct {
	Calls       *int   `yaml:"calls_per_address,omitempty"`
	Connections *int   `yaml:"connections_per_address,omitempty"`
	Web         *int   `yaml:"web_connections_per_address,omitempty"`
	Nodes       *int   `yaml:"nodes_per_address,omitempty"`
	Apps        *int   `yaml:"applications_per_user,omitempty"`
	Stored      string `yaml:"stored_per_user,omitempty"`

	stored int64
}

// amount parses an amount of bytes, if given, and reports whether it is valid.
func amount(text string, into *int64) bool {
	if text == "" {
		return true
	}
	for i, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			f *= float64(int64(1) << (10 * (i + 1)))
			*into = int64(f)
			return err == nil && f >= 1 && f <= 1<<50
		}
	}
	return false
}

// memory sets how much memory is used, and how much by whom, including stored submissions. room is what is available.
func (s *source) memory(c *daemon.Config, room int64) error {
	said, m := s.file.Memory, &c.Memory
	m.Limit = said.limit
	if m.Limit == 0 {
		m.Limit = max(room, leastMemory)
	}
	m.Calls = said.calls
	if m.Calls == 0 {
		m.Calls = min(max(m.Limit/4, leastCalls), mostCalls)
	}
	m.PerAddress = said.perAddress
	if m.PerAddress == 0 {
		m.PerAddress = m.Calls / 8 * 3
	}
	switch {
	case m.Limit < leastMemory:
		return s.file.errorOf("memory.limit", "%s is too little: a ResourceManager needs at least %d MiB", said.Limit, leastMemory>>20)
	case m.Calls < leastCalls || m.Calls > m.Limit/2:
		return s.file.errorOf("memory.calls", "%s is out of range: wanted at least %d MiB, and at most half of memory.limit, %d MiB", said.Calls, leastCalls>>20, m.Limit/2>>20)
	case m.PerAddress > m.Calls || m.PerAddress < leastCalls/8*3:
		return s.file.errorOf("memory.per_address", "%s is out of range: wanted at least %d MiB, and at most memory.calls, the limit for all calls, %d MiB", said.PerAddress, leastCalls/8*3>>20, m.Calls>>20)
	}
	user := s.file.Limits.stored
	stored := cmp.Or(said.stored, max(m.Limit/8, user)) // submissions are in memory, and in the pages of the store
	per := cmp.Or(user, min(rm.DefaultStoredPer, stored/2))
	switch {
	case user > m.Limit/2:
		return s.file.errorOf("limits.stored_per_user", "%s is too much: wanted at most half of memory.limit, %d MiB", s.file.Limits.Stored, m.Limit/2>>20)
	case stored < rm.MaxContext || stored > m.Limit/2:
		return s.file.errorOf("memory.stored", "%s is out of range: wanted at least %d MiB, the size of the largest submission, and at most half of memory.limit, %d MiB", said.Stored, rm.MaxContext>>20, m.Limit/2>>20)
	case per > stored:
		return s.file.errorOf("limits.stored_per_user", "%s is too much: wanted at most memory.stored, the limit for all users, %d MiB", s.file.Limits.Stored, stored>>20)
	}
	c.Stored, c.StoredPer = int(stored), int(per)
	if os.Getenv("GOMEMLIMIT") != "" {
		m.Limit = 0 // it applies already
	}
	return nil
}

// limits sets how much one caller may have.
func (s *source) limits(c *daemon.Config) {
	or := func(said *int, otherwise int) int {
		if said != nil {
			return *said
		}
		return otherwise
	}
	l := s.file.Limits
	c.CallsPer, c.ConnsPer, c.WebConnsPer = or(l.Calls, 0), or(l.Connections, 0), or(l.Web, 0)
	c.NodesPer = or(l.Nodes, rm.DefaultNodesPer)
	c.AppsPer = or(l.Apps, rm.DefaultAppsPer)
}

// room returns how many bytes of memory this process may have: what its control groups allow, at most what the machine
// has. root is the root of the file system.
func room(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	if text, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			var kib int64
			if n, _ := fmt.Sscanf(line, "MemTotal: %d kB", &kib); n == 1 {
				least = kib << 10
			}
		}
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // a system without control groups has no such file
	for line := range strings.Lines(string(groups)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 {
			continue
		}
		switch {
		case part[1] == "": // version 2
			least = min(least, allowed(root, "sys/fs/cgroup", part[2], "memory.max"))
		case strings.Contains(","+part[1]+",", ",memory,"):
			least = min(least, allowed(root, "sys/fs/cgroup/memory", part[2], "memory.limit_in_bytes"))
		}
	}
	if least == math.MaxInt64 {
		return 1 << 30 // neither says anything
	}
	return least
}

// allowed returns the least that a control group and its ancestors allow.
func allowed(root fs.FS, mount, group, file string) int64 {
	least := int64(math.MaxInt64)
	for dir := path.Join("/", group); ; dir = path.Dir(dir) {
		if text, err := fs.ReadFile(root, path.Join(mount, dir, file)); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 { // "max" is not a number
				least = min(least, n)
			}
		}
		if dir == "/" {
			return least
		}
	}
}
