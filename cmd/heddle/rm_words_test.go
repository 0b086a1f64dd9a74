package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/rm"
	"heddle/yarn/ids"
)

func TestRemoteWords(t *testing.T) {
	for ms, want := range map[int64]string{-1: "", 0: "0.0 s", 9_400: "9.4 s", 10_792: "11 s", 59_400: "59 s", 59_600: "1 m 0 s", 75_000: "1 m 15 s", 90_061_000: "25 h 1 m"} {
		if got := lasting(ms); got != want {
			t.Errorf("%d ms last %q, want %q", ms, got, want)
		}
	}
	now := time.UnixMilli(1_000_000)
	for ms, want := range map[int64]string{0: "never", 998_000: "2.0 s ago", 1_500_000: "0.0 s ago"} {
		if got := ago(ms, now); got != want {
			t.Errorf("%d is %q, want %q", ms, got, want)
		}
	}
	for a, want := range map[*rm.Amount]string{
		{}:                           "nothing",
		{MemoryMiB: 512}:             "512 MiB",
		{Vcores: 1}:                  "1 vcore",
		{Vcores: 1.5}:                "1.5 vcores",
		{MemoryMiB: 1024, Vcores: 2}: "1 GiB and 2 vcores",
		{MemoryMiB: 1024, Vcores: 2, Extra: map[string]int64{"gpu": 1, "fpga": 2}}: "1 GiB, 2 vcores, 2 fpga and 1 gpu",
	} {
		if got := amountText(*a); got != want {
			t.Errorf("%+v is %q, want %q", *a, got, want)
		}
	}
	for x, want := range map[float64]string{-1: "", 0: "0 %", 20.833: "20.8 %", 100: "100 %", 99.99: "100 %"} {
		if got := percent(x); got != want {
			t.Errorf("%g is %q, want %q", x, got, want)
		}
	}
	for text, want := range map[string]string{"größer": "grö…", "groß": "groß", "日本語": "日…", "日本": "日本", "e\u0301\u0301e\u0301e\u0301e\u0301e": "e\u0301\u0301e\u0301e\u0301…"} {
		if got := snip(text, 4); got != want {
			t.Errorf("%q is snipped to %q, want %q", text, got, want)
		}
	}
}

// A node that has not come back after a start has reported nothing.
func TestNodeThatNeverReported(t *testing.T) {
	var b bytes.Buffer
	err := (&app{out: &b}).printNode(&rm.NodeRow{ID: "n:1", State: "NEW"}, time.Now())
	if err != nil || !strings.Contains(b.String(), "\nhealth checked  never\n") {
		t.Errorf("%v\n%s", err, &b)
	}
}

// What a node agent failed to do to containers of others counts, and the user is told that it is not shown.
func TestFailuresOfOthers(t *testing.T) {
	var out, said bytes.Buffer
	agent := &rm.AgentRow{Failed: []string{"c1: no such group"}, Masked: 2}
	err := (&app{out: &out, err: &said}).printNode(&rm.NodeRow{ID: "n:1", State: "RUNNING", Agent: agent}, time.Now())
	if err != nil || !strings.Contains(out.String(), "3 failed, heard") || !strings.Contains(said.String(), "2 failures of the agent are not shown: access lists are on") {
		t.Errorf("%v\n%s\n%s", err, &out, &said)
	}
}

func TestSummaries(t *testing.T) {
	nothing, waits, comingBack := rm.Explanation{}, rm.Explanation{Pending: make([]rm.PendingAsk, 1)}, rm.Explanation{ComingBack: true}
	for _, x := range []struct {
		row  rm.AppReport
		why  rm.Explanation
		want string
	}{
		{rm.AppReport{State: "NEW_SAVING"}, nothing, "being stored"},
		{rm.AppReport{State: "SUBMITTED"}, nothing, "waits for the scheduler"},
		{rm.AppReport{State: "ACCEPTED", Elapsed: 3000}, waits, "accepted 3.0 s ago and has no master yet."},
		{rm.AppReport{State: "ACCEPTED", Elapsed: 3000, Diagnostics: rm.ComingBack}, nothing, "accepted 3.0 s ago and waits until the ResourceManager has finished recovery"},
		{rm.AppReport{State: "ACCEPTED", Elapsed: 3000}, nothing, "nothing is pending. It was accepted 3.0 s ago; its master has a container"},
		{rm.AppReport{State: "RUNNING", Elapsed: 3000, Containers: 1, Used: rm.Amount{MemoryMiB: 512}}, waits, "it has been running for 3.0 s and holds 1 container, 512 MiB."},
		{rm.AppReport{State: "RUNNING", Elapsed: 3000, Containers: 0}, nothing, "nothing is pending. It has been running for 3.0 s and holds 0 containers."},
		{rm.AppReport{State: "SUBMITTED"}, comingBack, "it waits until the ResourceManager has finished recovery"},
		{rm.AppReport{State: "ACCEPTED", Elapsed: 3000}, comingBack, "accepted 3.0 s ago and waits until the ResourceManager has finished recovery"},
		{rm.AppReport{State: "RUNNING", Elapsed: 3000, Containers: 1}, comingBack, "it has been running for 3.0 s and holds 1 container, nothing. Its requests wait until the ResourceManager has finished recovery"},
		{rm.AppReport{State: "FINISHED", Final: "SUCCEEDED"}, nothing, "it ended as FINISHED, SUCCEEDED. It waits for nothing."},
		{rm.AppReport{State: "FAILED", Final: "FAILED", Diagnostics: "no\nway."}, nothing, "it ended as FAILED: no way. It waits for nothing."},
		{rm.AppReport{State: "STRANGE"}, nothing, "its state is STRANGE."},
	} {
		if got := summary(&x.row, &x.why); !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q in it", x.row.State, got, x.want)
		}
	}
	for _, s := range appStates {
		if strings.Contains(summary(&rm.AppReport{State: rm.AppState(s)}, &rm.Explanation{}), "its state is") {
			t.Errorf("%s has no sentence of its own", s)
		}
	}
}

func anApp(n int32) ids.App { return ids.App{Cluster: 1, Seq: n} }

func TestAskSentences(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	gib := rm.Amount{MemoryMiB: 1024, Vcores: 1}
	for _, x := range []struct {
		ask  rm.PendingAsk
		want []string
		not  string
	}{
		{
			rm.PendingAsk{Kind: "map", Count: 3, Priority: 20, Size: gib, Since: 990_000, Why: "no-room", Text: "other words", Nodes: []rm.NodeGroup{{Why: "no-room", Nodes: 2, Most: rm.Amount{MemoryMiB: 256}}}},
			[]string{"It waits for 3 maps of 1 GiB and 1 vcore each (priority 20), since ", " (10 s ago): no node has room for one.", "All 2 nodes have too little free (at most 256 MiB free)."},
			"other words",
		},
		{rm.PendingAsk{Kind: "am", Count: 1, Size: gib, Need: gib, Short: gib, Why: "am-limit", Nodes: []rm.NodeGroup{{Why: "node-gone", Nodes: 2, Most: gib}}}, []string{": no node is up.\n", "All 2 nodes are down."}, "needs"},
		{rm.PendingAsk{Kind: "executor", Count: 1, Size: gib, Why: "fine"}, []string{"1 executor of 1 GiB and 1 vcore (priority 0): there is no node."}, "since"},
		{
			rm.PendingAsk{Kind: "other", Count: 2, Size: gib, Why: "fine", Nodes: []rm.NodeGroup{{Why: "node-gone", Nodes: 1}, {Why: "fine", Nodes: 2, Most: gib}}},
			[]string{"2 containers of", ": it is given one as soon as the right node reports in.\n", "Of 3 nodes, 2 would take one when they next report in (at most 1 GiB and 1 vcore free); 1 is down."},
			"",
		},
		{
			rm.PendingAsk{Kind: "am", Count: 1, Size: gib, Why: "new-reason", Text: "1 master of 1 GiB: the moon is full.", Nodes: []rm.NodeGroup{{Why: "new-reason", Nodes: 1, Most: gib}}},
			[]string{"(priority 0): the moon is full.\n", "Of 1 node, 1 answers new-reason."},
			"",
		},
		{
			rm.PendingAsk{Kind: "map", Count: 1, Size: gib, Why: "user-limit", Short: rm.Amount{MemoryMiB: 512}, Need: gib, Have: rm.Amount{MemoryMiB: 512, Vcores: 4}, Nodes: []rm.NodeGroup{{Why: "no-room", Nodes: 1, Most: gib}}, Holders: []rm.Holder{
				{App: anApp(1), Name: "a\nb", User: "ada", Used: gib}, {App: anApp(2), Used: gib}, {App: anApp(3), Name: "c", Used: gib}, {App: anApp(4), Name: "d", Used: gib},
			}},
			[]string{
				"its user is at the limit of the queue.", "  Memory is short: one needs 1 GiB, and at most 512 MiB is left for it.\n",
				`Most of it is held by application_1_0001 "a\nb" of ada (1 GiB and 1 vcore), application_1_0002 (1 GiB and 1 vcore), application_1_0003`,
			},
			"application_1_0004",
		},
		{
			rm.PendingAsk{Kind: "map", Count: 1, Size: gib, Why: "fine", Nodes: []rm.NodeGroup{{Why: "no-room", Nodes: 1, Most: gib}, {Why: "node-reserved", Policy: "book: backfill", Nodes: 2, Most: gib, Until: 1_012_000}}},
			[]string{"2 are reserved for other requests, beside which may run what is expected to end within 12 s, says book: backfill"},
			"says place",
		},
		{rm.PendingAsk{Kind: "map", Count: 1, Size: gib, Why: "wait-local", Nodes: []rm.NodeGroup{{Why: "wait-local", Policy: "place.map: delay", Nodes: 1, Most: gib}}, Holders: []rm.Holder{{App: anApp(1), Name: "a", User: "ada", Used: gib}}}, []string{"it waits for a node that holds its data", "1 is passed over for one that holds its data, says place.map: delay."}, "held by"},
		{
			rm.PendingAsk{
				Kind: "map", Count: 1, Size: gib, Why: "no-room", Need: rm.Amount{MemoryMiB: 512, Vcores: 2, Extra: map[string]int64{"gpu": 2}},
				Have: rm.Amount{MemoryMiB: 512, Vcores: 0.5, Extra: map[string]int64{"gpu": 1}}, Short: rm.Amount{Vcores: 1.5, Extra: map[string]int64{"gpu": 1}},
				Nodes: []rm.NodeGroup{{Why: "no-room", Nodes: 1, Most: gib}},
			},
			[]string{"  vcores are short: one needs 2, and at most 0.5 are left for it.\n  gpu is short: one needs 2, and at most 1 is left for it.\n"},
			"Memory",
		},
		{
			rm.PendingAsk{
				Kind: "reduce", Count: 1, Size: gib, Why: "gate-closed", Policy: "gate.reduce: slowstart", Nodes: []rm.NodeGroup{{Why: "fine", Nodes: 1, Most: gib}},
				Limit: &rm.Limit{What: "maps done", Of: "in the application", UsedN: 1, MostN: 5, Least: true, By: []string{"completed = 0.5"}, Note: "Soon."},
			},
			[]string{"  Refused by gate.reduce: slowstart.\n  Maps done in the application: 1 of at least 5, set by completed = 0.5. Soon.\n", "Of 1 node, 1 has room for one"},
			"as soon as",
		},
	} {
		got := askSentences(&x.ask, "root.a", now)
		for _, want := range x.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", x.ask.Why, want, got)
			}
		}
		if x.not != "" && strings.Contains(got, x.not) {
			t.Errorf("%s: %q is in\n%s", x.ask.Why, x.not, got)
		}
	}
}

func TestWordFlags(t *testing.T) {
	w := words{of: appStates}
	if err := w.Set("running, Killed"); err != nil || !slices.Equal(w.values, []string{"RUNNING", "KILLED"}) {
		t.Errorf("%v, %v", w.values, err)
	}
	for _, bad := range []string{"", "RUNNING,", "UP"} {
		if err := w.Set(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	free := words{}
	if err := free.Set("a,,b"); err == nil {
		t.Error("a name may be missing")
	}
}

func TestOneQueue(t *testing.T) {
	rows := make([]rm.QueueReport, 4)
	for i, path := range []string{"root", "root.a", "root.a.x", "root.b.x"} {
		rows[i].Path = path
	}
	for name, want := range map[string]string{"root": "root", "a": "root.a", "root.b.x": "root.b.x"} {
		if got, err := oneQueue(rows, name); err != nil || got.Path != want {
			t.Errorf("%s is %v, %v; want %s", name, got, err, want)
		}
	}
	if _, err := oneQueue(rows, "x"); err == nil || !strings.Contains(err.Error(), "root.a.x or root.b.x") {
		t.Errorf("%v, want the queues it could be", err)
	}
	if _, err := oneQueue(rows, "a.x"); err == nil {
		t.Error("part of a path is no name")
	}
}
