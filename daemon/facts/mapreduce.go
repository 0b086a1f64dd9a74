package facts

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"heddle"
	"heddle/policy"
	"heddle/rm"
	"heddle/yarn/ids"
)

// mrTask is a task in a list of tasks.
type mrTask struct {
	ID       string  `json:"id"`
	State    string  `json:"state"`
	Status   string  `json:"status"`
	Progress float64 `json:"progress"` // in percent
}

// maxAddress is the maximum length of a host with its port.
const maxAddress = rm.MaxHostName + 6

// mrAttempt is an attempt of a task.
type mrAttempt struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Container string `json:"assignedContainerId"`
	NodeHTTP  string `json:"nodeHttpAddress"`
}

// mrCounters are the counters of one group.
type mrCounters struct {
	Counters []struct {
		Name  string `json:"name"`
		Value amount `json:"value"`
	} `json:"counter"`
}

// A taskList collects what is reported about the tasks of one application.
type taskList struct {
	app  ids.App
	news []rm.TaskNews
	at   map[rm.Task]int // index in news
}

// mapReduce asks a MapReduce master.
func (t *talk) mapReduce(q *rm.AskMaster, told *rm.MasterTold) error {
	app := q.Attempt.App
	l := &taskList{app: app, at: map[rm.Task]int{}}
	defer func() { told.Tasks = l.news }()
	job := strings.TrimPrefix(app.String(), "application_")
	tasks := "ws/v1/mapreduce/jobs/job_" + job + "/tasks"
	if kinds, any := wanted(q.Kinds); q.Tasks && any {
		if err := t.get(tasks, kinds, l.list); err != nil {
			l.news = nil // a partial list is useless
			return err
		}
	}
	var refused error // by a master that answered: it may know the next task
	for _, task := range q.Containers {
		err := t.get(tasks+"/"+nameOf(job, task)+"/attempts", "", func(r io.Reader) error { return l.attempts(r, task) })
		if err = keep(&refused, err); err != nil {
			return err
		}
	}
	for _, task := range q.Counters {
		err := t.get(tasks+"/"+nameOf(job, task)+"/counters", "", func(r io.Reader) error { return l.counters(r, task) })
		if err = keep(&refused, err); err != nil {
			return err
		}
	}
	if q.Heap {
		err := t.heap(&told.Heap)
		if err = keep(&refused, err); err != nil {
			return err
		}
	}
	return refused
}

// keep keeps the first refusal in *refused and returns other errors.
func keep(refused *error, err error) error {
	if !errors.As(err, new(*status)) {
		return err
	}
	if *refused == nil {
		*refused = err
	}
	return nil
}

// wanted returns the query for tasks of these kinds, and whether there are any kinds.
func wanted(k policy.Kinds) (query string, any bool) {
	switch maps, reduces := k.Has(heddle.Map), k.Has(heddle.Reduce); {
	case maps && !reduces:
		return "type=m", true
	case reduces && !maps:
		return "type=r", true
	default:
		return "", maps
	}
}

// nameOf returns a task's id.
func nameOf(job string, t rm.Task) string {
	letter := "m"
	if t.Kind == heddle.Reduce {
		letter = "r"
	}
	return fmt.Sprintf("task_%s_%s_%06d", job, letter, t.Index)
}

// parseTask parses a task's id: task_<cluster>_<seq>_<m or r>_<index>. ok is false for another application's task.
func (l *taskList) parseTask(id string) (t rm.Task, ok bool, err error) {
	f := strings.Split(id, "_")
	if len(f) != 5 || f[0] != "task" || f[3] != "m" && f[3] != "r" {
		return t, false, fmt.Errorf("%.80q is not the id of a task", id)
	}
	app, err := ids.ParseApp("application_" + f[1] + "_" + f[2])
	n, numberErr := strconv.ParseUint(f[4], 10, 31)
	if err != nil || numberErr != nil {
		return t, false, fmt.Errorf("%.80q is not the id of a task", id)
	}
	t = rm.Task{Kind: heddle.Map, Index: int32(n)}
	if f[3] == "r" {
		t.Kind = heddle.Reduce
	}
	return t, app == l.app, nil
}

// of returns the news about a task.
func (l *taskList) of(t rm.Task) *rm.TaskNews {
	i, known := l.at[t]
	if !known {
		i = len(l.news)
		l.at[t] = i
		l.news = append(l.news, rm.TaskNews{Task: t})
	}
	return &l.news[i]
}

// list reads a list of tasks.
func (l *taskList) list(r io.Reader) error {
	return each(r, []string{"tasks", "task"}, func(v *mrTask) error {
		task, own, err := l.parseTask(v.ID)
		if err != nil || !own {
			return err
		}
		n := l.of(task)
		if n.Listed {
			return fmt.Errorf("%.80q is listed twice", v.ID)
		}
		n.Listed = true
		if n.State, err = stateOf(v.State); err != nil {
			return err
		}
		if v.Progress > 100.01 {
			return fmt.Errorf("%.80q has a progress of %g %%", v.ID, v.Progress)
		}
		n.Progress = min(max(v.Progress/100, 0), 1)
		if n.State == rm.TaskRuns {
			n.Phase = phaseOf(task.Kind, v.Status, n.Progress)
		}
		return nil
	})
}

// stateOf reads the state of a task.
func stateOf(s string) (rm.TaskState, error) {
	switch s {
	case "NEW", "SCHEDULED":
		return rm.TaskWaits, nil
	case "RUNNING":
		return rm.TaskRuns, nil
	case "SUCCEEDED":
		return rm.TaskSucceeded, nil
	case "FAILED", "KILL_WAIT", "KILLED":
		return rm.TaskFailed, nil
	}
	return 0, fmt.Errorf("%.40q is not a state of a task", s)
}

// phaseOf returns the phase of a running task. The status of a reduce is an optional text of the task's own, followed
// by the phase: "reduce > copy(13 of 24 at 0.02 MB/s)", "13 / 24 copied.", "sort", "words > reduce". If the status
// names no phase, the progress decides: copying, sorting and reducing are a third each.
func phaseOf(k heddle.Kind, status string, progress float64) heddle.Phase {
	if progress == 0 && (status == "NEW" || status == "") {
		return heddle.NoPhase
	}
	if k == heddle.Map {
		return heddle.MapRead
	}
	last := status[strings.LastIndexByte(status, '>')+1:]
	last = strings.TrimSpace(last)
	switch {
	case last == "sort":
		return heddle.ReduceSort
	case last == "reduce" && progress >= 1./3:
		return heddle.ReduceWrite
	case strings.HasPrefix(last, "copy") || strings.Contains(last, " copied") || strings.Contains(last, "copy rate("):
		if copiedAll(last) {
			return heddle.ReduceSort
		}
		return heddle.ReduceCopy
	case progress == 0:
		return heddle.NoPhase
	case progress < 1./3:
		return heddle.ReduceCopy
	case progress < 2./3:
		return heddle.ReduceSort
	}
	return heddle.ReduceWrite
}

// copiedAll reports whether a status says that all map outputs are copied. Then the copying is over, even if the task
// has not said so yet.
func copiedAll(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		var done, all int
		if n, _ := fmt.Sscanf(s[i:], "%d / %d copied", &done, &all); n == 2 {
			return done >= all
		}
		n, _ := fmt.Sscanf(s[i:], "%d of %d", &done, &all)
		return n == 2 && done >= all
	}
	return false
}

// attempts reads the attempts of a task, and keeps the container of the one that succeeded or else of the newest.
func (l *taskList) attempts(r io.Reader, task rm.Task) error {
	newest := int64(-1)
	done := false
	var in ids.Container
	http := ""
	err := each(r, []string{"taskAttempts", "taskAttempt"}, func(v *mrAttempt) error {
		i := strings.LastIndexByte(v.ID, '_')
		of, own, err := l.parseTask("task" + strings.TrimPrefix(v.ID[:max(i, 0)], "attempt"))
		if err != nil {
			return fmt.Errorf("%.80q is not the id of an attempt", v.ID)
		}
		n, err := strconv.ParseInt(v.ID[i+1:], 10, 32)
		if err != nil {
			return fmt.Errorf("%.80q is not the id of an attempt", v.ID)
		}
		if !own || of != task || done || n <= newest && v.State != "SUCCEEDED" {
			return nil
		}
		newest, done = n, v.State == "SUCCEEDED"
		c := ids.Container{}
		if v.Container != "" {
			if c, err = ids.ParseContainer(v.Container); err != nil {
				return fmt.Errorf("%.80q is not the id of a container", v.Container)
			}
			if c.Attempt.App != l.app {
				c = ids.Container{}
			}
		}
		in, http = c, v.NodeHTTP
		return nil
	})
	if err == nil && newest >= 0 {
		t := l.of(task)
		t.Container, t.NodeHTTP = in, rm.Clip(http, maxAddress)
	}
	return err
}

// counters reads the counters of a task. A running task has none.
func (l *taskList) counters(r io.Reader, task rm.Task) error {
	var n rm.TaskNews
	err := each(r, []string{"jobTaskCounters", "taskCounterGroup"}, func(g *mrCounters) error {
		for _, c := range g.Counters {
			switch c.Name {
			case "MAP_OUTPUT_MATERIALIZED_BYTES":
				n.Output = int64(c.Value)
			case "CPU_MILLISECONDS":
				n.CPU = int64(c.Value)
			case "PHYSICAL_MEMORY_BYTES", "MAP_PHYSICAL_MEMORY_BYTES_MAX", "REDUCE_PHYSICAL_MEMORY_BYTES_MAX":
				n.Memory = max(n.Memory, c.Value.mib())
			default:
				continue
			}
			n.Counted = true
		}
		return nil
	})
	if err == nil && n.Counted {
		of := l.of(task)
		of.Counted, of.Output, of.Memory, of.CPU = true, n.Output, n.Memory, n.CPU
	}
	return err
}
