package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/test/hollow"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

const notFound = "ApplicationNotFoundException"

var queues = []string{"root.a", "root.b"}

// outcomeOf returns what a caller knows about its call.
func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return done
	case hollow.Refused(err) != "":
		return refused
	}
	return unknown
}

// A client has one application at a time.
type client struct {
	*cluster
	peer *hollow.Peer
	r    *rand.Rand
	id   *wire.ApplicationId
	app  ids.App

	before string // the previous application
}

// newClient returns a client whose dice are seeded.
func (c *cluster) newClient(seed, n uint64) *client {
	return &client{cluster: c, peer: hollow.NewPeer(c.child.client(), hollow.AsClient(fmt.Sprint("user", n%4))), r: rand.New(rand.NewPCG(seed, n))}
}

// ask makes a call and records it.
func (c *client) ask(k kind, to life, method string, q, p proto.Message) error {
	o := op{kind: k, begin: c.now(), to: to}
	err := c.peer.Call(c.Ctx, method, q, p)
	o.end, o.outcome = c.now(), outcomeOf(err)
	if r, ok := p.(*wire.GetApplicationReportResponse); ok {
		switch {
		case err == nil:
			o.to = lifeOf(r.GetApplicationReport())
		case hollow.Refused(err) == notFound:
			o.outcome = done
		case o.outcome == refused:
			c.violated("%s: %v", c.app, err)
		}
	}
	if r, ok := p.(*wire.UpdateApplicationPriorityResponse); ok && err == nil && r.GetApplicationPriority().GetPriority() != to.priority {
		o.outcome = refused // the answer says that the priority is unchanged: the application is about to end
	}
	if context.Cause(c.Ctx) == nil { // otherwise nobody waits for the result
		c.add(c.app.String(), o)
	}
	return err
}

// submits submits a new application, and reports whether there is more to do with it.
func (c *client) submits() bool {
	made := &wire.GetNewApplicationResponse{}
	for c.peer.Call(c.Ctx, "getNewApplication", &wire.GetNewApplicationRequest{}, made) != nil {
		if !c.Sleep(again) {
			return false
		}
	}
	c.id = made.GetApplicationId()
	c.app = conv.App(c.id)
	c.given(c.app.String())
	c.count(func(s *stats) { s.Jobs++ })
	queue := queues[c.r.IntN(2)]
	for {
		err := c.ask(submit, life{queue: queue}, "submitApplication", hollow.Submission(c.id, fmt.Sprint("job", c.r.IntN(20)), queue), &wire.SubmitApplicationResponse{})
		if err == nil {
			return true
		}
		if outcomeOf(err) == refused {
			c.violated("%s is not taken in: %v", c.app, err)
			return false
		}
		if !c.Sleep(again) {
			return false
		}
	}
}

// churn submits applications and kills each at once, until calm is closed.
func (c *client) churn(calm <-chan struct{}) error {
	defer c.peer.Close()
	for c.Sleep(churnEvery) {
		select {
		case <-calm:
			return nil
		default:
		}
		for over := !c.submits(); !over; {
			over = c.change(true)
		}
		c.forget()
	}
	return nil
}

// job submits an application, changes it now and then, and waits for its end.
func (c *client) job() {
	if !c.submits() {
		return
	}
	kills := time.Duration(-1)
	if c.r.IntN(4) == 0 {
		kills = c.now() + time.Duration(c.r.Int64N(int64(5*c.took)))
	}
	for over := false; !over; {
		if !c.Sleep(time.Duration(c.r.Int64N(int64(400 * time.Millisecond)))) {
			return
		}
		over = c.change(kills >= 0 && c.now() > kills)
	}
	c.forget()
}

// forget closes the previous application, which has no calls in flight any more, if the cluster forgets.
func (c *client) forget() {
	if c.forgets && c.before != "" {
		c.closed(c.before)
	}
	c.before = c.app.String()
}

// change does one of the things that clients do, and reports whether the application is over.
func (c *client) change(kills bool) (over bool) {
	dice := c.r.IntN(10)
	switch {
	case kills:
		c.dooms(c.app)
		_ = c.ask(kill, life{final: "KILLED KILLED"}, "forceKillApplication", &wire.KillApplicationRequest{ApplicationId: c.id}, &wire.KillApplicationResponse{})
	case dice == 0:
		to := queues[c.r.IntN(2)]
		_ = c.ask(move, life{queue: to}, "moveApplicationAcrossQueues", &wire.MoveApplicationAcrossQueuesRequest{ApplicationId: c.id, TargetQueue: &to}, &wire.MoveApplicationAcrossQueuesResponse{})
	case dice < 4:
		to := int32(c.r.IntN(10))
		_ = c.ask(priority, life{priority: to}, "updateApplicationPriority", &wire.UpdateApplicationPriorityRequest{
			ApplicationId: c.id, ApplicationPriority: &wire.Priority{Priority: &to},
		}, &wire.UpdateApplicationPriorityResponse{})
	}
	p := &wire.GetApplicationReportResponse{}
	err := c.ask(look, life{}, "getApplicationReport", &wire.GetApplicationReportRequest{ApplicationId: c.id}, p)
	return err == nil && lifeOf(p.GetApplicationReport()).final != "" || hollow.Refused(err) == notFound
}

// lifeOf returns what a report says.
func lifeOf(r *wire.ApplicationReport) life {
	l := life{there: true, queue: r.GetQueue(), priority: r.GetPriority().GetPriority()}
	switch st := r.GetYarnApplicationState(); st {
	case wire.YarnApplicationState_FINISHED, wire.YarnApplicationState_FAILED, wire.YarnApplicationState_KILLED:
		final := r.GetFinalApplicationStatus().String()
		l.final, l.finished = st.String()+" "+final[len("APP_"):], r.GetFinishTime()
	default:
	}
	return l
}

// watch lists all applications at intervals, and records what it sees of each.
func (c *cluster) watch(every time.Duration) error {
	peer := hollow.NewPeer(c.child.client(), hollow.AsClient("watcher"))
	defer peer.Close()
	for c.Sleep(every) {
		known := c.known()
		o := op{kind: look, begin: c.now(), outcome: done}
		p := &wire.GetApplicationsResponse{}
		if peer.Call(c.Ctx, "getApplications", &wire.GetApplicationsRequest{}, p) != nil {
			continue
		}
		o.end = c.now()
		for _, r := range p.GetApplications() {
			id := conv.App(r.GetApplicationId()).String()
			o.to = lifeOf(r)
			c.add(id, o)
			delete(known, id)
		}
		o.to = life{}
		for id := range known { // order: each by itself
			c.add(id, o)
		}
	}
	return nil
}
