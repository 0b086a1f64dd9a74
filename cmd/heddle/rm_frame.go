package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"heddle/internal/plain"
	"heddle/rm"
)

// A snapshot is what top shows at one moment.
type snapshot struct {
	At      time.Time
	URL     string
	Cluster clusterRow
	Queues  []rm.QueueReport
	Apps    []rm.AppReport
}

// A clusterRow is the figures of a cluster.
type clusterRow struct {
	Version   string    `json:"version"`
	Scheduler string    `json:"scheduler"`
	Profile   string    `json:"profile"` // "" if the ResourceManager is not Heddle
	Started   int64     `json:"started_ms"`
	Unready   string    `json:"unready"` // why it cannot be relied on now; "" if it can
	Total     rm.Amount `json:"total"`
	Used      rm.Amount `json:"used"`
	Reserved  rm.Amount `json:"reserved"`
	Pending   rm.Amount `json:"pending"`

	Containers int `json:"containers"`
	Waiting    int `json:"pending_containers"`

	Running   int `json:"applications_running"`
	Inactive  int `json:"applications_waiting"`
	Completed int `json:"applications_completed"`
	Failed    int `json:"applications_failed"`
	Killed    int `json:"applications_killed"`

	Active          int `json:"nodes_active"`
	Lost            int `json:"nodes_lost"`
	Unhealthy       int `json:"nodes_unhealthy"`
	Decommissioning int `json:"nodes_decommissioning"`
	Decommissioned  int `json:"nodes_decommissioned"`
	Rebooted        int `json:"nodes_rebooted"`
	Shutdown        int `json:"nodes_shutdown"`
}

// An appOrder is one way to sort applications: key selects it on a terminal, name with --sort.
type appOrder struct {
	key, name string
	less      func(a, b *rm.AppReport) int
}

// appOrders are the sort orders; the least by less is shown first. Ties are sorted by age.
var appOrders = []appOrder{
	{"m", "memory", func(a, b *rm.AppReport) int { return cmp.Compare(b.Used.MemoryMiB, a.Used.MemoryMiB) }},
	{"v", "vcores", func(a, b *rm.AppReport) int { return cmp.Compare(b.Used.Vcores, a.Used.Vcores) }},
	{"w", "waiting", func(a, b *rm.AppReport) int { return cmp.Compare(waits(b), waits(a)) }},
	{"p", "progress", func(a, b *rm.AppReport) int { return cmp.Compare(b.Progress, a.Progress) }},
	{"t", "time", func(a, b *rm.AppReport) int { return cmp.Compare(b.Elapsed, a.Elapsed) }},
	{"u", "user", func(a, b *rm.AppReport) int { return strings.Compare(a.User, b.User) }},
}

func orderNames() []string {
	var out []string
	for _, o := range appOrders {
		out = append(out, o.name)
	}
	return out
}

// waits returns what an application asks for and does not have, in MiB. Applications without a master come first, those
// that are over last.
func waits(r *rm.AppReport) int64 {
	switch {
	case r.State.Final():
		return -1
	case r.State != rm.AppRunning:
		return 1 << 50
	}
	return r.Pending.MemoryMiB
}

// sortApps sorts applications.
func sortApps(rows []rm.AppReport, order string, reversed bool) {
	at := slices.IndexFunc(appOrders, func(o appOrder) bool { return o.name == order })
	slices.SortStableFunc(rows, func(a, b rm.AppReport) int {
		c := appOrders[at].less(&a, &b)
		if reversed {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a.Started, b.Started), a.ID.Compare(b.ID))
	})
}

// A look says how to draw a frame.
type look struct {
	width    int
	height   int // 0: as many lines as there are
	order    string
	reversed bool
	skip     int    // applications scrolled past
	keys     bool   // a last line explains the keys
	trouble  string // why the data are old; "" if they are not
	colour   bool
}

// The styles of a frame.
type inks struct{ title, good, warn, bad, dim lipgloss.Style }

func newInks(colour bool) inks {
	plain := lipgloss.NewStyle()
	if !colour {
		return inks{plain, plain, plain, plain, plain}
	}
	return inks{
		title: plain.Bold(true),
		good:  plain.Foreground(lipgloss.Green),
		warn:  plain.Foreground(lipgloss.Yellow),
		bad:   plain.Foreground(lipgloss.Red).Bold(true),
		dim:   plain.Faint(true),
	}
}

// draw lays out a snapshot: the cluster, its queues, its applications. It limits l.skip to where the last application
// is on the last line.
func (s *snapshot) draw(l *look) string {
	k := newInks(l.colour)
	lines := s.heading(l, k)
	said := func(ink lipgloss.Style, text string) {
		for line := range strings.SplitSeq(lipgloss.Wrap(plain.Line(text), l.width, ""), "\n") {
			lines = append(lines, ink.Render(line))
		}
	}
	if s.Cluster.Unready != "" {
		said(k.warn, "not ready: "+s.Cluster.Unready)
	}
	if l.trouble != "" {
		said(k.bad, l.trouble+"; this is how it was at "+s.At.Format(time.TimeOnly))
	}
	foot := 0
	if l.keys {
		foot = 1
	}
	room := 1 << 20
	if l.height > 0 {
		room = l.height - len(lines) - foot
	}
	lines = append(lines, s.body(l, k, room)...)
	if l.keys {
		for l.height > 0 && len(lines) < l.height-1 {
			lines = append(lines, "")
		}
		lines = append(lines[:min(len(lines), max(l.height-1, 0))], k.dim.Render(keysLine(l)))
	}
	cut := lipgloss.NewStyle().MaxWidth(l.width)
	for i, line := range lines {
		lines[i] = cut.Render(line)
	}
	return strings.Join(lines, "\n")
}

// leastQueues is the least number of lines for queues, however little room there is.
const leastQueues = 3

// body returns the tables: queues take at most a third of the room if applications need the rest.
func (s *snapshot) body(l *look, k inks, room int) []string {
	queues := s.queueLines(l, k)
	apps := s.appLines(l, k)
	fit := max(room/3, room-len(apps)-1) - 2 // without an empty line and the column names
	if rows := len(queues) - 1; rows > max(fit, leastQueues) {
		keep := max(fit, leastQueues) - 1
		queues = append(queues[:1+keep], k.dim.Render(fmt.Sprintf("… and %s", plural(rows-keep, "more queue"))))
	}
	lines := append([]string{""}, queues...)
	lines = append(lines, "", apps[0])
	rows := apps[1:]
	if len(rows) == 0 {
		return append(lines, k.dim.Render("no applications"))
	}
	fit = max(room-len(lines), 1)
	l.skip = max(min(l.skip, len(rows)-fit), 0)
	rows = rows[l.skip:]
	if left := len(rows) - fit; left > 0 {
		rows = append(rows[:fit-1:fit-1], k.dim.Render(fmt.Sprintf("… and %s", plural(left+1, "more application"))))
	}
	return append(lines, rows...)
}

func (s *snapshot) heading(l *look, k inks) []string {
	c := &s.Cluster
	what := c.Scheduler
	if c.Profile != "" && c.Profile != c.Scheduler {
		what = "profile " + c.Profile
	}
	left := k.title.Render("heddle top") + "  " + s.URL + "  " + plain.Line(what)
	if c.Started > 0 {
		left += "  up " + lasting(s.At.UnixMilli()-c.Started)
	}
	clock := s.At.Format(time.TimeOnly)
	room := max(l.width-lipgloss.Width(left)-len(clock), len(gap))
	return []string{
		left + strings.Repeat(" ", room) + clock,
		"nodes         " + joined(k.good.Render(fmt.Sprintf("%d running", c.Active)),
			some(k.bad, c.Lost, "lost"), some(k.bad, c.Unhealthy, "unhealthy"), some(k.warn, c.Rebooted, "rebooted"),
			some(k.warn, c.Decommissioning, "leaving"), some(k.dim, c.Decommissioned, "decommissioned"), some(k.dim, c.Shutdown, "shut down")),
		"applications  " + joined(k.good.Render(fmt.Sprintf("%d running", c.Running)), some(k.warn, c.Inactive, "waiting"),
			some(k.dim, c.Completed, "completed"), some(k.bad, c.Failed, "failed"), some(k.dim, c.Killed, "killed")),
		"containers    " + joined(fmt.Sprintf("%d running", c.Containers), some(k.warn, c.Waiting, "waited for")),
		"memory        " + gauge(k, float64(c.Used.MemoryMiB), float64(c.Total.MemoryMiB)) + fmt.Sprintf("  %s of %s%s", mem(c.Used.MemoryMiB), mem(c.Total.MemoryMiB), reserved(c.Reserved.MemoryMiB > 0, mem(c.Reserved.MemoryMiB))),
		"vcores        " + gauge(k, c.Used.Vcores, c.Total.Vcores) + fmt.Sprintf("  %s of %s%s", vcores(c.Used.Vcores), vcores(c.Total.Vcores), reserved(c.Reserved.Vcores > 0, vcores(c.Reserved.Vcores))),
	}
}

func reserved(is bool, what string) string {
	if !is {
		return ""
	}
	return ", " + what + " reserved"
}

// some returns a count with its word, or "" if the count is 0.
func some(ink lipgloss.Style, n int, word string) string {
	if n == 0 {
		return ""
	}
	return ink.Render(fmt.Sprintf("%d %s", n, word))
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// gauge returns a bar that shows how much of something is in use.
func gauge(k inks, used, total float64) string {
	const cells = 24
	share := 0.0
	if total > 0 {
		share = used / total
	}
	full := min(cells, max(0, int(share*cells+0.5)))
	ink := k.good
	if share >= 0.9 {
		ink = k.warn
	}
	return "[" + ink.Render(strings.Repeat("█", full)) + k.dim.Render(strings.Repeat("░", cells-full)) + "]" + fmt.Sprintf("%4.0f %%", 100*share)
}

func (s *snapshot) queueLines(l *look, k inks) []string {
	rows := [][]string{{"queue", "capacity", "at most", "used", "memory", "vcores", "containers", "pending", "apps running", "apps waiting"}}
	for i := range s.Queues {
		r := &s.Queues[i]
		rows = append(rows, row(
			snip(plain.Line(indented(r)), min(mostName, max(l.width/3, 1))), capacity(r), share(r.Max), share(r.UsedOfOwn), mem(r.Used.MemoryMiB), vcores(r.Used.Vcores),
			strconv.Itoa(r.Containers), strconv.Itoa(r.Waiting), strconv.Itoa(r.Active), strconv.Itoa(r.Inactive),
		))
	}
	return columns(narrowed(rows, l.width, "vcores", "at most", "apps waiting", "apps running"), "capacity", k)
}

func (s *snapshot) appLines(l *look, k inks) []string {
	sortApps(s.Apps, l.order, l.reversed)
	rows := [][]string{{"application", "name", "type", "user", "queue", "state", "progress", "containers", "memory", "vcores", "asks for", "elapsed"}}
	for i := range s.Apps {
		r := &s.Apps[i]
		asks := ""
		if r.Pending.MemoryMiB > 0 {
			asks = mem(r.Pending.MemoryMiB)
		}
		held := holdingOf(r)
		rows = append(rows, row(
			r.ID.String(), snip(plain.Line(r.Name), mostName), snip(plain.Line(r.Type), mostWord), snip(plain.Line(r.User), mostWord),
			snip(plain.Line(r.Queue), mostName), string(r.State), progressOf(r),
			held.containers, held.memory, held.vcores, asks, lasting(r.Elapsed),
		))
	}
	return columns(narrowed(rows, l.width, "type", "vcores", "queue", "containers", "name", "user"), "progress", k)
}

// row returns a row of texts from a cluster, which are untrusted.
func row(cells ...string) []string {
	for i, c := range cells {
		cells[i] = plain.Line(c)
	}
	return cells
}

// narrowed removes columns, by their names in the first row and in the given order, until the rows fit the width or no
// more may be removed.
func narrowed(rows [][]string, width int, unimportant ...string) [][]string {
	for _, name := range unimportant {
		all := len(gap) * (len(rows[0]) - 1)
		for _, w := range widths(rows) {
			all += w
		}
		if all <= width {
			break
		}
		if at := slices.Index(rows[0], name); at >= 0 {
			for i := range rows {
				rows[i] = slices.Delete(rows[i], at, at+1)
			}
		}
	}
	return rows
}

// gap separates columns.
const gap = "  "

// widths returns the width of each column.
func widths(rows [][]string) []int {
	out := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			out[i] = max(out[i], lipgloss.Width(cell))
		}
	}
	return out
}

// columns lays out rows, the first of which is the head; the columns from first on are numbers.
func columns(rows [][]string, first string, k inks) []string {
	wide, texts := widths(rows), slices.Index(rows[0], first)
	out := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", wide[i]-lipgloss.Width(cell))
			switch {
			case i >= texts:
				cell = pad + cell
			case i < len(row)-1:
				cell += pad
			}
			if i > 0 {
				b.WriteString(gap)
			}
			b.WriteString(cell)
		}
		out[n] = strings.TrimRight(b.String(), " ")
	}
	out[0] = k.title.Render(out[0])
	return out
}

// keysLine explains the keys.
func keysLine(l *look) string {
	parts := []string{"q quit"}
	for _, o := range appOrders {
		word := o.name
		if o.name == l.order {
			word = strings.ToUpper(word)
		}
		parts = append(parts, o.key+" "+word)
	}
	return strings.Join(append(parts, "r reverse", "↑↓ scroll"), "  ")
}
