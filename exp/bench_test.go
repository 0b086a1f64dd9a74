package exp

import (
	"fmt"
	"testing"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/sim"
	"heddle/workload"
)

// flood returns jobs with maps plain maps each, as the Scheduler Load Simulator would run them: every task takes
// length, and one job comes every gap.
func flood(jobs, maps int, length, gap heddle.Span) *workload.Workload {
	w := &workload.Workload{Name: "flood", Format: "sls"}
	tasks := make([]workload.Task, maps)
	for i := range tasks {
		tasks[i] = workload.Task{Duration: length + heddle.Span(i%997)*heddle.Millisecond, Size: heddle.Of(1024, 1000)}
	}
	for i := range jobs {
		w.Jobs = append(w.Jobs, workload.Job{
			ID: "job" + string(rune('a'+i%26)), Framework: heddle.MapReduce, Maps: tasks, Submit: heddle.Time(gap) * heddle.Time(i),
		})
	}
	return w
}

func simulate(b *testing.B, profile string, nodes int, w *workload.Workload, given bool) *sim.Result {
	b.Helper()
	p, err := policies.Load(profile, nil)
	if err != nil {
		b.Fatal(err)
	}
	return simulated(b, p, nodes, w, given)
}

// simulated is simulate for a profile that was already read.
func simulated(b *testing.B, p *policies.Profile, nodes int, w *workload.Workload, given bool) *sim.Result {
	b.Helper()
	h := conf.Default()
	h.Capacity.Queues[1].MaxAMShare = 0.5
	plan := Plan{
		Workload: w, Profiles: []*policies.Profile{p}, Seeds: []uint64{1}, Conf: h,
		Nodes: Cluster(nodes, nodes/40, heddle.Of(8192, 8000)), Given: given,
	}
	runs, err := plan.Run()
	if err != nil {
		b.Fatal(err)
	}
	r := runs[0][0]
	for i := range r.Jobs {
		if r.Jobs[i].State != sim.Succeeded {
			b.Fatalf("job %d: %s", i, r.Jobs[i].State)
		}
	}
	return r
}

// BenchmarkMillion runs 10,000 nodes and 1,000,000 tasks in the given world, with the real core in the loop.
func BenchmarkMillion(b *testing.B) {
	w := flood(1000, 1000, 60*heddle.Second, heddle.Second)
	for b.Loop() {
		r := simulate(b, "capacity", 10_000, w, true)
		b.ReportMetric(float64(r.Events), "events")
		b.ReportMetric(r.Makespan.Seconds(), "simulated-s")
	}
}

// BenchmarkHeddle is the same with every mechanism on.
func BenchmarkHeddle(b *testing.B) {
	everything(b, 10_000, flood(1000, 1000, 60*heddle.Second, heddle.Second), true)
}

// BenchmarkHeddleWorld has every mechanism on in the full world, on fewer nodes.
func BenchmarkHeddleWorld(b *testing.B) {
	everything(b, 400, flood(100, 200, 60*heddle.Second, 5*heddle.Second), false)
}

// everything simulates with every mechanism on. The time per event includes the simulator's own.
func everything(b *testing.B, nodes int, w *workload.Workload, given bool) {
	events := int64(0)
	for b.Loop() {
		r := simulate(b, "heddle", nodes, w, given)
		events += r.Events
		b.ReportMetric(float64(r.Events), "events")
		b.ReportMetric(r.Makespan.Seconds(), "simulated-s")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}

// BenchmarkAgents runs an hour of 1,000 nodes with every mechanism on, without node agents and with them.
func BenchmarkAgents(b *testing.B) {
	w := flood(60, 1000, 400*heddle.Second, 60*heddle.Second)
	for _, agents := range []bool{false, true} {
		b.Run(fmt.Sprintf("agents=%v", agents), func(b *testing.B) {
			p, err := policies.Load("heddle", nil)
			if err != nil {
				b.Fatal(err)
			}
			if p.Agents = agents; !agents {
				p, _ = p.WithoutAgent()
			}
			events := int64(0)
			for b.Loop() {
				r := simulated(b, p, 1000, w, true)
				events += r.Events
				b.ReportMetric(float64(r.Events), "events")
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkDay runs a day of 10,000 nodes with 1,000,000 tasks.
func BenchmarkDay(b *testing.B) {
	w := flood(1000, 1000, 400*heddle.Second, 86*heddle.Second)
	for b.Loop() {
		r := simulate(b, "capacity", 10_000, w, true)
		b.ReportMetric(r.Makespan.Seconds()*1e9/float64(b.Elapsed().Nanoseconds())*float64(b.N), "x-real-time")
	}
}
