package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"heddle/client"
	"heddle/rm"
	"heddle/yarn/ids"
)

var nodeStates = []string{"NEW", "RUNNING", "UNHEALTHY", "DECOMMISSIONING", "DECOMMISSIONED", "LOST", "REBOOTED", "SHUTDOWN"}

func newNode(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "node",
		Short: "Look at the nodes of a ResourceManager, and run an agent on one",
	}, append([]*cobra.Command{newNodeList(a), newNodeStatus(a), newNodeContainers(a), newNodeToken(a), newNodeJoin(a)}, newNodeAgents(a)...)...)
}

func newNodeList(a *app) *cobra.Command {
	r := &remoteFlags{}
	states := words{of: nodeStates, kind: "S,S"}
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List nodes, including those that are gone",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error {
				rows, err := c.Nodes(ctx, states.values)
				if err != nil {
					return asked(err)
				}
				if r.json() {
					return wrote(printJSON(a.out, rm.Nodes{List: rows}))
				}
				return a.printNodes(rows, time.Now())
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	cmd.Flags().Var(&states, "state", "in one of these states: "+strings.Join(nodeStates, ", "))
	must(cmd.RegisterFlagCompletionFunc("state", completeList(nodeStates, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func newNodeStatus(a *app) *cobra.Command {
	r := &remoteFlags{}
	cmd := &cobra.Command{
		Use:               "status [flags] NODE",
		Short:             "Show everything about a node; NODE is host:port",
		Args:              oneNode,
		ValidArgsFunction: r.completeIDs(1, nodeIDs),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error {
				n, err := c.Node(ctx, args[0])
				if err != nil {
					return asked(err)
				}
				if r.json() {
					return wrote(printJSON(a.out, n))
				}
				return a.printNode(n, time.Now())
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	return cmd
}

// oneNode accepts the id of one node.
func oneNode(cmd *cobra.Command, args []string) error {
	if err := exactly("one NODE")(cmd, args); err != nil {
		return err
	}
	if _, err := ids.ParseNode(args[0]); err != nil {
		return usageError{err}
	}
	return nil
}

func newNodeContainers(a *app) *cobra.Command {
	r := &remoteFlags{}
	cmd := &cobra.Command{
		Use:               "containers [flags] NODE",
		Short:             "List the containers on a node with their states; NODE is host:port",
		Args:              oneNode,
		ValidArgsFunction: r.completeIDs(1, nodeIDs),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error {
				list, err := c.NodeContainers(ctx, args[0])
				if err != nil {
					return asked(err)
				}
				if r.json() {
					return wrote(printJSON(a.out, list))
				}
				if list.Masked > 0 {
					a.note("%s of others are not shown: %s", plural(list.Masked, "container"), whyMasked)
				}
				return a.printContainers(list.List, time.Now())
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	return cmd
}
