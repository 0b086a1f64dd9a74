package client

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"heddle/rm"
	"heddle/yarn/rest"
)

// stock answers like a ResourceManager that has a scheduler and nothing of Heddle's, and counts what it refused.
func stock(t *testing.T, scheduler string, refused *int) *Client {
	return serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == rest.Base+"/scheduler" {
			says(w, 200, scheduler)
			return
		}
		*refused++
		http.NotFound(w, r)
	})
}

func shown(queues []rm.QueueReport) string {
	var b strings.Builder
	for _, q := range queues {
		fmt.Fprintf(&b, "%s of %q leaf=%v %s capacity %.3g-%.3g (%.3g-%.3g) weight %g uses %.3g: %d/%d masters %d pending %d; %d containers, %d waited for, %d+%d apps of %d, %s\n",
			q.Path, q.ParentPath, q.Leaf, q.State, q.Capacity, q.Max, q.Absolute, q.AbsoluteMax, q.Weight, q.UsedShare, q.Used.MemoryMiB, int64(1000*q.Used.Vcores),
			q.Masters.MemoryMiB, q.Pending.MemoryMiB, q.Containers, q.Waiting, q.Active, q.Inactive, q.MaxApps, q.Order)
		for _, u := range q.Users {
			fmt.Fprintf(&b, "  %s %d/%d %d+%d\n", u.Name, u.Used.MemoryMiB, int64(1000*u.Used.Vcores), u.Active, u.Inactive)
		}
	}
	return b.String()
}

// A recorded answer from a ResourceManager with the capacity scheduler.
func TestRecordedQueues(t *testing.T) {
	data, err := os.ReadFile("testdata/scheduler.json")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	c := stock(t, string(data), &refused)
	for range 2 {
		queues, err := c.Queues(t.Context())
		want := `root of "" leaf=false RUNNING capacity 1-1 (1-1) weight -1 uses 0.208: 2560/5000 masters 512 pending 0; 5 containers, 0 waited for, 1+0 apps of -1, utilization
root.default of "root" leaf=true RUNNING capacity 1-1 (1-1) weight -1 uses 0.208: 2560/5000 masters 512 pending 0; 5 containers, 0 waited for, 1+0 apps of 10000, fifo
  ada 2560/5000 1+0
`
		if got := shown(queues); err != nil || got != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
	if refused != 2 {
		t.Errorf("what only Heddle has was asked for %d times, want twice: the queues and what it is", refused)
	}
}

// Capacities of nested queues, lists of one element written without brackets, and paths that old releases omit.
func TestQueueTree(t *testing.T) {
	refused := 0
	queues, err := stock(t, `{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","capacity":100,"maxCapacity":100,"usedCapacity":50,"queueName":"root",
		"queues":{"queue":[
			{"queueName":"a","capacity":40,"maxCapacity":80,"usedCapacity":25,"state":"RUNNING","resourcesUsed":{"memory":100,"vCores":1},
			 "queues":{"queue":{"queueName":"x","capacity":50,"maxCapacity":50,"usedCapacity":50,"state":"STOPPED","numActiveApplications":2,
			   "numPendingApplications":3,"resourcesUsed":{"memory":100,"vCores":1}}}},
			{"queueName":"b","capacity":60,"maxCapacity":100,"usedCapacity":0,"weight":2,"state":"RUNNING","resourcesUsed":{"memory":7,"vCores":1},"queues":null}]}}}}`, &refused).Queues(t.Context())
	want := `root of "" leaf=false RUNNING capacity 1-1 (1-1) weight -1 uses 0.5: 107/2000 masters 0 pending 0; 0 containers, 0 waited for, 2+3 apps of -1, 
root.a of "root" leaf=false RUNNING capacity 0.4-0.8 (0.4-0.8) weight -1 uses 0.1: 100/1000 masters 0 pending 0; 0 containers, 0 waited for, 2+3 apps of -1, 
root.a.x of "root.a" leaf=true STOPPED capacity 0.5-0.5 (0.2-0.4) weight -1 uses 0.1: 100/1000 masters 0 pending 0; 0 containers, 0 waited for, 2+3 apps of -1, 
root.b of "root" leaf=true RUNNING capacity 0.6-1 (0.6-1) weight 2 uses 0: 7/1000 masters 0 pending 0; 0 containers, 0 waited for, 0+0 apps of -1, 
`
	if got := shown(queues); err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestFairQueues(t *testing.T) {
	refused := 0
	leaf := `{"type":"fairSchedulerLeafQueueInfo","queueName":"root.%s","maxApps":%d,"maxResources":{"memory":2147483647,"vCores":2147483647},
		"usedResources":{"memory":1024,"vCores":1},"demandResources":{"memory":3072,"vCores":3},"steadyFairResources":{"memory":4096,"vCores":4},
		"clusterResources":{"memory":8192,"vCores":16},"allocatedContainers":1,"pendingContainers":2,"numActiveApps":1,"numPendingApps":1,"schedulingPolicy":"DRF"}`
	queues, err := stock(t, `{"scheduler":{"schedulerInfo":{"type":"fairScheduler","rootQueue":{"queueName":"root","maxApps":2147483647,"maxResources":{"memory":8192,"vCores":16},
		"usedResources":{"memory":2048,"vCores":2},"demandResources":{"memory":6144,"vCores":6},"steadyFairResources":{"memory":8192,"vCores":16},
		"clusterResources":{"memory":8192,"vCores":16},"schedulingPolicy":"fair","childQueues":{"queue":[`+
		fmt.Sprintf(leaf, "a", 5)+","+fmt.Sprintf(leaf, "b", 2147483647)+`]}}}}}`, &refused).Queues(t.Context())
	want := `root of "" leaf=false RUNNING capacity 1-1 (1-1) weight -1 uses 0.25: 2048/2000 masters 0 pending 4096; 0 containers, 0 waited for, 2+2 apps of -1, fair
root.a of "root" leaf=true RUNNING capacity 0.5-1 (0.5-1) weight -1 uses 0.125: 1024/1000 masters 0 pending 2048; 1 containers, 2 waited for, 1+1 apps of 5, drf
root.b of "root" leaf=true RUNNING capacity 0.5-1 (0.5-1) weight -1 uses 0.125: 1024/1000 masters 0 pending 2048; 1 containers, 2 waited for, 1+1 apps of -1, drf
`
	if got := shown(queues); err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestOtherSchedulers(t *testing.T) {
	refused := 0
	if _, err := stock(t, `{"scheduler":{"schedulerInfo":{"type":"fifoScheduler"}}}`, &refused).Queues(t.Context()); err == nil || !strings.Contains(err.Error(), `type "fifoScheduler"`) {
		t.Errorf("%v", err)
	}
	if _, err := stock(t, `{"scheduler":{}}`, &refused).Queues(t.Context()); err == nil {
		t.Error("an answer without a scheduler is none")
	}
}
