package conf

import (
	"math"
	"strings"
	"testing"
)

func set(line int, pairs ...string) (out []Setting) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, Setting{pairs[i], pairs[i+1], line})
	}
	return out
}

func TestFromQueues(t *testing.T) {
	h, err := FromQueues("town.yaml", []Queue{
		{
			Name: "prod", Line: 3, Settings: set(3, "capacity", "70", "maximum-capacity", "80", "schedulingPolicy", "drf"),
			Queues: []Queue{
				{Name: "etl", Line: 4, Settings: set(4, "capacity", "25", "maximum-capacity", "50", "maximum-am-resource-percent", "0.3", "user-limit-factor", "2", "minimum-user-limit-percent", "20")},
				{Name: "web", Line: 5, Settings: set(5, "capacity", "75", "weight", "9", "max-parallel-apps", "4")},
			},
		},
		{Name: "default", Line: 6, Settings: set(6, "capacity", "30")},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := h.Capacity
	var paths []string
	for i := range c.Queues {
		paths = append(paths, c.Queues[i].Path)
	}
	if got := strings.Join(paths, " "); got != "root root.prod root.prod.etl root.prod.web root.default" {
		t.Errorf("queues %s", got)
	}
	etl, web := c.Queues[2], c.Queues[3]
	if near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }; c.MemoryOnly || !near(etl.Capacity, 0.25) || !near(etl.MaxCapacity, 0.5) ||
		!near(etl.MaxAMShare, 0.3) || !near(etl.UserLimitFactor, 2) || !near(etl.MinimumUserLimit, 0.2) || web.MaxParallelApps != 4 {
		t.Errorf("etl %+v, web %+v", etl, web)
	}
	weights := map[string]float64{"root.prod": 70, "root.prod.etl": 25, "root.prod.web": 9, "root.default": 30}
	for i := range h.Fair.Queues {
		q := &h.Fair.Queues[i]
		if w, ok := weights[q.Path]; ok && q.Weight != w {
			t.Errorf("%s has the weight %g, want %g", q.Path, q.Weight, w)
		}
		switch q.Path {
		case "root.prod.etl":
			if q.Max.Fraction[0] != 0.4 || math.Abs(q.MaxAMShare-0.3) > 1e-6 { // half of 80 %
				t.Errorf("etl has at most %+v, masters %g; want 0.4 of the cluster, 0.3", q.Max, q.MaxAMShare)
			}
		case "root.prod.web":
			if q.MaxApps != 4 {
				t.Errorf("web may run %d applications, want 4", q.MaxApps)
			}
		}
	}
	for _, place := range []func(queue, user string, groups []string) (string, bool, error){h.CapacityPlacement.Place, h.FairPlacement.Place} {
		for queue, want := range map[string]string{"": "root.default", "default": "root.default", "prod.etl": "root.prod.etl", "root.prod.web": "root.prod.web", "prod": "", "nowhere": ""} {
			if path, created, err := place(queue, "ann", nil); path != want || created || (err == nil) != (want != "") {
				t.Errorf("queue %q is placed in %q, created %v, %v; want %q", queue, path, created, err, want)
			}
		}
	}
}

// Queues without capacities share by their weights, which are 1 where nothing stands.
func TestFromQueuesByWeight(t *testing.T) {
	h, err := FromQueues("town.yaml", []Queue{{Name: "a", Line: 2, Settings: set(2, "weight", "3")}, {Name: "b", Line: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := h.Capacity.Queues[1], h.Capacity.Queues[2]; a.Weight != 3 || b.Weight != 1 {
		t.Errorf("weights %g and %g, want 3 and 1", a.Weight, b.Weight)
	}
	if _, _, err := h.FairPlacement.Place("", "ann", nil); err == nil {
		t.Error("there is no queue default, and a job without a queue goes somewhere")
	}
}

func TestFromQueuesErrors(t *testing.T) {
	for _, c := range []struct {
		queues []Queue
		want   string
	}{
		{[]Queue{{Name: "a", Line: 7, Settings: set(8, "capacity", "70")}, {Name: "b", Line: 9, Settings: set(9, "capacity", "20")}}, "town.yaml:7: root.queues: the capacities of the queues under root are 90 % in all; they must be 100 %"},
		{[]Queue{{Name: "a", Line: 7, Settings: set(8, "capacity", "much")}}, `town.yaml:8: root.a.capacity: "much" is not a capacity`},
		{[]Queue{{Name: "a", Line: 7, Settings: set(8, "capacity", "100", "maximum-capacity", "half")}}, `town.yaml:8: root.a.maximum-capacity: "half" is not a maximum`},
		{[]Queue{{Name: "a", Line: 7, Settings: set(8, "weight", "-2")}}, `town.yaml:8: root.a.capacity: a weight of -2 is not between`},
		{[]Queue{{Name: "a", Line: 7, Settings: set(8, "schedulingPolicy", "lottery")}}, `town.yaml:8: schedulingPolicy: there is no policy "lottery"`},
	} {
		_, err := FromQueues("town.yaml", c.queues)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v\nwant  %s", err, c.want)
		}
	}
}
