package rest

// A ClusterInfo answers GET /info, under the root "clusterInfo".
type ClusterInfo struct {
	ID              int64  `json:"id"` // when the ResourceManager started
	StartedOn       int64  `json:"startedOn"`
	State           string `json:"state"`   // STARTED
	HAState         string `json:"haState"` // ACTIVE
	StateStore      string `json:"rmStateStoreName"`
	Version         string `json:"resourceManagerVersion"`
	BuildVersion    string `json:"resourceManagerBuildVersion"`
	BuiltOn         string `json:"resourceManagerVersionBuiltOn"`
	HadoopVersion   string `json:"hadoopVersion"` // whose protocols are implemented
	HadoopBuild     string `json:"hadoopBuildVersion"`
	HadoopBuiltOn   string `json:"hadoopVersionBuiltOn"`
	ZooKeeperStatus string `json:"haZooKeeperConnectionState"`
}

// ClusterMetrics answers GET /metrics, under the root "clusterMetrics".
type ClusterMetrics struct {
	AppsSubmitted int `json:"appsSubmitted"`
	AppsCompleted int `json:"appsCompleted"`
	AppsPending   int `json:"appsPending"`
	AppsRunning   int `json:"appsRunning"`
	AppsFailed    int `json:"appsFailed"`
	AppsKilled    int `json:"appsKilled"`

	ReservedMB          int64 `json:"reservedMB"`
	AvailableMB         int64 `json:"availableMB"`
	AllocatedMB         int64 `json:"allocatedMB"`
	PendingMB           int64 `json:"pendingMB"`
	ReservedVCores      int64 `json:"reservedVirtualCores"`
	AvailableVCores     int64 `json:"availableVirtualCores"`
	AllocatedVCores     int64 `json:"allocatedVirtualCores"`
	PendingVCores       int64 `json:"pendingVirtualCores"`
	ContainersAllocated int   `json:"containersAllocated"`
	ContainersReserved  int   `json:"containersReserved"`
	ContainersPending   int   `json:"containersPending"`
	TotalMB             int64 `json:"totalMB"`
	UtilizedMB          int64 `json:"utilizedMB"` // measured
	TotalVCores         int64 `json:"totalVirtualCores"`
	UtilizedVCores      int64 `json:"utilizedVirtualCores"` // measured
	UtilizedMBPercent   int   `json:"utilizedMBPercent"`
	UtilizedCPUPercent  int   `json:"utilizedVirtualCoresPercent"`
	BusyPercent         int   `json:"rmSchedulerBusyPercent"`

	TotalNodes           int `json:"totalNodes"`
	LostNodes            int `json:"lostNodes"`
	UnhealthyNodes       int `json:"unhealthyNodes"`
	DecommissioningNodes int `json:"decommissioningNodes"`
	DecommissionedNodes  int `json:"decommissionedNodes"`
	RebootedNodes        int `json:"rebootedNodes"`
	ActiveNodes          int `json:"activeNodes"`
	ShutdownNodes        int `json:"shutdownNodes"`

	AssignedPerSecond int      `json:"containerAssignedPerSecond"`
	UsedAcross        Resource `json:"totalUsedResourcesAcrossPartition"`
	TotalAcross       Resource `json:"totalClusterResourcesAcrossPartition"`
	ReservedAcross    Resource `json:"totalReservedResourcesAcrossPartition"`
	ContainersAcross  int      `json:"totalAllocatedContainersAcrossPartition"`
	AcrossKnown       bool     `json:"crossPartitionMetricsAvailable"`
	EventQueue        int      `json:"rmEventQueueSize"`
	SchedulerQueue    int      `json:"schedulerEventQueueSize"`
}

// Statistics answers GET /appstatistics, under the root "appStatInfo".
type Statistics struct {
	Items []StatItem `json:"statItem,omitempty"`
}

// A StatItem counts the applications of a state and a type ("*" for all).
type StatItem struct {
	State string `json:"state"`
	Type  string `json:"type"`
	Count int64  `json:"count"`
}
