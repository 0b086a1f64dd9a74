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

	"golang.org/x/term"

	"heddle/internal/testkit/hadoop"
)

// demo starts a testbed with heddle rm, runs a MapReduce and a Spark job on it, shows where to look, and stops.
// In a terminal it waits for Enter in between.
func demo(ctx context.Context, _ []string) (err error) {
	cache, err := hadoop.OpenCache()
	if err != nil {
		return err
	}
	fmt.Println("starting HDFS, three NodeManagers, the job history server and heddle rm …")
	o := hadoop.Options{RM: hadoop.Heddle, Profile: "heddle", Dir: filepath.Join(cache.Dir, "demo"), Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	b, err := hadoop.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, b.Stop())
		fmt.Println("stopped; the logs are in", filepath.Dir(b.LogFile("resourcemanager")))
	}()
	fmt.Printf("the ResourceManager is at http://%s/ws/v1/cluster/apps; its log is %s\n\n", hadoop.RMWeb, b.LogFile("resourcemanager"))
	if err := demoJobs(ctx, b); err != nil {
		return err
	}
	for _, args := range [][]string{{"app", "list", "--all"}, {"node", "list"}} {
		if err := ask(ctx, b, args...); err != nil {
			return err
		}
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	fmt.Printf("HADOOP_CONF_DIR=%s is what stock clients need. Enter stops it all.\n", b.Conf())
	return enter(ctx, os.Stdin)
}

// demoJobs runs both jobs at the same time and prints what they found.
func demoJobs(ctx context.Context, b *hadoop.Testbed) error {
	pi, err := b.SparkExample(hadoop.Spark4, "pi.py")
	if err != nil {
		return err
	}
	fmt.Println("MapReduce: pi with 4 maps; Spark " + hadoop.Spark4 + ": pi.py with 4 tasks, its driver in the cluster …")
	mr, err := b.StartMR(ctx, "pi", "4", "1000")
	if err != nil {
		return err
	}
	spark, sparkErr := hadoop.Finish(b.StartSpark(ctx, hadoop.Spark4, "--deploy-mode", "cluster", pi, "4"))
	res, err := mr.Wait()
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
		return nil // Ctrl-C stops it just as well
	}
}
