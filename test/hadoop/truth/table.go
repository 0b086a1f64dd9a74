package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// writeTable writes everything for a terminal.
func writeTable(out io.Writer, all []verdict) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, v := range all {
		fmt.Fprintf(w, "\n%s, from the histories under %s\n", v.Mix, v.Base)
		fmt.Fprintln(w, "\tjob\twait\tpredicted\t\tcompletion\tpredicted\t\t")
		for _, o := range v.Outcomes {
			arm := o.Arm
			for _, j := range o.Jobs {
				fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f\t%s\t%.1f\t%.1f\t%s\t\n", arm, j.Name, j.Got.Wait, j.Said.Wait, signed(j.Said.Wait, j.Got.Wait),
					j.Got.Completion, j.Said.Completion, signed(j.Said.Completion, j.Got.Completion))
				arm = ""
			}
			waits, completions := errs([]outcome{o})
			fmt.Fprintf(w, "\tmedian, 95th\t\t\t%s\t\t\t%s\t\n", spread(waits), spread(completions))
		}
		waits, completions := errs(v.Outcomes)
		fmt.Fprintf(w, "all\tmedian, 95th\t\t\t%s\t\t\t%s\t\n", spread(waits), spread(completions))
		for _, c := range criteria {
			var cells []string
			for i := range v.Outcomes {
				o := &v.Outcomes[i]
				cells = append(cells, fmt.Sprintf("%s %.1f (%.1f)", o.Arm, c.of(&o.Got), c.of(&o.Said)))
			}
			right, pairs := ordered(v.Outcomes, c.of)
			fmt.Fprintf(w, "%s, measured (predicted): %s: %d of %d pairs in order\n", c.name, strings.Join(cells, ", "), right, pairs)
		}
	}
	return w.Flush()
}

func signed(said, got float64) string { return fmt.Sprintf("%+.0f %%", 100*(said/got-1)) }

func spread(errs []float64) string {
	return fmt.Sprintf("%.0f %%, %.0f %%", 100*quantile(errs, 0.5), 100*quantile(errs, 0.95))
}

// write writes the files that the command line asks for.
func (s *settings) write(all []verdict) error {
	if s.json != "" {
		text, err := json.MarshalIndent(all, "", "  ")
		if err == nil {
			err = os.WriteFile(s.json, append(text, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	if s.page != "" {
		return os.WriteFile(s.page, page(all), 0o644)
	}
	return nil
}

const about = `<!-- Made by make truth. Changes are lost. -->

# Truth: predicted against measured

Mixes of jobs ran on real Hadoop 3.4.2 and Spark 3.5.9: three NodeManagers of 2048 MiB, HDFS, the clients and the
ResourceManager on one machine with 2 cores. They ran under the stock ResourceManager and under heddle rm, once under
each scheduler. The simulator was given the job histories of one of those runs, and predicts all of them. Submission
times are each run's own: clients start on the same cores.

What the simulator is told beside the histories are the costs of starting and ending processes
(test/hadoop/truth/bed.go), measured by jobs that ran alone. They are of that machine. No constant is fitted on the
mixes. One rule was made after the first comparison with them: a task that works on data computes as long as it lasts
(worksOnData in sim/parts.go). For heddle rm nodes report every 100 ms in the simulation, where the daemon answers asks
at once.

Waiting is from submission to the first task's start, and to the first executor's registration for Spark. Seconds;
predictions are medians of several seeds. The error is the difference as a part of what was measured. Runs of one mix
under one scheduler differ by themselves; how much was not measured here. A pair of schedulers counts where the
measured figures are more than 5 % apart.

`

// page is everything as Markdown.
func page(all []verdict) []byte {
	var b strings.Builder
	b.WriteString(about)
	row := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	head := func(cells ...string) {
		row(cells...)
		fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(cells)))
	}
	var list []outcome
	head("mix", "wait: median error", "95th percentile", "completion: median error", "95th percentile", "mean completion in order", "small jobs' wait", "makespan")
	for _, v := range all {
		row(append([]string{v.Mix}, summary(v.Outcomes, true)...)...)
		list = append(list, v.Outcomes...)
	}
	row(append([]string{"all"}, summary(list, false)...)...)
	for _, v := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s Predicted from the histories under %s.\n\n", v.Mix, v.About, v.Base)
		if len(v.Missing) > 0 {
			fmt.Fprintf(&b, "Not measured: %s.\n\n", strings.Join(v.Missing, ", "))
		}
		head("", "job", "wait", "predicted", "", "completion", "predicted", "")
		for _, o := range v.Outcomes {
			arm := o.Arm
			for _, j := range o.Jobs {
				row(arm, j.Name, seconds(j.Got.Wait), seconds(j.Said.Wait), signed(j.Said.Wait, j.Got.Wait),
					seconds(j.Got.Completion), seconds(j.Said.Completion), signed(j.Said.Completion, j.Got.Completion))
				arm = ""
			}
		}
		b.WriteByte('\n')
		head("", "mean completion", "predicted", "small jobs' wait", "predicted", "makespan", "predicted")
		for i := range v.Outcomes {
			o := &v.Outcomes[i]
			cells := []string{o.Arm}
			for _, c := range criteria {
				cells = append(cells, seconds(c.of(&o.Got)), seconds(c.of(&o.Said)))
			}
			row(cells...)
		}
	}
	return []byte(b.String())
}

// summary is how far off the predictions of some runs are, and which pairs of them are in order.
func summary(list []outcome, pairs bool) []string {
	var cells []string
	waits, completions := errs(list)
	for _, e := range [][]float64{waits, completions} {
		cells = append(cells, fmt.Sprintf("%.0f %%", 100*quantile(e, 0.5)), fmt.Sprintf("%.0f %%", 100*quantile(e, 0.95)))
	}
	for _, c := range criteria {
		cell := ""
		if pairs {
			right, of := ordered(list, c.of)
			cell = fmt.Sprintf("%d of %d pairs", right, of)
		}
		cells = append(cells, cell)
	}
	return cells
}

func seconds(s float64) string { return fmt.Sprintf("%.1f", s) }
