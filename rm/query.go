package rm

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"heddle"
	"heddle/cluster"
	"heddle/yarn/ids"
)

// Reports is what a machine tells of itself. It is good until the machine's next Step.
type Reports struct {
	m  *Machine
	at heddle.Time // what is counted by time is counted up to then
}

// Reports returns what can be asked of the machine.
func (m *Machine) Reports() Reports { return Reports{m, m.now} }

// At returns the reports of a later moment at which nothing has happened yet.
func (r Reports) At(at heddle.Time) Reports { return Reports{r.m, max(r.at, at)} }

// amount is an amount with the names that this cluster has for it.
func (r Reports) amount(a heddle.Resource) Amount { return AmountOf(a, r.m.cfg.ExtraResources...) }

// yarn is an amount for people, as YARN writes it.
func (r Reports) yarn(a Amount) string { return r.m.text(a.Resource(r.m.cfg.ExtraResources...)) }

// explained is for how many applications a list says what they wait for: to find out looks at every node.
const explained = 10

// Apps returns the applications a filter lets through, oldest first. Of those that wait, only the newest say what
// for.
func (r Reports) Apps(f AppFilter) (out []AppReport) {
	waiting := 0
	all := slices.SortedFunc(maps.Values(r.m.byApp), func(a, b *app) int { return a.ID.Compare(b.ID) })
	for _, a := range slices.Backward(all) {
		if f.Limit > 0 && len(out) == f.Limit {
			break
		}
		if f.lets(a) {
			out = append(out, r.report(a, waiting < explained))
			if a.public() == AppAccepted {
				waiting++
			}
		}
	}
	slices.Reverse(out)
	return out
}

// lets reports whether the filter wants an application.
func (f *AppFilter) lets(a *app) bool {
	switch {
	case len(f.States) > 0 && !slices.Contains(f.States, a.public()),
		f.Final != "" && f.Final != a.finalStatus(),
		len(f.Users) > 0 && !slices.Contains(f.Users, a.user),
		len(f.Queues) > 0 && !slices.ContainsFunc(f.Queues, func(q string) bool { return q == a.shown().queue || strings.HasSuffix(a.shown().queue, "."+q) }),
		len(f.Types) > 0 && !slices.ContainsFunc(f.Types, func(t string) bool { return strings.EqualFold(t, a.Type) }),
		len(f.Tags) > 0 && !slices.ContainsFunc(f.Tags, func(t string) bool { return slices.Contains(a.Tags, strings.ToLower(t)) }),
		f.Name != "" && f.Name != a.Name:
		return false
	}
	return within(a.started, f.StartedFrom, f.StartedTo) && within(a.finished, f.FinishedFrom, f.FinishedTo)
}

// within reports whether a time lies between bounds, of which 0 is none.
func within(at, from, to int64) bool { return (from == 0 || at >= from) && (to == 0 || at <= to) }

// App returns one application.
func (r Reports) App(id ids.App) (AppReport, error) {
	a := r.m.byApp[id]
	if a == nil {
		return AppReport{}, &NotFound{"application " + id.String()}
	}
	p := r.report(a, true)
	p.Attempts = r.attempts(a)
	return p, nil
}

// report is what clients see of an application; explain says to find out what it waits for.
func (r Reports) report(a *app, explain bool) AppReport {
	p := AppReport{
		ID: a.ID, User: a.user, Queue: a.shown().queue, Name: a.Name, Type: a.Type, Tags: append([]string{}, a.Tags...), Priority: a.shown().priority,
		State: a.public(), Internal: a.state.String(), Final: a.finalStatus(), Diagnostics: a.diag, Submitted: a.submitted,
		Started: a.started, Launched: a.launched, RPCPort: -1, TrackingURL: r.proxyURL(a),
		MemorySeconds: int64(a.memorySeconds), VcoreSeconds: int64(a.vcoreSeconds), PreemptedMemory: int64(a.preMemorySeconds),
		PreemptedVcores: int64(a.preVcoreSecs), PreemptedWorkers: a.preemptedWorkers, PreemptedMasters: a.preemptedMain,
		LogAggregation: a.logs, Lifetime: a.shown().lifetime, Requests: []RequestReport{},
	}
	if a.state != appFinalSaving {
		p.Finished = a.finished
	}
	if p.Started > 0 {
		p.Elapsed = max(0, cmp.Or(p.Finished, r.m.date(r.at))-p.Started)
	}
	if r.m.cfg.ACLs {
		for _, l := range a.Access {
			if !l.Change {
				p.Viewers = append(p.Viewers, l.List)
			}
		}
		r.m.inQueue(a.queue, func(q *QueueInfo) bool {
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
		p.Progress, p.TrackingURL = 1, r.pageURL(a)
		p.OriginalURL = p.TrackingURL
	case AppFinished:
		p.Progress = 1
	case AppNew, AppSaving, AppSubmitted, AppAccepted, AppRunning: // as its master says
	}
	r.addUse(a, &p)
	if p.Diagnostics == "" && p.State == AppAccepted {
		p.Diagnostics = r.pendingText(a, explain)
	}
	return p
}

// addUse adds what a live application holds and asks for.
func (r Reports) addUse(a *app, p *AppReport) {
	if a.aid == heddle.NoApp {
		return
	}
	v := r.m.core.View()
	c := v.App(a.aid)
	if c == nil {
		return
	}
	p.Live = true
	p.Used, p.Reserved, p.Pending, p.Reservations = r.amount(c.Used()), r.amount(c.Booked()), r.amount(c.Pending()), c.Bookings()
	p.Containers = running(c)
	if m := c.Master(); m != nil {
		p.MasterSize = r.amount(m.Told())
	}
	share := float32(100 * c.Used().Share(v.Total()))
	p.ClusterShare, p.QueueShare = share, share
	if q := r.m.sch.Queues[c.Queue().ID()]; q.Absolute > 0 {
		p.QueueShare = share / float32(q.Absolute)
	}
	for x := range a.newest().held {
		memory, vcores := x.held(r.at)
		p.MemorySeconds += int64(memory)
		p.VcoreSeconds += int64(vcores)
	}
	p.Requests = r.requests(a, c)
}

// requests is an application's request table, with what is still wanted of each row.
func (r Reports) requests(a *app, c *cluster.App) []RequestReport {
	out := []RequestReport{}
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

// workerAsks are an application's asks but for its master's.
func workerAsks(c *cluster.App) map[askKey]*cluster.Ask {
	asks := map[askKey]*cluster.Ask{}
	for _, k := range c.Asks() {
		if k.Kind() != heddle.AM {
			asks[askKey{k.Priority(), k.AllocID()}] = k
		}
	}
	return asks
}

// knows reports whether a place that a row names is there.
func (m *Machine) knows(place string) bool {
	_, rack := m.racks[place]
	return place == anywhere || rack || len(m.hosts[place]) > 0
}

// left is how many containers an ask still wants at a place.
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

// proxyURL is where clients find an application's own pages.
func (r Reports) proxyURL(a *app) string {
	return "http://" + r.webHost() + "/proxy/" + a.ID.String() + "/"
}

// pageURL is an application's page here.
func (r Reports) pageURL(a *app) string {
	return "http://" + r.webHost() + "/cluster/app/" + a.ID.String()
}

func (r Reports) webHost() string { return r.m.cfg.WebHost }

// Attempts returns an application's attempts, first one first.
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

// registered is a master's host; "" for the name that stands for none.
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

// findAttempt returns an attempt, over or not.
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
		ID: t.id, State: t.state.String(), Host: registered(t.host), RPCPort: t.port, TrackingURL: r.proxyURL(t.app), OriginalURL: t.url, Diagnostics: t.diag,
		Master: t.masterID, Node: t.masterNode, NodeHTTP: t.masterHTTP, User: t.app.user, Started: r.m.date(t.began),
		Blacklisted: append([]string{}, slices.Sorted(maps.Keys(t.black))...),
	}
	server := ""
	if t.ended != never {
		p.Finished, server = r.m.date(t.ended), r.m.cfg.LogServer
	}
	p.Logs = LogsURL(server, p.NodeHTTP, p.Node, p.Master, p.User)
	if t.state == attemptFailed || t.state == attemptKilled {
		p.TrackingURL = r.pageURL(t.app)
		p.OriginalURL = p.TrackingURL
	}
	return p
}

// Containers returns the containers an attempt holds.
func (r Reports) Containers(id ids.Attempt) ([]ContainerReport, error) {
	t := r.m.findAttempt(id)
	if t == nil {
		return nil, &NotFound{"attempt " + id.String()}
	}
	var out []ContainerReport
	for _, c := range slices.SortedFunc(t.held, func(a, b *container) int { return cmp.Compare(a.num, b.num) }) {
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

// Container returns one container that has not ended.
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

// Nodes returns every NodeManager that was ever here, by id.
func (r Reports) Nodes() []NodeReport {
	out := make([]NodeReport, 0, len(r.m.byNode))
	for _, n := range r.m.byNode { // order: sorted below
		out = append(out, r.reportNode(n))
	}
	slices.SortFunc(out, func(a, b NodeReport) int { return a.ID.Compare(b.ID) })
	return out
}

func (r Reports) reportNode(n *node) NodeReport {
	p := r.m.newsOf(n)
	seen := map[ids.App]bool{}
	for _, c := range n.conts {
		seen[c.attempt.app.ID] = true
	}
	p.Apps = slices.SortedFunc(maps.Keys(seen), ids.App.Compare)
	return p
}

// newsOf is what masters, too, are told of a node: its report without the applications there.
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

// Cluster returns the cluster in figures.
func (r Reports) Cluster() ClusterReport {
	v := r.m.core.View()
	root := v.Root()
	counts := r.m.core.Counts()
	p := ClusterReport{
		ClusterID: cmp.Or(r.m.cfg.ClusterID, strconv.FormatInt(r.m.began, 10)), Started: r.m.began, Profile: r.m.sch.Profile, Order: r.m.sch.Order, Scheduler: r.m.sch.Type, Minimum: r.m.sch.Minimum, Maximum: r.m.sch.Maximum,
		Submitted: r.m.counts.submitted, Completed: r.m.counts.completed, FailedApps: r.m.counts.failed, KilledApps: r.m.counts.killed,
		Total: v.Total(), Used: v.Used(), Reserved: root.Booked(), Pending: root.Pending(), Containers: r.m.conts.Len(),
		Steps: r.m.steps + counts.Steps, Grants: r.m.grants + counts.Grants, BeatEvery: r.m.cfg.Beat,
		Updates: r.m.counts.updates, Deeds: r.m.counts.deeds, Agents: r.m.counts.agents, Undone: r.m.counts.undone,
	}
	for i, n := range counts.Undone {
		p.Undone[i] += n
	}
	for _, a := range r.m.byApp { // order: sums of integers
		switch a.public() {
		case AppRunning:
			p.RunningApps++
		case AppNew, AppSaving, AppSubmitted, AppAccepted:
			p.PendingApps++
		case AppFinished, AppFailed, AppKilled: // counted as they ended, and longer than they are remembered
		}
		if c := v.App(a.aid); c != nil {
			p.Reservations += c.Bookings()
			p.Waiting += waiting(c)
		}
	}
	for _, n := range r.m.nodes { // in their order: measurements are added up
		if r.m.byNode[n.id] == n {
			p.count(n)
		}
	}
	return p
}

func (p *ClusterReport) count(n *node) {
	p.Agented += one(n.agent != nil)
	if n.can.Has(heddle.Parks) {
		p.Parked += n.parked
	}
	if n.can.Has(heddle.Weighs) {
		p.Weighed += n.weighed
	}
	switch n.state {
	case nodeRunning:
		p.Active++
		p.Utilized.Physical += n.nodeUse.Physical
		p.Utilized.Virtual += n.nodeUse.Virtual
		p.Utilized.CPU += n.nodeUse.CPU
		if n.every > 0 {
			p.BeatEvery = min(p.BeatEvery, n.every)
		}
	case nodeUnhealthy:
		p.Unhealthy++
	case nodeDecommissioning:
		p.Decommissioning++
	case nodeDecommissioned:
		p.Decommissioned++
	case nodeLost:
		p.Lost++
	case nodeRebooted:
		p.Rebooted++
	case nodeShutdown:
		p.Shutdown++
	case nodeNew:
		p.New++
	}
}
