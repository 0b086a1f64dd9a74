package conf

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"heddle"
	"heddle/internal/mapred"
	"heddle/internal/unit"
)

// A Site is what yarn-site.xml, resource-types.xml and mapred-site.xml say about scheduling, with
// Hadoop's defaults filled in.
type Site struct {
	Scheduler string // capacity, fair or fifo: the one the folder asks for; "" when it is another

	Minimum   heddle.Resource // smallest container
	Maximum   heddle.Resource // largest container
	Increment heddle.Resource // what the fair scheduler rounds containers up to; capacity rounds to Minimum

	Extra       []string // names of the resources counted in Extra1 and Extra2
	ExtraUnits  []string // theirs, as YARN has them: "", G
	MaxPriority int32    // applications' priorities are cut to this

	Node          heddle.Resource // what a node offers that does not say otherwise
	NodeHeartbeat heddle.Span
	NodeExpiry    heddle.Span // silence after which a node counts as lost

	Map, Reduce, Master heddle.Resource // containers of MapReduce jobs that do not say otherwise
	MasterHeartbeat     heddle.Span     // of the MapReduce master
	SlowStart           float64         // fraction of maps done before reduces are asked for

	fairFile string // yarn.scheduler.fair.allocation.file
}

// DefaultSite returns what Hadoop does without any file.
func DefaultSite() *Site {
	ps := newProperties(&log{}, nowhere)
	s := readSite(ps)
	readMapReduce(ps, s)
	return s
}

const (
	memMin, memMax   = "yarn.scheduler.minimum-allocation-mb", "yarn.scheduler.maximum-allocation-mb"
	cpuMin, cpuMax   = "yarn.scheduler.minimum-allocation-vcores", "yarn.scheduler.maximum-allocation-vcores"
	memStep, cpuStep = "yarn.scheduler.increment-allocation-mb", "yarn.scheduler.increment-allocation-vcores"
	resourceTypes    = "yarn.resource-types"
	schedulerClass   = "yarn.resourcemanager.scheduler.class"
)

const (
	defaultMinMiB, defaultMinVcores = 1024, 1
	defaultMaxMiB, defaultMaxVcores = 8192, 4
)

func readSite(ps *properties) *Site {
	s := &Site{Extra: readTypes(ps)}
	s.readScheduler(ps)
	s.readLimits(ps)
	s.MaxPriority = int32(ps.integer("yarn.cluster.max-application-priority", 0, 0))
	s.NodeHeartbeat = ps.millis("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", 1000, 1)
	s.NodeExpiry = ps.millis("yarn.nm.liveness-monitor.expiry-interval-ms", 600_000, 1)
	s.fairFile = ps.text("yarn.scheduler.fair.allocation.file", "fair-scheduler.xml")
	if path, ok := localPath(s.fairFile); ok {
		s.fairFile = path
	}

	mem := ps.integer("yarn.nodemanager.resource.memory-mb", -1, -1)
	cpu := ps.integer("yarn.nodemanager.resource.cpu-vcores", -1, -1)
	if mem == -1 {
		mem = 8192
	}
	if cpu == -1 {
		cpu = 8
	}
	s.Node = heddle.Of(mem, 1000*cpu)
	for i, name := range s.Extra {
		d := heddle.Extra1 + heddle.Dim(i)
		s.ExtraUnits = append(s.ExtraUnits, ps.unit(name))
		s.Node[d] = units(d, ps.nodeAmount(name, s.ExtraUnits[i]))
	}
	return s
}

// unit reads the unit of a resource type.
func (ps *properties) unit(resource string) string {
	v, p := ps.given(resourceTypes + "." + resource + ".units")
	if !unit.Known(v) {
		ps.bad(p, "%q is not a unit; expected one of p, n, u, m, k, M, G, T, P, Ki, Mi, Gi, Ti, Pi, or none", v)
		return ""
	}
	return v
}

// nodeAmount reads how much of a resource type a node has, in the type's unit. NodeManagers say that themselves: what
// cannot be read here is remarked on.
func (ps *properties) nodeAmount(resource, in string) int64 {
	v, p := ps.given("yarn.nodemanager.resource-type." + resource)
	if p == nil {
		return 0
	}
	if m := amount.FindStringSubmatch(v); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if converted, ok := unit.Convert(n, m[2], in); ok && err == nil {
			return converted
		}
	}
	ps.log.note(Remark, p.file, p.line, p.name, "%q is not an amount; expected a whole number, which may have a unit such as G", v)
	return 0
}

func (s *Site) readScheduler(ps *properties) {
	class := ps.text(schedulerClass, "CapacityScheduler")
	if s.Scheduler = schedulerOf(class); s.Scheduler == "" {
		p := ps.m[schedulerClass]
		ps.log.note(Unsupported, p.file, p.line, p.name, "%s", noScheduler(class))
	}
}

// schedulers are Hadoop's by their classes, as [Site.Scheduler] has them.
var schedulers = map[string]string{"CapacityScheduler": "capacity", "FairScheduler": "fair", "FifoScheduler": "fifo"}

// schedulerOf is the scheduler of a class; "" where it is not here.
func schedulerOf(class string) string { return schedulers[class[strings.LastIndex(class, ".")+1:]] }

// noScheduler says that there is no scheduler of a class.
func noScheduler(class string) string {
	return fmt.Sprintf("there is no scheduler %s here; there are CapacityScheduler, FairScheduler and FifoScheduler. "+
		"heddle rm needs one of them, or a profile by --profile or in heddle.yaml", class)
}

// readLimits reads the smallest and the largest container and the steps between.
func (s *Site) readLimits(ps *properties) {
	both := func(suffix, mem, cpu string, memDef, cpuDef int64) (r heddle.Resource) {
		r[heddle.Memory] = ps.either(resourceTypes+".memory-mb"+suffix, mem, heddle.Memory, memDef)
		r[heddle.CPU] = ps.either(resourceTypes+".vcores"+suffix, cpu, heddle.CPU, cpuDef)
		return r
	}
	s.Minimum = both(".minimum-allocation", memMin, cpuMin, defaultMinMiB, defaultMinVcores)
	s.Maximum = both(".maximum-allocation", memMax, cpuMax, defaultMaxMiB, defaultMaxVcores)
	s.Increment = both(".increment-allocation", memStep, cpuStep, 1024, 1)
	for i, name := range s.Extra {
		d, key := heddle.Extra1+heddle.Dim(i), resourceTypes+"."+name
		s.Minimum[d] = ps.amount(key+".minimum-allocation", d, 0)
		s.Maximum[d] = ps.amount(key+".maximum-allocation", d, math.MaxInt64)
		s.Increment[d] = ps.amount(key+".increment-allocation", d, 0)
	}
	nothing := s.Scheduler == "fair" // it takes 0, and rounds up to the increment
	ps.ordered("memory-mb", memMin, memMax, s.Minimum[heddle.Memory], s.Maximum[heddle.Memory], nothing)
	ps.ordered("vcores", cpuMin, cpuMax, s.Minimum[heddle.CPU], s.Maximum[heddle.CPU], nothing)
	ps.positive("memory-mb", memStep, s.Increment[heddle.Memory])
	ps.positive("vcores", cpuStep, s.Increment[heddle.CPU])
}

// steps is the smallest container of the capacity scheduler, which rounds to it: it is never nothing.
func (s *Site) steps() heddle.Resource { return s.Minimum.Max(heddle.Of(1, 1000)) }

// ordered logs where the smallest container is larger than the largest, or is nothing where it may not be.
func (ps *properties) ordered(resource, low, high string, lo, hi int64, nothing bool) {
	newer := resourceTypes + "." + resource
	p := ps.first(newer+".minimum-allocation", low, newer+".maximum-allocation", high)
	switch {
	case lo > hi:
		ps.bad(p, "the smallest container is larger than the largest; %s must be at most %s", low, high)
	case lo <= 0 && !nothing:
		ps.bad(p, "the smallest container must be more than 0")
	}
}

// positive logs where the step between containers' sizes is 0.
func (ps *properties) positive(resource, name string, n int64) {
	if n <= 0 {
		ps.bad(ps.first(resourceTypes+"."+resource+".increment-allocation", name), "the increment must be more than 0")
	}
}

// either reads an amount from the first property that is set, in the dimension's units.
func (ps *properties) either(first, second string, d heddle.Dim, def int64) int64 {
	if ps.m[first] == nil {
		return ps.amount(second, d, def)
	}
	if p := ps.m[second]; p != nil {
		p.used = true
		ps.log.note(Remark, p.file, p.line, p.name, "%s takes its place", first)
	}
	return ps.amount(first, d, def)
}

// amount reads an amount with an optional unit, in the dimension's units.
func (ps *properties) amount(name string, d heddle.Dim, def int64) int64 {
	if v, p := ps.value(name); p != nil {
		n, err := parseAmount(d, v)
		if err == nil {
			return units(d, n)
		}
		ps.bad(p, "%v", err)
	}
	return units(d, def)
}

var typeName = regexp.MustCompile(`^(([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?\.)*[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?/)?[a-zA-Z][\w.-]*$`)

// readTypes reads the names of the resources beside memory and vcores.
func readTypes(ps *properties) types {
	v, p := ps.value(resourceTypes)
	if p == nil {
		return nil
	}
	var out types
	for _, name := range split(v) {
		_, again := out.dim(name)
		switch {
		case name == "memory-mb" || name == "vcores":
		case name == "memory":
			ps.bad(p, "memory is always there, as memory-mb, and cannot be defined again")
		case again:
			ps.bad(p, "%s is named twice", name)
		case !typeName.MatchString(name):
			ps.bad(p, "%q is not a resource name; expected letters, digits, '.', '_' or '-' after a letter, with an optional namespace and '/' before", name)
		case len(out) == heddle.NumDims-int(heddle.Extra1):
			ps.bad(p, "%s is one resource too many; beside memory and vcores there is room for %d", name, len(out))
		default:
			out = append(out, name)
		}
	}
	return out
}

// readMapReduce fills what MapReduce jobs ask for when they do not say.
func readMapReduce(ps *properties, s *Site) {
	s.Map = mapReduceTask(ps, "map")
	s.Reduce = mapReduceTask(ps, "reduce")
	am := "yarn.app.mapreduce.am."
	s.Master = taskSize(ps, am+"resource.",
		ps.integer(am+"resource.mb", 1536, 1), ps.integer(am+"resource.cpu-vcores", 1, 1))
	s.MasterHeartbeat = ps.millis(am+"scheduler.heartbeat.interval-ms", 1000, 1)
	s.SlowStart = ps.number("mapreduce.job.reduce.slowstart.completedmaps", 0.05, 0)
}

// mapReduceTask reads a task's container. Memory that is not set follows from the Java heap, if that is.
func mapReduceTask(ps *properties, kind string) heddle.Resource {
	mem := ps.integer("mapreduce."+kind+".memory.mb", -1, -1)
	cpu := ps.integer("mapreduce."+kind+".cpu.vcores", 1, 1)
	if mem > 0 {
		return taskSize(ps, "mapreduce."+kind+".resource.", mem, cpu)
	}
	mem = 1024
	opts := ps.text("mapreduce."+kind+".java.opts", ps.text("mapred.child.java.opts", ""))
	if digits, unit := mapred.Heap(opts); digits != "" {
		n, err := parseInt(digits)
		size := map[string]float64{"": 1. / (1 << 20), "k": 1. / (1 << 10), "m": 1, "g": 1 << 10}[unit]
		ratio := ps.number("mapreduce.job.heap.memory-mb.ratio", 0.8, 0.01)
		if mib := math.Ceil(float64(n) * size / ratio); err == nil && mib >= 1 && mib < math.MaxInt32 {
			mem = int64(mib)
		}
	}
	return taskSize(ps, "mapreduce."+kind+".resource.", mem, cpu)
}

// taskSize reads the newer names of a container's size, which take the place of mem and cpu.
func taskSize(ps *properties, prefix string, mem, cpu int64) heddle.Resource {
	return heddle.Of(ps.amount(prefix+"memory-mb", heddle.Memory, mem), ps.amount(prefix+"vcores", heddle.CPU, cpu))
}
