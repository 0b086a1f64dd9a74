package clients

import (
	"cmp"
	"context"
	"math"
	"time"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/translate"
	"heddle/yarn/wire"
)

// Scheduler types by which the yarn command chooses how to print a queue.
const (
	capacityScheduler = "CapacityScheduler"
	fairScheduler     = "FairScheduler"
	fairType          = "fair" // of rm.ClusterReport.Scheduler
)

// getQueueInfo describes a queue named by its full path or its last part. For an unknown queue the answer is empty.
func (s *service) getQueueInfo(ctx context.Context, who daemon.Actor, req *wire.GetQueueInfoRequest) (*wire.GetQueueInfoResponse, error) {
	if req.GetIncludeApplications() {
		s.o.Prepare(ctx, who.User)
	}
	queues, err := s.rm.Queues(ctx)
	if err != nil {
		return nil, err
	}
	q := rm.FindQueue(queues, req.GetQueueName())
	if q == nil {
		return &wire.GetQueueInfoResponse{}, nil
	}
	cluster, err := s.rm.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	d := describer{s, queues, cluster}
	m := d.tree(q, depth(req))
	if req.GetIncludeApplications() {
		apps, err := s.rm.Apps(ctx, rm.AppFilter{
			Queues: rm.Leaves(queues, q), States: []rm.AppState{rm.AppSubmitted, rm.AppAccepted, rm.AppRunning},
		})
		if err != nil {
			return nil, err
		}
		now := time.Now()
		for i := range apps {
			if s.o.Sees(ctx, who.User, &apps[i]) {
				m.Applications = append(m.Applications, s.appReport(&apps[i], true, now))
			}
		}
	}
	return &wire.GetQueueInfoResponse{QueueInfo: m}, nil
}

// A describer describes queues as of one moment.
type describer struct {
	s       *service
	queues  []rm.QueueReport // by id
	cluster rm.ClusterReport
}

// depth returns how many levels below a queue a request asks for.
func depth(req *wire.GetQueueInfoRequest) int {
	switch {
	case !req.GetIncludeChildQueues():
		return 0
	case !req.GetRecursive():
		return 1
	default:
		return math.MaxInt
	}
}

// tree describes a queue and a number of levels below it.
func (d describer) tree(q *rm.QueueReport, levels int) *wire.QueueInfo {
	var m *wire.QueueInfo
	if d.cluster.Scheduler == fairType {
		m = d.fair(q)
	} else {
		m = d.capacity(q)
	}
	if levels > 0 {
		for _, c := range q.Children {
			m.ChildQueues = append(m.ChildQueues, d.tree(&d.queues[c], levels-1))
		}
	}
	return m
}

// capacity describes a queue in the capacity scheduler's terms.
func (d describer) capacity(q *rm.QueueReport) *wire.QueueInfo {
	state := wire.QueueState_Q_RUNNING
	if q.State != rm.QueueRunning {
		state = wire.QueueState_Q_STOPPED
	}
	guaranteed := whole(q.Guaranteed(d.cluster.Total))
	m := &wire.QueueInfo{
		QueueName: new(q.Name()), QueuePath: &q.Path, SchedulerType: new(capacityScheduler),
		Capacity: float(q.Capacity), MaximumCapacity: float(q.Max), CurrentCapacity: float(max(0, q.UsedOfOwn)),
		State: &state, AccessibleNodeLabels: []string{"*"}, QueueStatistics: d.statistics(q, guaranteed),
		PreemptionDisabled: new(!q.Preemptable), IntraQueuePreemptionDisabled: new(true),
		Weight: float(q.Weight), MaxParallelApps: new(q.ParallelApps()),
	}
	least, most := q.GivenAs()
	m.QueueConfigurationsMap = []*wire.QueueConfigurationsMap{{PartitionName: new(""), QueueConfigurations: &wire.QueueConfigurations{
		Capacity: float(q.Capacity), AbsoluteCapacity: float(q.Absolute), MaxCapacity: float(q.Max), AbsoluteMaxCapacity: float(q.AbsoluteMax),
		MaxAMPercentage: float(q.AMShare), EffectiveMinCapacity: d.s.resource(guaranteed),
		EffectiveMaxCapacity: d.s.resource(whole(q.Ceiling(d.cluster.Total))), ConfiguredMinCapacity: d.s.resource(least),
		ConfiguredMaxCapacity: d.s.resource(most),
	}}}
	return m
}

// fair describes a queue in the fair scheduler's terms.
func (d describer) fair(q *rm.QueueReport) *wire.QueueInfo {
	share := whole(q.Guaranteed(d.cluster.Total))
	least, most := q.Bounds(d.cluster.Total)
	apps := int32(math.MaxInt32)
	if q.MaxApps >= 0 {
		apps = int32(min(q.MaxApps, math.MaxInt32))
	}
	reserved := d.s.dims(q.Reserved)
	memory := func(a heddle.Resource) *int64 { return new(a[heddle.Memory]) }
	cores := func(a heddle.Resource) *int32 { return new(int32(translate.Vcores(a))) }
	return &wire.QueueInfo{
		QueueName: &q.Path, SchedulerType: new(fairScheduler), State: wire.QueueState_Q_RUNNING.Enum(),
		Capacity: float(q.Absolute), CurrentCapacity: float(rm.ShareOf(d.s.dims(q.Used), share, d.cluster.MemoryOnly)), Weight: float(q.Weight),
		MinResourceMemory: memory(least), MinResourceVCore: cores(least), MaxResourceMemory: memory(most), MaxResourceVCore: cores(most),
		ReservedResourceMemory: memory(reserved), ReservedResourceVCore: cores(reserved),
		SteadyFairShareMemory: memory(share), SteadyFairShareVCore: cores(share), MaxRunningApp: &apps,
		PreemptionDisabled: new(!q.Preemptable), QueueStatistics: d.statistics(q, share),
	}
}

// statistics returns a queue's numbers. Available is what is left of the queue's entitlement.
func (d describer) statistics(q *rm.QueueReport, entitled heddle.Resource) *wire.QueueStatistics {
	n := func(i int) *int64 { return new(int64(i)) }
	memory := func(a heddle.Resource) *int64 { return new(a[heddle.Memory]) }
	cores := func(a heddle.Resource) *int64 { return new(translate.Vcores(a)) }
	used, pending, reserved := d.s.dims(q.Used), d.s.dims(q.Pending), d.s.dims(q.Reserved)
	left := entitled.Minus(used).Max(heddle.Resource{})
	return &wire.QueueStatistics{
		NumAppsSubmitted: n(q.Submitted), NumAppsRunning: n(q.Active), NumAppsPending: n(q.Inactive), NumAppsCompleted: n(q.Completed),
		NumAppsKilled: n(q.Killed), NumAppsFailed: n(q.Failed), NumActiveUsers: n(q.AskingUsers),
		AvailableMemoryMB: memory(left), AllocatedMemoryMB: memory(used), PendingMemoryMB: memory(pending), ReservedMemoryMB: memory(reserved),
		AvailableVCores: cores(left), AllocatedVCores: cores(used), PendingVCores: cores(pending), ReservedVCores: cores(reserved),
		AllocatedContainers: n(q.Containers), PendingContainers: n(q.Waiting), ReservedContainers: n(q.Reservations),
	}
}

// whole rounds an amount down to whole MiB and vcores.
func whole(a heddle.Resource) heddle.Resource {
	for i := range a {
		unit := heddle.Dim(i).Unit()
		a[i] = a[i] / unit * unit
	}
	return a
}

func float[F ~float64](f F) *float32 { return new(float32(f)) }

// getQueueUserAcls says what the caller may do in each queue. A right in a queue holds in the queues below it too. It fails
// if a right depends on groups that are not known.
func (s *service) getQueueUserAcls(ctx context.Context, who daemon.Actor, _ *wire.GetQueueUserAclsInfoRequest) (*wire.GetQueueUserAclsInfoResponse, error) {
	all, lacks, unsure := !s.o.ACLs, false, error(nil)
	if !all {
		s.o.Prepare(ctx, who.User)
	}
	in := func(list string) bool {
		may, err := s.o.Admits(ctx, rm.ACL(list), who.User)
		unsure = cmp.Or(unsure, err)
		return may
	}
	queues, err := s.rm.Queues(ctx)
	if err != nil {
		return nil, err
	}
	m := &wire.GetQueueUserAclsInfoResponse{}
	type rights struct{ submit, administer bool }
	have := make([]rights, len(queues))
	for i := range queues {
		q := &queues[i]
		r := rights{all, all}
		if p := int(q.Parent); p >= 0 && p < i {
			r.submit, r.administer = r.submit || have[p].submit, r.administer || have[p].administer
		}
		r.administer = r.administer || in(q.AdminACL)
		r.submit = r.submit || r.administer || in(q.SubmitACL)
		have[i], lacks = r, lacks || !r.submit || !r.administer
		info := &wire.QueueUserACLInfo{QueueName: &q.Path}
		if r.submit {
			info.UserAcls = append(info.UserAcls, wire.QueueACL_QACL_SUBMIT_APPLICATIONS)
		}
		if r.administer {
			info.UserAcls = append(info.UserAcls, wire.QueueACL_QACL_ADMINISTER_QUEUE)
		}
		m.QueueUserAcls = append(m.QueueUserAcls, info)
	}
	if lacks && unsure != nil {
		return nil, unsure
	}
	return m, nil
}
