package exp

import (
	"heddle"
	"heddle/conf"
	"heddle/scenario"
	"heddle/sim"
	"heddle/sim/world"
	"heddle/workload"
)

// Nodes returns the nodes of a scenario.
func Nodes(s *scenario.Scenario) []world.NodeSpec {
	var nodes []world.NodeSpec
	racks := map[string]heddle.RackID{}
	for _, n := range s.Nodes() {
		rack, ok := racks[n.Rack]
		if !ok {
			rack = heddle.RackID(len(racks))
			racks[n.Rack] = rack
		}
		g := &s.Cluster[n.Group]
		nodes = append(nodes, world.NodeSpec{
			Name: n.Name, Rack: rack, Total: g.Size, Cores: g.Cores, Memory: g.RAM, DiskBps: g.Disk, Seek: g.Seek, Run: float64(g.Run), NICBps: g.NIC, Speed: g.Speed,
		})
	}
	return nodes
}

// Conf returns the configuration of both schedulers with the queues of a scenario.
func Conf(s *scenario.Scenario) (*conf.Hadoop, error) {
	var convert func(from []scenario.Queue) []conf.Queue
	convert = func(from []scenario.Queue) []conf.Queue {
		out := make([]conf.Queue, len(from))
		for i, q := range from {
			out[i] = conf.Queue{Name: q.Name, Line: q.Line, Queues: convert(q.Queues)}
			for _, set := range q.Settings {
				out[i].Settings = append(out[i].Settings, conf.Setting(set))
			}
		}
		return out
	}
	return conf.FromQueues(s.Path, convert(s.Queues))
}

// Faults returns the faults of a scenario for a seed, on a cluster with the given number of nodes. w is the work of
// that seed. A fault of a node that the file names and the cluster does not have is an error.
func Faults(s *scenario.Scenario, seed uint64, w *workload.Workload, nodes int) ([]sim.Fault, error) {
	faults, err := s.Faults(seed, w, nodes)
	if err != nil {
		return nil, err
	}
	var out []sim.Fault
	for _, f := range faults {
		out = append(out, sim.Fault{
			Kind: faultKind(f.Kind), At: f.At, For: f.For, Node: heddle.NodeID(f.Node), Job: f.Job, Factor: f.Speed, Rate: f.Rate,
		})
	}
	return out, nil
}

func faultKind(k scenario.FaultKind) sim.FaultKind {
	return map[scenario.FaultKind]sim.FaultKind{
		scenario.NodeLoss: sim.NodeLoss, scenario.SlowNode: sim.SlowNode, scenario.SilentNode: sim.SilentNode,
		scenario.MasterFailure: sim.MasterFailure, scenario.TaskFailure: sim.TaskFailure,
		scenario.AgentLoss: sim.AgentLoss,
	}[k]
}
