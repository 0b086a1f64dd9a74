package hadoop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// restWithin is the time limit for one answer of a server.
const restWithin = 10 * time.Second

// An App is what tests need to know about an application, under YARN's REST names.
type App struct {
	ID                string `json:"id"`
	User              string `json:"user"`
	Name              string `json:"name"`
	Queue             string `json:"queue"`
	Type              string `json:"applicationType"`
	State             string `json:"state"`
	FinalStatus       string `json:"finalStatus"`
	Diagnostics       string `json:"diagnostics"`
	Started           int64  `json:"startedTime"`  // ms since 1970: when it was submitted
	Finished          int64  `json:"finishedTime"` // ms since 1970; 0 if it has not finished
	RunningContainers int    `json:"runningContainers"`
}

// Elapsed is the time from submission to the end.
func (a App) Elapsed() time.Duration { return time.Duration(a.Finished-a.Started) * time.Millisecond }

// An Attempt is one attempt of an application: one run of its ApplicationMaster.
type Attempt struct {
	ID        int    `json:"id"`
	Node      string `json:"nodeId"`
	Container string `json:"containerId"`
	State     string `json:"appAttemptState"`
}

// A Node is a NodeManager as the ResourceManager sees it.
type Node struct {
	ID         string `json:"id"`
	State      string `json:"state"`
	Containers int    `json:"numContainers"`

	Utilization struct {
		ContainersCPU float64 `json:"containersCPUUsage"` // vcores that its containers use together
	} `json:"resourceUtilization"`
}

// Metrics are the ResourceManager's counts.
type Metrics struct {
	ActiveNodes         int   `json:"activeNodes"`
	ContainersAllocated int   `json:"containersAllocated"`
	AllocatedMB         int64 `json:"allocatedMB"`
}

// Get asks the ResourceManager for /ws/v1/cluster/path and decodes the answer into a value, unless that is nil.
func (b *Testbed) Get(ctx context.Context, path string, into any) error {
	return getJSON(ctx, "http://"+RMWeb+"/ws/v1/cluster/"+path, into)
}

// Heddle asks heddle rm for what the stock ResourceManager does not have, at /ws/v1/heddle/path.
func (b *Testbed) Heddle(ctx context.Context, path string, into any) error {
	return getJSON(ctx, "http://"+RMWeb+"/ws/v1/heddle/"+path, into)
}

// Counters returns the values of one of Heddle's metrics by one of its labels.
func (b *Testbed) Counters(ctx context.Context, name, label string) (map[string]float64, error) {
	at := "http://" + RMWeb + "/metrics"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	values := map[string]float64{}
	for _, m := range families[name].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == label {
				values[l.GetValue()] += m.GetCounter().GetValue()
			}
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: want values of %s by %s, got none", at, name, label)
	}
	return values, nil
}

// ContainerMB returns a container's memory in MiB according to the NodeManager of node n.
func (b *Testbed) ContainerMB(ctx context.Context, n int, container string) (int64, error) {
	var answer struct {
		Container struct {
			MB int64 `json:"totalMemoryNeededMB"`
		}
	}
	err := getJSON(ctx, "http://"+b.Addr(n)+":8042/ws/v1/node/containers/"+container, &answer)
	return answer.Container.MB, err
}

// Metrics returns the ResourceManager's counts.
func (b *Testbed) Metrics(ctx context.Context) (Metrics, error) {
	var answer struct {
		ClusterMetrics Metrics `json:"clusterMetrics"`
	}
	err := b.Get(ctx, "metrics", &answer)
	return answer.ClusterMetrics, err
}

// App returns one application.
func (b *Testbed) App(ctx context.Context, id string) (App, error) {
	var answer struct{ App App }
	err := b.Get(ctx, "apps/"+id, &answer)
	return answer.App, err
}

// Ended waits until the ResourceManager reports the end of an application. It returns an error if that did not succeed.
func (b *Testbed) Ended(ctx context.Context, id string) (App, error) {
	for {
		app, err := b.App(ctx, id)
		if err != nil {
			return app, err
		}
		if app.Finished > 0 {
			if app.FinalStatus != "SUCCEEDED" {
				return app, fmt.Errorf("%s is %s: %s", id, app.FinalStatus, app.Diagnostics)
			}
			return app, nil
		}
		if err := Sleep(ctx, 50*time.Millisecond); err != nil {
			return app, err
		}
	}
}

// Apps returns all applications that the ResourceManager knows.
func (b *Testbed) Apps(ctx context.Context) ([]App, error) {
	var answer struct{ Apps struct{ App []App } }
	err := b.Get(ctx, "apps", &answer)
	return answer.Apps.App, err
}

// Attempts returns an application's attempts, the first one first.
func (b *Testbed) Attempts(ctx context.Context, app string) ([]Attempt, error) {
	var answer struct {
		AppAttempts struct {
			AppAttempt []Attempt `json:"appAttempt"`
		} `json:"appAttempts"`
	}
	err := b.Get(ctx, "apps/"+app+"/appattempts", &answer)
	return answer.AppAttempts.AppAttempt, err
}

// Nodes returns all nodes that the ResourceManager knows, in every state.
func (b *Testbed) Nodes(ctx context.Context) ([]Node, error) {
	var answer struct{ Nodes struct{ Node []Node } }
	err := b.Get(ctx, "nodes?states=NEW,RUNNING,UNHEALTHY,DECOMMISSIONED,LOST,REBOOTED,SHUTDOWN", &answer)
	return answer.Nodes.Node, err
}

// Kill asks the ResourceManager over REST to end an application.
func (b *Testbed) Kill(ctx context.Context, app string) error {
	ctx, cancel := context.WithTimeout(ctx, restWithin)
	defer cancel()
	address := "http://" + RMWeb + "/ws/v1/cluster/apps/" + app + "/state?user.name=" + b.user
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, address, bytes.NewReader([]byte(`{"state":"KILLED"}`)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	_, err = answer(req)
	return err
}

func getJSON(ctx context.Context, address string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, restWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	text, err := answer(req)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w in %.200s", address, err, text)
	}
	return nil
}

func answer(req *http.Request) ([]byte, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: status %s: %.500s", req.Method, req.URL, res.Status, text)
	}
	return text, err
}
