package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"heddle/client"
	"heddle/internal/plain"
)

// A killRow is the result of killing an application.
type killRow struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Final string `json:"final_status"`
	// Killed is true if this command ended it: it was not over before.
	Killed bool   `json:"killed"`
	Error  string `json:"error"` // "" if nothing went wrong
}

func newKill(a *app) *cobra.Command {
	r := &remoteFlags{}
	cmd := &cobra.Command{
		Use:   "kill [flags] ID...",
		Short: "Kill applications, and wait until they have ended",
		Long: `Kill applications, and wait until they have ended. An application that has already ended is not an error.
Ctrl-C stops the waiting, not the kill.`,
		Args:              appIDs(0),
		ValidArgsFunction: r.completeIDs(0, liveApps),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error { return a.kill(ctx, c, r.json(), args) })
		},
	}
	r.add(cmd)
	r.printing(cmd)
	r.writing(cmd)
	return cmd
}

func (a *app) kill(ctx context.Context, c *client.Client, asJSON bool, names []string) error {
	var over atomic.Int64
	show := a.waiting(int64(len(names)), func() string {
		return fmt.Sprintf("waiting for the end of %s ", plural(len(names)-int(over.Load()), "application"))
	})
	rows, errs := killAll(ctx, c, names, func() { show.at(over.Add(1)) })
	show.end()
	if asJSON {
		if err := printJSON(a.out, struct {
			Applications []killRow `json:"applications"`
		}{rows}); err != nil {
			return wrote(err)
		}
		return worst(errs)
	}
	for i := range rows {
		if rows[i].Error != "" {
			continue
		}
		if _, err := fmt.Fprintln(a.out, plain.Line(rows[i].sentence())); err != nil {
			return wrote(err)
		}
	}
	return worst(errs)
}

func (k *killRow) sentence() string {
	switch {
	case k.Killed:
		return k.ID + " is killed"
	case k.State == k.Final:
		return fmt.Sprintf("%s had already ended: %s", k.ID, k.State)
	}
	return fmt.Sprintf("%s had already ended: %s, %s", k.ID, k.State, k.Final)
}

// killAll kills applications, all at the same time, and waits until they are over. It calls done for each that is over
// or that nothing can be done about.
func killAll(ctx context.Context, c *client.Client, names []string, done func()) (rows []killRow, errs []error) {
	rows = make([]killRow, len(names))
	waiting := make([]*killRow, 0, len(names))
	for i, id := range names {
		rows[i].ID = id
		waiting = append(waiting, &rows[i])
	}
	step := func(step func(context.Context, *client.Client) (bool, error), k *killRow) bool {
		over, err := step(ctx, c)
		if err = asked(err); err != nil {
			k.Error = err.Error()
			errs = append(errs, err)
		}
		if over || err != nil {
			done()
		}
		return over || err != nil
	}
	waiting = slices.DeleteFunc(waiting, func(k *killRow) bool { return step(k.look, k) })
	for {
		waiting = slices.DeleteFunc(waiting, func(k *killRow) bool { return step(k.kill, k) })
		if len(waiting) == 0 {
			return rows, errs
		}
		select {
		case <-ctx.Done():
			for _, k := range waiting {
				err := fmt.Errorf("stopped waiting for %s to end; the kill has been sent", k.ID)
				k.Error = err.Error()
				errs = append(errs, failure{err})
			}
			return rows, errs
		case <-time.After(pollEvery):
		}
	}
}

// look reports whether the application is over without killing it.
func (k *killRow) look(ctx context.Context, c *client.Client) (over bool, err error) {
	a, err := c.App(ctx, k.ID)
	if err != nil {
		return false, err
	}
	k.State, k.Final = string(a.State), string(a.Final)
	return a.State.Final(), nil
}

// kill sends the request to kill once more, and reports whether the application is over now.
func (k *killRow) kill(ctx context.Context, c *client.Client) (over bool, err error) {
	if over, err = c.Kill(ctx, k.ID); !over || err != nil {
		return false, err
	}
	if _, err = k.look(ctx, c); err != nil {
		return false, err
	}
	k.Killed = k.State == "KILLED"
	return true, nil
}

// worst joins errors. The result is that something is missing only if nothing else is wrong.
func worst(errs []error) error {
	joined := errors.Join(errs...)
	for _, err := range errs {
		if !errors.As(err, new(missing)) {
			return failure{joined}
		}
	}
	return joined
}

func newPriority(a *app) *cobra.Command {
	r := &remoteFlags{}
	var priority int32
	cmd := &cobra.Command{
		Use:   "priority [flags] ID PRIORITY",
		Short: "Change the priority of an application: the higher one goes first in its queue",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := exactly("one ID", "one PRIORITY")(cmd, args); err != nil {
				return err
			}
			n, err := strconv.ParseInt(args[1], 10, 32)
			if err != nil || n < 0 {
				return usagef("PRIORITY is %q; want a whole number from 0 to %d", args[1], math.MaxInt32)
			}
			priority = int32(n)
			return appIDs(1)(cmd, args[:1])
		},
		ValidArgsFunction: r.completeIDs(1, liveApps),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error {
				got, err := c.SetPriority(ctx, args[0], priority)
				if err != nil {
					return asked(err)
				}
				if r.json() {
					return wrote(printJSON(a.out, struct {
						ID       string `json:"id"`
						Priority int32  `json:"priority"`
					}{args[0], got}))
				}
				if got != priority {
					a.note("%d is the highest priority that the cluster allows (yarn.cluster.max-application-priority)", got)
				}
				_, err = fmt.Fprintf(a.out, "%s has priority %d\n", args[0], got)
				return wrote(err)
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	r.writing(cmd)
	return cmd
}

func newMove(a *app) *cobra.Command {
	r := &remoteFlags{}
	cmd := &cobra.Command{
		Use:   "move [flags] ID QUEUE",
		Short: "Move an application to another queue",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := exactly("one ID", "one QUEUE")(cmd, args); err != nil {
				return err
			}
			return appIDs(1)(cmd, args[:1])
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return r.completeIDs(1, liveApps)(cmd, args, typed)
			}
			return r.completeIDs(2, leafPaths)(cmd, args, typed)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error {
				queue, err := c.Move(ctx, args[0], args[1])
				if err != nil {
					return asked(err)
				}
				if r.json() {
					return wrote(printJSON(a.out, struct {
						ID    string `json:"id"`
						Queue string `json:"queue"`
					}{args[0], queue}))
				}
				_, err = fmt.Fprintf(a.out, "%s is in %s\n", args[0], plain.Line(queue))
				return wrote(err)
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	r.writing(cmd)
	return cmd
}
