// Command heddle is a YARN ResourceManager with the commands that query one. It also simulates YARN clusters around the
// same scheduler core, compares profiles, and reads existing traces and configurations.
//
// It parses flags, reads files and prints. It does no scheduling itself: every decision about a container is made in
// the packages it puts together.
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"heddle/internal/near"
	"heddle/internal/plain"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // a run failed or was stopped, or a result could not be written
	exitBad    = 2 // bad input or usage
	exitNone   = 3 // the ResourceManager has no such application, node or queue
)

func main() { os.Exit(run(os.Args[1:])) }

// run executes a command line and returns the exit code.
func run(args []string) int {
	root := newRoot(&app{out: os.Stdout, err: os.Stderr, log: slog.New(slog.DiscardHandler)})
	root.SetArgs(args)
	return exitOf(root.ExecuteC())
}

// exitOf prints why a command failed and returns the exit code.
func exitOf(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitDone
	}
	say(os.Stderr, err.Error())
	if errors.As(err, new(usageError)) {
		fmt.Fprintf(os.Stderr, "%s --help shows more\n", cmd.CommandPath())
	}
	switch {
	case errors.As(err, new(failure)):
		return exitFailed
	case errors.As(err, new(missing)):
		return exitNone
	}
	return exitBad
}

// A failure is an error that neither the command line nor an input caused. All other errors are caused by one of them.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// A usageError is a wrong command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// An app is what all commands share.
type app struct {
	out, err io.Writer
	log      *slog.Logger

	verbose, quiet, noColor bool
}

// note tells the user on stderr something that is neither a result nor an error.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		say(a.err, fmt.Sprintf(format, args...))
	}
}

// say writes a message to stderr. The text may contain untrusted parts.
func say(stderr io.Writer, text string) { fmt.Fprintf(stderr, "heddle: %s\n", plain.Lines(text)) }

// terminal reports whether w is a terminal, and its width.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 0, true
	}
	return width, true
}

func newRoot(a *app) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "heddle",
		Short: "A YARN ResourceManager, and a simulator of scheduling policies",
		Long: `Heddle is a YARN ResourceManager for unmodified Hadoop and Spark, and a simulator around the same
scheduler core. The simulator runs workloads, from scenario files or from a cluster's own history,
under the CapacityScheduler, the FairScheduler and others.`,
		Example: `  heddle rm
  heddle app list
  heddle why application_1700000000000_0001
  heddle sim compare --profiles capacity,fair,heddle scenarios/demo.yaml
  heddle sim run --profile fair --nodes 600 history.tsv
  heddle trace inspect history.tsv
  heddle config check /etc/hadoop/conf`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			if a.verbose {
				a.log = slog.New(slog.NewTextHandler(a.err, nil))
			}
		},
	}, newRM(a), newApp(a), newWhy(a), newNode(a), newQueue(a), newTop(a), newStore(a),
		newSim(a), newExp(a), newTrace(a), newConfig(a), newVersion(a), newCompletion(a))
	root.Version = version()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageTemplate(usageTemplate)
	eachCommand(root, func(c *cobra.Command) { c.DisableFlagsInUseLine = true }) // their usage lines already name them
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	f := root.PersistentFlags()
	f.BoolVarP(&a.verbose, "verbose", "v", false, "report on stderr what is done and how long it takes")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print only errors on stderr: no progress, no notes; the logs of rm and node agent stay")
	root.Flags().Bool("version", false, "print the version, like heddle version")
	f.BoolVar(&a.noColor, "no-color", false, "no colours (like NO_COLOR in the environment)")
	return root
}

// usageTemplate is cobra's template with lines that fit in 100 columns.
const usageTemplate = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
{{- if .HasAvailableSubCommands}}

Commands:
{{- range .Commands}}{{if or .IsAvailableCommand (eq .Name "help")}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}
{{- end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}
{{- end}}
{{- if .HasAvailableInheritedFlags}}

Flags of all commands:
{{.InheritedFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}
{{- end}}
`

func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, kid := range c.Commands() {
		eachCommand(kid, do)
	}
}

// group makes a command that only contains others.
func group(c *cobra.Command, kids ...*cobra.Command) *cobra.Command {
	c.AddCommand(kids...)
	c.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return noCommand(cmd, args[0])
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		cmd.SetOut(os.Stderr)
		if err := cmd.Help(); err != nil {
			return err
		}
		return fmt.Errorf("%s needs one of its commands", cmd.CommandPath())
	}
	return c
}

// noCommand returns the error for a subcommand that does not exist, with the one that was probably meant, if any.
func noCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, kid := range cmd.Commands() {
		if kid.IsAvailableCommand() {
			names = append(names, kid.Name())
		}
	}
	hint := ""
	if meant, ok := near.Name(name, names); ok {
		hint = "; did you mean " + cmd.CommandPath() + " " + meant + "?"
	}
	return usagef("there is no command %q%s", cmd.CommandPath()+" "+name, hint)
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Describe a command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if found, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, kid := range found.Commands() {
					if kid.IsAvailableCommand() {
						names = append(names, kid.Name()+"\t"+kid.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				if len(rest) == 0 {
					rest = args
				}
				return noCommand(found, rest[0])
			}
			return found.Help()
		},
	}
}

// exactly accepts as many arguments as there are names, which are those of the usage, such as one FILE.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		takes := strings.Join(names, " and ")
		if takes == "" {
			takes = "no arguments"
		}
		return usagef("%s takes %s; got %s", cmd.CommandPath(), takes, howMany(args))
	}
}

// howMany returns the number of arguments and the arguments themselves.
func howMany(args []string) string {
	if len(args) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", len(args), strings.Join(args, " "))
}
