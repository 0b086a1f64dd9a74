// Command agents measures what node agents cost a ResourceManager. It runs a cluster of hollow NodeManagers, whose
// containers are not processes, each with a node agent beside it, against one heddle rm in a separate process. The
// agents are those of [agent], except that what they act on is hollow too; the NodeManagers and masters speak YARN's
// protocols.
//
// It measures three steps: the NodeManagers alone, then with agents beside them, and then with a policy that weighs and
// parks containers at a steady rate. The lag of such a deed is the time from the ResourceManager's decision until the
// agent carries it out.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"heddle/test/hollow"
)

// collect is how much garbage the load generator may make, in percent of its live heap. It leaves processors to the
// ResourceManager, whose own setting is unchanged.
const collect = 400

// settings are the settings of the command line.
type settings struct {
	nodes, containers int // nodes in total, containers per node
	shared            int // NodeManagers per connection
	deeds             int // per second
	every             time.Duration
	measured          time.Duration
	profile           string
	cpuProfile        string
	log               *slog.Logger
}

func main() {
	if os.Getenv(asManager) != "" {
		if err := manage(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "the ResourceManager:", err)
			os.Exit(1)
		}
		return
	}
	s := settings{log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flag.IntVar(&s.nodes, "nodes", 10_000, "NodeManagers, each with an agent")
	flag.IntVar(&s.containers, "containers", 30, "containers on each")
	flag.IntVar(&s.shared, "shared", 20, "NodeManagers that share a connection, because a process has only so many files open")
	flag.IntVar(&s.deeds, "deeds", 1000, "containers that are weighed each second; every other one is parked too, or let run again")
	flag.DurationVar(&s.every, "every", time.Second, "how often the policy runs that wants them weighed")
	flag.DurationVar(&s.measured, "for", time.Minute, "how long each step is measured")
	flag.StringVar(&s.profile, "profile", "capacity", "the scheduler")
	flag.StringVar(&s.cpuProfile, "cpuprofile", "", "where to write a profile of the ResourceManager's processor time during the last step")
	flag.Parse()
	debug.SetGCPercent(collect)
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	steps, err := run(ctx, &s)
	cancel()
	if err == nil {
		err = table(os.Stdout, steps)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

// check refuses settings that cannot be measured.
func (s *settings) check() error {
	switch {
	case s.nodes < 1 || s.nodes > hollow.MostNodes || s.containers < 1 || s.shared < 1:
		return fmt.Errorf("want 1 to %d nodes, and containers and nodes on a connection from 1 up", hollow.MostNodes)
	case s.deeds < 1 || s.every < minEvery || s.perRun() < 1:
		return fmt.Errorf("want at least one deed every time, %v apart at least", minEvery)
	case s.perRun() > s.nodes*s.containers:
		return fmt.Errorf("%d deeds at a time are more than there are containers", s.perRun())
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	if need := s.nodes + s.nodes/s.shared + s.masters() + spareFiles; uint64(need) > files.Max {
		return fmt.Errorf("a process may have %d files open, and this takes %d; raise the limit (ulimit -n), or -shared", files.Max, need)
	}
	return nil
}

// perRun returns how many containers the policy weighs in each run.
func (s *settings) perRun() int { return int(float64(s.deeds) * s.every.Seconds()) }

// masters returns how many applications the containers belong to.
func (s *settings) masters() int { return 1 + s.nodes*s.containers/mostOfMaster }

const (
	minEvery     = 10 * time.Millisecond
	spareFiles   = 200
	mostOfMaster = 30_000
)

// run starts the cluster and measures it step by step.
func run(ctx context.Context, s *settings) (steps []*step, err error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m, err := startManager(s)
	if err != nil {
		return nil, err
	}
	defer func() {
		if ended := m.stop(); err == nil {
			err = ended
		}
	}()
	c := newCluster(ctx, s, m, cancel)
	defer c.stop()
	if err := c.fill(); err != nil {
		return nil, err
	}
	s.log.Info("the cluster is full", "nodes", s.nodes, "containers", s.nodes*s.containers, "applications", s.masters())
	measure := func(what string) error {
		st, err := c.measure(what)
		steps = append(steps, st)
		return err
	}
	if err := measure("NodeManagers"); err != nil {
		return nil, err
	}
	if err := c.startAgents(); err != nil {
		return nil, err
	}
	s.log.Info("the agents are connected")
	if err := measure("and agents"); err != nil {
		return nil, err
	}
	if _, err := m.say(order{Deeds: true, Profile: s.cpuProfile}); err != nil {
		return nil, err
	}
	if err := measure("and deeds"); err != nil {
		return nil, err
	}
	wanted, err := m.say(order{})
	if err != nil {
		return nil, err
	}
	return steps, c.settle(steps[len(steps)-1], wanted)
}
