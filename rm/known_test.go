package rm

import (
	"reflect"
	"strconv"
	"testing"

	"heddle"
)

// What is known is put into words, each part only if there is something to say.
func TestKnownInWords(t *testing.T) {
	w := Words{
		Amount: func(a Amount) string { return "<" + strconv.FormatInt(a.MemoryMiB, 10) + ">" }, Bytes: func(n int64) string { return strconv.FormatInt(n>>20, 10) + " MiB" },
		Lasting: func(ms int64) string { return strconv.FormatInt(ms, 10) + " ms" },
	}
	one := Amount{MemoryMiB: 512, Vcores: 1}
	for _, x := range []struct {
		from interface{ Text(Words) string }
		want string
	}{
		{(*JobFacts)(nil), ""},
		{&JobFacts{Last: &LastFacts{Heap: 1}}, ""},
		{&JobFacts{Maps: 1, Reduces: 2, Input: 3 << 20}, "1 map and 2 reduces, 3 MiB of input"},
		{&JobFacts{Demand: JobDemand{Containers: 4, Each: one}}, "at most 4 containers of <512> at once"},
		{(*LastFacts)(nil), ""},
		{&LastFacts{First: one, Most: one, Containers: 1}, "the last one asked for <512> first; one of the last two wanted 1 container at once, <512> together"},
		{&LastFacts{Heap: 22}, "the last master's heap held 22 MiB"},
		{&LastFacts{Heap: 22, Maps: 24}, "the last master's heap held 22 MiB with 24 maps"},
		{(*Known)(nil), ""},
		{&Known{Age: -1, HeapAge: -1, Failed: "no"}, "nothing yet"},
		{&Known{Age: 5, HeapAge: -1}, "no task runs (5 ms ago)"},
		{&Known{Age: 5, HeapAge: -1, Running: 1, Progress: 40, Done: 1}, "1 task runs, 40 % done on average; 1 task ended well (5 ms ago)"},
		{&Known{Age: 5, HeapAge: 7, Done: 9, Measured: 8, Heap: 24}, "9 tasks ended well, and the usage of 8 of them is known (5 ms ago); its heap holds 24 MiB (7 ms ago)"},
		{&Known{Age: 5, HeapAge: -1, Active: 2, Blocks: 30}, "2 tasks run in its executors, which store 30 MiB (5 ms ago)"},
	} {
		if got := x.from.Text(w); got != x.want {
			t.Errorf("%+v is %q, want %q", x.from, got, x.want)
		}
	}
}

// Each capability of nodes has its own words.
func TestCapTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range heddle.AllCaps.Names() {
		if s := CapText(name); s == "" || s == name || seen[s] {
			t.Errorf("%s is %q", name, s)
		} else {
			seen[s] = true
		}
	}
	if got := CapText("flies"); got != "flies" {
		t.Errorf("what is not known is %q", got)
	}
}

// The results of the last application of a user and name are told with the next one.
func TestLastIsTold(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	home := w.node("n1", 16384, 16)
	w.once("ann", "sort", home, 3)
	m, _ := w.submitNamed("ann", "sort", home)
	e, err := w.m.Reports().Why(m.who.Attempt.App)
	want := LastFacts{First: AmountOf(each.Times(3)), Most: AmountOf(each.Times(3)), Containers: 3}
	if err != nil || e.Job == nil || e.Job.Last == nil || !reflect.DeepEqual(*e.Job.Last, want) {
		t.Errorf("%+v, %v; want last %+v", e.Job, err, want)
	}
}
