package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/rm"
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

// inWords is a reason for an ask as a whole; a code that is not known stands for itself.
func inWords(code string) string {
	if r, ok := rm.ReasonOf(code); ok {
		return r.Ask
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
	fmt.Fprintf(&b, "%s %q of %s in %s: %s\n", w.ID, clean(w.Name), clean(w.User), clean(w.Queue), clean(w.Summary))
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
	r, known := rm.ReasonOf(k.Why)
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
		return r.Ask
	case slices.ContainsFunc(k.Nodes, func(g groupRow) bool { return g.Why == "fine" }):
		return "it is given one as soon as the right node reports in"
	}
	return r.Ask
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
		words, ok := rm.ReasonOf(g.Why)
		if !ok {
			words = rm.Reason{Ask: g.Why, Node: "answers " + g.Why, Nodes: "answer " + g.Why}
		}
		part := fmt.Sprintf("%d %s", g.Nodes, words.Nodes)
		if g.Nodes == 1 {
			part = "1 " + words.Node
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
