package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle"
)

// What the Scheduler Load Simulator assumes if its input does not say (yarn.sls.*).
const (
	slsMemory   = 1024 // MiB of a container
	slsVcores   = 1
	slsPriority = 20
	slsUser     = "default"

	slsContainer = "1024 MiB and 1 vcore"
)

// The members of a job and of a task that the load simulator reads.
var (
	slsJobKeys = []string{
		"am.type", "job.start.ms", "job.end.ms", "job.queue.name", "job.id", "job.user", "job.count",
		"job.label.expression", "job.tasks", "am.memory-mb", "am.vcores", "num.nodes", "num.racks",
	}
	slsTaskKeys = []string{
		"count", "container.host", "container.start.ms", "container.end.ms", "container.duration.ms", "duration.ms",
		"container.memory-mb", "container.vcores", "container.priority", "container.type",
		"container.execution.type", "container.allocation.id", "container.request.delay",
	}
)

// Those of them that are not read here.
var slsUnread = []string{"job.label.expression", "container.execution.type", "container.allocation.id", "container.request.delay"}

func looksLikeSLS(head []byte) bool {
	if !bytes.HasPrefix(head, []byte("{")) && !bytes.HasPrefix(head, []byte("[")) {
		return false
	}
	for _, key := range []string{`"job.tasks"`, `"job.start.ms"`, `"am.type"`, `"num.nodes"`} {
		if bytes.Contains(head, []byte(key)) {
			return true
		}
	}
	return false
}

func readSLS(im *importer, path string) error {
	return im.eachObject(path, func(line int, object []byte) error {
		var f fields
		if err := json.Unmarshal(object, &f); err != nil {
			return im.defect(jsonFault(line, object, err))
		}
		if f.has("num.nodes") && !f.has("job.tasks") {
			return nil // describes the cluster
		}
		return im.slsJob(line, f)
	})
}

// slsTasks is one entry of job.tasks: a number of identical tasks.
type slsTasks struct {
	kind  string
	count int64
	task  Task
}

func (im *importer) slsJob(line int, f fields) error {
	j, count, bad := im.slsHead(f)
	if bad != nil {
		return im.defect(line, bad)
	}
	groups, bad := im.slsGroups(f)
	if bad != nil {
		return im.defect(line, bad)
	}
	var total int64
	plain := f.has("am.type") && f.text("am.type") != "mapreduce"
	for _, g := range groups {
		total += g.count // each is below MaxTasksPerJob, and there are fewer groups than bytes in an object
		plain = plain || g.kind != "map" && g.kind != "reduce"
	}
	if bad := im.room("job.tasks", total); bad != nil {
		return im.defect(line, bad)
	}
	if int64(im.tasks)+total*count > int64(im.opts.taskLimit()) {
		return im.defect(line, faultf("job.count", "more than %d tasks in all", im.opts.taskLimit()))
	}
	im.slsExpand(&j, groups, plain)
	im.slsIgnored("job", f, slsJobKeys)
	if j.ID == "" {
		j.ID = fmt.Sprintf("job_line_%d", line)
		im.fill("id", "job_line_ and the line on which the job begins", j.ID)
	}
	if count == 1 {
		return im.add(line, j)
	}
	im.tasks += int(total * (count - 1))
	im.fill("id", "job.count above 1: the id and a number (the load simulator drops the id)", fmt.Sprintf("%s.1 to .%d", j.ID, count))
	notes := maps.Clone(im.pending)
	for n := range count {
		c := j
		c.ID = fmt.Sprintf("%s.%d", j.ID, n+1)
		im.pending = maps.Clone(notes)
		if err := im.add(line, c); err != nil {
			return err
		}
	}
	return nil
}

// slsHead reads the members other than the tasks, and the number of such jobs.
func (im *importer) slsHead(f fields) (j Job, count int64, bad *fault) {
	start, bad := f.number("job.start.ms", 0, maxMillis)
	if bad != nil {
		return j, 0, bad
	}
	end, bad := f.number("job.end.ms", 0, maxMillis)
	if bad != nil {
		return j, 0, bad
	}
	if count, bad = f.number("job.count", 1, MaxJobs); bad != nil {
		return j, 0, bad
	}
	j = Job{
		ID: f.text("job.id"), Queue: f.text("job.queue.name"), User: f.text("job.user"),
		Submit: millis(start), Recorded: recorded(start+1, end+1), SlowStart: -1, // a trace may begin at 0
	}
	if j.User == "" {
		j.User = slsUser
		im.fill("user", notStated+": as in the load simulator", slsUser)
	}
	var stated bool
	if j.Master, stated, bad = slsSize(f, "am."); bad != nil {
		return j, 0, bad
	}
	if !stated {
		im.fill("am", notStated+": as in the load simulator", slsContainer)
	}
	return j, max(1, count), nil
}

// slsSize reads a size under a prefix; stated says that nothing had to be filled in.
func slsSize(f fields, prefix string) (r heddle.Resource, stated bool, bad *fault) {
	mem, bad := f.number(prefix+"memory-mb", slsMemory, MaxMemory)
	if bad != nil {
		return r, false, bad
	}
	vcores, bad := f.number(prefix+"vcores", slsVcores, MaxVcores)
	if bad != nil {
		return r, false, bad
	}
	return heddle.Of(mem, vcores*1000), f.has(prefix+"memory-mb") && f.has(prefix+"vcores"), nil
}

func (im *importer) slsGroups(f fields) ([]slsTasks, *fault) {
	var entries []fields
	if err := json.Unmarshal(f["job.tasks"], &entries); err != nil || len(entries) == 0 {
		return nil, faultf("job.tasks", "is not a list of at least one task")
	}
	groups := make([]slsTasks, 0, len(entries))
	for i, e := range entries {
		g, bad := im.slsGroup(e)
		if bad != nil {
			bad.field = fmt.Sprintf("job.tasks[%d].%s", i, bad.field)
			return nil, bad
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func (im *importer) slsGroup(e fields) (g slsTasks, bad *fault) {
	if g.count, bad = e.number("count", 1, MaxTasksPerJob); bad != nil {
		return g, bad
	}
	g.count = max(1, g.count)
	priority, bad := e.number("container.priority", slsPriority, 1<<31-1)
	if bad != nil {
		return g, bad
	}
	g.task.Priority = int32(priority)
	if g.task.Duration, bad = slsDuration(e); bad != nil {
		return g, bad
	}
	if g.task.Duration == 0 {
		im.lacks("duration")
	}
	var stated bool
	if g.task.Size, stated, bad = slsSize(e, "container."); bad != nil {
		return g, bad
	}
	if !stated {
		im.fill("container", "container.memory-mb or container.vcores is missing: as in the load simulator", slsContainer)
	}
	if host := e.text("container.host"); host != "" {
		g.task.Hosts = []int32{im.host(host, "")}
	}
	if g.kind = e.text("container.type"); g.kind == "" {
		g.kind = "map"
	}
	im.slsIgnored("container", e, slsTaskKeys)
	return g, nil
}

// slsDuration reads the duration in the load simulator's order: the new name, the old name, end − start.
func slsDuration(e fields) (heddle.Span, *fault) {
	for _, key := range []string{"container.duration.ms", "duration.ms"} {
		if !e.has(key) {
			continue
		}
		ms, bad := e.number(key, 0, int64(MaxSpan/heddle.Millisecond))
		if bad == nil && ms == 0 {
			bad = faultf(key, "0; a task lasts longer")
		}
		return heddle.Span(ms) * heddle.Millisecond, bad
	}
	if !e.has("container.start.ms") || !e.has("container.end.ms") {
		return 0, nil
	}
	start, bad := e.number("container.start.ms", 0, maxMillis)
	if bad != nil {
		return 0, bad
	}
	end, bad := e.number("container.end.ms", 0, maxMillis)
	if bad != nil {
		return 0, bad
	}
	return taskSpan("container.end.ms", start, end)
}

// taskSpan returns the time between two times in ms, both from the trace.
func taskSpan(field string, start, end int64) (heddle.Span, *fault) {
	if end <= start {
		return 0, faultf(field, "%d is not after the start, %d", end, start)
	}
	if end-start > int64(MaxSpan/heddle.Millisecond) {
		return 0, faultf(field, "%d ms after the start, %d; at most %d", end-start, start, int64(MaxSpan/heddle.Millisecond))
	}
	return heddle.Span(end-start) * heddle.Millisecond, nil
}

// slsExpand builds the tasks.
func (im *importer) slsExpand(j *Job, groups []slsTasks, plain bool) {
	counts := map[string]int64{}
	for i := range groups {
		if plain {
			groups[i].kind = "other"
		}
		counts[groups[i].kind] += groups[i].count
	}
	j.Maps, j.Reduces, j.Other = im.take(int(counts["map"])), im.take(int(counts["reduce"])), im.take(int(counts["other"]))
	next := map[string][]Task{"map": j.Maps, "reduce": j.Reduces, "other": j.Other}
	for _, g := range groups {
		to := next[g.kind]
		for i := range to[:g.count] {
			to[i] = g.task
		}
		next[g.kind] = to[g.count:]
	}
	if !plain {
		j.Framework = heddle.MapReduce
	}
	if len(j.Reduces) > 0 {
		j.SlowStart = 1
		im.fill("slow_start", "the load simulator's master asks for reduces when the last map is done", "1")
	}
}

// slsIgnored reports members that are not read: those that the load simulator ignores, so that a size spelled
// differently is noticed, and those that it reads.
func (im *importer) slsIgnored(field string, f fields, known []string) {
	for _, key := range slices.Sorted(maps.Keys(f)) {
		switch {
		case len(key) > 80:
		case !slices.Contains(known, key):
			im.fill(field, fmt.Sprintf("%q is ignored, as the load simulator does; it reads %s", key, slsReads(key)), "")
		case slices.Contains(slsUnread, key):
			im.fill(field, fmt.Sprintf("%q is ignored; the load simulator reads it", key), "")
		}
	}
}

func slsReads(key string) string {
	if strings.HasPrefix(key, "am.") {
		return "am.memory-mb and am.vcores for a size"
	}
	return "container.memory-mb and container.vcores for a size"
}
