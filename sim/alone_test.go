package sim

import (
	"testing"

	"heddle"
	"heddle/workload"
)

// If jobs are kept apart, a job begins when all earlier ones are over and takes what it takes alone, whenever it says
// it is submitted and whatever happens to the others.
func TestApart(t *testing.T) {
	list := []workload.Job{
		mapReduce("large", 500, lasting(40, 20), lasting(4, 10)),
		mapReduce("too large", 0, tasks(1, workload.Task{Duration: second, Size: heddle.Of(1<<21, 1000)}), nil),
		mapReduce("small", 0, lasting(3, 7), nil),
	}
	list[1].Master = heddle.Of(1<<21, 1000) // no node can hold it: it is rejected
	together := givenWorld(nodes(2, 1, heddle.Of(8192, 8000)), list...)
	apart := together
	apart.Apart = true
	fifo := named(t, "fifo")
	r := fifo.run(t, apart)
	states(t, r, Succeeded, Rejected, Succeeded)
	for i := range list {
		if i == 1 {
			continue
		}
		o := givenWorld(together.Nodes, list[i])
		if by := fifo.run(t, o).Jobs[0].JCT; r.Jobs[i].JCT < by-second || r.Jobs[i].JCT > by+second { // they meet heartbeats at other times
			t.Errorf("%s takes %v, by itself %v", list[i].ID, r.Jobs[i].JCT, by)
		}
	}
	if from := kept(r, 2, heddle.AM)[0].Granted; from < r.Jobs[0].End.Plus(idleBetween) {
		t.Errorf("small begins at %v, large ends at %v", from, r.Jobs[0].End)
	}
	if got := fifo.run(t, together); got.Makespan < 500*second {
		t.Errorf("together large is not submitted when it says: %v", got.Makespan)
	}
}

// Options.Submit is told of every submission before the ResourceManager is.
func TestSubmitIsTold(t *testing.T) {
	var told []int
	o := givenWorld(nodes(1, 1, heddle.Of(8192, 8000)), mapReduce("late", 10, lasting(1, 1), nil), mapReduce("early", 0, lasting(1, 1), nil))
	o.Submit = func(job int) { told = append(told, job) }
	named(t, "fifo").run(t, o)
	if len(told) != 2 || told[0] != 1 || told[1] != 0 {
		t.Errorf("told of %v", told)
	}
}
