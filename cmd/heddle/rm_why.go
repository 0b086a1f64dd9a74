package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"heddle/client"
	"heddle/internal/plain"
)

func newWhy(a *app) *cobra.Command {
	r := &remoteFlags{}
	cmd := &cobra.Command{
		Use:   "why [flags] ID",
		Short: "Explain what an application waits for, and who holds that",
		Long: `Explain what an application waits for. For each request: how many containers of which size, since when, the
reason for all nodes or for groups of them, which policy of the profile refuses and by which limit, which
resource is short, the place in line, and who holds most of what the application waits for. Then what is
known from its submission and from its master, how old that is, and what its nodes could not do.`,
		Args:              appIDs(1),
		ValidArgsFunction: r.completeIDs(1, liveApps),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.ask(func(ctx context.Context, c *client.Client) error {
				app, e, err := whyOf(ctx, c, args[0])
				if err != nil {
					return asked(err)
				}
				if r.json() {
					return wrote(printJSON(a.out, e))
				}
				_, err = fmt.Fprint(a.out, plain.Lines(whySentences(app, e, time.Now())))
				return wrote(err)
			})
		},
	}
	r.add(cmd)
	r.printing(cmd)
	return cmd
}
