package main

import (
	"math/rand/v2"
	"time"

	"heddle/test/hollow"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

const (
	between       = 250 * time.Millisecond // between the calls of a master
	notRegistered = "ApplicationMasterNotRegisteredException"
)

// A master has tasks to run, and finishes when they are done.
type master struct {
	c    *cluster
	n    *node
	id   ids.Container
	peer *hollow.Peer

	registered bool
	session    int // how often it has registered
	last       int32
	asked      bool
	left       int                    // tasks that are not done
	held       map[ids.Container]bool // containers that run a task
	granted    map[ids.Container]bool
	told       map[ids.Container]int // the session in which it was told of a container's end
	release    []*wire.ContainerId
}

// serve runs all tasks and then finishes, as long as its container runs.
func (m *master) serve() error {
	defer m.peer.Close()
	for over := false; !over && m.n.runs(m.id) && m.c.Sleep(between); {
		var err error
		switch {
		case !m.registered:
			err = m.register()
		case m.left == 0:
			over, err = m.finish()
		default:
			err = m.allocate()
		}
		switch class := hollow.Refused(err); {
		case class == "":
		case class == notRegistered:
			m.registered = false
		case !m.n.runs(m.id):
		case m.c.doomed(m.id.Attempt.App):
			over = true
		default:
			m.c.violated("the master of %s: %v", m.id.Attempt, err)
			over = true
		}
	}
	m.n.end(m.id, 0, false)
	return nil
}

func (m *master) register() error {
	q := &wire.RegisterApplicationMasterRequest{Host: new("h"), RpcPort: new(int32(1))}
	err := m.peer.Call(m.c.Ctx, "registerApplicationMaster", q, &wire.RegisterApplicationMasterResponse{})
	if err == nil {
		m.registered, m.asked, m.last = true, false, 0
		m.session++
	}
	return err
}

// finish says that everything is done, and reports whether that was heard.
func (m *master) finish() (bool, error) {
	app := m.id.Attempt.App
	m.c.dooms(app)
	o := op{kind: finish, begin: m.c.now(), to: life{final: "FINISHED SUCCEEDED"}}
	p := &wire.FinishApplicationMasterResponse{}
	err := m.peer.Call(m.c.Ctx, "finishApplicationMaster", &wire.FinishApplicationMasterRequest{
		FinalApplicationStatus: wire.FinalApplicationStatus_APP_SUCCEEDED.Enum(),
	}, p)
	o.end, o.outcome = m.c.now(), outcomeOf(err)
	if err == nil && !p.GetIsUnregistered() {
		o.outcome = unknown
	}
	m.c.add(app.String(), o)
	return o.outcome == done, err
}

// allocate asks for missing containers, and receives what is granted and what has ended.
func (m *master) allocate() error {
	q := &wire.AllocateRequest{ResponseId: &m.last, Release: m.release}
	if !m.asked {
		q.Ask = []*wire.ResourceRequest{hollow.Ask(20, m.left-len(m.held))}
	}
	p := &wire.AllocateResponse{}
	if err := m.peer.Call(m.c.Ctx, "allocate", q, p); err != nil {
		return err
	}
	m.last, m.asked, m.release = p.GetResponseId(), true, nil
	for _, g := range p.GetAllocatedContainers() {
		if err := m.given(g); err != nil {
			return err
		}
	}
	for _, s := range p.GetCompletedContainerStatuses() {
		m.ended(conv.Container(s.GetContainerId()), s.GetExitStatus())
	}
	return nil
}

// given starts a task in a container.
func (m *master) given(g *wire.Container) error {
	k, err := token.ParseContainer(g.GetContainerToken().GetIdentifier())
	if err != nil {
		return err
	}
	id, n := conv.Container(g.GetId()), m.c.byID[conv.Node(g.GetNodeId())]
	if m.granted[id] {
		m.c.violated("%s is granted a second time", id)
	}
	m.granted[id] = true
	if len(m.held) >= m.left || !n.run(id, k.GetRmIdentifier()) {
		m.release, m.asked = append(m.release, g.GetId()), false
		return nil
	}
	m.held[id] = true
	m.c.count(func(s *stats) { s.Tasks++ })
	m.c.Goes(func() error {
		if m.c.Sleep(time.Duration(rand.Int64N(int64(2*m.c.took))) + 1) {
			n.end(id, 0, false)
		}
		return nil
	})
	return nil
}

// ended handles the report of a container's end. A ResourceManager reports it only once.
func (m *master) ended(id ids.Container, exit int32) {
	switch before, again := m.told[id]; {
	case !m.granted[id]:
		m.c.violated("%s is told of the end of %s, which it never had", m.id.Attempt, id)
	case again && before == m.session:
		m.c.violated("%s is told of the end of %s twice", m.id.Attempt, id)
	case again:
		m.c.count(func(s *stats) { s.Again++ })
	case m.held[id] && exit != 0 && !m.c.doomed(m.id.Attempt.App):
		m.c.violated("%s, which ran, has ended with %d", id, exit)
	}
	m.told[id] = m.session
	if m.held[id] {
		delete(m.held, id)
		m.left--
	}
}
