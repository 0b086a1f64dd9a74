package setup

// A Deviation is a default that differs from YARN's.
type Deviation struct {
	Name string // YARN's property, or the subject
	YARN string
	Ours string
	Why  string
}

// Deviations lists every default that differs from YARN's. A configured value always wins over a default.
func Deviations() []Deviation {
	return []Deviation{
		{
			"yarn.resourcemanager.hostname", "0.0.0.0", "127.0.0.1",
			"callers are taken at their word about who they are, so nobody but this machine is let near unless somebody says so",
		},
		{
			"addresses others can reach, with hadoop.security.authentication=simple", "served", `an error unless heddle.yaml has insecure_open: "I understand"`,
			"whoever reaches the ports can run programs as any user",
		},
		{
			"yarn.resourcemanager.recovery.enabled", "false", "true",
			"a restart must not cost running applications",
		},
		{
			"yarn.resourcemanager.store.class", "files under hadoop.tmp.dir", "one file in --data, or else in $XDG_STATE_HOME/heddle",
			"temporary folders are emptied when the machine starts again",
		},
		{
			"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "1000, always", "1000; 100 where something waits, 2000 while the cluster is empty (beats in heddle.yaml)",
			"an application that waits for a container waits for a heartbeat",
		},
		{
			"yarn.resourcemanager.scheduler.class", "CapacityScheduler", "profile heddle where nothing is configured; the class that is named, or the scheduler that is configured, otherwise",
			"who has configured no scheduler gets the mechanisms that gain together",
		},
		{
			"yarn.scheduler.capacity.resource-calculator without a capacity-scheduler.xml", "DefaultResourceCalculator: memory alone", "DominantResourceCalculator: every resource",
			"processors run out too",
		},
	}
}
