package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"heddle/internal/testkit/hadoop"
)

// A run is the measurement of a mix under an arm.
type run struct {
	Mix  string
	Arm  string
	Warm bool // the testbed had already run jobs under another ResourceManager
	Jobs []measured
}

// measured is the result of one job. Times are ms since 1970 by the ResourceManager's clock, which is everyone's clock
// here.
type measured struct {
	Name     string
	App      string
	Began    int64 // when its client was started
	Submit   int64
	First    int64 // when its first task started; for Spark, when its first executor registered
	Finished int64
}

const (
	runFile    = "run.json"      // written last: a folder that has it is complete
	historyDir = "history"       // .jhist files with their _conf.xml, and Spark's event logs
	confDir    = "conf"          // the configuration in effect
	nodes      = 3               // NodeManagers
	nodeMB     = 2048            // memory per NodeManager
	nodeVcores = 8               // per NodeManager
	settle     = 4 * time.Second // after a start, before the first submission
)

func readRun(dir string) (*run, error) {
	text, err := os.ReadFile(filepath.Join(dir, runFile))
	if err != nil {
		return nil, err
	}
	r := &run{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, runFile), err)
	}
	return r, nil
}

// record runs a mix under arms, one after the other on one testbed, and keeps each run when it ends.
func (s *settings) record(ctx context.Context, m mix, list []arm) (err error) {
	cache, err := hadoop.OpenCache()
	if err != nil {
		return err
	}
	b, err := hadoop.Start(ctx, s.bedOptions(cache, list[0]))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Stop()) }()
	if err := putText(ctx, b); err != nil {
		return err
	}
	for i, a := range list {
		if i > 0 {
			if _, err := b.UseRM(ctx, a.options(b.Options().Binary)); err != nil {
				return err
			}
		}
		if err := hadoop.Sleep(ctx, settle); err != nil {
			return err
		}
		if err := s.keep(ctx, b, m, a, i > 0); err != nil {
			return fmt.Errorf("under %s: %w", a.name, err)
		}
	}
	return nil
}

// bedOptions returns the options of the testbed that starts under an arm.
func (s *settings) bedOptions(cache hadoop.Cache, a arm) hadoop.Options {
	o := a.options(s.binary)
	o.Dir, o.Nodes, o.NodeMB, o.NodeVcores = filepath.Join(cache.Dir, "truth-testbed"), nodes, nodeMB, nodeVcores
	o.LockWait, o.Log = time.Hour, s.log
	return o
}

// keep makes one run and writes it to its folder.
func (s *settings) keep(ctx context.Context, b *hadoop.Testbed, m mix, a arm, warm bool) error {
	dir := s.runDir(m, a)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, historyDir), 0o755); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, confDir), os.DirFS(b.Conf())); err != nil {
		return err
	}
	r, err := once(ctx, b, m, a)
	if err != nil {
		return err
	}
	r.Warm = warm
	for i := range r.Jobs {
		if err := r.Jobs[i].history(ctx, b, filepath.Join(dir, historyDir)); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	s.log.Info("ran", "mix", m.name, "under", a.name)
	return os.WriteFile(filepath.Join(dir, runFile), append(text, '\n'), 0o644)
}

// once submits the jobs of a mix at their times and waits for all of them.
func once(ctx context.Context, b *hadoop.Testbed, m mix, a arm) (*run, error) {
	began := time.Now()
	clients, starts := make([]*hadoop.Run, len(m.jobs)), make([]int64, len(m.jobs))
	for i, j := range m.jobs {
		if err := hadoop.Sleep(ctx, time.Until(began.Add(j.at))); err != nil {
			return nil, err
		}
		starts[i] = time.Now().UnixMilli()
		var err error
		if clients[i], err = j.start(ctx, b, strings.Join([]string{"/out", m.name, a.name, j.name}, "/")); err != nil {
			return nil, err
		}
	}
	r := &run{Mix: m.name, Arm: a.name}
	for i, j := range m.jobs {
		res, err := clients[i].Wait()
		if err != nil {
			return nil, err
		}
		app, err := b.Ended(ctx, res.App)
		if err != nil {
			return nil, err
		}
		r.Jobs = append(r.Jobs, measured{Name: j.name, App: app.ID, Began: starts[i], Submit: app.Started, Finished: app.Finished})
	}
	return r, nil
}

// history keeps the history that a job left, and finds the job's first task in it.
func (j *measured) history(ctx context.Context, b *hadoop.Testbed, dir string) error {
	if isSpark(j.Name) {
		events, err := b.SparkEvents(j.App)
		if err != nil {
			return err
		}
		j.First = events.First
		return b.KeepSparkEvents(j.App, dir)
	}
	tasks, err := b.Tasks(ctx, j.App)
	if err != nil {
		return err
	}
	if len(tasks) == 0 {
		return fmt.Errorf("%s, %s, has no tasks in its history", j.Name, j.App)
	}
	j.First = tasks[0].Started
	for _, t := range tasks {
		j.First = min(j.First, t.Started)
	}
	return b.KeepHistory(ctx, j.App, dir)
}
