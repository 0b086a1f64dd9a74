package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// A kind is what a call does to an application or asks about it.
type kind string

const (
	submit   kind = "submit"
	kill     kind = "kill"
	move     kind = "move"
	priority kind = "priority"
	finish   kind = "finish" // by its master
	look     kind = "report"
)

// An outcome is what a caller knows about its call.
type outcome string

const (
	done    outcome = "done"
	refused outcome = "refused"
	unknown outcome = "unknown" // there was no answer
)

// An op is a call as seen by its caller.
type op struct {
	kind       kind
	begin, end time.Duration // since the history began
	outcome    outcome
	to         life // the intended result, or what was reported
}

// A life is what can be seen of an application from outside.
type life struct {
	there    bool
	final    string // how it ended; "" if it has not
	finished int64  // the reported end time; only in reports
	queue    string
	priority int32
}

// A history is what all callers saw.
type history struct {
	mu    sync.Mutex
	began time.Time
	apps  map[string]*story
	wrong []string // violations seen as they happened
}

// A story is everything that was seen of an application.
type story struct {
	ops []op
}

func newHistory() *history { return &history{began: time.Now(), apps: map[string]*story{}} }

// now returns the time since the history began.
func (h *history) now() time.Duration { return time.Since(h.began) }

// violated records that a rule was broken.
func (h *history) violated(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wrong = append(h.wrong, fmt.Sprintf("at %.3f s: ", h.now().Seconds())+fmt.Sprintf(format, args...))
}

// given records an id that was assigned.
func (h *history) given(id string) {
	h.mu.Lock()
	_, again := h.apps[id]
	if !again {
		h.apps[id] = &story{}
	}
	h.mu.Unlock()
	if again {
		h.violated("%s is given out a second time", id)
	}
}

// add records a call that has ended.
func (h *history) add(id string, o op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.apps[id]; s != nil { // otherwise it is closed
		s.add(o)
	}
}

// add records a call. Of consecutive reports that an application is over, it keeps only the first and the last.
func (s *story) add(o op) {
	s.ops = append(s.ops, o)
	n := len(s.ops)
	if n < 3 {
		return
	}
	a, b, c := s.ops[n-3], s.ops[n-2], s.ops[n-1]
	if a.kind == look && b.kind == look && c.kind == look && a.to == b.to && b.to == c.to && a.to.final != "" {
		s.ops = append(s.ops[:n-2], c)
	}
}

// closed checks what was seen of an application, and forgets it.
func (h *history) closed(id string) {
	h.mu.Lock()
	s := h.apps[id]
	delete(h.apps, id)
	h.mu.Unlock()
	if why := check(s.ops); why != "" {
		h.violated("%s: %s", id, why)
	}
}

// counts returns how many applications and calls there are, and how many of the calls were not answered.
func (h *history) counts() (apps, ops, lost int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.apps { // order: of a sum
		apps++
		ops += len(s.ops)
		for _, o := range s.ops {
			if o.outcome == unknown {
				lost++
			}
		}
	}
	return apps, ops, lost
}

// check checks the history alone, and returns what cannot have happened.
func (h *history) check() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	wrong := slices.Clone(h.wrong)
	for id, s := range h.apps { // order: sorted below
		if why := check(s.ops); why != "" {
			wrong = append(wrong, id+": "+why)
		}
	}
	slices.Sort(wrong)
	return wrong
}

// A config is one possible state so far: the application's state, and which of the calls in flight have been carried
// out.
type config struct {
	life
	carried uint64
}

// mostAtOnce is the most calls about one application that may be in flight at a time.
const mostAtOnce = 64

// check looks for an order of the calls in which each call took effect at one moment between its beginning and its end
// (calls without an answer possibly not at all) and every report says what was there. It returns "", or the first call
// that fits into no such order.
func check(ops []op) string {
	type event struct {
		at    time.Duration
		ends  bool
		index int
	}
	var events []event
	for i, o := range ops {
		events = append(events, event{o.begin, false, i}, event{o.end, true, i})
	}
	slices.SortStableFunc(events, func(a, b event) int { // at the same moment, beginnings come first
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(order(a.ends), order(b.ends)))
	})
	var slots [mostAtOnce]int // the call in flight that each bit stands for, -1 for none
	for i := range slots {
		slots[i] = -1
	}
	ways := map[config]bool{{}: true}
	for _, e := range events {
		if !e.ends {
			at := slices.Index(slots[:], -1)
			if at < 0 {
				return fmt.Sprintf("more than %d calls are in flight", mostAtOnce)
			}
			slots[at] = e.index
			continue
		}
		at := slices.Index(slots[:], e.index)
		spread(ways, ops, &slots)
		next := map[config]bool{}
		for w := range ways { // order: into a set
			has := w.carried&(1<<at) != 0
			if w.carried &^= 1 << at; has || ops[e.index].outcome == unknown {
				next[w] = true
			}
		}
		if len(next) == 0 {
			return explain(ops, e.index, ways)
		}
		ways, slots[at] = next, -1
	}
	return ""
}

func order(ends bool) int {
	if ends {
		return 1
	}
	return 0
}

// spread adds the states that result from carrying out calls in flight.
func spread(ways map[config]bool, ops []op, slots *[mostAtOnce]int) {
	var todo []config
	for w := range ways { // order: into a set
		todo = append(todo, w)
	}
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for bit, i := range slots {
			if i < 0 || w.carried&(1<<bit) != 0 {
				continue
			}
			next, may := w.after(&ops[i])
			next.carried |= 1 << bit
			if may && !ways[next] {
				ways[next] = true
				todo = append(todo, next)
			}
		}
	}
}

// after returns what a call makes of an application, and whether it can have that answer.
func (w config) after(o *op) (config, bool) {
	is := &w.life
	if o.kind == look {
		return w.reported(o)
	}
	switch {
	case o.outcome == refused:
		return w, true
	case o.kind == submit:
		if !is.there {
			*is = life{there: true, queue: o.to.queue, priority: o.to.priority}
		}
		return w, true
	case is.final != "":
		return w, true
	case !is.there:
		return w, o.outcome != done
	case o.kind == move:
		is.queue = o.to.queue
	case o.kind == priority:
		is.priority = o.to.priority
	default:
		is.final = o.to.final
	}
	return w, true
}

// reported is after for a report, which changes nothing except what is known about the time of an end.
func (w config) reported(o *op) (config, bool) {
	is := &w.life
	if o.outcome != done {
		return w, true
	}
	if !o.to.there || !is.there {
		return w, o.to.there == is.there
	}
	same := is.final == o.to.final && is.queue == o.to.queue && is.priority == o.to.priority && (is.finished == 0 || is.finished == o.to.finished)
	is.finished = o.to.finished
	return w, same
}

// explain describes the call that fits into no order, and the calls around it.
func explain(ops []op, at int, ways map[config]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "no order of the calls explains this one: %s\n", ops[at])
	for w := range ways { // order: any one will do
		fmt.Fprintf(&b, "\twhat it could have been: %+v\n", w.life)
		break
	}
	for i, o := range ops {
		if d := ops[at].begin - o.end; math.Abs(d.Seconds()) < 30 || o.kind != look {
			mark := " "
			if i == at {
				mark = ">"
			}
			fmt.Fprintf(&b, "\t%s %s\n", mark, o)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String formats a call for people.
func (o op) String() string {
	return fmt.Sprintf("%9.3f–%.3f s %s %s %+v", o.begin.Seconds(), o.end.Seconds(), o.kind, o.outcome, o.to)
}

// known returns the ids assigned so far.
func (h *history) known() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[string]bool, len(h.apps))
	for id := range h.apps { // order: into a set
		out[id] = true
	}
	return out
}
