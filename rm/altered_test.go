package rm

import (
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// heardOf returns what was logged about changes to containers.
func (w *world) heardOf() (out []Altered) {
	out, w.altered = w.altered, nil
	return out
}

// The log says for every container that is parked or resumed by whom and for which policy; weighed and resized
// containers are logged once a second.
func TestLogHearsOfDeeds(t *testing.T) {
	w, c, m, n, a, first := agentedBy(t, "test")
	second := n.task(m)
	n.run(second)
	w.heardOf()
	wanted := func(got []Altered, want ...Altered) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("heard of %+v, want %+v", got, want)
		}
		for i := range want {
			want[i].Node, want[i].User, want[i].Policy = n.id, "ann", "control: test"
			if got[i] != want[i] {
				t.Errorf("heard of %+v, want %+v", got[i], want[i])
			}
		}
	}
	w.want(c, first, policy.Step{Do: policy.Suspend})
	wanted(w.heardOf(), Altered{What: Parked, Agent: true, Containers: 1, Container: first})
	w.want(c, first, policy.Step{Do: policy.Resume})
	wanted(w.heardOf(), Altered{What: Unparked, Agent: true, Containers: 1, Container: first})
	w.want(c, first, policy.Step{Do: policy.Resize, Limit: heddle.Of(2048, 500)})
	wanted(w.heardOf(), Altered{What: Resized, Containers: 1, Container: first})
	weigh := func(list ...ids.Container) {
		c.steps = nil
		for i, id := range list {
			c.steps = append(c.steps, policy.Step{Container: w.m.container(id).cid, Do: policy.Weigh, Weight: int64(500 + i)})
		}
	}
	weigh(first, second)
	w.sleep(heddle.Second)
	wanted(w.heardOf(), Altered{What: Weighed, Agent: true, Containers: 2, Container: second})
	for range 3 { // less than a second later
		w.m.weigh(w.m.container(first), 700, 0, "control: test")
		a.sync()
	}
	wanted(w.heardOf())
	w.sleep(2 * heddle.Second)
	wanted(w.heardOf(), Altered{What: Weighed, Agent: true, Containers: 3, Container: first})
	if x, err := w.m.Reports().Container(first); err != nil || x.Policy != "control: test" || x.Changed == 0 || x.Weight != 700 {
		t.Errorf("reported as %+v, %v", x, err)
	}
	if p := w.m.View().Cluster(); p.Agented != 1 || p.Parked != 0 || p.Weighed != 2 {
		t.Errorf("%d agents, %d parked, %d weighed", p.Agented, p.Parked, p.Weighed)
	}
	list, err := w.m.Reports().NodeContainers(n.id)
	if err != nil || len(list) != 2 || list[0].ID != first || list[1].ID != second {
		t.Errorf("on the node are %+v, %v", list, err)
	}
	if _, err := w.m.Reports().NodeContainers(ids.Node{Host: "nosuch", Port: 1}); err == nil {
		t.Error("there is no such node, and it has containers")
	}
	w.pass(agentLease+heddle.Second, m, n)
	if p := w.m.View().Cluster(); p.Agented != 0 || p.Weighed != 0 {
		t.Errorf("without an agent: %d agents, %d weighed", p.Agented, p.Weighed)
	}
}

// What nobody is told is not logged.
func TestLogHearsOfNoLoan(t *testing.T) {
	w, c, _, _, task := wishing(t, nil)
	w.want(c, task, policy.Step{Do: policy.Suspend})
	w.want(c, task, policy.Step{Do: policy.Weigh, Weight: 500})
	if got := w.heardOf(); len(got) > 0 {
		t.Errorf("heard of %+v", got)
	}
}
