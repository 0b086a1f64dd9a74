// Command compare measures heddle rm beside Hadoop's own ResourceManager on the same real cluster, with the
// same jobs, one after the other in turns, and writes the medians and spreads as Markdown.
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

// settings is what the command line says.
type settings struct {
	runs, mixRuns int
	only          string
	stock         string
	profiles      string
	binary, out   string
	log           *slog.Logger
}

func main() {
	s := settings{log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flag.IntVar(&s.runs, "runs", 5, "how often each job runs on each ResourceManager")
	flag.IntVar(&s.mixRuns, "mix-runs", 2, "how often each mix runs under each profile")
	flag.StringVar(&s.only, "only", "", "jobs, or the name of one mix: "+strings.Join(mixNames(), ", "))
	flag.StringVar(&s.stock, "stock", "capacity,fair", "the stock ResourceManager's schedulers that the mixes run under")
	flag.StringVar(&s.profiles, "profiles", "capacity,fair,heddle", "heddle's profiles that the mixes run under")
	flag.StringVar(&s.binary, "binary", "", "the heddle program; it is built where none is named")
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

// check refuses what would only be found out an hour later.
func (s *settings) check() error {
	if s.only != "" && s.only != "jobs" && !slices.Contains(mixNames(), s.only) {
		return fmt.Errorf("-only %s: not jobs, %s", s.only, strings.Join(mixNames(), ", "))
	}
	if s.runs < 1 || s.mixRuns < 1 {
		return fmt.Errorf("-runs %d -mix-runs %d: not at least 1", s.runs, s.mixRuns)
	}
	return nil
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
	if s.only == "" || s.only == "jobs" {
		if err := onTestbed(ctx, s, 4096, func(b *hadoop.Testbed) error { return sideBySide(ctx, b, s, out) }); err != nil {
			return err
		}
	}
	for _, m := range mixes() {
		if s.only != "" && s.only != m.name {
			continue
		}
		if err := onTestbed(ctx, s, m.nodeMB, func(b *hadoop.Testbed) error { return runMix(ctx, b, s, m, out) }); err != nil {
			return err
		}
	}
	return nil
}

// onTestbed does something with a testbed that nothing has run on before.
func onTestbed(ctx context.Context, s settings, nodeMB int, do func(*hadoop.Testbed) error) error {
	cache, err := hadoop.OpenCache()
	if err != nil {
		return err
	}
	b, err := hadoop.Start(ctx, hadoop.Options{
		Dir: filepath.Join(cache.Dir, "compare"), RM: hadoop.Stock, Binary: s.binary, NodeMB: nodeMB, LockWait: time.Hour, Log: s.log,
	})
	if err != nil {
		return err
	}
	return errors.Join(do(b), b.Stop())
}
