package client

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// An application and its attempts from YARN's services fill the same fields as Heddle's own.
func TestAppOfAnother(t *testing.T) {
	const running = `{"app":{"id":"application_1_0002","user":"ada","name":"n","queue":"root.a","state":"RUNNING","finalStatus":"UNDEFINED","progress":25.0,
		"trackingUrl":"http://h:1/","diagnostics":"d","applicationType":"SPARK","applicationTags":"x,y","priority":3,"startedTime":5,"launchTime":6,
		"elapsedTime":7,"amHostHttpAddress":"h:8042","amContainerLogs":"http://l","amRPCAddress":"h:99","masterNodeId":"h:8041","runningContainers":2,
		"allocatedMB":512,"allocatedVCores":2,"numNonAMContainerPreempted":1,"numAMContainerPreempted":4,
		"timeouts":{"timeout":[{"type":"LIFETIME","expiryTime":"1970-01-01T00:00:01.500+0000"}]},
		"resourceRequests":[{"priority":20,"resourceName":"*","numContainers":3,"capability":{"memory":1024,"vCores":1},"relaxLocality":true},
			{"priority":20,"resourceName":"h","numContainers":0}]}}`
	c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, rest.HeddleBase):
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, "/appattempts"):
			says(w, 200, `{"appAttempts":{"appAttempt":[{"id":2,"appAttemptId":"appattempt_1_0002_000002","appAttemptState":"RUNNING","startTime":8,
				"containerId":"container_1_0002_02_000001","nodeId":"h:8041","nodeHttpAddress":"h:8042","logsLink":"http://l"}]}}`)
		default:
			says(w, 200, running)
		}
	})
	got, err := c.App(t.Context(), "application_1_0002")
	if err != nil {
		t.Fatal(err)
	}
	try := ids.Attempt{App: ids.App{Cluster: 1, Seq: 2}, N: 2}
	node := ids.Node{Host: "h", Port: 8041}
	want := &rm.AppReport{
		ID: try.App, Name: "n", Type: "SPARK", User: "ada", Queue: "root.a", Tags: []string{"x", "y"}, Priority: 3, State: rm.AppRunning,
		Internal: "RUNNING", Final: rm.Undefined, Diagnostics: "d", Progress: 0.25, Submitted: 5, Started: 5, Launched: 6, Elapsed: 7, Attempt: 2,
		Host: "h", RPCPort: 99, TrackingURL: "http://h:1/", MasterNode: node, MasterHTTP: "h:8042", MasterLogs: "http://l",
		Live: true, Containers: 2, Used: rm.Amount{MemoryMiB: 512, Vcores: 2}, PreemptedWorkers: 1, PreemptedMasters: 4, Lifetime: 1500,
		Requests: []rm.RequestReport{{Priority: 20, Place: "*", Count: 3, Size: rm.Amount{MemoryMiB: 1024, Vcores: 1}, Relax: true}},
		Attempts: []rm.AttemptReport{{
			ID: try, State: "RUNNING", Started: 8, Master: ids.Container{Attempt: try, ID: 1}, Node: node, NodeHTTP: "h:8042", Logs: "http://l",
			RPCPort: -1, Blacklisted: []string{},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// For a Heddle without a node list of its own, and for another ResourceManager, nodes come from YARN's services.
func TestNodesOfOthers(t *testing.T) {
	for _, info := range []int{200, 404} {
		c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/ws/v1/heddle/info":
				says(w, info, `{}`)
			case "/ws/v1/cluster/nodes":
				says(w, 200, `{"nodes":{"node":[{"id":"b:1","state":"LOST"},{"id":"a:1","state":"RUNNING","usedMemoryMB":512,"availMemoryMB":512}]}}`)
			case "/ws/v1/cluster/nodes/a:1":
				says(w, 200, `{"node":{"id":"a:1","state":"RUNNING","nodeLabels":["x"]}}`)
			default:
				says(w, 404, `{"RemoteException":{"exception":"NotFoundException","message":"no such service"}}`)
			}
		})
		list, err := c.Nodes(t.Context(), nil)
		if err != nil || len(list) != 2 || list[0].ID != "a:1" || list[0].Total.MemoryMiB != 1024 || list[0].Can == nil || len(list[0].Can) > 0 {
			t.Errorf("info %d: %+v, %v", info, list, err)
		}
		if n, err := c.Node(t.Context(), "a:1"); err != nil || n.State != "RUNNING" || len(n.Labels) != 1 {
			t.Errorf("info %d: %+v, %v", info, n, err)
		}
		if _, err := c.Node(t.Context(), "c:1"); !NotFound(err) {
			t.Errorf("info %d: a node that is not there: %v", info, err)
		}
	}
}
