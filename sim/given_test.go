package sim

import (
	"testing"

	"heddle"
	"heddle/policy"
)

// waited returns a job of four waves of maps of ten seconds and a reduce that ran for forty in its trace, of which it
// waited for maps for thirty.
func waited(slowStart float64, slots int64) Options {
	j := mapReduce("j", 0, lasting(16, 10), lasting(1, 40))
	j.Reduces[0].Waited, j.SlowStart = 30*second, slowStart
	return givenWorld(nodes(1, 1, heddle.Of(16384, 1000*(slots+1))), j)
}

// afterMaps returns how long after the last map the job's reduce ended, in seconds.
func afterMaps(t *testing.T, r *Result) float64 {
	t.Helper()
	states(t, r, Succeeded)
	last := heddle.Time(0)
	for _, x := range kept(r, 0, heddle.Map) {
		last = max(last, x.Ended)
	}
	return kept(r, 0, heddle.Reduce)[0].Ended.Since(last).Seconds()
}

// A reduce that waited for the maps of its job waits only for them: it does not wait again if it begins after them, and
// what it did after them it does after them here too.
func TestReducesWaitForTheirOwnMaps(t *testing.T) {
	for _, c := range []struct {
		what      string
		slowStart float64
		slots     int64
		begins    float64 // at most, after the last map
	}{
		{"behind the maps", 1, 4, 2},
		{"beside them, for as long as in its trace", 0.05, 5, 0},
		{"beside them, for twice as long", 0.05, 3, 0},
		{"beside them, for less", 0.75, 7, 0},
	} {
		r := under(t, bare(), waited(c.slowStart, c.slots))
		near(t, "a reduce begun "+c.what+" ends after the last map", afterMaps(t, r), 10+c.begins/2, 0.1+c.begins/2)
	}
}

// Time in which a reduce is suspended while maps run is not lost; time after them is.
func TestSuspendedReducesWaitForTheirOwnMaps(t *testing.T) {
	reduce := func(do func(*policy.Plan, heddle.ContainerID)) func(policy.View, *policy.Plan) {
		return func(v policy.View, p *policy.Plan) {
			v.App(0).Each(func(x *policy.Container) bool {
				if x.Kind() == heddle.Reduce {
					do(p, x.ID())
				}
				return true
			})
		}
	}
	stop := reduce(func(p *policy.Plan, id heddle.ContainerID) { p.Suspend(id) })
	on := reduce(func(p *policy.Plan, id heddle.ContainerID) { p.Resume(id) })
	for _, c := range []struct {
		what     string
		from, to float64
		lost     float64
	}{
		{"while maps run", 20, 25, 0},
		{"from before the last map's end until after it", 38, 47, -1},
		{"after it", 50, 55, 5},
	} {
		r := under(t, with(deed{c.from, stop}, deed{c.to, on}), waited(0.05, 5))
		want := 10 + c.lost
		if c.lost < 0 { // it goes on when it is resumed
			want = c.to + 10 - (kept(r, 0, heddle.Reduce)[0].Ended.Seconds() - afterMaps(t, r))
		}
		near(t, "suspended "+c.what+" it ends after the last map", afterMaps(t, r), want, 0.1)
	}
}
