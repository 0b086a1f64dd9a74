package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/test/hollow"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// again is the wait before a call without an answer is retried.
const again = 100 * time.Millisecond

// A node is a hollow NodeManager. Like a real one, it keeps ended containers until it is told to forget them, and
// refuses containers granted by a ResourceManager earlier than the one it is registered with.
type node struct {
	c    *cluster
	id   ids.Node
	peer *hollow.Peer

	joining sync.RWMutex // held while it registers: what is granted in the meantime is started afterwards

	mu      sync.Mutex
	manager int64 // the one it is registered with; 0 for none
	works   map[ids.Container]*work
	apps    map[ids.App]bool
}

// A work is a container.
type work struct {
	over   bool
	exit   int32
	said   bool // the end was reported
	killed bool // by the ResourceManager
}

// run starts a container, unless a ResourceManager other than the node's granted it.
func (n *node) run(id ids.Container, manager int64) bool {
	n.joining.RLock()
	defer n.joining.RUnlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if manager != n.manager || n.works[id] != nil {
		return false
	}
	n.works[id], n.apps[id.Attempt.App] = &work{}, true
	return true
}

// end ends a container.
func (n *node) end(id ids.Container, exit int32, killed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if w := n.works[id]; w != nil && !w.over {
		w.over, w.exit, w.killed = true, exit, killed
	}
}

// runs reports whether a container runs.
func (n *node) runs(id ids.Container) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.works[id]
	return w != nil && !w.over
}

// serve registers and reports until the life ends.
func (n *node) serve() error {
	defer n.peer.Close()
	wait := time.Duration(0)
	last := int32(0)
	for n.c.Sleep(wait) {
		if n.managed() == 0 {
			if !n.register() {
				wait = again
				continue
			}
			last = 0
		}
		var err error
		if wait, err = n.report(&last); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) managed() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.manager
}

func (n *node) register() bool {
	n.joining.Lock()
	defer n.joining.Unlock()
	n.mu.Lock()
	var list []*wire.NMContainerStatus
	for id, w := range n.works { // order: of a set
		s := &wire.NMContainerStatus{
			ContainerId: conv.WireContainer(id), ContainerState: wire.ContainerState_C_RUNNING.Enum(), Priority: &wire.Priority{Priority: proto.Int32(20)},
			Resource: hollow.Size(1), ContainerExitStatus: new(w.exit), CreationTime: new(time.Now().UnixMilli()), Diagnostics: new(""),
		}
		if w.over {
			s.ContainerState = wire.ContainerState_C_COMPLETE.Enum()
		}
		list = append(list, s)
	}
	q := hollow.Joining(n.id, n.c.room, list)
	for id := range n.apps { // order: likewise
		q.RunningApplications = append(q.RunningApplications, conv.WireApp(id))
	}
	n.mu.Unlock()
	p := &wire.RegisterNodeManagerResponse{}
	if n.peer.Call(n.c.Ctx, "registerNodeManager", q, p) != nil {
		return false
	}
	if p.GetNodeAction() != wire.NodeAction_NORMAL {
		n.c.violated("%s is not taken in: %s", n.id, p.GetDiagnosticsMessage())
		return false
	}
	n.c.key.Store(hollow.NodeKey(p.GetNmTokenMasterKey()))
	n.mu.Lock()
	defer n.mu.Unlock()
	n.manager = p.GetRmIdentifier()
	return true
}

// report reports once, does what it is told, and returns when to report again.
func (n *node) report(last *int32) (time.Duration, error) {
	st := &wire.NodeStatus{
		NodeId: conv.WireNode(n.id), ResponseId: new(*last),
		NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true), LastHealthReportTime: new(time.Now().UnixMilli())},
	}
	var told []*work
	n.mu.Lock()
	for id, w := range n.works { // order: of a set
		s := &wire.ContainerStatus{ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_RUNNING.Enum(), Capability: hollow.Size(1)}
		if w.over {
			if w.said {
				continue
			}
			told = append(told, w)
			s.State, s.ExitStatus = wire.ContainerState_C_COMPLETE.Enum(), new(w.exit)
		}
		st.ContainersStatuses = append(st.ContainersStatuses, s)
	}
	n.mu.Unlock()
	p := &wire.NodeHeartbeatResponse{}
	began := time.Now()
	if n.peer.Call(n.c.Ctx, "nodeHeartbeat", &wire.NodeHeartbeatRequest{NodeStatus: st}, p) != nil {
		return again, nil
	}
	n.c.beat(time.Since(began))
	switch p.GetNodeAction() {
	case wire.NodeAction_NORMAL:
	case wire.NodeAction_RESYNC:
		n.mu.Lock()
		n.manager = 0
		for _, w := range n.works { // order: all
			w.said = false
		}
		n.mu.Unlock()
		return 0, nil
	default:
		return 0, fmt.Errorf("%s is told to go: %s", n.id, p.GetDiagnosticsMessage())
	}
	*last = p.GetResponseId()
	n.obey(p, told)
	return time.Duration(p.GetNextHeartBeatInterval()) * time.Millisecond, nil
}

// obey does what the answer to a report says.
func (n *node) obey(p *wire.NodeHeartbeatResponse, told []*work) {
	n.mu.Lock()
	for _, w := range told {
		w.said = true
	}
	for _, id := range p.GetContainersToBeRemovedFromNm() {
		delete(n.works, conv.Container(id))
	}
	for _, id := range p.GetApplicationsToCleanup() {
		delete(n.apps, conv.App(id))
	}
	n.mu.Unlock()
	for _, id := range p.GetContainersToCleanup() {
		n.c.killed(n, conv.Container(id))
	}
}

// left returns what is still there.
func (n *node) left() (works []ids.Container, apps int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Keys(n.works)), len(n.apps)
}
