// Command truth compares the simulator with real Hadoop and Spark: it runs mixes of jobs on the testbed under the stock
// ResourceManager and under heddle rm, simulates the same submissions from the job histories of one of those runs, and
// says how far the predictions are from the measurements.
//
// Runs are kept as files, so that a measurement continues where it stopped. Nothing is fitted: what the simulator is
// told in addition to the histories was measured separately from the mixes; -calibrate repeats that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"heddle/internal/testkit/hadoop"
)

// settings are the settings of the command line.
type settings struct {
	dir         string
	mixes, arms string
	base        string
	binary      string
	predict     bool
	again       bool
	alone       bool
	only        string
	json, page  string
	within      float64
	seeds       int
	log         *slog.Logger
	out         io.Writer

	// What the lists select.
	chosenMixes []mix
	chosenArms  []arm
	chosenJobs  []mixJob
	baseArm     arm
}

func main() {
	s := settings{log: slog.New(slog.NewTextHandler(os.Stderr, nil)), out: os.Stdout}
	flag.StringVar(&s.dir, "dir", "", "the folder that runs are kept in (default: truth in the testbed's cache)")
	flag.StringVar(&s.mixes, "mixes", "", "the mixes: "+strings.Join(names(mixes()), ",")+" (default: all but the last, which is for a quick look)")
	flag.StringVar(&s.arms, "arms", "", "the ResourceManagers and schedulers: "+strings.Join(names(arms()), ",")+" (default: all)")
	flag.StringVar(&s.base, "base", "stock-capacity", "the arm whose histories are simulated")
	flag.StringVar(&s.binary, "binary", "", "the heddle program; it is built where none is named")
	flag.BoolVar(&s.predict, "predict", false, "run nothing: predict what was measured before")
	flag.BoolVar(&s.again, "again", false, "measure anew what was measured before")
	flag.BoolVar(&s.alone, "calibrate", false, "run no mix, but jobs alone, and print what they cost the machine: what bed.go is made from")
	flag.StringVar(&s.only, "jobs", "", "with -calibrate: only these of its jobs")
	flag.StringVar(&s.json, "json", "", "write all figures to this file")
	flag.StringVar(&s.page, "page", "", "write the tables to this file, as Markdown")
	flag.Float64Var(&s.within, "within", 0, "fail where the median error of completion times is above this part; 0: never")
	flag.IntVar(&s.seeds, "seeds", 40, "simulations of each run, of which the median counts")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := truth(ctx, &s)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(1)
	}
}

func truth(ctx context.Context, s *settings) error {
	if err := s.check(); err != nil {
		return err
	}
	if s.alone {
		return s.calibrate(ctx)
	}
	if !s.predict {
		if err := s.measure(ctx); err != nil {
			return err
		}
	}
	return s.report(ctx)
}

// check refuses settings whose errors would otherwise appear only an hour later.
func (s *settings) check() (err error) {
	if s.chosenMixes, err = choose("-mixes", s.mixes, mixes()); err != nil {
		return err
	}
	if s.mixes == "" {
		s.chosenMixes = s.chosenMixes[:len(s.chosenMixes)-1]
	}
	if s.chosenArms, err = choose("-arms", s.arms, arms()); err != nil {
		return err
	}
	if s.chosenJobs, err = choose("-jobs", s.only, calibrationJobs()); err != nil {
		return err
	}
	base, err := choose("-base", s.base, arms())
	if err != nil {
		return err
	}
	s.baseArm = base[0]
	if s.seeds < 1 || s.within < 0 {
		return fmt.Errorf("-seeds %d -within %g: not at least 1 and 0", s.seeds, s.within)
	}
	if len(base) != 1 {
		return fmt.Errorf("-base %s: not one arm", s.base)
	}
	if s.dir == "" {
		cache, err := hadoop.OpenCache()
		if err != nil {
			return err
		}
		s.dir = filepath.Join(cache.Dir, "truth")
	}
	return nil
}

// named is an item that a list on the command line can choose.
type named interface{ label() string }

func names[T named](all []T) []string {
	var out []string
	for _, x := range all {
		out = append(out, x.label())
	}
	return out
}

// choose returns the items of all that a list names, in the order of all; an empty list names every one.
func choose[T named](flag, list string, all []T) ([]T, error) {
	if list == "" {
		return all, nil
	}
	wanted := strings.Split(list, ",")
	for _, w := range wanted {
		if !slices.Contains(names(all), w) {
			return nil, fmt.Errorf("%s %s: not %s", flag, w, strings.Join(names(all), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !slices.Contains(wanted, x.label()) }), nil
}

// runDir returns the folder of a run of a mix under an arm.
func (s *settings) runDir(m mix, a arm) string { return filepath.Join(s.dir, m.name, a.name) }

// measure makes the runs that are not kept yet.
func (s *settings) measure(ctx context.Context) error {
	for _, m := range s.chosenMixes {
		var missing []arm
		for _, a := range s.chosenArms {
			_, err := readRun(s.runDir(m, a))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			if err != nil || s.again {
				missing = append(missing, a)
			}
		}
		if len(missing) == 0 {
			continue
		}
		if err := s.record(ctx, m, missing); err != nil {
			return fmt.Errorf("mix %s: %w", m.name, err)
		}
	}
	return nil
}
