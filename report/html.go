package report

import (
	"bufio"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// colours is how many profiles have a colour of their own.
const colours = 8

func profileClass(i int) string { return fmt.Sprintf("p%d c%d", i, i%colours) }

func kindClass(k heddle.Kind) string { return "k" + strconv.Itoa(int(k)) }

// A page is what the template shows.
type page struct {
	CSS      template.CSS
	JS       template.JS
	Title    string
	Subtitle string
	Profiles []profileLabel
	Single   bool // one profile
	Many     bool // so many that cells must be narrow
	Lead     []string
	Groups   [][]headline // rows of the result table
	Legend   []string
	Against  string      // the last profile compared with the others
	Rule     string      // which rows that leaves out
	Changes  []pageTopic // what is worse under it, and what is better
	Jobs     []panel     // distributions, then job against job
	OverTime [][]panel   // by profile, like the next two
	Foretold [][]panel
	Given    [][]panel // what tasks were given
	Seed     uint64    // of the plots that show one run
	Kinds    []kindLabel
	ByJob    []int // the colours of jobs
	Gantt    []panel
	GanttIs  string
	Topics   []pageTopic
}

type profileLabel struct {
	Name          string
	Class         string
	Index, Colour int
}

type kindLabel struct{ Name, Class string }

type headline struct {
	Label string
	Cells []headCell
}

type headCell struct {
	Class, Value, Spread string
	Best                 bool
	Strip                template.HTML
}

type pageTopic struct {
	Label string
	Lines []string
}

// mostDefects is how many of the lines that could not be read the page lists.
const mostDefects = 40

// HTML writes one self-contained page: the result table, distributions, job against job, time lines with what policies
// show, estimates against actual values, what tasks got, what ran on the nodes, and what was run. It needs no network,
// and no scripts to be readable. Plots of single runs show the first run of each profile. The nodes are shown if its
// tasks were kept, estimates and what tasks got if it was traced. It returns w's error.
func HTML(w io.Writer, c *Comparison) error {
	out := bufio.NewWriter(w)
	if err := pageTemplate.Execute(out, c.page()); err != nil {
		return err
	}
	return out.Flush()
}

func (c *Comparison) page() *page {
	sums := c.Summaries()
	p := &page{
		CSS: template.CSS(plotCSS + pageCSS), JS: template.JS(pageJS), Title: c.Workload.Name, Single: len(c.Profiles) == 1, Many: len(c.Profiles) > 3,
		Lead: lead(sums, len(c.Seeds())), Legend: c.legendLines(sums), Jobs: append(c.cdfs(), c.perJob()...), OverTime: c.overTime(),
		Foretold: c.estimates(), Given: c.allocations(),
		Groups: headlines(sums), Topics: c.pageTopics(),
	}
	if v, ok := against(sums); ok {
		p.Against, p.Rule = v.title, v.rule()
		for _, t := range v.topics(math.MaxInt) {
			p.Changes = append(p.Changes, pageTopic{t.label, t.lines})
		}
	}
	if s := c.orderingLine(); s != "" {
		p.Lead = append(p.Lead, glue.Replace(strings.ToUpper(s[:1])+s[1:]+"."))
	}
	if seeds := c.Seeds(); len(seeds) > 0 {
		p.Seed = seeds[0]
	}
	p.Subtitle = strings.Join(c.manners(), "; ") + " · " + some(len(c.Profiles), "profile", "profiles") + " · " + some(len(c.Seeds()), "seed", "seeds") + " · " + c.World + " world" + pick(c.WorldWhy == "", "", ", because "+c.WorldWhy)
	for i, r := range c.Profiles {
		p.Profiles = append(p.Profiles, profileLabel{r.Name, profileClass(i), i, i % colours})
	}
	for k := range heddle.NumKinds {
		p.Kinds = append(p.Kinds, kindLabel{[...]string{"masters", "maps", "reduces", "executors", "others"}[k], kindClass(heddle.Kind(k))})
	}
	p.Gantt, p.GanttIs = c.gantt()
	for i := range jobColours {
		p.ByJob = append(p.ByJob, i)
	}
	return p
}

// lead says in sentences what the figures amount to.
func lead(sums []Summary, seeds int) []string {
	var out []string
	var s *Summary
	if len(sums) == 1 {
		if s = &sums[0]; !math.IsNaN(s.Mean[JCTMean]) {
			out = append(out, fmt.Sprintf("Jobs took %s on average; 95 %% were done within %s.", seconds(s.Mean[JCTMean]), seconds(s.Mean[JCTP95])))
		}
	} else {
		out = uneven(sums)
		jct := row{metric: JCTMean, format: seconds, better: -1}
		if best := slices.Index(jct.best(sums), true); best >= 0 {
			s = &sums[best]
			out = append(out, lowest(sums, best, seeds))
		}
	}
	if s != nil && !math.IsNaN(s.Mean[JCTOverBound]) {
		out = append(out, fmt.Sprintf("No schedule could have been better by more than a factor of %.2f.", s.Mean[JCTOverBound]))
	}
	for i := range out {
		out[i] = glue.Replace(out[i])
	}
	return out
}

// uneven warns if profiles completed different numbers of jobs.
func uneven(sums []Summary) []string {
	if !slices.Contains(comparable(sums), false) {
		return nil
	}
	var each []string
	for i := range sums {
		each = append(each, sums[i].Profile+" "+count(sums[i].Mean[Completed]))
	}
	return []string{"Not all profiles completed as many jobs: " + strings.Join(each, ", ") +
		". Times are compared only between those that completed the most."}
}

// lowest says how far the best profile is below its rivals.
func lowest(sums []Summary, best, seeds int) string {
	s := &sums[best]
	text := s.Profile + " has the lowest mean completion time, " + seconds(s.Mean[JCTMean])
	before := ": "
	for i, yes := range comparable(sums) {
		if i != best && yes {
			text += before + percent(1-s.Mean[JCTMean]/sums[i].Mean[JCTMean]) + " below " + sums[i].Profile
			before = ", "
		}
	}
	text += "."
	if seeds > 1 {
		text += fmt.Sprintf(" It was lowest under %d of %d seeds.", s.Won, seeds)
	}
	return text
}

// glue keeps figures and their units on the same line.
var glue = strings.NewReplacer(" %", "\u00a0%", " m ", "\u00a0m\u00a0", " h ", "\u00a0h\u00a0")

func (c *Comparison) legendLines(sums []Summary) []string {
	lines := []string{
		"Completion time (JCT) is submission to the master's end, waiting time submission to the first container that is not the master, " +
			"starvation the mean wait of reduces started after the job's last map. They are those of jobs that succeeded.",
		"Slowdown, where it is shown, is a job's completion time ÷ that with the cluster to itself. " +
			"Percentiles are linear between the two nearest ranks. CPU used and memory held are shares of the cluster's until the makespan.",
	}
	if n := len(c.Seeds()); n > 1 {
		lines = append(lines, fmt.Sprintf("Every figure is the mean over %d seeds, followed by the lowest and the highest.", n))
	}
	if s := wonLine(sums, len(c.Seeds())); s != "" {
		lines = append(lines, strings.ToUpper(s[:1])+s[1:]+".")
	}
	return lines
}

func (c *Comparison) pageTopics() []pageTopic {
	var out []pageTopic
	for _, t := range c.topics(mostDefects) {
		out = append(out, pageTopic{t.label, t.lines})
	}
	return out
}

// headlines returns the rows of the result table by group.
func headlines(sums []Summary) [][]headline {
	var groups [][]headline
	for _, r := range shown(sums) {
		if r.first {
			groups = append(groups, nil)
		}
		best := r.best(sums)
		h := headline{Label: r.label}
		for i := range sums {
			h.Cells = append(h.Cells, headCell{
				profileClass(i), r.format(sums[i].Mean[r.metric]),
				strings.ReplaceAll(r.spread(&sums[i]), " ", "\u00a0"), // it may only be broken in the middle
				best[i], strip(sums, i, r.metric),
			})
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], h)
	}
	return groups
}

const stripWidth, stripHeight = 72.0, 12.0

// strip draws where a profile's mean and range are among those of all profiles.
func strip(sums []Summary, i int, m Metric) template.HTML {
	lo, hi := math.Inf(1), math.Inf(-1)
	for k := range sums {
		if !math.IsNaN(sums[k].Mean[m]) {
			lo, hi = math.Min(lo, sums[k].Low[m]), math.Max(hi, sums[k].High[m])
		}
	}
	if m <= Unfinished || hi-lo <= 1e-9*math.Abs(hi) || math.IsNaN(sums[i].Mean[m]) || hi < lo {
		return ""
	}
	x := scale{lo, hi, 5, stripWidth - 5, false}
	d := &drawing{}
	d.b.WriteString(`<svg class="strip" viewBox="0 0 72 12" aria-hidden="true">`)
	d.line("rail", 0, stripHeight/2, stripWidth, stripHeight/2)
	if sums[i].Runs > 1 {
		d.line("range", x.at(sums[i].Low[m]), stripHeight/2, x.at(sums[i].High[m]), stripHeight/2)
	}
	d.circle(x.at(sums[i].Mean[m]), stripHeight/2, 3.5, "")
	return d.html()
}
