package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and what the binary was built with",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, version())
			return wrote(err)
		},
	}
}

// version returns what the build recorded: the module's version and, if built in a clone, the commit.
func version() string {
	v, commit, changed := "unknown", "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = " " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = " (changed)"
			}
		}
	}
	return fmt.Sprintf("heddle %s%s%s %s %s/%s", v, commit, changed, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
