package main

import (
	"context"
	"errors"
	"strings"

	"heddle/client"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// appRows asks for applications, oldest first.
func appRows(ctx context.Context, c *client.Client, f client.AppFilter) ([]appRow, error) {
	apps, err := c.Apps(ctx, f)
	if err != nil {
		return nil, err
	}
	rows := make([]appRow, len(apps))
	for i := range apps {
		rows[i] = appOf(&apps[i])
	}
	return rows, nil
}

func appOf(a *rest.App) appRow {
	r := appRow{
		ID: a.ID, Name: a.Name, Type: a.Type, User: a.User, Queue: a.Queue, State: a.State, Final: a.FinalStatus,
		Priority: a.Priority, Progress: float64(a.Progress), Started: a.Started, Launched: a.Launched, Finished: a.Finished, Elapsed: a.Elapsed,
		Containers: a.Containers, Used: rm.Amount{MemoryMiB: a.MB, Vcores: float64(a.VCores)},
		Reserved:   rm.Amount{MemoryMiB: a.ReservedMB, Vcores: float64(a.ReservedCPU)},
		QueueShare: rounded(float64(a.QueueShare)), Share: rounded(float64(a.ClusterShare)),
		Tracking: a.TrackingURL, Diagnostics: a.Diagnostics,
	}
	r.Progress = rounded(r.Progress)
	if a.Resources != nil {
		for i := range a.Resources.List {
			r.Used = resourceOf(&a.Resources.List[i].Used)
			r.Reserved = resourceOf(&a.Resources.List[i].Reserved)
			r.Pending = resourceOf(&a.Resources.List[i].Pending)
			break // the partition without a name comes first, and an application runs in one
		}
	}
	return r
}

// appStatus asks for all there is to tell of an application.
func appStatus(ctx context.Context, c *client.Client, id string) (*appDetail, error) {
	a, err := c.App(ctx, id)
	if err != nil {
		return nil, err
	}
	attempts, err := c.Attempts(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &appDetail{
		appRow: appOf(a), Tags: split(a.Tags), MasterNode: a.MasterNode, MasterAddress: a.AMRPC, MasterLogs: a.AMLogs,
		MemorySeconds: a.MBSeconds, VcoreSeconds: a.CPUSeconds, PreemptedWorkers: a.PreemptedWorkers + a.PreemptedMasters,
		PreemptedMasters: a.PreemptedMasters, LogAggregation: a.LogAggregation, Unmanaged: a.Unmanaged,
		Requests: []requestRow{}, Attempts: []attemptRow{},
	}
	if a.Timeouts != nil {
		for _, t := range a.Timeouts.List {
			if t.Type == "LIFETIME" && t.Expiry != "UNLIMITED" {
				d.Lifetime = t.Expiry
			}
		}
	}
	for i := range a.Requests {
		q := &a.Requests[i]
		if q.Count > 0 {
			d.Requests = append(d.Requests, requestRow{q.Priority, q.Place, int64(q.Count), resourceOf(&q.Capability), q.Relax})
		}
	}
	for i := range attempts {
		t := &attempts[i]
		d.Attempts = append(d.Attempts, attemptRow{t.ID, t.State, t.Started, t.Finished, t.Container, t.Node, t.Logs})
	}
	return d, nil
}

// whyOf asks what an application waits for, and for the application itself. One that is over waits for nothing.
func whyOf(ctx context.Context, c *client.Client, id string) (*appRow, *rm.Explanation, error) {
	a, err := c.App(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	app := appOf(a)
	if !isOver(a.State) {
		e, err := c.Why(ctx, id)
		return &app, e, err
	}
	e := &rm.Explanation{
		Name: app.Name, User: app.User, Queue: app.Queue, State: rm.AppState(app.State), Final: rm.FinalStatus(app.Final),
		Pending: []rm.PendingAsk{}, Refused: map[string]uint32{},
	}
	e.App, err = ids.ParseApp(app.ID)
	return &app, e, err
}

// nodeRows asks for nodes, by id.
func nodeRows(ctx context.Context, c *client.Client, states []string) ([]nodeRow, error) {
	nodes, err := c.Nodes(ctx, states)
	if err != nil {
		return nil, err
	}
	rows := make([]nodeRow, len(nodes))
	for i := range nodes {
		rows[i] = nodeOf(&nodes[i])
	}
	return rows, nil
}

func nodeOf(n *rest.Node) nodeRow {
	u := &n.Utilization
	r := nodeRow{
		ID: n.ID, Rack: n.Rack, State: n.State, HTTP: n.HTTP, Version: n.Version, Health: n.Health, Reported: n.HealthAt,
		Containers: n.Containers, Used: rm.Amount{MemoryMiB: n.UsedMB, Vcores: float64(n.UsedVCores)},
		Total:    rm.Amount{MemoryMiB: n.UsedMB + n.AvailableMB, Vcores: float64(n.UsedVCores + n.AvailableVCores)},
		Measured: measured{int64(u.NodePhysicalMB), int64(u.NodeVirtualMB), rounded(u.NodeCPU)},
		OfTasks:  measured{int64(u.ContainersPhysicalMB), int64(u.ContainersVirtualMB), rounded(u.ContainersCPU)},
		Labels:   append([]string{}, n.Labels...),
	}
	if n.Used != nil {
		r.Used = resourceOf(n.Used)
	}
	if n.Total.Memory > 0 {
		r.Total = resourceOf(&n.Total)
	}
	return r
}

// clusterFigures asks for the cluster in figures, of Heddle or of another ResourceManager.
func clusterFigures(ctx context.Context, c *client.Client) (*clusterRow, error) {
	m, err := c.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	r := &clusterRow{
		Total: rm.Amount{MemoryMiB: m.TotalMB, Vcores: float64(m.TotalVCores)}, Used: rm.Amount{MemoryMiB: m.AllocatedMB, Vcores: float64(m.AllocatedVCores)},
		Reserved:   rm.Amount{MemoryMiB: m.ReservedMB, Vcores: float64(m.ReservedVCores)},
		Pending:    rm.Amount{MemoryMiB: m.PendingMB, Vcores: float64(m.PendingVCores)},
		Containers: m.ContainersAllocated, Waiting: m.ContainersPending,
		Running: m.AppsRunning, Inactive: m.AppsPending, Completed: m.AppsCompleted, Failed: m.AppsFailed, Killed: m.AppsKilled,
		Active: m.ActiveNodes, Lost: m.LostNodes, Unhealthy: m.UnhealthyNodes, Decommissioning: m.DecommissioningNodes,
		Decommissioned: m.DecommissionedNodes, Rebooted: m.RebootedNodes, Shutdown: m.ShutdownNodes,
	}
	info, err := c.Info(ctx)
	switch {
	case err == nil:
		r.Version, r.Scheduler, r.Profile, r.Started = info.Version, info.Scheduler, info.Profile, info.Started
		return r, nil
	case !errors.Is(err, client.ErrNotHeddle):
		return nil, err
	}
	about, err := c.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	r.Version, r.Started = about.Version, about.StartedOn
	r.Scheduler, _, err = c.Scheduler(ctx)
	return r, err
}

// leafPaths completes queues that hold applications.
func leafPaths(ctx context.Context, c *client.Client) ([]string, error) {
	return paths(ctx, c, func(q *rm.QueueReport) bool { return q.Leaf })
}

// queuePaths completes queues.
func queuePaths(ctx context.Context, c *client.Client) ([]string, error) {
	return paths(ctx, c, func(*rm.QueueReport) bool { return true })
}

func paths(ctx context.Context, c *client.Client, wanted func(*rm.QueueReport) bool) ([]string, error) {
	rows, err := c.Queues(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range rows {
		if wanted(&rows[i]) {
			out = append(out, rows[i].Path)
		}
	}
	return out, nil
}

// nodeIDs completes nodes.
func nodeIDs(ctx context.Context, c *client.Client) ([]string, error) {
	rows, err := nodeRows(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range rows {
		out = append(out, rows[i].ID+"\t"+rows[i].State)
	}
	return out, nil
}

func resourceOf(r *rest.Resource) rm.Amount {
	out := rm.Amount{MemoryMiB: r.Memory, Vcores: float64(r.VCores)}
	for i := range r.Informations.List {
		if x := &r.Informations.List[i]; x.Name != "memory-mb" && x.Name != "vcores" {
			addExtra(&out, x.Name, x.Value)
		}
	}
	return out
}

// addExtra adds an amount of what is neither memory nor vcores.
func addExtra(a *rm.Amount, name string, n int64) {
	if n == 0 {
		return
	}
	if a.Extra == nil {
		a.Extra = map[string]int64{}
	}
	a.Extra[name] += n
}

// split takes a list with commas apart; of nothing it makes an empty list.
func split(s string) []string {
	if s == "" {
		return []string{}
	}
	return strings.Split(s, ",")
}
