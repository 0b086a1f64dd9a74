package main

import "heddle/rm"

// What -o json prints of a ResourceManager. Fields are added, never renamed. Times are milliseconds since
// 1970 and 0 for not yet; what does not apply is −1.

// An appRow is one application.
type appRow struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Type        string    `json:"type"`
	User        string    `json:"user"`
	Queue       string    `json:"queue"`
	State       string    `json:"state"`
	Final       string    `json:"final_status"`
	Priority    int32     `json:"priority"`
	Progress    float64   `json:"progress_percent"`
	Started     int64     `json:"started_ms"`
	Launched    int64     `json:"launched_ms"`
	Finished    int64     `json:"finished_ms"`
	Elapsed     int64     `json:"elapsed_ms"`
	Containers  int       `json:"containers"` // −1: it holds none any more
	Used        rm.Amount `json:"used"`
	Reserved    rm.Amount `json:"reserved"`
	Pending     rm.Amount `json:"pending"`
	QueueShare  float64   `json:"queue_percent"`
	Share       float64   `json:"cluster_percent"`
	Tracking    string    `json:"tracking_url"`
	Diagnostics string    `json:"diagnostics"`
}

// An appDetail is an application with what only its own page tells.
type appDetail struct {
	appRow
	Tags             []string     `json:"tags"`
	MasterNode       string       `json:"master_node"`
	MasterAddress    string       `json:"master_address"`
	MasterLogs       string       `json:"master_logs"`
	MemorySeconds    int64        `json:"memory_mib_seconds"`
	VcoreSeconds     int64        `json:"vcore_seconds"`
	PreemptedWorkers int          `json:"preempted_containers"`
	PreemptedMasters int          `json:"preempted_masters"`
	LogAggregation   string       `json:"log_aggregation"`
	Unmanaged        bool         `json:"unmanaged"`
	Lifetime         string       `json:"lifetime_until"`
	Requests         []requestRow `json:"requests"`
	Attempts         []attemptRow `json:"attempts"`
}

// A requestRow is what an application asks for at one place.
type requestRow struct {
	Priority int32     `json:"priority"`
	Place    string    `json:"place"`
	Count    int64     `json:"count"`
	Size     rm.Amount `json:"size"`
	Relax    bool      `json:"relax_locality"`
}

// An attemptRow is one run of a master.
type attemptRow struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Started   int64  `json:"started_ms"`
	Finished  int64  `json:"finished_ms"`
	Container string `json:"container"`
	Node      string `json:"node"`
	Logs      string `json:"logs"`
}

// A nodeRow is one NodeManager.
type nodeRow struct {
	ID         string    `json:"id"`
	Rack       string    `json:"rack"`
	State      string    `json:"state"`
	HTTP       string    `json:"http_address"`
	Version    string    `json:"version"`
	Health     string    `json:"health_report"`
	Reported   int64     `json:"reported_ms"`
	Containers int       `json:"containers"`
	Used       rm.Amount `json:"used"`
	Total      rm.Amount `json:"total"`
	Measured   measured  `json:"measured"`
	OfTasks    measured  `json:"measured_containers"`
	Labels     []string  `json:"labels"`
}

// A measured is what a node reports of itself.
type measured struct {
	PhysicalMiB int64   `json:"physical_mib"`
	VirtualMiB  int64   `json:"virtual_mib"`
	Vcores      float64 `json:"vcores"`
}
