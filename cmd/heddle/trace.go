package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"heddle/workload"
)

func newTrace(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "trace",
		Short: "Look at a trace, or write it in another format",
	}, newInspect(a), newConvert(a))
}

func newInspect(a *app) *cobra.Command {
	read, output := &readFlags{}, &choice{value: "table", of: []string{"table", "json"}}
	cmd := &cobra.Command{
		Use:   "inspect [flags] FILE",
		Short: "Show what is in a trace: jobs, tasks, bytes, and what is missing",
		Long: `Show what is in a trace or a scenario: its jobs, tasks, users, queues and bytes, what could not be
read and why, and what was missing and by which rule it was filled in.`,
		Args: exactly("one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := a.readInput(args[0], read.options(), 1)
			if err != nil {
				return err
			}
			if output.value == "json" {
				return wrote(inspectJSON(a.out, in.workload))
			}
			return wrote(inspectTable(a.out, in.workload))
		},
	}
	read.add(cmd)
	choose(cmd, output, "output", "o", "output format")
	return cmd
}

// inspectJSON writes the numbers and every defect.
func inspectJSON(w io.Writer, wl *workload.Workload) error {
	defects := wl.Skipped
	if defects == nil {
		defects = []workload.Defect{} // an empty list, not null
	}
	return printJSON(w, struct {
		workload.Summary
		Defects []workload.Defect `json:"defects"`
	}{workload.Inspect(wl), defects})
}

func newConvert(a *app) *cobra.Command {
	var read readFlags
	var out string
	to := &choice{of: []string{"sls", "swim"}}
	cmd := &cobra.Command{
		Use:   "convert --to sls|swim [flags] FILE",
		Short: "Write a trace in another format",
		Long: `Write a trace or a scenario as a job list of Hadoop's Scheduler Load Simulator (sls) or as a SWIM
sample (swim). What the format cannot represent is listed on stderr. A job that it cannot represent
at all is an error, and then nothing is written.`,
		Args: exactly("one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if to.value == "" {
				return usagef("trace convert needs --to sls or --to swim")
			}
			in, err := a.readInput(args[0], read.options(), 1)
			if err != nil {
				return err
			}
			return a.convert(in, to.value, out)
		},
	}
	read.add(cmd)
	choose(cmd, to, "to", "", "format to write")
	cmd.Flags().StringVarP(&out, "out", "O", "", "write to `FILE` (default, and -: standard output)")
	return cmd
}

func (a *app) convert(in *input, to, path string) error {
	var filled workload.Fill
	if to == "sls" { // which has no task without a duration
		filled = in.fillDurations()
	}
	write := func(w io.Writer) error { return workload.Write(w, to, in.workload) }
	if err := write(io.Discard); err != nil {
		return fmt.Errorf("%s: %w", in.path, err)
	}
	if path == "" || path == "-" {
		if err := write(a.out); err != nil {
			return wrote(err)
		}
	} else {
		t, err := openTarget("--out", path, in.files())
		if err != nil {
			return err
		}
		if err := t.write(write); err != nil {
			return err
		}
	}
	if n := len(in.workload.Skipped); n > 0 {
		a.note("%d of %d records skipped, the first: %s", n, in.workload.Lines, in.workload.Skipped[0])
	}
	if filled.Jobs > 0 {
		a.note("filled in for %s: %s", to, filled)
	}
	for _, what := range workload.Lost(to, in.workload) {
		a.note("%s does not hold %s", to, what)
	}
	return nil
}
