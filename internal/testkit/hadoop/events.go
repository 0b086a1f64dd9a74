package hadoop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// SparkEvents is what a Spark application's own log says about its executors and tasks.
type SparkEvents struct {
	Added   int            // executors added
	First   int64          // when the first one was added, in ms since 1970
	Began   int64          // when the first task started, likewise
	Peak    int            // most executors at one time
	Removed map[string]int // executors removed before the end, by reason
	// Runs counts the successes of each task; Again counts the tasks that started again after they had succeeded.
	Runs  map[SparkTask]int
	Again int
}

// A SparkTask is one task of a stage of an application.
type SparkTask struct{ Stage, Index int }

// SparkEvents reads the event log of an application.
func (b *Testbed) SparkEvents(app string) (SparkEvents, error) {
	file, err := b.sparkLog(app)
	if err != nil {
		return SparkEvents{}, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return SparkEvents{}, err
	}
	e := SparkEvents{Removed: map[string]int{}, Runs: map[SparkTask]int{}}
	now := 0
	for n, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var event sparkEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return e, fmt.Errorf("%s:%d: %w", file, n+1, err)
		}
		task := SparkTask{event.Stage, event.Task.Index}
		switch event.Event {
		case "SparkListenerExecutorAdded":
			if e.Added == 0 {
				e.First = event.At
			}
			e.Added++
			now++
			e.Peak = max(e.Peak, now)
		case "SparkListenerExecutorRemoved":
			now--
			e.Removed[event.Removed]++
		case "SparkListenerTaskStart":
			if at := event.Task.Launched; e.Began == 0 || at < e.Began {
				e.Began = at
			}
			if e.Runs[task] > 0 {
				e.Again++
			}
		case "SparkListenerTaskEnd":
			if event.Why.Reason == "Success" {
				e.Runs[task]++
			}
		}
	}
	return e, nil
}

// KeepSparkEvents copies the event log of an application to a folder of this machine.
func (b *Testbed) KeepSparkEvents(app, dir string) error {
	file, err := b.sparkLog(app)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o644)
}

// sparkLog returns the file of an application's last attempt. The file's name has a suffix if there were several
// attempts or the application has not finished.
func (b *Testbed) sparkLog(app string) (string, error) {
	files, err := filepath.Glob(filepath.Join(b.dir("events"), app+"*"))
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fmt.Errorf("no event log of %s in %s", app, b.dir("events"))
	}
	return files[len(files)-1], nil
}

type sparkEvent struct {
	Event   string
	At      int64  `json:"Timestamp"`
	Removed string `json:"Removed Reason"`
	Stage   int    `json:"Stage ID"`
	Task    struct {
		Index    int
		Launched int64 `json:"Launch Time"`
	} `json:"Task Info"`
	Why struct{ Reason string } `json:"Task End Reason"`
}
