package sim

import (
	"maps"
	"math"
	"slices"
	"testing"

	"heddle"
	"heddle/policy"
)

// progressTold returns when a policy heard of each container's progress, and its value, in a run in which masters are
// asked.
func progressTold(t *testing.T, o Options) (r *Result, at map[heddle.ContainerID][]heddle.Time, part map[heddle.ContainerID][]float64) {
	t.Helper()
	at, part = map[heddle.ContainerID][]heddle.Time{}, map[heddle.ContainerID][]float64{}
	s := bare()
	s.Feeds.Progress = 3 * second
	s.Lanes[0].Order = watch{saw: func(v policy.View, e policy.Effect) {
		if e.What == policy.TaskProgress {
			_, p := e.Container.Progress()
			at[e.Container.ID()] = append(at[e.Container.ID()], v.Now())
			part[e.Container.ID()] = append(part[e.Container.ID()], p)
		}
	}}
	o.NoAgents = true
	r = under(t, s, o)
	states(t, r, Succeeded)
	return r, at, part
}

// A master is asked 5 s after its last answer, which takes it 0.1 s. Of its tasks it knows what they last reported:
// nothing for 12 s, and then their progress at most 6 s ago.
func TestMastersAreAskedAsOften(t *testing.T) {
	const long = 60.0
	for _, isGiven := range []bool{false, true} {
		o := thirty(2, 2)
		o.Workload.Jobs[0].Maps, o.Given = lasting(2, long), isGiven
		r, at, part := progressTold(t, o)
		for _, x := range kept(r, 0, heddle.Map) {
			times := at[x.Container]
			if n := len(times); n < 9 || n > 12 {
				t.Errorf("given %v: told %d times of a map of %g s, want 9 to 12", isGiven, n, long)
			}
			for i, now := range times {
				if i > 0 && math.Abs(now.Since(times[i-1]).Seconds()-5.1) > 0.001 {
					t.Errorf("given %v: told %g s after the last time, want 5.1", isGiven, now.Since(times[i-1]).Seconds())
				}
				ran := now.Since(x.Started).Seconds() - listTakes.Seconds() // by what the master knew when it was asked
				want := math.Floor(ran/6) * 6
				if want < 12 {
					want = 0
				}
				near(t, "how far a map is said to be", part[x.Container][i]*long, want, 0.5)
			}
		}
	}
}

// firsts returns, for each time at which policies first heard of containers, their number, and the last of these times.
func firsts(at map[heddle.ContainerID][]heddle.Time) (counts []int, last heddle.Time) {
	of := map[heddle.Time]int{}
	for _, times := range at {
		of[times[0]]++
	}
	for _, last = range slices.Sorted(maps.Keys(of)) {
		counts = append(counts, of[last])
	}
	return counts, last
}

// Masters are asked in which containers tasks run for 50 tasks at a time: after a list of them, and together with the
// next one. So it takes three lists to learn the progress of 120 maps that start together. Node agents report it for
// their containers.
func TestContainersAreToldFiftyAtATime(t *testing.T) {
	o := fullWorld(nodes(31, 1, heddle.Of(16384, 4000)), mapReduce("j", 0, lasting(120, 60), nil))
	_, at, _ := progressTold(t, o)
	counts, last := firsts(at)
	if !slices.Equal(counts, []int{100, 20}) {
		t.Errorf("first told of %v maps, one time after the other, want 100 with the second list and 20 with the third", counts)
	}
	o.NodeAgents = &NodeAgents{}
	_, at, _ = progressTold(t, o)
	if counts, sooner := firsts(at); last.Since(sooner) < 5*second {
		t.Errorf("with node agents first told of %v maps, one time after the other, the last at %.1f s, want that a list before the %.1f s without",
			counts, sooner.Seconds(), last.Seconds())
	}
}
