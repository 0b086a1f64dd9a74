package exp

import (
	"testing"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/sim"
	"heddle/workload"
)

// unlike returns work in the worst order: three waves of a cluster's tasks, then one, then a few.
func unlike() *workload.Workload {
	w := &workload.Workload{}
	for i, maps := range []int{48, 16, 4} {
		j := workload.Job{ID: []string{"large", "middle", "small"}[i], Framework: heddle.MapReduce, SlowStart: -1, Submit: heddle.Time(heddle.Span(i) * heddle.Second)}
		for range maps {
			j.Maps = append(j.Maps, workload.Task{Duration: 30 * heddle.Second, Size: heddle.Of(1024, 1000)})
		}
		w.Jobs = append(w.Jobs, j)
	}
	return w
}

func unlikePlan(t *testing.T, profiles ...*policies.Profile) Plan {
	t.Helper()
	return Plan{
		Workload: unlike(), Conf: conf.Default(), Seeds: []uint64{1, 2}, Given: true, Profiles: profiles,
		Nodes: Cluster(2, 1, heddle.Of(10240, 10000)),
		Faults: func(uint64) []sim.Fault {
			return []sim.Fault{{Kind: sim.NodeLoss, Node: 1, At: heddle.Time(20 * heddle.Second), For: 40 * heddle.Second}}
		},
	}
}

// A job that runs alone takes its own waves, and nothing goes wrong.
func TestAlone(t *testing.T) {
	p := unlikePlan(t, load(t, "capacity"), load(t, "heddle"))
	plan, err := p.Alone()
	if err != nil {
		t.Fatal(err)
	}
	alone := run(t, *plan)
	if len(alone) != 1 || len(alone[0]) != 2 || plan.Profiles[0].Stock {
		t.Fatalf("%d profiles with %d seeds", len(alone), len(alone[0]))
	}
	for i, waves := range []heddle.Span{3, 1, 1} {
		own := waves * 30 * heddle.Second
		if got := alone[0][0].Jobs[i].JCT; got < own || got > own+10*heddle.Second {
			t.Errorf("job %d takes %v alone, its tasks %v", i, got, own)
		}
	}
	runs := run(t, p)
	alone[0][1].Jobs[2].State = sim.Failed
	SetAlone(runs, alone[0])
	if got, want := runs[1][0].Jobs[1].Alone, alone[0][0].Jobs[1].JCT; got != want {
		t.Errorf("noted is %v, want %v", got, want)
	}
	if got := runs[0][1].Jobs[2].Alone; got != 0 {
		t.Errorf("%v is noted of a job that failed", got)
	}
	p.Profiles[0].Stock = true
	if plan, err = p.Alone(); err != nil || plan.Profiles[0].Stock {
		t.Errorf("as a stock ResourceManager, where one of two is: %v", err)
	}
	p.Profiles[1].Stock = true
	if plan, err = p.Alone(); err != nil || !plan.Profiles[0].Stock {
		t.Errorf("not as a stock ResourceManager, where all are: %v", err)
	}
}

// If one of the profiles does not count processors, neither do the runs of jobs alone.
func TestAloneByMemory(t *testing.T) {
	p := unlikePlan(t, load(t, "capacity"))
	p.Nodes = Cluster(2, 1, heddle.Of(30*1024, 4000))
	counted, err := p.Alone()
	if err != nil {
		t.Fatal(err)
	}
	p.Conf.Capacity.MemoryOnly = true
	free, err := p.Alone()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := run(t, *counted)[0][0].Jobs[0].JCT, run(t, *free)[0][0].Jobs[0].JCT; b > a/2 {
		t.Errorf("with all memory %v, with eight cores %v", b, a)
	}
}

// A clairvoyant order serves the least work first, regardless of the order of submission.
func TestClairvoyant(t *testing.T) {
	p := unlikePlan(t, load(t, "fifo"))
	p.Faults = nil
	plan, err := p.Alone()
	if err != nil {
		t.Fatal(err)
	}
	first, knowing := run(t, p)[0][0], run(t, *p.Clairvoyant(run(t, *plan)[0]))[0][0]
	for i, ends := range []bool{false, true, true} {
		if sooner := knowing.Jobs[i].JCT < first.Jobs[i].JCT-20*heddle.Second; sooner != ends {
			t.Errorf("job %d takes %v, and %v where the first comes first", i, knowing.Jobs[i].JCT, first.Jobs[i].JCT)
		}
	}
}

// Work is what containers held, times how long they held it.
func TestNeeds(t *testing.T) {
	r := &sim.Result{Jobs: make([]sim.JobResult, 1)}
	for i, ended := range []float64{10, 30, -1} { // the third was still running when the run was cut short
		r.Tasks = append(r.Tasks, sim.TaskResult{
			Kind: heddle.Map, Index: int32(i), Granted: heddle.Time(5 * heddle.Second), Ended: heddle.Time(heddle.Seconds(ended)), Size: heddle.Of(1024, 4000),
		})
	}
	n := needs(r, heddle.Of(10240, 8000))[0]
	if n.count[heddle.Map] != 2 || n.work[heddle.Map] != 15 { // half the cluster, for 5 and for 25 s
		t.Errorf("%d maps with %g s of the cluster", n.count[heddle.Map], n.work[heddle.Map])
	}
}
