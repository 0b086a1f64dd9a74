// Package guest has the test that runs only in the machine of test/vm: heddle node agent as a systemd unit, as
// described in docs/node-agent.md.
package guest

import (
	"context"
	"encoding/json"
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/node/api"
	"heddle/node/trust"
)

var guide = flag.String("guide", "", "the `FILE` with the unit, in a machine where it may be installed")

const (
	unit  = "heddle-agent.service"
	node  = "node7:8041" // as in the guide
	scope = "heddle-containers-node7_8041.scope"
	local = "/var/lib/hadoop/nm"
	id1   = "container_1700000000000_0001_01_000002"
	id2   = "container_1700000000000_0001_01_000003"
)

// nodeManager is a NodeManager whose containers sleep. It writes down their processes as a NodeManager does.
const nodeManager = `for id in ` + id1 + ` ` + id2 + `; do
	dir=` + local + `/nmPrivate/application_1700000000000_0001/$id
	mkdir -p $dir
	CONTAINER_ID=$id setsid bash -c 'echo $$ >'$dir/$id.pid'; sleep 600; :' &
done
wait`

// An rm is the ResourceManager as an agent sees it.
type rm struct {
	t     *testing.T
	trust *trust.Authority

	mu    sync.Mutex
	wish  api.Wish
	agent string   // the agent that the wish is for; "" for any
	last  api.Sync // the last report
}

func (r *rm) join(w http.ResponseWriter, req *http.Request) {
	var ask api.Join
	err := json.NewDecoder(req.Body).Decode(&ask)
	var answer api.Joined
	if err == nil {
		_, answer.Certificate, err = r.trust.Join(ask.Token, ask.Request)
	}
	if err != nil {
		r.t.Error(err)
	}
	_ = json.NewEncoder(w).Encode(answer) // the caller is gone, or reports the error
}

func (r *rm) sync(w http.ResponseWriter, req *http.Request) {
	var s api.Sync
	if err := json.NewDecoder(req.Body).Decode(&s); err != nil || s.Check() != nil {
		r.t.Errorf("%+v: %v, %v", s, err, s.Check())
	}
	r.mu.Lock()
	r.last = s
	wish := r.wish
	if r.agent != "" && r.agent != s.Agent {
		wish.Want = nil
	}
	r.mu.Unlock()
	if s.Applied == wish.Version {
		time.Sleep(200 * time.Millisecond)
	}
	_ = json.NewEncoder(w).Encode(wish)
}

// want sends wants to the running agent and no other, and waits until they are done.
func (r *rm) want(wants ...api.Want) api.Sync {
	r.t.Helper()
	r.mu.Lock()
	r.wish = api.Wish{Version: r.wish.Version + 1, Every: 1000, Lease: 60_000, Want: wants}
	r.agent = ""
	r.mu.Unlock()
	var s api.Sync
	within(r.t, 30*time.Second, "the agent does what is wanted", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		s = r.last
		r.agent = s.Agent
		return s.Applied == r.wish.Version && len(s.Containers) == 2 && !slices.ContainsFunc(wants, func(w api.Want) bool {
			return !slices.ContainsFunc(s.Containers, func(c api.Container) bool {
				return c.ID == w.ID && c.Parked == w.Park && c.Weight == w.Weight && c.Frozen == (w.Freeze > 0)
			})
		})
	})
	if len(s.Failed) > 0 {
		r.t.Errorf("failed: %+v", s.Failed)
	}
	return s
}

// within waits until a condition is true.
func within(t *testing.T, most time.Duration, what string, so func() bool) {
	t.Helper()
	began := time.Now()
	for !so() {
		if time.Since(began) > most {
			t.Fatalf("not within %v: %s", most, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func ctl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("systemctl", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("systemctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// group returns the content of a file of a container's group in the scope.
func group(id, file string) string {
	text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup/heddle.slice", scope, id, file))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text))
}

// reads checks that files of a container's group have the wanted content: name and text in turn.
func reads(t *testing.T, id string, want ...string) {
	t.Helper()
	for pair := range slices.Chunk(want, 2) {
		if got := group(id, pair[0]); got != pair[1] {
			t.Errorf("%s of %s: %q, want %q", pair[0], id, got, pair[1])
		}
	}
}

// defaults are the settings of a container for which nothing is wanted.
var defaults = []string{"cpu.weight", "100", "cpu.idle", "0", "cpu.max", "max 100000", "memory.high", "max", "cgroup.freeze", "0"}

// service returns the unit in the guide.
func service(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(*guide)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "    [Service]\n")
	lines, _, _ := strings.Cut(after, "\n\n")
	if !ok || !strings.Contains(lines, "ExecStopPost=") {
		t.Fatalf("%s has no unit", *guide)
	}
	return "[Service]\n" + strings.ReplaceAll(lines, "    ", "") + "\n"
}

func TestUnit(t *testing.T) {
	if *guide == "" {
		t.Skip("this needs a machine of its own: make test-vm")
	}
	authority, err := trust.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rm{t: t, trust: authority}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+api.JoinPath, r.join)
	mux.HandleFunc("POST "+api.Path, r.sync)
	server := httptest.NewUnstartedServer(mux)
	if server.Listener, err = net.Listen("tcp", "127.0.0.1:8039"); err != nil {
		t.Fatal(err)
	}
	server.TLS = authority.ServerConfig()
	server.StartTLS()
	token, err := authority.Token(node, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Join(context.Background(), "https://rm:8039", node, token.String(), "/etc/heddle"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := exec.Command("journalctl", "-u", unit, "-u", "nm", "-u", scope, "-n", "100", "--no-pager", "-o", "cat").Output() // or it says nothing
			t.Logf("%s", out)
		}
	})
	if out, err := exec.Command("systemd-run", "--unit", "nm", "bash", "-c", strings.ReplaceAll(nodeManager, "$", "$$")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	within(t, 20*time.Second, "containers run", func() bool {
		files, _ := filepath.Glob(local + "/nmPrivate/*/*/*.pid") // the pattern is right
		return len(files) == 2
	})
	write(t, "/etc/systemd/system/"+unit, service(t))
	ctl(t, "daemon-reload")
	ctl(t, "start", unit)

	freeze := api.Want{ID: id1, Park: true, Freeze: 200_000}
	weigh := api.Want{ID: id2, Weight: 300, Quota: 500, High: 100}
	check := func() {
		t.Helper()
		reads(t, id1, "cpu.idle", "1", "cgroup.freeze", "1")
		reads(t, id2, "cpu.weight", "300", "cpu.max", "50000 100000", "memory.high", "104857600", "cgroup.freeze", "0")
	}
	if s := r.want(freeze, weigh); !slices.Equal(s.Can, []string{"parks", "weighs", "freezes", "bounds", "reclaims"}) {
		t.Errorf("it can %v", s.Can)
	}
	check()
	if got := ctl(t, "show", "-P", "Delegate", scope); got != "yes" {
		t.Errorf("the scope is delegated: %s", got)
	}
	ctl(t, "daemon-reload")
	check()

	killed := func(what string, args ...string) {
		t.Helper()
		began := time.Now()
		ctl(t, append([]string{"kill", "--signal=KILL", unit}, args...)...)
		within(t, 5*time.Second, "it runs again after "+what, func() bool { return group(id1, "cgroup.freeze") == "0" })
		t.Logf("it runs again %v after %s", time.Since(began).Round(time.Millisecond), what)
	}
	killed("the agent was killed", "--kill-whom=main")
	s := r.want(freeze, weigh)
	check()

	// Only ExecStopPost is left.
	write(t, "/run/systemd/system/"+unit+".d/once.conf", "[Service]\nRestart=no\n")
	ctl(t, "daemon-reload")
	killed("the agent and its warden were killed")
	within(t, 10*time.Second, "the unit has failed", func() bool { return ctl(t, "show", "-P", "ActiveState", unit) == "failed" })
	reads(t, id1, defaults...)
	reads(t, id2, defaults...)

	ctl(t, "start", unit)
	if again := r.want(freeze, weigh); again.Agent == s.Agent {
		t.Error("it is the same agent")
	}
	check()
	began := time.Now()
	ctl(t, "restart", unit)
	ctl(t, "stop", unit)
	t.Log("started anew and stopped within", time.Since(began).Round(time.Millisecond))
	reads(t, id1, defaults...)
	reads(t, id2, defaults...)

	// Containers outlive the NodeManager's unit, and their groups disappear with them.
	ctl(t, "start", unit)
	r.want(freeze)
	ctl(t, "stop", "nm")
	for _, id := range []string{id1, id2} {
		if group(id, "cgroup.procs") == "" {
			t.Errorf("%s ended with its NodeManager", id)
		}
		write(t, filepath.Join("/sys/fs/cgroup/heddle.slice", scope, id, "cgroup.kill"), "1")
	}
	within(t, 10*time.Second, "the groups go", func() bool {
		left, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup/heddle.slice", scope, "container_*")) // the pattern is right
		return len(left) == 0
	})
}
