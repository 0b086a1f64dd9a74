package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTraceIsOfStrings(t *testing.T) {
	file := write(t, t.TempDir(), "jobs.json", `{"job.start.ms": 0, "job.tasks": [{"count": 3, "duration.ms": "4000"}]}
{"job.start.ms": "250", "job.id": "b", "job.tasks": [{"count": 1}, {"count": 2}]}
`)
	jobs, trace, err := readTrace(file)
	want := `{"job.start.ms":"0","job.tasks":[{"count":"3","duration.ms":"4000"}]}
{"job.id":"b","job.start.ms":"250","job.tasks":[{"count":"1"},{"count":"2"}]}
`
	if err != nil || jobs != 2 || string(trace) != want {
		t.Errorf("%d jobs, %v:\n%s", jobs, err, trace)
	}
}

func TestTracesThatAreRefused(t *testing.T) {
	for text, says := range map[string]string{
		``:                     "no jobs",
		`{"job.start.ms": "5"`: "job 1: unexpected EOF",
		`{"job.start.ms": "0"} {"job.start.ms": "99"}`: "job 2: job.start.ms is 99",
		`{"job.id": "a"}`:                         "job 1: job.start.ms is <nil>",
		`{"job.start.ms": "0", "job.count": "2"}`: "job.count is 2",
	} {
		if _, _, err := readTrace(write(t, t.TempDir(), "jobs.json", text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// The log of the simulator of Hadoop 3.4.2 for two applications. The second ends first: its node's heartbeat comes
// between the end of its master and the master's unregistration.
const log = `2026-11-22 21:36:28,226 INFO RMAppImpl: Storing application with id application_1_0001
2026-11-22 21:36:28,227 INFO RMAuditLogger: USER=bob	OPERATION=Submit Application Request	TARGET=ClientRMService	RESULT=SUCCESS	APPID=application_1_0001	CALLERCONTEXT=CLI	QUEUENAME=root.a
2026-11-22 21:36:28,232 INFO RMAppImpl: application_1_0001 State change from NEW to NEW_SAVING on event = START
2026-11-22 21:36:29,300 INFO RMAuditLogger: USER=cy	OPERATION=Submit Application Request	TARGET=ClientRMService	RESULT=SUCCESS	APPID=application_1_0002	CALLERCONTEXT=CLI	QUEUENAME=root.b
2026-11-22 21:36:40,299 INFO AMSimulator: Application application_1_0002 is shutting down.
2026-11-22 21:36:40,300 INFO RMAppImpl: application_1_0002 State change from RUNNING to FINAL_SAVING on event = ATTEMPT_FAILED
2026-11-22 21:36:41,001 INFO RMAppImpl: application_1_0002 State change from FINAL_SAVING to FAILED on event = APP_UPDATE_SAVED
2026-11-22 21:37:28,229 INFO AMSimulator: Application application_1_0001 is shutting down.
2026-11-22 21:37:28,230 INFO RMAppImpl: application_1_0001 State change from RUNNING to FINAL_SAVING on event = ATTEMPT_UNREGISTERED
`

func TestLogIsRead(t *testing.T) {
	r := newReader(2)
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for i, line := range lines {
		if enough, err := r.line(line); err != nil || enough != (i == len(lines)-1) {
			t.Fatalf("line %d: %v, %v", i+1, enough, err)
		}
	}
	file := filepath.Join(t.TempDir(), "fair.csv")
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if want := "job,submit_s,jct_s\n1,0.000,60.003\n2,1.073,11.000\n"; err != nil || string(text) != want {
		t.Errorf("%v:\n%s", err, text)
	}
}

func TestLogsOfRunsThatWentWrong(t *testing.T) {
	const submit = "2026-11-22 21:36:28,227 INFO RMAuditLogger: USER=bob	OPERATION=Submit Application Request	TARGET=ClientRMService	RESULT=SUCCESS	APPID=application_1_0001"
	for line, says := range map[string]string{
		"2026-11-22 21:36:28,245 INFO RMAppImpl: application_1_0001 State change from RUNNING to FINAL_SAVING on event = ATTEMPT_FAILED": "job 1 failed",
		"2026-11-22 21:36:28,245 INFO RMAppImpl: application_1_0001 State change from SUBMITTED to FINAL_SAVING on event = APP_REJECTED": "job 1 failed",
		"2026-11-22 21:36:28,245 ERROR AMRunner: Failed to create an AM: No task for the job!":                                           "No task for the job!",
		"2026-11-22 21:36:28,245 ERROR TaskRunner: Caught exception while executing Taskrunner":                                          "Caught exception",
		submit: "application 1, of 1, twice or too many",
		strings.Replace(submit, "_0001", "_0002", 1):    "application 2, of 1, twice or too many",
		strings.Replace(submit, "2026-11-22", "now", 1): "cannot parse",
	} {
		r := newReader(1)
		if _, err := r.line(submit); err != nil {
			t.Fatal(err)
		}
		if _, err := r.line(line); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", line, err, says)
		}
	}
}

func TestSchedulerIsTheOneConfigured(t *testing.T) {
	one, both, none := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, one, "fair-scheduler.xml", "")
	write(t, both, "fair-scheduler.xml", "")
	write(t, both, "capacity-scheduler.xml", "")
	for _, c := range []struct{ dir, profile, want, says string }{
		{one, "", "fair", ""},
		{both, "capacity", "capacity", ""},
		{both, "", "", "both"},
		{one, "capacity", "", "no capacity-scheduler.xml"},
		{none, "", "", "neither"},
	} {
		s := settings{profile: c.profile}
		err := s.complete([]string{c.dir})
		if c.says == "" && (err != nil || s.profile != c.want || s.nodes != filepath.Join(filepath.Dir(c.dir), "nodes.json")) {
			t.Errorf("%+v: %+v, %v", c, s, err)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v, want %q", c, err, c.says)
		}
	}
	if err := (&settings{}).complete(nil); err == nil {
		t.Error("no folder is accepted")
	}
}

func TestRunsAreKept(t *testing.T) {
	s := settings{dir: t.TempDir(), profile: "fair"}
	for _, want := range []string{"fair.csv", "fair-again.csv", "fair-again-2.csv", "fair-again-3.csv"} {
		if got := s.out(); got != filepath.Join(s.dir, want) {
			t.Errorf("%s, want %s", got, want)
		}
		write(t, s.dir, want, "")
	}
}
