package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"heddle/policies"
)

func newCompletion(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that makes a shell complete heddle's commands and flags",
		Long: `Print a script that makes a shell complete heddle's commands, flags, profiles and formats.

  bash   source <(heddle completion bash)          (needs the package bash-completion)
  zsh    heddle completion zsh > "${fpath[1]}/_heddle"
  fish   heddle completion fish > ~/.config/fish/completions/heddle.fish`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usagef("%s takes one of %s; got %s", cmd.CommandPath(), strings.Join(shells, ", "), howMany(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return wrote(root.GenBashCompletionV2(a.out, true))
			case "zsh":
				return wrote(root.GenZshCompletion(a.out))
			}
			return wrote(root.GenFishCompletion(a.out, true))
		},
	}
}

// complete adds shell completion for a flag's values.
func complete(cmd *cobra.Command, name string, values []string) {
	must(cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	}))
}

// must panics if a command is set up wrongly, for example with a flag that does not exist.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// completeProfile completes a built-in profile or a file.
func completeProfile(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return policies.Names(), cobra.ShellCompDirectiveDefault
}

// completeList completes the last value of a comma-separated list, without offering values that are already in the
// list.
func completeList(values []string, also cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		var out []string
		for _, value := range values {
			if !slices.Contains(strings.Split(before, ","), value) {
				out = append(out, before+value)
			}
		}
		return out, cobra.ShellCompDirectiveNoSpace | also
	}
}
