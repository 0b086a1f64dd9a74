package hadoop_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// testShell runs YARN's distributed shell, and reads the output of its containers with yarn logs.
func testShell(t *testing.T, _ place) {
	ctx := onTestbed(t, jobTime)
	r, err := testbed.StartShell(ctx, "-shell_command", "echo this is $CONTAINER_ID", "-num_containers", "3",
		"-container_memory", "128", "-master_memory", "256")
	res := finish(t, r, err)
	succeeded(t, ctx, res.App, 1)
	outs := must(testbed.ContainerOutput(res.App, "stdout"))(t)
	said := map[string]bool{}
	for container, text := range outs {
		if text == "this is "+container+"\n" {
			said[container] = true
		}
	}
	if len(said) != 3 {
		t.Fatalf("%d containers printed their names, want 3: %v", len(said), outs)
	}
	// NodeManagers write the logs to HDFS a moment after the end.
	var logs string
	complete := func() bool {
		said, err := testbed.Yarn(ctx, "logs", "-applicationId", res.App)
		logs = said.Out
		return err == nil && strings.Count(logs, "this is container_") == 3
	}
	eventually(t, ctx, time.Minute, "yarn logs with the output of 3 containers", complete)
	for container := range said {
		if !regexp.MustCompile(`(?m)^Container: `+container+` on `).MatchString(logs) || !strings.Contains(logs, "this is "+container) {
			t.Errorf("yarn logs says nothing of %s: %s", container, logs)
		}
	}
}

// testYarn inspects a running application with each command, kills it, and inspects it again.
func testYarn(t *testing.T, p place) {
	ctx := onTestbed(t, jobTime)
	r := must(testbed.StartSleep(ctx, "-m", "2", "-r", "1", "-mt", "240000"))(t)
	app := must(r.App(ctx))(t)
	running := func() bool {
		a, err := testbed.App(ctx, app)
		return err == nil && a.State == "RUNNING" && a.RunningContainers == 3
	}
	eventually(t, ctx, 2*time.Minute, app+" RUNNING with 3 containers", running)

	says(t, []string{"application", "-list"}, row(app, "Sleep job", "MAPREDUCE", `\S+`, `(root\.)?default`, "RUNNING", "UNDEFINED"))
	says(t, []string{"application", "-status", app},
		`Application-Id : `+app, `Application-Name : Sleep job`, `Application-Type : MAPREDUCE`, `Queue : (root\.)?default`,
		`(?m)^\s*State : RUNNING`, `Final-State : UNDEFINED`, `AM Host : 127\.0\.0\.\d`, `Aggregate Resource Allocation : [1-9]\d* MB-seconds, [1-9]\d* vcore-seconds`)
	says(t, []string{"node", "-list"}, `Total Nodes:3`, row(`127\.0\.0\.2:8041`, "RUNNING"), row(`127\.0\.0\.3:8041`, "RUNNING"), row(`127\.0\.0\.4:8041`, "RUNNING"))
	master := strings.Replace(app, "application", "container", 1) + "_01_000001"
	says(t, []string{"logs", "-applicationId", app, "-am", "1"}, `(?m)^Container: `+master+` on 127\.0\.0\.\d`, `(?m)^LogType:syslog`)
	top := must(testbed.StartYarn(ctx, "top", "-cols", "200", "-rows", "24"))(t) // it asks over HTTP how long the ResourceManager has been up
	defer top.Kill()
	eventually(t, ctx, time.Minute, "yarn top that shows "+app, func() bool {
		shown, err := os.ReadFile(top.Log)
		if strings.Contains(string(shown), "Could not fetch RM start time") {
			t.Fatalf("yarn top: %s", shown)
		}
		return err == nil && regexp.MustCompile(`YARN top - \S+, up 0d, \d+:\d+, `).Match(shown) && strings.Contains(string(shown), app)
	})
	queue := []string{`Queue Name : (root\.)?default`, `(?m)^\s*State : RUNNING`}
	if p.profile != "fair" { // for fair queues the command prints other lines
		queue = append(queue, `\sCapacity : 100`, `Current Capacity : [1-9]`)
	}
	says(t, []string{"queue", "-status", "default"}, queue...)
	says(t, []string{"applicationattempt", "-list", app}, row(strings.Replace(app, "application", "appattempt", 1)+"_000001", "RUNNING"))

	says(t, []string{"application", "-kill", app}, `Killing application `+app)
	says(t, []string{"application", "-status", app}, `(?m)^\s*State : KILLED`, `Final-State : KILLED`)
	says(t, []string{"application", "-list", "-appStates", "KILLED"}, row(app, "Sleep job", "MAPREDUCE", `\S+`, `(root\.)?default`, "KILLED", "KILLED"))
	eventually(t, ctx, 30*time.Second, "no container of "+app, func() bool { return testbed.ContainerProcesses(app) == 0 })
	if _, err := r.Wait(); err == nil {
		t.Error("the client of a killed job says that it succeeded")
	}
	if _, err := testbed.Yarn(ctx, "application", "-status", "application_1_0001"); err == nil {
		t.Error("yarn application -status of one that never was succeeds")
	}
}

// row returns a pattern for a line of a table that begins with these columns.
func row(columns ...string) string { return `(?m)^\s*` + strings.Join(columns, `\s+`) + `\s` }

// says fails unless a yarn command prints a match for each of the patterns.
func says(t *testing.T, command []string, patterns ...string) {
	t.Helper()
	ctx := onTestbed(t, jobTime)
	res, err := testbed.Yarn(ctx, command[0], command[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(res.Out) {
			t.Errorf("%s: nothing like %q in\n%s", fmt.Sprint("yarn ", strings.Join(command, " ")), p, res.Out)
		}
	}
}
