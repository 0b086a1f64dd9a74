package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"heddle/conf"
)

func newConfig(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "config",
		Short: "Look at a Hadoop configuration",
	}, newCheck(a))
}

func newCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Say what a Hadoop configuration comes to, and what is wrong with it",
		Long: `Read capacity-scheduler.xml, fair-scheduler.xml, yarn-site.xml or mapred-site.xml, or the folder
that holds them. Prints the queues as they are in effect, then what is not supported, unknown or
without effect. Errors come with file and line, and make the exit code 2; warnings leave it at 0.`,
		Example: "  heddle config check /etc/hadoop/conf\n  heddle config check capacity-scheduler.xml",
		Args:    exactly(1, "one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := conf.CheckFile(args[0])
			if err != nil {
				return err
			}
			if r.OK() {
				return wrote(r.WriteText(a.out))
			}
			if err := r.WriteText(a.err); err != nil {
				return wrote(err)
			}
			return fmt.Errorf("%s cannot be used", args[0])
		},
	}
}
