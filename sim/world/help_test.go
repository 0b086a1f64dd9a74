package world

import (
	"testing"

	"heddle"
	"heddle/workload"
)

// cluster returns n equal nodes of 8 cores in the given number of racks, without the random effects.
func cluster(n, racks int) Config {
	c := Config{Params: DefaultParams(), Effects: AllEffects(), Seed: 1}
	c.Effects.SlowNodes, c.Effects.Noise, c.Effects.Skew = false, false, false
	for i := range n {
		c.Nodes = append(c.Nodes, NodeSpec{Rack: heddle.RackID(i * racks / n), Total: heddle.Of(16<<10, 8000)})
	}
	return c
}

// mr returns a MapReduce job of equal maps of the given MiB, and equal reduces.
func mr(program string, maps int, mb int64, reduces int) *workload.Job {
	j := &workload.Job{Program: program, Framework: heddle.MapReduce}
	for range maps {
		j.Maps = append(j.Maps, workload.Task{Input: mb << 20})
	}
	j.Reduces = make([]workload.Task, reduces)
	return j
}

// A lab runs work in a world and records what ended.
type lab struct {
	t    *testing.T
	w    *World
	last heddle.ContainerID
	done map[heddle.ContainerID]Done
}

func newLab(t *testing.T, c Config) *lab {
	return &lab{t: t, w: New(c), done: map[heddle.ContainerID]Done{}}
}

var oneCore = heddle.Of(1024, 1000)

// start opens a container with the given size and limit and runs one task in it.
func (l *lab) start(at heddle.Time, job JobID, kind heddle.Kind, index int, node int, told, limit heddle.Resource, hosts ...heddle.NodeID) heddle.ContainerID {
	l.last++
	l.w.Open(at, l.last, job, kind, heddle.NodeID(node), told, limit)
	l.w.Run(at, Work{Container: l.last, Kind: kind, Index: int32(index)}, hosts)
	return l.last
}

// until collects what ends up to a time, and closes containers.
func (l *lab) until(end heddle.Time) {
	for {
		t, ok := l.w.Next()
		if !ok || t > end {
			break
		}
		for _, d := range l.w.Advance(t, nil) {
			l.done[d.Work.Container] = d
			l.w.Close(t, d.Work.Container)
		}
	}
	if end != never {
		l.w.Advance(end, nil)
	}
}

// seconds runs the world to its end and returns when a container's work ended.
func (l *lab) seconds(c heddle.ContainerID) float64 {
	l.t.Helper()
	l.until(never)
	d, ok := l.done[c]
	if !ok {
		l.t.Fatalf("container %d never ended", c)
	}
	return d.At.Seconds()
}

type nodeBytes struct {
	node  heddle.NodeID
	bytes int64
}

// mapOutput returns where a job's map output is, ordered by first arrival.
func (l *lab) mapOutput(j JobID) []nodeBytes {
	pool := l.w.job(j).pool
	if pool == nil {
		return nil
	}
	var out []nodeBytes
	for k := range pool.src {
		if s := &pool.src[k]; s.bytes > 0 {
			out = append(out, nodeBytes{heddle.NodeID(s.node), int64(s.bytes)})
		}
	}
	return out
}
