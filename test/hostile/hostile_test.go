// Package hostile_test lets a ResourceManager work in a separate process while an attacker lists, floods, bombs,
// squats, stalls and half-opens on every port. It asserts that the process lives, how much memory is resident, and that
// honest callers are answered. How long that took is printed and never asserted.
package hostile_test

import (
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"
)

var (
	each     = flag.Duration("each", 2*time.Second, "how long each attack lasts")
	only     = flag.String("attack", "", "attacks whose names match this `expression` alone")
	control  = flag.Bool("control", false, "attack another ResourceManager of this machine twice first each time, and compare with that: what is over by more than the second time differs from the first is due to ours")
	settings = flag.String("heddle", "memory: {limit: 512MiB}\n", "more of `heddle.yaml`")
)

const (
	mostResident = 512 // MiB
	kept         = 1000
	textOfEach   = 64 << 10
)

// TestHostile does everything at once that a client can do wrong.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("this takes a minute")
	}
	wanted := regexp.MustCompile(*only)
	m := startManager(t, *settings)
	s := newSite(t, m)
	s.ended(t, kept, textOfEach)
	s.begin(t)
	s.letIn(t)
	var other *site
	if *control {
		other = newSite(t, startManager(t, *settings))
		other.ended(t, kept, textOfEach)
		other.letIn(t)
	}
	time.Sleep(time.Second)
	s.take()
	m.forgetPeak(t)
	time.Sleep(*each)
	quiet := s.take()
	peak, _ := m.resident(t)
	t.Logf("%-40s peak %5d MiB  %s", "quiet", peak, figures(quiet, nil))
	base := quiet
	var ours, chance ratios
	for _, a := range attacks() {
		if !wanted.MatchString(a.name) {
			continue
		}
		if other != nil {
			base = s.beside(t, other, a.name)
			t.Logf("%-40s %s", "… the other one", figures(base, quiet))
			again := s.beside(t, other, a.name)
			t.Logf("%-40s %s", "… the other one again", figures(again, base))
			chance.add(again, base)
		}
		m.forgetPeak(t)
		n := s.attacked(t, a.name)
		s.settle(time.Now())
		if !m.alive() {
			t.Fatalf("%s: the ResourceManager ended", a.name)
		}
		was := s.take()
		ours.add(was, base)
		peak, now := m.resident(t)
		t.Logf("%-40s peak %5d MiB, then %5d  %s  (%v)", a.name, peak, now, figures(was, base), n)
		if slices.Contains([]string{piled, raised, killed}, a.name) && n.Answered == 0 {
			t.Errorf("%s: nothing was answered", a.name)
		}
		if peak > mostResident {
			t.Errorf("%s: %d MiB were resident, at most %d may be", a.name, peak, mostResident)
		}
		for _, kind := range slices.Sorted(maps.Keys(quiet)) {
			c := was[kind]
			if c == nil {
				t.Errorf("%s: nobody honest was answered: %s", a.name, kind)
			} else if len(c.errs) > 0 {
				t.Errorf("%s: %d honest calls failed, of %d: %s: %v", a.name, len(c.errs), len(c.errs)+len(c.took), kind, c.errs[0])
			}
		}
	}
	t.Logf("p99 of the honest, times what it was before: %v", ours)
	if other != nil {
		t.Logf("the other one, the second time: %v", chance)
	}
}

// beside returns the results of the honest calls while another site's ResourceManager is attacked.
func (s *site) beside(t *testing.T, other *site, attack string) map[string]*calls {
	t.Helper()
	other.attacked(t, attack)
	s.settle(time.Now())
	return s.take()
}

// times returns how many times as long calls took as those of base, at their p99; ok is false if base has none.
func (c *calls) times(base *calls) (x float64, ok bool) {
	b := base.p99()
	return float64(c.p99()) / float64(b), b > 0
}

// ratios are factors by which calls took longer, at their p99.
type ratios []float64

func (r *ratios) add(was, base map[string]*calls) {
	for kind, c := range was {
		if x, ok := c.times(base[kind]); ok {
			*r = append(*r, x)
		}
	}
}

func (r ratios) String() string {
	if len(r) == 0 {
		return "no figures"
	}
	slices.Sort(r)
	over := 0
	for _, x := range r {
		if x > 2 {
			over++
		}
	}
	return fmt.Sprintf("%d of %d above twice, half of all above %.2f, the largest %.1f", over, len(r), r[len(r)/2], r[len(r)-1])
}

// letIn admits an attacker with a master.
func (s *site) letIn(t *testing.T) {
	t.Helper()
	s.submit(t, s.connect(t, s.m.Client, clientOptions("eve")))
	s.hostile = s.token(t)
}

// figures returns how many calls were answered, how long they took, and how many times that is of the quiet times.
func figures(was, quiet map[string]*calls) (text string) {
	for _, kind := range slices.Sorted(maps.Keys(was)) {
		c := was[kind]
		text += fmt.Sprintf("%s %d", kind, len(c.took))
		if len(c.errs) > 0 {
			text += fmt.Sprintf(" (%d failed)", len(c.errs))
		}
		text += fmt.Sprintf(" p99 %v", c.p99().Round(100*time.Microsecond))
		if x, ok := c.times(quiet[kind]); ok {
			text += fmt.Sprintf(" ×%.1f", x)
		}
		text += "; "
	}
	return text
}
