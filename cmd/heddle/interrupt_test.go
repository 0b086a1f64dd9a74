package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"heddle/exp"
	"heddle/policies"
	"heddle/sim"
	"heddle/workload"
)

// A run that is interrupted ends soon, prints what there is, says that this is not all, writes its output files, and
// fails.
func TestInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) { interrupt(t, sig) })
	}
}

func interrupt(t *testing.T, sig syscall.Signal) {
	// 300,000 tasks on two nodes, so that no run is done before the signal comes.
	trace := manyJobs(t, 10)
	rows := filepath.Join(filepath.Dir(trace), "jobs.csv")
	out, said := interrupted(t, sig, func(line string) bool {
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(trace), ".*")); len(left) > 0 {
			t.Errorf("%v would stay if the program were killed now", left)
		}
		return strings.Contains(line, `msg="under way"`)
	}, "sim", "compare", "--profiles", "fifo,fair", "-v", "--world", "given", "--nodes", "2", "--jobs", rows, trace)
	if !strings.Contains(out, "stopped early, after 0 of 10 runs") || !strings.Contains(out, "unfinished") {
		t.Errorf("the result does not say that it is not whole:\n%s", out)
	}
	if !strings.Contains(said, "heddle: "+trace+": stopped early") {
		t.Errorf("stderr does not say that the run was stopped:\n%s", said)
	}
	if text, _ := os.ReadFile(rows); bytes.Count(text, []byte("\n")) < 30_000 {
		t.Errorf("the file of jobs has %d lines", bytes.Count(text, []byte("\n")))
	}
}

// writes is the name of a program that begins to write an output file and does not come to an end.
const writes = "heddle-writes"

// writeForEver is the program that writes names.
func writeForEver() {
	t, err := openTarget("--jobs", os.Args[1], nil)
	must(err)
	must(t.write(func(io.Writer) error {
		say(os.Stderr, "writing")
		stuck()
		return nil
	}))
}

// Of a file that is being written when the program is interrupted, nothing is left.
func TestInterruptedWriting(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		file := filepath.Join(t.TempDir(), "jobs.csv")
		p := &process{t: t}
		p.launch(p, writes, file)
		p.logs("writing")
		during := filesIn(t, filepath.Dir(file))
		code, left := p.end(sig), filesIn(t, filepath.Dir(file))
		if code != exitFailed || len(during) != 1 || len(left) > 0 || !strings.Contains(p.log(), "heddle: stopped while "+file+" was being written") {
			t.Errorf("%v: exit code %d, files %q while it is written and %q afterwards; it says:\n%s", sig, code, during, left, p.log())
		}
	}
}

// filesIn returns the names of the files in a folder.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// The pages of a report are all written, or none, also if it is interrupted while it writes them.
func TestInterruptedReport(t *testing.T) {
	dir := t.TempDir()
	page, figures := filepath.Join(dir, "dress.md"), filepath.Join(dir, "dress.json")
	if err := unix.Mkfifo(figures, 0o600); err != nil { // a writer waits for a reader
		t.Fatal(err)
	}
	reader := func() *os.File {
		f, err := os.OpenFile(figures, os.O_RDWR, 0) // which does not wait for a writer
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := reader()
	p := start(t, "exp", "report", "-v", "--out", dir, "--seeds", "1", "--sweep-seeds", "1", "dress")
	await(t, func() bool { return strings.Contains(p.log(), "msg=done experiment=") })
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { _, err := os.Stat(page); return err == nil })
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	f = reader()
	defer func() { _ = f.Close() }() // it was only read
	plots, err := filepath.Glob(filepath.Join(dir, "plots", "dress-*.svg"))
	if code := p.ends(stopTime); code != exitDone || err != nil {
		t.Errorf("exit code %d, %v:\n%s", code, err, p.log())
	}
	if after, err := filepath.Glob(filepath.Join(dir, "plots", "dress-*.svg")); len(plots) > 0 || len(after) == 0 || err != nil {
		t.Errorf("%d plots when it was interrupted and %d afterwards, %v", len(plots), len(after), err)
	}
}

// await waits until something is so.
func await(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come so far")
		}
	}
}

// If all runs are done and only jobs alone are not, the runs are printed.
func TestInterruptedAlone(t *testing.T) {
	done := false
	out, said := interrupted(t, syscall.SIGINT, func(line string) bool {
		done = done || strings.Contains(line, `msg=done`)
		return done && strings.Contains(line, `msg="under way"`)
	}, "sim", "run", "--profile", "capacity", "-v", "--world", "given", "--nodes", "20", "--node", "64GiB,64", "--clairvoyant", manyJobs(t, 1))
	if !strings.Contains(out, "completed             10,000") || !strings.Contains(out, "mean JCT ÷ bound") || strings.Contains(out, "slowdown") || strings.Contains(out, "unfinished") {
		t.Errorf("the result is not the whole runs alone:\n%s", out)
	}
	if what := "stopped before jobs alone and clairvoyant orders had run"; !strings.Contains(out, what) || !strings.Contains(said, what) {
		t.Errorf("it is not said what is missing:\n%s\n%s", out, said)
	}
}

// If experiments are interrupted, those that are done are printed.
func TestInterruptedExperiments(t *testing.T) {
	out, said := interrupted(t, syscall.SIGINT, func(line string) bool { return strings.Contains(line, "msg=done experiment=coupling-two-greps") },
		"exp", "run", "-v", "--seeds", "1", "coupling-two-greps", "coupling-200-jobs")
	if !strings.Contains(out, "coupling-two-greps: ") || strings.Contains(out, "coupling-200-jobs") || !strings.Contains(said, "1 of 2 experiments are done") {
		t.Errorf("want the first experiment alone, and a note on the second:\n%s\n%s", out, said)
	}
}

// So are the cases of exp run profile.
func TestInterruptedCases(t *testing.T) {
	out, said := interrupted(t, syscall.SIGINT, func(line string) bool { return strings.Contains(line, "msg=ran run=5 ") }, // of the second case
		"exp", "run", "profile", "-v", "--seeds", "1", "--cases", "d")
	if strings.Count(out, "\ndemo ") != 2 || !strings.Contains(out, "Each column is heddle") || !regexp.MustCompile(`heddle: 1 of \d+ cases are done and are printed\n`).MatchString(said) {
		t.Errorf("want the first case, without agents and with them, and a note on the others:\n%s\n%s", out, said)
	}
}

// If no seed was completed, all profiles are shown with what they did of the first one: on several processors, runs of
// other seeds have begun under some of them.
func TestInterruptedInFirstSeed(t *testing.T) {
	cut := func(seed uint64) *sim.Result { return &sim.Result{Seed: seed, Cut: true} }
	e := &experiment{
		input: &input{workload: &workload.Workload{}}, hardware: &hardware{},
		plan: &exp.Plan{Profiles: []*policies.Profile{{Name: "fifo"}, {Name: "fair"}}, Seeds: []uint64{7, 8}},
	}
	c, done := e.comparison([][]*sim.Result{{cut(7), cut(8)}, {cut(7), nil}}, true)
	for _, p := range c.Profiles {
		if done != 0 || len(p.Runs) != 1 || p.Runs[0].Seed != 7 {
			t.Errorf("%s has %d runs, %d are done; want what there is of seed 7", p.Name, len(p.Runs), done)
		}
	}
}

// manyJobs writes a trace of 30,000 jobs with that many tasks each.
func manyJobs(t *testing.T, tasks int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "long.json")
	job := fmt.Sprintf(`{"job.start.ms": 0, "job.count": 1000, "job.tasks": [{"count": %d, "container.duration.ms": 3000, "container.type": "map"}]}`, tasks)
	if err := os.WriteFile(path, []byte(strings.Repeat(job+"\n", 30)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// interrupted runs a command, sends it a signal at the first line on stderr for which when is true, and expects it to
// fail.
func interrupted(t *testing.T, sig syscall.Signal, when func(line string) bool, args ...string) (stdout, stderr string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Args[0] = "heddle"
	var out bytes.Buffer
	cmd.Stdout = &out
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	signalled := false
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if !signalled && when(lines.Text()) {
			signalled = true
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("%v, want exit code %d", err, exitFailed)
	}
	return out.String(), said.String()
}
