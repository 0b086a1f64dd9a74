package hadoop

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A Task is a task of a MapReduce job.
type Task struct {
	ID      string `json:"id"`
	Type    string `json:"type"` // MAP or REDUCE
	State   string `json:"state"`
	Started int64  `json:"startTime"`  // ms since 1970
	Ended   int64  `json:"finishTime"` // ms since 1970; 0 if it has not ended
	Attempt string `json:"successfulAttempt"`

	Progress float64 `json:"progress"` // in percent, as last reported to its master
}

// A TaskAttempt is one attempt of a task.
type TaskAttempt struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Node  string `json:"nodeHttpAddress"`
}

// A MapReduceJob is the progress of a job.
type MapReduceJob struct {
	State         string `json:"state"`
	MapsTotal     int    `json:"mapsTotal"`
	MapsCompleted int    `json:"mapsCompleted"`
}

// Job returns the name that MapReduce gives to an application.
func Job(app string) string { return strings.Replace(app, "application_", "job_", 1) }

const (
	historyREST = "http://" + historyWeb + "/ws/v1/history/mapreduce/jobs/"
	masterREST  = "http://" + RMWeb + "/proxy/%s/ws/v1/mapreduce/jobs/"
)

// Running asks a running job's own master for its progress, through the ResourceManager's proxy.
func (b *Testbed) Running(ctx context.Context, app string) (MapReduceJob, error) {
	var answer struct{ Job MapReduceJob }
	err := getJSON(ctx, fmt.Sprintf(masterREST, app)+Job(app), &answer)
	return answer.Job, err
}

// RunningTasks asks a running job's own master for its tasks.
func (b *Testbed) RunningTasks(ctx context.Context, app string) ([]Task, error) {
	return tasks(ctx, fmt.Sprintf(masterREST, app)+Job(app)+"/tasks")
}

// RunningAttempts asks a running job's own master for the attempts of a task.
func (b *Testbed) RunningAttempts(ctx context.Context, app, task string) ([]TaskAttempt, error) {
	return taskAttempts(ctx, fmt.Sprintf(masterREST, app)+Job(app)+"/tasks/"+task+"/attempts")
}

// Tasks returns a finished job's tasks from the history server, which may need a moment to have them.
func (b *Testbed) Tasks(ctx context.Context, app string) ([]Task, error) {
	var all []Task
	read := func(ctx context.Context) bool {
		var err error
		all, err = tasks(ctx, historyREST+Job(app)+"/tasks")
		return err == nil
	}
	err := b.await(ctx, 30*time.Second, "the history of "+app, read, "historyserver")
	return all, err
}

// KeepHistory copies the history server's files of a finished job to a folder of this machine: the .jhist file and the
// job's configuration.
func (b *Testbed) KeepHistory(ctx context.Context, app, dir string) error {
	if _, err := b.Tasks(ctx, app); err != nil { // it has been moved to its final place
		return err
	}
	kept := 0
	err := b.walk(ctx, "/staging/history", func(file string) error {
		name := path.Base(file)
		if !strings.HasPrefix(name, Job(app)) || strings.HasSuffix(name, ".summary") {
			return nil
		}
		kept++
		text, err := b.Cat(ctx, file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), text, 0o644)
	})
	if err == nil && kept < 2 {
		err = fmt.Errorf("%d files of the history of %s, want 2", kept, app)
	}
	return err
}

// TaskAttempts returns the attempts of a finished job's task.
func (b *Testbed) TaskAttempts(ctx context.Context, app, task string) ([]TaskAttempt, error) {
	return taskAttempts(ctx, historyREST+Job(app)+"/tasks/"+task+"/attempts")
}

func tasks(ctx context.Context, address string) ([]Task, error) {
	var answer struct{ Tasks struct{ Task []Task } }
	err := getJSON(ctx, address, &answer)
	return answer.Tasks.Task, err
}

func taskAttempts(ctx context.Context, address string) ([]TaskAttempt, error) {
	var answer struct {
		TaskAttempts struct {
			TaskAttempt []TaskAttempt `json:"taskAttempt"`
		} `json:"taskAttempts"`
	}
	err := getJSON(ctx, address, &answer)
	return answer.TaskAttempts.TaskAttempt, err
}

// ContainerOutput returns what an application's containers wrote to a file such as stdout, by container.
func (b *Testbed) ContainerOutput(app, file string) (map[string]string, error) {
	out := map[string]string{}
	for n := 1; n <= b.opt.Nodes; n++ {
		files, err := filepath.Glob(filepath.Join(b.ContainerLogs(n), app, "container_*", file))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			out[filepath.Base(filepath.Dir(f))] = string(text)
		}
	}
	return out, nil
}

// SparkTasksDone asks a running Spark application's driver, through the ResourceManager's proxy, how many tasks have
// succeeded.
func (b *Testbed) SparkTasksDone(ctx context.Context, app string) (int, error) {
	var stages []struct {
		Complete int `json:"numCompleteTasks"`
	}
	err := getJSON(ctx, "http://"+RMWeb+"/proxy/"+app+"/api/v1/applications/"+app+"/stages", &stages)
	done := 0
	for _, s := range stages {
		done += s.Complete
	}
	return done, err
}
