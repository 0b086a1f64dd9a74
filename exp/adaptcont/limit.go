package adaptcont

import (
	"fmt"
	"slices"
	"strings"

	"heddle/conf"
	"heddle/exp"
	"heddle/sim"
)

// small is the input of a small job: the smallest in the paper.
const small = "500MiB"

const limitMethod = `The paper has no such experiment. In the paper's own set-up masters have resources of their own, so a smaller master frees nothing for others,
and a saving is only arithmetic. Here masters share the cluster with the workers, as in YARN, and a queue's masters may hold a tenth of it
(maximum-am-resource-percent). Jobs beyond that limit wait without a master.

* 10 nodes of 16 GiB, 16 vcores and 8 cores; Hadoop's capacity scheduler, one queue, defaults except for the smallest container, 256 MB. A tenth is 16 GiB: 16 of YARN's masters.
* 60 jobs of 500 MB (the smallest of the paper's) at once, from ten users; 64 MB splits, one reduce each; masters ask for 1024 MB and 1 vcore.
* Only memory is counted, which is Hadoop's default. If processors are counted too, a tenth of the vcores is 16 masters, whatever their memory (sweep below).
* A larger limit does nearly as much for YARN's masters (first sweep), and a shortage of room for workers removes the gain: with jobs of
  one map, whose workers all have room, the mean completion time more than halves, and with jobs of 3.5 GB no gain is left (sweep of sizes).
* The whole simulated world: noise, skew, contention and process start-up.
* The null arm gives every master 256 MB. If all jobs are small, it does the same as the rule; the last sweep has a job that needs more.`

// limitWork submits sixty jobs of the same size at once. With wide, one of 500 GB, which is 8000 maps, comes behind
// them.
func limitWork(size string, wide bool) exp.Work {
	return func(uint64) (string, error) {
		var b strings.Builder
		b.WriteString("name: adaptcont-limit\ncluster:\n  nodes:\n    - {count: 10, memory: 16GiB, vcores: 16, cores: 8}\nworkload:\n  jobs:\n")
		job := func(id, size string, user int) {
			fmt.Fprintf(&b, "    - {id: %s, user: u%d, program: wordcount, submit: 0s, input: %s, split: 64MiB, reduces: 1, "+
				"master: {memory: 1GiB, vcores: 1}, map: {memory: 1GiB, vcores: 1}, reduce: {memory: 1GiB, vcores: 1}}\n", id, user, size)
		}
		for i := range 60 {
			job(fmt.Sprintf("job%d", i+1), size, i%users+1)
		}
		if wide {
			job("wide", "500GiB", 1)
		}
		return b.String(), nil
	}
}

// limited returns Hadoop's configuration with a part of the queue for masters; with processors, the limit counts them
// too.
func limited(part float64, processors bool) func() *conf.Hadoop {
	return func() *conf.Hadoop {
		h := smallMasters()
		h.Capacity.MemoryOnly = !processors
		for i := range h.Capacity.Queues {
			h.Capacity.Queues[i].MaxAMShare = part
		}
		return h
	}
}

// limitArm has masters of one kind, with a tenth of the queue for masters.
func limitArm(name, master string, options ...string) exp.Arm {
	a := exp.Arm{Name: name, Profile: "capacity", Hadoop: limited(0.1, false)}
	if master != "" {
		a.Set = []string{fmt.Sprintf("size.am={adaptcont.%s: {%s}}", master, strings.Join(append([]string{"queue: capacity"}, options...), ", "))}
	}
	return a
}

// limitArms returns the three kinds of master.
func limitArms() []exp.Arm {
	return []exp.Arm{limitArm("YARN", ""), limitArm("Dynamic", "dynamic"), limitArm("Pool", "pool")}
}

// least gives every master 256 MiB.
func least(name string) exp.Arm {
	return limitArm(name, "dynamic", "unit_wave: 1073741824, unit_tasks: 0")
}

// limit measures what smaller masters are worth if there is a limit on masters.
func limit() exp.Experiment {
	e := exp.Experiment{
		System: "adaptcont", Name: "adaptcont-limit", Title: "Sixty small jobs with masters limited to a tenth of the queue", Source: "not in the paper",
		Method: limitMethod, Work: limitWork(small, false),
		Arms:   limitArms(),
		Null:   []exp.Arm{least("Dynamic"), least("Pool")},
		NullIs: "every master has 256 MB, whatever its job",
		// The more masters wait for a place, the more often a place waits for a process to start.
		LivesOff: []string{"launch_delay"},
	}
	var levels []exp.Metric
	for _, f := range []struct {
		name string
		of   func(*sim.Result) float64
	}{{"mean JCT", exp.JCTs(nil)}, {"mean wait", waits}, {"makespan", exp.Makespan}} {
		e.Metrics = append(e.Metrics, exp.Metric{Name: f.name + ", Dynamic, reduction", Unit: "%", Kind: exp.Measured, Of: exp.Reduced("YARN", "Dynamic", f.of)})
		for i := range e.Arms {
			levels = append(levels, exp.Metric{Name: f.name + ", " + e.Arms[i].Name, Unit: "s", Kind: exp.Measured, Of: exp.Under(e.Arms[i].Name, f.of)})
		}
	}
	e.Metrics = append(e.Metrics, levels...)
	e.Plots = []exp.Plot{{Kind: exp.CDF, Title: "Completion time"}}
	e.Sweeps = []exp.Sweep{parts(), counted(), jobSizes(), besideWide()}
	return e
}

// waits returns how long jobs wait for their first worker on average, in seconds.
func waits(r *sim.Result) float64 { return exp.MeanWait(r, nil) }

// limitSweep returns a table of arms by what their jobs get.
func limitSweep(name, title string, arms ...exp.Arm) exp.Sweep {
	return exp.Sweep{Name: name, Title: title, Base: "YARN", Arms: arms, Columns: []exp.Column{
		exp.Figures("mean JCT", "s", exp.JCTs(nil)), exp.Figures("mean wait", "s", waits), exp.Figures("makespan", "s", exp.Makespan),
		exp.Figures("master memory", "MiB", MasterMemory),
	}}
}

// parts has other limits, which an administrator could set without any sizing.
func parts() exp.Sweep {
	s := limitSweep("limit", "Another limit on masters instead of smaller masters")
	for _, part := range []float64{0.1, 0.2, 0.4, 1} {
		for _, a := range limitArms()[:2] {
			a.Name, a.Hadoop = fmt.Sprintf("%s, %g %%", a.Name, 100*part), limited(part, false)
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// counted has the same arms with processors counted.
func counted() exp.Sweep {
	s := limitSweep("counted", "Processors counted too: the limit then applies to vcores")
	for _, a := range limitArms() {
		a.Hadoop = limited(0.1, true)
		s.Arms = append(s.Arms, a)
	}
	return s
}

// jobSizes has larger and smaller jobs.
func jobSizes() exp.Sweep {
	s := limitSweep("size", "Jobs of other sizes")
	for _, size := range []string{"64MiB", "250MiB", "1GiB", "3.5GiB"} {
		for _, a := range limitArms()[:2] {
			a.Name, a.Work = strings.TrimSuffix(size, "iB")+"B, "+a.Name, limitWork(size, false)
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// besideWide adds one job behind the small ones, whose master outgrows 256 MiB.
func besideWide() exp.Sweep {
	s := limitSweep("wide", "A job of 8000 maps behind the small ones",
		limitArm("YARN", ""), limitArm("Dynamic", "dynamic"), limitArm("Dynamic, wave alone", "dynamic", "unit_tasks: 0"), limitArm("Pool", "pool"), least("256 MB for all"))
	for i := range s.Arms {
		s.Arms[i].Work = limitWork(small, true)
	}
	isWide := exp.IDs("wide")
	isSmall := func(j *sim.JobResult) bool { return !isWide(j) }
	s.Columns = slices.Insert(s.Columns[3:], 0,
		exp.Figures("mean JCT of the small", "s", exp.JCTs(isSmall)), exp.Figures("JCT of the large", "s", exp.JCTs(isWide)),
		exp.Figures("failed attempts", "", func(x *sim.Result) float64 { return float64(x.FailedAttempts) }))
	return s
}
