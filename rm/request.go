package rm

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"heddle"
)

const (
	anywhere = "*"
	// maxAskRows is the most that one call of a master may ask for or release.
	maxAskRows = 100_000
	// The most that all calls of a master together may add up to: rows of its table, their keys, and hosts and racks on
	// which it wants nothing.
	maxTableRows   = 200_000
	maxTableKeys   = 10_000
	maxBlacklisted = 100_000
	// maxWanted is the most containers counted in one row; more would last practically for ever. All keys together fit
	// in 31 bits.
	maxWanted = 200_000
)

// A table is what a master asks for: rows by key and place.
type table struct {
	rows map[rowKey]Request
	keys map[askKey]int // number of rows per key
}

func newTable() table { return table{map[rowKey]Request{}, map[askKey]int{}} }

// A rowKey identifies a row of a master's request table.
type rowKey struct {
	askKey
	place string
}

// An askKey identifies what rows for several places ask for.
type askKey struct {
	priority int32
	allocID  int64
}

func (k *Request) key() rowKey { return rowKey{askKey{k.Priority, k.AllocID}, k.Place} }

// enter puts a row into the table, replacing the one with the same key.
func (t *table) enter(k Request) {
	key := k.key()
	_, had := t.rows[key]
	switch {
	case k.Count > 0:
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

// with returns how many rows the table would have with more rows, and how many keys would be new.
func (t *table) with(list []Request) (rows, keys int) {
	fresh := map[askKey]bool{}
	rows = len(t.rows)
	for i := range list {
		key := list[i].key()
		if _, ok := t.rows[key]; ok || list[i].Count == 0 {
			continue
		}
		rows++
		if t.keys[key.askKey] == 0 {
			fresh[key.askKey] = true
		}
	}
	return rows, len(fresh)
}

// sorted returns the table's rows in a fixed order.
func (t *table) sorted() []Request {
	keys := slices.SortedFunc(maps.Keys(t.rows), func(a, b rowKey) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.allocID, b.allocID), strings.Compare(a.place, b.place))
	})
	out := make([]Request, len(keys))
	for i, k := range keys {
		out[i] = t.rows[k]
	}
	return out
}

// Application types as submitted by frameworks.
const (
	typeMapReduce = "MAPREDUCE"
	typeSpark     = "SPARK"
	typeDefault   = "YARN"
)

// TypeOf returns the application type of a framework.
func TypeOf(f heddle.Framework) string {
	switch f {
	case heddle.MapReduce:
		return typeMapReduce
	case heddle.Spark:
		return typeSpark
	default:
		return typeDefault
	}
}

// frameworkOf returns the framework of an application type.
func frameworkOf(kind string) heddle.Framework {
	switch kind {
	case typeMapReduce:
		return heddle.MapReduce
	case typeSpark:
		return heddle.Spark
	}
	return heddle.Plain
}

// Priorities of the requests of MapReduce's master.
const (
	priorityFailedMap        = 5
	priorityReduce           = 10
	priorityOpportunisticMap = 19
	priorityMap              = 20
)

// kindOf returns a container's kind: MapReduce's priorities show it, and Spark asks only for executors.
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

// checkAsk rejects a whole call if any part of it is wrong.
func (m *Machine) checkAsk(t *attempt, q *Allocate) error {
	largest := m.largest(t.app.queue)
	for i := range q.Ask {
		k := &q.Ask[i]
		if k.Count < 0 {
			return invalid(classInvalidAsk, "Invalid resource request, %d containers requested at %q; expected 0 or more", k.Count, k.Place)
		}
		if k.Label != "" {
			return labelled(k.Label)
		}
		if k.Place == "" {
			return invalid(classInvalidAsk, "Invalid resource request, a row names no place; expected *, a rack or a host")
		}
		if k.Size.AnyNegative() || k.Count > 0 && !k.Size.Fits(largest) {
			return m.tooLarge(k.Size, largest)
		}
	}
	if err := m.checkTable(t, q.Ask); err != nil {
		return err
	}
	if n := len(t.black) + len(q.Avoid); n > maxBlacklisted {
		return invalid(classInvalidBlacklist, "Cannot add %d names to the blacklist: it would have %d, and %d are taken", len(q.Avoid), n, maxBlacklisted)
	}
	if slices.Contains(q.Avoid, anywhere) {
		return invalid(classInvalidBlacklist, "Cannot add %s to the blacklist!", anywhere)
	}
	for _, c := range q.Release {
		if c.Attempt != t.id {
			return invalid(classInvalidRelease, "Cannot release container : %s not belonging to this application attempt : %s", c, t.id)
		}
	}
	if q.Placed {
		return invalid(classYarn, "%s sent scheduling requests; placement constraints are not supported (yarn.resourcemanager.placement-constraints.handler)", t.id)
	}
	return nil
}

// labelled returns the error for a request with a node label.
func labelled(label string) error {
	return invalid(classInvalidLabel, "Invalid resource request, node label not enabled but request contains label expression %q", label)
}

// checkTable rejects rows that would make a master's table too large. Rows that are already served make way first.
func (m *Machine) checkTable(t *attempt, list []Request) error {
	over := func() (rows, keys int, over bool) {
		rows, fresh := t.with(list)
		keys = len(t.keys) + fresh
		return rows, keys, rows > maxTableRows || keys > maxTableKeys
	}
	if _, _, much := over(); !much {
		return nil
	}
	m.forgetServed(t)
	if rows, keys, much := over(); much {
		return invalid(classInvalidAsk, "Invalid resource request, %s would ask with %d rows for %d priorities and allocation ids; at most %d and %d are taken", t.id, rows, keys, maxTableRows, maxTableKeys)
	}
	return nil
}

// forgetServed drops the rows of which a master was given everything; the master need not withdraw them.
func (m *Machine) forgetServed(t *attempt) {
	v := m.core.View().App(t.app.aid)
	if v == nil || !m.Ready() { // the core has not heard of the rows
		return
	}
	owed := workerAsks(v)
	maps.DeleteFunc(t.keys, func(key askKey, _ int) bool {
		_, asked := t.rows[rowKey{key, anywhere}]
		k := owed[key]
		return asked && (k == nil || k.Count()+k.Unseen() == 0)
	})
	maps.DeleteFunc(t.rows, func(key rowKey, _ Request) bool { return t.keys[key.askKey] == 0 })
}

// unfetched returns how many containers of a key wait for their master's next call, and are still in its requests.
func (t *attempt) unfetched(key askKey) int32 {
	n := int32(0)
	for _, c := range t.granted {
		if c.priority == key.priority && c.allocID == key.allocID {
			n++
		}
	}
	return n
}

// withdraw withdraws everything that a master asks for, and what it did not fetch.
func (m *Machine) withdraw(t *attempt) {
	for _, c := range slices.Clone(t.granted) {
		m.step(heddle.Release{App: t.app.aid, Container: c.cid})
	}
	var rows []heddle.Row
	for _, k := range t.sorted() {
		rows = m.appendRows(rows, t, &k)
	}
	for i := range rows {
		rows[i].Count = 0
	}
	t.table = newTable()
	if len(rows) > 0 {
		m.step(heddle.Ask{App: t.app.aid, Rows: rows})
	}
}

// ask enters rows into a master's table and hands them to the core, which is then offered nodes at once. first says that
// it is the master's first call since it registered: the core then also learns of a master from before the restart that
// asks for nothing.
func (m *Machine) ask(t *attempt, list []Request, first bool) {
	if len(list) == 0 && !(first && t.app.recovered) {
		return
	}
	rows := make([]heddle.Row, 0, len(list))
	for i := range list {
		t.enter(list[i])
		rows = m.appendRows(rows, t, &list[i])
	}
	if !m.Ready() { // nothing is granted yet: all requests are handed over later
		return
	}
	m.step(heddle.Ask{App: t.app.aid, Rows: rows})
	m.offer(t.app)
}

// appendRows appends what a row of a master's table means to the core. It omits an unknown host, a mere preference.
func (m *Machine) appendRows(rows []heddle.Row, t *attempt, k *Request) []heddle.Row {
	row := heddle.Anywhere(k.Priority, kindOf(t.app.framework, k.Priority), min(k.Count, maxWanted), k.Size)
	row.AllocID, row.Strict = k.AllocID, k.Strict
	switch place := k.Place; {
	case place == anywhere:
		if !m.cfg.Stock {
			row.Count = max(row.Count-t.unfetched(k.key().askKey), 0)
		}
		rows = append(rows, row)
	case strings.HasPrefix(place, "/"):
		if rack, ok := m.racks[place]; ok {
			row.Rack = rack
			rows = append(rows, row)
		}
	default:
		for _, n := range m.hosts[place] {
			row.Host = n.nid
			rows = append(rows, row)
		}
	}
	return rows
}

// nameHosts hands over the rows that named a node before it was known.
func (m *Machine) nameHosts(n *node) {
	if !m.Ready() {
		return
	}
	for a, t := range m.current() {
		if !t.registered() || t.state.isOver() {
			continue
		}
		var rows []heddle.Row
		for _, k := range t.sorted() {
			if k.Place == m.hostName(n.id) || k.Place == n.rack {
				rows = m.appendRows(rows, t, &k)
			}
		}
		if len(rows) > 0 {
			m.step(heddle.Ask{App: a.aid, Rows: rows})
		}
		if len(t.black) > 0 {
			m.exclude(t)
		}
	}
}
