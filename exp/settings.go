package exp

import (
	"fmt"
	"strconv"
	"strings"

	"heddle"
	"heddle/conf"
	"heddle/policies"
)

// A Setting is a property of one of Hadoop's files. In fair-scheduler.xml it is an element; for a queue it is
// queue.element.
type Setting struct{ File, Name, Value string }

// String returns file: name=value.
func (s Setting) String() string { return s.File + ": " + s.Name + "=" + s.Value }

// Settings returns what a Hadoop configuration folder must contain to simulate an arm, which has its own Hadoop
// settings, as the experiment does: the settings that differ from Hadoop's defaults, from the files that its profile
// uses.
func (a *Arm) Settings() ([]Setting, error) {
	if a.Hadoop == nil {
		return nil, nil
	}
	p, err := policies.Load(a.Profile, a.Set)
	if err != nil {
		return nil, err
	}
	s := settings{has: a.Hadoop(), def: conf.Default()}
	s.site(p.Queues == "fair")
	switch p.Queues {
	case "capacity":
		s.capacity()
	case "fair":
		s.fair()
	}
	return s.out, nil
}

type settings struct {
	has, def *conf.Hadoop
	out      []Setting
}

// add records a setting if it is not the default.
func (s *settings) add(file, name, value, otherwise string) {
	if value != otherwise {
		s.out = append(s.out, Setting{file, name, value})
	}
}

// site adds the settings of yarn-site.xml and mapred-site.xml.
func (s *settings) site(fair bool) {
	const yarn = "yarn-site.xml"
	h, d := s.has.Site, s.def.Site
	whole := func(file, name string, n, otherwise int64) {
		s.add(file, name, strconv.FormatInt(n, 10), strconv.FormatInt(otherwise, 10))
	}
	size := func(what string, r, otherwise heddle.Resource) {
		whole(yarn, "yarn.scheduler."+what+"-allocation-mb", r[heddle.Memory], otherwise[heddle.Memory])
		whole(yarn, "yarn.scheduler."+what+"-allocation-vcores", r[heddle.CPU]/1000, otherwise[heddle.CPU]/1000)
	}
	millis := func(file, name string, t, otherwise heddle.Span) {
		whole(file, name, int64(t/heddle.Millisecond), int64(otherwise/heddle.Millisecond))
	}
	size("minimum", h.Minimum, d.Minimum)
	size("maximum", h.Maximum, d.Maximum)
	if fair {
		size("increment", s.has.Fair.Increment, s.def.Fair.Increment)
	}
	millis(yarn, "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", h.NodeHeartbeat, d.NodeHeartbeat)
	millis(yarn, "yarn.nm.liveness-monitor.expiry-interval-ms", h.NodeExpiry, d.NodeExpiry)
	millis("mapred-site.xml", "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", h.MasterHeartbeat, d.MasterHeartbeat)
}

// capacity adds the settings of capacity-scheduler.xml. Hadoop has no defaults for queues and the calculator.
func (s *settings) capacity() {
	const file, prefix = "capacity-scheduler.xml", "yarn.scheduler.capacity."
	h, d := s.has.Capacity, s.def.Capacity
	set := func(name, value, otherwise string) { s.add(file, prefix+name, value, otherwise) }
	calculator := "Dominant"
	if h.MemoryOnly {
		calculator = "Default"
	}
	set("resource-calculator", "org.apache.hadoop.yarn.util.resource."+calculator+"ResourceCalculator", "")
	set("node-locality-delay", strconv.Itoa(h.NodeLocalityDelay), strconv.Itoa(d.NodeLocalityDelay))
	var names []string
	for i := range h.Queues[1:] {
		names = append(names, last(h.Queues[1+i].Path))
	}
	set("root.queues", strings.Join(names, ","), "")
	def := &d.Queues[1]
	for i := range h.Queues[1:] {
		q := &h.Queues[1+i]
		number := func(name string, value, otherwise float64) {
			set(q.Path+"."+name, fmt.Sprintf("%.6g", value), fmt.Sprintf("%.6g", otherwise))
		}
		number("capacity", 100*q.Capacity, -1)
		number("maximum-capacity", 100*q.MaxCapacity, 100*def.MaxCapacity)
		number("user-limit-factor", q.UserLimitFactor, def.UserLimitFactor)
		number("maximum-am-resource-percent", q.MaxAMShare, def.MaxAMShare)
		if q.Fair {
			set(q.Path+".ordering-policy", "fair", "")
		}
	}
}

// fair adds the settings of fair-scheduler.xml.
func (s *settings) fair() {
	s.add("fair-scheduler.xml", "defaultQueueSchedulingPolicy", "drf", "")
	for i := range s.has.Fair.Queues[1:] {
		if q := &s.has.Fair.Queues[1+i]; q.Max.Set {
			m := &q.Max
			s.add("fair-scheduler.xml", last(q.Path)+".maxResources", fmt.Sprintf("%d mb, %d vcores", m.Fixed[heddle.Memory], m.Fixed[heddle.CPU]/1000), "")
		}
	}
}

// last returns the last part of a queue's path.
func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
