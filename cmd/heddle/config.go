package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"heddle/conf"
	"heddle/daemon/setup"
	"heddle/internal/plain"
)

func newConfig(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "config",
		Short: "Look at a Hadoop configuration",
	}, newCheck(a))
}

func newCheck(a *app) *cobra.Command {
	output := &choice{value: "table", of: []string{"table", "json"}}
	cmd := &cobra.Command{
		Use:   "check [-o table|json] FILE",
		Short: "Show what a Hadoop configuration means to Heddle, and what is wrong with it",
		Long: `Read capacity-scheduler.xml, fair-scheduler.xml, yarn-site.xml or mapred-site.xml, or the folder
that holds them. A heddle.yaml in the folder is checked as heddle rm would check it, with its profile and
changes, but host names are not looked up. If it is the only file there, Hadoop's defaults are shown, as
heddle rm uses them. Prints the queues as they are in effect,
then what is unknown or without effect, then what heddle rm refuses to start with, and last what is
configured but off under Heddle. Errors have file and line. Whether other machines could reach the ports
(insecure_open) is not checked.

Exit codes: 0 if the configuration can be used, even if something is off or heddle rm refuses to start with
it; 1 if the result could not be written; 2 if the configuration has errors or cannot be read.`,
		Example: "  heddle config check /etc/hadoop/conf\n  heddle config check capacity-scheduler.xml",
		Args:    exactly("one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, wrong, err := setup.Check(args[0])
			if err != nil {
				return err
			}
			ok := r.OK() && wrong == nil
			if output.value == "json" {
				c := checked(r)
				if c.OK = ok; wrong != nil {
					c.Errors = append(c.Errors, rowOf(filepath.Join(args[0], setup.FileName), wrong))
				}
				if err := printJSON(a.out, c); err != nil || ok {
					return wrote(err)
				}
				return fmt.Errorf("%s cannot be used", args[0])
			}
			if ok {
				return wrote(writeReport(a.out, r))
			}
			if !r.OK() {
				if err := writeReport(a.err, r); err != nil {
					return wrote(err)
				}
			}
			return errors.Join(wrong, fmt.Errorf("%s cannot be used", args[0]))
		},
	}
	choose(cmd, output, "output", "o", "output format")
	return cmd
}

// writeReport writes a report for people. Texts from files are untrusted.
func writeReport(w io.Writer, r *conf.Report) error {
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, plain.Lines(b.String()))
	return err
}

// A checkedRow is one finding of a check, as JSON.
type checkedRow struct {
	File     string `json:"file"`
	Line     int    `json:"line"` // 0 for the file as a whole
	Property string `json:"property"`
	Text     string `json:"text"`
}

// A checkedConf is the result of a check, as JSON.
type checkedConf struct {
	Path     string       `json:"path"`
	OK       bool         `json:"ok"`
	Errors   []checkedRow `json:"errors"`
	Refused  []checkedRow `json:"refused"`
	Off      []checkedRow `json:"off"`
	Unknown  []checkedRow `json:"unknown"`
	Remarks  []checkedRow `json:"remarks"`
	NoEffect []checkedRow `json:"no_effect"`
}

// rowOf returns what is wrong with a heddle.yaml or with the profile that it names.
func rowOf(file string, wrong error) checkedRow {
	if f, ok := errors.AsType[*plain.Fault](wrong); ok {
		return checkedRow{f.Place.File, f.Place.Line, f.Place.Key, f.Err.Error()}
	}
	return checkedRow{File: file, Text: wrong.Error()}
}

func checked(r *conf.Report) checkedConf {
	wrong := func(all conf.Errors) []checkedRow {
		rows := []checkedRow{}
		for _, e := range all {
			rows = append(rows, checkedRow{e.File, e.Line, e.Field, e.Text})
		}
		return rows
	}
	all := r.All()
	noted := func(kind conf.NoticeKind) []checkedRow {
		rows := []checkedRow{}
		for _, n := range all {
			if n.Kind == kind {
				rows = append(rows, checkedRow{n.File, n.Line, n.Property, n.Text})
			}
		}
		return rows
	}
	return checkedConf{
		Path: r.Path, OK: r.OK(), Errors: wrong(r.Errors), Refused: wrong(r.Refused()), Off: noted(conf.Unsupported),
		Unknown: noted(conf.Unknown), Remarks: noted(conf.Remark), NoEffect: noted(conf.Harmless),
	}
}
