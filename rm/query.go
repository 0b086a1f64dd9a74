package rm

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"heddle"
	"heddle/cluster"
	"heddle/yarn/ids"
)

// Reports gives access to what a machine reports about itself. It is valid until the machine's next Step.
type Reports struct {
	m  *Machine
	at heddle.Time // what accumulates over time is counted up to here
}

// Reports returns the machine's reports.
func (m *Machine) Reports() Reports { return Reports{m, m.now} }

// At returns the reports for a later moment, before which nothing has happened.
func (r Reports) At(at heddle.Time) Reports { return Reports{r.m, max(r.at, at)} }

// amount returns an amount with this cluster's names for resources.
func (m *Machine) amount(a heddle.Resource) Amount { return AmountOf(a, m.cfg.ExtraResources...) }

func (r Reports) amount(a heddle.Resource) Amount { return r.m.amount(a) }

// yarn formats an amount for people, as YARN does.
func (r Reports) yarn(a Amount) string { return r.m.text(a.Resource(r.m.cfg.ExtraResources...)) }

// passes returns a function that reports whether an application passes the filter, except for its bounds on ids. It takes
// no longer with long lists in the filter than with short ones.
func (f *AppFilter) passes() func(*AppReport) bool {
	states, users, queues, types, tags := setOf(f.States), setOf(f.Users), setOf(f.Queues), folded(f.Types), folded(f.Tags)
	return func(a *AppReport) bool {
		switch {
		case len(states) > 0 && !states[a.State],
			f.Final != "" && f.Final != a.Final,
			len(users) > 0 && !users[a.User],
			len(queues) > 0 && !queues[a.Queue],
			len(types) > 0 && !types[strings.ToLower(a.Type)],
			len(tags) > 0 && !slices.ContainsFunc(a.Tags, func(t string) bool { return tags[t] }), // they are kept in lower case
			f.Name != "" && f.Name != a.Name:
			return false
		}
		return within(a.Started, f.StartedFrom, f.StartedTo) && within(a.Finished, f.FinishedFrom, f.FinishedTo) && (f.Sees == nil || f.Sees(a))
	}
}

func setOf[T comparable](list []T) map[T]bool {
	out := make(map[T]bool, len(list))
	for _, x := range list {
		out[x] = true
	}
	return out
}

// folded is setOf in lower case.
func folded(list []string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, x := range list {
		out[strings.ToLower(x)] = true
	}
	return out
}

// within reports whether a time lies between bounds, which it may equal. There is no upper one if to is nil.
func within(at, from int64, to *int64) bool { return at >= from && (to == nil || at <= *to) }

// App returns one application, with its requests and attempts, and what it waits for.
func (r Reports) App(id ids.App) (AppReport, error) {
	a := r.m.byApp[id]
	if a == nil {
		return AppReport{}, &NotFound{"application " + id.String()}
	}
	b := r.m.basis()
	p := b.tell(r.m.appView(a), r.at)
	if p.Unexplained() {
		p.Diagnostics = r.waitsFor(a)
	}
	p.Attempts, p.Requests = r.attempts(a), r.requests(a)
	return p, nil
}

// appView returns an application as views show it.
func (m *Machine) appView(a *app) *appView {
	v := &appView{AppReport: AppReport{
		ID: a.ID, User: a.user, Queue: a.shown().queue, Name: a.Name, Type: a.Type, Tags: append([]string{}, a.Tags...), Priority: a.shown().priority,
		State: a.public(), Internal: a.state.String(), Final: a.finalStatus(), Diagnostics: a.diag, Submitted: a.submitted,
		Started: a.started, Launched: a.launched, RPCPort: -1, TrackingURL: m.proxyURL(a),
		MemorySeconds: int64(a.memorySeconds), VcoreSeconds: int64(a.vcoreSeconds), PreemptedMemory: int64(a.preMemorySeconds),
		PreemptedVcores: int64(a.preVcoreSecs), PreemptedWorkers: a.preemptedWorkers, PreemptedMasters: a.preemptedMain,
		LogAggregation: m.logStatus(a), Lifetime: a.shown().lifetime,
	}}
	p := &v.AppReport
	if a.state != appFinalSaving {
		p.Finished = a.finished
	}
	if m.cfg.ACLs {
		for _, l := range a.Access {
			if !l.Change {
				p.Viewers = append(p.Viewers, l.List)
			}
		}
		m.inQueue(a.queue, func(q *QueueInfo) bool {
			p.Viewers = append(p.Viewers, ACL(q.AdminACL))
			return false
		})
	}
	if t := a.newest(); t != nil {
		p.Attempt, p.Host, p.RPCPort, p.OriginalURL, p.Progress = t.id.N, registered(t.host), t.port, t.url, Fraction(t.progress)
		p.MasterLogs = LogsURL("", t.masterHTTP, t.masterNode, t.masterID, a.user)
		p.Master, p.MasterNode, p.MasterHTTP = t.masterID, t.masterNode, t.masterHTTP
	}
	switch p.State {
	case AppFailed, AppKilled:
		p.Progress, p.TrackingURL = 1, m.pageURL(a)
		p.OriginalURL = p.TrackingURL
	case AppFinished:
		p.Progress = 1
	case AppNew, AppSaving, AppSubmitted, AppAccepted, AppRunning: // as reported by its master
	}
	m.addUse(a, v)
	if p.Diagnostics == "" && p.State == AppAccepted {
		p.Diagnostics = m.pendingText(a)
	}
	return v
}

// addUse adds what a live application holds and asks for.
func (m *Machine) addUse(a *app, v *appView) {
	c := m.core.View().App(a.aid)
	if c == nil {
		return
	}
	p := &v.AppReport
	p.Live = true
	p.Used, p.Reserved, p.Pending, p.Reservations = m.amount(c.Used()), m.amount(c.Booked()), m.amount(c.Pending()), c.Bookings()
	p.Containers = running(c)
	v.used, v.queue, v.waiting, v.held = c.Used(), c.Queue().ID(), waiting(c), a.newest().holds
	if x := c.Master(); x != nil {
		v.active, v.master = true, x.Told()
		p.MasterSize = m.amount(v.master)
	}
}

// Requests returns what an application asks for; nothing if it does not exist.
func (r Reports) Requests(id ids.App) []RequestReport {
	if a := r.m.byApp[id]; a != nil {
		return r.requests(a)
	}
	return nil
}

// requests returns an application's request table, with what is still wanted of each row.
func (r Reports) requests(a *app) []RequestReport {
	out := []RequestReport{}
	c := r.m.core.View().App(a.aid)
	if c == nil {
		return out
	}
	asks := workerAsks(c)
	for _, k := range c.Asks() {
		if k.Kind() == heddle.AM && k.Count() > 0 {
			out = append(out, RequestReport{Priority: k.Priority(), AllocID: -1, Place: anywhere, Size: r.amount(k.Size()), Count: int32(k.Count()), Relax: true, Guarantee: true})
		}
	}
	for _, row := range a.newest().sorted() {
		p := RequestReport{
			Priority: row.Priority, AllocID: row.AllocID, Place: row.Place, Size: r.amount(row.Size), Relax: !row.Strict, Guarantee: true,
			Enforce: row.Enforce,
		}
		if k := asks[askKey{p.Priority, p.AllocID}]; k != nil {
			p.Count, p.Size = r.m.left(k, p.Place), r.amount(k.Size())
		}
		if p.Count > 0 {
			out = append(out, p)
		}
	}
	return out
}

// workerAsks returns an application's asks, except for its master's.
func workerAsks(c *cluster.App) map[askKey]*cluster.Ask {
	asks := map[askKey]*cluster.Ask{}
	for _, k := range c.Asks() {
		if k.Kind() != heddle.AM {
			asks[askKey{k.Priority(), k.AllocID()}] = k
		}
	}
	return asks
}

// knows reports whether a place named by a row exists.
func (m *Machine) knows(place string) bool {
	_, rack := m.racks[place]
	return place == anywhere || rack || len(m.hosts[place]) > 0
}

// left returns how many containers an ask still wants at a place.
func (m *Machine) left(k *cluster.Ask, place string) int32 {
	switch {
	case place == anywhere:
		return int32(k.Count())
	case strings.HasPrefix(place, "/"):
		if rack, ok := m.racks[place]; ok {
			return int32(k.AtRack(rack))
		}
	default:
		for _, n := range m.hosts[place] {
			return int32(k.AtHost(n.nid))
		}
	}
	return 0
}

// proxyURL returns the address of an application's own pages.
func (m *Machine) proxyURL(a *app) string {
	return "http://" + cmp.Or(m.cfg.WebProxy, m.cfg.WebHost) + "/proxy/" + a.ID.String() + "/"
}

// pageURL returns the address of an application's page here.
func (m *Machine) pageURL(a *app) string {
	return "http://" + m.cfg.WebHost + "/cluster/app/" + a.ID.String()
}

// Attempts returns an application's attempts, the first one first.
func (r Reports) Attempts(id ids.App) ([]AttemptReport, error) {
	a := r.m.byApp[id]
	if a == nil {
		return nil, &NotFound{"application " + id.String()}
	}
	return r.attempts(a), nil
}

func (r Reports) attempts(a *app) []AttemptReport {
	out := make([]AttemptReport, 0, len(a.attempts))
	for _, t := range a.attempts {
		out = append(out, r.reportAttempt(t))
	}
	return out
}

// registered returns a master's host, or "" for the placeholder.
func registered(host string) string {
	if host == noName {
		return ""
	}
	return host
}

// Attempt returns one attempt.
func (r Reports) Attempt(id ids.Attempt) (AttemptReport, error) {
	if t := r.m.findAttempt(id); t != nil {
		return r.reportAttempt(t), nil
	}
	return AttemptReport{}, &NotFound{"attempt " + id.String()}
}

// findAttempt returns an attempt, whether or not it is over.
func (m *Machine) findAttempt(id ids.Attempt) *attempt {
	if a := m.byApp[id.App]; a != nil {
		for _, t := range a.attempts {
			if t.id == id {
				return t
			}
		}
	}
	return nil
}

func (r Reports) reportAttempt(t *attempt) AttemptReport {
	p := AttemptReport{
		ID: t.id, State: t.state.String(), Host: registered(t.host), RPCPort: t.port, TrackingURL: r.m.proxyURL(t.app), OriginalURL: t.url, Diagnostics: t.diag,
		Master: t.masterID, Node: t.masterNode, NodeHTTP: t.masterHTTP, User: t.app.user, Started: r.m.date(t.began),
		Blacklisted: append([]string{}, slices.Sorted(maps.Keys(t.black))...),
	}
	server := ""
	if t.ended != never {
		p.Finished, server = r.m.date(t.ended), r.m.cfg.LogServer
	}
	p.Logs = LogsURL(server, p.NodeHTTP, p.Node, p.Master, p.User)
	if t.state == attemptFailed || t.state == attemptKilled {
		p.TrackingURL = r.m.pageURL(t.app)
		p.OriginalURL = p.TrackingURL
	}
	return p
}

// Containers returns at most so many containers that an attempt holds above the given number, by number.
func (r Reports) Containers(id ids.Attempt, above int64, most int) ([]ContainerReport, error) {
	t := r.m.findAttempt(id)
	if t == nil {
		return nil, &NotFound{"attempt " + id.String()}
	}
	var out []ContainerReport
	for _, c := range r.m.heldAbove(t, above, most) {
		out = append(out, r.reportContainer(c))
	}
	return out, nil
}

// NodeContainers returns the containers on a node, by id.
func (r Reports) NodeContainers(id ids.Node) ([]ContainerReport, error) {
	n := r.m.byNode[id]
	if n == nil {
		return nil, &NotFound{"node " + id.String()}
	}
	out := make([]ContainerReport, 0, len(n.conts))
	for _, c := range n.conts {
		out = append(out, r.reportContainer(c))
	}
	slices.SortFunc(out, func(a, b ContainerReport) int { return a.ID.Compare(b.ID) })
	return out, nil
}

// Container returns a container that has not ended.
func (r Reports) Container(id ids.Container) (ContainerReport, error) {
	if c := r.m.container(id); c != nil {
		return r.reportContainer(c), nil
	}
	return ContainerReport{}, &NotFound{"container " + id.String()}
}

func (r Reports) reportContainer(c *container) ContainerReport {
	p := ContainerReport{
		ID: c.id(), Node: c.node.id, NodeHTTP: c.node.http, User: c.attempt.app.user, Size: c.size, Limit: c.limitOf(), Priority: c.priority,
		Kind: c.kind, Created: r.m.date(c.created), Exit: exitInvalid, Running: c.running(),
		Logs: LogsURL("", c.node.http, c.node.id, c.id(), c.attempt.app.user),
	}
	if x := r.m.core.View().Container(c.cid); x != nil {
		p.Suspended = x.Suspended()
	}
	if d := c.deed; d != nil {
		can := c.node.can &^ d.lacks
		p.Parked, p.Weight, p.Unconfirmed = d.parked && can.Has(heddle.Parks), d.weight, d.queued || d.expected
		if can.Has(heddle.Freezes) && d.frozen > 0 {
			p.Frozen, p.FrozenUntil = d.frozen, r.m.date(d.since.Plus(d.frozen))
		}
		if can.Has(heddle.Bounds) {
			p.Bound = d.bound
		}
		if p.Policy = d.by; d.at != never {
			p.Changed = r.m.date(d.at)
		}
	}
	return p
}

// newsOf returns a node's report.
func (m *Machine) newsOf(n *node) NodeReport {
	p := NodeReport{
		ID: n.id, HTTP: n.http, Rack: n.rack, State: n.state.String(), Version: n.version, Health: n.health, HealthAt: n.healthAt,
		Can: n.can, Total: n.total, Physical: n.physical, Containers: len(n.conts), Utilization: n.nodeUse, Aggregate: n.contUse,
		BeatAt: m.date(n.seen), BeatEvery: n.every, Used: m.usedOn(n), Agent: n.agent.report(m),
	}
	if n.deadline != never {
		p.Deadline = m.date(n.deadline)
	}
	return p
}
