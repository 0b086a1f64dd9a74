package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"heddle"
	"heddle/node/api"
	"heddle/node/groups"
	"heddle/node/procs"
)

// An Actuator changes how containers run: see [groups.Groups].
type Actuator interface {
	Can() heddle.Caps
	Adopt(procs.Container) error
	Begin(id string)
	Apply(id string, s groups.Set) error
	Measure(id string) procs.Use
	Ending(id string) bool
	Release(id string) error
	List() []string
	Kill(id string) error
	RestoreAll() error
}

// lasting is how long something has to fail, retried every second, before it is reported as impossible. A busy machine
// may take a while to freeze a container.
const lasting = 2 * time.Second

// unfound is how long a container that has a want may stay unfound before everything wanted of it is reported as
// impossible until it is found. A container whose files are still being fetched has no process yet.
const unfound = 30 * time.Second

// orphaned is how long a group has to be without a container before the NodeManager is asked whether it may be ended.
const orphaned = 60 * time.Second

// A state is the agent without its clock and its connection. It depends on the present, not on history: what a
// container has follows only from the last wish and the time.
type state struct {
	groups  Actuator
	log     *slog.Logger
	wish    *api.Wish // nil without a lease
	wants   map[string]wanted
	lease   time.Time // when the wish expires
	applied uint64
	held    map[string]*held
	since   map[string]time.Time // since when a group has had no container
	missing map[string]time.Time // since when a container that has a want has not been found
	now     time.Time            // time of the last look
	warn    func(thaws time.Time)
	warned  time.Time // the last time passed to warn
}

// A held is a container that was found.
type held struct {
	procs.Container
	adopted bool
	gone    bool       // it has ended, but its defaults could not be restored yet
	set     groups.Set // the last set that it was given
	sure    bool       // whether set was applied without an error
	stuck   bool       // as far as is known, it is still frozen although it was told to thaw
	resists time.Time  // since when it does not freeze although it is told to; zero if it does or is not
	again   time.Time  // … and when it is told so again
	failed  string     // why the last change failed
	lacks   []string   // … what could not be done
	failing time.Time  // … and since when
	thaws   time.Time  // until when it is frozen; zero if it runs
	spent   bool       // it was frozen for as long as was wanted
	cpu     int64      // milliseconds; never decreases
}

// wanted is what a wish wants of a container.
type wanted struct {
	api.Want
	thaws time.Time // when it runs again, if it is to be frozen
}

func (w wanted) set() groups.Set {
	return groups.Set{Park: w.Park, Weight: w.Weight, Freeze: w.Freeze > 0, Quota: w.Quota, High: w.High}
}

func newState(g Actuator, log *slog.Logger) *state {
	return &state{groups: g, log: log, held: map[string]*held{}, since: map[string]time.Time{}, missing: map[string]time.Time{}, warn: func(time.Time) {}}
}

// take records which containers there are.
func (s *state) take(now time.Time, found []procs.Container) {
	s.now = now
	here := make(map[string]bool, len(found))
	for _, c := range found {
		here[c.ID] = true
		h := s.held[c.ID]
		if h != nil && (h.gone || h.PID != c.PID || h.Start != c.Start) && s.release(h) {
			h = nil // it was started again, or was wrongly taken to have ended
		}
		if h == nil {
			h = &held{}
			s.held[c.ID] = h
		}
		if !h.gone {
			h.Container = c
		}
		if !h.adopted && !h.gone {
			err := s.groups.Adopt(c)
			h.adopted = err == nil
			if s.noted(h, err) && err == nil {
				s.log.Info("adopted", "container", c.ID, "pid", c.PID, "task", c.Task)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.held)) {
		if !here[id] {
			s.release(s.held[id])
		}
	}
	s.tidy(now)
	s.miss(now)
	for _, h := range s.held {
		if h.set.Freeze && s.groups.Ending(h.ID) {
			s.log.Info("container thawed: it was told to stop and must run to do so", "container", h.ID)
			h.thaws, h.spent = time.Time{}, true
		}
	}
}

// release forgets a container that has ended. It reports whether it could.
func (s *state) release(h *held) bool {
	err := s.groups.Release(h.ID)
	if err != nil {
		h.gone = true
		h.stuck, h.thaws = (h.stuck || h.set.Freeze) && frozen(err), time.Time{} // only the warden goes by its end now
		s.noted(h, err)
		return false
	}
	s.log.Info("released", "container", h.ID)
	delete(s.held, h.ID)
	return true
}

// tidy removes empty groups, and records since when the others have had no container.
func (s *state) tidy(now time.Time) {
	listed := map[string]bool{}
	for _, id := range s.groups.List() {
		if s.held[id] != nil {
			continue
		}
		listed[id] = true
		if err := s.groups.Release(id); err != nil {
			s.log.Warn("an empty control group cannot be removed", "container", id, "error", err)
		}
		if _, ok := s.since[id]; !ok {
			s.since[id] = now
		}
	}
	maps.DeleteFunc(s.since, func(id string, _ time.Time) bool { return !listed[id] })
}

// miss records since when containers that have a want have not been found.
func (s *state) miss(now time.Time) {
	for id := range s.wants {
		if _, ok := s.missing[id]; !ok && s.held[id] == nil {
			s.missing[id] = now
		}
	}
	maps.DeleteFunc(s.missing, func(id string, _ time.Time) bool {
		_, wanted := s.wants[id]
		return !wanted || s.held[id] != nil
	})
}

// orphans returns the groups that have had no container for long.
func (s *state) orphans(now time.Time) []string {
	var list []string
	for id, since := range s.since {
		if now.Sub(since) >= orphaned {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// end ends the remains of containers that the NodeManager does not know, according to its answer.
func (s *state) end(now time.Time, known string) {
	for _, id := range s.orphans(now) {
		if strings.Contains(known, id) {
			continue
		}
		s.log.Warn("killing the processes of a container that the NodeManager does not know", "container", id,
			"for", now.Sub(s.since[id]).Round(time.Second))
		if err := s.groups.Kill(id); err != nil {
			s.log.Error("cannot kill the processes of a container that the NodeManager does not know", "container", id, "error", err)
		}
	}
}

// answer records a new wish and applies it. Its lease counts from when it was asked for: the ResourceManager gives up an
// agent that it has not heard for that long, however late the answer was.
func (s *state) answer(now, asked time.Time, w *api.Wish) {
	s.wish, s.lease, s.applied = w, asked.Add(time.Duration(w.Lease)*time.Millisecond), w.Version
	s.wants = make(map[string]wanted, len(w.Want))
	for _, want := range w.Want {
		length := time.Duration(min(want.Freeze, api.MaxFreeze)) * time.Millisecond
		s.wants[want.ID] = wanted{want, now.Add(length)}
	}
	for _, h := range s.held {
		if s.wants[h.ID].Freeze == 0 {
			h.spent = false
		}
	}
	s.carry(now)
}

// watched passes on when the first frozen container thaws, zero for none.
func (s *state) watched(thaws time.Time) {
	if thaws != s.warned {
		s.warned = thaws
		s.warn(thaws)
	}
}

// thaws returns when the first frozen container thaws; zero for none.
func (s *state) thaws() (first time.Time) {
	for _, h := range s.held {
		if !h.thaws.IsZero() && (first.IsZero() || h.thaws.Before(first)) {
			first = h.thaws
		}
	}
	return first
}

// carry gives every container what it is to have now.
func (s *state) carry(now time.Time) {
	s.now = now
	if s.wish != nil && !now.Before(s.lease) {
		s.log.Warn("the lease has expired: every container has its defaults again", "wish", s.wish.Version)
		s.wish, s.wants, s.applied = nil, nil, 0
	}
	late := now.Sub(s.warned) // very late if the warden knows no time
	sets := make(map[string]groups.Set, len(s.held))
	for id, h := range s.held { // order: each for itself
		if h.adopted && !h.gone {
			sets[id] = s.target(now, h)
		}
		if late > lateThaw/2 && h.set.Freeze {
			h.sure = false // the warden may have thawed it
		}
	}
	first := s.thaws()
	if !first.IsZero() && (first.Before(s.warned) || late > 2*lateThaw) { // before anything is frozen
		s.watched(first)
	}
	s.giveAll(sets, func(h *held, set groups.Set) bool { return !set.Freeze && (h.set.Freeze || h.stuck) })
	if !s.stuck() { // otherwise the warden knows when it was to thaw, and sees to it
		s.watched(first) // before anything that takes time: by then it might thaw what stays frozen
	}
	s.giveAll(sets, func(_ *held, set groups.Set) bool { return !set.Freeze })
	for id, set := range sets { // order: each for itself
		if s.lacks(s.held[id], set) {
			s.groups.Begin(id) // all before any is waited for: they freeze at the same time
		}
	}
	s.giveAll(sets, func(*held, groups.Set) bool { return true }) // last, because a container may take long to freeze
}

// giveAll applies the sets that are to come next, and removes them.
func (s *state) giveAll(sets map[string]groups.Set, next func(*held, groups.Set) bool) {
	for _, id := range slices.Sorted(maps.Keys(sets)) {
		if h, set := s.held[id], sets[id]; next(h, set) {
			s.give(h, set)
			delete(sets, id)
		}
	}
}

// stuck reports whether any container is still frozen although it was told to thaw.
func (s *state) stuck() bool {
	for _, h := range s.held {
		if h.stuck {
			return true
		}
	}
	return false
}

// target returns what a container is to have.
func (s *state) target(now time.Time, h *held) groups.Set {
	want := s.wants[h.ID]
	set := want.set()
	set.Freeze = false
	if !h.thaws.IsZero() && (want.Freeze == 0 || !now.Before(h.thaws)) {
		h.spent = want.Freeze > 0 || s.wish == nil
		h.thaws = time.Time{}
	}
	if want.Freeze > 0 && !h.spent && now.Before(want.thaws) {
		if h.thaws.IsZero() || want.thaws.Before(h.thaws) { // no answer prolongs a freeze
			h.thaws = want.thaws
		}
		set.Freeze = true
	}
	return set
}

// lacks reports whether a set is to be applied to a container now: it has another, or the set has a memory bound, which
// memory use may have outgrown. Nothing else happens while a container does not freeze, so the pauses between two tries
// grow.
func (s *state) lacks(h *held, set groups.Set) bool {
	return h.set != set || (!h.sure || set.High > 0) && !s.now.Before(h.again)
}

// give applies a set to a container that lacks it.
func (s *state) give(h *held, set groups.Set) {
	if !s.lacks(h, set) {
		return
	}
	before, was := h.set, h.sure
	err := s.groups.Apply(h.ID, set)
	h.set, h.sure, h.stuck = set, err == nil, !set.Freeze && (before.Freeze || h.stuck) && frozen(err)
	if set.Freeze && resists(err) {
		if h.resists.IsZero() {
			h.resists = s.now
		}
		h.again = s.now.Add(max(usualLook, s.now.Sub(h.resists)))
	} else {
		h.resists, h.again = time.Time{}, time.Time{}
	}
	if (s.noted(h, err) || before != set) && err == nil && (was || set != groups.Set{}) {
		s.log.Info("set", "container", h.ID, "task", h.Task, "park", set.Park, "weight", set.Weight, "freeze", set.Freeze,
			"quota", set.Quota, "high_mib", set.High, "wish", s.version())
	}
}

// frozen reports whether a container that was to thaw may still be frozen, by the error of the change.
func frozen(err error) bool {
	if failed, ok := errors.AsType[*groups.Failed](err); ok {
		return failed.What.Has(heddle.Freezes)
	}
	return err != nil
}

// resists reports whether all that failed of a change is that a container did not freeze, by its error.
func resists(err error) bool {
	failed, ok := errors.AsType[*groups.Failed](err)
	return ok && failed.What == heddle.Freezes
}

func (s *state) version() uint64 {
	if s.wish == nil {
		return 0
	}
	return s.wish.Version
}

// noted records why something failed (nil if it did not), and logs it if it is new. It reports whether it is.
func (s *state) noted(h *held, err error) bool {
	text := ""
	if err == nil {
		h.failing = time.Time{}
	} else {
		if h.failing.IsZero() {
			h.failing = s.now
		}
		lacks := s.wants[h.ID].set().Needs() // if nothing was begun
		if failed, ok := errors.AsType[*groups.Failed](err); ok {
			lacks = failed.What
		}
		h.lacks = lacks.Names()
		text = strings.ToValidUTF8(err.Error()[:min(len(err.Error()), api.MaxError)], "")
	}
	if text == h.failed {
		return text == "" && !h.sure
	}
	h.failed = text
	if err != nil {
		s.log.Error("cannot apply the settings of a container", "container", h.ID, "wish", s.version(), "error", err)
	}
	return true
}

// due returns when the next action is due without any event; zero for never.
func (s *state) due() time.Time {
	first := s.thaws()
	if s.wish != nil && (first.IsZero() || s.lease.Before(first)) {
		return s.lease
	}
	return first
}

// report fills in what there is to say about the containers, and returns which data from files is asked for.
func (s *state) report(into *api.Sync) asked {
	into.Can, into.Applied = s.groups.Can().Names(), s.applied
	into.Containers, into.Failed = []api.Container{}, []api.Failure{}
	for _, id := range slices.Sorted(maps.Keys(s.held)) {
		h := s.held[id]
		_, wanted := s.wants[id]
		if h.failed != "" && (wanted || h.adopted) && len(into.Failed) < api.MaxContainers {
			f := api.Failure{ID: id, Error: h.failed}
			if s.now.Sub(h.failing) >= lasting {
				f.Lacks = h.lacks
			}
			into.Failed = append(into.Failed, f)
		}
		if h.gone || len(into.Containers) == api.MaxContainers {
			continue
		}
		c := api.Container{ID: id, Task: h.Task, Parked: h.set.Park, Weight: h.set.Weight, Frozen: h.set.Freeze && h.resists.IsZero()}
		if s.wish != nil && s.wish.Measure {
			u := s.groups.Measure(id)
			h.cpu = max(h.cpu, u.CPU.Milliseconds())
			c.CPU, c.RSS = h.cpu, u.RSS>>20
		}
		into.Containers = append(into.Containers, c)
	}
	for _, id := range slices.Sorted(maps.Keys(s.missing)) {
		if want, ok := s.wants[id]; ok && s.now.Sub(s.missing[id]) >= unfound && len(into.Failed) < api.MaxContainers {
			into.Failed = append(into.Failed, api.Failure{
				ID: id, Error: "the container was not found on this node", Lacks: want.set().Needs().Names(), Missing: true,
			})
		}
	}
	return s.asked()
}

// restore gives everything its defaults.
func (s *state) restore() error {
	if err := s.groups.RestoreAll(); err != nil {
		return fmt.Errorf("some containers do not have their defaults: %w", err)
	}
	return nil
}
