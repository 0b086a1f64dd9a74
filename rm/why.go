package rm

import (
	"slices"
	"strconv"
	"strings"

	"heddle"
	"heddle/policy"
	"heddle/sched"
	"heddle/yarn/ids"
)

// An Explanation says what an application waits for: it is [sched.Explanation] with names.
type Explanation struct {
	App     ids.App           `json:"id"`
	Name    string            `json:"name"`
	User    string            `json:"user"`
	Queue   string            `json:"queue"`
	State   AppState          `json:"state"`
	Final   FinalStatus       `json:"final_status"`
	Pending []PendingAsk      `json:"pending"`
	Refused map[string]uint32 `json:"refused"` // number of refusals so far, by reason
	// Undone is how often policies wanted something done to its containers that their nodes cannot do, by capability:
	// resizes, lends, weighs, …
	Undone map[string]uint32 `json:"undone"`
	// ComingBack says that its requests wait until what ran before the restart has come back: Pending does not show it.
	ComingBack bool      `json:"coming_back,omitempty"`
	Job        *JobFacts `json:"job,omitempty"`   // known at its submission; nil for nothing
	Known      *Known    `json:"known,omitempty"` // told by its master; nil if it is not asked
}

// A PendingAsk is an ask that waits, and what prevents it from being granted.
type PendingAsk struct {
	Priority int32  `json:"priority"`
	Kind     string `json:"kind"` // am, map, reduce, …
	Count    int    `json:"count"`
	Size     Amount `json:"size"`
	Since    int64  `json:"since_ms"`        // milliseconds since 1970
	Why      string `json:"why"`             // reason that holds everywhere; "fine" if it differs by node
	Policy   string `json:"policy"`          // policy that gave it, by slot and name as in the profile: "gate.am: capacity"; "" if none did
	Text     string `json:"text"`            // the same for people
	Stock    string `json:"stock"`           // the stock ResourceManager's words for it; "" if it has none
	Limit    *Limit `json:"limit,omitempty"` // limit that Policy applied to the ask; nil if it reports none
	Order    string `json:"order"`           // what orders the line it waits in: "order: shortest", or the closed gate
	Place    int    `json:"place"`           // in that line, from 1; 0 if there is none
	Of       int    `json:"of"`              // … out of so many

	// Need is what one container takes, Have the most that is available for it, Short what is missing.
	Need    Amount      `json:"need"`
	Have    Amount      `json:"have"`
	Short   Amount      `json:"short"`
	Holders []Holder    `json:"holders"` // those who hold what is missing, most first
	Nodes   []NodeGroup `json:"nodes"`   // by the reason for passing them over
}

// A Limit is a refusal in figures: Used out of at most Most, as amounts or as numbers.
type Limit struct {
	What  string   `json:"what"` // what is limited, in the plural: masters
	Of    string   `json:"of"`   // whose or where: "in queue root.a"
	Used  Amount   `json:"used"` // empty for numbers, like Most
	Most  Amount   `json:"most"`
	UsedN int      `json:"used_number"` // −1 for amounts, like MostN
	MostN int      `json:"most_number"`
	Least bool     `json:"at_least"` // the gate opens once there are MostN
	By    []string `json:"set_by"`   // what sets it, each as "name = value"
	Note  string   `json:"note"`     // a sentence on what the figures do not say
}

// A Holder is an application and what it holds.
type Holder struct {
	App  ids.App `json:"id"`
	Name string  `json:"name"`
	User string  `json:"user"`
	Used Amount  `json:"used"`
}

// A NodeGroup is the number of nodes that gave the same answer, and the most free room among them.
type NodeGroup struct {
	Why    string `json:"why"`
	Policy string `json:"policy"` // policy that gave the reason, as in [PendingAsk]
	Nodes  int    `json:"nodes"`
	Most   Amount `json:"most_free"`
	Until  int64  `json:"until_ms,omitempty"` // for reserved nodes: when containers let in there must have ended, milliseconds since 1970
}

// Why says what an application waits for. Applications that are over, or not yet with the scheduler, wait for nothing.
func (r Reports) Why(id ids.App) (Explanation, error) {
	a := r.m.byApp[id]
	if a == nil {
		return Explanation{}, &NotFound{"application " + id.String()}
	}
	out := Explanation{
		App: id, Name: a.Name, User: a.user, State: a.public(), Final: a.finalStatus(), Queue: a.shown().queue,
		Pending: []PendingAsk{}, Refused: map[string]uint32{}, Undone: map[string]uint32{},
	}
	out.ComingBack = !r.m.Ready() && (a.state == appSubmitted || a.newest().asks())
	if a.aid == heddle.NoApp {
		return out, nil
	}
	e, _ := r.m.core.Explain(a.aid)
	for w, n := range e.History {
		if n > 0 {
			out.Refused[heddle.Why(w).String()] = n
		}
	}
	for i, n := range e.Undone {
		if n > 0 {
			out.Undone[heddle.Caps(1<<i).String()] = n
		}
	}
	out.Job, out.Known = r.job(a), r.known(a)
	for i := range e.Pending {
		out.Pending = append(out.Pending, r.pendingAsk(a, &e.Pending[i]))
	}
	return out, nil
}

// asks reports whether an attempt waits for its master, or its master asks for more.
func (t *attempt) asks() bool { return t != nil && (t.state == attemptScheduled || len(t.rows) > 0) }

func (r Reports) pendingAsk(a *app, k *sched.PendingAsk) PendingAsk {
	p := PendingAsk{
		Priority: k.Priority, Kind: k.Kind.String(), Count: k.Count, Since: r.m.date(k.Since), Size: r.amount(k.Size),
		Why: k.Why.String(), Policy: k.Policy, Limit: r.limit(a, k.Limit), Stock: r.stockWords(k),
		Order: r.order(a, k.Order), Place: k.Place, Of: k.Of,
		Need: r.amount(k.Need), Have: r.amount(k.Have), Short: r.amount(k.Short), Holders: []Holder{}, Nodes: []NodeGroup{},
	}
	for _, h := range k.Holders {
		if by := r.m.apps[h.App]; by != nil {
			p.Holders = append(p.Holders, Holder{by.ID, by.Name, by.user, r.amount(h.Used)})
		}
	}
	for _, g := range k.Nodes {
		p.Nodes = append(p.Nodes, r.nodeGroup(&g))
	}
	p.Text = r.sentences(a, k, &p)
	return p
}

func (r Reports) nodeGroup(g *sched.NodeGroup) NodeGroup {
	out := NodeGroup{Why: g.Why.String(), Policy: g.Policy, Nodes: g.Nodes, Most: r.amount(g.Most)}
	if g.Until > 0 {
		out.Until = r.m.date(g.Until)
	}
	return out
}

// limit puts a limit into words. If it has no bound, the cluster's size is used.
func (r Reports) limit(a *app, l *policy.Limit) *Limit {
	if l == nil {
		return nil
	}
	out := &Limit{
		What: l.What, Of: "in the cluster", UsedN: -1, MostN: -1, Least: l.Least, By: append([]string{}, l.By...), Note: l.Note,
	}
	if l.Counted {
		out.UsedN, out.MostN = l.UsedN, l.MostN
	} else {
		out.Used, out.Most = r.amount(l.Used), r.amount(l.Most.Min(r.m.core.View().Total()))
	}
	in := ""
	if l.Queue != heddle.NoQueue {
		in = "in queue " + r.m.sch.Queues[l.Queue].Path
		out.Of = in
	}
	switch l.Of {
	case policy.OfApp:
		out.Of = "in the application"
	case policy.OfUser:
		out.Of = strings.TrimSpace("of user " + a.user + " " + in)
	case policy.OfAll: // as it is
	}
	return out
}

// order returns an order, with the queue's configured order added if the configuration determines it.
func (r Reports) order(a *app, order string) string {
	if order != "order: capacity" && order != "order: fair" {
		return order
	}
	for i := range r.m.sch.Queues {
		if q := &r.m.sch.Queues[i]; q.Path == a.queue && q.Configured != "" {
			return order + " (" + q.Configured + ")"
		}
	}
	return order
}

// YARN's texts for an application that waits for its master: to be activated, or for room.
const (
	notActive = "Application is added to the scheduler and is not yet activated."
	active    = "Application is Activated, waiting for resources to be assigned for AM."
)

// stockWords returns the stock ResourceManager's text for a master that waits for the same reason.
func (r Reports) stockWords(k *sched.PendingAsk) string {
	switch {
	case k.Kind != heddle.AM:
		return ""
	case k.Why == heddle.AMLimit && strings.HasSuffix(k.Policy, ": fair"):
		return "(Resource request: " + r.m.text(k.Size) + " exceeds maximum AM resource allowed)."
	case k.Why == heddle.AMLimit:
		return "Queue's AM resource limit exceeded."
	case k.Why == heddle.UserAMLimit:
		return "User's AM resource limit exceeded."
	case k.Why == heddle.NodeGone:
		return "Skipping AM assignment as cluster resource is empty."
	}
	return ""
}

// letIn reports whether every gate has let a waiting master in.
func letIn(k *sched.PendingAsk) bool {
	switch k.Why {
	case heddle.AMLimit, heddle.UserAMLimit, heddle.AppLimit, heddle.GateClosed, heddle.NodeGone:
		return false
	default:
		return true
	}
}

// ComingBack is what clients read about an application that waits for its master during recovery.
const ComingBack = "Waiting until the ResourceManager has finished recovery."

// pendingText returns what clients read while an application waits for its master. It returns notActive if
// [Reports.WaitsFor] knows more.
func (m *Machine) pendingText(a *app) string {
	t := a.newest()
	switch {
	case a.aid == heddle.NoApp, !m.Ready() && t != nil && t.state == attemptScheduled:
		return ComingBack
	case t != nil && t.master != nil:
		return "AM container is launched, waiting for AM container to Register with RM"
	}
	return notActive
}

// Unexplained reports whether the application waits for its master and the report does not say for what. If so,
// [Reports.WaitsFor] does.
func (a *AppReport) Unexplained() bool { return a.State == AppAccepted && a.Diagnostics == notActive }

// WaitsFor returns what clients read about what an application waits for: its diagnostics if its report does not
// explain it. It has to look at every node.
func (r Reports) WaitsFor(id ids.App) (string, error) {
	a := r.m.byApp[id]
	if a == nil {
		return "", &NotFound{"application " + id.String()}
	}
	if p := r.m.appView(a); !p.Unexplained() {
		return p.Diagnostics, nil
	}
	return r.waitsFor(a), nil
}

func (r Reports) waitsFor(a *app) string {
	e, _ := r.m.core.Explain(a.aid)
	for i := range e.Pending {
		k := &e.Pending[i]
		if k.Kind != heddle.AM {
			continue
		}
		text, p := active, r.pendingAsk(a, k)
		if !letIn(k) {
			text = notActive
		}
		if p.Stock != "" {
			text += " " + p.Stock
		}
		return text + " " + p.Text
	}
	return ""
}

// sentences says what one ask waits for.
func (r Reports) sentences(a *app, k *sched.PendingAsk, p *PendingAsk) string {
	what := text("%d %s of %s", k.Count, containersOf(k.Kind, k.Count), r.m.text(k.Size))
	place := PlaceText(p.Place, p.Of, p.Order, a.queue)
	if k.Why == heddle.Fine {
		for _, g := range k.Nodes {
			if g.Why == heddle.Fine {
				return joined(text("%s: %d of %d nodes will take it as they report in.", what, g.Nodes, r.m.core.View().Live()), place)
			}
		}
		return joined(text("%s: no node takes it%s: %s.", what, r.lacking(k.Short), byNode(k.Nodes, r.m.core.View().Now())), place)
	}
	s := what + ": " + whyText(k.Why)
	if k.Why != heddle.NodeGone {
		s += r.lacking(k.Short)
	}
	if p.Policy != "" {
		s += " (" + p.Policy + ")"
	}
	return joined(s+".", p.Limit.Text(r.yarn), place)
}

// byNode says what prevents the ask on groups of nodes.
func byNode(groups []sched.NodeGroup, now heddle.Time) string {
	parts := make([]string, len(groups))
	for i, g := range groups {
		words := reasons[g.Why].Nodes
		if g.Nodes == 1 {
			words = reasons[g.Why].Node
		}
		parts[i] = text("%d %s", g.Nodes, words)
		if g.Until > 0 {
			parts[i] += BesideText(g.Until.Since(now).Seconds())
		}
		if g.Policy != "" {
			parts[i] += " (" + g.Policy + ")"
		}
	}
	return strings.Join(parts, "; ")
}

// BesideText says that containers expected to end within so many seconds may run beside reservations.
func BesideText(seconds float64) string {
	return text(", beside which may run what is expected to end within %d s", int64(seconds))
}

// lacking lists the resources that are short, after a comma.
func (r Reports) lacking(short heddle.Resource) string {
	var parts []string
	if n := short[heddle.Memory]; n > 0 {
		parts = append(parts, text("%d MiB of memory", n))
	}
	if n := short[heddle.CPU]; n > 0 {
		unit := " vcores"
		if n == 1000 {
			unit = " vcore"
		}
		parts = append(parts, strconv.FormatFloat(float64(n)/1000, 'f', -1, 64)+unit)
	}
	for i, name := range r.m.cfg.ExtraResources {
		if n := short[heddle.Extra1+heddle.Dim(i)]; n > 0 {
			parts = append(parts, text("%d %s", n, name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", short of " + strings.Join(parts, " and ")
}

// joined joins sentences, some of which may be empty.
func joined(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// Text describes a limit in a sentence, formatting amounts with amount; it returns "" for nil.
func (l *Limit) Text(amount func(Amount) string) string {
	if l == nil {
		return ""
	}
	used, most, bound := strconv.Itoa(l.UsedN), strconv.Itoa(l.MostN), "at most"
	if l.UsedN < 0 {
		used, most = amount(l.Used), amount(l.Most)
	}
	if l.Least {
		bound = "at least"
	}
	first := min(1, len(l.What))
	s := text("%s%s %s: %s of %s %s", strings.ToUpper(l.What[:first]), l.What[first:], l.Of, used, bound, most)
	if len(l.By) > 0 {
		s += ", set by " + strings.Join(l.By, ", ")
	}
	return joined(s+".", l.Note)
}

// PlaceText says where an application stands in line; "" if it is in none.
func PlaceText(place, of int, order, queue string) string {
	if place <= 0 {
		return ""
	}
	if name, ok := strings.CutPrefix(order, "order: "); ok {
		return text("It is %s of %d in queue %s by order %s.", ordinal(place), of, queue, name)
	}
	if order == "" {
		return text("It is %s of %d in queue %s.", ordinal(place), of, queue)
	}
	return text("It is %s of %d that wait at %s.", ordinal(place), of, order)
}

// ordinal returns 1st, 2nd, 3rd, 4th.
func ordinal(n int) string {
	end := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}

func containersOf(k heddle.Kind, n int) string {
	s := map[heddle.Kind]string{
		heddle.AM: "master", heddle.Map: "map", heddle.Reduce: "reduce", heddle.Executor: "executor", heddle.Other: "container",
	}[k]
	if n != 1 {
		s += "s"
	}
	return s
}

// whyText returns a reason for people.
func whyText(w heddle.Why) string { return reasons[w].Ask }
