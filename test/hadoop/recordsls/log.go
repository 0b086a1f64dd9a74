package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"
)

// stamp is the format of the time at the beginning of a log line.
const stamp = "2006-01-02 15:04:05,000"

// The log lines about an application, with their time and its number.
var (
	submitted = regexp.MustCompile(`^(\S+ \S+) INFO RMAuditLogger: .*OPERATION=Submit Application Request\t.*RESULT=SUCCESS\tAPPID=application_\d+_(\d+)\b`)
	leaves    = regexp.MustCompile(`^(\S+ \S+) INFO AMSimulator: Application application_\d+_(\d+) is shutting down`)
	ended     = regexp.MustCompile(`^(\S+ \S+) INFO RMAppImpl: application_\d+_(\d+) State change from \S+ to \S+ on event = (?:ATTEMPT_UNREGISTERED|ATTEMPT_FAILED|ATTEMPT_KILLED|APP_REJECTED|KILL)$`)
	gaveUp    = regexp.MustCompile(`ERROR (?:AMRunner|TaskRunner): (.*)`) // a job that is not read or not accepted
)

// A reader reads from the log when each job was submitted and when its master unregistered.
//
// A simulated master first gives its container back and then unregisters. If its node's heartbeat comes in between, the
// ResourceManager considers it failed, which makes no difference: all of the job has run.
type reader struct {
	begin, leave, end []time.Time // by job
	left              int         // jobs that have not ended
}

func newReader(jobs int) *reader {
	return &reader{begin: make([]time.Time, jobs), leave: make([]time.Time, jobs), end: make([]time.Time, jobs), left: jobs}
}

// line reads a line of the log and reports whether every job has ended. It returns an error if a job ended before its
// master had seen all of it, or never began.
func (r *reader) line(text string) (enough bool, err error) {
	if m := submitted.FindStringSubmatch(text); m != nil {
		_, err := note(r.begin, m)
		return false, err
	}
	if m := leaves.FindStringSubmatch(text); m != nil {
		_, err := note(r.leave, m)
		return false, err
	}
	if m := ended.FindStringSubmatch(text); m != nil {
		job, err := note(r.end, m)
		if err == nil && r.leave[job].IsZero() {
			err = fmt.Errorf("job %d failed: %s", job+1, text)
		}
		r.left--
		return r.left == 0, err
	}
	if m := gaveUp.FindStringSubmatch(text); m != nil {
		return false, fmt.Errorf("the simulator gives a job up: %s", m[1])
	}
	return false, nil
}

// note records the time of a line for its job.
func note(of []time.Time, m []string) (job int, err error) {
	at, err := time.Parse(stamp, m[1])
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return 0, err
	}
	if n < 1 || n > len(of) || !of[n-1].IsZero() {
		return 0, fmt.Errorf("application %d, of %d, twice or too many", n, len(of))
	}
	of[n-1] = at
	return n - 1, nil
}

// write writes one row per job: its number, its submission time after the first job's, and its completion time, both in
// seconds.
func (r *reader) write(file string) error {
	var out bytes.Buffer
	out.WriteString("job,submit_s,jct_s\n")
	for i, at := range r.begin {
		fmt.Fprintf(&out, "%d,%.3f,%.3f\n", i+1, at.Sub(r.begin[0]).Seconds(), r.end[i].Sub(at).Seconds())
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}
