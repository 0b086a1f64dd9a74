package rm

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/cluster"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// Masters is the protocol that ApplicationMasters speak; the server needs [RM.Tokens] with it.
func (r *RM) Masters() rpc.Protocol {
	return rpc.Protocol{Name: "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB", Methods: map[string]rpc.Method{
		"registerApplicationMaster": rpc.Serve(byClass(r.registerMaster)),
		"allocate":                  rpc.Serve(byClass(r.allocate)),
		"finishApplicationMaster":   rpc.Serve(byClass(r.finishMaster)),
	}}
}

// attemptOf is the attempt a call's token was made for, nil where it is not the one at work.
func (r *RM) attemptOf(id ids.Attempt) *attempt {
	a := r.byApp[id.App]
	if a == nil {
		return nil
	}
	if t := a.current(); t != nil && t.id == id {
		return t
	}
	return nil
}

// liveAttempt is likewise, and nil where the attempt has ended too.
func (r *RM) liveAttempt(id ids.Attempt) *attempt {
	if t := r.attemptOf(id); t != nil && !t.isOver() && !t.stopping {
		return t
	}
	return nil
}

func (r *RM) registerMaster(ctx context.Context, c *rpc.Call, q *wire.RegisterApplicationMasterRequest) (*wire.RegisterApplicationMasterResponse, error) {
	who := c.Identity.(caller)
	return read(ctx, r, func() (*wire.RegisterApplicationMasterResponse, error) {
		t := r.liveAttempt(who.attempt)
		switch {
		case t == nil:
			return nil, invalid(classInvalidMaster, "Application doesn't exist in cache %s", who.attempt)
		case t.registered():
			return nil, invalid(classInvalidMaster, "Application Master is already registered : %s", who.attempt.App)
		}
		a := t.app
		t.responseID, t.last, t.seen, t.key = 0, nil, time.Now(), who.key
		t.host, t.port, t.url = clip(q.GetHost(), maxURL), q.GetRpcPort(), clip(q.GetTrackingUrl(), maxURL)
		t.tokens = map[ids.Node]bool{}
		t.state = attemptRunning
		if a.state == string(AppAccepted) {
			a.state = string(AppRunning)
		}
		r.release(time.Now())
		p := &wire.RegisterApplicationMasterResponse{
			MaximumCapability:      r.wireResource(r.largest(a.queue)),
			Application_ACLs:       a.context.GetAmContainerSpec().GetApplication_ACLs(),
			Queue:                  new(a.queue),
			SchedulerResourceTypes: []wire.SchedulerResourceTypes{wire.SchedulerResourceTypes_MEMORY},
			ResourceTypes:          Units(r.cfg.ExtraResources).Types(),
		}
		if !r.cfg.MemoryOnly {
			p.SchedulerResourceTypes = append(p.SchedulerResourceTypes, wire.SchedulerResourceTypes_CPU)
		}
		return p, nil
	})
}

func (r *RM) allocate(ctx context.Context, c *rpc.Call, q *wire.AllocateRequest) (*wire.AllocateResponse, error) {
	who := c.Identity.(caller)
	if len(q.GetAsk()) > maxAskRows || len(q.GetRelease()) > maxAskRows {
		return nil, invalid(classInvalidAsk, "%s asks for %d rows and gives back %d containers in one call; at most %d of each are taken", who.attempt, len(q.GetAsk()), len(q.GetRelease()), maxAskRows)
	}
	return read(ctx, r, func() (*wire.AllocateResponse, error) { return r.allocated(who, q) })
}

// allocated is one call of a master.
func (r *RM) allocated(who caller, q *wire.AllocateRequest) (*wire.AllocateResponse, error) {
	t := r.liveAttempt(who.attempt)
	switch {
	case t == nil:
		return nil, invalid(classAttemptNotFound, "Application attempt %s doesn't exist in ApplicationMasterService cache.", who.attempt)
	case !t.registered():
		return nil, invalid(classNotRegistered, "AM is not registered for known application attempt: %s or RM had restarted after AM registered. AM should re-register.", who.attempt)
	}
	t.seen, t.key = time.Now(), who.key
	id := q.GetResponseId()
	switch {
	case t.last != nil && nextID(id) == t.responseID: // its answer was lost
		return t.last, nil
	case id != t.responseID:
		return nil, invalid(classInvalidMaster, "Invalid responseId in AllocateRequest from application attempt: %s expect responseId to be %d but get %d", t.id, t.responseID, id)
	}
	a := t.app
	if a.state == stateFinalSaving || a.state == stateFinishing {
		return r.answerMaster(t), nil
	}
	if err := r.checkAsk(t, q); err != nil {
		return nil, err
	}
	t.progress = clamp(q.GetProgress())
	if q.TrackingUrl != nil {
		t.url = clip(q.GetTrackingUrl(), maxURL)
	}
	r.arrived(t, t.sent) // this call proves that the last answer arrived
	t.sent = nil
	r.blacklist(t, q.GetBlacklistRequest())
	r.giveBack(t, q.GetRelease())
	r.ask(t, q.GetAsk())
	p := r.answerMaster(t)
	for _, u := range q.GetUpdateRequests() {
		p.UpdateErrors = append(p.UpdateErrors, &wire.UpdateContainerError{
			Reason: new("RESOURCE_OUTSIDE_ALLOWED_RANGE"), UpdateRequest: u, CurrentContainerVersion: proto.Int32(0),
		})
	}
	return p, nil
}

// clamp makes a share of what a master reported.
func clamp(f float32) float32 {
	if math.IsNaN(float64(f)) || f < 0 {
		return 0
	}
	return min(f, 1)
}

// giveBack releases containers a master does not want.
func (r *RM) giveBack(t *attempt, list []*wire.ContainerId) {
	r.ending = textReleased
	for _, id := range list {
		id := conv.Container(id)
		c := r.byCont[id]
		switch {
		case c != nil && c.kind != heddle.AM:
			r.step(heddle.Release{App: t.app.aid, Container: c.cid})
		case c == nil && r.recovering() && len(t.releases) < maxAskRows: // its node has not come back yet
			if t.releases == nil {
				t.releases = map[ids.Container]bool{}
			}
			t.releases[id] = true
		}
	}
	r.ending = ""
}

// blacklist changes the hosts and racks a master wants nothing on.
func (r *RM) blacklist(t *attempt, q *wire.ResourceBlacklistRequest) {
	if len(q.GetBlacklistAdditions()) == 0 && len(q.GetBlacklistRemovals()) == 0 {
		return
	}
	if t.black == nil {
		t.black = map[string]bool{}
	}
	for _, h := range q.GetBlacklistAdditions() {
		t.black[h] = true
	}
	for _, h := range q.GetBlacklistRemovals() {
		delete(t.black, h)
	}
	r.exclude(t)
}

// exclude tells the core which nodes an application wants nothing on.
func (r *RM) exclude(t *attempt) {
	e := heddle.Exclude{App: t.app.aid}
	for _, n := range r.nodes {
		if t.black[r.hostName(n.id)] || t.black[n.rack] {
			e.Nodes = append(e.Nodes, n.nid)
		}
	}
	r.step(e)
}

// answerMaster fetches what there is for a master.
func (r *RM) answerMaster(t *attempt) *wire.AllocateResponse {
	a := t.app
	t.responseID = nextID(t.responseID)
	p := &wire.AllocateResponse{
		ResponseId: new(t.responseID), NumClusterNodes: new(int32(r.core.View().Live())),
		ApplicationPriority: &wire.Priority{Priority: new(a.priority)},
		EnhancedHeadroom:    &wire.EnhancedHeadroom{TotalActiveCores: new(int32(r.core.View().Total()[heddle.CPU] / 1000))},
	}
	now, granted := time.Now(), t.granted
	t.granted = nil
	for _, c := range granted {
		c.fetched = now
		r.watch(&c.timer, c, now.Add(r.cfg.ContainerExpiry))
	}
	if len(granted) > 0 { // what the core grants as it hears of it is for the next call
		r.step(heddle.Acquire{App: a.aid})
	}
	for _, c := range granted {
		p.AllocatedContainers = append(p.AllocatedContainers, r.wireContainer(c, now))
		if !t.tokens[c.node.id] {
			t.tokens[c.node.id] = true
			p.NmTokens = append(p.NmTokens, &wire.NMToken{NodeId: conv.WireNode(c.node.id), Token: r.auth.nodeToken(t.id, c.node.id, a.user)})
		}
	}
	for _, e := range t.finished {
		p.CompletedContainerStatuses = append(p.CompletedContainerStatuses, e.status)
	}
	t.sent, t.finished = append(t.sent, t.finished...), nil
	for _, id := range slices.SortedFunc(maps.Keys(t.updated), ids.Node.Compare) {
		p.UpdatedNodes = append(p.UpdatedNodes, r.updatedNode(t.updated[id].n, t.updated[id].how))
	}
	clear(t.updated)
	p.Limit = r.wireResource(r.core.Headroom(a.aid)) // nothing where the core does not know it
	if v := r.core.View().App(a.aid); v != nil && waiting(v) > 0 {
		p.EnhancedHeadroom.TotalPendingCount = new(int32(waiting(v)))
	}
	p.AmRmToken = r.auth.rolled(t.id, t.key)
	t.last = p
	return p
}

// waiting is how many containers of all kinds an application asks for.
func waiting(a *cluster.App) (n int) {
	for k := range heddle.Kind(heddle.NumKinds) {
		n += a.Waiting(k)
	}
	return n
}

// running is how many containers of all kinds an application holds.
func running(a *cluster.App) (n int) {
	for k := range heddle.Kind(heddle.NumKinds) {
		n += a.Running(k)
	}
	return n
}

// wireContainer is a container as its master is told of it, with the token that starts it.
func (r *RM) wireContainer(c *container, now time.Time) *wire.Container {
	return &wire.Container{
		Id: conv.WireContainer(c.id), NodeId: conv.WireNode(c.node.id), NodeHttpAddress: new(c.node.http),
		Resource: r.wireResource(c.size), Priority: &wire.Priority{Priority: new(c.priority)},
		ContainerToken: r.auth.containerToken(r, c, now), ExecutionType: wire.ExecutionType_GUARANTEED.Enum(),
		AllocationRequestId: new(c.allocID),
	}
}

func (r *RM) updatedNode(n *node, how wire.NodeUpdateType) *wire.NodeReport {
	state := wire.NodeState(wire.NodeState_value["NS_"+string(n.state)])
	p := &wire.NodeReport{
		NodeId: conv.WireNode(n.id), HttpAddress: new(n.http), RackName: new(n.rack),
		Used: r.wireResource(r.usedOn(n)), Capability: r.wireResource(n.total), NumContainers: new(int32(len(n.conts))),
		NodeState: &state, HealthReport: new(n.health), LastHealthReportTime: new(n.healthAt),
		NodeUpdateType: how.Enum(),
	}
	if !n.deadline.IsZero() {
		p.DecommissioningTimeout = new(uint32(max(time.Until(n.deadline).Seconds(), 0)))
	}
	return p
}

func (r *RM) usedOn(n *node) heddle.Resource {
	if v := r.core.View().Node(n.nid); n.up && v != nil {
		return v.Used()
	}
	return heddle.Resource{}
}

func (r *RM) finishMaster(ctx context.Context, c *rpc.Call, q *wire.FinishApplicationMasterRequest) (*wire.FinishApplicationMasterResponse, error) {
	who := c.Identity.(caller)
	return call(ctx, r, func(reply func(*wire.FinishApplicationMasterResponse, error)) {
		yes := func() { reply(&wire.FinishApplicationMasterResponse{IsUnregistered: new(true)}, nil) }
		a := r.byApp[who.attempt.App]
		switch {
		case a != nil && (a.isOver() || a.state == stateFinishing):
			yes()
			return
		case a != nil && a.state == stateFinalSaving:
			a.saved = append(a.saved, yes)
			return
		}
		t := r.liveAttempt(who.attempt)
		switch {
		case t == nil:
			reply(nil, invalid(classInvalidMaster, "Application doesn't exist in cache %s", who.attempt))
			return
		case !t.registered():
			reply(nil, invalid(classNotRegistered, "Application Master is trying to unregister before registering for: %s", who.attempt.App))
			return
		}
		t.seen = time.Now()
		t.final = Undefined
		if name, ok := wire.FinalApplicationStatus_name[int32(q.GetFinalApplicationStatus())]; ok {
			t.final = FinalStatus(strings.TrimPrefix(name, "APP_"))
		}
		t.diag = clip(q.GetDiagnostics(), maxDiagnostics)
		if q.TrackingUrl != nil {
			t.url = clip(q.GetTrackingUrl(), maxURL)
		}
		t.progress = 1
		r.withdraw(t)
		a.saved = append(a.saved, yes)
		r.end(a, stateFinishing, t.final, t.diag)
	})
}
