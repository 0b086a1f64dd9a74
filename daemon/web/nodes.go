package web

import (
	"math"
	"net/http"
	"slices"
	"strings"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// everyNodeState lists the states of a node in YARN's order.
var everyNodeState = []string{
	"NEW", "RUNNING", "UNHEALTHY", "DECOMMISSIONED", "LOST", "REBOOTED", "DECOMMISSIONING", "SHUTDOWN",
}

// gone reports whether a node in this state holds nothing and no longer has pages.
func gone(state string) bool {
	return state == "DECOMMISSIONED" || state == "LOST" || state == "REBOOTED" || state == "SHUTDOWN"
}

// offer returns what a node gives the cluster: for a decommissioning node only what runs there. ok is false if no
// containers can run on the node.
func offer(n *rm.NodeReport) (total heddle.Resource, ok bool) {
	switch n.State {
	case "RUNNING":
		return n.Total, true
	case "DECOMMISSIONING":
		return n.Used, true
	}
	return total, false
}

// nodes answers GET /nodes.
func (s *site) nodes(r *http.Request) (rest.Answer, error) {
	reports, err := s.inStates(r)
	if err != nil {
		return rest.Answer{}, err
	}
	out := rest.Nodes{}
	for i := range reports {
		if err := daemon.Breathe(r.Context(), i); err != nil {
			return rest.Answer{}, err
		}
		out.List = append(out.List, s.shape.node(&reports[i]))
	}
	return rest.Answer{Root: "nodes", Value: out}, nil
}

// inStates returns the nodes in the states that a request names, or all nodes if it names none.
func (s *site) inStates(r *http.Request) ([]rm.NodeReport, error) {
	wanted := commas(r.URL.Query()["states"])
	for i, text := range wanted {
		wanted[i] = strings.ToUpper(text)
		if !slices.Contains(everyNodeState, wanted[i]) {
			return nil, illegalArgument("Invalid node state " + text + " specified. It should be one of " + listed(everyNodeState))
		}
	}
	reports, err := s.RM.Nodes(r.Context())
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 {
		return reports, nil
	}
	var out []rm.NodeReport
	for i := range reports {
		if err := daemon.Breathe(r.Context(), i); err != nil {
			return nil, err
		}
		if slices.Contains(wanted, reports[i].State) {
			out = append(out, reports[i])
		}
	}
	return out, nil
}

// node answers GET /nodes/{id}.
func (s *site) node(r *http.Request) (rest.Answer, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return rest.Answer{}, err
	}
	return rest.Answer{Root: "node", Value: s.shape.node(n)}, nil
}

// nodeOf returns the node that a request names.
func (s *site) nodeOf(r *http.Request) (*rm.NodeReport, error) {
	text := r.PathValue("node")
	id, err := ids.ParseNode(text)
	if err != nil {
		return nil, illegalArgument("Invalid NodeId [" + text + "]. Expected host:port")
	}
	n, err := s.RM.Node(r.Context(), id)
	if err != nil {
		return nil, missing(err, "nodeId, "+text+", is not found")
	}
	return &n, nil
}

func (sh shaper) node(n *rm.NodeReport) rest.Node {
	o := rest.Node{
		Rack: n.Rack, State: n.State, ID: n.ID.String(), Host: n.ID.Host, HealthAt: n.HealthAt,
		Version: n.Version, Health: n.Health, Total: sh.resource(n.Total),
		Utilization: rest.NodeUtilization{
			NodePhysicalMB: n.Utilization.Physical, NodeVirtualMB: n.Utilization.Virtual,
			NodeCPU:              float64(n.Utilization.CPU),
			ContainersPhysicalMB: n.Aggregate.Physical, ContainersVirtualMB: n.Aggregate.Virtual,
			ContainersCPU: float64(n.Aggregate.CPU),
		},
	}
	if !gone(n.State) {
		o.HTTP = n.HTTP
	}
	total, ok := offer(n)
	if !ok {
		return o
	}
	free := total.Minus(n.Used)
	used, available := sh.resource(n.Used), sh.resource(free)
	o.Containers, o.Used, o.Available = n.Containers, &used, &available
	o.UsedMB, o.AvailableMB = n.Used[heddle.Memory], free[heddle.Memory]
	o.UsedVCores = vcores(n.Used[heddle.CPU])
	o.AvailableVCores = vcores(total[heddle.CPU]) - o.UsedVCores
	machine := n.Physical
	if machine.IsZero() {
		machine = n.Total
	}
	o.MemoryPercent = float32(percent(float64(n.Utilization.Physical), float64(machine[heddle.Memory])))
	o.CPUPercent = float32(percent(float64(n.Utilization.CPU)*1000, float64(machine[heddle.CPU])))
	return o
}

// row returns a node and its agent in the form in which they are sent and printed. A node that is gone holds nothing and
// can do nothing.
func (sh shaper) row(n *rm.NodeReport, agent *rm.AgentRow) rm.NodeRow {
	measured := func(u rm.Utilization) rm.Measured {
		return rm.Measured{PhysicalMiB: int64(u.Physical), VirtualMiB: int64(u.Virtual), Vcores: math.Round(float64(u.CPU)*1000) / 1000}
	}
	out := rm.NodeRow{
		ID: n.ID.String(), Rack: n.Rack, State: n.State, Version: n.Version, Health: n.Health, Reported: n.HealthAt,
		Total: rm.AmountOf(n.Total, sh.extra...), Labels: []string{}, Can: []string{}, Agent: agent,
	}
	if !gone(n.State) {
		out.Measured, out.OfTasks = measured(n.Utilization), measured(n.Aggregate)
		out.HTTP, out.Containers, out.Used, out.Can = n.HTTP, n.Containers, rm.AmountOf(n.Used, sh.extra...), n.Can.Names()
	}
	return out
}

// agent returns a node's agent in the form in which it is sent and printed, with some of what it could not do.
func (sh shaper) agent(a *rm.AgentReport, failed []rm.AgentFailure) *rm.AgentRow {
	out := &rm.AgentRow{Can: a.Can.Names(), Age: max(0, sh.now().UnixMilli()-a.Seen), Behind: a.Behind, Failed: []string{}, DiskBusy: rm.Fraction(a.Disks) / 1000}
	for _, f := range failed {
		out.Failed = append(out.Failed, f.Container.String()+": "+f.Text)
	}
	return out
}
