package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"heddle/exp"
	"heddle/report"
	"heddle/sim"
)

// simulate implements sim run and sim compare.
func (a *app) simulate(f *simFlags, path string, seeds int) error {
	e, err := a.prepare(f, path, seeds)
	if err != nil {
		return err
	}
	out, err := f.open(e.files())
	defer out.drop()
	if err != nil {
		return err
	}
	runs, stopped, err := a.runAll(e, f.tasks != "")
	if err != nil {
		return failure{fmt.Errorf("%s: %w", path, err)}
	}
	c, done := e.comparison(runs, stopped)
	if f.clairvoyant && !stopped {
		if stopped, err = a.foresee(e, runs, c); err != nil {
			return failure{fmt.Errorf("%s: %w", path, err)}
		}
		if stopped {
			c.Notes = append(c.Notes, stoppedAlone)
		}
	}
	if stopped && len(c.Seeds()) == 0 {
		return failure{fmt.Errorf("%s: stopped before anything ran", path)}
	}
	err = out.write(a, c) // first, because what reads our output may leave
	if shown := a.show(c, f.output.value); err == nil {
		err = shown
	}
	if err != nil {
		return err
	}
	if stopped && done < e.plan.Runs() {
		return failure{fmt.Errorf("%s: stopped early, after %d of %d runs", path, done, e.plan.Runs())}
	}
	if stopped && f.clairvoyant {
		return failure{fmt.Errorf("%s: %s", path, stoppedAlone)}
	}
	return fruitless(path, c)
}

// stoppedAlone says what is missing if all runs were done when the user stopped.
const stoppedAlone = "stopped before jobs alone and clairvoyant orders had run"

// fruitless returns the error of a run in which no job succeeded or some were left unfinished.
func fruitless(path string, c *report.Comparison) error {
	for _, p := range c.Profiles {
		for _, r := range p.Runs {
			open := func(j sim.JobResult) bool { return j.State == sim.Unfinished }
			if i := slices.IndexFunc(r.Jobs, open); i >= 0 {
				return failure{fmt.Errorf("%s: profile %s, seed %d: job %s did not end: %s", path, p.Name, r.Seed, r.Jobs[i].ID, r.Jobs[i].Why)}
			}
			if len(r.Jobs) > 0 && !slices.ContainsFunc(r.Jobs, func(j sim.JobResult) bool { return j.State == sim.Succeeded }) {
				which := "no job succeeded; the first"
				if len(r.Jobs) == 1 {
					which = "its one job did not succeed"
				}
				return failure{fmt.Errorf("%s: profile %s, seed %d: %s, %s: %s", path, p.Name, r.Seed, which, r.Jobs[0].ID, r.Jobs[0].Why)}
			}
		}
	}
	return nil
}

// runAll runs the plan until it is done or the user interrupts. It keeps the tasks of every run if a file of all tasks
// is wanted; otherwise only those of the first seed, which the page shows together with its traces.
func (a *app) runAll(e *experiment, allTasks bool) (runs [][]*sim.Result, stopped bool, err error) {
	a.log.Info("running", "runs", e.plan.Runs(), "cluster", e.hardware.describe(), "world", e.world.world)
	return a.runPlan(e.plan, "", func(r *sim.Result) {
		if r.Seed != e.plan.Seeds[0] {
			r.Traces, r.Predictions = nil, nil
			if !allTasks {
				r.Tasks = nil
			}
		}
	})
}

// runPlan runs a plan until it is done or the user interrupts. what is shown before the progress and describes the
// runs; done is called for every run that ended.
func (a *app) runPlan(plan *exp.Plan, what string, done func(*sim.Result)) (runs [][]*sim.Result, stopped bool, err error) {
	stop, over := interrupts()
	defer over()
	bar := a.newBar(plan, what)
	plan.Stop = stop
	plan.Report = func(run int, p sim.Progress) {
		if bar.report(run, p) {
			a.log.Info("under way", "run", run+1, "of", plan.Runs())
		}
	}
	plan.Done = func(run int, r *sim.Result) {
		done(r)
		bar.done(run, r)
		a.log.Info("ran", "profile", r.Profile, "seed", r.Seed, "simulated", r.Makespan.Seconds(), "events", r.Events,
			"heartbeats left out", r.SkippedOffers, "steps checked", r.CheckedSteps, "cut", r.Cut)
	}
	began := time.Now()
	runs, err = plan.Run()
	bar.end()
	a.log.Info("done", "runs", plan.Runs(), "took", time.Since(began))
	return runs, stop(), err
}

// foresee simulates each job alone, and each profile with an order that knows what jobs need, and adds both to a
// comparison of runs. Simulations that the user stops are left out.
func (a *app) foresee(e *experiment, runs [][]*sim.Result, c *report.Comparison) (stopped bool, err error) {
	plan, err := e.plan.Alone()
	if err != nil {
		return false, err
	}
	keep := func(*sim.Result) {}
	alone, stopped, err := a.runPlan(plan, "each job alone: ", keep)
	if err != nil || stopped {
		return stopped, err
	}
	exp.SetAlone(runs, alone[0])
	knowing, stopped, err := a.runPlan(e.plan.Clairvoyant(alone[0]), "clairvoyant orders: ", keep)
	if err != nil || stopped {
		return stopped, err
	}
	for p, profile := range e.plan.Profiles {
		c.Clairvoyant = append(c.Clairvoyant, report.ProfileRuns{Name: profile.Name, Runs: knowing[p]})
	}
	return false, nil
}

// comparison combines the runs. For a plan that was stopped it uses the seeds that every profile completed, so that
// like is compared with like, or what there is of the first seed if there is no such seed.
func (e *experiment) comparison(runs [][]*sim.Result, stopped bool) (c *report.Comparison, done int) {
	c = &report.Comparison{
		Workload: e.input.workload, World: e.world.world, WorldWhy: e.world.why, Cluster: e.hardware.describe(), Notes: e.notes,
	}
	whole := make([]bool, len(e.plan.Seeds))
	anyWhole := false
	for s := range whole {
		whole[s] = true
		for p := range runs {
			ok := runs[p][s] != nil && (!stopped || !runs[p][s].Cut)
			whole[s] = whole[s] && ok
			if ok {
				done++
			}
		}
		anyWhole = anyWhole || whole[s]
	}
	for p, profile := range e.plan.Profiles {
		pr := report.ProfileRuns{Name: profile.Name, Stock: profile.Stock, Agent: !profile.Agentless, Ideal: !profile.Agentless && !profile.Agents}
		for s, r := range runs[p] {
			if r != nil && (whole[s] || !anyWhole && s == 0) {
				pr.Runs = append(pr.Runs, r)
			}
		}
		c.Profiles = append(c.Profiles, pr)
	}
	if stopped && done < e.plan.Runs() {
		c.Notes = append(c.Notes, fmt.Sprintf("stopped early, after %d of %d runs", done, e.plan.Runs()))
	}
	return c, done
}

// show prints the result. If it is for scripts, what people must know goes to stderr.
func (a *app) show(c *report.Comparison, format string) error {
	if format != "table" {
		for _, n := range c.Notes {
			a.note("%s", n)
		}
		if n := len(c.Workload.Skipped); n > 0 {
			a.note("%d of %d records skipped, the first: %s", n, c.Workload.Lines, c.Workload.Skipped[0])
		}
	}
	switch format {
	case "json":
		return wrote(report.JSON(a.out, c))
	case "csv":
		return wrote(report.CSV(a.out, c))
	}
	width, tty := terminal(a.out)
	return wrote(report.Table(a.out, c, report.TableOptions{Colour: tty && !a.noColor, Width: width}))
}

// results are the output files of a simulation.
type results []result

type result struct {
	to   *target
	fill func(io.Writer, *report.Comparison) error
}

// open makes sure that all files can be written and that none of them is an input.
func (f *simFlags) open(inputs []string) (results, error) {
	var out results
	wanted := []struct {
		flag, path string
		fill       func(io.Writer, *report.Comparison) error
	}{
		{"--jobs", f.jobs, report.JobsCSV}, {"--tasks", f.tasks, report.TasksCSV}, {"--report", f.report, report.HTML},
	}
	for i, r := range wanted {
		if r.path == "" {
			continue
		}
		for _, other := range wanted[:i] {
			if sameFile(other.path, r.path) {
				return out, usagef("%s and %s name the same file, %s", other.flag, r.flag, r.path)
			}
		}
		t, err := openTarget(r.flag, r.path, inputs)
		if err != nil {
			return out, err
		}
		out = append(out, result{t, r.fill})
	}
	return out, nil
}

func (rs results) write(a *app, c *report.Comparison) error {
	for _, r := range rs {
		if err := r.to.write(func(w io.Writer) error { return r.fill(w, c) }); err != nil {
			return err
		}
		a.note("%s written", r.to.path)
	}
	return nil
}

func (rs results) drop() {
	for _, r := range rs {
		r.to.drop()
	}
}
