package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"heddle/client"
	"heddle/rm"
)

func newQueue(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "queue",
		Short: "Look at the queues of a ResourceManager",
	}, newQueueList(a), newQueueStatus(a))
}

func newQueueList(a *app) *cobra.Command {
	r := &remoteFlags{}
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List queues as a tree, with what they use",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error {
				rows, err := c.Queues(ctx)
				if err != nil {
					return asked(err)
				}
				if r.json() {
					return wrote(printJSON(a.out, rm.Queues{List: rows}))
				}
				return a.printQueues(rows)
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	return cmd
}

func newQueueStatus(a *app) *cobra.Command {
	r := &remoteFlags{}
	cmd := &cobra.Command{
		Use:               "status [flags] QUEUE",
		Short:             "Show everything about a queue, with its users",
		Long:              "Show everything about a queue, with its users. QUEUE is its path, or the last part where no\nother queue has the same.",
		Args:              exactly("one QUEUE"),
		ValidArgsFunction: r.completeIDs(1, queuePaths),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error {
				rows, err := c.Queues(ctx)
				if err != nil {
					return asked(err)
				}
				row, err := oneQueue(rows, args[0])
				if err != nil {
					return err
				}
				if r.json() {
					return wrote(printJSON(a.out, row))
				}
				return a.printQueue(row)
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	return cmd
}

// sameQueue reports whether name stands for the queue with the path: it is the path or its last part.
func sameQueue(path, name string) bool {
	return path == name || strings.HasSuffix(path, "."+name) && !strings.Contains(name, ".")
}

// oneQueue finds the queue that a name stands for.
func oneQueue(rows []rm.QueueReport, name string) (*rm.QueueReport, error) {
	var found []*rm.QueueReport
	var paths []string
	for i := range rows {
		if rows[i].Path == name {
			return &rows[i], nil
		}
		if sameQueue(rows[i].Path, name) {
			found = append(found, &rows[i])
			paths = append(paths, rows[i].Path)
		}
	}
	switch len(found) {
	case 0:
		return nil, missing{fmt.Errorf("there is no queue %q; heddle queue list shows the queues", name)}
	case 1:
		return found[0], nil
	}
	return nil, usagef("%q is ambiguous: it could be %s", name, strings.TrimSpace(oneOf(paths)))
}
