package search

import (
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/rm"
	"heddle/sched"
)

var hours = flag.Int("hours", 4, "how many hours TestHours simulates")

// How much a machine that lives for hours may grow.
const (
	keptApps = 20       // completed applications
	slack    = 16       // entries of a map
	spread   = 24 << 10 // bytes, depending on what happened last
)

// ofNumber is how many bytes an application takes in tables by number, for each profile. They are reset after 20,000
// applications, which this test does not reach.
var ofNumber = map[string]int{"capacity": 450, "fair": 450, "heddle": 700}

// unused names the ids that were given and not submitted, because their clients never learned of them: they are valid
// for a day.
const unused = "rm.given.to"

// anew lists the acts after which another machine continues, or the machine with another core.
var anew = []string{"crash", "disk", "queues"}

// TestHours lets one machine live for hours among jobs and faults. Each hour everything is repaired and completed, and
// then what the machine holds is counted: every map must have as many entries as after the first hours, and all of it
// must be no larger.
func TestHours(t *testing.T) {
	if testing.Short() {
		t.Skip("this takes a while")
	}
	for _, seed := range []uint64{1, 2, 3} {
		s := &sim{setup: newSetup(seed), seed: seed}
		t.Run(s.profile, func(t *testing.T) {
			s.cfg.MaxCompleted, s.cfg.WorkPreserving = keptApps, true
			s.sameQueues = true
			list := s.live(t, *hours)
			for _, h := range list {
				t.Log(h)
			}
			if s.failure != nil {
				t.Fatal(s.failure)
			}
			for _, why := range grown(list, ofNumber[s.profile]) {
				t.Error(why)
			}
		})
	}
}

// holding is what a machine holds at the end of an hour, when everything is over.
type holding struct {
	hour, jobs int
	bytes      int            // of slices, by length: the spare room that append takes goes up and down
	entries    map[string]int // of maps, by the fields that hold them
}

func (h holding) String() string {
	return fmt.Sprintf("hour %d: %d jobs, %d bytes, %d entries of maps", h.hour, h.jobs, h.bytes, sumOf(h.entries))
}

func sumOf(m map[string]int) (n int) {
	for _, v := range m { // order: a sum
		n += v
	}
	return n
}

// live plays hours, and returns what the machine holds after each.
func (s *sim) live(t *testing.T, hours int) (list []holding) {
	defer func() {
		if why := recover(); why != nil {
			if _, ok := why.(broken); !ok {
				panic(why)
			}
		}
	}()
	s.build()
	d, jobs := mix(s.seed, 30), 0
	var core *sched.Core
	for hour := 1; hour <= hours; hour++ {
		for end := s.now.Plus(heddle.Hour); s.now < end; {
			s.runUntil(s.now.Plus(d.span(0, 2*heddle.Minute)))
			a := acts[0]
			if d.in(2) {
				a = pick(d, acts...)
			}
			if !slices.Contains(anew, a.name) && a.do(s, mix(d.next())) != "" && !a.job {
				s.stats.Faults++
			}
		}
		s.settle()
		jobs += len(s.jobs)
		list = append(list, hold(s.shell.m, hour, jobs))
		if core != nil && s.shell.m.Core() != core {
			t.Errorf("the core was built anew in hour %d", hour)
		}
		core = s.shell.m.Core()
		s.jobs, s.masters = nil, nil // all of them are over
	}
	if s.stats.Starts != 1 {
		t.Errorf("the machine was started %d times", s.stats.Starts)
	}
	return list
}

// grown says what is larger at the end than in the first hours, beyond what tables take for each job.
func grown(list []holding, ofNumber int) (why []string) {
	early, last := list[:max(1, len(list)/3)], list[len(list)-1]
	most := map[string]int{}
	for _, h := range early {
		for name, n := range h.entries { // order: maxima
			most[name] = max(most[name], n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(last.entries)) {
		if name == unused {
			continue
		}
		if n := last.entries[name]; n > most[name]+slack {
			why = append(why, fmt.Sprintf("%s has %d entries at the end, and had %d at most in the first hours", name, n, most[name]))
		}
	}
	from := early[len(early)-1]
	if more, may := last.bytes-from.bytes, ofNumber*(last.jobs-from.jobs)+spread; more > may {
		why = append(why, fmt.Sprintf("the machine grew by %d bytes, more than %d, in %d jobs", more, may, last.jobs-from.jobs))
	}
	return why
}

// hold counts what is reachable from a machine.
func hold(m *rm.Machine, hour, jobs int) holding {
	w := walk{holding: holding{hour: hour, jobs: jobs, entries: map[string]int{}}, met: map[visit]bool{}}
	w.look("", reflect.ValueOf(m))
	return w.holding
}

type walk struct {
	holding
	met map[visit]bool
}

// A visit is a visited value: different values may begin at one address.
type visit struct {
	at   uintptr
	kind reflect.Type
}

// again reports whether a value was visited before.
func (w *walk) again(v reflect.Value) bool {
	k := visit{v.Pointer(), v.Type()}
	before := w.met[k]
	w.met[k] = true
	return before
}

// look goes through a value held by a field.
func (w *walk) look(field string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !w.again(v) {
			w.bytes += int(v.Type().Elem().Size())
			w.look(field, v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			w.look(field, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.look(v.Type().String()+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			w.look(field, v.Index(i))
		}
	case reflect.Slice:
		if v.IsNil() || v.Cap() == 0 || w.again(v) {
			return
		}
		w.bytes += v.Len() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			w.look(field, v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() || w.again(v) {
			return
		}
		w.entries[field] += v.Len()
		w.bytes += v.Len() * int(v.Type().Key().Size()+v.Type().Elem().Size())
		for it := v.MapRange(); it.Next(); {
			w.look(field, it.Key())
			w.look(field, it.Value())
		}
	case reflect.String:
		w.bytes += v.Len()
	default: // it holds nothing
	}
}

// What holds more than before is found.
func TestGrown(t *testing.T) {
	type thing struct {
		of map[int]*[100]int64
		on []string
	}
	of := func(n int) holding {
		x := &thing{of: map[int]*[100]int64{}}
		for i := range n {
			x.of[i] = &[100]int64{}
			x.on = append(x.on, "x")
		}
		w := walk{holding: holding{entries: map[string]int{}}, met: map[visit]bool{}}
		w.look("", reflect.ValueOf(x))
		return w.holding
	}
	a, b := of(100), of(200)
	if n := a.entries["search.thing.of"]; n != 100 || a.bytes < 100*800 || a.bytes > 120*800 {
		t.Errorf("counted are %d entries and %d bytes", n, a.bytes)
	}
	if why := grown([]holding{a, a, a}, 0); len(why) > 0 {
		t.Error(why)
	}
	if why := strings.Join(grown([]holding{a, a, b}, 0), "\n"); !strings.Contains(why, "search.thing.of has 200 entries") || !strings.Contains(why, "grew by") {
		t.Errorf("%q", why)
	}
}
