package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"heddle/internal/testkit/powercut"
)

// A child is a heddle rm with its own store, which is killed and restarted.
type child struct {
	binary, dir, host string
	kept              string // the number of completed applications to keep
	log               *os.File
	dice              *rand.Rand // for power cuts; nil if it is only killed
	disk              *powercut.Disk
	recording         *powercut.Recording

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{} // closed when cmd has ended
}

// The configuration: two queues, and a ResourceManager with short intervals.
var confFiles = map[string]string{
	"heddle.yaml": `beats: {fast: 100ms, normal: 250ms, idle: 500ms}
facts: {masters: false, submissions: false}
`,
	"yarn-site.xml": `<configuration>
  <property><name>yarn.cluster.max-application-priority</name><value>10</value></property>
  <property><name>yarn.am.liveness-monitor.expiry-interval-ms</name><value>30000</value></property>
  <property><name>yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms</name><value>2000</value></property>
  <property><name>yarn.resourcemanager.max-completed-applications</name><value>%s</value></property>
</configuration>
`,
	"capacity-scheduler.xml": `<configuration>
  <property><name>yarn.scheduler.capacity.root.queues</name><value>a,b</value></property>
  <property><name>yarn.scheduler.capacity.root.a.capacity</name><value>50</value></property>
  <property><name>yarn.scheduler.capacity.root.b.capacity</name><value>50</value></property>
  <property><name>yarn.scheduler.capacity.root.a.maximum-capacity</name><value>100</value></property>
  <property><name>yarn.scheduler.capacity.root.b.maximum-capacity</name><value>100</value></property>
  <property><name>yarn.scheduler.capacity.root.a.user-limit-factor</name><value>2</value></property>
  <property><name>yarn.scheduler.capacity.root.b.user-limit-factor</name><value>2</value></property>
  <property><name>yarn.scheduler.capacity.maximum-am-resource-percent</name><value>0.5</value></property>
</configuration>
`,
}

// The ports of the child on its host.
func (c *child) client() string    { return c.host + ":8032" }
func (c *child) scheduler() string { return c.host + ":8030" }
func (c *child) tracker() string   { return c.host + ":8031" }
func (c *child) web() string       { return c.host + ":8088" }

// newChild writes its configuration into a folder.
func newChild(binary, dir, host string, kept int) (*child, error) {
	c := &child{binary: binary, dir: dir, host: host, kept: strconv.Itoa(kept)}
	for name, text := range confFiles {
		if name == "yarn-site.xml" {
			text = fmt.Sprintf(text, c.kept)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	var err error
	c.log, err = os.Create(filepath.Join(dir, "log"))
	return c, err
}

// start starts it on its store.
func (c *child) start() error {
	cmd := exec.Command(c.binary, "rm", "-q", "--conf", c.dir, "--data", c.state(), "--listen", c.host)
	cmd.Stdout, cmd.Stderr = c.log, c.log
	cmd.Env = append(os.Environ(), "HADOOP_CONF_DIR=")
	if err := c.begin(cmd); err != nil {
		return err
	}
	exited := make(chan struct{})
	c.mu.Lock()
	c.cmd, c.exited = cmd, exited
	c.mu.Unlock()
	go func() {
		_ = cmd.Wait() // it only matters that it ended
		close(exited)
	}()
	return nil
}

// state returns the folder of its store.
func (c *child) state() string { return filepath.Join(c.dir, "state") }

// begin starts the process, and records it if its power is to be cut.
func (c *child) begin(cmd *exec.Cmd) (err error) {
	if c.dice == nil {
		return cmd.Start()
	}
	if err = os.MkdirAll(c.state(), 0o700); err != nil {
		return err
	}
	if c.disk, err = powercut.NewDisk(c.state()); err != nil {
		return err
	}
	c.recording, err = powercut.Start(cmd, c.state())
	return err
}

// cut leaves in its folder what a power cut would leave there.
func (c *child) cut() error {
	ops, err := c.recording.End()
	if err != nil {
		return err
	}
	for _, o := range ops {
		c.disk.Do(o)
	}
	return powercut.Put(c.state(), c.disk.Cut(c.dice))
}

// kill ends it as a crash does.
func (c *child) kill() error {
	c.mu.Lock()
	cmd, exited := c.cmd, c.exited
	c.mu.Unlock()
	select {
	case <-exited:
		return c.ended()
	default:
	}
	err := cmd.Process.Signal(syscall.SIGKILL)
	<-exited
	if err == nil && c.dice != nil {
		err = c.cut()
	}
	return err
}

// stop ends it as SIGTERM does.
func (c *child) stop() error {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may be gone
	select {
	case <-c.exited:
	case <-time.After(15 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.exited
		return errors.New("heddle rm does not end when it is told to")
	}
	if !c.cmd.ProcessState.Success() {
		return c.ended()
	}
	return c.log.Close()
}

// ended says how it ended by itself.
func (c *child) ended() error {
	const most = 2 << 10
	text, _ := os.ReadFile(c.log.Name())
	return fmt.Errorf("heddle rm ended, %v; the last lines of its log:\n%s", c.cmd.ProcessState, text[max(0, len(text)-most):])
}

// pid returns the number of its process.
func (c *child) pid() string { return strconv.Itoa(c.cmd.Process.Pid) }

// answers waits until it answers, and returns how long that took.
func (c *child) answers(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.web()+"/ws/v1/cluster/info", nil)
		if err != nil {
			return 0, err
		}
		if p, err := http.DefaultClient.Do(r); err == nil {
			_ = p.Body.Close() // nobody reads it
			return time.Since(began), nil
		}
		select {
		case <-c.exited:
			return 0, c.ended()
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Since(began) > startWithin {
			return 0, fmt.Errorf("heddle rm does not answer within %v", startWithin)
		}
	}
}

const startWithin = 20 * time.Second

// complaints returns the log lines that report errors and panics.
func (c *child) complaints() (out []string) {
	text, err := os.ReadFile(c.log.Name())
	if err != nil {
		return []string{err.Error()}
	}
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte("level=ERROR")) || bytes.HasPrefix(line, []byte("panic:")) {
			out = append(out, string(bytes.TrimSpace(line)))
		}
	}
	return out
}
