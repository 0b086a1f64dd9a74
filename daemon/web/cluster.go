package web

import (
	"net/http"
	"strings"

	"heddle"
	"heddle/rm"
	"heddle/yarn/rest"
)

// HadoopVersion is the Hadoop release whose protocols are spoken, as told to clients that ask.
const HadoopVersion = "3.4.2"

// info answers GET /info.
func (s *site) info(r *http.Request) (rest.Answer, error) {
	c, err := s.RM.Cluster(r.Context())
	if err != nil {
		return rest.Answer{}, err
	}
	return rest.Answer{Root: "clusterInfo", Value: rest.ClusterInfo{
		ID: c.Started, StartedOn: c.Started, State: "STARTED", HAState: "ACTIVE",
		StateStore: s.Store, Version: s.Version, BuildVersion: s.Version, BuiltOn: s.BuiltOn,
		HadoopVersion: HadoopVersion, HadoopBuild: HadoopVersion + ", as " + s.Version + " speaks it",
		HadoopBuiltOn: s.BuiltOn, ZooKeeperStatus: "ResourceManager HA is not in use.",
	}}, nil
}

// metrics answers GET /metrics.
func (s *site) metrics(r *http.Request) (rest.Answer, error) {
	c, err := s.RM.Cluster(r.Context())
	if err != nil {
		return rest.Answer{}, err
	}
	return rest.Answer{Root: "clusterMetrics", Value: s.shape.metrics(c)}, nil
}

func (sh shaper) metrics(c rm.ClusterReport) rest.ClusterMetrics {
	free := c.Total.Minus(c.Used).Minus(c.Reserved)
	return rest.ClusterMetrics{
		AppsSubmitted: c.Submitted, AppsCompleted: c.Completed, AppsPending: c.PendingApps,
		AppsRunning: c.RunningApps, AppsFailed: c.FailedApps, AppsKilled: c.KilledApps,
		ReservedMB: c.Reserved[heddle.Memory], AvailableMB: free[heddle.Memory],
		AllocatedMB: c.Used[heddle.Memory], PendingMB: c.Pending[heddle.Memory],
		ReservedVCores: vcores(c.Reserved[heddle.CPU]), AllocatedVCores: vcores(c.Used[heddle.CPU]),
		AvailableVCores: vcores(c.Total[heddle.CPU]) - vcores(c.Used[heddle.CPU]) - vcores(c.Reserved[heddle.CPU]),
		PendingVCores:   vcores(c.Pending[heddle.CPU]), ContainersAllocated: c.Containers,
		ContainersReserved: c.Reservations, ContainersPending: c.Waiting,
		TotalMB: c.Total[heddle.Memory], UtilizedMB: c.Utilized[heddle.Memory],
		TotalVCores: vcores(c.Total[heddle.CPU]), UtilizedVCores: c.Utilized[heddle.CPU] / 1000,
		UtilizedMBPercent:  int(percent(float64(c.Utilized[heddle.Memory]), float64(c.Total[heddle.Memory]))),
		UtilizedCPUPercent: int(percent(float64(c.Utilized[heddle.CPU]), float64(c.Total[heddle.CPU]))),
		BusyPercent:        int(c.BusyPercent),
		TotalNodes: c.Active + c.Lost + c.Unhealthy + c.Decommissioning + c.Decommissioned +
			c.Rebooted + c.Shutdown,
		LostNodes: c.Lost, UnhealthyNodes: c.Unhealthy, DecommissioningNodes: c.Decommissioning,
		DecommissionedNodes: c.Decommissioned, RebootedNodes: c.Rebooted, ActiveNodes: c.Active,
		ShutdownNodes: c.Shutdown, UsedAcross: sh.resource(c.Used), TotalAcross: sh.resource(c.Total),
		ReservedAcross: sh.resource(c.Reserved), ContainersAcross: c.Containers, AcrossKnown: true,
		EventQueue: c.Queue,
	}
}

// percent returns 100·a/b, or 0 if b is not positive.
func percent(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return 100 * a / b
}

// allTypes stands for applications of every type.
const allTypes = "*"

// statistics answers GET /appstatistics.
func (s *site) statistics(r *http.Request) (rest.Answer, error) {
	q := r.URL.Query()
	states, err := appStates(q["states"])
	if err != nil {
		return rest.Answer{}, err
	}
	if len(states) == 0 {
		states = everyAppState
	}
	types := commas(q["applicationTypes"])
	if len(types) > 1 {
		return rest.Answer{}, badRequest("applicationTypes names more than one type; one can be counted at a time")
	}
	label := allTypes
	if len(types) == 1 {
		label = strings.ToLower(types[0])
	}
	if label == allTypes {
		types = nil
	}
	count, err := s.RM.CountApps(r.Context(), rm.AppFilter{Types: types})
	if err != nil {
		return rest.Answer{}, err
	}
	out := rest.Statistics{}
	for _, st := range states {
		out.Items = append(out.Items, rest.StatItem{State: string(st), Type: label, Count: int64(count[st])})
	}
	return rest.Answer{Root: "appStatInfo", Value: out}, nil
}
