package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/internal/plain"
	"heddle/rm"
)

const (
	mostName = 32 // columns for an application's name in a table, and for a queue's if there is little room
	mostWord = 20 // columns for a user or a type, likewise
	// mostRequests is the most lines of an application's request table printed for people.
	mostRequests = 20
	mostFailed   = 10 // containers for which people are told why an agent could not do something
)

// right aligns columns, counted from 1, to the right.
func right(t table.Writer, columns ...int) {
	var c []table.ColumnConfig
	for _, n := range columns {
		c = append(c, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(c)
}

// print writes a table without trailing spaces.
func (a *app) print(t table.Writer) error {
	t.SuppressTrailingSpaces()
	_, err := fmt.Fprintln(a.out, t.Render())
	return wrote(err)
}

// addRow adds a row of texts from a cluster, which are untrusted.
func addRow(t table.Writer, cells table.Row) {
	for i, c := range cells {
		if s, ok := c.(string); ok {
			cells[i] = plain.Line(s)
		}
	}
	t.AppendRow(cells)
}

func (a *app) printApps(rows []rm.AppReport) error {
	t := a.grid()
	t.AppendHeader(table.Row{"application", "name", "type", "user", "queue", "state", "progress", "containers", "memory", "vcores", "started", "elapsed"})
	right(t, 7, 8, 9, 10, 12)
	masked := 0
	for i := range rows {
		r := &rows[i]
		if r.Masked {
			masked++
		}
		held := holdingOf(r)
		addRow(t, table.Row{
			r.ID.String(), snip(plain.Line(r.Name), mostName), r.Type, r.User, r.Queue, ended(r), progressOf(r),
			held.containers, held.memory, held.vcores, moment(r.Started), lasting(r.Elapsed),
		})
	}
	err := a.print(t)
	if masked > 0 {
		a.note("%s shown only in part: %s", plural(masked, "application"), whyMasked)
	}
	return err
}

// ended returns an application's state and, if the state does not say it, how it ended.
func ended(r *rm.AppReport) string {
	if r.State == "FINISHED" && r.Final != "SUCCEEDED" {
		return string(r.State) + ", " + string(r.Final)
	}
	return string(r.State)
}

// whyMasked says why something about an application is not shown, and what helps.
const whyMasked = "access lists are on (yarn.acl.enable) and do not name you; HADOOP_USER_NAME sets the user"

// progressOf returns an application's progress, or "" if that is not reported.
func progressOf(r *rm.AppReport) string {
	if r.Masked {
		return ""
	}
	return share(r.Progress)
}

// A holding is what an application holds, as shown in a table: empty if it is over or if that is not reported.
type holding struct{ containers, memory, vcores string }

func holdingOf(r *rm.AppReport) holding {
	if r.State.Final() || r.Masked {
		return holding{}
	}
	return holding{strconv.Itoa(r.Containers), mem(r.Used.MemoryMiB), vcores(r.Used.Vcores)}
}

func (a *app) printNodes(rows []rm.NodeRow, now time.Time) error {
	t := a.grid()
	t.AppendHeader(table.Row{"node", "rack", "state", "containers", "memory", "of", "vcores", "of", "agent", "health checked", "version", "health"})
	right(t, 4, 5, 6, 7, 8)
	for i := range rows {
		r := &rows[i]
		addRow(t, table.Row{
			r.ID, r.Rack, r.State, r.Containers, mem(r.Used.MemoryMiB), mem(r.Total.MemoryMiB),
			vcores(r.Used.Vcores), vcores(r.Total.Vcores), agentWord(r.Agent), ago(r.Reported, now), r.Version, snip(plain.Line(r.Health), 60),
		})
	}
	return a.print(t)
}

func (a *app) printContainers(rows []rm.ContainerRow, now time.Time) error {
	t := a.grid()
	t.AppendHeader(table.Row{"container", "user", "kind", "asked for", "limit", "state", "changed", "by"})
	for i := range rows {
		r := &rows[i]
		limit, changed := "", ""
		if r.Sized != "" {
			limit = amountText(r.Limit)
		}
		if r.Changed > 0 {
			changed = ago(r.Changed, now)
		}
		addRow(t, table.Row{r.ID.String(), r.User, r.Kind, amountText(r.Size), limit, madeOf(r), changed, r.Policy})
	}
	return a.print(t)
}

// madeOf says what has been done to a container.
func madeOf(r *rm.ContainerRow) string {
	var words []string
	for _, x := range []struct {
		is   bool
		word string
	}{
		{!r.Running, "not started"},
		{r.Suspended, "suspended"},
		{r.Parked, "parked"},
		{r.Frozen > 0, "frozen for " + lasting(r.Frozen) + " at most"},
		{r.Weight > 0, "weight " + vcores(r.Weight)},
		{r.Bound > 0, "bound " + vcores(r.Bound)},
		{r.Sized != "", r.Sized},
		{r.Unconfirmed, "not confirmed"},
	} {
		if x.is {
			words = append(words, x.word)
		}
	}
	return strings.Join(words, ", ")
}

// agentWord describes a node's agent in a word or two, or "" if there is none.
func agentWord(g *rm.AgentRow) string {
	switch {
	case g == nil:
		return ""
	case len(g.Failed)+g.Masked > 0:
		return fmt.Sprintf("%d failed", len(g.Failed)+g.Masked)
	case g.Behind:
		return "behind"
	}
	return "ok"
}

func (a *app) printQueues(rows []rm.QueueReport) error {
	t := a.grid()
	t.AppendHeader(table.Row{"queue", "state", "capacity", "at most", "used", "memory", "vcores", "containers", "pending", "apps running", "apps waiting"})
	right(t, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	for i := range rows {
		r := &rows[i]
		addRow(t, table.Row{
			indented(r), string(r.State), capacity(r), share(r.Max), share(r.UsedOfOwn),
			mem(r.Used.MemoryMiB), vcores(r.Used.Vcores), r.Containers, r.Waiting, r.Active, r.Inactive,
		})
	}
	return a.print(t)
}

// indented returns the last part of a queue's path, indented by two spaces for each queue above it.
func indented(r *rm.QueueReport) string {
	name := r.Path[strings.LastIndexByte(r.Path, '.')+1:]
	return strings.Repeat("  ", strings.Count(r.Path, ".")) + name
}

// capacity returns what a queue is guaranteed, in the terms of its configuration.
func capacity(r *rm.QueueReport) string {
	if r.Weight >= 0 {
		return "weight " + vcores(r.Weight)
	}
	return share(r.Capacity)
}

// A card describes one thing in lines of a label and a value. Lines without a value are left out.
type card struct{ *tabwriter.Writer }

func newCard(w io.Writer) card { return card{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (c card) line(label, format string, args ...any) {
	if value := plain.Line(fmt.Sprintf(format, args...)); strings.TrimSpace(value) != "" {
		fmt.Fprintf(c, "%s\t%s\n", label, value)
	}
}

func (c card) usage(label string, used, total rm.Amount) {
	c.line(label, "%s of %s, %s of %s vcores", mem(used.MemoryMiB), mem(total.MemoryMiB), vcores(used.Vcores), vcores(total.Vcores))
}

func (a *app) printNode(r *rm.NodeRow, now time.Time) error {
	c := newCard(a.out)
	c.line("node", "%s", r.ID)
	c.line("state", "%s", r.State)
	c.line("rack", "%s", r.Rack)
	c.line("pages", "%s", r.HTTP)
	c.line("version", "%s", r.Version)
	c.line("health", "%s", r.Health)
	checked := ago(r.Reported, now)
	if r.Reported > 0 {
		checked = moment(r.Reported) + ", " + checked
	}
	c.line("health checked", "%s", checked)
	c.line("containers", "%d", r.Containers)
	c.usage("allocated", r.Used, r.Total)
	c.line("measured", "%s of memory, %s vcores busy", mem(r.Measured.PhysicalMiB), vcores(r.Measured.Vcores))
	c.line("of containers", "%s of memory, %s vcores busy", mem(r.OfTasks.PhysicalMiB), vcores(r.OfTasks.Vcores))
	c.line("labels", "%s", strings.Join(r.Labels, ", "))
	c.line("can", "%s", strings.Join(r.Can, ", "))
	if g := r.Agent; g != nil {
		c.line("agent", "%s, heard %s ago", agentWord(g), lasting(g.Age))
		if g.DiskBusy >= 0 {
			c.line("disks", "busy for %.0f %% of the time", 100*g.DiskBusy)
		}
		c.line("agent can", "%s", strings.Join(g.Can, ", "))
		for i, f := range g.Failed {
			if i == mostFailed {
				c.line("", "and %d more; -o json lists all", len(g.Failed)-i)
				break
			}
			c.line("agent could not", "%s", f)
		}
		if g.Masked > 0 {
			a.note("%s of the agent are not shown: %s", plural(g.Masked, "failure"), whyMasked)
		}
	}
	return wrote(c.Flush())
}

func (a *app) printQueue(r *rm.QueueReport) error {
	c := newCard(a.out)
	c.line("queue", "%s", r.Path)
	c.line("state", "%s", r.State)
	c.line("capacity", "%s", capacity(r))
	c.line("at most", "%s", share(r.Max))
	c.line("of the cluster", "%s, at most %s, uses %s", share(r.Absolute), share(r.AbsoluteMax), share(r.UsedShare))
	used := amountText(r.Used)
	if r.UsedOfOwn >= 0 {
		used += ", " + share(r.UsedOfOwn) + " of its capacity"
	}
	c.line("used", "%s", used)
	c.line("for masters", "%s", amountText(r.Masters))
	c.line("reserved", "%s", amountText(r.Reserved))
	c.line("asked for", "%s", amountText(r.Pending))
	c.line("containers", "%d held, %d waited for", r.Containers, r.Waiting)
	c.line("applications", "%d with a master, %d waiting for one", r.Active, r.Inactive)
	if r.MaxApps >= 0 {
		c.line("", "at most %d", r.MaxApps)
	}
	order := r.Order
	if r.Configured != "" && r.Configured != r.Order {
		order += " (configured: " + r.Configured + ")"
	}
	c.line("order", "%s", order)
	if err := c.Flush(); err != nil || len(r.Users) == 0 {
		return wrote(err)
	}
	fmt.Fprintln(a.out)
	t := a.grid()
	t.AppendHeader(table.Row{"user", "memory", "vcores", "for masters", "apps running", "apps waiting"})
	right(t, 2, 3, 5, 6)
	for _, u := range r.Users {
		addRow(t, table.Row{u.Name, mem(u.Used.MemoryMiB), vcores(u.Used.Vcores), amountText(u.Masters), u.Active, u.Inactive})
	}
	return a.print(t)
}

func (a *app) printApp(r *rm.AppReport) error {
	c := newCard(a.out)
	c.line("application", "%s", r.ID)
	c.line("name", "%s", r.Name)
	c.line("type", "%s", r.Type)
	c.line("tags", "%s", strings.Join(r.Tags, ", "))
	c.line("user", "%s", r.User)
	c.line("queue", "%s", r.Queue)
	c.line("priority", "%d", r.Priority)
	c.line("state", "%s", r.State)
	if r.Final != "UNDEFINED" {
		c.line("ended as", "%s", r.Final)
	}
	c.line("progress", "%s", progressOf(r))
	c.line("started", "%s", moment(r.Started))
	c.line("master given", "%s", moment(r.Launched))
	c.line("finished", "%s", moment(r.Finished))
	c.line("elapsed", "%s", lasting(r.Elapsed))
	if r.Masked {
		c.line("ends at the latest", "%s", moment(r.Lifetime))
		err := c.Flush()
		a.note("the rest of it is not shown: %s", whyMasked)
		return wrote(err)
	}
	if !r.State.Final() {
		c.line("holds", "%s: %s", plural(r.Containers, "container"), amountText(r.Used))
		if !r.Reserved.IsZero() {
			c.line("reserved", "%s", amountText(r.Reserved))
		}
		c.line("share", "%s of its queue, %s of the cluster", percent(float64(r.QueueShare)), percent(float64(r.ClusterShare)))
	}
	c.line("used so far", "%d MiB·s, %d vcore·s", r.MemorySeconds, r.VcoreSeconds)
	if n := r.PreemptedWorkers + r.PreemptedMasters; n > 0 {
		c.line("preempted", "%s, %d of them masters", plural(n, "container"), r.PreemptedMasters)
	}
	if r.State == rm.AppRunning || r.State.Final() { // there are none before
		c.line("pages", "%s", r.TrackingURL)
	}
	if !r.MasterNode.IsZero() {
		c.line("master's node", "%s", r.MasterNode)
	}
	if r.Host != "" && r.RPCPort > 0 {
		c.line("master's address", "%s:%d", r.Host, r.RPCPort)
	}
	c.line("master's logs", "%s", r.MasterLogs)
	c.line("log aggregation", "%s", r.LogAggregation)
	c.line("ends at the latest", "%s", moment(r.Lifetime))
	c.line("diagnostics", "%s", strings.TrimSpace(r.Diagnostics))
	if err := c.Flush(); err != nil {
		return wrote(err)
	}
	if err := a.printRequests(r.Requests); err != nil {
		return err
	}
	return a.printAttempts(r.Attempts)
}

func (a *app) printRequests(rows []rm.RequestReport) error {
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	t := a.grid()
	t.AppendHeader(table.Row{"asks at priority", "where", "containers", "of"})
	right(t, 1, 3)
	for i, r := range rows {
		if i == mostRequests {
			addRow(t, table.Row{"", fmt.Sprintf("and %d more; -o json lists all", len(rows)-i)})
			break
		}
		addRow(t, table.Row{r.Priority, r.Place, r.Count, amountText(r.Size)})
	}
	return a.print(t)
}

func (a *app) printAttempts(rows []rm.AttemptReport) error {
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	t := a.grid()
	t.AppendHeader(table.Row{"attempt", "state", "started", "finished", "master", "node"})
	for i := range rows {
		r := &rows[i]
		container, node := "", ""
		if !r.Master.IsZero() {
			container, node = r.Master.String(), r.Node.String()
		}
		addRow(t, table.Row{r.ID.String(), r.State, moment(r.Started), moment(r.Finished), container, node})
	}
	return a.print(t)
}
