package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"heddle/internal/testkit/hadoop"
)

// A mix is a set of MapReduce jobs that come at given times.
type mix struct {
	name  string
	about string
	jobs  []mixJob
}

type mixJob struct {
	at   time.Duration
	name string // large-… or small-…
	mr   string // an example with its arguments, or sleep; OUT is a folder of its own
}

// mixes are small ones: where there are two cores, starting the JVMs of tasks is most of how long a mix takes.
func mixes() []mix {
	const large, small = "sleep -m 12 -r 1 -mt 6000 -rt 2000", "sleep -m 2 -r 1 -mt 3000 -rt 1000"
	const early = "sleep -m 12 -r 4 -mt 5000 -rt 3000"
	return []mix{
		{"small-behind-large", "Two large jobs of 12 maps of 6 s, and three small ones of 2 maps of 3 s that come 10, 12 and 26 s after the first; 12 containers, the first large job fills them.", []mixJob{
			{0, "large-1", large},
			{2 * time.Second, "large-2", large},
			{10 * time.Second, "small-1", small},
			{12 * time.Second, "small-2", small},
			{26 * time.Second, "small-3", small},
		}},
		{"coupling", "Two large jobs of 12 maps of 5 s whose 4 reduces come early and hold their containers, and a small one of 4 maps of 2 s that comes 15 s after the first, as in Coupling; 12 containers.", []mixJob{
			{0, "large-1", early},
			{2 * time.Second, "large-2", early},
			{15 * time.Second, "small-1", "sleep -m 4 -r 1 -mt 2000 -rt 1000"},
		}},
		{"dress", "The jobs of small-behind-large, and a word count of 10 maps as a third large job that comes 4 s after the first, as in DRESS; 12 containers.", []mixJob{
			{0, "large-1", large},
			{2 * time.Second, "large-2", large},
			{4 * time.Second, "large-3", "wordcount -Dmapreduce.job.reduces=2 " + wordsIn + "/0* OUT"},
			{10 * time.Second, "small-1", small},
			{12 * time.Second, "small-2", small},
			{26 * time.Second, "small-3", small},
		}},
	}
}

func mixNames() []string {
	var names []string
	for _, m := range mixes() {
		names = append(names, m.name)
	}
	return names
}

// errEndless says that a run was given up.
var errEndless = fmt.Errorf("not all jobs ended within %v", longest)

// once runs a mix and waits for the end of all its jobs.
func once(ctx context.Context, b *hadoop.Testbed, t turn) (mixResult, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errEndless)
	defer cancel()
	r, err := play(ctx, b, t)
	if err != nil && errors.Is(context.Cause(ctx), errEndless) {
		err = fmt.Errorf("%w: the same command goes on from here", errEndless)
	}
	return r, err
}

// play starts the jobs of a mix, each at its time, and waits for them.
func play(ctx context.Context, b *hadoop.Testbed, t turn) (mixResult, error) {
	began := time.Now()
	runs := make([]*hadoop.Run, len(t.mix.jobs))
	for i, j := range t.mix.jobs {
		if err := hadoop.Sleep(ctx, time.Until(began.Add(j.at))); err != nil {
			return mixResult{}, err
		}
		args := strings.Fields(strings.ReplaceAll(j.mr, "OUT", strings.Join([]string{"/mix", t.name(), j.name}, "/")))
		var err error
		if args[0] == "sleep" {
			runs[i], err = b.StartSleep(ctx, args[1:]...)
		} else {
			runs[i], err = b.StartMR(ctx, args[0], args[1:]...)
		}
		if err != nil {
			return mixResult{}, err
		}
	}
	r := mixResult{Wait: map[string]float64{}, Completion: map[string]float64{}}
	var first, last int64
	for i, j := range t.mix.jobs {
		res, err := runs[i].Wait()
		if err != nil {
			return r, err
		}
		app, err := b.Ended(ctx, res.App)
		if err != nil {
			return r, err
		}
		tasks, err := b.Tasks(ctx, app.ID)
		if err != nil {
			return r, err
		}
		if len(tasks) == 0 {
			return r, fmt.Errorf("%s, %s, has no tasks in its history", j.name, app.ID)
		}
		running := tasks[0].Started
		for _, task := range tasks {
			running = min(running, task.Started)
		}
		r.Wait[j.name] = float64(running-app.Started) / 1000
		r.Completion[j.name] = app.Elapsed().Seconds()
		if i == 0 {
			first = app.Started
		}
		first, last = min(first, app.Started), max(last, app.Finished)
	}
	r.Makespan = float64(last-first) / 1000
	return r, nil
}
