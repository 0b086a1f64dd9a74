// Command recordsls records what Hadoop's own CapacityScheduler or FairScheduler does with a workload, for comparison
// with ours: it runs the Scheduler Load Simulator on the workload in wall-clock time, and writes when each job was
// submitted and how long it took.
//
//	go run ./test/hadoop/recordsls [-profile P] DIR
//
// It knows the simulator's trace and the ResourceManager's log; package hadoop fetches and runs the simulator.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"heddle/internal/testkit/hadoop"
)

// settings are the settings of the command line.
type settings struct {
	dir     string // of the workload and of the recording
	profile string
	nodes   string
	within  time.Duration
}

func main() {
	var s settings
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "recordsls [flags] DIR: runs DIR/jobs.json under the configuration in DIR and writes DIR/capacity.csv or DIR/fair.csv; further runs are -again.csv, -again-2.csv and so on")
		flag.PrintDefaults()
	}
	flag.StringVar(&s.profile, "profile", "", "capacity or fair; default: the one that DIR has a configuration file of")
	flag.StringVar(&s.nodes, "nodes", "", "the list of the nodes; default: nodes.json beside DIR")
	flag.DurationVar(&s.within, "within", 10*time.Minute, "give up when not all jobs have ended after this")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := s.complete(flag.Args())
	if err == nil {
		err = record(ctx, s)
	}
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "recordsls:", err)
		os.Exit(1)
	}
}

// complete checks the settings and fills in defaults.
func (s *settings) complete(args []string) error {
	if len(args) != 1 {
		return errors.New("name one folder that holds jobs.json and a scheduler's configuration")
	}
	var err error
	if s.dir, err = filepath.Abs(args[0]); err != nil {
		return err
	}
	if s.nodes == "" {
		s.nodes = filepath.Join(s.dir, "..", "nodes.json")
	}
	if s.nodes, err = filepath.Abs(s.nodes); err != nil {
		return err
	}
	var has []string
	for _, profile := range []string{"capacity", "fair"} {
		if _, err := os.Stat(filepath.Join(s.dir, profile+"-scheduler.xml")); err == nil && (s.profile == "" || s.profile == profile) {
			has = append(has, profile)
		}
	}
	switch {
	case len(has) == 1:
		s.profile = has[0]
		return nil
	case len(has) == 2:
		return fmt.Errorf("%s has the configuration of both schedulers: say which with -profile", s.dir)
	case s.profile == "":
		return fmt.Errorf("%s has neither capacity-scheduler.xml nor fair-scheduler.xml", s.dir)
	default:
		return fmt.Errorf("%s has no %s-scheduler.xml", s.dir, s.profile)
	}
}

// record runs the workload and writes the result.
func record(ctx context.Context, s settings) error {
	cache, err := hadoop.OpenCache()
	if err != nil {
		return err
	}
	jobs, trace, err := readTrace(filepath.Join(s.dir, "jobs.json"))
	if err != nil {
		return err
	}
	if err := cache.FetchLoadSimulator(ctx); err != nil {
		return err
	}
	run, err := os.MkdirTemp("", "recordsls-")
	if err != nil {
		return err
	}
	l := hadoop.LoadSimulation{Cache: cache, Dir: filepath.Join(run, "run"), Conf: s.dir, Jobs: filepath.Join(run, "jobs.json"), Nodes: s.nodes, Profile: s.profile}
	if err := os.WriteFile(l.Jobs, trace, 0o644); err != nil {
		return err
	}
	fmt.Println(jobs, "jobs; the log is", l.LogFile())
	ctx, cancel := context.WithTimeoutCause(ctx, s.within, fmt.Errorf("not all jobs ended within %v", s.within))
	defer cancel()
	r := newReader(jobs)
	if err := l.Run(ctx, r.line); err != nil {
		return err
	}
	out := s.out()
	if err := r.write(out); err != nil {
		return err
	}
	fmt.Println("wrote", out)
	return os.RemoveAll(run)
}

// out returns the first file name that no earlier run has used.
func (s *settings) out() string {
	for n := 0; ; n++ {
		name := s.profile + ".csv"
		switch {
		case n == 1:
			name = s.profile + "-again.csv"
		case n > 1:
			name = fmt.Sprintf("%s-again-%d.csv", s.profile, n)
		}
		file := filepath.Join(s.dir, name)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return file
		}
	}
}
