package workload

import (
	"strconv"
	"strings"

	"heddle"
)

// Spark's own defaults on YARN; memory is in MiB.
const (
	sparkExecutors      = 2
	sparkExecutorMemory = 1024
	sparkDriverMemory   = 1024
	sparkAMMemory       = 512
	sparkMinOverhead    = 384
	sparkOverheadFactor = 0.1
)

// job builds the job from what the events said.
func (s *sparkLog) job() (Job, *fault) {
	p := sparkProperties{values: s.properties}
	j := Job{
		ID: s.id, Name: s.name, User: s.user, Queue: p.values["spark.yarn.queue"], Framework: heddle.Spark, SlowStart: -1,
		Priority: int32(p.number("spark.yarn.priority", 0, 1<<31-1)),
	}
	submit := s.submit(&p)
	j.Submit, j.Failed, j.Unended = millis(submit), s.failed, !s.failed && s.end == 0
	if !j.Failed {
		j.Recorded = recorded(submit, s.end)
	}
	j.Times = s.times()
	client := p.values["spark.submit.deployMode"] != "cluster"
	stages := s.dag()
	j.Spark = &SparkJob{
		Executor:  p.executor(),
		Client:    client,
		Dynamic:   p.dynamic(),
		Stages:    stages,
		Storage:   s.storage,
		TaskCores: int(p.number("spark.task.cpus", 1, MaxVcores)),
	}
	if d := j.Spark.Dynamic; d != nil {
		j.Spark.Executors = d.Initial
	} else {
		j.Spark.Executors = s.asked(&p)
	}
	if client {
		j.Master = p.container("spark.yarn.am.memory", sparkAMMemory, "spark.yarn.am.memoryOverhead", "spark.yarn.am.cores")
	} else {
		j.Master = p.container("spark.driver.memory", sparkDriverMemory, "spark.driver.memoryOverhead", "spark.driver.cores")
	}
	if p.bad != nil {
		return j, p.bad
	}
	s.notes(&j)
	return j, nil
}

// submit returns when the application was submitted, in ms since 1970.
func (s *sparkLog) submit(p *sparkProperties) int64 {
	if at := p.number("spark.app.submitTime", 0, maxMillis); at > 0 && at <= s.start {
		return at
	}
	s.im.fill("submit", "spark.app.submitTime is not logged", "the driver's start")
	return s.start
}

// asked returns how many executors an application without dynamic allocation asked for. YARN's default holds only on
// YARN; elsewhere, an application whose properties do not say is taken to have asked for the most that it had.
func (s *sparkLog) asked(p *sparkProperties) int {
	const key = "spark.executor.instances"
	if p.values[key] != "" || strings.HasPrefix(p.values["spark.master"], "yarn") || s.most == 0 {
		return int(p.number(key, sparkExecutors, MaxExecutors))
	}
	s.im.fillNumber("executors", key+" is not logged, and spark.master is not yarn", int64(s.most), "executors, the most that were registered at once")
	return s.most
}

// notes records what the log does not say.
func (s *sparkLog) notes(j *Job) {
	s.im.outcome(j)
	if j.Spark.GivenSpans = spans(j.Spark.Stages); !j.Spark.GivenSpans {
		s.im.lacks("duration")
	}
	if len(s.properties) == 0 {
		s.im.fill("executor", "no properties are logged", "Spark's defaults on YARN")
	}
	if s.profiles {
		s.im.fill("executor", "resource profiles of single stages are not read", "the application's size for every executor")
	}
	if s.properties["spark.yarn.isPython"] == "true" {
		for i := range j.Spark.Stages {
			for k := range j.Spark.Stages[i].Tasks {
				j.Spark.Stages[i].Tasks[k].CPU = 0
			}
		}
		s.im.fill("cpu", "a Python application's workers are not in the logged processor time", "unknown")
	}
	s.im.fill("hosts", "Spark logs no preferred hosts", "where it ran, for a task that read its input NODE_LOCAL; others unknown")
}

// sparkProperties reads properties and keeps the first fault.
type sparkProperties struct {
	values map[string]string
	bad    *fault
}

func (p *sparkProperties) fail(bad *fault) {
	if p.bad == nil {
		p.bad = bad
	}
}

func (p *sparkProperties) number(key string, def, limit int64) int64 {
	text := strings.TrimSpace(p.values[key])
	if text == "" {
		return def
	}
	n, bad := wholeNumber(key, []byte(text), limit)
	if bad != nil {
		p.fail(bad)
	}
	return n
}

func (p *sparkProperties) isTrue(key string) bool {
	return strings.EqualFold(strings.TrimSpace(p.values[key]), "true")
}

// memory reads an amount of memory in MiB; a number without a unit is in MiB.
func (p *sparkProperties) memory(key string, def int64) int64 {
	text := strings.ToLower(strings.TrimSpace(p.values[key]))
	if text == "" {
		return def
	}
	digitsEnd := digits(text)
	n, bad := wholeNumber(key, []byte(text[:digitsEnd]), MaxMemory)
	if bad != nil {
		p.fail(bad)
		return 0
	}
	mib := int64(0)
	switch strings.TrimSuffix(text[digitsEnd:], "b") {
	case "", "m":
		if text[digitsEnd:] == "b" {
			return n >> 20
		}
		mib = n
	case "k":
		return n >> 10
	case "g":
		mib = n << 10
	case "t":
		mib = n << 20
	default:
		p.fail(faultf(key, "%q is not an amount of memory like 512m or 2g", clip([]byte(text))))
	}
	if mib > MaxMemory || mib < n {
		p.fail(faultf(key, "%q is too large; at most %d MiB", clip([]byte(text)), int64(MaxMemory)))
		return 0
	}
	return mib
}

// span reads a time; a number without a unit is in seconds.
func (p *sparkProperties) span(key string) heddle.Span {
	text := strings.TrimSpace(p.values[key])
	if text == "" {
		return 0
	}
	unit := map[string]heddle.Span{
		"": heddle.Second, "s": heddle.Second, "ms": heddle.Millisecond, "m": heddle.Minute, "min": heddle.Minute,
		"h": heddle.Hour, "d": 24 * heddle.Hour, "us": heddle.Millisecond / 1000,
	}
	end := digits(text)
	u, ok := unit[text[end:]]
	if !ok || end == 0 {
		p.fail(faultf(key, "%q is not a time like 60s or 500ms", clip([]byte(text))))
		return 0
	}
	n, bad := wholeNumber(key, []byte(text[:end]), int64(MaxSpan/u))
	if bad != nil {
		p.fail(bad)
	}
	return heddle.Span(n) * u
}

// container returns the size of a container: heap plus overhead, and cores.
func (p *sparkProperties) container(memory string, def int64, overhead, cores string) heddle.Resource {
	heap := p.memory(memory, def)
	factor := sparkOverheadFactor
	if key := overhead + "Factor"; p.values[key] != "" {
		f, bad := decimal(key, []byte(strings.TrimSpace(p.values[key])), 100)
		if bad != nil {
			p.fail(bad)
		}
		factor = f
	}
	least := p.memory(strings.TrimSuffix(overhead, "memoryOverhead")+"minMemoryOverhead", sparkMinOverhead) // since Spark 4
	extra := max(least, int64(float64(heap)*factor))
	if strings.TrimSpace(p.values[overhead]) == "" { // the name before Spark 2.3, which still counts
		overhead = strings.Replace(overhead, "spark.", "spark.yarn.", 1)
	}
	return heddle.Of(heap+p.memory(overhead, extra), p.number(cores, 1, MaxVcores)*1000)
}

// executor returns the size of an executor's container.
func (p *sparkProperties) executor() heddle.Resource {
	r := p.container("spark.executor.memory", sparkExecutorMemory, "spark.executor.memoryOverhead", "spark.executor.cores")
	if p.isTrue("spark.memory.offHeap.enabled") {
		r[heddle.Memory] += p.bytes("spark.memory.offHeap.size") >> 20
	}
	if p.isTrue("spark.yarn.isPython") {
		r[heddle.Memory] += p.memory("spark.executor.pyspark.memory", 0)
	}
	return r
}

// bytes reads an amount of memory; a number without a unit is in bytes.
func (p *sparkProperties) bytes(key string) int64 {
	if n, err := strconv.ParseInt(strings.TrimSpace(p.values[key]), 10, 64); err == nil && n >= 0 {
		return n
	}
	return p.memory(key, 0) << 20
}

// dynamic returns the settings of dynamic allocation, or nil if it is off.
func (p *sparkProperties) dynamic() *Dynamic {
	const prefix = "spark.dynamicAllocation."
	if !p.isTrue(prefix + "enabled") {
		return nil
	}
	d := &Dynamic{
		Min:         int(p.number(prefix+"minExecutors", 0, MaxExecutors)),
		Max:         int(min(MaxExecutors, p.number(prefix+"maxExecutors", MaxExecutors, 1<<31-1))),
		IdleTimeout: p.span(prefix + "executorIdleTimeout"),
		Backlog:     p.span(prefix + "schedulerBacklogTimeout"),
		Tracks:      !p.isTrue("spark.shuffle.service.enabled") && !strings.EqualFold(strings.TrimSpace(p.values[prefix+"shuffleTracking.enabled"]), "false"),
	}
	d.Initial = max(d.Min, int(p.number(prefix+"initialExecutors", 0, MaxExecutors)), int(p.number("spark.executor.instances", 0, MaxExecutors)))
	if d.Min > d.Max {
		p.fail(faultf(prefix+"maxExecutors", "%d, below the minimum, %d", d.Max, d.Min))
	}
	// Spark starts with the number asked for even if that is larger, and keeps it for as long as tasks need it.
	d.Max = max(d.Max, d.Initial)
	return d
}
