package rest

// An Info answers GET /ws/v1/heddle/info, under the root "info".
type Info struct {
	Version     string   `json:"version"`
	ClusterID   string   `json:"clusterId"`
	Started     int64    `json:"started"`
	Ready       bool     `json:"ready"`
	Profile     string   `json:"profile"`
	Order       string   `json:"order"`     // of the profile's lanes
	Scheduler   string   `json:"scheduler"` // capacity or fair: the shape of the queues
	Off         []string `json:"off"`       // mechanisms of the profile that are off, as "what: why"
	Steps       uint64   `json:"steps"`     // events the scheduler took
	Grants      uint64   `json:"grants"`
	BusyPercent float64  `json:"busyPercent"`
	Queue       int      `json:"callsWaiting"`
	BeatMillis  int64    `json:"heartbeatMillis"` // what nodes are told now
	// ClientAddress is where the protocol of YARN's clients is served, host:port as the daemon listens.
	ClientAddress string `json:"clientAddress,omitempty"`
	RESTChanges   bool   `json:"restChanges"` // changes of the one who asks this are taken over REST
}
