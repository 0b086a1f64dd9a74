package world

import (
	"maps"
	"math/rand/v2"
	"testing"

	"heddle"
	"heddle/workload"
)

// A twinTask is a map that reads bytes from a node while it computes.
type twinTask struct {
	start      float64
	home, host int
	cpu, bytes float64
	vcores     int64
	quota      float64 // cores
	left, end  float64
}

// A simple twin of the world: time advances in small steps, and in each step every node fills its resources drop by
// drop. It shares no code with the world.
type twin struct {
	p     Params
	nodes int
	speed []float64
	tasks []*twinTask
}

// needs returns what a task takes of a node's resources over the whole of its work.
func (w *twin) needs(t *twinTask, node int) (n [numR]float64) {
	if node == t.home {
		n[cpuR] = t.cpu
		if t.home != t.host {
			n[cpuR] += t.bytes * w.p.NetCPU
			n[inR] = t.bytes
		}
		n[cpuR] /= w.speed[node]
	}
	if node == t.host {
		n[diskR] = t.bytes
		if t.home != t.host {
			n[outR] = t.bytes
		}
	}
	return n
}

func (w *twin) peak(t *twinTask) float64 {
	p := min(1, t.quota) / w.needs(t, t.home)[cpuR]
	p = min(p, w.p.DiskBps/t.bytes)
	if t.home != t.host {
		p = min(p, w.p.NICBps*w.p.NetEfficiency/t.bytes)
	}
	return p
}

// fillNode raises all rates by small steps, in proportion to what equal division gives, until each task is at its peak
// or needs something that is used up.
func (w *twin) fillNode(node int, here []*twinTask, reserved [numR]float64, streams float64) map[*twinTask]float64 {
	nic := w.p.NICBps * w.p.NetEfficiency
	capacity := [numR]float64{2, w.p.DiskBps, nic, nic}
	if streams > 1 {
		capacity[diskR] /= 1 + w.p.SeekSeconds/w.p.SliceSeconds*(streams-1)/streams
	}
	var sum [numR]float64
	for _, t := range here {
		n := w.needs(t, node)
		for r := range n {
			if n[r] > 0 {
				sum[r] += weight(t, r)
			}
		}
	}
	rates, fair, stuck := map[*twinTask]float64{}, map[*twinTask]float64{}, map[*twinTask]bool{}
	for _, t := range here {
		fair[t] = 1e18
		n := w.needs(t, node)
		for r := range n {
			if n[r] > 0 {
				fair[t] = min(fair[t], capacity[r]*weight(t, r)/sum[r]/n[r])
			}
		}
	}
	used := reserved
	for moved := true; moved; {
		moved = false
		for _, t := range here {
			if stuck[t] {
				continue
			}
			step := fair[t] / 400
			n := w.needs(t, node)
			for r := range n {
				if n[r] > 0 && used[r]+n[r]*step > capacity[r]*1.0001 {
					stuck[t] = true
				}
			}
			if rates[t]+step > w.peak(t) {
				step = w.peak(t) - rates[t]
				stuck[t] = true
			} else if stuck[t] {
				continue
			}
			rates[t] += step
			moved = true
			for r := range n {
				used[r] += n[r] * step
			}
		}
	}
	return rates
}

func weight(t *twinTask, r int) float64 {
	if r == cpuR {
		return float64(t.vcores)
	}
	return 1
}

// rates follows the three steps of flush.
func (w *twin) rates(now float64) map[*twinTask]float64 {
	at := make([][]*twinTask, w.nodes)
	streams := make([]float64, w.nodes)
	for _, t := range w.tasks {
		if t.start <= now && t.left > 0 {
			at[t.home] = append(at[t.home], t)
			streams[t.host]++
			if t.host != t.home {
				at[t.host] = append(at[t.host], t)
			}
		}
	}
	result := map[*twinTask]float64{}
	for n := range w.nodes {
		for t, r := range w.fillNode(n, at[n], [numR]float64{}, streams[n]) {
			if old, ok := result[t]; !ok || r < old {
				result[t] = r
			}
		}
	}
	for n := range w.nodes {
		var reserved [numR]float64
		var single []*twinTask
		for _, t := range at[n] {
			if t.home == t.host {
				single = append(single, t)
				continue
			}
			need := w.needs(t, n)
			for r := range need {
				reserved[r] += need[r] * result[t]
			}
		}
		maps.Copy(result, w.fillNode(n, single, reserved, streams[n]))
	}
	return result
}

func (w *twin) run(step float64) {
	for now, open := 0.0, len(w.tasks); open > 0; now += step {
		for t, r := range w.rates(now) {
			if t.left -= r * step; t.left <= 0 {
				t.end = now + step
				open--
			}
		}
	}
}

func TestTwinAgrees(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 9))
		c := cluster(3, 1)
		tw := &twin{p: c.Params, nodes: 3}
		for i := range c.Nodes {
			c.Nodes[i].Total = heddle.Of(64<<10, 8000)
			c.Nodes[i].Cores = 2
			c.Nodes[i].Speed = []float64{1, 0.5, 2}[i]
			tw.speed = append(tw.speed, c.Nodes[i].Speed)
		}
		job := &workload.Job{}
		for range 2 + rng.IntN(8) {
			k := &twinTask{start: float64(rng.IntN(30)) / 10, home: rng.IntN(3), cpu: 0.2 + 2*rng.Float64(), bytes: float64((20 + rng.IntN(200)) << 20), vcores: int64(1 + rng.IntN(3)), quota: 1e9, left: 1}
			k.host = rng.IntN(3)
			k.cpu = heddle.Seconds(k.cpu).Seconds()
			tw.tasks = append(tw.tasks, k)
			job.Maps = append(job.Maps, workload.Task{CPU: heddle.Seconds(k.cpu), Input: int64(k.bytes), Memory: 100})
		}
		l := newLab(t, c)
		j := l.w.AddJob(job)
		ids := make([]heddle.ContainerID, len(tw.tasks))
		for tick := range 30 {
			now := heddle.Time(heddle.Span(tick) * 100 * heddle.Millisecond)
			l.until(now)
			for i, k := range tw.tasks {
				if int(k.start*10+0.5) != tick {
					continue
				}
				told := heddle.Of(1024, 1000*k.vcores)
				limit := told
				if i%4 == 3 { // a quota: 8 vcores are 2 cores
					limit[heddle.CPU] = 900
					k.quota = 0.225
				}
				ids[i] = l.start(now, j, heddle.Map, i, k.home, told, limit, heddle.NodeID(k.host))
			}
		}
		l.until(never)
		tw.run(0.02)
		for i, k := range tw.tasks {
			got := l.done[ids[i]].At.Seconds() - k.start
			if want := k.end - k.start; got < 0.97*want-0.05 || got > 1.03*want+0.05 {
				t.Errorf("seed %d task %d (home %d, host %d): %.3f s, the twin says %.3f", seed, i, k.home, k.host, got, want)
			}
		}
	}
}
