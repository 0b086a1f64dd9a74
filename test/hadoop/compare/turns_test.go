package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asked is two rounds of one mix under one scheduler of the stock ResourceManager and one of heddle's.
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

// Turns alternate, and those that are kept are not made again.
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

// Runs of two heddle programs are no set: neither is one kept beside the other, nor are those there taken for one's own.
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

// Runs of a mix that has changed since are not taken for runs of the one there is.
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

// The table has a row for each scheduler, with medians over the jobs of a size in all runs.
func TestTables(t *testing.T) {
	s := asked(t.TempDir())
	k := &shelf{dir: s.dir}
	for i, turn := range s.turns() {
		x := float64(10 * (i + 1))
		jobs := map[string]float64{"small-1": x, "large-1": 2 * x, "large-2": 4 * x}
		if err := k.write(turn, mixResult{Wait: jobs, Completion: jobs, Makespan: 5 * x}); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := k.tables(s, &out); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"| stock fair | 2 | 20.0 (10.0 to 30.0) | 20.0 (10.0 to 30.0) | 50.0 (20.0 to 120.0) | 50.0 (20.0 to 120.0) | 100.0 (50.0 to 150.0) |",
		"| heddle heddle | 2 | 30.0 (20.0 to 40.0) | 30.0 (20.0 to 40.0) | 80.0 (40.0 to 160.0) | 80.0 (40.0 to 160.0) | 150.0 (100.0 to 200.0) |",
	} {
		if !strings.Contains(out.String(), row+"\n") {
			t.Errorf("no row %s in\n%s", row, out.String())
		}
	}
	if err := os.Remove(filepath.Join(s.dir, "coupling", "stock-fair-2.json")); err != nil {
		t.Fatal(err)
	}
	if err := k.tables(s, &out); err == nil {
		t.Error("there is a table although a run is missing")
	}
}
