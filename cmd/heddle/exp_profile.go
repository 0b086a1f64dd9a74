package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/exp"
	"heddle/exp/profile"
)

// profileName is what exp run calls the table of the profile heddle beside fair and capacity.
const profileName = "profile"

// profileSeeds are as many as one runs where no flag says how many: the table has a hundred and more runs for each.
const profileSeeds = 3

// runProfile is exp run profile.
func (a *app) runProfile(o profile.Options, only, output string) error {
	cases := slices.DeleteFunc(profile.Cases(), func(c profile.Case) bool { return !strings.Contains(c.Name, only) })
	if len(cases) == 0 {
		return usagef("no case of %s has a name with %q; they begin with %s", profileName, only, strings.Join(profile.Names(), ", "))
	}
	var rows []profile.Row
	err := a.runs(&o.Stop, &o.Report, func() (err error) {
		rows, err = profile.Run(cases, o)
		return err
	})
	if err != nil {
		return err
	}
	if output == "json" {
		return wrote(printJSON(a.out, profile.Lines(rows)))
	}
	return a.profileTable(rows)
}

// profileTable prints the rows for people: each column as a ratio to the better of fair and capacity.
func (a *app) profileTable(rows []profile.Row) error {
	t := a.grid()
	head := table.Row{"", "agents"}
	configs := []table.ColumnConfig{}
	for i, c := range profile.Columns {
		head = append(head, strings.ReplaceAll(c.Name, " ", "\n"))
		configs = append(configs, table.ColumnConfig{Number: i + 3, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	head = append(head, "mean\n÷ fair's")
	configs = append(configs, table.ColumnConfig{Number: len(head), Align: text.AlignRight, AlignHeader: text.AlignRight})
	t.AppendHeader(head)
	t.SetColumnConfigs(configs)
	for i := range rows {
		r := &rows[i]
		if i > 0 && r.NoneWorse() && !rows[i-1].NoneWorse() {
			t.AppendSeparator()
		}
		line := table.Row{r.Case.Name, map[bool]string{true: "with", false: "without"}[r.Agent]}
		for _, c := range r.Cells {
			line = append(line, ratio(c.Ratio, c.Worse))
		}
		t.AppendRow(append(line, ratio(r.MeanRatio, !r.MeanReached())))
	}
	_, err := fmt.Fprintf(a.out, "%s\n%s\n", t.Render(), text.WrapSoft(profile.Sum(rows).String(), 110))
	return wrote(err)
}

// ratio is a ratio with a mark where it is beyond its goal.
func ratio(x float64, beyond bool) string {
	if math.IsNaN(x) {
		return exp.Figure(x, "")
	}
	return fmt.Sprintf("%.2f", x) + map[bool]string{true: " !", false: "  "}[beyond]
}
