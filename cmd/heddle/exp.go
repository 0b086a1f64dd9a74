package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/exp"
	"heddle/exp/catalogue"
	"heddle/exp/profile"
)

func newExp(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "exp",
		Short: "Run the papers' experiments, and compare with what was published",
	}, newExpList(a), newExpRun(a), newExpReport(a), newExpShow(a), newExpTrain(a))
}

// completeExperiments completes names of experiments and of systems.
func completeExperiments(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := slices.Concat([]string{"all", profileName}, catalogue.Names(), titled())
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeExperiment completes the name of one experiment.
func completeExperiment(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return titled(), cobra.ShellCompDirectiveNoFileComp
}

// titled returns the names of the experiments, each followed by a tab and its title.
func titled() (names []string) {
	for _, e := range catalogue.All() {
		names = append(names, e.Name+"\t"+e.Title)
	}
	return names
}

func newExpList(a *app) *cobra.Command {
	output := choice{value: "table", of: []string{"table", "json"}}
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List the experiments",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			all := catalogue.All()
			if output.value == "json" {
				type line struct {
					System     string `json:"system"`
					Experiment string `json:"experiment"`
					Title      string `json:"title"`
					Source     string `json:"source"`
				}
				lines := []line{}
				for _, e := range all {
					lines = append(lines, line{e.System, e.Name, e.Title, e.Source})
				}
				return wrote(printJSON(a.out, lines))
			}
			t := a.grid()
			t.AppendHeader(table.Row{"system", "experiment", "of the paper", "what"})
			t.SetColumnConfigs([]table.ColumnConfig{
				{Number: 3, WidthMax: 24, WidthMaxEnforcer: text.WrapSoft}, {Number: 4, WidthMax: 56, WidthMaxEnforcer: text.WrapSoft},
			})
			for i, e := range all {
				if i > 0 && e.System != all[i-1].System {
					t.AppendSeparator()
				}
				t.AppendRow(table.Row{e.System, e.Name, e.Source, e.Title})
			}
			_, err := fmt.Fprintln(a.out, t.Render())
			return wrote(err)
		},
	}
	choose(cmd, &output, "output", "o", "output format")
	return cmd
}

// expFlags are the flags of exp run.
type expFlags struct {
	seeds  expSeeds
	output choice
	set    []string // for exp run profile only, as are the next two
	cases  string
	knows  bool
}

// expSeeds are the flags that choose the seeds of experiments.
type expSeeds struct {
	least, most count
	first       uint64
}

func newExpSeeds() expSeeds {
	return expSeeds{least: count{n: 6, most: maxSeeds}, most: count{n: 30, most: maxSeeds}}
}

func (f *expSeeds) add(fl *pflag.FlagSet) {
	fl.Var(&f.least, "seeds", "runs of each arm, each with its own seed; fewer than 6 decide nothing")
	fl.Var(&f.most, "most-seeds", "add seeds, up to this number, while a figure is undecided (with --seeds alone, none are added)")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first seed, `K`; the others follow")
}

// options returns the options of a run with the seeds that the flags choose.
func (f *expSeeds) options(fl *pflag.FlagSet) (exp.Options, error) {
	o := exp.Options{Seeds: exp.Seeds(f.first, f.least.n), MostSeeds: f.most.n, Null: true}
	if fl.Changed("seeds") && !fl.Changed("most-seeds") {
		o.MostSeeds = f.least.n
	}
	if o.MostSeeds < f.least.n {
		return o, usagef("--most-seeds %d: want at least as many as --seeds, %d", o.MostSeeds, f.least.n)
	}
	return o, checkSeeds(f.first, o.MostSeeds)
}

func newExpRun(a *app) *cobra.Command {
	f := &expFlags{seeds: newExpSeeds(), output: choice{value: "table", of: []string{"table", "json"}}}
	cmd := &cobra.Command{
		Use:   "run [flags] NAME...",
		Short: "Run experiments and print each figure beside the published one",
		Long: `Run experiments and print each figure beside the published one: the median over seeds, the lowest and
the highest. NAME is an experiment, a system, or all. Every arm is simulated as a stock ResourceManager
with an ideal node agent.

A gain is reached from 0.8 to 1.5 of the published effect and exceeded above, a cost is reached up to 1.25
of the published loss and exceeded where nothing is lost, a level is reached within 20 % of the published
value, a shape if it holds. Seeds are added while a figure is undecided: while the 95 % interval of its
median spans the threshold. A figure that a null arm also reaches, with the mechanism switched off, is "null".
A figure that no schedule can reach, as a bound shows, is "unattainable". Figures of baselines ("set-up"), and
times of our own code and what nobody published ("measured"), are shown, not judged.

NAME may also be profile, alone: the profile heddle beside fair and capacity, on workloads of many kinds and
in every column, simulated as heddle rm without node agents and with them. Losses are printed first.`,
		Example: `  heddle exp run coupling
  heddle exp run profile
  heddle exp run all --seeds 10 -o json > figures.json
  heddle exp run dress-spark --first-seed 100`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s takes the NAME of an experiment, of a system, or all; exp list shows them", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeExperiments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Equal(args, []string{profileName}) {
				if cmd.Flags().Changed("most-seeds") {
					return usagef("--most-seeds is not for exp run %s, which runs as many seeds as --seeds says", profileName)
				}
				if err := checkSeeds(f.seeds.first, f.seeds.least.n); err != nil {
					return err
				}
				return a.runProfile(profile.Options{Seeds: exp.Seeds(f.seeds.first, f.seeds.least.n), Set: f.set, Clairvoyant: f.knows}, f.cases, f.output.value)
			}
			if len(f.set) > 0 || f.cases != "" || f.knows {
				return usagef("--set, --cases and --clairvoyant are only for exp run %s", profileName)
			}
			if slices.Contains(args, profileName) {
				return usagef("exp run %s cannot be combined with experiments; run those separately", profileName)
			}
			list, err := experiments(args)
			if err != nil {
				return err
			}
			o, err := f.seeds.options(cmd.Flags())
			if err != nil {
				return err
			}
			o.Check = os.Getenv("HEDDLE_CHECK") == "1"
			var outcomes []*exp.Outcome
			err = a.experiment(list, o, func(x *exp.Outcome) error {
				x.All = nil
				outcomes = append(outcomes, x)
				return nil
			})
			switch {
			case err != nil && len(outcomes) == 0:
				return err
			case err != nil:
				a.note("%d of %d experiments are done and are printed", len(outcomes), len(list))
			}
			if f.output.value == "json" {
				lines := []exp.Line{}
				for _, x := range outcomes {
					lines = append(lines, x.Lines()...)
				}
				return cmp.Or(err, wrote(printJSON(a.out, lines)))
			}
			return cmp.Or(err, a.figures(outcomes))
		},
	}
	f.seeds.add(cmd.Flags())
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "with profile: make `CHANGE` in the profile heddle; may be repeated")
	cmd.Flags().StringVar(&f.cases, "cases", "", "with profile: only cases whose name contains `TEXT`")
	cmd.Flags().BoolVar(&f.knows, "clairvoyant", false, "with profile: also run orders that know what jobs need, to estimate what ordering could reach; takes about twice as long")
	choose(cmd, &f.output, "output", "o", "output format")
	return cmd
}

func newExpShow(a *app) *cobra.Command {
	var arm string
	var seed uint64
	cmd := &cobra.Command{
		Use:   "show [flags] NAME",
		Short: "Print the work of an experiment, as a scenario",
		Long: `Print the scenario of an arm of an experiment for a seed, with the arms and their profiles in comments.
If an experiment changes jobs beyond what a scenario can express, the comments say so. They also say how it is
simulated, and list the arms' Hadoop settings, which --conf can provide.`,
		Example:           `  heddle exp show dress-mixed-10 > mixed.yaml && heddle sim compare --as stock --ideal-agent --profiles capacity,dress mixed.yaml`,
		Args:              exactly("one NAME"),
		ValidArgsFunction: completeExperiment,
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := catalogue.Find(args[0])
			if err != nil {
				return err
			}
			if len(list) > 1 {
				return usagef("exp show takes one experiment, and %s has %d", args[0], len(list))
			}
			e, of := list[0], &list[0].Arms[0]
			if arm != "" {
				if of, err = e.Arm(arm); err != nil {
					return err
				}
			}
			scenario, err := e.Scenario(of, seed)
			if err != nil {
				return err
			}
			var b strings.Builder
			fmt.Fprintf(&b, "# %s: %s\n", e.Name, e.Title)
			b.WriteString("# simulated with --as stock --ideal-agent; nodes report the ends of containers with their next heartbeat\n")
			for i := range e.Arms {
				x := &e.Arms[i]
				fmt.Fprintf(&b, "# arm %s: profile %s", x.Name, x.Profile)
				for _, s := range x.Set {
					fmt.Fprintf(&b, " --set '%s'", s)
				}
				if x.Change != nil {
					b.WriteString("; it changes the jobs further")
				}
				b.WriteString("\n")
			}
			if err := settings(&b, e, of); err != nil {
				return err
			}
			_, err = fmt.Fprint(a.out, b.String(), scenario)
			return wrote(err)
		},
	}
	cmd.Flags().StringVar(&arm, "arm", "", "the arm `A` (default: the first)")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "the seed `K`")
	return cmd
}

// settings writes the Hadoop settings of the arms of an experiment, and of an arm of a sweep, as comments. Arms with
// the same settings share one list.
func settings(b *strings.Builder, e *exp.Experiment, of *exp.Arm) error {
	arms := []*exp.Arm{of}
	for i := range e.Arms {
		if e.Arms[i].Name != of.Name {
			arms = append(arms, &e.Arms[i])
		}
	}
	var texts []string
	names := map[string][]string{}
	for _, a := range arms {
		all, err := a.Settings()
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, s := range all {
			fmt.Fprintf(&text, "#   %s\n", s)
		}
		if names[text.String()] == nil {
			texts = append(texts, text.String())
		}
		names[text.String()] = append(names[text.String()], a.Name)
	}
	for _, text := range texts {
		if text != "" {
			fmt.Fprintf(b, "# Hadoop settings of %s, for the folder of --conf:\n%s", strings.Join(names[text], ", "), text)
		}
	}
	return nil
}

// experiments finds the experiments that names stand for, each once.
func experiments(names []string) ([]*exp.Experiment, error) {
	var list []*exp.Experiment
	seen := map[string]bool{}
	for _, name := range names {
		found, err := catalogue.Find(name)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if !seen[e.Name] {
				seen[e.Name] = true
				list = append(list, e)
			}
		}
	}
	return list, nil
}

// experiment runs experiments until they are done or the user interrupts.
func (a *app) experiment(list []*exp.Experiment, o exp.Options, each func(*exp.Outcome) error) error {
	began := time.Now()
	return a.runs(&o.Stop, &o.Report, func() error {
		return exp.Run(list, o, func(x *exp.Outcome) error {
			a.log.Info("done", "experiment", x.Experiment.Name, "since the start", time.Since(began).Round(time.Millisecond))
			return each(x)
		})
	})
}

// runs executes runs with a bar on stderr until they are done or the user interrupts. It sets the function that stops
// the runs early and the one to which they report.
func (a *app) runs(stopped *func() bool, report *func(done, of int, what string), run func() error) error {
	stop, over := interrupts()
	defer over()
	*stopped = stop

	began := time.Now()
	var before, after atomic.Value
	before.Store("")
	after.Store("")
	show, line := a.draw(0, func() string { return before.Load().(string) }, func() string { return after.Load().(string) })
	*report = func(done, of int, what string) {
		a.log.Info("ran", "run", done, "of", of, "what", what)
		if line != nil {
			left := time.Duration(float64(time.Since(began)) * float64(of-done) / float64(done)).Round(time.Second)
			before.Store(fmt.Sprintf("%d of %d runs ", done, of))
			after.Store(fmt.Sprintf(" %v left, %s", left, what))
			line.SetTotal(int64(of), false)
			line.SetCurrent(int64(done))
		}
	}
	err := run()
	if show != nil {
		line.Abort(true)
		show.Wait()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exp.ErrStopped) || stop():
		return failure{exp.ErrStopped}
	}
	return failure{err}
}

// grid returns a table in the common style.
func (a *app) grid() table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	return t
}

// figures prints the outcomes for people.
func (a *app) figures(outcomes []*exp.Outcome) error {
	var b strings.Builder
	var all exp.Tally
	for _, x := range outcomes {
		e := x.Experiment
		fmt.Fprintf(&b, "%s: %s (%s)\n", e.Name, e.Title, e.Source)
		t := a.grid()
		t.AppendHeader(table.Row{"", "published", "ours", "lowest – highest", "null arm", "direction", "verdict"})
		t.SetColumnConfigs([]table.ColumnConfig{
			{Number: 1, WidthMax: 44, WidthMaxEnforcer: text.WrapSoft},
			{Number: 2, Align: text.AlignRight, WidthMax: 28, WidthMaxEnforcer: text.WrapSoft},
			{Number: 3, Align: text.AlignRight},
			{Number: 4, Align: text.AlignRight},
			{Number: 5, Align: text.AlignRight},
		})
		all.Add(x)
		for i := range x.Metrics {
			row := x.Metrics[i].Row()
			t.AppendRow(table.Row{row.Name, row.Published, row.Ours, row.Range, row.Null, row.Direction, row.Verdict})
		}
		b.WriteString(t.Render() + "\n")
		for _, s := range x.Shortfalls() {
			b.WriteString(text.WrapSoft("  "+strings.Join(s.Names(), "; ")+": "+s.Why, 110) + "\n")
		}
		b.WriteString("\n")
	}
	b.WriteString(text.WrapSoft(all.String(), 110) + "\n")
	_, err := fmt.Fprint(a.out, b.String())
	return wrote(err)
}
