package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A whyRow is what an application waits for.
type whyRow struct {
	ID      string           `json:"id"`
	Name    string           `json:"name"`
	User    string           `json:"user"`
	Queue   string           `json:"queue"`
	State   string           `json:"state"`
	Final   string           `json:"final_status"`
	Summary string           `json:"summary"` // a sentence on the application as a whole
	Pending []askRow         `json:"pending"`
	Refused map[string]int64 `json:"refused"` // how often so far, by reason
}

// An askRow is one ask that waits, and what stands against it.
type askRow struct {
	Priority int32      `json:"priority"`
	Kind     string     `json:"kind"`
	Count    int        `json:"count"`
	Size     amountOf   `json:"size"`
	Since    int64      `json:"since_ms"`
	Why      string     `json:"why"` // the reason that holds for every node; "fine" where it differs by node
	Text     string     `json:"text"`
	Need     amountOf   `json:"need"`
	Have     amountOf   `json:"have"`
	Short    amountOf   `json:"short"`
	Holders  []holdRow  `json:"holders"`
	Nodes    []groupRow `json:"nodes"`
}

// A holdRow is an application and what it holds of what an ask waits for.
type holdRow struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	User string   `json:"user"`
	Used amountOf `json:"used"`
}

// A groupRow is how many nodes give one answer, and the most that is free on one of them.
type groupRow struct {
	Why   string   `json:"why"`
	Nodes int      `json:"nodes"`
	Most  amountOf `json:"most_free"`
}

// A reason is a code of package heddle in words: for an ask as a whole, for one node and for several.
type reason struct{ ask, node, nodes string }

// reasons has every code that an explanation may hold.
var reasons = map[string]reason{
	"fine":            {"the reason differs from node to node", "would take one when it next reports in", "would take one when they next report in"},
	"nothing-pending": {"it asks for nothing now", "is not asked for", "are not asked for"},
	"no-room":         {"no node has room for one", "has too little free", "have too little free"},
	"node-too-small":  {"no node could hold one even when empty", "could not hold one even when empty", "could not hold one even when empty"},
	"node-reserved":   {"the nodes are reserved for other applications", "is reserved for another application", "are reserved for other applications"},
	"node-excluded":   {"it wants nothing on any node that is there", "is on the application's blacklist", "are on the application's blacklist"},
	"node-gone":       {"no node is up", "is down", "are down"},
	"wait-local":      {"it waits for a node that holds its data", "is passed over for one that holds its data", "are passed over for one that holds its data"},
	"wait-rack":       {"it waits for a rack that holds its data", "is passed over for a rack that holds its data", "are passed over for a rack that holds its data"},
	"strict-elsewhere": {
		"it names places and takes no others, and none of them is there",
		"is none of the places that it names", "are none of the places that it names",
	},
	"queue-limit":   {"its queue is at its maximum", "is closed to its queue", "are closed to its queue"},
	"user-limit":    {"its user is at the limit of the queue", "is closed to its user", "are closed to its user"},
	"am-limit":      {"masters hold all that the queue gives to masters", "may hold no more masters", "may hold no more masters"},
	"user-am-limit": {"its user's masters hold all that a user may have for masters", "may hold no more masters of this user", "may hold no more masters of this user"},
	"app-limit":     {"as many applications run as may", "may run no more applications", "may run no more applications"},
	"share-limit":   {"the policy's share for it is used up", "is outside of its share", "are outside of its share"},
	"gate-closed":   {"the policy lets no more of this kind start yet", "may start no more of this kind yet", "may start no more of this kind yet"},
	"not-picked":    {"the policy chose other nodes", "was not chosen by the policy", "were not chosen by the policy"},
	"holds-booking": {"it has a reservation, and waits until there is room", "is reserved for it", "are reserved for it"},
	"no-queue":      {"its queue is not there, or has queues below it", "is closed to it", "are closed to it"},
	"node-crowded":  {"what runs waits for disks or networks already", "is crowded: what runs there waits for its disk or network already", "are crowded: what runs there waits for disks or networks already"},
	"too-large":     {"one is above the largest container that the cluster allows", "is closed to a container so large", "are closed to containers so large"},
}

// inWords is a reason for an ask as a whole; a code that is not known stands for itself.
func inWords(code string) string {
	if r, ok := reasons[code]; ok {
		return r.ask
	}
	return code
}

// aboutRoom are the reasons for which it matters who holds what.
var aboutRoom = map[string]bool{
	"fine": true, "no-room": true, "node-reserved": true, "queue-limit": true, "user-limit": true, "am-limit": true,
	"user-am-limit": true, "app-limit": true, "share-limit": true, "gate-closed": true, "holds-booking": true,
}

// mostHolders is how many of those who hold what is waited for are named to people.
const mostHolders = 3

// sentences explains an application to people.
func (w *whyRow) sentences(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q of %s in %s: %s\n", w.ID, clean(w.Name), clean(w.User), w.Queue, w.Summary)
	for i := range w.Pending {
		fmt.Fprintf(&b, "\n%s", w.Pending[i].sentences(now))
	}
	if s := counted(w.Refused, inWords, mostHolders); s != "" && len(w.Pending) > 0 {
		fmt.Fprintf(&b, "\nRefused so far: %s.\n", s)
	}
	return b.String()
}

func (k *askRow) sentences(now time.Time) string {
	var b strings.Builder
	each := " each"
	if k.Count == 1 {
		each = ""
	}
	fmt.Fprintf(&b, "It waits for %s of %s%s (priority %d)", containers(k.Kind, k.Count), k.Size, each, k.Priority)
	if k.Since > 0 {
		fmt.Fprintf(&b, ", since %s (%s)", moment(k.Since), ago(k.Since, now))
	}
	fmt.Fprintf(&b, ": %s.\n", k.because())
	if !k.Short.zero() && !k.nodeless() {
		fmt.Fprintf(&b, "  One needs %s, and there is %s at most: %s too little.\n", k.Need, k.Have, k.Short)
	}
	if len(k.Nodes) > 0 {
		fmt.Fprintf(&b, "  %s.\n", k.byNode())
	}
	if s := k.heldBy(); s != "" && aboutRoom[k.Why] {
		fmt.Fprintf(&b, "  Most is held by %s.\n", s)
	}
	return b.String()
}

// because is the reason as a clause. What the ResourceManager says stands for a reason that has no words here; it
// begins with what is asked for, which was said already.
func (k *askRow) because() string {
	r, known := reasons[k.Why]
	switch {
	case !known && k.Text != "":
		_, text, ok := strings.Cut(k.Text, ": ")
		if !ok {
			text = k.Text
		}
		return strings.TrimSuffix(clean(strings.TrimSpace(text)), ".")
	case !known:
		return k.Why
	case len(k.Nodes) == 0:
		return "there is no node"
	case k.nodeless():
		return "no node is up"
	case k.Why != "fine":
		return r.ask
	case slices.ContainsFunc(k.Nodes, func(g groupRow) bool { return g.Why == "fine" }):
		return "it is given one as soon as the right node reports in"
	}
	return r.ask
}

// nodeless reports whether there is nothing that anything could run on: limits are shares of nothing then, and say
// nothing.
func (k *askRow) nodeless() bool {
	return !slices.ContainsFunc(k.Nodes, func(g groupRow) bool { return g.Why != "node-gone" })
}

// containers is how many containers of a kind, by their names.
func containers(kind string, n int) string {
	switch kind {
	case "am":
		return plural(n, "master")
	case "map", "reduce", "executor":
		return plural(n, kind)
	}
	return plural(n, "container")
}

// byNode says what the nodes answer, the largest groups first.
func (k *askRow) byNode() string {
	all := 0
	for _, g := range k.Nodes {
		all += g.Nodes
	}
	groups := slices.SortedStableFunc(slices.Values(k.Nodes), func(a, b groupRow) int { return cmp.Compare(b.Nodes, a.Nodes) })
	var parts []string
	for _, g := range groups {
		words, ok := reasons[g.Why]
		if !ok {
			words = reason{g.Why, "answers " + g.Why, "answer " + g.Why}
		}
		part := fmt.Sprintf("%d %s", g.Nodes, words.nodes)
		if g.Nodes == 1 {
			part = "1 " + words.node
		}
		if g.Why == "no-room" || g.Why == "node-too-small" || g.Why == "fine" {
			part += fmt.Sprintf(" (at most %s free)", g.Most)
		}
		parts = append(parts, part)
	}
	if len(groups) == 1 && all > 1 {
		return strings.Replace("All "+parts[0], fmt.Sprint(all), fmt.Sprintf("%d nodes", all), 1)
	}
	return fmt.Sprintf("Of %s, %s", plural(all, "node"), strings.Join(parts, "; "))
}

func (k *askRow) heldBy() string {
	var parts []string
	for i, h := range k.Holders {
		if i == mostHolders {
			break
		}
		who := h.ID
		if h.Name != "" {
			who += fmt.Sprintf(" %q", snip(clean(h.Name), mostName))
		}
		if h.User != "" {
			who += " of " + clean(h.User)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", who, h.Used))
	}
	return strings.Join(parts, ", ")
}

// summary says how an application as a whole is doing; waits says whether asks of it are known to wait.
func summary(r *appRow, waits bool) string {
	held := "holds " + plural(max(r.Containers, 0), "container")
	if r.Containers > 0 {
		held += ", " + r.Used.String()
	}
	since := lasting(r.Elapsed)
	switch r.State {
	case "NEW", "NEW_SAVING":
		return "it is being stored, and waits for nothing else."
	case "SUBMITTED":
		return "it waits for the scheduler to take it in."
	case "ACCEPTED":
		if waits {
			return fmt.Sprintf("it was accepted %s ago and has no master yet.", since)
		}
		return fmt.Sprintf("nothing is pending. It was accepted %s ago; its master has a container and is starting, or has not registered yet.", since)
	case "RUNNING":
		if waits {
			return fmt.Sprintf("it runs for %s and %s.", since, held)
		}
		return fmt.Sprintf("nothing is pending. It runs for %s and %s.", since, held)
	case "FINISHED", "FAILED", "KILLED":
		text := fmt.Sprintf("it ended as %s", r.State)
		if r.Final != r.State && r.Final != "UNDEFINED" {
			text += ", " + r.Final
		}
		if r.Finished > 0 {
			text += ", at " + moment(r.Finished)
		}
		if d := strings.TrimSpace(clean(r.Diagnostics)); d != "" {
			text += ": " + d
		}
		return strings.TrimSuffix(text, ".") + ". It waits for nothing."
	}
	return "its state is " + r.State + "."
}
