package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"heddle/node/api"
	"heddle/node/trust"
)

// A node joins a ResourceManager that others can reach, and is still known after a restart.
func TestNodeJoins(t *testing.T) {
	dir := t.TempDir()
	data, folder := filepath.Join(dir, "state"), filepath.Join(dir, "agent")
	says := func() (p *process, address string) {
		p = start(t, "rm", "--data", data, "--listen", freePorts, "--listen", "agents=0.0.0.0:0")
		said := p.until("state: ")
		at := regexp.MustCompile(`node agents +https://\S+(:\d+)`).FindStringSubmatch(said)
		if at == nil || !strings.Contains(said, "except for node agents with a token or a certificate") {
			t.Fatalf("it says\n%s", said)
		}
		return p, "https://127.0.0.1" + at[1]
	}
	p, address := says()
	out, code := heddleSays(t, "-q", "node", "token", "--data", data, "--node", "n1:8041")
	if code != exitDone {
		t.Fatalf("%d: %s", code, out)
	}
	join := []string{"node", "join", "--rm", address, "--token", strings.TrimSpace(out), "--credentials", folder, "--node"}
	want := "the token is for node n1:8041, not for n2:8041"
	if out, code := heddleSays(t, append(join, "n2:8041")...); code != exitFailed || !strings.Contains(out, want) {
		t.Errorf("%d: %s", code, out)
	}
	want = "node n1:8041 has joined; its certificate in " + folder
	if out, code := heddleSays(t, append(join, "n1:8041")...); code != exitDone || !strings.Contains(out, want) {
		t.Fatalf("%d: %s", code, out)
	}
	if code := p.end(syscall.SIGTERM); code != exitDone {
		t.Errorf("it ended with %d", code)
	}
	for _, want := range []string{
		`OPERATION="Join Node Agent" TARGET=NodeAgentService RESULT=SUCCESS`, "USER=n2:8041", "RESULT=FAILURE",
	} {
		if !strings.Contains(p.log(), want) {
			t.Errorf("%q is not in\n%s", want, p.log())
		}
	}

	p, address = says()
	c, err := trust.Client(folder)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Post(address+api.Path, "application/json", strings.NewReader(`{"node": "n1:8041", "agent": "a"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s", resp.Status)
	}
	p.end(syscall.SIGTERM)
}

// On loopback there is nothing to join.
func TestNobodyJoinsOnLoopback(t *testing.T) {
	data := t.TempDir()
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, "rm", "--data", data, "--listen", freePorts+",agents=:0")
	said := p.until("state: ")
	at := regexp.MustCompile(`node agents +(http://127\.0\.0\.1:\d+)`).FindStringSubmatch(said)
	if at == nil || !strings.Contains(said, "only this machine can reach it\n") {
		t.Fatalf("it says\n%s", said)
	}
	resp, err := http.Post(at[1]+api.JoinPath, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("%s", resp.Status)
	}
	out, code := heddleSays(t, "node", "token", "--data", data)
	if code != exitBad || !strings.Contains(out, "heddle rm makes it") {
		t.Errorf("%d: %s", code, out)
	}
	p.end(syscall.SIGTERM)
}
