package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"heddle/internal/testkit/hadoop"
)

// demoControl gives maps whose processors are busy more processor time than others, or less, as MROrchestrator does. It
// acts sooner than after MROrchestrator's 20 s, and considers a node busy that uses 0.4 of the 8 processors that it
// offers.
const demoControl = "control=[{mrorchestrator.uniform: {mode: cpu, epoch: 4, profile: 2, pressed: 0.05}}]"

// demoGroup is the control group in which node agents create those of containers.
const demoGroup = "heddle-demo"

// demo starts a testbed with heddle rm and a node agent beside each NodeManager, runs a MapReduce and a Spark job on
// it, shows what the agents do and where to look, and stops. In a terminal it waits for Enter between the steps.
func demo(ctx context.Context, _ []string) (err error) {
	cache, err := hadoop.OpenCache()
	if err != nil {
		return err
	}
	fmt.Println("starting HDFS, three NodeManagers, the job history server and heddle rm …")
	o := hadoop.Options{
		RM: hadoop.Heddle, Profile: "heddle", Set: []string{demoControl}, Agents: true, Dir: filepath.Join(cache.Dir, "demo"),
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	b, err := hadoop.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, b.Stop())
		fmt.Println("stopped; the logs are in", filepath.Dir(b.LogFile("resourcemanager")))
	}()
	fmt.Printf("the ResourceManager is at http://%s/ws/v1/cluster/apps; its log is %s\n\n", hadoop.RMWeb, b.LogFile("resourcemanager"))
	if err := b.StartAgents(ctx, demoGroup); err != nil {
		return err
	}
	if err := demoJobs(ctx, b); err != nil {
		return err
	}
	if err := b.StopAgents(ctx, demoGroup); err != nil {
		return err
	}
	fmt.Print("no control group of a container is left, and the node agents have stopped\n\n")
	if err := ask(ctx, b, "app", "list", "--all"); err != nil {
		return err
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	fmt.Printf("HADOOP_CONF_DIR=%s is what stock clients need. Enter stops it all.\n", b.Conf())
	return enter(ctx, os.Stdin)
}

// demoJobs runs both jobs at the same time and prints their results.
func demoJobs(ctx context.Context, b *hadoop.Testbed) error {
	pi, err := b.SparkExample(hadoop.Spark4, "pi.py")
	if err != nil {
		return err
	}
	fmt.Println("MapReduce: pi with 4 maps; Spark " + hadoop.Spark4 + ": pi.py with 4 tasks, its driver in the cluster …")
	mr, err := b.StartMR(ctx, "pi", "4", "600000000")
	if err != nil {
		return err
	}
	sparkRun, err := b.StartSpark(ctx, hadoop.Spark4, "--deploy-mode", "cluster", pi, "4")
	if err != nil {
		return err
	}
	if err := showDeeds(ctx, b); err != nil {
		return err
	}
	res, err := mr.Wait()
	spark, sparkErr := sparkRun.Wait()
	if err := errors.Join(err, sparkErr); err != nil {
		return err
	}
	outs, err := b.ContainerOutput(spark.App, "stdout")
	if err != nil {
		return err
	}
	printed := res.Out
	for _, out := range outs {
		printed += out
	}
	for line := range strings.Lines(printed) {
		if strings.Contains(line, "Pi is") {
			fmt.Print("  ", line)
		}
	}
	fmt.Println()
	return nil
}

// showDeeds prints what an agent does with the containers on its node, once it does something.
func showDeeds(ctx context.Context, b *hadoop.Testbed) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		for n := 1; n <= b.Options().Nodes; n++ {
			var on struct {
				Containers []struct {
					Parked bool    `json:"parked"`
					Weight float64 `json:"weight"`
				} `json:"containers"`
			}
			if err := b.Heddle(ctx, "nodes/"+b.NodeID(n)+"/containers", &on); err != nil {
				return err
			}
			for _, c := range on.Containers {
				if c.Parked || c.Weight != 0 {
					return showNode(ctx, b, n)
				}
			}
		}
		if err := hadoop.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	fmt.Println("for a minute no container has had another part of the processors than its size gives it")
	return showNode(ctx, b, 1)
}

// showNode prints what heddle shows about a node.
func showNode(ctx context.Context, b *hadoop.Testbed, n int) error {
	fmt.Println()
	return errors.Join(ask(ctx, b, "node", "list"), ask(ctx, b, "node", "status", b.NodeID(n)), ask(ctx, b, "node", "containers", b.NodeID(n)))
}

// ask runs one of heddle's own commands.
func ask(ctx context.Context, b *hadoop.Testbed, args ...string) error {
	fmt.Println("$ heddle " + strings.Join(args, " "))
	c := exec.CommandContext(ctx, b.Options().Binary, args...)
	c.Env = append(os.Environ(), "HADOOP_CONF_DIR="+b.Conf())
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("heddle %s: %w", strings.Join(args, " "), err)
	}
	fmt.Println()
	return nil
}

// enter waits for a line, or for the end of ctx.
func enter(ctx context.Context, in io.Reader) error {
	read := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(in).ReadString('\n')
		read <- err
	}()
	select {
	case err := <-read:
		return err
	case <-ctx.Done():
		return nil // Ctrl-C stops the demo just as well
	}
}
