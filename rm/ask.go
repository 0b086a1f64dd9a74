package rm

import (
	"strings"

	"heddle"
	"heddle/yarn/conv"
	"heddle/yarn/wire"
)

const (
	anywhere = "*"
	// maxAskRows bounds what one call of a master may ask for or give back.
	maxAskRows = 100_000
)

// frameworkOf tells what an application is by the type it was submitted with.
func frameworkOf(kind string) heddle.Framework {
	switch kind {
	case "MAPREDUCE":
		return heddle.MapReduce
	case "SPARK":
		return heddle.Spark
	}
	return heddle.Plain
}

// The priorities at which MapReduce's master asks.
const (
	priorityFailedMap        = 5
	priorityReduce           = 10
	priorityOpportunisticMap = 19
	priorityMap              = 20
)

// kindOf tells what a container is for: MapReduce says so by its priorities, what Spark asks for are executors.
func kindOf(f heddle.Framework, priority int32) heddle.Kind {
	switch f {
	case heddle.MapReduce:
		switch priority {
		case priorityFailedMap, priorityOpportunisticMap, priorityMap:
			return heddle.Map
		case priorityReduce:
			return heddle.Reduce
		}
	case heddle.Spark:
		return heddle.Executor
	case heddle.Plain:
	}
	return heddle.Other
}

// checkAsk refuses the whole of a call where part of it is wrong.
func (r *RM) checkAsk(t *attempt, q *wire.AllocateRequest) error {
	largest := r.maximum()
	for _, k := range q.GetAsk() {
		if k.GetNumContainers() < 0 {
			return invalid(classInvalidAsk, "Invalid resource request, %d containers requested at %q; expected 0 or more", k.GetNumContainers(), k.GetResourceName())
		}
		if k.GetNodeLabelExpression() != "" {
			return invalid(classInvalidLabel, "Invalid resource request, node label not enabled but request contains label expression %q", k.GetNodeLabelExpression())
		}
		if k.GetResourceName() == "" {
			return invalid(classInvalidAsk, "Invalid resource request, a row names no place; expected *, a rack or a host")
		}
		if size := r.resource(k.GetCapability()); size.AnyNegative() || !size.Fits(largest) {
			return invalid(classInvalidAsk, "Invalid resource request! Cannot allocate containers as requested resource is less than 0 or greater than maximum allowed allocation. Requested %s, maximum allowed %s", r.text(size), r.text(largest))
		}
	}
	for _, h := range q.GetBlacklistRequest().GetBlacklistAdditions() {
		if h == anywhere {
			return invalid(classInvalidBlacklist, "Cannot add %s to the blacklist!", h)
		}
	}
	for _, id := range q.GetRelease() {
		if c := conv.Container(id); c.Attempt != t.id {
			return invalid(classInvalidRelease, "Cannot release container : %s not belonging to this application attempt : %s", c, t.id)
		}
	}
	if len(q.GetSchedulingRequests()) > 0 {
		return invalid(classYarn, "%s sent scheduling requests; placement constraints are not supported (yarn.resourcemanager.placement-constraints.handler)", t.id)
	}
	return nil
}

// ask enters rows into the table of a master and hands them to the core, which is then offered nodes at once.
func (r *RM) ask(t *attempt, list []*wire.ResourceRequest) {
	if len(list) == 0 {
		return
	}
	rows := make([]heddle.Row, 0, len(list))
	for _, k := range list {
		key := rowKey{k.GetPriority().GetPriority(), k.GetAllocationRequestId(), k.GetResourceName()}
		if k.GetNumContainers() == 0 {
			delete(t.rows, key)
		} else {
			t.rows[key] = k
		}
		rows = r.appendRows(rows, t, k)
	}
	if !r.hold.IsZero() { // nothing is given away yet: all that is asked for is handed over then
		return
	}
	r.step(heddle.Ask{App: t.app.aid, Rows: rows})
	r.offer(t.app)
}

// appendRows appends what a row of a master's table is to the core. A host that nobody knows is left out: it
// only said where.
func (r *RM) appendRows(rows []heddle.Row, t *attempt, k *wire.ResourceRequest) []heddle.Row {
	priority := k.GetPriority().GetPriority()
	row := heddle.Anywhere(priority, kindOf(t.app.framework, priority), k.GetNumContainers(), r.resource(k.GetCapability()))
	row.AllocID, row.Strict = k.GetAllocationRequestId(), !k.GetRelaxLocality()
	switch place := k.GetResourceName(); {
	case place == anywhere:
		rows = append(rows, row)
	case strings.HasPrefix(place, "/"):
		if rack, ok := r.racks[place]; ok {
			row.Rack = rack
			rows = append(rows, row)
		}
	default:
		for _, n := range r.hosts[place] {
			row.Host = n.nid
			rows = append(rows, row)
		}
	}
	return rows
}

// nameHosts hands over the rows that named a node before it was there.
func (r *RM) nameHosts(n *node) {
	if !r.hold.IsZero() {
		return
	}
	for _, a := range r.apps {
		if a == nil {
			continue
		}
		t := a.current()
		if t == nil || !t.registered() || t.isOver() {
			continue
		}
		var rows []heddle.Row
		for _, k := range t.sortedRows() {
			if p := k.GetResourceName(); p == r.hostName(n.id) || p == n.rack {
				rows = r.appendRows(rows, t, k)
			}
		}
		if len(rows) > 0 {
			r.step(heddle.Ask{App: a.aid, Rows: rows})
		}
		if len(t.black) > 0 {
			r.exclude(t)
		}
	}
}
