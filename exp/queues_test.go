package exp

import (
	"errors"
	"slices"
	"testing"

	"heddle/conf"
	"heddle/policies"
	"heddle/workload"
)

func TestCheckQueues(t *testing.T) {
	h, err := conf.FromQueues("town.yaml", []conf.Queue{
		{Name: "prod", Line: 1, Queues: []conf.Queue{{Name: "etl", Line: 2}, {Name: "web", Line: 3}}},
		{Name: "default", Line: 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	work := func(queues ...string) *workload.Workload {
		w := &workload.Workload{}
		for i, q := range queues {
			w.Jobs = append(w.Jobs, workload.Job{ID: string(rune('a' + i)), Queue: q, User: "ann"})
		}
		return w
	}
	for _, tree := range []string{"capacity", "fair", "one"} {
		p := &policies.Profile{Queues: tree}
		if err := CheckQueues(p, h, work("", "default", "root.default", "prod.etl", "root.prod.web")); err != nil {
			t.Errorf("%s: %v", tree, err)
		}
		err := CheckQueues(p, h, work("default", "prod.wep", "prod.etl", "prod.wep"))
		q, ok := errors.AsType[*QueueError](err)
		if !ok || q.Queue != "prod.wep" || q.Job != "b" || q.Jobs != 2 || !slices.Equal(q.Known, []string{"default", "prod.etl", "prod.web"}) {
			t.Errorf("%s: %v, %+v", tree, err, q)
		}
		if err := CheckQueues(p, h, work("prod")); err == nil {
			t.Errorf("%s takes a job in a queue with queues below it", tree)
		}
	}
	if err := CheckOneQueue(work("", "default", "root.default")); err != nil {
		t.Error(err)
	}
	if err := CheckOneQueue(work("default", "defaul")); err == nil || err.Error() != `job b names queue "defaul": unknown queue; did you mean default? There is only default` {
		t.Error(err)
	}
	if made := CreatedQueues(h, work("prod.etl", "")); len(made) != 0 {
		t.Errorf("queues %v are created", made)
	}
}
