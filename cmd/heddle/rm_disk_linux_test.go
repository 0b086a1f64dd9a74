package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/test/hollow"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// A disk is a separate file system that can be made to hang: every write to it then waits.
type disk struct {
	t      *testing.T
	dir    string
	frozen io.Closer // closing it lets the disk go on, as does the end of the test's process
	ended  func() error
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	image, d := filepath.Join(t.TempDir(), "disk"), &disk{t: t, dir: t.TempDir()}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 64<<20); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, d.dir}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Skipf("a file system that can be frozen needs root, loop devices and ext4: %s: %v: %s", c[0], err, out)
		}
	}
	t.Cleanup(func() {
		d.goesOn()
		if err := syscall.Unmount(d.dir, 0); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *disk) hangs() {
	d.t.Helper()
	c := exec.Command("sh", "-c", `fsfreeze --freeze "$0" && { cat; fsfreeze --unfreeze "$0"; }`, d.dir)
	in, err := c.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.frozen, d.ended = in, c.Wait
	if _, err := io.WriteString(in, "."); err != nil {
		d.t.Fatal(err)
	}
	if n, err := out.Read(make([]byte, 1)); n == 0 {
		d.t.Fatalf("it does not freeze: %v", err)
	}
}

func (d *disk) goesOn() {
	if d.frozen == nil {
		return
	}
	_ = d.frozen.Close() // once it is closed, the shell has ended
	if err := d.ended(); err != nil {
		d.t.Error(err)
	}
	d.frozen = nil
}

// get returns the status and text of a page, which must be there at once.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := (&http.Client{Timeout: 5 * time.Second}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// eventually waits for something that takes 10 s, on a machine that may be busy.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come to that within a minute")
		}
	}
}

// While the disk hangs, nothing is acknowledged that is not on it, readers are answered, NodeManagers report, and the
// hang is reported. When the disk goes on, so do the waiting callers, and nothing is lost.
func TestDiskHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 10 s until a disk counts as hung")
	}
	t.Parallel()
	d := newDisk(t)
	data := filepath.Join(d.dir, "state")
	p := start(t, "rm", "--data", data, "--listen", freePorts)
	said := p.until(`pages and REST`)
	web, client := webOf(said), clientOf(said)
	before := submit(t, client, "bob", "before")

	ada := hollow.NewPeer(client, hollow.AsClient("ada"))
	defer ada.Close()
	made := &wire.GetNewApplicationResponse{}
	if err := ada.Call(t.Context(), "getNewApplication", &wire.GetNewApplicationRequest{}, made); err != nil {
		t.Fatal(err)
	}
	meanwhile := conv.App(made.GetApplicationId()).String()

	tracker := hollow.NewPeer(regexp.MustCompile(`NodeManagers +(\S+)`).FindStringSubmatch(said)[1], hollow.AsNode())
	defer tracker.Close()
	node := ids.Node{Host: "127.0.0.1", Port: 4242}
	sick := hollow.Joining(node, 1, nil) // so that nothing is started there
	sick.NodeStatus.NodeHealthStatus.IsNodeHealthy = new(false)
	joined := &wire.RegisterNodeManagerResponse{}
	if err := tracker.Call(t.Context(), "registerNodeManager", sick, joined); err != nil {
		t.Fatal(err)
	}
	beat := &wire.NodeHeartbeatRequest{
		NodeStatus:                       &wire.NodeStatus{NodeId: conv.WireNode(node), NodeHealthStatus: sick.NodeStatus.NodeHealthStatus},
		LastKnownContainerTokenMasterKey: joined.ContainerTokenMasterKey, LastKnownNmTokenMasterKey: joined.NmTokenMasterKey,
	}

	d.hangs()
	defer d.goesOn() // a process that waits for it cannot be killed
	answered := make(chan error, 1)
	go func() {
		answered <- ada.Call(t.Context(), "submitApplication", hollow.Submission(made.GetApplicationId(), "meanwhile", "default"), &wire.SubmitApplicationResponse{})
	}()
	eventually(t, func() bool {
		code, text := get(t, web+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "the store has been writing for")
	})
	p.logs("the store's disk does not respond")
	if code, _ := get(t, web+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz answers %d", code)
	}
	if code, text := get(t, web+"/ws/v1/cluster/apps"); code != http.StatusOK || !strings.Contains(text, before) {
		t.Errorf("a list of applications answers %d: %s", code, text)
	}
	for i := range 3 {
		beat.NodeStatus.ResponseId = new(int32(i))
		if err := tracker.Call(t.Context(), "nodeHeartbeat", beat, &wire.NodeHeartbeatResponse{}); err != nil {
			t.Errorf("a NodeManager is answered %v", err)
		}
	}
	select {
	case err := <-answered:
		t.Errorf("a submission that is not stored is answered with %v", err)
	default:
	}

	d.goesOn()
	if err := <-answered; err != nil {
		t.Errorf("who waited is told %v", err)
	}
	eventually(t, func() bool { code, _ := get(t, web+"/readyz"); return code == http.StatusOK })
	_ = p.Process.Kill() // what was acknowledged must survive it
	_ = p.ends(stopTime)

	p = start(t, "rm", "--data", data, "--listen", freePorts)
	said = p.until(`pages and REST`)
	web = webOf(said)
	for _, id := range []string{before, meanwhile} {
		if out, code := heddleSays(t, "app", "status", id, "--rm", web); code != exitDone {
			t.Errorf("%s is lost: %s", id, out)
		}
	}
	if code := p.end(syscall.SIGTERM); code != exitDone {
		t.Errorf("it ended with %d:\n%s", code, p.log())
	}
}
