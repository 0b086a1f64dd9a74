package rm

import (
	"math/bits"
	"strings"

	"heddle"
)

// JobFacts is what policies know of an application from its submission on, beside its requests: [heddle.Facts] for
// reports. Unknown values are 0.
type JobFacts struct {
	Maps    int32      `json:"maps"` // in total
	Reduces int32      `json:"reduces"`
	Input   int64      `json:"input_bytes"` // of all maps
	Demand  JobDemand  `json:"demand"`
	Last    *LastFacts `json:"last,omitempty"` // nil if none is remembered
}

// A JobDemand is what an application's tasks hold at once if it gets everything it will ask for.
type JobDemand struct {
	Containers int32  `json:"containers"`
	Each       Amount `json:"each"`
}

// LastFacts describes the last applications of the same user and name: [heddle.LastRun] for reports.
type LastFacts struct {
	First      Amount `json:"first"` // first request of the last one, beside its master
	Most       Amount `json:"most"`  // the most that one of the last two held and asked for at once, beside its master
	Containers int32  `json:"containers"`
	Heap       int64  `json:"heap_mib"`    // largest live heap of the last master
	Outside    int64  `json:"outside_mib"` // what its process used beside its heap
	Maps       int32  `json:"maps"`        // maps of this master's job
}

// job returns what is known of an application from its submission on, or nil if nothing is.
func (r Reports) job(a *app) *JobFacts {
	v := r.m.core.View().App(a.aid)
	if v == nil {
		return nil
	}
	f := v.Facts()
	out := JobFacts{
		Maps: f.Maps, Reduces: f.Reduces, Input: f.InputBytes, Demand: JobDemand{f.Demand.Containers, r.amount(f.Demand.Each)},
	}
	if l := f.Last; l != (heddle.LastRun{}) {
		out.Last = &LastFacts{r.amount(l.First), r.amount(l.Most), l.Containers, l.Heap, l.Outside, l.Maps}
	} else if f.Maps == 0 && f.Reduces == 0 && f.InputBytes == 0 && f.Demand.Containers == 0 {
		return nil
	}
	return &out
}

// age returns how long ago something was, in milliseconds; −1 for never.
func (r Reports) age(at heddle.Time) int64 {
	if at == never {
		return -1
	}
	return int64(r.at.Since(at)) / 1e6
}

// Words formats figures for a text.
type Words struct {
	Amount  func(Amount) string
	Bytes   func(int64) string
	Lasting func(ms int64) string
}

// Text says what was known of an application at its submission; "" for nothing.
func (j *JobFacts) Text(w Words) string {
	if j == nil {
		return ""
	}
	var parts []string
	if j.Maps > 0 || j.Reduces > 0 {
		parts = append(parts, number(int64(j.Maps), "map")+" and "+number(int64(j.Reduces), "reduce"))
	}
	if j.Input > 0 {
		parts = append(parts, w.Bytes(j.Input)+" of input")
	}
	if d := j.Demand; d.Containers > 0 {
		parts = append(parts, "at most "+number(int64(d.Containers), "container")+" of "+w.Amount(d.Each)+" at once")
	}
	return strings.Join(parts, ", ")
}

// Text describes the last applications of the same user and name; "" if there is nothing to say.
func (l *LastFacts) Text(w Words) string {
	if l == nil {
		return ""
	}
	var parts []string
	if !l.First.IsZero() {
		parts = append(parts, "the last one asked for "+w.Amount(l.First)+" first")
	}
	if l.Containers > 0 {
		parts = append(parts, "one of the last two wanted "+number(int64(l.Containers), "container")+" at once, "+w.Amount(l.Most)+" together")
	}
	if l.Heap > 0 {
		s := "the last master's heap held " + w.Bytes(l.Heap<<20)
		if l.Maps > 0 {
			s += " with " + number(int64(l.Maps), "map")
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// Text says what an application's master told, and how long ago; "" if it is not asked.
func (k *Known) Text(w Words) string {
	switch {
	case k == nil:
		return ""
	case k.Age < 0:
		return "nothing yet"
	}
	var parts []string
	if k.Running > 0 {
		parts = append(parts, text("%s, %d", runs(k.Running), k.Progress)+" % done on average")
	}
	if k.Done > 0 {
		s := number(int64(k.Done), "task") + " ended well"
		if k.Measured > 0 {
			s += text(", and the usage of %d of them is known", k.Measured)
		}
		parts = append(parts, s)
	}
	if k.Active > 0 || k.Blocks > 0 {
		parts = append(parts, text("%s in its executors, which store %s", runs(k.Active), w.Bytes(k.Blocks<<20)))
	}
	if len(parts) == 0 {
		parts = append(parts, "no task runs")
	}
	s := text("%s (%s ago)", strings.Join(parts, "; "), w.Lasting(k.Age))
	if k.Heap > 0 && k.HeapAge >= 0 {
		s += text("; its heap holds %s (%s ago)", w.Bytes(k.Heap<<20), w.Lasting(k.HeapAge))
	}
	return s
}

// runs says how many tasks run.
func runs(n int) string {
	if n == 1 {
		return "1 task runs"
	}
	return text("%d tasks run", n)
}

// number returns a count with its noun.
func number(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return text("%d %s", n, what)
}

// lacks says what a node without a capability does not do to containers, by its place in [heddle.Caps].
var lacks = [heddle.NumCaps]string{
	"run a container in less than it asked for", "change the size of a running container", "lend what suspended containers hold",
	"keep a suspended container from using what others want", "give a running container another part of busy processors",
	"keep a suspended container from running at all", "bound what a running container uses of idle processors",
	"have a running container's caches give way to its limit",
	"have the memory of a running process follow its container's size",
}

// CapText says in words what a node with the named capability of [heddle.Caps] does; an unknown name stands for itself.
func CapText(name string) string {
	if c, ok := heddle.CapOf(name); ok {
		return lacks[bits.TrailingZeros16(uint16(c))]
	}
	return name
}
