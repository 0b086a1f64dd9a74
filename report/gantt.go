package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle"
	"heddle/sim"
)

const (
	ganttNodes    = 16   // rows at most
	ganttRects    = 6000 // containers drawn at most, over all profiles
	ganttWidth    = 1180.0
	ganttLeft     = 134.0
	ganttRight    = 1168.0
	ganttThin     = 3.0  // width of the median task from which the whole run is shown
	ganttReadable = 12.0 // its width if only a window is shown
	ganttMerge    = 1.5  // narrower neighbours are drawn as one
	laneHeight    = 4.0
	rowGap        = 5.0
	jobColours    = 12 // reused from job to job if bars are coloured by job
)

// A view is what the Gantt charts of all profiles show: the same nodes in the same time window.
type view struct {
	runs     []*sim.Result // by profile; nil if tasks were not kept
	from, to heddle.Time
	whole    bool
	nodes    []heddle.NodeID
	lanes    int // the most containers at once on one of the nodes
}

// A bar is a drawn span in a node's lane: a container, or several that are too short to be distinguished.
type bar struct {
	from, to float64 // coordinates
	row      int     // of the chart
	lane     int
	kind     heddle.Kind
	bad      bool
	mixed    bool // of several jobs
	many     int  // containers
	task     int  // the first of them, as an index into Tasks
}

// gantt draws what ran on the nodes, one chart per profile, and says in words which nodes and when. There is no chart
// if no first run kept its tasks.
func (c *Comparison) gantt() (charts []panel, words string) {
	v, ok := c.view()
	if !ok {
		return nil, ""
	}
	bars := v.fit()
	for i, r := range v.runs {
		if r != nil {
			charts = append(charts, v.chart(r, bars[i], c.Profiles[i].Name, i))
		}
	}
	return charts, v.words()
}

// fit makes the bars of every chart. While there are too many, it shows fewer nodes, then less detail.
func (v *view) fit() [][]bar {
	charts := 0
	for _, r := range v.runs {
		charts += pick(r != nil, 1, 0)
	}
	bars := make([][]bar, len(v.runs))
	for thin := ganttMerge; ; {
		most := 0
		v.lanes = 1
		for i, r := range v.runs {
			if r != nil {
				bars[i] = v.bars(r, thin)
				most = max(most, len(bars[i]))
			}
		}
		switch {
		case most <= ganttRects/charts || thin > ganttWidth:
			return bars
		case len(v.nodes) > 1:
			v.nodes = v.nodes[:len(v.nodes)/2]
		default:
			thin *= 2
		}
	}
}

// view chooses the nodes and the time window. The window is the whole run if its tasks are wide enough to be seen, else
// the busiest stretch of the first profile in which they are. The nodes are the busiest ones.
func (c *Comparison) view() (*view, bool) {
	v := &view{runs: make([]*sim.Result, len(c.Profiles))}
	var first *sim.Result
	for i, p := range c.Profiles {
		if len(p.Runs) == 0 || len(p.Runs[0].Tasks) == 0 {
			continue
		}
		v.runs[i] = p.Runs[0]
		first = cmp.Or(first, p.Runs[0])
		for _, t := range p.Runs[0].Tasks {
			v.to = max(v.to, t.Ended)
		}
	}
	if first == nil {
		return nil, false
	}
	v.whole = true
	median := medianTask(first)
	if perUnit := v.to.Seconds() / (ganttRight - ganttLeft); median < ganttThin*perUnit {
		length := heddle.Seconds(niceStep(median / ganttReadable * (ganttRight - ganttLeft)))
		if length < heddle.Span(v.to) {
			v.from = busiest(first, length)
			v.to, v.whole = v.from.Plus(length), false
		}
	}
	v.chooseNodes(len(first.Nodes))
	return v, len(v.nodes) > 0
}

// medianTask returns the median time that a container other than a master was held, in seconds.
func medianTask(r *sim.Result) float64 {
	var spans []float64
	for _, t := range r.Tasks {
		if t.Kind != heddle.AM && t.Ended > t.Granted {
			spans = append(spans, t.Ended.Since(t.Granted).Seconds())
		}
	}
	slices.Sort(spans)
	if len(spans) == 0 {
		return 0
	}
	return Quantile(spans, 0.5)
}

// busiest returns the start of the stretch of the given length in which the most containers were granted.
func busiest(r *sim.Result, length heddle.Span) heddle.Time {
	granted := make([]heddle.Time, len(r.Tasks))
	for i := range r.Tasks {
		granted[i] = r.Tasks[i].Granted
	}
	slices.Sort(granted)
	best, from, lo := 0, heddle.Time(0), 0
	for hi := range granted {
		for granted[hi].Since(granted[lo]) > length {
			lo++
		}
		if hi-lo+1 > best {
			best, from = hi-lo+1, granted[lo]
		}
	}
	return from / heddle.Time(heddle.Second) * heddle.Time(heddle.Second)
}

// chooseNodes selects the nodes that held containers longest inside the window, over all profiles, longest first, since
// fit drops nodes from the end.
func (v *view) chooseNodes(nodes int) {
	held := make([]float64, nodes)
	for _, r := range v.runs {
		if r == nil {
			continue
		}
		for i := range r.Tasks {
			if t := &r.Tasks[i]; v.shows(t) && t.Node >= 0 && int(t.Node) < nodes {
				held[t.Node] += min(t.Ended, v.to).Since(max(t.Granted, v.from)).Seconds()
			}
		}
	}
	for n := range held {
		v.nodes = append(v.nodes, heddle.NodeID(n))
	}
	slices.SortStableFunc(v.nodes, func(a, b heddle.NodeID) int { return cmp.Compare(held[b], held[a]) })
	v.nodes = v.nodes[:min(len(v.nodes), ganttNodes)]
}

func (v *view) shows(t *sim.TaskResult) bool { return t.Granted < v.to && t.Ended > v.from }

// rows returns the nodes in drawing order, which is by id. row maps an id to its row, or to -1 if the node is not
// drawn.
func (v *view) rows(nodes int) (order []heddle.NodeID, row []int) {
	order = slices.Clone(v.nodes)
	slices.Sort(order)
	row = make([]int, nodes)
	for i := range row {
		row[i] = -1
	}
	for i, n := range order {
		row[n] = i
	}
	return order, row
}

// bars gives every container in the view a lane of its node, the first free one, and merges neighbours narrower than
// thin.
func (v *view) bars(r *sim.Result, thin float64) []bar {
	order, row := v.rows(len(r.Nodes))
	x := v.axis()
	var tasks []int
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if v.shows(t) && t.Node >= 0 && int(t.Node) < len(row) && row[t.Node] >= 0 {
			tasks = append(tasks, i)
		}
	}
	slices.SortFunc(tasks, func(a, b int) int {
		s, t := &r.Tasks[a], &r.Tasks[b]
		return cmp.Or(cmp.Compare(s.Granted, t.Granted), cmp.Compare(s.Container, t.Container))
	})
	free := make([][]heddle.Time, len(order))
	last := make([][]int, len(order)) // the latest bar of each lane
	var out []bar
	for _, i := range tasks {
		t := &r.Tasks[i]
		n := row[t.Node]
		lane := slices.IndexFunc(free[n], func(until heddle.Time) bool { return until <= t.Granted })
		if lane < 0 {
			lane = len(free[n])
			free[n], last[n] = append(free[n], 0), append(last[n], -1)
		}
		free[n][lane] = t.Ended
		v.lanes = max(v.lanes, lane+1)
		b := bar{
			from: x.at(max(t.Granted, v.from).Since(v.from).Seconds()), to: x.at(min(t.Ended, v.to).Since(v.from).Seconds()),
			row: n, lane: lane, kind: t.Kind, bad: bad(r, t), many: 1, task: i,
		}
		if k := last[n][lane]; k >= 0 && out[k].takes(b, thin) {
			out[k].to, out[k].many = b.to, out[k].many+1
			out[k].mixed = out[k].mixed || r.Tasks[out[k].task].Job != t.Job
			continue
		}
		last[n][lane] = len(out)
		out = append(out, b)
	}
	return out
}

// takes reports whether the next bar is drawn as part of b: the two are neighbours too narrow to be distinguished and,
// unless there is too little room for that, of the same kind.
func (b *bar) takes(next bar, thin float64) bool {
	if thin == ganttMerge && (b.kind != next.kind || b.bad != next.bad) {
		return false
	}
	return next.to-next.from < thin && (b.many > 1 || b.to-b.from < thin) && next.from-b.to < thin
}

// bad reports whether a container ended badly. Masters stop their containers when these have done their work; when an
// application is over, its remaining containers end with it; and a container that never ran was only given back. Those
// are good ends.
func bad(r *sim.Result, t *sim.TaskResult) bool {
	switch t.Status {
	case heddle.Success, heddle.KilledByMaster, heddle.KilledAfterCompletion:
		return false
	case heddle.Aborted:
		return t.Ran() && t.Ended < r.Jobs[t.Job].End
	default:
		return true
	}
}

// axis returns an axis that counts from the beginning of the window.
func (v *view) axis() axis {
	return timeAxis(0, v.to.Since(v.from).Seconds(), ganttLeft, ganttRight, false, 10, "")
}

func (v *view) chart(r *sim.Result, bars []bar, name string, profile int) panel {
	order, _ := v.rows(len(r.Nodes))
	height := math.Max(16, math.Min(48, laneHeight*float64(v.lanes)))
	lane := height / float64(v.lanes)
	bottom := 8 + float64(len(order))*(height+rowGap)
	d := draw("plot gantt", ganttWidth, bottom+28, fmt.Sprintf("What ran on %s under %s, seed %d. The table below has the figures.",
		some(len(order), "node", "nodes"), name, r.Seed))
	x := v.axis()
	for _, at := range x.ticks {
		d.line("grid", x.at(at), 4, x.at(at), bottom)
		d.text(pick(x.at(at) > ganttRight-24, "tick end", "tick mid"), x.at(at), bottom+19, tick(at))
	}
	top := func(row int) float64 { return 8 + float64(row)*(height+rowGap) }
	for i, n := range order {
		host, _, _ := strings.Cut(r.Nodes[n].Name, ".")
		d.rect(` class="node"`, ganttLeft, top(i), ganttRight-ganttLeft, height, "")
		d.text("tick end", ganttLeft-8, top(i)+height/2+4, short(host, 14))
	}
	for kind := range heddle.NumKinds {
		d.group(kindClass(heddle.Kind(kind)))
		for i := range bars {
			if b := &bars[i]; int(b.kind) == kind {
				b.draw(d, r, top(b.row)+float64(b.lane)*lane, lane)
			}
		}
		d.end()
	}
	return panel{Title: name, Profile: profile, Image: d.html(), Table: v.table(r, order)}
}

func (b *bar) draw(d *drawing, r *sim.Result, y, lane float64) {
	t := &r.Tasks[b.task]
	width := b.to - b.from
	if width > 2.5 {
		width -= 0.6 // so that neighbours can be distinguished
	}
	var extra, title string
	if b.many > 1 {
		title = count(float64(b.many)) + " short containers"
	} else {
		extra = fmt.Sprintf(` data-j="%d"`, t.Job)
		title = fmt.Sprintf("%s %s %d, %s–%s", r.Jobs[t.Job].ID, t.Kind, t.Index, clock(t.Granted), clock(t.Ended))
		if b.bad {
			title += fmt.Sprintf(", ended with %d", t.Status)
		}
	}
	classes := ""
	if !b.mixed {
		classes = fmt.Sprintf("j%d", t.Job%jobColours)
	}
	if b.bad {
		classes = strings.TrimSpace(classes + " bad")
	}
	if classes != "" {
		extra += ` class="` + classes + `"`
	}
	d.rect(extra, b.from, y, math.Max(width, 0.5), math.Max(lane-0.5, 0.8), title)
}

// table lists, for the nodes drawn, the number of containers of each kind and how long they were held.
func (v *view) table(r *sim.Result, order []heddle.NodeID) grille {
	t := grille{Head: []string{"node"}}
	for k := range heddle.NumKinds {
		t.Head = append(t.Head, heddle.Kind(k).String())
	}
	t.Head = append(t.Head, "held in all")
	for _, n := range order {
		var counts [heddle.NumKinds]int
		held := 0.0
		for i := range r.Tasks {
			if task := &r.Tasks[i]; task.Node == n && v.shows(task) {
				counts[task.Kind]++
				held += min(task.Ended, v.to).Since(max(task.Granted, v.from)).Seconds()
			}
		}
		row := []string{r.Nodes[n].Name}
		for _, k := range counts {
			row = append(row, count(float64(k)))
		}
		t.Rows = append(t.Rows, append(row, seconds(held)))
	}
	return t
}

func (v *view) words() string {
	var nodes int
	for _, r := range v.runs {
		if r != nil {
			nodes = len(r.Nodes)
		}
	}
	which := pick(len(v.nodes) == nodes, "All "+some(nodes, "node", "nodes"),
		fmt.Sprintf("The %sbusiest of %s nodes", pick(len(v.nodes) == 1, "", count(float64(len(v.nodes)))+" "), count(float64(nodes))))
	when := pick(v.whole, "the whole run",
		fmt.Sprintf("the busiest %s, from %s on, where the axis begins", tick(v.to.Since(v.from).Seconds()), clock(v.from)))
	return which + ", " + when + ". A bar is a container from its grant to its end."
}
