package web

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"strings"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/rest"
)

// jmx answers GET /jmx with the beans that exporters read most. qry= selects beans by name, where * matches any text.
func (s *site) jmx(r *http.Request) (rest.Answer, error) {
	beans, err := s.beans(r)
	if err != nil {
		return rest.Answer{}, err
	}
	out := []map[string]any{}
	pattern := r.URL.Query().Get("qry")
	for _, b := range beans {
		if pattern == "" || like(b["name"].(string), pattern) {
			out = append(out, b)
		}
	}
	return indented(map[string]any{"beans": out})
}

// like reports whether a bean's name matches a pattern. After ",*" a name may have any further properties, or none.
func like(name, pattern string) bool {
	matches := func(pattern string) bool {
		escaped := strings.NewReplacer(`\`, `\\`, "[", `\[`, "/", "\x00").Replace(pattern)
		ok, err := path.Match(escaped, strings.ReplaceAll(name, "/", "\x00"))
		return ok && err == nil
	}
	return matches(pattern) || matches(strings.TrimSuffix(pattern, ",*"))
}

const beanPrefix = "Hadoop:service=ResourceManager,name="

// beans returns the cluster, queues and nodes under the names that Hadoop's metrics use.
func (s *site) beans(r *http.Request) ([]map[string]any, error) {
	c, err := s.RM.Cluster(r.Context())
	if err != nil {
		return nil, err
	}
	queues, err := s.RM.Queues(r.Context())
	if err != nil {
		return nil, err
	}
	nodes, err := s.RM.Nodes(r.Context())
	if err != nil {
		return nil, err
	}
	out := []map[string]any{clusterBean(c)}
	for i := range queues {
		out = append(out, s.queueBean(c, &queues[i]))
	}
	live, err := liveNodes(r.Context(), nodes)
	if err != nil {
		return nil, err
	}
	return append(out, map[string]any{"name": beanPrefix + "RMNMInfo", "LiveNodeManagers": live}), nil
}

func clusterBean(c rm.ClusterReport) map[string]any {
	return map[string]any{
		"name": beanPrefix + "ClusterMetrics", "tag.Context": "yarn", "tag.ClusterMetrics": "ResourceManager",
		"NumActiveNMs": c.Active, "NumDecommissioningNMs": c.Decommissioning, "NumDecommissionedNMs": c.Decommissioned,
		"NumLostNMs": c.Lost, "NumUnhealthyNMs": c.Unhealthy, "NumRebootedNMs": c.Rebooted, "NumShutdownNMs": c.Shutdown,
		"UtilizedMB": c.Utilized[heddle.Memory], "UtilizedVirtualCores": c.Utilized[heddle.CPU] / 1000,
		"CapabilityMB": c.Total[heddle.Memory], "CapabilityVirtualCores": vcores(c.Total[heddle.CPU]),
		"RmDispatcherEventQueueSize": c.Queue, "SchedulerDispatcherEventQueueSize": 0,
	}
}

func (s *site) queueBean(c rm.ClusterReport, q *rm.QueueReport) map[string]any {
	name := beanPrefix + "QueueMetrics"
	for i, part := range strings.Split(q.Path, ".") {
		name += ",q" + string('0'+rune(min(i, 9))) + "=" + part
	}
	guaranteed := q.Guaranteed(c.Total)
	maximum := q.Ceiling(c.Total)
	used, pending, reserved, masters := s.shape.dims(q.Used), s.shape.dims(q.Pending), s.shape.dims(q.Reserved), s.shape.dims(q.Masters)
	free := guaranteed.Minus(used).Max(heddle.Resource{})
	return map[string]any{
		"name": name, "tag.Queue": q.Path, "tag.Context": "yarn",
		"AppsSubmitted": q.Submitted, "AppsRunning": q.Active, "AppsPending": q.Inactive, "AppsCompleted": q.Completed,
		"AppsKilled": q.Killed, "AppsFailed": q.Failed, "ActiveApplications": q.Asking, "ActiveUsers": q.AskingUsers,
		"AllocatedMB": used[heddle.Memory], "AllocatedVCores": vcores(used[heddle.CPU]), "AllocatedContainers": q.Containers,
		"AvailableMB": free[heddle.Memory], "AvailableVCores": vcores(free[heddle.CPU]),
		"PendingMB": pending[heddle.Memory], "PendingVCores": vcores(pending[heddle.CPU]), "PendingContainers": q.Waiting,
		"ReservedMB": reserved[heddle.Memory], "ReservedVCores": vcores(reserved[heddle.CPU]), "ReservedContainers": q.Reservations,
		"UsedAMResourceMB": masters[heddle.Memory], "UsedAMResourceVCores": vcores(masters[heddle.CPU]),
		"UsedCapacity": float64(max(0, q.UsedOfOwn)), "AbsoluteUsedCapacity": float64(q.UsedShare),
		"GuaranteedMB": guaranteed[heddle.Memory], "GuaranteedVCores": vcores(guaranteed[heddle.CPU]),
		"MaxCapacityMB": maximum[heddle.Memory], "MaxCapacityVCores": vcores(maximum[heddle.CPU]),
	}
}

// liveNodes returns the value of LiveNodeManagers: a string that contains JSON.
func liveNodes(ctx context.Context, nodes []rm.NodeReport) (string, error) {
	list := []map[string]any{}
	for i := range nodes {
		if err := daemon.Breathe(ctx, i); err != nil {
			return "", err
		}
		n := &nodes[i]
		if !n.Beats() {
			continue
		}
		node := map[string]any{
			"HostName": n.ID.Host, "Rack": n.Rack, "State": n.State, "NodeId": n.ID.String(), "NodeHTTPAddress": n.HTTP,
			"LastHealthUpdate": n.HealthAt, "HealthReport": n.Health, "NodeManagerVersion": n.Version,
		}
		if total, ok := offer(n); ok {
			node["NumContainers"], node["UsedMemoryMB"] = n.Containers, n.Used[heddle.Memory]
			node["AvailableMemoryMB"] = total[heddle.Memory] - n.Used[heddle.Memory]
		}
		list = append(list, node)
	}
	data, err := json.Marshal(list)
	return string(data), err
}
