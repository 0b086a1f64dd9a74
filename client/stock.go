package client

import (
	"context"
	"math"
	"net/url"
	"strings"
	"time"

	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// stockApps requests applications from a ResourceManager other than Heddle.
func (c *Client) stockApps(ctx context.Context, query url.Values) ([]rm.AppReport, error) {
	var all rest.Apps
	if err := c.get(ctx, rest.Base+"/apps", query, "apps", &all); err != nil {
		return nil, err
	}
	out := make([]rm.AppReport, len(all.List))
	for i := range all.List {
		a, err := appReport(&all.List[i])
		if err != nil {
			return nil, err
		}
		a.Requests = nil
		out[i] = a
	}
	return out, nil
}

// stockApp requests an application and its attempts from a ResourceManager other than Heddle.
func (c *Client) stockApp(ctx context.Context, id string) (*rm.AppReport, error) {
	var app rest.App
	if err := c.get(ctx, appPath(id), nil, "app", &app); err != nil {
		return nil, err
	}
	out, err := appReport(&app)
	if err != nil {
		return nil, err
	}
	var tries rest.Attempts
	if err := c.get(ctx, appPath(id)+"/appattempts", nil, "appAttempts", &tries); err != nil {
		return nil, err
	}
	out.Attempts = make([]rm.AttemptReport, len(tries.List))
	for i := range tries.List {
		if out.Attempts[i], err = attemptReport(&tries.List[i]); err != nil {
			return nil, err
		}
		out.Attempt = out.Attempts[i].ID.N
	}
	return &out, nil
}

// appReport converts an application from YARN's services. What they do not report is 0, empty, or −1 if 0 would be wrong.
func appReport(a *rest.App) (rm.AppReport, error) {
	out := rm.AppReport{
		Name: a.Name, Type: a.Type, User: a.User, Queue: a.Queue, Tags: []string{}, Priority: a.Priority,
		State: rm.AppState(a.State), Internal: a.State, Final: rm.FinalStatus(a.FinalStatus), Diagnostics: a.Diagnostics,
		Progress: rm.Fraction(a.Progress) / 100, Submitted: a.Started, Started: a.Started, Launched: a.Launched, Finished: a.Finished,
		Elapsed: a.Elapsed, RPCPort: -1, TrackingURL: a.TrackingURL, MasterHTTP: a.AMHost, MasterLogs: a.AMLogs,
		QueueShare: a.QueueShare, ClusterShare: a.ClusterShare, MemorySeconds: a.MBSeconds, VcoreSeconds: a.CPUSeconds,
		PreemptedMemory: a.PreemptedMBSeconds, PreemptedVcores: a.PreemptedCPUSeconds,
		PreemptedWorkers: a.PreemptedWorkers, PreemptedMasters: a.PreemptedMasters, LogAggregation: a.LogAggregation,
		Requests: []rm.RequestReport{},
	}
	var err error
	if out.ID, err = ids.ParseApp(a.ID); err != nil {
		return out, err
	}
	if a.Tags != "" {
		out.Tags = strings.Split(a.Tags, ",")
	}
	if n, err := ids.ParseNode(a.AMRPC); err == nil {
		out.Host, out.RPCPort = n.Host, n.Port
	}
	if n, err := ids.ParseNode(a.MasterNode); err == nil {
		out.MasterNode = n
	}
	if out.Live = a.Containers >= 0 && !out.State.Final(); out.Live {
		out.Containers = a.Containers
		out.Used = rm.Amount{MemoryMiB: a.MB, Vcores: float64(a.VCores)}
		out.Reserved = rm.Amount{MemoryMiB: a.ReservedMB, Vcores: float64(a.ReservedCPU)}
		if a.Resources != nil && len(a.Resources.List) > 0 { // the unnamed partition comes first
			u := &a.Resources.List[0]
			out.Used, out.Reserved, out.Pending = AmountOf(&u.Used), AmountOf(&u.Reserved), AmountOf(&u.Pending)
		}
	}
	if a.Timeouts != nil {
		for _, t := range a.Timeouts.List {
			if at, err := time.Parse("2006-01-02T15:04:05.000-0700", t.Expiry); err == nil && t.Type == "LIFETIME" {
				out.Lifetime = at.UnixMilli()
			}
		}
	}
	for i := range a.Requests {
		if q := &a.Requests[i]; q.Count > 0 {
			out.Requests = append(out.Requests, rm.RequestReport{
				Priority: q.Priority, AllocID: q.AllocID, Place: q.Place, Count: q.Count, Size: AmountOf(&q.Capability), Relax: q.Relax,
				Guarantee: q.Execution.Type == "GUARANTEED", Enforce: q.Execution.Enforce,
			})
		}
	}
	return out, nil
}

// attemptReport converts an attempt from YARN's services.
func attemptReport(a *rest.Attempt) (rm.AttemptReport, error) {
	out := rm.AttemptReport{
		State: a.State, Started: a.Started, Finished: a.Finished, NodeHTTP: a.NodeHTTP, Logs: a.Logs, RPCPort: -1, Blacklisted: []string{},
	}
	var err error
	if out.ID, err = ids.ParseAttempt(a.ID); err != nil {
		return out, err
	}
	if c, err := ids.ParseContainer(a.Container); err == nil {
		out.Master = c
	}
	if n, err := ids.ParseNode(a.Node); err == nil {
		out.Node = n
	}
	if a.Blacklisted != "" {
		out.Blacklisted = strings.Split(a.Blacklisted, ",")
	}
	return out, nil
}

// AmountOf converts an amount from YARN's services.
func AmountOf(r *rest.Resource) rm.Amount {
	out := rm.Amount{MemoryMiB: r.Memory, Vcores: float64(r.VCores)}
	for i := range r.Informations.List {
		if x := &r.Informations.List[i]; x.Name != "memory-mb" && x.Name != "vcores" && x.Value != 0 {
			if out.Extra == nil {
				out.Extra = map[string]int64{}
			}
			out.Extra[x.Name] += x.Value
		}
	}
	return out
}

// stockNodes requests nodes from a ResourceManager other than Heddle.
func (c *Client) stockNodes(ctx context.Context, query url.Values) ([]rm.NodeRow, error) {
	var all rest.Nodes
	if err := c.get(ctx, rest.Base+"/nodes", query, "nodes", &all); err != nil {
		return nil, err
	}
	out := make([]rm.NodeRow, len(all.List))
	for i := range all.List {
		out[i] = nodeRow(&all.List[i])
	}
	return out, nil
}

// stockNode requests a node from a ResourceManager other than Heddle.
func (c *Client) stockNode(ctx context.Context, id string) (*rm.NodeRow, error) {
	var n rest.Node
	if err := c.get(ctx, rest.Base+"/nodes/"+url.PathEscape(id), nil, "node", &n); err != nil {
		return nil, err
	}
	out := nodeRow(&n)
	return &out, nil
}

// nodeRow converts a node from YARN's services.
func nodeRow(n *rest.Node) rm.NodeRow {
	u := &n.Utilization
	measured := func(physical, virtual int32, cpu float64) rm.Measured {
		return rm.Measured{PhysicalMiB: int64(physical), VirtualMiB: int64(virtual), Vcores: math.Round(cpu*1000) / 1000}
	}
	out := rm.NodeRow{
		ID: n.ID, Rack: n.Rack, State: n.State, HTTP: n.HTTP, Version: n.Version, Health: n.Health, Reported: n.HealthAt,
		Containers: n.Containers, Used: rm.Amount{MemoryMiB: n.UsedMB, Vcores: float64(n.UsedVCores)},
		Total:    rm.Amount{MemoryMiB: n.UsedMB + n.AvailableMB, Vcores: float64(n.UsedVCores + n.AvailableVCores)},
		Measured: measured(u.NodePhysicalMB, u.NodeVirtualMB, u.NodeCPU),
		OfTasks:  measured(u.ContainersPhysicalMB, u.ContainersVirtualMB, u.ContainersCPU),
		Labels:   append([]string{}, n.Labels...), Can: []string{},
	}
	if n.Used != nil {
		out.Used = AmountOf(n.Used)
	}
	if n.Total.Memory > 0 {
		out.Total = AmountOf(&n.Total)
	}
	return out
}
