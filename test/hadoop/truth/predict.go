package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle"
	"heddle/conf"
	"heddle/exp"
	"heddle/internal/testkit/hadoop"
	"heddle/policies"
	"heddle/sim"
	"heddle/sim/world"
	"heddle/workload"
)

// A past is what the simulator is told about a run: the jobs with their durations and the parts of their tasks.
type past struct {
	work  *workload.Workload
	parts []sim.JobParts
}

// readPast reads what a run left and works out the parts of its tasks.
func readPast(dir string, r *run, c *bed) (*past, error) {
	w, err := readJobs(dir, r)
	if err != nil {
		return nil, err
	}
	return &past{w, sim.Parts(w, &c.Costs, append(r.loads(c), r.firsts(c)...))}, nil
}

// readJobs reads the histories that a run left. The jobs are in the order of the mix.
func readJobs(dir string, r *run) (*workload.Workload, error) {
	w := &workload.Workload{Name: r.Mix, Format: "jhist"}
	for _, format := range r.formats() {
		read, err := workload.Read(filepath.Join(dir, historyDir), workload.Options{Format: format})
		if err != nil {
			return nil, err
		}
		for i := range read.Jobs {
			j := read.Jobs[i]
			j.Times.Move(read.Began.Since(r.start()))
			j.MoveHosts(int32(len(w.Hosts)))
			w.Jobs = append(w.Jobs, j)
		}
		w.Hosts = append(w.Hosts, read.Hosts...)
	}
	if len(w.Jobs) != len(r.Jobs) {
		return nil, fmt.Errorf("%s has the histories of %d jobs, want %d", dir, len(w.Jobs), len(r.Jobs))
	}
	ordered := make([]workload.Job, len(r.Jobs))
	for i := range r.Jobs {
		k := slices.IndexFunc(w.Jobs, func(j workload.Job) bool { return hadoop.Job(j.ID) == hadoop.Job(r.Jobs[i].App) })
		if k < 0 {
			return nil, fmt.Errorf("%s has no history of %s", dir, r.Jobs[i].App)
		}
		ordered[i] = w.Jobs[k]
		ordered[i].Submit = r.at(r.Jobs[i].Submit)
	}
	w.Jobs = ordered
	return w, nil
}

// formats returns the formats of the histories that a run left.
func (r *run) formats() (out []string) {
	for i := range r.Jobs {
		format := "jhist"
		if isSpark(r.Jobs[i].Name) {
			format = "spark"
		}
		if !slices.Contains(out, format) {
			out = append(out, format)
		}
	}
	return out
}

// start returns when the first job of a run was submitted: time 0 of the simulation.
func (r *run) start() heddle.Time {
	first := r.Jobs[0].Submit
	for i := range r.Jobs {
		first = min(first, r.Jobs[i].Submit)
	}
	return heddle.Time(first) * heddle.Time(heddle.Millisecond)
}

func (r *run) at(ms int64) heddle.Time {
	return heddle.Time(ms)*heddle.Time(heddle.Millisecond) - r.start()
}

// loads returns the computing of the clients that began after the first submission, until they had submitted their
// jobs, and what the daemons computed for the first application in addition to what they do for every one.
func (r *run) loads(c *bed) []sim.Load {
	out := []sim.Load{{Cost: c.Daemons}}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		cost := c.Client
		switch {
		case strings.HasPrefix(r.line(i), "spark-cluster"):
			cost = c.ClusterClient
		case strings.HasPrefix(r.line(i), "spark"):
			cost = c.SparkClient
		}
		if at := r.at(j.Began); at >= 0 {
			out = append(out, sim.Load{At: at, Cost: cost})
		}
	}
	return out
}

// firsts returns what the nodes of a run computed for their first processes: one node began with the first master, and
// the others are assumed to have begun with the first tasks.
func (r *run) firsts(c *bed) []sim.Load {
	first := r.at(r.Jobs[0].First)
	for i := range r.Jobs {
		first = min(first, r.at(r.Jobs[i].First))
	}
	out := []sim.Load{{Cost: sim.Cost{CPU: c.Costs.First}}}
	for range nodes - 1 {
		out = append(out, sim.Load{At: first, Cost: sim.Cost{CPU: c.Costs.First}})
	}
	return out
}

// line returns the line that starts a job of the run.
func (r *run) line(i int) string {
	for _, m := range mixes() {
		if m.name == r.Mix {
			return m.jobs[i].line
		}
	}
	return ""
}

// A prediction is what the simulator predicts for one job, or what the job got, in seconds.
type prediction struct{ Wait, Completion float64 }

// A forecast is the simulations' result for one job: the median, and the range of 90 % of them.
type forecast struct {
	prediction
	Least, Most prediction
}

// simulate predicts a run under an arm from the past of another. It takes the submission times of jobs and the location
// of their input from the run itself: clients start on the same cores, and when they are done does not depend on the
// scheduler alone; and the file system chooses anew in each testbed.
func (s *settings) simulate(ctx context.Context, p *past, c *bed, dir string, r *run, a arm) ([]forecast, error) {
	h, err := conf.ReadDir(filepath.Join(dir, confDir))
	if err != nil {
		return nil, err
	}
	profile, err := policies.Load(a.profile, nil)
	if err != nil {
		return nil, err
	}
	if a.rm == hadoop.Heddle {
		profile, _ = profile.WithoutAgent()
	}
	w := *p.work
	w.Jobs = slices.Clone(p.work.Jobs)
	own, err := readJobs(dir, r)
	if err != nil {
		return nil, err
	}
	w.Hosts = own.Hosts
	for i := range w.Jobs {
		j := &w.Jobs[i]
		j.Submit = r.at(r.Jobs[i].Submit)
		j.Maps = slices.Clone(j.Maps)
		for k := range min(len(j.Maps), len(own.Jobs[i].Maps)) {
			j.Maps[k].Hosts = own.Jobs[i].Maps[k].Hosts
		}
	}
	plan := exp.Plan{
		Workload: &w, Profiles: []*policies.Profile{profile}, Conf: h, Nodes: cluster(), Effects: world.AllEffects(),
		Stock: a.rm == hadoop.Stock, PromptEnds: true, Given: true, Costs: &c.Costs, Parts: p.parts, Loads: r.loads(c), MaxTime: heddle.Time(time.Hour), Stop: func() bool { return ctx.Err() != nil },
	}
	for k := range s.seeds {
		plan.Seeds = append(plan.Seeds, uint64(k+1))
	}
	results, err := plan.Run()
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	out := make([]forecast, len(w.Jobs))
	for i := range out {
		var waits, completions []float64
		for _, res := range results[0] {
			j := &res.Jobs[i]
			if j.State != sim.Succeeded {
				return nil, fmt.Errorf("%s does not end under %s in the simulation: %s", r.Jobs[i].Name, a.name, j.Why)
			}
			waits, completions = append(waits, j.Wait.Seconds()), append(completions, j.JCT.Seconds())
		}
		at := func(part float64) prediction { return prediction{quantile(waits, part), quantile(completions, part)} }
		out[i] = forecast{at(0.5), at(0.05), at(0.95)}
	}
	return out, nil
}

// cluster returns the nodes of the testbed.
func cluster() []world.NodeSpec {
	var out []world.NodeSpec
	for n := range nodes {
		out = append(out, world.NodeSpec{Name: fmt.Sprintf("127.0.0.%d", n+2), Total: heddle.Of(nodeMB, nodeVcores*1000), Cores: 2})
	}
	return out
}
