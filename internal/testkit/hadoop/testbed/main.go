// Command testbed fetches, starts, uses and stops the real Hadoop cluster that the tests run on, for use by hand.
//
// It is a thin shell around package hadoop; the README beside that package says how to use it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"heddle/internal/testkit/hadoop"
)

// requiredVariable, if set to 1, makes it an error if this machine lacks what the testbed needs.
const requiredVariable = "HEDDLE_HADOOP_REQUIRED"

// A verb is one thing that the command can do, given the arguments after its name.
type verb func(ctx context.Context, args []string) error

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testbed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	verbs := map[string]verb{
		"check": check, "fetch": fetch, "up": up, "down": down, "status": status, "rm": rm, "env": env, "demo": demo, "record": record,
		"mr": job(func(ctx context.Context, b *hadoop.Testbed, a []string) (*hadoop.Run, error) {
			return b.StartMR(ctx, a[0], a[1:]...)
		}),
		"sleep": job(func(ctx context.Context, b *hadoop.Testbed, a []string) (*hadoop.Run, error) {
			return b.StartSleep(ctx, a...)
		}),
		"shell": job(func(ctx context.Context, b *hadoop.Testbed, a []string) (*hadoop.Run, error) {
			return b.StartShell(ctx, a...)
		}),
		"spark": job(func(ctx context.Context, b *hadoop.Testbed, a []string) (*hadoop.Run, error) {
			return b.StartSpark(ctx, a[0], a[1:]...)
		}),
		"yarn": job(func(ctx context.Context, b *hadoop.Testbed, a []string) (*hadoop.Run, error) {
			return b.StartYarn(ctx, a[0], a[1:]...)
		}),
		"java": job(func(ctx context.Context, b *hadoop.Testbed, a []string) (*hadoop.Run, error) {
			return b.StartJava(ctx, "java", a[0], a[1:]...)
		}),
		"fs": job(func(ctx context.Context, b *hadoop.Testbed, a []string) (*hadoop.Run, error) {
			return b.StartJava(ctx, "fs", "org.apache.hadoop.fs.FsShell", a...)
		}),
	}
	if len(args) == 0 || verbs[args[0]] == nil {
		return fmt.Errorf("say what to do: %s (internal/testkit/hadoop/README.md explains)", strings.Join(slices.Sorted(maps.Keys(verbs)), ", "))
	}
	return verbs[args[0]](ctx, args[1:])
}

func check(context.Context, []string) error {
	missing := hadoop.Missing()
	if missing == "" {
		return nil
	}
	if os.Getenv(requiredVariable) == "1" {
		return errors.New(missing)
	}
	fmt.Println(missing)
	return nil
}

func fetch(ctx context.Context, _ []string) error {
	cache, err := hadoop.OpenCache()
	if err != nil {
		return err
	}
	if err := cache.Fetch(ctx); err != nil {
		return err
	}
	fmt.Println(cache.Dir)
	return nil
}

// rmFlags returns the flags that up and rm share.
func rmFlags(name string, o *hadoop.Options) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.StringVar(&o.RM, "rm", hadoop.Heddle, "heddle, stock or none")
	f.StringVar(&o.Profile, "profile", "capacity", "the ResourceManager's profile; the stock one has capacity and fair")
	f.StringVar(&o.Binary, "binary", "", "the heddle program; it is built where none is named")
	f.BoolVar(&o.Recovery, "recovery", false, "the stock ResourceManager keeps its state")
	f.Func("site", "a property of yarn-site.xml as name=value; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return errors.New("want name=value")
		}
		if o.Site == nil {
			o.Site = map[string]string{}
		}
		o.Site[name] = value
		return nil
	})
	return f
}

func up(ctx context.Context, args []string) error {
	o := hadoop.Options{Detached: true, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	f := rmFlags("up", &o)
	f.IntVar(&o.Nodes, "nodes", 3, "NodeManagers and DataNodes")
	f.IntVar(&o.NodeMB, "mb", 4096, "memory of each NodeManager in MiB")
	f.DurationVar(&o.LockWait, "wait", 0, "how long to wait for another testbed to stop")
	if err := f.Parse(args); err != nil {
		return err
	}
	b, err := hadoop.Start(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("%s is up in %s\n", b.Describe(), b.Dir)
	return nil
}

// rm replaces the ResourceManager of the running testbed, kills it, or restarts it on the state it left.
func rm(ctx context.Context, args []string) error {
	b, err := hadoop.Open("")
	if err != nil {
		return err
	}
	switch {
	case len(args) > 0 && args[0] == "kill":
		return b.KillRM()
	case len(args) > 0 && args[0] == "start":
		_, err := b.RestartRM(ctx)
		return err
	}
	var o hadoop.Options
	if err := rmFlags("rm", &o).Parse(args); err != nil {
		return err
	}
	_, err = b.UseRM(ctx, o)
	return err
}

func down(context.Context, []string) error {
	b, err := hadoop.Open("")
	if err != nil {
		return err
	}
	return b.Stop()
}

func status(context.Context, []string) error {
	b, err := hadoop.Open("")
	if err != nil {
		return err
	}
	fmt.Printf("%s in %s\n", b.Describe(), b.Dir)
	for _, d := range b.Status() {
		fmt.Printf("%-16s %8d  %s\n", d.Name, d.Process, d.State())
	}
	return nil
}

func env(context.Context, []string) error {
	b, err := hadoop.Open("")
	if err != nil {
		return err
	}
	fmt.Println("export HADOOP_CONF_DIR=" + b.Conf())
	return nil
}

// job runs a client on the running testbed and prints its output.
func job(start func(context.Context, *hadoop.Testbed, []string) (*hadoop.Run, error)) verb {
	return func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return errors.New("it takes arguments")
		}
		b, err := hadoop.Open("")
		if err != nil {
			return err
		}
		b.Echo(os.Stdout, os.Stderr)
		r, err := start(ctx, b, args)
		if err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return fmt.Errorf("it failed; its output is in %s too", r.Log)
		}
		return nil
	}
}
