package workload

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"heddle"
)

// A history is what the events of a .jhist file have said so far.
type history struct {
	im                      *importer
	id, name, queue         string
	user, priority          string
	submit                  int64 // ms since 1970
	finish                  int64 // likewise, of a job that succeeded
	master, ready           int64 // likewise, of the last master: when its program began, and when the job in it did
	totalMaps, totalReduces int64
	uber, failed            bool
	maps, reduces           map[string]*historyTask // by task id
}

type historyTask struct {
	index    int64 // the number at the end of its id
	splits   string
	won      string // the successful attempt
	last     string // the attempt that ended last
	attempts map[string]*historyAttempt
}

type historyAttempt struct {
	start, finish int64
	counters      map[string]int64
}

func newHistory(im *importer) *history {
	return &history{im: im, maps: map[string]*historyTask{}, reduces: map[string]*historyTask{}}
}

// event handles one event, given its type and the record named by its only key.
func (h *history) event(kind string, event map[string]map[string]any) *fault {
	if len(event) != 1 {
		return faultf("event", "does not hold one record")
	}
	for _, record := range event {
		e := avroRecord{record: record}
		h.take(kind, &e)
		return e.bad
	}
	return nil
}

func (h *history) take(kind string, e *avroRecord) {
	switch kind {
	case "JOB_SUBMITTED":
		id, submit := e.text("jobid"), e.number("submitTime", maxMillis)
		if submit == 0 {
			e.fail("submitTime", "is not stated; wanted ms since 1970")
		}
		if e.bad == nil && id != "" {
			h.id, h.submit = id, submit
			h.name, h.user, h.queue = e.text("jobName"), e.text("userName"), e.text("jobQueueName")
		}
	case "AM_STARTED":
		h.master = e.known("startTime", maxMillis)
	case "JOB_FINISHED":
		h.finish = e.number("finishTime", maxMillis)
	case "JOB_FAILED", "JOB_KILLED", "JOB_ERROR":
		h.failed = true
	case "JOB_QUEUE_CHANGED":
		h.queue = cmp.Or(e.text("jobQueueName"), h.queue)
	case "JOB_PRIORITY_CHANGED":
		h.priority = e.text("priority")
	case "JOB_INITED":
		h.totalMaps, h.totalReduces = e.number("totalMaps", MaxTasksPerJob), e.number("totalReduces", MaxTasksPerJob)
		h.ready = e.known("launchTime", maxMillis)
		h.uber, _ = e.record["uberized"].(bool)
	case "TASK_STARTED":
		if t := h.task(e); t != nil {
			t.splits = e.text("splitLocations")
		}
	case "TASK_FINISHED":
		if t := h.task(e); t != nil {
			t.won = e.text("successfulAttemptId")
		}
	case "MAP_ATTEMPT_STARTED", "REDUCE_ATTEMPT_STARTED":
		if a, _ := h.attempt(e); a != nil {
			a.start = e.number("startTime", maxMillis)
		}
	case "MAP_ATTEMPT_FINISHED", "REDUCE_ATTEMPT_FINISHED",
		"MAP_ATTEMPT_FAILED", "REDUCE_ATTEMPT_FAILED", "MAP_ATTEMPT_KILLED", "REDUCE_ATTEMPT_KILLED":
		h.ended(e)
	}
}

func (h *history) ended(e *avroRecord) {
	a, t := h.attempt(e)
	if a == nil {
		return
	}
	a.finish = e.number("finishTime", maxMillis)
	a.counters = e.counters()
	if a.start > 0 && a.finish > a.start {
		if _, bad := taskSpan("finishTime", a.start, a.finish); bad != nil {
			e.bad, a.finish = cmp.Or(e.bad, bad), 0
		}
	}
	if a.finish > 0 || t.last == "" {
		t.last = e.text("attemptId")
	}
}

// task returns the map or reduce that an event is about, or nil for any other kind of task.
func (h *history) task(e *avroRecord) *historyTask {
	id, kind := e.text("taskid"), e.text("taskType")
	var of map[string]*historyTask
	switch kind {
	case "MAP":
		of = h.maps
	case "REDUCE":
		of = h.reduces
	default:
		return nil
	}
	if t := of[id]; t != nil {
		return t
	}
	index, err := strconv.ParseInt(id[strings.LastIndexByte(id, '_')+1:], 10, 32)
	if err != nil || index < 0 {
		e.fail("taskid", "%q does not end in a number", clip([]byte(id)))
		return nil
	}
	if len(of) == MaxTasksPerJob {
		e.fail("taskid", "more than %d tasks", MaxTasksPerJob)
		return nil
	}
	t := &historyTask{index: index, attempts: map[string]*historyAttempt{}}
	of[id] = t
	return t
}

func (h *history) attempt(e *avroRecord) (*historyAttempt, *historyTask) {
	t := h.task(e)
	id := e.text("attemptId")
	if t == nil || e.bad != nil {
		return nil, nil
	}
	a := t.attempts[id]
	if a == nil {
		a = &historyAttempt{}
		t.attempts[id] = a
	}
	return a, t
}

// tasks returns the tasks of a kind ordered by number, with nil for those that are only counted.
func (h *history) tasks(field string, of map[string]*historyTask, total int64) ([]*historyTask, *fault) {
	list := slices.SortedFunc(maps.Values(of), func(a, b *historyTask) int { return cmp.Compare(a.index, b.index) })
	for i := 1; i < len(list); i++ {
		if list[i].index == list[i-1].index {
			return nil, faultf("taskid", "two tasks have the number %d", list[i].index)
		}
	}
	if n := total - int64(len(list)); n > 0 {
		if bad := h.im.room(field, total); bad != nil {
			return nil, bad
		}
		h.im.fillNumber("tasks", "tasks that are counted but never started are added without details", n, "a job")
		list = append(list, make([]*historyTask, n)...)
	}
	return list, nil
}

// fillTask fills in t from its successful attempt.
func (h *history) fillTask(t *Task, from *historyTask, mapOnly bool) {
	if from == nil {
		h.im.lacks("duration")
		return
	}
	a := from.attempts[from.won]
	won := a != nil
	if !won {
		if a = from.attempts[from.last]; a != nil {
			h.im.fillNumber("duration", "a task without a successful attempt lasts as long as its last attempt", int64(recorded(a.start, a.finish)/heddle.Millisecond), "ms")
		}
	}
	for host := range strings.SplitSeq(from.splits, ",") {
		if host = strings.TrimSpace(host); host != "" && host != "/" {
			h.im.splitAt(t, host, "")
		}
	}
	if a == nil || a.start <= 0 || a.finish <= a.start {
		h.im.lacks("duration")
	} else {
		t.Duration = heddle.Span(a.finish-a.start) * heddle.Millisecond
	}
	if a == nil {
		return
	}
	c := a.counters
	t.CPU = heddle.Span(min(c["CPU_MILLISECONDS"], int64(MaxSpan/heddle.Millisecond))) * heddle.Millisecond
	t.Memory = known(c["MAP_PHYSICAL_MEMORY_BYTES_MAX"], c["REDUCE_PHYSICAL_MEMORY_BYTES_MAX"], c["PHYSICAL_MEMORY_BYTES"]) >> 20
	if shuffled, reduce := c["REDUCE_SHUFFLE_BYTES"]; reduce {
		t.Input = shuffled
		t.wrote(won, counted(c, "BYTES_WRITTEN"), counted(c, fsWritten))
		return
	}
	t.Input = c["BYTES_READ"]
	if _, counted := c["BYTES_READ"]; !counted {
		t.Input = c["HDFS_BYTES_READ"]
	}
	if mapOnly {
		t.wrote(won, counted(c, "BYTES_WRITTEN"), counted(c, fsWritten))
	} else {
		t.wrote(won, counted(c, "MAP_OUTPUT_MATERIALIZED_BYTES"))
	}
}

// counted returns a counter, or −1 if it is missing.
func counted(c map[string]int64, name string) int64 {
	if n, ok := c[name]; ok {
		return n
	}
	return -1
}

// starts returns the start times of the attempts whose durations the tasks have.
func starts(tasks []*historyTask) []heddle.Time {
	out := make([]heddle.Time, len(tasks))
	for i, t := range tasks {
		if t != nil && t.attempts[t.won] != nil {
			out[i] = millis(t.attempts[t.won].start)
		}
	}
	return out
}

// waited records, for reduces, how long their job's last map was still running. The begin times are those of the runs
// whose durations the tasks state.
func waited(maps, reduces []Task, mapBegins, reduceBegins []heddle.Time) {
	last := NoTime
	for i, at := range mapBegins {
		if at > 0 && maps[i].Duration > 0 {
			last = max(last, at.Plus(maps[i].Duration))
		}
	}
	for i, at := range reduceBegins {
		if t := &reduces[i]; at > 0 && t.Duration > 0 {
			t.Waited = max(0, min(last.Since(at), t.Duration-heddle.Millisecond))
		}
	}
}

// An avroRecord is a decoded record and the first fault found in it.
type avroRecord struct {
	record map[string]any
	bad    *fault
}

func (e *avroRecord) fail(field, format string, args ...any) {
	if e.bad == nil {
		e.bad = faultf(field, format, args...)
	}
}

// value returns a field, unwrapped from its union.
func (e *avroRecord) value(field string) any {
	v := e.record[field]
	if union, ok := v.(map[string]any); ok && len(union) == 1 {
		for _, v := range union {
			return v
		}
	}
	return v
}

func (e *avroRecord) text(field string) string {
	s, ok := e.value(field).(string)
	if !ok && e.value(field) != nil {
		e.fail(field, "is not text")
	}
	return s
}

// number reads a whole number from 0 to limit. −1, which means unknown, becomes 0.
func (e *avroRecord) number(field string, limit int64) int64 {
	v := e.value(field)
	n, ok := whole(v)
	switch {
	case !ok && allDigits(v):
		e.fail(field, "%s is too large; at most %d", clip([]byte(v.(json.Number))), limit)
	case !ok:
		e.fail(field, "is not a whole number")
	case n == -1:
		return 0
	case n < 0:
		e.fail(field, "%d is negative", n)
	case n > limit:
		e.fail(field, "%d is too large; at most %d", n, limit)
	default:
		return n
	}
	return 0
}

// known is like number, but returns 0 if the field is missing.
func (e *avroRecord) known(field string, limit int64) int64 {
	if e.value(field) == nil {
		return 0
	}
	return e.number(field, limit)
}

// allDigits reports whether a JSON value is a whole number, however large.
func allDigits(v any) bool {
	n, ok := v.(json.Number)
	return ok && digits(string(n)) == len(n)
}

func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	}
	return 0, false
}

// counters returns the counters of interest, by name, and as fsWritten the largest of those of file systems.
func (e *avroRecord) counters() map[string]int64 {
	out := map[string]int64{}
	all, _ := e.record["counters"].(map[string]any)
	if len(all) == 1 { // a union: JhCounters, with or without its namespace
		for _, v := range all {
			if inner, ok := v.(map[string]any); ok {
				all = inner
			}
		}
	}
	for _, group := range list(all["groups"]) {
		g, _ := group.(map[string]any)
		for _, counter := range list(g["counts"]) {
			c, _ := counter.(map[string]any)
			name, _ := c["name"].(string)
			as := name
			if g["name"] == fsCounters && strings.HasSuffix(name, fsWritten) && name != "FILE"+fsWritten {
				as = fsWritten
			} else if !slices.Contains(countersRead, name) {
				continue
			}
			one := avroRecord{record: c}
			n := one.number("value", MaxBytes)
			if one.bad != nil {
				e.fail(name, "%s", one.bad.reason)
				continue
			}
			out[as] = max(out[as], n)
		}
	}
	return out
}

var countersRead = []string{
	"CPU_MILLISECONDS", "PHYSICAL_MEMORY_BYTES", "MAP_PHYSICAL_MEMORY_BYTES_MAX", "REDUCE_PHYSICAL_MEMORY_BYTES_MAX",
	"REDUCE_SHUFFLE_BYTES", "BYTES_READ", "BYTES_WRITTEN", "HDFS_BYTES_READ", "MAP_OUTPUT_MATERIALIZED_BYTES",
}

// Hadoop counts in fsCounters what a task wrote to each kind of file system, in a counter whose name ends in fsWritten.
// Of all but the local one, FILE, where the shuffle is, the largest counts: BYTES_WRITTEN has only what a
// FileOutputFormat wrote, and one file system may be seen through another.
const (
	fsCounters = "org.apache.hadoop.mapreduce.FileSystemCounter"
	fsWritten  = "_BYTES_WRITTEN"
)

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
