package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"heddle"
	"heddle/sim"
)

// A duel is one job under the first profile and under another: its mean completion times over the seeds.
type duel struct {
	job   string
	a, b  float64 // seconds
	alone float64 // … with the cluster to itself; 0 if that is not known
}

const (
	even       = 0.05 // relative difference up to which neither won
	mostDots   = 600  // if there are more jobs, they are counted in cells
	dotCell    = 7.0  // size of such a cell
	duelRows   = 15   // biggest gains, and losses, in the table
	mostDuels  = 7    // profiles compared with the first
	dotMostRad = 7.0
)

// duels pairs the jobs, by id, that succeeded in every run of both profiles. A workload drawn by seed has its jobs in a
// different order under each seed.
func duels(a, b []*sim.Result) []duel {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	x, y, alone := meanTimes(a, jctOf), meanTimes(b, jctOf), meanTimes(a, aloneOf)
	var out []duel
	for i := range a[0].Jobs {
		id := a[0].Jobs[i].ID
		if x[id] > 0 && y[id] > 0 {
			out = append(out, duel{id, x[id], y[id], alone[id]})
		}
	}
	return out
}

func jctOf(j *sim.JobResult) heddle.Span   { return j.JCT }
func aloneOf(j *sim.JobResult) heddle.Span { return j.Alone }

// meanTimes returns the mean of a time, in seconds, for every job that succeeded in every run and has the time there.
func meanTimes(runs []*sim.Result, of func(*sim.JobResult) heddle.Span) map[string]float64 {
	sum, times := map[string]float64{}, map[string]int{}
	for _, r := range runs {
		for i := range r.Jobs {
			if j := &r.Jobs[i]; j.State == sim.Succeeded && of(j) > 0 {
				sum[j.ID] += of(j).Seconds()
				times[j.ID]++
			}
		}
	}
	for id, n := range times {
		if n < len(runs) {
			delete(sum, id)
			continue
		}
		sum[id] /= float64(n)
	}
	return sum
}

// perJob draws every job's completion time under each further profile against its time under the first.
func (c *Comparison) perJob() []panel {
	var out []panel
	for k := 1; k < len(c.Profiles) && k <= mostDuels; k++ {
		if d := duels(c.Profiles[0].Runs, c.Profiles[k].Runs); len(d) > 0 {
			out = append(out, c.scatter(k, d))
		}
	}
	return out
}

func (c *Comparison) scatter(k int, duels []duel) panel {
	a, b := c.Profiles[0].Name, c.Profiles[k].Name
	lo, hi := math.Inf(1), 0.0
	faster, slower := 0, 0
	for _, d := range duels {
		lo, hi = math.Min(lo, math.Min(d.a, d.b)), math.Max(hi, math.Max(d.a, d.b))
		switch {
		case d.b < d.a*(1-even):
			faster++
		case d.b > d.a*(1+even):
			slower++
		}
	}
	lo, log := span(lo/1.15, hi*1.15)
	hi *= 1.15
	f := frame{78, 30, 588, 330}
	x := timeAxis(lo, hi, f.left, f.right, log, 6, "JCT under "+short(a, 30))
	y := timeAxis(lo, hi, f.bottom, f.top, log, 5, "JCT under "+short(b, 30))
	verdict := fmt.Sprintf("Of %s, %s faster under %s, %s slower, %s within %s.", some(len(duels), "job", "jobs"),
		pick(faster == 1, "1 is", count(float64(faster))+" are"), b, count(float64(slower)),
		count(float64(len(duels)-faster-slower)), wholePercent(even))
	d := draw("plot", 600, 380, "Completion time of each job under "+b+" against "+a+". "+verdict)
	d.grid(f, x, y)
	d.line("even", f.left, f.bottom, f.right, f.top)
	d.text("name", f.left+10, f.top+18, "slower under "+short(b, 24))
	d.text("name end", f.right-10, f.bottom-12, "faster under "+short(b, 24))
	d.group("dots " + profileClass(k))
	dots(d, duels, x, y)
	d.end()
	return panel{Title: b + " against " + a, Profile: k, Image: d.html(), Caption: verdict, Table: duelTable(duels, a, b)}
}

// dots draws a circle per job or, if there are many, a circle per cell whose area grows with the number of its jobs.
func dots(d *drawing, duels []duel, x, y axis) {
	if len(duels) <= mostDots {
		for _, j := range duels {
			d.circle(x.at(j.a), y.at(j.b), 4, fmt.Sprintf("%s: %s → %s", j.job, seconds(j.a), seconds(j.b)))
		}
		return
	}
	cells := make(map[[2]int]int)
	var order [][2]int
	most := 0
	for _, j := range duels {
		cell := [2]int{int(x.at(j.a) / dotCell), int(y.at(j.b) / dotCell)}
		if cells[cell] == 0 {
			order = append(order, cell)
		}
		cells[cell]++
		most = max(most, cells[cell])
	}
	for _, cell := range order {
		n := cells[cell]
		r := 1.6 + (dotMostRad-1.6)*math.Sqrt(float64(n-1)/float64(max(1, most-1)))
		d.circle((float64(cell[0])+0.5)*dotCell, (float64(cell[1])+0.5)*dotCell, r, some(n, "job", "jobs"))
	}
}

// duelTable lists the jobs that gained and lost the most time: with the ratio of the two times or, if it is known how
// long a job takes alone, with its slowdowns, which have the same ratio.
func duelTable(duels []duel, a, b string) grille {
	t := grille{Head: []string{"job", a, b, "difference"}}
	withAlone := slices.ContainsFunc(duels, func(d duel) bool { return d.alone > 0 })
	if withAlone {
		t.Head = append(t.Head, "alone", "slowdown")
	} else {
		t.Head = append(t.Head, "ratio")
	}
	sorted := slices.Clone(duels)
	slices.SortStableFunc(sorted, func(p, q duel) int { return cmp.Compare(p.b-p.a, q.b-q.a) })
	for i, d := range sorted {
		if i >= duelRows && i < len(sorted)-duelRows {
			continue
		}
		diff := seconds(math.Abs(d.b - d.a))
		switch {
		case d.b < d.a:
			diff = "−" + diff
		case d.b > d.a:
			diff = "+" + diff
		}
		cells := []string{d.job, seconds(d.a), seconds(d.b), diff}
		switch {
		case d.alone > 0:
			cells = append(cells, seconds(d.alone), ratio(d.a/d.alone)+" → "+ratio(d.b/d.alone))
		case withAlone:
			cells = append(cells, none, none)
		default:
			cells = append(cells, ratio(d.b/d.a))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
