package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"heddle"
	"heddle/internal/plain"
	"heddle/rm"
)

// inWords returns the words of a reason for an ask as a whole; an unknown code is returned as is.
func inWords(code string) string {
	if r, ok := rm.ReasonOf(code); ok {
		return r.Ask
	}
	return code
}

// aboutRoom are the reasons for which it matters which application holds what.
var aboutRoom = map[string]bool{
	"fine": true, "no-room": true, "node-reserved": true, "queue-limit": true, "user-limit": true, "am-limit": true,
	"user-am-limit": true, "app-limit": true, "share-limit": true, "gate-closed": true, "holds-booking": true,
}

// mostHolders is the most applications named as holders of what is waited for.
const mostHolders = 3

// whySentences explains an application to people.
func whySentences(app *rm.AppReport, e *rm.Explanation, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q of %s in %s: %s\n", e.App, e.Name, plain.Line(e.User), plain.Line(e.Queue), plain.Line(summary(app, e)))
	for i := range e.Pending {
		fmt.Fprintf(&b, "\n%s", askSentences(&e.Pending[i], e.Queue, now))
	}
	if s := counted(e.Refused, inWords, mostHolders); s != "" && len(e.Pending) > 0 {
		fmt.Fprintf(&b, "\nRefused so far: %s.\n", s)
	}
	b.WriteString(knownSentences(e))
	return b.String()
}

// inFigures formats the figures known about an application.
var inFigures = rm.Words{Amount: amountText, Bytes: amount, Lasting: lasting}

// knownSentences describes what is known about an application besides its requests, how old that is, and what its nodes
// could not do; each part only if there is something to say.
func knownSentences(e *rm.Explanation) string {
	var b strings.Builder
	line := func(label, text string) {
		if text == "" {
			return
		}
		if b.Len() == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s.\n", label, strings.TrimSuffix(plain.Line(text), "."))
	}
	line("Known since it was submitted", e.Job.Text(inFigures))
	if e.Job != nil {
		line("Known about earlier runs of this user and name", e.Job.Last.Text(inFigures))
	}
	line("Reported by its master", e.Known.Text(inFigures))
	if e.Known != nil {
		line("The last call to its master failed", e.Known.Failed)
	}
	line("Not done, because its nodes cannot", counted(e.Undone, rm.CapText, heddle.NumCaps))
	return b.String()
}

// askSentences explains one ask of an application in a queue.
func askSentences(k *rm.PendingAsk, queue string, now time.Time) string {
	var b strings.Builder
	each := " each"
	if k.Count == 1 {
		each = ""
	}
	fmt.Fprintf(&b, "It waits for %s of %s%s (priority %d)", containers(k.Kind, k.Count), amountText(k.Size), each, k.Priority)
	if k.Since > 0 {
		fmt.Fprintf(&b, ", since %s (%s)", moment(k.Since), ago(k.Since, now))
	}
	fmt.Fprintf(&b, ": %s.\n", because(k))
	if k.Policy != "" {
		fmt.Fprintf(&b, "  Refused by %s.", plain.Line(k.Policy))
		if k.Stock != "" {
			fmt.Fprintf(&b, " YARN would say: %s", plain.Line(k.Stock))
		}
		b.WriteString("\n")
	}
	if k.Limit != nil {
		fmt.Fprintf(&b, "  %s\n", plain.Line(k.Limit.Text(amountText)))
	}
	if !nodeless(k) {
		for _, s := range lacks(k) {
			fmt.Fprintf(&b, "  %s\n", s)
		}
	}
	if s := rm.PlaceText(k.Place, k.Of, k.Order, queue); s != "" {
		fmt.Fprintf(&b, "  %s\n", plain.Line(s))
	}
	if len(k.Nodes) > 0 {
		fmt.Fprintf(&b, "  %s.\n", byNode(k, now))
	}
	if s := heldBy(k); s != "" && aboutRoom[k.Why] {
		fmt.Fprintf(&b, "  Most of it is held by %s.\n", s)
	}
	return b.String()
}

// lacks says what is short, in one sentence for each resource.
func lacks(k *rm.PendingAsk) (out []string) {
	if k.Short.MemoryMiB > 0 {
		out = append(out, fmt.Sprintf("Memory is short: one needs %s, and at most %s is left for it.", mem(k.Need.MemoryMiB), mem(k.Have.MemoryMiB)))
	}
	if k.Short.Vcores > 0 {
		out = append(out, fmt.Sprintf("vcores are short: one needs %s, and at most %s are left for it.", vcores(k.Need.Vcores), vcores(k.Have.Vcores)))
	}
	for _, name := range slices.Sorted(maps.Keys(k.Short.Extra)) {
		out = append(out, fmt.Sprintf("%s is short: one needs %d, and at most %d is left for it.", plain.Line(name), k.Need.Extra[name], k.Have.Extra[name]))
	}
	return out
}

// because returns the reason as a clause. If a reason has no words here, it uses the ResourceManager's text without its
// beginning, which repeats what is asked for.
func because(k *rm.PendingAsk) string {
	r, known := rm.ReasonOf(k.Why)
	switch {
	case !known && k.Text != "":
		_, text, ok := strings.Cut(k.Text, ": ")
		if !ok {
			text = k.Text
		}
		return strings.TrimSuffix(plain.Line(strings.TrimSpace(text)), ".")
	case !known:
		return k.Why
	case len(k.Nodes) == 0:
		return "there is no node"
	case nodeless(k):
		return "no node is up"
	case k.Why != "fine":
		return r.Ask
	case slices.ContainsFunc(k.Nodes, func(g rm.NodeGroup) bool { return g.Why == "fine" }):
		return "it is given one as soon as the right node reports in"
	}
	return r.Ask
}

// nodeless reports whether there is no node that anything could run on. Limits are then shares of nothing and mean
// nothing.
func nodeless(k *rm.PendingAsk) bool {
	return !slices.ContainsFunc(k.Nodes, func(g rm.NodeGroup) bool { return g.Why != "node-gone" })
}

// containers returns how many containers of a kind there are, by the kind's name.
func containers(kind string, n int) string {
	switch kind {
	case "am":
		return plural(n, "master")
	case "map", "reduce", "executor":
		return plural(n, kind)
	}
	return plural(n, "container")
}

// byNode says what the nodes answer, largest groups first.
func byNode(k *rm.PendingAsk, now time.Time) string {
	all := 0
	for _, g := range k.Nodes {
		all += g.Nodes
	}
	groups := slices.SortedStableFunc(slices.Values(k.Nodes), func(a, b rm.NodeGroup) int { return cmp.Compare(b.Nodes, a.Nodes) })
	var parts []string
	for _, g := range groups {
		words, ok := rm.ReasonOf(g.Why)
		if !ok {
			words = rm.Reason{Ask: g.Why, Node: "answers " + g.Why, Nodes: "answer " + g.Why}
		}
		if g.Why == "fine" && k.Why != "fine" { // the reason holds for these nodes too
			words.Node, words.Nodes = "has room for one", "have room for one"
		}
		part := fmt.Sprintf("%d %s", g.Nodes, words.Nodes)
		if g.Nodes == 1 {
			part = "1 " + words.Node
		}
		if g.Until > 0 {
			part += rm.BesideText(max(0, time.UnixMilli(g.Until).Sub(now).Seconds()))
		}
		if g.Why == "no-room" || g.Why == "node-too-small" || g.Why == "fine" {
			part += fmt.Sprintf(" (at most %s free)", amountText(g.Most))
		}
		if g.Policy != "" && g.Policy != k.Policy {
			part += ", says " + plain.Line(g.Policy)
		}
		parts = append(parts, part)
	}
	if len(groups) == 1 && all > 1 {
		return strings.Replace("All "+parts[0], fmt.Sprint(all), fmt.Sprintf("%d nodes", all), 1)
	}
	return fmt.Sprintf("Of %s, %s", plural(all, "node"), strings.Join(parts, "; "))
}

// heldBy names the applications that hold most of what an ask waits for.
func heldBy(k *rm.PendingAsk) string {
	var parts []string
	for i, h := range k.Holders {
		if i == mostHolders {
			break
		}
		who := h.App.String()
		if h.Name != "" {
			who += fmt.Sprintf(" %q", snip(h.Name, mostName))
		}
		if h.User != "" {
			who += " of " + plain.Line(h.User)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", who, amountText(h.Used)))
	}
	return strings.Join(parts, ", ")
}

// summary says how an application as a whole is doing.
func summary(r *rm.AppReport, e *rm.Explanation) string {
	waits := len(e.Pending) > 0
	held := "holds " + plural(r.Containers, "container")
	if r.Containers > 0 {
		held += ", " + amountText(r.Used)
	}
	since := lasting(r.Elapsed)
	switch r.State {
	case "NEW", "NEW_SAVING":
		return "it is being stored, and waits for nothing else."
	case "SUBMITTED":
		if e.ComingBack {
			return "it waits until the ResourceManager has finished recovery."
		}
		return "it waits for the scheduler to accept it."
	case "ACCEPTED":
		switch {
		case waits:
			return fmt.Sprintf("it was accepted %s ago and has no master yet.", since)
		case e.ComingBack || r.Diagnostics == rm.ComingBack:
			return fmt.Sprintf("it was accepted %s ago and waits until the ResourceManager has finished recovery.", since)
		}
		return fmt.Sprintf("nothing is pending. It was accepted %s ago; its master has a container and is starting, or has not registered yet.", since)
	case "RUNNING":
		switch {
		case waits:
			return fmt.Sprintf("it has been running for %s and %s.", since, held)
		case e.ComingBack:
			return fmt.Sprintf("it has been running for %s and %s. Its requests wait until the ResourceManager has finished recovery.", since, held)
		}
		return fmt.Sprintf("nothing is pending. It has been running for %s and %s.", since, held)
	case "FINISHED", "FAILED", "KILLED":
		text := "it ended as " + string(r.State)
		if string(r.Final) != string(r.State) && r.Final != rm.Undefined {
			text += ", " + string(r.Final)
		}
		if r.Finished > 0 {
			text += ", at " + moment(r.Finished)
		}
		if d := strings.TrimSpace(plain.Line(r.Diagnostics)); d != "" {
			text += ": " + d
		}
		return strings.TrimSuffix(text, ".") + ". It waits for nothing."
	}
	return "its state is " + string(r.State) + "."
}
