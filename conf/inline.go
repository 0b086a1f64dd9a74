package conf

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// A Queue is a queue that is written out elsewhere than in Hadoop's files, with its settings by their names in
// capacity-scheduler.xml and fair-scheduler.xml.
type Queue struct {
	Name     string
	Line     int
	Settings []Setting
	Queues   []Queue
}

// A Setting is one setting of a [Queue].
type Setting struct {
	Name, Value string
	Line        int
}

// FromQueues returns the configuration of both schedulers for queues below the root, Hadoop's defaults for the rest
// but that every resource counts. A job goes to the queue that it names, or to default. What only one scheduler knows is
// translated for the other where it has the like: a weight stands for a capacity and a capacity for a weight. The error
// is an [Errors], with the file and the lines of the queues.
func FromQueues(file string, queues []Queue) (*Hadoop, error) {
	l := &log{}
	h := &Hadoop{Site: DefaultSite(), Daemon: DefaultDaemon()}
	root := &Queue{Name: "root", Queues: queues}
	if len(queues) > 0 {
		root.Line = queues[0].Line
	}
	ps := newProperties(l, nowhere)
	ps = ps.over(append(root.properties(file, "root", false), &property{
		name: csPrefix + "resource-calculator", raw: "DominantResourceCalculator", file: file,
	}))
	h.Capacity, h.CapacityPlacement = readCapacity(ps, h.Site, file)
	h.Fair = readFairSite(newProperties(l, ps.outside), h.Site)
	text := func(name, value string) *node { return &node{name: name, text: value, line: root.Line} }
	doc := &node{name: "allocations", line: root.Line, kids: []*node{text("defaultQueueSchedulingPolicy", "drf")}}
	doc.kids = append(doc.kids, root.elements(1)...)
	rule := func(name string) *node {
		return &node{name: "rule", line: root.Line, attr: []xml.Attr{{Name: xml.Name{Local: "name"}, Value: name}, {Name: xml.Name{Local: "create"}, Value: "false"}}}
	}
	doc.kids = append(doc.kids, &node{name: "queuePlacementPolicy", line: root.Line, kids: []*node{rule("specified"), rule("default"), rule("reject")}})
	h.FairPlacement, _ = readFairTree(l, h.Fair, h.Site.Extra, file, doc)
	if h.FairPlacement != nil {
		h.FairPlacement.strict = true
	}
	l.sort()
	for i := range l.errs {
		l.errs[i].Field = strings.TrimPrefix(l.errs[i].Field, csPrefix)
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	for _, n := range l.notices {
		if n.Property = strings.TrimPrefix(n.Property, csPrefix); n.Kind != Harmless {
			h.Notices = append(h.Notices, n)
		}
	}
	return h, nil
}

func (q *Queue) setting(name string) (Setting, bool) {
	for _, s := range q.Settings {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// capacitySettings are those that the capacity scheduler knows by the same name.
var capacitySettings = map[string]bool{
	"capacity": true, "maximum-capacity": true, "maximum-am-resource-percent": true, "minimum-user-limit-percent": true,
	"user-limit-factor": true, "maximum-applications": true, "max-parallel-apps": true, "ordering-policy": true,
	"priority": true, "state": true,
}

// properties are those of the capacity scheduler for a queue and all below it. weighed says that the queue's share
// is its weight, because none of its neighbours states a capacity.
func (q *Queue) properties(file, path string, weighed bool) []*property {
	set := func(name, value string, line int) *property {
		return &property{name: csPrefix + path + "." + name, raw: value, file: file, line: line, nameLine: line}
	}
	var out []*property
	for _, s := range q.Settings {
		if capacitySettings[s.Name] {
			out = append(out, set(s.Name, s.Value, s.Line))
		}
	}
	if weighed {
		w := Setting{Value: "1", Line: q.Line}
		if own, ok := q.setting("weight"); ok {
			w = own
		}
		out = append(out, set("capacity", strings.TrimSpace(w.Value)+"w", w.Line))
	}
	if len(q.Queues) == 0 {
		return out
	}
	stated := false
	names := make([]string, len(q.Queues))
	for i := range q.Queues {
		kid := &q.Queues[i]
		names[i] = kid.Name
		_, has := kid.setting("capacity")
		stated = stated || has
	}
	out = append(out, set("queues", strings.Join(names, ","), q.Line))
	for i := range q.Queues {
		out = append(out, q.Queues[i].properties(file, path+"."+q.Queues[i].Name, !stated)...)
	}
	return out
}

// elements are the fair scheduler's for the queues below one. most is what the queue may have at most of the cluster.
func (q *Queue) elements(most float64) []*node {
	var out []*node
	for i := range q.Queues {
		kid := &q.Queues[i]
		n := &node{name: "queue", line: kid.Line, attr: []xml.Attr{{Name: xml.Name{Local: "name"}, Value: kid.Name}}}
		add := func(name string, s Setting) {
			n.kids = append(n.kids, &node{name: name, text: strings.TrimSpace(s.Value), raw: s.Value, line: s.Line})
		}
		like := func(name, other string, value func(Setting) (Setting, bool)) {
			if s, ok := kid.setting(name); ok {
				add(name, s)
			} else if s, ok := kid.setting(other); ok {
				if s, ok = value(s); ok {
					add(name, s)
				}
			}
		}
		as := func(s Setting) (Setting, bool) { return s, true }
		kidMost := most
		like("weight", "capacity", weightOf)
		like("maxResources", "maximum-capacity", func(s Setting) (Setting, bool) {
			f, err := parseFloat(s.Value)
			if err != nil || f < 0 || f > 100 {
				return s, false // the capacity scheduler's reader says what is wrong with it
			}
			kidMost = most * f / 100
			s.Value = fmt.Sprintf("%g%%", 100*kidMost)
			return s, true
		})
		if len(kid.Queues) == 0 {
			like("maxAMShare", "maximum-am-resource-percent", as)
		}
		like("maxRunningApps", "max-parallel-apps", as)
		for _, name := range []string{"minResources", "schedulingPolicy"} {
			if s, ok := kid.setting(name); ok {
				add(name, s)
			}
		}
		n.kids = append(n.kids, kid.elements(kidMost)...)
		out = append(out, n)
	}
	return out
}

// weightOf is the weight that a capacity stands for: the percentage, or the weight itself. An absolute amount has none.
func weightOf(s Setting) (Setting, bool) {
	s.Value = strings.TrimSuffix(strings.TrimSpace(s.Value), "w")
	_, err := parseFloat(s.Value)
	return s, err == nil
}
