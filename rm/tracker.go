package rm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// Version is the release of YARN whose protocols are spoken; NodeManagers are told so.
const Version = "3.4.2"

// Tracker is the protocol that NodeManagers speak.
func (r *RM) Tracker() rpc.Protocol {
	return rpc.Protocol{Name: "org.apache.hadoop.yarn.server.api.ResourceTrackerPB", Methods: map[string]rpc.Method{
		"registerNodeManager":   rpc.Serve(byClass(r.registerNode)),
		"nodeHeartbeat":         rpc.Serve(byClass(r.heartbeat)),
		"unRegisterNodeManager": rpc.Serve(byClass(r.unregisterNode)),
	}}
}

func (r *RM) registerNode(ctx context.Context, c *rpc.Call, q *wire.RegisterNodeManagerRequest) (*wire.RegisterNodeManagerResponse, error) {
	id := conv.Node(q.GetNodeId())
	if id.Host == "" || len(id.Host) > maxHostName || id.Port <= 0 {
		return nil, invalid(classYarn, "a NodeManager registered as %q; expected a host of up to %d characters and the port of its container manager", clip(id.String(), maxHostName), maxHostName)
	}
	rack, names := r.rackOf(ctx, id.Host), r.namesOf(ctx, id.Host)
	return read(ctx, r, func() (*wire.RegisterNodeManagerResponse, error) { return r.register(id, names, rack, q), nil })
}

// refuseNode tells a NodeManager to go.
func refuseNode(format string, args ...any) *wire.RegisterNodeManagerResponse {
	return &wire.RegisterNodeManagerResponse{
		NodeAction: wire.NodeAction_SHUTDOWN.Enum(), DiagnosticsMessage: new(fmt.Sprintf(format, args...)),
	}
}

// register takes a NodeManager in, or back.
func (r *RM) register(id ids.Node, names []string, rack string, q *wire.RegisterNodeManagerRequest) *wire.RegisterNodeManagerResponse {
	total, known := r.resource(q.GetResource()), q.GetContainerStatuses()
	n := r.byNode[id]
	switch {
	case n != nil && (rack == "" || rack != n.rack && len(n.conts) > 0): // it moves when nothing runs there
		rack = n.rack
	case rack == "":
		rack = defaultRack
	}
	// One that is on its way out and has something left to finish may go on with it.
	leaving := n != nil && n.state == nodeDecommissioning && n.rack == rack && len(known)+len(q.GetRunningApplications()) > 0
	switch {
	case !r.listed.admits(names) && !leaving:
		r.log.Warn("a NodeManager that is not on the list was refused", "node", id)
		if n != nil {
			r.nodeDown(n, nodeDecommissioned)
		}
		return refuseNode("Disallowed NodeManager from  %s, Sending SHUTDOWN signal to the NodeManager.", id.Host)
	case total[heddle.Memory] < r.sch.Minimum[heddle.Memory] || total[heddle.CPU] < r.sch.Minimum[heddle.CPU]:
		return refuseNode("NodeManager from  %s doesn't satisfy minimum allocations, Sending SHUTDOWN signal to the NodeManager.", id.Host)
	case !plausible(total):
		return refuseNode("NodeManager from  %s offers %s, which is no amount that a machine has, Sending SHUTDOWN signal to the NodeManager.", id.Host, r.text(total))
	case n == nil && len(r.byNode) >= maxNodes:
		return refuseNode("NodeManager from  %s is one more than the %d that there can be, Sending SHUTDOWN signal to the NodeManager.", id.Host, maxNodes)
	}
	switch {
	case n == nil:
		n = r.addNode(id, rack)
	case n.rack != rack:
		r.nodeDown(n, nodeShutdown)
		n = r.addNode(id, rack)
	}
	n.names, n.http = names, fmt.Sprintf("%s:%d", id.Host, q.GetHttpPort())
	n.version, n.seen, n.lastID, n.last = clip(q.GetNmVersion(), maxHostName), time.Now(), 0, nil
	n.forget, n.signals = nil, nil
	clear(n.cleanup)
	if n.up && len(known) == 0 && len(q.GetRunningApplications()) == 0 { // it knows nothing of what ran there
		r.nodeDown(n, nodeRebooted)
	}
	if n.up && !leaving { // it may offer less than before
		r.resizeNode(n, n.total.Min(total))
	}
	fresh := !n.up
	n.total, n.physical = total, r.resource(q.GetPhysicalResource())
	if !leaving {
		n.deadline = time.Time{}
		n.setHealth(q.GetNodeStatus().GetNodeHealthStatus())
		r.join(n)
	}
	for _, a := range q.GetRunningApplications() {
		r.ranOn(conv.App(a), n)
	}
	r.reconcile(n, known)
	r.watchNode(n)
	if n.up && !leaving { // not sooner: what it has free is known now
		r.resizeNode(n, n.total)
		if fresh {
			r.nameHosts(n)
		}
	}
	r.forgetTokens(n)
	r.log.Info("NodeManager registered", "node", id, "rack", rack, "memory", total[heddle.Memory], "vcores", total[heddle.CPU]/1000, "version", n.version, "containers", len(known))
	r.release(time.Now())
	return &wire.RegisterNodeManagerResponse{
		ContainerTokenMasterKey: r.auth.containerKey(), NmTokenMasterKey: r.auth.nodeKey(),
		NodeAction: wire.NodeAction_NORMAL.Enum(), RmIdentifier: new(r.cluster), RmVersion: new(Version),
	}
}

// join makes a node that registered one of the cluster's, if it is healthy. It has nothing to give yet.
func (r *RM) join(n *node) {
	if n.state == nodeUnhealthy {
		r.nodeDown(n, nodeUnhealthy)
		return
	}
	n.state = nodeRunning
	r.nodeUp(n, heddle.Resource{})
}

// ranOn notes that an application has files on a node; one that is over or unknown is cleaned up.
func (r *RM) ranOn(id ids.App, n *node) {
	if a := r.byApp[id]; a != nil && !a.ended {
		a.nodes[n] = true
		n.apps[id] = true
		return
	}
	n.clean(id)
}

func (n *node) setHealth(h *wire.NodeHealthStatus) {
	if h == nil {
		return
	}
	n.health, n.healthAt = clip(h.GetHealthReport(), maxDiagnostics), h.GetLastHealthReportTime()
	if h.IsNodeHealthy != nil && !h.GetIsNodeHealthy() {
		n.state = nodeUnhealthy
	} else if n.state == nodeUnhealthy {
		n.state = nodeRunning
	}
}

func (r *RM) unregisterNode(ctx context.Context, _ *rpc.Call, q *wire.UnRegisterNodeManagerRequest) (*wire.UnRegisterNodeManagerResponse, error) {
	return read(ctx, r, func() (*wire.UnRegisterNodeManagerResponse, error) {
		if n := r.byNode[conv.Node(q.GetNodeId())]; n != nil && n.state.active() {
			r.log.Info("NodeManager left", "node", n.id)
			r.nodeDown(n, nodeShutdown)
		}
		return &wire.UnRegisterNodeManagerResponse{}, nil
	})
}

func (r *RM) heartbeat(ctx context.Context, _ *rpc.Call, q *wire.NodeHeartbeatRequest) (*wire.NodeHeartbeatResponse, error) {
	return read(ctx, r, func() (*wire.NodeHeartbeatResponse, error) { return r.beat(q), nil })
}

// resync tells a NodeManager to register again.
func resync(format string, args ...any) *wire.NodeHeartbeatResponse {
	return &wire.NodeHeartbeatResponse{
		NodeAction: wire.NodeAction_RESYNC.Enum(), DiagnosticsMessage: new(fmt.Sprintf(format, args...)),
	}
}

// nextID follows a response id.
func nextID(id int32) int32 { return (id + 1) & 0x7fffffff }

// beat is one report of a NodeManager.
func (r *RM) beat(q *wire.NodeHeartbeatRequest) *wire.NodeHeartbeatResponse {
	st := q.GetNodeStatus()
	id := conv.Node(st.GetNodeId())
	n := r.byNode[id]
	switch {
	case n == nil || !n.state.active() && n.state != nodeDecommissioned:
		return resync("Node not found resyncing %s", id)
	case n.state == nodeDecommissioned || !r.listed.admits(n.names) && n.state != nodeDecommissioning:
		r.nodeDown(n, nodeDecommissioned)
		return &wire.NodeHeartbeatResponse{
			NodeAction: wire.NodeAction_SHUTDOWN.Enum(), DiagnosticsMessage: new("Disallowed NodeManager nodeId: " + id.String() + " hostname: " + id.Host),
		}
	case n.last != nil && nextID(st.GetResponseId()) == n.lastID: // its answer was lost
		n.seen = time.Now()
		return n.last
	case st.GetResponseId() != n.lastID:
		r.nodeDown(n, nodeRebooted)
		return resync("Too far behind rm response id:%d nm response id:%d", n.lastID, st.GetResponseId())
	}
	n.seen = time.Now()
	n.nodeUse, n.contUse = utilization(st.GetNodeUtilization()), utilization(st.GetContainersUtilization())
	r.health(n, st.GetNodeHealthStatus())
	for _, l := range q.GetLogAggregationReportsForApps() {
		if a := r.byApp[conv.App(l.GetApplicationId())]; a != nil {
			a.aggregated(l.GetLogAggregationStatus())
		}
	}
	r.statuses(n, st.GetContainersStatuses())
	if n.state == nodeRunning && r.hold.IsZero() && (r.core.Wants(n.nid) || r.tickDue()) {
		r.step(heddle.Heartbeat{Node: n.nid})
	}
	if n.state == nodeDecommissioning {
		r.drained(n)
	}
	return r.answerBeat(n, q)
}

// tickDue reports whether policies have arithmetic to do for somebody who waits: what comes of it, such as room that is
// held back no longer, a quiet core would not see.
func (r *RM) tickDue() bool {
	at, ok := r.core.NextTick()
	return ok && r.at(time.Now()) >= at
}

// health is what a node says of its own disks and scripts.
func (r *RM) health(n *node, h *wire.NodeHealthStatus) {
	if n.state == nodeDecommissioning {
		return
	}
	was := n.state
	n.setHealth(h)
	switch {
	case was == n.state:
	case n.state == nodeUnhealthy:
		r.log.Warn("node is unhealthy", "node", n.id, "report", n.health)
		r.nodeDown(n, nodeUnhealthy)
	default:
		r.log.Info("node is healthy again", "node", n.id)
		r.nodeUp(n, n.total)
		r.nameHosts(n)
	}
}

// statuses takes what a node says of its containers: all that run and those that ended.
func (r *RM) statuses(n *node, list []*wire.ContainerStatus) {
	reported := make(map[ids.Container]bool, len(list))
	for _, s := range list {
		id := conv.Container(s.GetContainerId())
		reported[id] = true
		c := r.byCont[id]
		if c != nil && c.node != n {
			r.log.Warn("a node reports another node's container", "node", n.id, "container", id)
			continue
		}
		if s.GetState() != wire.ContainerState_C_COMPLETE {
			r.runs(n, id, c)
			continue
		}
		delete(n.killed, id)
		switch {
		case c == nil:
			r.forgettable(n, id)
		case c.kind == heddle.AM:
			n.acknowledge(id)
			r.exitedAs(c, s)
		default:
			r.exitedAs(c, s)
		}
	}
	r.unreported(n, func(c *container) bool { return c.running && !reported[c.id] })
}

// runs is a container that a node says is there.
func (r *RM) runs(n *node, id ids.Container, c *container) {
	a := r.byApp[id.Attempt.App]
	switch {
	case c != nil && !c.running:
		c.running = true
		r.timers.stop(&c.timer)
		r.step(heddle.Started{Container: c.cid})
	case c != nil:
	case a == nil || a.ended: // a start that was under way when the application ended, perhaps
		n.clean(id.Attempt.App)
	case time.Since(n.killed[id]) < killTime: // its end is on the way
	default:
		r.kill(n, id)
	}
}

// acknowledge lets a node forget a container that ended.
func (n *node) acknowledge(id ids.Container) {
	if n.state.active() {
		n.forget = append(n.forget, id)
	}
}

// answerBeat is the answer to a report that was taken.
func (r *RM) answerBeat(n *node, q *wire.NodeHeartbeatRequest) *wire.NodeHeartbeatResponse {
	n.lastID = nextID(n.lastID)
	n.every = r.interval(n)
	p := &wire.NodeHeartbeatResponse{
		ResponseId: new(n.lastID), NodeAction: wire.NodeAction_NORMAL.Enum(),
		NextHeartBeatInterval: new(n.every.Milliseconds()), TokenSequenceNo: proto.Int64(1),
		ContainersToSignal: n.signals,
	}
	for _, id := range slices.SortedFunc(maps.Keys(n.cleanup), ids.Container.Compare) {
		p.ContainersToCleanup = append(p.ContainersToCleanup, conv.WireContainer(id))
	}
	for _, id := range n.forget {
		p.ContainersToBeRemovedFromNm = append(p.ContainersToBeRemovedFromNm, conv.WireContainer(id))
	}
	for _, id := range slices.SortedFunc(maps.Keys(n.cleanApp), ids.App.Compare) {
		p.ApplicationsToCleanup = append(p.ApplicationsToCleanup, conv.WireApp(id))
	}
	n.forget, n.signals = nil, nil
	clear(n.cleanup)
	clear(n.cleanApp)
	if n.resized {
		p.Resource, n.resized = r.wireResource(n.total), false
	}
	p.ContainerTokenMasterKey, p.NmTokenMasterKey = r.auth.newKeys(
		q.GetLastKnownContainerTokenMasterKey().GetKeyId(), q.GetLastKnownNmTokenMasterKey().GetKeyId())
	n.last = p
	return p
}

func utilization(u *wire.ResourceUtilization) Utilization {
	return Utilization{Physical: u.GetPmem(), Virtual: u.GetVmem(), CPU: u.GetCpu()}
}

// aggregated is what a node says of collecting an application's logs.
func (a *app) aggregated(s wire.LogAggregationStatus) {
	if name, ok := wire.LogAggregationStatus_name[int32(s)]; ok { // newer nodes may know others
		a.logs = strings.TrimPrefix(name, "LOG_")
	}
}
