package world

import (
	"testing"

	"heddle"
)

func TestX(t *testing.T) {
	for _, prog := range []string{"grep", "wordcount", "terasort", "sort"} {
		for _, slots := range []int{1, 2, 4, 8} {
			run := func(limit heddle.Resource, told heddle.Resource, away int) float64 {
				l := newLab(t, cluster(6, 1))
				j := l.w.AddJob(mr(prog, 6*slots, 256, 1))
				var cs []heddle.ContainerID
				for i := range 6 * slots {
					cs = append(cs, l.start(0, j, heddle.Map, i, i%6, told, limit, heddle.NodeID((i+away)%6)))
				}
				s := 0.0
				for _, c := range cs {
					s += l.seconds(c) / float64(len(cs))
				}
				return s
			}
			a := heddle.Of(1024, 1000)
			t.Log(prog, slots, run(a, a, 0), run(heddle.Of(819, 800), a, 0), run(heddle.Of(410, 400), a, 0), run(a, a, 1))
		}
	}
}
