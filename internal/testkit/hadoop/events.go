package hadoop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// SparkEvents is what a Spark application's own log says of its executors and tasks.
type SparkEvents struct {
	Added   int            // executors that came
	Peak    int            // most executors at one time
	Removed map[string]int // executors that went before the end, by reason
	// Runs counts how often each task succeeded, and Again how many started after they had succeeded.
	Runs  map[SparkTask]int
	Again int
}

// A SparkTask is one piece of one of an application's stages.
type SparkTask struct{ Stage, Index int }

// SparkEvents reads the event log of an application.
func (b *Testbed) SparkEvents(app string) (SparkEvents, error) {
	// The name goes on where an application had several attempts or is not finished.
	files, err := filepath.Glob(filepath.Join(b.dir("events"), app+"*"))
	if err != nil {
		return SparkEvents{}, err
	}
	if len(files) == 0 {
		return SparkEvents{}, fmt.Errorf("no event log of %s in %s", app, b.dir("events"))
	}
	text, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		return SparkEvents{}, err
	}
	e := SparkEvents{Removed: map[string]int{}, Runs: map[SparkTask]int{}}
	now := 0
	for n, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var event sparkEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return e, fmt.Errorf("%s:%d: %w", files[len(files)-1], n+1, err)
		}
		task := SparkTask{event.Stage, event.Task.Index}
		switch event.Event {
		case "SparkListenerExecutorAdded":
			e.Added++
			now++
			e.Peak = max(e.Peak, now)
		case "SparkListenerExecutorRemoved":
			now--
			e.Removed[event.Removed]++
		case "SparkListenerTaskStart":
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

type sparkEvent struct {
	Event   string
	Removed string                  `json:"Removed Reason"`
	Stage   int                     `json:"Stage ID"`
	Task    struct{ Index int }     `json:"Task Info"`
	Why     struct{ Reason string } `json:"Task End Reason"`
}
