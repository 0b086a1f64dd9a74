package report

import (
	"bytes"
	"encoding/xml"
	"regexp"
	"strings"
	"testing"

	"heddle"
	"heddle/sim"
	"heddle/workload"
)

func write(t *testing.T, c *Comparison) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Elements that HTML does not close.
var void = map[string]bool{"meta": true, "link": true, "input": true}

// checkWellFormed fails if an element is not closed, or is closed in the wrong place.
func checkWellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`).ReplaceAllString(page, "")))
	d.Strict, d.Entity = false, xml.HTMLEntity
	var open []string
	for {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		switch e := token.(type) {
		case xml.StartElement:
			if !void[e.Name.Local] {
				open = append(open, e.Name.Local)
			}
		case xml.EndElement:
			if void[e.Name.Local] {
				continue // the decoder adds it to <x/>
			}
			if len(open) == 0 || open[len(open)-1] != e.Name.Local {
				t.Fatalf("</%s> closes %v", e.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("never closed: %v", open)
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("the page shows a figure that does not apply as a number")
	}
}

func TestPage(t *testing.T) {
	incomplete := usual()
	incomplete.incomplete = true
	noTasks := usual()
	noTasks.tasks = false
	one := usual()
	one.profiles, one.seeds = one.profiles[:1], 1
	for _, f := range []struct {
		name string
		fixture
		want, not []string
	}{
		{"usual", usual(), []string{"capacity has the lowest mean completion time", "fifo against capacity", "12x", "maps = ⌈input / 128 MiB⌉", "lowest under 5 of 5 seeds", "fifo against the better of capacity and fair", "<dt>worse</dt><dd>starvation p99 1 m 53 s against"}, []string{"failed or rejected", "Estimates", "What tasks got"}},
		{"incomplete", incomplete, []string{"failed or rejected", "18 of 60 jobs did not succeed", "Not all profiles completed as many jobs: capacity 60, fair 60, fifo 42.", "5.4\u00a0% below fair."}, nil},
		{"watched", watched(), []string{">δ</h3>", "<figcaption>δ: the share that is reserved for jobs that ask for little. Between ", "Remaining time of reduces", "What tasks got", "CPU given", " vcores</td>"}, nil},
		{"no tasks", noTasks, []string{"was not kept"}, []string{`class="plot gantt"`}},
		{"one", one, []string{"Jobs took"}, []string{`id="show0"`, "against"}},
	} {
		t.Run(f.name, func(t *testing.T) {
			page := write(t, f.build())
			checkWellFormed(t, page)
			for _, s := range f.want {
				if !strings.Contains(page, s) {
					t.Errorf("the page lacks %q", s)
				}
			}
			for _, s := range f.not {
				if strings.Contains(page, s) {
					t.Errorf("the page has %q", s)
				}
			}
			if again := write(t, f.build()); again != page {
				t.Error("the same results gave another page")
			}
		})
	}
}

// Nothing in the page refers to anything outside it.
func TestPageIsSelfContained(t *testing.T) {
	page := write(t, usual().build())
	for _, pattern := range []string{`https?://`, `src=`, `@import`, `url\(`, `href="[^d]`} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page contains %q", found)
		}
	}
}

func TestPageEscapes(t *testing.T) {
	const evil = `</title><script>alert("x")</script>'&`
	c := usual().build()
	c.Workload = &workload.Workload{Name: evil, Filled: []workload.Fill{{Field: evil, Rule: evil}}, Skipped: []workload.Defect{{File: evil, Reason: evil}}}
	c.Cluster, c.World, c.Notes = evil, evil, []string{evil}
	for i := range c.Profiles {
		c.Profiles[i].Name = evil
		for _, r := range c.Profiles[i].Runs {
			r.BoundName = evil
			for k := range r.Jobs {
				r.Jobs[k].ID = evil
			}
			for k := range r.Nodes {
				r.Nodes[k].Name = "<b>"
			}
		}
	}
	page := write(t, c)
	checkWellFormed(t, page)
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<b>") && strings.Contains(page, "<b></text>") {
		t.Error("a name became markup")
	}
}

// A page of nothing, or with parts missing, is still a page.
func TestPageOfLittle(t *testing.T) {
	name := &workload.Workload{Name: "little"}
	for _, c := range []*Comparison{
		{Workload: name},
		{Workload: name, Profiles: []ProfileRuns{{Name: "fair"}}},
		{Workload: name, Profiles: []ProfileRuns{{Name: "fair", Runs: []*sim.Result{{}}}, {Name: "fifo"}}},
		{Workload: name, Profiles: []ProfileRuns{{Name: "fair", Runs: []*sim.Result{{
			Jobs:   []sim.JobResult{{ID: "a", State: sim.Succeeded}},
			Tasks:  []sim.TaskResult{{Node: heddle.NoNode}, {Node: 7}, {Granted: 5}},
			Nodes:  []sim.NodeInfo{{Name: "n"}},
			Series: sim.Series{Step: heddle.Second, CPUUsed: []float32{0}},
		}}}}},
	} {
		checkWellFormed(t, write(t, c))
		var b bytes.Buffer
		for _, err := range []error{Table(&b, c, TableOptions{}), JSON(&b, c), CSV(&b, c), JobsCSV(&b, c)} {
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// A page for a day with thousands of jobs is small enough for a browser to open at once.
func TestPageSize(t *testing.T) {
	f := usual()
	f.jobs, f.nodes, f.day, f.step = 5894, 600, true, 10*heddle.Second
	if testing.Short() {
		f.seeds = 1
	}
	page := write(t, f.build())
	if n := len(page); n > 2<<20 {
		t.Errorf("the page has %d bytes", n)
	}
	if n := strings.Count(page, "<circle"); n > 3000 {
		t.Errorf("the page has %d dots", n)
	}
}
