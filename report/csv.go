package report

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"heddle"
	"heddle/sim"
)

var runHeader = []string{
	"profile", "seed", "jobs", "completed", "failed",
	"jct_mean_s", "jct_p50_s", "jct_p95_s", "jct_p99_s",
	"wait_mean_s", "wait_p50_s", "wait_p95_s", "wait_p99_s",
	"starvation_mean_s", "starvation_p50_s", "starvation_p95_s", "starvation_p99_s",
	"makespan_s", "local_maps", "cpu_utilisation", "memory_utilisation", "jct_over_bound", "wall_s",
	"recorded_error_p50", "recorded_error_p95", "slowdown_mean", "slowdown_p50", "slowdown_p95", "slowdown_p99",
	"unfinished",
}

// The metrics of runHeader, after profile and seed.
var runMetrics = []Metric{
	Jobs, Completed, Failed, JCTMean, JCTP50, JCTP95, JCTP99, WaitMean, WaitP50, WaitP95, WaitP99,
	StarvationMean, StarvationP50, StarvationP95, StarvationP99,
	Makespan, LocalMaps, CPUUtilisation, MemoryUtilisation, JCTOverBound, Wall,
	RecordedP50, RecordedP95, SlowdownMean, SlowdownP50, SlowdownP95, SlowdownP99,
	Unfinished,
}

// CSV writes one row per profile and seed, with the figures whose means [JSON] writes. New columns are added at the
// end. A cell is empty if a figure does not apply. It returns w's error.
func CSV(w io.Writer, c *Comparison) error {
	return c.table(w, runHeader, func(r *sim.Result, cells []string, write func([]string)) {
		f := Measure(r)
		for _, m := range runMetrics {
			cells = append(cells, decimal(f[m]))
		}
		write(cells)
	})
}

var jobHeader = []string{
	"profile", "seed", "job", "queue", "user", "type", "maps", "reduces", "input_bytes", "submit_s", "wait_s",
	"jct_s", "starvation_s", "reduce_hold_s", "reservation_s", "local_maps", "am_memory_mib", "bound_s", "state",
	"recorded_s", "why", "alone_s", "localised_maps",
}

// JobsCSV writes one row per job, for every profile and seed. Times are in seconds with milliseconds. A cell is empty
// if it does not apply, such as the completion time of a job that never ended. recorded_s is the completion time
// recorded in the trace; why says why a job did not succeed; alone_s is its completion time with the cluster to itself.
// local_maps are those of localised_maps that first ended on a node with their split; the sum of the former over the
// sum of the latter is a run's [LocalMaps]. It returns w's error.
func JobsCSV(w io.Writer, c *Comparison) error {
	return c.table(w, jobHeader, func(r *sim.Result, cells []string, write func([]string)) {
		for i := range r.Jobs {
			j := &r.Jobs[i]
			jct, local, master := j.JCT, strconv.Itoa(j.LocalMaps), ""
			if j.State == sim.Unfinished || j.State == sim.Rejected {
				jct = sim.NoSpan
			}
			if j.LocalisedMaps == 0 {
				local = ""
			}
			if j.MasterMemory > 0 {
				master = strconv.FormatInt(j.MasterMemory, 10)
			}
			write(append(cells, j.ID, j.Queue, j.User, j.Framework.String(), strconv.Itoa(j.Maps),
				strconv.Itoa(j.Reduces), strconv.FormatInt(j.InputBytes, 10), millis(heddle.Span(j.Submit)),
				millis(j.Wait), millis(jct), millis(j.Starvation), millis(j.ReduceHold), millis(j.Reservation),
				local, master, millis(j.Bound), j.State.String(), ifKnown(j.Recorded), j.Why, ifKnown(j.Alone), strconv.Itoa(j.LocalisedMaps)))
		}
	})
}

// ifKnown writes a span in seconds, or nothing if it is unknown: 0 or NoSpan.
func ifKnown(s heddle.Span) string {
	if s <= 0 {
		return ""
	}
	return millis(s)
}

var taskHeader = []string{
	"profile", "seed", "job", "kind", "index", "container", "node", "locality", "granted_s", "started_s", "ended_s",
	"memory_mib", "vcores", "limit_memory_mib", "limit_vcores", "status",
}

// TasksCSV writes one row per container, for every run whose tasks were kept. memory_mib and vcores are what the
// application was told, limit_… what the node enforced last, status the exit code (YARN's are negative). It returns w's
// error.
func TasksCSV(w io.Writer, c *Comparison) error {
	return c.table(w, taskHeader, func(r *sim.Result, cells []string, write func([]string)) {
		for i := range r.Tasks {
			t := &r.Tasks[i]
			started, ended := heddle.Span(t.Started), heddle.Span(t.Ended)
			if !t.Ran() {
				started = sim.NoSpan // no process ever ran in it
			}
			if t.Ended < t.Granted {
				ended = sim.NoSpan // the run was cut before
			}
			write(append(cells, r.Jobs[t.Job].ID, t.Kind.String(), strconv.Itoa(int(t.Index)),
				strconv.FormatInt(int64(t.Container), 10), nodeName(r, t.Node), t.At.String(),
				millis(heddle.Span(t.Granted)), millis(started), millis(ended),
				strconv.FormatInt(t.Size[heddle.Memory], 10), vcores(t.Size),
				strconv.FormatInt(t.Limit[heddle.Memory], 10), vcores(t.Limit), strconv.Itoa(int(t.Status))))
		}
	})
}

// table writes a header and the rows of every run; each row begins with profile and seed.
func (c *Comparison) table(w io.Writer, header []string, run func(*sim.Result, []string, func([]string))) error {
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return err
	}
	var failed error
	for _, p := range c.Profiles {
		for _, r := range p.Runs {
			cells := append(make([]string, 0, len(header)), p.Name, strconv.FormatUint(r.Seed, 10))
			run(r, cells, func(row []string) {
				if failed == nil {
					failed = out.Write(row)
				}
			})
			if failed != nil {
				return failed
			}
		}
	}
	out.Flush()
	return out.Error()
}

// millis writes a span in seconds with milliseconds, or nothing for NoSpan.
func millis(s heddle.Span) string {
	if s < 0 {
		return ""
	}
	return strconv.FormatFloat(s.Seconds(), 'f', 3, 64)
}

// decimal writes a figure with at most six digits after the point, or nothing for NaN.
func decimal(f float64) string {
	if math.IsNaN(f) {
		return ""
	}
	return strconv.FormatFloat(math.Round(f*1e6)/1e6, 'f', -1, 64)
}

func vcores(r heddle.Resource) string {
	return strconv.FormatFloat(float64(r[heddle.CPU])/1000, 'f', -1, 64)
}

func nodeName(r *sim.Result, n heddle.NodeID) string {
	if n < 0 || int(n) >= len(r.Nodes) {
		return ""
	}
	return r.Nodes[n].Name
}
