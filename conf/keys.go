package conf

import (
	"cmp"
	"slices"
	"strings"
)

// A key says what becomes of a property that nothing asked for. A name that ends in a dot or a dash
// stands for all that begin with it.
type key struct {
	name string
	kind NoticeKind
	text string
}

const (
	beatText     = "heddle rm sets the interval by its own rule, see beats in heddle.yaml; with --as stock it is fixed"
	labelText    = "node labels are not in effect: all nodes form the default partition"
	preemptText  = "preemption is not in effect"
	aclText      = "heddle rm applies it if yarn.acl.enable is true; in simulations every user may submit to every queue"
	reserveText  = "reservations in advance are not in effect"
	autoText     = "queues are not created from templates"
	asyncText    = "no thread offers nodes on its own: they are offered when they report and, by heddle rm, when an application asks"
	multiText    = "each heartbeat offers one node"
	lifeText     = "queues do not limit how long applications live"
	parentText   = "has no effect on a queue with children"
	metricText   = "is about metrics only"
	otherText    = "is not about scheduling"
	rootText     = "the root is always the whole cluster"
	mappingText  = "applications are not placed by name or tag"
	workflowText = "workflow priorities are not in effect"
	timelineText = "nothing is published to a timeline server"
)

// queueKeys are the properties of one queue that are not read, or not for every queue.
var queueKeys = []key{
	{"capacity", Harmless, rootText},
	{"acl_application_max_priority", Unsupported, "every user may ask for every priority"},
	{"acl_", Harmless, aclText},
	{"accessible-node-labels", Unsupported, labelText},
	{"accessible-node-labels.", Unsupported, labelText},
	{"default-node-label-expression", Unsupported, labelText},
	{"disable_preemption", Harmless, preemptText},
	{"intra-queue-preemption.disable_preemption", Harmless, preemptText},
	{"maximum-application-lifetime", Unsupported, lifeText},
	{"default-application-lifetime", Unsupported, lifeText},
	{"reservable", Unsupported, reserveText},
	{"reservation-", Unsupported, reserveText},
	{"show-reservations-as-queues", Unsupported, reserveText},
	{"average-capacity", Unsupported, reserveText},
	{"instantaneous-max-capacity", Unsupported, reserveText},
	{"auto-create-child-queue.", Harmless, autoText},
	{"auto-queue-creation-v2.", Harmless, autoText},
	{"leaf-queue-template.", Harmless, autoText},
	{"multi-node-sorting.policy", Unsupported, multiText},
	{"ordering-policy.", Harmless, "belongs to another ordering policy"},
	{"minimum-user-limit-percent", Remark, parentText},
	{"user-limit-factor", Remark, parentText},
	{"maximum-am-resource-percent", Remark, parentText},
	{"maximum-applications", Remark, parentText},
	{"default-application-priority", Remark, parentText},
	{"maximum-allocation-mb", Remark, "maximum-allocation takes its place"},
	{"maximum-allocation-vcores", Remark, "maximum-allocation takes its place"},
	{"allow-zero-capacity-sum", Harmless, "the queue's children are not given in percent"},
}

// readKeys are the properties of one queue that are always read for a queue in the tree; here only to
// tell a misspelt queue from a misspelt property.
var readKeys = []string{"queues", "capacity", "maximum-capacity", "state", "priority", "max-parallel-apps", "maximum-allocation", "ordering-policy", "user-settings."}

// clusterKeys are the properties of the whole capacity scheduler that are not read.
var clusterKeys = []key{
	{"schedule-asynchronously.enable", Unsupported, asyncText},
	{"schedule-asynchronously.", Harmless, asyncText},
	{"mapping-rule-json", Unsupported, "JSON mapping rules are not read"},
	{"mapping-rule-json-file", Unsupported, "JSON mapping rules are not read"},
	{"queue-mappings", Unsupported, "JSON mapping rules take their place"},
	{"user-metrics.enable", Harmless, metricText},
	{"lazy-preemption-enabled", Unsupported, preemptText},
	{"application.fail-fast", Harmless, "is about recovery only"},
	{"user.", Unsupported, "users' numbers of running applications are not limited"},
	{"workflow-priority-mappings", Unsupported, workflowText},
	{"workflow-priority-mappings-override.enable", Harmless, workflowText},
	{"multi-node-placement-enabled", Unsupported, multiText},
	{"multi-node-sorting.", Unsupported, multiText},
	{"skip-allocate-on-nodes-with-reserved-containers", Unsupported, "nodes with a reservation are offered as by default"},
	{"queue.auto.refresh.monitoring-interval", Harmless, "the file is read once"},
	{"auto-queue-creation-v2.", Harmless, autoText},
	{"ordering-policy.priority-utilization.underutilized-preemption.", Unsupported, preemptText},
	{"maximum-am-resource-percent", Harmless, "every queue has its own"},
	{"minimum-user-limit-percent", Harmless, "every queue has its own"},
	{"user-limit-factor", Harmless, "every queue has its own"},
	{"max-parallel-apps", Harmless, "every queue has its own"},
}

// siteKeys are properties outside of the capacity scheduler's that bear on scheduling and are not read.
var siteKeys = []key{
	{"yarn.resourcemanager.scheduler.monitor.enable", Unsupported, preemptText},
	{"yarn.resourcemanager.scheduler.monitor.", Harmless, preemptText},
	{"yarn.resourcemanager.monitor.capacity.preemption.", Harmless, preemptText},
	{"yarn.scheduler.fair.preemption", Unsupported, preemptText},
	{"yarn.scheduler.fair.preemption.", Harmless, preemptText},
	{"yarn.scheduler.fair.am.preemption", Harmless, preemptText},
	{"yarn.scheduler.fair.am.preemption.", Harmless, preemptText},
	{"yarn.scheduler.fair.waitTimeBeforeKill", Harmless, preemptText},
	{"yarn.scheduler.fair.waitTimeBeforeNextStarvationCheck", Harmless, preemptText},
	{"yarn.scheduler.fair.event-log.", Harmless, metricText},
	{"yarn.scheduler.fair.continuous-scheduling-sleep-ms", Harmless, "belongs to continuous scheduling"},
	{"hadoop.security.authorization", Unsupported, "hadoop-policy.xml is not read: heddle rm lets every user call every service"},
	{"yarn.node-labels.enabled", Unsupported, labelText},
	{"yarn.node-labels.", Harmless, labelText},
	{"yarn.resourcemanager.reservation-system.enable", Unsupported, reserveText},
	{"yarn.resourcemanager.reservation-system.", Harmless, reserveText},
	{"yarn.resourcemanager.opportunistic-container-allocation.enabled", Unsupported, "all containers are guaranteed ones"},
	{"yarn.resourcemanager.placement-constraints.handler", Unsupported, "placement constraints are not in effect"},
	{"yarn.resourcemanager.application-tag-based-placement.enable", Unsupported, mappingText},
	{"yarn.resourcemanager.nodemanagers.heartbeat-interval-scaling-enable", Unsupported, beatText},
	{"yarn.resourcemanager.nodemanagers.heartbeat-interval-", Harmless, beatText},
	{"yarn.nodemanager.resource.detect-hardware-capabilities", Unsupported, "nodes have the resources of the configuration or the scenario"},
	{"yarn.scheduler.queue-placement-rules", Unsupported, "queue mappings by user and group are in effect, and no others"},
	{"yarn.scheduler.queue-placement-rules.", Unsupported, mappingText},
	{"yarn.scheduler.configuration.store.class", Unsupported, "queues are those of capacity-scheduler.xml: what another store holds is not read"},
	{"yarn.scheduler.configuration.", Harmless, otherText},
	{"yarn.scheduler.app-placement-allocator.class", Unsupported, "nodes are chosen by locality"},
	{"yarn.scheduler.skip.node.multiplier", Harmless, asyncText},
	{"yarn.scheduler.", Unknown, "no such property of a scheduler"},
	{"yarn.resourcemanager.store.class", Unsupported, "state is kept in one file (see --data): what another store holds is not taken over"},
	{"yarn.resourcemanager.submission-preprocessor.enabled", Unsupported, "submissions get no queue, tags or label by the host they come from"},
	{"yarn.resourcemanager.system-metrics-publisher.enabled", Unsupported, timelineText},
	{"yarn.system-metrics-publisher.enabled", Unsupported, timelineText},
	{"yarn.federation.enabled", Unsupported, "there is no federation: this is one cluster"},
	{"yarn.resourcemanager.resource-profiles.enabled", Unsupported, "there are no resource profiles"},
	{"yarn.resourcemanager.application-https.policy", Unsupported, "masters' pages are reached without keys of YARN's own"},
	{"yarn.resourcemanager.resource-tracker.nm.ip-hostname-check", Unsupported, "the names that NodeManagers register with are not looked up"},
	{"yarn.resourcemanager.nodemanager.minimum.version", Unsupported, "NodeManagers of every version may join"},
	{"yarn.resourcemanager.webapp.cross-origin.enabled", Unsupported, "no page of another site may ask over REST"},
	{"yarn.webapp.filter-entity-list-by-user", Unsupported, "lists show the applications of all users"},
	{"yarn.webapp.ui2.enable", Unsupported, "there is no /ui2"},
	{"yarn.authorization-provider", Unsupported, "access lists are those of the scheduler's file and of yarn-site.xml"},
	{"hadoop.http.authentication.type", Unsupported, "callers over HTTP are not authenticated"},
	{"yarn.resource-types.", Harmless, "belongs to no resource of this cluster, or is not about its amount"},
}

// find returns what is said of a name: the longest match counts.
func find(keys []key, name string) (key, bool) {
	best := key{}
	for _, k := range keys {
		open := strings.HasSuffix(k.name, ".") || strings.HasSuffix(k.name, "-") || strings.HasSuffix(k.name, "_")
		if (k.name == name || open && strings.HasPrefix(name, k.name)) && len(k.name) > len(best.name) {
			best = k
		}
	}
	return best, best.name != ""
}

// siteDefaults are values that ask for nothing beyond what is so anyway.
var siteDefaults = map[string]string{
	"yarn.scheduler.queue-placement-rules":               "user-group",
	"yarn.resourcemanager.placement-constraints.handler": "disabled",
	"yarn.scheduler.app-placement-allocator.class":       "",
	"yarn.scheduler.configuration.store.class":           "file",
	"yarn.resourcemanager.application-https.policy":      "NONE",
	"yarn.resourcemanager.nodemanager.minimum.version":   "NONE",
	"yarn.authorization-provider":                        "",
	"hadoop.http.authentication.type":                    "simple",
	csPrefix + "queue-mappings":                          "",
	csPrefix + "workflow-priority-mappings":              "",
	csPrefix + "multi-node-sorting.policy.names":         "",
}

// leftovers notes every property that nothing asked for. queues are the paths of the capacity
// scheduler's tree.
func (ps *properties) leftovers(queues map[string]bool) {
	left := make([]*property, 0, len(ps.m))
	for _, p := range ps.m {
		if !p.used {
			left = append(left, p)
		}
	}
	slices.SortFunc(left, func(a, b *property) int { return cmp.Compare(a.name, b.name) })
	for _, p := range left {
		kind, text := leftover(p.name, queues)
		def, ok := siteDefaults[p.name]
		switch {
		case ok && def == strings.TrimSpace(p.raw):
			kind, text = Harmless, "is the default here"
		case kind == Unsupported && (strings.TrimSpace(p.raw) == "false" || text == lifeText && !positive(p.raw)):
			kind, text = Harmless, "is off"
		}
		ps.log.note(kind, p.file, p.nameLine, p.name, "%s", text)
	}
}

// positive reports whether a limit is one: YARN takes 0 and less for none.
func positive(limit string) bool {
	n, err := parseInt(limit)
	return err != nil || n > 0
}

func leftover(name string, queues map[string]bool) (NoticeKind, string) {
	rest, ok := strings.CutPrefix(name, csPrefix)
	if !ok {
		if k, ok := find(siteKeys, name); ok {
			return k.kind, k.text
		}
		return Harmless, otherText
	}
	if !strings.HasPrefix(rest, "root.") {
		if k, ok := find(clusterKeys, rest); ok {
			return k.kind, k.text
		}
		return Unknown, "no such property of the capacity scheduler"
	}
	if len(queues) == 0 {
		return Harmless, "is about the capacity scheduler, which has no queues here"
	}
	queue := rest
	for queue != "root" && !queues[queue] || queue == rest {
		queue = queue[:strings.LastIndex(queue, ".")]
	}
	own := rest[len(queue)+1:]
	if k, ok := find(queueKeys, own); ok {
		return k.kind, k.text
	}
	parts := strings.Split(own, ".")
	for i := 1; i < len(parts); i++ {
		if tail := strings.Join(parts[i:], "."); isQueueKey(tail) {
			return Unknown, "there is no queue " + queue + "." + strings.Join(parts[:i], ".") + "; " + queue + ".queues does not name " + parts[0]
		}
	}
	return Unknown, "no such property of a queue"
}

func isQueueKey(name string) bool {
	if _, ok := find(queueKeys, name); ok {
		return true
	}
	return slices.ContainsFunc(readKeys, func(k string) bool {
		return k == name || strings.HasSuffix(k, ".") && strings.HasPrefix(name, k)
	})
}
