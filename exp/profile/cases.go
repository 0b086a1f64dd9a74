package profile

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"heddle"
	"heddle/conf"
	"heddle/exp"
	"heddle/exp/catalogue"
	"heddle/scenario"
	"heddle/scenarios"
	"heddle/sim"
	"heddle/sim/world"
	"heddle/workload"
)

// A Case is a workload on a cluster.
type Case struct {
	Name    string  // unique: fb2009-day1-08h, 100 nodes, load 0.85
	From    string  // where the work comes from; Markdown
	HeldOut bool    // no option of the profile was chosen by it
	Load    float64 // the load that the jobs are spaced to; 0 = as they come

	read func() (*work, error)
}

// A work is what a case is made of.
type work struct {
	build   func(seed uint64) (*workload.Workload, error)
	nodes   []world.NodeSpec
	uplink  float64
	effects world.Effects
	given   bool // every container lasts as long as its job says
	faults  func(seed uint64, w *workload.Workload) ([]sim.Fault, error)
}

// plan returns the plan of a case, without profiles and seeds.
func (c *Case) plan(seeds []uint64) (*exp.Plan, error) {
	w, err := c.read()
	if err != nil {
		return nil, err
	}
	p := &exp.Plan{Conf: conf.Default(), Nodes: w.nodes, UplinkBps: w.uplink, Effects: w.effects, Given: w.given, MaxTime: heddle.Time(7 * 24 * heddle.Hour)}
	p.Rebuild = func(seed uint64) (*workload.Workload, error) {
		jobs, err := w.build(seed)
		if err != nil || c.Load == 0 {
			return jobs, err
		}
		_, err = p.Space(jobs, seed, c.Load)
		return jobs, err
	}
	if w.faults == nil {
		return p, nil
	}
	bySeed := map[uint64][]sim.Fault{}
	for _, seed := range seeds {
		jobs, err := p.Rebuild(seed)
		if err != nil {
			return nil, err
		}
		if bySeed[seed], err = w.faults(seed, jobs); err != nil {
			return nil, err
		}
	}
	p.Faults = func(seed uint64) []sim.Fault { return bySeed[seed] }
	return p, nil
}

// Cases returns all cases, ordered by kind.
func Cases() []Case {
	out := []Case{{Name: "demo", From: "scenarios/demo.yaml", read: fromText("demo.yaml", scenarios.Demo)}}
	for _, load := range []float64{0.5, 0.7, 0.85, 0.95} {
		for _, trace := range []string{"fb2009-day1-08h", "fb2009-day2-09h", heldOut} {
			out = append(out, facebook(trace, 100, load))
		}
	}
	for _, trace := range []string{"fb2009-day1-08h", "fb2009-day2-09h"} {
		out = append(out, facebook(trace, 20, 0.85))
	}
	for _, load := range []float64{0.7, 0.85} {
		out = append(out, facebook("fb2009-day1-17h", 1000, load))
	}
	for _, kind := range []struct {
		name, from, text string
		loads            []float64
	}{
		{"mapreduce-only", "generated, one kind of application alone", mapReduceOnly, []float64{0.5, 0.85}},
		{"spark-only", "generated, one kind of application alone", sparkOnly, []float64{0.5, 0.85}},
		{"small-cluster", "generated, both kinds together on 5 nodes", smallCluster, []float64{0.5, 0.7, 0.85, 0.95}},
	} {
		for _, load := range kind.loads {
			out = append(out, Case{
				Name: fmt.Sprintf("%s, load %g", kind.name, load), From: kind.from, HeldOut: true, Load: load,
				read: fromText(kind.name+".yaml", []byte(kind.text)),
			})
		}
	}
	out = append(out, Case{Name: "three-nodes", HeldOut: true, From: "drawn by the seed, of the sizes of [beside-stock.md](../beside-stock.md)", read: func() (*work, error) {
		return drawn("three-nodes", threeNodes, nil)
	}})
	for _, name := range []string{"dress-mixed-10", "dress-mixed-30", "coupling-22-jobs", "ikayak-overall", "adaptcont-all-mixed", "mrorchestrator-native-together"} {
		out = append(out, Case{Name: name, From: "the work and the cluster of the paper's experiment", read: ofPaper(name)})
	}
	return out
}

// Names returns what the cases' names begin with, each once: the name of the work without cluster and load.
func Names() []string {
	var names []string
	for _, c := range Cases() {
		if name, _, _ := strings.Cut(c.Name, ","); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

//go:embed swim/*.tsv.gz
var swim embed.FS

// heldOut is the trace that was not used to choose any option of the profile.
const heldOut = "fb2010-00h"

// facebook returns a case with hours of Facebook's jobs, on nodes of 8 GiB and 8 vcores in racks of 40.
func facebook(trace string, nodes int, load float64) Case {
	return Case{
		Name: fmt.Sprintf("%s, %d nodes, load %g", trace, nodes, load), From: "SWIM", HeldOut: trace == heldOut, Load: load,
		read: func() (*work, error) {
			text, err := readTrace(trace)
			if err != nil {
				return nil, err
			}
			return &work{
				build:   func(uint64) (*workload.Workload, error) { return workload.SWIM(trace, text) },
				nodes:   exp.Cluster(nodes, max(1, nodes/40), heddle.Of(8192, 8000)),
				effects: world.AllEffects(),
			}, nil
		},
	}
}

// readTrace returns the lines of a trace in swim.
func readTrace(name string) ([]byte, error) {
	file, err := swim.Open("swim/" + name + ".tsv.gz")
	if err != nil {
		return nil, err
	}
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(text)
}

// fromText returns a function that reads the work of a scenario.
func fromText(name string, text []byte) func() (*work, error) {
	return func() (*work, error) {
		s, err := scenario.Parse(name, text)
		if err != nil {
			return nil, err
		}
		return ofScenario(s, s.Build), nil
	}
}

func ofScenario(s *scenario.Scenario, build func(uint64) (*workload.Workload, error)) *work {
	nodes := exp.Nodes(s)
	return &work{
		build: build, nodes: nodes, uplink: s.Uplink, effects: world.Effects(s.Effects), given: s.World == "given",
		faults: func(seed uint64, w *workload.Workload) ([]sim.Fault, error) {
			return exp.Faults(s, seed, w, len(nodes))
		},
	}
}

// ofPaper returns a function that reads the work of the first arm of a paper's experiment.
func ofPaper(name string) func() (*work, error) {
	return func() (*work, error) {
		list, err := catalogue.Find(name)
		if err != nil {
			return nil, err
		}
		e := list[0]
		return drawn(name, func(seed uint64) (string, error) { return e.Scenario(&e.Arms[0], seed) }, e.Arms[0].Change)
	}
}

// drawn returns the work of a scenario that differs by seed, except for its cluster, which is that of the first seed.
// change alters its jobs; it may be nil.
func drawn(name string, text func(seed uint64) (string, error), change func(uint64, *workload.Workload)) (*work, error) {
	parse := func(seed uint64) (*scenario.Scenario, error) {
		t, err := text(seed)
		if err != nil {
			return nil, err
		}
		return scenario.Parse(name+".yaml", []byte(t))
	}
	s, err := parse(1)
	if err != nil {
		return nil, err
	}
	return ofScenario(s, func(seed uint64) (*workload.Workload, error) {
		s, err := parse(seed)
		if err != nil {
			return nil, err
		}
		w, err := s.Build(seed)
		if err == nil && change != nil {
			change(seed, w)
		}
		return w, err
	}), nil
}
