package rm

import (
	"heddle"
	"heddle/yarn/ids"
)

// Progress of log collection, by YARN's names.
const (
	logsDisabled = "DISABLED"
	logsNotBegun = "NOT_START"
	logsRunning  = "RUNNING"
	logsTroubled = "RUNNING_WITH_FAILURE"
	logsDone     = "SUCCEEDED"
	logsFailed   = "FAILED"
	logsTimeOut  = "TIME_OUT"
)

// logsWait is how long after an application's end its nodes may take to collect its logs: YARN's default of
// yarn.log-aggregation-status.time-out.ms.
const logsWait = 10 * heddle.Minute

// logs is the progress of collecting an application's logs on the nodes that ran something of it.
type logs struct {
	of     map[ids.Node]string // what each last said; for a completed application all its nodes, until they are done
	have   map[string]int      // how many nodes said so
	end    string              // outcome; "" if there is none yet
	unsure bool                // it ended before the restart: its nodes are unknown
}

func (l *logs) set(n ids.Node, status string) {
	if l.of == nil {
		l.of, l.have = map[ids.Node]string{}, map[string]int{}
	}
	if was, ok := l.of[n]; ok {
		l.have[was]--
	}
	l.of[n] = status
	l.have[status]++
}

// hearLogs takes a node's news of applications' logs.
func (m *Machine) hearLogs(n *node, news []LogNews) {
	for _, q := range news {
		a := m.byApp[q.App]
		if a == nil || !m.cfg.LogAggregation || a.logs.end != "" || a.logs.of[n.id] == logsTroubled && q.Status == logsRunning {
			continue
		}
		a.logs.set(n.id, q.Status)
		if a.closed && !a.logs.unsure {
			a.logs.settle()
		}
		m.stale(a)
	}
}

// settle notes the outcome of collecting logs once all nodes are done.
func (l *logs) settle() {
	switch {
	case len(l.of) > l.have[logsDone]+l.have[logsFailed]+l.have[logsTimeOut]:
		return
	case l.have[logsFailed] > 0:
		l.end = logsFailed
	case l.have[logsTimeOut] > 0:
		l.end = logsTimeOut
	case l.have[logsDone] > 0:
		l.end = logsDone
	}
	l.of, l.have = nil, nil
}

// awaitLogs waits for the nodes of a completed application.
func (m *Machine) awaitLogs(a *app) {
	if !m.cfg.LogAggregation {
		return
	}
	for _, n := range a.nodes {
		if _, said := a.logs.of[n.id]; !said {
			a.logs.set(n.id, logsNotBegun)
		}
	}
	a.logs.settle()
	m.timers.by(&a.timer, a, m.now.Plus(logsWait))
}

// lateLogs gives up the nodes that have not collected an application's logs in time.
func (m *Machine) lateLogs(a *app) {
	for n, status := range a.logs.of { // order: each for itself
		if status != logsDone && status != logsFailed {
			a.logs.set(n, logsTimeOut)
		}
	}
	a.logs.settle()
	m.stale(a)
}

// logStatus returns the progress of collecting an application's logs.
func (m *Machine) logStatus(a *app) string {
	switch l := &a.logs; {
	case !m.cfg.LogAggregation:
		return logsDisabled
	case l.end != "":
		return l.end
	case l.have[logsNotBegun] == len(l.of):
		return logsNotBegun
	case l.have[logsTroubled] > 0:
		return logsTroubled
	}
	return logsRunning
}
