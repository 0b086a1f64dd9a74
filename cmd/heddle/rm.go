package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"heddle/conf"
	"heddle/daemon"
	"heddle/daemon/serve"
	"heddle/daemon/setup"
	"heddle/daemon/store"
	"heddle/daemon/web"
	"heddle/internal/plain"
)

const (
	// stopTime is how long the daemon may take to stop before it is ended by force. Everything it has promised is on
	// the disk at any moment.
	stopTime = 10 * time.Second
	// lastWords is how much time it then has to log that: possibly nobody reads its output.
	lastWords = time.Second
	// refreshTime is how long rereading the configuration may take.
	refreshTime = 30 * time.Second
)

// rmFlags are the flags of heddle rm.
type rmFlags struct {
	setup.Options
	listen listen
	level  choice
	format choice
}

func newRM(a *app) *cobra.Command {
	f := &rmFlags{
		level:  choice{of: []string{"debug", "info", "warn", "error"}},
		format: choice{of: []string{"text", "json"}},
	}
	cmd := &cobra.Command{
		Use:   "rm [--profile P] [--data DIR] [--conf DIR] [flags]",
		Short: "Run a ResourceManager",
		Long: `Run a ResourceManager for unmodified Hadoop and Spark. It needs no configuration: without one it serves
this machine alone, on YARN's ports. SIGTERM and Ctrl-C stop it. Applications keep running, and the next
start finds them again. On SIGHUP it reloads queues, limits and profile.`,
		Example: `  heddle rm
  heddle rm --conf /etc/hadoop/conf
  heddle rm --profile fair --set place.map=delay --listen web=:9088`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error { return a.manage(f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.Profile, "profile", "", "scheduling profile `P`, built in or a file (default: heddle.yaml's, else the scheduler that is configured, else heddle)")
	must(cmd.RegisterFlagCompletionFunc("profile", completeProfile))
	fs.StringArrayVar(&f.Sets, "set", nil, "a change of the profile, `slot.kind=policy`; may be repeated")
	fs.StringVar(&f.Data, "data", "", "keep state in `DIR` (default: heddle.yaml's, else heddle in $XDG_STATE_HOME or in ~/.local/state)")
	fs.StringVar(&f.ConfDir, "conf", "", "Hadoop configuration in `DIR`, with a heddle.yaml if there is one (default: $HADOOP_CONF_DIR)")
	must(cmd.MarkFlagDirname("data"))
	must(cmd.MarkFlagDirname("conf"))
	fs.Var(&f.listen, "listen", "where to listen: a host for all ports, or "+oneOf(portNames)+" with =host:port or =:port; may be repeated")
	choose(cmd, &f.level, "log-level", "", "least severe level that is logged to stderr (default: heddle.yaml's, else info)")
	choose(cmd, &f.format, "log-format", "", "log format (default: heddle.yaml's, else text)")
	return cmd
}

// manage runs a ResourceManager until it is told to stop.
func (a *app) manage(f *rmFlags) error {
	f.Listen = f.listen.Listen
	d, err := setup.Load(f.Options)
	if err != nil {
		return err
	}
	return a.manageAs(f, d)
}

// manageAs is manage with a given configuration.
func (a *app) manageAs(f *rmFlags, d *setup.Daemon) error {
	log := a.logger(f, d.Log)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGHUP) // the others end a start at once, also one that hangs: nothing is lost
	defer signal.Stop(signals)

	first := untouched(d.DataDir)
	if first {
		if err := vacant(&d.Config); err != nil {
			return cannotStart(err)
		}
	}
	began := time.Now()
	settings := make([]web.Property, len(d.Properties))
	for i, p := range d.Properties {
		settings[i] = web.Property{Key: p.Name, Value: p.Value, Final: p.Final, Source: p.File}
	}
	running, err := serve.Start(serve.Options{
		Config: d.Config, Scheduler: d.Scheduler, Refresh: d.Refresh, Facts: d.Facts, Settings: settings, DataDir: d.DataDir, Version: version(), Owner: (&remoteFlags{}).who(), Log: log,
	})
	if err != nil {
		return cannotStart(err)
	}
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	listening := log
	if running.Agents.IsValid() {
		listening = log.With("agents", running.Agents)
	}
	listening.Info("listening", "client", running.Client, "scheduler", running.Scheduler, "tracker", running.Tracker,
		"admin", running.Admin, "web", running.Web, "profile", d.Scheduler.Profile, "data", d.DataDir, "took", time.Since(began).Round(time.Millisecond))
	if !a.quiet && !f.json(d.Log) {
		n := notice{setup: d, daemon: running, first: first && d.Config.Recovery, verbose: a.verbose}
		if _, err := fmt.Fprint(a.out, plain.Lines(n.text())); err != nil {
			log.Warn("the startup notice cannot be written", "error", err)
		}
	} else {
		daemon.LogOff(log, d.Scheduler)
		for _, same := range conf.Together(d.Notices, conf.Unsupported) {
			log.Warn("a configured feature is not supported and stays off", "what", same[0].Text, "place", same[0].Place())
		}
	}
	return manageUntil(running, signals, log)
}

// cannotStart returns the error of a ResourceManager that cannot start, and why.
func cannotStart(why error) error {
	if errors.Is(why, syscall.EADDRINUSE) {
		why = fmt.Errorf("%w; end what listens there, or choose another port with --listen or in %s", why, setup.FileName)
	}
	return failure{fmt.Errorf("the ResourceManager cannot start: %w", why)}
}

// vacant returns an error if a port is taken. It is called before anything is stored: a start that fails must not count
// as the first.
func vacant(c *daemon.Config) error {
	for i, at := range []netip.AddrPort{c.Client, c.Scheduler, c.Tracker, c.Admin, c.Web, c.Agents} {
		if !at.IsValid() {
			continue // node agents need no port
		}
		l, err := net.Listen("tcp", at.String())
		if err != nil {
			return fmt.Errorf("the %s port: %w", portNames[i], err)
		}
		defer func() { _ = l.Close() }() // all at the end: no two may be the same
	}
	return nil
}

// manageUntil waits for the signal that ends the daemon, or for the daemon to end by itself.
func manageUntil(d *serve.Daemon, signals chan os.Signal, log *slog.Logger) error {
	// Reading files may hang, which must not block anything else. One reading waits behind the one under way, which may
	// have begun before the files changed.
	readings := make(chan struct{}, 1)
	defer close(readings)
	go func() {
		for range readings {
			refresh(d, log)
		}
	}()
	for {
		select {
		case err := <-d.Ended():
			endWithin(stopTime + lastWords)
			signal.Stop(signals)
			return failure{errors.Join(fmt.Errorf("the ResourceManager ended: %w", err), halt(d, log))}
		case s := <-signals:
			if s == syscall.SIGHUP {
				select {
				case readings <- struct{}{}:
				default: // one is already waiting
				}
				continue
			}
			endWithin(stopTime + lastWords)
			signal.Stop(signals) // a second signal ends the program at once
			log.Info("stopping", "signal", s.String())
			return halt(d, log)
		}
	}
}

// endWithin ends the process after a time, whatever it is doing then.
func endWithin(d time.Duration) { time.AfterFunc(d, func() { os.Exit(exitFailed) }) }

// refresh rereads the configuration of queues. If it is wrong, the previous configuration stays in effect.
func refresh(d *serve.Daemon, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), refreshTime)
	defer cancel()
	if err := d.RM.RefreshQueues(ctx); err != nil {
		log.Error("the configuration cannot be reloaded and stays in effect unchanged", "error", err)
	}
}

// halt stops the daemon, but does not wait forever.
func halt(d *serve.Daemon, log *slog.Logger) error {
	ended := make(chan error, 1)
	go func() { ended <- d.Stop() }()
	select {
	case err := <-ended:
		if err != nil {
			return failure{fmt.Errorf("the ResourceManager stopped, but not cleanly: %w", err)}
		}
		log.Info("stopped")
		return nil
	case <-time.After(stopTime):
		return failure{fmt.Errorf("the ResourceManager did not stop within %v and is terminated", stopTime)}
	}
}

func (f *rmFlags) json(configured setup.Log) bool {
	if f.format.value != "" {
		return f.format.value == "json"
	}
	return configured.JSON
}

// logger returns the daemon's logger, configured by the flags or else by heddle.yaml.
func (a *app) logger(f *rmFlags, configured setup.Log) *slog.Logger {
	o := &slog.HandlerOptions{Level: configured.Level, ReplaceAttr: daemon.BoundLog}
	if f.level.value != "" {
		var l slog.Level
		must(l.UnmarshalText([]byte(f.level.value))) // the flag accepts no other words
		o.Level = l
	}
	if f.json(configured) {
		return slog.New(slog.NewJSONHandler(a.err, o))
	}
	return slog.New(slog.NewTextHandler(a.err, o))
}

// untouched reports whether nothing has been kept in a folder yet. Other files, such as lost+found, do not matter.
func untouched(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, store.FileName))
	return errors.Is(err, os.ErrNotExist)
}

// A listen is a flag for the addresses to listen on.
type listen struct{ setup.Listen }

// portNames are the names of the ports in --listen.
var portNames = []string{"client", "scheduler", "tracker", "admin", "web", "agents"}

func (l *listen) Type() string { return "WHERE" }

func (l *listen) String() string { return l.Host }

func (l *listen) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		name, at, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			name, at = "", name
		}
		into, ok := map[string]*string{
			"": &l.Host, "client": &l.Client, "scheduler": &l.Scheduler, "tracker": &l.Tracker, "admin": &l.Admin, "web": &l.Web,
			"agents": &l.Agents,
		}[name]
		switch {
		case !ok || named && !slices.Contains(portNames, name):
			return fmt.Errorf("there is no port %q; want %s", name, oneOf(portNames))
		case at == "":
			return fmt.Errorf("want a host, or such as web=:9088")
		}
		*into = at
	}
	return nil
}
