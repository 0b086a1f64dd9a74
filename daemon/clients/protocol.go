package clients

import (
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/rpc"
)

// mostFilters is how many states, users, queues, types and tags a caller may list applications by, together.
const mostFilters = 1_000

// Client returns the protocol for clients: everything that the yarn command and the clients of MapReduce and Spark
// need. The reservation calls (reservations of time) are not served.
func Client(r RM, o Options) rpc.Protocol {
	s := newService(r, o)
	return rpc.Protocol{Name: ClientName, Methods: map[string]rpc.Method{
		"getNewApplication":           serve(s, s.getNewApplication),
		"submitApplication":           change(s, daemon.OpSubmit, reads(s, s.submitApplication)).Within(rm.MaxContext+64<<10, 0),
		"forceKillApplication":        change(s, daemon.OpKill, s.forceKillApplication),
		"failApplicationAttempt":      change(s, daemon.OpFail, s.failApplicationAttempt),
		"moveApplicationAcrossQueues": change(s, daemon.OpMove, s.moveApplicationAcrossQueues),
		"updateApplicationPriority":   change(s, daemon.OpPriority, s.updateApplicationPriority),
		"updateApplicationTimeouts":   change(s, daemon.OpTimeouts, s.updateApplicationTimeouts),
		"signalToContainer":           change(s, daemon.OpSignal, s.signalToContainer),

		"getApplicationReport":        serve(s, s.getApplicationReport),
		"getApplications":             serve(s, s.getApplications).Within(0, mostFilters).Long(),
		"getApplicationAttemptReport": serve(s, s.getApplicationAttemptReport),
		"getApplicationAttempts":      serve(s, s.getApplicationAttempts).Long(),
		"getContainerReport":          serve(s, s.getContainerReport),
		"getContainers":               serve(s, s.getContainers).Long(),

		"getClusterMetrics": serve(s, s.getClusterMetrics),
		"getClusterNodes":   serve(s, s.getClusterNodes).Long(),
		"getQueueInfo":      serve(s, s.getQueueInfo).Long(),
		"getQueueUserAcls":  serve(s, s.getQueueUserAcls).Long(),

		"getResourceTypeInfo":   serve(s, s.getResourceTypeInfo),
		"getResourceProfiles":   serve(s, s.getResourceProfiles),
		"getResourceProfile":    serve(s, s.getResourceProfile),
		"getDelegationToken":    serve(s, s.getDelegationToken),
		"renewDelegationToken":  serve(s, s.renewDelegationToken),
		"cancelDelegationToken": serve(s, s.cancelDelegationToken),

		"getClusterNodeLabels":     serve(s, s.getClusterNodeLabels).Long(),
		"getNodeToLabels":          serve(s, s.getNodeToLabels).Long(),
		"getLabelsToNodes":         serve(s, s.getLabelsToNodes).Long(),
		"getClusterNodeAttributes": serve(s, s.getClusterNodeAttributes),
		"getAttributesToNodes":     serve(s, s.getAttributesToNodes),
		"getNodesToAttributes":     serve(s, s.getNodesToAttributes),
	}}
}

// Admin returns the protocol for yarn rmadmin. Federation and node attributes are not served.
func Admin(r RM, o Options) rpc.Protocol {
	s := newService(r, o)
	return rpc.Protocol{Name: AdminName, Methods: map[string]rpc.Method{
		"refreshQueues":                administer(s, "refreshQueues", false, s.refreshQueues),
		"refreshNodes":                 administer(s, "refreshNodes", false, s.refreshNodes),
		"checkForDecommissioningNodes": administer(s, "checkForDecommissioningNodes", true, s.checkForDecommissioningNodes),
		"updateNodeResource":           administer(s, "updateNodeResource", false, s.updateNodeResource),
		"getGroupsForUser":             administer(s, "getGroupsForUser", true, s.getGroupsForUser),
		"refreshUserToGroupsMappings":  administer(s, "refreshUserToGroupsMappings", false, s.refreshUserToGroupsMappings),

		"refreshNodesResources":               administer(s, "refreshNodesResources", false, s.refreshNodesResources),
		"refreshSuperUserGroupsConfiguration": administer(s, "refreshSuperUserGroupsConfiguration", false, s.refreshSuperUserGroupsConfiguration),
		"refreshAdminAcls":                    administer(s, "refreshAdminAcls", false, s.refreshAdminAcls),
		"refreshServiceAcls":                  administer(s, "refreshServiceAcls", false, s.refreshServiceAcls),
		"refreshClusterMaxPriority":           administer(s, "refreshClusterMaxPriority", false, s.refreshClusterMaxPriority),

		"addToClusterNodeLabels":      administer(s, "addToClusterNodeLabels", false, s.addToClusterNodeLabels),
		"removeFromClusterNodeLabels": administer(s, "removeFromClusterNodeLabels", false, s.removeFromClusterNodeLabels),
		"replaceLabelsOnNodes":        administer(s, "replaceLabelsOnNodes", false, s.replaceLabelsOnNodes),
	}}
}
