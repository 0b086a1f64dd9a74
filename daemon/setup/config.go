package setup

import (
	"time"

	"heddle"
	"heddle/daemon"
	learn "heddle/daemon/facts"
	"heddle/rm"
)

const (
	minBeat = 10 * time.Millisecond
	badBeat = "wanted a time of at least 10ms, such as 100ms or 2s"
)

// config returns the daemon's settings except for where it listens. room is the available memory in bytes.
func (s *source) config(room int64) (daemon.Config, error) {
	d, site := s.hadoop.Daemon, s.hadoop.Site
	c := daemon.Config{
		Config: rm.Config{
			ClusterID:       d.ClusterID,
			NodeExpiry:      site.NodeExpiry,
			MasterExpiry:    d.MasterExpiry,
			ContainerExpiry: d.ContainerExpiry,
			KeyRolling:      d.KeyRolling,
			NodeKeyRolling:  d.NodeKeyRolling,
			MaxAttempts:     d.MaxAttempts,
			GlobalAttempts:  d.GlobalAttempts,
			MaxCompleted:    d.MaxCompleted,
			MaxPriority:     site.MaxPriority,
			MaxTags:         d.MaxTags,
			MaxTagLength:    d.MaxTagLength,
			SchedulingWait:  d.SchedulingWait,
			WorkPreserving:  d.WorkPreserving,
			ACLs:            d.ACLs,
			Admins:          rm.ACL(d.Admins),
			LogAggregation:  d.LogAggregation,
			LogServer:       d.LogServerURL,
			WebProxy:        d.WebProxy,
			ExtraResources:  site.Extra,
			ExtraUnits:      site.ExtraUnits,
			PortInNodeName:  d.PortInNodeName,
			Silence:         rm.DefaultSilence,
			Keyed:           true,
		},
		Decommission:   duration(d.Decommission),
		ConnectRetries: d.ConnectRetries,
		IncludeFile:    d.IncludeFile,
		ExcludeFile:    d.ExcludeFile,
		Recovery:       d.Recovery,
		Topology:       d.TopologyScript,
		TopologyTable:  d.TopologyTable,
	}
	c.Nodes, _ = s.file.Nodes.caps()  // already checked
	c.Watchdog, _ = s.file.watchdog() // already checked
	s.limits(&c)
	if err := s.memory(&c, room); err != nil {
		return c, err
	}
	return c, s.beats(&c)
}

// facts returns what to find out about jobs besides YARN's protocols: everything, unless heddle.yaml says otherwise.
func (s *source) facts() learn.Options {
	on := func(said *bool) bool { return said == nil || *said }
	f := s.file.Facts
	return learn.Options{Masters: on(f.Masters), Submissions: on(f.Submissions), Files: s.hadoop.Daemon.Files}
}

func duration(s heddle.Span) time.Duration { return time.Duration(s) }

// beats sets the heartbeat intervals of nodes.
func (s *source) beats(c *daemon.Config) error {
	b := s.file.Beats
	c.Beat = s.hadoop.Site.NodeHeartbeat
	if b.normal > 0 {
		c.Beat = heddle.Span(b.normal)
	}
	c.DefaultBeats()
	if b.fast > 0 {
		c.FastBeat = heddle.Span(b.fast)
	}
	if b.idle > 0 {
		c.IdleBeat = heddle.Span(b.idle)
	} else if c.IdleBeat > c.NodeExpiry/3 {
		c.IdleBeat = c.Beat
	}
	if b.Load > 0 {
		c.BeatLoad = b.Load
	}
	switch {
	case c.FastBeat > c.Beat:
		return s.file.errorOf("beats.fast", "%v is slower than the normal %v", duration(c.FastBeat), duration(c.Beat))
	case c.IdleBeat < c.Beat:
		return s.file.errorOf("beats.idle", "%v is faster than the normal %v", duration(c.IdleBeat), duration(c.Beat))
	case b.idle > duration(c.NodeExpiry/3):
		return s.file.errorOf("beats.idle", "%v is too slow: a node counts as lost after %v (yarn.nm.liveness-monitor.expiry-interval-ms); at most a third of it", b.idle, duration(c.NodeExpiry))
	}
	return nil
}
