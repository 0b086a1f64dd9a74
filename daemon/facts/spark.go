package facts

import (
	"fmt"
	"io"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// sparkExecutor is an executor or the driver.
type sparkExecutor struct {
	ID         string            `json:"id"`
	Active     amount            `json:"activeTasks"`
	Failed     amount            `json:"failedTasks"`
	Completed  amount            `json:"completedTasks"`
	MemoryUsed amount            `json:"memoryUsed"` // bytes
	MaxMemory  amount            `json:"maxMemory"`
	GC         amount            `json:"totalGCTime"` // ms
	Attributes map[string]string `json:"attributes"`
}

// sparkStage is a stage.
type sparkStage struct {
	ID       amount `json:"stageId"`
	Status   string `json:"status"`
	Tasks    amount `json:"numTasks"`
	Active   amount `json:"numActiveTasks"`
	Complete amount `json:"numCompleteTasks"`
}

// spark asks a Spark driver.
func (t *talk) spark(q *rm.AskMaster, told *rm.MasterTold) error {
	if !q.Tasks {
		return nil
	}
	app := q.Attempt.App
	base := "api/v1/applications/" + app.String()
	var executors []rm.ExecutorNews
	if err := t.get(base+"/executors", "", func(r io.Reader) (err error) {
		executors, err = readExecutors(r, app)
		return err
	}); err != nil {
		return err
	}
	told.Executors = executors
	var stages []rm.StageNews
	if err := t.get(base+"/stages", "status=active", func(r io.Reader) (err error) {
		stages, err = readStages(r)
		return err
	}); err != nil {
		return err
	}
	told.Stages = stages
	return nil
}

// readExecutors reads the executors of an application. It leaves out those in containers of other applications.
func readExecutors(r io.Reader, app ids.App) (out []rm.ExecutorNews, err error) {
	seen := map[ids.Container]bool{}
	err = each(r, nil, func(v *sparkExecutor) error {
		n := rm.ExecutorNews{
			Active: v.Active.count(), Done: (v.Completed + v.Failed).count(),
			MemoryUsed: v.MemoryUsed.mib(), MemoryMax: v.MaxMemory.mib(), GC: heddle.Span(v.GC.count()) * heddle.Millisecond,
		}
		if id := v.Attributes["CONTAINER_ID"]; id != "" && v.ID != "driver" { // the driver may be in the master's container
			c, err := ids.ParseContainer(id)
			if err != nil {
				return fmt.Errorf("%.80q is not the id of a container", id)
			}
			if c.Attempt.App != app {
				return nil
			}
			if seen[c] {
				return fmt.Errorf("%.80q is listed twice", id)
			}
			seen[c] = true
			n.Container = c
		}
		out = append(out, n)
		return nil
	})
	return out, err
}

// readStages reads the active stages.
func readStages(r io.Reader) (out []rm.StageNews, err error) {
	err = each(r, nil, func(v *sparkStage) error {
		if v.Status == "ACTIVE" {
			out = append(out, rm.StageNews{ID: v.ID.count(), Tasks: v.Tasks.count(), Done: v.Complete.count(), Active: v.Active.count()})
		}
		return nil
	})
	return out, err
}
