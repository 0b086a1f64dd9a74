package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"heddle/daemon/serve"
	"heddle/daemon/setup"
	"heddle/rm"
)

// freePorts makes every port a free one.
const freePorts = "client=:0,scheduler=:0,tracker=:0,admin=:0,web=:0"

// A process is a running heddle.
type process struct {
	*exec.Cmd
	t      *testing.T
	stdout *bufio.Scanner
	rest   string // of stdout: what was not read before its end
	mu     sync.Mutex
	stderr bytes.Buffer
}

// Write collects what the process logs.
func (p *process) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(data)
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// start runs heddle with arguments until the test is over.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t}
	p.launch(p, "heddle", args...)
	return p
}

// launch runs one of the programs that TestMain knows; it logs to stderr.
func (p *process) launch(stderr io.Writer, program string, args ...string) {
	t := p.t
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.Cmd = exec.Command(exe, args...)
	p.Args[0], p.Stderr = program, stderr
	p.Env = append(os.Environ(), "HADOOP_CONF_DIR=", "TZ=UTC")
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill() // if the test ended it, there is nothing to kill
		_ = p.Wait()
	})
}

// until reads the output up to a line that matches, and returns all of it.
func (p *process) until(pattern string) string {
	p.t.Helper()
	var all strings.Builder
	for want := regexp.MustCompile(pattern); p.stdout.Scan(); {
		all.WriteString(p.stdout.Text() + "\n")
		if want.MatchString(p.stdout.Text()) {
			return all.String()
		}
	}
	p.t.Fatalf("no line matches %q in\n%s\n%s", pattern, all.String(), p.log())
	return ""
}

// logs waits until a text has been logged.
func (p *process) logs(what string) {
	p.t.Helper()
	for end := time.Now().Add(5 * time.Second); !strings.Contains(p.log(), what); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%q was not logged:\n%s", what, p.log())
		}
	}
}

// end sends a signal and returns the exit code.
func (p *process) end(s syscall.Signal) int {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	return p.ends(stopTime)
}

// ends waits for the end, for at most within, and returns the exit code.
func (p *process) ends(within time.Duration) int {
	p.t.Helper()
	ended := make(chan struct{})
	go func() {
		for p.stdout.Scan() { // Wait closes the pipe
			p.rest += p.stdout.Text() + "\n"
		}
		_ = p.Wait() // the exit code says it
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(within):
		p.t.Fatalf("it did not end in %v:\n%s", within, p.log())
	}
	return p.ProcessState.ExitCode()
}

// heddleSays runs a command to its end and returns its output and exit code.
func heddleSays(t *testing.T, args ...string) (string, int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, args...)
	c.Args[0] = "heddle"
	c.Env = append(os.Environ(), "HADOOP_CONF_DIR=", "TZ=UTC")
	out, _ := c.CombinedOutput() // the exit code says it
	return string(out), c.ProcessState.ExitCode()
}

// A ResourceManager starts without configuration, says where it is, answers, rereads its configuration, stops when
// told, and finds its state at the next start.
func TestRunsAndStops(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "state")
	p := start(t, "rm", "--data", data, "--listen", freePorts)
	said := p.until(`yarn.nodemanager.resourcemanager.connect.retry-interval.ms`)
	for _, want := range []string{
		"only this machine can reach it", "profile heddle: no scheduler is configured", "state: " + data, "This is the first start",
		"<property><name>yarn.resourcemanager.hostname</name><value>127.0.0.1</value></property>",
		"of NodeManagers, so that they reconnect at once after a restart,\n  <property><name>yarn.nodemanager.resourcemanager.connect.retry-interval.ms</name><value>1000</value></property>",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	if strings.Contains(said, "differs from YARN") {
		t.Errorf("deviations are listed without -v:\n%s", said)
	}
	web := regexp.MustCompile(`pages and REST +(http://\S+)`).FindStringSubmatch(said)
	if web == nil {
		t.Fatalf("no web address in\n%s", said)
	}
	for _, x := range []struct {
		args, want string
		code       int
	}{
		{"queue list", "  default  RUNNING", exitDone},
		{"node list", "health checked", exitDone},
		{"app list", "no such applications", exitDone},
		{"top", "profile heddle", exitDone},
		{"app status application_1_0001", "application_1_0001", exitNone},
		{"app kill application_1_0001", "application_1_0001", exitNone},
		{"why application_1_0001", "application_1_0001", exitNone},
		{"node status nosuch:1", "nosuch:1", exitNone},
		{"queue status nosuch", "nosuch", exitNone},
	} {
		if out, code := heddleSays(t, append(strings.Fields(x.args), "--rm", web[1])...); !strings.Contains(out, x.want) || code != x.code {
			t.Errorf("heddle %s ended with %d, want %d and %q:\n%s", x.args, code, x.code, x.want, out)
		}
	}

	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.logs("configuration reloaded")
	if out, code := heddleSays(t, "rm", "--data", data, "--listen", freePorts); code != exitFailed || !strings.Contains(out, "cannot start") {
		t.Errorf("a second one on the same state ended with %d: %s", code, out)
	}
	port := web[1][strings.LastIndexByte(web[1], ':'):]
	other := filepath.Join(dir, "other")
	if err := os.MkdirAll(filepath.Join(other, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, code := heddleSays(t, "rm", "--data", other, "--listen", freePorts, "--listen", "web="+port); code != exitFailed || !strings.Contains(out, port) || !strings.Contains(out, "choose another port with --listen") {
		t.Errorf("one on a port that is taken ended with %d: %s", code, out)
	}
	if !untouched(other) {
		t.Error("the next start after one that failed is not the first: it would not say what NodeManagers need")
	}
	if code := p.end(syscall.SIGTERM); code != exitDone || !strings.Contains(p.log(), "msg=stopped") {
		t.Errorf("it ended with %d:\n%s", code, p.log())
	}

	p = start(t, "rm", "-v", "--data", data, "--listen", freePorts, "--profile", "fair")
	if said := p.until("differs from YARN: yarn.resourcemanager.recovery.enabled"); strings.Contains(said, "first start") || !strings.Contains(said, "profile fair: named by --profile") {
		t.Errorf("the second start says\n%s", said)
	}
	if code := p.end(syscall.SIGINT); code != exitDone {
		t.Errorf("it ended with %d:\n%s", code, p.log())
	}
}

// At the start it says what its configuration asks for and does not get: each once, with file, line and property.
func TestStartSaysWhatIsOff(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"yarn-site.xml": `<configuration>
<property><name>yarn.resourcemanager.scheduler.monitor.enable</name><value>true</value></property>
<property><name>yarn.node-labels.enabled</name><value>true</value></property>
</configuration>`,
		"capacity-scheduler.xml": `<configuration>
<property><name>yarn.scheduler.capacity.root.queues</name><value>default</value></property>
<property><name>yarn.scheduler.capacity.root.default.capacity</name><value>100</value></property>
<property><name>yarn.scheduler.capacity.root.default.maximum-application-lifetime</name><value>3600</value></property>
<property><name>yarn.scheduler.capacity.root.default.accessible-node-labels</name><value>gpu</value></property>
</configuration>`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, "rm", "--conf", dir, "--data", filepath.Join(dir, "state"), "--listen", freePorts)
	said := p.until("state: ") + p.until("remark")
	for _, want := range []string{
		"off: preemption is not in effect (" + dir + "/yarn-site.xml:2: yarn.resourcemanager.scheduler.monitor.enable)\n",
		"off: queues do not limit how long applications live (" + dir + "/capacity-scheduler.xml:4: yarn.scheduler.capacity.root.default.maximum-application-lifetime)\n",
		"off: node labels are not in effect: all nodes form the default partition (" + dir + "/capacity-scheduler.xml:5: yarn.scheduler.capacity.root.default.accessible-node-labels, and 1 more, which -v lists)\n",
		"1 remark on the configuration; -v shows them\n", // about NodeManagers that come back late
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
}

// With --log-format json every line is an object, and nothing is printed for people.
func TestLogsJSON(t *testing.T) {
	dir := t.TempDir()
	site := "<configuration><property><name>yarn.node-labels.enabled</name><value>true</value></property></configuration>"
	if err := os.WriteFile(filepath.Join(dir, "yarn-site.xml"), []byte(site), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "rm", "--conf", dir, "--data", filepath.Join(dir, "state"), "--listen", freePorts, "--log-format", "json", "--log-level", "info", "--profile", "mrorchestrator")
	p.logs("listening")
	p.logs(`"place":"` + dir + `/yarn-site.xml:1: yarn.node-labels.enabled"`)
	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.logs("configuration reloaded")
	if code := p.end(syscall.SIGTERM); code != exitDone {
		t.Errorf("it ended with %d:\n%s", code, p.log())
	}
	var first struct{ Msg, Web, Profile string }
	for line := range strings.Lines(p.log()) {
		if err := json.Unmarshal([]byte(line), &first); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if first.Msg == "listening" {
			if _, err := netip.ParseAddrPort(first.Web); err != nil || first.Profile != "mrorchestrator" {
				t.Errorf("%+v: %v", first, err)
			}
		}
	}
	if n := strings.Count(p.log(), `"what":"mrorchestrator.regression (control): `); n != 2 {
		t.Errorf("what of the profile is off is said %d times, want at the start and when it was read again:\n%s", n, p.log())
	}
	if p.rest != "" {
		t.Errorf("on stdout: %q", p.rest)
	}
}

// Whoever chose a text, the log has no more of it than a line may hold.
func TestLogIsBound(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b strings.Builder
		a := &app{err: &b}
		f := &rmFlags{}
		f.format.value = format
		a.logger(f, setup.Log{}).Info("attempt failed", "diagnostics", strings.Repeat("x", 1<<20))
		if n := b.Len(); n < 100 || n > 4096 {
			t.Errorf("%s: a line of %d bytes", format, n)
		}
	}
}

func TestListenFlag(t *testing.T) {
	var l listen
	for _, s := range []string{"10.0.0.1", "web=:9088,client=rm:9032", "tracker=[::1]:1", "agents=8039"} {
		if err := l.Set(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	want := setup.Listen{Host: "10.0.0.1", Web: ":9088", Client: "rm:9032", Tracker: "[::1]:1", Agents: "8039"}
	if l.Listen != want {
		t.Errorf("%+v, want %+v", l.Listen, want)
	}
	for _, s := range []string{"", "web=", "wob=:1", "=:1", "a,"} {
		if err := l.Set(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

// The properties needed in yarn-site.xml are only those that differ from YARN's defaults.
func TestSiteProperties(t *testing.T) {
	at := netip.MustParseAddrPort
	n := notice{
		setup: &setup.Daemon{Scheduler: &rm.Scheduler{}, Open: true},
		daemon: &serve.Daemon{
			Client: at("10.0.0.1:8032"), Scheduler: at("10.0.0.1:8030"), Tracker: at("10.0.0.1:8031"), Admin: at("127.0.0.1:8033"), Web: at("[2001:db8::1]:9088"),
		},
	}
	want := `  <property><name>yarn.resourcemanager.hostname</name><value>10.0.0.1</value></property>
  <property><name>yarn.resourcemanager.admin.address</name><value>127.0.0.1:8033</value></property>
  <property><name>yarn.resourcemanager.webapp.address</name><value>[2001:db8::1]:9088</value></property>
`
	if got := n.site(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if text := n.text(); !strings.Contains(text, "other machines can reach it") || strings.Contains(text, "first start") || !strings.Contains(text, "http://[2001:db8::1]:9088") {
		t.Errorf("%s", text)
	}
	host, _ := os.Hostname()
	if got := reached(netip.IPv6Unspecified()); got != host {
		t.Errorf("what listens everywhere is reached at %q, want %q", got, host)
	}
	if got := fmt.Sprint(reached(at("127.0.0.1:1").Addr())); got != "127.0.0.1" {
		t.Errorf("%q", got)
	}
}
