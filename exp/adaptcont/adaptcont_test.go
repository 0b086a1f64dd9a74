package adaptcont

import (
	"cmp"
	"slices"
	"testing"

	"heddle"
	"heddle/exp/exptest"
	"heddle/sim"
)

// What the simulated ResourceManager gives masters is what the paper's rules give by hand.
//
// All at once, mixed: FIFO 2·256 + 2·512 + 6·768; Capacity, where two of ten waves are above 100, 8·256 + 2·512;
// Fair and Pool ten alike. All at once, 10 GB each: FIFO's second and tenth wave are 90 and 100: 2·256 + 8·512.
// 10 GB each, one a wave: 160 for everybody under FIFO and Capacity, 25 under Fair.
func TestTotals(t *testing.T) {
	list := experiments()
	for i, want := range [][9]float64{
		{10240, 6144, 5120, 10240, 2560, 5120, 10240, 3072, 5120},
		{10240, 4608, 5120, 10240, 2560, 5120, 10240, 2560, 5120},
		{},
		{10240, 5120, 5120, 10240, 2560, 5120, 10240, 5120, 5120},
		{10240, 6144, 5120, 10240, 2560, 5120, 10240, 3072, 5120},
	} {
		e := &list[i]
		if want[0] == 0 { // the order of arrival is drawn
			continue
		}
		runs := exptest.Run(t, e, 7, false)
		for k := range e.Arms {
			r := runs.Arm(e.Arms[k].Name)
			if got := MasterMemory(r); got != want[k] {
				t.Errorf("%s, %s: masters of %v MiB, want %v", e.Name, e.Arms[k].Name, got, want[k])
			}
			if n := len(r.Jobs); n != users {
				t.Errorf("%s, %s: %d jobs", e.Name, e.Arms[k].Name, n)
			}
		}
	}
}

// Workers never get what is set apart for masters, nor masters what is for workers.
func TestKeepsMastersApart(t *testing.T) {
	list := experiments()
	runs := exptest.Run(t, &list[0], 3, false)
	for _, a := range list[0].Arms {
		r := runs.Arm(a.Name)
		type end struct {
			at heddle.Time
			by int
		}
		var ends []end
		for i := range r.Tasks {
			if x := &r.Tasks[i]; x.Kind != heddle.AM && x.Started > 0 {
				ends = append(ends, end{x.Started, 1}, end{x.Ended, -1})
			}
		}
		slices.SortFunc(ends, func(x, y end) int { return cmp.Or(cmp.Compare(x.at, y.at), x.by-y.by) })
		now, most := 0, 0
		for _, x := range ends {
			now += x.by
			most = max(most, now)
		}
		if most > nodes*perNode || most < nodes*perNode*9/10 {
			t.Errorf("%s: %d workers at once, want nearly 250 and no more", a.Name, most)
		}
	}
}

func TestWaves(t *testing.T) {
	task := func(job int, from, to heddle.Time) sim.TaskResult {
		return sim.TaskResult{Job: job, Kind: heddle.Map, Started: from, Ended: to}
	}
	r := &sim.Result{Jobs: make([]sim.JobResult, 2), Tasks: []sim.TaskResult{
		task(0, 1, 5), task(0, 2, 4), task(0, 4, 6), // the third begins as the second ends
		task(1, 1, 9), task(1, 0, 9), // the second never started
		{Job: 1, Kind: heddle.AM, Started: 1, Ended: 9},
	}}
	if got := waves(r); !slices.Equal(got, []int{2, 1}) {
		t.Errorf("%v, want 2 and 1", got)
	}
	r.Jobs[0].MasterMemory, r.Jobs[1].MasterMemory = 256, 128
	if n := tooSmall(r); n != 1 {
		t.Errorf("%v masters too small, want 1: 256 MiB are the least", n)
	}
}
