// Package ids defines YARN's identifiers: applications, attempts, containers and nodes, with the texts that every client
// prints and parses.
//
// It knows nothing of what they stand for.
package ids

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
)

// An App identifies an application: the start time of the ResourceManager that accepted it, in milliseconds since 1970,
// and a number counted from 1.
type App struct {
	Cluster int64
	Seq     int32
}

// String returns application_<cluster>_<seq>, with seq at least four digits wide.
func (a App) String() string { return string(a.append([]byte("application_"))) }

// append appends both numbers.
func (a App) append(b []byte) []byte {
	return padded(append(strconv.AppendInt(b, a.Cluster, 10), '_'), int64(a.Seq), 4)
}

// padded appends a number, padded with zeros to a width.
func padded(b []byte, n int64, width int) []byte {
	digits := strconv.Itoa(int(n))
	for range width - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits...)
}

// IsZero reports whether a is no application.
func (a App) IsZero() bool { return a == App{} }

// Compare orders applications by age.
func (a App) Compare(b App) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Seq, b.Seq))
}

// An Attempt identifies one run of an application's master, counted from 1.
type Attempt struct {
	App App
	N   int32
}

// String returns appattempt_<cluster>_<seq>_<n>, with n at least six digits wide.
func (a Attempt) String() string {
	return string(padded(append(a.App.append([]byte("appattempt_")), '_'), int64(a.N), 6))
}

// A Container identifies a container of an attempt. The low 40 bits of ID count from 1, the bits above count the restarts
// of the ResourceManager that made it.
type Container struct {
	Attempt Attempt
	ID      int64
}

// EpochShift is how many bits of a container's ID are below the epoch.
const EpochShift = 40

// String returns container_[e<epoch>_]<cluster>_<seq>_<attempt>_<number>.
func (c Container) String() string {
	epoch, n := c.ID>>EpochShift, c.ID&(1<<EpochShift-1)
	b := []byte("container_")
	if epoch > 0 {
		b = append(padded(append(b, 'e'), epoch, 2), '_')
	}
	b = append(c.Attempt.App.append(b), '_')
	b = append(padded(b, int64(c.Attempt.N), 2), '_')
	return string(padded(b, n, 6))
}

// IsZero reports whether c is no container.
func (c Container) IsZero() bool { return c == Container{} }

// Compare orders containers by application, attempt and age.
func (c Container) Compare(o Container) int {
	return cmp.Or(c.Attempt.App.Compare(o.Attempt.App), cmp.Compare(c.Attempt.N, o.Attempt.N), cmp.Compare(c.ID, o.ID))
}

// A Node identifies a NodeManager: its host, exactly as it registered, and the port of its container manager.
type Node struct {
	Host string
	Port int32
}

// String returns host:port.
func (n Node) String() string { return n.Host + ":" + strconv.Itoa(int(n.Port)) }

// IsZero reports whether n is no node.
func (n Node) IsZero() bool { return n == Node{} }

// Compare orders nodes by host, then port.
func (n Node) Compare(o Node) int {
	return cmp.Or(strings.Compare(n.Host, o.Host), cmp.Compare(n.Port, o.Port))
}

// ParseApp reads an application id.
func ParseApp(s string) (App, error) {
	f, ok := numbers(s, "application_", 2)
	if !ok || f[1] > 1<<31-1 {
		return App{}, errors.New(strconv.Quote(s) + " is not an application id; one reads application_1700000000000_0001")
	}
	return App{f[0], int32(f[1])}, nil
}

// ParseAttempt reads an attempt id.
func ParseAttempt(s string) (Attempt, error) {
	f, ok := numbers(s, "appattempt_", 3)
	if !ok || f[1] > 1<<31-1 || f[2] > 1<<31-1 {
		return Attempt{}, errors.New(strconv.Quote(s) + " is not an attempt id; one reads appattempt_1700000000000_0001_000001")
	}
	return Attempt{App{f[0], int32(f[1])}, int32(f[2])}, nil
}

// ParseContainer reads a container id.
func ParseContainer(s string) (Container, error) {
	rest, epoch := s, int64(0)
	if after, ok := strings.CutPrefix(s, "container_e"); ok {
		e, tail, found := strings.Cut(after, "_")
		n, err := strconv.ParseInt(e, 10, 24)
		if !found || err != nil || n < 0 || e[0] == '+' {
			rest = ""
		} else {
			rest, epoch = "container_"+tail, n
		}
	}
	f, ok := numbers(rest, "container_", 4)
	if !ok || f[1] > 1<<31-1 || f[2] > 1<<31-1 || f[3] >= 1<<EpochShift {
		return Container{}, errors.New(strconv.Quote(s) + " is not a container id; one reads container_1700000000000_0001_01_000001")
	}
	return Container{Attempt{App{f[0], int32(f[1])}, int32(f[2])}, epoch<<EpochShift | f[3]}, nil
}

// ParseTaskAttempt reads the id of a MapReduce task attempt, such as attempt_1700000000000_0001_m_000003_0 for a map,
// with r instead of m for a reduce. ok is false if s is no such id.
func ParseTaskAttempt(s string) (app App, reduce bool, task int32, ok bool) {
	of, attempt, ok := strings.Cut(s, "_m_")
	if !ok {
		of, attempt, reduce = strings.Cut(s, "_r_")
	}
	f, ok1 := numbers(of, "attempt_", 2)
	n, ok2 := numbers(attempt, "", 2)
	if !ok1 || !ok2 || max(f[1], n[0], n[1]) > 1<<31-1 {
		return App{}, false, 0, false
	}
	return App{f[0], int32(f[1])}, reduce, int32(n[0]), true
}

// ParseNode reads a node id.
func ParseNode(s string) (Node, error) {
	i := strings.LastIndexByte(s, ':')
	if i > 0 {
		if port, err := strconv.ParseUint(s[i+1:], 10, 16); err == nil {
			return Node{s[:i], int32(port)}, nil
		}
	}
	return Node{}, errors.New(strconv.Quote(s) + " is not a node id; one reads host:port")
}

// numbers reads n decimal numbers separated by underscores, after a prefix.
func numbers(s, prefix string, n int) ([4]int64, bool) {
	var out [4]int64
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return out, false
	}
	f := strings.Split(rest, "_")
	if len(f) != n {
		return out, false
	}
	for i, text := range f {
		v, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return out, false
		}
		out[i] = int64(v)
	}
	return out, true
}
