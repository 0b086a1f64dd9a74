// Package translate converts messages of YARN's protocols to those of a ResourceManager, [rm.Message], and its answers
// back to messages of the protocols.
//
// It decides nothing and signs nothing: callers that have the keys add tokens.
package translate

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle"
	"heddle/internal/unit"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// Units are the resources that [heddle.Extra1] and Extra2 count.
type Units []Type

// A Type is a resource, with the unit that it is counted in, as in YARN: "", G.
type Type struct{ Name, Unit string }

// UnitsOf returns resources by their names and their units. A unit that is missing is "".
func UnitsOf(names, units []string) Units {
	u := make(Units, len(names))
	for i, name := range names {
		u[i].Name = name
		if i < len(units) {
			u[i].Unit = units[i]
		}
	}
	return u
}

// Read reads an amount. It keeps negative and huge numbers for later checks to find.
func (u Units) Read(m *wire.Resource) heddle.Resource {
	out := heddle.Of(m.GetMemory(), 1000*int64(m.GetVirtualCores()))
	for _, v := range m.GetResourceValueMap() {
		if i := slices.IndexFunc(u, func(t Type) bool { return t.Name == v.GetKey() }); i >= 0 {
			out[heddle.Extra1+heddle.Dim(i)] = u[i].read(v)
		}
	}
	return out
}

// read returns an amount in the unit of its type, which is also meant if there is none. −1 stands for an amount in a
// unit that YARN does not know.
func (t Type) read(v *wire.ResourceInformation) int64 {
	if v.Units == nil {
		return v.GetValue()
	}
	n, ok := unit.Convert(v.GetValue(), v.GetUnits(), t.Unit)
	if !ok {
		return -1
	}
	return n
}

// Wire returns an amount as YARN writes it: memory and vcores twice, others only in the map. Part of a vcore is rounded
// up, so that nothing above 0 reads as 0.
func (u Units) Wire(a heddle.Resource) *wire.Resource {
	cores := Vcores(a)
	m := &wire.Resource{Memory: &a[heddle.Memory], VirtualCores: new(int32(cores)), ResourceValueMap: []*wire.ResourceInformation{
		information("memory-mb", "Mi", a[heddle.Memory]), information("vcores", "", cores),
	}}
	for i, t := range u {
		m.ResourceValueMap = append(m.ResourceValueMap, information(t.Name, t.Unit, a[heddle.Extra1+heddle.Dim(i)]))
	}
	return m
}

// Vcores returns an amount's processors in whole vcores, rounded up.
func Vcores(a heddle.Resource) int64 {
	milli := a[heddle.CPU]
	if milli > 0 {
		milli += 999
	}
	return min(milli/1000, math.MaxInt32)
}

func information(name, units string, v int64) *wire.ResourceInformation {
	return &wire.ResourceInformation{Key: &name, Value: &v, Units: &units, Type: wire.ResourceTypes_COUNTABLE.Enum()}
}

// Types returns all resource types.
func (u Units) Types() []*wire.ResourceTypeInfo {
	info := func(name, units string) *wire.ResourceTypeInfo {
		return &wire.ResourceTypeInfo{Name: &name, Units: &units, Type: wire.ResourceTypes_COUNTABLE.Enum()}
	}
	list := []*wire.ResourceTypeInfo{info("memory-mb", "Mi"), info("vcores", "")}
	for _, t := range u {
		list = append(list, info(t.Name, t.Unit))
	}
	return list
}

// RegisterNode translates a NodeManager's registration, except for its rack and names.
func (u Units) RegisterNode(q *wire.RegisterNodeManagerRequest) *rm.RegisterNode {
	m := &rm.RegisterNode{
		Node: conv.Node(q.GetNodeId()), HTTPPort: q.GetHttpPort(), Version: q.GetNmVersion(), Total: u.Read(q.GetResource()),
		Physical: u.Read(q.GetPhysicalResource()), Can: caps(q.GetNmVersion()), Health: health(q.GetNodeStatus().GetNodeHealthStatus()),
	}
	for _, s := range q.GetContainerStatuses() {
		m.Containers = append(m.Containers, rm.ContainerNews{
			ContainerEnd: rm.ContainerEnd{
				ID: conv.Container(s.GetContainerId()), Exit: s.GetContainerExitStatus(), Diagnostics: s.GetDiagnostics(),
				Size: u.Read(s.GetResource()),
			},
			Over:     s.GetContainerState() == wire.ContainerState_C_COMPLETE,
			Priority: s.GetPriority().GetPriority(), AllocID: s.GetAllocationRequestId(), Created: s.GetCreationTime(),
			Parked: s.GetExecutionType() == wire.ExecutionType_OPPORTUNISTIC,
		})
	}
	for _, a := range q.GetRunningApplications() {
		m.Apps = append(m.Apps, conv.App(a))
	}
	m.Logs = logNews(q.GetLogAggregationReportsForApps())
	return m
}

// caps returns what a NodeManager of a version can do to containers. Those of Hadoop 2 cannot resize running ones.
func caps(version string) heddle.Caps {
	if strings.HasPrefix(version, "2.") {
		return heddle.Stock &^ heddle.Resizes
	}
	return heddle.Stock
}

// BeatNode translates a NodeManager's report.
func (u Units) BeatNode(q *wire.NodeHeartbeatRequest) *rm.BeatNode {
	st := q.GetNodeStatus()
	m := &rm.BeatNode{
		Node: conv.Node(st.GetNodeId()), Last: st.GetResponseId(), Health: health(st.GetNodeHealthStatus()),
		OfNode: utilization(st.GetNodeUtilization()), OfAll: utilization(st.GetContainersUtilization()),
	}
	m.Keys[rm.ContainerRing], m.Keys[rm.NodeRing] = q.GetLastKnownContainerTokenMasterKey().GetKeyId(), q.GetLastKnownNmTokenMasterKey().GetKeyId()
	if list := st.GetContainersStatuses(); len(list) > 0 {
		m.Running = make([]rm.ContainerRun, 0, len(list))
		for _, s := range list {
			id := conv.Container(s.GetContainerId())
			if s.GetState() != wire.ContainerState_C_COMPLETE {
				m.Running = append(m.Running, rm.ContainerRun{ID: id, Size: u.Read(s.GetCapability()), Parked: s.GetExecutionType() == wire.ExecutionType_OPPORTUNISTIC})
				continue
			}
			m.Ended = append(m.Ended, rm.ContainerEnd{
				ID: id, Exit: s.GetExitStatus(), Diagnostics: s.GetDiagnostics(), Size: u.Read(s.GetCapability()),
			})
		}
	}
	m.Logs = logNews(q.GetLogAggregationReportsForApps())
	return m
}

// logNews translates a NodeManager's log reports. Newer NodeManagers may use statuses that are unknown here.
func logNews(list []*wire.LogAggregationReport) (out []rm.LogNews) {
	for _, l := range list {
		if name, ok := wire.LogAggregationStatus_name[int32(l.GetLogAggregationStatus())]; ok {
			out = append(out, rm.LogNews{App: conv.App(l.GetApplicationId()), Status: strings.TrimPrefix(name, "LOG_")})
		}
	}
	return out
}

func health(h *wire.NodeHealthStatus) rm.Health {
	if h == nil {
		return rm.Health{}
	}
	return rm.Health{Said: true, Sick: h.IsNodeHealthy != nil && !h.GetIsNodeHealthy(), Report: h.GetHealthReport(), At: h.GetLastHealthReportTime()}
}

func utilization(u *wire.ResourceUtilization) rm.Utilization {
	return rm.Utilization{Physical: u.GetPmem(), Virtual: u.GetVmem(), CPU: u.GetCpu()}
}

var actions = [...]wire.NodeAction{rm.GoOn: wire.NodeAction_NORMAL, rm.Resync: wire.NodeAction_RESYNC, rm.ShutDown: wire.NodeAction_SHUTDOWN}

// execution returns a container's execution type: a parked one gives way to others.
func execution(parked bool) *wire.ExecutionType {
	if parked {
		return wire.ExecutionType_OPPORTUNISTIC.Enum()
	}
	return wire.ExecutionType_GUARANTEED.Enum()
}

// NodeBeat returns the answer to a NodeManager's report, without new keys and the tokens of containers that change.
func (u Units) NodeBeat(a *rm.NodeBeat) *wire.NodeHeartbeatResponse {
	p := &wire.NodeHeartbeatResponse{NodeAction: actions[a.Action].Enum()}
	if a.Action != rm.GoOn {
		p.DiagnosticsMessage = &a.Text
		return p
	}
	p.ResponseId, p.NextHeartBeatInterval = &a.ID, new(int64(a.Every)/1e6)
	for _, s := range a.Signals {
		p.ContainersToSignal = append(p.ContainersToSignal, &wire.SignalContainerRequest{
			ContainerId: conv.WireContainer(s.Container), Command: wire.SignalContainerCommand(s.Command).Enum(),
		})
	}
	for i := range a.Updates {
		c := u.container(&a.Updates[i].Granted)
		c.Resource, c.ExecutionType, c.Version = u.Wire(a.Updates[i].Limit), execution(a.Updates[i].Parked), &a.Updates[i].Version
		p.ContainersToUpdate = append(p.ContainersToUpdate, c)
	}
	p.ContainersToCleanup, p.ContainersToBeRemovedFromNm = containers(a.Cleanup), containers(a.Forget)
	for _, id := range a.CleanApp {
		p.ApplicationsToCleanup = append(p.ApplicationsToCleanup, conv.WireApp(id))
	}
	if a.Total != nil {
		p.Resource = u.Wire(*a.Total)
	}
	return p
}

func containers(list []ids.Container) (out []*wire.ContainerId) {
	for _, id := range list {
		out = append(out, conv.WireContainer(id))
	}
	return out
}

// MasterRegistered returns the answer to a master's registration.
func (u Units) MasterRegistered(a *rm.MasterRegistered) *wire.RegisterApplicationMasterResponse {
	p := &wire.RegisterApplicationMasterResponse{MaximumCapability: u.Wire(a.Largest), Queue: &a.Queue, ResourceTypes: u.Types()}
	for _, l := range a.Access {
		kind := wire.ApplicationAccessType_APPACCESS_VIEW_APP
		if l.Change {
			kind = wire.ApplicationAccessType_APPACCESS_MODIFY_APP
		}
		p.Application_ACLs = append(p.Application_ACLs, &wire.ApplicationACLMap{AccessType: kind.Enum(), Acl: new(string(l.List))})
	}
	return p
}

// Allocate translates a master's call.
func (u Units) Allocate(q *wire.AllocateRequest) *rm.Allocate {
	m := &rm.Allocate{
		Last: q.GetResponseId(), Progress: q.GetProgress(), Tracking: q.TrackingUrl, Avoid: q.GetBlacklistRequest().GetBlacklistAdditions(),
		Accept: q.GetBlacklistRequest().GetBlacklistRemovals(), Updates: len(q.GetUpdateRequests()), Placed: len(q.GetSchedulingRequests()) > 0,
	}
	if list := q.GetAsk(); len(list) > 0 {
		m.Ask = make([]rm.Request, len(list))
		for i, k := range list {
			m.Ask[i] = rm.Request{
				Priority: k.GetPriority().GetPriority(), AllocID: k.GetAllocationRequestId(), Place: k.GetResourceName(),
				Size: u.Read(k.GetCapability()), Count: k.GetNumContainers(), Strict: !k.GetRelaxLocality(),
				Enforce: k.GetExecutionTypeRequest().GetEnforceExecutionType(), Label: k.GetNodeLabelExpression(),
			}
		}
	}
	for _, id := range q.GetRelease() {
		m.Release = append(m.Release, conv.Container(id))
	}
	return m
}

var nodeUpdates = [...]wire.NodeUpdateType{
	rm.Usable: wire.NodeUpdateType_NODE_USABLE, rm.Unusable: wire.NodeUpdateType_NODE_UNUSABLE, rm.Decommissioning: wire.NodeUpdateType_NODE_DECOMMISSIONING,
}

// Allocated returns the answer to a master's call q, without tokens; now is in milliseconds since 1970.
func (u Units) Allocated(a *rm.Allocated, q *wire.AllocateRequest, now int64) *wire.AllocateResponse {
	p := &wire.AllocateResponse{
		ResponseId: &a.ID, NumClusterNodes: new(int32(a.LiveNodes)), ApplicationPriority: &wire.Priority{Priority: &a.Priority},
		EnhancedHeadroom: &wire.EnhancedHeadroom{TotalActiveCores: new(int32(a.Total[heddle.CPU] / 1000))}, Limit: u.Wire(a.Headroom),
	}
	if a.Pending > 0 {
		p.EnhancedHeadroom.TotalPendingCount = new(int32(a.Pending))
	}
	for i := range a.Granted {
		p.AllocatedContainers = append(p.AllocatedContainers, u.container(&a.Granted[i]))
	}
	for i := range a.Completed {
		c := &a.Completed[i]
		s := &wire.ContainerStatus{
			ContainerId: conv.WireContainer(c.ID), State: wire.ContainerState_C_COMPLETE.Enum(), Diagnostics: &c.Diagnostics, ExitStatus: &c.Exit,
		}
		if !c.Size.IsZero() {
			s.Capability = u.Wire(c.Size)
		}
		p.CompletedContainerStatuses = append(p.CompletedContainerStatuses, s)
	}
	for i := range a.Nodes {
		p.UpdatedNodes = append(p.UpdatedNodes, u.updated(&a.Nodes[i], now))
	}
	for _, k := range q.GetUpdateRequests() {
		p.UpdateErrors = append(p.UpdateErrors, &wire.UpdateContainerError{
			Reason: new("RESOURCE_OUTSIDE_ALLOWED_RANGE"), UpdateRequest: k, CurrentContainerVersion: proto.Int32(0),
		})
	}
	return p
}

// container returns a container as described to its master, without its token.
func (u Units) container(c *rm.Granted) *wire.Container {
	return &wire.Container{
		Id: conv.WireContainer(c.ID), NodeId: conv.WireNode(c.Node), NodeHttpAddress: &c.NodeHTTP, Resource: u.Wire(c.Size),
		Priority: &wire.Priority{Priority: &c.Priority}, ExecutionType: wire.ExecutionType_GUARANTEED.Enum(), AllocationRequestId: &c.AllocID,
	}
}

func (u Units) updated(n *rm.NodeNews, now int64) *wire.NodeReport {
	state := wire.NodeState(wire.NodeState_value["NS_"+n.State])
	p := &wire.NodeReport{
		NodeId: conv.WireNode(n.ID), HttpAddress: &n.HTTP, RackName: &n.Rack, Used: u.Wire(n.Used), Capability: u.Wire(n.Total),
		NumContainers: new(int32(n.Containers)), NodeState: &state, HealthReport: &n.Health, LastHealthReportTime: &n.HealthAt,
		NodeUpdateType: nodeUpdates[n.Change].Enum(),
	}
	if n.Deadline > 0 {
		p.DecommissioningTimeout = new(uint32(max((n.Deadline-now)/1000, 0)))
	}
	return p
}

// ContainerToken returns what a node is shown to start a container, not yet signed.
func (u Units) ContainerToken(c *rm.Granted, cluster int64) (*wire.ContainerTokenIdentifier, error) {
	kind := wire.ContainerType_TASK
	if c.Master {
		kind = wire.ContainerType_APPLICATION_MASTER
	}
	t := &wire.ContainerTokenIdentifier{
		ContainerId: conv.WireContainer(c.ID), NmHostAddr: new(c.Node.String()), AppSubmitter: &c.User, Resource: u.Wire(c.Limit),
		ExpiryTimeStamp: &c.Expires, RmIdentifier: &cluster, Priority: &wire.Priority{Priority: &c.Priority}, CreationTime: &c.Created,
		NodeLabelExpression: new(""), ContainerType: kind.Enum(), ExecutionType: wire.ExecutionType_GUARANTEED.Enum(),
		Version: proto.Int32(0), AllocationRequestId: &c.AllocID,
	}
	if len(c.Logs) == 0 {
		return t, nil
	}
	t.LogAggregationContext = &wire.LogAggregationContext{}
	return t, proto.Unmarshal(c.Logs, t.LogAggregationContext)
}

// UpdateToken returns what a node is shown to change a running container, not yet signed.
func (u Units) UpdateToken(c *rm.Update, cluster int64) (*wire.ContainerTokenIdentifier, error) {
	t, err := u.ContainerToken(&c.Granted, cluster)
	if err != nil {
		return nil, err
	}
	t.Version, t.ExecutionType = &c.Version, execution(c.Parked)
	return t, nil
}

// anywhere is the place name of a request that any node can satisfy.
const anywhere = "*"

// Submission translates a client's submission. The error says what is wrong with its master's container, which is then
// omitted.
func (u Units) Submission(c *wire.ApplicationSubmissionContext) (s rm.Submission, err error) {
	if s, err = u.submission(c); err != nil {
		return s, err
	}
	if s.Context, err = proto.Marshal(c); err != nil {
		return s, err
	}
	return s, parts(c, &s)
}

// Stored reads a submission that was accepted before, as it was encoded. Its master's container passed the checks then.
func (u Units) Stored(context []byte) (rm.Submission, error) {
	c := &wire.ApplicationSubmissionContext{}
	if err := proto.Unmarshal(context, c); err != nil {
		return rm.Submission{}, err
	}
	s, _ := u.submission(c)
	s.Context = context
	return s, parts(c, &s)
}

// submission reads a submission, except for the parts that are kept encoded.
func (u Units) submission(c *wire.ApplicationSubmissionContext) (s rm.Submission, err error) {
	s = rm.Submission{
		ID: conv.App(c.GetApplicationId()), Name: c.GetApplicationName(), Type: c.GetApplicationType(), Tags: c.GetApplicationTags(),
		MaxAttempts: c.GetMaxAppAttempts(), Unmanaged: c.GetUnmanagedAm(), Label: c.GetNodeLabelExpression(),
		FailureWindow: heddle.Span(min(c.GetAttemptFailuresValidityInterval(), math.MaxInt64/1_000_000)) * 1e6,
	}
	if k := c.GetPriority(); k != nil {
		s.Priority = new(k.GetPriority())
	}
	for _, k := range c.GetAmContainerResourceRequest() {
		s.Label = cmp.Or(s.Label, k.GetNodeLabelExpression())
	}
	for _, t := range c.GetApplicationTimeouts() {
		s.Lifetimes = append(s.Lifetimes, t.GetTimeout())
	}
	for _, l := range c.GetAmContainerSpec().GetApplication_ACLs() {
		s.Access = append(s.Access, rm.Access{
			Change: l.GetAccessType() == wire.ApplicationAccessType_APPACCESS_MODIFY_APP, List: rm.ACL(l.GetAcl()),
		})
	}
	s.Master, err = u.master(c)
	s.Facts.MasterHeap = masterHeap(c.GetAmContainerSpec(), s.Master[heddle.Memory])
	return s, err
}

// parts encodes the parts of a submission that are used separately.
func parts(c *wire.ApplicationSubmissionContext, s *rm.Submission) (err error) {
	if l := c.GetLogAggregationContext(); l != nil {
		if s.LogContext, err = proto.Marshal(l); err != nil {
			return err
		}
	}
	rest := &wire.ApplicationSubmissionContext{}
	to, from := rest.ProtoReflect(), c.ProtoReflect()
	from.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool { to.Set(f, v); return true }) // both share what is in it
	to.SetUnknown(from.GetUnknown())
	if rest.ApplicationName != nil {
		rest.ApplicationName = new(rm.Clip(c.GetApplicationName(), rm.MaxName))
	}
	rest.AmContainerSpec = &wire.ContainerLaunchContext{Application_ACLs: c.GetAmContainerSpec().GetApplication_ACLs()}
	s.Rest, err = proto.Marshal(rest)
	return err
}

// master returns the container that a submission wants for its master.
func (u Units) master(c *wire.ApplicationSubmissionContext) (heddle.Resource, error) {
	m := c.GetResource()
	if list := c.GetAmContainerResourceRequest(); len(list) > 0 {
		m = nil
		for _, k := range list {
			if k.GetResourceName() != anywhere {
				continue
			}
			if m != nil {
				return heddle.Resource{}, errors.New("Invalid resource request, only one resource request with * is allowed") //nolint:staticcheck // stock's words
			}
			m = k.GetCapability()
		}
		if m == nil {
			return heddle.Resource{}, errors.New("Invalid resource request, no resource request specified with *") //nolint:staticcheck // stock's words
		}
	}
	if m == nil {
		return heddle.Resource{}, errors.New("Invalid resource request, no resources requested") //nolint:staticcheck // stock's words
	}
	return u.Read(m), nil
}
