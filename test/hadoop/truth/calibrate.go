package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"heddle"
	"heddle/internal/testkit/hadoop"
	"heddle/workload"
)

// calibrationJobs returns the jobs that run one after the other, each alone on the testbed. Their names say what is
// derived from them.
func calibrationJobs() []mixJob {
	const sleep = "sleep -r 1 -mt 1 -rt 1 -m "
	const one, four = " --num-executors 1 pi.py 4", " --num-executors 4 pi.py 4"
	return []mixJob{
		{name: "first", line: sleep + "1"},
		{name: "one", line: sleep + "1"},
		{name: "nine", line: sleep + "9"},
		{name: "one", line: sleep + "1"},
		{name: "nine", line: sleep + "9"},
		{name: "long", line: "sleep -r 1 -mt 8000 -rt 1 -m 1"},
		{name: "long", line: "sleep -r 1 -mt 8000 -rt 1 -m 1"},
		{name: "words", line: "wordcount -Dmapreduce.job.reduces=3 " + largeText + " OUT"},
		{name: "warm", line: "spark" + one},
		{name: "spark-one", line: "spark" + one},
		{name: "spark-four", line: "spark" + four},
		{name: "driver-one", line: "spark-cluster" + one},
		{name: "driver-four", line: "spark-cluster" + four},
	}
}

func (j mixJob) label() string { return j.name }

// A phase is a part of a job's life in which the machine did nothing else.
type phase struct {
	CPU     float64 // core-seconds of the whole machine, less its idle load
	Busy    float64 // seconds in which more than a fifth of a core was busy
	Elapsed float64 // seconds
}

// An alone is the measurement of one job that ran alone.
type alone struct {
	Name                              string
	Client, Start, Work, Leave, After phase   // until submission, Ready, the last task's end, the application's, 6 s later
	Late                              phase   // from 4 s after the first map's start to its end: what a map that sleeps for 8 s does then
	Counters                          float64 // core-seconds according to its tasks' counters
}

const (
	sampleEvery = 50 * time.Millisecond
	afterwards  = 6 * time.Second // the end of a job is seen to cost processor time for that long
	ticks       = 100.0           // of /proc/stat per second: USER_HZ, the same on every Linux
)

// A sample is how much the machine's processors had done by a time.
type sample struct {
	at   time.Time
	busy float64 // core-seconds since the machine started
}

// A sampler reads /proc/stat until it is stopped.
type sampler struct {
	list []sample
	err  error
	stop chan struct{}
	done chan struct{}
	idle float64 // cores
}

func startSampler() *sampler {
	s := &sampler{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for tick := time.NewTicker(sampleEvery); s.err == nil; {
			x, err := readStat()
			s.list, s.err = append(s.list, x), err
			select {
			case <-tick.C:
			case <-s.stop:
				tick.Stop()
				return
			}
		}
	}()
	return s
}

// readStat adds up the non-idle processor time in the first line of /proc/stat.
func readStat() (sample, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return sample{}, err
	}
	var user, nice, system, idle, iowait, irq, softirq, steal float64
	if _, err := fmt.Sscanf(string(text), "cpu %f %f %f %f %f %f %f %f", &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal); err != nil {
		return sample{}, fmt.Errorf("/proc/stat: %w", err)
	}
	return sample{time.Now(), (user + nice + system + irq + softirq + steal) / ticks}, nil
}

// between returns what the machine did between two times.
func (s *sampler) between(from, to time.Time) (p phase) {
	p.Elapsed = to.Sub(from).Seconds()
	for i := 1; i < len(s.list); i++ {
		a, b := s.list[i-1], s.list[i]
		if b.at.Before(from) || a.at.After(to) {
			continue
		}
		whole := b.at.Sub(a.at).Seconds()
		begin, end := a.at, b.at
		if from.After(begin) {
			begin = from
		}
		if to.Before(end) {
			end = to
		}
		part := end.Sub(begin).Seconds()
		cores := (b.busy - a.busy) / whole
		p.CPU += (cores - s.idle) * part
		if cores > 0.2 {
			p.Busy += part
		}
	}
	return p
}

// calibrate runs the jobs and writes what processes cost.
func (s *settings) calibrate(ctx context.Context) (err error) {
	cache, err := hadoop.OpenCache()
	if err != nil {
		return err
	}
	o := s.bedOptions(cache, s.baseArm)
	b, err := hadoop.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Stop()) }()
	if err := putText(ctx, b); err != nil {
		return err
	}
	samples := startSampler()
	defer func() { close(samples.stop); <-samples.done; err = errors.Join(err, samples.err) }()
	began := time.Now()
	if err := hadoop.Sleep(ctx, afterwards); err != nil {
		return err
	}
	last := samples.between(began.Add(afterwards/2), time.Now())
	samples.idle = last.CPU / last.Elapsed
	var all []alone
	for i, j := range s.chosenJobs {
		a, err := samples.run(ctx, b, j, fmt.Sprintf("/out/calibrate/%d", i))
		if err != nil {
			return fmt.Errorf("calibration job %s: %w", j.name, err)
		}
		s.log.Info("ran alone", "job", j.name)
		all = append(all, a)
	}
	return writeAlone(s.out, samples.idle, all)
}

// run runs one job and waits until nothing of it is left running.
func (s *sampler) run(ctx context.Context, b *hadoop.Testbed, j mixJob, folder string) (alone, error) {
	began := time.Now()
	client, err := j.start(ctx, b, folder)
	if err != nil {
		return alone{}, err
	}
	res, err := client.Wait()
	if err != nil {
		return alone{}, err
	}
	app, err := b.Ended(ctx, res.App)
	if err != nil {
		return alone{}, err
	}
	ended := time.UnixMilli(app.Finished)
	if err := hadoop.Sleep(ctx, time.Until(ended.Add(afterwards+time.Second))); err != nil {
		return alone{}, err
	}
	dir, err := os.MkdirTemp("", "calibrate")
	if err != nil {
		return alone{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left there is of no use
	m := measured{Name: j.name, App: app.ID}
	if strings.HasPrefix(j.line, "spark") {
		m.Name = "spark"
	}
	if err := m.history(ctx, b, dir); err != nil {
		return alone{}, err
	}
	format := "jhist"
	if isSpark(m.Name) {
		format = "spark"
	}
	w, err := workload.Read(dir, workload.Options{Format: format})
	if err != nil {
		return alone{}, err
	}
	return s.alone(j.name, &w.Jobs[0], w.Began, began, time.UnixMilli(app.Started), ended), nil
}

// alone divides a job's cost at the times in its history.
func (s *sampler) alone(name string, j *workload.Job, zero heddle.Time, began, submitted, ended time.Time) alone {
	at := func(t heddle.Time) time.Time { return time.Unix(0, int64(zero)+int64(t)) }
	a := alone{Name: name}
	ready, last := ended, submitted
	if j.Times.Ready >= 0 {
		ready = at(j.Times.Ready)
	}
	count := func(starts []heddle.Time, tasks []workload.Task) {
		for k := range tasks {
			a.Counters += tasks[k].CPU.Seconds()
			if end := at(starts[k].Plus(tasks[k].Duration)); end.After(last) {
				last = end
			}
		}
	}
	if len(j.Maps) > 0 && j.Maps[0].Duration > 8*heddle.Second {
		a.Late = s.between(at(j.Times.Maps[0].Plus(4*heddle.Second)), at(j.Times.Maps[0].Plus(j.Maps[0].Duration+300*heddle.Millisecond)))
	}
	count(j.Times.Maps, j.Maps)
	count(j.Times.Reduces, j.Reduces)
	for i, e := range j.Times.Executors {
		if i == 0 {
			ready = at(e)
		}
	}
	if j.Spark != nil {
		for i := range j.Spark.Stages {
			count(j.Times.Stages[i], j.Spark.Stages[i].Tasks)
		}
	}
	a.Client, a.Start, a.Work = s.between(began, submitted), s.between(submitted, ready), s.between(ready, last)
	a.Leave, a.After = s.between(last, ended), s.between(ended, ended.Add(afterwards))
	return a
}

// writeAlone writes what every job did in each phase of its life, and the resulting figures for bed.go.
func writeAlone(out io.Writer, idle float64, all []alone) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "idle: %.3f cores. Core-seconds in so many busy of all seconds:\n", idle)
	fmt.Fprintln(w, "job\tclient\tstart\twork\tcounters\tlate\tleave\tafter\t")
	for _, a := range all {
		fmt.Fprintf(w, "%s", a.Name)
		for i, p := range []phase{a.Client, a.Start, a.Work, a.Late, a.Leave, a.After} {
			if i == 3 {
				fmt.Fprintf(w, "\t%.2f", a.Counters)
			}
			fmt.Fprintf(w, "\t%.2f in %.2f of %.2f s", p.CPU, p.Busy, p.Elapsed)
		}
		fmt.Fprintln(w, "\t")
	}
	fmt.Fprintln(w)
	for _, c := range costsOf(all) {
		if !math.IsNaN(c.cpu) {
			fmt.Fprintf(w, "%s\t%.2f core-s\t\n", c.name, c.cpu)
		}
	}
	return w.Flush()
}

// A cost is a figure of bed.go.
type cost struct {
	name string
	cpu  float64
}

// costsOf returns the core-seconds of bed.go that the measured jobs determine; the others are NaN.
func costsOf(all []alone) []cost {
	mean := func(name string, of func(*alone) float64) float64 {
		sum, n := 0.0, 0.0
		for i := range all {
			if all[i].Name == name {
				sum, n = sum+of(&all[i]), n+1
			}
		}
		return sum / n
	}
	work := func(a *alone) float64 { return a.Work.CPU - a.Counters }
	start := func(a *alone) float64 { return a.Start.CPU }
	both := func(a *alone) float64 { return a.Start.CPU + a.Work.CPU }
	client := func(a *alone) float64 { return a.Client.CPU }
	executor := (mean("driver-four", both) - mean("driver-one", both)) / 3
	return []cost{
		{"Client", mean("nine", client)},
		{"SparkClient", mean("spark-four", client)},
		{"ClusterClient", mean("driver-four", client)},
		{"MapReduceMaster", mean("nine", start)},
		{"Task", (mean("nine", work) - mean("one", work)) / 8},
		{"TaskEnd", mean("long", func(a *alone) float64 { return a.Late.CPU })},
		{"MapReduceLeave", mean("nine", func(a *alone) float64 { return a.Leave.CPU })},
		{"Executor, with its Python", executor},
		{"SparkMaster", mean("spark-one", start) - executor},
		{"SparkDriver", mean("driver-one", start) - executor},
		{"First and Daemons", mean("first", start) - mean("one", start)},
	}
}
