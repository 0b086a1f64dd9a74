package main

import (
	"fmt"
	"os"
	"sort"
	"time"

	"heddle"
	"heddle/conf"
	"heddle/exp"
	"heddle/policies"
	"heddle/scenario"
	"heddle/sim"
	"heddle/sim/world"
	"heddle/workload"
)

func main() {
	s, err := scenario.Read(os.Args[1])
	if err != nil {
		panic(err)
	}
	racks := map[string]heddle.RackID{}
	var nodes []world.NodeSpec
	for _, n := range s.Nodes() {
		g := s.Cluster[n.Group]
		r, ok := racks[n.Rack]
		if !ok {
			r = heddle.RackID(len(racks))
			racks[n.Rack] = r
		}
		nodes = append(nodes, world.NodeSpec{Name: n.Name, Rack: r, Total: g.Size, Cores: g.Cores, DiskBps: g.Disk, NICBps: g.NIC, Speed: g.Speed})
	}
	var ps []*policies.Profile
	for _, name := range os.Args[2:] {
		p, err := policies.Load(name)
		if err != nil {
			panic(err)
		}
		ps = append(ps, p)
	}
	h := conf.Default()
	p := exp.Plan{Profiles: ps, Seeds: []uint64{1, 2}, Conf: h, Nodes: nodes, UplinkBps: s.Uplink, Effects: world.Effects(s.Effects), Given: s.World == "given",
		Rebuild: func(seed uint64) (*workload.Workload, error) { return s.Build(seed) }}
	p.Workload, _ = s.Build(1)
	t := time.Now()
	out, err := p.Run()
	fmt.Println(err, time.Since(t))
	for i := range out {
		for _, r := range out[i] {
			var jct, wait []float64
			group := map[string][]float64{}
			for _, j := range r.Jobs {
				jct = append(jct, j.JCT.Seconds())
				wait = append(wait, j.Wait.Seconds())
				k := j.ID
				for x := len(k) - 1; x >= 0; x-- {
					if k[x] == '-' {
						k = k[:x]
						break
					}
				}
				group[k] = append(group[k], j.JCT.Seconds())
				_ = sim.Succeeded
			}
			mean := func(a []float64) float64 {
				s := 0.0
				for _, x := range a {
					s += x
				}
				return s / float64(len(a))
			}
			sort.Float64s(jct)
			fmt.Printf("%s seed %d: %d jobs mean JCT %.1f p50 %.1f max %.1f wait %.1f makespan %.1f cpu %.2f mem %.2f wall %.2f\n", r.Profile, r.Seed, len(r.Jobs), mean(jct), jct[len(jct)/2], jct[len(jct)-1], mean(wait), r.Makespan.Seconds(), r.CPUUsed, r.MemoryHeld, r.Wall)
			var ks []string
			for k := range group {
				ks = append(ks, k)
			}
			sort.Strings(ks)
			for _, k := range ks {
				fmt.Printf("   %s %.0f", k, mean(group[k]))
			}
			fmt.Println()
		}
	}
}
