package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"heddle/exp"
	"heddle/exp/catalogue"
	"heddle/exp/page"
	"heddle/internal/near"
)

// reportFlags are the flags of exp report.
type reportFlags struct {
	seeds       expSeeds
	sweepSeeds  count
	out, readme string
}

func newExpReport(a *app) *cobra.Command {
	f := &reportFlags{seeds: newExpSeeds(), sweepSeeds: count{n: 3, most: maxSeeds}}
	cmd := &cobra.Command{
		Use:   "report [flags] [SYSTEM...]",
		Short: "Run everything and write a page for each system, with plots",
		Long: `Run the experiments of systems (all of them, if none is named): every arm and null arm with every seed,
the mutations, the arms once more with each effect of the world switched off, and the sweeps. Write for each
system SYSTEM.md, with its plots in plots/, and SYSTEM.json, the figures by seed against which the tests
check the program. A page has all experiments of its system; exp run shows those of a single NAME.`,
		Example: `  heddle exp report
  heddle exp report --out /tmp/pages coupling dress`,
		ValidArgs: catalogue.Names(),
		Args: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				known := catalogue.Names()
				found, err := catalogue.Find(name)
				switch {
				case slices.Contains(known, name):
				case err != nil:
					return usagef("no system %q; %s", name, near.Names(name, known))
				case len(found) > 1:
					return usagef("%s reports all systems if none is named; leave %s out", cmd.CommandPath(), name)
				default:
					return usagef("%s is an experiment, and a page has all of its system's; want %s %s", name, cmd.CommandPath(), found[0].System)
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, systems []string) error {
			if len(systems) == 0 {
				systems = catalogue.Names()
			}
			o, err := f.seeds.options(cmd.Flags())
			if err != nil {
				return err
			}
			if n := f.seeds.least.n; cmd.Flags().Changed("sweep-seeds") && f.sweepSeeds.n > n {
				return usagef("--sweep-seeds %d: want at most as many as --seeds, %d", f.sweepSeeds.n, n)
			}
			return a.report(f, o, systems)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "docs/experiments", "write the pages to `DIR`")
	fl.StringVar(&f.readme, "readme", "", "replace the table of headlines in `FILE`; needs all systems")
	f.seeds.add(fl)
	fl.Var(&f.sweepSeeds, "sweep-seeds", "runs of each arm of a sweep, with the first of those seeds")
	must(cmd.MarkFlagDirname("out"))
	return cmd
}

// report runs the systems' experiments and writes their pages.
func (a *app) report(f *reportFlags, o exp.Options, systems []string) error {
	list, err := experiments(systems)
	if err != nil {
		return err
	}
	if f.readme != "" && len(list) < len(catalogue.All()) {
		return usagef("--readme needs all systems: its table has a line for each")
	}
	if err := f.check(systems); err != nil {
		return err
	}
	o.SweepSeeds, o.Effects, o.Mutations = f.sweepSeeds.n, true, true
	var sections []*page.Section
	kept := map[string][]exp.Summary{}
	err = a.experiment(list, o, func(x *exp.Outcome) error {
		sections = append(sections, page.New(x))
		kept[x.Experiment.System] = append(kept[x.Experiment.System], x.Summary())
		return nil
	})
	if err != nil {
		return err
	}
	_, over := interrupts() // pages belong together: the first interrupt does not come between them
	defer over()
	for i := range catalogue.Systems {
		system := &catalogue.Systems[i]
		if len(kept[system.Name]) == 0 {
			continue
		}
		if err := writeSystem(f.out, system, sections, kept[system.Name]); err != nil {
			return failure{err}
		}
	}
	if f.readme != "" {
		if err := putTable(f.readme, page.Headlines(catalogue.Systems, sections)); err != nil {
			return failure{err}
		}
	}
	a.note("%d experiments written to %s", len(list), f.out)
	return nil
}

// check makes sure, before long work begins, that the pages and the table of headlines can be written.
func (f *reportFlags) check(systems []string) error {
	if f.readme != "" {
		if _, _, err := aroundTable(f.readme); err != nil {
			return err
		}
		t, err := openTarget("--readme", f.readme, nil)
		if err != nil {
			return err
		}
		t.drop()
	}
	for _, name := range systems {
		for _, file := range []string{name + ".md", name + ".json", filepath.Join("plots", name+".svg")} {
			t, err := openNested("--out", filepath.Join(f.out, file))
			if err != nil {
				return err
			}
			t.drop()
		}
	}
	return nil
}

// writeSystem writes a system's page, figures and plots, and removes plots that it no longer has.
func writeSystem(dir string, system *exp.System, sections []*page.Section, kept []exp.Summary) error {
	old, err := filepath.Glob(filepath.Join(dir, "plots", system.Name+"-*.svg"))
	if err != nil {
		return err
	}
	var figures bytes.Buffer
	if err := exp.WriteSummaries(&figures, kept); err != nil {
		return err
	}
	files := []page.File{{Name: system.Name + ".md", Data: page.Page(system, sections)}, {Name: system.Name + ".json", Data: figures.Bytes()}}
	for _, s := range sections {
		if s.System() == system.Name {
			files = append(files, s.Plots...)
		}
	}
	for _, file := range files {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := replaceFile("--out", path, file.Data); err != nil {
			return err
		}
		old = slices.DeleteFunc(old, func(o string) bool { return o == path })
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// The lines that enclose the table of headlines in a file.
const (
	tableFrom = "<!-- headlines: made by heddle exp report -->\n"
	tableTo   = "<!-- end of headlines -->\n"
)

// putTable replaces a file's table of headlines.
func putTable(path string, headlines []byte) error {
	before, after, err := aroundTable(path)
	if err != nil {
		return err
	}
	return replaceFile("--readme", path, slices.Concat(before, []byte(tableFrom), headlines, []byte(tableTo), after))
}

// aroundTable returns the text of a file before and after its table of headlines.
func aroundTable(path string) (before, after []byte, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("--readme: %w", err)
	}
	before, rest, ok := bytes.Cut(text, []byte(tableFrom))
	_, after, ok2 := bytes.Cut(rest, []byte(tableTo))
	if !ok || !ok2 {
		return nil, nil, fmt.Errorf("--readme: %s has no table of headlines between its two comments, %q and %q", path, tableFrom, tableTo)
	}
	return before, after, nil
}
