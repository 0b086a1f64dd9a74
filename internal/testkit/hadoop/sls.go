package hadoop

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed sls.pom.xml
var loadSimulatorPom []byte

// The load simulator's defaults: the size of its nodes, and the heartbeat interval of nodes and masters.
const (
	loadNodeMB     = 8192
	loadNodeVcores = 8
	loadBeat       = 1000 // ms
)

// A LoadSimulation is one run of Hadoop's Scheduler Load Simulator: a real ResourceManager with its real scheduler, and
// nodes and masters that are simulated in wall-clock time. Nodes have 8192 MiB and 8 vcores.
type LoadSimulation struct {
	Cache   Cache  // what [Cache.FetchLoadSimulator] fetched
	Dir     string // all output goes there; it is emptied first
	Conf    string // the folder whose XML files are added to the simulator's own configuration
	Jobs    string // the trace of the jobs, in the simulator's own format with every value a string
	Nodes   string // the list of the nodes, by address
	Profile string // capacity or fair
}

// LogFile returns the file for the output of the simulator, which includes the ResourceManager's log.
func (l *LoadSimulation) LogFile() string { return filepath.Join(l.Dir, "log") }

// Run runs the simulation. It calls line with each line of the ResourceManager's log and stops when line says that it
// has seen enough: with its metrics off, the simulator does not end by itself. An error from line also ends the
// simulation and is returned.
func (l *LoadSimulation) Run(ctx context.Context, line func(text string) (enough bool, err error)) error {
	if err := errors.Join(os.RemoveAll(l.Dir), os.MkdirAll(filepath.Join(l.Dir, "out"), 0o755)); err != nil {
		return err
	}
	if err := l.writeConf(); err != nil {
		return err
	}
	log, err := os.Create(l.LogFile())
	if err != nil {
		return err
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return err
	}
	args := l.command(java)
	run := exec.CommandContext(ctx, args[0], args[1:]...)
	out, err := run.StderrPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		return errors.Join(err, log.Close())
	}
	enough, err := follow(out, log, line)
	_ = run.Process.Kill() // it may have ended by itself
	died := run.Wait()
	err = errors.Join(err, log.Close())
	switch {
	case err != nil || enough:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		text, _ := os.ReadFile(l.LogFile())
		return fmt.Errorf("the load simulator ended (%w); the last lines of %s:\n%s", died, l.LogFile(), lastLines(text, 15))
	}
}

// follow copies a program's output to a log and passes it to line, until line has seen enough or the output ends.
func follow(out io.Reader, log io.Writer, line func(text string) (bool, error)) (enough bool, err error) {
	for s := bufio.NewReader(out); !enough && err == nil; {
		text, end := s.ReadString('\n')
		if _, err = io.WriteString(log, text); err == nil && text != "" {
			enough, err = line(strings.TrimSuffix(text, "\n"))
		}
		if end != nil {
			break
		}
	}
	return enough, err
}

func (l *LoadSimulation) command(java string) []string {
	dir := l.Cache.loadSimulator()
	classPath := []string{l.conf(), filepath.Join(dir, "classes"), filepath.Join(l.Cache.Jars(), "*"), filepath.Join(dir, "*")}
	return jvm(java, 1024, []string{"-XX:+UseSerialGC"}, classPath, "org.apache.hadoop.yarn.sls.SLSRunner",
		"-tracetype", "SLS", "-tracelocation", l.Jobs, "-nodes", l.Nodes, "-output", filepath.Join(l.Dir, "out"))
}

func (l *LoadSimulation) conf() string { return filepath.Join(l.Dir, "conf") }

// writeConf writes the simulator's configuration beside copies of the scheduler's.
func (l *LoadSimulation) writeConf() error {
	if err := os.MkdirAll(l.conf(), 0o755); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(l.Conf, "*.xml"))
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(l.conf(), filepath.Base(f)), text, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(l.conf(), "log4j.properties"), []byte(log4j), 0o644); err != nil {
		return err
	}
	return l.site().writeXML(filepath.Join(l.conf(), "sls-runner.xml"))
}

// site returns the properties of the simulator and of its ResourceManager, whose ports nobody needs to know.
func (l *LoadSimulation) site() Properties {
	p := Properties{
		"yarn.resourcemanager.scheduler.class": schedulerClass(l.Profile),
		"yarn.scheduler.fair.allocation.file":  filepath.Join(l.conf(), "fair-scheduler.xml"),
		"yarn.sls.am.type.mapreduce":           "org.apache.hadoop.yarn.sls.appmaster.MRAMSimulator",
		"yarn.sls.nm.memory.mb":                fmt.Sprint(loadNodeMB),
		"yarn.sls.nm.vcores":                   fmt.Sprint(loadNodeVcores),
		"yarn.sls.nm.heartbeat.interval.ms":    fmt.Sprint(loadBeat),
		"yarn.sls.am.heartbeat.interval.ms":    fmt.Sprint(loadBeat),
		// With metrics on, the simulator loses jobs under the FairScheduler.
		"yarn.sls.metrics.switch": "false",
	}
	for _, service := range []string{"", "scheduler.", "resource-tracker.", "admin.", "webapp."} {
		p["yarn.resourcemanager."+service+"address"] = rmHost + ":0"
	}
	return p
}

// FetchLoadSimulator fetches what the load simulator needs and the cache does not have yet: Hadoop's jars and the
// simulator's with Maven, and one of its classes, which is recompiled.
func (c Cache) FetchLoadSimulator(ctx context.Context) error {
	for _, tool := range []string{"java", "javac", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("no %s (Debian has it in openjdk-17-jdk-headless or maven): %w", tool, err)
		}
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	if err := once(c.Jars(), func() error { return c.fetchJars(ctx) }); err != nil {
		return err
	}
	return once(c.loadSimulator(), func() error {
		only := "-DincludeArtifactIds=hadoop-sls,hadoop-rumen"
		return errors.Join(c.maven(ctx, "sls.pom.xml", loadSimulatorPom, c.loadSimulator(), only), c.mendLoadSimulator(ctx))
	})
}

func (c Cache) loadSimulator() string { return filepath.Join(c.Dir, "sls-"+Version) }

// The class of the load simulator that reads traces.
const traceReader = "org/apache/hadoop/yarn/sls/AMRunner.java"

// mendLoadSimulator compiles the class that reads traces from its source, with one declaration widened. The compiled
// class is found before the one in the jar.
func (c Cache) mendLoadSimulator(ctx context.Context) (err error) {
	dir := c.loadSimulator()
	jar, err := zip.OpenReader(filepath.Join(dir, "hadoop-sls-"+Version+"-sources.jar"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, jar.Close()) }()
	f, err := jar.Open(traceReader)
	if err != nil {
		return err
	}
	source, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if source, err = widen(source); err != nil {
		return err
	}
	file := filepath.Join(dir, filepath.Base(traceReader))
	if err := os.WriteFile(file, source, 0o644); err != nil {
		return err
	}
	classPath := filepath.Join(c.Jars(), "*") + ":" + filepath.Join(dir, "*")
	return run(ctx, "javac", "-nowarn", "-proc:none", "-cp", classPath, "-d", filepath.Join(dir, "classes"), file)
}

// widen lets the members of a job in a trace have any type. The class declares all of them as strings, and fails on a
// job's list of tasks.
func widen(source []byte) ([]byte, error) {
	declared, wider := []byte("(Map.class, String.class, String.class)"), []byte("(Map.class, String.class, Object.class)")
	if n := bytes.Count(source, declared); n != 1 {
		return nil, fmt.Errorf("%s has %s %d times, want 1", traceReader, declared, n)
	}
	return bytes.Replace(source, declared, wider, 1), nil
}
