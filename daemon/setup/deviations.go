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
			"callers are not authenticated, so only this machine can connect unless configured otherwise",
		},
		{
			"addresses that other machines can reach, with hadoop.security.authentication=simple", "served", `an error unless heddle.yaml has insecure_open: "I understand"`,
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
			"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "1000, always", "1000; 100 while requests wait, 2000 while the cluster is empty (beats in heddle.yaml)",
			"an application that waits for a container waits for a heartbeat",
		},
		{
			"yarn.resourcemanager.scheduler.class", "CapacityScheduler", "profile heddle if nothing is configured; otherwise the class that is named, or the scheduler that is configured",
			"without a configured scheduler, the mechanisms that improve results together are the better default",
		},
		{
			"yarn.scheduler.capacity.resource-calculator without a capacity-scheduler.xml", "DefaultResourceCalculator: memory only", "DominantResourceCalculator: every resource",
			"processors run out too",
		},
	}
}
