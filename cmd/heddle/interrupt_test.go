package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
