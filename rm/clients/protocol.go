package clients

import "heddle/yarn/rpc"

// Client is what clients call: everything the yarn command, MapReduce's and Spark's clients need. Reservations
// of time are not served.
func Client(r RM, o Options) rpc.Protocol {
	s := newService(r, o)
	return rpc.Protocol{Name: ClientName, Methods: map[string]rpc.Method{
		"getNewApplication":           serve(s, s.getNewApplication),
		"submitApplication":           serve(s, s.submitApplication),
		"forceKillApplication":        serve(s, s.forceKillApplication),
		"failApplicationAttempt":      serve(s, s.failApplicationAttempt),
		"moveApplicationAcrossQueues": serve(s, s.moveApplicationAcrossQueues),
		"updateApplicationPriority":   serve(s, s.updateApplicationPriority),
		"updateApplicationTimeouts":   serve(s, s.updateApplicationTimeouts),
		"signalToContainer":           serve(s, s.signalToContainer),

		"getApplicationReport":        serve(s, s.getApplicationReport),
		"getApplications":             serve(s, s.getApplications),
		"getApplicationAttemptReport": serve(s, s.getApplicationAttemptReport),
		"getApplicationAttempts":      serve(s, s.getApplicationAttempts),
		"getContainerReport":          serve(s, s.getContainerReport),
		"getContainers":               serve(s, s.getContainers),

		"getClusterMetrics": serve(s, s.getClusterMetrics),
		"getClusterNodes":   serve(s, s.getClusterNodes),
		"getQueueInfo":      serve(s, s.getQueueInfo),
		"getQueueUserAcls":  serve(s, s.getQueueUserAcls),

		"getResourceTypeInfo":   serve(s, s.getResourceTypeInfo),
		"getResourceProfiles":   serve(s, s.getResourceProfiles),
		"getResourceProfile":    serve(s, s.getResourceProfile),
		"getDelegationToken":    serve(s, s.getDelegationToken),
		"renewDelegationToken":  serve(s, s.renewDelegationToken),
		"cancelDelegationToken": serve(s, s.cancelDelegationToken),

		"getClusterNodeLabels":     serve(s, s.getClusterNodeLabels),
		"getNodeToLabels":          serve(s, s.getNodeToLabels),
		"getLabelsToNodes":         serve(s, s.getLabelsToNodes),
		"getClusterNodeAttributes": serve(s, s.getClusterNodeAttributes),
		"getAttributesToNodes":     serve(s, s.getAttributesToNodes),
		"getNodesToAttributes":     serve(s, s.getNodesToAttributes),
	}}
}

// Admin is what yarn rmadmin calls. Federation and node attributes are not served.
func Admin(r RM, o Options) rpc.Protocol {
	s := newService(r, o)
	return rpc.Protocol{Name: AdminName, Methods: map[string]rpc.Method{
		"refreshQueues":                serve(s, s.refreshQueues),
		"refreshNodes":                 serve(s, s.refreshNodes),
		"checkForDecommissioningNodes": serve(s, s.checkForDecommissioningNodes),
		"updateNodeResource":           serve(s, s.updateNodeResource),
		"getGroupsForUser":             serve(s, s.getGroupsForUser),
		"refreshUserToGroupsMappings":  serve(s, s.refreshUserToGroupsMappings),

		"refreshNodesResources":               serve(s, s.refreshNodesResources),
		"refreshSuperUserGroupsConfiguration": serve(s, s.refreshSuperUserGroupsConfiguration),
		"refreshAdminAcls":                    serve(s, s.refreshAdminAcls),
		"refreshServiceAcls":                  serve(s, s.refreshServiceAcls),
		"refreshClusterMaxPriority":           serve(s, s.refreshClusterMaxPriority),

		"addToClusterNodeLabels":      serve(s, s.addToClusterNodeLabels),
		"removeFromClusterNodeLabels": serve(s, s.removeFromClusterNodeLabels),
		"replaceLabelsOnNodes":        serve(s, s.replaceLabelsOnNodes),
	}}
}
