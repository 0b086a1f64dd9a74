package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"heddle/daemon/setup"
	"heddle/node/trust"
)

// maxTokenInput is the most that is read when a token is expected.
const maxTokenInput = 4 << 10

func newNodeToken(a *app) *cobra.Command {
	var o setup.Options
	var node string
	var valid time.Duration
	cmd := &cobra.Command{
		Use:   "token [--node HOST:PORT] [--valid 1h] [flags]",
		Short: "Print a token for node agents to join with",
		Long: `Print a token for node agents to join with. The command reads the data folder of heddle rm, so it must
run on the ResourceManager's machine and as its user. Whoever has the token can join as any node until it
expires, or only as the node that --node names.`,
		Example: "  heddle node token --node n7.example.com:8041 --valid 10m",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			dir, err := setup.DataDir(o)
			if err != nil {
				return err
			}
			authority, err := trust.Load(dir)
			if err != nil {
				return err
			}
			t, err := authority.Token(node, valid)
			if err != nil {
				return usageError{err}
			}
			a.note("the token is valid until %s; use it with heddle node join on the node", t.Expires.Format(time.RFC3339))
			_, err = fmt.Fprintln(a.out, t)
			return wrote(err)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&node, "node", "", "only for this node, `HOST:PORT` of its NodeManager (default: for any node)")
	fs.DurationVar(&valid, "valid", time.Hour, "how long it is valid, 1m to 720h")
	fs.StringVar(&o.Data, "data", "", "state of heddle rm in `DIR` (default: as for heddle rm)")
	fs.StringVar(&o.ConfDir, "conf", "", "configuration of heddle rm in `DIR` (default: $HADOOP_CONF_DIR)")
	must(cmd.MarkFlagDirname("data"))
	must(cmd.MarkFlagDirname("conf"))
	return cmd
}

func newNodeJoin(a *app) *cobra.Command {
	var address, node, token, folder string
	cmd := &cobra.Command{
		Use:   "join --rm URL --node HOST:PORT --token T --credentials DIR",
		Short: "Get the certificate of this node's agent",
		Long: `Get the certificate with which the node agent of this node connects to the ResourceManager, and keep it
in a folder. The key is created on this machine and never leaves it. The agent renews the certificate itself.`,
		Example: "  heddle node join --rm https://rm:8039 --node n7:8041 --token - --credentials /etc/heddle/agent < token",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			for _, f := range []struct{ name, value string }{
				{"rm", address}, {"node", node}, {"token", token}, {"credentials", folder},
			} {
				if f.value == "" {
					return usagef("--%s is missing; heddle node join needs --rm, --node, --token and --credentials", f.name)
				}
			}
			if token == "-" {
				text, err := io.ReadAll(io.LimitReader(os.Stdin, maxTokenInput))
				if err != nil {
					return fmt.Errorf("the token on stdin: %w", err)
				}
				token = strings.TrimSpace(string(text))
			}
			if err := joinable(address, node, token); err != nil {
				return usageError{err}
			}
			ctx, stop := interruptible()
			defer stop()
			c, err := trust.Join(ctx, address, node, token, folder)
			if err != nil {
				return failure{err}
			}
			_, err = fmt.Fprintf(a.out, "node %s has joined; its certificate in %s is valid until %s\n",
				c.Node, folder, c.Until.UTC().Format(time.RFC3339))
			return wrote(err)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&address, "rm", "", "the ResourceManager's port for node agents, `URL` such as https://rm:8039")
	fs.StringVar(&node, "node", "", "this node, `HOST:PORT` of its NodeManager as heddle node list shows it")
	fs.StringVar(&token, "token", "", "what heddle node token printed, `T`; - reads it from stdin, so that no process list shows it")
	fs.StringVar(&folder, "credentials", "", "keep key and certificate in `DIR`")
	must(cmd.MarkFlagDirname("credentials"))
	return cmd
}

// joinable returns what is wrong with a command line.
func joinable(address, node, token string) error {
	if _, err := trust.CheckAddress(address); err != nil {
		return fmt.Errorf("--rm: %w", err)
	}
	if err := trust.CheckNode(node); err != nil {
		return fmt.Errorf("--node: %w", err)
	}
	if _, err := trust.ParseToken(token); err != nil {
		return fmt.Errorf("--token: %w", err)
	}
	return nil
}
