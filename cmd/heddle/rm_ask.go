package main

import (
	"context"
	"errors"

	"heddle/client"
	"heddle/rm"
)

// whyOf asks for an application and what it waits for. An application that is over waits for nothing.
func whyOf(ctx context.Context, c *client.Client, id string) (*rm.AppReport, *rm.Explanation, error) {
	a, err := c.App(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if !a.State.Final() {
		e, err := c.Why(ctx, id)
		return a, e, err
	}
	return a, &rm.Explanation{
		App: a.ID, Name: a.Name, User: a.User, Queue: a.Queue, State: a.State, Final: a.Final,
		Pending: []rm.PendingAsk{}, Refused: map[string]uint32{}, Undone: map[string]uint32{},
	}, nil
}

// clusterFigures asks for the figures of a cluster, of Heddle or another ResourceManager.
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
		r.Version, r.Scheduler, r.Profile, r.Started, r.Unready = info.Version, info.Scheduler, info.Profile, info.Started, info.Unready
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
	rows, err := c.Nodes(ctx, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range rows {
		out = append(out, rows[i].ID+"\t"+rows[i].State)
	}
	return out, nil
}
