package rest

// An Info answers GET /ws/v1/heddle/info, in the shape [Ours].
type Info struct {
	Version     string   `json:"version"`
	ClusterID   string   `json:"cluster_id"`
	Started     int64    `json:"started_ms"`
	Ready       bool     `json:"ready"`
	Unready     string   `json:"unready,omitempty"` // why it is not ready
	Profile     string   `json:"profile"`
	Order       string   `json:"order"`     // of the profile's lanes
	Scheduler   string   `json:"scheduler"` // capacity or fair: the shape of the queues
	Off         []string `json:"off"`       // mechanisms of the profile that are off, as "what: why"
	Steps       uint64   `json:"steps"`     // events that the scheduler has processed
	Grants      uint64   `json:"grants"`
	BusyPercent float64  `json:"busy_percent"`
	Queue       int      `json:"calls_waiting"`
	BeatMillis  int64    `json:"heartbeat_ms"` // what nodes are told at present
	// ClientAddress is where YARN's client protocol is served, host:port as the daemon listens.
	ClientAddress string `json:"client_address,omitempty"`
	RESTChanges   bool   `json:"rest_changes"` // whether this caller may make changes over REST
}
