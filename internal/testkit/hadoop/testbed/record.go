package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"heddle/internal/testkit/hadoop"
)

// A question is one request of a recording. In its path {app}, {attempt} and {worker} stand for the running
// application, its first attempt and a container other than its master's. A path that is not complete is below
// /ws/v1/cluster.
type question struct {
	file string // where the answer goes: *.json and *.xml get its body, *.headers everything else
	path string
	put  string // the body of a PUT; "" for another method
}

// The requests to a ResourceManager while an application of three containers runs.
var whileRunning = []question{
	{"info.xml", "info", ""},
	{"scheduler.xml", "scheduler", ""},
	{"nodes.xml", "nodes", ""},
	{"node.xml", "nodes/127.0.0.2:8041", ""},
	{"app.json", "apps/{app}", ""},
	{"app.xml", "apps/{app}", ""},
	{"appstatistics.xml", "appstatistics?states=RUNNING", ""},
	{"appstatistics-type.json", "appstatistics?states=running&applicationTypes=yarn", ""},
	{"appstate.xml", "apps/{app}/state", ""},
	{"appqueue.json", "apps/{app}/queue", ""},
	{"appqueue.xml", "apps/{app}/queue", ""},
	{"apppriority.json", "apps/{app}/priority", ""},
	{"apppriority.xml", "apps/{app}/priority", ""},
	{"apptimeouts.json", "apps/{app}/timeouts", ""},
	{"apptimeouts.xml", "apps/{app}/timeouts", ""},
	{"apptimeout.json", "apps/{app}/timeouts/LIFETIME", ""},
	{"apptimeout.xml", "apps/{app}/timeouts/LIFETIME", ""},
	{"appattempts.xml", "apps/{app}/appattempts", ""},
	{"appattempt.json", "apps/{app}/appattempts/{attempt}", ""},
	{"appattempt.xml", "apps/{app}/appattempts/{attempt}", ""},
	{"containers.json", "apps/{app}/appattempts/{attempt}/containers", ""},
	{"containers.xml", "apps/{app}/appattempts/{attempt}/containers", ""},
	{"container.json", "apps/{app}/appattempts/{attempt}/containers/{worker}", ""},
	{"container.xml", "apps/{app}/appattempts/{attempt}/containers/{worker}", ""},

	{"error-bad-attempt.json", "apps/{app}/appattempts/nosuch", ""},
	{"error-no-attempt.json", "apps/{app}/appattempts/{attempt}9", ""},
	{"error-other-attempt.json", "apps/{app}/appattempts/appattempt_1_0001_000001", ""},
	{"error-attempt-of-no-app.json", "apps/application_1_0001/appattempts/appattempt_1_0001_000001", ""},
	{"error-bad-container.json", "apps/{app}/appattempts/{attempt}/containers/nosuch", ""},
	{"error-no-container.json", "apps/{app}/appattempts/{attempt}/containers/{worker}9", ""},
	{"error-other-container.json", "apps/{app}/appattempts/{attempt}/containers/container_1_0001_01_000001", ""},
	{"error-bad-timeout.json", "apps/{app}/timeouts/NEVER", ""},
	{"error-bad-limit.json", "apps?limit=x", ""},
	{"error-no-limit.json", "apps?limit=0", ""},
	{"error-no-queue.json", "apps?queue=nosuch", ""},
	{"error-bad-time.json", "apps?finishedTimeEnd=x", ""},
	{"error-early-time.json", "apps?startedTimeBegin=-1", ""},
	{"error-turned-times.json", "apps?startedTimeBegin=5&startedTimeEnd=4", ""},
	{"error-bad-deselect.json", "apps?deSelects=everything", ""},
	{"error-bad-final-status.json", "apps?finalStatus=GOOD", ""},
	{"error-bad-node-state.json", "nodes?states=WELL", ""},
	{"error-bad-node.json", "nodes/nosuch", ""},
	{"error-two-types.json", "appstatistics?applicationTypes=a,b", ""},
	{"error-put-state.json", "apps/{app}/state", `{"state":"FINISHED"}`},
	{"error-put-no-app.json", "apps/application_1_0001/state", `{"state":"KILLED"}`},

	{"put-same-state.json", "apps/{app}/state", `{"state":"RUNNING"}`},
	{"put-queue.json", "apps/{app}/queue", `{"queue":"default"}`},
	{"put-priority.json", "apps/{app}/priority", `{"priority":99}`},
	{"put-timeout.json", "apps/{app}/timeout", `{"timeout":{"type":"LIFETIME","expiryTime":"2099-01-31T12:00:00.000+0000"}}`},

	{"jmx-cluster.json", "/jmx?qry=Hadoop:service=ResourceManager,name=ClusterMetrics", ""},
	{"jmx-nodes.json", "/jmx?qry=Hadoop:service=ResourceManager,name=RMNMInfo", ""},
	{"jmx-queues.json", "/jmx?qry=Hadoop:service=ResourceManager,name=QueueMetrics,*", ""},
	{"conf-name.json", "/conf?name=yarn.acl.enable", ""},
	{"conf-name.xml", "/conf?name=yarn.acl.enable", ""},

	{"options-info.headers", "info", ""},
	{"options-apps.headers", "apps", ""},
	{"options-app.headers", "apps/{app}", ""},
	{"options-state.headers", "apps/{app}/state", ""},
	{"options-new-application.headers", "apps/new-application", ""},
	{"options-timeout.headers", "apps/{app}/timeout", ""},
	{"options-appattempt.headers", "apps/{app}/appattempts/{attempt}", ""},
	{"options-nodes.headers", "nodes", ""},
}

// The requests to the fair scheduler, whose answers have their own shape.
var underFair = []question{
	{"fair-scheduler.json", "scheduler", ""},
	{"fair-scheduler.xml", "scheduler", ""},
	{"fair-app.json", "apps/{app}", ""},
}

// The requests after the application was killed.
var whenKilled = []question{
	{"appattempt-killed.json", "apps/{app}/appattempts/{attempt}", ""},
	{"containers-killed.json", "apps/{app}/appattempts/{attempt}/containers", ""},
}

// record runs an application on the testbed and keeps the ResourceManager's answers in a folder. With the stock
// ResourceManager they are test data of daemon/web.
func record(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("record takes the folder that answers go to")
	}
	b, err := hadoop.Open("")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	client, err := b.StartShell(ctx, "-shell_command", "sleep 600", "-num_containers", "2", "-container_memory", "256", "-master_memory", "256")
	if err != nil {
		return err
	}
	defer client.Kill()
	app, err := client.App(ctx)
	if err != nil {
		return err
	}
	who, err := user.Current()
	if err != nil {
		return err
	}
	r := &recorder{dir: args[0], user: who.Username, names: strings.NewReplacer("{app}", app,
		"{attempt}", strings.Replace(app, "application", "appattempt", 1)+"_000001",
		"{worker}", strings.Replace(app, "application", "container", 1)+"_01_000002")}
	fair := b.Options().Profile == "fair"
	if err := await(ctx, b, app, 1); err != nil {
		return err
	}
	if !fair {
		if err := r.ask(ctx, question{"containers-one.json", "apps/{app}/appattempts/{attempt}/containers", ""}); err != nil {
			return err
		}
	}
	if err := await(ctx, b, app, 3); err != nil {
		return err
	}
	questions := whileRunning
	if fair {
		questions = underFair
	}
	if err := r.ask(ctx, questions...); err != nil {
		return err
	}
	if err := b.Kill(ctx, app); err != nil {
		return err
	}
	if err := await(ctx, b, app, 0); err != nil || fair {
		return err
	}
	return r.ask(ctx, whenKilled...)
}

// await waits until an application has that many containers; with 0, until it is over.
func await(ctx context.Context, b *hadoop.Testbed, app string, containers int) error {
	for {
		a, err := b.App(ctx, app)
		over := a.State == "KILLED" || a.State == "FINISHED" || a.State == "FAILED"
		switch {
		case err != nil:
			return err
		case containers == 0 && over, containers > 0 && a.RunningContainers == containers:
			return nil
		case over:
			return fmt.Errorf("%s ended as %s before it had %d containers: %s", app, a.State, containers, a.Diagnostics)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s has %d containers, not %d: %w", app, a.RunningContainers, containers, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A recorder keeps answers in a folder.
type recorder struct {
	dir, user string // user is the one who changes something
	names     *strings.Replacer
}

// build matches what differs between builds of Hadoop.
var build = regexp.MustCompile(`\b[0-9a-f]{31,40}\b`)

func (r *recorder) ask(ctx context.Context, questions ...question) error {
	for _, q := range questions {
		if err := r.one(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q.file, err)
		}
	}
	return nil
}

func (r *recorder) one(ctx context.Context, q question) error {
	path := r.names.Replace(q.path)
	if !strings.HasPrefix(path, "/") {
		path = "/ws/v1/cluster/" + path
	}
	kind, method := strings.TrimPrefix(filepath.Ext(q.file), "."), http.MethodGet
	switch {
	case q.put != "":
		method = http.MethodPut
		path += "?user.name=" + r.user
	case kind == "headers":
		method = http.MethodOptions
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+hadoop.RMWeb+path, strings.NewReader(q.put))
	if err != nil {
		return err
	}
	if method == http.MethodOptions {
		req.Header.Set("Accept", "*/*") // as Java's clients do
	} else {
		req.Header.Set("Accept", "application/"+kind)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if method == http.MethodOptions { // the body is a WADL description of the service
		var head bytes.Buffer
		fmt.Fprintf(&head, "%s %s\r\n", resp.Proto, resp.Status)
		if err := resp.Header.Write(&head); err != nil {
			return err
		}
		answer = append(head.Bytes(), "\r\n"...)
	}
	fmt.Printf("%s %s %s: %s\n", q.file, method, path, resp.Status)
	answer = build.ReplaceAll(answer, []byte(strings.Repeat("0", 40)))
	return os.WriteFile(filepath.Join(r.dir, q.file), answer, 0o644)
}
