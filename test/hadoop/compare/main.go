// Command compare measures heddle rm and Hadoop's own ResourceManager on the same real cluster, with the same jobs, in
// turns, and writes the medians and spreads as Markdown. It keeps runs of mixes as files, so that a measurement
// continues where it stopped.
//
// It knows what is measured and how it is shown. It draws no conclusions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"heddle/internal/testkit/hadoop"
)

// settings are the settings of the command line.
type settings struct {
	runs, mixRuns int
	atMost        int
	only          string
	stock         string
	profiles      string
	groups        bool // whether there can be control groups for agents
	binary, out   string
	dir           string
	log           *slog.Logger
}

func main() {
	s := settings{log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flag.IntVar(&s.runs, "runs", 5, "how often each job runs on each ResourceManager")
	flag.IntVar(&s.mixRuns, "mix-runs", 5, "how often each mix runs under each profile")
	flag.IntVar(&s.atMost, "at-most", 0, "make at most so many runs of mixes that are not kept yet; 0: all of them")
	flag.StringVar(&s.only, "only", "", "what to measure, a list of jobs, "+strings.Join(mixNames(), ", ")+" (default: all)")
	flag.StringVar(&s.stock, "stock", "capacity,fair", "the stock ResourceManager's schedulers that the mixes run under")
	flag.StringVar(&s.profiles, "profiles", "", "heddle's profiles that the mixes run under, with node agents where +agent follows: heddle,heddle+agent (default: those of each mix)")
	flag.StringVar(&s.binary, "binary", "", "the heddle program; it is built where none is named")
	flag.StringVar(&s.dir, "dir", "", "the folder that runs of mixes are kept in (default: compare-runs in the testbed's cache)")
	flag.StringVar(&s.out, "o", "", "the file to write; default: standard output")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := compare(ctx, s)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// check refuses settings whose errors would otherwise appear only an hour later.
func (s *settings) check() error {
	for name := range strings.SplitSeq(s.only, ",") {
		if known := append(mixNames(), "jobs", ""); !slices.Contains(known, name) {
			return fmt.Errorf("-only %s: not jobs, %s", name, strings.Join(mixNames(), ", "))
		}
	}
	if s.runs < 1 || s.mixRuns < 1 || s.atMost < 0 {
		return fmt.Errorf("-runs %d -mix-runs %d -at-most %d: not at least 1, 1 and 0", s.runs, s.mixRuns, s.atMost)
	}
	if s.binary != "" { // it is started in another folder
		var err error
		if s.binary, err = filepath.Abs(s.binary); err != nil {
			return err
		}
	}
	if s.groups = canConfine(); !s.groups {
		s.log.Warn("what has agents or a fixed number of processors is left out: it needs control groups of version 1, and to be root")
	}
	if s.dir == "" {
		cache, err := hadoop.OpenCache()
		if err != nil {
			return err
		}
		s.dir = filepath.Join(cache.Dir, "compare-runs")
	}
	return nil
}

// wants reports whether something is to be measured: the jobs or a mix.
func (s settings) wants(name string) bool {
	return s.only == "" || slices.Contains(strings.Split(s.only, ","), name)
}

// chosen returns the mixes to run.
func (s settings) chosen() []mix {
	return slices.DeleteFunc(mixes(), func(m mix) bool { return !s.wants(m.name) || m.cores > 0 && !s.groups })
}

func compare(ctx context.Context, s settings) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	out := os.Stdout
	if s.out != "" {
		if out, err = os.Create(s.out); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
	}
	if s.wants("jobs") {
		if err := onTestbed(ctx, s, 4096, func(b *hadoop.Testbed) error { return sideBySide(ctx, b, s, out) }); err != nil {
			return err
		}
	}
	return runMixes(ctx, s, out)
}

// onTestbed calls do with a testbed that nothing has run on before.
func onTestbed(ctx context.Context, s settings, nodeMB int, do func(*hadoop.Testbed) error) error {
	cache, err := hadoop.OpenCache()
	if err != nil {
		return err
	}
	b, err := hadoop.Start(ctx, hadoop.Options{
		Dir: filepath.Join(cache.Dir, "compare"), RM: hadoop.None, Binary: s.binary, NodeMB: nodeMB, LockWait: time.Hour, Log: s.log,
	})
	if err != nil {
		return err
	}
	return errors.Join(do(b), b.Stop())
}
