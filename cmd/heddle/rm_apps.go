package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"heddle/client"
	"heddle/internal/plain"
	"heddle/rm"
	"heddle/yarn/ids"
)

// mostApps is the limit of --limit.
const mostApps = 1_000_000

// The states of applications, and those of applications that are not over.
var (
	appStates  = []string{"NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINISHED", "FAILED", "KILLED"}
	liveStates = appStates[:5]
)

func newApp(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "app",
		Short: "Look at the applications of a ResourceManager, and kill, move or prioritise them",
	}, newAppList(a), newAppStatus(a), newKill(a), newMove(a), newPriority(a), newWhy(a))
}

func newAppList(a *app) *cobra.Command {
	r := &remoteFlags{}
	var users, queues, types words
	states := words{of: appStates, kind: "S,S"}
	users.kind, queues.kind, types.kind = "U,U", "Q,Q", "T,T"
	var all bool
	limit := count{most: mostApps}
	var before appID
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List applications, by default those that have not ended",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			f := client.AppFilter{States: states.values, Users: users.values, Queues: queues.values, Types: types.values, Before: ids.App(before), Limit: limit.n}
			if len(f.States) == 0 && !all {
				f.States = liveStates
			}
			return r.ask(func(ctx context.Context, c *client.Client) error {
				rows, err := c.Apps(ctx, f)
				if err != nil {
					return asked(err)
				}
				if r.json() {
					return wrote(printJSON(a.out, rm.Apps{List: rows}))
				}
				switch {
				case len(rows) > 0:
				case all || len(states.values) > 0:
					a.note("no such applications")
				default:
					a.note("no such applications; --all shows those that have ended too")
				}
				return a.printApps(rows)
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	f := cmd.Flags()
	f.Var(&states, "state", "in one of these states: "+strings.Join(appStates, ", "))
	must(cmd.RegisterFlagCompletionFunc("state", completeList(appStates, cobra.ShellCompDirectiveNoFileComp)))
	f.Var(&users, "user", "of one of these users")
	f.Var(&queues, "queue", "in one of these queues, by path")
	f.Var(&types, "type", "of one of these types, such as MAPREDUCE or SPARK")
	f.BoolVar(&all, "all", false, "list those that have ended too")
	f.Var(&limit, "limit", "the newest N")
	f.Var(&before, "before", "with ids below this one, such as the first that was printed with --limit")
	cmd.MarkFlagsMutuallyExclusive("all", "state")
	must(cmd.RegisterFlagCompletionFunc("queue", r.completeIDs(0, queuePaths)))
	return cmd
}

func newAppStatus(a *app) *cobra.Command {
	r := &remoteFlags{}
	cmd := &cobra.Command{
		Use:               "status [flags] ID",
		Short:             "Show everything about an application, with its attempts",
		Args:              appIDs(1),
		ValidArgsFunction: r.completeIDs(1, anyApps),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error {
				d, err := c.App(ctx, args[0])
				if err != nil {
					return asked(err)
				}
				if r.json() {
					return wrote(printJSON(a.out, d))
				}
				return a.printApp(d)
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	return cmd
}

// appIDs accepts n application ids, or at least one if n is 0.
func appIDs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if n > 0 && len(args) != n {
			return usagef("%s takes one ID; got %s", cmd.CommandPath(), howMany(args))
		}
		if len(args) == 0 {
			return usagef("%s takes one ID or more; got none", cmd.CommandPath())
		}
		for _, id := range args {
			if _, err := ids.ParseApp(id); err != nil {
				return usageError{err}
			}
		}
		return nil
	}
}

// liveApps completes applications that are not over.
func liveApps(ctx context.Context, c *client.Client) ([]string, error) {
	return described(ctx, c, liveStates)
}

// anyApps completes all applications, newest first.
func anyApps(ctx context.Context, c *client.Client) ([]string, error) {
	return described(ctx, c, nil)
}

// mostCompleted is the most applications that a shell is offered.
const mostCompleted = 200

func described(ctx context.Context, c *client.Client, states []string) ([]string, error) {
	rows, err := c.Apps(ctx, client.AppFilter{States: states, Limit: mostCompleted})
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range slices.Backward(rows) {
		r := &rows[i]
		out = append(out, fmt.Sprintf("%s\t%s of %s, %s", r.ID, snip(plain.Line(r.Name), mostName), plain.Line(r.User), r.State))
	}
	return out, nil
}

// words is a flag for comma-separated values; it may be repeated.
type words struct {
	values []string
	of     []string // the allowed values, in upper case; empty = any
	kind   string   // what the help calls them
}

func (w *words) Type() string   { return w.kind }
func (w *words) String() string { return strings.Join(w.values, ",") }

func (w *words) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if len(w.of) > 0 {
			part = strings.ToUpper(part)
			if !slices.Contains(w.of, part) {
				return fmt.Errorf("want %s", oneOf(w.of))
			}
		}
		if part == "" {
			return fmt.Errorf("a name is missing before or after a comma")
		}
		w.values = append(w.values, part)
	}
	return nil
}
