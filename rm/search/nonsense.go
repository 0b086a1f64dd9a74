package search

import (
	"fmt"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// actNonsense sends a wrong message, which must have no effect.
func (s *sim) actNonsense(d *dice) string {
	list := append(s.wrongClients(), s.wrongNodes(d)...)
	if m := s.working(d); m != nil && m.registered {
		list = append(list, s.wrongMasters(m)...)
	}
	i := d.n(len(list))
	s.order(list[i])
	return fmt.Sprint(i)
}

// wrongClients returns wrong messages from clients and administrators.
func (s *sim) wrongClients() []func(rm.Call) rm.Message {
	who := rm.Person{User: "ann", Addr: "10.0.0.1"}
	none := ids.App{Cluster: 1, Seq: 1}
	app, last := none, none
	if len(s.jobs) > 0 {
		app, last = s.jobs[0].id, s.jobs[len(s.jobs)-1].id
	}
	next := func() ids.App { return ids.App{Cluster: s.shell.date, Seq: 1 << 30} }
	size := heddle.Of(512, 1000)
	return []func(rm.Call) rm.Message{
		func(c rm.Call) rm.Message { return &rm.KillApp{Call: c, Who: who, App: none} },
		func(c rm.Call) rm.Message { return &rm.MoveApp{Call: c, Who: who, App: app, Queue: "nowhere"} },
		func(c rm.Call) rm.Message { return &rm.SetLifetime{Call: c, Who: who, App: app, Until: 1} },
		func(c rm.Call) rm.Message { return &rm.SetPriority{Call: c, Who: who, App: none, Priority: 1} },
		func(c rm.Call) rm.Message {
			return &rm.FailAttempt{Call: c, Who: who, Attempt: ids.Attempt{App: app, N: 99}}
		},
		func(c rm.Call) rm.Message {
			return &rm.SignalContainer{Call: c, Who: who, Container: ids.Container{Attempt: ids.Attempt{App: app, N: 1}, ID: 1 << 30}}
		},
		func(c rm.Call) rm.Message { // an id that was never given
			return &rm.SubmitApp{Call: c, Who: who, Queue: "root.default", App: rm.Submission{ID: next(), Master: size}}
		},
		func(c rm.Call) rm.Message { // an id that was given to another user
			return &rm.SubmitApp{Call: c, Who: rm.Person{User: "eve"}, Queue: "root.default", App: rm.Submission{ID: last, Master: size}}
		},
		func(c rm.Call) rm.Message { // larger than any node
			return &rm.SubmitApp{Call: c, Who: who, Queue: "root.default", App: rm.Submission{ID: none, Master: heddle.Of(1<<30, 1000)}}
		},
		func(c rm.Call) rm.Message {
			return &rm.SubmitApp{Call: c, Who: who, Queue: "root.default", Unwritten: 1 << 30, App: rm.Submission{ID: none, Master: size}}
		},
		func(c rm.Call) rm.Message { return &rm.ResizeNode{Call: c, Node: s.nodes[0].id()} },
	}
}

// wrongNodes returns wrong messages from NodeManagers.
func (s *sim) wrongNodes(d *dice) []func(rm.Call) rm.Message {
	n, other := pick(d, s.nodes...), pick(d, s.nodes...)
	stranger := ids.Node{Host: "elsewhere", Port: 1}
	var theirs []rm.ContainerRun
	if other != n {
		theirs, _ = other.reports()
	}
	return []func(rm.Call) rm.Message{
		func(c rm.Call) rm.Message { return &rm.BeatNode{Call: c, Node: stranger, Last: 3, Running: theirs} },
		func(c rm.Call) rm.Message { return &rm.UnregisterNode{Call: c, Node: stranger} },
		func(c rm.Call) rm.Message {
			return &rm.RegisterNode{Call: c, Node: stranger, Names: []string{"elsewhere"}, Total: heddle.Of(1, 1)}
		},
		func(c rm.Call) rm.Message {
			return &rm.RegisterNode{Call: c, Node: stranger, Names: []string{"elsewhere"}, Total: heddle.Of(1<<50, 1<<50)}
		},
	}
}

// wrongMasters returns wrong messages from a master.
func (s *sim) wrongMasters(m *master) []func(rm.Call) rm.Message {
	ask := func(change func(*rm.Allocate)) func(rm.Call) rm.Message {
		return func(c rm.Call) rm.Message {
			if !s.shell.admitted[m.id] {
				return nil
			}
			q := &rm.Allocate{Call: c, Who: s.caller(m), Last: m.resp}
			change(q)
			return q
		}
	}
	row := rm.Request{Priority: 20, Place: "*", Size: heddle.Of(512, 1000), Count: 1}
	with := func(change func(*rm.Request)) func(rm.Call) rm.Message {
		k := row
		change(&k)
		return ask(func(q *rm.Allocate) { q.Ask = []rm.Request{k} })
	}
	return []func(rm.Call) rm.Message{
		with(func(k *rm.Request) { k.Count = -1 }),
		with(func(k *rm.Request) { k.Label = "gpu" }),
		with(func(k *rm.Request) { k.Place = "" }),
		with(func(k *rm.Request) { k.Size = heddle.Of(1<<40, 1000) }),
		ask(func(q *rm.Allocate) { q.Avoid = []string{"*"} }),
		ask(func(q *rm.Allocate) { q.Placed = true }),
		ask(func(q *rm.Allocate) { q.Release = []ids.Container{{ID: 7}} }),
		ask(func(q *rm.Allocate) { q.Last += 17 }),
	}
}
