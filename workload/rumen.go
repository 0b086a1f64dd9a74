package workload

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"heddle"
)

// The members of Rumen's objects that are read. Times are ms since 1970, sizes are bytes; −1, null and absent all mean
// unknown.
type (
	rumenJob struct {
		ID           string            `json:"jobID"`
		Name         string            `json:"jobName"`
		User         string            `json:"user"`
		Queue        string            `json:"queue"`
		Priority     string            `json:"priority"`
		Submit       int64             `json:"submitTime"`
		Finish       int64             `json:"finishTime"`
		Outcome      string            `json:"outcome"`
		TotalMaps    int64             `json:"totalMaps"`
		TotalReduces int64             `json:"totalReduces"`
		MapMB        int64             `json:"jobMapMB"`
		ReduceMB     int64             `json:"jobReduceMB"`
		Maps         []rumenTask       `json:"mapTasks"`
		Reduces      []rumenTask       `json:"reduceTasks"`
		Properties   map[string]string `json:"jobProperties"`
	}
	rumenTask struct {
		Input     int64           `json:"inputBytes"`
		Output    *int64          `json:"outputBytes"`
		Attempts  []rumenAttempt  `json:"attempts"`
		Locations []rumenLocation `json:"preferredLocations"`
	}
	rumenLocation struct {
		Layers []string `json:"layers"`
	}
	rumenAttempt struct {
		Result       string `json:"result"`
		Start        int64  `json:"startTime"`
		Finish       int64  `json:"finishTime"`
		HDFSRead     int64  `json:"hdfsBytesRead"`
		HDFSWritten  *int64 `json:"hdfsBytesWritten"`
		MapOutput    *int64 `json:"mapOutputBytes"`
		ShuffleBytes int64  `json:"reduceShuffleBytes"`
		Usage        struct {
			CPU    int64 `json:"cumulativeCpuUsage"`
			Memory int64 `json:"physicalMemoryUsage"`
		} `json:"resourceUsageMetrics"`
		MemoryCurve []int64 `json:"physMemKbytes"`
	}
)

func looksLikeRumen(head []byte) bool {
	return (bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("["))) &&
		(bytes.Contains(head, []byte(`"jobID"`)) || bytes.Contains(head, []byte(`"mapTasks"`)))
}

func readRumen(im *importer, path string) error {
	return im.eachObject(path, func(line int, object []byte) error {
		r := rumenJob{Submit: -1}
		if err := json.Unmarshal(object, &r); err != nil {
			return im.defect(jsonFault(line, object, err))
		}
		if bad := rumenOdd(&r); bad != nil {
			if err := im.defect(line, bad); err != nil {
				return err
			}
		}
		j, bad := im.rumenJob(&r)
		if bad != nil {
			return im.defect(line, bad)
		}
		return im.add(line, j)
	})
}

func (im *importer) rumenJob(r *rumenJob) (j Job, bad *fault) {
	if bad := rumenCheck(r); bad != nil {
		return j, bad
	}
	maps, reduces := max(r.TotalMaps, int64(len(r.Maps))), max(r.TotalReduces, int64(len(r.Reduces)))
	if maps > MaxTasksPerJob || reduces > MaxTasksPerJob {
		return j, faultf("totalMaps", "%d maps and %d reduces; a job may have %d tasks", maps, reduces, MaxTasksPerJob)
	}
	if bad := im.room("totalMaps", maps+reduces); bad != nil {
		return j, bad
	}
	if int(maps) > len(r.Maps) || int(reduces) > len(r.Reduces) {
		im.fillNumber("tasks", "tasks that are counted but not listed are added without details",
			maps+reduces-int64(len(r.Maps)+len(r.Reduces)), "a job")
	}
	j = Job{
		ID: r.ID, Name: r.Name, Queue: r.Queue, User: r.User, Priority: jobPriority(r.Priority),
		Framework: heddle.MapReduce, Submit: millis(r.Submit), SlowStart: -1,
		Maps: im.take(int(maps)), Reduces: im.take(int(reduces)),
	}
	if r.Outcome == "SUCCESS" || r.Outcome == "SUCCEEDED" {
		j.Recorded = recorded(r.Submit, r.Finish)
	} else {
		j.Failed = r.Outcome != ""
		j.Unended = !j.Failed && r.Finish <= 0
	}
	im.outcome(&j)
	mapBegins := im.rumenTasks(j.Maps, r.Maps, int(reduces) == 0, false)
	waited(j.Maps, j.Reduces, mapBegins, im.rumenTasks(j.Reduces, r.Reduces, false, true))
	im.rumenSizes(j.Maps, r.MapMB, r.Properties["mapreduce.map.cpu.vcores"])
	im.rumenSizes(j.Reduces, r.ReduceMB, r.Properties["mapreduce.reduce.cpu.vcores"])
	return j, nil
}

// rumenCheck looks for numbers of a job that no real trace can contain.
func rumenCheck(r *rumenJob) *fault {
	switch {
	case r.Submit == -1:
		return faultf("submitTime", "is not stated; wanted ms since 1970")
	case r.Submit < 0:
		return faultf("submitTime", "%d; wanted ms since 1970", r.Submit)
	case r.Submit > maxMillis:
		return faultf("submitTime", "%d is too large; at most %d", r.Submit, maxMillis)
	case r.MapMB > MaxMemory || r.ReduceMB > MaxMemory:
		return faultf("jobMapMB", "a container of %d MiB; at most %d", max(r.MapMB, r.ReduceMB), int64(MaxMemory))
	}
	return nil
}

// rumenOdd makes the numbers of tasks unknown that no real trace can contain. It returns what is wrong with the first of
// them, and how many more there are.
func rumenOdd(r *rumenJob) *fault {
	var first *fault
	n := 0
	for _, list := range [...]struct {
		field string
		tasks []rumenTask
	}{{"mapTasks", r.Maps}, {"reduceTasks", r.Reduces}} {
		for i := range list.tasks {
			list.tasks[i].odd(func(bad *fault) {
				if n++; n == 1 {
					bad.field = list.field + "[" + strconv.Itoa(i) + "]." + bad.field
					first = bad
				}
			})
		}
	}
	if n > 1 {
		first.reason += "; numbers of this job's tasks that are also wrong: " + strconv.Itoa(n-1)
	}
	return first
}

// odd calls found for every such number.
func (t *rumenTask) odd(found func(*fault)) {
	check := func(field string, n *int64) {
		switch {
		case n == nil:
			return
		case *n < -1:
			found(faultf(field, "%d is negative; −1 means unknown", *n))
		case *n > MaxBytes:
			found(faultf(field, "%d is too large; at most %d", *n, int64(MaxBytes)))
		default:
			return
		}
		*n = -1
	}
	check("inputBytes", &t.Input)
	check("outputBytes", t.Output)
	for i := range t.Attempts {
		a := &t.Attempts[i]
		check("hdfsBytesRead", &a.HDFSRead)
		check("hdfsBytesWritten", a.HDFSWritten)
		check("mapOutputBytes", a.MapOutput)
		check("reduceShuffleBytes", &a.ShuffleBytes)
		check("cumulativeCpuUsage", &a.Usage.CPU)
		check("physicalMemoryUsage", &a.Usage.Memory)
		if a.Start > 0 && a.Finish > 0 && a.Finish != a.Start {
			if _, bad := taskSpan("attempts.finishTime", a.Start, a.Finish); bad != nil {
				found(bad)
				a.Finish = -1
			}
		}
	}
}

// rumenTasks fills in tasks from those listed, and returns the start times of the runs whose durations they have.
func (im *importer) rumenTasks(to []Task, from []rumenTask, mapOnly, reduces bool) (begins []heddle.Time) {
	begins = make([]heddle.Time, len(from))
	for i := range from {
		r, t := &from[i], &to[i]
		a, won := r.attempt()
		if !won && len(r.Attempts) > 0 {
			im.fillNumber("duration", "a task without a successful attempt lasts as long as its last attempt", int64(recorded(a.Start, a.Finish)/heddle.Millisecond), "ms")
		}
		if a == nil {
			a = &rumenAttempt{}
		}
		if t.Duration = heddle.Span(max(0, a.Finish-a.Start)) * heddle.Millisecond; a.Start <= 0 || t.Duration == 0 {
			t.Duration = 0
			im.lacks("duration")
		} else {
			begins[i] = millis(a.Start)
		}
		switch {
		case reduces:
			t.Input = known(a.ShuffleBytes, r.Input)
			t.wrote(won, stated(a.HDFSWritten), stated(r.Output))
			im.onlyHDFS(t)
		case mapOnly:
			t.Input = known(r.Input, a.HDFSRead)
			t.wrote(won, stated(a.HDFSWritten))
			im.onlyHDFS(t)
		default:
			t.Input = known(r.Input, a.HDFSRead)
			t.wrote(won, stated(a.MapOutput), stated(r.Output))
			im.fill("output", "mapOutputBytes: a map's output before combining and compression", "")
		}
		t.CPU = heddle.Span(known(min(a.Usage.CPU, int64(MaxSpan/heddle.Millisecond)))) * heddle.Millisecond
		t.Memory = a.peakMemory()
		for _, l := range r.Locations {
			if n := len(l.Layers); n > 0 && l.Layers[n-1] != "" {
				im.splitAt(t, l.Layers[n-1], strings.Join(l.Layers[:n-1], "/"))
			}
		}
	}
	return begins
}

// onlyHDFS notes that a task which wrote nothing to HDFS may have written elsewhere. Rumen's counters do not tell, nor
// does the number of records: Hive's reduces write without counting any.
func (im *importer) onlyHDFS(t *Task) {
	if t.NoOutput {
		im.fill("output", "what writes nothing to HDFS writes nothing: the format knows no other file system", "")
	}
}

// attempt returns the last successful attempt, else the last one that ended; nil if there is none.
func (t *rumenTask) attempt() (a *rumenAttempt, won bool) {
	for i := range t.Attempts {
		c := &t.Attempts[i]
		ok := c.Result == "SUCCESS" || c.Result == "SUCCEEDED"
		if ok || !won && (a == nil || c.Finish > 0) {
			a, won = c, ok
		}
	}
	return a, won
}

// peakMemory returns the largest memory seen for an attempt, in MiB.
func (a *rumenAttempt) peakMemory() int64 {
	peak := known(a.Usage.Memory) >> 20
	for _, kib := range a.MemoryCurve {
		peak = max(peak, kib>>10)
	}
	return min(peak, MaxMemory)
}

// rumenSizes gives tasks the container size of their job.
func (im *importer) rumenSizes(tasks []Task, mib int64, vcores string) {
	if len(tasks) == 0 {
		return
	}
	if mib <= 0 {
		im.lacks("container")
		return
	}
	cores, err := strconv.ParseInt(vcores, 10, 32)
	if err != nil || cores <= 0 {
		cores = 1
		im.fill("vcores", notStated+": MapReduce's default", "1")
	}
	for i := range tasks {
		tasks[i].Size = heddle.Of(mib, cores*1000)
	}
}

// stated returns a number, or −1 if it is absent.
func stated(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

// wrote sets a task's output to the first positive one of several counters, of which those below 0 are unknown. What a
// task wrote that did not succeed says nothing if it is 0.
func (t *Task) wrote(won bool, counters ...int64) {
	t.Output = known(counters...)
	t.NoOutput = won && t.Output == 0 && slices.Contains(counters, 0)
}

// known returns the first positive value, else 0.
func known(values ...int64) int64 {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// jobPriority returns the application priority that YARN gives a MapReduce job with a named priority.
func jobPriority(name string) int32 {
	switch name {
	case "VERY_HIGH":
		return 5
	case "HIGH":
		return 4
	case "NORMAL":
		return 3
	case "LOW":
		return 2
	case "VERY_LOW":
		return 1
	}
	n, err := strconv.ParseInt(name, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}
