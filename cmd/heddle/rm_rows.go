package main

import "heddle/rm"

// What -o json prints of nodes; of applications and queues it prints the reports of package rm. Fields are added, never
// renamed. Times are milliseconds since 1970 and 0 for not yet; what does not apply is −1.

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
