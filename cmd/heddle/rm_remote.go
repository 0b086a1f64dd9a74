package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"heddle/client"
	"heddle/daemon/setup"
)

// remoteFlags say which ResourceManager a command asks, as which user, and what it prints.
type remoteFlags struct {
	url    string
	user   string
	output choice
}

// completionTime is how long a shell waits for completions from a ResourceManager.
const completionTime = time.Second

// add adds the flags of all commands that ask a ResourceManager.
func (r *remoteFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.url, "rm", "", "web address of the ResourceManager, `URL` or host:port (default: what "+
		"HADOOP_CONF_DIR says, else "+client.DefaultURL+")")
}

// printing adds -o.
func (r *remoteFlags) printing(cmd *cobra.Command) {
	r.output = choice{value: "table", of: []string{"table", "json"}}
	choose(cmd, &r.output, "output", "o", "output format")
}

// writing adds --user.
func (r *remoteFlags) writing(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.user, "user", "", "act as `USER` (default: HADOOP_USER_NAME, else the user who runs the command)")
}

func (r *remoteFlags) json() bool { return r.output.value == "json" }

// client returns a client for the flags.
func (r *remoteFlags) client(timeout time.Duration) (*client.Client, error) {
	at := r.url
	if at == "" {
		var err error
		if at, err = setup.WebURL(); err != nil {
			return nil, fmt.Errorf("%w; --rm names a ResourceManager without it", err)
		}
	}
	c, err := client.New(client.Options{URL: at, User: r.who(), Timeout: timeout})
	if err != nil {
		return nil, usageError{fmt.Errorf("--rm: %w", err)}
	}
	return c, nil
}

// who returns the user: that of the flag, or else the one that Hadoop's own clients would use.
func (r *remoteFlags) who() string {
	if r.user != "" {
		return r.user
	}
	if name := os.Getenv("HADOOP_USER_NAME"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

// A missing is an error about something that the ResourceManager does not have.
type missing struct{ error }

func (m missing) Unwrap() error { return m.error }

// asked converts an error of a ResourceManager into the error with the right exit code.
func asked(err error) error {
	switch {
	case err == nil:
		return nil
	case client.NotFound(err):
		return missing{err}
	case errors.Is(err, context.Canceled):
		return failure{errors.New("stopped")}
	}
	return failure{err}
}

// interruptible returns a context that the user's first interrupt ends; the second ends the program.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// ask runs do with a client and a context that ends when the user interrupts.
func (r *remoteFlags) ask(do func(context.Context, *client.Client) error) error {
	c, err := r.client(0)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	return do(ctx, c)
}

// completeIDs completes names that the ResourceManager knows; each may be followed by a tab and a description. If it
// does not answer within a second, nothing is offered.
func (r *remoteFlags) completeIDs(most int, names func(context.Context, *client.Client) ([]string, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := r.client(completionTime)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, stop := context.WithTimeout(context.Background(), completionTime)
		defer stop()
		all, err := names(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, name := range all {
			id, _, _ := strings.Cut(name, "\t")
			if strings.HasPrefix(id, typed) && !slices.Contains(args, id) {
				out = append(out, name)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
