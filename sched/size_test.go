package sched_test

import (
	"reflect"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// sizer is a Size that gives every master the same size, changes its decision when told to, and enlarges running
// masters.
type sizer struct {
	to      heddle.Resource
	revised []heddle.AppID
	grow    []heddle.ContainerID
}

func (s *sizer) Size(policy.View, *policy.App, heddle.Kind, heddle.Resource) heddle.Resource {
	return s.to
}

func (s *sizer) Woken(_ policy.View, ids []heddle.AppID) []heddle.AppID {
	ids = append(ids, s.revised...)
	s.revised = nil
	return ids
}

func (*sizer) Every() heddle.Span { return heddle.Second }

func (s *sizer) Run(_ policy.View, p *policy.Plan) {
	for _, id := range s.grow {
		p.Resize(id, s.to)
	}
}

// Whatever a policy makes of a master's size, some node and the largest container can hold it, provided that they can
// hold what was asked for.
func TestSizesStayWithinNodes(t *testing.T) {
	asked, huge := heddle.Of(1024, 1000), heddle.Of(1<<20, 1_000_000)
	for _, c := range []struct {
		name    string
		maximum heddle.Resource
		nodes   []heddle.Resource
		asked   heddle.Resource
		policy  heddle.Resource
		want    heddle.Resource
	}{
		{"within both", heddle.Of(8192, 8000), []heddle.Resource{heddle.Of(8192, 8000)}, asked, heddle.Of(2048, 2000), heddle.Of(2048, 2000)},
		{"largest node", heddle.Resource{}, []heddle.Resource{heddle.Of(1024, 1000), heddle.Of(4096, 4000)}, asked, huge, heddle.Of(4096, 4000)},
		{"largest container", heddle.Of(3072, 2000), []heddle.Resource{heddle.Of(8192, 8000)}, asked, huge, heddle.Of(3072, 2000)},
		{"largest are two nodes", heddle.Resource{}, []heddle.Resource{heddle.Of(8192, 1000), heddle.Of(1024, 8000)}, asked, huge, asked},
		{"no more than was asked for", heddle.Resource{}, []heddle.Resource{heddle.Of(4096, 4000)}, heddle.Of(8192, 1000), huge, heddle.Of(8192, 1000)},
		{"smaller than was asked for", heddle.Resource{}, []heddle.Resource{heddle.Of(1024, 1000)}, heddle.Of(2048, 2000), asked, asked},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &sizer{to: asked}
			set := policytest.Base(policytest.Submitted{})
			set.Maximum, set.Size[heddle.AM], set.Size[heddle.Other] = c.maximum, s, s
			core := sched.New(set)
			for i, n := range c.nodes {
				core.Step(0, heddle.NodeUp{Node: heddle.NodeID(i), Total: n, Can: heddle.AllCaps})
			}
			size := func(a heddle.AppID, k heddle.Kind) (size heddle.Resource) {
				for _, ask := range core.View().App(a).Asks() {
					if ask.Kind() == k {
						size = ask.Size()
					}
				}
				return size
			}
			core.Step(0, heddle.Submit{App: 0, Queue: 1, Master: c.asked})
			s.to = c.policy
			s.revised = []heddle.AppID{0}
			core.Step(0, heddle.Submit{App: 1, Queue: 1, Master: c.asked})
			core.Step(0, heddle.Ask{App: 1, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Other, 1, c.asked)}})
			if got := size(0, heddle.AM); got != c.want {
				t.Errorf("revised: %v, want %v", got, c.want)
			}
			if got := size(1, heddle.AM); got != c.want {
				t.Errorf("submitted: %v, want %v", got, c.want)
			}
			if got := size(1, heddle.Other); got != c.want {
				t.Errorf("asked for: %v, want %v", got, c.want)
			}
		})
	}
}

// A waiting master that asks for more than any node offers any more is sized again, and a running one grows no larger
// than the largest container.
func TestSizesFollowNodes(t *testing.T) {
	s := &sizer{to: heddle.Of(16384, 16_000)}
	set := policytest.Base(policytest.Submitted{})
	set.Maximum, set.Size[heddle.AM] = heddle.Of(8192, 8000), s
	set.Control = []policy.Control{s}
	c := sched.New(set)
	step := func(at heddle.Time, ev heddle.Event) []heddle.Decision {
		out := c.Step(at, ev)
		if broken := c.Check(); len(broken) > 0 {
			t.Fatalf("after %T%+v: %v", ev, ev, broken)
		}
		return out
	}
	waits := func() heddle.Resource { return c.View().App(0).Asks()[0].Size() }
	step(0, heddle.Submit{App: 0, Queue: 1, Master: heddle.Of(1024, 1000)})
	if got, want := waits(), heddle.Of(8192, 8000); got != want {
		t.Errorf("without nodes: %v, want %v", got, want)
	}
	step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(6144, 4000), Can: heddle.AllCaps})
	if got, want := waits(), heddle.Of(6144, 4000); got != want {
		t.Errorf("with a node: %v, want %v", got, want)
	}
	step(0, heddle.NodeUp{Node: 1, Total: heddle.Of(2048, 2000), Can: heddle.AllCaps})
	step(0, heddle.NodeDown{Node: 0})
	if got, want := waits(), heddle.Of(2048, 2000); got != want {
		t.Errorf("the larger node was lost: %v, want %v", got, want)
	}
	step(0, heddle.NodeResized{Node: 1, Total: heddle.Of(1024, 2000)})
	if got, want := waits(), heddle.Of(1024, 2000); got != want {
		t.Errorf("the node shrank: %v, want %v", got, want)
	}
	step(0, heddle.Heartbeat{Node: 1})
	master := c.View().App(0).Master().ID()
	step(0, heddle.Started{Container: master})
	step(0, heddle.NodeResized{Node: 1, Total: heddle.Of(16384, 16_000)})
	s.grow = []heddle.ContainerID{master}
	at, _ := c.Deadline()
	got, want := step(at, heddle.Wake{}), []heddle.Decision{&heddle.Resize{Container: master, Limit: heddle.Of(8192, 8000)}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
