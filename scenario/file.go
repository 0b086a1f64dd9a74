package scenario

import "github.com/goccy/go-yaml/ast"

// The contents of a file, before it is known whether they make sense. The keys agree with schema.json: a test compares
// them.
type (
	rawScenario struct {
		position `yaml:"-"`
		Name     text        `yaml:"name"`
		About    text        `yaml:"about"`
		Cluster  rawCluster  `yaml:"cluster"`
		Queues   []rawQueue  `yaml:"queues"`
		Workload rawWorkload `yaml:"workload"`
		Faults   []rawFault  `yaml:"faults"`
		Effects  rawEffects  `yaml:"effects"`
		Profile  rawProfile  `yaml:"profile"`
		World    text        `yaml:"world"`
		Seeds    whole       `yaml:"seeds"`
	}

	rawCluster struct {
		position `yaml:"-"`
		Nodes    []rawNodes `yaml:"nodes"`
		Racks    whole      `yaml:"racks"`
		Uplink   rate       `yaml:"uplink_mb_s"`
	}
	rawNodes struct {
		position `yaml:"-"`
		Name     text   `yaml:"name"`
		Count    whole  `yaml:"count"`
		Memory   memory `yaml:"memory"`
		Vcores   whole  `yaml:"vcores"`
		Cores    number `yaml:"cores"`
		RAM      memory `yaml:"ram"`
		Disk     rate   `yaml:"disk_mb_s"`
		Seek     span   `yaml:"disk_seek"`
		Run      size   `yaml:"disk_run"`
		NIC      rate   `yaml:"nic_mb_s"`
		Speed    number `yaml:"speed"`
		Rack     text   `yaml:"rack"`
		Racks    []text `yaml:"racks"`
	}

	// rawQueue has settings under the names used in Hadoop's files, where they are checked.
	rawQueue struct {
		position     `yaml:"-"`
		Name         text       `yaml:"name"`
		Queues       []rawQueue `yaml:"queues"`
		Capacity     text       `yaml:"capacity"`
		MaxCapacity  text       `yaml:"maximum-capacity"`
		Masters      text       `yaml:"maximum-am-resource-percent"`
		UserLimit    text       `yaml:"minimum-user-limit-percent"`
		UserFactor   text       `yaml:"user-limit-factor"`
		Applications text       `yaml:"maximum-applications"`
		Parallel     text       `yaml:"max-parallel-apps"`
		Ordering     text       `yaml:"ordering-policy"`
		Priority     text       `yaml:"priority"`
		State        text       `yaml:"state"`
		Weight       text       `yaml:"weight"`
		MinResources text       `yaml:"minResources"`
		MaxResources text       `yaml:"maxResources"`
		RunningApps  text       `yaml:"maxRunningApps"`
		FairMasters  text       `yaml:"maxAMShare"`
		FairPolicy   text       `yaml:"schedulingPolicy"`
	}

	rawWorkload struct {
		position `yaml:"-"`
		Trace    text     `yaml:"trace"`
		Format   text     `yaml:"format"`
		Block    size     `yaml:"block"`
		Gaps     number   `yaml:"gaps"`
		Jobs     []rawJob `yaml:"jobs"`
	}
	rawJob struct {
		position   `yaml:"-"`
		ID         text       `yaml:"id"`
		Program    text       `yaml:"program"`
		Framework  text       `yaml:"framework"`
		Queue      text       `yaml:"queue"`
		User       text       `yaml:"user"`
		Priority   whole      `yaml:"priority"`
		Count      whole      `yaml:"count"`
		Submit     span       `yaml:"submit"`
		Arrival    rawArrival `yaml:"arrival"`
		Maps       whole      `yaml:"maps"`
		Reduces    whole      `yaml:"reduces"`
		Input      size       `yaml:"input"`
		Split      size       `yaml:"split"`
		Shuffle    amount     `yaml:"shuffle"`
		Output     amount     `yaml:"output"`
		Replicas   whole      `yaml:"output_replicas"`
		MapSize    rawSize    `yaml:"map"`
		ReduceSize rawSize    `yaml:"reduce"`
		Master     rawSize    `yaml:"master"`
		StartUp    span       `yaml:"start_up"`
		MapTime    span       `yaml:"map_time"`
		ReduceTime span       `yaml:"reduce_time"`
		SlowStart  number     `yaml:"slow_start"`
		Data       rawData    `yaml:"data"`
		Spark      rawSpark   `yaml:"spark"`
	}
	rawArrival struct {
		position `yaml:"-"`
		At       []span `yaml:"at"`
		Every    span   `yaml:"every"`
		Poisson  span   `yaml:"poisson"`
	}
	rawSize struct {
		position `yaml:"-"`
		set      bool
		Memory   memory `yaml:"memory"`
		Vcores   whole  `yaml:"vcores"`
	}
	rawData struct {
		position `yaml:"-"`
		On       []text `yaml:"on"`
		Replicas whole  `yaml:"replicas"`
	}
	rawSpark struct {
		position   `yaml:"-"`
		set        bool
		Executors  whole      `yaml:"executors"`
		Executor   rawSize    `yaml:"executor"`
		Client     flag       `yaml:"client"`
		TaskCores  whole      `yaml:"task_cores"`
		Storage    size       `yaml:"storage"`
		Dynamic    rawDynamic `yaml:"dynamic"`
		Iterations whole      `yaml:"iterations"`
		Cache      flag       `yaml:"cache"`
		InMemory   amount     `yaml:"in_memory"`
		TaskTime   span       `yaml:"task_time"`
		CachedTime span       `yaml:"cached_time"`
		Stages     []rawStage `yaml:"stages"`
	}
	rawDynamic struct {
		position `yaml:"-"`
		set      bool
		Min      whole `yaml:"min"`
		Max      whole `yaml:"max"`
		Initial  whole `yaml:"initial"`
		Idle     span  `yaml:"idle"`
		Backlog  span  `yaml:"backlog"`
	}
	rawStage struct {
		position `yaml:"-"`
		Tasks    whole   `yaml:"tasks"`
		Parents  []whole `yaml:"parents"`
		Reads    text    `yaml:"reads"`
		Input    amount  `yaml:"input"`
		Output   amount  `yaml:"output"`
		Caches   flag    `yaml:"caches"`
		TaskTime span    `yaml:"task_time"`
	}

	rawFault struct {
		position `yaml:"-"`
		Kind     text   `yaml:"kind"`
		At       span   `yaml:"at"`
		Every    span   `yaml:"every"`
		Until    span   `yaml:"until"`
		For      span   `yaml:"for"`
		Node     text   `yaml:"node"`
		Job      text   `yaml:"job"`
		Speed    number `yaml:"speed"`
		Rate     number `yaml:"rate"`
	}

	rawEffects struct {
		position    `yaml:"-"`
		Locality    flag `yaml:"locality"`
		Contention  flag `yaml:"contention"`
		Skew        flag `yaml:"skew"`
		Noise       flag `yaml:"noise"`
		Memory      flag `yaml:"memory"`
		LaunchDelay flag `yaml:"launch_delay"`
		SlowNodes   flag `yaml:"slow_nodes"`
		MemoryKill  flag `yaml:"memory_kill"`
		PageCache   flag `yaml:"page_cache"`
	}

	// rawProfile is passed on without being interpreted.
	rawProfile struct {
		position `yaml:"-"`
		node     ast.Node
	}
)

// Each mapping records its position and decodes strictly as its plain self.

func (r *rawCluster) UnmarshalYAML(n ast.Node) error {
	type plain rawCluster
	r.position = positionOf(n)
	return decode(n, (*plain)(r))
}

func (r *rawNodes) UnmarshalYAML(n ast.Node) error {
	type plain rawNodes
	r.position = positionOf(n)
	return decode(n, (*plain)(r))
}

func (r *rawQueue) UnmarshalYAML(n ast.Node) error {
	type plain rawQueue
	r.position = positionOf(n)
	return decode(n, (*plain)(r))
}

func (r *rawWorkload) UnmarshalYAML(n ast.Node) error {
	type plain rawWorkload
	r.position = positionOf(n)
	return decode(n, (*plain)(r))
}

func (r *rawJob) UnmarshalYAML(n ast.Node) error {
	type plain rawJob
	r.position = positionOf(n)
	return decode(n, (*plain)(r))
}

// UnmarshalYAML accepts "batch" besides a mapping: all at once, which is also the default.
func (r *rawArrival) UnmarshalYAML(n ast.Node) error {
	type plain rawArrival
	r.position = positionOf(n)
	if s, ok := n.(*ast.StringNode); ok {
		if s.Value != "batch" {
			return r.errorf("%s: wanted batch, or a mapping with one of at, every, poisson", clip(s.Value))
		}
		return nil
	}
	return decode(n, (*plain)(r))
}

func (r *rawSize) UnmarshalYAML(n ast.Node) error {
	type plain rawSize
	r.position, r.set = positionOf(n), true
	return decode(n, (*plain)(r))
}

func (r *rawData) UnmarshalYAML(n ast.Node) error {
	type plain rawData
	r.position = positionOf(n)
	return decode(n, (*plain)(r))
}

func (r *rawSpark) UnmarshalYAML(n ast.Node) error {
	type plain rawSpark
	r.position, r.set = positionOf(n), true
	return decode(n, (*plain)(r))
}

func (r *rawDynamic) UnmarshalYAML(n ast.Node) error {
	type plain rawDynamic
	r.position, r.set = positionOf(n), true
	return decode(n, (*plain)(r))
}

func (r *rawStage) UnmarshalYAML(n ast.Node) error {
	type plain rawStage
	r.position = positionOf(n)
	return decode(n, (*plain)(r))
}

func (r *rawFault) UnmarshalYAML(n ast.Node) error {
	type plain rawFault
	r.position = positionOf(n)
	return decode(n, (*plain)(r))
}

func (r *rawEffects) UnmarshalYAML(n ast.Node) error {
	type plain rawEffects
	r.position = positionOf(n)
	return decode(n, (*plain)(r))
}

func (r *rawProfile) UnmarshalYAML(n ast.Node) error {
	r.position, r.node = positionOf(n), n
	return nil
}
