package world

import (
	"testing"

	"heddle"
)

func TestSmoke(t *testing.T) {
	for _, p := range []string{"grep", "wordcount", "sort", "terasort"} {
		l := newLab(t, cluster(10, 2))
		j := l.w.AddJob(mr(p, 40, 128, 4))
		var c heddle.ContainerID
		for i := range 40 {
			c = l.start(0, j, heddle.Map, i, i%10, oneCore, oneCore, heddle.NodeID(i%10))
		}
		m := l.seconds(c)
		var r heddle.ContainerID
		now := l.w.now
		for i := range 4 {
			r = l.start(now, j, heddle.Reduce, i, i, oneCore, oneCore)
		}
		t.Log(p, m, l.w.ShortestMap(j, 0).Seconds(), l.seconds(r)-m, l.w.ShortestReduce(j, 3).Seconds())
	}
}
