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
each scheduler. The simulator was given the job histories of one of those runs, and predicts all of them. When jobs were
submitted and on which nodes their input lay are each run's own: clients start on the same cores, and the file system
places files anew in each testbed.

What the simulator is told beside the histories are the costs of starting and ending processes
(test/hadoop/truth/bed.go), measured by jobs that ran alone (go run ./test/hadoop/truth -calibrate). They are of that
machine. No constant is fitted on the mixes. What was added after comparisons with them has its figures from elsewhere:

- A NodeManager tells the ResourceManager at once that a container has ended (ContainerImpl's ContainerDoneTransition
  sends a heartbeat out of turn).
- What a task computes is its counter, CPU_MILLISECONDS, and the start of its process. Tasks of a kind that could have
  computed twice as much in their time are taken to wait besides (Parts in sim/parts.go). The twice was chosen with the
  mixes' histories at hand: maps of the large word counts come to 0.8 to 1.6, of the large sleeping jobs to 6 and more.
- The first process of a node, the first application of a ResourceManager's JVM and the end of a task's process cost
  processor time of their own, and a process begins 0.17 s after its master has its container.

For heddle rm nodes report every 100 ms in the simulation. The daemon answers asks in the same call instead: there a
master has its first containers a second later in the simulation than in reality.

Waiting is from submission to the first task's start, and to the first executor's registration for Spark. Seconds.
Many simulations were made of each run, which differ in the phases of nodes' heartbeats and, by up to 5 %, in what
processes compute; the prediction is the median, and the range is where 90 % of them lie. The error is the difference as
a part of what was measured. Where two masters ask at almost the same time, it is chance who comes first, and a job
waits for a whole wave of the other's tasks or not: there the range is wide, and the median can be far from a single
measurement. How much real runs of one mix under one scheduler differ was not measured. A pair of schedulers counts
where the measured figures are more than 5 % apart.

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
	head("mix", "wait: median error", "95th percentile", "in the range", "completion: median error", "95th percentile", "in the range", "mean completion in order", "small jobs' wait", "makespan")
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
		head("", "job", "wait", "predicted", "range", "", "completion", "predicted", "range", "")
		for _, o := range v.Outcomes {
			arm := o.Arm
			for _, j := range o.Jobs {
				row(arm, j.Name, seconds(j.Got.Wait), seconds(j.Said.Wait), between(j.Said.Least.Wait, j.Said.Most.Wait), signed(j.Said.Wait, j.Got.Wait),
					seconds(j.Got.Completion), seconds(j.Said.Completion), between(j.Said.Least.Completion, j.Said.Most.Completion),
					signed(j.Said.Completion, j.Got.Completion))
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
	w, c, of := covered(list)
	for _, e := range []struct {
		errs   []float64
		inside int
	}{{waits, w}, {completions, c}} {
		cells = append(cells, fmt.Sprintf("%.0f %%", 100*quantile(e.errs, 0.5)), fmt.Sprintf("%.0f %%", 100*quantile(e.errs, 0.95)),
			fmt.Sprintf("%d of %d", e.inside, of))
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

func between(least, most float64) string { return seconds(least) + " – " + seconds(most) }

func seconds(s float64) string { return fmt.Sprintf("%.1f", s) }
