package dialogue

import (
	"fmt"
	"strconv"
	"strings"

	"heddle"
	"heddle/cluster"
)

// suspend, resume, resize, weigh and kill are requests of a controller; wake carries them out.
func (s *session) suspend(names []string, _ map[string]string) error {
	return s.wish(names, func(x *cluster.Container) { s.hand.plan.Suspend(x.ID()) })
}

func (s *session) resume(names []string, _ map[string]string) error {
	return s.wish(names, func(x *cluster.Container) { s.hand.plan.Resume(x.ID()) })
}

func (s *session) kill(names []string, _ map[string]string) error {
	return s.wish(names, func(x *cluster.Container) { s.hand.plan.Kill(x.ID()) })
}

func (s *session) resize(names []string, o map[string]string) error {
	size, err := parseSize(o["size"])
	if err != nil {
		return err
	}
	return s.wish(names, func(x *cluster.Container) { s.hand.plan.Resize(x.ID(), size) })
}

// notResized reports that nodes did not carry out a resize: the containers have another size there.
func (s *session) notResized(names []string, o map[string]string) error {
	size, err := parseSize(o["size"])
	if err != nil {
		return err
	}
	for _, name := range names {
		x, err := s.container(name)
		if err != nil {
			return err
		}
		if err := s.step(heddle.Refused{Container: x.ID(), Has: size}, ""); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) weigh(names []string, o map[string]string) error {
	weight, err := strconv.ParseInt(o["weight"], 10, 64)
	if err != nil {
		return err
	}
	return s.wish(names, func(x *cluster.Container) { s.hand.plan.Weigh(x.ID(), weight) })
}

// wish starts every container and notes what the controller wants done with it.
func (s *session) wish(names []string, f func(*cluster.Container)) error {
	return s.forEach(names, func(x *cluster.Container) error {
		if err := s.fetch(x); err != nil {
			return err
		}
		f(x)
		return nil
	})
}

// wake advances the time to the next control and lets the controllers act.
func (s *session) wake([]string, map[string]string) error {
	if at, ok := s.core.Deadline(); ok && at > s.now {
		s.now = at
	}
	return s.step(heddle.Wake{}, "")
}

func (s *session) app(names []string) (heddle.AppID, error) {
	if err := want(names, 1, "an application"); err != nil {
		return 0, err
	}
	id, err := s.apps.known(names[0], "application")
	return heddle.AppID(id), err
}

func (s *session) container(name string) (*cluster.Container, error) {
	id, err := strconv.Atoi(strings.TrimPrefix(name, "c"))
	if err != nil {
		return nil, fmt.Errorf("%q is no container; they are named c1, c2 …", name)
	}
	if x := s.core.View().Container(heddle.ContainerID(id)); x != nil {
		return x, nil
	}
	return nil, fmt.Errorf("there is no container %s now", name)
}

func want(names []string, n int, what string) error {
	if len(names) != n {
		return fmt.Errorf("want %s", what)
	}
	return nil
}

func orText(v, d string) string {
	if v == "" {
		return d
	}
	return v
}

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func kindOf(name string) (heddle.Kind, error) {
	for k := range heddle.Kind(heddle.NumKinds) {
		if k.String() == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("no kind %q; there are am, map, reduce, executor and other", name)
}

// parseSize reads 4g,2c: memory in g or m, processors in c; 500mc is half a processor.
func parseSize(text string) (r heddle.Resource, err error) {
	for part := range strings.SplitSeq(text, ",") {
		var unit string
		dim, scale := heddle.Memory, int64(1)
		switch {
		case strings.HasSuffix(part, "mc"):
			unit, dim = "mc", heddle.CPU
		case strings.HasSuffix(part, "c"):
			unit, dim, scale = "c", heddle.CPU, 1000
		case strings.HasSuffix(part, "g"):
			unit, scale = "g", 1024
		case strings.HasSuffix(part, "m"):
			unit = "m"
		default:
			return r, fmt.Errorf("size %q: want something like 4g,2c (g and m of memory, c and mc of processors)", text)
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(part, unit), 10, 64)
		if err != nil {
			return r, fmt.Errorf("size %q: %w", text, err)
		}
		r[dim] = n * scale
	}
	return r, nil
}
