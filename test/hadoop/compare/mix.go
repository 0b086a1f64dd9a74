package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"heddle/internal/testkit/hadoop"
)

// A mix is a set of MapReduce jobs that come at given times.
type mix struct {
	name   string
	about  string
	nodeMB int
	jobs   []mixJob
}

type mixJob struct {
	at   time.Duration
	name string // large-… or small-…
	mr   string // an example with its arguments, or sleep; OUT is a folder of its own
}

func mixes() []mix {
	const large, small = "sleep -m 22 -r 1 -mt 10000 -rt 2000", "sleep -m 2 -r 1 -mt 3000 -rt 1000"
	return []mix{
		{"dress", "Small jobs behind large ones, as in DRESS: 12 containers, the first large job fills them.", 2048, []mixJob{
			{0, "large-1", large},
			{2 * time.Second, "large-2", large},
			{4 * time.Second, "large-3", "wordcount -Dmapreduce.job.reduces=2 " + wordsIn + " OUT"},
			{10 * time.Second, "small-1", small},
			{12 * time.Second, "small-2", small},
			{14 * time.Second, "small-3", small},
			{30 * time.Second, "small-4", small},
		}},
		{"small-behind-large", "Small jobs behind two large ones: 12 containers, the first large job fills them.", 2048, []mixJob{
			{0, "large-1", large},
			{2 * time.Second, "large-2", large},
			{10 * time.Second, "small-1", small},
			{12 * time.Second, "small-2", small},
			{14 * time.Second, "small-3", small},
			{30 * time.Second, "small-4", small},
		}},
		{"coupling", "A small job after two large ones whose reducers come early and hold their containers, as in Coupling: 12 containers.", 2048, []mixJob{
			{0, "large-1", "sleep -m 24 -r 5 -mt 6000 -rt 4000"},
			{2 * time.Second, "large-2", "sleep -m 24 -r 5 -mt 6000 -rt 4000"},
			{20 * time.Second, "small-1", "sleep -m 4 -r 1 -mt 2000 -rt 1000"},
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

// A mixResult is what one run of a mix came to, in seconds.
type mixResult struct {
	wait, completion map[string]float64 // by the job's name; wait is until the first task runs
	makespan         float64
}

// runMix runs a mix under the stock ResourceManager's and Heddle's profiles, in turns.
func runMix(ctx context.Context, b *hadoop.Testbed, s settings, m mix, out io.Writer) error {
	if err := putWords(ctx, b); err != nil {
		return err
	}
	under := append(options(hadoop.Stock, s.stock), options(hadoop.Heddle, s.profiles)...)
	results := make([][]mixResult, len(under))
	for round := range s.mixRuns {
		for i, o := range under {
			o.Binary = b.Options().Binary
			if _, err := b.UseRM(ctx, o); err != nil {
				return err
			}
			r, err := once(ctx, b, m, round*len(under)+i)
			if err != nil {
				return fmt.Errorf("mix %s on %s: %w", m.name, b.Describe(), err)
			}
			results[i] = append(results[i], r)
			s.log.Info("ran", "mix", m.name, "round", round+1, "on", b.Describe(), "makespan", r.makespan)
		}
	}
	return writeMix(out, m, under, results)
}

// options are those of a ResourceManager under each of the profiles in a list, which may be empty.
func options(rm, profiles string) (all []hadoop.Options) {
	for p := range strings.FieldsFuncSeq(profiles, func(c rune) bool { return c == ',' }) {
		o := hadoop.Options{RM: rm, Profile: p}
		if p == "fair" { // which grants memory in steps of 1024 MiB otherwise, and has half the containers
			o.Site = map[string]string{"yarn.resource-types.memory-mb.increment-allocation": "512"}
		}
		all = append(all, o)
	}
	return all
}

func once(ctx context.Context, b *hadoop.Testbed, m mix, number int) (mixResult, error) {
	began := time.Now()
	runs := make([]*hadoop.Run, len(m.jobs))
	for i, j := range m.jobs {
		if err := hadoop.Sleep(ctx, time.Until(began.Add(j.at))); err != nil {
			return mixResult{}, err
		}
		args := strings.Fields(strings.ReplaceAll(j.mr, "OUT", fmt.Sprintf("/mix/%d/%s", number, j.name)))
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
	r := mixResult{wait: map[string]float64{}, completion: map[string]float64{}}
	var first, last int64
	for i, j := range m.jobs {
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
		r.wait[j.name] = float64(running-app.Started) / 1000
		r.completion[j.name] = app.Elapsed().Seconds()
		if i == 0 {
			first = app.Started
		}
		first, last = min(first, app.Started), max(last, app.Finished)
	}
	r.makespan = float64(last-first) / 1000
	return r, nil
}
