package workload

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"heddle"
)

// Write writes a workload as a trace in format sls or swim. What the format cannot express of a job is left out, and
// [Lost] lists it. If it cannot express a job at all, Write returns an error that names the job and writes nothing.
func Write(w io.Writer, format string, wl *Workload) error {
	check, write, err := writer(format)
	if err != nil {
		return err
	}
	for i := range wl.Jobs {
		if err := check(&wl.Jobs[i]); err != nil {
			return fmt.Errorf("job %s cannot be written as %s: %w", wl.Jobs[i].ID, format, err)
		}
	}
	b := bufio.NewWriter(w)
	for i := range wl.Jobs {
		if err := write(b, wl, i); err != nil {
			return err
		}
	}
	return b.Flush()
}

type jobWriter func(b *bufio.Writer, wl *Workload, i int) error

func writer(format string) (check func(*Job) error, write jobWriter, err error) {
	switch format {
	case "sls":
		return checkSLS, writeSLS, nil
	case "swim":
		return checkSWIM, writeSWIM, nil
	}
	return nil, nil, fmt.Errorf("no format %q to write; there are sls and swim", format)
}

// Lost lists what a workload states and a trace in the given format cannot hold.
func Lost(format string, wl *Workload) []string {
	var out []string
	lose := func(what string, is bool) {
		if is && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	for i := range wl.Jobs {
		j := &wl.Jobs[i]
		lose("job names", j.Name != "")
		lose("job priorities", j.Priority != 0)
		lose("programs", j.Program != "")
		lose("which jobs failed or were killed", j.Failed)
		for k, tasks := range [...][]Task{j.Maps, j.Reduces, j.Other} {
			for t := range tasks {
				tasks[t].lose(format, k, lose)
			}
		}
		switch format {
		case "sls":
			lose("slow start (the load simulator asks for reduces after the last map)", len(j.Reduces) > 0 && j.SlowStart != 1)
		case "swim":
			lose("users", j.User != "")
			lose("queues", j.Queue != "")
			lose("when jobs ended", j.Recorded > 0)
			lose("sizes of masters", !j.Master.IsZero())
			lose("slow start", j.SlowStart >= 0)
			lose("numbers of maps and reduces (read back, they follow from the bytes)", true)
		}
	}
	slices.Sort(out)
	return out
}

func (t *Task) lose(format string, kind int, lose func(string, bool)) {
	lose("processor time of tasks", t.CPU > 0)
	lose("memory that tasks really use", t.Memory > 0)
	if format == "sls" {
		lose("bytes read and written by tasks", t.Input > 0 || t.Output > 0)
		lose("hosts of a task's input beyond the first", len(t.Hosts) > 1)
		lose("parts of a millisecond", t.Duration%heddle.Millisecond != 0)
		lose("parts of a vcore", t.Size[heddle.CPU]%1000 != 0)
		return
	}
	lose("durations of tasks", t.Duration > 0)
	lose("sizes of containers", !t.Size.IsZero())
	lose("hosts of input", len(t.Hosts) > 0)
	lose("priorities of tasks", t.Priority != 0)
	lose("which map or reduce has how much of the bytes", kind < 2)
	lose("that what reduces write is unknown (read back, it is nothing)", kind == 1 && t.Output == 0 && !t.NoOutput)
}

func checkSLS(j *Job) error {
	if j.Spark != nil {
		return fmt.Errorf("it is a Spark application, with stages")
	}
	n := 0
	for _, tasks := range [...][]Task{j.Maps, j.Reduces, j.Other} {
		n += len(tasks)
		for i := range tasks {
			if tasks[i].Duration <= 0 {
				return fmt.Errorf("a task states no duration, and the load simulator needs one")
			}
		}
	}
	if n == 0 {
		return fmt.Errorf("it has no task")
	}
	return nil
}

// The types of a job as the load simulator reads it.
type (
	slsOut struct {
		Type   string    `json:"am.type"`
		Start  int64     `json:"job.start.ms"`
		End    int64     `json:"job.end.ms,omitempty"`
		Queue  string    `json:"job.queue.name,omitempty"`
		ID     string    `json:"job.id"`
		User   string    `json:"job.user,omitempty"`
		Memory int64     `json:"am.memory-mb,omitempty"`
		Vcores int64     `json:"am.vcores,omitempty"`
		Tasks  []slsTask `json:"job.tasks"`
	}
	slsTask struct {
		Count    int    `json:"count"`
		Host     string `json:"container.host,omitempty"`
		Duration int64  `json:"container.duration.ms"`
		Priority int32  `json:"container.priority,omitempty"`
		Type     string `json:"container.type"`
		Memory   int64  `json:"container.memory-mb,omitempty"`
		Vcores   int64  `json:"container.vcores,omitempty"`
	}
)

func writeSLS(b *bufio.Writer, wl *Workload, n int) error {
	j := &wl.Jobs[n]
	out := slsOut{
		Type: "mapreduce", Start: int64(j.Submit) / int64(heddle.Millisecond), Queue: j.Queue, ID: j.ID, User: j.User,
		Memory: j.Master[heddle.Memory], Vcores: vcores(j.Master),
	}
	if j.Recorded > 0 {
		out.End = out.Start + int64(j.Recorded/heddle.Millisecond)
	}
	if j.Framework != heddle.MapReduce {
		out.Type = "stream"
	}
	for _, g := range [...]struct {
		tasks []Task
		kind  string
	}{{j.Maps, "map"}, {j.Reduces, "reduce"}, {j.Other, "stream"}} {
		for i := range g.tasks {
			t := g.tasks[i].sls(wl.Hosts, g.kind)
			if last := len(out.Tasks) - 1; last >= 0 {
				t.Count = out.Tasks[last].Count
				if t == out.Tasks[last] {
					out.Tasks[last].Count++
					continue
				}
			}
			t.Count = 1
			out.Tasks = append(out.Tasks, t)
		}
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func (t *Task) sls(hosts []Host, kind string) slsTask {
	out := slsTask{
		Duration: int64((t.Worked() + heddle.Millisecond - 1) / heddle.Millisecond), Priority: t.Priority, Type: kind,
		Memory: t.Size[heddle.Memory], Vcores: vcores(t.Size),
	}
	if len(t.Hosts) > 0 {
		h := hosts[t.Hosts[0]]
		out.Host = h.Rack + "/" + h.Name
		if h.Rack == "" {
			out.Host = h.Name
		}
	}
	return out
}

// vcores returns a size's vcores, rounding a fraction up.
func vcores(r heddle.Resource) int64 { return (r[heddle.CPU] + 999) / 1000 }

func checkSWIM(j *Job) error {
	switch {
	case j.Framework != heddle.MapReduce:
		return fmt.Errorf("it is not a MapReduce job")
	case strings.ContainsAny(j.ID, "\t\r\n"):
		return fmt.Errorf("its id holds a tab or a line break")
	}
	return nil
}

func writeSWIM(b *bufio.Writer, wl *Workload, n int) error {
	j := &wl.Jobs[n]
	gap := j.Submit
	if n > 0 {
		gap -= wl.Jobs[n-1].Submit
	}
	_, err := fmt.Fprintf(b, "%s\t%s\t%s\t%d\t%d\t%d\n", j.ID, seconds(j.Submit), seconds(gap), j.InputBytes(), j.ShuffleBytes(), j.OutputBytes())
	return err
}

func seconds(t heddle.Time) string { return strconv.FormatFloat(t.Seconds(), 'f', -1, 64) }
