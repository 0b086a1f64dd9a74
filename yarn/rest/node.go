package rest

// Nodes answers GET /nodes, under the root "nodes".
type Nodes struct {
	List []Node `json:"node,omitempty"`
}

// A Node answers GET /nodes/{id}, under the root "node".
type Node struct {
	Rack            string  `json:"rack"`
	State           string  `json:"state"`
	ID              string  `json:"id"`
	Host            string  `json:"nodeHostName"`
	HTTP            string  `json:"nodeHTTPAddress"` // "" for a node that is gone
	HealthAt        int64   `json:"lastHealthUpdate"`
	Version         string  `json:"version"`
	Health          string  `json:"healthReport"`
	Containers      int     `json:"numContainers"`
	UsedMB          int64   `json:"usedMemoryMB"`
	AvailableMB     int64   `json:"availMemoryMB"`
	UsedVCores      int64   `json:"usedVirtualCores"`
	AvailableVCores int64   `json:"availableVirtualCores"`
	MemoryPercent   float32 `json:"memUtilization"` // measured
	CPUPercent      float32 `json:"cpuUtilization"` // measured

	Opportunistic       int   `json:"numRunningOpportContainers"`
	OpportunisticGB     int64 `json:"usedMemoryOpportGB"`
	OpportunisticVCores int64 `json:"usedVirtualCoresOpport"`
	Queued              int   `json:"numQueuedContainers"`

	Labels      []string        `json:"nodeLabels,omitempty"`
	Tags        Entries         `json:"allocationTags"`
	Utilization NodeUtilization `json:"resourceUtilization"`
	Used        *Resource       `json:"usedResource"` // absent for a node that is gone
	Available   *Resource       `json:"availableResource"`
	Attributes  Entries         `json:"nodeAttributesInfo"`
	Total       Resource        `json:"totalResource"`
}

// A NodeUtilization is what a node measured: MiB, and busy vcores.
type NodeUtilization struct {
	NodePhysicalMB       int32   `json:"nodePhysicalMemoryMB"`
	NodeVirtualMB        int32   `json:"nodeVirtualMemoryMB"`
	NodeCPU              float64 `json:"nodeCPUUsage"`
	ContainersPhysicalMB int32   `json:"aggregatedContainersPhysicalMemoryMB"`
	ContainersVirtualMB  int32   `json:"aggregatedContainersVirtualMemoryMB"`
	ContainersCPU        float64 `json:"containersCPUUsage"`
}
