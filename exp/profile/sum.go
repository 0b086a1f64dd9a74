package profile

import (
	"fmt"

	"heddle/exp"
)

// A Tally counts how many rows reach each part of the goal.
type Tally struct {
	Rows, NoneWorse, Mean, Small int
	Worse, Sure                  int // columns that are worse, and those of them that are worse beyond chance
}

// Sum returns the tally of rows.
func Sum(rows []Row) (t Tally) {
	for i := range rows {
		r := &rows[i]
		t.Rows++
		for of, n := range map[*int]bool{&t.NoneWorse: r.NoneWorse(), &t.Mean: r.MeanReached(), &t.Small: r.SmallReached()} {
			if n {
				*of++
			}
		}
		for k := range r.Cells {
			if r.Cells[k].Worse {
				t.Worse++
			}
			if r.Cells[k].Sure() {
				t.Sure++
			}
		}
	}
	return t
}

// String returns the tally as a sentence.
func (t Tally) String() string {
	return fmt.Sprintf("Of %d rows %d have no column above %g and lose no job, %d a mean completion time of at most %g of fair's, and %d a p95 of small jobs of at most %g "+
		"of the better one's. Of %d columns above %g %d are so beyond chance.", t.Rows, t.NoneWorse, MostWorse, t.Mean, MostMean, t.Small, MostSmall, t.Worse, MostWorse, t.Sure)
}

// Legend explains tables of ratios.
var Legend = fmt.Sprintf("Each column is heddle's figure over the better one of fair and capacity, by the median over seeds. ! and ? mark what is beyond the goal, "+
	"where more than a second lies between them: ! where the interval of 95 %% of the median is beyond it too, ? where seeds are too few to tell. Columns cover the jobs that succeed under all three, and the makespan does if "+
	"they do not lose the same ones; a row in which heddle loses jobs says so, and reaches nothing. Small jobs have up to %d tasks; starvation is the mean wait of reduces whose maps have ended.", smallJobTasks)

// OrderingLegend explains [Row.Ordering], [Row.Alone] and [Row.SmallAlone] in a table.
const OrderingLegend = "Ordering is the lowest mean that one of the three has with an order that knows what each job still needs: an estimate of what " +
	"ordering could reach. Alone is the mean where each job has the cluster to itself under fifo, and the p95 of small jobs then: hardly any " +
	"scheduler gets below either."

// A Line is a row as scripts read it.
type Line struct {
	Case       string          `json:"case"`
	From       string          `json:"from"`
	HeldOut    bool            `json:"held_out"`
	Agent      bool            `json:"agent"`
	Jobs       int             `json:"jobs"`
	Failed     int             `json:"failed"`
	NoneWorse  bool            `json:"none_worse"`
	MeanRatio  exp.Number      `json:"mean_over_fair"`
	Interval   [2]exp.Number   `json:"interval"` // of that median, 95 %
	Ordering   exp.Number      `json:"ordering_over_fair"`
	Alone      exp.Number      `json:"alone_over_fair"`
	SmallAlone exp.Number      `json:"small_alone_over_better"`
	Columns    map[string]Part `json:"columns"`
}

// A Part is a column of a [Line].
type Part struct {
	Fair     exp.Number    `json:"fair_seconds"`
	Capacity exp.Number    `json:"capacity_seconds"`
	Ours     exp.Number    `json:"heddle_seconds"`
	Ratio    exp.Number    `json:"ratio"`
	Interval [2]exp.Number `json:"interval"` // of that median, 95 %
	Worse    bool          `json:"worse"`
	Sure     bool          `json:"sure"`
}

// Lines returns rows as lines for scripts.
func Lines(rows []Row) []Line {
	out := []Line{}
	for i := range rows {
		r := &rows[i]
		l := Line{
			Case: r.Case.Name, From: r.Case.From, HeldOut: r.Case.HeldOut, Agent: r.Agent, Jobs: r.Jobs, Failed: r.Failed,
			NoneWorse: r.NoneWorse(), MeanRatio: exp.Number(r.MeanRatio.Median), Interval: r.MeanRatio.Interval(),
			Ordering: exp.Number(r.Ordering), Alone: exp.Number(r.Alone),
			SmallAlone: exp.Number(r.SmallAlone), Columns: map[string]Part{},
		}
		for k, c := range r.Cells {
			l.Columns[Columns[k].Name] = Part{exp.Number(c.Fair), exp.Number(c.Capacity), exp.Number(c.Ours), exp.Number(c.Ratio.Median), c.Ratio.Interval(), c.Worse, c.Sure()}
		}
		out = append(out, l)
	}
	return out
}
