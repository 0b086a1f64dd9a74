package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle"
	"heddle/node/api"
	"heddle/node/groups"
	"heddle/node/procs"
)

// A tree is an actuator in memory. Its content stays when the agent is gone.
type tree struct {
	mu     sync.Mutex            // of sets
	sets   map[string]groups.Set // of the existing groups
	mine   map[string]bool       // those that this agent adopted
	broken bool                  // every change fails
	fails  error                 // what a change that does all the same returns
	did    []string              // the containers that were changed, in order
	begun  map[string]int        // how many had been changed when one was told to freeze, without waiting for it
	ending map[string]bool
	killed []string
	busy   map[string]bool // groups that still have processes
}

func newTree() *tree {
	return &tree{sets: map[string]groups.Set{}, mine: map[string]bool{}, begun: map[string]int{}, ending: map[string]bool{}, busy: map[string]bool{}}
}

var errBroken = errors.New("nothing can be done")

func (f *tree) err() error {
	if f.broken {
		return errBroken
	}
	return nil
}

func (f *tree) Can() heddle.Caps { return heddle.Parks | heddle.Weighs }

func (f *tree) Adopt(c procs.Container) error {
	if f.broken {
		return errBroken
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.sets[c.ID]; !ok {
		f.sets[c.ID] = groups.Set{}
	}
	f.mine[c.ID] = true
	return nil
}

func (f *tree) Begin(id string) { f.begun[id] = len(f.did) }

func (f *tree) Apply(id string, s groups.Set) error {
	switch {
	case f.broken:
		return errBroken
	case !f.mine[id]:
		return fmt.Errorf("%s was not adopted", id)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sets[id] = s
	f.did = append(f.did, id)
	return f.fails
}

// set returns what a group has.
func (f *tree) set(id string) groups.Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sets[id]
}

func (f *tree) Measure(string) procs.Use { return procs.Use{CPU: time.Second, RSS: 3 << 20} }
func (f *tree) Ending(id string) bool    { return f.ending[id] }

func (f *tree) List() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.sets))
}

func (f *tree) Release(id string) error {
	if f.broken {
		return errBroken
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.mine, id)
	if f.busy[id] {
		f.sets[id] = groups.Set{}
	} else {
		delete(f.sets, id)
	}
	return nil
}

func (f *tree) Kill(id string) error {
	f.killed = append(f.killed, id)
	delete(f.busy, id)
	return f.err()
}

func (f *tree) Thaw() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, set := range f.sets {
		set.Freeze = false
		f.sets[id] = set
	}
	return f.err()
}

func (f *tree) RestoreAll() error {
	if f.broken {
		return errBroken
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.sets {
		f.sets[id] = groups.Set{}
	}
	return nil
}

// round records which containers there are, and does what is due.
func (s *state) round(now time.Time, found []procs.Container) {
	s.take(now, found)
	s.carry(now)
}

func container(i int) procs.Container {
	return procs.Container{ID: fmt.Sprintf("container_1700000000000_0001_01_%06d", i), PID: 100 + i, Start: 1}
}

// After any sequence of answers, failures, crashes and expired leases, containers have what the last wish says, or the
// defaults, as soon as changes succeed.
func TestState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newTree()
		now := time.Unix(1e9, 0)
		s := newState(f, slog.New(slog.DiscardHandler))
		var found []procs.Container
		var wish *api.Wish
		var lease time.Time
		version := uint64(0)
		since := map[string]time.Time{} // since when it is frozen
		until := map[string]time.Time{} // … and until when at most
		ends := map[string]time.Time{}  // until when the last want freezes it
		done := map[string]bool{}       // it was frozen under a want that lasts
		rounds := func() { s.round(now, found) }
		t.Repeat(map[string]func(*rapid.T){
			"find": func(t *rapid.T) {
				found = nil
				for i := range 3 {
					if rapid.Bool().Draw(t, "there") {
						found = append(found, container(i))
					} else {
						id := container(i).ID
						delete(since, id)
						delete(done, id)
						until[id] = ends[id]
					}
				}
				rounds()
			},
			"answer": func(t *rapid.T) {
				version++
				wish = &api.Wish{Version: version, Every: 1000, Lease: rapid.Int64Range(1000, 20_000).Draw(t, "lease")}
				for i := range 4 {
					if !rapid.Bool().Draw(t, "wanted") {
						delete(since, container(i).ID)
						delete(done, container(i).ID)
					} else {
						wish.Want = append(wish.Want, api.Want{
							ID: container(i).ID, Park: rapid.Bool().Draw(t, "park"), Weight: rapid.Int64Range(0, 500).Draw(t, "weight"),
							Freeze: rapid.SampledFrom([]int64{0, 0, 500, 5000, api.MaxFreeze}).Draw(t, "freeze"), High: rapid.Int64Range(0, 1).Draw(t, "high"),
						})
					}
				}
				if err := wish.Check(); err != nil {
					t.Fatal(err)
				}
				for _, w := range wish.Want {
					if w.Freeze == 0 {
						delete(since, w.ID)
						delete(done, w.ID)
					}
				}
				lease = now.Add(time.Duration(wish.Lease) * time.Millisecond)
				for _, w := range wish.Want {
					end := now.Add(time.Duration(w.Freeze) * time.Millisecond)
					ends[w.ID] = end
					if _, frozen := since[w.ID]; !frozen || end.Before(until[w.ID]) {
						until[w.ID] = end
					}
				}
				s.answer(now, now, wish)
				if s.applied != version {
					t.Fatalf("applied %d, want %d", s.applied, version)
				}
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 8000).Draw(t, "ms")) * time.Millisecond)
				rounds()
			},
			"break": func(*rapid.T) { f.broken = !f.broken; rounds() },
			"told":  func(*rapid.T) { f.ending[container(0).ID] = !f.ending[container(0).ID]; rounds() },
			"crash": func(t *rapid.T) {
				f.mine = map[string]bool{}
				s = newState(f, slog.New(slog.DiscardHandler))
				err := s.restore()
				if (err != nil) != f.broken {
					t.Fatal(err)
				}
				wish, since, done = nil, map[string]time.Time{}, map[string]bool{}
				rounds()
			},
			"": func(t *rapid.T) {
				if f.broken {
					return
				}
				rounds() // what failed before succeeds now
				live := wish != nil && now.Before(lease)
				if !live && s.applied != 0 {
					t.Fatalf("applied %d without a lease", s.applied)
				}
				wants := map[string]api.Want{}
				if live {
					for _, w := range wish.Want {
						wants[w.ID] = w
					}
				}
				if len(f.sets) != len(found) {
					t.Fatalf("groups of %v, want those of %v", f.List(), found)
				}
				for _, c := range found {
					w, got := wants[c.ID], f.sets[c.ID]
					if want := (groups.Set{Park: w.Park, Weight: w.Weight, Quota: w.Quota, High: w.High, Freeze: got.Freeze}); got != want {
						t.Fatalf("%s has %+v, want %+v", c.ID, got, want)
					}
					if !got.Freeze {
						if _, was := since[c.ID]; was && w.Freeze > 0 {
							done[c.ID] = true
						}
						delete(since, c.ID)
						continue
					}
					if done[c.ID] {
						t.Fatalf("%s is frozen again under a want that lasts", c.ID)
					}
					if w.Freeze == 0 {
						t.Fatalf("%s is frozen, and nobody wants it", c.ID)
					}
					if _, ok := since[c.ID]; !ok {
						since[c.ID] = now
					}
					if !now.Before(until[c.ID]) {
						t.Fatalf("%s is frozen %v longer than it is to be", c.ID, now.Sub(until[c.ID]))
					}
				}
				for _, id := range []string{container(0).ID} {
					if f.ending[id] && f.sets[id].Freeze && since[id].Before(now) {
						t.Fatalf("%s is to end and is frozen", id)
					}
				}
			},
		})
	})
}

func TestFreezeEnds(t *testing.T) {
	f := newTree()
	now := time.Unix(1e9, 0)
	s := newState(f, slog.New(slog.DiscardHandler))
	var watched time.Time
	s.warn = func(thaws time.Time) {
		if watched.IsZero() && f.sets[container(0).ID].Freeze {
			t.Error("it was frozen before that was known")
		}
		if watched = thaws; thaws.IsZero() && f.sets[container(0).ID].Freeze {
			t.Error("it is frozen, and known to run")
		}
	}
	c := container(0)
	found := []procs.Container{c}
	s.round(now, found)
	wish := func(v uint64, freeze int64) *api.Wish {
		return &api.Wish{Version: v, Every: 1000, Lease: 3_600_000, Want: []api.Want{{ID: c.ID, Freeze: freeze}}}
	}
	frozen := func(want bool) {
		t.Helper()
		if watched.IsZero() == want {
			t.Errorf("after %v: known to be frozen until %v", now.Sub(time.Unix(1e9, 0)), watched)
		}
		if f.sets[c.ID].Freeze != want {
			t.Fatalf("after %v: frozen %v", now.Sub(time.Unix(1e9, 0)), !want)
		}
	}
	s.answer(now, now, wish(1, 2000))
	frozen(true)
	if due := s.due(); due != now.Add(2*time.Second) {
		t.Errorf("due %v", due.Sub(now))
	}
	now = now.Add(500 * time.Millisecond)
	s.answer(now, now, wish(2, 5000)) // no answer prolongs it
	frozen(true)
	now = now.Add(time.Second)
	s.answer(now, now, wish(2, 500)) // the rest of it
	frozen(true)
	now = now.Add(500 * time.Millisecond)
	s.carry(now)
	frozen(false)
	s.answer(now, now, wish(3, 2000))
	frozen(false)
	s.answer(now, now, wish(4, 0))
	s.answer(now, now, wish(5, 300_000)) // Check refuses this much, but it is bounded here too
	frozen(true)
	now = now.Add(api.MaxFreeze * time.Millisecond)
	s.carry(now)
	frozen(false)
	s.answer(now, now, wish(6, 0))
	s.answer(now, now, wish(7, 5000))
	frozen(true)
	f.ending[c.ID] = true
	s.round(now, found)
	frozen(false)
}

func TestOrphans(t *testing.T) {
	f := newTree()
	now := time.Unix(1e9, 0)
	s := newState(f, slog.New(slog.DiscardHandler))
	a, b := container(0), container(1)
	f.busy[a.ID], f.busy[b.ID] = true, true
	s.round(now, []procs.Container{a, b})
	s.round(now, nil)
	now = now.Add(orphaned - time.Second)
	s.round(now, nil)
	if list := s.orphans(now); len(list) != 0 {
		t.Errorf("too early: %v", list)
	}
	now = now.Add(time.Second)
	if list := s.orphans(now); len(list) != 2 {
		t.Errorf("%v", list)
	}
	s.end(now, `{"containers":{"container":[{"id":"`+b.ID+`"}]}}`)
	if !slices.Equal(f.killed, []string{a.ID}) {
		t.Errorf("ended %v", f.killed)
	}
	s.round(now, nil)
	if list := f.List(); !slices.Equal(list, []string{b.ID}) {
		t.Errorf("left are %v", list)
	}
}

func TestReport(t *testing.T) {
	f := newTree()
	now := time.Unix(1e9, 0)
	s := newState(f, slog.New(slog.DiscardHandler))
	s.round(now, []procs.Container{container(0)})
	s.answer(now, now, &api.Wish{Version: 7, Every: 1000, Lease: 9000, Measure: true, Want: []api.Want{{ID: container(0).ID, Park: true}}})
	f.broken = true
	s.answer(now, now, &api.Wish{Version: 8, Every: 1000, Lease: 9000, Measure: true, Want: []api.Want{{ID: container(0).ID, Weight: 50}}})
	sync := api.Sync{Node: "n:1", Agent: "a"}
	s.report(&sync)
	if len(sync.Failed) != 1 || len(sync.Failed[0].Lacks) > 0 {
		t.Errorf("failed at once: %+v", sync.Failed)
	}
	now = now.Add(lasting)
	s.round(now, []procs.Container{container(0)})
	s.report(&sync)
	if err := sync.Check(); err != nil {
		t.Error(err)
	}
	if sync.Applied != 8 || len(sync.Failed) != 1 || !slices.Equal(sync.Failed[0].Lacks, []string{"weighs"}) || len(sync.Containers) != 1 || sync.Containers[0].CPU != 1000 || sync.Containers[0].RSS != 3 {
		t.Errorf("%+v", sync)
	}
}

// A container that has a want but is not found is reported as lacking after a while, and not before.
func TestUnfound(t *testing.T) {
	s := newState(newTree(), slog.New(slog.DiscardHandler))
	begin := time.Unix(1_700_000_000, 0)
	s.answer(begin, begin, &api.Wish{Version: 1, Lease: 3_600_000, Want: []api.Want{{ID: container(1).ID, Freeze: 5000}, {ID: container(2).ID, Park: true}}})
	lacking := func(after time.Duration, found ...procs.Container) (ids []string) {
		s.round(begin.Add(after), found)
		var said api.Sync
		s.report(&said)
		for _, f := range said.Failed {
			ids = append(ids, fmt.Sprint(f.ID, " ", strings.Join(f.Lacks, ","), " ", f.Missing))
		}
		return ids
	}
	if got := lacking(0, container(2)); got != nil {
		t.Errorf("at once: %v", got)
	}
	if got := lacking(unfound, container(2)); len(got) != 1 || got[0] != container(1).ID+" freezes true" {
		t.Errorf("after a while: %v", got)
	}
	if got := lacking(unfound+time.Second, container(1), container(2)); got != nil {
		t.Errorf("found in the end: %v", got)
	}
}

// stuckFrom5 returns a state that froze a container for 5 s at begin, since when nothing can be changed. told collects what
// the warden is told.
func stuckFrom5() (f *tree, s *state, begin time.Time, told *[]time.Time) {
	f, begin, told = newTree(), time.Unix(1_700_000_000, 0), new([]time.Time)
	s = newState(f, slog.New(slog.DiscardHandler))
	s.warn = func(thaws time.Time) { *told = append(*told, thaws) }
	s.round(begin, []procs.Container{container(1)})
	s.answer(begin, begin, &api.Wish{Version: 1, Lease: 3_600_000, Want: []api.Want{{ID: container(1).ID, Freeze: 5000}}})
	f.broken = true
	return f, s, begin, told
}

// The warden is told of no later time while a container that was to thaw is still frozen.
func TestStuck(t *testing.T) {
	f, s, begin, told := stuckFrom5()
	for after := 5; after < 8; after++ {
		s.carry(begin.Add(time.Duration(after) * time.Second))
	}
	if len(*told) != 1 || !(*told)[0].Equal(begin.Add(5*time.Second)) {
		t.Errorf("it does not run, and the warden was told %v", *told)
	}
	f.broken, f.fails = false, &groups.Failed{What: heddle.Weighs, Err: errBroken} // it thaws all the same
	s.carry(begin.Add(9 * time.Second))
	if len(*told) != 2 || !(*told)[1].IsZero() {
		t.Errorf("it runs, and the warden was told %v", *told)
	}
}

// A container that has ended frozen and cannot be released keeps neither the agent busy nor the warden from thawing it.
func TestStuckAtItsEnd(t *testing.T) {
	f, s, begin, told := stuckFrom5()
	for after := 4; after < 8; after++ {
		now := begin.Add(time.Duration(after) * time.Second)
		s.round(now, nil)
		if due := s.due(); !due.After(now) {
			t.Errorf("after %d s the next action was due after %v", after, due.Sub(begin))
		}
	}
	if len(*told) != 1 || !(*told)[0].Equal(begin.Add(5*time.Second)) {
		t.Errorf("it does not run, and the warden was told %v", *told)
	}
	f.broken = false
	s.round(begin.Add(9*time.Second), nil)
	if len(*told) != 2 || !(*told)[1].IsZero() {
		t.Errorf("it is released, and the warden was told %v", *told)
	}
}

// Beside a container that is still frozen although it was told to thaw, the warden is told of a later freeze once it has
// tried to thaw that container, and not before.
func TestFreezeBesideStuck(t *testing.T) {
	f := newTree()
	s := newState(f, slog.New(slog.DiscardHandler))
	var told time.Time
	s.warn = func(thaws time.Time) { told = thaws }
	begin := time.Unix(1_700_000_000, 0)
	after := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	s.round(begin, []procs.Container{container(0), container(1)})
	s.answer(begin, begin, &api.Wish{Version: 1, Lease: 3_600_000, Want: []api.Want{{ID: container(0).ID, Freeze: 5000}}})
	f.fails = &groups.Failed{What: heddle.Freezes, Err: errBroken}
	s.answer(after(6), after(6), &api.Wish{Version: 2, Lease: 3_600_000, Want: []api.Want{{ID: container(1).ID, Freeze: 60_000}}})
	for _, x := range []struct{ now, want int }{{6, 5}, {8, 66}} {
		if s.carry(after(x.now)); told != after(x.want) {
			t.Errorf("after %d s the warden knows the time %v, want %d s", x.now, told.Sub(begin), x.want)
		}
	}
}

// What freezes, and may take long to, holds up nothing else, and the warden knows the next end before.
func TestFreezesLast(t *testing.T) {
	f := newTree()
	s := newState(f, slog.New(slog.DiscardHandler))
	begin := time.Unix(1_700_000_000, 0)
	end := begin.Add(time.Minute)
	s.warn = func(thaws time.Time) {
		if f.sets[container(0).ID].Freeze && thaws.Equal(end) {
			t.Error("it is frozen, and the warden hears of that afterwards")
		}
	}
	s.round(begin, []procs.Container{container(0), container(1), container(2)})
	s.answer(begin, begin, &api.Wish{Version: 1, Lease: 3_600_000, Want: []api.Want{{ID: container(1).ID, Freeze: 5000}}})
	f.did = nil
	s.answer(begin.Add(5*time.Second), begin.Add(5*time.Second), &api.Wish{Version: 2, Lease: 3_600_000, Want: []api.Want{
		{ID: container(0).ID, Freeze: 55_000}, {ID: container(1).ID, Freeze: 1}, {ID: container(2).ID, Park: true},
	}})
	if want := []string{container(1).ID, container(2).ID, container(0).ID}; !slices.Equal(f.did, want) {
		t.Errorf("changed in turn %v, want %v", f.did, want)
	}
}

// Containers are told to freeze together, before any of them is waited for, and those that are already frozen are not.
func TestFreezesTogether(t *testing.T) {
	f := newTree()
	s := newState(f, slog.New(slog.DiscardHandler))
	now := time.Unix(1_700_000_000, 0)
	s.round(now, []procs.Container{container(0), container(1), container(2)})
	f.did = nil
	s.answer(now, now, &api.Wish{Version: 1, Lease: 3_600_000, Want: []api.Want{
		{ID: container(0).ID, Freeze: 5000}, {ID: container(1).ID, Freeze: 5000}, {ID: container(2).ID, Park: true},
	}})
	s.carry(now)
	if want := map[string]int{container(0).ID: 1, container(1).ID: 1}; !maps.Equal(f.begun, want) || len(f.did) != 3 {
		t.Errorf("changed in turn %v, and told to freeze before after %v changes, want %v", f.did, f.begun, want)
	}
}

// The lease of an answer that was long on its way ends as long after the request as that of any other. If it has ended
// when the answer arrives, nothing is carried out.
func TestLateAnswer(t *testing.T) {
	f := newTree()
	s := newState(f, slog.New(slog.DiscardHandler))
	asked := time.Unix(1_700_000_000, 0)
	s.round(asked, []procs.Container{container(0)})
	wish := &api.Wish{Version: 1, Lease: 30_000, Want: []api.Want{{ID: container(0).ID, Park: true}}}
	for _, x := range []struct {
		answered, now time.Duration
		parked        bool
	}{{5 * time.Second, 29 * time.Second, true}, {5 * time.Second, 30 * time.Second, false}, {30 * time.Second, 30 * time.Second, false}} {
		s.answer(asked.Add(x.answered), asked, wish)
		s.carry(asked.Add(x.now))
		if f.set(container(0).ID).Park != x.parked || (s.applied == 1) != x.parked {
			t.Errorf("answered after %v, parked is %v after %v, applied %d", x.answered, !x.parked, x.now, s.applied)
		}
	}
}

// What is to thaw goes before everything else, and the warden knows the next end before that takes time.
func TestThawsFirst(t *testing.T) {
	f := newTree()
	s := newState(f, slog.New(slog.DiscardHandler))
	begin := time.Unix(1_700_000_000, 0)
	s.round(begin, []procs.Container{container(0), container(1), container(2)})
	s.answer(begin, begin, &api.Wish{Version: 1, Lease: 3_600_000, Want: []api.Want{{ID: container(1).ID, Freeze: 5000}, {ID: container(2).ID, Freeze: 60_000}}})
	f.did = nil
	var before []string
	s.warn = func(time.Time) { before = slices.Clone(f.did) }
	s.answer(begin.Add(5*time.Second), begin.Add(5*time.Second), &api.Wish{Version: 2, Lease: 3_600_000, Want: []api.Want{
		{ID: container(0).ID, Park: true}, {ID: container(1).ID, Freeze: 1}, {ID: container(2).ID, Freeze: 55_000},
	}})
	if want := []string{container(1).ID, container(0).ID}; !slices.Equal(f.did, want) || !slices.Equal(before, want[:1]) {
		t.Errorf("changed in turn %v, and %v before the warden knew the next end; want %v", f.did, before, want)
	}
}

// What does not freeze is told so again after pauses that grow, or at once if something else is wanted too, and is not
// reported as frozen meanwhile.
func TestDoesNotFreeze(t *testing.T) {
	f := newTree()
	s := newState(f, slog.New(slog.DiscardHandler))
	begin := time.Unix(1_700_000_000, 0)
	frozen := func() bool {
		var said api.Sync
		s.report(&said)
		return said.Containers[0].Frozen
	}
	wants := func(after time.Duration, version uint64, weight int64) {
		s.answer(begin.Add(after), begin.Add(after), &api.Wish{Version: version, Lease: 3_600_000, Want: []api.Want{{ID: container(0).ID, Weight: weight, Freeze: 60_000}}})
	}
	s.round(begin, []procs.Container{container(0)})
	f.fails = &groups.Failed{What: heddle.Freezes, Err: errBroken}
	wants(0, 1, 0)
	var tries []string
	for after := 500 * time.Millisecond; after < 15*time.Second; after += 500 * time.Millisecond {
		f.did = nil
		if s.carry(begin.Add(after)); len(f.did) > 0 {
			tries = append(tries, after.String())
		}
		if frozen() {
			t.Fatalf("after %v it is reported as frozen", after)
		}
	}
	if want := []string{"1s", "2s", "4s", "8s"}; !slices.Equal(tries, want) {
		t.Errorf("tried again after %v, want %v", tries, want)
	}
	f.fails = nil
	if wants(15*time.Second, 2, 50); !frozen() {
		t.Error("with another weight it is not told to freeze at once")
	}
}

// What a warden has thawed, because the agent was late, is frozen again for the rest of its time.
func TestFreezesAgain(t *testing.T) {
	f := newTree()
	s := newState(f, slog.New(slog.DiscardHandler))
	begin := time.Unix(1_700_000_000, 0)
	s.round(begin, []procs.Container{container(0), container(1)})
	s.answer(begin, begin, &api.Wish{Version: 1, Lease: 3_600_000, Want: []api.Want{{ID: container(0).ID, Freeze: 5000}, {ID: container(1).ID, Freeze: 60_000}}})
	if err := f.Thaw(); err != nil {
		t.Fatal(err)
	}
	s.carry(begin.Add(6 * time.Second))
	if f.set(container(0).ID).Freeze || !f.set(container(1).ID).Freeze {
		t.Errorf("%+v", f.sets)
	}
	f.did = nil
	s.carry(begin.Add(7 * time.Second))
	if len(f.did) > 0 {
		t.Errorf("%v are changed although the agent is in time", f.did)
	}
}
