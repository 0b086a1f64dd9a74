package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// asked returns settings for two rounds of one mix under one scheduler of the stock ResourceManager and one of
// Heddle's.
func asked(dir string) settings {
	return settings{mixRuns: 2, only: "coupling", stock: "fair", profiles: "heddle", dir: dir}
}

func named(list []turn) string {
	var names []string
	for _, t := range list {
		names = append(names, strings.TrimPrefix(t.name(), "coupling/"))
	}
	return strings.Join(names, " ")
}

// Turns alternate, and kept ones are not repeated.
func TestMeasurementGoesOn(t *testing.T) {
	s := asked(t.TempDir())
	k := &shelf{dir: s.dir}
	if got, want := named(s.turns()), "stock-fair-1 heddle-heddle-1 stock-fair-2 heddle-heddle-2"; got != want {
		t.Fatalf("turns are %s, want %s", got, want)
	}
	for i, r := range []mixResult{{Makespan: 60}, {Makespan: 50, Program: "a"}} {
		if err := k.write(s.turns()[i], r); err != nil {
			t.Fatal(err)
		}
	}
	left, err := (&shelf{dir: s.dir}).missing(s.turns())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := named(left), "stock-fair-2 heddle-heddle-2"; got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
}

// Runs of two heddle programs do not belong together: neither is one kept beside the other, nor are existing ones
// mistaken for one's own.
func TestOneProgram(t *testing.T) {
	s := asked(t.TempDir())
	k := &shelf{dir: s.dir}
	for i, program := range []string{"", "a", "", "b"} {
		err := k.write(s.turns()[i], mixResult{Program: program})
		if refused := err != nil; refused != (program == "b") {
			t.Errorf("run %d of program %q: %v", i, program, err)
		}
	}
	if _, err := (&shelf{dir: s.dir, program: "b"}).missing(s.turns()); err == nil {
		t.Error("runs of a are taken for runs of b")
	}
}

// Runs of a mix that has changed since are not mistaken for runs of the current one.
func TestMixThatChanged(t *testing.T) {
	s := asked(t.TempDir())
	k := &shelf{dir: s.dir}
	old := s.turns()[0]
	old.mix.jobs = old.mix.jobs[1:]
	if err := k.write(old, mixResult{}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.missing(s.turns()); err == nil || !strings.Contains(err.Error(), k.file(old)) {
		t.Errorf("a run of other jobs is taken: %v", err)
	}
}

// Each job of a mix has its own name, and each Spark job a program that is here.
func TestJobsOfMixes(t *testing.T) {
	for _, m := range mixes() {
		seen := map[string]bool{}
		for _, j := range m.jobs {
			if seen[j.name] {
				t.Errorf("%s has two jobs %s", m.name, j.name)
			}
			seen[j.name] = true
			here := func(word string) bool {
				_, err := programs.ReadFile(word)
				return err == nil
			}
			if got := slices.ContainsFunc(strings.Fields(j.line), here); got != j.spark() {
				t.Errorf("%s: %s names a program that is here: %v", m.name, j.line, got)
			}
		}
	}
}

// Without control groups, a mix that shares few processors does not run.
func TestMixThatNeedsGroups(t *testing.T) {
	s := settings{mixRuns: 1, only: "mrorchestrator", stock: "fair"}
	if got := len(s.turns()); got != 0 {
		t.Errorf("%d turns without groups, want none", got)
	}
	s.groups = true
	if got, want := len(s.turns()), 4; got != want {
		t.Errorf("%d turns, want %d", got, want)
	}
}

// A mix defines the schedulers it runs under, unless the command line does.
func TestArms(t *testing.T) {
	for _, m := range mixes() {
		s := settings{mixRuns: 1, only: m.name, stock: "capacity,fair", groups: true}
		got, want := named(s.turns()), "stock-capacity-1 stock-fair-1"
		for p := range strings.SplitSeq(m.profiles, ",") {
			want += " heddle-" + p + "-1"
		}
		if got = strings.ReplaceAll(got, m.name+"/", ""); got != want {
			t.Errorf("%s runs under %s, want %s", m.name, got, want)
		}
		for _, o := range s.under(m)[1:] {
			if !maps.Equal(o.Scheduler, s.under(m)[0].Scheduler) {
				t.Errorf("%s: the queues of %s %s are others", m.name, o.RM, o.Profile)
			}
		}
	}
}

// A name gives the profile, its change, and whether there are agents. If there cannot be agents, those arms are left
// out.
func TestNamesOfProfiles(t *testing.T) {
	s := settings{mixRuns: 1, only: "coupling", profiles: "heddle,heddle+agent,ikayak-suspend+agent", groups: true}
	if got, want := named(s.turns()), "heddle-heddle-1 heddle-heddle+agent-1 heddle-ikayak-suspend+agent-1"; got != want {
		t.Errorf("turns are %s, want %s", got, want)
	}
	last := s.turns()[2].under
	if !last.Agents || last.Profile != "ikayak" || len(last.Set) != 1 {
		t.Errorf("the last is %+v, want ikayak with a change and agents", last)
	}
	if got, want := (arm{under: last}).name(), "heddle ikayak-suspend with agents"; got != want {
		t.Errorf("it is called %s, want %s", got, want)
	}
	s.groups = false
	if got, want := named(s.turns()), "heddle-heddle-1"; got != want {
		t.Errorf("without groups turns are %s, want %s", got, want)
	}
}

// A failed run is repeated, and left out once it has failed too often.
func TestRunThatFails(t *testing.T) {
	s := asked(t.TempDir())
	k := &shelf{dir: s.dir}
	for try := range tries {
		left, err := k.missing(s.turns())
		if err != nil || len(left) != 4 {
			t.Fatalf("after %d failures %d runs are left, want 4: %v", try, len(left), err)
		}
		if err := k.failed(s.turns()[3], errors.New("no\nanswer")); err != nil {
			t.Fatal(err)
		}
	}
	left, err := k.missing(s.turns())
	if err != nil || len(left) != 3 {
		t.Fatalf("%d runs are left, want 3: %v", len(left), err)
	}
	for _, turn := range left {
		if err := k.write(turn, result(1)); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := k.tables(s, &out); err != nil {
		t.Fatal(err)
	}
	if want := "heddle heddle: 3 runs were given up"; !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "| heddle heddle | 1 |") {
		t.Errorf("not %s, and 1 run, in\n%s", want, out.String())
	}
}

// result returns a run of the mix coupling in which everything takes a multiple of x.
func result(x float64) mixResult {
	waits := map[string]float64{"small-1": x, "small-2": 3 * x, "large-1": 2 * x, "large-2": 4 * x}
	return mixResult{Wait: waits, Completion: map[string]float64{"small-1": 5 * x, "small-2": 5 * x, "large-1": 7 * x, "large-2": 9 * x}, Makespan: 10 * x}
}

// The tables have the medians over runs of the mean over the jobs of a class, compared with the better stock scheduler;
// what is worse than that comes first.
func TestTables(t *testing.T) {
	s := asked(t.TempDir())
	s.stock = "capacity,fair"
	k := &shelf{dir: s.dir}
	scale := map[string]float64{"capacity": 10, "fair": 8, "heddle": 6}
	for _, turn := range s.turns() {
		r := result(scale[turn.under.Profile] * float64(turn.round))
		if turn.under.Profile == "heddle" {
			r.Makespan *= 2
		}
		if err := k.write(turn, r); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := k.tables(s, &out); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, line := range []string{
		"Worse than under the better one of the stock schedulers: heddle heddle, makespan +50 % (fair).",
		"|  | runs | large: wait | large: completion | small: wait | small: completion | all: completion | makespan |",
		"| stock capacity | 2 | 45.0 (30.0 to 60.0) | 120.0 (80.0 to 160.0) | 30.0 (20.0 to 40.0) | 75.0 (50.0 to 100.0) | 97.5 (65.0 to 130.0) | 150.0 (100.0 to 200.0) |",
		"|  | large: wait | large: completion | small: wait | small: completion | all: completion | makespan |",
		"| heddle heddle | -25 % (fair) | -25 % (fair) | -25 % (fair) | -25 % (fair) | -25 % (fair) | +50 % (fair) |",
	} {
		found := strings.Index(out.String()[at:], line+"\n")
		if found < 0 {
			t.Fatalf("no line %s, or not there, in\n%s", line, out.String())
		}
		at += found
	}
	if err := os.Remove(filepath.Join(s.dir, "coupling", "stock-fair-2.json")); err != nil {
		t.Fatal(err)
	}
	if err := k.tables(s, &out); err == nil {
		t.Error("there is a table although a run is missing")
	}
}
