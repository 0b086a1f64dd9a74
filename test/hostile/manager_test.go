package hostile_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/daemon/serve"
	"heddle/daemon/setup"
)

// asManager is the environment variable that makes this program the ResourceManager. It holds its folder.
const asManager = "HEDDLE_HOSTILE_RM"

// TestMain is also the ResourceManager or an attacker, when a test starts one: the former runs in a separate process so
// that its memory is measured alone, the latter so that honest callers do not wait for it in their own process.
func TestMain(m *testing.M) {
	var err error
	switch dir, attacks := os.Getenv(asManager), os.Getenv(asAttacker); {
	case dir != "":
		err = manage(dir, os.Stdin, os.Stdout)
	case attacks != "":
		err = harm(os.Stdin, os.Stdout)
	default:
		flag.Parse()
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ports are the addresses on which the ResourceManager listens.
type ports struct {
	Client, Scheduler, Tracker, Admin, Web, Agents string
}

// manage is the ResourceManager, until in ends.
func manage(dir string, in io.Reader, out io.Writer) error {
	s, err := setup.Load(setup.Options{ConfDir: dir, Data: filepath.Join(dir, "state"), Profile: "capacity"})
	if err != nil {
		return err
	}
	d, err := serve.Start(serve.Options{
		Config: s.Config, Scheduler: s.Scheduler, Refresh: s.Refresh, Facts: s.Facts, DataDir: s.DataDir,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return err
	}
	err = json.NewEncoder(out).Encode(ports{d.Client.String(), d.Scheduler.String(), d.Tracker.String(), d.Admin.String(), d.Web.String(), d.Agents.String()})
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if stopped := d.Stop(); stopped != nil { // answers under way may take longer than it waits
		slog.Error("stopped", "error", stopped)
	}
	return err
}

// A manager is a ResourceManager in a separate process.
type manager struct {
	ports
	cmd   *exec.Cmd
	in    io.WriteCloser
	log   string
	ended chan struct{} // closed once it has ended
	err   error
}

// startManager starts a ResourceManager with a heddle.yaml.
func startManager(t *testing.T, text string) *manager {
	t.Helper()
	dir := t.TempDir()
	listen := "listen: {host: 127.0.0.1, client: \":0\", scheduler: \":0\", tracker: \":0\", admin: \":0\", web: \":0\", agents: \":0\"}\nfacts: {masters: false, submissions: false}\n"
	for name, text := range map[string]string{
		setup.FileName: listen + text,
		"capacity-scheduler.xml": `<configuration>
  <property><name>yarn.scheduler.capacity.root.queues</name><value>default</value></property>
  <property><name>yarn.scheduler.capacity.root.default.capacity</name><value>100</value></property>
  <property><name>yarn.scheduler.capacity.maximum-am-resource-percent</name><value>1</value></property>
  <property><name>yarn.scheduler.capacity.maximum-applications</name><value>1000000</value></property>
</configuration>
`,
		"yarn-site.xml": `<configuration>
  <property><name>yarn.scheduler.maximum-allocation-mb</name><value>65536</value></property>
  <property><name>yarn.scheduler.maximum-allocation-vcores</name><value>64</value></property>
  <property><name>yarn.cluster.max-application-priority</name><value>2</value></property>
</configuration>
`,
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	exe, err := os.Executable()
	must(t, err)
	m := &manager{cmd: exec.Command(exe), log: filepath.Join(dir, "log"), ended: make(chan struct{})}
	m.cmd.Env = append(os.Environ(), asManager+"="+dir)
	log, err := os.Create(m.log)
	must(t, err)
	m.cmd.Stderr = log
	m.in, err = m.cmd.StdinPipe()
	must(t, err)
	out, err := m.cmd.StdoutPipe()
	must(t, err)
	must(t, m.cmd.Start())
	t.Cleanup(func() { m.stop(t) })
	decoded := json.NewDecoder(bufio.NewReader(out)).Decode(&m.ports)
	go func() {
		m.err = m.cmd.Wait()
		_ = log.Close()
		close(m.ended)
	}()
	if decoded != nil {
		<-m.ended
		t.Fatalf("the ResourceManager does not say where it listens: %v\n%s", decoded, m.lastWords())
	}
	return m
}

// alive reports whether the process has not ended.
func (m *manager) alive() bool {
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}

// stop ends the process, and fails the test if it had ended by itself or ended with an error.
func (m *manager) stop(t *testing.T) {
	_ = m.in.Close() // the end of its input tells it to stop
	select {
	case <-m.ended:
	case <-time.After(20 * time.Second):
		_ = m.cmd.Process.Kill()
		<-m.ended
	}
	if m.err != nil {
		t.Errorf("the ResourceManager ended with %v\n%s", m.err, m.lastWords())
	}
}

// lastWords returns the beginning and the end of its log.
func (m *manager) lastWords() string {
	const most = 3 << 10
	text, _ := os.ReadFile(m.log)
	if len(text) > 2*most {
		return string(text[:most]) + "\n…\n" + string(text[len(text)-most:])
	}
	return string(text)
}

// forgetPeak resets the peak of resident memory.
func (m *manager) forgetPeak(t *testing.T) {
	t.Helper()
	must(t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", m.cmd.Process.Pid), []byte("5"), 0))
}

// resident returns the peak and the current value of resident memory, in MiB.
func (m *manager) resident(t *testing.T) (peak, now int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); name == "VmHWM" || name == "VmRSS" {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			must(t, err)
			if name == "VmHWM" {
				peak = kib >> 10
			} else {
				now = kib >> 10
			}
		}
	}
	return peak, now
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
