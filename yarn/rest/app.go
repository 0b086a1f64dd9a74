package rest

// Apps answers GET /apps, under the root "apps".
type Apps struct {
	List []App `json:"app,omitempty"`
}

// An App answers GET /apps/{id}, under the root "app".
type App struct {
	ID           string  `json:"id"`
	User         string  `json:"user"`
	Name         string  `json:"name"`
	Queue        string  `json:"queue"`
	State        string  `json:"state"`
	FinalStatus  string  `json:"finalStatus"`
	Progress     float32 `json:"progress"`
	TrackingUI   string  `json:"trackingUI"` // UNASSIGNED, ApplicationMaster or History
	TrackingURL  string  `json:"trackingUrl,omitempty"`
	Diagnostics  string  `json:"diagnostics"`
	ClusterID    int64   `json:"clusterId"`
	RMClusterID  string  `json:"rmClusterId,omitempty"`
	Type         string  `json:"applicationType"`
	Tags         string  `json:"applicationTags"` // separated by commas
	Priority     int32   `json:"priority"`
	Started      int64   `json:"startedTime"`
	Launched     int64   `json:"launchTime"`
	Finished     int64   `json:"finishedTime"`
	Elapsed      int64   `json:"elapsedTime"` // milliseconds
	AMLogs       string  `json:"amContainerLogs,omitempty"`
	AMHost       string  `json:"amHostHttpAddress,omitempty"`
	AMRPC        string  `json:"amRPCAddress,omitempty"`
	MasterNode   string  `json:"masterNodeId"`
	MB           int64   `json:"allocatedMB"` // −1 when nothing runs any more, as are the next four
	VCores       int64   `json:"allocatedVCores"`
	ReservedMB   int64   `json:"reservedMB"`
	ReservedCPU  int64   `json:"reservedVCores"`
	Containers   int     `json:"runningContainers"`
	MBSeconds    int64   `json:"memorySeconds"`
	CPUSeconds   int64   `json:"vcoreSeconds"`
	QueueShare   float32 `json:"queueUsagePercentage"`
	ClusterShare float32 `json:"clusterUsagePercentage"`
	Seconds      Entries `json:"resourceSecondsMap"`

	PreemptedMB         int64     `json:"preemptedResourceMB"`
	PreemptedVCores     int64     `json:"preemptedResourceVCores"`
	PreemptedWorkers    int       `json:"numNonAMContainerPreempted"`
	PreemptedMasters    int       `json:"numAMContainerPreempted"`
	PreemptedMBSeconds  int64     `json:"preemptedMemorySeconds"`
	PreemptedCPUSeconds int64     `json:"preemptedVcoreSeconds"`
	PreemptedSeconds    Entries   `json:"preemptedResourceSecondsMap"`
	Requests            []Request `json:"resourceRequests,omitempty"`

	LogAggregation string    `json:"logAggregationStatus,omitempty"`
	Unmanaged      bool      `json:"unmanagedApplication"`
	AppLabel       string    `json:"appNodeLabelExpression,omitempty"`
	AMLabel        *string   `json:"amNodeLabelExpression"`
	Resources      *Usages   `json:"resourceInfo"`
	Timeouts       *Timeouts `json:"timeouts"`
}

// A Request is one row of an application's request table.
type Request struct {
	Priority   int32         `json:"priority"`
	AllocID    int64         `json:"allocationRequestId"`
	Place      string        `json:"resourceName"`
	Capability Resource      `json:"capability"`
	Count      int32         `json:"numContainers"`
	Relax      bool          `json:"relaxLocality"`
	Label      string        `json:"nodeLabelExpression"`
	Execution  ExecutionType `json:"executionTypeRequest"`
}

// An ExecutionType says whether a container is GUARANTEED or OPPORTUNISTIC.
type ExecutionType struct {
	Type    string `json:"executionType"`
	Enforce bool   `json:"enforceExecutionType"`
}

// Timeouts answers GET /apps/{id}/timeouts, under the root "timeouts".
type Timeouts struct {
	List []Timeout `json:"timeout"`
}

// A Timeout says when an application is ended. It answers GET /apps/{id}/timeouts/{type} and is the body of PUT
// /apps/{id}/timeout, both under the root "timeout".
type Timeout struct {
	Type      string `json:"type"`                   // LIFETIME
	Expiry    string `json:"expiryTime"`             // UNLIMITED, or as in 2026-01-31T12:00:00.000+0000
	Remaining int64  `json:"remainingTimeInSeconds"` // −1 for no limit
}

// An AppState answers GET /apps/{id}/state and is the body of its PUT, without a root.
type AppState struct {
	State       string `json:"state"`
	Diagnostics string `json:"diagnostics,omitempty"`
}

// An AppQueue answers GET /apps/{id}/queue and is the body of its PUT, without a root.
type AppQueue struct {
	Queue string `json:"queue"`
}

// An AppPriority answers GET /apps/{id}/priority and is the body of its PUT, without a root.
type AppPriority struct {
	Priority int32 `json:"priority"`
}

// A NewApplication answers POST /apps/new-application, without a root.
type NewApplication struct {
	ID      string   `json:"application-id"`
	Maximum Resource `json:"maximum-resource-capability"`
}

// Attempts answers GET /apps/{id}/appattempts, under the root "appAttempts".
type Attempts struct {
	List []Attempt `json:"appAttempt,omitempty"`
}

// An Attempt is one of [Attempts].
type Attempt struct {
	N             int32  `json:"id"`
	Started       int64  `json:"startTime"`
	Finished      int64  `json:"finishedTime"`
	Container     string `json:"containerId"`
	NodeHTTP      string `json:"nodeHttpAddress"`
	Node          string `json:"nodeId"`
	Logs          string `json:"logsLink"`
	Blacklisted   string `json:"blacklistedNodes"` // separated by commas
	BlacklistedRM string `json:"nodesBlacklistedBySystem"`
	ID            string `json:"appAttemptId"`
	Ports         string `json:"exportPorts"`
	State         string `json:"appAttemptState"`
}

// An AttemptDetail answers GET /apps/{id}/appattempts/{id}, in the [Mapped] shape.
type AttemptDetail struct {
	ID          string `json:"appAttemptId"`
	Host        string `json:"host"`    // of the master's own protocol; N/A if there is none
	RPCPort     Number `json:"rpcPort"` // −1 if there is none
	TrackingURL string `json:"trackingUrl"`
	OriginalURL string `json:"originalTrackingUrl"`
	Diagnostics string `json:"diagnosticsInfo"`
	State       string `json:"appAttemptState"`
	Container   string `json:"amContainerId,omitempty"`
	Started     Number `json:"startedTime"`
	Finished    Number `json:"finishedTime"`
}

// Containers answers GET …/appattempts/{id}/containers, in the [Mapped] shape.
type Containers struct {
	List List[Container] `json:"container,omitempty"`
}

// A Container answers GET …/containers/{id}, in the [Mapped] shape.
type Container struct {
	ID          string  `json:"containerId"`
	MB          Number  `json:"allocatedMB"`
	VCores      Number  `json:"allocatedVCores"`
	Node        string  `json:"assignedNodeId"`
	Priority    Number  `json:"priority"`
	Started     Number  `json:"startedTime"`
	Finished    Number  `json:"finishedTime"`
	Elapsed     Number  `json:"elapsedTime"` // milliseconds
	Diagnostics string  `json:"diagnosticsInfo,omitempty"`
	Logs        string  `json:"logUrl"`
	Exit        Number  `json:"containerExitStatus"`
	State       string  `json:"containerState"` // RUNNING or COMPLETE
	NodeHTTP    string  `json:"nodeHttpAddress"`
	NodeID      string  `json:"nodeId"`
	Allocated   Entries `json:"allocatedResources"`
	Ports       string  `json:"exposedPorts"`
}
