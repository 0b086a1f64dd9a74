package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/yarn/conv"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// submit submits an application as Hadoop's clients do, and returns its id.
func submit(t *testing.T, addr, user, name string) string {
	t.Helper()
	id, err := trySubmit(t.Context(), addr, user, name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func trySubmit(ctx context.Context, addr, user, name string) (string, error) {
	c, err := rpc.Dial(ctx, addr, rpc.ClientOptions{Protocol: "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB", User: user, Timeout: 5 * time.Second})
	if err != nil {
		return "", err
	}
	defer c.Close()
	var made wire.GetNewApplicationResponse
	if err := c.Call(ctx, "getNewApplication", &wire.GetNewApplicationRequest{}, &made); err != nil {
		return "", err
	}
	submission := &wire.ApplicationSubmissionContext{
		ApplicationId: made.ApplicationId, ApplicationName: new(name), ApplicationType: new("YARN"),
		AmContainerSpec: &wire.ContainerLaunchContext{Command: []string{"true"}},
		Resource:        &wire.Resource{Memory: new(int64(1024)), VirtualCores: new(int32(1))},
	}
	err = c.Call(ctx, "submitApplication", &wire.SubmitApplicationRequest{ApplicationSubmissionContext: submission}, &wire.SubmitApplicationResponse{})
	return conv.App(made.ApplicationId).String(), err
}

// An application of a ResourceManager without nodes is listed, explained and killed; after a restart it is still known.
func TestApplicationFromOutside(t *testing.T) {
	data := filepath.Join(t.TempDir(), "state")
	p := start(t, "rm", "--data", data, "--listen", freePorts)
	said := p.until(`pages and REST`)
	web := webOf(said)
	id := submit(t, regexp.MustCompile(`clients +(\S+)`).FindStringSubmatch(said)[1], "ada", "by hand")
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if out, _ := heddleSays(t, "app", "list", "--rm", web, "--state", "ACCEPTED", "-q"); strings.Contains(out, id) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s is not accepted:\n%s", id, p.log())
		}
	}
	for _, x := range []struct {
		args, want string
		code       int
	}{
		{"app list", `(?m)^` + id + ` +by hand +YARN +ada +root.default +ACCEPTED +0 %`, exitDone},
		{"app status " + id, `(?m)^state +ACCEPTED$`, exitDone},
		{"why " + id, `(?s)has no master yet\.\n\nIt waits for 1 master of 1 GiB and 1 vcore .*: there is no node\.`, exitDone},
		{"queue status default", `applications +0 with a master, 1 waiting for one`, exitDone},
		{"top", `applications  0 running, 1 waiting`, exitDone},
		{"__complete why --rm " + web + " ", id + "\tby hand of ada, ACCEPTED", exitDone},
		{"app move --user ada " + id + " root.nosuch", `root.nosuch`, exitFailed},
		{"app kill --user ada " + id, `^` + id + ` is killed\n$`, exitDone},
		{"app kill --user ada " + id, `^` + id + ` had already ended: KILLED\n$`, exitDone},
		{"why " + id, `it ended as KILLED, at .* It waits for nothing\.`, exitDone},
		{"app list --all", id + ` +by hand .* KILLED `, exitDone},
		{"app list --all --limit 1", id + ` +by hand .* KILLED `, exitDone},
		{"app list --all --before " + id, `no such applications`, exitDone},
		{"app list --before one", `--before`, exitBad},
	} {
		args := strings.Split(x.args, " ")
		if args[0] != "__complete" {
			args = append(args, "--rm", web)
		}
		if out, code := heddleSays(t, args...); code != x.code || !regexp.MustCompile(x.want).MatchString(out) {
			t.Errorf("heddle %s ended with %d, want %d and %s:\n%s", x.args, code, x.code, x.want, out)
		}
	}
	if code := p.end(syscall.SIGTERM); code != exitDone {
		t.Errorf("it ended with %d:\n%s", code, p.log())
	}

	p = start(t, "rm", "--data", data, "--listen", freePorts)
	said = p.until(`pages and REST`)
	web = webOf(said)
	if out, code := heddleSays(t, "app", "status", "--rm", web, id); code != exitDone || !regexp.MustCompile(`(?m)^state +KILLED$`).MatchString(out) {
		t.Errorf("after a restart heddle app status ended with %d:\n%s", code, out)
	}
}

// With access lists on, a user who may see an application sees it with every read command; others are told what they
// may know.
func TestLookingWithAccessLists(t *testing.T) {
	dir := t.TempDir()
	const text = "<configuration><property><name>yarn.acl.enable</name><value>true</value></property>" +
		"<property><name>yarn.admin.acl</name><value> </value></property></configuration>"
	if err := os.WriteFile(filepath.Join(dir, "yarn-site.xml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	const queues = "<configuration><property><name>yarn.scheduler.capacity.root.queues</name><value>default</value></property>" +
		"<property><name>yarn.scheduler.capacity.root.default.capacity</name><value>100</value></property>" +
		"<property><name>yarn.scheduler.capacity.root.acl_administer_queue</name><value> </value></property>" +
		"<property><name>yarn.scheduler.capacity.root.default.acl_administer_queue</name><value> </value></property></configuration>"
	if err := os.WriteFile(filepath.Join(dir, "capacity-scheduler.xml"), []byte(queues), 0o644); err != nil {
		t.Fatal(err)
	}
	p := start(t, "rm", "--data", filepath.Join(dir, "state"), "--conf", dir, "--listen", freePorts)
	said := p.until(`pages and REST`)
	web := webOf(said)
	id := submit(t, regexp.MustCompile(`clients +(\S+)`).FindStringSubmatch(said)[1], "ada", "by hand")
	for _, x := range []struct {
		user, args, want string
		code             int
	}{
		{"ada", "app list", `(?m)^` + id + ` +by hand +YARN +ada +root.default +\S+ +0 % +0 +0 `, exitDone},
		{"ada", "app status " + id, `(?m)^holds +0 containers`, exitDone},
		{"ada", "why " + id, `has no master yet\.`, exitDone},
		{"eve", "app list", `(?s)` + id + ` +by hand +YARN +ada +root.default +[A-Z_]+ +\d{4}-.*1 application shown only in part: access lists are on`, exitDone},
		{"eve", "app status " + id, `(?s)^application +` + id + `.*the rest of it is not shown: access lists are on`, exitDone},
		{"eve", "app status -o json " + id, `"masked": true`, exitDone},
		{"eve", "why " + id, `User eve does not have privilege to see this application ` + id, exitFailed},
	} {
		t.Setenv("HADOOP_USER_NAME", x.user)
		out, code := heddleSays(t, append(strings.Split(x.args, " "), "--rm", web)...)
		if code != x.code || !regexp.MustCompile(x.want).MatchString(out) {
			t.Errorf("heddle %s as %s ended with %d, want %d and %s:\n%s", x.args, x.user, code, x.code, x.want, out)
		}
	}
}

// If others can reach the ResourceManager, HTTP does not authenticate: changes go over RPC, as the user, and are
// allowed or refused as there.
func TestChangesFromOutside(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"heddle.yaml": "insecure_open: I understand\n",
		"yarn-site.xml": "<configuration><property><name>yarn.acl.enable</name><value>true</value></property>" +
			"<property><name>yarn.admin.acl</name><value>root</value></property></configuration>",
		"capacity-scheduler.xml": "<configuration><property><name>yarn.scheduler.capacity.root.queues</name><value>default,other</value></property>" +
			"<property><name>yarn.scheduler.capacity.root.default.capacity</name><value>50</value></property>" +
			"<property><name>yarn.scheduler.capacity.root.other.capacity</name><value>50</value></property>" +
			"<property><name>yarn.scheduler.capacity.root.acl_administer_queue</name><value> </value></property></configuration>",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, "rm", "--data", filepath.Join(dir, "state"), "--conf", dir, "--listen", "0.0.0.0,"+freePorts)
	said := p.until(`pages and REST`)
	port := func(pattern string) string { return regexp.MustCompile(pattern).FindStringSubmatch(said)[1] }
	web, rpcPort := "http://127.0.0.1:"+port(`pages and REST.*:(\d+)`), port(`clients .*:(\d+)`)
	id := submit(t, "127.0.0.1:"+rpcPort, "ada", "by hand")
	for _, x := range []struct {
		args, want string
		code       int
	}{
		{"app priority --user ada " + id + " 0", `^` + id + ` has priority 0\n$`, exitDone},
		{"app move --user ada " + id + " other", `^` + id + ` is in root.other\n$`, exitDone},
		{"app kill --user eve " + id, `user eve may not kill ` + id + `.*\(forceKillApplication at 127.0.0.1:` + rpcPort + `\)`, exitFailed},
		{"app move --user ada application_1_0001 other", `application_1_0001 .*moveApplicationAcrossQueues at`, exitNone},
		{"app kill --user ada " + id, `^` + id + ` is killed\n$`, exitDone},
	} {
		out, code := heddleSays(t, append(strings.Split(x.args, " "), "--rm", web)...)
		if code != x.code || !regexp.MustCompile(x.want).MatchString(out) {
			t.Errorf("heddle %s ended with %d, want %d and %s:\n%s", x.args, code, x.code, x.want, out)
		}
	}
	for user, want := range map[string]string{ // read commands take the user at their word
		"eve": `(?s)state +KILLED\n.*the rest of it is not shown: .* do not name you`, "ada": `killed by user ada at 127.0.0.1`,
	} {
		t.Setenv("HADOOP_USER_NAME", user)
		if out, code := heddleSays(t, "app", "status", id, "--rm", web); code != exitDone || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("heddle app status as %s ended with %d, want %s:\n%s", user, code, want, out)
		}
	}
	for _, want := range []string{
		`USER=ada IP=127.0.0.1 OPERATION="Kill Application Request" TARGET=ClientRMService RESULT=SUCCESS APPID=` + id,
		`USER=eve IP=127.0.0.1 OPERATION="Kill Application Request" TARGET=ClientRMService RESULT=FAILURE`,
		`USER=ada OPERATION="Application Finished - Killed" TARGET=RMAppManager RESULT=SUCCESS APPID=` + id,
	} {
		if n := strings.Count(p.log(), want); n != 1 {
			t.Errorf("%q was logged %d times, want once:\n%s", want, n, p.log())
		}
	}
}
