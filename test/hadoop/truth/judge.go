package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
)

// An outcome is one run of a mix and its prediction. Times are in seconds.
type outcome struct {
	Arm  string
	Jobs []jobOutcome
	Got  figures
	Said figures
}

type jobOutcome struct {
	Name string
	Got  prediction
	Said forecast
	Own  forecast // from the histories of the same run
}

// within reports whether a measured value is in the range of 90 % of the simulated ones.
func within(got, least, most float64) bool { return least <= got && got <= most }

// figures are the values by which schedulers are ordered.
type figures struct {
	MeanCompletion float64
	SmallWait      float64 // mean over small jobs
	Makespan       float64
}

// A verdict is all results about one mix.
type verdict struct {
	Mix      string
	About    string
	Base     string
	Outcomes []outcome
	Missing  []string // arms that were not measured
}

// offBy returns the error of a prediction, as a fraction of the measured value.
func offBy(said, got float64) float64 { return math.Abs(said-got) / got }

// report predicts every mix whose runs are kept and says how well.
func (s *settings) report(ctx context.Context) error {
	var all []verdict
	for _, m := range s.chosenMixes {
		v, err := s.judge(ctx, m)
		if errors.Is(err, os.ErrNotExist) {
			s.log.Warn("left out: it was not measured", "mix", m.name, "missing", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("mix %s: %w", m.name, err)
		}
		all = append(all, v)
	}
	if err := writeTable(s.out, all); err != nil {
		return err
	}
	if err := s.write(all); err != nil {
		return err
	}
	var list []outcome
	for _, v := range all {
		list = append(list, v.Outcomes...)
	}
	if _, completions := errs(list, fromBase); s.within > 0 && !(quantile(completions, 0.5) <= s.within) {
		return fmt.Errorf("the median error of completion times is %.0f %%, above %.0f", 100*quantile(completions, 0.5), 100*s.within)
	}
	return nil
}

func (s *settings) judge(ctx context.Context, m mix) (verdict, error) {
	dir := s.runDir(m, s.baseArm)
	r, err := readRun(dir)
	if err != nil {
		return verdict{}, err
	}
	p, err := readPast(dir, r, theBed(s.baseArm.rm, r.Warm))
	if err != nil {
		return verdict{}, err
	}
	v := verdict{Mix: m.name, About: m.about, Base: s.baseArm.name}
	for _, a := range s.chosenArms {
		dir := s.runDir(m, a)
		r, err := readRun(dir)
		if errors.Is(err, os.ErrNotExist) {
			v.Missing = append(v.Missing, a.name)
			continue
		}
		if err != nil {
			return verdict{}, err
		}
		o, err := s.outcome(ctx, p, dir, r, a)
		if err != nil {
			return verdict{}, err
		}
		v.Outcomes = append(v.Outcomes, o)
	}
	return v, nil
}

// outcome predicts a run under an arm, from the past of the base's run and from its own.
func (s *settings) outcome(ctx context.Context, p *past, dir string, r *run, a arm) (outcome, error) {
	c := theBed(a.rm, r.Warm)
	said, err := s.simulate(ctx, p, c, dir, r, a)
	if err != nil {
		return outcome{}, err
	}
	own := said
	if a != s.baseArm {
		p, err := readPast(dir, r, c)
		if err != nil {
			return outcome{}, err
		}
		if own, err = s.simulate(ctx, p, c, dir, r, a); err != nil {
			return outcome{}, err
		}
	}
	return newOutcome(a, r, said, own), nil
}

func newOutcome(a arm, r *run, said, own []forecast) outcome {
	o := outcome{Arm: a.name}
	var got, middle []prediction
	for i := range r.Jobs {
		j := &r.Jobs[i]
		got = append(got, prediction{float64(j.First-j.Submit) / 1000, float64(j.Finished-j.Submit) / 1000})
		middle = append(middle, said[i].prediction)
		o.Jobs = append(o.Jobs, jobOutcome{j.Name, got[i], said[i], own[i]})
	}
	o.Got, o.Said = r.figures(got), r.figures(middle)
	return o
}

func (r *run) figures(jobs []prediction) figures {
	var f figures
	smalls := 0.0
	for i, p := range jobs {
		f.MeanCompletion += p.Completion / float64(len(jobs))
		if small(r.Jobs[i].Name) {
			f.SmallWait += p.Wait
			smalls++
		}
		f.Makespan = max(f.Makespan, r.at(r.Jobs[i].Submit).Since(0).Seconds()+p.Completion)
	}
	f.SmallWait /= smalls
	return f
}

// fromBase and fromOwn return the two predictions of a job: from the histories of the base's run, and of the same run.
func fromBase(j *jobOutcome) *forecast { return &j.Said }
func fromOwn(j *jobOutcome) *forecast  { return &j.Own }

// errs returns the errors of some outcomes, for waits and for completions.
func errs(list []outcome, said func(*jobOutcome) *forecast) (waits, completions []float64) {
	for i := range list {
		for k := range list[i].Jobs {
			j := &list[i].Jobs[k]
			waits = append(waits, offBy(said(j).Wait, j.Got.Wait))
			completions = append(completions, offBy(said(j).Completion, j.Got.Completion))
		}
	}
	return waits, completions
}

// covered counts the waits and the completions that are in the range of 90 % of the simulated ones; of is the number of
// each.
func covered(list []outcome, said func(*jobOutcome) *forecast) (waits, completions, of int) {
	for i := range list {
		for k := range list[i].Jobs {
			j := &list[i].Jobs[k]
			of++
			if within(j.Got.Wait, said(j).Least.Wait, said(j).Most.Wait) {
				waits++
			}
			if within(j.Got.Completion, said(j).Least.Completion, said(j).Most.Completion) {
				completions++
			}
		}
	}
	return waits, completions, of
}

// quantile returns the value below which a fraction of the values lies, by the nearest rank; for a half, the mean of
// the two middle values.
func quantile(values []float64, part float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	if part == 0.5 {
		return (sorted[(n-1)/2] + sorted[n/2]) / 2
	}
	return sorted[min(n-1, int(math.Ceil(part*float64(n)))-1)]
}

// same is how far apart, as a fraction, two measured figures must be to have an order: real runs of one mix under one
// scheduler differ by that much.
const same = 0.05

// ordered counts the pairs of arms whose measured figures are apart, and those of them that are predicted in the right
// order.
func ordered(list []outcome, of func(*figures) float64) (right, pairs int) {
	for i := range list {
		for k := range i {
			a, b := of(&list[i].Got), of(&list[k].Got)
			if math.Abs(a-b) <= same*min(a, b) {
				continue
			}
			pairs++
			if cmp.Compare(a, b) == cmp.Compare(of(&list[i].Said), of(&list[k].Said)) {
				right++
			}
		}
	}
	return right, pairs
}

var criteria = []struct {
	name string
	of   func(*figures) float64
}{
	{"mean completion", func(f *figures) float64 { return f.MeanCompletion }},
	{"small jobs' wait", func(f *figures) float64 { return f.SmallWait }},
	{"makespan", func(f *figures) float64 { return f.Makespan }},
}
