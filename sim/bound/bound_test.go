package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle"
)

const second = heddle.Second

// at returns a job with the given memory and processor work, in MiB·s and milli-vcore·s.
func at(arrival heddle.Span, path heddle.Span, mem, cpu float64) Job {
	return Job{Arrival: heddle.Time(arrival), CriticalPath: path, Work: [heddle.NumDims]float64{mem, cpu}}
}

// near reports whether s is want, except for what needs rounds down.
func near(s, want heddle.Span) bool {
	return s <= want && float64(want-s) <= 2+2*rounding*float64(want)
}

func TestWorkedByHand(t *testing.T) {
	total := heddle.Of(100, 1000) // 100 MiB, 1 vcore
	for _, c := range []struct {
		name               string
		jobs               []Job
		makespan, mean     heddle.Span
		makespanBy, meanBy string
		own                []heddle.Span
	}{
		{
			name:     "one job, its chain is longer than its work",
			jobs:     []Job{at(5*second, 9*second, 300, 4000)},
			makespan: 9 * second, makespanBy: "critical path",
			mean: 9 * second, meanBy: "each job at its shortest",
			own: []heddle.Span{9 * second},
		},
		{
			name:     "two at once: 4 s and 10 s of the processor, the short one first: (4 + 14) / 2",
			jobs:     []Job{at(0, second, 0, 10e3), at(0, second, 0, 4e3)},
			makespan: 14 * second, makespanBy: "work: vcores",
			mean: 9 * second, meanBy: "shortest remaining work: vcores",
			own: []heddle.Span{10 * second, 4 * second},
		},
		{
			name:     "the long one is interrupted: 0-2, 6-14; the short one 2-6: (14 + 4) / 2",
			jobs:     []Job{at(2*second, second, 400, 0), at(0, second, 1000, 0)},
			makespan: 14 * second, makespanBy: "work: memory",
			mean: 9 * second, meanBy: "shortest remaining work: memory",
			own: []heddle.Span{4 * second, 10 * second},
		},
		{
			name:     "a late job counts from its arrival: 20 + 3, not 10 + 3 and not 0 + 13",
			jobs:     []Job{at(0, second, 1000, 0), at(20*second, second, 300, 0)},
			makespan: 23 * second, makespanBy: "work: memory",
			mean: 6500 * heddle.Millisecond, meanBy: "each job at its shortest",
			own: []heddle.Span{10 * second, 3 * second},
		},
		{
			name:     "time runs from the first arrival",
			jobs:     []Job{at(100*second, 2*second, 0, 0), at(103*second, 4*second, 0, 0)},
			makespan: 7 * second, makespanBy: "critical path",
			mean: 3 * second, meanBy: "each job at its shortest",
			own: []heddle.Span{2 * second, 4 * second},
		},
		{
			// By memory they end at 2 and 12, by processors at 11 and 1; alone, each takes 10.
			name:     "each needs a resource of its own: alone is the larger mean, (10 + 10) / 2",
			jobs:     []Job{at(0, second, 200, 10e3), at(0, second, 1000, 1e3)},
			makespan: 12 * second, makespanBy: "work: memory",
			mean: 10 * second, meanBy: "each job at its shortest",
			own: []heddle.Span{10 * second, 10 * second},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Of(c.jobs, total)
			if err != nil {
				t.Fatal(err)
			}
			if !near(b.Makespan, c.makespan) || b.MakespanBy != c.makespanBy {
				t.Errorf("makespan %v by %s, want %v by %s", b.Makespan, b.MakespanBy, c.makespan, c.makespanBy)
			}
			if !near(b.MeanJCT, c.mean) || b.MeanJCTBy != c.meanBy {
				t.Errorf("mean %v by %s, want %v by %s", b.MeanJCT, b.MeanJCTBy, c.mean, c.meanBy)
			}
			for i := range c.own {
				if !near(b.Jobs[i], c.own[i]) {
					t.Errorf("job %d: %v, want %v", i, b.Jobs[i], c.own[i])
				}
			}
		})
	}
}

// One of two jobs needs a little more of one resource, the other a little more of the other. Under shortest remaining
// work, each ends second on one of the resources, at 11 s. Taking the later end of each job would claim a mean of 11 s,
// but the optimum is 8.5 s.
func TestSingleEndsAreNoBounds(t *testing.T) {
	p := tiny{
		nodes: []heddle.Resource{heddle.Of(1, 1)},
		jobs:  []tinyJob{{0, 1}, {0, 1}},
		tasks: []tinyTask{{0, 0, 5, heddle.Of(1, 1)}, {0, 0, 1, heddle.Of(0, 1)}, {1, 0, 5, heddle.Of(1, 1)}, {1, 0, 1, heddle.Of(1, 0)}},
	}
	jobs, total := p.input()
	order := []int{0, 1}
	need, err := needs(jobs, total)
	if err != nil {
		t.Fatal(err)
	}
	mem, cpu := shortestRemaining(jobs, order, need[heddle.Memory]), shortestRemaining(jobs, order, need[heddle.CPU])
	wrong := mean([]heddle.Span{max(mem[0], cpu[0]), max(mem[1], cpu[1])})
	best := heddle.Span(p.exact(totalJCT)) * second / 2
	if wrong <= best {
		t.Fatalf("the example shows nothing: %v against the optimum %v", wrong, best)
	}
	b, err := Of(jobs, total)
	if err != nil {
		t.Fatal(err)
	}
	if b.MeanJCT > best {
		t.Errorf("bound %v is above the optimum %v", b.MeanJCT, best)
	}
}

// Compares the optimum itself with the simplest search: every task at every second.
func TestExactIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawTiny(t, 4)
		p.nodes = p.nodes[:1]
		for _, value := range []objective{makespan, totalJCT} {
			if got, want := p.exact(value), p.everySecond(value); got != want {
				t.Fatalf("exact gives %d, trying every second %d", got, want)
			}
		}
	})
}

// Two nodes of two processors. If the short task runs beside one of the long ones, the job that arrives at 3 s and
// wants a whole node waits until 5 s; if the long ones share a node, it does not wait.
func TestExactTellsNodesApartByWhatRunsThere(t *testing.T) {
	node, one := heddle.Of(1, 2), heddle.Of(0, 1)
	p := tiny{
		nodes: []heddle.Resource{node, node},
		jobs:  []tinyJob{{0, 1}, {3, 1}},
		tasks: []tinyTask{{0, 0, 2, one}, {0, 0, 5, one}, {0, 0, 5, one}, {1, 0, 2, heddle.Of(0, 2)}},
	}
	if got := p.exact(makespan); got != 5 {
		t.Errorf("makespan %d, want 5", got)
	}
}

// drawTiny draws a problem of at most the given number of tasks.
func drawTiny(t *rapid.T, most int) *tiny {
	small := rapid.IntRange(1, 4)
	node := heddle.Of(int64(small.Draw(t, "mem")), int64(small.Draw(t, "cpu")))
	p := &tiny{nodes: slices.Repeat([]heddle.Resource{node}, rapid.IntRange(1, 2).Draw(t, "nodes"))}
	arrival := 0
	for j := range rapid.IntRange(1, 4).Draw(t, "jobs") {
		stages := rapid.IntRange(1, 2).Draw(t, "stages")
		p.jobs = append(p.jobs, tinyJob{arrival, stages})
		arrival += rapid.IntRange(0, 4).Draw(t, "gap")
		for s := range stages {
			for range rapid.IntRange(1, 2).Draw(t, "classes") {
				size := heddle.Of(int64(rapid.IntRange(0, int(node[0])).Draw(t, "m")), int64(rapid.IntRange(0, int(node[1])).Draw(t, "c")))
				k := tinyTask{j, s, small.Draw(t, "length"), size}
				for range rapid.IntRange(1, 3).Draw(t, "count") {
					if len(p.tasks) < most {
						p.tasks = append(p.tasks, k)
					}
				}
			}
		}
	}
	return p
}

func TestBoundIsBelowTheOptimum(t *testing.T) {
	tight := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawTiny(t, mostTasks)
		jobs, total := p.input()
		b, err := Of(jobs, total)
		if err != nil {
			t.Fatal(err)
		}
		order := make([]int, len(p.tasks))
		for i := range order {
			order[i] = i
		}
		listed := p.list(rapid.Permutation(order).Draw(t, "order"))

		best := p.exact(makespan)
		if got := makespan(p, listed); got < best {
			t.Fatalf("a list schedule has makespan %d, below the optimum %d", got, best)
		}
		if b.Makespan > heddle.Span(best)*second {
			t.Fatalf("makespan bound %v (%s) is above the optimum %d s", b.Makespan, b.MakespanBy, best)
		}
		sum := p.exact(totalJCT)
		if got := totalJCT(p, listed); got < sum {
			t.Fatalf("a list schedule has a total JCT of %d, below the optimum %d", got, sum)
		}
		if b.MeanJCT > heddle.Span(sum)*second/heddle.Span(len(jobs)) {
			t.Fatalf("mean bound %v (%s) is above the optimum %d s / %d", b.MeanJCT, b.MeanJCTBy, sum, len(jobs))
		}
		if near(b.Makespan, heddle.Span(best)*second) {
			tight++
		}
		for j, end := range listed {
			if b.Jobs[j] > heddle.Span(end-p.jobs[j].arrival)*second {
				t.Fatalf("job %d: bound %v, and a schedule has it done at %d", j, b.Jobs[j], end)
			}
		}
	})
	if tight == 0 {
		t.Error("the makespan bound never met the optimum: it is too loose to be worth printing")
	}
}

// A simple twin: it advances one nanosecond at a time and looks at all jobs.
func TestShortestRemainingIsWhatItSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		jobs, need, byArrival := make([]Job, n), make([]heddle.Span, n), make([]int, n)
		for i := range n {
			jobs[i].Arrival = heddle.Time(rapid.IntRange(0, 20).Draw(t, "arrival"))
			need[i] = heddle.Span(rapid.IntRange(0, 9).Draw(t, "need"))
			byArrival[i] = i
		}
		slices.SortStableFunc(byArrival, func(a, b int) int { return int(jobs[a].Arrival - jobs[b].Arrival) })

		var want heddle.Span
		rest := slices.Clone(need)
		for now := range heddle.Time(100) {
			pick := -1
			for i := range n {
				if jobs[i].Arrival <= now && rest[i] > 0 && (pick < 0 || rest[i] < rest[pick]) {
					pick = i
				}
			}
			if pick < 0 {
				continue
			}
			if rest[pick]--; rest[pick] == 0 {
				want += (now + 1).Since(jobs[pick].Arrival)
			}
		}
		var got heddle.Span
		for _, s := range shortestRemaining(jobs, byArrival, need) {
			got += s
		}
		if got != want {
			t.Fatalf("total %d, want %d", got, want)
		}
	})
}

func TestOrderOfJobsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, total := drawTiny(t, mostTasks).input()
		there, err := Of(jobs, total)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(jobs)
		back, err := Of(jobs, total)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(back.Jobs)
		if fmt.Sprint(there) != fmt.Sprint(back) {
			t.Fatalf("%+v\n%+v", there, back)
		}
	})
}

func TestNoJobs(t *testing.T) {
	b, err := Of(nil, heddle.Of(1, 1))
	if err != nil || b.Makespan != 0 || b.MeanJCT != 0 || len(b.Jobs) != 0 {
		t.Errorf("got %+v, %v", b, err)
	}
}

func TestRefused(t *testing.T) {
	total := heddle.Of(100, 1000)
	good := at(0, second, 1, 1)
	extra := Job{Work: [heddle.NumDims]float64{heddle.Extra1: 1}}
	for _, c := range []struct {
		job  Job
		want string
	}{
		{at(-second, 0, 0, 0), "job 1: arrival is -1 s"},
		{at(0, -second, 0, 0), "job 1: critical path is -1 s"},
		{at(0, math.MaxInt64, 0, 0), "job 1: critical path"},
		{at(0, 0, -1, 0), "job 1: work in memory is -1"},
		{at(0, 0, 0, math.NaN()), "job 1: work in vcores is NaN"},
		{at(0, 0, 0, math.Inf(1)), "job 1: work in vcores is +Inf"},
		{at(0, 0, 1e200, 0), "job 1: with it the work in memory"},
		{extra, "job 1 needs extra1, and the cluster has none"},
	} {
		_, err := Of([]Job{good, c.job}, total)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestMeanOfLargeSpans(t *testing.T) {
	if got := mean([]heddle.Span{longest, longest, longest - 4, longest - 3}); got != longest-2 {
		t.Errorf("got %v, want %v", got, longest-2)
	}
}

func TestOfferedLoad(t *testing.T) {
	total := heddle.Of(100, 1000)
	// 10 s apart; 3 s of all memory, 6 s of all processors: 0.6.
	jobs := []Job{at(10*second, second, 100, 4e3), at(20*second, second, 200, 2e3)}
	load, err := OfferedLoad(jobs, total)
	if err != nil || math.Abs(load-0.6) > 1e-9 {
		t.Fatalf("load %v, %v; want 0.6", load, err)
	}
	k, err := ScaleFor(0.85, jobs, total)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		jobs[i].Arrival = heddle.Time(math.Round(float64(jobs[i].Arrival) * k))
	}
	if load, err = OfferedLoad(jobs, total); err != nil || math.Abs(load-0.85) > 1e-9 {
		t.Errorf("after scaling by %v the load is %v, %v; want 0.85", k, load, err)
	}
}

func TestLoadRefused(t *testing.T) {
	total := heddle.Of(100, 1000)
	two := []Job{at(0, second, 1, 1), at(second, second, 1, 1)}
	for _, c := range []struct {
		load float64
		jobs []Job
		want string
	}{
		{0.5, nil, "at least 2 jobs, got 0"},
		{0.5, two[:1], "at least 2 jobs, got 1"},
		{0.5, []Job{two[1], two[1]}, "all 2 jobs arrive at 1 s"},
		{0.5, []Job{at(0, second, 0, 0), at(second, second, 0, 0)}, "no work"},
		{0.5, []Job{two[0], at(second, 0, -1, 0)}, "job 1"},
		{0, two, "load is 0"},
		{-1, two, "load is -1"},
		{math.NaN(), two, "load is NaN"},
		{math.Inf(1), two, "load is +Inf"},
	} {
		if _, err := ScaleFor(c.load, c.jobs, total); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func BenchmarkBounds(b *testing.B) {
	for _, n := range []int{1e4, 1e5} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			jobs := make([]Job, n)
			for i := range jobs {
				jobs[i] = at(heddle.Seconds(r.Float64()*float64(n)), second, 100*r.ExpFloat64(), 1000*r.ExpFloat64())
			}
			for b.Loop() {
				if _, err := Of(jobs, heddle.Of(100, 1000)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
