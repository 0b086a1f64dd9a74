package hadoop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Run is a client program: one that submits and watches a job, or a command of YARN's command line.
type Run struct {
	Name string
	Log  string // the file that keeps its output, both streams

	cmd    *exec.Cmd
	mu     sync.Mutex
	out    bytes.Buffer // guarded by mu
	all    bytes.Buffer // guarded by mu
	err    error
	ended  chan struct{}
	cancel context.CancelFunc
}

// A Result is the output of a finished client program.
type Result struct {
	App string // the last application it named, "" if none
	Out string // its standard output
	All string // both streams, in the order of output
}

var (
	applicationID = regexp.MustCompile(`(?:application|job)_\d+_\d+`)
	// submitted matches what YARN's client library logs, in any program, when the ResourceManager has accepted an
	// application. Jobs print their ids earlier.
	submitted = regexp.MustCompile(`Submitted application (application_\d+_\d+)`)
)

// launch starts a client. When ctx ends, the client and everything it started are killed.
func (b *Testbed) launch(ctx context.Context, name string, env, line []string) (*Run, error) {
	r := &Run{Name: name, ended: make(chan struct{})}
	log, err := b.clientLog(r)
	if err != nil {
		return nil, err
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.cmd = exec.CommandContext(ctx, line[0], line[1:]...)
	r.cmd.Env = append(os.Environ(), env...)
	r.cmd.Dir = b.dir("tmp")
	r.cmd.Stdout = stream{r, append([]io.Writer{log, &r.all, &r.out}, b.echoOut...)}
	r.cmd.Stderr = stream{r, append([]io.Writer{log, &r.all}, b.echoErr...)}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	r.cmd.Cancel = func() error { return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }
	r.cmd.WaitDelay = 5 * time.Second // for processes that still hold its output open
	if err := b.starter.start(r.cmd); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), log.Close())
	}
	go func() {
		r.err = r.cmd.Wait()
		if cause := context.Cause(ctx); cause != nil && r.err != nil {
			r.err = cause
		}
		r.err = errors.Join(r.err, log.Close())
		close(r.ended)
	}()
	return r, nil
}

// clientLog creates the client's log, with a number that gives the order in which clients started.
func (b *Testbed) clientLog(r *Run) (*os.File, error) {
	for {
		r.Log = filepath.Join(b.dir("log"), fmt.Sprintf("client-%03d-%s.log", b.jobs.Add(1), r.Name))
		log, err := os.OpenFile(r.Log, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) { // an earlier program on the same testbed counted from 1 too
			return log, err
		}
	}
}

// A stream copies one of a client's output streams to all who want it.
type stream struct {
	run *Run
	to  []io.Writer
}

func (s stream) Write(p []byte) (int, error) {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	return io.MultiWriter(s.to...).Write(p)
}

// Wait waits for the client to end. If it failed, the error has the last lines that it printed.
func (r *Run) Wait() (Result, error) {
	<-r.ended
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	res := Result{Out: r.out.String(), All: r.all.String()}
	if ids := applicationID.FindAllString(res.All, -1); len(ids) > 0 {
		res.App = strings.Replace(ids[len(ids)-1], "job_", "application_", 1)
	}
	if r.err != nil {
		return res, fmt.Errorf("%s: %w; the last lines of %s:\n%s", r.Name, r.err, r.Log, lastLines(r.all.Bytes(), 25))
	}
	return res, nil
}

// App returns the application that the client submitted, as soon as it is accepted.
func (r *Run) App(ctx context.Context) (string, error) {
	for {
		r.mu.Lock()
		found := submitted.FindSubmatch(r.all.Bytes())
		r.mu.Unlock()
		if found != nil {
			return string(found[1]), nil
		}
		select {
		case <-r.ended:
			_, err := r.Wait()
			return "", fmt.Errorf("%s ended without an application: %w", r.Name, err)
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// Kill ends the client program, but not what it submitted.
func (r *Run) Kill() {
	r.cancel()
	<-r.ended
}

// clientJVM returns the command line of a Hadoop class with the cluster's configuration, as a short-lived client.
func (b *Testbed) clientJVM(main string, args ...string) []string {
	return b.jvm(256, strings.Fields(thrifty), main, args...)
}

// StartJava runs a class of Hadoop's jars with the cluster's configuration.
func (b *Testbed) StartJava(ctx context.Context, name, main string, args ...string) (*Run, error) {
	return b.launch(ctx, name, []string{"HADOOP_CONF_DIR=" + b.Conf()}, b.clientJVM(main, args...))
}

// StartMR runs one of the MapReduce examples: pi, wordcount, grep, teragen and so on.
func (b *Testbed) StartMR(ctx context.Context, example string, args ...string) (*Run, error) {
	return b.StartJava(ctx, example, "org.apache.hadoop.examples.ExampleDriver", append([]string{example}, args...)...)
}

// StartSleep runs the MapReduce sleep job: -m maps and -r reduces of -mt and -rt milliseconds.
func (b *Testbed) StartSleep(ctx context.Context, args ...string) (*Run, error) {
	return b.StartJava(ctx, "sleep", "org.apache.hadoop.mapreduce.SleepJob", args...)
}

// StartShell runs YARN's distributed shell.
func (b *Testbed) StartShell(ctx context.Context, args ...string) (*Run, error) {
	jar := filepath.Join(b.Cache.Jars(), "hadoop-yarn-applications-distributedshell-"+Version+".jar")
	return b.StartJava(ctx, "shell", "org.apache.hadoop.yarn.applications.distributedshell.Client", append([]string{"-jar", jar}, args...)...)
}

// StartSpark runs spark-submit of a Spark version.
func (b *Testbed) StartSpark(ctx context.Context, spark string, args ...string) (*Run, error) {
	home, err := b.Cache.SparkHome(spark)
	if err != nil {
		return nil, err
	}
	env := []string{
		"HADOOP_CONF_DIR=" + b.Conf(), "SPARK_CONF_DIR=" + b.sparkConf(spark), "SPARK_HOME=" + home,
		"SPARK_LOCAL_IP=" + rmHost, "PYSPARK_PYTHON=" + b.Cache.Python(spark), "JAVA_HOME=" + filepath.Dir(filepath.Dir(b.java)),
		"SPARK_SUBMIT_OPTS=" + thrifty,
	}
	return b.launch(ctx, "spark", env, append([]string{filepath.Join(home, "bin", "spark-submit")}, args...))
}

// SparkExample returns the path of one of a Spark version's Python examples, such as "pi.py".
func (b *Testbed) SparkExample(spark, name string) (string, error) {
	home, err := b.Cache.SparkHome(spark)
	return filepath.Join(home, "examples", "src", "main", "python", name), err
}

// The classes behind the yarn command.
var yarnClasses = map[string]string{
	"application": "ApplicationCLI", "applicationattempt": "ApplicationCLI", "container": "ApplicationCLI",
	"node": "NodeCLI", "queue": "QueueCLI", "rmadmin": "RMAdminCLI", "logs": "LogsCLI", "top": "TopCLI", "cluster": "ClusterCLI",
}

// StartYarn runs a command of YARN's command line, such as "application", "-list".
func (b *Testbed) StartYarn(ctx context.Context, command string, args ...string) (*Run, error) {
	class, ok := yarnClasses[command]
	if !ok {
		return nil, fmt.Errorf("yarn %s: no such command here", command)
	}
	if class == "ApplicationCLI" {
		args = append([]string{command}, args...)
	}
	return b.StartJava(ctx, "yarn-"+command, "org.apache.hadoop.yarn.client.cli."+class, args...)
}

// Yarn runs a command of YARN's command line to its end.
func (b *Testbed) Yarn(ctx context.Context, command string, args ...string) (Result, error) {
	return Finish(b.StartYarn(ctx, command, args...))
}

// Finish waits for the end of a started client.
func Finish(r *Run, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	return r.Wait()
}
