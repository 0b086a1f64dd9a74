package rest

// A Scheduler answers GET /scheduler, under the root "scheduler". Info is a [*CapacityScheduler] or a
// [*FairScheduler]; both begin with their type.
type Scheduler struct {
	Info any `json:"schedulerInfo"`
}

// The types of schedulers and queues, by which readers distinguish them.
const (
	CapacityType     = "capacityScheduler"
	CapacityLeafType = "capacitySchedulerLeafQueueInfo"
	FairType         = "fairScheduler"
	FairLeafType     = "fairSchedulerLeafQueueInfo"
)

// A CapacityScheduler is the root queue in the capacity scheduler's shape.
type CapacityScheduler struct {
	Type             string          `json:"type" rest:"xsi"`
	Capacity         float32         `json:"capacity"` // per cent, as are the next two
	UsedCapacity     float32         `json:"usedCapacity"`
	MaxCapacity      float32         `json:"maxCapacity"`
	Weight           float32         `json:"weight"` // −1 for a queue with a capacity
	NormalizedWeight float32         `json:"normalizedWeight"`
	Vector           CapacityVector  `json:"queueCapacityVectorInfo"`
	Name             string          `json:"queueName"`
	Path             string          `json:"queuePath"`
	MaxParallelApps  int32           `json:"maxParallelApps"`
	Absolute         bool            `json:"isAbsoluteResource"`
	Queues           *CapacityQueues `json:"queues"`
	Capacities       Capacities      `json:"capacities"`
	Health           Health          `json:"health"`
	MaximumAlloc     Resource        `json:"maximumAllocation"`
	ACLs             QueueACLs       `json:"queueAcls"`
	Priority         int32           `json:"queuePriority"`
	Order            string          `json:"orderingPolicyInfo"`
	Mode             string          `json:"mode"` // percentage, weight or absolute
	QueueType        string          `json:"queueType"`
	Creation         string          `json:"creationMethod"`
	AutoCreation     string          `json:"autoCreationEligibility"`
	DefaultLabel     string          `json:"defaultNodeLabelExpression,omitempty"`
	Template         Entries         `json:"autoQueueTemplateProperties"`
	ParentTemplate   Entries         `json:"autoQueueParentTemplateProperties"`
	LeafTemplate     Entries         `json:"autoQueueLeafTemplateProperties"`
}

// CapacityQueues is a list of child queues.
type CapacityQueues struct {
	List []CapacityQueue `json:"queue"`
}

// A CapacityQueue is a queue below the root. A parent has no Type and no Leaf fields.
type CapacityQueue struct {
	Type            string          `json:"type,omitempty" rest:"xsi"`
	Path            string          `json:"queuePath"`
	Capacity        float32         `json:"capacity"` // per cent, as are the next five
	UsedCapacity    float32         `json:"usedCapacity"`
	MaxCapacity     float32         `json:"maxCapacity"`
	AbsCapacity     float32         `json:"absoluteCapacity"`
	AbsMaxCapacity  float32         `json:"absoluteMaxCapacity"`
	AbsUsedCapacity float32         `json:"absoluteUsedCapacity"`
	Weight          float32         `json:"weight"`
	NormWeight      float32         `json:"normalizedWeight"`
	Apps            int             `json:"numApplications"`
	MaxParallelApps int32           `json:"maxParallelApps"`
	Name            string          `json:"queueName"`
	Absolute        bool            `json:"isAbsoluteResource"`
	State           string          `json:"state"` // RUNNING or STOPPED
	Queues          *CapacityQueues `json:"queues"`
	Used            Resource        `json:"resourcesUsed"`
	HideReserved    bool            `json:"hideReservationQueues"`
	Labels          []string        `json:"nodeLabels"`
	Allocated       int             `json:"allocatedContainers"`
	Reserved        int             `json:"reservedContainers"`
	Pending         int             `json:"pendingContainers"`
	Capacities      Capacities      `json:"capacities"`
	Resources       Usages          `json:"resources"`
	MinEffective    Resource        `json:"minEffectiveCapacity"`
	MaxEffective    Resource        `json:"maxEffectiveCapacity"`
	MaximumAlloc    Resource        `json:"maximumAllocation"`
	ACLs            QueueACLs       `json:"queueAcls"`
	Priority        int32           `json:"queuePriority"`
	Order           string          `json:"orderingPolicyInfo"`
	AutoCreate      bool            `json:"autoCreateChildQueueEnabled"`
	LeafTemplate    Entries         `json:"leafQueueTemplate"`
	Mode            string          `json:"mode"`
	QueueType       string          `json:"queueType"` // leaf or parent
	Creation        string          `json:"creationMethod"`
	AutoCreation    string          `json:"autoCreationEligibility"`
	DefaultLabel    string          `json:"defaultNodeLabelExpression,omitempty"`
	Template        Entries         `json:"autoQueueTemplateProperties"`
	ParentTemplate  Entries         `json:"autoQueueParentTemplateProperties"`
	LeafProperties  Entries         `json:"autoQueueLeafTemplateProperties"`

	// Only for leaves.
	Active          *int      `json:"numActiveApplications"`
	Waiting         *int      `json:"numPendingApplications"`
	Containers      *int      `json:"numContainers"`
	MaxApps         *int      `json:"maxApplications"`
	MaxAppsPerUser  *int      `json:"maxApplicationsPerUser"`
	UserLimit       *float32  `json:"userLimit"` // per cent
	Users           *Users    `json:"users"`
	UserFactor      *float32  `json:"userLimitFactor"`
	AMShare         *float32  `json:"configuredMaxAMResourceLimit"` // fraction
	AMLimit         *Resource `json:"AMResourceLimit"`
	AMUsed          *Resource `json:"usedAMResource"`
	UserAMLimit     *Resource `json:"userAMResourceLimit"`
	NoPreemption    *bool     `json:"preemptionDisabled"`
	NoIntra         *bool     `json:"intraQueuePreemptionDisabled"`
	DefaultPriority *int32    `json:"defaultPriority"`
	AutoCreated     *bool     `json:"isAutoCreatedLeafQueue"`
	MaxLifetime     *int64    `json:"maxApplicationLifetime"` // seconds, −1 for no limit
	DefaultLifetime *int64    `json:"defaultApplicationLifetime"`
}

// A CapacityVector is a queue's capacity per resource, as text.
type CapacityVector struct {
	Configured string        `json:"configuredCapacityVector"`
	Entries    []VectorEntry `json:"capacityVectorEntries"`
}

// A VectorEntry is one resource of a [CapacityVector].
type VectorEntry struct {
	Name  string `json:"resourceName"`
	Value string `json:"resourceValue"`
}

// Capacities is a queue's capacity in each partition.
type Capacities struct {
	List []Capacity `json:"queueCapacitiesByPartition"`
}

// A Capacity is a queue's capacity in one partition. Values are percentages, unless they are resources.
type Capacity struct {
	Partition    string         `json:"partitionName"`
	Vector       CapacityVector `json:"queueCapacityVectorInfo"`
	Capacity     float32        `json:"capacity"`
	Used         float32        `json:"usedCapacity"`
	Max          float32        `json:"maxCapacity"`
	Abs          float32        `json:"absoluteCapacity"`
	AbsUsed      float32        `json:"absoluteUsedCapacity"`
	AbsMax       float32        `json:"absoluteMaxCapacity"`
	AMLimit      float32        `json:"maxAMLimitPercentage"`
	Weight       float32        `json:"weight"`
	NormWeight   float32        `json:"normalizedWeight"`
	MinResource  Resource       `json:"configuredMinResource"`
	MaxResource  Resource       `json:"configuredMaxResource"`
	EffectiveMin Resource       `json:"effectiveMinResource"`
	EffectiveMax Resource       `json:"effectiveMaxResource"`
}

// A Health describes the scheduler's last actions.
type Health struct {
	LastRun    int64             `json:"lastrun"`
	Operations []HealthOperation `json:"operationsInfo"`
	Details    []HealthDetail    `json:"lastRunDetails"`
}

// A HealthOperation names the last container of an operation; N/A if there was none.
type HealthOperation struct {
	Operation string `json:"operation"`
	Node      string `json:"nodeId"`
	Container string `json:"containerId"`
	Queue     string `json:"queue"`
}

// A HealthDetail counts an operation in the last run.
type HealthDetail struct {
	Operation string   `json:"operation"`
	Count     int64    `json:"count"`
	Resources Resource `json:"resources"`
}

// QueueACLs says who may do what with a queue.
type QueueACLs struct {
	List []QueueACL `json:"queueAcl"`
}

// A QueueACL is a kind of access and who has it, in Hadoop's form "user,user group,group".
type QueueACL struct {
	Access string `json:"accessType"`
	List   string `json:"accessControlList"`
}

// Users is a list of [User].
type Users struct {
	List []User `json:"user,omitempty"`
}

// A User is a user's share of a queue.
type User struct {
	Name      string   `json:"username"`
	Used      Resource `json:"resourcesUsed"`
	Pending   int      `json:"numPendingApplications"`
	Active    int      `json:"numActiveApplications"`
	AMUsed    Resource `json:"AMResourceUsed"`
	Limit     Resource `json:"userResourceLimit"`
	Resources Usages   `json:"resources"`
	Weight    float32  `json:"userWeight"`
	IsActive  bool     `json:"isActive"` // has requests
}

// A FairScheduler is the root queue in the fair scheduler's shape.
type FairScheduler struct {
	Type string    `json:"type" rest:"xsi"`
	Root FairQueue `json:"rootQueue"`
}

// A FairQueue is a queue in the fair scheduler's shape. Only a leaf has a Type, Waiting and Active.
type FairQueue struct {
	Type         string      `json:"type,omitempty" rest:"xsi"`
	MaxApps      int         `json:"maxApps"`
	Min          Resource    `json:"minResources"`
	Max          Resource    `json:"maxResources"`
	Used         Resource    `json:"usedResources"`
	AMUsed       Resource    `json:"amUsedResources"`
	AMMax        Resource    `json:"amMaxResources"`
	Demand       Resource    `json:"demandResources"`
	SteadyFair   Resource    `json:"steadyFairResources"`
	Fair         Resource    `json:"fairResources"`
	Cluster      Resource    `json:"clusterResources"`
	ReservedAmt  Resource    `json:"reservedResources"`
	MaxContainer Resource    `json:"maxContainerAllocation"`
	Pending      int         `json:"pendingContainers"`
	Allocated    int         `json:"allocatedContainers"`
	Reserved     int         `json:"reservedContainers"`
	Name         string      `json:"queueName"`
	Policy       string      `json:"schedulingPolicy"`
	Preemptable  bool        `json:"preemptable"`
	Children     *FairQueues `json:"childQueues"`
	Waiting      *int        `json:"numPendingApps"`
	Active       *int        `json:"numActiveApps"`
}

// FairQueues is a list of child queues.
type FairQueues struct {
	List []FairQueue `json:"queue"`
}
