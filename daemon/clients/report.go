package clients

import (
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

const (
	// unavailable stands for a value that does not exist yet, or that the caller may not see. As the host of a running
	// application it tells MapReduce's client that it may not look.
	unavailable = "N/A"
	// noAttempt is the attempt number of an application that has no attempt yet.
	noAttempt = -1

	noLabel       = "<Not set>"
	defaultLabel  = "<DEFAULT_PARTITION>"
	unlimited     = "UNLIMITED"
	timeLayout    = "2006-01-02T15:04:05.000-0700" // of dates in timeouts
	attemptPrefix = "APP_ATTEMPT_"
	httpPrefix    = "http://"
)

// A kept is an application's report as it was built for an earlier caller, encoded.
type kept struct {
	report      *wire.ApplicationReport // all of it is in unknown fields
	diagnostics string
	until       time.Time // when it expires; zero if it is valid as long as the application does not change
}

const (
	// mostKept is the maximum size in bytes of a kept report: there may be many, and long texts are in memory anyway.
	mostKept = 2 << 10
	// keptFor is how long values that grow with time stay in a kept report.
	keptFor = time.Second
)

// appReport returns an application's report as [service.newReport] builds it, encoded once for all readers as long as
// the application does not change. What it has used, and the time it has left, are at most a second old. Callers must
// neither change the report nor look at its fields.
func (s *service) appReport(a *rm.AppReport, see bool, now time.Time) *wire.ApplicationReport {
	memo, ok := a.Memo.(*daemon.Memo)
	if !ok {
		return s.newReport(a, see, now)
	}
	place := &memo.Masked
	if see {
		place = &memo.Whole
	}
	if k, ok := place.Load().(*kept); ok && k.diagnostics == a.Diagnostics && (k.until.IsZero() || now.Before(k.until)) {
		return k.report
	}
	m := s.newReport(a, see, now)
	if proto.Size(m) > mostKept {
		return m
	}
	b, err := proto.MarshalOptions{UseCachedSize: true}.Marshal(m)
	if err != nil {
		return m
	}
	k := &kept{report: &wire.ApplicationReport{}, diagnostics: a.Diagnostics}
	k.report.ProtoReflect().SetUnknown(b)
	if holds := a.Containers > 0 || a.Used.MemoryMiB > 0; holds || a.Lifetime > 0 && !a.State.Final() {
		k.until = now.Add(keptFor)
	}
	place.Store(k)
	return k.report
}

// newReport returns an application's report. A caller that may not view the application learns that it exists and how
// it fares, but nothing about where it runs.
func (s *service) newReport(a *rm.AppReport, see bool, now time.Time) *wire.ApplicationReport {
	m := &wire.ApplicationReport{
		ApplicationId: conv.WireApp(a.ID), User: &a.User, Queue: &a.Queue, Name: &a.Name,
		Host: new(unavailable), RpcPort: proto.Int32(-1),
		YarnApplicationState: appState(a.State).Enum(), TrackingUrl: new(unavailable), Diagnostics: new(unavailable),
		StartTime: &a.Started, FinishTime: &a.Finished, FinalApplicationStatus: finalStatus(a.Final).Enum(),
		AppResource_Usage: noUsage, OriginalTrackingUrl: new(unavailable),
		CurrentApplicationAttemptId: conv.WireAttempt(ids.Attempt{App: a.ID, N: noAttempt}),
		Progress:                    proto.Float32(0), ApplicationType: &a.Type, ApplicationTags: a.Tags,
		UnmanagedApplication: new(false), Priority: &wire.Priority{Priority: &a.Priority},
		AppNodeLabelExpression: new(noLabel), AmNodeLabelExpression: new(defaultLabel),
		AppTimeouts: timeouts(a, now), LaunchTime: &a.Launched,
	}
	if !see {
		return m
	}
	m.AppResource_Usage = s.usage(a)
	m.Diagnostics = &a.Diagnostics
	m.TrackingUrl = orUnavailable(a.TrackingURL)
	if a.Attempt == 0 {
		return m
	}
	m.CurrentApplicationAttemptId.AttemptId = &a.Attempt
	m.OriginalTrackingUrl = orUnavailable(a.OriginalURL)
	m.Progress = float(a.Progress)
	m.LogAggregationStatus = logStatus(a.LogAggregation).Enum()
	if a.Host != "" {
		m.Host, m.RpcPort = &a.Host, &a.RPCPort
	}
	return m
}

func orUnavailable(text string) *string {
	if text == "" {
		text = unavailable
	}
	return &text
}

// usage returns what an application holds and has consumed. What it holds is −1 throughout if it has no live attempt
// that could hold anything.
func (s *service) usage(a *rm.AppReport) *wire.ApplicationResourceUsageReport {
	m := unknownUsage()
	if a.Live {
		m.NumUsedContainers, m.NumReservedContainers = new(int32(a.Containers)), new(int32(a.Reservations))
		m.UsedResources, m.ReservedResources = s.told(a.Used), s.told(a.Reserved)
		m.NeededResources = s.resource(s.dims(a.Used).Plus(s.dims(a.Reserved)))
		m.QueueUsagePercentage, m.ClusterUsagePercentage = &a.QueueShare, &a.ClusterShare
	}
	consumed(m, a.MemorySeconds, a.VcoreSeconds, a.PreemptedMemory, a.PreemptedVcores)
	return m
}

// noUsage is the usage of an application about which nothing is known. It is never changed.
var noUsage = func() *wire.ApplicationResourceUsageReport {
	m := unknownUsage()
	consumed(m, 0, 0, 0, 0)
	return m
}()

// unknownUsage returns the usage of an application whose holdings are unknown.
func unknownUsage() *wire.ApplicationResourceUsageReport {
	return &wire.ApplicationResourceUsageReport{
		NumUsedContainers: proto.Int32(-1), NumReservedContainers: proto.Int32(-1),
		UsedResources: unknown, ReservedResources: unknown, NeededResources: unknown,
	}
}

// consumed sets what was held over time, in MiB·s and vcore·s, and how much of that was preempted.
func consumed(m *wire.ApplicationResourceUsageReport, memory, cores, preemptedMemory, preemptedCores int64) {
	pair := func(memory, cores int64) []*wire.StringLongMap {
		return []*wire.StringLongMap{{Key: new("memory-mb"), Value: &memory}, {Key: new("vcores"), Value: &cores}}
	}
	m.MemorySeconds, m.VcoreSeconds = &memory, &cores
	m.PreemptedMemorySeconds, m.PreemptedVcoreSeconds = &preemptedMemory, &preemptedCores
	m.ApplicationResourceUsageMap = pair(memory, cores)
	m.ApplicationPreemptedResourceUsageMap = pair(preemptedMemory, preemptedCores)
}

// timeouts returns the time at which an application is killed at the latest, which is the only timeout there is.
func timeouts(a *rm.AppReport, now time.Time) []*wire.AppTimeoutsMap {
	kind := wire.ApplicationTimeoutType_APP_TIMEOUT_LIFETIME
	t := &wire.ApplicationTimeout{ApplicationTimeoutType: &kind, ExpireTime: new(unlimited), RemainingTime: proto.Int64(-1)}
	if a.Lifetime > 0 {
		left := max(time.UnixMilli(a.Lifetime).Sub(now)/time.Second, 0)
		if a.State.Final() {
			left = 0
		}
		t.ExpireTime, t.RemainingTime = new(time.UnixMilli(a.Lifetime).Format(timeLayout)), new(int64(left))
	}
	return []*wire.AppTimeoutsMap{{ApplicationTimeoutType: &kind, ApplicationTimeout: t}}
}

// attemptReport returns the report of an attempt.
func attemptReport(a *rm.AttemptReport) *wire.ApplicationAttemptReport {
	m := &wire.ApplicationAttemptReport{
		ApplicationAttemptId: conv.WireAttempt(a.ID), Host: new(unavailable), RpcPort: proto.Int32(-1),
		TrackingUrl: orUnavailable(a.TrackingURL), OriginalTrackingUrl: orUnavailable(a.OriginalURL), Diagnostics: &a.Diagnostics,
		YarnApplicationAttemptState: attemptState(a.State).Enum(), StartTime: &a.Started, FinishTime: &a.Finished,
	}
	if a.Host != "" {
		m.Host, m.RpcPort = &a.Host, &a.RPCPort
	}
	if !a.Master.IsZero() {
		m.AmContainerId = conv.WireContainer(a.Master)
	}
	return m
}

// containerReport returns the report of a container.
func (s *service) containerReport(c *rm.ContainerReport) *wire.ContainerReport {
	m := &wire.ContainerReport{
		ContainerId: conv.WireContainer(c.ID), Resource: s.resource(c.Size), NodeId: conv.WireNode(c.Node),
		Priority: &wire.Priority{Priority: &c.Priority}, CreationTime: &c.Created, FinishTime: &c.Finished,
		LogUrl:              &c.Logs,
		ContainerExitStatus: proto.Int32(0), ContainerState: wire.ContainerState_C_RUNNING.Enum(),
		NodeHttpAddress: new(httpPrefix + c.NodeHTTP), ExecutionType: wire.ExecutionType_GUARANTEED.Enum(),
	}
	if c.Complete {
		m.ContainerState, m.ContainerExitStatus, m.DiagnosticsInfo = wire.ContainerState_C_COMPLETE.Enum(), &c.Exit, &c.Diagnostics
	}
	return m
}

// nodeReport returns the report of a node.
func (s *service) nodeReport(n *rm.NodeReport) *wire.NodeReport {
	m := &wire.NodeReport{
		NodeId: conv.WireNode(n.ID), HttpAddress: &n.HTTP, RackName: &n.Rack, Used: s.resource(n.Used), Capability: s.resource(n.Total),
		NodeState: nodeState(n.State).Enum(), HealthReport: &n.Health, LastHealthReportTime: &n.HealthAt,
		ContainersUtilization: utilization(n.Aggregate), NodeUtilization: utilization(n.Utilization),
	}
	if n.Containers > 0 {
		m.NumContainers = new(int32(n.Containers))
	}
	return m
}

func utilization(u rm.Utilization) *wire.ResourceUtilization {
	return &wire.ResourceUtilization{Pmem: &u.Physical, Vmem: &u.Virtual, Cpu: &u.CPU}
}
