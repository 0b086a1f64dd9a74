package workload

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle"
)

// rollingPrefix is the prefix of the name of a rolling log's folder.
const rollingPrefix = "eventlog_v2_"

func looksLikeSpark(head []byte) bool {
	return bytes.HasPrefix(head, []byte(`{"Event":`)) && bytes.Contains(head, []byte("SparkListener"))
}

// readSpark reads a log, the folder of a rolling log, or all logs below a folder.
func readSpark(im *importer, path string) error {
	if folder, err := isFolder(path); err != nil || !folder {
		return cmp.Or(err, im.sparkLog([]string{path}))
	}
	whole, err := filepath.EvalSymlinks(path) // a link may have another name
	if err != nil {
		return err
	}
	if strings.HasPrefix(filepath.Base(whole), rollingPrefix) {
		parts, err := rollingParts(path)
		if err != nil {
			return err
		}
		return im.sparkLog(parts)
	}
	err = walk(path, func(file string, rolling bool) error {
		im.file = file
		parts := []string{file}
		if rolling {
			var err error
			if parts, err = rollingParts(filepath.Dir(file)); err != nil {
				return err
			}
			for _, im.file = range parts {
				r, err := open(im.file)
				if err != nil {
					return im.defect(0, unopened(err))
				}
				_ = r.Close()
			}
		} else if head, err := headOf(file); err != nil {
			return im.defect(0, unopened(err))
		} else if !looksLikeSpark(head) {
			im.notOurs(file, head)
			return nil
		}
		return im.sparkLog(parts)
	})
	if err != nil {
		return err
	}
	return im.leftOut(path)
}

func unopened(err error) *fault { return faultf("", "cannot be opened as a log: %v", err) }

// rollingParts returns the files of a rolling log in order. If a part was compacted, the compacted file replaces it and
// all parts before it.
func rollingParts(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type part struct {
		n       int
		compact bool
		path    string
	}
	var parts []part
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "events_")
		number, _, _ := strings.Cut(rest, "_")
		n, err := strconv.Atoi(number)
		path := filepath.Join(dir, e.Name())
		if !ok || err != nil || !isFile(path, e) {
			continue
		}
		parts = append(parts, part{n, strings.HasSuffix(e.Name(), ".compact"), path})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.n, b.n), strings.Compare(a.path, b.path)) })
	var paths []string
	for _, p := range parts {
		if p.compact {
			paths = paths[:0]
		}
		paths = append(paths, p.path)
	}
	return paths, nil
}

// sparkLog reads the application whose log consists of the given files.
func (im *importer) sparkLog(files []string) error {
	s := newSparkLog(im)
	for _, file := range files {
		im.file = file
		if err := im.eachLine(file, s.line); err != nil {
			return err
		}
	}
	if s.id == "" {
		return im.defect(0, faultf("", "has no SparkListenerApplicationStart event with an App ID"))
	}
	j, bad := s.job()
	if bad != nil {
		return im.defect(0, bad)
	}
	return im.addAttempt(j, s.attempt)
}

// An attempt is an application's attempt that was added: its number, its index among the jobs, and the rules it used.
type attempt struct {
	n, at int
	fills map[Fill]*fillSum
}

// addAttempt adds an attempt of an application. If there are several, each with its own log, the last one did the work.
func (im *importer) addAttempt(j Job, n int) error {
	before, again := im.attempts[j.ID]
	if again && n < before.n {
		clear(im.pending)
		return nil
	}
	if !again || n == before.n {
		a := attempt{n, len(im.wl.Jobs), maps.Clone(im.pending)}
		if err := im.add(0, j); err != nil || len(im.wl.Jobs) == a.at {
			return err
		}
		im.attempts[j.ID] = a
		return nil
	}
	im.fill("attempts", "of an application with several attempts the last one is read, as submitted with the first", "")
	for f := range before.fills {
		if sum := im.fills[f]; sum != nil {
			if sum.jobs--; sum.jobs == 0 {
				delete(im.fills, f)
			}
		}
	}
	im.attempts[j.ID] = attempt{n, before.at, maps.Clone(im.pending)}
	if first := im.wl.Jobs[before.at].Submit; first < j.Submit {
		if j.Recorded > 0 {
			j.Recorded += j.Submit.Since(first)
		}
		j.Submit = first
	}
	im.wl.Jobs[before.at] = j
	im.count()
	return nil
}

// line reads one event.
func (s *sparkLog) line(line int, text []byte) error {
	var e sparkEvent
	name, wanted := sparkEventName(text)
	if name != "" && !wanted {
		if !json.Valid(text) {
			return s.im.defect(line, shortf("", "is not JSON"))
		}
		return nil
	}
	if err := json.Unmarshal(text, &e); err != nil {
		_, bad := jsonFault(line, text, err)
		return s.im.defect(line, bad)
	}
	if e.Event == "" {
		return s.im.defect(line, faultf("Event", "is missing"))
	}
	if bad := s.take(&e); bad != nil {
		return s.im.defect(line, bad)
	}
	return nil
}

// sparkEventName returns the name of the event if the line begins with it, and whether the event is of interest.
func sparkEventName(text []byte) (name string, wanted bool) {
	const prefix, listener = `{"Event":"`, "SparkListener"
	rest, ok := bytes.CutPrefix(text, []byte(prefix))
	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 {
		return "", true
	}
	name = string(rest[:end])
	switch strings.TrimPrefix(name, listener) {
	case "ApplicationStart", "ApplicationEnd", "EnvironmentUpdate", "ResourceProfileAdded", "ExecutorAdded", "ExecutorRemoved", "BlockManagerAdded",
		"JobStart", "JobEnd", "StageSubmitted", "StageCompleted", "TaskEnd":
		return name, strings.HasPrefix(name, listener)
	}
	return name, false
}

// A sparkEvent has the members of all events that are read.
type sparkEvent struct {
	Event      string
	AppName    string            `json:"App Name"`
	AppID      string            `json:"App ID"`
	AppAttempt string            `json:"App Attempt ID"` // in cluster mode only
	User       string            `json:"User"`
	Timestamp  int64             `json:"Timestamp"`
	Properties map[string]string `json:"Spark Properties"`
	ProfileID  int64             `json:"Resource Profile Id"`
	Executor   string            `json:"Executor ID"`

	BlockManager struct {
		Executor string `json:"Executor ID"`
	} `json:"Block Manager ID"`
	MaxMemory int64 `json:"Maximum Memory"`

	JobID      int64            `json:"Job ID"`
	StageIDs   []int            `json:"Stage IDs"`
	StageInfos []sparkStageInfo `json:"Stage Infos"`
	Stage      *sparkStageInfo  `json:"Stage Info"`
	Result     struct {
		Result string `json:"Result"`
	} `json:"Job Result"`

	StageID int `json:"Stage ID"`
	Attempt int `json:"Stage Attempt ID"`
	End     struct {
		Reason string `json:"Reason"`
	} `json:"Task End Reason"`
	Task    sparkTaskInfo    `json:"Task Info"`
	Metrics sparkTaskMetrics `json:"Task Metrics"`
}

type sparkStageInfo struct {
	ID        int   `json:"Stage ID"`
	Attempt   int   `json:"Stage Attempt ID"`
	Tasks     int64 `json:"Number of Tasks"`
	Parents   []int `json:"Parent IDs"`
	Submitted int64 `json:"Submission Time"`
	Completed int64 `json:"Completion Time"`
	RDDs      []struct {
		ID      int    `json:"RDD ID"`
		Name    string `json:"Name"`
		Parents []int  `json:"Parent IDs"`
		Level   struct {
			Disk    bool `json:"Use Disk"`
			Memory  bool `json:"Use Memory"`
			OffHeap bool `json:"Use Off Heap"`
		} `json:"Storage Level"`
	} `json:"RDD Info"`
}

type sparkTaskInfo struct {
	Index     int64  `json:"Index"`
	Partition *int64 `json:"Partition ID"` // since 3.3
	Launch    int64  `json:"Launch Time"`
	Finish    int64  `json:"Finish Time"`
	Host      string `json:"Host"`
	Locality  string `json:"Locality"`
}

type sparkTaskMetrics struct {
	CPU         int64 `json:"Executor CPU Time"` // ns
	ShuffleRead struct {
		Remote int64 `json:"Remote Bytes Read"`
		Local  int64 `json:"Local Bytes Read"`
	} `json:"Shuffle Read Metrics"`
	ShuffleWrite struct {
		Bytes int64 `json:"Shuffle Bytes Written"`
	} `json:"Shuffle Write Metrics"`
	Input struct {
		Bytes int64 `json:"Bytes Read"`
	} `json:"Input Metrics"`
	Output struct {
		Bytes int64 `json:"Bytes Written"`
	} `json:"Output Metrics"`
}

// task returns what a successful attempt of a task says about it. Numbers that cannot be right become 0, which is
// unknown; bad says what is wrong with the first.
func (e *sparkEvent) task() (t Task, bad *fault) {
	span, odd := taskSpan("Finish Time", e.Task.Launch, max(e.Task.Finish, e.Task.Launch+1))
	if odd != nil || e.Task.Finish < e.Task.Launch || e.Task.Launch < 0 {
		span, bad = 0, faultf("Finish Time", "%d is not soon after Launch Time, %d", e.Task.Finish, e.Task.Launch)
	}
	m := &e.Metrics
	for _, n := range [...]struct {
		field string
		value *int64
	}{
		{"Executor CPU Time", &m.CPU},
		{"Remote Bytes Read", &m.ShuffleRead.Remote},
		{"Local Bytes Read", &m.ShuffleRead.Local},
		{"Shuffle Bytes Written", &m.ShuffleWrite.Bytes},
		{"Input Metrics.Bytes Read", &m.Input.Bytes},
		{"Bytes Written", &m.Output.Bytes},
	} {
		if *n.value < 0 || *n.value > MaxBytes {
			bad = cmp.Or(bad, faultf(n.field, "%d; wanted 0 to %d", *n.value, int64(MaxBytes)))
			*n.value = 0
		}
	}
	return Task{
		Duration: span,
		CPU:      heddle.Span(min(m.CPU, int64(MaxSpan))),
		Input:    m.Input.Bytes + m.ShuffleRead.Remote + m.ShuffleRead.Local,
		Output:   m.ShuffleWrite.Bytes + m.Output.Bytes,
	}, bad
}
