package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"heddle/node/agent"
	"heddle/node/groups"
	"heddle/node/procs"
	"heddle/node/trust"
	"heddle/yarn/ids"
)

// agentFlags identify the NodeManager whose containers an agent handles.
type agentFlags struct {
	node, parent, run string
}

func (f *agentFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.node, "node", "", "the NodeManager, `host:port` as heddle node list shows it")
	fs.StringVar(&f.parent, "parent", "",
		"the control `GROUP` that holds those of the containers (default: heddle/<node>, or a scope of systemd)")
	fs.StringVar(&f.run, "run", "",
		"keep in `DIR` what is needed to undo changes (default: /run/heddle, or heddle in $XDG_RUNTIME_DIR)")
	must(cmd.MarkFlagRequired("node"))
	must(cmd.MarkFlagDirname("run"))
}

// open finds out what the machine supports.
func (f *agentFlags) open(log *slog.Logger) (*groups.Groups, error) {
	if _, err := ids.ParseNode(f.node); err != nil {
		return nil, usageError{err}
	}
	return groups.Open(groups.Options{Node: f.node, Parent: f.parent, Run: f.run, Log: log})
}

// newNodeAgents returns the commands that run on a node.
func newNodeAgents(a *app) []*cobra.Command {
	return []*cobra.Command{newNodeAgent(a), newNodeThaw(a), newNodeWarden(a)}
}

func newNodeAgent(a *app) *cobra.Command {
	f, c, dirs, credentials := &agentFlags{}, agent.Config{}, []string{}, ""
	cmd := &cobra.Command{
		Use:   "agent --rm URL --node HOST:PORT --local-dirs DIR[,DIR] [flags]",
		Short: "Carry out the ResourceManager's instructions on a NodeManager's containers",
		Long: `Run beside a NodeManager and change its containers as the ResourceManager wants: park, weigh and freeze
them. The agent connects to the ResourceManager and listens on no port. However it ends, every container
gets its defaults back. It logs on stderr what it does to which container.`,
		Example: `  heddle node agent --rm http://127.0.0.1:8039 --node 127.0.0.1:8041 --local-dirs /var/lib/hadoop/nm`,
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			log := slog.New(slog.NewTextHandler(a.err, nil))
			g, err := f.open(log)
			if err != nil {
				return err
			}
			finder, err := procs.New(dirs)
			if err != nil {
				return err
			}
			c.Node, c.Version, c.Finder, c.Dirs, c.Groups, c.Log = f.node, version(), finder, dirs, g, log
			if credentials != "" {
				if _, err := trust.CheckAddress(c.RM); err != nil {
					return usageError{fmt.Errorf("--rm: %w", err)}
				}
				if c.Client, err = trust.Client(credentials); err != nil {
					return failure{err}
				}
			}
			runs, err := agent.New(c)
			if err != nil {
				return usageError{err}
			}
			return attend(runs, g, f, log, func(ctx context.Context) {
				if credentials != "" {
					trust.KeepRenewed(ctx, c.Client, c.RM, credentials, func(err error) { log.Warn(err.Error()) })
				}
			})
		},
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&c.RM, "rm", "", "where the ResourceManager listens for agents (listen.agents), a `URL`")
	fs.StringVar(&credentials, "credentials", "", "the `DIR` that heddle node join has filled; without it nothing is encrypted, and --rm is on this machine")
	fs.StringSliceVar(&dirs, "local-dirs", nil, "the NodeManager's yarn.nodemanager.local-dirs, `DIR,DIR`")
	fs.StringVar(&c.NMWeb, "nm-web", "",
		"web address of the NodeManager, a `URL`; without it, or a control group of the agent's, processes that the NodeManager left behind keep running")
	must(cmd.MarkFlagRequired("rm"))
	must(cmd.MarkFlagRequired("local-dirs"))
	must(cmd.MarkFlagDirname("credentials"))
	return cmd
}

// attend runs an agent until a signal ends it, with a warden and another function beside it.
func attend(runs *agent.Agent, g *groups.Groups, f *agentFlags, log *slog.Logger, beside func(context.Context)) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := agent.Hold(g); err != nil {
		return failure{err}
	}
	tell, dismiss, err := guard(g, f, log)
	if err != nil { // the warden of an agent that was killed leaves the rest to this one
		return failure{errors.Join(err, g.RestoreAll())}
	}
	runs.Watch(tell)
	go beside(ctx)
	log.Info("started", "node", f.node, "can", strings.Join(g.Can().Names(), ","))
	err = runs.Run(ctx)
	dismiss(err == nil)
	if err != nil {
		return failure{err}
	}
	log.Info("stopped: every container has its defaults again")
	return nil
}

// guard prepares for containers and starts a warden.
func guard(g *groups.Groups, f *agentFlags, log *slog.Logger) (tell func(time.Time), dismiss func(restored bool), err error) {
	if err := g.Prepare(); err != nil {
		return nil, nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	return agent.Guard([]string{exe, "node", "warden", "--node", f.node, "--parent", f.parent, "--run", f.run}, log)
}

func newNodeThaw(a *app) *cobra.Command {
	f := &agentFlags{}
	cmd := &cobra.Command{
		Use:   "thaw --node HOST:PORT [flags]",
		Short: "Restore the defaults of a NodeManager's containers after an agent was killed",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			g, err := f.open(a.log)
			if err != nil {
				return err
			}
			if !g.Known() {
				a.note("no agent of %s has run here with this --parent and --run: there is nothing to restore", f.node)
			}
			if err := g.RestoreAll(); err != nil {
				return failure{err}
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func newNodeWarden(a *app) *cobra.Command {
	f := &agentFlags{}
	cmd := &cobra.Command{
		Use:    "warden --node HOST:PORT [flags]",
		Short:  "Wait until an agent ends, then restore the defaults of every container",
		Hidden: true,
		Args:   exactly(),
		RunE: func(*cobra.Command, []string) error {
			g, err := f.open(slog.New(slog.NewTextHandler(a.err, nil)))
			if err != nil {
				return err
			}
			if err := agent.Ward(os.Stdin, g); err != nil {
				return failure{err}
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}
