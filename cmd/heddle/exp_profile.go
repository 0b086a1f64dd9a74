package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/conf"
	"heddle/exp"
	"heddle/exp/profile"
	"heddle/policies"
)

// profileName is the name in exp run of the table that compares the profile heddle with fair and capacity.
const profileName = "profile"

// runProfile implements exp run profile.
func (a *app) runProfile(o profile.Options, only, output string) error {
	cases := slices.DeleteFunc(profile.Cases(), func(c profile.Case) bool { return !strings.Contains(c.Name, only) })
	if len(cases) == 0 {
		return usagef("no case of %s has a name with %q; they begin with %s", profileName, only, strings.Join(profile.Names(), ", "))
	}
	changed, err := policies.Load("heddle", o.Set)
	if err != nil {
		return err
	}
	if err := checkProfiles([]*policies.Profile{changed}, conf.Default(), ""); err != nil {
		return err
	}
	var rows []profile.Row
	err = a.runs(&o.Stop, &o.Report, func() (err error) {
		rows, err = profile.Run(cases, o)
		return err
	})
	switch done := len(rows) / 2; { // a case has a row without agents and one with them
	case err != nil && done == 0:
		return err
	case err != nil:
		a.note("%d of %d cases are done and are printed", done, len(cases))
	}
	if output == "json" {
		return cmp.Or(err, wrote(printJSON(a.out, profile.Lines(rows))))
	}
	return cmp.Or(err, a.profileTable(rows, o.Clairvoyant))
}

// profileTable prints the rows for people, first those without agents and then those with them: each column as a ratio
// to the better of fair and capacity. With ordering, rows also show what ordering could reach, and each job alone.
func (a *app) profileTable(rows []profile.Row, ordering bool) error {
	var b strings.Builder
	for _, agent := range []bool{false, true} {
		t := a.grid()
		head := table.Row{map[bool]string{false: "without node agents", true: "with a node agent\nbeside every NodeManager"}[agent]}
		var configs []table.ColumnConfig
		add := func(name string) {
			head = append(head, strings.ReplaceAll(name, " ", "\n"))
			configs = append(configs, table.ColumnConfig{Number: len(head), Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
		for _, c := range profile.Columns {
			add(c.Name)
		}
		add("mean÷ fair's")
		if ordering {
			add("ordering÷ fair's")
			add("alone÷ fair's")
			add("small p95 alone")
		}
		t.AppendHeader(head)
		t.SetColumnConfigs(configs)
		of := slices.DeleteFunc(slices.Clone(rows), func(r profile.Row) bool { return r.Agent != agent })
		for i := range of {
			r := &of[i]
			if i > 0 && r.NoneWorse() && !of[i-1].NoneWorse() {
				t.AppendSeparator()
			}
			name := r.Case.Name
			if r.Failed > 0 {
				name += "\n" + plural(r.Failed, "job") + " lost"
			}
			line := table.Row{name}
			for _, c := range r.Cells {
				line = append(line, ratio(c.Ratio.Median, c.Worse, c.Sure()))
			}
			line = append(line, ratio(r.MeanRatio.Median, r.MeanRatio.Median > profile.MostMean, r.MeanRatio.From > profile.MostMean))
			if ordering {
				line = append(line, ratio(r.Ordering, false, false), ratio(r.Alone, false, false), ratio(r.SmallAlone, false, false))
			}
			t.AppendRow(line)
		}
		fmt.Fprintf(&b, "%s\n%s\n\n", t.Render(), text.WrapSoft(profile.Sum(of).String(), 110))
	}
	legend := profile.Legend
	if ordering {
		legend += " " + profile.OrderingLegend
	}
	b.WriteString(text.WrapSoft(legend, 110) + "\n")
	_, err := fmt.Fprint(a.out, b.String())
	return wrote(err)
}

// ratio formats a ratio, with one mark if it is surely beyond its goal and another if that is not certain.
func ratio(x float64, beyond, sure bool) string {
	if math.IsNaN(x) {
		return exp.Figure(x, "")
	}
	digits := 2
	if x >= 100 {
		digits = 0
	}
	mark := " "
	switch {
	case beyond && sure:
		mark = "!"
	case beyond:
		mark = "?"
	}
	return strconv.FormatFloat(x, 'f', digits, 64) + mark
}
