package main

import (
	"fmt"
	"slices"
	"strings"

	"heddle"
	"heddle/exp"
	"heddle/scenario"
	"heddle/sim/world"
	"heddle/workload"
)

// The cluster for a trace that does not describe one.
const (
	defaultNodes = 10
	defaultRacks = 2
	nodesOfRack  = 40 // if --racks is not given
)

// clusterFlags describe the cluster to simulate.
type clusterFlags struct {
	nodes, racks count
	file         string
	node         size
}

// A hardware is the cluster of a run.
type hardware struct {
	nodes     []world.NodeSpec
	uplinkBps float64
	unsized   int // nodes whose memory or vcores only flags or defaults state
	notes     []string
	files     []string // the files it was read from
}

// cluster returns the cluster of the flags, or else of the scenario, or else one made of the hosts that the trace
// names, or else a small default. Nodes whose size is not stated get the size each.
func (f *clusterFlags) cluster(in *input, each heddle.Resource) (*hardware, error) {
	if f.node != (size{}) {
		each[heddle.Memory], each[heddle.CPU] = f.node[heddle.Memory], f.node[heddle.CPU]
	}
	h, err := f.lay(in, each)
	if err == nil && f.node != (size{}) && h.unsized == 0 {
		h.notes = append(h.notes, "--node changes nothing: every node's size is stated")
	}
	return h, err
}

func (f *clusterFlags) lay(in *input, each heddle.Resource) (*hardware, error) {
	switch {
	case f.nodes.n > 0:
		racks := f.racks.n
		if racks == 0 {
			racks = (f.nodes.n + nodesOfRack - 1) / nodesOfRack
		}
		return alike(f.nodes.n, racks, each), nil
	case f.file != "":
		return clusterOf(f.file, each)
	case in.scenario != nil:
		return scenarioCluster(in.scenario), nil
	case len(in.workload.Hosts) > 0:
		return hostsOf(in, each)
	}
	h := alike(defaultNodes, defaultRacks, each)
	h.notes = []string{fmt.Sprintf("neither the trace nor a flag says what cluster to use: %d nodes of %s in %d racks; "+
		"--nodes, --racks, --node or --cluster choose another", defaultNodes, show(each), defaultRacks)}
	return h, nil
}

func alike(nodes, racks int, each heddle.Resource) *hardware {
	return &hardware{nodes: exp.Cluster(nodes, racks, each), unsized: nodes}
}

func (f *clusterFlags) check() error {
	switch {
	case f.file != "" && (f.nodes.n > 0 || f.racks.n > 0):
		return usagef("--cluster FILE says what nodes and racks there are; leave --nodes and --racks out")
	case f.racks.n > 0 && f.nodes.n == 0:
		return usagef("--racks needs --nodes")
	case f.racks.n > f.nodes.n && f.nodes.n > 0:
		return usagef("--racks %d: there are only %d nodes", f.racks.n, f.nodes.n)
	}
	return nil
}

// clusterOf reads a cluster from a file: a scenario or a list of nodes.
func clusterOf(path string, each heddle.Resource) (*hardware, error) {
	if scenario.IsScenario(path) {
		s, err := scenario.Read(path)
		if err != nil {
			return nil, err
		}
		h := scenarioCluster(s)
		h.files = s.Files()
		return h, nil
	}
	list, err := workload.ReadNodes(path)
	if err != nil {
		return nil, err
	}
	return listed(path, list, each)
}

func listed(path string, list []workload.Node, each heddle.Resource) (*hardware, error) {
	nodes, err := exp.FromList(list, each)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h := &hardware{nodes: nodes, files: []string{path}}
	half := 0 // nodes that state only their memory or only their vcores
	for i := range list {
		switch size := list[i].Size; {
		case size.IsZero():
			h.unsized++
		case size[heddle.Memory] == 0 || size[heddle.CPU] == 0:
			half++
		}
	}
	if h.unsized > 0 {
		h.notes = append(h.notes, fmt.Sprintf("%s: %d of %d nodes state no size and have %s", path, h.unsized, len(list), show(each)))
	}
	if half > 0 {
		h.notes = append(h.notes, fmt.Sprintf("%s: %d of %d nodes state only memory or only vcores, and have the other of %s", path, half, len(list), show(each)))
	}
	h.unsized += half
	return h, nil
}

// hostsOf makes a node of every host that a trace names.
func hostsOf(in *input, each heddle.Resource) (*hardware, error) {
	var list []workload.Node
	for _, h := range in.workload.Hosts {
		list = append(list, workload.Node{Name: h.Name, Rack: h.Rack, Size: each})
	}
	nodes, err := exp.FromList(list, each)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.path, err)
	}
	return &hardware{nodes: nodes, unsized: len(nodes), notes: []string{
		fmt.Sprintf("no cluster was given: the %d hosts that the trace names, with %s each", len(nodes), show(each)),
	}}, nil
}

// total returns the sum of what all nodes offer.
func (h *hardware) total() heddle.Resource {
	var t heddle.Resource
	for i := range h.nodes {
		t = t.Plus(h.nodes[i].Total)
	}
	return t
}

// maxSizes is how many node sizes a description lists separately.
const maxSizes = 3

// describe describes the cluster for people.
func (h *hardware) describe() string {
	type kind struct {
		size heddle.Resource
		n    int
	}
	var kinds []kind
	racks := map[heddle.RackID]bool{}
	for i := range h.nodes {
		n := &h.nodes[i]
		racks[n.Rack] = true
		k := slices.IndexFunc(kinds, func(k kind) bool { return k.size == n.Total })
		if k < 0 {
			k = len(kinds)
			kinds = append(kinds, kind{size: n.Total})
		}
		kinds[k].n++
	}
	s := fmt.Sprintf("%s in %s, ", plural(len(h.nodes), "node"), plural(len(racks), "rack"))
	switch {
	case len(kinds) == 1 && len(h.nodes) == 1:
		return s + show(kinds[0].size)
	case len(kinds) == 1:
		return s + show(kinds[0].size) + " each"
	case len(kinds) > maxSizes:
		return s + show(h.total()) + " in all"
	}
	var parts []string
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%d of %s", k.n, show(k.size)))
	}
	return s + strings.Join(parts, ", ")
}

// show formats an amount of memory and vcores.
func show(r heddle.Resource) string {
	parts := []string{fmt.Sprintf("%d MiB", r[heddle.Memory]), fmt.Sprintf("%g vcores", float64(r[heddle.CPU])/1000)}
	for d := heddle.Extra1; d < heddle.NumDims; d++ {
		if r[d] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", r[d], d))
		}
	}
	return strings.Join(parts, " and ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
