// Command soak tests heddle rm for a long time, from outside.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if path := os.Getenv(asCommitter); path != "" {
		if err := asked(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// commands are its subcommands.
var commands = map[string]func(context.Context, *flag.FlagSet, []string) (wrong int, err error){
	"kills": killCommand, "cuts": cutCommand, "steady": steadyCommand,
}

func command(ctx context.Context, args []string) error {
	names := strings.Join(slices.Sorted(maps.Keys(commands)), ", ")
	if len(args) == 0 || commands[args[0]] == nil {
		return fmt.Errorf("say what to do, one of %s; -h after it lists its flags", names)
	}
	f := flag.NewFlagSet("soak "+args[0], flag.ContinueOnError)
	wrong, err := commands[args[0]](ctx, f, args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d things are wrong", wrong)
	}
	return err
}

func killCommand(ctx context.Context, f *flag.FlagSet, args []string) (int, error) {
	k := kills{out: os.Stderr}
	f.StringVar(&k.binary, "heddle", "bin/heddle", "the program")
	f.IntVar(&k.count, "kills", 200, "how often it is killed")
	f.BoolVar(&k.power, "power", false, "each kill is a power cut: what was not synced is found in part")
	f.IntVar(&k.nodes, "nodes", 20, "hollow NodeManagers")
	f.Uint64Var(&k.seed, "seed", uint64(time.Now().UnixNano()), "when it is killed and what clients do follows from it")
	if err := f.Parse(args); err != nil {
		return 0, err
	}
	fmt.Fprintln(k.out, "seed", k.seed)
	return inFolder(func(dir string) (int, error) {
		k.dir = dir
		res, err := k.run(ctx)
		if err != nil {
			return 0, err
		}
		res.table(os.Stdout)
		return len(res.wrong) + len(res.complains), nil
	})
}

func cutCommand(ctx context.Context, f *flag.FlagSet, args []string) (int, error) {
	c := cuts{out: os.Stderr}
	f.IntVar(&c.count, "cuts", 2000, "how often the power is cut")
	f.Uint64Var(&c.seed, "seed", uint64(time.Now().UnixNano()), "when it is cut and what is left follows from it")
	if err := f.Parse(args); err != nil {
		return 0, err
	}
	fmt.Fprintln(c.out, "seed", c.seed)
	return inFolder(func(dir string) (int, error) {
		c.dir = dir
		res, err := c.run(ctx)
		if err != nil {
			return 0, err
		}
		res.table(os.Stdout)
		return len(res.wrong), nil
	})
}

func steadyCommand(ctx context.Context, f *flag.FlagSet, args []string) (int, error) {
	s := steady{out: os.Stderr}
	f.StringVar(&s.binary, "heddle", "bin/heddle", "the program")
	f.DurationVar(&s.last, "for", time.Hour, "how long it lasts")
	f.DurationVar(&s.every, "every", 5*time.Second, "how often it is read what the program takes")
	f.IntVar(&s.nodes, "nodes", 20, "hollow NodeManagers")
	f.Uint64Var(&s.seed, "seed", 1, "what clients do follows from it")
	f.StringVar(&s.plot, "plot", "", "where a plot is written, as SVG; nowhere if empty")
	if err := f.Parse(args); err != nil {
		return 0, err
	}
	return inFolder(func(dir string) (int, error) {
		s.dir = dir
		res, err := s.run(ctx)
		if err != nil {
			return 0, err
		}
		if err := res.table(os.Stdout); err != nil {
			return 0, err
		}
		for _, what := range res.wrong {
			fmt.Println("WRONG:", what)
		}
		return len(res.wrong), nil
	})
}

// inFolder calls do with a temporary folder, which stays if something was wrong.
func inFolder(do func(dir string) (int, error)) (int, error) {
	dir, err := os.MkdirTemp("", "heddle-soak-")
	if err != nil {
		return 0, err
	}
	wrong, err := do(dir)
	if err != nil || wrong > 0 {
		fmt.Fprintln(os.Stderr, "its log and its store are in", dir)
		return wrong, err
	}
	return 0, os.RemoveAll(dir)
}
