package rm

import (
	"slices"
	"strings"

	"heddle"
	"heddle/yarn/conv"
	"heddle/yarn/wire"
)

const (
	anywhere = "*"
	// maxAskRows bounds what one call of a master may ask for or give back.
	maxAskRows = 100_000
	// What all calls of a master together may come to: rows of its table, keys of them, hosts and racks it wants
	// nothing on.
	maxTableRows   = 200_000
	maxTableKeys   = 10_000
	maxBlacklisted = 100_000
	// maxWanted is what is counted of one row; more is as good as for ever. All keys together fit 31 bits.
	maxWanted = 200_000
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
	largest := r.largest(t.app.queue)
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
		if size := r.resource(k.GetCapability()); size.AnyNegative() || k.GetNumContainers() > 0 && !size.Fits(largest) {
			return invalid(classInvalidAsk, "Invalid resource request! Cannot allocate containers as requested resource is less than 0 or greater than maximum allowed allocation. Requested %s, maximum allowed %s", r.text(size), r.text(largest))
		}
	}
	if err := r.checkTable(t, q.GetAsk()); err != nil {
		return err
	}
	added := q.GetBlacklistRequest().GetBlacklistAdditions()
	if n := len(t.black) + len(added); n > maxBlacklisted {
		return invalid(classInvalidBlacklist, "Cannot add %d names to the blacklist: it would have %d, and %d are taken", len(added), n, maxBlacklisted)
	}
	for _, h := range added {
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

// checkTable refuses rows that would make a master's table larger than it may be. What the core keeps of keys that
// were asked for once counts too.
func (r *RM) checkTable(t *attempt, list []*wire.ResourceRequest) error {
	rows, keys := len(t.rows), len(t.keys)
	if v := r.core.View().App(t.app.aid); v != nil {
		keys = max(keys, len(v.Asks()))
	}
	fresh := map[askKey]bool{}
	for _, k := range list {
		key := keyOf(k)
		if _, ok := t.rows[key]; ok || k.GetNumContainers() == 0 {
			continue
		}
		rows++
		if t.keys[key.askKey] == 0 {
			fresh[key.askKey] = true
		}
	}
	if rows > maxTableRows || keys+len(fresh) > maxTableKeys {
		return invalid(classInvalidAsk, "Invalid resource request, %s would ask with %d rows for %d priorities and allocation ids; at most %d and %d are taken", t.id, rows, keys+len(fresh), maxTableRows, maxTableKeys)
	}
	return nil
}

func keyOf(k *wire.ResourceRequest) rowKey {
	return rowKey{askKey{k.GetPriority().GetPriority(), k.GetAllocationRequestId()}, k.GetResourceName()}
}

// enter puts a row into a master's table, in place of the one of the same name.
func (t *attempt) enter(k *wire.ResourceRequest) {
	key := keyOf(k)
	_, had := t.rows[key]
	switch {
	case k.GetNumContainers() > 0:
		t.rows[key] = k
		if !had {
			t.keys[key.askKey]++
		}
	case had:
		delete(t.rows, key)
		if t.keys[key.askKey]--; t.keys[key.askKey] == 0 {
			delete(t.keys, key.askKey)
		}
	}
}

// unfetched is how many containers of a key wait for their master's next call. What it asks for counts them still.
func (t *attempt) unfetched(key askKey) int32 {
	n := int32(0)
	for _, c := range t.granted {
		if c.priority == key.priority && c.allocID == key.allocID {
			n++
		}
	}
	return n
}

// withdraw takes back all that a master asks for, and what it did not fetch.
func (r *RM) withdraw(t *attempt) {
	for _, c := range slices.Clone(t.granted) {
		r.step(heddle.Release{App: t.app.aid, Container: c.cid})
	}
	var rows []heddle.Row
	for _, k := range t.sortedRows() {
		rows = r.appendRows(rows, t, k)
	}
	for i := range rows {
		rows[i].Count = 0
	}
	clear(t.rows)
	clear(t.keys)
	if len(rows) > 0 {
		r.step(heddle.Ask{App: t.app.aid, Rows: rows})
	}
}

// ask enters rows into the table of a master and hands them to the core, which is then offered nodes at once.
func (r *RM) ask(t *attempt, list []*wire.ResourceRequest) {
	if len(list) == 0 {
		return
	}
	rows := make([]heddle.Row, 0, len(list))
	for _, k := range list {
		t.enter(k)
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
	row := heddle.Anywhere(priority, kindOf(t.app.framework, priority), min(k.GetNumContainers(), maxWanted), r.resource(k.GetCapability()))
	row.AllocID, row.Strict = k.GetAllocationRequestId(), !k.GetRelaxLocality()
	switch place := k.GetResourceName(); {
	case place == anywhere:
		row.Count = max(row.Count-t.unfetched(keyOf(k).askKey), 0)
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
	for a, t := range r.current() {
		if !t.registered() || t.isOver() {
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
